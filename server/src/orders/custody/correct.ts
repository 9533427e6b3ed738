/** Entries with which operators correct deposits, debts and unexplained debits. */
import type { Tx } from '../../base/db.ts';
import { assert, Refusal } from '../../base/errors.ts';
import { closeCases, findCase, lockCase, openCase } from '../../compliance/index.ts';
import { findCustomer } from '../../customers/index.ts';
import {
  type Account,
  balance,
  chart,
  type Entry,
  isPosted,
  move,
  PARTNER_SETTLEMENT,
  post,
} from '../../ledger/index.ts';
import { findPartner } from '../../partners/index.ts';
import { declareNoPayment, lockDebit, requireNoPayment } from '../../rails/bank.ts';
import type { Context } from '../context.ts';
import { wakeDeposit } from '../deposits/dormant.ts';
import { requireDust, writeOff } from '../deposits/dust.ts';
import { areHeld } from '../deposits/held.store.ts';
import { type Compares, whyNotCleared } from '../deposits/listed.ts';
import type { DepositRow } from '../deposits/store.ts';
import * as depositStore from '../deposits/store.ts';
import { requireUndone, undoExchange } from '../payouts/undone.ts';
import { inSuspense } from '../refunds/request.ts';
import * as store from '../store.ts';
import { explainedEntry, LOST_PART } from './explained.ts';
import { bookRecalled, requireRecalled } from './recall.ts';

/** Books money that is in a wallet but not in the books to suspense, until an operator refunds it or assigns it to an order. */
export async function bookFound(
  tx: Tx,
  found: {
    rail: string;
    custody: Account;
    units: bigint;
    externalId: string;
    reference: string;
    entry: Omit<Entry, 'lines'>;
    now: Date;
  },
): Promise<void> {
  const { rail, custody, units, externalId, reference, entry, now } = found;
  const { asset } = custody;
  const suspense = chart.suspense(rail, asset);
  const posted = await post(tx, { ...entry, lines: move(custody, suspense, units) });
  assert(posted.outcome === 'posted', `${externalId} was booked before`);
  const { id } = await depositStore.insertDeposit(tx, {
    ...{ rail, externalId, asset, units, target: '', orderId: null, partnerId: null },
    ...{ state: 'suspense', reference, facts: {}, seenAt: now, payer: 'unknown', origin: 'credit' },
  });
  await depositStore.changeDeposit(tx, id, {
    state: 'suspense',
    bookedTo: suspense.code,
    why: 'found',
    confirmedAt: now,
  });
  await openCase(tx, {
    kind: 'unexpected_credit',
    subject: `deposit:${id}`,
    reason: 'found in one of our wallets by reconciliation, and booked by two people',
    facts: { units: String(units), asset, reference },
    now,
  });
}

export const CASE_CORRECTIONS = ['fee', 'recall', 'partner_fees', 'debt', 'dust', 'lost_order', 'undone'] as const;
/**
 * - `fee`: an unexplained debit was a bank charge: a cost of its rail, not a loss;
 * - `recall`: an unexplained debit is a bank's recall of a part of a credit: the customer owes that part, so it is no loss;
 * - `partner_fees`: an unexplained debit was the transfer that settled fees owed to a partner: they are no longer owed, so it is
 *   no loss;
 * - `debt`: a customer's debt is written off: a loss;
 * - `dust`: a deposit in suspense is too small to handle: rounding;
 * - `lost_order`: an unexplained debit was the payout of an order that a restore has lost, and a deposit in suspense was that
 *   order's payment. The deposit becomes the operator's, and the debit is no loss: the entry books the order's exchange without
 *   its fees. The part of the deposit that was already refunded is excluded. If the order had several debits (a payout, and a
 *   refund of the excess), each further debit names the same deposit. If the order was paid in parts, each further deposit names
 *   the first one, through its own case;
 * - `undone`: an order's payout was returned and its deposit was reversed: the exchange is undone, and neither side owes
 *   anything.
 */
export type CaseCorrection = (typeof CASE_CORRECTIONS)[number];

