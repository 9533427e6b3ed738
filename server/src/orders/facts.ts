/**
 * Facts: books what rails report, and applies it to the order concerned.
 *
 * Every fact may arrive twice and in any order; each is applied once, keyed by its row. Incoming money is never rejected:
 * money that cannot be placed is booked to suspense and becomes a case. Everything runs in the rail's transaction, so a fact
 * is stored together with its effects, and no cursor passes an unstored fact.
 *
 * Lock order everywhere: order, deposit, accounts.
 */
import { type Clock, later } from '../base/clock.ts';
import type { Tx } from '../base/db.ts';
import { assert, unreachable } from '../base/errors.ts';
import { enqueue, enqueueAt, type Handled } from '../base/jobs.ts';
import { closeCases, openCase } from '../compliance/index.ts';
import { blockForDebt, findCustomer, findFiatAccount, type PayerMatch } from '../customers/index.ts';
import { type Account, balance, chart, isPosted, type Line, lockAccounts, move, post, undo } from '../ledger/index.ts';
import { marketById, maxUnitsFor, setKillSwitch } from '../partners/index.ts';
import {
  cancelUnlessSubmitted,
  type Observed,
  type Payout,
  payoutByKey,
  payoutsOf,
  payoutsOfRefund,
  recordRejected,
  returned,
  settled,
  unitsPaid,
} from '../rails/payouts.ts';
import type { DepositFact, Rail, RailFact, Report } from '../rails/rail.ts';
import { advance, change, emitSubmitted } from './advance.ts';
import { LOST_PART, lostOrderEntry } from './correct.ts';
import {
  type DepositTrouble,
  mayRetryByItself,
  onExtra,
  PAID_BEFORE,
  PAID_OTHER_AMOUNT,
  paidOtherwise,
  placeDeposit,
  takeOfTooMuch,
} from './decide.ts';
import { wakeDeposit } from './dormant.ts';
import { isDust } from './dust.store.ts';
import { payoutId, type ReceivedPart } from './entries.ts';
import { movementKnown } from './movements.ts';
import { allFirst } from './queue.store.ts';
import { clearsAtOf } from './ready.ts';
import { refundsOf, refundsOfDeposit } from './refunds.store.ts';
import {
  cancelCompensations,
  cancelPayingAgain,
  cancelRefunding,
  cancelRefunds,
  cancelReleased,
  inSuspense,
  refundFound,
  refundRejected,
  refundReturned,
  refundSettled,
  refundSubmitted,
  releasedRefunds,
  requestRefund,
  stopReleased,
} from './refunds.ts';
import { endDebtBlock, isSameMoney, replaceLost, standingLoss } from './replace.ts';
import { type DepositRow, type Order, store } from './store.ts';

interface Context {
  rails: ReadonlyMap<string, Rail>;
  clock: Clock;
  /** Whether a payer's name matches the customer's; without it names are not compared. */
  comparePayer?: (tx: Tx, customerId: string, payerName: string) => Promise<PayerMatch>;
}

/** Handles reported transfers between our own wallets. */
export type OwnTransfers = (
  tx: Tx,
  fact: Extract<RailFact, { type: 'own_transfer_settled' | 'own_transfer_failed' }>,
) => Promise<void>;

/** @param ownTransfers the treasury, if there is one: sweeps and their gas touch no order */
export function orderFacts(context: Context, ownTransfers?: OwnTransfers): Report {
  return async (tx, fact) => {
    switch (fact.type) {
      case 'deposit_seen':
        return await depositSeen(context, tx, fact);
      case 'deposit_confirmed':
        return await depositConfirmed(context, tx, fact);
      case 'deposit_reversed':
        return await depositReversed(context, tx, fact);
      case 'payout_submitted':
        return await payoutSubmitted(context, tx, fact);
      case 'payout_settled':
        return await payoutSettled(context, tx, fact);
      case 'payout_rejected':
        return await payoutRejected(context, tx, fact);
      case 'payout_returned':
        return await payoutReturned(context, tx, fact);
      case 'payout_unknown':
        return await payoutUnknown(context, tx, fact);
      case 'funding_confirmed':
        return await bookFunding(context, tx, fact);
      case 'credit_unexpected':
        return await unexpectedCredit(context, tx, fact);
      case 'own_transfer_settled':
      case 'own_transfer_failed':
        assert(ownTransfers !== undefined, `somebody takes own transfer ${fact.key}`);
        return await ownTransfers(tx, fact);
      case 'cost_changed':
        return await costChanged(context, tx, fact);
      case 'unexplained_debit':
        return await unexplainedDebit(context, tx, fact);
      case 'line_refused':
        return await openCase(tx, {
          kind: 'statement_line_refused',
          subject: `${fact.rail}:${fact.externalId}`,
          reason: fact.why,
          facts: {},
          now: context.clock.now(),
        });
      case 'statement_gap':
        return await openCase(tx, {
          kind: 'statement_gap',
          subject: `${fact.rail}:statement:${fact.statement}`,
          reason: fact.why,
          facts: { asset: fact.asset },
          now: context.clock.now(),
        });
      case 'send_found':
        return await openCase(tx, {
          kind: 'movement_unmatched',
          subject: `movement:${fact.movement}`,
          reason: fact.why,
          facts: {
            rail: fact.rail,
            reference: fact.reference,
            ...(fact.moved === undefined ? {} : { asset: fact.moved.asset, units: String(fact.moved.units) }),
          },
          now: context.clock.now(),
        });
      case 'send_matched':
        return await movementKnown(tx, { ...fact, outcome: `matched with ${fact.key}`, now: context.clock.now() });
      case 'nonces_used':
      case 'rail_halted':
        // The follower continues, so that the books can be compared with the chain.
        if (fact.type === 'nonces_used')
          await setKillSwitch(tx, {
            kind: 'rail',
            subject: fact.rail,
            by: 'the machine',
            reason: fact.why,
            at: context.clock.now(),
          });
        return await openCase(tx, {
          kind: 'rail_halted',
          subject: fact.rail,
          reason: fact.why,
          facts: {},
          now: context.clock.now(),
        });
      default:
        unreachable(fact);
    }
  };
}

// Incoming money.

