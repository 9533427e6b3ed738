/** A sandbox chain survives the death of its node and of the server, losing at most a few blocks that were not final. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, isGoneWithin } from '../../src/base/processes.ts';
import { call, type NodeOptions, type SandboxNode, startNode } from '../../src/sandbox/nodes.ts';
import { deployTokens } from '../../src/sandbox/tokens.ts';
import { freshFolder } from '../support/folder.ts';
import { until as waitUntil } from '../support/until.ts';
import { hold } from './holder.ts';

const SPEC = { code: 'matic20', chainId: 137 };
const MNEMONIC = 'test test test test test test test test test test test junk';
const TOKENS = [
  { code: 'usdc', name: 'USD Coin', symbol: 'USDC', decimals: 6 },
  { code: 'dai', name: 'Dai', symbol: 'DAI', decimals: 18 },
];
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

interface Block {
  number: string;
  hash: string;
  parentHash: string;
  timestamp: string;
}

const opened: SandboxNode[] = [];
/** A test that fails stops nothing itself. */
afterEach(() => Promise.all(opened.splice(0).map((node) => node.stop())));

async function open(dataDir: string, more: Partial<NodeOptions> = {}): Promise<SandboxNode> {
  const node = await startNode(SPEC, { dataDir, mnemonic: MNEMONIC, ...more });
  opened.push(node);
  return node;
}
/** Mines only on request: the loop runs once an hour. */
const openStill = (dataDir: string) => open(dataDir, { blockMs: 3_600_000, idleMs: 3_600_000 });
const pidOf = (dataDir: string) =>
  (JSON.parse(readFileSync(join(dataDir, 'chains', SPEC.code, 'node.json'), 'utf8')) as { pid: number }).pid;
const blockAt = (node: { rpcUrl: string }, at: number | 'latest') =>
  call<Block>(node.rpcUrl, 'eth_getBlockByNumber', [at === 'latest' ? at : `0x${at.toString(16)}`, false]);
const heightOf = async (node: { rpcUrl: string }) => Number((await blockAt(node, 'latest')).number);

async function sends(node: { rpcUrl: string }): Promise<string> {
  const [, from, to] = await call<string[]>(node.rpcUrl, 'eth_accounts');
  return await call(node.rpcUrl, 'eth_sendTransaction', [{ from, to, value: '0x1' }]);
}

/** A node may be asked while it is down. */
const until = <T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> =>
  waitUntil(what, () => look().catch(() => undefined), { everyMs: 20 });

async function killNode(dataDir: string): Promise<void> {
  const pid = pidOf(dataDir);
  process.kill(pid, 'SIGKILL');
  assert.ok(await isGoneWithin(pid, 5_000));
}

test('tokens have their fixed addresses, the whole supply is with the second account, and deploying again changes nothing', async () => {
  const node = await openStill(freshFolder('node'));
  const deployed = await deployTokens(node, TOKENS);
  const height = await heightOf(node);
  assert.deepEqual(await deployTokens(node, TOKENS), deployed);
  assert.equal(await heightOf(node), height);
  const [, faucet = ''] = await call<string[]>(node.rpcUrl, 'eth_accounts');
  for (const { address, decimals } of deployed) {
    const read = async (data: string) =>
      BigInt(await call<string>(node.rpcUrl, 'eth_call', [{ to: address, data }, 'latest']));
    assert.equal(await read('0x313ce567'), BigInt(decimals));
    assert.equal(await read(`0x70a08231${faucet.slice(2).padStart(64, '0')}`), 10n ** 12n * 10n ** BigInt(decimals));
  }
  await node.stop();

  const second = await openStill(freshFolder('node'));
  assert.deepEqual(await deployTokens(second, TOKENS), deployed);
  await second.stop();
  const elsewhere = await startNode(
    { code: 'bep20', chainId: 56 },
    { dataDir: freshFolder('node'), mnemonic: MNEMONIC },
  );
  assert.notEqual((await deployTokens(elsewhere, TOKENS))[0]?.address, deployed[0]?.address);
  await elsewhere.stop();
});

