/**
 * Following a chain, compared with only `eth_getLogs` of the same blocks: ten transfers per block, one in a hundred to an
 * address of ours, and a million watched addresses.
 *
 * The node is a program of ours over HTTP (follower.node.ts), so its speed and memory are not a real node's; its time is not
 * counted. Ours reads, checks and stores blocks and deposits as a server does; the effect of a deposit on an order is not
 * included (lives.ts measures that). The limit asks for the logs of a hundred blocks at a time, and parses them as JSON.
 */
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { Agent } from 'node:http';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { HDKey } from '@scure/bip32';
import type pg from 'pg';
import { systemClock } from '../server/src/base/clock.ts';
import { openVault } from '../server/src/base/crypto.ts';
import { openDatabase } from '../server/src/base/db.ts';
import { openLog } from '../server/src/base/log.ts';
import { migrateFor } from '../server/src/base/migrate.ts';
import { engineOf } from '../server/src/rails/chain.engine.ts';
import { followStep } from '../server/src/rails/chain.follow.ts';
import { evmAdapter } from '../server/src/rails/evm/adapter.ts';
import { type Cluster, newDatabase, withClient } from './cluster.ts';
import { cpuOf } from './cpu.ts';
import { CHAIN_ID, type Shape, TOKEN, TRANSFERS_IN_A_BLOCK } from './follower.shape.ts';
import { send } from './load.ts';
import { medianOf, type Pair } from './pairs.ts';
import { openWatch, type Watched } from './watch.ts';

const GOAL = 0.7;
const RAIL = 'evm.bench';
const FINALITY = 64;
/** Blocks per request of the limit: the same as ours. */
const AT_ONCE = 100;
const XPUB = HDKey.fromMasterSeed(createHash('sha256').update('follower').digest()).derive("m/44'/60'/0'/0");

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

interface Node {
  url: string;
  addresses: string[];
  stop(): void;
}

export async function measureFollower(
  cluster: Cluster,
  { scale, rounds, isWatched }: { scale: number; rounds: number; isWatched: boolean },
): Promise<Pair> {
  const shape: Shape = {
    blocks: 10_000 * scale,
    ours: 1_000 * scale,
    watched: 1_000_000 * scale,
    xpub: XPUB.publicExtendedKey,
  };
  const node = await startNode(shape);
  try {
    const adminUrl = await newDatabase(cluster, 'follower');
    const serverUrl = await migrateFor(adminUrl, openVault(createHash('sha256').update('bench').digest()));
    await watchAddresses(adminUrl, shape, node.addresses);
    const done: { ours: Cost; limit: Cost }[] = [];
    const heap: number[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      await forget(adminUrl);
      // The first round warms both up. It is also the one in which memory is measured, because that takes time.
      const ours = await cpu(cluster, () => follow(serverUrl, node, shape, round === 0 ? heap : undefined));
      const limit = await cpu(cluster, () => readLogs(node, shape));
      if (round > 0) done.push({ ours, limit });
    }
    if (isWatched) await forget(adminUrl);
    const why = isWatched ? await watched(() => follow(serverUrl, node, shape), shape.blocks) : undefined;
    const of = (side: 'ours' | 'limit', what: keyof Cost = 'all') =>
      medianOf(done.map((one) => one[side][what])) / shape.blocks;
    const mb = heap.map((bytes) => (bytes / 1e6).toFixed(0));
    return {
      name: 'chain follower, a block',
      goal: GOAL,
      ratio: medianOf(done.map(({ ours, limit }) => limit.all / ours.all)),
      ours: of('ours'),
      limit: of('limit'),
      notes: [
        `${shape.blocks} blocks, ${shape.blocks * TRANSFERS_IN_A_BLOCK} transfers, ${shape.ours} of them ours, ${shape.watched} addresses watched; the node is a program of the bench`,
        `of ours ${of('ours', 'node').toFixed(0)} µs are Node's`,
        `heap after a collection, at each quarter of the blocks: ${mb.join(', ')} MB`,
      ],
      ...(why && { why }),
    };
  } finally {
    node.stop();
  }
}

/** One more round, watched in this process, which follows the chain. @returns queries per block, and the profile */
async function watched(body: () => Promise<void>, blocks: number): Promise<Watched> {
  const watch = await openWatch();
  await watch.start();
  await body();
  const seen = await watch.stop();
  return { ...seen, statements: seen.statements / blocks, roundTrips: seen.roundTrips / blocks };
}

async function startNode(shape: Shape): Promise<Node> {
  const child = fork(fileURLToPath(new URL('follower.node.ts', import.meta.url)), {
    env: { PATH: process.env.PATH, SHAPE: JSON.stringify(shape) },
  });
  const told = await new Promise<Omit<Node, 'stop'>>((ready, fail) => {
    child.once('message', (message) => ready(message as Omit<Node, 'stop'>));
    child.once('exit', () => fail(new Error("the follower's node did not start")));
  });
  return { ...told, stop: () => child.kill('SIGKILL') };
}

