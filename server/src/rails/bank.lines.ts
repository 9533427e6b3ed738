/**
 * Lines of a bank's statement: each one is interpreted, stored once, and reported as facts.
 *
 *   credit  own funding               → funding_confirmed
 *           return of one of our payouts → payout_returned    (and payout_settled first, if the debit was never shown)
 *           anything else             → deposit_confirmed, target = the reference found in its text, or ''
 *   debit   first one with a payout's key, same amount → payout_settled
 *           one that reverses a deposit of ours, or a part of it → deposit_reversed
 *           anything else             → unexplained_debit, also a second debit for one payout
 *
 * A line that cannot be booked (no readable or positive amount, a currency of no account of ours, content that differs from what
 * we booked under that id) is set aside, encrypted, and reported as `line_refused` once; reading continues with the next line.
 *
 * Not here: reading pages (bank.ts), explaining a debit later (bank.match.ts).
 */
import { createHash } from 'node:crypto';
import type { Tx } from '../base/db.ts';
import { defined } from '../base/defined.ts';
import type { AssetCode } from '../base/money.ts';
import { type BankAdapter, type OpenBank, referencesOf, type StatementLine } from './bank.adapter.ts';
import { explainByKey } from './bank.match.ts';
import {
  type BankLine,
  hasLine,
  insertLine,
  insertOddLine,
  type LineMeaning,
  readLine,
  recalledUnits,
} from './bank.store.ts';
import { NO_TEXT, textIndexes } from './bank.texts.ts';
import { payoutByKey } from './payouts.ts';
import type { Movement, RailFact } from './rail.ts';

/** Our one account at the bank: money comes in and goes out there. */
export const WALLET = 'main';
const LONGEST_ID = 200;
const LONGEST_REFERENCE = 140;
/** The columns are numeric(78,0), and no account has this much. */
const ABSURD_UNITS = 10n ** 60n;

/** A line that can be booked. */
type Bookable = StatementLine & { asset: AssetCode; units: bigint };
interface Understood {
  meaning: LineMeaning;
  key: string | null;
  facts: RailFact[];
}

/**
 * Processes one line of the statement in the caller's transaction: interprets it, stores it, and reports its facts. A line that
 * was processed before is ignored.
 */
export async function takeLine(bank: OpenBank, tx: Tx, line: StatementLine): Promise<void> {
  const { adapter, context } = bank;
  const asset = adapter.currencies[line.currency];
  const why = unusable(line, asset);
  if (why !== undefined || asset === undefined || line.units === null)
    return await putAside(bank, tx, line, why ?? 'unusable');

  const there = await readLine(tx, adapter.code, line.externalId);
  if (there !== undefined) {
    if (!sameLine(there, line, asset)) await putAside(bank, tx, line, 'changed since it was booked');
    return;
  }
  const { meaning, key, facts } = await understand(adapter, tx, { ...line, asset, units: line.units });
  const fresh = await insertLine(tx, adapter.code, {
    externalId: line.externalId,
    direction: line.direction,
    asset,
    units: line.units,
    meaning,
    key,
    chargeUnits: line.chargeUnits ?? 0n,
    reference: showable(line.reference),
    textIndex: textIndexes(context.vault, line.free.text)[0] ?? NO_TEXT,
    details: context.vault.encrypt(JSON.stringify(line.free), `bank_lines.details:${adapter.code}:${line.externalId}`),
    bookedAt: line.bookedAt,
  });
  // Another process has just stored and reported it.
  if (!fresh) return;
  for (const fact of facts) {
    // After a restore, the payout's debit may have been booked as unexplained before the payout was created again. That debit
    // settles it.
    const isImplied = meaning === 'return' && fact.type === 'payout_settled';
    if (isImplied && (await explainByKey(tx, adapter.code, fact.key, context.report, { isBack: true }))) continue;
    await context.report(tx, fact);
  }
}

/**
 * The targets and payouts that these lines name, if each names one of its own: a deposit with a reference, or a debit with a key.
 * Undefined if a line is anything else, such as a return, a recall or funding, or if two of them name the same.
 */