/** The subject of a case that an entry can close: its current asset and amount, and the rail's reference. */
export interface Correctable {
  kind: string;
  subject: string;
  open: boolean;
  asset: string;
  units: bigint;
  reference: string;
}

const unfit = (why: string) => new Refusal('does_not_fit', { why });

/**
 * Reads the subject of a case, and locks the deposit if the case is about one.
 *
 * @throws Refusal 'unknown_case' | 'does_not_fit' if no entry closes this kind of case
 */
export async function lookCorrectable(tx: Tx, id: bigint): Promise<Correctable> {
  const found = (await findCase(tx, id))?.found;
  if (found === undefined) throw new Refusal('unknown_case');
  const { kind, subject, facts, closedAt } = found;
  const about = { kind, subject, open: closedAt === null };
  if (kind === 'unexplained_debit') {
    // A line without a reference is named by its id: evidence is never empty.
    const reference = String(facts.reference) || placeOf(subject)[1];
    return { ...about, asset: String(facts.asset), units: BigInt(String(facts.units)), reference };
  }
  if (kind !== 'customer_owes' && kind !== 'deposit_lost' && !isOfDeposit(kind))
    throw unfit(`no entry ends a case of kind ${kind}`);
  const { row } = await debtOf(tx, subject);
  const reference = row.reference || row.externalId;
  return { ...about, asset: row.asset, units: isOfDeposit(kind) ? inSuspense(row) : row.lostUnits, reference };
}

/** Kinds of cases about unassigned money in suspense. */
const isOfDeposit = (kind: string): boolean =>
  kind === 'unexpected_credit' || kind === 'dormant' || (kind.startsWith('deposit_') && kind !== 'deposit_lost');

/** The deposit of a debt, locked after its order. */
async function debtOf(tx: Tx, subject: string): Promise<{ row: DepositRow }> {
  const id = BigInt(/^deposit:([0-9]+)$/.exec(subject)?.[1] ?? '0');
  const known = await depositStore.depositById(tx, id);
  if (known === undefined) throw unfit('its deposit is not in the books');
  if (known.orderId !== null) await store.lock(tx, known.orderId);
  const row = await depositStore.lockDepositById(tx, id);
  assert(row !== undefined, `deposit ${id} has disappeared`);
  return { row };
}

export interface CaseCorrectionInput {
  case: bigint;
  as: CaseCorrection;
  evidence: string;
  units: bigint;
  /**
   * For `undone`: the returned payout's deposit. For `recall`: the credit of which a part was recalled. For `lost_order`: the
   * deposit that paid the order; in the case of a further deposit, the first one.
   */
  deposit?: bigint | undefined;
  /** For `partner_fees`: the partner whose fees the debit paid. */
  partner?: bigint | undefined;
}

/** Checks a correction without making it. @throws Refusal 'unknown_case' | 'does_not_fit' */
export async function requireCorrectable(context: Compares, tx: Tx, input: CaseCorrectionInput): Promise<Correctable> {
  const about = await lookCorrectable(tx, input.case);
  if (!about.open) throw unfit('the case is closed');
  if (!fitsKind(input.as, about.kind))
    throw unfit(`a correction as ${input.as} does not end a case of kind ${about.kind}`);
  if (input.evidence !== about.reference)
    throw unfit(`the evidence is not the reference of the case, ${about.reference}`);
  if (about.units === 0n || input.units !== about.units)
    throw unfit('the amount is not all of what the case is about now');
  if (NAMES_DEPOSIT.includes(input.as) !== (input.deposit !== undefined))
    throw new Refusal('malformed_field', {
      fields: { deposit: `must be named with ${NAMES_DEPOSIT.join(', ')}, and with nothing else` },
    });
  if ((input.as === 'partner_fees') !== (input.partner !== undefined))
    throw new Refusal('malformed_field', {
      fields: { partner: 'must be named with partner_fees, and with nothing else' },
    });
  if (input.partner !== undefined) await requireOwed(tx, about, input.partner);
  if (input.as === 'recall') await requireRecalled(tx, recalledBy(about, input.deposit ?? 0n));
  if (input.as === 'undone') await requireUndone(tx, (await debtOf(tx, about.subject)).row, input.deposit ?? 0n);
  if (input.as === 'lost_order') {
    const first = await lockGiven(context, tx, input.deposit ?? 0n);
    if (isOfDeposit(about.kind)) {
      if (!isGiven(first)) throw unfit('the deposit that is named was given for no lost order');
      requireFree(await lockGiven(context, tx, depositOf(about)));
    } else if (!isGiven(first)) requireFree(first);
  }
  if (input.as === 'dust') await requireDust(context, tx, (await debtOf(tx, about.subject)).row);
  if (about.kind === 'unexplained_debit') await requireUnexplained(tx, debitEntry(about));
  return about;
}

