/**
 * Destinations: bank accounts and addresses on chains to which a customer is paid, and whether the customer has confirmed them.
 *
 * A destination that a partner's program adds is not payable at once: a stolen key could otherwise name the thief's account and
 * have money sent there. It becomes payable when the customer confirms it with a code to the phone, or on a hosted page, or
 * when its cooling-off time has passed: long enough for customer and partner to notice. The gate reads this in the transaction
 * that submits money (`waitsUntil`); a partner that sends money to another destination than its order's needs more
 * (`isUsable`).
 *
 * An account that was added through the older wire has no row here. It does not wait at the gate, and counts as confirmed once
 * it is as old as the cooling-off time.
 *
 * Not here: bank details (index.ts, encryption.ts), the code itself (login.ts), whether money may go there at all (compliance).
 */
import { later } from '../base/clock.ts';
import type { Tx } from '../base/db.ts';
import { assert, Refusal } from '../base/errors.ts';
import { numericId } from '../base/ids.ts';
import { type DestinationRow, destinationSql as sql } from './destinations.store.ts';

export interface Destination {
  readonly id: bigint;
  readonly customerId: string;
  readonly kind: 'account' | 'address';
  /** Currency of an account. */
  readonly fiat: string | null;
  readonly chain: string | null;
  readonly address: string | null;
  /** Last characters, for display. */
  readonly hint: string;
  readonly createdAt: Date;
  /**
   * Time from which money may leave without a confirmation; null unless a partner's program added the destination under /v1.
   */
  readonly usableAt: Date | null;
  readonly confirmedAt: Date | null;
}

const HINT_CHARS = 4;

const destinationOf = (row: DestinationRow): Destination => ({
  id: row.id,
  customerId: row.customerId,
  kind: row.address === null ? 'account' : 'address',
  fiat: row.fiat,
  chain: row.chain,
  address: row.address,
  hint: row.hint ?? row.address?.slice(-HINT_CHARS) ?? '',
  createdAt: row.createdAt,
  usableAt: row.usableAt,
  confirmedAt: row.confirmedAt,
});

/**
 * Whether a partner may redirect an order's money there: the customer has confirmed it, or its cooling-off time has passed.
 *
 * @returns true, or the time from which the destination is usable
 */
export function isUsable(
  destination: Destination,
  { coolingOffMs, now }: { coolingOffMs: number; now: Date },
): true | Date {
  const { confirmedAt, usableAt, createdAt } = destination;
  const from = usableAt ?? later(createdAt, coolingOffMs);
  return confirmedAt !== null || from <= now ? true : from;
}

/**
 * Time from which a code to the customer's phone confirms a destination; undefined if that is now. A thief with a key could
 * change the phone first, so a changed phone counts only after the cooling-off time. The customer's row stays locked until `tx`
 * ends.
 */
export async function phoneCountsFrom(
  tx: Tx,
  { customerId, coolingOffMs, now }: { customerId: string; coolingOffMs: number; now: Date },
): Promise<Date | undefined> {
  const row = await tx.row<{ phoneChangedAt: Date | null }>(sql.phoneChanged, [customerId]);
  const changedAt = row?.phoneChangedAt ?? null;
  const from = changedAt === null ? now : later(changedAt, coolingOffMs);
  return from <= now ? undefined : from;
}

/** A customer's destinations, oldest first. @param input.after the last id of the previous page */
export async function destinationsOf(
  tx: Tx,
  input: { customerId: string; after: bigint; limit: number },
): Promise<Destination[]> {
  const rows = await tx.rows<DestinationRow>(sql.page, [input.customerId, input.after, input.limit]);
  return rows.map(destinationOf);
}

/** @throws Refusal 'unknown_destination', also for another customer's */
export async function destinationById(tx: Tx, input: { customerId: string; id: bigint }): Promise<Destination> {
  const row = await tx.row<DestinationRow>(sql.byId, [input.customerId, input.id]);
  if (row === undefined) throw new Refusal('unknown_destination');
  return destinationOf(row);
}

