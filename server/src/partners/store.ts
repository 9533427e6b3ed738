/**
 * Rows of partners: the SQL of partners, their keys, assets, markets, fee schedules and confirmation policies.
 *
 * Two kinds of reader. Requests come through the partner's door, where row-level security shows a partner its own rows;
 * a key must be found before anybody knows whose it is, so that one look-up goes through the system's door.
 */
import type { Tx } from '../base/db.ts';

export interface PartnerRow {
  id: bigint;
  name: string;
  suspended_at: Date | null;
  quote_shape: 'A' | 'B';
  tolerance_bps: number;
  kyc_words: Record<string, string>;
  trade_level: number;
  cors_origins: string[];
  requests_per_minute: number;
}

export interface KeyRow extends PartnerRow {
  key: string;
  scopes: string[];
  secret: Buffer;
  next_secret: Buffer | null;
  next_until: Date | null;
  addresses: string[];
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
}

export interface ShownKeyRow {
  key: string;
  partner_id: bigint;
  label: string;
  scopes: string[];
  next_until: Date | null;
  addresses: string[];
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
  created_at: Date;
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
  crypto_asset: string;
  fiat_asset: string;
  enabled: boolean;
  is_default: boolean;
  deposit_rail: string;
  payout_rail: string;
  payment_method: string;
  min_units: bigint;
  max_units: bigint;
  payout_places: number;
  quote_ttl_s: number;
  deposit_ttl_s: number;
  price_sources: string[];
  price_max_age_s: number;
  price_quorum: number;
  outlier_bps: number;
  clearing_s: number;
}

export interface LimitRow {
  market_id: bigint;
  level: number;
  max_units: bigint;
}

export interface FeeRow {
  kind: 'operator' | 'partner' | 'rail' | 'chain';
  fixed_units: bigint;
  bps: number;
  minimum_units: bigint;
  gas_units: bigint;
}

const PARTNER = `p.id, p.name, p.suspended_at, p.quote_shape, p.tolerance_bps, p.kyc_words, p.trade_level, p.cors_origins,
  p.requests_per_minute`;

