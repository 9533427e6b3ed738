/**
 * Sweeps in batches on a real node with the real books: many deposits in one chain transaction, each moved once and booked once,
 * whatever fails inside it.
 *
 * Long because all of its claims share one node and its contracts.
 */
import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { encodeDeployData, encodeFunctionData, parseAbi } from 'viem/utils';
import study from '../../../bench/sweeps/study.artifact.json' with { type: 'json' };
import { randomHex } from '../../src/base/ids.ts';
import { trialBalance } from '../../src/ledger/index.ts';
import { liftKillSwitch, setKillSwitch } from '../../src/partners/index.ts';
import { type RailContext, watchAddress } from '../../src/rails/chain.ts';
import { batchCall } from '../../src/rails/evm/batch.ts';
import { type EvmOptions, localSigner, sweepSigner } from '../../src/rails/evm/index.ts';
import artifact from '../../src/rails/evm/Sweeper.artifact.json' with { type: 'json' };
import { openItems, reconcileRail } from '../../src/reconcile/index.ts';
import { setMinimum } from '../../src/treasury/index.ts';
import { ANVIL_FIRST, ANVIL_MNEMONIC, type Anvil, data, type Hex, startAnvil } from '../support/anvil.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { openRows, type Rows } from '../support/rows.ts';
import { bookCapital, bookedAt, deafNode, sweepProcesses } from '../support/sweepprocess.ts';
import { targetOf } from '../support/targets.ts';

const FINALITY = 6;
const GWEI = 10n ** 9n;
const ETHER = 10n ** 18n;
const USDC = 'usdc.anvil';
const ETH = 'eth.anvil';
const ABI = parseAbi(['function setBlocked(address account, bool to)']);
const parent = HDKey.fromMasterSeed(mnemonicToSeedSync(ANVIL_MNEMONIC)).derive("m/44'/60'/1'");

let fixture: Fixture;
let rows: Rows;
let anvil: Anvil;
/** A token that blocks accounts, as large issuers' do. */
let usdc: Hex;
let worlds = 0;

before(async () => {
  [fixture, anvil] = await Promise.all([freshFixture(), startAnvil()]);
  rows = await openRows(fixture.adminUrl);
  usdc = await deployed(study.contracts.GuardedToken);
  await rows.cryptoAsset(USDC, 'anvil', usdc);
  await rows.cryptoAsset(ETH, 'anvil', null, 18);
  await rows.policy('anvil', USDC, 0n, 2);
  await fixture.db.asSystem((tx) => setMinimum(tx, USDC, 100n));
  await anvil.send({ to: usdc, data: data('mint(address,uint256)', ANVIL_FIRST, 10n ** 15n) });
  await anvil.mine();
});
after(async () => {
  await rows.close();
  await anvil.stop();
  await fixture.stop();
});

async function deployed(of: { abi: readonly unknown[]; bytecode: string }, args: unknown[] = []): Promise<Hex> {
  const hash = await anvil.send({ data: encodeDeployData({ abi: of.abi, bytecode: of.bytecode as Hex, args }) });
  await anvil.mine();
  const receipt = await anvil.rpc<{ contractAddress: string }>('eth_getTransactionReceipt', [hash]);
  return receipt.contractAddress.toLowerCase() as Hex;
}

type Environment = Awaited<ReturnType<typeof openEnvironment>>;

interface Options {
  most?: number;
  mostUnits?: bigint;
  /** The wallet that the contract obeys, if not the hot one. */
  sweeperOf?: string;
  mayLeave?: RailContext['mayLeave'];
  pace?: EvmOptions['pace'];
}

