/**
 * Refunds: sending a deposit, or part of one, back.
 *
 * A refund names its deposit, the amount refunded, the fee kept, and the destination; a payout is one attempt at it, sent by
 * rails/payouts.ts like any other. It leaves from the account where the money is: the order's account when the whole order is
 * refunded (in parts, one per deposit), or suspense for money that no order took. A returned payout is money in suspense too,
 * and is paid again the same way, as a payout of its order.
 *
 *   needs_destination ─▶ screening ─▶ created ─▶ submitted ─▶ settled ─▶ returned ─┐
 *          ▲                │  ▲                     └──▶ rejected ────────────────┤
 *          │               held┴──────────────────────────────────────(another try)┘
 *
 * Promises:
 * - never more than came in: a check on the deposit's row rejects it, whatever is requested and however many requests run at
 *   once;
 * - the ledger hold is made in the transaction that creates the payout, so the money is not spent on anything else meanwhile;
 * - nothing goes to a destination that was not screened, and screening is called outside of any transaction;
 * - another attempt is made only after the rail has rejected or returned the last one.
 *
 * Not here: who decides on a refund (policies, actions.ts), reading where the money came from (rails).
 */
import type { Tx } from '../base/db.ts';
import { assert, Refusal } from '../base/errors.ts';
import { numericId } from '../base/ids.ts';
import { enqueue, type Handled, type Handlers } from '../base/jobs.ts';
import { type CaseKind, closeCases, openCase, record, tellCase, type Verdict } from '../compliance/index.ts';
import { findCustomer } from '../customers/index.ts';
import { type Account, chart, type Entry, type Line, move, post } from '../ledger/index.ts';
import { assets } from '../partners/index.ts';
import { PRICED_FEES } from '../quotes/index.ts';
import {
  cancelUnlessSubmitted,
  type Payout,
  payoutByKey,
  payoutsOf,
  payoutsOfRefund,
  recordRejected,
} from '../rails/payouts.ts';
import type { Rail } from '../rails/rail.ts';
import { advance, bookedRefund, change, custodyOf, fromPosition, writeRefund } from './advance.ts';
import { failureOf, HELD_AT_GATE, isForAPerson, keptOnRefund, mayRetryByItself, PAID_BEFORE } from './decide.ts';
import { fitsRefund, type Outgoing, requireFits } from './destinations.ts';
import { wakeDeposit } from './dormant.ts';
import { feeAccount, foundRefund, holdRefund, type LostPart, linesFor, settleRefund, voidRefund } from './entries.ts';
import {
  type ApprovedBy,
  approveRefund,
  keepVerdict,
  refundOf,
  screeningOf,
  suspenseRefundOf,
  uncoveredFindings,
} from './gate.ts';
import type { OrdersContext } from './index.ts';
import { LOST_TIME_EVERY_MS, mayHavePaid } from './lost-time.ts';
import { next } from './machine.ts';
import { lookAgain, notReady } from './ready.ts';
import {
  changeRefund,
  findRefund,
  insertRefund,
  type LockedRefund,
  lockRefund,
  type Refund,
  refundsOf,
  refundsOfDeposit,
} from './refunds.store.ts';
import { lossAccount } from './replace.ts';
import { screenOutside } from './rescreen.ts';
import { type DepositRow, type Order, type RefundRequest, store } from './store.ts';

type Rails = { rails: ReadonlyMap<string, Rail> };

/** Destination: the customer's address on a chain, or a bank account. */
export interface RefundTo {
  address?: string | undefined;
  fiatAccountId?: bigint | undefined;
}

/** How often a refund that waits for funds in the paying wallet checks again. */
const FUNDS_EVERY_MS = 5_000;

/**
 * Requests a refund of money that no order took: an excess, a late or second deposit, another asset; also when its order is
 * over or there is none. While a refund of it is open, a second request returns that one.
 *
 * @param want.units in the deposit's smallest units, before the fee kept
 * @param want.order when the caller has locked the deposit's order already
 * @param want.by    who requested it: `policy`, or a person's name
 * @returns undefined when the deposit has less than that in suspense: nothing was written
 * @throws Refusal 'unknown_account' | 'malformed_field' when it cannot arrive at `want.to`
 */
export async function requestRefund(
  context: Rails,
  tx: Tx,
  want: {
    depositId: bigint;
    units: bigint;
    why: string;
    order?: Order | undefined;
    by?: string;
    to?: RefundTo;
    now: Date;
  },
): Promise<Refund | undefined> {
  const { depositId, units, why, by = 'policy', now } = want;
  const known = await store.depositById(tx, depositId);
  if (known === undefined) return undefined;
  const order = want.order ?? (known.order_id === null ? undefined : await store.lock(tx, known.order_id));
  const deposit = await store.lockDepositById(tx, depositId);
  assert(deposit !== undefined, `deposit ${depositId} stays where it is`);
  const open = (await refundsOfDeposit(tx, depositId)).find((one) => one.source === 'suspense' && isOpen(one));
  if (open !== undefined) return open;
  if (units <= 0n || units > inSuspense(deposit)) return undefined;
  await wakeDeposit(tx, deposit, { by, why: 'it goes back', now });

  if (want.to !== undefined) await requireFits(context, tx, outgoing({ ...deposit, depositId }, order), want.to);
  const to = want.to ?? (order === undefined ? undefined : await knownDestination(context, tx, order, deposit));
  const refund = await insertRefund(tx, {
    ...blank(deposit, units, 0n, now),
    purpose: deposit.origin === 'returned' ? 'payout' : 'refund',
    source: 'suspense',
    why,
    requestedBy: by,
    state: to === undefined ? 'needs_destination' : 'screening',
    ...destinationColumns(to),
  });
  await comesNext(tx, refund, now);
  await tell(tx, order, now);
  return refund;
}

/** Announces a changed refund to the order's partner. Money without an order has no partner to tell. */
const tell = async (tx: Tx, order: Order | undefined, now: Date): Promise<void> =>
  order === undefined ? undefined : void (await change(tx, order, { now }));

/**
 * The part of a deposit in suspense that no refund names. Parts of an order that may still be paid are the order's, not free.
 */
export const inSuspense = (deposit: DepositRow): bigint =>
  deposit.state === 'suspense' || deposit.state === 'applied' || deposit.state === 'refunded'
    ? deposit.units - deposit.taken_units - deposit.refund_units
    : 0n;

export const isOpen = ({ state }: Refund): boolean => state !== 'settled' && state !== 'cancelled';

function blank(deposit: DepositRow, grossUnits: bigint, costUnits: bigint, now: Date) {
  return {
    id: numericId(now),
    depositId: deposit.id,
    orderId: deposit.order_id,
    partnerId: deposit.partner_id,
    rail: deposit.rail,
    asset: deposit.asset,
    grossUnits,
    costUnits,
    netUnits: grossUnits - costUnits,
    attempt: 0,
    key: null,
    createdAt: now,
    updatedAt: now,
    settledAt: null,
  };
}

const destinationColumns = (to: RefundTo | undefined) => ({
  address: to?.address ?? null,
  fiatAccountId: to?.fiatAccountId ?? null,
});

/**
 * The destination that this customer named for refunds of this order. Money that came on another chain is refunded there to
 * the same address, if that chain parses it to the same; money in another currency than the account's, or by another kind of
 * rail, has no destination yet.
 */