export const sql = {
  keyByName: `select k.key, k.scopes, k.secret, k.next_secret, k.next_until, k.addresses::text[] as addresses, k.expires_at,
      k.revoked_at, k.last_used_at, ${PARTNER}
    from api_keys k join partners p on p.id = k.partner_id where k.key = $1`,
  noteUse: 'update api_keys set last_used_at = $2 where key = $1 and (last_used_at is null or last_used_at <= $3)',
  insertKey: `insert into api_keys (key, partner_id, label, scopes, secret, addresses, expires_at, created_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8)`,
  // Whatever was the newest secret becomes the old one; one older than that is valid no longer.
  rotateKey: `update api_keys set secret = coalesce(next_secret, secret), next_secret = $2, next_until = $3
    where key = $1 and revoked_at is null`,
  // The secrets are not among them.
  keysOf: `select key, partner_id, label, scopes, next_until, addresses::text[] as addresses, expires_at, revoked_at,
      last_used_at, created_at from api_keys where partner_id = $1 order by created_at, key limit 500`,
  keyShown: `select key, partner_id, label, scopes, next_until, addresses::text[] as addresses, expires_at, revoked_at,
      last_used_at, created_at from api_keys where key = $1`,
  partners: `select ${PARTNER} from partners p where p.id > $1 order by p.id limit $2`,
  revokeKey: 'update api_keys set revoked_at = coalesce(revoked_at, $2) where key = $1',
  insertPartner: `insert into partners as p (name, quote_shape, tolerance_bps, kyc_words, trade_level, cors_origins,
      requests_per_minute, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${PARTNER}`,
  partnerById: `select ${PARTNER} from partners p where p.id = $1`,
  partnerByName: `select ${PARTNER} from partners p where p.name = $1`,
  suspend: 'update partners set suspended_at = coalesce(suspended_at, $2) where id = $1',
  resume: 'update partners set suspended_at = null where id = $1',
  assets: 'select code, kind, coin, chain, contract, decimals, native from assets',
  // Decimals, chain and contract are what booked units mean, so they are never changed by this.
  upsertAsset: `insert into assets (code, kind, coin, chain, contract, decimals, native) values ($1, $2, $3, $4, $5, $6, $7)
    on conflict (code) do update set coin = excluded.coin
      where (assets.kind, assets.decimals, assets.chain, assets.contract, assets.native)
        is not distinct from (excluded.kind, excluded.decimals, excluded.chain, excluded.contract, excluded.native)`,
  markets: `select id, direction, crypto_asset, fiat_asset, enabled, is_default, deposit_rail, payout_rail, payment_method,
      min_units, max_units, payout_places, quote_ttl_s, deposit_ttl_s, price_sources, price_max_age_s, price_quorum, outlier_bps,
      clearing_s from markets order by id`,
  lockMarkets: 'lock table markets in share row exclusive mode',
  upsertMarket: `insert into markets (direction, crypto_asset, fiat_asset, enabled, is_default, deposit_rail, payout_rail,
      payment_method, min_units, max_units, payout_places, quote_ttl_s, deposit_ttl_s, price_sources, price_max_age_s,
      price_quorum, outlier_bps, clearing_s)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
    on conflict (direction, crypto_asset, fiat_asset) do update set enabled = excluded.enabled,
      is_default = excluded.is_default, deposit_rail = excluded.deposit_rail, payout_rail = excluded.payout_rail,
      payment_method = excluded.payment_method, min_units = excluded.min_units, max_units = excluded.max_units,
      payout_places = excluded.payout_places, quote_ttl_s = excluded.quote_ttl_s, deposit_ttl_s = excluded.deposit_ttl_s,
      price_sources = excluded.price_sources, price_max_age_s = excluded.price_max_age_s,
      price_quorum = excluded.price_quorum, outlier_bps = excluded.outlier_bps, clearing_s = excluded.clearing_s
    returning id`,
  marketJson: `select to_jsonb(m)::text as json from markets m where direction = $1 and crypto_asset = $2 and fiat_asset = $3`,
  // The general row first, the partner's own after it, so that the later one stands.
  fees: `select kind, fixed_units, bps, minimum_units, gas_units from fee_schedules
    where market_id = $1 and (partner_id is null or partner_id = $2) order by partner_id nulls first`,
  upsertFee: `insert into fee_schedules (market_id, partner_id, kind, fixed_units, bps, minimum_units, gas_units)
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
  // The general row first, the partner's own after it, so that the later one stands.
  policies: `select question, answer from policies where market_id = $1 and (partner_id is null or partner_id = $2)
    order by partner_id nulls first`,
  upsertPolicy: `insert into policies (market_id, partner_id, question, answer) values ($1, $2, $3, $4::jsonb)
    on conflict (market_id, partner_id, question) do update set answer = excluded.answer`,
  removePolicy: `delete from policies where market_id = $1 and partner_id is not distinct from $2 and question = $3`,
  policyJson: `select to_jsonb(p)::text as json from policies p
    where market_id = $1 and partner_id is not distinct from $2 and question = $3`,
  cap: 'select max_units from exposure_caps where partner_id = $1 and fiat_asset = $2',
  upsertCap: `insert into exposure_caps (partner_id, fiat_asset, max_units) values ($1, $2, $3)
    on conflict (partner_id, fiat_asset) do update set max_units = excluded.max_units`,
  removeCap: 'delete from exposure_caps where partner_id = $1 and fiat_asset = $2',
  capJson: 'select to_jsonb(c)::text as json from exposure_caps c where partner_id = $1 and fiat_asset = $2',
  // What was set to what it was already is no change.
  insertChange: `insert into market_changes (what, market_id, partner_id, item, before, after, changed_by, why)
    select $1, $2, $3, $4, $5::jsonb, $6::jsonb, $7, $8 where $5::jsonb is distinct from $6::jsonb`,
  changes: `select what, market_id, partner_id, item, before::text, after::text, changed_by, why, at from market_changes
    where $1::bigint is null or market_id = $1 order by id desc limit $2`,
  // As JSON and not jsonb: it is shown with its fields in the order in which they were given.
  kybRequirements: 'select requirements from kyb_requirements where partner_id = $1',
  upsertKybRequirements: `insert into kyb_requirements (partner_id, requirements, set_at) values ($1, $2, $3)
    on conflict (partner_id) do update set requirements = excluded.requirements, set_at = excluded.set_at`,
  removeKybRequirements: 'delete from kyb_requirements where partner_id = $1',
  clearPolicies: 'delete from confirmation_policies where chain = $1 and asset = $2',
  insertPolicy: 'insert into confirmation_policies (chain, asset, from_units, confirmations) values ($1, $2, $3, $4)',
} as const;

export const keyByName = (tx: Tx, key: string) => tx.row<KeyRow>(sql.keyByName, [key]);
/** @param since not noted again where it was noted after this, by whichever process */
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
export const capOf = (tx: Tx, partnerId: bigint, fiat: string) =>
  tx.row<{ max_units: bigint }>(sql.cap, [partnerId, fiat]);
