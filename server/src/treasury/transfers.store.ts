/** SQL of transfers to own addresses: tables treasury_addresses and treasury_transfers. */
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';

export interface OwnAddress {
  id: bigint;
  rail: string;
  address: string;
  label: string;
  registeredBy: string;
  registeredAt: Date;
  usableAt: Date;
  endedAt: Date | null;
  endedBy: string | null;
}

export interface WalletTransfer {
  id: bigint;
  key: string;
  addressId: bigint;
  rail: string;
  wallet: string;
  target: string;
  asset: AssetCode;
  units: bigint;
  people: string[];
  reason: string;
  state: 'created' | 'submitted' | 'settled' | 'failed' | 'cancelled';
  why: string | null;
  reference: string | null;
  createdAt: Date;
  endedAt: Date | null;
}

const ADDRESS = 'id, rail, address, label, registered_by, registered_at, usable_at, ended_at, ended_by';
const TRANSFER =
  'id, key, address_id, rail, wallet, target, asset, units, people, reason, state, why, reference, created_at, ended_at';

/** Maximum per installation: each address is read at every comparison with the chain. */
export const MAX_ADDRESSES = 100;

/** Locks until `tx` ends, so that two registrations cannot both take the last free place. */
export const lockAddresses = (tx: Tx): Promise<unknown> =>
  tx.run(`select pg_advisory_xact_lock(hashtext('treasury_addresses'))`);

export const addresses = (tx: Tx): Promise<OwnAddress[]> =>
  tx.rows<OwnAddress>(`select ${ADDRESS} from treasury_addresses order by id limit ${MAX_ADDRESSES}`);

export const addressAt = (tx: Tx, rail: string, address: string): Promise<OwnAddress | undefined> =>
  tx.row<OwnAddress>(`select ${ADDRESS} from treasury_addresses where rail = $1 and address = $2`, [rail, address]);

/**
 * Whether customers' money was, or is to be, paid to an address. Reads every order and payout without an index: only for rare
 * decisions of operators.
 */
export const isCustomers = async (tx: Tx, at: { rail: string; address: string }): Promise<boolean> =>
  (await tx.row(
    `select from (
       select 1 from orders where payout_rail = $1 and payout_address = $2
       union all select 1 from orders where deposit_rail = $1 and refund_address = $2
       union all select 1 from payouts where rail = $1 and address = $2) as found limit 1`,
    [at.rail, at.address],
  )) !== undefined;

/** Until `tx` ends, the address can be neither ended nor registered again. */
export const shareAddress = (tx: Tx, id: bigint): Promise<OwnAddress | undefined> =>
  tx.row<OwnAddress>(`select ${ADDRESS} from treasury_addresses where id = $1 for share`, [id]);

/** Registers an address, or one that was ended again. @returns undefined if it is already registered */
export const register = (
  tx: Tx,
  a: { rail: string; address: string; label: string; by: string; now: Date; usableAt: Date },
): Promise<{ id: bigint } | undefined> =>
  tx.row<{ id: bigint }>(
    `insert into treasury_addresses as t (rail, address, label, registered_by, registered_at, usable_at)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (rail, address) do update set label = excluded.label, registered_by = excluded.registered_by,
       registered_at = excluded.registered_at, usable_at = excluded.usable_at, ended_at = null, ended_by = null
       where t.ended_at is not null
     returning id`,
    [a.rail, a.address, a.label, a.by, a.now, a.usableAt],
  );

/** @returns the number of addresses that were ended */
export const endAddress = (tx: Tx, a: { id: bigint; by: string; now: Date }): Promise<number> =>
  tx.run('update treasury_addresses set ended_at = $2, ended_by = $3 where id = $1 and ended_at is null', [
    ...[a.id, a.now, a.by],
  ]);

export async function write(
  tx: Tx,
  t: Pick<WalletTransfer, 'addressId' | 'rail' | 'wallet' | 'target' | 'asset' | 'units' | 'people' | 'reason'> & {
    now: Date;
  },
): Promise<WalletTransfer> {
  const [row] = await tx.rows<WalletTransfer>(
    `insert into treasury_transfers (address_id, rail, wallet, target, asset, units, people, reason, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning ${TRANSFER}`,
    [t.addressId, t.rail, t.wallet, t.target, t.asset, t.units, t.people, t.reason, t.now],
  );
  return row as WalletTransfer;
}

export const hasTransfer = async (tx: Tx, addressId: bigint): Promise<boolean> =>
  (await tx.row('select from treasury_transfers where address_id = $1 limit 1', [addressId])) !== undefined;

export const findTransfer = (tx: Tx, key: string): Promise<WalletTransfer | undefined> =>
  tx.row<WalletTransfer>(`select ${TRANSFER} from treasury_transfers where key = $1`, [key]);

export const lockTransfer = (tx: Tx, key: string): Promise<WalletTransfer | undefined> =>
  tx.row<WalletTransfer>(`select ${TRANSFER} from treasury_transfers where key = $1 for update`, [key]);

/** Transfers, newest first. */
export const listTransfers = (tx: Tx, q: { below?: bigint | undefined; limit: number }): Promise<WalletTransfer[]> =>
  tx.rows<WalletTransfer>(
    `select ${TRANSFER} from treasury_transfers where $1::bigint is null or id < $1 order by id desc limit $2`,
    [q.below ?? null, q.limit],
  );

/** Records the state of a transfer that is under way. */
export const noteTransfer = (
  tx: Tx,
  key: string,
  n: { state: 'created' | 'submitted'; why: string | null },
): Promise<number> =>
  tx.run(
    `update treasury_transfers set state = $2, why = $3
      where key = $1 and ended_at is null and (state, why) is distinct from ($2, $3)`,
    [key, n.state, n.why],
  );

export const endTransfer = (
  tx: Tx,
  key: string,
  e: { state: 'settled' | 'failed' | 'cancelled'; why: string | null; reference: string | null; now: Date },
): Promise<number> =>
  tx.run(
    `update treasury_transfers set state = $2, why = $3, reference = $4, ended_at = $5 where key = $1 and ended_at is null`,
    [key, e.state, e.why, e.reference, e.now],
  );
