/**
 * Orders: a quote executed by a leg in and a leg out, each on a rail.
 *
 * `create` writes an order, `facts` applies what rails report, `handlers` runs the jobs that fall due; all three end in
 * `advance` (advance.ts), the only place where an order changes its state. Direction is a term of the partner API: the code
 * here treats both directions the same.
 *
 * Reading order: machine.ts (the table) → decide.ts (pure decisions) → entries.ts (postings) → advance.ts (the one write) →
 * create.ts, facts.ts, jobs.ts (what calls it) → trace.ts (where the money is).
 */
import { awaitAll, type Tx } from '../base/db.ts';
import { defined } from '../base/defined.ts';
import { assert, Refusal } from '../base/errors.ts';
import { shiftDueTimes } from '../base/jobs.ts';
import { encryptText } from '../base/texts.ts';
import { assets, type Market } from '../partners/index.ts';
import { waitingPayouts } from '../rails/payouts.ts';
import type { Payee, Rail } from '../rails/rail.ts';
import type { OpeningContext, OrdersContext, RefundTo } from './context.ts';
import { type CreateInput, create } from './create.ts';
import { HELD_AT_GATE } from './decide.ts';
import {
  confirmReturnAddress,
  enterReturnAddress,
  forgetReturnAddress,
  type LinkAsked,
  type ReturnShown,
  returnShown,
} from './deposits/returns.ts';
import type { DepositRow } from './deposits/store.ts';
import * as depositStore from './deposits/store.ts';
import * as historyStore from './history.store.ts';
import { isFinal } from './machine.ts';
import { opened } from './read/opened.ts';
import { type OrderPage, page } from './read/page.ts';
import * as pageStore from './read/pages.store.ts';
import type { Known, PublicMoney, RefundPage } from './read/public.ts';
import {
  isNewMoney,
  isUnnamed,
  isUnreleased,
  publicMoney,
  publicMoneyOf,
  publicState,
  readKnown,
} from './read/public.ts';
import { isAllOver, partsOf } from './read/whereabouts.ts';
import { nameDestination } from './refunds/actions.ts';
import { type PayoutAddress, readAddressOn } from './refunds/destinations.ts';
import { type RefundState, screeningRefunds } from './refunds/store.ts';
import type { Direction, ListedOrder, Order } from './store.ts';
import * as store from './store.ts';

