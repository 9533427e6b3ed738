/**
 * Addresses named for orders since a time, which a containment holds. Accounts are not included, because they belong to
 * customers.
 */
import type { Tx } from '../../base/db.ts';
import { firstIdAt } from '../../base/ids.ts';

/** An address named for an order, as the order stores it. */
export interface NamedAddress {
  orderId: bigint;
  address: string;
  at: Date;
}

const sql = {
  // An address to which an earlier order of the same customer paid is not new. An order's refund address may have been changed
  // since, unless the order is unchanged.
  created: `select o.id as order_id, given.address, o.created_at as at
    from orders o cross join lateral (select o.payout_address union select o.refund_address) as given (address)
    where o.partner_id = $1 and o.id >= $2 and given.address is not null
      and not exists (select from orders e where e.customer_id = o.customer_id and e.id < $2
        and (e.payout_address = given.address or (e.refund_address = given.address and e.updated_at < $3)))`,
  of: `select id as order_id, refund_address as address, updated_at as at from orders
      where partner_id = $1 and id = any($2) and refund_address is not null
    union select order_id, address, updated_at from refunds
      where partner_id = $1 and order_id = any($2) and address is not null`,
  changed: `select o.id from orders o where o.partner_id = $1 and o.id < $2
      and o.updated_at >= $3 and o.refund_address is not null
    union select r.order_id from refunds r
      where r.partner_id = $1 and r.order_id < $2 and r.updated_at >= $3 and r.address is not null`,
} as const;

/** Addresses of orders created since a time, except addresses that an earlier order of the same customer had. */
export const addressesSince = (tx: Tx, input: { partnerId: bigint; since: Date }): Promise<NamedAddress[]> =>
  tx.rows<NamedAddress>(sql.created, [input.partnerId, firstIdAt(input.since), input.since]);

/** On-chain refund addresses of these orders. */
export const refundAddressesOf = (
  tx: Tx,
  input: { partnerId: bigint; orders: readonly bigint[] },
): Promise<NamedAddress[]> => tx.rows<NamedAddress>(sql.of, [input.partnerId, input.orders]);

/** Older orders whose refund address may have been changed since: for a time when such changes were not recorded. */
export const perhapsNamedSince = async (tx: Tx, input: { partnerId: bigint; since: Date }): Promise<bigint[]> =>
  (await tx.rows<{ id: bigint }>(sql.changed, [input.partnerId, firstIdAt(input.since), input.since])).map(
    ({ id }) => id,
  );
