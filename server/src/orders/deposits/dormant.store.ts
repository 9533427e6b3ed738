/** SQL of dormancy_policy, dormancies and unclaimed money (migrations/0006_orders.sql). */
import type { Tx } from '../../base/db.ts';
import { assert } from '../../base/errors.ts';

export interface DormancyPolicy {
  afterDays: number;
  noticeDays: number;
}

export interface Dormancy {
  id: bigint;
  /** Null for money that an order itself holds. */
  depositId: bigint | null;
  orderId: bigint | null;
  partnerId: bigint | null;
  rail: string;
  asset: string;
  units: bigint;
  since: Date;
  noticedAt: Date;
  dormantFrom: Date;
  dormantAt: Date | null;
}

const COLUMNS = `id, deposit_id, order_id, partner_id, rail, asset, units, since,
  noticed_at, dormant_from, dormant_at`;

/** A deposit, or an order's own money; never both. */
export type Whose = { depositId: bigint } | { orderId: bigint };
const isDeposit = (whose: Whose): whose is { depositId: bigint } => 'depositId' in whose;

/** Refund states that wait for a claim; in the others the refund is under way or under review. */
const IDLE = `('needs_destination', 'rejected', 'returned')`;
const BUSY = `('screening', 'held', 'created', 'submitted')`;

