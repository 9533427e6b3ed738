/**
 * Work before and after copying: indexes are disabled and rebuilt at the end, balances become the sums of the copies, wallets
 * match chain and bank again, and sequences continue after the copies.
 */
import type pg from 'pg';
import { digestOf } from '../../server/src/ledger/digest.ts';
import type { Generated } from './generate.ts';
import type { Schema } from './schema.ts';
import type { OfPartner, Shared } from './templates.ts';

/**
 * Rewrites tables within the transaction, so that copied rows are not logged (with `wal_level` minimal) and may be frozen at
 * once. Then marks their indexes as not ready, so that writes do not update them; `reindex` makes them ready again. Constraints
 * stay, and find duplicates when their indexes are rebuilt.
 */
export async function rewrite(client: pg.Client, tables: readonly string[]): Promise<void> {
  const named = tables.map((table) => `cloverleaf.${table}`);
  const { rows } = await client.query<{ table: string; key: string }>(
    `select indrelid::regclass::text as table, relname as key from pg_index join pg_class on oid = indexrelid
      where indrelid = any($1::text[]::regclass[]) and indisprimary`,
    [named],
  );
  for (const { table, key } of rows) await client.query(`cluster ${table} using ${key}`);
  await client.query(
    'update pg_index set indisready = false, indisvalid = false where indrelid = any($1::text[]::regclass[])',
    [named],
  );
}

export async function buildIndexes(client: pg.Client, tables: readonly string[]): Promise<void> {
  for (const table of tables) await client.query(`reindex table cloverleaf.${table}`);
}

/** First free number of each table, by its identity column. */
export async function firstNumbers(client: pg.Client, schema: Schema): Promise<Map<string, number>> {
  const firsts = new Map<string, number>();
  for (const { table, column } of schema.identities) {
    const { rows } = await client.query(`select coalesce(max(${column}), 0) + 1 as next from cloverleaf.${table}`);
    firsts.set(table, Number(rows[0].next));
  }
  return firsts;
}

export async function finish(
  client: pg.Client,
  schema: Schema,
  { generated, partners, seal }: { generated: Generated; partners: readonly OfPartner[]; seal: bigint },
): Promise<void> {
  await settleBalances(client, generated);
  for (const { of, listed } of generated.pools) await putLast(client, of, listed, partners);
  await client.query('update reconcile_rails set seal = $1', [seal]);
  for (const { table, column } of schema.identities)
    await client.query(
      `select setval(pg_get_serial_sequence($1, $2), greatest($3::bigint, nextval(pg_get_serial_sequence($1, $2))))`,
      [`cloverleaf.${table}`, column, generated.firsts.get(table) ?? 1],
    );
  await client.query(`select setval('deposit_indexes', $1)`, [generated.indexes]);
}

/** Moves the original orders after their copies: they are newer, so they come last in each list. */
async function putLast(
  client: pg.Client,
  of: OfPartner,
  listed: { offramp: number; onramp: number },
  partners: readonly OfPartner[],
): Promise<void> {
  for (const direction of ['offramp', 'onramp'] as const) {
    const ids = partners.flatMap(({ lived }) => lived.orders.map(({ id }) => id));
    await client.query(
      `update orders set partner_seq = partner_seq + $3, fiat_seq = fiat_seq + $3
        where id = any($4::bigint[]) and partner_id = $1 and direction = $2`,
      [of.partnerId, direction, listed[direction], ids],
    );
    await client.query('update order_lists set count = count + $3 where partner_id = $1 and direction = $2', [
      ...[of.partnerId, direction, listed[direction]],
    ]);
  }
}

interface Account {
  id: string;
  code: string;
  kind: string;
  asset: string;
  native: boolean;
}

