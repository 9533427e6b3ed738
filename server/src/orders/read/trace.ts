/**
 * Trace: where an order's money is, who holds it, since when, on what evidence, and what happens next. The sentences about the
 * holder and the next step are in whereabouts.ts.
 */
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { type Balance, orderBalances, type StatementLine, statement } from '../../ledger/index.ts';
import { assets } from '../../partners/index.ts';
import type { Payout } from '../../rails/payouts.ts';
import type { Rail } from '../../rails/rail.ts';
import { awaitsPerson, deadlineOf, holdBeforePayout } from '../decide.ts';
import { type ReturnLink, returnLinks } from '../deposits/returns.store.ts';
import type { DepositRow } from '../deposits/store.ts';
import * as depositStore from '../deposits/store.ts';
import * as historyStore from '../history.store.ts';
import { STATES } from '../machine.ts';
import { shortRefundsOf } from '../refunds/short.ts';
import type { Refund } from '../refunds/store.ts';
import type { ListedOrder, Order } from '../store.ts';
import * as store from '../store.ts';
import { isUnnamed, readKnown } from './public.ts';
import { partsOf, whereabouts } from './whereabouts.ts';

export interface MoneyTrace {
  order: Order;
  /** Who has the customer's money now, in plain words for an on-call operator. */
  heldBy: string;
  since: Date;
  /** The next automatic step, or who has to act. */
  next: string;
  /** The deadline, and what happens when it passes; null if the order waits for nothing. */
  by: Date | null;
  otherwise: string | null;
  /** Orders made from deposits that arrived for this one too late or a second time. */
  followedBy: bigint[];
  history: Awaited<ReturnType<typeof historyStore.history>>;
  deposits: DepositRow[];
  payouts: Payout[];
  refunds: Refund[];
  /** Links through which the customer was asked for a refund address. */
  returnLinks: ReturnLink[];
  balances: Balance[];
  entries: StatementLine[];
}

/** What operators can do with an order that cannot be paid out as it is. */
const CANNOT_GO_ON: Record<NonNullable<ReturnType<typeof holdBeforePayout>>, (not: string) => string> = {
  deposit_lost: (not) => `a person refunds it, or assigns a deposit in place of the reversed one: it cannot be ${not}`,
  underpaid: (not) => `a person refunds it: less arrived than it asks for, so it cannot be ${not}`,
  overpaid: (not) => `a person refunds it: more arrived than it asks for, so it cannot be ${not}`,
};

/** Why the order cannot continue, if its state does not show it. */
async function keptBy(tx: Tx, order: Order, deposits: readonly DepositRow[]): Promise<string | undefined> {
  const { state } = order;
  if (state !== 'on_hold' && state !== 'payout_held') return undefined;
  if (isUnnamed(order, deposits)) return 'the customer or its partner names a destination';
  const why = holdBeforePayout(order, await depositStore.hasLostDeposit(tx, order.id));
  return why && CANNOT_GO_ON[why](state === 'on_hold' ? 'released' : 'paid');
}

/** The refund of the whole order waits for funds. */
function waitsForFunds({ id }: Order, short: Awaited<ReturnType<typeof shortRefundsOf>>): string | undefined {
  const at = short.get(`order:${id}`);
  return at && `it is refunded once ${at.rail} has the funds: see the case refund_short about ${at.rail}:${at.asset}`;
}

/** Payouts that their rails have accepted and only list until an operator submits them → the operator's next step. */
async function listed(tx: Tx, rails: TraceRails, payouts: readonly Payout[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const { id, rail, state, endedAt } of payouts) {
    if (state !== 'submitted' || endedAt !== null) continue;
    const why = await rails.get(rail)?.waitsForPerson?.(tx, id);
    if (why !== undefined) found.set(id, why);
  }
  return found;
}

