/** Rows of the exchange of travel rule data: versions of providers, and inquiries in both directions. */
import { createHash } from 'node:crypto';

export interface ProviderRow {
  id: bigint;
  host: string;
  name: string;
  version: number;
  isOn: boolean;
  setBy: string;
  why: string;
  setAt: Date;
}

export interface ExchangeRow {
  id: bigint;
  direction: 'in' | 'out';
  orderId: bigint;
  customerId: string;
  partnerId: bigint;
  protocol: string;
  host: string;
  requestId: string;
  rail: string;
  address: string;
  asset: string;
  units: bigint;
  digest: Buffer;
  state: 'created' | 'sent' | 'received' | 'approved' | 'rejected' | 'disowned';
  message: Buffer;
  peer: Buffer;
  reason: Buffer;
  tx: string | null;
  attempts: number;
  failure: string | null;
  createdAt: Date;
  answeredAt: Date | null;
  toldAt: Date | null;
  endedAt: Date | null;
  outcome: 'transferred' | 'canceled' | 'untold' | null;
}

/** An order whose coins another provider asks to send. */
export interface AwaitedRow {
  orderId: bigint;
  customerId: string;
  partnerId: bigint;
  rail: string;
  address: string;
  asset: string;
  decimals: number;
}

/** A deposit, with the fields that are matched with an exchange. */
export interface DepositRow {
  id: bigint;
  asset: string;
  units: bigint;
  externalId: string;
}

export const digestOf = (...parts: readonly (string | Buffer)[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest();
};

/**
 * SQL: a condition for the inquiries whose originators are those of a deposit. They are those of its order, and of the order whose
 * address it came to, so an order that is created from it later loses none. Which of an order's deposits an inquiry covers does not
 * matter. Such an inquiry stays one, so their number only grows while the deposit stays its order's.
 *
 * @param deposit an SQL expression: its id
 */
export const countedFor = (deposit: string): string => `direction = 'in' and state = 'approved' and told_at is not null
    and order_id in (select of_it.order_id from deposits of_it where of_it.id = ${deposit}
      union select at_it.id from deposits of_it join orders at_it
        on at_it.deposit_rail = of_it.rail and at_it.deposit_target = of_it.target where of_it.id = ${deposit})`;

const PROVIDER = 'id, host, name, version, is_on, set_by, why, set_at';
const EXCHANGE = `id, direction, order_id, customer_id, partner_id, protocol, host, request_id, rail, address, asset, units, digest,
  state, message, peer, reason, tx, attempts, failure, created_at, answered_at, told_at, ended_at, outcome`;

export const exchangeSql = {
  // Providers.
  providers: `select distinct on (host) ${PROVIDER} from travel_providers order by host, version desc limit $1`,
  provider: `select ${PROVIDER} from travel_providers where host = $1 order by version desc limit 1`,
  lockProviders: "select pg_advisory_xact_lock(hashtextextended('travel providers', 0))",
  insertProvider: `insert into travel_providers (host, name, version, is_on, set_by, why, set_at)
    values ($1, $2, $3, $4, $5, $6, $7) returning ${PROVIDER}`,

  // Exchanges.
  insert: `insert into travel_exchanges (direction, order_id, customer_id, partner_id, protocol, host, request_id, rail, address,
      asset, units, digest, state, message, token, created_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
    on conflict (order_id, direction, digest) do nothing returning id`,
  find: `select ${EXCHANGE} from travel_exchanges where id = $1`,
  lock: `select ${EXCHANGE} from travel_exchanges where id = $1 for update`,
  lockByToken: `select ${EXCHANGE} from travel_exchanges where token = $1 and direction = $2 for update`,
  ofOrder: `select ${EXCHANGE} from travel_exchanges where order_id = $1 order by id limit 100`,
  ofCustomer: `select ${EXCHANGE} from travel_exchanges where customer_id = $1 order by id limit $2`,
  countAsked: `select count(*)::int as count from travel_exchanges where order_id = $1 and direction = 'out'`,
  lockInquiries: `select pg_advisory_xact_lock(hashtextextended('travel inquiries ' || $1::text, 0))`,
  inquiries: `select digest, request_id from travel_exchanges where order_id = $1 and direction = 'in' limit 100`,
  sent: `update travel_exchanges set state = 'sent', attempts = 0, failure = null where id = $1 and state = 'created'`,
  answered: `update travel_exchanges set state = $2, peer = $3, reason = $4, answered_at = $5, attempts = 0, failure = null,
      ended_at = null, outcome = null where id = $1`,
  decided: `update travel_exchanges set state = $2, message = $3, token = $4, reason = $5, answered_at = $6, attempts = 0
    where id = $1 and state = 'received'`,
  told: `update travel_exchanges set told_at = coalesce(told_at, $2), attempts = 0, failure = null where id = $1`,
  disowned: `update travel_exchanges set state = 'disowned', ended_at = $2 where id = $1`,
  failed: 'update travel_exchanges set attempts = attempts + 1, failure = $2 where id = $1',
  ended: `update travel_exchanges set ended_at = $2, outcome = $3, tx = coalesce(tx, $4) where id = $1 and ended_at is null`,
  confirmed: `update travel_exchanges set tx = $2, ended_at = $3, outcome = $4 where id = $1`,
  erase: `update travel_exchanges set message = '', peer = '', reason = '' where customer_id = $1`,

  // A sale whose coins are expected or have come; no row once the sale has ended.
  awaited: `select o.id as order_id, o.customer_id, o.partner_id, o.deposit_rail as rail, o.deposit_target as address,
      o.deposit_asset as asset, a.decimals
    from orders o join assets a on a.code = o.deposit_asset where o.id = $1`,
  ofDeposit: `select ${EXCHANGE} from travel_exchanges where ${countedFor('$1::bigint')} order by id`,
  // Payers who were compared, or not, before these names came. Those of an order that is over too: its money may have left just now.
  noteOriginators: `insert into names_to_compare (subject, partner_id, revision)
    select 'payer:' || d.id, d.partner_id, n.count from deposits d
      cross join lateral (select count(*)::int as count from travel_exchanges where ${countedFor('d.id')}) n
     where n.count > 0 and d.id in (select id from deposits where order_id = $1
        union select e.id from orders o join deposits e on e.rail = o.deposit_rail and e.target = o.deposit_target
         where o.id = $1 and e.target <> '')
    on conflict (subject) do update set revision = greatest(names_to_compare.revision, excluded.revision)`,
  deposits: 'select id, asset, units, external_id from deposits where id = any($1::bigint[])',
} as const;
