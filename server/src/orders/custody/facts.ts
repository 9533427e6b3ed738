/**
 * Facts about our own wallets and accounts: costs, funding, and money without an order.
 *
 * Money is never rejected: an amount without an owner is booked to suspense and becomes a case.
 */
import type { Tx } from '../../base/db.ts';
import { defined } from '../../base/defined.ts';
import { assert, Refusal } from '../../base/errors.ts';
import { enqueue } from '../../base/jobs.ts';
import { closeCases, openCase } from '../../compliance/index.ts';
import {
  type Account,
  balance,
  chart,
  isPosted,
  move,
  PARTNER_SETTLEMENT_UNDONE,
  post,
  undo,
} from '../../ledger/index.ts';
import type { Rail } from '../../rails/rail.ts';
import type { Context, Of } from '../context.ts';
import { isDust } from '../deposits/dust.store.ts';
import type { DepositRow } from '../deposits/store.ts';
import * as depositStore from '../deposits/store.ts';
import { allFirst } from '../payouts/queue.store.ts';
import { explainedEntry, LOST_PART } from './explained.ts';

export async function bookCost(
  context: Context,
  tx: Tx,
  fact: { rail: string; key: string; cost?: { asset: string; units: bigint } },
): Promise<void> {
  if (fact.cost === undefined || fact.cost.units === 0n) return;
  const rail = context.rails.get(fact.rail);
  assert(rail !== undefined, `rail ${fact.rail} is not running`);
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

export async function costChanged(context: Context, tx: Tx, fact: Of<'cost_changed'>): Promise<void> {
  const rail = context.rails.get(fact.rail);
  assert(rail !== undefined, `rail ${fact.rail} is not running`);
  const { key, asset } = fact;
  const cost = chart.cost(rail.code, asset);
  const more = fact.units - fact.before;
  const entry = { id: `cost_${key}:${fact.externalId}`, kind: 'rail_cost', facts: { key } };
  if (more > 0n) return await bookGone(context, tx, { ...entry, rail, to: cost, units: more });
  const custody = chart.custody(rail.code, rail.wallets.payouts, asset);
  const posted = await post(tx, { ...entry, at: context.clock.now(), lines: move(custody, cost, -more) });
  assert(posted.outcome !== 'short', `the excess cost of ${key} is not in the books`);
}

/** Books the operator's own incoming money. From now on it can fund orders or pay for gas. */
export async function bookFunding(context: Context, tx: Tx, fact: Of<'funding_confirmed'>): Promise<void> {
  const rail = context.rails.get(fact.rail);
  assert(rail !== undefined, `rail ${fact.rail} is not running`);
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

/** New funds have arrived: the first order in each queue checks again. If it leaves a remainder, the next order may use it. */
export async function fundsArrived(tx: Tx, now: Date): Promise<void> {
  for (const { id } of await allFirst(tx)) {
    enqueue(tx, { kind: 'fund_order', subject: String(id), dueAt: now });
  }
}

/** Unidentified money at the paying wallet: booked to suspense; an operator refunds it or assigns it to its order. */
export async function unexpectedCredit(context: Context, tx: Tx, fact: Of<'credit_unexpected'>): Promise<void> {
  const now = context.clock.now();
  const rail = context.rails.get(fact.rail);
  assert(rail !== undefined, `rail ${fact.rail} is not running`);
  if ((await depositStore.lockDeposit(tx, fact.rail, fact.externalId)) !== undefined) return;
  const suspense = chart.suspense(rail.code, fact.asset);
  await post(tx, {
    id: `credit_${fact.rail}_${fact.externalId}`,
    kind: 'unexpected_credit',
    at: now,
    facts: { reference: fact.reference },
    lines: move(chart.custody(rail.code, rail.wallets.payouts, fact.asset), suspense, fact.units),
  });
  const row = await depositStore.insertDeposit(tx, {
    rail: fact.rail,
    externalId: fact.externalId,
    asset: fact.asset,
    units: fact.units,
    target: '',
    orderId: null,
    partnerId: null,
    state: 'suspense',
    reference: fact.reference,
    facts: {},
    seenAt: now,
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
  await depositStore.changeDeposit(tx, row.id, about);
  if (dust) return;
  await openCase(tx, {
    kind: 'unexpected_credit',
    subject: `deposit:${row.id}`,
    reason: 'paid to the wallet for payouts, by an unknown sender',
    facts: { units: String(fact.units), asset: fact.asset, reference: fact.reference, payer: fact.payer },
    now,
  });
}

export async function unexplainedDebit(context: Context, tx: Tx, fact: Of<'unexplained_debit'>): Promise<void> {
  await bookOutOfNowhere(context, tx, fact);
  await openCase(tx, {
    kind: 'unexplained_debit',
    subject: `${fact.rail}:${fact.externalId}`,
    reason: 'money left and no payout of ours explains it',
    facts: { units: String(fact.units), asset: fact.asset, reference: fact.reference },
    now: context.clock.now(),
  });
}

/**
 * A debit was booked as unexplained before its payout was known: reverses that entry line by line.
 *
 * @param key the payout, or what several payouts have in common
 * @param movement the movement under whose name reconciliation sums the reversal
 */
export async function undoDebit(
  context: Context,
  tx: Tx,
  rail: string,
  externalId: string,
  key: string,
  movement = key,
): Promise<void> {
  const id = debitEntry(rail, externalId);
  const now = context.clock.now();
  // Only operators settle a payout with such a debit, because it has no key of ours. They would have to undo the customer's debt
  // for it first.
  if (await isPosted(tx, explainedEntry(id, 'recall')))
    throw new Refusal('does_not_fit', { why: 'two people declared that the debit recalled a part of a credit' });
  // Two operators may have declared the debit a bank charge since.
  const charge = explainedEntry(id, 'fee');
  const fee = { id: `${charge}:undone`, kind: 'debit_explained', at: now, facts: { payout: key } };
  assert((await undo(tx, charge, fee)).outcome !== 'short', `entry ${charge} cannot be undone`);
  // They may also have declared it the settlement of a partner's fees: then the partner is owed the fees again.
  const settled = explainedEntry(id, 'partner_fees');
  const owed = { id: `${settled}:undone`, kind: PARTNER_SETTLEMENT_UNDONE, at: now, facts: { payout: key } };
  assert((await undo(tx, settled, owed)).outcome !== 'short', `entry ${settled} cannot be undone`);
  await undoLostOrder(tx, id, key, now);
  const posted = await undo(tx, id, { id: `${id}:undone`, kind: 'debit_explained', at: now, facts: { movement } });
  assert(posted.outcome !== 'short', `entry ${id} cannot be undone`);
  await closeCases(tx, { kind: 'unexplained_debit', subject: `${rail}:${externalId}`, outcome: `it was ${key}`, now });
}

/**
 * If two operators had declared that the debit paid a lost order, the deposits used for that return to suspense, each with a
 * case.
 */
async function undoLostOrder(tx: Tx, debit: string, key: string, now: Date): Promise<void> {
  const lost = explainedEntry(debit, 'lost_order');
  if (!(await isPosted(tx, lost))) return;
  // If the deposit had been used for another debit before, this entry used no part of it.
  await undoEntry(tx, lost, key, now);
  for (const given of await depositStore.depositsBookedBy(tx, lost, LOST_PART)) await undoGiven(tx, given, key, now);
}

async function undoGiven(tx: Tx, given: DepositRow, key: string, now: Date): Promise<void> {
  assert(given.bookedTo !== null, `deposit ${given.id} was not booked`);
  if (given.bookedTo.includes(LOST_PART)) await undoEntry(tx, given.bookedTo, key, now);
  const suspense = chart.suspense(given.rail, given.asset);
  if (given.state === 'lost') {
    // The deposit's rail has reversed it since, which was booked as our loss. It is in suspense again now, so that loss is
    // undone.
    const lines = move(suspense, chart.loss(given.asset), given.takenUnits);
    const entry = { id: `dep_${given.id}:lost_again`, kind: 'debit_explained', at: now, facts: { payout: key }, lines };
    assert((await post(tx, entry)).outcome === 'posted', `the loss of deposit ${given.id} cannot be undone`);
    await depositStore.changeDeposit(tx, given.id, { state: 'reversed', bookedTo: suspense.code, takenUnits: 0n });
    return await closeCases(tx, {
      subject: `deposit:${given.id}`,
      outcome: `its booking for a lost order is undone: the debit was ${key}`,
      now,
    });
  }
  await depositStore.changeDeposit(tx, given.id, { state: 'suspense', bookedTo: suspense.code, takenUnits: 0n });
  await openCase(tx, {
    kind: 'deposit_unknown_target',
    subject: `deposit:${given.id}`,
    reason: `booked for a lost order, until the debit turned out to be ${key}`,
    facts: { units: String(given.units), asset: given.asset, reference: given.reference },
    now,
  });
}

async function undoEntry(tx: Tx, id: string, key: string, now: Date): Promise<void> {
  const entry = { id: `${id}:undone`, kind: 'debit_explained', at: now, facts: { payout: key } };
  assert((await undo(tx, id, entry)).outcome === 'posted', `entry ${id} cannot be undone`);
}

/** Id of the entry of a debit that no payout explains. */
export const debitEntry = (rail: string, externalId: string): string => `out_${rail}_${externalId}`;

export async function bookOutOfNowhere(
  context: Context,
  tx: Tx,
  fact: { rail: string; externalId: string; asset: string; units: bigint; reference: string; ofDeposits?: boolean },
): Promise<void> {
  const rail = context.rails.get(fact.rail);
  assert(rail !== undefined, `rail ${fact.rail} is not running`);
  await bookGone(context, tx, {
    id: debitEntry(fact.rail, fact.externalId),
    kind: 'unexplained_debit',
    rail,
    ...(fact.ofDeposits === true ? { wallet: rail.wallets.deposits } : {}),
    to: chart.loss(fact.asset),
    units: fact.units,
    facts: { reference: fact.reference },
  });
}

/**
 * Books money that left a wallet, whatever balance the books show as free. The free balance may be smaller, because the rest is
 * held for payouts or an incoming amount was missed. The part beyond it is booked as `uncovered`, with a case, until an operator
 * knows its source.
 */
export async function bookGone(
  context: Context,
  tx: Tx,
  gone: {
    id: string;
    kind: string;
    rail: Rail;
    /** Default: the wallet from which payouts leave. */
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
  const entry = { id, kind, at: now, facts, ...defined({ orderId }) };
  // The uncovered part depends on the present balance, so posting again would give the same id another content.
  if (await isPosted(tx, id)) return;
  const posted = await post(tx, { ...entry, lines: move(to, custody, units) });
  if (posted.outcome !== 'short') return;
  const there = await balance(tx, custody);
  const free = there.units - there.heldUnits;
  const uncovered = units - free;
  const inParts = [...move(to, custody, free), ...move(to, chart.uncovered(rail.code, asset), uncovered)];
  const booked = await post(tx, { ...entry, lines: inParts });
  assert(booked.outcome === 'posted', `the missing amount of ${custody.code} could not be booked`);
  await openCase(tx, {
    kind: 'uncovered',
    subject: custody.code,
    reason: 'more has left the wallet than the books had available in it',
    facts: { units: String(uncovered), asset, entry: id },
    now,
  });
}
