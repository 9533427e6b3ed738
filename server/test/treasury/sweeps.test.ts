/**
 * Sweeps on a real node with the real books: after any fault our balances equal those on the chain.
 *
 * Long because its claims share one node and one treasury.
 */
import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { keccak256 } from 'viem/utils';
import { BugError } from '../../src/base/errors.ts';
import { randomHex } from '../../src/base/ids.ts';
import { balancesOf, trialBalance } from '../../src/ledger/index.ts';
import { liftKillSwitch, setKillSwitch } from '../../src/partners/index.ts';
import { depositWallet, type RailContext, trustFundingSource, watchAddress } from '../../src/rails/chain.ts';
import { type EvmOptions, localSigner, sweepSigner } from '../../src/rails/evm/index.ts';
import { encodeTransfer } from '../../src/rails/evm/transfers.ts';
import { setMinimum } from '../../src/treasury/index.ts';
import { ANVIL_FIRST, ANVIL_MNEMONIC, type Anvil, data, deployToken, startAnvil } from '../support/anvil.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { isLong } from '../support/long.ts';
import { openRows, type Rows } from '../support/rows.ts';
import { bookCapital, bookedAt, deafNode, sweepProcesses } from '../support/sweepprocess.ts';
import { targetOf } from '../support/targets.ts';

const FINALITY = 6;
const GWEI = 10n ** 9n;
const ETHER = 10n ** 18n;
const USDC = 'usdc.anvil';
const DAI = 'dai.anvil';
const ETH = 'eth.anvil';
const parent = HDKey.fromMasterSeed(mnemonicToSeedSync(ANVIL_MNEMONIC)).derive("m/44'/60'/1'");

let fixture: Fixture;
let rows: Rows;
let anvil: Anvil;
let usdc: string;
let dai: string;
let worlds = 0;

before(async () => {
  [fixture, anvil] = await Promise.all([freshFixture(), startAnvil()]);
  rows = await openRows(fixture.adminUrl);
  usdc = await deployToken(anvil);
  dai = await deployToken(anvil);
  await rows.cryptoAsset(USDC, 'anvil', usdc);
  await rows.cryptoAsset(DAI, 'anvil', dai);
  await rows.cryptoAsset(ETH, 'anvil', null, 18);
  for (const asset of [USDC, DAI]) {
    await rows.policy('anvil', asset, 0n, 2);
    await fixture.db.asSystem((tx) => setMinimum(tx, asset, 100n));
  }
  for (const token of [usdc, dai])
    await anvil.send({ to: token, data: data('mint(address,uint256)', ANVIL_FIRST, 10n ** 15n) });
  await anvil.mine();
});
after(async () => {
  await rows.close();
  await anvil.stop();
  await fixture.stop();
});

type Environment = Awaited<ReturnType<typeof openEnvironment>>;

/** A rail of its own on the shared node, with a hot wallet of its own and the real books behind it. */
async function openEnvironment(options: Partial<EvmOptions> = {}, mayLeave?: RailContext['mayLeave']) {
  worlds += 1;
  const code = `evm.world${worlds}`;
  const limits = {
    chainId: anvil.chainId,
    allowedContracts: { [usdc]: 10n ** 12n, [dai]: 10n ** 12n },
    maxNativeUnitsPerTransfer: ETHER,
    maxFeeUnits: ETHER,
  };
  const hot = localSigner(`0x${randomHex(32)}`, limits);
  const settings: EvmOptions = {
    code,
    chain: 'anvil',
    rpcUrl: anvil.url,
    chainId: anvil.chainId,
    xpub: parent.publicExtendedKey,
    signers: { hot },
    sweepSigner: sweepSigner(parent.privateExtendedKey, { ...limits, to: hot.address }),
    finality: FINALITY,
    maxGasPrice: 500n * GWEI,
    ...options,
    pace: { lowerBranchMs: 0, nativeEveryMs: 0, idleMs: 0, rebroadcastMs: 0 },
  };
  const { facts, open } = sweepProcesses({ fixture, settings, mayLeave });
  const one = open();

  await anvil.rpc('anvil_setBalance', [hot.address, `0x${ETHER.toString(16)}`]);
  await one.follow();
  await bookCapital(fixture, code, ETH, ETHER);
  let index = BigInt(worlds) * 1_000n;

  const world = {
    ...one,
    code,
    settings,
    hot: hot.address,
    facts,
    open,
    limits,
    /** A deposit address, by default of an order that is over. */
    async address(state = 'expired', asset = USDC): Promise<{ at: string; index: bigint }> {
      index += 1n;
      const mine = index;
      const target = targetOf(one.rail, mine);
      const order = await rows.order(asset, code, target);
      await rows.query('update orders set state = $2 where id = $1', [order.orderId, state]);
      await fixture.db.asSystem((tx) => watchAddress(tx, { rail: code, address: target, index: mine, ...order }));
      return { at: target, index: mine };
    },
    /** Mines until everything on the chain is final, and has it read. */
    async final(): Promise<void> {
      await anvil.mine(FINALITY + 1);
      await one.follow();
    },
    /** Runs as many checks and mines as many blocks as a sweep needs from its choice to its end. */
    async sweeps(by = one): Promise<void> {
      for (let round = 0; round < 4; round += 1) {
        await by.look();
        await anvil.mine(FINALITY + 1);
        await by.follow();
      }
    },
    transfers: () =>
      rows.query<{ key: string; kind: string; state: string; units: string; why: string | null }>(
        'select key, kind, state, units, why from own_transfers where rail = $1 order by created_at, key',
        [code],
      ),
    async states(): Promise<string[]> {
      return (await world.transfers()).map(({ kind, state }) => `${kind} ${state}`);
    },
    cases: async () =>
      (
        await rows.query<{ kind: string }>(
          `select kind from cases where closed_at is null and (subject like '%' || $1 || '%'
             or subject in (select 'deposit:' || id from deposits where rail = $1 and origin = 'credit')) order by id`,
          [code],
        )
      ).map(({ kind }) => kind),
    booked: (wallet: string, asset: string) => bookedAt(fixture, code, wallet, asset),
    /** Compares every custody account with the chain, to the unit, including the native asset. */
    async agrees(): Promise<void> {
      for (const wallet of ['deposits', 'hot']) {
        for (const asset of [USDC, DAI, ETH])
          assert.equal(await world.booked(wallet, asset), await one.rail.balance(wallet, asset), `${wallet} ${asset}`);
      }
      for (const row of await fixture.db.asSystem(trialBalance)) assert.equal(row.debits, row.credits);
    },
    /** Deposits of customers in the native asset that were booked. */
    nativeFound: () =>
      facts.flatMap((fact) => (fact.type === 'deposit_confirmed' && fact.asset === ETH ? [fact.units] : [])),
  };
  return world;
}

