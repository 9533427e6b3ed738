/**
 * The table of `npm run reconcile`: every wallet with both balances, then every item on which they differ, with its names. Pure.
 */
import { formatUnits } from '../base/money.ts';
import type { BalanceRow, ItemRow } from './store.ts';

export interface Shown {
  rail: string;
  balances: readonly (BalanceRow & { decimals: number })[];
  items: readonly ItemRow[];
  /** Why the rail could not be compared. */
  failed?: string;
}

const HEAD = ['rail', 'wallet', 'asset', 'ledger', 'outside', 'difference', 'in transit', 'unmatched'];
/** Index of the first numeric column; numbers are right-aligned. */
const NUMBERS = 3;
/** Maximum number of names per item. */
const MOST_NAMES = 6;

export function reconciledTable(rails: readonly Shown[]): string {
  const places = new Map(rails.flatMap(({ balances }) => balances.map((row) => [row.asset, row.decimals])));
  const rows = rails.flatMap(({ rail, balances, items }) => balances.map((row) => [rail, ...cells(row, items)]));
  const lines = [HEAD, ...rows];
  const widths = HEAD.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  const padded = lines.map((line) =>
    line
      .map((cell, column) => (column < NUMBERS ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
  const items = rails.flatMap(({ items: of }) => of);
  const failures = rails.flatMap(({ rail, failed }) =>
    failed === undefined ? [] : [`${rail}: could not be compared: ${failed}`],
  );
  return `${[
    ...padded,
    '',
    ...items.map((item) => described(item, places.get(item.asset) ?? 0)),
    ...failures,
    verdict(items, failures.length),
  ].join('\n')}\n`;
}

function cells(row: BalanceRow & { decimals: number }, items: readonly ItemRow[]): string[] {
  const shown = (units: bigint): string => formatUnits(units, row.decimals);
  const breaks = items.filter(({ wallet, asset, transit }) => wallet === row.wallet && asset === row.asset && !transit);
  const outside = row.outsideUnits;
  return [
    row.wallet,
    row.asset,
    shown(row.ledgerUnits),
    outside === null ? 'not asked' : shown(outside),
    outside === null ? '' : shown(outside - row.ledgerUnits),
    shown(row.transitUnits),
    String(breaks.length),
  ];
}

function described(item: ItemRow, decimals: number): string {
  const { id, rail, wallet, asset, kind, transit, why, names } = item;
  const shown = (units: bigint): string => formatUnits(units, decimals);
  const named =
    names.length > MOST_NAMES ? [...names.slice(0, MOST_NAMES), `and ${names.length - MOST_NAMES} more`] : names;
  return `${transit === null ? 'BREAK' : 'in transit'} ${id} ${kind} ${rail} ${wallet}: ${shown(item.outsideUnits)} outside, ${shown(item.ledgerUnits)} in the books, ${asset}: ${transit ?? why} [${named.join(' ')}]`;
}

function verdict(items: readonly ItemRow[], failures: number): string {
  const breaks = items.filter(({ transit }) => transit === null).length;
  const waiting = items.length - breaks;
  const transit = waiting === 0 ? '' : `, ${waiting} in transit`;
  if (breaks > 0) return `${breaks} ${breaks === 1 ? 'break' : 'breaks'}${transit}.`;
  return failures > 0 ? `Not everything could be compared${transit}.` : `Books and outside agree${transit}.`;
}