/** A rail of its own on the shared node, with a hot wallet and a sweeper contract of its own and the real books behind it. */
async function openEnvironment({
  most = 100,
  mostUnits = 10n ** 12n,
  sweeperOf = '',
  mayLeave,
  pace = {},
}: Options = {}) {
  worlds += 1;
  const code = `evm.batch${worlds}`;
  const key: Hex = `0x${randomHex(32)}`;
  const common = { chainId: anvil.chainId, allowedContracts: { [usdc]: mostUnits }, maxFeeUnits: ETHER };
  const { address: hot } = localSigner(key, { ...common, maxNativeUnitsPerTransfer: ETHER });
  const sweeper = await deployed(artifact, [sweeperOf || hot]);
  const limits = { ...common, sweeper, maxNativeUnitsPerTransfer: ETHER };
  const settings: EvmOptions = {
    code,
    chain: 'anvil',
    rpcUrl: anvil.url,
    chainId: anvil.chainId,
    xpub: parent.publicExtendedKey,
    signers: { hot: localSigner(key, limits) },
    sweepSigner: sweepSigner(parent.privateExtendedKey, { ...limits, to: hot }),
    finality: FINALITY,
    maxGasPrice: 500n * GWEI,
    batch: { sweeper, most },
    pace: { lowerBranchMs: 0, nativeEveryMs: 0, idleMs: 0, rebroadcastMs: 0, ...pace },
  };
  const { facts, open } = sweepProcesses({ fixture, settings, mayLeave });
  const one = open();

  await anvil.rpc('anvil_setBalance', [hot, `0x${ETHER.toString(16)}`]);
  await one.follow();
  await bookCapital(fixture, code, ETH, ETHER);
  let index = 1_000_000n + BigInt(worlds) * 1_000n;

  const world = {
    ...one,
    code,
    settings,
    key,
    hot,
    sweeper,
    facts,
    open,
    /** Deposit addresses of orders that are over, each with a final deposit. */
    async deposits(count: number, units = 500n): Promise<string[]> {
      const all: string[] = [];
      for (let at = 0; at < count; at += 1) {
        index += 1n;
        const mine = index;
        const target = targetOf(one.rail, mine);
        const order = await rows.order(USDC, code, target);
        await rows.query(`update orders set state = 'expired' where id = $1`, [order.orderId]);
        await fixture.db.asSystem((tx) => watchAddress(tx, { rail: code, address: target, index: mine, ...order }));
        all.push(target);
      }
      await world.pay(all, units);
      return all;
    },
    async pay(addresses: readonly string[], units = 500n): Promise<void> {
      for (const at of addresses) await anvil.send({ to: usdc, data: data('transfer(address,uint256)', at, units) });
      await world.final();
    },
    /** Mines until everything on the chain is final, and has it read. */
    async final(): Promise<void> {
      await anvil.mine(FINALITY + 1);
      await one.follow();
    },
    async sweeps(by = one, rounds = 4): Promise<void> {
      for (let round = 0; round < rounds; round += 1) {
        await by.look();
        await anvil.mine(FINALITY + 1);
        await by.follow();
      }
    },
    transfers: () =>
      rows.query<{ key: string; kind: string; address: string; state: string; units: string; why: string | null }>(
        'select key, kind, address, state, units, why from own_transfers where rail = $1 order by created_at, key',
        [code],
      ),
    async states(): Promise<string[]> {
      return (await world.transfers()).map(({ kind, state }) => `${kind} ${state}`);
    },
    /** Batches that were sent, with their gas and type. */
    async batches(): Promise<{ type: string; gasUsed: number; from: string }[]> {
      const sends = await rows.query<{ hash: string }>(
        `select hash from chain_sends where rail = $1 and key like '%:batch:%' and state = 'confirmed' order by id`,
        [code],
      );
      const read = sends.map(({ hash }) =>
        anvil.rpc<{ type: string; gasUsed: string; from: string }>('eth_getTransactionReceipt', [hash]),
      );
      return (await Promise.all(read)).map((one) => ({ ...one, gasUsed: Number(one.gasUsed) }));
    },
    cases: async () =>
      (
        await rows.query<{ kind: string }>(
          `select kind from cases where closed_at is null and subject like '%' || $1 || '%' order by id`,
          [code],
        )
      ).map(({ kind }) => kind),
    booked: (wallet: string, asset: string) => bookedAt(fixture, code, wallet, asset),
    /** Compares every custody account with the chain, to the unit, and every movement with the chain's. */
    async agrees(): Promise<void> {
      for (const wallet of ['deposits', 'hot']) {
        for (const asset of [USDC, ETH])
          assert.equal(await world.booked(wallet, asset), await one.rail.balance(wallet, asset), `${wallet} ${asset}`);
      }
      for (const row of await fixture.db.asSystem(trialBalance)) assert.equal(row.debits, row.credits);
      const outcome = await reconcileRail({ ...fixture, graceMs: 0 }, one.rail, 'begin');
      assert.equal(outcome, 'compared');
      const items = await fixture.db.asSystem((tx) => openItems(tx, code));
      assert.deepEqual(
        items.filter(({ transit }) => transit === null).map(({ kind, key, why }) => `${kind} ${key} ${why}`),
        [],
      );
    },
  };
  return world;
}