const pays = (to: string, units: bigint, token = usdc) =>
  anvil.send({ to: token, data: data('transfer(address,uint256)', to, units) });
const givesCoin = (to: string, value: bigint) => anvil.send({ to, value });

async function deposited(world: Environment, units = 500n): Promise<string> {
  const { at } = await world.address();
  await pays(at, units);
  await world.final();
  return at;
}

/** The test token keeps its balances in the mapping at slot 3. */
async function setTokens(address: string, units: bigint): Promise<void> {
  const slot = keccak256(`0x${address.slice(2).padStart(64, '0')}${'3'.padStart(64, '0')}`);
  await anvil.rpc('anvil_setStorageAt', [usdc, slot, `0x${units.toString(16).padStart(64, '0')}`]);
}

async function reorgAndForget(depth: number): Promise<void> {
  await anvil.rpc('anvil_reorg', [depth, []]);
  await anvil.rpc('anvil_dropAllTransactions');
}

describe('a nonce that was given up', () => {
  /** A send from the hot wallet that is given up, and a later one that is with the node. */
  async function givenUp() {
    const kept = new Set<string>();
    const world = await openEnvironment({}, async (_, { key }) =>
      kept.has(key) ? { outcome: 'wait', why: 'a kill switch is on' } : { outcome: 'pay' },
    );
    await world.address();
    await setTokens(world.hot, 1_000n);
    const sending = (n: number, units: bigint) => {
      const key = `pay_${world.code.replace('evm.world', '')}_${n}`;
      const address = `0x${randomHex(20)}`;
      return { key, asset: USDC, units, destination: { kind: 'address', address } } as const;
    };
    const [first, second] = [sending(1, 5n), sending(2, 6n)];
    const { hot } = world.settings.signers ?? {};
    assert.ok(hot);
    const dying = { ...hot, sign: () => Promise.reject(new Error('killed')) };
    await assert.rejects(world.open({ signers: { hot: dying } }).rail.send(first), /killed/);
    await rows.query('update chain_sends set signing_at = null where key = $1', [first.key]);
    assert.equal((await world.rail.send(second)).outcome, 'submitted');
    kept.add(first.key);
    assert.deepEqual(await world.rail.status(first.key), { outcome: 'absent' });
    const isOld = () => rows.query(`update released_nonces set released_at = now() - interval '1 minute'`);
    return { world, first, second, kept, isOld, sending };
  }
  const paid = async (to: { destination: { address: string } }) =>
    BigInt(
      await anvil.rpc<string>('eth_call', [
        { to: usdc, data: data('balanceOf(address)', to.destination.address) },
        'latest',
      ]),
    );

  test('is filled with the cheapest transaction if no send takes it, because later sends would wait forever', async () => {
    const { world, first, second, isOld } = await givenUp();
    await world.final();
    assert.equal(await paid(second), 0n, 'the later send was mined without the earlier nonce');
    await world.look();
    assert.deepEqual(await world.transfers(), [], 'the nonce was filled before the next send could take it');
    await isOld();
    // The later send is open, so every poll checks its chain, and the sweeps look at their rows after each.
    await world.follow();
    await world.look();
    assert.deepEqual(await world.states(), ['gas submitted']);
    await world.final();
    await world.look();
    assert.deepEqual([await paid(second), await paid(first)], [6n, 0n]);
    assert.deepEqual(await world.states(), ['gas settled']);
    assert.equal(await world.booked('deposits', ETH), 1n);
    await world.look();
    assert.equal((await world.transfers()).length, 1);
  });

  test('is not filled where another send takes it first', async () => {
    const { world, second, kept, isOld, sending } = await givenUp();
    await isOld();
    const third = sending(3, 7n);
    assert.equal((await world.rail.send(third)).outcome, 'submitted');
    kept.clear();
    await world.look();
    await world.final();
    assert.deepEqual([await paid(second), await paid(third)], [6n, 7n]);
    assert.deepEqual(await world.transfers(), []);
  });
});