async function depositSeen(context: Context, tx: Tx, fact: DepositFact): Promise<void> {
  const { order, row, isNew } = await depositRow(context, tx, fact, 'seen');
  if (!isNew && row.state !== 'reversed') return;
  if (!isNew) await store.changeDeposit(tx, row.id, { state: 'seen' });
  if (order === undefined || fact.asset !== order.depositAsset || row.late) return;
  await advance(context, tx, order, 'deposit_seen', {
    // One timestamp per fact: a timeline shows the order's step and its deposit together.
    now: isNew ? row.seen_at : context.clock.now(),
    facts: { reference: fact.reference, ...fact.facts },
    depositReference: fact.reference,
  });
}

async function depositConfirmed(context: Context, tx: Tx, fact: DepositFact): Promise<void> {
  const now = context.clock.now();
  const { order, row } = await depositRow(context, tx, fact, 'seen');
  if (row.state !== 'seen' && row.state !== 'reversed') return;
  if (order !== undefined && (await isClearing(context, tx, order, row))) return;
  assert(row.units === fact.units && row.asset === fact.asset, `deposit ${row.id} is what it was when first seen`);

  const earlier =
    order === undefined ? [] : (await store.depositsOf(tx, order.id)).filter((one) => one.state === 'confirmed');
  const earlierUnits = earlier.reduce((sum, one) => sum + one.units, 0n);
  const decision = placeDeposit(order, row, earlierUnits);

  if (decision.outcome === 'suspense') return await toSuspense(context, tx, row, order, decision.why);
  assert(order !== undefined, 'only suspense has no order');

  if (decision.outcome === 'part') {
    const suspense = chart.suspense(row.rail, row.asset);
    await bookDeposit(context, tx, row, move(custodyOf(context, row), suspense, row.units), order.id);
    await store.changeDeposit(tx, row.id, {
      state: 'confirmed',
      bookedTo: suspense.code,
      why: 'part',
      confirmedAt: now,
    });
    await change(tx, order, { exception: 'underpaid', depositReference: fact.reference, now });
    // The deadline decides about parts; enqueued in case it passed while this part was being confirmed.
    enqueue(tx, { kind: 'expire_order', subject: String(order.id), dueAt: order.expiresAt });
    return;
  }
  const tooMuch =
    decision.excessUnits === 0n
      ? 'all'
      : takeOfTooMuch(order, earlierUnits + row.units, order.policy.overpaid, await mostFor(tx, order));
  const excessUnits = tooMuch === 'all' ? 0n : decision.excessUnits;
  const parts: ReceivedPart[] = [
    ...earlier.map((one) => receivedFromSuspense(one, 0n)),
    {
      from: custodyOf(context, row),
      toOrderUnits: row.units - excessUnits,
      excessUnits,
      suspense: chart.suspense(row.rail, row.asset),
    },
  ];
  // Before the transition that announces them: the event is built from these rows.
  const bookedTo = chart.order(order.id, order.partnerId, order.depositAsset).code;
  for (const one of [...earlier, row]) {
    const takenUnits = one === row ? one.units - excessUnits : one.units;
    await store.changeDeposit(tx, one.id, { state: 'applied', bookedTo, confirmedAt: now, takenUnits });
  }
  const advanced = await advance(context, tx, order, 'deposit_confirmed', {
    now,
    parts,
    receivedUnits: earlierUnits + row.units - excessUnits,
    // The deposit's id: reconciliation uses it to find the outside transaction behind the entry.
    facts: { deposit: String(row.id), reference: fact.reference, units: String(row.units), ...fact.facts },
    depositReference: fact.reference,
    ...(decision.excessUnits > 0n
      ? { exception: 'overpaid' }
      : earlier.length > 0
        ? { exception: 'paid_in_parts' }
        : {}),
  });
  assert(advanced.outcome === 'advanced', `order ${order.id} takes the deposit it waits for`);
  if (excessUnits === 0n) return;
  await openCase(tx, {
    kind: 'overpaid',
    subject: `deposit:${row.id}`,
    orderId: order.id,
    partnerId: order.partnerId,
    reason: 'more was deposited than asked; the rest is in suspense',
    facts: { units: String(excessUnits), asset: row.asset },
    now,
  });
  if (tooMuch === 'refund_excess')
    await requestRefund(context, tx, {
      depositId: row.id,
      units: excessUnits,
      why: 'overpaid',
      order: advanced.order,
      now,
    });
}

/** The most that the order's customer may pay at once. */
async function mostFor(tx: Tx, order: Order): Promise<bigint> {
  const { level } = await findCustomer(tx, order.customerId);
  return await maxUnitsFor(tx, await marketById(tx, order.marketId), level);
}

/**
 * Whether an order must wait with its deposit because the deposit's rail can still reverse it. Until then the deposit is seen
 * and shown as such, and a reversal leaves no trace in the books. Money that no order waits for goes to suspense at once, and
 * nothing made of it leaves before that time either (ready.ts).
 */
async function isClearing(context: Context, tx: Tx, order: Order, row: DepositRow): Promise<boolean> {
  const now = context.clock.now();
  if (row.asset !== order.depositAsset || row.late || (order.state !== 'created' && order.state !== 'deposit_seen'))
    return false;
  const clearsAt = row.clears_at ?? (await clearsAtOf(context, tx, { ...row, seenAt: now }, order));
  if (clearsAt === null || clearsAt <= now) return false;
  if (row.state === 'reversed') await store.changeDeposit(tx, row.id, { state: 'seen' });
  await store.waitWithDeposit(tx, row.id, clearsAt);
  enqueueAt(tx, { kind: 'clear_deposit', subject: String(row.id), dueAt: clearsAt });
  await advance(context, tx, order, 'deposit_seen', {
    now,
    waitsFrom: clearsAt,
    facts: { reference: row.reference, clearsAt: clearsAt.toISOString(), ...row.facts },
    depositReference: row.reference,
  });
  return true;
}