const nonceOf = async (address: string) =>
  Number(await anvil.rpc<string>('eth_getTransactionCount', [address, 'latest']));
const held = async (address: string) =>
  BigInt(await anvil.rpc<string>('eth_call', [{ to: usdc, data: data('balanceOf(address)', address) }, 'latest']));
async function block(address: string, to: boolean): Promise<void> {
  const input = encodeFunctionData({ abi: ABI, functionName: 'setBlocked', args: [address as Hex, to] });
  await anvil.send({ to: usdc, data: input });
  await anvil.mine();
}

describe('a batch', () => {
  test('moves many deposits in one transaction of the hot wallet, and books them with its cost', async () => {
    const world = await openEnvironment();
    const all = await world.deposits(5);
    await world.look();
    assert.deepEqual(await world.states(), Array(5).fill('sweep submitted'));
    await anvil.mine();
    await world.follow();
    await world.look();
    assert.equal(await world.booked('hot', USDC), 0n, 'a transfer was booked that a reorg may still reverse');
    await world.final();
    assert.deepEqual(await world.states(), Array(5).fill('sweep settled'));
    assert.equal(await world.booked('hot', USDC), 2_500n);
    assert.equal(await nonceOf(world.hot), 1);
    for (const at of all) assert.deepEqual([await held(at), await nonceOf(at)], [0n, 1]);
    await world.agrees();
    const before = await world.booked('hot', ETH);
    assert.ok(before < ETHER, 'the cost of the batch was not booked');
    await world.sweeps();
    assert.equal((await world.transfers()).length, 5, 'a swept deposit was swept again');
  });

  test('of addresses swept before needs no authorization, and less than half of the gas', async () => {
    const world = await openEnvironment();
    const all = await world.deposits(10);
    await world.sweeps();
    await world.pay(all);
    await world.sweeps();
    const [first, second] = await world.batches();
    assert.deepEqual([first?.type, second?.type], ['0x4', '0x2']);
    assert.ok((second?.gasUsed ?? 0) * 2 < (first?.gasUsed ?? 0), `${second?.gasUsed} after ${first?.gasUsed}`);
    for (const at of all) assert.equal(await nonceOf(at), 1);
    assert.equal(await world.booked('hot', USDC), 10_000n);
    await world.agrees();
  });

  test('settles what has moved and fails the rest, which is swept alone once it can move', async () => {
    const world = await openEnvironment();
    const all = await world.deposits(4);
    const blocked = all[2] ?? '';
    await world.look();
    // After the batch was written: nothing could have told before.
    await anvil.rpc('anvil_dropAllTransactions');
    await block(blocked, true);
    await world.follow();
    await world.sweeps();
    const failed = (await world.transfers()).filter(({ state }) => state === 'failed');
    assert.deepEqual(
      failed.map(({ address, why }) => [address, why]),
      [[blocked, 'its batch was mined, and moved nothing from this address']],
    );
    assert.deepEqual(await world.cases(), ['sweep_failed']);
    assert.equal(await world.booked('hot', USDC), 1_500n);
    assert.deepEqual([await held(blocked), await world.booked('deposits', USDC)], [500n, 500n]);
    await world.agrees();
    await block(blocked, false);
    fixture.clock.advance(3_600_000);
    await world.sweeps(world, 6);
    assert.deepEqual((await world.states()).slice(4), ['sweep settled', 'gas settled']);
    // One nonce for the authorization, one for the sweep alone.
    assert.equal(await nonceOf(blocked), 2);
    assert.equal(await world.booked('hot', USDC), 2_000n);
    await world.agrees();
  });

  test('whose sum is above the signer’s limit is sent in parts', async () => {
    const world = await openEnvironment({ mostUnits: 1_200n });
    await world.deposits(4);
    await world.sweeps();
    assert.deepEqual(await world.states(), Array(4).fill('sweep settled'));
    assert.equal((await world.batches()).length, 2);
    await world.agrees();
  });

  test('has no more deposits than the setting allows', async () => {
    const world = await openEnvironment({ most: 3 });
    await world.deposits(7);
    await world.sweeps();
    assert.equal((await world.batches()).length, 3);
    assert.deepEqual(await world.states(), Array(7).fill('sweep settled'));
    await world.agrees();
  });

  test('is not sent while an operator has stopped its rail', async () => {
    const world = await openEnvironment();
    await world.deposits(2);
    const stop = { kind: 'rail', subject: world.code, by: 'a test', reason: 'a test', at: new Date() } as const;
    await fixture.db.asSystem((tx) => setKillSwitch(tx, stop));
    await world.sweeps();
    assert.deepEqual(await world.states(), Array(2).fill('sweep created'));
    await fixture.db.asSystem((tx) => liftKillSwitch(tx, 'rail', world.code));
    await world.sweeps();
    assert.deepEqual(await world.states(), Array(2).fill('sweep settled'));
    await world.agrees();
  });

  test('whose reservation is given up, because it may not leave, frees its sweeps for the next batch', async () => {
    let isKept = true;
    const world = await openEnvironment({
      mayLeave: async () => (isKept ? { outcome: 'wait', why: 'a kill switch is on' } : { outcome: 'pay' }),
    });
    await world.deposits(3);
    await world.look();
    assert.deepEqual(await rows.query('select from chain_sends where rail = $1', [world.code]), []);
    isKept = false;
    await world.sweeps();
    assert.deepEqual(await world.states(), Array(3).fill('sweep settled'));
    assert.equal(await nonceOf(world.hot), 1);
    await world.agrees();
  });

  test('that reverts as a whole costs its gas and moves nothing; its deposits are swept alone', async () => {
    // A contract that obeys another wallet.
    const world = await openEnvironment({ sweeperOf: ANVIL_FIRST });
    const all = await world.deposits(2);
    await world.look();
    await world.final();
    assert.deepEqual(await world.states(), Array(2).fill('sweep failed'));
    assert.deepEqual(await world.cases(), ['sweep_failed', 'sweep_failed']);
    assert.equal(await world.booked('deposits', USDC), 1_000n);
    assert.ok((await world.booked('hot', ETH)) < ETHER, 'the cost was not booked');
    await world.agrees();
    fixture.clock.advance(3_600_000);
    await world.sweeps();
    for (const at of all) assert.equal(await held(at), 0n);
    assert.equal(await world.booked('hot', USDC), 1_000n);
    await world.agrees();
  });

  test('whose gas the hot wallet cannot pay opens one case, and its deposits are swept alone once the wallet is funded', async () => {
    const world = await openEnvironment();
    await world.deposits(3);
    await anvil.rpc('anvil_setBalance', [world.hot, '0x0']);
    for (let round = 0; round < 3; round += 1) await world.look();
    assert.deepEqual(await world.cases(), ['gas_short']);
    await anvil.rpc('anvil_setBalance', [world.hot, `0x${ETHER.toString(16)}`]);
    await world.sweeps();
    const settled = (kind: string) => Array(3).fill(`${kind} settled`);
    assert.deepEqual(await world.states(), [...settled('sweep'), ...settled('gas')]);
    assert.deepEqual(await world.cases(), []);
    await world.agrees();
  });

  test('that a reorg removes is mined again and booked once', async () => {
    const world = await openEnvironment();
    await world.deposits(3);
    await world.look();
    await anvil.mine(2);
    await world.follow();
    await anvil.rpc('anvil_reorg', [2, []]);
    await anvil.rpc('anvil_dropAllTransactions');
    await anvil.mine();
    await world.follow();
    await world.sweeps();
    assert.deepEqual(await world.states(), Array(3).fill('sweep settled'));
    assert.equal(await world.booked('hot', USDC), 1_500n);
    assert.equal((await world.batches()).length, 1);
    await world.agrees();
  });
});