export type { Payee } from '../rails/rail.ts';
export {
  block,
  cancel,
  holdBack,
  passDeadline,
  refundOrder,
  release,
  reprice,
  requestOrderRefund,
  requireRefundable,
  retry,
} from './actions.ts';
export { blockedNow } from './blocked.ts';
export { type Bulk, type BulkTerms, beginBulk, bulkOf, lastBulk, MAX_UNPAID, unpaidOrders } from './bulk.ts';
export type { OrdersContext } from './context.ts';
export { type Action, type RefundTo } from './context.ts';
export { exposureOf } from './create.ts';
export {
  bookFound,
  CASE_CORRECTIONS,
  type CaseCorrectionInput,
  correctCase,
  lookCorrectable,
  requireCorrectable,
} from './custody/correct.ts';
export { bookCost, fundsArrived } from './custody/facts.ts';
export { followOnById } from './custody/lost-time.ts';
export { haltCleared, movementKnown } from './custody/movements.ts';
export { lockCreditsFrom, takeCreditsBack } from './custody/own-credits.ts';
export { dustCounts, dustThreshold, seedDustThreshold, setDustThreshold } from './deposits/dust.store.ts';
export { type DustInput, lookDust, MAX_DUST, writeOffDust } from './deposits/dust.ts';
export { heldDeposit } from './deposits/held.store.ts';
export { holdDeposit, releaseDeposit, requireNotHeldDeposit } from './deposits/held.ts';
export { requireUnlistedPayer } from './deposits/listed.ts';
export {
  depositsAbout,
  payerOf,
  requireNotSender,
  requireSigned,
  returnText,
  senderAccount,
  senderOf,
} from './deposits/payers.ts';
export {
  closeConfirmed,
  confirmedReturn,
  makeReturnLink,
  type ReturnShown,
  requireInSuspense,
  returnLinksOf,
} from './deposits/returns.ts';
export { type DepositRow } from './deposits/store.ts';
export {
  checkDormant,
  DORMANCY,
  dormancyPolicy,
  dormantReport,
  lookDormancy,
  MAX_DORMANT,
  requireDormancy,
  setDormancy,
  wakeByHand,
} from './deposits/unclaimed.ts';
export { orderFacts } from './facts.ts';
export { OVERDUE, orderHandlers } from './jobs.ts';
export { type LimitUse, limitsOfCustomer, requireLeft } from './limits.ts';
export { lockOrder, lockOrdersOf } from './lock.ts';
export { isFinal, type OrderState, STATES } from './machine.ts';
export { eraseOrderTexts, lastOrderOrRefund, moneyOf, selectOf } from './of-customer.ts';
export { paidBefore, settleBy } from './payouts/actions.ts';
export { readPayTo, requireNotHeldByOperator, retryTo } from './payouts/elsewhere.ts';
export { askBeforeSigning, askGate, seenFindings, uncoveredFindings } from './payouts/gate.ts';
export {
  fundingOf,
  isNewDestination,
  type Leaving,
  payoutOf,
  payoutPlanned,
  refundOf,
  suspenseRefundOf,
  weightOf,
} from './payouts/leaving.ts';
export { declareNeverPaid, requireUnpaid } from './payouts/never-paid.ts';
export { payeesOf } from './payouts/payees.ts';
export { type NotReady, notReady } from './payouts/ready.ts';
export { wakePayouts } from './payouts/rescreen.ts';
export type { Finding, GateRules, SeenFinding } from './payouts/rules.ts';
export { endLettingPass, letPass, shortageNow } from './payouts/short.ts';
export { checkOrders } from './read/check.ts';
export { type DayRow, partnerDays } from './read/days.store.ts';
export { type DebtLine, listDebts } from './read/debts.ts';
export { exposure, type MarketExposure, shortfalls } from './read/exposure.ts';
export { ordersBelow, suspenseAbout } from './read/lists.store.ts';
export {
  type AmountFilter,
  type DepositLine,
  listBankLines,
  listDeposits,
  listOrders,
  listPayouts,
  listSuspense,
  MAX_LISTED,
  type OrderLine,
} from './read/lists.ts';
export { ordersOfAccounts } from './read/lookup.store.ts';
export { type FoundDeposit, type FoundOrder, findDeposit, lookUp } from './read/lookup.ts';
export {
  type Cursor,
  depositedSince,
  isFirstPaid,
  type MonitoredOrder,
  othersAtAccount,
  othersPaidAt,
  type PaidCursor,
  paidIn,
  paidSince,
  tradedBefore,
  type Use,
  usesOf,
} from './read/monitored.ts';
export { openAddresses } from './read/open-addresses.ts';
export { opened } from './read/opened.ts';
export type { PublicAmount, PublicMoney, PublicRefund, PublicReturn } from './read/public.ts';
export { MOST_ASKED, publicState } from './read/public.ts';
export { hasPublicReason, PUBLIC_REASONS, type PublicReason, publicReason } from './read/reasons.ts';
export { type MoneyTrace, trace } from './read/trace.ts';
export {
  assignDeposit,
  NAMEABLE,
  nameDestination,
  refundAddressOn,
  refundDeposit,
  standsForLoss,
} from './refunds/actions.ts';
export { releaseBlocked } from './refunds/blocked.ts';
export {
  cancelUnpaid,
  changePayoutFor,
  type PartnerAsks,
  payElsewhereFor,
  refundHeldFor,
  refundSuspenseFor,
} from './refunds/by-partner.ts';
export { holdRefused, returnByTravelRule } from './refunds/by-rule.ts';
export {
  type Compensable,
  type Compensation,
  compensate,
  type FeeSchedule,
  lookCompensation,
  otherFee,
  requireCompensable,
} from './refunds/compensate.ts';
export {
  addressesSince,
  type NamedAddress,
  perhapsNamedSince,
  refundAddressesOf,
} from './refunds/destinations.store.ts';
export type { PayoutAddress } from './refunds/destinations.ts';
export { requestRefund } from './refunds/request.ts';
export { retryRefund } from './refunds/retry.ts';
export { type Refund, type RefundState, refundsOf, refundsOfDeposit, waitingRefunds } from './refunds/store.ts';
export { goesToSender, senderOfOrder } from './refunds/to-sender.ts';
export { type Direction, type ListedOrder, type Order } from './store.ts';