/** The sums of all copies, and one entry per wallet that offsets their movements. */
async function settleBalances(client: pg.Client, { copies, firsts, pools }: Generated): Promise<void> {
  const sums: Shared = new Map();
  for (const [life, count] of copies)
    for (const [id, one] of life.shared) {
      const sum = sums.get(id) ?? { debits: 0n, credits: 0n, debitsHeld: 0n, creditsHeld: 0n };
      sums.set(id, sum);
      for (const side of ['debits', 'credits', 'debitsHeld', 'creditsHeld'] as const)
        sum[side] += one[side] * BigInt(count);
    }
  const { rows } = await client.query<Account>(
    `select a.id, a.code, a.kind, a.asset, s.native from accounts a join assets s on s.code = a.asset where a.order_id is null`,
  );
  const byCode = new Map(rows.map((row) => [row.code, row]));
  let made = 0;
  for (const wallet of rows.filter(({ kind }) => kind === 'custody')) {
    const sum = sums.get(wallet.id);
    const net = sum === undefined ? 0n : sum.debits - sum.credits;
    if (net === 0n) continue;
    const owner = byCode.get(`${wallet.native ? 'capital' : 'treasury'}:${wallet.asset}`);
    if (owner === undefined) throw new Error(`${wallet.asset} has no account of the operator's`);
    const [debit, credit] = net < 0n ? [wallet, owner] : [owner, wallet];
    const units = net < 0n ? -net : net;
    for (const [id, side] of [
      [debit.id, 'debits'],
      [credit.id, 'credits'],
    ] as const) {
      const one = sums.get(id) ?? { debits: 0n, credits: 0n, debitsHeld: 0n, creditsHeld: 0n };
      sums.set(id, one);
      one[side] += units;
    }
    made += 1;
    await bringOrTake(client, { wallet, debit, credit, units, isIn: net < 0n, number: made, firsts });
  }
  for (const [id, { debits, credits, debitsHeld, creditsHeld }] of sums)
    await client.query(
      `update accounts set debits = debits + $2, credits = credits + $3, debits_held = debits_held + $4,
              credits_held = credits_held + $5 where id = $1`,
      [id, debits, credits, debitsHeld, creditsHeld],
    );
  if (pools.length === 0) throw new Error('there are no partners');
}

/** Books operator money in or out, with the movement that chain or bank would show for it. */
async function bringOrTake(
  client: pg.Client,
  move: {
    wallet: Account;
    debit: Account;
    credit: Account;
    units: bigint;
    isIn: boolean;
    number: number;
    firsts: ReadonlyMap<string, number>;
  },
): Promise<void> {
  const { wallet, debit, credit, units, isIn, number } = move;
  const [, rail, name] = wallet.code.split(':') as [string, string, string];
  const movement = `grown:${number}`;
  const entry = `${isIn ? 'fund' : 'out'}_${rail}_${movement}`;
  const kind = isIn ? 'funding' : 'withdrawal';
  const line = { step: 'post' as const, hold: '', debit: debit.code, credit: credit.code, units: String(units) };
  await client.query(
    `insert into entries (id, seq, kind, content, at) overriding system value
     select $1, max(seq) + 1, $2, $3, now() from entries`,
    [entry, kind, digestOf(kind, null, [line])],
  );
  await client.query(
    `insert into transfers (entry, line, debit, credit, asset, units, step) values ($1, 1, $2, $3, $4, $5, 'post')`,
    [entry, debit.id, credit.id, wallet.asset, units],
  );
  const signed = isIn ? units : -units;
  // The native asset is compared address by address.
  const { rows } = await client.query(
    `select place from reconcile_sums where rail = $1 and wallet = $2 and asset = $3 and place <> '' and $4 limit 2`,
    [rail, name, wallet.asset, wallet.native],
  );
  await client.query(
    `insert into outside_movements (rail, name, wallet, asset, units, place, key, run, open)
     select $1, $2, $3, $4, $5, $6, $2, run, false from reconcile_rails where rail = $1`,
    [rail, movement, name, wallet.asset, signed, rows[0]?.place ?? ''],
  );
  await client.query(
    `insert into booked_movements (entry, line, rail, wallet, asset, units, name, key, open)
     values ($1, 1, $2, $3, $4, $5, $6, $6, false)`,
    [entry, rail, name, wallet.asset, signed, movement],
  );
}