async function knownDestination(
  context: Rails,
  tx: Tx,
  order: Order,
  deposit: Pick<DepositRow, 'rail' | 'asset' | 'origin'>,
): Promise<RefundTo | undefined> {
  if (deposit.origin === 'returned') return undefined;
  const to = destinationOf(context.rails, order);
  return to !== undefined && (await fitsRefund(context, tx, outgoing(deposit, order), to)) ? to : undefined;
}

export const outgoing = (
  money: { rail: string; asset: string; depositId?: bigint },
  order: Order | undefined,
): Outgoing => ({
  rail: money.rail,
  asset: money.asset,
  customerId: order?.customerId,
  depositId: money.depositId,
});

/** A full refund of the order's deposit. */
const wholeOf = (order: Order): Outgoing => outgoing({ rail: order.depositRail, asset: order.depositAsset }, order);

function destinationOf(rails: ReadonlyMap<string, Rail>, order: Order): RefundTo | undefined {
  if (rails.get(order.depositRail)?.kind === 'chain')
    return order.refundAddress === null ? undefined : { address: order.refundAddress };
  return order.refundAccountId === null ? undefined : { fiatAccountId: order.refundAccountId };
}

/** Enqueues the job, or opens the case, that a refund's state requires. */
export async function comesNext(tx: Tx, refund: Refund, now: Date): Promise<void> {
  const subject = `refund:${refund.id}`;
  if (refund.state === 'screening') {
    await closeCases(tx, { kind: 'refund_destination', subject, outcome: 'a destination was named', now });
    return enqueue(tx, { kind: 'screen_refund', subject: String(refund.id), dueAt: now });
  }
  // A returned payout already has a case of its own.
  if (refund.state === 'needs_destination' && refund.purpose === 'refund')
    await refundCase(tx, refund, 'refund_destination', 'the customer has to name where it goes', now);
}

const refundCase = (tx: Tx, refund: Refund, kind: CaseKind, reason: string, now: Date) =>
  openCase(tx, {
    kind,
    subject: `refund:${refund.id}`,
    orderId: refund.orderId ?? undefined,
    partnerId: refund.partnerId ?? undefined,
    reason,
    facts: { deposit: String(refund.depositId), units: String(refund.netUnits), asset: refund.asset },
    now,
  });

/** Enqueued without a reason: the order's exception is the reason. */
function wantedOf(order: Order): RefundRequest {
  if (order.refundRequest !== null) return order.refundRequest;
  const why = order.exception ?? 'policy';
  return { by: 'policy', why, failure: (order.failure as RefundRequest['failure'] | null) ?? failureOf(why) };
}

export function refundHandlers(context: OrdersContext): Handlers {
  return {
    refund_order: (subject) => refundOrder(context, BigInt(subject)),
    screen_refund: (subject) => screenRefund(context, BigInt(subject)),
  };
}

async function refundOrder(context: OrdersContext, id: bigint): Promise<Handled> {
  const order = await context.db.asSystem((tx) => store.get(tx, id));
  assert(order !== undefined, `order ${id} exists`);
  if (next(order.state, 'refund_requested') === undefined) return undefined;
  // Since then a person, screening or the gate has held it: a person decides, whatever was requested before.
  if (isForAPerson(await context.db.asSystem((tx) => store.history(tx, id)))) return undefined;
  // No refund while the order may have been paid in the time that a restore lost.
  if ((await context.db.asSystem((tx) => mayHavePaid(context, tx, order))) !== undefined)
    return { againInMs: LOST_TIME_EVERY_MS };
  const named = destinationOf(context.rails, order);
  const fits = named && (await context.db.asSystem((tx) => fitsRefund(context, tx, wholeOf(order), named)));
  const to = fits === true ? named : undefined;
  const about = { subject: `order:${id}`, orderId: id, partnerId: order.partnerId };
  if (to === undefined) {
    const now = context.clock.now();
    await context.db.asSystem(async (tx) => {
      // Naming the destination enqueues it again.
      await store.noteRefundRequest(tx, id, wantedOf(order), now);
      if (order.refundRequest === null) await tell(tx, order, now);
      const reason = 'the customer has to name where it goes';
      await openCase(tx, { kind: 'refund_destination', ...about, reason, now });
    });
    return undefined;
  }
  try {
    await startRefund(context, { orderId: id, ...wantedOf(order), to, now: context.clock.now() });
    return undefined;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.code === 'order_over') return undefined;
    const isShort = error.code === 'funds_short';
    await context.db.asSystem((tx) =>
      openCase(tx, {
        kind: isShort ? 'refund_short' : 'refund_destination_held',
        ...about,
        reason: isShort ? `not enough ${order.depositAsset} to refund` : 'screening would not let it go there',
        now: context.clock.now(),
      }),
    );
    return isShort ? { againInMs: FUNDS_EVERY_MS } : undefined;
  }
}

/**
 * Refunds everything an order's account holds, each deposit by its own refund. The destination is screened first.
 *
 * @throws Refusal 'unknown_order' | 'unknown_account' | 'malformed_field' | 'order_over' | 'destination_held' | 'funds_short'
 */
export async function startRefund(
  context: OrdersContext,
  back: RefundRequest & {
    orderId: bigint;
    to: RefundTo;
    /** People who approve a new destination, and explicitly its hits, in the transaction that refunds. */
    approvedBy?: ApprovedBy & { pastHits?: boolean | undefined };
    /** Moves the locked order to a state from which it can be refunded: allowed to a person, not to a policy. */
    before?: (tx: Tx, order: Order) => Promise<Order>;
    now: Date;
  },
): Promise<Order> {
  const { orderId, to, now } = back;
  await context.db.asSystem(async (tx) => {
    const found = await store.get(tx, orderId);
    if (found === undefined) throw new Refusal('unknown_order', {});
    const mayGoBack = back.before !== undefined || next(found.state, 'refund_requested') !== undefined;
    if (mayGoBack) await requireFits(context, tx, wholeOf(found), to);
  });
  const verdict = await screenOrderRefund(context, orderId, to);
  const refunded = await context.db.asSystem(async (tx) => {
    // Locked first, because a decision refers to its order: two callers that had each written theirs would deadlock here.
    const locked = await store.lock(tx, orderId);
    assert(locked !== undefined, `order ${orderId} is gone`);
    if (back.approvedBy !== undefined)
      await approveRefund(context, tx, await refundOf(tx, locked, to), { ...back.approvedBy, now });
    if (await isKept(context, tx, locked, { to, verdict, now })) return undefined;
    const order = back.before === undefined ? locked : await back.before(tx, locked);
    // Closed first, because a transition may open a case of its own.
    await closeCases(tx, { subject: `order:${order.id}`, outcome: `rejected by ${back.by}`, now });
    return await rejectLocked(context, tx, order, back);
  });
  if (refunded === undefined) throw new Refusal('destination_held', { orderId: String(orderId) });
  return refunded;
}

/** Screens the destination of an order's refund. @throws Refusal 'unknown_order' */
async function screenOrderRefund(context: OrdersContext, orderId: bigint, to: RefundTo): Promise<Verdict> {
  const leaving = await context.db.asSystem(async (tx) => {
    const order = await store.get(tx, orderId);
    if (order === undefined) throw new Refusal('unknown_order', {});
    return await refundOf(tx, order, to);
  });
  return await screenOutside(context, screeningOf(leaving));
}