describe('a batch for which a higher fee is offered', () => {
  for (const [mined, at] of [
    ['the last version', -1],
    ['the first version', 0],
  ] as const)
    test(`is booked once with the cost of ${mined} if that is mined, and a reorg changes nothing`, async () => {
      const world = await openEnvironment({ pace: { stuckMs: 0 } });
      const all = await world.deposits(3);
      await world.look();
      // Two processes, each of which offers a higher fee.
      await Promise.all([world.follow(), world.open().follow()]);
      await world.follow();
      const versions = () =>
        rows.query<{ version: number; nonce: bigint; hash: string; raw: Buffer; state: string; cost: bigint | null }>(
          `select version, nonce, hash, raw, state, cost_units as cost from chain_sends
            where rail = $1 and key like '%:batch:%' order by version`,
          [world.code],
        );
      const sent = await versions();
      assert.ok(sent.length > 1, 'no higher fee was offered');
      assert.deepEqual([...new Set(sent.map(({ nonce }) => nonce))], [0n]);
      const one = sent.at(at);
      assert.ok(one);
      const include = async () => {
        await anvil.rpc('anvil_dropAllTransactions');
        await anvil.rpc('eth_sendRawTransaction', [`0x${one.raw.toString('hex')}`]);
        await anvil.mine(2);
      };
      await include();
      await world.follow();
      await anvil.rpc('anvil_reorg', [2, []]);
      await include();
      await world.sweeps();
      assert.deepEqual(await world.states(), Array(3).fill('sweep settled'));
      const ended = (await versions()).filter(({ state }) => state === 'confirmed');
      assert.deepEqual(
        ended.map(({ hash }) => hash),
        [one.hash],
      );
      for (const address of all) assert.deepEqual([await held(address), await nonceOf(address)], [0n, 1]);
      assert.equal(await world.booked('hot', USDC), 1_500n);
      const references = await rows.query<{ reference: string }>(
        'select distinct reference from own_transfers where rail = $1',
        [world.code],
      );
      assert.deepEqual(
        references.map(({ reference }) => reference),
        [one.hash],
      );
      await world.agrees();
      // What was swept leaves the addresses free for the next batch, without further authorizations.
      await world.pay(all);
      await world.sweeps();
      assert.equal(await world.booked('hot', USDC), 3_000n);
      await world.agrees();
    });
});