test('a waiting transaction is mined, and mined on until it is final; then the chain rests', async () => {
  const node = await open(freshFolder('node'), { blockMs: 20, idleMs: 3_600_000 });
  const restsAt = () =>
    until('the chain rests', async () => {
      const before = await heightOf(node);
      await sleep(300);
      return (await heightOf(node)) === before && before;
    });
  await restsAt();
  const hash = await sends(node);
  const end = await restsAt();
  const mined = Number(
    (await call<{ blockNumber: string }>(node.rpcUrl, 'eth_getTransactionReceipt', [hash])).blockNumber,
  );
  assert.equal(end, mined + 16);
  assert.equal(Number((await call<Block>(node.rpcUrl, 'eth_getBlockByNumber', ['finalized', false])).number), mined);
  const age = Date.now() / 1000 - Number((await blockAt(node, 'latest')).timestamp);
  assert.ok(Math.abs(age) < 5, `blocks carry the time of day: ${age} s off`);
  await node.stop();
});

test('a kill -9 of the server leaves its node running, and the next server adopts it', async () => {
  const dataDir = freshFolder('node');
  const server = await hold('node', dataDir);
  const url = String(server.got.rpcUrl);
  const hash = await sends({ rpcUrl: url });
  await until('it is mined', () => call(url, 'eth_getTransactionReceipt', [hash]).then((receipt) => receipt !== null));
  const waiting = await sends({ rpcUrl: url });
  await server.kill();
  assert.ok(isAlive(pidOf(dataDir)));

  const next = await open(dataDir, { blockMs: 50 });
  assert.deepEqual([next.adopted, next.fresh, next.rpcUrl], [true, false, url]);
  await until('what waited in its pool is mined', () =>
    call(url, 'eth_getTransactionReceipt', [waiting]).then((receipt) => receipt !== null),
  );
  await next.stop();
  assert.ok(!isAlive(pidOf(dataDir)), 'stopped, though it was not our child');
});

test('a chain keeps its genesis however often its node is started again', async () => {
  const dataDir = freshFolder('node');
  const geneses = new Set<string>();
  for (let start = 1; start <= 5; start++) {
    const node = await openStill(dataDir);
    await node.mine();
    geneses.add((await blockAt(node, 0)).hash);
    assert.equal((await blockAt(node, 1)).parentHash, (await blockAt(node, 0)).hash);
    await node.stop();
    await sleep(1_000); // two geneses of one second are the same block
  }
  assert.equal(geneses.size, 1);
});

test('a node that dies returns on the same port with everything saved under the same hashes', async () => {
  const dataDir = freshFolder('node');
  const node = await open(dataDir, { blockMs: 50 });
  const [usdc] = await deployTokens(node, TOKENS);
  const hash = await sends(node);
  await node.mine();
  const filter = { fromBlock: '0x0', toBlock: 'latest', address: usdc?.address, topics: [TRANSFER] };
  const evidence = async () => ({
    genesis: (await blockAt(node, 0)).hash,
    first: (await blockAt(node, 1)).hash,
    transfers: await call<unknown[]>(node.rpcUrl, 'eth_getLogs', [filter]),
    sent: await call<object>(node.rpcUrl, 'eth_getTransactionByHash', [hash]),
    receipt: await call<object>(node.rpcUrl, 'eth_getTransactionReceipt', [hash]),
  });
  const before = await evidence();
  assert.equal(before.transfers.length, 1);
  await killNode(dataDir);
  const after = await until('the node is back', evidence);
  assert.deepEqual(after, before);
  await until('it mines again', async () => {
    const next = await sends(node);
    await sleep(200);
    return (await call(node.rpcUrl, 'eth_getTransactionReceipt', [next])) !== null;
  });
  await node.stop();
});

