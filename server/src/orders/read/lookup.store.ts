/** SQL that finds orders and deposits by any identifier. Each part uses its own index. */
import type { Tx } from '../../base/db.ts';

/** Maximum results per identifier. */
const MOST_FOUND = 50;

export interface FoundOrder {
  id: bigint;
  partnerId: bigint;
  customerId: string;
  direction: string;
  state: string;
  asset: string;
  depositUnits: bigint;
  createdAt: Date;
}

export interface FoundDeposit {
  id: bigint;
  rail: string;
  externalId: string;
  orderId: bigint | null;
  partnerId: bigint | null;
  state: string;
  asset: string;
  units: bigint;
  target: string;
  reference: string;
  why: string | null;
  seenAt: Date;
  confirmedAt: Date | null;
}

const ORDER = `id, partner_id, customer_id, direction, state, deposit_asset as asset,
  deposit_units, created_at`;
const DEPOSIT = `id, rail, external_id, order_id, partner_id, state, asset, units,
  target, reference, why, seen_at, confirmed_at`;

/**
 * The newest rows for each of these values of a column. A range of one, ordered by it, is a walk of the column's index that ends
 * with the page; for `=`, PostgreSQL may walk all rows by id instead, because it expects that a value has many (payouts.store.ts).
 */
const newestOf = (table: 'orders' | 'deposits', column: string, values: string) => `
  (select f.* from unnest(${values}::text[]) as a (given) cross join lateral (
     select * from ${table} where ${column} between a.given and a.given and ${column} <> ''
      order by ${column} desc, id desc limit ${MOST_FOUND}) f)`;

/**
 * @param input.texts the text in each spelling
 * @param input.number the text as an id, if it can be one
 * @param input.references the texts as partners' and customers' references are stored, for each partner
 */
export const ordersLike = (
  tx: Tx,
  input: {
    texts: readonly string[];
    references: readonly string[];
    number: bigint | null;
    rails: readonly string[];
  },
) =>
  tx.rows<FoundOrder>(
    `select ${ORDER} from (
       select * from orders where id = $2
       union select * from orders where deposit_rail = any($3) and deposit_target = any($1::text[])
       union ${newestOf('orders', 'merchant_reference', '$4')}
       union ${newestOf('orders', 'payer_reference', '$4')}) as found
      order by id desc limit ${MOST_FOUND}`,
    [input.texts, input.number, input.rails, input.references],
  );

export const depositOfId = (tx: Tx, id: bigint): Promise<FoundDeposit | undefined> =>
  tx.row<FoundDeposit>(`select ${DEPOSIT} from deposits where id = $1`, [id]);

/**
 * Deposits with one of these texts as their id, their id on their rail, reference or target.
 *
 * @param input.typed the texts as operators' searchable texts may be stored
 */
export const depositsLike = (
  tx: Tx,
  input: { texts: readonly string[]; number: bigint | null; typed: readonly string[]; rails: readonly string[] },
) =>
  tx.rows<FoundDeposit>(
    `select ${DEPOSIT} from deposits where id = any(array(
       select id from deposits where id = $2
       union all select id from deposits where rail = any($4) and external_id = any($1::text[])
       union all select id from ${newestOf('deposits', 'reference', '$1::text[] || $3')} as r
       union all select id from ${newestOf('deposits', 'target', '$1')} as t))
      order by id desc limit ${MOST_FOUND}`,
    [input.texts, input.number, input.typed, input.rails],
  );

/** Number of a customer's newest orders that are searched for an account. */
const MOST_SEARCHED = 2_000;

/** Ids of the newest orders that pay out to these accounts, by account, at most fifty each. */
export async function ordersOfAccounts(
  tx: Tx,
  accounts: readonly { id: bigint; customerId: string | null }[],
): Promise<Map<bigint, bigint[]>> {
  const owned = accounts.filter(({ customerId }) => customerId !== null);
  if (owned.length === 0) return new Map();
  const rows = await tx.rows<{ accountId: bigint; orderId: bigint }>(
    `select a.account_id, o.order_id from unnest($1::bigint[], $2::text[]) as a (account_id, customer_id)
      cross join lateral (
        select n.id as order_id
          from (select id, fiat_account_id from orders where customer_id = a.customer_id
                 order by created_at desc, id desc limit ${MOST_SEARCHED}) n
         where n.fiat_account_id = a.account_id order by n.id desc limit ${MOST_FOUND}) o`,
    [owned.map(({ id }) => id), owned.map(({ customerId }) => customerId)],
  );
  return new Map(
    [...Map.groupBy(rows, ({ accountId }) => accountId)].map(([id, of]) => [id, of.map(({ orderId }) => orderId)]),
  );
}
