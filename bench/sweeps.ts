/**
 * Sweeps, compared with the same chain transactions sent by a bare viem client: per deposit one that sends gas to the deposit
 * address, and one that moves the token from there.
 *
 * Ours are the sweeps that lives.ts has held back: nothing else happens then, except following the chain. The node's time is not
 * counted on either side. The limit knows nonces, gas and fees in advance, stores nothing, and reads each receipt once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { createWalletClient, http, type PublicActions, publicActions } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { ANVIL_MNEMONIC, type Anvil, data, deployToken, type Hex, startAnvil } from '../server/test/support/anvil.ts';
import { withClient } from './cluster.ts';
import { cpuOf } from './cpu.ts';
import type { Server } from './lives.ts';
import type { Pair } from './pairs.ts';

const GOAL = 0.5;
const PATIENCE_MS = 300_000;
const GAS = 100_000n;
const FEE = { maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
/** The node deploys from its first account, and deposit addresses come from the same seed, so another index is used here. */
const HOT = mnemonicToAccount(ANVIL_MNEMONIC, { addressIndex: 5 });

/** Above every deposit. */
const HELD_UNITS = '1e40';

/** Holds sweeping back, by its minimum, until `releaseSweeps`. */
export async function holdSweeps(client: pg.Client): Promise<void> {
  await client.query('create table if not exists held_sweeps as select asset, min_units from sweep_minimums');
  await client.query(`update sweep_minimums set min_units = ${HELD_UNITS}`);
}

/** Waits until every held deposit is final, and then makes all of them due. */
export async function releaseSweeps(client: pg.Client): Promise<void> {
  for (const giveUpAt = Date.now() + PATIENCE_MS; ; await sleep(200)) {
    const { rows } = await client.query(
      'select from chain_deposits d join chains c using (rail) where d.block > c.finalized limit 1',
    );
    if (rows.length === 0) break;
    if (Date.now() > giveUpAt) throw new Error('the deposits do not become final');
  }
  await client.query('update sweep_minimums m set min_units = h.min_units from held_sweeps h where h.asset = m.asset');
  await client.query('drop table held_sweeps');
  await client.query(`update chain_deposits set sweep_due = '-infinity' where sweep is null`);
}

/** @returns undefined if everything was swept already */
export async function measureSweeps({ ours, adminUrl, idle }: Server): Promise<Pair | undefined> {
  const found = await withClient(
    adminUrl,
    async (client) => {
      await releaseSweeps(client);
      const before = await sweepsOf(client);
      const [cpuBefore, began] = [cpuOf([ours.pid]), performance.now()];
      let now = before;
      for (const giveUpAt = Date.now() + PATIENCE_MS; now.left > 0; now = await sweepsOf(client)) {
        if (Date.now() > giveUpAt) throw new Error(`${now.left} deposits are not swept`);
        await sleep(100);
      }
      const seconds = (performance.now() - began) / 1_000;
      const cpu = cpuOf([ours.pid]) - cpuBefore - idle.cpu * 10_000 * seconds;
      return { count: now.done - before.done, cpu, seconds };
    },
    'cloverleaf',
  );
  if (found.count === 0) return undefined;
  const limit = await bare(found.count);
  return {
    name: 'a sweep',
    goal: GOAL,
    ratio: limit / (found.cpu / found.count),
    ours: found.cpu / found.count,
    limit,
    notes: [
      `${found.count} sweeps, ${(found.count / found.seconds).toFixed(1)} a second, two chain transactions each; blocks come once a second`,
    ],
  };
}

/** `left`: deposits without a sweep, and sweeps that have not ended. `done`: settled sweeps. */
async function sweepsOf(client: pg.Client): Promise<{ left: number; done: number }> {
  const { rows } = await client.query<{ left: number; done: number }>(
    `select (select count(*) from chain_deposits where sweep is null)::int
              + (select count(*) from own_transfers where kind = 'sweep' and ended_at is null)::int as left,
            (select count(*) from own_transfers where kind = 'sweep' and state = 'settled')::int as done`,
  );
  return rows[0] ?? { left: 0, done: 0 };
}

/** CPU microseconds per sweep. */
async function bare(count: number): Promise<number> {
  const anvil = await startAnvil();
  try {
    const token = (await deployToken(anvil)) as Hex;
    const client = createWalletClient({ account: HOT, transport: http(anvil.url) }).extend(publicActions);
    const owners = Array.from({ length: count }, (_, at) =>
      mnemonicToAccount(ANVIL_MNEMONIC, { addressIndex: 100 + at }),
    );
    for (const { address } of owners) await anvil.send({ to: token, data: data('mint(address,uint256)', address, 5n) });
    await anvil.mine();
    const common = { ...FEE, gas: GAS, chainId: Number(anvil.chainId), type: 'eip1559' } as const;
    const before = process.cpuUsage();
    const gas: Hex[] = [];
    for (const [nonce, { address }] of owners.entries())
      gas.push(
        await sent(client, await HOT.signTransaction({ ...common, nonce, to: address, value: GAS * FEE.maxFeePerGas })),
      );
    await mined(client, anvil, gas);
    const moved: Hex[] = [];
    for (const owner of owners) {
      const call = data('transfer(address,uint256)', HOT.address, 5n) as Hex;
      moved.push(await sent(client, await owner.signTransaction({ ...common, nonce: 0, to: token, data: call })));
    }
    await mined(client, anvil, moved);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / count;
  } finally {
    await anvil.stop();
  }
}

const sent = (
  client: Pick<PublicActions, never> & { sendRawTransaction(of: { serializedTransaction: Hex }): Promise<Hex> },
  raw: Hex,
) => client.sendRawTransaction({ serializedTransaction: raw });

async function mined(client: Pick<PublicActions, 'getTransactionReceipt'>, anvil: Anvil, hashes: readonly Hex[]) {
  await anvil.mine();
  for (const hash of hashes) {
    const { status } = await client.getTransactionReceipt({ hash });
    if (status !== 'success') throw new Error(`${hash} failed`);
  }
}