describe('a sweep', () => {
  test('sends gas ahead, moves the deposit, and is booked with the cost of both', async () => {
    const world = await openEnvironment();
    const at = await deposited(world);
    await world.look();
    assert.deepEqual(await world.states(), ['sweep created', 'gas submitted']);
    await anvil.mine();
    await world.look();
    assert.deepEqual(await world.states(), ['sweep submitted', 'gas submitted']);
    assert.equal(await world.booked('hot', USDC), 0n, 'a transfer was booked that a reorg may still reverse');
    await world.final();
    assert.deepEqual(await world.states(), ['sweep settled', 'gas settled']);
    assert.equal(await world.booked('hot', USDC), 500n);
    assert.equal(await world.booked('deposits', USDC), 0n);
    await world.agrees();
    const [sweep, gas] = await world.transfers();
    assert.equal(sweep?.key, `sweep:${world.code}:${at}:${USDC}:1`);
    const entries = await rows.query<{ id: string }>(`select id from entries where id = any($1) order by seq`, [
      [sweep?.key, gas?.key],
    ]);
    assert.deepEqual(
      entries.map(({ id }) => id),
      [gas?.key, sweep?.key],
    );
    const books = await fixture.db.asSystem((tx) => balancesOf(tx, ['cost', 'suspense']));
    assert.ok((books.find((one) => one.code === `cost:${world.code}:${ETH}`)?.units ?? 0n) > 0n);
    assert.equal(
      books.find((one) => one.code === `suspense:${world.code}:${USDC}`)?.units,
      500n,
      'the amount owed in suspense has changed',
    );
    assert.deepEqual(world.nativeFound(), [], 'our own gas was booked as a deposit');
    await world.sweeps();
    assert.equal((await world.transfers()).length, 2, 'a swept deposit was swept again');
  });

  test('is written when a block has it and when it is final, and not at the blocks between', async () => {
    const world = await openEnvironment();
    await deposited(world);
    await world.look();
    await anvil.mine();
    await world.follow();
    const written = () =>
      rows.query<{ state: string; version: string }>(
        'select state, xmin::text as version from chain_sends where rail = $1 order by id',
        [world.code],
      );
    const before = await written();
    assert.deepEqual(
      before.map(({ state }) => state),
      ['mined'],
    );
    for (let block = 1; block < FINALITY; block += 1) {
      await anvil.mine();
      await world.follow();
    }
    assert.deepEqual(await written(), before);
    await anvil.mine();
    await world.follow();
    assert.equal((await written())[0]?.state, 'confirmed');
  });

  test('begins nothing while an operator has stopped its rail, and continues when it is started again', async () => {
    const world = await openEnvironment();
    await deposited(world);
    const stop = { kind: 'rail', subject: world.code, by: 'a test', reason: 'a test', at: new Date() } as const;
    await fixture.db.asSystem((tx) => setKillSwitch(tx, stop));
    await world.sweeps();
    assert.deepEqual(await world.states(), ['sweep created', 'gas created']);
    assert.match((await world.transfers())[1]?.why ?? '', /rail is switched off/);
    const written = () =>
      rows.query('select key, xmin::text from own_transfers where rail = $1 order by key', [world.code]);
    const before = await written();
    await world.sweeps();
    assert.deepEqual(await written(), before, 'transfers that wait were rewritten');
    await fixture.db.asSystem((tx) => liftKillSwitch(tx, 'rail', world.code));
    await world.sweeps();
    assert.deepEqual(await world.states(), ['sweep settled', 'gas settled']);
    await world.agrees();
  });

  test('takes several deposits at once, and later ones in the next sweep', async () => {
    const world = await openEnvironment();
    const { at } = await world.address();
    await pays(at, 60n);
    await world.final();
    await world.look();
    assert.deepEqual(await world.transfers(), [], 'a deposit that is too small for its gas was swept');
    await pays(at, 60n);
    fixture.clock.advance(600_000);
    await world.final();
    await world.sweeps();
    await pays(at, 200n);
    await world.final();
    await world.sweeps();
    assert.deepEqual(
      (await world.transfers())
        .filter(({ kind }) => kind === 'sweep')
        .map(({ key, units }) => [key.at(-1), String(units)]),
      [
        ['1', '120'],
        ['2', '200'],
      ],
    );
    await world.agrees();
  });

  test('finds a deposit worth sweeping behind any number of dust deposits at its address', async () => {
    const world = await openEnvironment();
    await fixture.db.asSystem((tx) => setMinimum(tx, USDC, 1_000n));
    try {
      const { at } = await world.address();
      for (let crumb = 0; crumb < 510; crumb += 1) await pays(at, 1n);
      await world.final();
      await pays(at, 5_000n);
      await world.final();
      await world.look();
      fixture.clock.advance(600_000);
      await world.sweeps();
      assert.deepEqual(
        (await world.transfers())
          .filter(({ kind }) => kind === 'sweep')
          .map(({ state, units }) => [state, String(units)]),
        [['settled', '5510']],
      );
      await world.agrees();
    } finally {
      await fixture.db.asSystem((tx) => setMinimum(tx, USDC, 100n));
    }
  });

  test('leaves deposits that an order still waits for, and deposits that are not final', async () => {
    const world = await openEnvironment();
    const { at } = await world.address('created');
    await pays(at, 500n);
    await anvil.mine(3);
    await world.follow();
    await world.look();
    await world.final();
    await world.look();
    assert.deepEqual(await world.transfers(), []);
    await rows.query(`update orders set state = 'expired' where deposit_rail = $1`, [world.code]);
    fixture.clock.advance(30_000);
    await world.sweeps();
    assert.deepEqual(await world.states(), ['sweep settled', 'gas settled']);
    await world.agrees();
  });

  test('takes two tokens at one address one after the other', async () => {
    const world = await openEnvironment();
    const { at } = await world.address();
    await pays(at, 500n);
    await pays(at, 700n, dai);
    await world.final();
    await world.sweeps();
    fixture.clock.advance(5_000);
    await world.sweeps();
    assert.equal(await world.booked('hot', USDC), 500n);
    assert.equal(await world.booked('hot', DAI), 700n);
    await world.agrees();
  });

  test('takes each of many addresses once', async () => {
    const world = await openEnvironment();
    const all = [];
    for (let count = 0; count < 6; count += 1) all.push(await world.address());
    for (const { at } of all) await pays(at, 500n);
    await world.final();
    await world.sweeps();
    assert.equal(await world.booked('hot', USDC), 3_000n);
    await world.agrees();
  });

  test('waits with a case while no wallet can pay its gas, and continues when one can', async () => {
    const world = await openEnvironment();
    await deposited(world);
    await anvil.rpc('anvil_setBalance', [world.hot, '0x1']);
    await world.look();
    assert.deepEqual(await world.states(), ['sweep created', 'gas created']);
    assert.deepEqual(await world.cases(), ['gas_short']);
    await anvil.rpc('anvil_setBalance', [world.hot, `0x${ETHER.toString(16)}`]);
    await world.sweeps();
    assert.deepEqual(await world.states(), ['sweep settled', 'gas settled']);
    assert.deepEqual(await world.cases(), []);
    await world.agrees();
  });

  test('that lacks gas because gas prices rose gets more', async () => {
    const world = await openEnvironment();
    const at = await deposited(world);
    await world.look();
    await anvil.mine(FINALITY + 1);
    await anvil.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${(60n * GWEI).toString(16)}`]);
    await anvil.mine();
    await world.follow();
    await world.look();
    assert.deepEqual(await world.states(), ['sweep created', 'gas settled', 'gas submitted']);
    await world.sweeps();
    assert.deepEqual(await world.states(), ['sweep settled', 'gas settled', 'gas settled']);
    assert.equal(BigInt(await anvil.rpc<string>('eth_getTransactionCount', [at, 'latest'])), 1n);
    await world.agrees();
  });
});

describe('a sweep that is never mined', () => {
  test('because prices rose above its fee gets gas for a higher one, and goes with the same nonce', async () => {
    const world = await openEnvironment();
    const at = await deposited(world);
    await world.look();
    await anvil.mine(FINALITY + 1);
    await world.follow();
    await world.look();
    assert.deepEqual(await world.states(), ['sweep submitted', 'gas settled']);
    await anvil.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${(60n * GWEI).toString(16)}`]);
    await anvil.mine();
    const hasty = world.open({ pace: { lowerBranchMs: 0, nativeEveryMs: 0, idleMs: 0, rebroadcastMs: 0, stuckMs: 0 } });
    await hasty.follow();
    assert.equal(await versions(), 1, 'a fee above the balance of the address was offered');
    await world.look();
    assert.deepEqual(await world.states(), ['sweep submitted', 'gas settled'], 'the sweep was replaced at once');
    fixture.clock.advance(120_001);
    await world.look();
    assert.deepEqual(await world.states(), ['sweep submitted', 'gas settled', 'gas submitted']);
    await anvil.mine();
    await hasty.follow();
    assert.equal(await versions(), 2);
    await anvil.mine(FINALITY + 1);
    await world.follow();
    await world.look();
    assert.deepEqual(await world.states(), ['sweep settled', 'gas settled', 'gas settled']);
    assert.equal(BigInt(await anvil.rpc<string>('eth_getTransactionCount', [at, 'latest'])), 1n);
    await world.agrees();

    async function versions(): Promise<number> {
      return (await rows.query(`select from chain_sends where rail = $1 and key like 'sweep:%'`, [world.code])).length;
    }
  });

  test('because its node refused it for want of gas gets more', async () => {
    const world = await openEnvironment();
    const at = await deposited(world);
    await world.look();
    await anvil.mine(FINALITY + 1);
    await world.follow();
    await world.look();
    assert.deepEqual(await world.states(), ['sweep submitted', 'gas settled']);
    // The rows of a process that was killed before it broadcast; the gas has left the address since.
    await anvil.rpc('anvil_dropAllTransactions');
    await rows.query(`update chain_sends set broadcast_at = null where rail = $1 and key like 'sweep:%'`, [world.code]);
    await anvil.rpc('anvil_setBalance', [at, '0x1']);
    fixture.clock.advance(120_001);
    await world.look();
    assert.deepEqual(await world.states(), ['sweep submitted', 'gas settled', 'gas submitted']);
    await world.sweeps();
    assert.deepEqual(await world.states(), ['sweep settled', 'gas settled', 'gas settled']);
  });
});

