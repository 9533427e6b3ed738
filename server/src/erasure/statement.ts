/**
 * The statement about an erasure: how many rows of each kind were erased, and what remains, why and until when. What was erased is
 * stored with the erasure. What remains is counted in the tables each time, so a statement is true when it is read.
 */
import { later } from '../base/clock.ts';
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import { moneyOf } from '../orders/index.ts';
import { type Erased, erasureOf } from './erase.ts';

export interface Remains {
  readonly kind: string;
  /** Null: not counted. */
  readonly count: number | null;
  /** Whether it still has names, numbers or texts of the customer. */
  readonly personal: boolean;
  readonly why: string;
  /** Until when it has to be kept, or is kept; null: without an end. */
  readonly until: Date | null;
}

export interface Statement extends Erased {
  readonly customerId: string;
  readonly erased: readonly { readonly kind: string; readonly count: number }[];
  readonly remains: readonly Remains[];
}

const DAY_MS = 86_400_000;
const LOG_KEPT_MS = 30 * DAY_MS;

const OF_ORDERS = 'order_id = any($2::bigint[])';
const BOOKS = 'The law requires the books: amounts, accounts of ours, addresses and times. They are never deleted.';
const EXPLAINS = 'It explains what happened to the money, without names, numbers and typed texts.';
const FILES =
  'Files of a bank without an API are records of the books and are kept unchanged, with names and account numbers.';

interface Kind {
  readonly kind: string;
  readonly why: string;
  readonly personal?: true;
  /** Counts rows, with the newest time for a kind under retention. $1: customer, $2: orders, $3: deposits, $4: payouts, $5: subjects, $6: shared deposits, $7: deposits of cancelled refunds. */
  readonly text: string;
}

/** All values are used in each statement, so that each has the same parameters. */
const counted = (from: string, newest = 'null::timestamptz'): string =>
  `with given as (select $1::text, $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::bigint[])
    select count(*)::int as count, ${newest} as newest ${from}`;

const OWNERS = `owner = 'customer:' || $1 or owner in (select 'deposit:' || id from unnest($3::bigint[]) as id)`;

const KINDS: readonly Kind[] = [
  {
    kind: 'customer',
    why: 'Orders and the books refer to its id. Level, country and times stay, and a block.',
    text: counted('from customers where id = $1'),
  },
  { kind: 'orders', why: BOOKS, text: counted('from orders where customer_id = $1') },
  { kind: 'deposits', why: BOOKS, text: counted('from deposits where id = any($3::bigint[])') },
  { kind: 'refunds', why: BOOKS, text: counted(`from refunds where 'refund:' || id = any($5::text[])`) },
  {
    kind: 'shared_deposits',
    why: 'Another customer has a part of them. What is known of them, such as their payer, is erased with the last of their customers.',
    personal: true,
    text: counted('from deposits where id = any($6::bigint[])'),
  },
  {
    kind: 'deposits_of_cancelled_refunds',
    why: 'A refund of them to the customer was cancelled. What is known of them, such as their payer, is erased with their customers, or by time if they have none.',
    personal: true,
    text: counted(`from deposits d where d.id = any($7::bigint[])
      and not exists (select from deposit_erasures e where e.deposit_id = d.id)`),
  },
  { kind: 'payouts', why: BOOKS, text: counted('from payouts where id = any($4::text[])') },
  { kind: 'entries', why: BOOKS, text: counted(`from entries where ${OF_ORDERS}`) },
  {
    kind: 'payouts_in_files',
    why: FILES,
    personal: true,
    text: counted('from manual_payouts where key = any($4::text[])'),
  },
  {
    kind: 'lines_of_statement_files',
    why: FILES,
    personal: true,
    text: counted(`from manual_lines l where exists (select from deposits d
      where d.id = any($3::bigint[]) and d.rail = l.rail and d.external_id = l.external_id)
      or exists (select from payouts p where p.id = any($4::text[]) and p.rail = l.rail and p.reference = l.external_id)`),
  },
  { kind: 'order_history', why: EXPLAINS, text: counted(`from order_history where ${OF_ORDERS}`) },
  { kind: 'events', why: EXPLAINS, text: counted('from events where subject = any($5::text[])') },
  { kind: 'decisions', why: EXPLAINS, text: counted(`from decisions where ${OF_ORDERS}`) },
  { kind: 'approvals', why: EXPLAINS, text: counted(`from approvals where ${OF_ORDERS}`) },
  { kind: 'cases', why: EXPLAINS, text: counted(`from cases where subject = any($5::text[]) or ${OF_ORDERS}`) },
  { kind: 'address_hits', why: EXPLAINS, text: counted(`from address_hits where ${OWNERS}`) },
  {
    kind: 'audit',
    why: 'Who did what and when must stay provable. It has no personal data of the customer.',
    text: counted('from audit where subject = any($5::text[])'),
  },
];