/**
 * Moves every due time of a partner's orders earlier: deadlines, locked rates, waits, clearing times. It decides nothing: the
 * usual jobs find the rows that are due afterwards.
 *
 * @returns the number of orders
 */
export async function bringOrdersForward(tx: Tx, input: { partnerId: bigint; ms: number }): Promise<number> {
  const orders = await store.shiftDueTimes(tx, input);
  const deposits = await depositStore.bringClearingForward(tx, input);
  await shiftDueTimes(tx, { kinds: ['expire_order', 'fund_order'], subjects: orders, ms: input.ms });
  await shiftDueTimes(tx, { kinds: ['clear_deposit', 'create_follow_on_order'], subjects: deposits, ms: input.ms });
  const refunds = await screeningRefunds(tx, deposits);
  await shiftDueTimes(tx, { kinds: ['screen_refund'], subjects: refunds, ms: input.ms });
  // A payout that waits at the gate for clearing checks again when its clearing time has passed.
  await shiftDueTimes(tx, {
    kinds: ['send_payout'],
    subjects: await waitingPayouts(tx, input.partnerId),
    ms: input.ms,
  });
  return orders.length;
}

/** The rails' ids of these deposits. */
export async function depositNames(tx: Tx, ids: readonly bigint[]): Promise<Map<bigint, string>> {
  return new Map((await depositStore.depositNames(tx, ids)).map((row) => [row.id, row.externalId]));
}

/** The deposits among these that are known and not booked yet → the reason. */
export async function depositsWaiting(tx: Tx, rail: string, names: readonly string[]): Promise<Map<string, string>> {
  const rows = await depositStore.depositsWaiting(tx, rail, names);
  return new Map(
    rows.map(({ externalId, clearsAt }) => [
      externalId,
      clearsAt === null ? 'waits for confirmations' : 'waits until the bank can no longer recall it',
    ]),
  );
}

export interface Orders {
  /** @see create.ts */
  create(tx: Tx, input: CreateInput): Promise<Order>;
  /** Stores the bank reference that a customer claims to have paid with. @throws Refusal 'unknown_order' | 'order_over' */
  claim(
    tx: Tx,
    input: { id: bigint; direction: Direction; customerId: string; reference: string; now: Date },
  ): Promise<Order>;
  /** Payee and reference for the customer of a bank deposit. @throws Refusal 'order_over', also after the deadline */
  payInstructions(order: Order): { payee: Payee; reference: string };
  /**
   * Parses an address to which this market may pay out, or says why it is refused: it is no address, a token's contract, or one
   * of our own, of any partner. `tx` must see all of our addresses.
   */
  readPayoutAddress(tx: Tx, market: Market, text: string): Promise<PayoutAddress>;
  /** As `readPayoutAddress`, for an address to which a deposit on this market would be refunded. */
  readRefundAddress(tx: Tx, market: Market, text: string): Promise<PayoutAddress>;
  /** Sets the destination of a refund, or of a payout that is paid again. Only through the system role. @see actions.ts */
  nameDestination(tx: Tx, input: { orderId: bigint; to: RefundTo; now: Date }): Promise<Order>;
  /** What the page of a return link shows; undefined if this customer has no such link. @see returns.ts */
  returnShown(tx: Tx, asked: LinkAsked): Promise<ReturnShown | undefined>;
  /** Handles the page's form: the address typed, or the confirmation of the address shown. Only through the system role. */
  enterReturnAddress(tx: Tx, asked: LinkAsked & { text: string }): ReturnType<typeof enterReturnAddress>;
  forgetReturnAddress(tx: Tx, asked: LinkAsked): Promise<void>;
  confirmReturnAddress(tx: Tx, asked: LinkAsked & { address: string; loggedInAt: Date; now: Date }): Promise<void>;
  /** What the partner sees of its order's money. @see publicMoney.ts */
  publicMoney(tx: Tx, order: Order, page?: RefundPage): Promise<PublicMoney>;
  /** Money received, paid out and refunded: the rows behind `publicMoney`. */
  parts(tx: Tx, order: Order): Promise<OrderParts>;
  /** Orders of the role's partner that match the filters, newest first. @param input.below the `next` of the previous page */
  page(tx: Tx, input: OrderPage): Promise<{ orders: Order[]; next: bigint | null }>;
  /** As `parts`, with what the customer's page shows in addition. */
  money(tx: Tx, order: Order): Promise<OrderMoney>;
  /**
   * One order of the role's partner.
   * @throws Refusal 'unknown_order', also if direction or customer differ
   */
  get(tx: Tx, input: { id: bigint; direction?: Direction; customerId?: string }): Promise<Order>;
  /** A customer's orders, newest first. `page` counts from 1; past the end it is empty. */
  list(
    tx: Tx,
    input: { customerId: string; direction: Direction; page: number; pageSize: number },
  ): Promise<{ orders: ListedOrder[]; total: bigint }>;
  /**
   * All of a partner's orders of a direction, newest first unless `oldestFirst`; optionally in one fiat, and created since a
   * time. `total` counts the matching orders.
   */
  listAll(tx: Tx, input: ListAll): Promise<{ orders: ListedOrder[]; total: bigint }>;
}