describe('the native asset of a customer', () => {
  test('pays for the sweep where it is booked, and no gas is sent ahead', async () => {
    const world = await openEnvironment();
    const { at } = await world.address();
    await pays(at, 500n);
    await givesCoin(at, ETHER);
    await world.final();
    await world.follow();
    assert.deepEqual(world.nativeFound(), [ETHER]);
    await world.sweeps();
    assert.deepEqual(await world.states(), ['sweep settled']);
    assert.deepEqual(world.nativeFound(), [ETHER], 'the cost of the sweep was booked as a withdrawal or a new deposit');
    await world.agrees();
  });

  test('that arrives in the block of our gas is found, to the unit', async () => {
    const world = await openEnvironment();
    const at = await deposited(world);
    await world.look();
    await givesCoin(at, 12_345_678n);
    await anvil.mine();
    await world.sweeps();
    assert.deepEqual(await world.states(), ['sweep settled', 'gas settled']);
    await world.follow();
    assert.deepEqual(world.nativeFound(), [12_345_678n]);
    await world.agrees();
  });

  test('that arrives in the block of the sweep, and again after it, is found', async () => {
    const world = await openEnvironment();
    const at = await deposited(world);
    await world.look();
    await anvil.mine();
    await world.look();
    await givesCoin(at, 777n);
    await anvil.mine();
    await world.sweeps();
    await givesCoin(at, 888n);
    await world.final();
    await world.follow();
    assert.deepEqual(world.nativeFound(), [777n, 888n]);
    await world.agrees();
  });

  test('that is not booked yet is not spent as if it were ours', async () => {
    const world = await openEnvironment();
    const at = await deposited(world);
    await givesCoin(at, ETHER);
    await anvil.mine();
    await world.look();
    assert.deepEqual(await world.states(), ['sweep created', 'gas submitted']);
    await world.look();
    await world.sweeps();
    await world.follow();
    assert.deepEqual(world.nativeFound(), [ETHER]);
    await world.look();
    assert.deepEqual(await world.states(), ['sweep settled', 'gas settled']);
    await world.agrees();
  });

  for (const seed of isLong ? [1, 2, 3] : [1]) {
    test(`that arrives at any time between our sends is found in the end, to the unit (seed ${seed})`, async () => {
      const world = await openEnvironment();
      let state = seed * 7_919;
      const random = (below: number) => {
        state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
        return ((state ^ (state >>> 13)) >>> 0) % below;
      };
      const homes = [await world.address(), await world.address()];
      const from = BigInt(await anvil.rpc<string>('eth_blockNumber'));
      for (let round = 0; round < 40; round += 1) {
        const home = homes[random(2)]?.at ?? '';
        if (random(3) === 0) await pays(home, BigInt(100 + random(900)));
        if (random(3) === 0) await givesCoin(home, BigInt(1 + random(1_000_000)));
        if (random(2) === 0) await anvil.mine(1 + random(3));
        if (random(5) === 0) await reorg(1 + random(3));
        await world.follow();
        if (random(2) === 0) await world.look();
      }
      for (let round = 0; round < 4; round += 1) {
        fixture.clock.advance(600_000);
        await world.sweeps();
      }
      await world.follow();
      assert.equal(
        world.nativeFound().reduce((sum, units) => sum + units, 0n),
        await given(),
      );
      assert.equal(await world.booked('deposits', USDC), 0n, 'a deposit was not swept in the end');
      await world.agrees();

      async function reorg(depth: number): Promise<void> {
        await anvil.rpc('anvil_reorg', [depth, []]);
      }

      /** The part that is on the chain after the reorg. */
      async function given(): Promise<bigint> {
        const newest = BigInt(await anvil.rpc<string>('eth_blockNumber'));
        let sum = 0n;
        for (let number = from; number <= newest; number += 1n) {
          const block = await anvil.rpc<{ transactions: { from: string; to: string; value: string }[] }>(
            'eth_getBlockByNumber',
            [`0x${number.toString(16)}`, true],
          );
          for (const one of block.transactions)
            if (one.from === ANVIL_FIRST && homes.some(({ at }) => at === one.to)) sum += BigInt(one.value);
        }
        assert.ok(sum > 0n);
        return sum;
      }
    });
  }
});