/** These have a retention time of their own, from the newest decision. */
const DECIDED: readonly Kind[] = [
  {
    kind: 'sanctions_comparisons',
    why: 'The law requires that screening can be shown: versions of rules and lists, entries that were found, without the names.',
    text: counted(`from name_screenings where ${OWNERS}`, 'max(greatest(first_at, ended_at))'),
  },
  {
    kind: 'sanctions_decisions',
    why: 'The law requires decisions about hits: the entry of the list, its score, who decided and when, without the names.',
    text: counted(`from sanctions_hits where ${OWNERS}`, 'max(greatest(found_at, decided_at))'),
  },
];

const BLIND_INDEXES = counted(`from (select from customers where id = $1 and phone_index is not null
  union all select from customer_details where customer_id = $1 and identity_index is not null
  union all select from compared_documents where customer_id = $1
  union all select from fiat_accounts where (customer_id = $1 or sender_of = any($3::bigint[])) and number_index is not null
  union all select from submission_files where customer_id = $1) as found`);

/**
 * @param afterDays the retention time that the law requires
 * @throws Refusal 'unknown_customer'
 */
export async function erasureStatement(
  tx: Tx,
  s: { customerId: string; afterDays: number },
): Promise<Statement | undefined> {
  const { customerId } = s;
  const erasure = await erasureOf(tx, customerId);
  if (erasure === undefined) return undefined;
  const { orders, deposits, refunds, payouts, shared, ofCancelled } = await moneyOf(tx, customerId);
  const cases = await tx.rows<{ id: bigint }>(
    `select id from cases where subject = 'customer:' || $1 or order_id = any($2::bigint[])`,
    [customerId, orders],
  );
  const subjects = [
    ...cases.map(({ id }) => `case:${id}`),
    `customer:${customerId}`,
    ...orders.map((id) => `order:${id}`),
    ...deposits.map((id) => `deposit:${id}`),
    ...refunds.map((id) => `refund:${id}`),
    ...payouts.map((id) => `payout:${id}`),
  ];
  const values = [customerId, orders, deposits, payouts, subjects, shared, ofCancelled];
  const count = async ({ text }: Pick<Kind, 'text'>): Promise<{ count: number; newest: Date | null }> => {
    const row = await tx.row<{ count: number; newest: Date | null }>(text, values);
    if (row === undefined) throw new Refusal('unknown_customer');
    return row;
  };
  const remains: Remains[] = [];
  for (const { text, personal = false, ...kind } of KINDS)
    remains.push({ ...kind, personal, count: (await count({ text })).count, until: null });
  for (const { text, personal = false, ...kind } of DECIDED) {
    const { count: rows, newest } = await count({ text });
    remains.push({ ...kind, personal, count: rows, until: newest && later(newest, s.afterDays * DAY_MS) });
  }
  remains.push({
    ...{ kind: 'blind_indexes', personal: false, until: null, count: (await count({ text: BLIND_INDEXES })).count },
    why: 'Indexes of phone, document, accounts and files are erased with their values; those in decisions and the audit too.',
  });
  return {
    ...{ customerId, ...erasure, erased: await erasedBy(tx, customerId) },
    remains: [
      ...remains.filter(({ kind, count: rows }) => rows !== 0 || kind === 'blind_indexes'),
      ...passing(erasure),
    ],
  };
}

/** What ends by itself, or by the operator's own rule. */
const passing = ({ erasedAt, backupsEndAt }: Erased): Remains[] => [
  {
    ...{ kind: 'request_log', count: null, personal: false, until: erasedAt && later(erasedAt, LOG_KEPT_MS) },
    why: 'Lines of requests name the customer’s id. Each is deleted after thirty days.',
  },
  {
    ...{ kind: 'backups', count: null, personal: true, until: backupsEndAt },
    why: 'Backups and archived log from before the erasure hold the data and its key, until you delete the last of them.',
  },
  {
    ...{ kind: 'erasure_list', count: 1, personal: false, until: null },
    why: 'The customer’s id, outside the database, so that a restore is followed by the erasure.',
  },
];

async function erasedBy(tx: Tx, customerId: string): Promise<Statement['erased']> {
  const row = await tx.row<{ erased: Record<string, number> | null }>(
    'select erased from erasures where customer_id = $1',
    [customerId],
  );
  return Object.entries(row?.erased ?? {})
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => ({ kind, count }))
    .toSorted((one, other) => (one.kind < other.kind ? -1 : 1));
}