export interface OrderMoney {
  publicMoney: PublicMoney;
  /** Money received, with its state (`deposits`). */
  deposits: readonly { asset: string; units: bigint; state: string }[];
  /** The amount for which an unpaid order still waits, minus the amount under way; in the deposit's units. */
  missingUnits: bigint;
  /** The order has ended, and we hold none of its money. */
  isOver: boolean;
  /** The payout was returned and we hold it. */
  cameBack: boolean;
  /** The whole amount is to be refunded and no destination is named, or it was blocked by law and has been released. */
  goesBack: boolean;
  /** Money that needs a destination: amount and asset, and whether it goes to an account or an address. */
  destinations: readonly { purpose: 'refund' | 'payout'; asset: string; units: bigint; kind: 'bank' | 'chain' }[];
}

/** @see Orders.parts */
export interface OrderParts extends Known {
  /** Since when the order is in its state. */
  since: Date;
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

export function openOrders(context: OpeningContext): Orders {
  const { vault } = context;
  return {
    async create(tx, { merchantReference, ...input }) {
      const encrypted =
        merchantReference === undefined ? undefined : encryptText(vault, input.partner.id, merchantReference);
      const order = await create(context, tx, {
        ...input,
        ...defined({ merchantReference: encrypted }),
      });
      return opened(vault, order);
    },

    async get(tx, input) {
      const order = await store.get(tx, input.id);
      const asked =
        order !== undefined &&
        (input.direction === undefined || order.direction === input.direction) &&
        (input.customerId === undefined || order.customerId === input.customerId);
      if (!asked) throw new Refusal('unknown_order', {});
      return opened(vault, order);
    },

    async claim(tx, { reference, now, ...input }) {
      const order = await this.get(tx, input);
      requireNotOver(order);
      await store.claim(tx, order.id, encryptText(vault, order.partnerId, reference), now);
      return { ...order, payerReference: reference };
    },

    payInstructions(order) {
      requireNotOver(order);
      if (!isPayable(order, context.clock.now())) throw new Refusal('order_over', { state: order.state });
      const payee = context.rails.get(order.depositRail)?.payee?.(order.depositAsset);
      assert(payee !== undefined, `rail ${order.depositRail} has no payee`);
      return { payee, reference: order.depositTarget };
    },

    readPayoutAddress: (tx, market, text) => readAddressOn(context, tx, market.payoutRail, text),
    readRefundAddress: (tx, market, text) => readAddressOn(context, tx, market.depositRail, text),
    nameDestination: (tx, input) => nameDestination(context, tx, { ...input, by: 'partner' }),

    returnShown,
    enterReturnAddress: (tx, asked) => enterReturnAddress(context, tx, asked),
    forgetReturnAddress,
    confirmReturnAddress: (tx, asked) => confirmReturnAddress(context, tx, asked),
    publicMoney: (tx, order, page) => publicMoney(tx, order, page),

    async parts(tx, order) {
      const [known, history] = await awaitAll(readKnown(tx, order.id), historyStore.history(tx, order.id));
      return { ...known, since: history.at(-1)?.at ?? order.createdAt };
    },
    page: (tx, asked) => page(vault, tx, asked),
    money: (tx, order) => money(context, tx, order),

    async list(tx, { customerId, direction, page, pageSize }) {
      const skipped = BigInt(page - 1) * BigInt(pageSize);
      const [total, orders] = await awaitAll(
        pageStore.count(tx, customerId, direction),
        pageStore.page(tx, { customerId, direction, skipped, size: BigInt(pageSize) }),
      );
      return { orders: orders.map((order) => opened(vault, order)), total };
    },

    async listAll(tx, { page, pageSize, since, oldestFirst, ...list }) {
      const last = await pageStore.countAll(tx, list);
      const first = since === undefined ? 1n : ((await pageStore.positionSince(tx, { ...list, since })) ?? last + 1n);
      const skipped = BigInt(page - 1) * BigInt(pageSize);
      const size = BigInt(pageSize);
      const [above, upTo] = oldestFirst
        ? [first - 1n + skipped, least(first - 1n + skipped + size, last)]
        : [greatest(last - skipped - size, first - 1n), last - skipped];
      const orders = above >= upTo ? [] : await pageStore.pageAll(tx, { ...list, above, upTo });
      // The sequence is in commit order. Orders created at nearly the same time are sorted by creation time.
      const sign = oldestFirst ? 1 : -1;
      orders.sort((a, b) => sign * (a.createdAt.getTime() - b.createdAt.getTime() || Number(a.id - b.id)));
      return { orders: orders.map((order) => opened(vault, order)), total: last - first + 1n };
    },
  };
}

/** See `Orders.money`. */
async function money({ rails }: Pick<OrdersContext, 'rails'>, tx: Tx, order: Order): ReturnType<Orders['money']> {
  const kindOf = (code: string): Rail['kind'] => {
    const rail = rails.get(code);
    assert(rail !== undefined, `rail ${code} is not running`);
    return rail.kind;
  };
  const known = await readKnown(tx, order.id);
  const assetsKnown = await assets(tx);
  return {
    publicMoney: publicMoneyOf(order, known, assetsKnown),
    deposits: known.deposits
      .filter(({ origin }) => isNewMoney(origin))
      .map(({ id, asset, units, state }) => ({
        ...{ asset, units },
        // Money in suspense is shown as under review, unless its refund is already requested.
        state: state === 'suspense' && known.refunds.some((one) => one.depositId === id) ? 'applied' : state,
      })),
    missingUnits: missingUnits(order, known.deposits),
    isOver: isAllOver(order, known) && !isUnreleased(order, known.deposits),
    cameBack: known.deposits.some(
      (row) =>
        row.origin === 'returned' && row.why === 'payout_returned' && !isAllOver(order, { ...known, deposits: [row] }),
    ),
    goesBack: isUnnamed(order, known.deposits) || (order.state === 'frozen' && !isUnreleased(order, known.deposits)),
    destinations: [
      ...(isUnnamed(order, known.deposits)
        ? [
            {
              ...{ purpose: 'refund' as const, asset: order.depositAsset, units: order.receivedUnits ?? 0n },
              kind: kindOf(order.depositRail),
            },
          ]
        : []),
      ...known.refunds
        .filter(
          ({ source, state, key, depositId }) =>
            source === 'suspense' &&
            !known.confirmed.has(depositId) &&
            isAskable(state, known.payouts.find(({ id }) => id === key)?.why ?? null),
        )
        .map(({ purpose, rail, asset, netUnits }) => ({
          ...{ purpose, asset, units: netUnits },
          kind: kindOf(rail),
        })),
    ],
  };
}

/** Includes deposits that are not confirmed yet: they are under way. */
function missingUnits(order: Order, deposits: readonly DepositRow[]): bigint {
  const { units, underWay } = partsOf({ order, deposits });
  return greatest(order.depositUnits - units - underWay, 0n);
}

/** Whether a customer may name the destination. Not if the gate or screening holds the money: then an operator reviews it. */
const isAskable = (state: RefundState, why: string | null): boolean =>
  state === 'needs_destination' ||
  ((state === 'rejected' || state === 'returned') && why?.startsWith(HELD_AT_GATE) !== true);

/**
 * Whether a customer may be asked to pay: only before the deadline, although the order ends only once its rail has been read up
 * to the deadline.
 */
export const isPayable = ({ state, expiresAt }: ListedOrder, now: Date): boolean =>
  !isFinal(publicState(state)) && now < expiresAt;

function requireNotOver({ state }: Order): void {
  if (isFinal(publicState(state))) throw new Refusal('order_over', { state });
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const greatest = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** The orders among these whose customer may still pay. Sweeps skip their addresses. */
export const stillWaiting = (tx: Tx, ids: readonly bigint[]) => store.stillWaiting(tx, ids);

/** Open orders by state, with the oldest of each, for metrics. */
export const openByState = (tx: Tx) => store.open(tx);