/** An address as an order or a refund names it. */
export interface NamedAddress {
  readonly customerId: string;
  readonly chain: string;
  readonly address: string;
}

const keyOf = ({ customerId, chain, address }: NamedAddress): string => `${customerId} ${chain} ${address}`;

/** @returns the id of the destination with this address; undefined if it was named through the older wire only */
export async function destinationIds(
  tx: Tx,
  named: readonly NamedAddress[],
): Promise<(address: NamedAddress) => bigint | undefined> {
  if (named.length === 0) return () => undefined;
  const asked = [named.map((one) => one.customerId), named.map((one) => one.chain), named.map((one) => one.address)];
  const rows = await tx.rows<NamedAddress & { id: bigint }>(sql.idsOf, asked);
  const ids = new Map(rows.map((row) => [keyOf(row), row.id]));
  return (address) => ids.get(keyOf(address));
}

type Added = { customer: { id: string; partnerId: bigint }; coolingOffMs: number; now: Date };

/** Adds an address on a chain, in the rail's spelling. The same address again is the same destination. */
export async function addAddress(
  tx: Tx,
  { customer, chain, address, coolingOffMs, now }: Added & { chain: string; address: string },
): Promise<Destination> {
  const values = [customer.partnerId, customer.id, null, chain, address, now, later(now, coolingOffMs), null];
  await tx.run(sql.insert, [numericId(now), ...values]);
  const row = await tx.row<DestinationRow>(sql.byAddress, [customer.id, chain, address]);
  assert(row !== undefined, 'the address was neither inserted nor found');
  return destinationOf(row);
}

/** Records that a partner's program has added this account just now. @param input.isNew false if the account existed before */
export async function noteApiAccount(
  tx: Tx,
  { customer, accountId, isNew, coolingOffMs, now }: Added & { accountId: bigint; isNew: boolean },
): Promise<Destination> {
  if (isNew) {
    const values = [customer.partnerId, customer.id, accountId, null, null, now, later(now, coolingOffMs), null];
    await tx.run(sql.insert, [accountId, ...values]);
  }
  return await destinationById(tx, { customerId: customer.id, id: accountId });
}

/** Records that the customer has added or confirmed this account on a hosted page, logged in. */
export async function noteConfirmedAccount(
  tx: Tx,
  { customer, accountId, now }: { customer: { id: string; partnerId: bigint }; accountId: bigint; now: Date },
): Promise<void> {
  await tx.run(sql.insert, [accountId, customer.partnerId, customer.id, accountId, null, null, now, now, now]);
  await tx.run(sql.confirm, [customer.id, accountId, now]);
}

/**
 * Records that the customer has confirmed a destination. An account without a row gets one.
 *
 * @throws Refusal 'unknown_destination'
 */
export async function confirmDestination(
  tx: Tx,
  { customer, id, now }: { customer: { id: string; partnerId: bigint }; id: bigint; now: Date },
): Promise<Destination> {
  const known = await destinationById(tx, { customerId: customer.id, id });
  if (known.kind === 'account') await noteConfirmedAccount(tx, { customer, accountId: id, now });
  else await tx.run(sql.confirm, [customer.id, id, now]);
  return await destinationById(tx, { customerId: customer.id, id });
}

/**
 * Time until which this customer's money may not leave for this destination without confirmation; undefined when it may leave.
 * For the gate: concerns destinations from a program that are neither confirmed nor old enough.
 */
export async function waitsUntil(
  tx: Tx,
  input: { customerId: string; fiatAccountId: bigint | null; address: string | null; now: Date },
): Promise<Date | undefined> {
  const row = await tx.row<{ usableAt: Date }>(sql.waits, [
    input.customerId,
    input.fiatAccountId,
    input.address,
    input.now,
  ]);
  return row?.usableAt;
}
