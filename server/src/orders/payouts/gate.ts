/**
 * The gate: decides whether money may leave. Every payout and refund passes it in the transaction that submits it, and a payout
 * that waits on a bank's list passes it again in the transaction that closes the list into a file. No money of customers leaves
 * without passing it. Transfers to the operator's own addresses have a gate of their own (treasury/transfers.ts).
 *
 * Its answers: `pay`; `wait`, if the cause ends by itself or by an operator's action and the payout then continues automatically
 * (a kill switch, clearing, confirmations, a screening result that is too old); or `hold`, if an operator has to decide: the
 * payout is cancelled before it is submitted, and its order or refund gets a case.
 *
 * It makes no outside call and only reads rows: the provider's stored result (compliance/screenings.ts), and our own blocks and
 * deny lists in this transaction. The order is locked first, and the customer's row is share-locked, so that a block, a
 * cancellation and a submission are serialized on one row.
 *
 * An approval lets one hit pass for one destination and amount, if as many people gave it as the rules require now. A submission
 * uses it up: the same payout may be submitted again, and another attempt may follow a rejected one, but no other payout.
 * Findings that cannot be approved (a reversed deposit, a destination that does not fit) always hold.
 *
 * Not here: earlier checks for the customer's convenience (jobs.ts), the submission itself (rails/payouts.ts), how many
 * people an operator's action needs (operators).
 */
