/**
 * Statement of a customer: deposits, payouts, fees and refunds of all their orders within a time span, with the amounts we held
 * for them and the amounts they owed at both ends. Every line is a line of the journal, so opening plus lines equals closing.
 *
 * Held for a customer is the balance of their orders' accounts, its part blocked by law, and their orders' money in suspense.
 * Unidentified money in suspense that was later assigned to an order counts from then on. A conversion takes one asset and
 * gives another.
 */
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import type { AssetCode } from '../base/money.ts';
import { longReport, type PostedFor, postedFor, SHARED_KINDS } from '../ledger/index.ts';
import { newestOrders } from '../orders/index.ts';

/** Beyond this number of orders no statement is made: PostgreSQL sums what they had before the span. */
const MOST_ORDERS = 200_000;
/** Beyond this number of lines the span has to be shorter, because they are read at once. */
const MOST_LINES = 50_000;

export type What =
  | 'opening'
  | 'deposit'
  | 'payout'
  | 'refund'
  | 'payout_returned'
  | 'conversion'
  | 'fee_operator'
  | 'fee_partner'
  | 'fee_rail'
  | 'fee_chain'
  | 'tax'
  | 'rounding'
  | 'owed'
  | 'reversed'
  | 'other'
  | 'closing';

export interface StatementRow {
  /**
   * Number of the journal entry and line, which is the cursor for the next page. For opening and closing rows the word itself.
   */
  line: string;
  at: Date;
  order: bigint | null;
  what: What;
  asset: AssetCode;
  /** Change of what we hold for the customer; for opening and closing the total. */
  units: bigint;
  /** Change of what the customer owes us; for opening and closing the total. */
  owedUnits: bigint;
  /** Amount held afterwards, in this asset. */
  heldAfterUnits: bigint;
  entry: string | null;
}

/**
 * @param input `mostLines` is the greatest number of lines within the span
 * @throws Refusal 'malformed_field' for a customer with too many orders, or a span with too many lines
 */
export async function customerStatement(
  tx: Tx,
  { mostLines = MOST_LINES, ...input }: { customerId: string; from: Date; until: Date; mostLines?: number },
): Promise<StatementRow[]> {
  const orderIds = await newestOrders(tx, input.customerId, MOST_ORDERS + 1);
  if (orderIds.length > MOST_ORDERS)
    throw new Refusal('malformed_field', { fields: { customer: `must be one with at most ${MOST_ORDERS} orders` } });
  await longReport(tx);
  const lines = await postedFor(tx, { ...input, orderIds, most: mostLines + 1 });
  if (lines.length > mostLines)
    throw new Refusal('malformed_field', {
      fields: { until: `must be earlier: the span has more than ${mostLines} lines` },
    });
  return statementOf(lines, input);
}

/** Pure. @param lines in posting order, before `until`; sums of lines before `from` come first */
export function statementOf(
  lines: readonly PostedFor[],
  input: { customerId: string; from: Date; until: Date },
): StatementRow[] {
  const held = new Map<AssetCode, bigint>();
  const owed = new Map<AssetCode, bigint>();
  const suspense = new Map<string, bigint>();
  const add = <K>(to: Map<K, bigint>, name: K, units: bigint): bigint => {
    const sum = (to.get(name) ?? 0n) + units;
    to.set(name, sum);
    return sum;
  };
  const ends = (what: 'opening' | 'closing', at: Date): StatementRow[] =>
    [...new Set([...held.keys(), ...owed.keys()])].sort().map((asset) => {
      const units = held.get(asset) ?? 0n;
      const of = { line: what, at, order: null, what, asset, entry: null };
      return { ...of, units, owedUnits: owed.get(asset) ?? 0n, heldAfterUnits: units };
    });
  let opening: StatementRow[] | undefined;
  const rows: StatementRow[] = [];
  for (const one of lines) {
    if (one.at >= input.from) opening ??= ends('opening', input.from);
    const [debit, credit] = [one.debit ?? '', one.credit ?? ''];
    const change = changeOf(one, input.customerId, suspense.get(debit) ?? 0n);
    if (SHARED.includes(one.debitKind)) add(suspense, debit, -change.fromSuspense);
    if (SHARED.includes(one.creditKind)) add(suspense, credit, one.units);
    if (change.units === 0n && change.owedUnits === 0n) continue;
    const heldAfterUnits = add(held, one.asset, change.units);
    add(owed, one.asset, change.owedUnits);
    if (one.at < input.from) continue;
    rows.push({
      ...{ line: `${one.seq}.${one.line}`, at: one.at, order: one.orderId, what: change.what, asset: one.asset },
      ...{ units: change.units, owedUnits: change.owedUnits, heldAfterUnits, entry: one.entry },
    });
  }
  return [...(opening ?? ends('opening', input.from)), ...rows, ...ends('closing', input.until)];
}

/** Accounts shared by many customers: this customer's part of them is tracked line by line. */
const SHARED: readonly string[] = SHARED_KINDS;
const HELD = ['order', 'blocked', ...SHARED];

/** @param inSuspense the part of the debited account that was booked there for this customer */
function changeOf(one: PostedFor, customerId: string, inSuspense: bigint) {
  const { debit, debitKind, credit, creditKind, units, kind } = one;
  const isOwn = (code: string | null, of: string) => of === 'receivable' && code?.split(':')[1] === customerId;
  const owedUnits = (isOwn(debit, debitKind) ? units : 0n) - (isOwn(credit, creditKind) ? units : 0n);
  const fromSuspense = !SHARED.includes(debitKind) ? 0n : units < inSuspense ? units : inSuspense;
  const left = SHARED.includes(debitKind) ? fromSuspense : HELD.includes(debitKind) ? units : 0n;
  const change = (HELD.includes(creditKind) ? units : 0n) - left;
  const other = change < 0n ? creditKind : debitKind;
  return {
    units: change,
    owedUnits,
    fromSuspense,
    what: owedUnits === 0n ? whatOf(other, kind, change) : ('owed' as const),
  };
}

function whatOf(other: string, entryKind: string, change: bigint): What {
  switch (other) {
    case 'custody':
      if (change > 0n) return entryKind === 'payout_returned' ? 'payout_returned' : 'deposit';
      return /refund/.test(entryKind) ? 'refund' : /payout/.test(entryKind) ? 'payout' : 'reversed';
    // Money out of suspense, where it had been unidentified.
    case 'suspense':
      return 'deposit';
    case 'treasury':
    case 'fx':
      return 'conversion';
    case 'fee_operator':
    case 'fee_partner':
    case 'fee_rail':
    case 'fee_chain':
    case 'tax':
    case 'rounding':
      return other;
    case 'loss':
    case 'difference':
      return 'reversed';
    default:
      return 'other';
  }
}
