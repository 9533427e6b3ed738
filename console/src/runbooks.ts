/**
 * The section of the handbook shown beside a case, by its kind; a test finds each. Other kinds have the page that the server
 * names.
 */

const ORDERS = 'runbooks/orders.md';
const TREASURY = 'runbooks/treasury.md';
const RAILS = 'runbooks/rails.md';
const SERVER = 'runbooks/server.md';
const SESSIONS = 'sessions.md';

export interface Section {
  readonly page: string;
  /** Its heading; the whole page without one. */
  readonly heading?: string;
}

const of = (page: string, heading: string, kinds: readonly string[]): [string, Section][] =>
  kinds.map((kind) => [kind, { page, heading }]);

export const RUNBOOKS: ReadonlyMap<string, Section> = new Map([
  ...of(ORDERS, 'A payout is unknown', ['payout_unknown']),
  ...of(ORDERS, 'Two reports about one payout', ['payout_contradiction']),
  ...of(ORDERS, 'A payout was rejected or returned', ['payout_held', 'payout_returned']),
  ...of(ORDERS, 'A refund waits', [
    ...['refund_held', 'refund_destination', 'refund_destination_held', 'refund_rejected', 'refund_returned'],
    'return_confirmed',
  ]),
  ...of(ORDERS, 'Unclaimed money, and dust', ['dormant_soon', 'dormant']),
  ...of(ORDERS, 'A paid order does not progress', ['on_hold', 'overdue']),
  ...of(TREASURY, 'The treasury is short', ['treasury_short', 'refund_short']),
  ...of(TREASURY, 'A wallet is low', ['treasury_low', 'gas_short']),
  ...of(TREASURY, 'A transfer to an own address waits', ['transfer_held']),
  ...of(TREASURY, 'Money left and we did not send it', ['unexplained_debit', 'uncovered', 'unexpected_credit']),
  ...of(TREASURY, 'A deposit was reversed', ['deposit_lost', 'customer_owes']),
  ...of(TREASURY, 'Books and outside differ', [
    ...['break_missing_in_ledger', 'break_missing_outside', 'break_amount', 'break_balance'],
  ]),
  ...of(RAILS, 'A chain halted', ['rail_halted']),
  ...of(RAILS, 'A rail reports what cannot be booked', ['rail_failing']),
  ...of(RAILS, 'A rail is not well', ['rail_unread']),
  ...of(RAILS, 'A statement has a gap', ['statement_gap', 'statement_line_refused']),
  ...of(SERVER, 'Quoting is halted', ['price_halted']),
  ...of(SESSIONS, 'A recovery code was used', ['recovery_code_used']),
  ...of(SERVER, 'Partners receive no events', ['webhook_undelivered', 'webhook_off']),
]);

/** The list of kinds repeats the text that the server already gives for a case. */
const LIST_OF_KINDS = 'cases.md';

export const runbookOf = (kind: string, page: string): Section | undefined =>
  RUNBOOKS.get(kind) ?? (page === LIST_OF_KINDS ? undefined : { page });

/** The part of a page under a heading of the second level, up to the next. */
export function sectionOf(text: string, heading: string | undefined): string {
  if (heading === undefined) return text;
  const lines = text.split('\n');
  const begin = lines.indexOf(`## ${heading}`);
  if (begin === -1) return text;
  const end = lines.findIndex((line, at) => at > begin && line.startsWith('## '));
  return lines.slice(begin + 1, end === -1 ? undefined : end).join('\n');
}