describe('a reorg', () => {
  test('of a deposit that is not final finds none of it swept', async () => {
    const world = await openEnvironment();
    const { at } = await world.address();
    await pays(at, 500n);
    await anvil.mine(3);
    await world.follow();
    await world.look();
    await reorgAndForget(3);
    await anvil.mine();
    await world.follow();
    await world.sweeps();
    assert.deepEqual(await world.transfers(), []);
    await world.agrees();
  });

  test('of gas and sweep makes the same bytes go out again, and all is booked once', async () => {
    const world = await openEnvironment();
    const at = await deposited(world);
    await world.look();
    await anvil.mine();
    await world.look();
    await anvil.mine(2);
    await world.follow();
    const sent = await rows.query('select key, hash from chain_sends where rail = $1 order by key', [world.code]);
    await reorgAndForget(3);
    await anvil.mine(3);
    await world.follow();
    await world.sweeps();
    assert.deepEqual(
      await rows.query('select key, hash from chain_sends where rail = $1 order by key', [world.code]),
      sent,
    );
    assert.deepEqual(await world.states(), ['sweep settled', 'gas settled']);
    assert.equal(BigInt(await anvil.rpc<string>('eth_getTransactionCount', [at, 'latest'])), 1n);
    await world.agrees();
  });

  test('deeper than finality that removes swept deposits halts the rail; nothing is booked or sent until a person decides', async () => {
    const world = await openEnvironment();
    const before = BigInt(await anvil.rpc<string>('eth_blockNumber'));
    const snapshot = await anvil.rpc('evm_snapshot');
    await deposited(world);
    await world.sweeps();
    const waiting = await deposited(world);
    await world.look();
    const rowsBefore = await world.transfers();
    const head = BigInt(await anvil.rpc<string>('eth_blockNumber'));
    await anvil.rpc('evm_revert', [snapshot]);
    await anvil.rpc('anvil_dropAllTransactions');
    await anvil.mine(Number(head - before) + 2);
    await world.follow();
    await world.look();
    await world.look();
    assert.ok(world.facts.some((fact) => fact.type === 'rail_halted'));
    assert.deepEqual(await world.cases(), ['rail_halted']);
    assert.deepEqual(
      (await world.transfers()).map(({ key, state }) => [key, state]),
      rowsBefore.map(({ key, state }) => [key, state]),
    );
    assert.equal(await world.booked('hot', USDC), 500n);
    assert.equal(BigInt(await anvil.rpc<string>('eth_getTransactionCount', [waiting, 'pending'])), 0n);
  });
});