/** Stores the screening result of an order's refund. @returns whether the refund may not go there now */
async function isKept(
  context: OrdersContext,
  tx: Tx,
  order: Order,
  { to, verdict, now }: { to: RefundTo; verdict: Verdict; now: Date },
): Promise<boolean> {
  const leaving = await refundOf(tx, order, to);
  keepVerdict(tx, leaving, verdict, now);
  const left = await uncoveredFindings(context, tx, leaving, now);
  const outcome = left.length > 0 ? 'held' : 'cleared';
  await record(tx, { orderId: order.id, partnerId: order.partnerId, about: 'refund', ...verdict, outcome, now });
  return left.length > 0;
}

async function rejectLocked(
  context: Rails,
  tx: Tx,
  order: Order,
  back: RefundRequest & { to: RefundTo; now: Date },
): Promise<Order> {
  const { by, why, failure, to, now } = back;
  const over = () => new Refusal('order_over', { state: order.state });
  if (next(order.state, 'refund_requested') === undefined) throw over();
  // The customer was paid after all: an attempt that its rail had rejected has arrived.
  if (await isPaidOut(tx, order.id))
    throw new Refusal('refund_under_way', { orderId: String(order.id), state: order.state });
  const deposits = await store.depositsOf(tx, order.id);
  const lost = lostOf(order, deposits);
  const facts = { by, why };
  const refunds: Refund[] = [];
  const applied = deposits.filter(({ state }) => state === 'applied');
  // Fees belong to the order and are kept from the first deposits; each part refunds something.
  let keepUnits = await keptOf(
    tx,
    order,
    applied.reduce((sum, row) => sum + row.taken_units, 0n),
  );
  for (const { id } of applied) {
    const deposit = await store.lockDepositById(tx, id);
    assert(deposit !== undefined, `deposit ${id} stays where it is`);
    const costUnits = keepUnits < deposit.taken_units ? keepUnits : deposit.taken_units - 1n;
    keepUnits -= costUnits;
    const fresh = blank(deposit, deposit.taken_units, costUnits, now);
    refunds.push(
      await insertRefund(tx, {
        ...fresh,
        purpose: 'refund',
        source: 'order',
        why,
        requestedBy: by,
        state: 'created',
        attempt: 1,
        key: `ref_${fresh.id}_1`,
        ...destinationColumns(to),
      }),
    );
  }
  if (refunds.length === 0 && lost.length === 0) throw over();
  const event = refunds.length === 0 ? 'deposit_gone' : 'refund_requested';
  const advanced = await advance(context, tx, order, event, { now, failure, refunds, lost, facts });
  if (advanced.outcome === 'ignored') throw new Refusal('funds_short', { asset: order.depositAsset });
  if (lost.length > 0) await giveUpLost(tx, order, deposits, now);
  return advanced.order;
}

/** The fee that the order's policy keeps of its deposit. From money that no order took nothing is kept. */
async function keptOf(tx: Tx, order: Order, grossUnits: bigint): Promise<bigint> {
  const known = await assets(tx);
  const crypto = order.depositAsset === order.fiatAsset ? order.payoutAsset : order.depositAsset;
  const [base, quote] = [known.get(crypto)?.decimals, known.get(order.fiatAsset)?.decimals];
  assert(base !== undefined && quote !== undefined, `assets of order ${order.id} are known`);
  return keptOnRefund(order, grossUnits, { base, quote });
}

/** Parts an order took that its rail reversed since, while the order still claims them. */
export const lostOf = (order: Order, deposits: readonly DepositRow[]): LostPart[] =>
  deposits
    .filter((row) => row.state === 'lost' && row.taken_units > 0n)
    .map((row) => ({ units: row.taken_units, bookedTo: lossAccount(order, row) }));

export async function giveUpLost(tx: Tx, order: Order, deposits: readonly DepositRow[], now: Date): Promise<void> {
  await store.markGivenUp(tx, order.id);
  for (const { id, state } of deposits) {
    if (state === 'lost') await closeCases(tx, { subject: `deposit:${id}`, outcome: 'given up with its order', now });
  }
}

/** Screens the destination of a refund out of suspense, then creates its payout. */
async function screenRefund(context: OrdersContext, id: bigint): Promise<Handled> {
  const { refund, order, early } = await context.db.asSystem(async (tx) => {
    const found = await findRefund(tx, id);
    const deposit = found === undefined ? undefined : await store.depositById(tx, found.depositId);
    return {
      refund: found,
      order: found?.orderId == null ? undefined : await store.get(tx, found.orderId),
      early: deposit && (await notReady(context, tx, [deposit], context.clock.now())),
    };
  });
  if (refund?.state !== 'screening') return undefined;
  // No refund while its rail can still reverse the deposit. Screened after that, because lists change meanwhile.
  if (early !== undefined) return lookAgain(early, context.clock.now());
  const nobodys = await isNobodysThere(context.rails, refund, order);
  const asked = await context.db.asSystem((tx) => suspenseRefundOf(tx, refund, order));
  const verdict = await screenOutside(context, screeningOf(asked));
  return await context.db.asSystem(async (tx) => {
    const locked = await lockRefund(tx, id);
    assert(locked !== undefined, `refund ${id} stays where it is`);
    const there = locked.refund;
    const same = there.address === refund.address && there.fiatAccountId === refund.fiatAccountId;
    if (there.state !== 'screening') return undefined;
    const to = { address: there.address ?? undefined, fiatAccountId: there.fiatAccountId ?? undefined };
    if (!(await fitsRefund(context, tx, outgoing(there, locked.order), to))) {
      const nowhere = { fiatAccountId: null, address: null };
      const open = await changeRefund(tx, there, { state: 'needs_destination', to: nowhere, now: context.clock.now() });
      await comesNext(tx, open, context.clock.now());
      return undefined;
    }
    // Another destination was named meanwhile: that one is screened next.
    if (!same) return { againInMs: 0 };
    const now = context.clock.now();
    const leaving = await suspenseRefundOf(tx, there, locked.order);
    keepVerdict(tx, leaving, verdict, now);
    const [first] = await uncoveredFindings(context, tx, leaving, now);
    await record(tx, {
      orderId: there.orderId ?? undefined,
      partnerId: there.partnerId,
      about: 'refund',
      ...verdict,
      outcome: first === undefined ? 'cleared' : 'held',
      now,
    });
    if (first !== undefined || nobodys) {
      const held = await changeRefund(tx, there, { state: 'held', now });
      await refundCase(tx, held, 'refund_destination_held', first?.rule ?? CONTRACT_ELSEWHERE, now);
      await tell(tx, locked.order, now);
      return undefined;
    }
    return await sendFromSuspense(context, tx, locked, now);
  });
}

const CONTRACT_ELSEWHERE =
  'it is a contract on the chain of the order, and nothing on the chain that the money came on';

/**
 * Money that came on another chain is refunded there. A key owns the same address on both chains, a contract does not: if the
 * customer's contract is not deployed there, nobody may own its address.
 *
 * @throws Unavailable
 */