/** The deposit's clearing time has passed: unless it was reversed meanwhile, it now counts as confirmed. */
export async function clearDeposit(context: Context, tx: Tx, id: bigint): Promise<Handled> {
  const known = await store.depositById(tx, id);
  assert(known?.clears_at, `deposit ${id} is waited with`);
  const leftMs = known.clears_at.getTime() - context.clock.now().getTime();
  if (leftMs > 0) return { againInMs: leftMs };
  const { rail, external_id: externalId, asset, units, target, reference, facts } = known;
  if (known.order_id !== null) await store.lock(tx, known.order_id);
  const row = await store.lockDeposit(tx, rail, externalId);
  if (row?.state !== 'seen') return undefined;
  await depositConfirmed(context, tx, { rail, externalId, asset, units, target, reference, facts });
  return undefined;
}

/** A part already booked to suspense that now moves to its order. */
export function receivedFromSuspense(row: DepositRow, excessUnits: bigint): ReceivedPart {
  const suspense = chart.suspense(row.rail, row.asset);
  return { from: suspense, toOrderUnits: row.units, excessUnits, suspense };
}

const isChain = (context: Context, { rail }: { rail: string }): boolean => context.rails.get(rail)?.kind === 'chain';

const REASONS: Record<DepositTrouble, string> = {
  unknown_target: 'paid to no order of ours',
  wrong_asset: 'another asset than the order asked for',
  wrong_chain: 'on another chain than the order asked for',
  late: 'came after the order had ended',
  second: 'came when the order had its deposit already',
  lost: 'reversed after it was booked',
};

const LOST_TARGET =
  'paid to an address of ours that no order in the books has: it was given out after the last commit restored';

async function toSuspense(
  context: Context,
  tx: Tx,
  row: DepositRow,
  order: Order | undefined,
  why: DepositTrouble,
): Promise<void> {
  const now = context.clock.now();
  const suspense = chart.suspense(row.rail, row.asset);
  await bookDeposit(context, tx, row, move(custodyOf(context, row), suspense, row.units), order?.id);
  const dust = await isDust(tx, row);
  await store.changeDeposit(tx, row.id, { state: 'suspense', bookedTo: suspense.code, why, confirmedAt: now, dust });
  if (dust) return;
  const lost = order && standingLoss(await store.depositsOf(tx, order.id));
  if (order !== undefined && lost !== undefined && isChain(context, row) && isSameMoney(order, row, lost)) {
    const booked = await store.lockDepositById(tx, row.id);
    assert(booked !== undefined, `deposit ${row.id} stays where it is`);
    await replaceLost(tx, { by: 'the rail', why: 'in a block again', now }, { order, row: booked, lost });
    await endDebtBlock(tx, order, now);
    return;
  }
  const changed = order && (await change(tx, order, { exception: why, now }));
  // A reversed deposit has to be replaced first: a person decides with what.
  const then = lost === undefined ? onExtra(why, changed?.policy) : 'hold';
  // A follow-on order needs a price, and a rail's transaction must not wait for one. Until it is created, the case covers the
  // money.
  if (then === 'new_order') enqueue(tx, { kind: 'create_follow_on_order', subject: String(row.id), dueAt: now });
  await openCase(tx, {
    kind: `deposit_${why}`,
    subject: `deposit:${row.id}`,
    ...(order === undefined ? {} : { orderId: order.id, partnerId: order.partnerId }),
    reason: row.facts.index === undefined ? REASONS[why] : LOST_TARGET,
    facts: {
      units: String(row.units),
      asset: row.asset,
      reference: row.reference,
      ...(order === undefined && row.target !== '' ? { target: row.target } : {}),
      ...(row.facts.index === undefined ? {} : { index: row.facts.index }),
    },
    now,
  });
  if (then === 'refund')
    await requestRefund(context, tx, { depositId: row.id, units: row.units, why, order: changed, now });
}

async function depositReversed(
  context: Context,
  tx: Tx,
  fact: Extract<RailFact, { type: 'deposit_reversed' }>,
): Promise<void> {
  const known = await store.findDeposit(tx, fact.rail, fact.externalId);
  if (known === undefined) return;
  const order = known.order_id === null ? undefined : await store.lock(tx, known.order_id);
  const row = await store.lockDeposit(tx, fact.rail, fact.externalId);
  assert(row !== undefined, 'a deposit stays where it is');
  if (row.state === 'reversed' || row.state === 'lost') return;
  if (row.state === 'seen') {
    await store.changeDeposit(tx, row.id, { state: 'reversed', why: fact.why });
    if (order !== undefined) await forgetSeen(context, tx, order, fact.why);
    return;
  }
  await bookedDepositReversed(context, tx, row, order, fact.why);
}

/**
 * A booked deposit was reversed. The part in suspense belonged to nobody yet and is booked out the way it came in. The part
 * that an order took, or that was refunded, is a loss as long as nothing left for it (the order is stopped, and finally gives
 * up its claim). If a payout or refund of it was submitted, the customer owes it, whatever state the order is in, and creates
 * no new order until an operator allows it.
 */
async function bookedDepositReversed(
  context: Context,
  tx: Tx,
  known: DepositRow,
  before: Order | undefined,
  why: string,
): Promise<void> {
  const now = context.clock.now();
  await wakeDeposit(tx, known, { by: 'the rail', why: 'it was reversed', now });
  if (before !== undefined) await lockBoth(context, tx, known, before);
  const goneUnits = await cancelRefunds(context, tx, known.id, now);
  if (before !== undefined) {
    await cancelPayout(context, tx, before, now);
    await cancelPayingAgain(context, tx, before.id, now);
    if (known.taken_units > 0n) {
      await cancelCompensations(context, tx, before, now);
      await stopReleased(context, tx, before, now);
    }
  }
  const order = before && (await store.lock(tx, before.id));
  const row = await store.lockDepositById(tx, known.id);
  const rail = context.rails.get(known.rail);
  assert(row !== undefined && rail !== undefined, `rail ${known.rail} is running`);
  const gone = {
    kind: 'deposit_lost',
    rail,
    wallet: rail.wallets.deposits,
    facts: { deposit: String(row.id), reference: row.reference },
    ...(order === undefined ? {} : { orderId: order.id }),
  };
  const free = row.state === 'confirmed' ? row.units : inSuspense(row) - goneUnits;
  if (free > 0n) {
    const to = chart.suspense(row.rail, row.asset);
    await bookGone(context, tx, { ...gone, id: `dep_${row.id}:lost`, units: free, to });
  }
  const units = row.units - free;
  if (units === 0n) {
    await store.changeDeposit(tx, row.id, { state: 'reversed', why });
    await closeCases(tx, { subject: `deposit:${row.id}`, outcome: 'reversed', now });
    // Without this part the order waits for a deposit again; otherwise it could not even expire.
    if (order !== undefined && row.state === 'confirmed') await forgetSeen(context, tx, order, why);
    return;
  }
  const debtor = await whoWasPaid(tx, row, order);
  const owes = debtor !== undefined;
  const to = owes ? chart.receivable(debtor.customerId, debtor.partnerId, row.asset) : chart.loss(row.asset);
  await bookGone(context, tx, { ...gone, id: `dep_${row.id}:lost_taken`, units, to });
  await store.markLost(tx, row.id, { why, before: row.state, units, to: to.code });
  if (order !== undefined) await change(tx, order, { exception: 'deposit_lost', now });
  if (owes) await blockForDebt(tx, debtor.customerId, now);
  await openCase(tx, {
    kind: owes ? 'customer_owes' : 'deposit_lost',
    subject: `deposit:${row.id}`,
    ...(order === undefined ? {} : { orderId: order.id }),
    partnerId: debtor?.partnerId ?? order?.partnerId,
    reason: owes ? 'reversed after it was paid out: the customer owes it, and is blocked' : REASONS.lost,
    facts: { units: String(units), asset: row.asset, reference: row.reference },
    now,
  });
  // Where law had let it go and it has not left, it is here, and makes that good at once.
  if (order !== undefined) await cancelReleased(context, tx, order, now);
}