export const dormantStore = {
  policy: (tx: Tx): Promise<DormancyPolicy | undefined> =>
    tx.row('select after_days, notice_days from dormancy_policy'),

  async setPolicy(tx: Tx, policy: DormancyPolicy & { by: string; reason: string; now: Date }): Promise<void> {
    await tx.run(
      `insert into dormancy_policy (after_days, notice_days, by, reason, at) values ($1, $2, $3, $4, $5)
       on conflict (single) do update set after_days = excluded.after_days, notice_days = excluded.notice_days,
         by = excluded.by, reason = excluded.reason, at = excluded.at`,
      [policy.afterDays, policy.noticeDays, policy.by, policy.reason, policy.now],
    );
  },

  async deletePolicy(tx: Tx): Promise<void> {
    await tx.run('delete from dormancy_policy');
  },

  /**
   * Deposits with unclaimed money in suspense, by id: how much, and since when. Excludes dust, deposits held by an operator, and
   * money of an order that is under way, is blocked by law, or has a reversed deposit that is not replaced.
   */
  unclaimedDeposits: (tx: Tx, input: { after: bigint; limit: number; only?: bigint | undefined }) =>
    tx.rows<{ id: bigint; since: Date; units: bigint }>(
      `with lying as (
         select id from deposits where state in ('suspense', 'applied', 'refunded') and units > taken_units + refund_units
            and not dust and id > $1 and ($3::bigint is null or id = $3)
         union
         select deposit_id from refunds where source = 'suspense' and state in ${IDLE} and deposit_id > $1
            and ($3::bigint is null or deposit_id = $3))
       select d.id, d.units - d.taken_units - d.refund_units + coalesce(r.units, 0) as units,
              greatest(d.confirmed_at, d.seen_at, r.at, (select max(ended_at) from dormancies e where e.deposit_id = d.id)) as since
         from lying join deposits d using (id) left join orders o on o.id = d.order_id
         left join lateral (
           select sum(net_units) filter (where state in ${IDLE}) as units, max(updated_at) as at,
                  bool_or(state in ${BUSY}) as busy
             from refunds where deposit_id = d.id and source = 'suspense' and state <> 'cancelled') r on true
        where d.state in ('suspense', 'applied', 'refunded') and not d.dust and r.busy is not true
          and not exists (select from held_deposits h where h.deposit_id = d.id)
          and (o.id is null or (o.state in ('settled', 'refunded', 'expired', 'cancelled', 'payout_held', 'refund_held')
            and not exists (select from deposits l where l.order_id = o.id and l.state = 'lost' and l.lost_units > 0)))
        order by d.id limit $2`,
      [input.after, input.limit, input.only ?? null],
    ),

  /**
   * Orders that wait, with their money, for a destination, by id, and since when. Excludes orders that only wait for our funds.
   */
  unclaimedOrders: (tx: Tx, input: { after: bigint; limit: number; only?: bigint | undefined }) =>
    tx.rows<{ id: bigint; since: Date }>(
      `select o.id, greatest((select max(h.at) from order_history h where h.order_id = o.id),
              (select max(ended_at) from dormancies e where e.order_id = o.id and e.deposit_id is null)) as since
         from orders o
        where (o.state in ('payout_held', 'refund_held') or (o.state = 'on_hold' and o.refund_request is not null))
          and (o.refund_request is null or o.state = 'refund_held'
            or (o.refund_address is null and o.refund_account_id is null))
          and o.id > $1 and ($3::bigint is null or o.id = $3)
          and not exists (select from deposits l where l.order_id = o.id and l.state = 'lost' and l.lost_units > 0)
        order by o.id limit $2`,
      [input.after, input.limit, input.only ?? null],
    ),

  find: (tx: Tx, whose: Whose): Promise<Dormancy | undefined> =>
    isDeposit(whose)
      ? tx.row<Dormancy>(`select ${COLUMNS} from dormancies where deposit_id = $1 and ended_at is null for update`, [
          whose.depositId,
        ])
      : tx.row<Dormancy>(
          `select ${COLUMNS} from dormancies where order_id = $1 and deposit_id is null and ended_at is null for update`,
          [whose.orderId],
        ),

  async insert(tx: Tx, row: Omit<Dormancy, 'id' | 'dormantAt'>): Promise<Dormancy> {
    const made = await tx.row<Dormancy>(
      `insert into dormancies (deposit_id, order_id, partner_id, rail, asset, units, since, noticed_at, dormant_from)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning ${COLUMNS}`,
      [
        ...[row.depositId, row.orderId, row.partnerId, row.rail, row.asset, row.units],
        ...[row.since, row.noticedAt, row.dormantFrom],
      ],
    );
    assert(made !== undefined, 'the insert of a dormancy returned no row');
    return made;
  },

  async markDormant(tx: Tx, id: bigint, units: bigint, now: Date): Promise<void> {
    await tx.run('update dormancies set dormant_at = $2, units = $3 where id = $1', [id, now, units]);
  },

  async end(tx: Tx, id: bigint, end: { by: string; why: string; now: Date }): Promise<void> {
    await tx.run('update dormancies set ended_at = $2, ended_by = $3, ended_why = $4 where id = $1', [
      ...[id, end.now, end.by, end.why],
    ]);
  },

  /** Updates the copies in the rows of deposits and orders. */
  async mark(tx: Tx, whose: Whose, { from, units }: { from: Date | null; units: bigint }): Promise<void> {
    if (isDeposit(whose))
      await tx.run('update deposits set dormant_from = $2, dormant_units = $3 where id = $1', [
        ...[whose.depositId, from, units],
      ]);
    else
      await tx.run('update orders set dormant_from = $2, dormant = $3 where id = $1', [
        whose.orderId,
        from,
        units > 0n,
      ]);
  },

  /** Dormancies that are announced or dormant, by id. */
  open: (tx: Tx, input: { after: bigint; limit: number }): Promise<Dormancy[]> =>
    tx.rows<Dormancy>(`select ${COLUMNS} from dormancies where ended_at is null and id > $1 order by id limit $2`, [
      ...[input.after, input.limit],
    ]),

  /** Open dormancies by asset: how much is announced, how much is dormant, and both together by age. */
  ageing: (tx: Tx, now: Date) =>
    tx.rows<{
      asset: string;
      announcedUnits: bigint;
      dormantUnits: bigint;
      under1yUnits: bigint;
      under3yUnits: bigint;
      over3yUnits: bigint;
      count: number;
      oldest: Date;
    }>(
      `select asset, coalesce(sum(units) filter (where dormant_at is null), 0) as announced_units,
              coalesce(sum(units) filter (where dormant_at is not null), 0) as dormant_units,
              coalesce(sum(units) filter (where since > $1::timestamptz - interval '365 days'), 0) as under1y_units,
              coalesce(sum(units) filter (where since <= $1::timestamptz - interval '365 days'
                                            and since > $1::timestamptz - interval '1095 days'), 0) as under3y_units,
              coalesce(sum(units) filter (where since <= $1::timestamptz - interval '1095 days'), 0) as over3y_units,
              count(*)::int as count, min(since) as oldest
         from dormancies where ended_at is null group by asset order by asset`,
      [now],
    ),

  /** Sums of dormant money in these rows, by rail and asset. The ledger must have the same. */
  sums: (tx: Tx) =>
    tx.rows<{ rail: string; asset: string; units: bigint }>(
      `select rail, asset, sum(units) as units from dormancies where dormant_at is not null and ended_at is null
        group by rail, asset`,
    ),

  /** Rows of deposits and orders that differ from their dormancy. */
  unlike: (tx: Tx) =>
    tx.rows<{ subject: string }>(
      `select 'deposit:' || d.id as subject from deposits d
         left join dormancies y on y.deposit_id = d.id and y.ended_at is null
        where (d.dormant_units > 0 or y.dormant_at is not null)
          and d.dormant_units <> case when y.dormant_at is null then 0 else y.units end
       union all
       select 'order:' || o.id from orders o
         left join dormancies y on y.order_id = o.id and y.deposit_id is null and y.ended_at is null
        where (o.dormant or y.dormant_at is not null) and o.dormant <> (y.dormant_at is not null)`,
    ),
};