describe('without batches', () => {
  test('a single deposit waits for others, and is then swept alone', async () => {
    const world = await openEnvironment();
    await world.deposits(1);
    await world.look();
    assert.deepEqual(await world.states(), ['sweep created']);
    fixture.clock.advance(30_000);
    await world.sweeps();
    assert.deepEqual(await world.states(), ['sweep settled', 'gas settled']);
    await world.agrees();
  });

  test('an address is swept alone before and after it was in a batch, and after the setting is gone', async () => {
    const world = await openEnvironment();
    const alone = world.open({ batch: undefined as never });
    const all = await world.deposits(2);
    await world.sweeps(alone);
    await world.pay(all);
    await world.sweeps();
    assert.equal((await world.batches()).length, 1);
    for (const at of all) assert.equal(await nonceOf(at), 2);
    await world.pay(all);
    await world.sweeps(alone);
    for (const at of all) assert.deepEqual([await held(at), await nonceOf(at)], [0n, 3]);
    assert.equal(await world.booked('hot', USDC), 3_000n);
    await world.agrees();
  });
});

test('several processes sweep each address once', async () => {
  const world = await openEnvironment();
  const others = [world.open(), world.open(), world.open()];
  await world.deposits(6);
  for (let round = 0; round < 4; round += 1) {
    await Promise.all([world, ...others].map((one) => one.look()));
    await anvil.mine(FINALITY + 1);
    await Promise.all([world, ...others].map((one) => one.follow()));
  }
  assert.deepEqual(await world.states(), Array(6).fill('sweep settled'));
  assert.equal(await world.booked('hot', USDC), 3_000n);
  await world.agrees();
});