/**
 * One posting stops a payout and another books out the reversed amount: the accounts they share with other postings are
 * locked together, up front.
 */
async function lockBoth(context: Context, tx: Tx, { rail, asset }: DepositRow, order: Order): Promise<void> {
  const [from, to] = [context.rails.get(rail), context.rails.get(order.payoutRail)];
  await lockAccounts(tx, [
    ...(from === undefined ? [] : [chart.custody(rail, from.wallets.deposits, asset)]),
    ...(to === undefined ? [] : [chart.custody(to.code, to.wallets.payouts, order.payoutAsset)]),
    chart.suspense(rail, asset),
    chart.loss(asset),
  ]);
}

/**
 * The customer who was, or may have been, paid out of a deposit: by the payout of the order that took it, or by a refund of
 * it. Determined from payouts that were submitted and not rejected, because an order's state says nothing about money that it
 * did not take. Without an order it is the owner of the account that a refund went to.
 */
async function whoWasPaid(
  tx: Tx,
  row: DepositRow,
  order: Order | undefined,
): Promise<{ customerId: string; partnerId: bigint } | undefined> {
  const refunds: Payout[] = [];
  for (const { id, netUnits } of await refundsOfDeposit(tx, row.id))
    refunds.push(...(await payoutsOfRefund(tx, id)).filter((one) => !isBack(one, netUnits)));
  for (const { id, netUnits } of order !== undefined && row.taken_units > 0n ? await releasedRefunds(tx, order.id) : [])
    refunds.push(...(await payoutsOfRefund(tx, id)).filter((one) => !isBack(one, netUnits)));
  if (order !== undefined) {
    const taken =
      row.taken_units > 0n ? (await payoutsOf(tx, order.id)).filter(({ refundId }) => refundId === null) : [];
    return [...taken, ...refunds].some(mayHaveLeft) ? order : undefined;
  }
  const accountId = refunds.find(mayHaveLeft)?.fiatAccountId ?? null;
  if (accountId === null) return undefined;
  const { customerId } = await findFiatAccount(tx, accountId);
  // It went back to its source: to no customer of ours.
  if (customerId === null) return undefined;
  return { customerId, partnerId: (await findCustomer(tx, customerId)).partnerId };
}

/** It was submitted, and its rail has not reported that it was not paid. A returned payout had left. */
const mayHaveLeft = ({ state }: Payout): boolean => state !== 'created' && state !== 'rejected';

/** A refund that was returned in full: its customer received nothing of it. */
const isBack = ({ state, units }: Payout, cameBackUnits: bigint): boolean =>
  state === 'returned' && units <= cameBackUnits;

/** Cancels a payout for what was reversed, unless its submission has begun. */
async function cancelPayout(
  context: Context,
  tx: Tx,
  order: Order,
  now: Date,
  reason: string = REASONS.lost,
): Promise<void> {
  if (order.state !== 'paying_out') return;
  const key = payoutId(order);
  if (
    !(await cancelUnlessSubmitted(tx, key, reason, now)) &&
    !(await unlisted(context, tx, order, { key, reason, now }))
  )
    return;
  await advance(context, tx, order, 'payout_rejected', { now, facts: { why: reason, payout: key }, reason });
}

/** Likewise for a payout that its rail only lists until a person submits it. */
async function unlisted(
  context: Context,
  tx: Tx,
  { payoutRail }: Order,
  { key, reason, now }: { key: string; reason: string; now: Date },
): Promise<boolean> {
  const unlist = context.rails.get(payoutRail)?.unlist;
  if (unlist === undefined || (await payoutByKey(tx, payoutRail, key))?.state !== 'submitted') return false;
  if (!(await unlist(tx, key, reason))) return false;
  await recordRejected(tx, { rail: payoutRail, key, why: reason, now });
  return true;
}

/** Returns the order to its state before anything was seen, unless another seen deposit remains. */
async function forgetSeen(context: Context, tx: Tx, order: Order, why: string): Promise<void> {
  const others = (await store.depositsOf(tx, order.id)).filter((one) => one.asset === order.depositAsset && !one.late);
  if (others.some((one) => one.state === 'seen' || one.state === 'confirmed')) return;
  await advance(context, tx, order, 'deposit_reversed', { now: context.clock.now(), facts: { why } });
}

async function payerOf(context: Context, tx: Tx, order: Order | undefined, fact: DepositFact): Promise<PayerMatch> {
  if (order === undefined || fact.payerName === undefined || context.comparePayer === undefined) return 'unknown';
  return await context.comparePayer(tx, order.customerId, fact.payerName);
}