describe('a sweep that fails', () => {
  test('on the chain costs its gas, frees its deposits and opens a case; the next one moves them', async () => {
    const world = await openEnvironment();
    const at = await deposited(world);
    await world.look();
    await anvil.mine();
    await world.look();
    // The tokens cannot be moved when it is mined.
    await setTokens(at, 0n);
    await world.final();
    assert.deepEqual(await world.states(), ['sweep failed', 'gas settled']);
    assert.deepEqual(await world.cases(), ['sweep_failed']);
    await setTokens(at, 500n);
    await world.agrees();
    await world.sweeps();
    assert.equal((await world.transfers()).length, 2, 'the sweep was retried at once, although each try costs gas');
    fixture.clock.advance(3_600_000);
    await world.sweeps();
    assert.deepEqual(
      (await world.states()).filter((state) => state.startsWith('sweep')),
      ['sweep failed', 'sweep settled'],
    );
    assert.equal(await world.booked('hot', USDC), 500n);
    await world.agrees();
  });

  test('before it is sent takes no nonce, opens a case, and is retried after a while', async () => {
    const world = await openEnvironment();
    const at = await deposited(world);
    await setTokens(at, 0n);
    await world.look();
    assert.deepEqual(await world.states(), ['sweep created']);
    fixture.clock.advance(600_000);
    await world.look();
    assert.deepEqual(await world.cases(), ['sweep_rejected']);
    fixture.clock.advance(3_600_000);
    await world.look();
    assert.deepEqual(await world.states(), ['sweep dropped']);
    await setTokens(at, 500n);
    fixture.clock.advance(3_600_000);
    await world.sweeps();
    assert.equal(await world.booked('hot', USDC), 500n);
    assert.deepEqual(await world.cases(), []);
    await world.agrees();
  });
});