async function isNobodysThere(
  rails: ReadonlyMap<string, Rail>,
  { rail, address }: Refund,
  order: Order | undefined,
): Promise<boolean> {
  if (order === undefined || address === null || rail === order.depositRail) return false;
  const [home, there] = [rails.get(order.depositRail), rails.get(rail)];
  if (home?.kind !== 'chain' || (await home.hasCode?.(address)) !== true) return false;
  return (await there?.hasCode?.(address)) !== true;
}

/** Holds a refund in suspense and creates its next attempt; waits when the paying wallet has too little. */
export async function sendFromSuspense(
  context: Rails,
  tx: Tx,
  { refund, order }: LockedRefund,
  now: Date,
): Promise<Handled> {
  const rail = context.rails.get(refund.rail);
  assert(rail !== undefined, `rail ${refund.rail} is running`);
  const attempt = refund.attempt + 1;
  const payoutAttempt = (order?.payoutAttempt ?? 0) + 1;
  const key = refund.purpose === 'payout' ? `pay_${refund.orderId}_${payoutAttempt}` : `ref_${refund.id}_${attempt}`;
  const from = chart.suspense(refund.rail, refund.asset);
  const to = chart.custody(rail.code, rail.wallets.payouts, refund.asset);
  const posted = await post(tx, {
    id: `${key}:held`,
    kind: 'hold_refund',
    ...(refund.orderId === null ? {} : { orderId: refund.orderId }),
    at: now,
    facts: { refund: String(refund.id), deposit: String(refund.depositId) },
    lines: holdRefund(bookedRefund({ ...refund, key }), from, to),
  });
  if (posted.outcome === 'short') {
    await refundCase(tx, refund, 'refund_short', `not enough ${refund.asset} to refund`, now);
    return { againInMs: FUNDS_EVERY_MS };
  }
  const written = await changeRefund(tx, refund, { state: 'created', attempt, key, now });
  if (refund.purpose === 'payout' && order !== undefined) await store.noteAttempt(tx, order.id, payoutAttempt, now);
  await writeRefund(tx, refund.purpose === 'payout' ? { ...written, attempt: payoutAttempt } : written, now);
  await closeCases(tx, { subject: `refund:${refund.id}`, outcome: 'created', now });
  return undefined;
}

// Handles what rails report of a refund's attempts. The caller has locked the order, if there is one.

export async function refundSubmitted(tx: Tx, payout: Payout, now: Date): Promise<void> {
  const locked = payout.refundId === null ? undefined : await lockRefund(tx, payout.refundId);
  if (locked?.refund.key !== payout.id || locked.refund.state !== 'created') return;
  await changeRefund(tx, locked.refund, { state: 'submitted', now });
  await tell(tx, locked.order, now);
}

/** @returns false when the books cannot accept it as this refund's: it was not under way */
export async function refundSettled(
  context: Rails,
  tx: Tx,
  payout: Payout,
  reference: string,
  now: Date,
): Promise<boolean> {
  const locked = payout.refundId === null ? undefined : await lockRefund(tx, payout.refundId);
  if (locked === undefined) return false;
  const { refund, order } = locked;
  if (refund.key !== payout.id || (refund.state !== 'created' && refund.state !== 'submitted')) return false;
  const settled = await changeRefund(tx, refund, { state: 'settled', now });
  const facts = { reference, payout: payout.id };
  if (refund.source === 'order') {
    assert(order !== undefined, `refund ${refund.id} leaves an order's account`);
    const others = (await refundsOf(tx, order.id)).filter((one) => one.source === 'order' && one.id !== refund.id);
    if (others.some(isOpen)) {
      await post(tx, {
        id: `${payout.id}:settled`,
        kind: 'settle_refund',
        orderId: order.id,
        at: now,
        facts,
        lines: settleRefund(bookedRefund(settled)),
      });
      await store.noteRefunded(tx, order.id, settled.grossUnits, now);
      await tell(tx, order, now);
      await endOrderRefund(context, tx, order.id, payout, now);
    } else {
      const advanced = await advance(context, tx, order, 'refund_settled', { now, refunds: [settled], facts });
      assert(advanced.outcome === 'advanced', `order ${order.id} takes its last refund`);
    }
  } else {
    await post(tx, {
      id: `${payout.id}:settled`,
      kind: 'settle_refund',
      ...(refund.orderId === null ? {} : { orderId: refund.orderId }),
      at: now,
      facts,
      lines: settleRefund(bookedRefund(settled)),
    });
  }
  await endRefund(tx, locked, reference, now);
  return true;
}

/** The follow-up of a refund that has arrived, however it was booked. */
async function endRefund(
  tx: Tx,
  { refund, order, deposit }: LockedRefund,
  reference: string,
  now: Date,
): Promise<void> {
  const left = (await refundsOfDeposit(tx, deposit.id)).some(isOpen);
  const after = await store.depositById(tx, deposit.id);
  if (!left && after !== undefined && after.taken_units === 0n && inSuspense(after) === 0n) {
    if (after.state !== 'lost') await store.changeDeposit(tx, deposit.id, { state: 'refunded' });
  }
  // Its deposit was reversed since: that is a loss all the same, and a case says so.
  if (!left && after?.state !== 'lost')
    await closeCases(tx, { subject: `deposit:${deposit.id}`, outcome: 'refunded', now });
  await closeCases(tx, { subject: `refund:${refund.id}`, outcome: 'settled', now });
  if (refund.purpose === 'payout' && order !== undefined) await change(tx, order, { payoutReference: reference, now });
  else if (refund.source === 'suspense') await tell(tx, order, now);
}

export async function refundRejected(context: Rails, tx: Tx, payout: Payout, why: string, now: Date): Promise<void> {
  const locked = payout.refundId === null ? undefined : await lockRefund(tx, payout.refundId);
  if (locked === undefined) return;
  const { refund, order } = locked;
  if (refund.key !== payout.id || (refund.state !== 'created' && refund.state !== 'submitted')) return;
  const failed = await changeRefund(tx, refund, { state: 'rejected', now });
  const again = mayRetryByItself(why, refund.attempt) && (await arrived(tx, failed)) === undefined;
  if (refund.source === 'order') {
    assert(order !== undefined, `refund ${refund.id} leaves an order's account`);
    await closeCases(tx, { kind: 'hold_too_late', subject: `refund:${refund.id}`, outcome: `refused: ${why}`, now });
    if (again && !(await isPaidOut(tx, order.id)) && (await heldParts(tx, order.id)) === undefined)
      return await tryAgainHeld(context, tx, { ...locked, refund: failed }, now);
    return await endOrderRefund(context, tx, order.id, payout, now, why);
  }
  await post(tx, {
    id: `${payout.id}:void`,
    kind: 'void_refund',
    ...(refund.orderId === null ? {} : { orderId: refund.orderId }),
    at: now,
    facts: { why, payout: payout.id },
    lines: voidRefund(bookedRefund(failed)),
  });
  if (await goesToLoss(tx, { ...locked, refund: failed }, payout, now)) return;
  if ((await arrived(tx, failed)) === undefined) {
    if (await endsCompensation(context, tx, locked, now)) return;
    if (await endsReleased(context, tx, locked, now)) return;
  }
  if (again) return void (await sendFromSuspense(context, tx, { ...locked, refund: failed }, now));
  await refundCase(tx, failed, 'refund_rejected', why, now);
  await tell(tx, order, now);
  await settleFound(context, tx, failed.id, now);
}