const NAMES_DEPOSIT: readonly CaseCorrection[] = ['recall', 'lost_order', 'undone'];

/** The rail of an unexplained debit, and the debit's name there. */
function placeOf(subject: string): [rail: string, externalId: string] {
  const at = subject.indexOf(':');
  return [subject.slice(0, at), subject.slice(at + 1)];
}

function recalledBy({ subject, asset, units }: Correctable, deposit: bigint) {
  const [rail, line] = placeOf(subject);
  return { rail, line, asset, units, deposit };
}

/**
 * @throws Refusal 'unknown_partner' | 'does_not_fit' if the partner is owed less than the debit, or if the debit is one of our
 *   payments
 */
async function requireOwed(tx: Tx, { asset, units, subject }: Correctable, partnerId: bigint): Promise<void> {
  if ((await findPartner(tx, { id: partnerId })) === undefined) throw new Refusal('unknown_partner');
  if (!(await isOwed(tx, { asset, units, partnerId }))) throw owedLess(partnerId, asset);
  await requireNoPayment(tx, ...placeOf(subject));
}

const isOwed = async (tx: Tx, fees: { asset: string; units: bigint; partnerId: bigint }): Promise<boolean> =>
  (await balance(tx, chart.feePartner(fees.partnerId, fees.asset))).units >= fees.units;

const owedLess = (partnerId: bigint, asset: string): Refusal =>
  unfit(`the fees owed to partner ${partnerId} in ${asset} are less than the debit`);

async function requireUnexplained(tx: Tx, debit: string): Promise<void> {
  if (!(await isPosted(tx, debit))) throw unfit('the books do not have this debit');
  if (await isPosted(tx, `${debit}:undone`)) throw unfit('it was explained since');
  for (const as of EXPLAINS_DEBIT)
    if (await isPosted(tx, explainedEntry(debit, as))) throw unfit('it is corrected already');
}

const EXPLAINS_DEBIT = ['fee', 'recall', 'partner_fees', 'lost_order'] as const satisfies readonly CaseCorrection[];

const debitEntry = ({ subject }: Correctable): string => `out_${placeOf(subject).join('_')}`;

const fitsKind = (as: CaseCorrection, kind: string): boolean =>
  ({
    fee: kind === 'unexplained_debit',
    recall: kind === 'unexplained_debit',
    partner_fees: kind === 'unexplained_debit',
    debt: kind === 'customer_owes',
    undone: kind === 'customer_owes' || kind === 'deposit_lost',
    dust: isOfDeposit(kind),
    lost_order: kind === 'unexplained_debit' || isOfDeposit(kind),
  })[as];

const depositOf = ({ subject }: Correctable): bigint => BigInt(subject.replace('deposit:', ''));

/** Locks a deposit without an order. @throws Refusal 'unknown_deposit' | 'does_not_fit' */
async function lockGiven(context: Compares, tx: Tx, id: bigint): Promise<DepositRow> {
  const row = await depositStore.lockDepositById(tx, id);
  if (row === undefined) throw new Refusal('unknown_deposit', {});
  if (row.orderId !== null) throw unfit('the deposit belongs to an order that is in the books');
  if (await areHeld(tx, [row])) throw unfit('an operator holds the deposit: release it first');
  const listed = await whyNotCleared(context, tx, row.id);
  if (listed !== undefined) throw unfit(listed);
  return row;
}