describe('two processes', () => {
  test('running concurrently sweep each address once', async () => {
    const world = await openEnvironment();
    const others = [world.open(), world.open(), world.open()];
    const homes = [];
    for (let count = 0; count < 4; count += 1) homes.push(await world.address());
    for (const { at } of homes) await pays(at, 500n);
    await world.final();
    for (let round = 0; round < 4; round += 1) {
      await Promise.all([world, ...others].map((one) => one.look()));
      await anvil.mine(FINALITY + 1);
      await Promise.all([world, ...others].map((one) => one.follow()));
    }
    assert.equal((await world.transfers()).length, 8);
    for (const { at } of homes)
      assert.equal(BigInt(await anvil.rpc<string>('eth_getTransactionCount', [at, 'latest'])), 1n);
    assert.equal(await world.booked('hot', USDC), 2_000n);
    await world.agrees();
  });

  test('one of them without a key: it reads and books, and the other sweeps', async () => {
    const world = await openEnvironment();
    await deposited(world);
    const watcher = world.open({ signers: {}, sweepSigner: undefined as never, addresses: { hot: world.hot } });
    await watcher.look();
    assert.deepEqual(await world.transfers(), [], 'a sweep was planned without the key');
    await world.look();
    await anvil.mine();
    await world.look();
    await anvil.mine(FINALITY + 1);
    await watcher.follow();
    await watcher.look();
    assert.deepEqual(await world.states(), ['sweep settled', 'gas settled']);
    await world.agrees();
  });
});

describe('a crash', () => {
  const killed = () => Promise.reject(new Error('killed'));
  const stages: [string, (world: Environment, t: TestContext) => Promise<unknown>][] = [
    ['after the sweep was written', async (world) => world.open({}, (rail) => ({ ...rail, status: killed })).look()],
    ['after its gas was written', async (world) => world.open({}, (rail) => ({ ...rail, sendFrom: killed })).look()],
    [
      'after the nonce of the gas was taken',
      async (world) =>
        world
          .open({
            signers: { hot: { ...localSigner(`0x${'1'.repeat(64)}`, world.limits), address: world.hot, sign: killed } },
          })
          .look(),
    ],
    ['after the gas was signed', async (world, t) => world.open({ rpcUrl: await deafNode(anvil.url, t) }).look()],
    [
      'after the gas was broadcast',
      async (world) =>
        world
          .open({}, (rail) => ({ ...rail, sendFrom: async (...args) => (await rail.sendFrom(...args), killed()) }))
          .look(),
    ],
    [
      'after the gas arrived, before the sweep was sent',
      async (world) => {
        await world.look();
        await anvil.mine();
        await world.open({}, (rail) => ({ ...rail, sendFrom: killed })).look();
      },
    ],
    [
      'after the nonce of the sweep was taken',
      async (world) => {
        await world.look();
        await anvil.mine();
        const dying = sweepSigner(parent.privateExtendedKey, { ...world.limits, to: world.hot });
        await world.open({ sweepSigner: (index) => ({ ...dying(index), sign: killed }) }).look();
      },
    ],
    [
      'after the sweep was signed',
      async (world, t) => {
        await world.look();
        await anvil.mine();
        await world.open({ rpcUrl: await deafNode(anvil.url, t) }).look();
      },
    ],
    [
      'after the sweep was broadcast',
      async (world) => {
        await world.look();
        await anvil.mine();
        await world
          .open({}, (rail) => ({ ...rail, sendFrom: async (...args) => (await rail.sendFrom(...args), killed()) }))
          .look();
      },
    ],
    [
      'after the sweep was mined, before it was heard of, with a node that forgot its pool',
      async (world) => {
        await world.look();
        await anvil.mine();
        await world.look();
        await anvil.rpc('anvil_dropAllTransactions');
      },
    ],
  ];
  // The simulation ends processes at every point; here in `npm test` where something has been sent and not yet recorded.
  const SENT = /gas was broadcast|sweep was signed|sweep was broadcast/;
  const played = stages.filter(([when]) => isLong || SENT.test(when));
  assert.ok(played.length >= 3);
  for (const [when, crash] of played) {
    test(`${when} costs time only`, async (t) => {
      const world = await openEnvironment();
      const at = await deposited(world);
      await crash(world, t).catch((error) => assert.match(String(error), /killed/));
      // A reservation of a dead process is taken over when it is old enough to count as orphaned.
      await rows.query(`update chain_sends set reserved_at = now() - interval '1 minute' where state = 'reserved'`);
      const next = world.open();
      await next.follow();
      await world.sweeps(next);
      assert.deepEqual(await world.states(), ['sweep settled', 'gas settled']);
      assert.equal(BigInt(await anvil.rpc<string>('eth_getTransactionCount', [at, 'latest'])), 1n);
      assert.equal(BigInt(await anvil.rpc<string>('eth_getTransactionCount', [world.hot, 'latest'])), 1n);
      assert.equal(await world.booked('hot', USDC), 500n);
      await world.agrees();
    });
  }
});