/** The row of a deposit and its order, both locked, order first. */
async function depositRow(context: Context, tx: Tx, fact: DepositFact, state: 'seen') {
  const told = fact.homeRail ?? fact.rail;
  const found = fact.target === '' ? undefined : await store.lockByTarget(tx, told, fact.target);
  const there = await store.lockDeposit(tx, fact.rail, fact.externalId);
  if (there !== undefined) return { order: found, row: there, isNew: false };
  const now = context.clock.now();
  const row = await store.insertDeposit(tx, {
    rail: fact.rail,
    external_id: fact.externalId,
    asset: fact.asset,
    units: fact.units,
    target: fact.target,
    clears_at: await clearsAtOf(context, tx, { rail: fact.rail, asset: fact.asset, seenAt: now }, found),
    order_id: found?.id ?? null,
    partner_id: found?.partnerId ?? null,
    state,
    reference: fact.reference,
    payer: await payerOf(context, tx, found, fact),
    facts: { ...fact.facts },
    seen_at: now,
    ...timesOf(found, fact),
  });
  return { order: found, row, isNew: true };
}

/**
 * When the deposit arrived by the outside's time, and whether that was after its order's deadline. If only a day is known,
 * the whole day of the deadline counts as in time, and the stored time is the latest possible one. A reorg that puts another
 * block in its place changes nothing: a deposit in time stays in time.
 */
function timesOf(order: Order | undefined, { at, withinMs = 0 }: DepositFact): Pick<DepositRow, 'came_at' | 'late'> {
  if (at === undefined) return { came_at: null, late: false };
  return { came_at: later(at, withinMs), late: order !== undefined && at > order.expiresAt };
}

function custodyOf(context: Context, row: { rail: string; asset: string }) {
  const rail = context.rails.get(row.rail);
  assert(rail !== undefined, `rail ${row.rail} is running`);
  return chart.custody(rail.code, rail.wallets.deposits, row.asset);
}

async function bookDeposit(
  context: Context,
  tx: Tx,
  row: DepositRow,
  lines: Line[],
  orderId: bigint | undefined,
): Promise<void> {
  const posted = await post(tx, {
    id: `dep_${row.id}:book`,
    kind: 'deposit_book',
    ...(orderId === undefined ? {} : { orderId }),
    at: context.clock.now(),
    facts: { deposit: String(row.id), reference: row.reference },
    lines,
  });
  assert(posted.outcome !== 'short', `deposit ${row.id} can be booked`);
}

// Outgoing money.

type Of<T extends RailFact['type']> = Extract<RailFact, { type: T }>;

async function payoutSubmitted(context: Context, tx: Tx, fact: Of<'payout_submitted'>): Promise<void> {
  const now = context.clock.now();
  const payout = await payoutByKey(tx, fact.rail, fact.key);
  if (payout === undefined) return;
  if (payout.purpose === 'payout' && payout.orderId !== null) {
    const order = await store.noteSubmitted(tx, payout.orderId, now);
    if (order !== undefined) await emitSubmitted(tx, order, now);
  }
  await refundSubmitted(tx, payout, now);
  await isKnownAgain(tx, fact.key, 'the rail has it', now);
}

async function payoutSettled(context: Context, tx: Tx, fact: Of<'payout_settled'>): Promise<void> {
  const now = context.clock.now();
  const order = await lockOrderOf(tx, fact);
  if (fact.undoes !== undefined) await undoDebit(context, tx, fact.rail, fact.undoes, fact.key);
  const observed = await settled(tx, { rail: fact.rail, key: fact.key, reference: fact.reference, now });
  if (observed === undefined) return;
  const booked = !observed.contradiction && (await bookSettled(context, tx, order, observed.payout, fact.reference));
  if (!booked) {
    await contradiction(context, tx, observed, `settled when the order was ${order?.state ?? 'unknown'}`);
    // The money has left, whatever we expected: custody must show it.
    await bookOutOfNowhere(context, tx, {
      ...fact,
      externalId: fact.key,
      asset: observed.payout.asset,
      units: unitsPaid(observed.payout),
    });
    await unsend(context, tx, order, observed.payout, now);
  }
  await bookCost(context, tx, fact);
  await isKnownAgain(tx, fact.key, 'settled', now);
}

/** The outcome is known: closes the payout's `payout_unknown` case. */
const isKnownAgain = (tx: Tx, key: string, outcome: string, now: Date): Promise<void> =>
  closeCases(tx, { kind: 'payout_unknown', subject: `payout:${key}`, outcome, now });

/** @returns whether the order, or the refund, was waiting for it */
async function bookSettled(
  context: Context,
  tx: Tx,
  order: Order | undefined,
  payout: Payout,
  reference: string,
): Promise<boolean> {
  const now = context.clock.now();
  const isBooked =
    payout.refundId === null
      ? order !== undefined && (await settleOrder(context, tx, order, payout, reference))
      : await refundSettled(context, tx, payout, reference, now);
  if (isBooked) await bookDifference(context, tx, payout);
  return isBooked;
}

async function settleOrder(
  context: Context,
  tx: Tx,
  order: Order,
  payout: Payout,
  reference: string,
): Promise<boolean> {
  const advanced = await advance(context, tx, order, 'payout_settled', {
    now: context.clock.now(),
    facts: { reference, payout: payout.id, ...paidOtherwise(payout, order) },
    payoutReference: reference,
    ...(unitsPaid(payout) === order.payoutUnits ? {} : { exception: PAID_OTHER_AMOUNT }),
  });
  return advanced.outcome === 'advanced';
}

/** If the amount that left differs from the books, the difference is booked separately, under the name of what left. */
async function bookDifference(context: Context, tx: Tx, payout: Payout): Promise<void> {
  const { id, asset, units, orderId } = payout;
  const more = unitsPaid(payout) - units;
  if (more === 0n) return;
  const rail = context.rails.get(payout.rail);
  assert(rail !== undefined, `rail ${payout.rail} is not running`);
  const difference = chart.difference(asset);
  const entry = {
    id: `${id}:difference`,
    kind: 'payout_difference',
    ...(orderId === null ? {} : { orderId }),
    facts: { movement: id, orderedUnits: String(units), paidUnits: String(unitsPaid(payout)) },
  };
  if (more > 0n) return await bookGone(context, tx, { ...entry, rail, to: difference, units: more });
  const custody = chart.custody(rail.code, rail.wallets.payouts, asset);
  const posted = await post(tx, { ...entry, at: context.clock.now(), lines: move(custody, difference, -more) });
  assert(posted.outcome !== 'short', `what ${id} did not leave with is not there`);
}