test('the blocks lost with a node are a reorg of a few blocks', async () => {
  const dataDir = freshFolder('node');
  const node = await openStill(dataDir);
  await until('its first look', async () => (await heightOf(node)) === 1);
  await node.mine(30);
  const saved = await blockAt(node, 'latest');
  // Two blocks that were never saved, one with a transaction, as when the node dies between mining and saving.
  const lost = await sends(node);
  await call(node.rpcUrl, 'evm_mine');
  await sleep(1_100);
  await call(node.rpcUrl, 'evm_mine');
  const forgotten = await blockAt(node, 32);
  await killNode(dataDir);

  await node.mine(3); // brings it back first
  assert.equal((await blockAt(node, Number(saved.number))).hash, saved.hash, 'a block below the lost ones changed');
  const replaced = await blockAt(node, 32);
  assert.notEqual(replaced.hash, forgotten.hash);
  assert.equal(replaced.parentHash, saved.hash);
  assert.equal(await call(node.rpcUrl, 'eth_getTransactionReceipt', [lost]), null);
  await node.stop();
});

test('however fast blocks come, a death loses at most four of them', async () => {
  const dataDir = freshFolder('node');
  const node = await open(dataDir, { blockMs: 1, idleMs: 0 });
  await until('a hundred blocks', async () => (await heightOf(node)) > 100);
  node.detach();
  const head = await until('the loop to end', async () => {
    const before = await heightOf(node);
    await sleep(200);
    return (await heightOf(node)) === before && before;
  });
  await killNode(dataDir);
  const next = await openStill(dataDir);
  const kept = (await heightOf(next)) - 1; // it has mined one since
  assert.ok(head - kept <= 4, `lost ${head - kept} of ${head} blocks`);
  await next.stop();
});

test('a chain whose node and server are both gone continues, and forgets only empty blocks of long ago', async () => {
  const dataDir = freshFolder('node');
  const node = await openStill(dataDir);
  const hash = await sends(node);
  await node.mine();
  await node.mine(1_500);
  const at = Number(
    (await call<{ blockNumber: string }>(node.rpcUrl, 'eth_getTransactionReceipt', [hash])).blockNumber,
  );
  const [genesis, withTransaction, recent] = await Promise.all([
    blockAt(node, 0),
    blockAt(node, at),
    blockAt(node, 600),
  ]);
  const head = await heightOf(node);
  await node.stop();

  const next = await openStill(dataDir);
  assert.deepEqual([next.adopted, next.fresh, next.rpcUrl], [false, false, node.rpcUrl]);
  assert.ok((await heightOf(next)) >= head);
  assert.deepEqual(await Promise.all([blockAt(next, 0), blockAt(next, at), blockAt(next, 600)]), [
    genesis,
    withTransaction,
    recent,
  ]);
  assert.equal(await blockAt(next, 100), null);
  await next.mine(2);
  await next.stop();
});

test('a port that another program has taken since is left alone', async () => {
  const dataDir = freshFolder('node');
  const first: SandboxNode = await openStill(dataDir);
  await first.stop();
  const squatter = createServer();
  await new Promise<void>((done) =>
    squatter.listen({ host: '127.0.0.1', port: Number(new URL(first.rpcUrl).port) }, done),
  );
  const second = await openStill(dataDir);
  assert.notEqual(second.rpcUrl, first.rpcUrl);
  assert.equal((await blockAt(second, 0)).number, '0x0');
  await second.stop();
  squatter.close();
});

test('a process that merely reuses the number of an earlier node is neither adopted nor ended', async () => {
  const dataDir = freshFolder('node');
  await (await openStill(dataDir)).stop();
  const path = join(dataDir, 'chains', SPEC.code, 'node.json');
  const note = JSON.parse(readFileSync(path, 'utf8')) as object;
  const bystander = await hold('lock', freshFolder('lock'));
  writeFileSync(path, JSON.stringify({ ...note, pid: bystander.child.pid }));
  const node = await openStill(dataDir);
  assert.equal(node.adopted, false);
  assert.ok(isAlive(bystander.child.pid ?? 0));
  await node.stop();
  await bystander.kill();
});
