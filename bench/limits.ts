/**
 * The limit of bytes (limit.ts): a database with as many rows of the same size as ours, and the bare server on it.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { type Cluster, newDatabase, withClient } from './cluster.ts';
import { send } from './load.ts';
import type { Made } from './operations.ts';
import type { Ours } from './ours.ts';
import type { Side } from './side.ts';

export async function startLimit(
  ours: Ours,
  adminUrl: string,
  orders: readonly Made[],
  { cluster, ending }: { cluster: Cluster; ending: (() => Promise<void>)[] },
): Promise<Side> {
  const bytes = await withClient(adminUrl, bytesWritten, 'cloverleaf');
  const limitUrl = await newDatabase(cluster, 'bytes');
  await withClient(limitUrl, (client) => fill(client, orders, bytes.row));
  const requirements = await send(ours.baseUrl, {
    method: 'GET',
    path: '/onramp/api/v2/whiteLabel/kyb/requirements',
    headers: {},
    body: '',
  });
  const url = Object.assign(new URL(limitUrl), { username: 'limit_server', password: 'limit' }).href;
  const child = fork(fileURLToPath(new URL('limit.ts', import.meta.url)), {
    env: { PATH: process.env.PATH, LIMIT: JSON.stringify({ url, secret: ours.apiSecret, requirements, bytes }) },
  });
  ending.push(async () => {
    child.kill('SIGKILL');
  });
  const port = await new Promise<number>((ready, fail) => {
    child.once('message', (message) => ready(Number(message)));
    child.once('exit', () => fail(new Error('the limit did not start')));
  });
  return { baseUrl: `http://127.0.0.1:${port}`, pids: [child.pid ?? 0, cluster.pid] };
}

async function fill(client: pg.Client, orders: readonly Made[], rowBytes: number): Promise<void> {
  await client.query(`
    create schema bench;
    create role limit_partner nologin nobypassrls;
    create role limit_server login noinherit nobypassrls password 'limit' in role limit_partner;
    create table bench.orders (id bigint primary key, partner_id bigint not null, customer_id text not null, seq bigint not null,
      body text not null, filler text not null, unique (customer_id, seq));
    create table bench.written (id bigint primary key, partner_id bigint not null, filler text not null);
    alter table bench.orders enable row level security;
    alter table bench.written enable row level security;
    create policy own on bench.orders to limit_partner using (partner_id = current_setting('bench.partner')::bigint);
    create policy own on bench.written to limit_partner using (partner_id = current_setting('bench.partner')::bigint);
    alter table bench.orders alter filler set storage plain;
    alter table bench.written alter filler set storage plain;
    grant usage on schema bench to limit_partner;
    grant select, insert on bench.orders, bench.written to limit_partner;`);
  for (const [at, { id, customerId, item }] of orders.entries())
    await client.query('insert into bench.orders values ($1, 1, $2, $3, $4, $5)', [
      id,
      customerId,
      orders.length - at,
      item,
      'x'.repeat(Math.max(0, rowBytes - item.length)),
    ]);
  await client.query('analyze');
}

/** Size of our rows in bytes: of one order as it is read, of one quote and of everything that one new order writes. */
async function bytesWritten(client: pg.Client): Promise<{ row: number; quote: number; order: number }> {
  const size = async (table: string, where = 'true'): Promise<number> => {
    const { rows } = await client.query(
      `select coalesce(sum(pg_column_size(t.*)), 0)::float8 as bytes from ${table} t where ${where}`,
    );
    return Number(rows[0].bytes);
  };
  const { rows } = await client.query('select count(*)::int as count from orders');
  const count = Number(rows[0].count);
  const row = (await size('orders')) / count;
  const quote = (await size('quotes')) / count;
  // Those of orders that are as they were created: paid ones have the rows of a life.
  const unpaid = "(select id from orders where state = 'created')";
  const created = await client.query(`select count(*)::int as count from ${unpaid} o`);
  const parts =
    (await size('order_history', `order_id in ${unpaid}`)) +
    (await size('events', `subject in (select 'order:' || id from ${unpaid} o)`)) +
    (await size('deposit_addresses', `order_id in ${unpaid}`)) +
    (await size('jobs', `kind = 'expire_order' and subject in (select id::text from ${unpaid} o)`));
  return {
    row: Math.round(row),
    quote: Math.round(quote),
    // A new order also rewrites its quote as used.
    order: Math.round(row + quote + parts / Number(created.rows[0].count)),
  };
}