export function subjectsOf(
  adapter: BankAdapter,
  lines: readonly StatementLine[],
): { targets: string[]; payouts: string[] } | undefined {
  const targets = new Set<string>();
  const payouts = new Set<string>();
  for (const { direction, free, key, funding, returnOf, recallOf } of lines) {
    if (funding || returnOf !== undefined || recallOf !== undefined) return undefined;
    if (direction === 'credit') targets.add(referencesOf(adapter).find(free.text ?? ''));
    else if (key !== undefined) payouts.add(showable(key));
  }
  const isEachAnother = targets.size + payouts.size === lines.length;
  return isEachAnother && !targets.has('') ? { targets: [...targets], payouts: [...payouts] } : undefined;
}

/** Interprets a new line, and returns its facts. */
async function understand(adapter: BankAdapter, tx: Tx, line: Bookable): Promise<Understood> {
  const { code: rail } = adapter;
  if (line.direction === 'debit') return await understandDebit(rail, tx, line);
  if (!line.funding) return (await returnedPayout(rail, tx, line)) ?? deposited(adapter, line);
  const { externalId, asset, units } = line;
  const reference = showable(line.reference);
  return {
    meaning: 'funding',
    key: null,
    facts: [{ type: 'funding_confirmed', rail, externalId, asset, units, reference }],
  };
}

async function understandDebit(rail: string, tx: Tx, line: Bookable): Promise<Understood> {
  const recalled = await recalledCredit(rail, tx, line);
  if (recalled !== undefined) return recalled;
  const { externalId, asset, units, chargeUnits: charge = 0n } = line;
  const reference = showable(line.reference);
  const key = line.key === undefined ? null : showable(line.key);
  const payout = key === null ? undefined : await payoutByKey(tx, rail, key);
  const explained =
    payout?.asset === asset && payout.units === units && !(await hasLine(tx, rail, payout.id, 'payout'));
  if (!explained) {
    const fact: RailFact = { type: 'unexplained_debit', rail, externalId, asset, units: units + charge, reference };
    return { meaning: 'unexplained', key, facts: [fact] };
  }
  const settled: RailFact = { type: 'payout_settled', rail, key: payout.id, reference };
  if (charge === 0n) return { meaning: 'payout', key, facts: [settled] };
  // If the return was shown first, it has already reported the settlement: only the charge is new.
  const facts: RailFact[] = (await hasLine(tx, rail, payout.id, 'return'))
    ? [{ type: 'cost_changed', rail, key: payout.id, externalId, asset, before: 0n, units: charge }]
    : [{ ...settled, cost: { asset, units: charge } }];
  return { meaning: 'payout', key, facts };
}

/** Interprets a debit as a recall if it names a deposit of which at least this amount was not recalled before. */
async function recalledCredit(rail: string, tx: Tx, line: Bookable): Promise<Understood | undefined> {
  const { recallOf, asset, units } = line;
  if (recallOf === undefined || !usableId(recallOf.externalId)) return undefined;
  const { externalId } = recallOf;
  const credit = await readLine(tx, rail, externalId);
  if (credit?.meaning !== 'deposit' || credit.asset !== asset) return undefined;
  if ((await recalledUnits(tx, rail, externalId)) + units > credit.units) return undefined;
  const part = { line: line.externalId, units, reference: showable(line.reference) };
  const why = showable(recallOf.why);
  const fact: RailFact = {
    ...{ type: 'deposit_reversed', rail, externalId, why },
    ...(units === credit.units ? {} : { part }),
  };
  return { meaning: 'recall', key: externalId, facts: [fact] };
}

/** A credit that returns a payout of ours; undefined for any other credit. */
async function returnedPayout(rail: string, tx: Tx, line: Bookable): Promise<Understood | undefined> {
  const { returnOf, externalId, asset, units } = line;
  const payout = returnOf && (await payoutByKey(tx, rail, showable(returnOf.key)));
  if (!returnOf || payout?.asset !== asset || (await hasLine(tx, rail, payout.id, 'return'))) return undefined;
  const reference = showable(line.reference);
  const facts: RailFact[] = [];
  // A returned payout had left, in whatever order the bank shows the lines. If its debit is shown later, it reports nothing new.
  if (!(await hasLine(tx, rail, payout.id, 'payout')))
    facts.push({ type: 'payout_settled', rail, key: payout.id, reference, isBack: true });
  const why = showable(returnOf.why);
  facts.push({ type: 'payout_returned', rail, key: payout.id, why, reference, externalId, asset, units });
  return { meaning: 'return', key: payout.id, facts };
}