/**
 * The rail settled a payout it had rejected. Cancels any replacement whose submission has not begun, then settles the order
 * from what it still holds.
 */
async function unsend(context: Context, tx: Tx, order: Order | undefined, paid: Payout, now: Date): Promise<void> {
  if (paid.refundId !== null) return await refundFound(context, tx, paid, now);
  if (order === undefined) return;
  await cancelPayout(context, tx, order, now, PAID_BEFORE);
  await cancelRefunding(context, tx, order.id, now);
  await paidAfterAll(context, tx, order.id, now);
}

/**
 * Settles an order that holds its money because its payouts were rejected, one of which was paid after all: the order's
 * balance covers the loss booked then. If the order's terms have changed since that attempt, people decide (actions.ts,
 * settleBy).
 *
 * @returns whether it was settled
 */
async function paidAfterAll(context: Context, tx: Tx, orderId: bigint, now: Date): Promise<boolean> {
  const order = await store.lock(tx, orderId);
  if (order?.state !== 'payout_held') return false;
  const paid = (await payoutsOf(tx, orderId)).find(
    ({ refundId, state, units }) => refundId === null && state === 'settled' && units === order.payoutUnits,
  );
  if (paid === undefined) return false;
  assert(paid.reference !== null, `payout ${paid.id} settled under a reference`);
  await advance(context, tx, order, 'payout_found', {
    now,
    paid: { units: unitsPaid(paid) },
    facts: { payout: paid.id, reference: paid.reference, ...paidOtherwise(paid, order) },
    payoutReference: paid.reference,
    ...(unitsPaid(paid) === order.payoutUnits ? {} : { exception: PAID_OTHER_AMOUNT }),
  });
  await closeCases(tx, { kind: 'payout_held', subject: `order:${order.id}`, outcome: 'paid after all', now });
  return true;
}

async function payoutRejected(context: Context, tx: Tx, fact: Of<'payout_rejected'>): Promise<void> {
  const now = context.clock.now();
  const order = await lockOrderOf(tx, fact);
  const observed = await recordRejected(tx, { rail: fact.rail, key: fact.key, why: fact.why, now });
  // The chain charged once, whether the call was repeated or not: the cost entry is named after the payout.
  await bookCost(context, tx, fact);
  const payout = observed?.payout;
  if (observed?.contradiction) return await contradiction(context, tx, observed, fact.why);
  if (payout === undefined) return;
  await isKnownAgain(tx, payout.id, `rejected: ${fact.why}`, now);
  if (payout.refundId !== null) return await refundRejected(context, tx, payout, fact.why, now);
  if (order === undefined) return;
  const failed = await advance(context, tx, order, 'payout_rejected', {
    now,
    facts: { why: fact.why, payout: payout.id },
    reason: fact.why,
  });
  if (failed.outcome === 'ignored' || (await paidAfterAll(context, tx, order.id, now))) return;
  if (!mayRetryByItself(fact.why, payout.attempt)) return;
  const subject = `order:${failed.order.id}`;
  await closeCases(tx, { kind: 'payout_held', subject, outcome: 'tried again by itself', now });
  await advance(context, tx, failed.order, 'retried', { now, facts: { why: fact.why } });
}

/**
 * A payout or refund was returned: its money is booked to suspense. A refund is still owed. A payout's order stays settled,
 * and the returned money is paid again, as a second payout of the same order, once the customer has named another account.
 */
async function payoutReturned(context: Context, tx: Tx, fact: Of<'payout_returned'>): Promise<void> {
  const now = context.clock.now();
  const { rail: code, key, why, reference, asset, units } = fact;
  await lockOrderOf(tx, fact);
  const observed = await returned(tx, { rail: code, key, why, reference, now });
  if (observed === undefined) return;
  const { payout } = observed;
  await isKnownAgain(tx, payout.id, 'came back', now);
  const order = payout.orderId === null ? undefined : await store.lock(tx, payout.orderId);
  // It left and was returned before we saw it leave: book the payment first, so that the return has something to reverse.
  if (observed.before !== 'settled') await bookSettled(context, tx, order, payout, reference);
  const rail = context.rails.get(code);
  assert(rail !== undefined, `rail ${code} is running`);
  const suspense = chart.suspense(rail.code, asset);
  const posted = await post(tx, {
    id: `ret_${code}_${fact.externalId}`,
    kind: 'payout_returned',
    ...(payout.orderId === null ? {} : { orderId: payout.orderId }),
    at: now,
    facts: { payout: payout.id, reference },
    lines: move(chart.custody(rail.code, rail.wallets.payouts, asset), suspense, units),
  });
  assert(posted.outcome !== 'short', 'money coming back can be booked');
  if (payout.refundId !== null && (await refundReturned(context, tx, payout, { units, why, now }))) return;

  const after = payout.orderId === null ? undefined : await store.lock(tx, payout.orderId);
  const row = await store.insertDeposit(tx, {
    rail: code,
    external_id: `returned:${fact.externalId}`,
    asset,
    units,
    target: '',
    order_id: payout.orderId,
    partner_id: payout.partnerId,
    state: 'suspense',
    reference,
    facts: { payout: payout.id },
    seen_at: now,
    payer: 'unknown',
    origin: payout.purpose === 'payout' ? 'returned' : 'credit',
  });
  await store.changeDeposit(tx, row.id, {
    state: 'suspense',
    bookedTo: suspense.code,
    why: 'payout_returned',
    confirmedAt: now,
  });
  await openCase(tx, {
    kind: 'payout_returned',
    subject: `deposit:${row.id}`,
    orderId: payout.orderId ?? undefined,
    partnerId: payout.partnerId ?? undefined,
    reason: why,
    facts: { units: String(units), asset, reference, payout: payout.id },
    now,
  });
  if (after === undefined || payout.purpose !== 'payout') return;
  await change(tx, after, { exception: 'payout_returned', now });
  // Only a completed payment that was returned is paid again: a person decides about anything else.
  if (after.state !== 'settled' || observed.contradiction || (await isPaidByAnother(tx, payout, after))) return;
  const again = units < payout.units ? units : payout.units;
  await requestRefund(context, tx, { depositId: row.id, units: again, why: 'payout_returned', order: after, now });
}

