/**
 * SQL of checkouts: the state of a link to buy or sell. An unused link has no row.
 */
import type { Tx } from '../../base/db.ts';

export interface CheckoutRow {
  phones: number;
  /** Keyed hashes of the numbers entered through it. */
  phonesNamed: Buffer[];
  quoteId: bigint | null;
  orderId: bigint | null;
  customerId: string | null;
}

const ROW = 'phones, phones_named, quote_id, order_id, customer_id';
type Link = { id: string; partnerId: string };

export const checkouts = {
  find: (tx: Tx, id: string) => tx.row<CheckoutRow>(`select ${ROW} from checkouts where id = $1`, [id]),

  /** The row, created if missing, locked until the transaction ends. */
  async lock(tx: Tx, { id, partnerId }: Link, now: Date): Promise<CheckoutRow | undefined> {
    await tx.run('insert into checkouts (id, partner_id, begun_at) values ($1, $2, $3) on conflict (id) do nothing', [
      id,
      partnerId,
      now,
    ]);
    return await tx.row<CheckoutRow>(`select ${ROW} from checkouts where id = $1 for update`, [id]);
  },

  phoneNamed: (tx: Tx, id: string, phone: Buffer) =>
    tx.run('update checkouts set phones = phones + 1, phones_named = phones_named || $2::bytea where id = $1', [
      id,
      phone,
    ]),
  /** Links of a partner with numbers that were entered, in the order of their ids. Runs with the system role. */
  phonesOf: (tx: Tx, l: { partnerId: bigint; after: string; limit: number }) =>
    tx.rows<{ id: string; customerId: string | null; phonesNamed: Buffer[] }>(
      `select id, customer_id, phones_named from checkouts
        where partner_id = $1 and id > $2 and phones_named <> '{}' order by id limit $3`,
      [l.partnerId, l.after, l.limit],
    ),
  phonesLeft: (tx: Tx, id: string, left: readonly Buffer[]) =>
    tx.run('update checkouts set phones_named = $2::bytea[] where id = $1', [id, left]),
  quoteShown: (tx: Tx, id: string, quoteId: bigint) =>
    tx.run('update checkouts set quote_id = $2 where id = $1', [id, quoteId]),
  ordered: (tx: Tx, id: string, order: { id: bigint; customerId: string }) =>
    tx.run('update checkouts set order_id = $2, customer_id = $3 where id = $1', [id, order.id, order.customerId]),
};
