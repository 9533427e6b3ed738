/**
 * Capturing: which rows belong to one order, or to one customer. Pure.
 *
 * An order's number is in most rows about it. The rest is found by other ids in those rows: its deposit address, hashes of its
 * transactions, ids of its quote, refunds and payouts, lines of its bank statement. Every row found in any table is copied,
 * unless it is listed as left out, so a new table is copied as well.
 */
import type { Row } from './schema.ts';

/** Tables that are not multiplied, and why. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  jobs: 'done and gone by the time an order is old',
  idempotency_records: 'purged after a day',
  request_log: 'purged after some days',
  chain_blocks: 'pruned below finality',
  seals: 'made over what is generated',
  sealed_entries: 'made over what is generated',
  daily_totals: 'summed from the journal',
  daily_revenue: 'summed from the journal',
  customer_changes: 'summed from the journal',
  customer_days: 'summed from the journal',
  journal_progress: 'one row',
  daily_totals_progress: 'one row',
  order_counts: 'counted',
  order_lists: 'counted',
  deny_lists: 'a control of the sandbox',
  denied_destinations: 'a control of the sandbox',
  reconcile_balances: 'one row per wallet',
  audit: 'what operators do is not multiplied',
  servers: 'of the running server',
};

/** Columns whose values identify an order's other rows. */
const NAMES: readonly string[] = [
  'orders.quote_id',
  'orders.deposit_target',
  'orders.deposit_reference',
  'orders.payout_reference',
  'refunds.id',
  'payouts.reference',
  'own_transfers.reference',
  'chain_sends.hash',
  'chain_deposits.tx_hash',
  'chain_deposits.block_hash',
  'bank_lines.external_id',
  'outside_movements.name',
];
/** The part of a name that occurs alone elsewhere: the hash of a movement, the account of a line. */
const PART = /0x[0-9a-f]{64}/g;

export interface Captured {
  rows: Row[];
  /** Texts that differ per order. */
  names: string[];
  /** Numbers of the order's deposits, as text. */
  deposits: string[];
}

/** Transactions of the sandbox's customer and faucet are not from our wallets. */
const isOfTheSandbox = ({ table, values }: Row): boolean =>
  (table === 'chain_sends' || table === 'chain_slots') && values.get('key')?.startsWith('sandbox:') === true;

export function captureOrder(all: readonly Row[], orderId: string): Captured {
  const names = new Set([orderId]);
  const deposits = new Set<string>();
  const found = new Set<Row>();
  const rows = all.filter((row) => !isOfTheSandbox(row) && LEFT_OUT[row.table] === undefined);
  for (let size = -1; size !== found.size; ) {
    size = found.size;
    for (const row of rows) {
      if (found.has(row) || !belongs(row, names, deposits)) continue;
      found.add(row);
      if (row.table === 'deposits') deposits.add(row.values.get('id') ?? '');
      for (const [column, value] of row.values) {
        if (value === null || !NAMES.includes(`${row.table}.${column}`)) continue;
        names.add(value);
        for (const [part] of value.matchAll(PART)) names.add(part);
      }
    }
  }
  names.delete('');
  return {
    rows: rows.filter((row) => found.has(row)),
    // A name that contains another name changes with it.
    names: [...names].filter((name) => ![...names].some((other) => other !== name && name.includes(other))),
    deposits: [...deposits],
  };
}

function belongs(row: Row, names: ReadonlySet<string>, deposits: ReadonlySet<string>): boolean {
  if (row.table === 'event_feed' || row.table === 'transfers') return false; // Found by their event and entry, in `withParts`.
  for (const name of names) if (row.text.includes(name)) return true;
  const id = row.table === 'entries' ? row.values.get('id') : null;
  return id != null && [...deposits].some((deposit) => id.startsWith(`dep_${deposit}:`));
}

/** Adds the rows that belong to a captured row by its number or id. */
export function withParts(all: readonly Row[], { rows, ...rest }: Captured): Captured {
  const of = (table: string, column: string) =>
    new Set(rows.filter((row) => row.table === table).map(({ values }) => values.get(column)));
  const [events, entries] = [of('events', 'id'), of('entries', 'id')];
  const parts = all.filter(
    ({ table, values }) =>
      (table === 'event_feed' && events.has(values.get('event_id'))) ||
      (table === 'transfers' && entries.has(values.get('entry'))),
  );
  return { ...rest, rows: [...rows, ...parts] };
}

/** Rows about a customer that belong to no order. */
export function captureCustomer(
  all: readonly Row[],
  customer: { customerId: string; accountId: string },
  ofOrders: ReadonlySet<Row>,
): Captured {
  const names = [customer.customerId, customer.accountId];
  const rows = all.filter(
    (row) =>
      !ofOrders.has(row) &&
      LEFT_OUT[row.table] === undefined &&
      !isOfTheSandbox(row) &&
      row.table !== 'event_feed' &&
      names.some((name) => row.text.includes(name)),
  );
  return withParts(all, { rows, names, deposits: [] });
}
