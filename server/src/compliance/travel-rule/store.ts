/** Rows of the travel rule: versions of rules, wallets, records of transfers, waiting orders. */

export interface TravelRuleRow {
  id: bigint;
  /** Two letters, or `*` for all other countries. */
  jurisdiction: string;
  fiatAsset: string;
  version: number;
  isOn: boolean;
  thresholdUnits: bigint;
  proofUnits: bigint | null;
  deadlineS: number;
  policy: 'hold' | 'send' | 'return' | 'refuse';
  /** Whether providers must exchange data before coins move to or from a hosted wallet. */
  exchange: 'none' | 'required';
  setBy: string;
  why: string;
  setAt: Date;
}

export interface WalletRow {
  customerId: string;
  rail: string;
  address: string;
  kind: 'hosted' | 'self_hosted';
  owner: 'customer' | 'other';
  details: Buffer;
  provenAt: Date | null;
  declaredAt: Date;
}

export interface RecordRow {
  orderId: bigint;
  customerId: string;
  direction: 'in' | 'out';
  address: string;
  state: 'complete' | 'without';
  ivms: Buffer;
  madeAt: Date;
}

const RULE =
  'id, jurisdiction, fiat_asset, version, is_on, threshold_units, proof_units, deadline_s, policy, exchange, set_by, why, set_at';
const WALLET = 'customer_id, rail, address, kind, owner, details, proven_at, declared_at';
const RECORD = 'order_id, customer_id, direction, address, state, ivms, made_at';

export const sql = {
  // Rules.
  newest: `select distinct on (jurisdiction, fiat_asset) ${RULE} from travel_rules
    order by jurisdiction, fiat_asset, version desc`,
  newestOf: `select ${RULE} from travel_rules where jurisdiction = $1 and fiat_asset = $2 order by version desc limit 1`,
  versions: `select ${RULE} from travel_rules where $1::bigint is null or id < $1 order by id desc limit $2`,
  lockRules: "select pg_advisory_xact_lock(hashtextextended('travel rules', 0))",
  insertRule: `insert into travel_rules
      (jurisdiction, fiat_asset, version, is_on, threshold_units, proof_units, deadline_s, policy, exchange, set_by, why, set_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) returning ${RULE}`,

  // An order, once with each rule that its customer may be under: that of a known country, or else the rule `*`; of an unknown
  // country, all. A refused order keeps the rule that refused it. Its worth is computed as in transaction monitoring.
  required: `select o.id as order_id, o.partner_id, o.customer_id, c.country, c.country_by, r.id as rule_id, w.refused_at,
      r.is_on, r.threshold_units, r.proof_units, r.deadline_s, r.policy, r.exchange,
      o.payout_asset, o.payout_units, a.decimals as payout_decimals,
      case when o.deposit_asset = o.fiat_asset then o.deposit_units else o.gross_units end as worth_units
    from orders o join customers c on c.id = o.customer_id join assets a on a.code = o.payout_asset
    left join travel_waits w on w.order_id = o.id
    join lateral (
      select ${RULE} from travel_rules where id = w.refused_by
      union all
      (select ${RULE} from travel_rules
        where w.refused_by is null and c.country_by is not null and fiat_asset = o.fiat_asset and jurisdiction in (c.country, '*')
        order by jurisdiction = '*', version desc limit 1)
      union all
      (select distinct on (jurisdiction) ${RULE} from travel_rules
        where w.refused_by is null and c.country_by is null and fiat_asset = o.fiat_asset
        order by jurisdiction, version desc)) as r on true
    where o.id = $1`,
  // Of another person, with what is compared with sanctions lists.
  ofOthers: `select id, address from travel_wallets where customer_id = $1 and owner = 'other' limit 1000`,
  named: `select ${WALLET}, partner_id, names_revision from travel_wallets where id = $1`,
  recordsOf: 'select direction, address from travel_records where order_id = $1',
  walletsOf: `select ${WALLET} from travel_wallets where customer_id = $1
    and (rail, address) in (select * from unnest($2::text[], $3::text[])) limit 200`,
  waitOf: 'select since, due_at from travel_waits where order_id = $1',
  insertWait: `insert into travel_waits (order_id, rule_id, since, due_at) values ($1, $2, $3, $4)
    on conflict (order_id) do nothing`,
  refuse: 'update travel_waits set refused_at = $3, refused_by = $2 where order_id = $1 and refused_at is null',
  lockWait: 'select refused_at from travel_waits where order_id = $1 for update',
  releasedOfRefused: `select from travel_waits w join orders o on o.id = w.order_id join deposits d on d.order_id = o.id
    where w.order_id = $1 and w.refused_at is not null and d.id = any($2::bigint[]) and d.origin = 'released'
      and d.asset = o.payout_asset`,
  isRefused: 'select from travel_waits where order_id = $1 and refused_at is not null',
  insertRecord: `insert into travel_records (order_id, customer_id, partner_id, direction, address, rule_id, state, ivms, made_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (order_id, direction, address) do nothing`,
  // The proof is lost when the kind or the owner changes, or the name of another owner.
  declare: `insert into travel_wallets (customer_id, partner_id, rail, address, kind, owner, details, proven_at, declared_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    on conflict (customer_id, rail, address) do update set kind = excluded.kind, owner = excluded.owner,
      details = excluded.details, declared_at = excluded.declared_at,
      proven_at = case when excluded.proven_at is not null then excluded.proven_at
        when excluded.kind = travel_wallets.kind and excluded.owner = travel_wallets.owner and excluded.owner = 'customer'
          then travel_wallets.proven_at end`,

  // Wallets and records of one customer.
  countWallets:
    'select count(*)::int as count from travel_wallets where customer_id = $1 and (rail, address) <> ($2, $3)',
  allWallets: `select ${WALLET} from travel_wallets where customer_id = $1 order by id limit $2`,
  allRecords: `select ${RECORD} from travel_records where customer_id = $1 order by id limit $2`,
  recordsOfOrder: `select ${RECORD} from travel_records where order_id = $1 order by id`,
  eraseWallets: `update travel_wallets set details = '' where customer_id = $1`,
  eraseRecords: `update travel_records set ivms = '' where customer_id = $1`,
} as const;