describe('the signer of deposit addresses', () => {
  test('signs transfers to the hot wallet, and refuses everything else', async () => {
    const world = await openEnvironment();
    const { index, at } = await world.address();
    const signer = sweepSigner(parent.privateExtendedKey, { ...world.limits, to: world.hot })(index);
    assert.equal(signer.address, at);
    const good = {
      chainId: anvil.chainId,
      nonce: 0n,
      target: usdc,
      data: encodeTransfer(world.hot, 5n),
      value: 0n,
      gas: 100_000n,
      price: GWEI,
      tip: 1n,
    };
    await signer.sign(good);
    for (const bad of [
      { data: encodeTransfer(ANVIL_FIRST, 5n) },
      { data: Buffer.alloc(0), target: world.hot, value: 1n },
      { data: Buffer.alloc(0), target: ANVIL_FIRST, value: 1n },
      { target: ANVIL_FIRST },
    ])
      await assert.rejects(signer.sign({ ...good, ...bad }), BugError);
    const elsewhere = { key: `sweep:${world.code}:x`, asset: USDC, units: 5n };
    const sent = await world.rail.sendFrom(depositWallet(index), {
      ...elsewhere,
      destination: { kind: 'address', address: ANVIL_FIRST },
    });
    assert.deepEqual(sent, { outcome: 'rejected', why: 'a recipient that is not allowed' });
  });

  test('throws a bug error where its key is not the watched one', async () => {
    const world = await openEnvironment();
    await deposited(world);
    const other = sweepSigner(parent.derive('m/7').privateExtendedKey, { ...world.limits, to: world.hot });
    await assert.rejects(world.open({ sweepSigner: other }).look(), BugError);
  });
});

describe('tokens that arrive at the hot wallet', () => {
  const units = async (kind: 'treasury' | 'suspense', code: string) =>
    (await fixture.db.asSystem((tx) => balancesOf(tx, [kind]))).find((one) => one.code === code)?.units ?? 0n;

  test('from a known source are the operator’s, once they are final', async () => {
    const world = await openEnvironment();
    await fixture.db.asSystem((tx) => trustFundingSource(tx, world.code, ANVIL_FIRST, 'ours'));
    const before = await units('treasury', `treasury:${USDC}`);
    await pays(world.hot, 900n);
    await anvil.mine(2);
    await world.follow();
    assert.equal(await world.booked('hot', USDC), 0n);
    await world.final();
    await world.final();
    assert.equal((await units('treasury', `treasury:${USDC}`)) - before, 900n);
    assert.deepEqual(await world.cases(), []);
    await world.agrees();
  });

  test('from any other sender go to suspense with a case', async () => {
    const world = await openEnvironment();
    const treasury = await units('treasury', `treasury:${USDC}`);
    await pays(world.hot, 900n);
    await world.final();
    assert.equal(await units('treasury', `treasury:${USDC}`), treasury);
    assert.equal(await units('suspense', `suspense:${world.code}:${USDC}`), 900n);
    assert.deepEqual(await world.cases(), ['unexpected_credit']);
    await world.agrees();
  });

  test('and that a reorg removes before they are final are never booked', async () => {
    const world = await openEnvironment();
    await pays(world.hot, 900n);
    await anvil.mine(2);
    await world.follow();
    await reorgAndForget(2);
    await anvil.mine(2);
    await world.follow();
    await world.final();
    assert.ok(!world.facts.some((fact) => fact.type === 'credit_unexpected'));
    await world.agrees();
  });

  test('by our own payout to our own wallet are booked as money to be explained', async () => {
    const world = await openEnvironment();
    await deposited(world);
    await world.sweeps();
    const destination = { kind: 'address', address: world.hot } as const;
    await world.rail.sendFrom('hot', { key: `sandbox:self:${world.code}`, asset: USDC, units: 5n, destination });
    await world.final();
    assert.deepEqual(
      world.facts.flatMap((fact) => (fact.type === 'credit_unexpected' ? [[fact.units, fact.payer]] : [])),
      [[5n, world.hot]],
    );
  });
});
