/**
 * Orders: a quote with a leg in and a leg out, and both legs are rails.
 *
 * `create` writes an order, `facts` takes what rails report, `handlers` does the work that falls due; all three end in
 * `advance` (advance.ts), the only place where an order changes its state. Direction is a word that partners use: the code
 * here does the same for both.
 *
 * The way through the files: machine.ts (the table) → decide.ts (pure decisions) → entries.ts (postings) → advance.ts (the
 * one write) → create.ts, facts.ts, work.ts (what leads to it) → trace.ts (where the money is).
 */
import type { Clock } from '../base/clock.ts';
import { type Database, type Tx, together } from '../base/db.ts';
import { assert, Refusal } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { bringForward } from '../base/work.ts';
import type { Screener } from '../compliance/index.ts';
import { assets, type Market } from '../partners/index.ts';
import { payoutsOf } from '../rails/payouts.ts';
import type { Payee, Rail } from '../rails/rail.ts';
import { nameDestination } from './acts.ts';
import { type CreateAsk, create } from './create.ts';
import { isFinal } from './machine.ts';
import type { RefundTo } from './refunds.ts';
import { type Direction, type ListedOrder, type Order, store } from './store.ts';

export type { Payee } from '../rails/rail.ts';
export {
  type Act,
  assignDeposit,
  block,
  cancel,
  lockOrder,
  NAMEABLE,
  nameDestination,
  passDeadline,
  refundAddressOn,
  refundDeposit,
  reject,
  release,
  releaseBlocked,
  retry,
} from './acts.ts';
export { checkOrders } from './check.ts';
export { dustCounts, dustThreshold, seedDustThreshold, setDustThreshold } from './dust.store.ts';
export { fundsArrived, orderFacts } from './facts.ts';
export { type FoundDeposit, type FoundOrder, findDeposit, lookUp } from './lookup.ts';
export { isFinal, type OrderState, STATES } from './machine.ts';
export { type Refund, type RefundState, refundsOf, refundsOfDeposit, waitingRefunds } from './refunds.store.ts';
export { type RefundTo, retryRefund, wantRefund } from './refunds.ts';
export { type Direction, type ListedOrder, type Order } from './store.ts';
export { type MoneyTrace, trace } from './trace.ts';
export { OVERDUE, orderHandlers } from './work.ts';

/**
 * Brings every due time of a partner's orders nearer: deadlines, locked rates, waits, money that clears. Nothing is decided
 * here; what is due by then is found by the work that always finds it.
 *
 * @returns how many orders have been moved
 */
export async function bringOrdersForward(tx: Tx, ask: { partnerId: bigint; ms: number }): Promise<number> {
  const orders = await store.bringForward(tx, ask);
  const deposits = await store.bringClearingForward(tx, ask);
  await bringForward(tx, { kinds: ['expire_order', 'fund_order'], subjects: orders, ms: ask.ms });
  await bringForward(tx, { kinds: ['clear_deposit'], subjects: deposits, ms: ask.ms });
  return orders.length;
}

/** What rails call the deposits of these numbers. */
export async function depositNames(tx: Tx, ids: readonly bigint[]): Promise<Map<bigint, string>> {
  return new Map((await store.depositNames(tx, ids)).map((row) => [row.id, row.external_id]));
}

/** Which of these deposits are known and wait to be booked, and why. */
export async function depositsWaiting(tx: Tx, rail: string, names: readonly string[]): Promise<Map<string, string>> {
  const rows = await store.depositsWaiting(tx, rail, names);
  return new Map(
    rows.map(({ external_id, clears_at }) => [
      external_id,
      clears_at === null ? 'waits for confirmations' : 'waits until the bank can no longer take it back',
    ]),
  );
}

export interface OrdersContext {
  db: Database;
  clock: Clock;
  log: Log;
  rails: ReadonlyMap<string, Rail>;
  screener: Screener;
}

export interface Orders {
  /** @see create.ts */
  create(tx: Tx, ask: CreateAsk): Promise<Order>;
  /** Notes the bank reference a customer says to have paid with. @throws Refusal 'unknown_order' | 'order_over' */
  claim(
    tx: Tx,
    ask: { id: bigint; direction: Direction; customerId: string; reference: string; now: Date },
  ): Promise<Order>;
  /** Whom the customer of this order pays, and with which reference: for deposits by bank. @throws Refusal 'order_over' */
  payInstructions(order: Order): { payee: Payee; reference: string };
  /**
   * An address that this market may pay out to, in the spelling we keep, or why it may not: it is none, it is the contract
   * of a token, or it is one of ours, of whichever partner. `tx` has to see all of them.
   */
  readPayoutAddress(tx: Tx, market: Market, text: string): Promise<PayoutAddress>;
  /** The same of an address that a deposit on this market would go back to. */
  readRefundAddress(tx: Tx, market: Market, text: string): Promise<PayoutAddress>;
  /** Where money of this order goes back to, or is paid again. Through the system's door only. @see acts.ts */
  nameDestination(tx: Tx, ask: { orderId: bigint; to: RefundTo; now: Date }): Promise<Order>;
  /** What has come in for an order and what has been sent for it, as the partner at the door may see it. */
  movements(tx: Tx, order: Order): Promise<{ deposits: Movement[]; refunds: Movement[] }>;
  /**
   * One order of the partner at the door.
   * @throws Refusal 'unknown_order' also where direction or customer are other ones
   */
  get(tx: Tx, ask: { id: bigint; direction?: Direction; customerId?: string }): Promise<Order>;
  /** Newest first; `page` from 1. Past the end: none. */
  list(
    tx: Tx,
    ask: { customerId: string; direction: Direction; page: number; pageSize: number },
  ): Promise<{ orders: ListedOrder[]; total: bigint }>;
  /**
   * All of a partner's orders of a direction, newest first unless `oldestFirst`; in one fiat, and made since a time, where
   * asked. `total` counts what that leaves.
   */
  listAll(tx: Tx, ask: ListAll): Promise<{ orders: ListedOrder[]; total: bigint }>;
}