/**
 * The rail settled a refund attempt that it had rejected: cancels the next attempt if its submission has not begun, and
 * settles the refund. The caller has booked what left as a loss.
 */
export async function refundFound(context: Rails, tx: Tx, paid: Payout, now: Date): Promise<void> {
  const locked = paid.refundId === null ? undefined : await lockRefund(tx, paid.refundId);
  if (locked === undefined) return;
  const { key, rail, state } = locked.refund;
  const next = state === 'created' && key !== null && key !== paid.id ? await payoutByKey(tx, rail, key) : undefined;
  if (next !== undefined && (await cancelUnlessSubmitted(tx, next.id, PAID_BEFORE, now)))
    return await refundRejected(context, tx, next, PAID_BEFORE, now);
  await settleFound(context, tx, locked.refund.id, now);
}

/** The attempt that arrived although its rail had rejected it. */
const arrived = async (tx: Tx, { id, netUnits }: Refund): Promise<Payout | undefined> =>
  (await payoutsOfRefund(tx, id)).find(({ state, units }) => state === 'settled' && units === netUnits);

/**
 * Settles a failed refund of which an attempt arrived all the same: the money it would have sent covers the loss booked then.
 * For one of several refunds of an order this waits until none of them is under way, because only then is it no longer held.
 */
async function settleFound(context: Rails, tx: Tx, id: bigint, now: Date): Promise<void> {
  const locked = await lockRefund(tx, id);
  if (locked?.refund.state !== 'rejected') return;
  const { refund, order, deposit } = locked;
  const paid = await arrived(tx, refund);
  if (paid === undefined || (refund.source === 'order' && order?.state !== 'refund_held')) return;
  if (refund.source === 'suspense')
    await wakeDeposit(tx, deposit, { by: 'the rail', why: 'it has gone back after all', now });
  assert(paid.reference !== null, `payout ${paid.id} settled under a reference`);
  const facts = { reference: paid.reference, payout: paid.id };
  const settled = await changeRefund(tx, refund, { state: 'settled', now });
  const isLast =
    refund.source === 'order' &&
    order !== undefined &&
    !(await refundsOf(tx, order.id)).some((one) => one.source === 'order' && isOpen(one));
  if (isLast) {
    await advance(context, tx, order, 'refund_found', { now, refunds: [settled], facts });
    await closeCases(tx, { kind: 'refund_held', subject: `order:${order.id}`, outcome: 'refunded after all', now });
  } else {
    const from =
      refund.source === 'order' && order !== undefined
        ? chart.order(order.id, order.partnerId, refund.asset)
        : chart.suspense(refund.rail, refund.asset);
    await post(tx, {
      id: `${paid.id}:found`,
      kind: 'refund_found',
      ...(refund.orderId === null ? {} : { orderId: refund.orderId }),
      at: now,
      facts,
      lines: foundRefund(bookedRefund(settled), from),
    });
    if (refund.source === 'order' && order !== undefined)
      await store.noteRefunded(tx, order.id, refund.grossUnits, now);
  }
  await endRefund(tx, { ...locked, refund: settled }, paid.reference, now);
}

/** The order stays in the middle of its refunds: one entry releases the old hold and makes the next. */
async function tryAgainHeld(context: Rails, tx: Tx, { refund, order }: LockedRefund, now: Date): Promise<void> {
  const rail = context.rails.get(refund.rail);
  assert(rail !== undefined && order !== undefined, `rail ${refund.rail} is running`);
  const attempt = refund.attempt + 1;
  const again = await changeRefund(tx, refund, { state: 'created', attempt, key: `ref_${refund.id}_${attempt}`, now });
  const posted = await post(tx, {
    id: `${again.key}:held`,
    kind: 'hold_refund',
    orderId: order.id,
    at: now,
    lines: [
      ...voidRefund(bookedRefund(refund)),
      ...holdRefund(
        bookedRefund(again),
        chart.order(order.id, order.partnerId, refund.asset),
        chart.custody(rail.code, rail.wallets.payouts, refund.asset),
      ),
    ],
  });
  assert(posted.outcome !== 'short', `what refund ${refund.id} held it can hold again`);
  await writeRefund(tx, again, now);
}

/** Why the gate or an operator held a part of an order's refund; undefined when none was held. */
async function heldParts(tx: Tx, orderId: bigint): Promise<string | undefined> {
  const refunds = (await refundsOf(tx, orderId)).filter(
    ({ source, state }) => source === 'order' && state === 'rejected',
  );
  const whys = (await payoutsOf(tx, orderId)).filter(({ id }) => refunds.some(({ key }) => key === id));
  return whys.find(({ why }) => why?.startsWith(HELD_AT_GATE) === true)?.why ?? undefined;
}

/** When no refund of an order is under way any more and one has failed, a case is opened. */
async function endOrderRefund(
  context: Rails,
  tx: Tx,
  orderId: bigint,
  payout: Payout,
  now: Date,
  rejectedWhy?: string,
): Promise<void> {
  const refunds = (await refundsOf(tx, orderId)).filter(({ source }) => source === 'order');
  if (refunds.some(({ state }) => state === 'created' || state === 'submitted')) return;
  const failed = refunds.filter(({ state }) => state === 'rejected');
  const order = await store.lock(tx, orderId);
  assert(order !== undefined, `order ${orderId} stays where it is`);
  // Independent of which part ended last: if a person held one, a person decides about all of them.
  const why = (await heldParts(tx, orderId)) ?? rejectedWhy ?? 'another part of it failed';
  await advance(context, tx, order, 'refund_rejected', {
    now,
    refunds: failed,
    facts: { why, payout: payout.id },
    reason: why,
  });
  for (const { id } of failed) await settleFound(context, tx, id, now);
}

/**
 * A refund was returned: its money is in suspense (the caller has booked it there) and still owed; a person or the customer
 * names another destination. If an earlier attempt has arrived after all, nothing is owed, and the money in suspense covers
 * the loss booked then.
 *
 * @param units what actually came back: a bank may have kept some of it on the way
 * @returns false when this attempt did not make the refund: the returned money is unassigned
 */
export async function refundReturned(
  context: Rails,
  tx: Tx,
  payout: Payout,
  { units, why, now }: { units: bigint; why: string; now: Date },
): Promise<boolean> {
  const locked = payout.refundId === null ? undefined : await lockRefund(tx, payout.refundId);
  if (locked === undefined || locked.refund.key !== payout.id || locked.refund.state !== 'settled') return false;
  const { refund } = locked;
  await wakeDeposit(tx, locked.deposit, { by: 'the rail', why: 'some of it came back', now });
  const netUnits = units < refund.netUnits ? units : refund.netUnits;
  const isMade = (await arrived(tx, refund)) !== undefined;
  const back = await changeRefund(tx, refund, {
    state: isMade ? 'rejected' : 'returned',
    source: 'suspense',
    netUnits,
    costUnits: refund.grossUnits - netUnits,
    now,
  });
  if (await goesToLoss(tx, { ...locked, refund: back }, payout, now)) return true;
  if (!isMade && (await endsCompensation(context, tx, locked, now))) return true;
  if (!isMade && (await endsReleased(context, tx, locked, now))) return true;
  await refundCase(tx, back, 'refund_returned', why, now);
  await tell(tx, locked.order, now);
  if (isMade) await settleFound(context, tx, back.id, now);
  return true;
}