/**
 * Inserts a million watched addresses, of which the first ones receive money. Their orders do not exist, so foreign keys are
 * disabled for it.
 */
async function watchAddresses(adminUrl: string, shape: Shape, addresses: readonly string[]): Promise<void> {
  const insertAll = async (client: pg.Client) => {
    await client.query('set session_replication_role = replica');
    await client.query(
      `insert into assets (code, kind, coin, chain, contract, decimals) values ('usdc.bench', 'crypto', 'usdc', 'bench', $1, 6)`,
      [TOKEN],
    );
    const insert = `insert into deposit_addresses (rail, address, index, order_id, partner_id, made_at)`;
    await client.query(
      `${insert} select $1, address, at - 1, at, 1, '2020-01-01' from unnest($2::text[]) with ordinality as a (address, at)`,
      [RAIL, addresses],
    );
    await client.query(
      `${insert} select $1, '0x' || encode(substr(sha256(n::text::bytea), 1, 20), 'hex'), n, n + 1, 1, '2020-01-01'
         from generate_series($2::bigint, $3::bigint) n`,
      [RAIL, addresses.length, shape.watched - 1],
    );
    await client.query(`select setval('deposit_indexes', $1)`, [shape.watched]);
    await client.query('vacuum analyze deposit_addresses');
  };
  await withClient(adminUrl, insertAll, 'cloverleaf');
}

/** Resets the follower, as if no block had been read. */
async function forget(adminUrl: string): Promise<void> {
  const clear = async (client: pg.Client) => {
    await client.query('set session_replication_role = replica');
    for (const table of ['chain_deposits', 'chain_blocks', 'chains']) await client.query(`delete from ${table}`);
    // Work that would otherwise happen while ours is measured.
    await client.query('vacuum analyze');
    await client.query('checkpoint');
  };
  await withClient(adminUrl, clear, 'cloverleaf');
}

/** @param heap receives the memory in use at each quarter */
async function follow(serverUrl: string, node: Node, shape: Shape, heap?: number[]): Promise<void> {
  const db = openDatabase(serverUrl);
  let confirmed = 0;
  try {
    const adapter = evmAdapter({
      ...{ code: RAIL, chain: 'bench', rpcUrl: node.url, chainId: BigInt(CHAIN_ID), xpub: shape.xpub },
      ...{ finality: FINALITY, maxGasPrice: 1n, deadlineMs: 60_000 },
    });
    const engine = engineOf(adapter, {
      ...{ db, clock: systemClock, log: openLog('error') },
      async report(_tx, fact) {
        if (fact.type === 'deposit_confirmed') confirmed += 1;
      },
    });
    const steps = Math.ceil(shape.blocks / adapter.pace.blocksPerStep);
    for (let step = 1, caughtUp = false; !caughtUp; step += 1) {
      caughtUp = (await followStep(engine)).caughtUp;
      if (heap === undefined || step % Math.max(1, Math.floor(steps / 4)) !== 0) continue;
      collect();
      heap.push(process.memoryUsage().heapUsed);
    }
  } finally {
    await db.close();
  }
  // Deposits in the newest blocks are not confirmed yet.
  if (confirmed < (shape.ours * (shape.blocks - 2 * FINALITY)) / shape.blocks)
    throw new Error(`${confirmed} of ${shape.ours} deposits were confirmed`);
}

async function readLogs(node: Node, { blocks }: Shape): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  let seen = 0;
  for (let from = 1; from <= blocks; from += AT_ONCE) {
    const filter = {
      fromBlock: `0x${from.toString(16)}`,
      toBlock: `0x${(from + AT_ONCE - 1).toString(16)}`,
      address: [TOKEN],
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: from, method: 'eth_getLogs', params: [filter] });
    const asked = { method: 'POST', path: '/', headers: { 'content-type': 'application/json' }, body } as const;
    seen += (JSON.parse(await send(node.url, asked, agent)) as { result: unknown[] }).result.length;
  }
  agent.destroy();
  if (seen !== blocks * TRANSFERS_IN_A_BLOCK) throw new Error(`${seen} logs were read`);
}

/** CPU microseconds of this process, and of PostgreSQL with it. */
interface Cost {
  node: number;
  all: number;
}

async function cpu({ pid }: Cluster, work: () => Promise<void>): Promise<Cost> {
  const [own, others] = [process.cpuUsage(), cpuOf([pid])];
  await work();
  const { user, system } = process.cpuUsage(own);
  return { node: user + system, all: user + system + cpuOf([pid]) - others };
}