export type PayoutAddress = { address: string } | { why: 'no_address' | 'token_contract' | 'ours' };

/** Money that moved, or is to move: of a deposit or a refund, with the word for where it is (`deposits`, `payouts`). */
export interface Movement {
  readonly asset: string;
  readonly units: bigint;
  readonly state: string;
  readonly at: Date;
}

export interface ListAll {
  partnerId: bigint;
  direction: Direction;
  fiat?: string;
  since?: Date;
  oldestFirst?: boolean;
  page: number;
  pageSize: number;
}

export function openOrders(context: Pick<OrdersContext, 'rails' | 'clock'>): Orders {
  async function readAddressOn(tx: Tx, code: string, text: string): Promise<PayoutAddress> {
    const rail = context.rails.get(code);
    const address = rail?.readAddress?.(text);
    if (address === undefined) return { why: 'no_address' };
    // What a token's own contract is sent, nobody gets out again.
    const known = [...(await assets(tx)).values()];
    if (known.some(({ chain, contract }) => chain === rail?.chain && contract === address))
      return { why: 'token_contract' };
    // Bought coins would come back to us as somebody's whom a person has to look for, or pay for another order.
    return (await rail?.isOwnAddress?.(tx, address)) === true ? { why: 'ours' } : { address };
  }

  return {
    create: (tx, ask) => create(context, tx, ask),

    async get(tx, ask) {
      const order = await store.get(tx, ask.id);
      const asked =
        order !== undefined &&
        (ask.direction === undefined || order.direction === ask.direction) &&
        (ask.customerId === undefined || order.customerId === ask.customerId);
      if (!asked) throw new Refusal('unknown_order', {});
      return order;
    },

    async claim(tx, { reference, now, ...ask }) {
      const order = await this.get(tx, ask);
      requireNotOver(order);
      await store.claim(tx, order.id, reference, now);
      return { ...order, claimedReference: reference };
    },

    payInstructions(order) {
      requireNotOver(order);
      const payee = context.rails.get(order.depositRail)?.payee?.(order.depositAsset);
      assert(payee !== undefined, `rail ${order.depositRail} says whom to pay`);
      return { payee, reference: order.depositTarget };
    },

    readPayoutAddress: (tx, market, text) => readAddressOn(tx, market.payoutRail, text),
    readRefundAddress: (tx, market, text) => readAddressOn(tx, market.depositRail, text),
    nameDestination: (tx, ask) => nameDestination(context, tx, ask),

    async movements(tx, { id }) {
      const deposits = await store.depositsOf(tx, id);
      const payouts = await payoutsOf(tx, id);
      return {
        deposits: deposits.map(({ asset, units, state, seen_at }) => ({ asset, units, state, at: seen_at })),
        refunds: payouts
          .filter(({ purpose }) => purpose === 'refund')
          .map(({ asset, units, state, writtenAt }) => ({ asset, units, state, at: writtenAt })),
      };
    },

    async list(tx, { customerId, direction, page, pageSize }) {
      const skipped = BigInt(page - 1) * BigInt(pageSize);
      const [total, orders] = await together(
        store.count(tx, customerId, direction),
        store.page(tx, { customerId, direction, skipped, size: BigInt(pageSize) }),
      );
      return { orders, total };
    },

    async listAll(tx, { page, pageSize, since, oldestFirst, ...list }) {
      const last = await store.countAll(tx, list);
      const first = since === undefined ? 1n : ((await store.positionSince(tx, { ...list, since })) ?? last + 1n);
      const skipped = BigInt(page - 1) * BigInt(pageSize);
      const size = BigInt(pageSize);
      const [above, upTo] = oldestFirst
        ? [first - 1n + skipped, least(first - 1n + skipped + size, last)]
        : [greatest(last - skipped - size, first - 1n), last - skipped];
      const orders = above >= upTo ? [] : await store.pageAll(tx, { ...list, above, upTo });
      // The sequence is that of commits. What was made within moments of each other is put in the order of its making.
      const sign = oldestFirst ? 1 : -1;
      orders.sort((a, b) => sign * (a.createdAt.getTime() - b.createdAt.getTime() || Number(a.id - b.id)));
      return { orders, total: last - first + 1n };
    },
  };
}

function requireNotOver({ state }: Order): void {
  if (isFinal(state)) throw new Refusal('order_over', { state });
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const greatest = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** Those of these orders whose customer may still pay: what lies at their addresses is left there. */
export const stillWaiting = (tx: Tx, ids: readonly bigint[]) => store.stillWaiting(tx, ids);

/** Orders under way by state, with the oldest of each, for metrics. */
export const openByState = (tx: Tx) => store.open(tx);