/**
 * A rail that settles a payout it had rejected may have paid an order twice: if one of the two is returned, the order is
 * still paid.
 */
async function isPaidByAnother(tx: Tx, { id }: Payout, order: Order): Promise<boolean> {
  const others = (await payoutsOf(tx, order.id)).filter((one) => one.purpose === 'payout' && one.id !== id);
  return (
    others.some(({ state, endedAt }) => state === 'settled' || endedAt === null) ||
    (await refundsOf(tx, order.id)).some(({ purpose, state }) => purpose === 'payout' && state !== 'cancelled')
  );
}

async function payoutUnknown(context: Context, tx: Tx, fact: Of<'payout_unknown'>): Promise<void> {
  const order = await lockOrderOf(tx, fact);
  await openCase(tx, {
    kind: 'payout_unknown',
    subject: `payout:${fact.key}`,
    ...(order === undefined ? {} : { orderId: order.id, partnerId: order.partnerId }),
    reason: fact.why,
    facts: {},
    now: context.clock.now(),
  });
}

async function contradiction(context: Context, tx: Tx, observed: Observed, why: string): Promise<void> {
  const { payout } = observed;
  await openCase(tx, {
    kind: 'payout_contradiction',
    subject: `payout:${payout.id}`,
    orderId: payout.orderId ?? undefined,
    partnerId: payout.partnerId ?? undefined,
    reason: why,
    facts: { before: observed.before },
    now: context.clock.now(),
  });
}

async function bookCost(
  context: Context,
  tx: Tx,
  fact: { rail: string; key: string; cost?: { asset: string; units: bigint } },
): Promise<void> {
  if (fact.cost === undefined || fact.cost.units === 0n) return;
  const rail = context.rails.get(fact.rail);
  assert(rail !== undefined, `rail ${fact.rail} is running`);
  const { asset, units } = fact.cost;
  const id = `cost_${fact.key}`;
  await bookGone(context, tx, {
    id,
    kind: 'rail_cost',
    rail,
    to: chart.cost(rail.code, asset),
    units,
    facts: { key: fact.key },
  });
}

async function costChanged(context: Context, tx: Tx, fact: Of<'cost_changed'>): Promise<void> {
  const rail = context.rails.get(fact.rail);
  assert(rail !== undefined, `rail ${fact.rail} is running`);
  const { key, asset } = fact;
  const cost = chart.cost(rail.code, asset);
  const more = fact.units - fact.before;
  const entry = { id: `cost_${key}:${fact.externalId}`, kind: 'rail_cost', facts: { key } };
  if (more > 0n) return await bookGone(context, tx, { ...entry, rail, to: cost, units: more });
  const custody = chart.custody(rail.code, rail.wallets.payouts, asset);
  const posted = await post(tx, { ...entry, at: context.clock.now(), lines: move(custody, cost, -more) });
  assert(posted.outcome !== 'short', `what ${key} did not cost after all was booked as its cost`);
}

/** The operator's own money, incoming: from now on it can fund orders, or pay for gas. */
async function bookFunding(context: Context, tx: Tx, fact: Of<'funding_confirmed'>): Promise<void> {
  const rail = context.rails.get(fact.rail);
  assert(rail !== undefined, `rail ${fact.rail} is running`);
  const to = fact.forGas === true ? chart.capital(fact.asset) : chart.treasury(fact.asset);
  await post(tx, {
    id: `fund_${fact.rail}_${fact.externalId}`,
    kind: 'funding',
    at: context.clock.now(),
    facts: { reference: fact.reference },
    lines: move(chart.custody(rail.code, rail.wallets.payouts, fact.asset), to, fact.units),
  });
  await fundsArrived(tx, context.clock.now());
}

/** New funds have arrived: the orders whose turn it is check again. What one of them leaves is for the next. */
export async function fundsArrived(tx: Tx, now: Date): Promise<void> {
  for (const { id } of await allFirst(tx)) {
    enqueue(tx, { kind: 'fund_order', subject: String(id), dueAt: now });
  }
}

/**
 * Unidentified money at the paying wallet: booked to suspense like any other; a person refunds it or assigns it to its order.
 */
async function unexpectedCredit(context: Context, tx: Tx, fact: Of<'credit_unexpected'>): Promise<void> {
  const now = context.clock.now();
  const rail = context.rails.get(fact.rail);
  assert(rail !== undefined, `rail ${fact.rail} is running`);
  if ((await store.lockDeposit(tx, fact.rail, fact.externalId)) !== undefined) return;
  const suspense = chart.suspense(rail.code, fact.asset);
  await post(tx, {
    id: `credit_${fact.rail}_${fact.externalId}`,
    kind: 'unexpected_credit',
    at: now,
    facts: { reference: fact.reference },
    lines: move(chart.custody(rail.code, rail.wallets.payouts, fact.asset), suspense, fact.units),
  });
  const row = await store.insertDeposit(tx, {
    rail: fact.rail,
    external_id: fact.externalId,
    asset: fact.asset,
    units: fact.units,
    target: '',
    order_id: null,
    partner_id: null,
    state: 'suspense',
    reference: fact.reference,
    facts: {},
    seen_at: now,
    payer: 'unknown',
    origin: 'credit',
  });
  const dust = await isDust(tx, row);
  const about = {
    state: 'suspense',
    bookedTo: suspense.code,
    why: 'unexpected_credit',
    confirmedAt: now,
    dust,
  } as const;
  await store.changeDeposit(tx, row.id, about);
  if (dust) return;
  await openCase(tx, {
    kind: 'unexpected_credit',
    subject: `deposit:${row.id}`,
    reason: 'paid to the wallet that pays, by nobody known',
    facts: { units: String(fact.units), asset: fact.asset, reference: fact.reference, payer: fact.payer },
    now,
  });
}

async function unexplainedDebit(context: Context, tx: Tx, fact: Of<'unexplained_debit'>): Promise<void> {
  await bookOutOfNowhere(context, tx, fact);
  await openCase(tx, {
    kind: 'unexplained_debit',
    subject: `${fact.rail}:${fact.externalId}`,
    reason: 'money left and no payout of ours explains it',
    facts: { units: String(fact.units), asset: fact.asset, reference: fact.reference },
    now: context.clock.now(),
  });
}