/** Whether an earlier entry used the deposit as the payment of a lost order. */
const isGiven = ({ state, bookedTo }: DepositRow): boolean => state === 'applied' && IS_LOST_ORDER.test(bookedTo ?? '');
const IS_LOST_ORDER = /^out_.+:order$/;

/** @throws Refusal 'does_not_fit' if no part of the deposit is free in suspense */
function requireFree(row: DepositRow): void {
  if (row.state !== 'suspense' || row.takenUnits > 0n || inSuspense(row) === 0n)
    throw unfit('the deposit is not in suspense');
}

/**
 * Books the exchange of the lost order. If the treasury lacks the amount, its position account covers it, because the money has
 * already left.
 */
async function bookLostOrder(
  context: Compares,
  tx: Tx,
  { about, deposit, entry }: { about: Correctable; deposit: bigint; entry: Omit<Entry, 'lines'> & { by: string } },
): Promise<void> {
  const row = await lockGiven(context, tx, deposit);
  const { by: _, ...posting } = entry;
  const isFirst = !isGiven(row);
  await wakeGiven(tx, row, entry);
  const given = isFirst ? move(chart.suspense(row.rail, row.asset), chart.treasury(row.asset), inSuspense(row)) : [];
  const left = (from: Account) => move(from, chart.loss(about.asset), about.units);
  let posted = await post(tx, { ...posting, lines: [...given, ...left(chart.treasury(about.asset))] });
  if (posted.outcome === 'short')
    posted = await post(tx, { ...posting, lines: [...given, ...left(chart.fx(about.asset))] });
  if (posted.outcome !== 'posted') throw unfit('the loss it was booked as is not there any more');
  if (isFirst) await markGiven(tx, row, entry);
}

/** Books a further part of a lost order's payment. */
async function bookLostPart(
  tx: Tx,
  { row, first, entry }: { row: DepositRow; first: DepositRow; entry: Omit<Entry, 'lines' | 'id'> & { by: string } },
): Promise<void> {
  const id = `${first.bookedTo}${LOST_PART}${row.id}`;
  const { by: _, ...posting } = entry;
  await wakeGiven(tx, row, entry);
  const lines = move(chart.suspense(row.rail, row.asset), chart.treasury(row.asset), inSuspense(row));
  const posted = await post(tx, { ...posting, id, lines });
  if (posted.outcome !== 'posted') throw unfit('it is no longer in suspense');
  await markGiven(tx, row, { ...entry, id });
}

const wakeGiven = (tx: Tx, row: DepositRow, { by, at }: { by: string; at: Date }): Promise<void> =>
  wakeDeposit(tx, row, { by, why: 'it was used for an order that is lost', now: at });

/**
 * Stores the entry's id on the deposit, so that the deposit is found if the debit is later matched with something else
 * (facts.ts).
 */
async function markGiven(tx: Tx, row: DepositRow, { id, by, at }: { id: string; by: string; at: Date }): Promise<void> {
  await depositStore.changeDeposit(tx, row.id, { state: 'applied', bookedTo: id, takenUnits: inSuspense(row) });
  await closeCases(tx, { subject: `deposit:${row.id}`, outcome: `used for a lost order, says ${by}`, now: at });
}

/**
 * Serializes this with other decisions about the same debit: a bank's debit is locked in the same way as for settling a payout by
 * it, and a debit of any rail by its case. So another decision is either in the books already, or is made after this one.
 */
async function lockExplaining(tx: Tx, id: bigint): Promise<void> {
  const found = (await findCase(tx, id))?.found;
  if (found?.kind !== 'unexplained_debit') return;
  await lockDebit(tx, ...placeOf(found.subject));
  await lockCase(tx, id);
}