/**
 * The deposit of a refund in suspense was reversed while the refund was under way, and the refund failed or was returned:
 * nobody is owed it any more. Cancels the refund; its money covers the loss, or the customer's debt. A customer who was
 * blocked for that stays blocked until an operator decides otherwise.
 *
 * @returns whether that was the case
 */
async function goesToLoss(
  tx: Tx,
  { refund, order, deposit }: LockedRefund,
  payout: Payout,
  now: Date,
): Promise<boolean> {
  const isLost = deposit.state === 'lost' && deposit.lost_to !== null && deposit.lost_units > 0n;
  if (!isLost || refund.source !== 'suspense' || (await arrived(tx, refund)) !== undefined) return false;
  const units = refund.netUnits < deposit.lost_units ? refund.netUnits : deposit.lost_units;
  const to = order === undefined ? await lossOf(tx, deposit) : lossAccount(order, deposit);
  const posted = await post(tx, {
    id: `${payout.id}:made_good`,
    kind: 'deposit_replaced',
    ...(refund.orderId === null ? {} : { orderId: refund.orderId }),
    at: now,
    facts: { refund: String(refund.id), deposit: String(deposit.id) },
    lines: move(chart.suspense(refund.rail, refund.asset), to, units),
  });
  assert(posted.outcome === 'posted', `refund ${refund.id} is not in suspense`);
  await changeRefund(tx, refund, { state: 'cancelled', now });
  const outcome = `refund ${refund.id} has not left after all`;
  await closeCases(tx, { subject: `refund:${refund.id}`, outcome, now });
  await store.makeGood(tx, deposit.id, units);
  if (units === deposit.lost_units) await closeCases(tx, { subject: `deposit:${deposit.id}`, outcome, now });
  return true;
}

/** The account of a loss on a deposit without an order: the customer whose account was paid may owe it. */
async function lossOf(tx: Tx, { asset, lost_to }: DepositRow): Promise<Account> {
  const [kind, customerId] = (lost_to ?? '').split(':');
  if (kind !== 'receivable' || customerId === undefined) return chart.loss(asset);
  return chart.receivable(customerId, (await findCustomer(tx, customerId)).partnerId, asset);
}

/**
 * Sets or changes a refund's destination, and sends it there after screening.
 *
 * @throws Refusal 'refund_under_way' when it was submitted or has settled; 'unknown_account' | 'malformed_field' when it
 *   cannot
 *         arrive there
 */
export async function sendRefundTo(
  context: Rails,
  tx: Tx,
  { refund, order }: { refund: Refund; order: Order | undefined },
  to: RefundTo,
  now: Date,
): Promise<Refund> {
  const may: Refund['state'][] = ['needs_destination', 'screening', 'held', 'rejected', 'returned'];
  if (refund.source !== 'suspense' || !may.includes(refund.state))
    throw new Refusal('refund_under_way', { refund: String(refund.id), state: refund.state });
  await requireFits(context, tx, outgoing(refund, order), to);
  const deposit = await store.lockDepositById(tx, refund.depositId);
  assert(deposit !== undefined, `deposit ${refund.depositId} is gone`);
  await wakeDeposit(tx, deposit, { by: 'a destination', why: 'somebody says where it goes', now });
  const changed = await changeRefund(tx, refund, { state: 'screening', to: destinationColumns(to), now });
  await closeCases(tx, { subject: `refund:${refund.id}`, outcome: 'a destination was named', now });
  await comesNext(tx, changed, now);
  return changed;
}

/**
 * Cancels a reversed deposit's refunds as far as they have not left: waiting refunds are cancelled, and a created payout is
 * cancelled unless its submission has begun. A returned refund is cancelled too: its money is here.
 *
 * @returns units that cancelled refunds had named and that are no longer in suspense: fees kept of a returned one, and what
 *   its
 *          bank kept on the way
 */
export async function cancelRefunds(context: Rails, tx: Tx, depositId: bigint, now: Date): Promise<bigint> {
  let goneUnits = 0n;
  for (const { id } of await refundsOfDeposit(tx, depositId)) {
    await cancelUnsubmitted(context, tx, id, TAKEN_BACK, now);
    const locked = await lockRefund(tx, id);
    if (locked === undefined || locked.refund.source !== 'suspense' || !CANCELLABLE.includes(locked.refund.state))
      continue;
    await changeRefund(tx, locked.refund, { state: 'cancelled', now });
    await closeCases(tx, { subject: `refund:${id}`, outcome: 'cancelled', now });
    // Money that never left paid no fee: only an order's refund keeps fees, and it is paid out of suspense only after it was
    // returned.
    goneUnits += locked.refund.costUnits;
  }
  return goneUnits;
}

/**
 * The rail reversed a deposit that an order took: compensations that have not left return to the fee account. A submitted one
 * may still arrive; if it fails or is returned, it ends here as well.
 */
export async function cancelCompensations(context: Rails, tx: Tx, order: Order, now: Date): Promise<void> {
  for (const known of await store.depositsOf(tx, order.id)) {
    if (known.origin !== 'compensation' || known.state === 'reversed') continue;
    await wakeDeposit(tx, known, { by: 'the rail', why: TAKEN_BACK, now });
    const goneUnits = await cancelRefunds(context, tx, known.id, now);
    const row = await store.lockDepositById(tx, known.id);
    assert(row !== undefined, `deposit ${known.id} stays where it is`);
    // Not while it is still under way or has settled; nor if cancelling its payout just now has already ended it.
    if (row.state === 'reversed' || row.refund_units > 0n || inSuspense(row) === 0n) continue;
    const fee = PRICED_FEES.find((kind) => kind === row.facts.fee);
    assert(fee !== undefined, `deposit ${row.id} names the fee that it was`);
    const lines = move(chart.suspense(row.rail, row.asset), feeAccount(fee, order), inSuspense(row) - goneUnits);
    if (lines.length > 0) {
      const facts = { deposit: String(row.id), why: TAKEN_BACK };
      const entry = { id: `ord_${row.external_id}:undone`, kind: 'compensation_undone', orderId: order.id, at: now };
      const posted = await post(tx, { ...entry, facts, lines });
      assert(posted.outcome === 'posted', `compensation ${row.external_id} lies in suspense`);
    }
    await store.changeDeposit(tx, row.id, { state: 'reversed', why: 'deposit_lost' });
  }
}

/**
 * Ends a compensation that has not left, or was returned, when a deposit of its order was reversed meanwhile. @returns
 * whether that was the case
 */
async function endsCompensation(
  context: Rails,
  tx: Tx,
  { order, deposit }: Pick<LockedRefund, 'order' | 'deposit'>,
  now: Date,
): Promise<boolean> {
  if (deposit.origin !== 'compensation' || order === undefined) return false;
  if (!(await store.hasLostDeposit(tx, order.id))) return false;
  await cancelCompensations(context, tx, order, now);
  return true;
}

/** What law has let go of an order is stopped where nobody has begun to submit it: a deposit of the order was reversed. */
export async function stopReleased(context: Rails, tx: Tx, order: Order, now: Date): Promise<void> {
  for (const { id } of await releasedRefunds(tx, order.id)) await cancelUnsubmitted(context, tx, id, TAKEN_BACK, now);
}