describe('a crash', () => {
  const killed = () => Promise.reject(new Error('killed'));
  const dying = (world: Environment) => {
    const hot = world.settings.signers?.hot;
    assert.ok(hot);
    return { hot: { ...hot, sign: killed } };
  };
  const stages: [string, (world: Environment, t: TestContext) => Promise<unknown>][] = [
    [
      'after the sweeps were written',
      async (world) => world.open({}, (rail) => ({ ...rail, sendBatch: killed })).look(),
    ],
    ['after the nonce of the batch was taken', async (world) => world.open({ signers: dying(world) }).look()],
    ['after the batch was signed', async (world, t) => world.open({ rpcUrl: await deafNode(anvil.url, t) }).look()],
    [
      'after the batch was broadcast',
      async (world) =>
        world
          .open({}, (rail) => ({ ...rail, sendBatch: async (batch) => (await rail.sendBatch(batch), killed()) }))
          .look(),
    ],
    [
      'before the batch was mined, with a node that forgot its pool',
      async (world) => {
        await world.look();
        await anvil.rpc('anvil_dropAllTransactions');
      },
    ],
    [
      'after the batch was final, before it was heard of',
      async (world) => {
        await world.look();
        await anvil.mine(FINALITY + 1);
      },
    ],
  ];
  for (const [when, crash] of stages) {
    test(`${when} costs time only`, async (t) => {
      const world = await openEnvironment();
      const all = await world.deposits(3);
      await crash(world, t).catch((error) => assert.match(String(error), /killed/));
      // A reservation of a dead process is taken over when it is old enough to count as orphaned.
      await rows.query(`update chain_sends set reserved_at = now() - interval '1 minute' where state = 'reserved'`);
      const next = world.open();
      await next.follow();
      await world.sweeps(next);
      assert.deepEqual(await world.states(), Array(3).fill('sweep settled'));
      assert.equal(await nonceOf(world.hot), 1);
      for (const at of all) assert.deepEqual([await held(at), await nonceOf(at)], [0n, 1]);
      assert.equal(await world.booked('hot', USDC), 1_500n);
      await world.agrees();
    });
  }
});

describe('the signer', () => {
  test('signs batches of listed tokens up to its limit, and authorizes the sweeper contract only', async () => {
    const world = await openEnvironment({ mostUnits: 1_000n });
    const hot = world.settings.signers?.hot;
    const deposit = world.settings.sweepSigner?.(7n);
    assert.ok(hot && deposit);
    const [at] = await world.deposits(1);
    const batch = (units: bigint, token: string = usdc) => {
      const made = evmCall(world, token, [
        { address: at ?? '', units },
        { address: world.hot, units: 1n },
      ]);
      return { ...made, gas: 1n, price: 1n };
    };
    assert.equal(await hot.refuses(batch(999n)), undefined);
    assert.match((await hot.refuses(batch(1_000n))) ?? '', /more than one transfer/);
    assert.match((await hot.refuses(batch(1n, world.sweeper))) ?? '', /contract that is not allowed/);
    assert.match((await hot.refuses({ ...batch(1n), value: 1n })) ?? '', /no batch/);
    assert.match((await hot.refuses({ ...batch(1n), data: Buffer.from('00', 'hex') })) ?? '', /no batch/);
    assert.match((await deposit.refuses(batch(1n))) ?? '', /deposit address/);
    assert.equal((await deposit.authorize?.(world.sweeper, 0n))?.chainId, Number(anvil.chainId));
    await assert.rejects(async () => await deposit.authorize?.(usdc, 0n), /another contract/);
  });

  test('without a sweeper contract in its limits signs no batch, and sweeps go alone', async () => {
    const world = await openEnvironment();
    const hot = localSigner(world.key, {
      chainId: anvil.chainId,
      allowedContracts: { [usdc]: 10n ** 12n },
      maxFeeUnits: ETHER,
      maxNativeUnitsPerTransfer: ETHER,
    });
    const careful = world.open({ signers: { hot } });
    await world.deposits(2);
    await world.sweeps(careful);
    assert.deepEqual(await world.states(), ['sweep settled', 'sweep settled', 'gas settled', 'gas settled']);
    assert.equal((await world.batches()).length, 0);
    await world.agrees();
  });
});

function evmCall(world: Environment, token: string, moves: { address: string; units: bigint }[]) {
  const made = batchCall(world.sweeper, token, moves);
  assert.ok(!('rejected' in made));
  return made;
}
