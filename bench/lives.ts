/**
 * Whole lives of orders, compared with a bare client that writes as many rows in as many transactions (rows.ts): sales from
 * quote to the webhook that reports their settlement, on the sandbox's chain and bank, with a fixed number of concurrent sales.
 *
 * Rows and transactions are PostgreSQL's own counts over the time in which CPU time is measured, until all of them are reported;
 * the idle server's share is subtracted from both. The customer pays with a wallet of its own (payer.ts). Sweeping is held back
 * by its minimum: its cost is measured afterwards (sweeps.ts).
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { type Cluster, withClient } from './cluster.ts';
import { cpuOf } from './cpu.ts';
import { type Counts, countsOf, type Idle, REPORTED_MS } from './idle.ts';
import { percentile } from './load.ts';
import { type Quiet, whyOf } from './measure.ts';
import { newCustomer, type Ours, receive } from './ours.ts';
import type { Pair } from './pairs.ts';
import { openPayer } from './payer.ts';
import { openRows, type Work } from './rows.ts';
import { holdSweeps } from './sweeps.ts';

const GOAL = 0.5;
const UNDER_WAY = 40;
const CLIENTS = 8;
const PATIENCE_MS = 240_000;
const CHAIN = 'matic20';

export interface Server {
  ours: Ours;
  adminUrl: string;
  idle: Idle;
  /** With --report: then a further round of each pair is watched. */
  quiet?: Quiet | undefined;
}

interface Created {
  transactionId: string;
  depositAddress: string;
}

export async function measureLives(server: Server, cluster: Cluster, lives: number): Promise<Pair> {
  const { ours, adminUrl, idle, quiet } = server;
  const settled = await listen(ours);
  const customer = await newCustomer(ours);
  const payer = await openPayer(ours, CHAIN, 'usdc');
  const life = async (at: number): Promise<void> => {
    const asked = { fromCurrency: 'usdc', toCurrency: 'INR', chain: CHAIN, fromAmount: `${100 + at}.5` };
    const { rate, toAmount } = await ours.call<{ rate: string; toAmount: string }>('offramp/quote', asked);
    const order = { ...asked, rate, toAmount, ...customer };
    const { transactionId, depositAddress } = await ours.call<Created>('offramp/createTransaction', order);
    await payer.pay(depositAddress, asked.fromAmount);
    await settled.of(String(transactionId));
  };
  try {
    return await withClient(adminUrl, (client) => measure(client), 'cloverleaf');
  } finally {
    await settled.close();
  }

  async function measure(client: pg.Client): Promise<Pair> {
    await holdSweeps(client);
    await life(0); // Warms up.
    await sleep(REPORTED_MS);
    const [before, rowsBefore] = [await countsOf(client), await writtenIn(client)];
    const [cpuBefore, began] = [cpuOf([ours.pid]), performance.now()];
    await live(lives);
    const seconds = (performance.now() - began) / 1_000;
    await sleep(REPORTED_MS);
    const [cpu, after] = [cpuOf([ours.pid]) - cpuBefore, await countsOf(client)];
    const all = (performance.now() - began) / 1_000;
    const per = (name: keyof Counts) => Math.max(0, after[name] - before[name] - idle[name] * all) / lives;
    const work: Work = {
      transactions: per('transactions'),
      inserts: per('rowsInserted'),
      updates: per('rowsUpdated'),
      deletes: per('rowsDeleted'),
      bytes: await bytesOf(client, rowsBefore),
    };
    const ours_ = (cpu - idle.cpu * 10_000 * all) / lives;
    const limit = await limitOf(work);
    const waits = await latencies(client, before.at);
    const count = Math.ceil(lives / 4);
    const why = quiet && (await whyOf(ours, quiet, { count, body: () => live(count) }));
    return {
      name: 'a whole life, settled',
      goal: GOAL,
      ratio: limit / ours_,
      ours: ours_,
      limit,
      notes: [
        `${lives} sales, ${UNDER_WAY} at a time: ${(lives / seconds).toFixed(1)} lives/s; the limit is one prepared statement per transaction`,
        `per life: ${work.transactions.toFixed(0)} transactions, ${work.inserts.toFixed(0)} rows inserted, ${work.updates.toFixed(0)} updated, ${work.deletes.toFixed(0)} deleted, ${(per('walBytes') / 1_000).toFixed(0)} kB of WAL; a row has ${work.bytes.toFixed(0)} bytes`,
        ...waits,
      ],
      ...(why && { why }),
    };
  }

  async function live(count: number): Promise<void> {
    const queue = Array.from({ length: count }, (_, at) => at + 1).values();
    const inTurn = async () => {
      for (const at of queue) await life(at);
    };
    await Promise.all(Array.from({ length: UNDER_WAY }, inTurn));
  }

  async function limitOf(work: Work): Promise<number> {
    const write = await openRows(cluster);
    await write(Math.ceil(lives / 4), work, CLIENTS); // Warms up.
    const [own, others] = [process.cpuUsage(), cpuOf([cluster.pid])];
    await write(lives, work, CLIENTS);
    const { user, system } = process.cpuUsage(own);
    return (user + system + cpuOf([cluster.pid]) - others) / lives;
  }
}

