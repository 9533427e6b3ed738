/**
 * Rows of partners: the SQL of partners, their keys, assets, markets, fee schedules and confirmation policies.
 *
 * Two kinds of reader. Requests use the partner role, where row-level security shows a partner its own rows; a key must be looked
 * up before its partner is known, so that one look-up uses the system role.
 */
import type { Tx } from '../base/db.ts';

export interface PartnerRow {
  id: bigint;
  name: string;
  suspendedAt: Date | null;
  quoteShape: 'A' | 'B';
  toleranceBps: number;
  kycWords: Record<string, string>;
  tradeLevel: number;
  corsOrigins: string[];
  requestsPerMinute: number;
}

export interface KeyRow extends PartnerRow {
  key: string;
  scopes: string[];
  secret: Buffer;
  nextSecret: Buffer | null;
  nextUntil: Date | null;
  addresses: string[];
  expiresAt: Date | null;
  revokedAt: Date | null;
  heldAt: Date | null;
  lastUsedAt: Date | null;
  apiVersion: string | null;
  unsignedWrites: boolean;
}

export interface ShownKeyRow {
  key: string;
  partnerId: bigint;
  label: string;
  scopes: string[];
  nextUntil: Date | null;
  addresses: string[];
  expiresAt: Date | null;
  revokedAt: Date | null;
  heldAt: Date | null;
  lastUsedAt: Date | null;
  createdAt: Date;
  secretFor: string | null;
  secretUntil: Date | null;
  unsignedWrites: boolean;
}

export interface AssetRow {
  code: string;
  kind: 'crypto' | 'fiat';
  coin: string;
  chain: string | null;
  contract: string | null;
  decimals: number;
  native: boolean;
}

export interface MarketRow {
  id: bigint;
  direction: 'offramp' | 'onramp';
  cryptoAsset: string;
  fiatAsset: string;
  enabled: boolean;
  isDefault: boolean;
  depositRail: string;
  payoutRail: string;
  paymentMethod: string;
  minUnits: bigint;
  maxUnits: bigint;
  payoutDecimals: number;
  quoteTtlS: number;
  depositTtlS: number;
  priceSources: string[];
  priceMaxAgeS: number;
  priceQuorum: number;
  outlierBps: number;
  clearingS: number;
  singleSource: boolean;
  jumpBps: number;
  resumeS: number;
  taxBps: number;
}

export interface LimitRow {
  marketId: bigint;
  level: number;
  maxUnits: bigint;
}

export interface FeeRow {
  kind: 'operator' | 'partner' | 'rail' | 'chain';
  fixedUnits: bigint;
  bps: number;
  minimumUnits: bigint;
  gasUnits: bigint;
}

const PARTNER = `p.id, p.name, p.suspended_at, p.quote_shape, p.tolerance_bps, p.kyc_words, p.trade_level, p.cors_origins,
  p.requests_per_minute`;

const CHANGE = 'id, what, market_id, partner_id, item, before::text, after::text, changed_by, why, at';

const MARKET_TERMS = `direction, crypto_asset, fiat_asset, enabled, is_default, deposit_rail, payout_rail,
  payment_method, min_units, max_units, payout_decimals, quote_ttl_s, deposit_ttl_s, price_sources, price_max_age_s,
  price_quorum, outlier_bps, clearing_s, single_source, jump_bps, resume_s, tax_bps`;
const FEE_TERMS = 'market_id, partner_id, kind, fixed_units, bps, minimum_units, gas_units';

