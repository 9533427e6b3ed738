/** SQL of return_links, through which a customer confirms where a deposit is refunded (migrations/0006_orders.sql). */
import type { Tx } from '../../base/db.ts';

export interface ReturnLink {
  id: string;
  depositId: bigint;
  partnerId: bigint;
  customerId: string;
  madeBy: string;
  madeAt: Date;
  expiresAt: Date;
  /** When a newer link replaced it; null if none did. */
  replacedAt: Date | null;
  /** In the rail's spelling, like the next one. */
  enteredAddress: string | null;
  confirmedAddress: string | null;
  confirmedAt: Date | null;
  /** Time of the login with which it was confirmed. */
  loggedInAt: Date | null;
}

const COLUMNS = `id, deposit_id, partner_id, customer_id, made_by,
  made_at, expires_at, replaced_at, entered_address,
  confirmed_address, confirmed_at, logged_in_at`;

export const returnLinks = {
  /** Marks a deposit's links as replaced before a new one is created. */
  replace: (tx: Tx, depositId: bigint, now: Date) =>
    tx.run('update return_links set replaced_at = $2 where deposit_id = $1 and replaced_at is null', [depositId, now]),

  insert: (
    tx: Tx,
    link: Pick<ReturnLink, 'id' | 'depositId' | 'partnerId' | 'customerId' | 'madeBy' | 'madeAt' | 'expiresAt'>,
  ) =>
    tx.run(
      `insert into return_links (id, deposit_id, partner_id, customer_id, made_by, made_at, expires_at)
        values ($1, $2, $3, $4, $5, $6, $7)`,
      [link.id, link.depositId, link.partnerId, link.customerId, link.madeBy, link.madeAt, link.expiresAt],
    ),

  find: (tx: Tx, id: string) => tx.row<ReturnLink>(`select ${COLUMNS} from return_links where id = $1`, [id]),
  lock: (tx: Tx, id: string) =>
    tx.row<ReturnLink>(`select ${COLUMNS} from return_links where id = $1 for update`, [id]),

  enter: (tx: Tx, id: string, address: string | null) =>
    tx.run('update return_links set entered_address = $2 where id = $1', [id, address]),
  confirm: (tx: Tx, id: string, { address, loggedInAt, now }: { address: string; loggedInAt: Date; now: Date }) =>
    tx.run(
      'update return_links set confirmed_address = $2, confirmed_at = $3, logged_in_at = $4 where id = $1 and confirmed_at is null',
      [id, address, now, loggedInAt],
    ),

  /** All links of a deposit, oldest first. There are few, because an operator creates each. */
  ofDeposit: (tx: Tx, depositId: bigint) =>
    tx.rows<ReturnLink>(`select ${COLUMNS} from return_links where deposit_id = $1 order by made_at, id`, [depositId]),

  /** All links of an order's deposits, oldest first. */
  ofOrder: (tx: Tx, orderId: bigint) =>
    tx.rows<ReturnLink>(
      `select ${COLUMNS} from return_links where deposit_id in (select d.id from deposits d where d.order_id = $1)
        order by made_at, id`,
      [orderId],
    ),

  /** The valid link of a deposit, if its customer has confirmed through it. */
  confirmedFor: (tx: Tx, depositId: bigint) =>
    tx.row<ReturnLink>(
      `select ${COLUMNS} from return_links where deposit_id = $1 and replaced_at is null and confirmed_at is not null`,
      [depositId],
    ),

  /** Deposits of an order whose customer has confirmed the refund address. */
  confirmedOf: async (tx: Tx, orderId: bigint): Promise<ReadonlySet<bigint>> =>
    new Set(
      (
        await tx.rows<{ id: bigint }>(
          `select l.deposit_id as id from deposits d join return_links l on l.deposit_id = d.id
            where d.order_id = $1 and l.replaced_at is null and l.confirmed_at is not null`,
          [orderId],
        )
      ).map(({ id }) => id),
    ),
};