/** A receiver of webhooks, which resolves `of(order)` when that order has settled. */
async function listen(ours: Ours): Promise<{ of(order: string): Promise<void>; close(): Promise<void> }> {
  const waiting = new Map<string, () => void>();
  const early = new Set<string>();
  const receiver = createServer(async (request, reply) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    reply.writeHead(204).end();
    const order = (JSON.parse(text) as { subject: string }).subject.slice('order:'.length);
    const wake = waiting.get(order);
    if (wake === undefined) early.add(order);
    else wake();
  });
  await new Promise<void>((ready) => receiver.listen(0, '127.0.0.1', ready));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const endpoint = await receive(ours, url, ['order.settled']);
  return {
    of: (order) =>
      new Promise((done, fail) => {
        const late = setTimeout(() => fail(new Error(`order ${order} was not heard to have settled`)), PATIENCE_MS);
        const end = () => {
          clearTimeout(late);
          done();
        };
        if (early.delete(order)) end();
        else waiting.set(order, end);
      }),
    async close() {
      await endpoint.end();
      receiver.closeAllConnections();
      receiver.close();
    },
  };
}

/** Time from the deposit's sighting, and from its confirmation, to the submission of the payout. */
async function latencies(client: pg.Client, since: Date): Promise<string[]> {
  const { rows } = await client.query<{ seen: number; confirmed: number }>(
    `select (extract(epoch from p.submitted_at - d.seen_at) * 1000)::float8 as seen,
            (extract(epoch from p.submitted_at - d.confirmed_at) * 1000)::float8 as confirmed
       from payouts p join deposits d using (order_id) where p.submitted_at is not null and p.created_at > $1`,
    [since],
  );
  const of = (name: 'seen' | 'confirmed') => {
    const ascending = rows.map((row) => row[name]).sort((a, b) => a - b);
    return [0.5, 0.95, 0.99].map((share) => percentile(ascending, share).toFixed(0)).join(' / ');
  };
  return [
    `p50/p95/p99 from deposit seen to payout submitted: ${of('seen')} ms, of which from its confirmations to there ${of('confirmed')} ms`,
  ];
}

type Written = Map<string, number>;

async function writtenIn(client: pg.Client): Promise<Written> {
  const { rows } = await client.query<{ table: string; count: string }>(
    `select relname as table, n_tup_ins + n_tup_upd as count from pg_stat_user_tables where schemaname = 'cloverleaf'`,
  );
  return new Map(rows.map(({ table, count }) => [table, Number(count)]));
}

/** Mean size of rows written since, weighted by the number of rows per table. */
async function bytesOf(client: pg.Client, before: Written): Promise<number> {
  let [rows, bytes] = [0, 0];
  for (const [table, count] of await writtenIn(client)) {
    const written = count - (before.get(table) ?? 0);
    if (written === 0) continue;
    const { rows: sizes } = await client.query(
      `select coalesce(avg(pg_column_size(t.*)), 0)::float8 as bytes from (select * from ${table} limit 500) t`,
    );
    rows += written;
    bytes += written * Number(sizes[0].bytes);
  }
  return bytes / rows;
}