export const sql = {
  // An installation has dozens of partners.
  partnerIds: 'select id from partners order by id limit 10000',
  keysByName: `select k.key, k.scopes, k.secret, k.next_secret, k.next_until, k.addresses::text[] as addresses, k.expires_at,
      k.revoked_at, k.held_at, k.last_used_at, k.api_version, k.unsigned_writes, ${PARTNER}
    from api_keys k join partners p on p.id = k.partner_id where k.key = any($1::text[])`,
  pinVersion: 'update api_keys set api_version = $2 where key = $1 and api_version is null',
  setUnsignedWrites: 'update api_keys set unsigned_writes = $2 where key = $1',
  noteUse: 'update api_keys set last_used_at = $2 where key = $1 and (last_used_at is null or last_used_at <= $3)',
  insertKey: `insert into api_keys (key, partner_id, label, scopes, secret, addresses, expires_at, created_at, secret_for, secret_until)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
  // The newest secret becomes the old one; an older one is no longer valid.
  rotateKey: `update api_keys set secret = coalesce(next_secret, secret), next_secret = $2, next_until = $3,
      secret_for = $4, secret_until = $5 where key = $1 and revoked_at is null`,
  changeKey: 'update api_keys set label = $2, scopes = $3, addresses = $4 where key = $1 and revoked_at is null',
  // Of two concurrent requests only one gets the secret.
  collectSecret: `update api_keys set secret_for = null, secret_until = null
    where key = $1 and secret_for = $2 and secret_until > $3 and revoked_at is null returning secret, next_secret`,
  // All columns but the secrets.
  keysOf: `select key, partner_id, label, scopes, next_until, addresses::text[] as addresses, expires_at, revoked_at,
      held_at, last_used_at, created_at, secret_for, secret_until, unsigned_writes from api_keys where partner_id = $1 order by created_at, key limit 500`,
  keyShown: `select key, partner_id, label, scopes, next_until, addresses::text[] as addresses, expires_at, revoked_at,
      held_at, last_used_at, created_at, secret_for, secret_until, unsigned_writes from api_keys where key = $1`,
  partners: `select ${PARTNER} from partners p where p.id > $1 order by p.id limit $2`,
  revokeKey: 'update api_keys set revoked_at = coalesce(revoked_at, $2) where key = $1',
  insertPartner: `insert into partners as p (name, quote_shape, tolerance_bps, kyc_words, trade_level, cors_origins,
      requests_per_minute, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${PARTNER}`,
  partnerById: `select ${PARTNER} from partners p where p.id = $1`,
  partnerByName: `select ${PARTNER} from partners p where p.name = $1`,
  // Each suspension has its own time, so that a proposal to resume refers to the suspension that the operators saw.
  suspend: `update partners set suspended_at = greatest($2, suspended_at + interval '1 millisecond') where id = $1`,
  setOrigins: 'update partners set cors_origins = $2 where id = $1',
  resume: 'update partners set suspended_at = null where id = $1',
  // Terms that are not given stay. Other columns have ways of their own.
  setPartner: `update partners set quote_shape = coalesce($2, quote_shape), tolerance_bps = coalesce($3, tolerance_bps),
      trade_level = coalesce($4, trade_level), requests_per_minute = coalesce($5, requests_per_minute) where id = $1`,
  // Locked, so that the history of two changes made at the same moment has the values that each replaced.
  partnerJson: `select json_build_object('quote_shape', quote_shape, 'tolerance_bps', tolerance_bps, 'trade_level', trade_level,
      'requests_per_minute', requests_per_minute)::text as json from partners where id = $1 for no key update`,
  assets: 'select code, kind, coin, chain, contract, decimals, native from assets',
  // Decimals, chain and contract define what booked units mean, so this never changes them.
  upsertAsset: `insert into assets (code, kind, coin, chain, contract, decimals, native) values ($1, $2, $3, $4, $5, $6, $7)
    on conflict (code) do update set coin = excluded.coin
      where (assets.kind, assets.decimals, assets.chain, assets.contract, assets.native)
        is not distinct from (excluded.kind, excluded.decimals, excluded.chain, excluded.contract, excluded.native)`,
  markets: `select id, direction, crypto_asset, fiat_asset, enabled, is_default, deposit_rail, payout_rail, payment_method,
      min_units, max_units, payout_decimals, quote_ttl_s, deposit_ttl_s, price_sources, price_max_age_s, price_quorum, outlier_bps,
      clearing_s, single_source, jump_bps, resume_s, tax_bps from markets order by id`,
  lockMarkets: 'lock table markets in share row exclusive mode',
  // Inserts the markets with their change rows in one statement: a new installation has hundreds.
  addMarkets: `with added as (
      insert into markets (${MARKET_TERMS})
      select ${MARKET_TERMS} from json_populate_recordset(null::markets, $1::json)
      on conflict (direction, crypto_asset, fiat_asset) do nothing returning *),
    noted as (
      insert into market_changes (what, market_id, item, after, changed_by, why)
      select 'market', id, '', to_jsonb(added), $2, $3 from added order by id)
    select id, direction, crypto_asset as crypto, fiat_asset as fiat from added order by id`,
  addFees: `with added as (
      insert into fee_schedules (${FEE_TERMS}) select ${FEE_TERMS} from json_populate_recordset(null::fee_schedules, $1::json)
      on conflict (market_id, partner_id, kind) do nothing returning *)
    insert into market_changes (what, market_id, partner_id, item, after, changed_by, why)
    select 'fee', market_id, partner_id, kind, to_jsonb(added), $2, $3 from added order by id`,
  upsertMarket: `insert into markets (${MARKET_TERMS})
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)
    on conflict (direction, crypto_asset, fiat_asset) do update set enabled = excluded.enabled,
      is_default = excluded.is_default, deposit_rail = excluded.deposit_rail, payout_rail = excluded.payout_rail,
      payment_method = excluded.payment_method, min_units = excluded.min_units, max_units = excluded.max_units,
      payout_decimals = excluded.payout_decimals, quote_ttl_s = excluded.quote_ttl_s, deposit_ttl_s = excluded.deposit_ttl_s,
      price_sources = excluded.price_sources, price_max_age_s = excluded.price_max_age_s,
      price_quorum = excluded.price_quorum, outlier_bps = excluded.outlier_bps, clearing_s = excluded.clearing_s,
      single_source = excluded.single_source, jump_bps = excluded.jump_bps, resume_s = excluded.resume_s,
      tax_bps = excluded.tax_bps
    returning id`,
  marketJson: `select to_jsonb(m)::text as json from markets m where direction = $1 and crypto_asset = $2 and fiat_asset = $3`,
  // The general row first, the partner's own after it, so that the later one overrides.
  fees: `select kind, fixed_units, bps, minimum_units, gas_units from fee_schedules
    where market_id = $1 and (partner_id is null or partner_id = $2) order by partner_id nulls first`,
  everyFee: 'select market_id, partner_id, kind, fixed_units, bps, minimum_units, gas_units from fee_schedules',
  chargingGas: `select distinct market_id as id from fee_schedules where kind = 'chain' and gas_units > 0`,
  ownFees:
    'select partner_id from fee_schedules where market_id = $1 and kind = $2 and partner_id is not null order by partner_id',
  upsertFee: `insert into fee_schedules (${FEE_TERMS})
    values ($1, $2, $3, $4, $5, $6, $7)
    on conflict (market_id, partner_id, kind) do update set fixed_units = excluded.fixed_units, bps = excluded.bps,
      minimum_units = excluded.minimum_units, gas_units = excluded.gas_units`,
  feeJson: `select to_jsonb(f)::text as json from fee_schedules f
    where market_id = $1 and partner_id is not distinct from $2 and kind = $3`,
  limits: 'select market_id, level, max_units from market_limits order by market_id, level',
  upsertLimit: `insert into market_limits (market_id, level, max_units) values ($1, $2, $3)
    on conflict (market_id, level) do update set max_units = excluded.max_units`,
  removeLimit: 'delete from market_limits where market_id = $1 and level = $2',
  limitJson: 'select to_jsonb(l)::text as json from market_limits l where market_id = $1 and level = $2',
  // The general row first, the partner's own after it, so that the later one overrides.
  policies: `select question, answer from policies where market_id = $1 and (partner_id is null or partner_id = $2)
    order by partner_id nulls first`,
  upsertPolicy: `insert into policies (market_id, partner_id, question, answer) values ($1, $2, $3, $4::jsonb)
    on conflict (market_id, partner_id, question) do update set answer = excluded.answer`,
  removePolicy: `delete from policies where market_id = $1 and partner_id is not distinct from $2 and question = $3`,
  policyJson: `select to_jsonb(p)::text as json from policies p
    where market_id = $1 and partner_id is not distinct from $2 and question = $3`,
  capsOf: 'select fiat_asset, max_units from exposure_caps where partner_id = $1',
  cap: 'select max_units from exposure_caps where partner_id = $1 and fiat_asset = $2',
  upsertCap: `insert into exposure_caps (partner_id, fiat_asset, max_units) values ($1, $2, $3)
    on conflict (partner_id, fiat_asset) do update set max_units = excluded.max_units`,
  lockExposure: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
  removeCap: 'delete from exposure_caps where partner_id = $1 and fiat_asset = $2',
  capJson: 'select to_jsonb(c)::text as json from exposure_caps c where partner_id = $1 and fiat_asset = $2',
  // Setting a value to its present one records no change.
  insertChange: `insert into market_changes (what, market_id, partner_id, item, before, after, changed_by, why)
    select $1, $2, $3, $4, $5::jsonb, $6::jsonb, $7, $8 where $5::jsonb is distinct from $6::jsonb`,
  /** @param given the conditions of the filters that are given, and `limit` a parameter */
  changes: (given: string, limit: string) =>
    `select ${CHANGE} from market_changes where ${given} order by id desc limit ${limit}`,
  change: `select ${CHANGE} from market_changes where id = $1`,
  setByPeople: `select what, market_id, partner_id, item
    from (select distinct on (what, market_id, partner_id, item) what, market_id, partner_id, item, changed_by
      from market_changes where what in ('market', 'fee') order by what, market_id, partner_id, item, id desc) last
    where changed_by <> $1`,
  clearPolicies: 'delete from confirmation_policies where chain = $1 and asset = $2',
  insertPolicy: 'insert into confirmation_policies (chain, asset, from_units, confirmations) values ($1, $2, $3, $4)',
} as const;

export const keysByName = (tx: Tx, keys: readonly string[]) => tx.rows<KeyRow>(sql.keysByName, [keys]);
/** @param since skipped when any process has stored a use after this time */
export const noteUse = (tx: Tx, key: string, at: Date, since: Date) => tx.run(sql.noteUse, [key, at, since]);
export const partnerById = (tx: Tx, id: bigint) => tx.row<PartnerRow>(sql.partnerById, [id]);
export const partnerByName = (tx: Tx, name: string) => tx.row<PartnerRow>(sql.partnerByName, [name]);
export const assetRows = (tx: Tx) => tx.rows<AssetRow>(sql.assets);
export const marketRows = (tx: Tx) => tx.rows<MarketRow>(sql.markets);
export const feeRows = (tx: Tx, marketId: bigint, partnerId: bigint) =>
  tx.rows<FeeRow>(sql.fees, [marketId, partnerId]);
export const policyRows = (tx: Tx, marketId: bigint, partnerId: bigint) =>
  tx.rows<{ question: string; answer: unknown }>(sql.policies, [marketId, partnerId]);
export const limitRows = (tx: Tx) => tx.rows<LimitRow>(sql.limits);
export const capsOf = (tx: Tx, partnerId: bigint) =>
  tx.rows<{ fiatAsset: string; maxUnits: bigint }>(sql.capsOf, [partnerId]);
export const capOf = (tx: Tx, partnerId: bigint, fiat: string) =>
  tx.row<{ maxUnits: bigint }>(sql.cap, [partnerId, fiat]);
