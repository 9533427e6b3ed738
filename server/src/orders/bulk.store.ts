/** SQL of bulk operations, and of the orders that they cover. */
import type { Tx } from '../base/db.ts';
import { assert } from '../base/errors.ts';
import type { Rate } from '../base/money.ts';
import type { PricedFee } from '../quotes/index.ts';

/** `cancel` and `requote` act on unpaid orders, `compensate` on settled ones. */
export type BulkKind = 'cancel' | 'requote' | 'compensate';

/** The basis of a compensation: the fee as it should have been. */
export interface BulkTerms {
  /** The fiat, and the maximum paid for all orders together, in the fiat's units. */
  asset: string;
  mostUnits: bigint;
  fee: PricedFee;
  fixedUnits: bigint;
  bps: bigint;
  minimumUnits: bigint;
  /** Partners with a fee of their own, which the operation does not cover. */
  notFor: bigint[];
}

/** Orders of a market created in a time span, of one partner or of all. */
export interface Span {
  marketId: bigint;
  partnerId: bigint | null;
  from: Date;
  /** Exclusive. */
  until: Date;
}

export interface Bulk extends Span, Partial<{ [N in keyof BulkTerms]: BulkTerms[N] | null }> {
  id: bigint;
  kind: BulkKind;
  by: string;
  people: string[];
  why: string;
  begunAt: Date;
  endedAt: Date | null;
  /** Id of the last order processed. */
  cursor: bigint;
  changed: number;
  leftAlone: number;
  refused: number;
  /** For a compensation: what has been paid so far. */
  doneUnits: bigint;
}

export interface UnpaidOrder {
  id: bigint;
  partnerId: bigint;
  createdAt: Date;
  expiresAt: Date;
  depositAsset: string;
  depositUnits: bigint;
  payoutAsset: string;
  payoutUnits: bigint;
  rate: Rate;
  /** The customer states that the money has been sent. */
  isClaimed: boolean;
}

const BULK = `id, kind, market_id, partner_id, from_at as "from", until_at as "until", by, people, why,
  begun_at, ended_at, cursor, changed, left_alone, refused, asset,
  fee, fixed_units, bps, minimum_units, not_for, most_units,
  done_units`;

/** Parameters: $1 market, $2 partner or null, $3 from, $4 until, $5 the id after which to continue. */
const UNPAID = `from orders o where market_id = $1 and state = 'created' and ($2::bigint is null or partner_id = $2)
  and created_at >= $3 and created_at < $4 and id > $5
  and not exists (select from deposits d where d.order_id = o.id and d.state <> 'reversed')`;

/**
 * The same for settled orders, in creation order, through the index that lists use: each next order is found directly after the
 * last one. $6: partners to exclude.
 */
const SETTLED = `from orders o where market_id = $1 and state = 'settled' and ($2::bigint is null or partner_id = $2)
  and not partner_id = any($6::bigint[]) and created_at >= $3 and created_at < $4 and id > 0
  and ($5::bigint = 0 or (created_at, id) > ((select created_at from orders where id = $5), $5::bigint))`;

export const bulkSql = {
  insert: `insert into bulk_orders (kind, market_id, partner_id, from_at, until_at, by, people, why, begun_at, asset, most_units, fee,
      fixed_units, bps, minimum_units, not_for)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) returning id`,
  get: `select ${BULK} from bulk_orders where id = $1`,
  lock: `select ${BULK} from bulk_orders where id = $1 for update`,
  last: 'select max(id) as id from bulk_orders where market_id = $1',
  note: `update bulk_orders set cursor = $2, changed = changed + $3, left_alone = left_alone + $4, refused = refused + $5,
      done_units = done_units + $6
    where id = $1`,
  end: 'update bulk_orders set ended_at = $2 where id = $1',
  next: `select id ${UNPAID} order by id limit 1`,
  nextSettled: `select id ${SETTLED} order by created_at, id limit 1`,
  unpaid: `select id, partner_id, created_at, expires_at, deposit_asset, deposit_units, payout_asset, payout_units, rate_num,
      rate_den, payer_reference is not null as is_claimed ${UNPAID} order by id limit $6`,
  isPaid: `select from deposits where order_id = $1 and state <> 'reversed' limit 1`,
} as const;

const of = ({ marketId, partnerId, from, until }: Span): unknown[] => [marketId, partnerId, from, until];

export const bulkStore = {
  async insert(
    tx: Tx,
    bulk: Span & Pick<Bulk, 'kind' | 'by' | 'people' | 'why' | 'begunAt'> & { terms?: BulkTerms | undefined },
  ): Promise<bigint> {
    const { kind, by, people, why, begunAt, terms } = bulk;
    const row = await tx.row<{ id: bigint }>(bulkSql.insert, [
      ...[kind, ...of(bulk), by, people, why, begunAt, terms?.asset, terms?.mostUnits, terms?.fee, terms?.fixedUnits],
      ...[terms?.bps, terms?.minimumUnits, terms?.notFor],
    ]);
    assert(row !== undefined, 'a bulk that was inserted came back without its id');
    return row.id;
  },
  get: (tx: Tx, id: bigint) => tx.row<Bulk>(bulkSql.get, [id]),
  lock: (tx: Tx, id: bigint) => tx.row<Bulk>(bulkSql.lock, [id]),
  last: async (tx: Tx, marketId: bigint) =>
    (await tx.row<{ id: bigint | null }>(bulkSql.last, [marketId]))?.id ?? undefined,
  note: (
    tx: Tx,
    id: bigint,
    { cursor, outcome, units = 0n }: { cursor: bigint; outcome: 'changed' | 'leftAlone' | 'refused'; units?: bigint },
  ) =>
    tx.run(bulkSql.note, [
      id,
      cursor,
      ...(['changed', 'leftAlone', 'refused'] as const).map((one) => (one === outcome ? 1 : 0)),
      units,
    ]),
  end: (tx: Tx, id: bigint, at: Date) => tx.run(bulkSql.end, [id, at]),
  next: async (tx: Tx, bulk: Bulk) =>
    (bulk.kind === 'compensate'
      ? await tx.row<{ id: bigint }>(bulkSql.nextSettled, [...of(bulk), bulk.cursor, bulk.notFor ?? []])
      : await tx.row<{ id: bigint }>(bulkSql.next, [...of(bulk), bulk.cursor])
    )?.id ?? undefined,
  isPaid: async (tx: Tx, orderId: bigint) => (await tx.row(bulkSql.isPaid, [orderId])) !== undefined,

  async unpaid(tx: Tx, input: Span & { after: bigint; limit: number }): Promise<UnpaidOrder[]> {
    const rows = await tx.rows<{
      id: bigint;
      partnerId: bigint;
      createdAt: Date;
      expiresAt: Date;
      depositAsset: string;
      depositUnits: bigint;
      payoutAsset: string;
      payoutUnits: bigint;
      rateNum: bigint;
      rateDen: bigint;
      isClaimed: boolean;
    }>(bulkSql.unpaid, [...of(input), input.after, input.limit]);
    return rows.map((row) => ({
      id: row.id,
      partnerId: row.partnerId,
      createdAt: row.createdAt,
      expiresAt: row.expiresAt,
      depositAsset: row.depositAsset,
      depositUnits: row.depositUnits,
      payoutAsset: row.payoutAsset,
      payoutUnits: row.payoutUnits,
      rate: { num: row.rateNum, den: row.rateDen },
      isClaimed: row.isClaimed,
    }));
  },
};
