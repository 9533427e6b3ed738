/**
 * Controls: what a partner can make happen in the sandbox, so that its programs meet it before their customers do.
 *
 * Nothing here writes a state. Money moves on the chain and at the bank, sent by the simulated customer or the bank itself;
 * deny lists, the operator's books and due times are changed through the same interfaces as in production. The state machine
 * then reacts, in its own time: a control answers when the cause is there, not when the effect is.
 *
 * An invalid request throws 'malformed_field', with the wire's name of the field.
 *
 * Not here: parsing a request (protocols/whitelabel/endpoints/controls.ts), driving to a status (driver.ts).
 */
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import { Refusal, Unavailable } from '../base/errors.ts';
import { randomHex } from '../base/ids.ts';
import { enqueue } from '../base/jobs.ts';
import { formatUnits, parseRate, parseUnits, pow10 } from '../base/money.ts';
import { replaceDenyList, type Screener } from '../compliance/index.ts';
import { bringDeliveriesForward } from '../events/index.ts';
import { balance, chart, isPosted, move, post } from '../ledger/index.ts';
import { bringOrdersForward, type Order, type OrdersContext, passDeadline, trace } from '../orders/index.ts';
import { type Asset, assets } from '../partners/index.ts';
import type { BankFault, SandboxControls } from '../protocols/whitelabel/index.ts';
import { bringQuotesForward, type PriceSource, refreshNow } from '../quotes/index.ts';
import { isMovable } from '../quotes/sources/fixed.ts';
import type { ChainRail } from '../rails/chain.ts';
import { OBSERVE } from '../rails/rail.ts';
import type { FaultKind, SimulatedBank } from '../rails/simulated/index.ts';
import { CHAIN_CODES, FIATS, OPENING, railCode } from './catalogue.ts';
import type { Payer } from './payer.ts';
import { assetCode, BANK } from './seed.ts';

export interface ControlsContext extends OrdersContext {
  vault: Vault;
  chains: ReadonlyMap<string, ChainRail>;
  prices: ReadonlyMap<string, PriceSource>;
  bank: SimulatedBank;
  payer: Payer;
  finalize(chain: string): Promise<void>;
  reorg(chain: string, blocks: number): Promise<void>;
  /** Starts the node of a sleeping chain. @throws Unavailable */
  wake(chain: string): Promise<void>;
  /** Whether messages to partners are dropped. */
  webhooks: { dropped: boolean };
}

const FAULTS: Readonly<Record<BankFault, FaultKind>> = {
  LOSE_REQUEST: 'lose_answer_before_effect',
  LOSE_ANSWER: 'lose_answer_after_effect',
  DELAY_ANSWER: 'delay_answer',
  REFUSE: 'refuse_next',
  RETURN: 'return_next',
  NO_STATUS: 'status_unavailable',
  STATEMENT_TWICE: 'statement_twice',
  STATEMENT_REORDERED: 'statement_reordered',
};

const PATIENCE_MS = 10_000;
const FILLED_WITHIN_MS = 12_000;
/** A payer who is no customer here. */
const STRANGER = 'Somebody Else';
const BEFORE_PAYOUT = ['created', 'deposit_seen', 'deposit_confirmed'];

const wrong = (field: string, why: string): Refusal => new Refusal('malformed_field', { fields: { [field]: why } });

/**
 * Entry on a deny list for one order, and no real address: the order's own address would hold other partners' orders, too.
 */
const deniedFor = (orderId: bigint): string => `order:${orderId}`;

/**
 * A screener that also finds the entries set by the control. A refund passes, because otherwise the money could never leave.
 */
export function screensOrders(usual: Screener): Screener {
  return {
    async screen(input) {
      const verdict = await usual.screen(input);
      if (verdict.outcome === 'held' || input.purpose === 'refund') return verdict;
      const own = await usual.screen({ ...input, customerId: null, payoutAddress: deniedFor(input.id) });
      return own.outcome === 'held' ? own : verdict;
    },
  };
}

