/**
 * Rows for tests of one module that need rows of others: inserted as the owner of the database, without the rules of the modules.
 * Stories over HTTP do not need this.
 */
import pg from 'pg';

export interface Rows {
  query<R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<R[]>;
  /** A crypto asset of a chain, or its native asset where `contract` is null. */
  cryptoAsset(code: string, chain: string, contract: string | null, decimals?: number): Promise<void>;
  policy(chain: string, asset: string, fromUnits: bigint, confirmations: number): Promise<void>;
  /** An order that waits for a deposit of `asset`, with its partner and customer (made once) behind it. */
  order(asset: string, rail: string, target: string): Promise<{ orderId: bigint; partnerId: bigint }>;
  /** A fiat account of that customer; its encrypted details are meaningless unless given. */
  fiatAccount(details?: Buffer): Promise<bigint>;
  close(): Promise<void>;
}

export async function openRows(adminUrl: string): Promise<Rows> {
  const client = new pg.Client({ connectionString: adminUrl, options: '-c search_path=cloverleaf' });
  await client.connect();
  const query = async <R extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
    (await client.query<R>(text, values)).rows;
  let orders = 0;
  let accounts = 0;
  let owner: Promise<bigint> | undefined;

  async function makeOwner(): Promise<bigint> {
    await query(
      `insert into assets (code, kind, coin, decimals) values ('inr', 'fiat', 'inr', 2) on conflict do nothing`,
    );
    const [partner] = await query<{ id: string }>(
      `insert into partners (name, created_at) values ('A partner of rows', now()) returning id`,
    );
    await query(
      `insert into customers (id, partner_id, kind, created_at, updated_at) values ('rows_1', $1, 'INDIVIDUAL', now(), now())`,
      [partner?.id],
    );
    return BigInt(partner?.id ?? 0);
  }

  async function market(asset: string, rail: string): Promise<bigint> {
    const [row] = await query<{ id: string }>(
      `insert into markets (direction, crypto_asset, fiat_asset, deposit_rail, payout_rail, payment_method, min_units,
                            max_units, payout_decimals, price_sources)
       values ('offramp', $1, 'inr', $2, 'bank.simulated', 'bank', 1, 1000000000000, 2, '{fixed}')
       on conflict (direction, crypto_asset, fiat_asset) do update set deposit_rail = excluded.deposit_rail returning id`,
      [asset, rail],
    );
    return BigInt(row?.id ?? 0);
  }

  return {
    query,
    async cryptoAsset(code, chain, contract, decimals = 6) {
      await query(
        `insert into assets (code, kind, coin, chain, contract, decimals, native) values ($1, 'crypto', $1, $2, $3, $4, $5)`,
        [code, chain, contract, decimals, contract === null],
      );
    },
    async policy(chain, asset, fromUnits, confirmations) {
      await query(
        `insert into confirmation_policies (chain, asset, from_units, confirmations) values ($1, $2, $3, $4)
         on conflict (chain, asset, from_units) do update set confirmations = excluded.confirmations`,
        [chain, asset, fromUnits, confirmations],
      );
    },
    async order(asset, rail, target) {
      owner ??= makeOwner();
      const partnerId = await owner;
      orders += 1;
      const orderId = BigInt(1_000_000 + orders);
      await query(
        `insert into orders (id, partner_id, customer_id, direction, customer_seq, market_id, state, deposit_asset,
           deposit_units, payout_asset, payout_units, gross_units, fiat_asset, fee_operator, fee_partner, fee_rail, fee_chain,
           rate_num, rate_den, rate_locked_until, deposit_rail, deposit_target, payout_rail, payment_method, expires_at,
           created_at, updated_at)
         values ($1, $2, 'rows_1', 'offramp', $3, $4, 'created', $5, 1000000, 'inr', 8000, 8000, 'inr', 0, 0, 0, 0, 80, 1,
           now() + interval '1 hour', $6, $7, 'bank.simulated', 'bank', now() + interval '1 hour', now(), now())`,
        [orderId, partnerId, orders, await market(asset, rail), asset, rail, target],
      );
      return { orderId, partnerId };
    },
    async fiatAccount(details = Buffer.from('encrypted')) {
      owner ??= makeOwner();
      const partnerId = await owner;
      accounts += 1;
      const id = BigInt(2_000_000 + accounts);
      await query(
        `insert into fiat_accounts (id, partner_id, customer_id, fiat, details, details_index, hint, created_at)
         values ($1, $2, 'rows_1', 'inr', $3, $4, '0000', now())`,
        [id, partnerId, details, Buffer.from(String(id))],
      );
      return id;
    },
    close: () => client.end(),
  };
}
