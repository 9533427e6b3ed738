/**
 * Controls: situations that a partner can cause in the sandbox, so that it can test its programs before customers use them.
 *
 * Nothing here writes a state. Money moves on the chain and at the bank, sent by the simulated customer or the bank itself;
 * deny lists, the operator's books and due times are changed through the same interfaces as in production. The state machine
 * then reacts asynchronously: a control answers when it has caused the event, not when the effect is visible.
 *
 * An invalid request throws 'malformed_field', with the name of the parameter in its declaration (protocols/controls.ts).
 *
 * Here: the list of controls, and those of screening, time, chains and prices. Payments are in controls.pay.ts, the bank in
 * controls.bank.ts, the operator's money in controls.treasury.ts. Not here: declarations and parsing of a request
 * (protocols/controls.ts), driving to a status (driver.ts).
 */
import { Refusal } from '../base/errors.ts';
import { parseRate } from '../base/money.ts';
import { replaceDenyList, type Screener, type Screening, type Verdict } from '../compliance/index.ts';
import { bringDeliveriesForward } from '../events/index.ts';
import { bringOrdersForward } from '../orders/index.ts';
import { assets } from '../partners/index.ts';
import type { SandboxControls } from '../protocols/whitelabel/index.ts';
import { bringQuotesForward, refreshNow } from '../quotes/index.ts';
import { isMovable } from '../quotes/sources/fixed.ts';
import { CHAIN_CODES, FIATS } from './catalogue.ts';
import { bankFault, bounce, recall } from './controls.bank.ts';
import { type Answered, type Asked, type ControlsContext, saying, wrong } from './controls.context.ts';
import { credit, pay } from './controls.pay.ts';
import { treasury } from './controls.treasury.ts';

export type { ControlsContext } from './controls.context.ts';

const BEFORE_PAYOUT = ['created', 'deposit_seen', 'deposit_confirmed'];

export const sandboxControls = (context: ControlsContext): SandboxControls => ({
  pay: (asked) => pay(context, asked),
  credit: (asked) => credit(context, asked),
  recall: (asked) => recall(context, asked),
  bounce: (asked) => bounce(context, asked),
  screening: (asked) => screening(context, asked),
  advanceClock: (asked) => advanceClock(context, asked),
  reorg: (asked) => reorg(context, asked),
  bankFault: (asked) => bankFault(context, asked),
  movePrice: (asked) => movePrice(context, asked),
  treasury: (asked) => treasury(context, asked),
  async dropWebhooks({ drop }) {
    context.webhooks.dropped = drop;
    return { webhooks: drop ? 'dropped' : 'delivered' };
  },
});

/**
 * Entry on a deny list for one order. It is not a real address, because a real one could also be the destination of other
 * partners' orders.
 */
const deniedFor = (orderId: bigint): string => `order:${orderId}`;

/** A screener that also finds the entries set by the control. A refund passes: otherwise the money could never leave. */
export function screensOrders(usual: Screener): Screener {
  const both = async <V extends Verdict | undefined>(
    input: Screening,
    screen: (input: Screening) => Promise<V>,
  ): Promise<V> => {
    const verdict = await screen(input);
    if (verdict === undefined || verdict.outcome === 'held' || input.purpose === 'refund') return verdict;
    const own = await screen({ ...input, customerId: null, payoutAddress: deniedFor(input.id) });
    return own === undefined || own.outcome === 'held' ? own : verdict;
  };
  return {
    screen: (input) => both(input, (one) => usual.screen(one)),
    within: (tx, input) => both(input, async (one) => await usual.within?.(tx, one)),
  };
}

async function screening(
  { db, clock, vault }: ControlsContext,
  { order, fails }: Asked<'screening'>,
): Answered<'screening'> {
  if (fails && !BEFORE_PAYOUT.includes(order.state)) throw new Refusal('order_over', { state: order.state });
  const list = `sandbox.${order.id}`;
  await db.asSystem(async (tx) => {
    const destinations = fails ? [{ kind: 'address' as const, value: deniedFor(order.id) }] : [];
    await replaceDenyList(tx, vault, { list, version: clock.now().toISOString(), destinations, now: clock.now() });
  });
  return { list };
}

async function advanceClock({ db }: ControlsContext, input: Asked<'advanceClock'>): Answered<'advanceClock'> {
  return await db.asSystem(async (tx) => ({
    orders: await bringOrdersForward(tx, input),
    quotes: await bringQuotesForward(tx, input),
    deliveries: await bringDeliveriesForward(tx, input),
  }));
}

async function reorg(context: ControlsContext, { chain, blocks }: Asked<'reorg'>): Answered<'reorg'> {
  if (!CHAIN_CODES.includes(chain)) throw wrong('chain', `must be ${CHAIN_CODES.join(' or ')}`);
  await context.wake(chain);
  await saying(`The node of ${chain} does not answer: ask again when it does.`, () => context.reorg(chain, blocks));
  return { chain, blocks };
}

async function movePrice(
  { db, prices }: ControlsContext,
  { coin, fiat, price }: Asked<'movePrice'>,
): Answered<'movePrice'> {
  const source = prices.get('fixed');
  if (!isMovable(source)) throw wrong('price', 'cannot be moved: PRICE_SOURCES does not name fixed');
  if (!FIATS.some(({ code }) => code === fiat))
    throw wrong('fiat', `must be ${FIATS.map(({ code }) => code).join(' or ')}`);
  const coins = [...(await db.asSystem(assets)).values()]
    .filter(({ kind }) => kind === 'crypto')
    .map((one) => one.coin);
  if (!coins.includes(coin)) throw wrong('coin', `must be one of ${[...new Set(coins)].sort().join(', ')}`);
  source.move(coin, fiat, price === undefined ? undefined : parseRate(price));
  await refreshNow(db, source);
  return { pair: `${coin}/${fiat}`, price: price ?? null };
}