/** @throws Refusal as `requireCorrectable` */
export async function correctCase(
  context: Context & Compares,
  tx: Tx,
  input: CaseCorrectionInput & { by: string; now: Date },
): Promise<void> {
  await lockExplaining(tx, input.case);
  const about = await requireCorrectable(context, tx, input);
  const { by, now } = input;
  const { asset, units, subject, kind } = about;
  if (input.as === 'dust') return await writeOff(tx, (await debtOf(tx, subject)).row, { by, now });
  if (input.as === 'undone') {
    const undoing = await requireUndone(tx, (await debtOf(tx, subject)).row, input.deposit ?? 0n);
    const facts = {
      correction: input.as,
      case: String(input.case),
      evidence: input.evidence,
      by,
      deposit: String(input.deposit),
    };
    return await undoExchange(context, tx, undoing, {
      id: `correct_case_${input.case}`,
      kind: 'correction',
      at: now,
      facts,
      by,
    });
  }
  if (input.as === 'lost_order' && isOfDeposit(kind)) {
    const [row, first] = [
      await lockGiven(context, tx, depositOf(about)),
      await lockGiven(context, tx, input.deposit ?? 0n),
    ];
    const facts = {
      correction: input.as,
      case: String(input.case),
      evidence: input.evidence,
      by,
      deposit: String(row.id),
    };
    return await bookLostPart(tx, { row, first, entry: { kind: 'correction', at: now, facts, by } });
  }
  const facts = { correction: input.as, case: String(input.case), evidence: input.evidence, by };
  // If the debit is later matched with a payout, its entry is reversed together with this one (facts.ts).
  const id = kind === 'unexplained_debit' ? explainedEntry(debitEntry(about), input.as) : `correct_case_${input.case}`;
  const entry = { id, kind: 'correction', at: now, facts };
  const loss = chart.loss(asset);
  if (input.as === 'recall') {
    const recalled = recalledBy(about, input.deposit ?? 0n);
    const said = { ...facts, deposit: String(recalled.deposit) };
    await bookRecalled(context, tx, recalled, { id, kind: 'correction', facts: said, by, now });
  } else if (input.as === 'lost_order' && input.deposit !== undefined) {
    const lost = { ...entry, facts: { ...facts, deposit: String(input.deposit) }, by };
    await bookLostOrder(context, tx, { about, deposit: input.deposit, entry: lost });
  } else if (input.as === 'partner_fees') {
    const partnerId = input.partner ?? 0n;
    const lines = move(chart.feePartner(partnerId, asset), loss, units);
    const said = { ...facts, partner: String(partnerId) };
    // A partner's account may be overdrawn by returned fees, but not by a settlement. So what the partner is owed is checked
    // again under the account's lock.
    const settling = { ...entry, kind: PARTNER_SETTLEMENT, facts: said, lines };
    const posted = await post(tx, settling, () => isOwed(tx, { asset, units, partnerId }));
    if (posted.outcome !== 'posted') throw owedLess(partnerId, asset);
    await declareNoPayment(tx, ...placeOf(subject));
  } else if (input.as === 'fee') {
    const rail = subject.slice(0, subject.indexOf(':'));
    const posted = await post(tx, { ...entry, lines: move(chart.cost(rail, asset), loss, units) });
    if (posted.outcome !== 'posted') throw unfit('the loss it was booked as is not there any more');
  } else {
    const { row } = await debtOf(tx, subject);
    const [account, customerId] = (row.lostTo ?? '').split(':');
    if (row.state !== 'lost' || account !== 'receivable' || customerId === undefined)
      throw unfit('no customer owes it');
    const { partnerId } = await findCustomer(tx, customerId);
    const owed = chart.receivable(customerId, partnerId, asset);
    const posted = await post(tx, { ...entry, lines: move(loss, owed, units) });
    if (posted.outcome !== 'posted') throw unfit('less than this amount is still owed');
    await depositStore.markReplaced(tx, row.id);
  }
  await closeCases(tx, { kind: kind as 'customer_owes', subject, outcome: `corrected as ${input.as} by ${by}`, now });
}