/** It was booked as unexplained before it was known to belong to a payout: reversed line by line, under the payout's key. */
async function undoDebit(context: Context, tx: Tx, rail: string, externalId: string, key: string): Promise<void> {
  const id = `out_${rail}_${externalId}`;
  const now = context.clock.now();
  // Two people may have declared it a charge since.
  const fee = { id: `${id}:fee:undone`, kind: 'debit_explained', at: now, facts: { payout: key } };
  assert((await undo(tx, `${id}:fee`, fee)).outcome !== 'short', `entry ${id}:fee can be undone`);
  await undoLostOrder(tx, id, key, now);
  const posted = await undo(tx, id, { id: `${id}:undone`, kind: 'debit_explained', at: now, facts: { movement: key } });
  assert(posted.outcome !== 'short', `entry ${id} can be undone`);
  await closeCases(tx, { kind: 'unexplained_debit', subject: `${rail}:${externalId}`, outcome: `it was ${key}`, now });
}

/** Two people had declared that it paid a lost order: the deposits taken for it return to suspense, each with a case. */
async function undoLostOrder(tx: Tx, debit: string, key: string, now: Date): Promise<void> {
  const lost = lostOrderEntry(debit);
  if (!(await isPosted(tx, lost))) return;
  // If the deposit was taken for another debit before, this entry took nothing of it.
  await undoEntry(tx, lost, key, now);
  for (const given of await store.depositsBookedBy(tx, lost, LOST_PART)) await undoGiven(tx, given, key, now);
}

async function undoGiven(tx: Tx, given: DepositRow, key: string, now: Date): Promise<void> {
  assert(given.booked_to !== null, `deposit ${given.id} was booked`);
  if (given.booked_to.includes(LOST_PART)) await undoEntry(tx, given.booked_to, key, now);
  const suspense = chart.suspense(given.rail, given.asset);
  if (given.state === 'lost') {
    // Its rail reversed it since, which was booked as our loss. It is in suspense again, so there is no loss.
    const lines = move(suspense, chart.loss(given.asset), given.taken_units);
    const entry = { id: `dep_${given.id}:lost_again`, kind: 'debit_explained', at: now, facts: { payout: key }, lines };
    assert((await post(tx, entry)).outcome === 'posted', `the loss of deposit ${given.id} cannot be undone`);
    await store.changeDeposit(tx, given.id, { state: 'reversed', bookedTo: suspense.code, takenUnits: 0n });
    return await closeCases(tx, { subject: `deposit:${given.id}`, outcome: `nothing was made of it: ${key}`, now });
  }
  await store.changeDeposit(tx, given.id, { state: 'suspense', bookedTo: suspense.code, takenUnits: 0n });
  await openCase(tx, {
    kind: 'deposit_unknown_target',
    subject: `deposit:${given.id}`,
    reason: `taken for what a lost order was given, whose payout turned out to be ${key}`,
    facts: { units: String(given.units), asset: given.asset, reference: given.reference },
    now,
  });
}

async function undoEntry(tx: Tx, id: string, key: string, now: Date): Promise<void> {
  const entry = { id: `${id}:undone`, kind: 'debit_explained', at: now, facts: { payout: key } };
  assert((await undo(tx, id, entry)).outcome === 'posted', `entry ${id} cannot be undone`);
}

async function bookOutOfNowhere(
  context: Context,
  tx: Tx,
  fact: { rail: string; externalId: string; asset: string; units: bigint; reference: string; ofDeposits?: boolean },
): Promise<void> {
  const rail = context.rails.get(fact.rail);
  assert(rail !== undefined, `rail ${fact.rail} is running`);
  await bookGone(context, tx, {
    id: `out_${fact.rail}_${fact.externalId}`,
    kind: 'unexplained_debit',
    rail,
    ...(fact.ofDeposits === true ? { wallet: rail.wallets.deposits } : {}),
    to: chart.loss(fact.asset),
    units: fact.units,
    facts: { reference: fact.reference },
  });
}

/**
 * Money that left a wallet is booked out, whatever the books say was free there. The free part may be less, because the rest
 * is held for payouts or came in unseen. The part beyond it is booked as `uncovered`, with a case, until a person knows its
 * source.
 */
async function bookGone(
  context: Context,
  tx: Tx,
  gone: {
    id: string;
    kind: string;
    rail: Rail;
    /** The wallet that payouts leave from, by default. */
    wallet?: string;
    to: Account;
    units: bigint;
    facts: Record<string, string>;
    orderId?: bigint;
  },
): Promise<void> {
  const { id, kind, rail, to, units, facts, orderId } = gone;
  const { asset } = to;
  const now = context.clock.now();
  const custody = chart.custody(rail.code, gone.wallet ?? rail.wallets.payouts, asset);
  const entry = { id, kind, at: now, facts, ...(orderId === undefined ? {} : { orderId }) };
  // The uncovered part depends on the balance of the day, so posting again would be a different entry under the same name.
  if (await isPosted(tx, id)) return;
  const posted = await post(tx, { ...entry, lines: move(to, custody, units) });
  if (posted.outcome !== 'short') return;
  const there = await balance(tx, custody);
  const free = there.units - there.heldUnits;
  const uncovered = units - free;
  const inParts = [...move(to, custody, free), ...move(to, chart.uncovered(rail.code, asset), uncovered)];
  const booked = await post(tx, { ...entry, lines: inParts });
  assert(booked.outcome === 'posted', `what is gone of ${custody.code} is booked`);
  await openCase(tx, {
    kind: 'uncovered',
    subject: custody.code,
    reason: 'more has left the wallet than the books had free there',
    facts: { units: String(uncovered), asset, entry: id },
    now,
  });
}

/** Locks a payout's order before the payout: the lock order everywhere. */
async function lockOrderOf(tx: Tx, { rail, key }: { rail: string; key: string }): Promise<Order | undefined> {
  const payout = await payoutByKey(tx, rail, key);
  return payout?.orderId == null ? undefined : await store.lock(tx, payout.orderId);
}
