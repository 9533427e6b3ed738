/**
 * Statement of a customer: deposits, payouts, fees and refunds of all their orders within a time span, with the amounts we held
 * for them and the amounts they owed at both ends. Every line is a line of the journal, so opening plus lines equals closing.
 *
 * A page costs its lines: it begins with the stored sums of what the customer had before it (ledger/customers.ts). Lines are in order of
 * time, those of one instant in order of posting.
 *
 * Held for a customer is the balance of their orders' accounts, its part blocked by law, and their orders' money in suspense.
 * Unidentified money in suspense that was later assigned to an order counts from then on. A conversion takes one asset and
 * gives another.
 */
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import type { AssetCode } from '../base/money.ts';
import {
  type HadBefore,
  HELD_KINDS,
  hadBefore,
  longReport,
  type Place,
  type PostedFor,
  placeOf,
  postedFor,
  SHARED_KINDS,
} from '../ledger/index.ts';

/** A span with more lines has no totals: each of them is read for these. */
const MOST_TOTALLED = 5_000;
/** Entries read at once for totals. */
const CHUNK_ENTRIES = 1_000;

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

export interface StatementPage {
  /** Oldest first: opening rows, lines, closing rows. Opening and closing have one row per asset under one cursor, on one page. */
  lines: StatementRow[];
  /** Of the last line, if there are more. */
  next: string | null;
  /** All rows of the span, for totals: with the first page only, and null for a span with very many lines. */
  all: StatementRow[] | null;
}

/**
 * A page of a statement.
 *
 * @param input.after `line` of the row before the page; without it the page is the first
 * @param input.mostTotalled a span with more lines has no `all`
 * @throws Refusal 'malformed_field' if `after` is not a line of this statement
 */
export async function customerStatement(
  tx: Tx,
  input: {
    customerId: string;
    from: Date;
    until: Date;
    after?: string | undefined;
    limit: number;
    mostTotalled?: number;
  },
): Promise<StatementPage> {
  const { customerId, from, until, after, limit, mostTotalled = MOST_TOTALLED } = input;
  if (after === 'closing') return { lines: [], next: null, all: null };
  const isLine = after !== undefined && after !== 'opening';
  const begin = isLine ? await placeIn(tx, after, input) : { at: from, seq: 0n };
  // Right after an upgrade, the entries that no sum counts yet may be all there are.
  await longReport(tx);
  const standing = standingOf(await hadBefore(tx, customerId, begin));
  const opening = after === undefined ? ends('opening', from, standing) : [];
  const rows: StatementRow[] = [];
  let next: Place | undefined = begin;
  const readOn = async (most: number) => {
    const posted: PostedFor[] = next === undefined ? [] : await postedFor(tx, customerId, { from: next, until, most });
    const last = posted.at(-1);
    const isEnd = last === undefined || new Set(posted.map(({ seq }) => seq)).size < most;
    next = isEnd ? undefined : { at: last.at, seq: last.seq + 1n };
    rows.push(...linesOf(posted, customerId, standing));
  };
  // Of the entry of `after`, lines up to it are on the page before.
  await readOn(Math.ceil(limit / 2) + 2);
  if (isLine) {
    const before = rows.findIndex(({ line }) => line === after) + 1;
    if (before === 0) throw unknownLine();
    rows.splice(0, before);
  }
  const most = Math.max(0, limit - opening.length);
  while (next !== undefined && rows.length <= most) await readOn(limit + 2);
  if (after === undefined) while (next !== undefined && rows.length <= mostTotalled) await readOn(CHUNK_ENTRIES);
  const isWhole = next === undefined;
  const closing = isWhole ? ends('closing', until, standing) : [];
  const lines = [...opening, ...rows.slice(0, most)];
  const isLast = isWhole && rows.length <= most && (lines.length < limit || closing.length === 0);
  if (isLast) lines.push(...closing);
  const isTotalled = after === undefined && isWhole && rows.length <= mostTotalled;
  return {
    lines,
    next: isLast ? null : (lines.at(-1)?.line ?? null),
    all: isTotalled ? [...opening, ...rows, ...closing] : null,
  };
}

const unknownLine = () => new Refusal('malformed_field', { fields: { after: 'must be a line of this statement' } });
const LARGEST_SEQ = 2n ** 63n - 1n;

/** The place of the entry of a line, within the span. */
async function placeIn(tx: Tx, line: string, { from, until }: { from: Date; until: Date }): Promise<Place> {
  const seq = BigInt(line.split('.')[0] ?? '');
  const place = seq > LARGEST_SEQ ? undefined : await placeOf(tx, seq);
  if (place === undefined || place.at < from || place.at >= until) throw unknownLine();
  return place;
}

/** What we hold for a customer and what they owe, at a place in their statement. `linesOf` moves it on. */
export interface Standing {
  held: Map<AssetCode, bigint>;
  owed: Map<AssetCode, bigint>;
}

/** Pure. */
export const standingOf = (had: readonly HadBefore[]): Standing => ({
  held: new Map(had.map(({ asset, heldUnits }) => [asset, heldUnits])),
  owed: new Map(had.map(({ asset, owedUnits }) => [asset, owedUnits])),
});

/** Pure. One row for each asset that the customer ever had or owed. */
export const ends = (what: 'opening' | 'closing', at: Date, { held, owed }: Standing): StatementRow[] =>
  [...held.keys()].sort().map((asset) => {
    const units = held.get(asset) ?? 0n;
    const of = { line: what, at, order: null, what, asset, entry: null };
    return { ...of, units, owedUnits: owed.get(asset) ?? 0n, heldAfterUnits: units };
  });

/** The lines that change what the customer has. @param standing what they had before; afterwards, what they have then */
export function linesOf(posted: readonly PostedFor[], customerId: string, standing: Standing): StatementRow[] {
  const add = (to: Map<AssetCode, bigint>, asset: AssetCode, units: bigint): bigint => {
    const sum = (to.get(asset) ?? 0n) + units;
    to.set(asset, sum);
    return sum;
  };
  return posted.flatMap((one): StatementRow[] => {
    const { isAbout, units, owedUnits, what } = changeOf(one, customerId);
    if (!isAbout) return [];
    const heldAfterUnits = add(standing.held, one.asset, units);
    add(standing.owed, one.asset, owedUnits);
    if (units === 0n && owedUnits === 0n) return [];
    return [
      {
        ...{ line: `${one.seq}.${one.line}`, at: one.at, order: one.orderId, what, asset: one.asset },
        ...{ units, owedUnits, heldAfterUnits, entry: one.entry },
      },
    ];
  });
}

const HELD: readonly string[] = HELD_KINDS;
const SHARED: readonly string[] = SHARED_KINDS;

/** Of an account that many customers share, a line takes only the customer's own part: the rest was nobody's until then. */
function changeOf({ debit, debitKind, credit, creditKind, units, ownUnits, kind }: PostedFor, customerId: string) {
  const owes = (code: string, of: string) => of === 'receivable' && code.split(':')[1] === customerId;
  const [isLent, isRepaid] = [owes(debit, debitKind), owes(credit, creditKind)];
  const owedUnits = (isLent ? units : 0n) - (isRepaid ? units : 0n);
  const left = SHARED.includes(debitKind) ? ownUnits : HELD.includes(debitKind) ? units : 0n;
  const change = (HELD.includes(creditKind) ? units : 0n) - left;
  return {
    isAbout: isLent || isRepaid || HELD.includes(debitKind) || HELD.includes(creditKind),
    units: change,
    owedUnits,
    what: owedUnits === 0n ? whatOf(change < 0n ? creditKind : debitKind, kind, change) : ('owed' as const),
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
