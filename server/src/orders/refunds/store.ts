/**
 * SQL of refunds. Constraints in the tables limit what a deposit may refund (migrations/0006_orders.sql).
 */
import type { Tx } from '../../base/db.ts';
import { assert } from '../../base/errors.ts';
import type { DepositRow } from '../deposits/store.ts';
import * as depositStore from '../deposits/store.ts';
import type { Order } from '../store.ts';
import * as store from '../store.ts';

export type RefundState =
  /** No destination is named yet. */
  | 'needs_destination'
  | 'screening'
  /** Screening found a hit on the destination: an operator decides, or another destination is named. */
  | 'held'
  /** A payout exists and the rail has not accepted it yet; then `submitted`. */
  | 'created'
  | 'submitted'
  | 'settled'
  /** The rail rejected it: the money is still on its account. */
  | 'rejected'
  /** It was paid and returned: the money is in suspense. */
  | 'returned'
  | 'cancelled';

export interface Refund {
  id: bigint;
  depositId: bigint;
  orderId: bigint | null;
  partnerId: bigint | null;
  /** 'payout': a returned payout that is paid again for its order. */
  purpose: 'refund' | 'payout';
  rail: string;
  asset: string;
  /** Amount of the deposit; fee kept; amount sent: gross = cost + net. */
  grossUnits: bigint;
  costUnits: bigint;
  netUnits: bigint;
  /** The account from which it leaves: the order's, or suspense. */
  source: 'order' | 'suspense';
  why: string;
  requestedBy: string;
  fiatAccountId: bigint | null;
  address: string | null;
  state: RefundState;
  attempt: number;
  /** The payout of its newest attempt. */
  key: string | null;
  createdAt: Date;
  updatedAt: Date;
  settledAt: Date | null;
}

const COLUMNS = `id, deposit_id, order_id, partner_id, purpose, rail, asset,
  gross_units, cost_units, net_units, source, why, requested_by,
  fiat_account_id, address, state, attempt, key, created_at, updated_at,
  settled_at`;

export async function insertRefund(tx: Tx, refund: Refund): Promise<Refund> {
  const row = await tx.row<Refund>(
    `insert into refunds (id, deposit_id, order_id, partner_id, purpose, rail, asset, gross_units, cost_units, net_units,
       source, why, requested_by, fiat_account_id, address, state, attempt, key, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $19)
     returning ${COLUMNS}`,
    [
      refund.id,
      refund.depositId,
      refund.orderId,
      refund.partnerId,
      refund.purpose,
      refund.rail,
      refund.asset,
      refund.grossUnits,
      refund.costUnits,
      refund.netUnits,
      refund.source,
      refund.why,
      refund.requestedBy,
      refund.fiatAccountId,
      refund.address,
      refund.state,
      refund.attempt,
      refund.key,
      refund.createdAt,
    ],
  );
  assert(row !== undefined, 'the insert of a refund returned no row');
  return row;
}

export const findRefund = (tx: Tx, id: bigint): Promise<Refund | undefined> =>
  tx.row<Refund>(`select ${COLUMNS} from refunds where id = $1`, [id]);

export interface LockedRefund {
  refund: Refund;
  deposit: DepositRow;
  order: Order | undefined;
}

/** A refund with its order and deposit, locked in this order: order, deposit, refund. */
export async function lockRefund(tx: Tx, id: bigint): Promise<LockedRefund | undefined> {
  const known = await findRefund(tx, id);
  if (known === undefined) return undefined;
  const order = known.orderId === null ? undefined : await store.lock(tx, known.orderId);
  const deposit = await depositStore.lockDepositById(tx, known.depositId);
  const refund = await tx.row<Refund>(`select ${COLUMNS} from refunds where id = $1 for update`, [id]);
  assert(deposit !== undefined && refund !== undefined, `refund ${id} or its deposit has disappeared`);
  return { refund, deposit, order };
}

export const refundsOf = (tx: Tx, orderId: bigint): Promise<Refund[]> =>
  tx.rows<Refund>(`select ${COLUMNS} from refunds where order_id = $1 order by created_at, id`, [orderId]);

export const refundsOfDeposit = (tx: Tx, depositId: bigint): Promise<Refund[]> =>
  tx.rows<Refund>(`select ${COLUMNS} from refunds where deposit_id = $1 order by created_at, id`, [depositId]);

/** The refunds of these deposits that wait to be screened, as job subjects. */
export const screeningRefunds = async (tx: Tx, depositIds: readonly string[]): Promise<string[]> => {
  const rows = await tx.rows<{ id: bigint }>(
    `select id from refunds where deposit_id = any($1::bigint[]) and state = 'screening'`,
    [depositIds],
  );
  return rows.map(({ id }) => String(id));
};

/** Changes a locked refund. Omitted fields stay. */
export async function changeRefund(
  tx: Tx,
  refund: Refund,
  change: Partial<Pick<Refund, 'state' | 'source' | 'attempt' | 'key' | 'costUnits' | 'netUnits'>> & {
    /** Both are set together, so that a refund never has two destinations. */
    to?: { fiatAccountId: bigint | null; address: string | null } | undefined;
    now: Date;
  },
): Promise<Refund> {
  const next = { ...refund, ...change, ...change.to };
  const row = await tx.row<Refund>(
    `update refunds set state = $2, source = $3, attempt = $4, key = $5, cost_units = $6, net_units = $7,
            fiat_account_id = $8, address = $9, updated_at = $10,
            settled_at = case when $2 = 'settled' then coalesce(settled_at, $10) else settled_at end
      where id = $1 and state = $11 and attempt = $12 returning ${COLUMNS}`,
    [
      refund.id,
      next.state,
      next.source,
      next.attempt,
      next.key,
      next.costUnits,
      next.netUnits,
      next.fiatAccountId,
      next.address,
      change.now,
      refund.state,
      refund.attempt,
    ],
  );
  assert(row !== undefined, `refund ${refund.id} changed under its lock`);
  return row;
}

/** Refunds that wait for an operator or for another attempt, by state; for metrics. Uses the partial index of these states. */
export const waitingRefunds = (tx: Tx) =>
  tx.rows<{ state: Refund['state']; count: number; oldestAt: Date }>(
    `select state, count(*)::int as count, min(created_at) as oldest_at from refunds
      where state in ('needs_destination', 'held', 'rejected', 'returned') group by state order by state`,
  );