function deadlineIn(
  order: Order,
  { history, deposits }: { history: MoneyTrace['history']; deposits: readonly DepositRow[] },
): Pick<MoneyTrace, 'by' | 'otherwise'> {
  const parts = partsOf({ order, deposits });
  if (parts.units > 0n && parts.underWay === 0n)
    return { by: order.expiresAt, otherwise: 'the order is underpaid, and its policy decides what happens' };
  if (order.state === 'created') return { by: order.expiresAt, otherwise: 'it expires' };
  const deadline = deadlineOf(order.state, order.policy);
  if (deadline === undefined) return { by: null, otherwise: null };
  const again = order.overdue ? 'the case stays open, or is opened again' : 'a case is opened';
  const standsStill = order.state === 'on_hold' || order.state === 'payout_held' || order.state === 'refund_held';
  const goesBack = deadline.then === 'refund' && !(standsStill && awaitsPerson(order, history));
  return { by: order.waitsUntil, otherwise: goesBack ? `${again}, and the money is refunded` : again };
}

type TraceRails = ReadonlyMap<string, Pick<Rail, 'waitsForPerson'>>;

/**
 * @param rails asked whether an accepted payout waits for an operator
 * @throws Refusal 'unknown_order'
 */
export async function trace(tx: Tx, orderId: bigint, rails: TraceRails = new Map()): Promise<MoneyTrace> {
  const order = await store.get(tx, orderId);
  if (order === undefined) throw new Refusal('unknown_order', {});
  const known = await readKnown(tx, orderId);
  const history = await historyStore.history(tx, orderId);
  const assetsKnown = await assets(tx);
  const short = await shortRefundsOf(tx, { id: orderId, refundIds: known.refunds.map(({ id }) => id) });
  const seen = {
    ...{
      order,
      ...known,
      ownNext: waitsForFunds(order, short) ?? (await keptBy(tx, order, known.deposits)),
      waitsForPerson: await listed(tx, rails, known.payouts),
      short,
    },
    decimals: (asset: string) => assetsKnown.get(asset)?.decimals ?? 0,
  };
  return {
    order,
    ...whereabouts(seen),
    ...deadlineIn(order, { history, deposits: known.deposits }),
    followedBy: await store.followersOf(tx, orderId),
    since: history.at(-1)?.at ?? order.createdAt,
    history,
    deposits: [...known.deposits],
    payouts: [...known.payouts],
    refunds: [...known.refunds],
    returnLinks: await returnLinks.ofOrder(tx, orderId),
    balances: await orderBalances(tx, orderId),
    entries: await statement(tx, orderId),
  };
}

/** Checks that an order's own accounts hold what its state says. @returns the problem; empty if there is none */
export function invariantBroken(order: ListedOrder, balances: readonly Balance[]): string {
  const of = (asset: string) => balances.find((one) => one.asset === asset) ?? { units: 0n, heldUnits: 0n };
  // Deposits are refunded one by one, so a part of the amount may be gone.
  const received = (order.receivedUnits ?? order.depositUnits) - order.refundedUnits;
  const want: Record<string, { units: bigint; heldUnits: bigint }> = {
    [order.depositAsset]: { units: 0n, heldUnits: 0n },
    [order.payoutAsset]: { units: 0n, heldUnits: 0n },
  };
  // Dormant money is on an account of its own, which unclaimed.ts checks.
  const holds = order.dormant ? 'nothing' : STATES[order.state].holds;
  if (holds.startsWith('the deposit')) {
    want[order.depositAsset] = { units: received, heldUnits: holds.endsWith('held') ? received : 0n };
  }
  if (holds.startsWith('the payout')) {
    want[order.payoutAsset] = { units: order.payoutUnits, heldUnits: holds.endsWith('held') ? order.payoutUnits : 0n };
  }
  for (const [asset, { units, heldUnits }] of Object.entries(want)) {
    const has = of(asset);
    if (has.units !== units || has.heldUnits !== heldUnits) {
      return `order ${order.id} in ${order.state} holds ${has.units} (${has.heldUnits} held) ${asset}, should hold ${units} (${heldUnits} held)`;
    }
  }
  return '';
}