import { awaitAll, type Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { enqueue } from '../../base/jobs.ts';
import {
  type Approval,
  approvalsFor,
  approve,
  type Bound,
  blockEntry,
  keepScreening,
  keptScreening,
  openCase,
  type Screening,
  screeningMaxAgeMs,
  TOO_LATE,
  useApprovals,
  type Verdict,
} from '../../compliance/index.ts';
import { blockOf, findCustomer } from '../../customers/index.ts';
import { isRailOff, levelMaxUnitsNow, marketById } from '../../partners/index.ts';
import { isBetweenWallets, type SendAnswer } from '../../rails/chain.ts';
import {
  type AtGate,
  findPayout,
  type GateAnswer,
  payoutsOf,
  payoutsOfRefund,
  unitsPaid,
} from '../../rails/payouts.ts';
import type { GateContext } from '../context.ts';
import { followOnOf, mayHavePaid, mayHaveReturned } from '../custody/lost-time.ts';
import { HELD_AT_GATE, holdBeforePayout } from '../decide.ts';
import { areHeld } from '../deposits/held.store.ts';
import * as depositStore from '../deposits/store.ts';
import { limitNamed, limitsPassedBy } from '../limits.ts';
import { fitsRefund } from '../refunds/destinations.ts';
import { refundsOfDeposit } from '../refunds/store.ts';
import type { Order } from '../store.ts';
import { isBlockedByLaw } from './blocked-by-law.ts';
import { judge } from './judge.ts';
import {
  backedBy,
  destinationKey,
  isNewDestination,
  type Leaving,
  leavingOf,
  ORDERS_OWN,
  screeningOf,
  screeningSubject,
  weightOf,
} from './leaving.ts';
import { notReady } from './ready.ts';
import type { ApprovedAction, Finding, SeenFinding } from './rules.ts';
import { blockedAtAddress } from './shared-address.ts';

/** Asks the gate about one payout, in the transaction that would submit it. Locks its order first. */
export async function askGate(context: GateContext, tx: Tx, payout: AtGate): Promise<GateAnswer> {
  const now = context.clock.now();
  const leaving = await leavingOf(tx, payout);
  const backing = await backedBy(tx, leaving);
  // Before the hits: a result and its hits are stored together, so after a current result its hits are seen. In the other order a
  // result stored between the two reads counts as current, and its hit is not seen.
  const stored = await context.gate.storedWait?.(tx, screeningOf(leaving));
  const [kept, { left, used }, switchedOff, unready, maxAgeMs, unconfirmedUntil] = await awaitAll(
    keptScreening(tx, screeningSubject(leaving)),
    weigh(context, tx, leaving, { now, payoutId: payout.id }),
    context.gate.isSwitchedOff(tx, payout.rail),
    notReady(context, tx, backing, now),
    screeningMaxAgeMs(tx, now, context.gate.screeningMaxAgeMs),
    unconfirmed(context, tx, leaving, now),
  );
  const screenedAt = kept?.at;
  const { id: key, rail, asset, units } = payout;
  const order = payout.refundId === null ? leaving.order : undefined;
  const followOn = followOnOf(order);
  const doubtful = await context.rails.get(rail)?.doubtful?.(tx, { key, asset, units, followOn });
  if (doubtful !== undefined) await openDebitCase(tx, payout, doubtful, now);
  const unread = order !== undefined && followOn !== undefined && (await mayHavePaid(context, tx, order)) === 'unread';
  const came = backing.filter(({ origin }) => !ORDERS_OWN.includes(origin));
  const returned = order === undefined ? undefined : await mayHaveReturned(context, tx, order, came);
  const facts = {
    ...{ findings: left, switchedOff, doubtful, unread, returned, notReady: unready, unconfirmedUntil },
    ...{ screenedAt, maxAgeMs, stored, now },
  };
  const judgement = judge(facts);
  switch (judgement.outcome) {
    case 'pay':
      // The use of an approval refers to the payout's row: its job asks again once that exists.
      if (payout.isPlanned === true && used.length > 0)
        return { outcome: 'wait', why: 'it uses an approval', againInMs: 0 };
      await useApprovals(tx, used, payout, now);
      return judgement;
    case 'hold':
      return { outcome: 'hold', why: `${HELD_AT_GATE}${judgement.reason}` };
    case 'wait': {
      const { cause, why, until } = judgement;
      if (cause === 'screening') enqueue(tx, { kind: 'rescreen_payout', subject: payout.id, dueAt: now });
      const fixedMs = until === undefined ? PAUSE_MS[cause] : Math.max(until.getTime() - now.getTime(), 100);
      // A customer may confirm the destination at any time, so it is checked more often.
      const leftMs = cause === 'unconfirmed' ? Math.min(fixedMs, PAUSE_MS.unconfirmed) : fixedMs;
      return { outcome: 'wait', why, againInMs: leftMs };
    }
  }
}

/** Until when the destination waits for its customer's confirmation. Money that returns to its source does not wait. */
async function unconfirmed(
  { gate }: GateContext,
  tx: Tx,
  { order, address, fiatAccountId }: Leaving,
  now: Date,
): Promise<Date | undefined> {
  if (order === undefined) return undefined;
  return await gate.unconfirmedUntil?.(tx, { customerId: order.customerId, fiatAccountId, address, now });
}

/** Opens one case per debit, for all payouts that wait for it. The case reopens if an operator closed it without a decision. */
const openDebitCase = (tx: Tx, { id, rail, asset, units }: AtGate, line: string, now: Date) =>
  openCase(tx, {
    kind: 'unexplained_debit',
    subject: `${rail}:${line}`,
    reason: 'it may have paid, before the restore, a payout that waits: people must decide whether it did',
    facts: { payout: id, units: String(units), asset },
    now,
  });

/**
 * As `askGate`, for a payout that was submitted and is about to be signed, possibly much later. For a transfer between our own
 * wallets, which has no payout, only checks whether its rail is switched off.
 */
export async function askBeforeSigning(
  context: GateContext,
  tx: Tx,
  { rail, key }: { rail: string; key: string },
): Promise<SendAnswer> {
  const payout = await findPayout(tx, key);
  if (payout?.endedAt != null) return { outcome: 'hold', why: `its payout is ${payout.state}` };
  if (payout !== undefined) return await askGate(context, tx, payout);
  if (!isBetweenWallets(key))
    return { outcome: 'hold', why: 'it is neither a payout nor a transfer between our wallets' };
  return (await isRailOff(tx, rail)) ? { outcome: 'wait', why: 'a kill switch is on' } : { outcome: 'pay' };
}

/** How often a payout asks again if its cause has no known end. */
const PAUSE_MS = {
  switched_off: 5_000,
  restore: 5_000,
  clearing: 5_000,
  // A block takes a few seconds.
  confirmations: 2_000,
  // A provider or a person outside decides these.
  screening: 30_000,
  lists: 30_000,
  travel_rule: 30_000,
  unconfirmed: 30_000,
} as const;

/** Stores a screener's result for the gate. */
export function keepVerdict(tx: Tx, leaving: Leaving, verdict: Verdict, now: Date): void {
  keepScreening(tx, {
    subject: screeningSubject(leaving),
    partnerId: leaving.order?.partnerId ?? leaving.deposits[0]?.partnerId ?? null,
    orderId: leaving.order?.id ?? null,
    verdict,
    now,
  });
}

/** All reasons to hold the money until an operator has decided, whether they are approved or not. */
export async function findings(context: GateContext, tx: Tx, leaving: Leaving, now: Date): Promise<Finding[]> {
  const { order, customerId, purpose } = leaving;
  const paid = purpose === 'payout' ? order : undefined;
  const [, lost, before, refunded, unfit, own, kept, limit, passed, distrusted, held, frozen, twins] = await awaitAll(
    // First, because this locks the customer: a concurrent change of level or block is either visible here, or waits until this
    // transaction has ended.
    customerId !== null && blockOf(tx, customerId),
    isLost(tx, leaving),
    paid === undefined ? [] : payoutsOf(tx, paid.id),
    isRefundedBefore(tx, leaving),
    isUnfit(context, tx, leaving),
    context.gate.screenOwn(tx, screeningOf(leaving)),
    keptScreening(tx, screeningSubject(leaving)),
    paid === undefined ? undefined : limitOf(tx, paid),
    paid === undefined ? [] : limitsPassedBy(tx, paid),
    isDistrusted(context, tx, leaving, now),
    purpose === 'refund' && areHeld(tx, leaving.deposits),
    order !== undefined && isBlockedByLaw(tx, order),
    blockedThere(tx, screeningOf(leaving)),
  );
  const never = (rule: string | undefined): Finding[] =>
    rule === undefined ? [] : [{ rule, entry: '', action: null }];
  const person = (rule: string, entry: string, action: ApprovedAction): Finding => ({ rule, entry, action });
  return [
    ...never(lost ? 'deposit_lost' : paid && holdBeforePayout(paid, false)),
    // An attempt that its rail had rejected has paid the order after all.
    ...never(
      before.some(({ refundId, state }) => refundId === null && state === 'settled') ? 'paid_before' : undefined,
    ),
    ...never(refunded ? 'paid_before' : undefined),
    ...never(unfit ? 'destination_unfit' : undefined),
    // An operator must release the deposit before it can be sent.
    ...never(held ? 'deposit_held' : undefined),
    ...never(frozen ? 'order_frozen' : undefined),
    ...[...own.hits, ...(kept?.hits ?? [])].map(({ rule, entry }) => ({
      rule,
      entry,
      action: approvalOf(rule, leaving),
    })),
    ...twins.map((one) => person('address_of_blocked', blockEntry(one), 'release.customer_blocked')),
    ...(paid === undefined || limit === undefined || paid.depositUnits <= limit
      ? []
      : [person('over_level_limit', String(limit), 'release.screening_hit')]),
    ...passed.map((one) => person('over_customer_limit', limitNamed(one), 'release.screening_hit')),
    ...(isNewDestination(leaving) ? [person('destination_new', '', 'destination.new')] : []),
    ...(distrusted === undefined ? [] : [heldFinding(distrusted)]),
  ];
}

/** Other customers who are paid at the same address and are blocked. None for an account, and for money without a customer. */
const blockedThere = async (tx: Tx, { payoutAddress: address, partnerId, customerId }: Screening) =>
  address === null || partnerId === null || customerId === null
    ? []
    : await blockedAtAddress(tx, { address, partnerId, customerId });

/** A block of the customer, or of another customer who may be the same person. */
const ABOUT_A_BLOCK = new Set(['customer_blocked', 'sender_blocked', 'account_of_blocked', 'document_of_blocked']);

/**
 * The approval that lets money pass a hit. A hit in a sanctions list, or an address that is too risky, cannot be approved: an
 * undecided hit must be decided first, and a confirmed one stays, except for money that the law has released. The same applies to
 * an order that the travel rule refused: otherwise it can only be refunded.
 */
function approvalOf(rule: string, { deposits }: Leaving): ApprovedAction | null {
  if (ABOUT_A_BLOCK.has(rule)) return 'release.customer_blocked';
  if (rule === 'sanctions_undecided' || rule === 'address_risk_undecided') return null;
  if (rule === 'sanctions_hit' || rule === 'address_risk_hit' || rule === TOO_LATE)
    return deposits.some(({ origin }) => origin === 'released') ? 'release.screening_hit' : null;
  return 'release.screening_hit';
}

/**
 * Whether the destination was added after the time from which its partner is not trusted. For an order its payout destination,
 * for other money the customer's account.
 */
async function isDistrusted({ gate }: GateContext, tx: Tx, leaving: Leaving, now: Date) {
  const { order, customerId, address, fiatAccountId } = leaving;
  if (gate.heldDestination === undefined || customerId === null) return undefined;
  const { partnerId } = order ?? (await findCustomer(tx, customerId));
  return await gate.heldDestination(tx, { partnerId, fiatAccountId, address, orderId: order?.id ?? null, now });
}

/**
 * The finding for a destination added since a leak: it can be approved while its review is pending, but not after it was
 * rejected.
 */
const heldFinding = ({ since, isRejected }: { since: Date; isRejected: boolean }): Finding => ({
  rule: isRejected ? 'destination_rejected' : 'destination_held',
  entry: since.toISOString(),
  action: isRejected ? null : 'release.destination_held',
});

/** The findings that are not approved for this destination and amount by as many people as are required now. */
export const uncoveredFindings = async (
  context: GateContext,
  tx: Tx,
  leaving: Leaving,
  now: Date,
): Promise<Finding[]> => (await weigh(context, tx, leaving, { now })).left;

/**
 * As `uncoveredFindings`, with the approvals that cover the other findings.
 *
 * @param as.payoutId the payout that is being submitted: its own use of an approval does not count
 */
async function weigh(
  context: GateContext,
  tx: Tx,
  leaving: Leaving,
  { now, payoutId }: { now: Date; payoutId?: string },
): Promise<{ left: Finding[]; used: bigint[] }> {
  const found = await findings(context, tx, leaving, now);
  if (found.length === 0) return { left: [], used: [] };
  const { units } = leaving;
  const weight = weightOf(leaving);
  const given = await unused(tx, leaving, payoutId);
  const [left, used]: [Finding[], bigint[]] = [[], []];
  for (const finding of found) {
    const { action } = finding;
    if (action === null) {
      left.push(finding);
      continue;
    }
    const need = { action, ...weight, now };
    const about = given.filter((one) => isAbout(one, finding));
    // Who approved decides how many it takes: a rule may name roles. All are asked in one round trip.
    const [needed, ...each] = await awaitAll(
      context.gate.peopleNeeded(tx, need),
      ...about.map((one) => context.gate.peopleNeeded(tx, { ...need, by: one.people })),
    );
    const approvals = about.map((one, at): Given => ({ ...one, needed: each[at] ?? needed }));
    if (!isCovered(finding, { units, needed }, approvals)) left.push(finding);
    else {
      const by = coveredBy(finding, { units, needed }, approvals);
      if (by !== undefined) used.push(by.id);
    }
  }
  return { left, used };
}

/** Approvals minus the amounts used by submissions. A payout that its rail rejected used none, because it sent no money. */
async function unused(tx: Tx, leaving: Leaving, payoutId: string | undefined): Promise<Approval[]> {
  const { approvals, uses } = await approvalsFor(tx, boundOf(leaving));
  const spent = new Map<bigint, bigint>();
  for (const { approvalId, payoutId: by, units } of uses)
    if (by !== payoutId && (await findPayout(tx, by))?.state !== 'rejected')
      spent.set(approvalId, (spent.get(approvalId) ?? 0n) + units);
  return approvals.map((one) => ({ ...one, units: one.units - (spent.get(one.id) ?? 0n) }));
}

/** An approval, with the number of people that it takes, given who approved. */
type Given = Approval & { needed?: number };
const isAbout = ({ rule, entry }: Approval, finding: Finding): boolean =>
  rule === finding.rule && entry === finding.entry;

/** Whether a finding may pass: no approval is required, or enough people approved exactly this hit for at least this amount. */
export const isCovered = (
  finding: Finding,
  { units, needed }: { units: bigint; needed: number },
  approvals: readonly Given[],
): boolean =>
  // One person approves a new destination by naming it; a screening hit always needs an explicit approval.
  (needed <= 1 && finding.rule === 'destination_new') || coveredBy(finding, { units, needed }, approvals) !== undefined;

const coveredBy = (
  finding: Finding,
  { units, needed }: { units: bigint; needed: number },
  approvals: readonly Given[],
): Approval | undefined =>
  approvals.find(
    (one) => isAbout(one, finding) && one.units >= units && new Set(one.people).size >= (one.needed ?? needed),
  );

const boundOf = (leaving: Leaving): Bound => ({
  partnerId: leaving.order?.partnerId ?? leaving.deposits[0]?.partnerId ?? null,
  orderId: leaving.order?.id ?? null,
  depositId: leaving.suspenseId,
  destination: destinationKey(leaving),
  asset: leaving.asset,
  units: leaving.units,
});

/** The findings against money that would leave, as shown to the operators who then approve them. */
export async function seenFindings(
  context: GateContext,
  tx: Tx,
  leaving: Leaving,
  now: Date,
): Promise<readonly SeenFinding[]> {
  const { asset, units, address, fiatAccountId } = leaving;
  return (await uncoveredFindings(context, tx, leaving, now)).map(({ rule, entry }) => ({
    ...{ rule, entry, asset, units, address, fiatAccountId },
  }));
}

/** Whether the approvers saw this finding, for this destination and at least this amount. */
const isSeen = (
  { rule, entry }: Finding,
  { asset, units, address, fiatAccountId }: Leaving,
  seen: readonly SeenFinding[] | undefined,
): boolean =>
  seen === undefined ||
  seen.some(
    (one) =>
      one.rule === rule &&
      one.entry === entry &&
      one.asset === asset &&
      one.units >= units &&
      one.address === address &&
      one.fiatAccountId === fiatAccountId,
  );

/**
 * Records that these people approve the current findings, for this destination and amount. Later findings are new and need
 * another approval.
 *
 * @throws Refusal 'order_over' if a finding cannot be approved
 */
export async function approveStanding(
  context: GateContext,
  tx: Tx,
  leaving: Leaving,
  { seen, ...by }: ApprovedBy & { now: Date },
): Promise<void> {
  for (const finding of await uncoveredFindings(context, tx, leaving, by.now)) {
    const { rule, entry, action } = finding;
    if (action === null) throw new Refusal('order_over', { state: leaving.order?.state, why: rule });
    if (isSeen(finding, leaving, seen)) await approve(tx, { ...boundOf(leaving), rule, entry, ...by });
  }
}

/**
 * As `approveStanding`, for a refund, or for a payout to another destination: naming the destination approves it as a new one. A
 * screening hit, a block or any other finding passes only if the approvers explicitly say so; otherwise it stays, and the caller
 * refuses.
 */
export async function approveRefund(
  context: GateContext,
  tx: Tx,
  leaving: Leaving,
  { pastHits = false, seen, ...by }: ApprovedBy & { pastHits?: boolean | undefined; now: Date },
): Promise<void> {
  for (const finding of await uncoveredFindings(context, tx, leaving, by.now)) {
    const { rule, entry, action } = finding;
    if (action !== null && (pastHits || action === 'destination.new') && isSeen(finding, leaving, seen))
      await approve(tx, { ...boundOf(leaving), rule, entry, ...by });
  }
}

export interface ApprovedBy {
  /** Names of everyone who approved. */
  people: readonly string[];
  reason: string;
  /**
   * The findings that they were shown: only these are approved, and one found since is not. Default: the current findings.
   */
  seen?: readonly SeenFinding[] | undefined;
}

/**
 * Whether money that funds this was reversed. For a refund this means its own deposit; for a returned payout, money released by
 * law, or a compensation it means any deposit of the order.
 */
async function isLost(tx: Tx, { purpose, order, deposits }: Leaving): Promise<boolean> {
  if (deposits.some(({ state }) => state === 'lost') && purpose === 'refund') return true;
  const isOrders = purpose === 'payout' || deposits.some(({ origin }) => ORDERS_OWN.includes(origin));
  return isOrders && order !== undefined && (await depositStore.hasLostDeposit(tx, order.id));
}

/**
 * Whether a refund would pay more than its deposit, because a cancelled refund of the deposit was paid after all. A partial recall
 * replaces a rejected refund by one of the rest, and the rail may settle the rejected one later.
 */
async function isRefundedBefore(tx: Tx, { purpose, deposits, suspenseId, units }: Leaving): Promise<boolean> {
  const [deposit] = deposits;
  if (purpose !== 'refund' || deposit === undefined) return false;
  let paidUnits = 0n;
  for (const { id, state } of await refundsOfDeposit(tx, deposit.id))
    if (state === 'cancelled')
      for (const payout of await payoutsOfRefund(tx, id))
        if (payout.state === 'settled') paidUnits += unitsPaid(payout);
  // What the deposit's order took of it is refunded from the order's account only.
  const mostUnits = deposit.units - (suspenseId === null ? 0n : deposit.takenUnits);
  return paidUnits > 0n && paidUnits + units > mostUnits;
}

/** Whether this rail cannot pay this asset to this destination. */
async function isUnfit(context: GateContext, tx: Tx, leaving: Leaving): Promise<boolean> {
  const { rail, asset, order, purpose, deposits, suspenseId } = leaving;
  // A refund may go to the account that its deposit came from if that is the order's only deposit.
  const [only, ...others] = purpose === 'refund' ? deposits : [];
  const depositId = suspenseId ?? (others.length === 0 ? only?.id : undefined);
  if (!context.rails.has(rail)) return true;
  const to = { address: leaving.address ?? undefined, fiatAccountId: leaving.fiatAccountId ?? undefined };
  return !(await fitsRefund(context, tx, { rail, asset, customerId: order?.customerId, depositId }, to));
}

/** The most that the customer's level may pay at once now; undefined if the level has no limit. */
async function limitOf(tx: Tx, order: Order): Promise<bigint | undefined> {
  const { level } = await findCustomer(tx, order.customerId);
  return await levelMaxUnitsNow(tx, await marketById(tx, order.marketId), level);
}