export function sandboxControls(context: ControlsContext): SandboxControls {
  const { db, clock, vault, chains, bank, payer } = context;
  const ownLine = (partnerId: bigint): string => `sandbox-${partnerId}-`;

  async function assetOf(code: string): Promise<Asset | undefined> {
    return (await db.asSystem(assets)).get(code);
  }

  /** The asset that an order is paid with instead of the one it asks for. */
  async function insteadOf(
    order: Order,
    how: 'ANOTHER_TOKEN' | 'ANOTHER_CHAIN',
  ): Promise<{ rail: ChainRail; asset: Asset }> {
    const all = [...(await db.asSystem(assets)).values()].filter(({ kind, native }) => kind === 'crypto' && !native);
    const asked = await assetOf(order.depositAsset);
    const isAwake = ({ chain }: Asset): boolean => chains.get(railCode(chain ?? ''))?.isAsleep?.() !== true;
    const there = all.find(
      (one) =>
        isAwake(one) &&
        (how === 'ANOTHER_TOKEN'
          ? one.chain === asked?.chain && one.coin !== asked?.coin
          : one.chain !== asked?.chain && one.coin === asked?.coin),
    );
    const rail = chains.get(railCode(there?.chain ?? ''));
    if (there === undefined || rail === undefined) throw wrong('how', 'has nothing to pay with here');
    return { rail, asset: there };
  }

  const paidByBank = (order: Order): boolean => !chains.has(order.depositRail);
  const looksAtTheBank = (tx: Tx): void => enqueue(tx, { kind: OBSERVE, subject: BANK, dueAt: clock.now() });

  async function expire(order: Order): Promise<void> {
    if (order.state === 'created') {
      const action = { orderId: order.id, by: 'sandbox', why: 'paid late, as asked', now: clock.now() };
      await db.asSystem((tx) => passDeadline(tx, action));
    } else if (order.state !== 'expired') throw new Refusal('order_over', { state: order.state });
    const get = () => db.asSystem(async (tx) => (await trace(tx, order.id)).order.state);
    for (const giveUpAt = Date.now() + PATIENCE_MS; (await get()) !== 'expired' && Date.now() < giveUpAt; )
      await new Promise((wake) => setTimeout(wake, 50));
  }

  return {
    async pay({ order, how, units: given, key }) {
      if (how === 'LATE') {
        const rail = chains.get(order.depositRail);
        // Checked first: a deadline moved for a payment that turns out to be impossible would stay moved.
        if (rail !== undefined)
          await saying(`The node of ${rail.chain} does not answer: nothing was paid.`, () => rail.gasPrice());
        await expire(order);
      }
      const asked = order.depositUnits;
      const units = given ?? (how === 'UNDER' ? asked / 2n : how === 'OVER' ? asked + asked / 2n : asked);
      const times = how === 'TWICE' ? [1, 2] : [1];
      const payments: string[] = [];
      if (paidByBank(order)) {
        if (how === 'ANOTHER_TOKEN' || how === 'ANOTHER_CHAIN')
          throw wrong('how', 'is for orders that are paid on a chain');
        for (const time of times) {
          const id = `${ownLine(order.partnerId)}${key}-${time}`;
          payments.push(await payer.fromAccount(order, { id, units, text: order.depositTarget }));
        }
        await db.asSystem(looksAtTheBank);
        return { payments };
      }
      const usual = { rail: chains.get(order.depositRail) as ChainRail, asset: await assetOf(order.depositAsset) };
      const { rail, asset } = how === 'ANOTHER_TOKEN' || how === 'ANOTHER_CHAIN' ? await insteadOf(order, how) : usual;
      if (asset === undefined || usual.asset === undefined)
        throw wrong('transactionId', 'is paid with what is no longer here');
      // The same number of whole coins, whatever the other one's decimals.
      const scaled = (units * pow10(asset.decimals)) / pow10(usual.asset.decimals);
      for (const time of times) {
        const payment = {
          key: `pay:${order.id}:${key}:${time}`,
          asset: asset.code,
          units: scaled,
          address: order.depositTarget,
        };
        payments.push(await saying(made(payments, times), () => payer.fromWallet(rail, payment)));
      }
      return { payments };
    },

    async credit({ order, units, reference, name, key }) {
      if (!paidByBank(order)) throw wrong('transactionId', 'is paid on a chain: use pay');
      const text = { RIGHT: order.depositTarget, NONE: '', WRONG: mistyped(order.depositTarget) }[reference];
      const who = { RIGHT: {}, NONE: { name: '' }, WRONG: { name: STRANGER } }[name];
      const id = `${ownLine(order.partnerId)}${key}-1`;
      const line = await payer.fromAccount(order, { id, units: units ?? order.depositUnits, text, ...who });
      await db.asSystem(looksAtTheBank);
      return { line };
    },

    async recall(input) {
      const line = 'line' in input ? input.line : await lastCredit(input.order);
      // Another partner's line is treated as unknown.
      if ('line' in input && !(line.startsWith(ownLine(input.partnerId)) && (await bank.hasLine(line))))
        throw wrong('line', 'must be one that credit or pay has answered you');
      const recalled = await bank.recall(line, `RECALL-${line}`);
      await db.asSystem(looksAtTheBank);
      return { line: recalled };
    },

    async bounce({ order }) {
      const { payouts } = await db.asSystem((tx) => trace(tx, order.id));
      const payment = payouts.findLast(({ rail }) => rail === BANK)?.id;
      if (payment === undefined || !(await bank.startRefund(payment)))
        throw wrong('transactionId', 'has nothing at the bank that could come back');
      return { payment };
    },

    async screening({ order, fails }) {
      if (fails && !BEFORE_PAYOUT.includes(order.state)) throw new Refusal('order_over', { state: order.state });
      const list = `sandbox.${order.id}`;
      await db.asSystem(async (tx) => {
        const destinations = fails ? [{ kind: 'address' as const, value: deniedFor(order.id) }] : [];
        await replaceDenyList(tx, vault, { list, version: clock.now().toISOString(), destinations, now: clock.now() });
      });
      return { list };
    },

    async advanceClock(input) {
      return await db.asSystem(async (tx) => ({
        orders: await bringOrdersForward(tx, input),
        quotes: await bringQuotesForward(tx, input),
        deliveries: await bringDeliveriesForward(tx, input),
      }));
    },

    async reorg({ chain, blocks }) {
      if (!CHAIN_CODES.includes(chain)) throw wrong('chain', `must be ${CHAIN_CODES.join(' or ')}`);
      await context.wake(chain);
      await saying(`The node of ${chain} does not answer: ask again when it does.`, () => context.reorg(chain, blocks));
      return { chain, blocks };
    },

    async bankFault({ fault, times, delayMs }) {
      if (fault === 'NONE') await bank.clearFaults();
      else await bank.setFault({ kind: FAULTS[fault], times, delayMs });
      return { fault: fault.toLowerCase(), times: fault === 'NONE' ? 0 : times };
    },

    async movePrice({ coin, fiat, price }) {
      const source = context.prices.get('fixed');
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
    },

    async treasury({ currency, chain, state, amount }) {
      const code =
        chain === undefined ? currency.toLowerCase() : assetCode(currency.toLowerCase(), chain.toLowerCase());
      const asset = await assetOf(code);
      const isFiat = FIATS.some((fiat) => fiat.code === code);
      if (asset === undefined || asset.native || (chain === undefined && !isFiat))
        throw wrong('currency', `must be ${FIATS.map((fiat) => fiat.code).join(', ')}, or a token with its chain`);
      if (asset.chain !== null) await context.wake(asset.chain);
      if (state === 'DRY') await setAside(code);
      else {
        const whole = isFiat ? OPENING.fiat : OPENING.tokens;
        await bring(asset, amount === undefined ? whole * pow10(asset.decimals) : unitsIn(amount, asset.decimals));
      }
      const { units } = await db.asSystem((tx) => balance(tx, chart.treasury(code)));
      return { asset: code, available: formatUnits(units, asset.decimals) };
    },

    async dropWebhooks({ drop }) {
      context.webhooks.dropped = drop;
      return { webhooks: drop ? 'dropped' : 'delivered' };
    },
  };

  /** A credit on the bank's statement that was taken for this order. */
  async function lastCredit(order: Order): Promise<string> {
    const { deposits } = await db.asSystem((tx) => trace(tx, order.id));
    const line = deposits.findLast(({ rail }) => rail === BANK)?.external_id;
    if (line === undefined || !(await bank.hasLine(line)))
      throw wrong('transactionId', 'has no credit at the bank that could be recalled');
    return line;
  }

  async function setAside(asset: string): Promise<void> {
    await db.asSystem(async (tx) => {
      const { units } = await balance(tx, chart.treasury(asset));
      const lines = move(chart.treasury(asset), chart.capital(asset), units);
      if (units <= 0n || lines.length === 0) return;
      await post(tx, { id: `sandbox_dry_${randomHex(8)}`, kind: 'set_aside', at: clock.now(), lines });
    });
  }

  /** New money of the operator's: into the bank account, or from the faucet into the hot wallet. It is booked when seen. */
  async function bring({ code, chain }: Asset, units: bigint): Promise<void> {
    const id = `sandbox-${randomHex(8)}`;
    let entry = `fund_${BANK}_FUNDING:${id}`;
    const rail = chains.get(railCode(chain ?? ''));
    if (rail === undefined) await bank.fund({ currency: code.toUpperCase(), units, id });
    else {
      const destination = { kind: 'address', address: rail.walletAddresses.hot ?? '' } as const;
      const sent = await rail.sendFrom('faucet', { key: `sandbox:fill:${id}`, asset: code, units, destination });
      if (sent.outcome === 'rejected') throw wrong('amount', `was not given by the faucet: ${sent.why}`);
      if (sent.outcome === 'unknown')
        throw new Unavailable(rail.code, sent.why, {
          said: `The node of ${chain} did not take the transfer: the treasury was not filled.`,
        });
      entry = `fund_${rail.code}_${sent.reference}:0`;
    }
    const isBooked = () => db.asSystem((tx) => isPosted(tx, entry));
    for (const giveUpAt = Date.now() + FILLED_WITHIN_MS; !(await isBooked()) && Date.now() < giveUpAt; ) {
      if (rail === undefined) await db.asSystem(looksAtTheBank);
      else await context.finalize(rail.chain);
      await new Promise((wake) => setTimeout(wake, 200));
    }
    if (!(await isBooked()))
      throw new Unavailable(rail?.code ?? BANK, 'new money is not booked yet', {
        said: `The money for ${code} is on its way and not booked yet: the treasury is not filled.`,
      });
  }
}

/** Of several payments, how many were made before one failed. */
const made = (payments: readonly string[], times: readonly number[]): string | undefined =>
  payments.length === 0 ? undefined : `${payments.length} of ${times.length} payments was made, the next was not.`;

/** Tells the caller that an outside system is down. @param said undefined: the error's own message */
async function saying<T>(said: string | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Unavailable) || said === undefined) throw error;
    throw new Unavailable(error.source, 'not done', { cause: error, retryAfterMs: error.retryAfterMs, said });
  }
}

function unitsIn(amount: string, decimals: number): bigint {
  try {
    return parseUnits(amount, decimals);
  } catch (error) {
    if (error instanceof Refusal) throw wrong('amount', String(error.facts.why));
    throw error;
  }
}

/** Changes one character: the check in every reference detects it. */
const mistyped = (reference: string): string => `${reference.slice(0, -1)}${reference.endsWith('7') ? '8' : '7'}`;