/** Refunds of what law has let go of an order, which was made of all that the order took. */
export async function releasedRefunds(tx: Tx, orderId: bigint): Promise<Refund[]> {
  const released = (await store.depositsOf(tx, orderId)).filter(({ origin }) => origin === 'released');
  return (await refundsOf(tx, orderId)).filter(({ depositId }) => released.some(({ id }) => id === depositId));
}

/** A deposit of an order was reversed: what law has let go of that order and has not left goes to nobody. */
export async function cancelReleased(context: Rails, tx: Tx, order: Order, now: Date): Promise<void> {
  for (const known of await store.depositsOf(tx, order.id)) {
    if (known.origin !== 'released' || inSuspense(known) + known.refund_units === 0n) continue;
    await wakeDeposit(tx, known, { by: 'the rail', why: TAKEN_BACK, now });
    const goneUnits = await cancelRefunds(context, tx, known.id, now);
    const row = await store.lockDepositById(tx, known.id);
    assert(row !== undefined, `deposit ${known.id} stays where it is`);
    await makeGoodOfReleased(context, tx, { order, row, goneUnits, now });
  }
}

/**
 * Money that law has let go lies here, and a deposit of its order was reversed since: it makes that good before anything of it goes
 * to the customer, its conversion undone where there was one, as where the deposit had been reversed before (actions.ts). What is over
 * goes back. One that is on its way may arrive; should it fail or come back, it ends here as well.
 *
 * @param has.goneUnits of the deposit and not in suspense any more: what banks kept on the way
 */
async function makeGoodOfReleased(
  context: Rails,
  tx: Tx,
  has: { order: Order; row: DepositRow; goneUnits: bigint; now: Date },
): Promise<void> {
  const { order, row, goneUnits, now } = has;
  const deposits = await store.depositsOf(tx, order.id);
  const lost = deposits.filter((one) => one.state === 'lost' && one.state_before_loss === 'applied');
  const freeUnits = inSuspense(row) - goneUnits;
  // Not where one is on its way still, or has arrived.
  if (lost.length === 0 || row.refund_units > 0n || freeUnits <= 0n) return;
  const posting = {
    id: `dep_${row.id}:makes_good:${lost[0]?.id}`,
    kind: 'deposit_replaced',
    orderId: order.id,
    at: now,
    facts: { deposit: String(row.id), lost: lost.map(({ id }) => String(id)).join(' ') },
  };
  if (row.asset !== order.depositAsset)
    return await exchangeBack(context, tx, { order, row, freeUnits, deposits, posting, now });
  const suspense = chart.suspense(row.rail, row.asset);
  const lines: Line[] = [];
  let leftUnits = freeUnits;
  for (const one of lost) {
    const units = leftUnits < one.lost_units ? leftUnits : one.lost_units;
    if (units === 0n) break;
    leftUnits -= units;
    lines.push(...move(suspense, lossAccount(order, one), units));
    const about = { subject: `deposit:${one.id}`, now };
    if (units === one.lost_units) {
      await store.markReplaced(tx, one.id);
      await closeCases(tx, { ...about, outcome: `made good by what law had let go, deposit ${row.id}` });
      continue;
    }
    await store.replacePart(tx, one.id, units);
    await tellCase(tx, {
      ...about,
      kind: one.lost_to === chart.loss(one.asset).code ? 'deposit_lost' : 'customer_owes',
      reason: 'reversed, and made good in part by what law had let go: units says what is left',
      facts: { units: String(one.lost_units - units), asset: one.asset, reference: one.reference },
    });
  }
  const posted = await post(tx, { ...posting, lines });
  assert(posted.outcome === 'posted', `what law has let go, deposit ${row.id}, lies in suspense`);
  if (leftUnits === 0n) return await store.changeDeposit(tx, row.id, { state: 'reversed', why: 'deposit_lost' });
  await store.changeDeposit(tx, row.id, { state: row.state, takenUnits: row.units - leftUnits });
  await requestRefund(context, tx, { depositId: row.id, units: leftUnits, why: 'released_by_law', order, now });
}

/** What is left of the deposit, once the loss is given up, goes back in its place. */
async function exchangeBack(
  context: Rails,
  tx: Tx,
  back: {
    order: Order;
    row: DepositRow;
    freeUnits: bigint;
    deposits: readonly DepositRow[];
    posting: Omit<Entry, 'lines'>;
    now: Date;
  },
): Promise<void> {
  const { order, row, freeUnits, deposits, posting, now } = back;
  const payout = chart.order(order.id, order.partnerId, order.payoutAsset);
  const deposit = chart.order(order.id, order.partnerId, order.depositAsset);
  const lost = lostOf(order, deposits);
  const receivedUnits = order.receivedUnits ?? order.depositUnits;
  const leftUnits = receivedUnits - order.refundedUnits - lost.reduce((sum, { units }) => sum + units, 0n);
  const suspense = chart.suspense(order.depositRail, order.depositAsset);
  const lines = [
    ...move(chart.suspense(row.rail, row.asset), payout, freeUnits),
    // Banks on the way kept it.
    ...(freeUnits === order.payoutUnits ? [] : move(chart.loss(row.asset), payout, order.payoutUnits - freeUnits)),
    ...linesFor('reverse_conversion_and_give_up', { ...order, receivedUnits }, custodyOf(context.rails, order), {
      lost,
    }),
    ...(leftUnits > 0n ? move(deposit, suspense, leftUnits) : []),
  ];
  let posted = await post(tx, { ...posting, lines });
  // What it was filled with has left the treasury since: the position carries it, as where it was converted.
  if (posted.outcome === 'short')
    posted = await post(tx, { ...posting, lines: lines.flatMap(fromPosition(order.depositAsset)) });
  // Its fees have been paid out: it stays here, and people undo it by the case of what was reversed, once they are there again.
  if (posted.outcome !== 'posted') return;
  await store.changeDeposit(tx, row.id, { state: 'reversed', why: 'deposit_lost' });
  await giveUpLost(tx, order, deposits, now);
  if (leftUnits === 0n) return;
  const rest = await store.insertDeposit(tx, {
    ...{
      rail: order.depositRail,
      external_id: `released:${order.id}:${order.depositAsset}`,
      asset: order.depositAsset,
    },
    ...{ units: leftUnits, target: '', order_id: order.id, partner_id: order.partnerId, state: 'suspense' },
    ...{ reference: row.reference, facts: {}, seen_at: now, payer: 'unknown', origin: 'released' },
  });
  const why = 'released_by_law';
  await store.changeDeposit(tx, rest.id, { state: 'suspense', bookedTo: suspense.code, why, confirmedAt: now });
  await requestRefund(context, tx, { depositId: rest.id, units: leftUnits, why, order, now });
}

/** What law has let go has not left, or has come back, and a deposit of its order was reversed meanwhile. @returns whether it was so */
async function endsReleased(
  context: Rails,
  tx: Tx,
  { order, deposit }: Pick<LockedRefund, 'order' | 'deposit'>,
  now: Date,
): Promise<boolean> {
  if (deposit.origin !== 'released' || order === undefined) return false;
  if (!(await store.hasLostDeposit(tx, order.id))) return false;
  await cancelReleased(context, tx, order, now);
  return true;
}