function deposited(adapter: BankAdapter, line: Bookable): Understood {
  const { externalId, asset, units, free, returnOf, bookedAt, withinMs, bookedOn } = line;
  const fact: RailFact = {
    type: 'deposit_confirmed',
    rail: adapter.code,
    externalId,
    target: returnOf === undefined ? referencesOf(adapter).find(free.text ?? '') : '',
    asset,
    units,
    reference: showable(line.reference),
    ...(bookedOn === 'unknown' ? {} : { at: bookedAt, ...defined({ withinMs }) }),
    ...defined({ payerName: free.name }),
    facts: { bookedAt: bookedAt.toISOString(), ...(returnOf ? { returnOfUnknown: 1 } : {}) },
  };
  return { meaning: 'deposit', key: null, facts: [fact] };
}

async function putAside({ adapter, context }: OpenBank, tx: Tx, line: StatementLine, why: string): Promise<void> {
  const said = JSON.stringify(line, (_key, value) => (typeof value === 'bigint' ? String(value) : value));
  // If the id cannot be stored, its hash is, so that even this line is reported only once.
  const externalId = usableId(line.externalId)
    ? line.externalId
    : `sha256:${hash(String(line.externalId)).toString('hex')}`;
  const fresh = await insertOddLine(tx, adapter.code, {
    externalId,
    content: hash(said),
    why,
    details: context.vault.encrypt(said, `bank_odd_lines.details:${adapter.code}:${externalId}`),
  });
  if (!fresh) return;
  context.log.warn({ rail: adapter.code, line: externalId, why }, 'statement line refused');
  await context.report(tx, { type: 'line_refused', rail: adapter.code, externalId, why });
}

/**
 * The amount that a line moved on our account, for reconciliation. A line with an unreadable amount counts as zero; the balance
 * then shows the difference.
 */
export function movementOf({ currencies }: BankAdapter, line: StatementLine): Movement[] {
  const asset = currencies[line.currency];
  if (asset === undefined || line.units === null || unusable(line, asset) !== undefined) return [];
  const { externalId: name, units, chargeUnits = 0n } = line;
  if (line.direction === 'credit') return [{ name, wallet: WALLET, asset, units }];
  const key = line.recallOf?.externalId ?? line.key;
  const named = key === undefined || showable(key) === '' ? {} : { key: showable(key) };
  return [{ name, wallet: WALLET, asset, units: -units - chargeUnits, ...named }];
}

/** Why a line cannot be booked as money; undefined if it can. */
function unusable(line: StatementLine, asset: AssetCode | undefined): string | undefined {
  if (!usableId(line.externalId)) return 'no usable id';
  if (asset === undefined) return 'a currency we do not keep here';
  if (line.units === null) return 'no readable amount';
  if (line.units <= 0n || (line.chargeUnits ?? 0n) < 0n) return 'an amount that is not above zero';
  if (line.units >= ABSURD_UNITS || (line.chargeUnits ?? 0n) >= ABSURD_UNITS) return 'an absurd amount';
  if (line.direction !== 'credit' && line.direction !== 'debit') return 'not a credit and not a debit';
  if (Number.isNaN(line.bookedAt.getTime())) return 'no readable date';
  return undefined;
}

const usableId = (id: unknown): id is string =>
  typeof id === 'string' && id.length > 0 && id.length <= LONGEST_ID && !/[\p{Cc}\p{Cs}]/u.test(id);

const sameLine = (there: BankLine, line: StatementLine, asset: AssetCode): boolean =>
  there.direction === line.direction &&
  there.asset === asset &&
  there.units === line.units &&
  there.chargeUnits === (line.chargeUnits ?? 0n);

/** Removes control characters, which cannot be stored, and limits the length. */
const showable = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cs}]/gu, '').slice(0, LONGEST_REFERENCE);

const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