/** Cancels a refund attempt whose submission has not begun. @returns whether it was cancelled */
export async function cancelUnsubmitted(context: Rails, tx: Tx, id: bigint, why: string, now: Date): Promise<boolean> {
  const locked = await lockRefund(tx, id);
  if (locked === undefined || locked.refund.key === null) return false;
  const { state, rail, key } = locked.refund;
  if (state !== 'created' && state !== 'submitted') return false;
  const payout = await payoutByKey(tx, rail, key);
  if (payout === undefined) return false;
  const isListed = state === 'submitted' && payout.state === 'submitted';
  if (isListed && (await context.rails.get(rail)?.unlist?.(tx, key, why)) === true)
    await recordRejected(tx, { rail, key, why, now });
  else if (!(await cancelUnlessSubmitted(tx, key, why, now))) return false;
  await refundRejected(context, tx, payout, why, now);
  return true;
}

/**
 * Cancels each part of an order's refund that is not submitted. A submitted part may arrive; the others are cancelled all the
 * same, and a case names the one that was not.
 *
 * @returns the number of cancelled parts, and the payouts that were already submitted
 */
export async function unsubmitRefunds(
  context: Rails,
  tx: Tx,
  orderId: bigint,
  { by, now }: { by: string; now: Date },
): Promise<{ cancelled: number; notCancelled: string[] }> {
  const parts = (await refundsOf(tx, orderId)).filter(
    ({ source, state }) => source === 'order' && (state === 'created' || state === 'submitted'),
  );
  const tooLate: Refund[] = [];
  for (const part of parts)
    if (!(await cancelUnsubmitted(context, tx, part.id, `${HELD_AT_GATE}by ${by}`, now))) tooLate.push(part);
  for (const part of tooLate) await refundCase(tx, part, 'hold_too_late', `submitted before ${by} held its order`, now);
  return { cancelled: parts.length - tooLate.length, notCancelled: tooLate.flatMap(({ key }) => key ?? []) };
}

/** The rail settled a payout it had rejected: cancels the order's refunds as far as they can be cancelled. */
export async function cancelRefunding(context: Rails, tx: Tx, orderId: bigint, now: Date): Promise<void> {
  for (const { id } of (await refundsOf(tx, orderId)).filter(({ source }) => source === 'order'))
    await cancelUnsubmitted(context, tx, id, PAID_BEFORE, now);
}

/** The deposit was reversed: cancels the second payout of a returned payout as far as it can be cancelled. */
export async function cancelPayingAgain(context: Rails, tx: Tx, orderId: bigint, now: Date): Promise<void> {
  for (const { id } of (await refundsOf(tx, orderId)).filter(({ purpose }) => purpose === 'payout'))
    await cancelUnsubmitted(context, tx, id, TAKEN_BACK, now);
}

/** The customer has received the order's payout, so nothing is refunded unless that is returned. */
const isPaidOut = async (tx: Tx, orderId: bigint): Promise<boolean> =>
  (await payoutsOf(tx, orderId)).some(({ purpose, state }) => purpose === 'payout' && state === 'settled');

const TAKEN_BACK = 'the deposit was reversed';
export const isCancellable = (state: Refund['state']): boolean => CANCELLABLE.includes(state);
const CANCELLABLE: readonly Refund['state'][] = ['needs_destination', 'screening', 'held', 'rejected', 'returned'];

/**
 * Retries the refund of an order whose refund the rail rejected, all parts that failed; optionally to another destination.
 * The part that its rail has reversed meanwhile is given up, and if that is everything the order ends.
 *
 * @throws Refusal 'unknown_order' | 'unknown_account' | 'malformed_field' | 'order_over' | 'destination_held' |
 *   'funds_short', or 'refund_under_way' when
 *         the payout that it replaces has arrived after all
 */
export async function retryRefund(
  context: OrdersContext,
  input: {
    orderId: bigint;
    by: string;
    people?: readonly string[];
    pastHits?: boolean | undefined;
    why: string;
    to?: RefundTo | undefined;
    now: Date;
  },
): Promise<Order> {
  const { orderId, by, why, now } = input;
  const before = await context.db.asSystem(async (tx) => ({
    order: await store.get(tx, orderId),
    refunds: await refundsOf(tx, orderId),
  }));
  if (before.order === undefined) throw new Refusal('unknown_order', {});
  const last = before.refunds.find(({ state, source }) => state === 'rejected' && source === 'order');
  if (before.order.state !== 'refund_held' || last === undefined)
    throw new Refusal('order_over', { state: before.order.state });
  const { order: held } = before;
  const to = input.to ?? { address: last.address ?? undefined, fiatAccountId: last.fiatAccountId ?? undefined };
  await context.db.asSystem((tx) => requireFits(context, tx, wholeOf(held), to));
  const verdict = await screenOrderRefund(context, orderId, to);
  const retried = await context.db.asSystem(async (tx) => {
    const order = await store.lock(tx, orderId);
    if (order?.state !== 'refund_held') throw new Refusal('order_over', { state: order?.state });
    if (input.people !== undefined)
      await approveRefund(context, tx, await refundOf(tx, order, to), {
        ...{ people: input.people, reason: why, pastHits: input.pastHits, now },
      });
    if (await isKept(context, tx, order, { to, verdict, now })) return undefined;
    if (await isPaidOut(tx, orderId))
      throw new Refusal('refund_under_way', { orderId: String(orderId), state: order.state });
    const again: Refund[] = [];
    for (const { id } of (await refundsOf(tx, orderId)).filter(isRejectedPart)) {
      const locked = await lockRefund(tx, id);
      assert(locked !== undefined, `refund ${id} stays where it is`);
      const { refund, deposit } = locked;
      if (deposit.state === 'lost') await changeRefund(tx, refund, { state: 'cancelled', now });
      else {
        const attempt = refund.attempt + 1;
        const key = `ref_${refund.id}_${attempt}`;
        again.push(await changeRefund(tx, refund, { state: 'created', attempt, key, to: destinationColumns(to), now }));
      }
    }
    const deposits = await store.depositsOf(tx, orderId);
    const lost = lostOf(order, deposits);
    await closeCases(tx, { subject: `order:${orderId}`, outcome: `retried by ${by}`, now });
    const event = again.length === 0 ? 'deposit_gone' : 'retried';
    const facts = { by, why };
    const advanced = await advance(context, tx, order, event, { now, refunds: again, lost, facts });
    if (advanced.outcome === 'ignored') throw new Refusal('funds_short', { asset: order.depositAsset });
    if (lost.length > 0) await giveUpLost(tx, order, deposits, now);
    return advanced.order;
  });
  if (retried === undefined) throw new Refusal('destination_held', { orderId: String(orderId) });
  return retried;
}

const isRejectedPart = ({ state, source }: Refund): boolean => state === 'rejected' && source === 'order';

/** Blocked by law: cancels the refunds. The order's account still holds the money, for the caller to move. */
export async function cancelUnsubmittedRefunds(tx: Tx, orderId: bigint, now: Date): Promise<void> {
  for (const { id } of (await refundsOf(tx, orderId)).filter(isRejectedPart)) {
    const locked = await lockRefund(tx, id);
    if (locked !== undefined) await changeRefund(tx, locked.refund, { state: 'cancelled', now });
  }
}
