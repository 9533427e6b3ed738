/**
 * The EVM rail on a real node: watching, sending, adoption, and a node that is down, late or lying.
 *
 * Long because all of its claims share one node and one deployed token.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, describe, type TestContext, test } from 'node:test';
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { keccak256 } from 'viem/utils';
import { BugError, Unavailable } from '../../src/base/errors.ts';
import { randomHex } from '../../src/base/ids.ts';
import type { ChainPace, RailContext, SendAnswer } from '../../src/rails/chain.adapter.ts';
import { type ChainRail, clearHalt, NotSigned, noteCancel, watchAddress } from '../../src/rails/chain.ts';
import { addressesOf, addressOfPublicKey, checksummed, readAddress } from '../../src/rails/evm/addresses.ts';
import { type EvmOptions, evmRail, localSigner, type Signer } from '../../src/rails/evm/index.ts';
import { decodeTransfer, decodeTransferCall, encodeTransfer, TRANSFER_TOPIC } from '../../src/rails/evm/transfers.ts';
import type { RailFact } from '../../src/rails/rail.ts';
import { ANVIL_FIRST, ANVIL_MNEMONIC, type Anvil, data, deployToken, startAnvil } from '../support/anvil.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { patience } from '../support/patience.ts';
import { openRows, type Rows } from '../support/rows.ts';
import { targetOf } from '../support/targets.ts';
import { until } from '../support/until.ts';

const FINALITY = 10;
const GWEI = 10n ** 9n;
const ETHER = 10n ** 18n;
const FRIEND = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
const master = HDKey.fromMasterSeed(mnemonicToSeedSync(ANVIL_MNEMONIC)).derive("m/44'/60'/0'/0");
const XPUB = master.publicExtendedKey;

const word = (value: bigint | string) => `0x${BigInt(value).toString(16).padStart(64, '0')}`;

async function follow(rail: ChainRail): Promise<void> {
  while ((await rail.observe()).againInMs === 0);
}

const hexOf = (bytes: Buffer): string => `0x${bytes.toString('hex')}`;
const fresh = (): string => `0x${randomHex(20)}`;

const shown = (fact: RailFact) =>
  'units' in fact && 'externalId' in fact ? `${fact.externalId} ${fact.units}` : fact.type;

async function ownNode(t: TestContext): Promise<Anvil> {
  const own = await startAnvil({ chainId: 4_242n });
  t.after(() => own.stop());
  return own;
}

const offered = (row: Record<string, unknown>): bigint => BigInt((row.fee as Record<string, string>).price ?? 0);

describe('addresses', () => {
  test('address n is the nth account that wallets derive from the same seed', () => {
    const address = addressesOf(XPUB);
    assert.equal(address(0n), ANVIL_FIRST);
    assert.equal(address(1n), FRIEND);
  });

  test('every address equals the one that an independent BIP-32 library derives', () => {
    const address = addressesOf(XPUB);
    const parent = HDKey.fromExtendedKey(XPUB);
    const numbers = Array.from({ length: 150 }, (_, at) => (at * 2_654_435_761) % 2 ** 31);
    for (const number of [...numbers, 2 ** 31 - 1]) {
      const { publicKey } = parent.deriveChild(number);
      assert.ok(publicKey !== null);
      assert.equal(address(BigInt(number)), addressOfPublicKey(publicKey));
    }
  });

  test('a private extended key is refused where a public one is expected', () => {
    assert.throws(() => addressesOf(master.privateExtendedKey), /never from a private one/);
  });

  test('capital letters follow EIP-55, and an address with wrong ones is refused as a typing error', () => {
    // The examples of the standard.
    for (const text of [
      '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
      '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
      '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
      '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
    ]) {
      assert.equal(checksummed(text.toLowerCase()), text);
      assert.equal(readAddress(text), text.toLowerCase());
      assert.equal(readAddress(text.replace(/[a-f](?=[^a-f]*$)/, (letter) => letter.toUpperCase())), undefined);
    }
    for (const text of [
      '',
      '0x',
      FRIEND.slice(0, 41),
      `${FRIEND}0`,
      FRIEND.slice(2),
      `0x${'0'.repeat(40)}`,
      `0x${'g'.repeat(40)}`,
    ]) {
      assert.equal(readAddress(text), undefined, text);
    }
  });
});

describe('transfers', () => {
  test('a transfer call is decoded to its inputs, and no other call is decoded', () => {
    const call = encodeTransfer(FRIEND, 2n ** 256n - 1n);
    assert.deepEqual(decodeTransferCall(call), { to: FRIEND, units: 2n ** 256n - 1n });
    const approve = Buffer.from(call);
    approve.write('095ea7b3', 0, 'hex');
    const dirty = Buffer.from(call);
    dirty[5] = 1;
    for (const other of [
      approve,
      dirty,
      call.subarray(0, 67),
      Buffer.concat([call, Buffer.alloc(1)]),
      Buffer.alloc(0),
    ]) {
      assert.equal(decodeTransferCall(other), undefined);
    }
  });

  test('a log that is not an ERC-20 transfer is ignored', () => {
    const log = { address: `0x${'AB'.repeat(20)}`, topics: [TRANSFER_TOPIC, word(1n), word(FRIEND)], data: word(7n) };
    assert.deepEqual(decodeTransfer(log), {
      contract: `0x${'ab'.repeat(20)}`,
      from: `0x${'1'.padStart(40, '0')}`,
      to: FRIEND,
      units: 7n,
    });
    for (const odd of [
      { ...log, topics: [...log.topics, word(9n)], data: '0x' },
      { ...log, topics: [word(1n), word(1n), word(FRIEND)] },
      { ...log, topics: [TRANSFER_TOPIC, word(1n), word(BigInt(FRIEND) + (1n << 200n))] },
      { ...log, topics: [TRANSFER_TOPIC, word(1n), null] },
      { ...log, topics: null },
      { ...log, data: '0x07' },
      { ...log, data: `${word(7n)}00` },
      { ...log, data: 7 },
      { ...log, address: undefined },
      { ...log, address: '0xAB' },
    ]) {
      assert.equal(decodeTransfer(odd), undefined);
    }
  });
});

describe('a signer', () => {
  const token = `0x${'11'.repeat(20)}`;
  const signer = localSigner(`0x${'22'.repeat(32)}`, {
    chainId: 1n,
    allowedContracts: { [token]: 1_000n },
    maxNativeUnitsPerTransfer: 50n,
    maxFeeUnits: 1_000_000n,
  });
  const good = {
    chainId: 1n,
    nonce: 0n,
    target: token,
    data: encodeTransfer(FRIEND, 1_000n),
    value: 0n,
    gas: 100n,
    price: 10n,
    tip: 1n,
  };

  test('signs transfers within its limits', async () => {
    const { raw, hash } = await signer.sign(good);
    assert.ok(raw.length > 100);
    assert.match(hash, /^0x[0-9a-f]{64}$/);
    assert.deepEqual(await signer.sign(good), { raw, hash }, 'two signatures of one transfer differ');
    await signer.sign({ ...good, target: FRIEND, data: Buffer.alloc(0), value: 50n });
  });

  const approve = Buffer.from(encodeTransfer(FRIEND, 1n));
  approve.write('095ea7b3', 0, 'hex');
  for (const [what, change] of [
    ['a larger transfer', { data: encodeTransfer(FRIEND, 1_001n) }],
    ['a contract that is not on its list', { target: FRIEND }],
    ['an approval', { data: approve }],
    ['native asset along with a call', { value: 1n }],
    ['tokens to a token contract', { data: encodeTransfer(token, 1n) }],
    ['native asset to a token contract', { data: Buffer.alloc(0), value: 1n }],
    ['more of the native asset than its limit', { target: FRIEND, data: Buffer.alloc(0), value: 51n }],
    ['a fee above its limit', { price: 10_001n }],
    ['another chain', { chainId: 2n }],
  ] as const) {
    test(`refuses ${what}`, async () => {
      await assert.rejects(signer.sign({ ...good, ...change }), BugError);
    });
  }
});

describe('an EVM rail on a real node', () => {
  let fixture: Fixture;
  let rows: Rows;
  let anvil: Anvil;
  let token: string;
  let stranger: string;
  let worlds = 0;
  let keys = 0;

  before(async () => {
    [fixture, anvil] = await Promise.all([freshFixture(), startAnvil()]);
    rows = await openRows(fixture.adminUrl);
    token = await deployToken(anvil);
    stranger = await deployToken(anvil);
    // The wallets of strangers are the first addresses of the same seed, none of which is given out later.
    await rows.query(`select setval('deposit_indexes', 1000000)`);
    await rows.cryptoAsset('usdc.anvil', 'anvil', token);
    await rows.cryptoAsset('eth.anvil', 'anvil', null, 18);
    await rows.policy('anvil', 'usdc.anvil', 0n, 2);
    await rows.policy('anvil', 'eth.anvil', 0n, 2);
    await anvil.send({ to: token, data: data('mint(address,uint256)', ANVIL_FIRST, 10n ** 15n) });
    await anvil.send({ to: stranger, data: data('mint(address,uint256)', ANVIL_FIRST, 10n ** 15n) });
    await anvil.mine();
  });
  after(async () => {
    await rows.close();
    await anvil.stop();
    await fixture.stop();
  });

  /** A rail of its own on the shared node, with a funded hot wallet of its own. */
  async function world({
    mayLeave,
    ...options
  }: { pace?: Partial<ChainPace>; funded?: boolean } & Partial<EvmOptions> & Pick<RailContext, 'mayLeave'> = {}) {
    worlds += 1;
    const code = `evm.world${worlds}`;
    const facts: RailFact[] = [];
    const limits = {
      chainId: anvil.chainId,
      allowedContracts: { [token]: 10n ** 12n },
      maxNativeUnitsPerTransfer: ETHER,
      maxFeeUnits: ETHER,
    };
    const privateKeys = { hot: `0x${randomHex(32)}`, faucet: `0x${randomHex(32)}` };
    const settings: EvmOptions = {
      code,
      chain: 'anvil',
      rpcUrl: anvil.url,
      chainId: anvil.chainId,
      xpub: XPUB,
      signers: { hot: localSigner(privateKeys.hot, limits), faucet: localSigner(privateKeys.faucet, limits) },
      finality: FINALITY,
      maxGasPrice: 500n * GWEI,
      ...options,
      pace: { lowerBranchMs: 0, nativeEveryMs: 0, idleMs: 0, rebroadcastMs: 0, ...options.pace },
    };
    const open = (changes: Partial<EvmOptions> = {}): ChainRail =>
      evmRail(
        { ...settings, ...changes },
        {
          ...fixture,
          ...(mayLeave === undefined ? {} : { mayLeave }),
          report: async (_, fact) => {
            // Opening balances of the wallets.
            if (fact.type !== 'credit_unexpected') facts.push(fact);
          },
        },
      );
    const rail = open();
    if (options.funded !== false) {
      for (const address of Object.values(rail.walletAddresses)) {
        await anvil.rpc('anvil_setBalance', [address, `0x${(100n * ETHER).toString(16)}`]);
        await anvil.send({ to: token, data: data('mint(address,uint256)', address, 10n ** 12n) });
      }
    }
    await anvil.mine();
    await follow(rail);
    let index = BigInt(worlds) * 1_000n;
    return {
      rail,
      open,
      facts,
      settings,
      said: () => facts.splice(0).map((fact) => fact.type),
      async address() {
        index += 1n;
        const target = targetOf(rail, index);
        const order = await rows.order('usdc.anvil', code, target);
        await fixture.db.asSystem((tx) => watchAddress(tx, { rail: code, address: target, index, ...order }));
        return target;
      },
      async rowsOf(key: string) {
        return await rows.query(
          `select key, version, nonce, state, hash, raw, target, data, value, fee, cost_units from chain_sends
            where rail = $1 and key = $2 order by version`,
          [code, key],
        );
      },
    };
  }

  const pays = (to: string, units: bigint, contract = token) =>
    anvil.send({ to: contract, data: data('transfer(address,uint256)', to, units) });

  const sending = (units: bigint, to = FRIEND, asset = 'usdc.anvil') => {
    keys += 1;
    return { key: `pay_${keys}`, asset, units, destination: { kind: 'address', address: to } as const };
  };

  const received = async (address: string): Promise<bigint> =>
    BigInt(await anvil.rpc<string>('eth_call', [{ to: token, data: data('balanceOf(address)', address) }, 'latest']));

  describe('watching', () => {
    test('several transfers in one block, some in one chain transaction, are each seen and confirmed once', async () => {
      const { rail, address, facts } = await world();
      const [one, two] = [await address(), await address()];
      const a = await anvil.send({ to: token, data: data('many(address[],uint256)', [one, fresh(), two, one], 5n) });
      const b = await pays(two, 7n);
      await anvil.mine();
      await follow(rail);
      const expected = [`${a}:0 5`, `${a}:2 5`, `${a}:3 5`, `${b}:0 7`].toSorted();
      assert.deepEqual(facts.map(shown).toSorted(), expected);
      assert.ok(facts.splice(0).every((fact) => fact.type === 'deposit_seen'));
      await anvil.mine();
      await follow(rail);
      assert.deepEqual(facts.map(shown).toSorted(), expected);
      assert.ok(facts.splice(0).every((fact) => fact.type === 'deposit_confirmed'));
      await anvil.mine(5);
      await follow(rail);
      assert.equal(facts.length, 0);
    });

    test('an unlisted token and malformed logs are ignored', async () => {
      const { rail, address, facts } = await world();
      const to = await address();
      await pays(to, 5n, stranger);
      await pays(to, 0n);
      await anvil.send({ to: token, data: data('odd(address)', to) });
      const good = await pays(to, 9n);
      await anvil.mine(2);
      await follow(rail);
      assert.deepEqual(
        facts.map((fact) => [fact.type, 'externalId' in fact && fact.externalId]),
        [
          ['deposit_seen', `${good}:0`],
          ['deposit_confirmed', `${good}:0`],
        ],
      );
    });

    test('a deposit reorged out is reversed, and seen again under its name when mined later', async () => {
      const { rail, address, facts } = await world();
      const to = await address();
      await pays(to, 5n);
      await anvil.mine();
      await follow(rail);
      await anvil.rpc('anvil_reorg', [1, []]);
      await follow(rail);
      assert.deepEqual(
        facts.splice(0).map((fact) => fact.type),
        ['deposit_seen', 'deposit_reversed'],
      );
      await anvil.rpc('anvil_dropAllTransactions');
      const again = await pays(to, 5n);
      await anvil.mine();
      await follow(rail);
      assert.deepEqual(
        facts.splice(0).map((fact) => fact.type === 'deposit_seen' && fact.externalId),
        [`${again}:0`],
      );
    });

    test('a transaction mined again at another position of another block keeps its id and is not reversed', async () => {
      const { rail, address, facts } = await world();
      const to = await address();
      const payer = localSigner(`0x${randomHex(32)}`, {
        chainId: anvil.chainId,
        allowedContracts: { [token]: 10n ** 12n },
        maxNativeUnitsPerTransfer: 0n,
        maxFeeUnits: ETHER,
      });
      await anvil.rpc('anvil_setBalance', [payer.address, `0x${ETHER.toString(16)}`]);
      await anvil.send({ to: token, data: data('mint(address,uint256)', payer.address, 1_000n) });
      await anvil.mine();
      const { raw, hash } = await payer.sign({
        chainId: anvil.chainId,
        nonce: 0n,
        target: token,
        data: encodeTransfer(to, 5n),
        value: 0n,
        gas: 100_000n,
        price: 20n * GWEI,
        tip: GWEI,
      });
      const bytes = `0x${raw.toString('hex')}`;
      await anvil.rpc('eth_sendRawTransaction', [bytes]);
      await anvil.mine();
      await follow(rail);
      const first = await anvil.rpc<{ blockHash: string }>('eth_getTransactionReceipt', [hash]);

      await anvil.rpc('anvil_reorg', [1, []]);
      await anvil.rpc('anvil_dropAllTransactions');
      // Now after another transfer with a higher tip, and one block later.
      const payFirst = {
        from: ANVIL_FIRST,
        to: token,
        gas: '0x30d40',
        data: data('transfer(address,uint256)', fresh(), 1n),
      };
      await anvil.rpc('eth_sendTransaction', [
        {
          ...payFirst,
          maxFeePerGas: `0x${(100n * GWEI).toString(16)}`,
          maxPriorityFeePerGas: `0x${(50n * GWEI).toString(16)}`,
        },
      ]);
      await anvil.rpc('eth_sendRawTransaction', [bytes]);
      await anvil.mine();
      const second = await anvil.rpc<{ blockHash: string; logs: { logIndex: string }[] }>('eth_getTransactionReceipt', [
        hash,
      ]);
      assert.notEqual(second.blockHash, first.blockHash);
      assert.equal(second.logs[0]?.logIndex, '0x1');
      await follow(rail);
      await anvil.mine();
      await follow(rail);
      assert.deepEqual(
        facts.map((fact) => [fact.type, 'externalId' in fact && fact.externalId]),
        [
          ['deposit_seen', `${hash}:0`],
          ['deposit_confirmed', `${hash}:0`],
        ],
      );
    });

    test('a reorg deeper than finality halts the rail', async (t) => {
      const own = await ownNode(t);
      const { rail, said } = await world({ rpcUrl: own.url, chainId: own.chainId, funded: false });
      await own.mine(2 * FINALITY);
      await follow(rail);
      await own.rpc('anvil_reorg', [FINALITY, []]);
      await follow(rail);
      assert.deepEqual(said(), []);
      await own.rpc('anvil_reorg', [FINALITY + 1, []]);
      await follow(rail);
      await follow(rail);
      assert.deepEqual(said(), ['rail_halted']);
      assert.equal((await rail.send(sending(1n))).outcome, 'unknown', 'a halted rail sent a new payout');
    });

    test('the native asset at a deposit address is found by its balance once it is final', async () => {
      const { rail, address, facts } = await world();
      const to = await address();
      await anvil.send({ to, value: 3n * ETHER });
      await anvil.mine(FINALITY);
      await follow(rail);
      assert.equal(facts.length, 0);
      await anvil.mine(2);
      await follow(rail);
      await follow(rail);
      const [fact, ...more] = facts.splice(0);
      assert.ok(fact?.type === 'deposit_confirmed' && more.length === 0);
      assert.deepEqual([fact.asset, fact.units, fact.target], ['eth.anvil', 3n * ETHER, to]);
      await anvil.send({ to, value: ETHER });
      await anvil.mine(FINALITY + 2);
      await follow(rail);
      assert.deepEqual(
        facts.map((one) => 'units' in one && one.units),
        [ETHER],
      );
    });

    test('balances are those of a wallet, or of all deposit addresses together', async () => {
      const { rail, address } = await world();
      await pays(await address(), 5n);
      await pays(await address(), 7n);
      await anvil.send({ to: await address(), value: 11n });
      await anvil.mine();
      assert.equal(await rail.balance('deposits', 'usdc.anvil'), 12n);
      assert.equal(await rail.balance('deposits', 'eth.anvil'), 11n);
      assert.equal(await rail.balance('hot', 'usdc.anvil'), 10n ** 12n);
      assert.equal(await rail.balance('faucet', 'eth.anvil'), 100n * ETHER);
    });

    test('the gas price is the node’s, never above the cap, and stored for quotes', async () => {
      const { rail, open } = await world();
      const price = await rail.gasPrice();
      assert.ok(price > 0n && price <= 500n * GWEI);
      assert.equal(await open({ maxGasPrice: 5n }).gasPrice(), 5n);
      await rail.refreshGas();
      const [row] = await rows.query<{ units: bigint }>(`select units from gas_prices where chain = 'anvil'`);
      assert.ok((row?.units ?? 0n) > 0n);
    });
  });

  describe('sending', () => {
    test('a payout is accepted, confirmed by the policy, and settled with its hash and its cost', async () => {
      const { rail, facts, rowsOf } = await world();
      const to = fresh();
      const payout = sending(25n, checksummed(to));
      const sent = await rail.send(payout);
      assert.ok(sent.outcome === 'submitted' && sent.reference);
      await anvil.mine();
      await follow(rail);
      assert.equal(facts.length, 0, 'the payout settled with one confirmation');
      await anvil.mine();
      await follow(rail);
      await follow(rail);
      const [row] = await rowsOf(payout.key);
      assert.deepEqual(facts, [
        {
          type: 'payout_settled',
          rail: rail.code,
          key: payout.key,
          reference: sent.reference,
          cost: { asset: 'eth.anvil', units: row?.cost_units },
        },
      ]);
      assert.equal(row?.state, 'confirmed');
      assert.equal(await rail.balance('hot', 'eth.anvil'), 100n * ETHER - (row?.cost_units as bigint));
      assert.equal(await received(to), 25n);
      assert.deepEqual(await rail.status(payout.key), { outcome: 'known', reference: sent.reference });
      assert.deepEqual(await rail.send(payout), sent, 'sending again under its key made another payout');
      await anvil.mine();
      assert.equal(await received(to), 25n);
    });

    test('the native asset is sent the same way', async () => {
      const { rail, said } = await world();
      const to = fresh();
      assert.equal((await rail.send(sending(123n, to, 'eth.anvil'))).outcome, 'submitted');
      await anvil.mine(2);
      await follow(rail);
      assert.deepEqual(said(), ['payout_settled']);
      assert.equal(BigInt(await anvil.rpc<string>('eth_getBalance', [to, 'latest'])), 123n);
    });

    test('an invalid payout is rejected before a nonce is reserved', async () => {
      const { rail, rowsOf, settings } = await world();
      const strict = localSigner(`0x${'33'.repeat(32)}`, {
        chainId: anvil.chainId,
        allowedContracts: { [token]: 10n },
        maxNativeUnitsPerTransfer: 0n,
        maxFeeUnits: ETHER,
      });
      const limited = evmRail({ ...settings, signers: { hot: strict } }, { ...fixture, report: async () => {} });
      const cases = [
        [rail, sending(10n ** 12n + 1n), /more than one transfer may move/],
        [rail, sending(5n, '0x1234'), /not an address/],
        [rail, sending(5n, token), /own contract/],
        [rail, sending(5n, FRIEND, 'usdt.elsewhere'), /not an asset/],
        [limited, sending(11n), /more than one transfer may move/],
        [limited, sending(10n), /would fail/],
      ] as const;
      for (const [from, payout, why] of cases) {
        const sent = await from.send(payout);
        assert.ok(sent.outcome === 'rejected', JSON.stringify(sent));
        assert.match(sent.why, why);
        assert.deepEqual(await rowsOf(payout.key), []);
        assert.deepEqual(await from.status(payout.key), { outcome: 'absent' });
      }
      const without = await evmRail({ ...settings, signers: {} }, { ...fixture, report: async () => {} }).send(
        sending(1n),
      );
      assert.equal(without.outcome, 'rejected');
    });

    test('a payout that the signer declines after its nonce was reserved waits and is reported, and is sent unchanged once allowed', async () => {
      const { open, rowsOf, facts, settings, address } = await world();
      const hot = settings.signers?.hot;
      assert.ok(hot);
      let mood: 'declines' | 'silent' | 'willing' = 'declines';
      const moody: Signer = {
        ...hot,
        sign: async (unsigned) => {
          if (mood === 'willing') return await hot.sign(unsigned);
          throw new NotSigned(`it is ${mood}`, { declined: mood === 'declines' });
        },
      };
      const rail = open({ signers: { hot: moody } });
      const payout = sending(5n, fresh());
      assert.equal((await rail.send(payout)).outcome, 'unknown');
      const [taken] = await rowsOf(payout.key);
      assert.equal(taken?.state, 'reserved');
      const [told] = facts;
      assert.ok(told?.type === 'payout_unknown' && told.key === payout.key, JSON.stringify(facts));
      assert.match(told.why, /nonce \d+ is taken for it, and signer: it is declines/);

      mood = 'silent';
      assert.equal((await rail.send(payout)).outcome, 'unknown');
      assert.equal(facts.length, 1, 'a silent signer was reported again');
      await anvil.send({ to: token, data: data('transfer(address,uint256)', await address(), 7n) });
      await anvil.mine(3);
      await follow(rail);
      assert.ok(
        facts.some(({ type }) => type === 'deposit_confirmed'),
        'the chain was not followed meanwhile',
      );

      mood = 'willing';
      assert.equal((await rail.send(payout)).outcome, 'submitted');
      const [sent] = await rowsOf(payout.key);
      assert.equal(sent?.nonce, taken?.nonce);
      await anvil.mine(2);
      await follow(rail);
      assert.equal(facts.filter(({ type }) => type === 'payout_settled').length, 1);
    });

    test('a wallet without gas rejects a payout before a nonce is reserved', async () => {
      const { rail, rowsOf } = await world();
      await anvil.rpc('anvil_setBalance', [rail.walletAddresses.hot, '0x1']);
      const payout = sending(5n);
      const sent = await rail.send(payout);
      assert.ok(sent.outcome === 'rejected');
      assert.match(sent.why, /gas|funds/);
      assert.deepEqual(await rowsOf(payout.key), []);
    });

    test('a crash between storing and broadcasting sends the stored bytes, once', async (t) => {
      const node = await tampering(t);
      const { rail, open, rowsOf, said } = await world({ rpcUrl: node.url });
      const to = fresh();
      const payout = sending(5n, to);
      node.drop('eth_sendRawTransaction');
      assert.equal((await rail.send(payout)).outcome, 'unknown');
      const [stored] = await rowsOf(payout.key);
      assert.equal(stored?.state, 'signed');
      node.honest();
      const next = open();
      assert.deepEqual(await next.status(payout.key), { outcome: 'known', reference: stored?.hash });
      assert.deepEqual(await next.send(payout), { outcome: 'submitted', reference: stored?.hash });
      await anvil.mine(2);
      await follow(next);
      assert.deepEqual(said(), ['payout_settled']);
      assert.equal(await received(to), 5n);
      assert.equal((await rowsOf(payout.key)).length, 1);
    });

    test('an answer lost after the node accepted the bytes causes no second payout', async (t) => {
      const node = await tampering(t);
      const { rail, said } = await world({ rpcUrl: node.url });
      const to = fresh();
      const payout = sending(5n, to);
      node.dropAnswer('eth_sendRawTransaction');
      assert.equal((await rail.send(payout)).outcome, 'unknown');
      node.honest();
      assert.equal((await rail.send(payout)).outcome, 'submitted', '“already known” was not treated as accepted');
      await anvil.mine();
      assert.equal(
        (await rail.send(payout)).outcome,
        'submitted',
        '“nonce too low” with our own transaction mined was not treated as accepted',
      );
      await anvil.mine();
      await follow(rail);
      assert.deepEqual(said(), ['payout_settled']);
      assert.equal(await received(to), 5n);
    });

    test('a crash between reserving and signing continues with the reserved nonce', async () => {
      const { rail, settings, open, rowsOf, said } = await world();
      const { hot } = settings.signers ?? {};
      assert.ok(hot);
      const to = fresh();
      const payout = sending(5n, to);
      const dying = { ...hot, sign: () => Promise.reject(new Error('killed')) };
      await assert.rejects(open({ signers: { hot: dying } }).send(payout), /killed/);
      const [reserved] = await rowsOf(payout.key);
      assert.deepEqual([reserved?.state, reserved?.raw], ['reserved', null]);
      const later = sending(6n, to);
      await rail.send(later);
      // The first one is not requested again: the watcher finds it when it is old enough to count as orphaned.
      await rows.query(`update chain_sends set reserved_at = now() - interval '1 minute' where key = $1`, [payout.key]);
      await follow(rail);
      await anvil.mine(2);
      await follow(rail);
      assert.deepEqual(said(), ['payout_settled', 'payout_settled']);
      assert.equal(await received(to), 11n);
      const [after_, second] = [(await rowsOf(payout.key))[0], (await rowsOf(later.key))[0]];
      assert.equal(after_?.nonce, reserved?.nonce);
      assert.equal(second?.nonce, (reserved?.nonce as bigint) + 1n);
    });

    test('two processes sending under one key use one nonce', async () => {
      const { rail, open, rowsOf } = await world();
      const to = fresh();
      const payout = sending(5n, to);
      const all = await Promise.all([rail, open(), open(), open()].map((one) => one.send(payout)));
      const [row, ...more] = await rowsOf(payout.key);
      assert.equal(more.length, 0);
      for (const sent of all) assert.deepEqual(sent, { outcome: 'submitted', reference: row?.hash });
      await anvil.mine();
      assert.equal(await received(to), 5n);
    });

    test('bytes signed twice are broadcast in the version that was stored first', async () => {
      const { rail, open, settings, rowsOf } = await world();
      const { hot } = settings.signers ?? {};
      assert.ok(hot);
      const to = fresh();
      const payout = sending(5n, to);
      const gate = Promise.withResolvers<void>();
      // One process is delayed while signing, and an HSM may produce two different signatures.
      const slow = {
        ...hot,
        async sign(unsigned: Parameters<typeof hot.sign>[0]) {
          await gate.promise;
          return await hot.sign({ ...unsigned, price: unsigned.price + 1n });
        },
      };
      const held = open({ signers: { hot: slow } }).send(payout);
      await until('its row is written', async () => (await rowsOf(payout.key)).length > 0);
      const sent = await rail.send(payout);
      gate.resolve();
      assert.deepEqual(await held, sent);
      assert.equal((await rowsOf(payout.key))[0]?.hash, sent.outcome === 'submitted' && sent.reference);
      await anvil.mine();
      assert.equal(await received(to), 5n);
    });

    test('a receipt from a branch that we do not follow settles nothing', async (t) => {
      const node = await tampering(t);
      const { rail, said } = await world({ rpcUrl: node.url });
      await rail.send(sending(5n));
      await anvil.mine(3);
      node.tamper('eth_getTransactionReceipt', (answer) => ({
        ...answer,
        result: { ...(answer.result as object), blockHash: `0x${'ab'.repeat(32)}` },
      }));
      await follow(rail);
      assert.deepEqual(said(), []);
      node.honest();
      await follow(rail);
      assert.deepEqual(said(), ['payout_settled']);
    });

    test('a receipt that was requested before a reorg and arrives when its block would be final settles nothing', async (t) => {
      const node = await tampering(t);
      const { rail, open, said } = await world({ rpcUrl: node.url });
      const to = fresh();
      await rail.send(sending(5n, to));
      await anvil.mine();
      const held = node.hold('eth_getTransactionReceipt');
      const looked = rail.observe();
      await held.asked;
      await anvil.rpc('anvil_reorg', [1, []]);
      await anvil.rpc('anvil_dropAllTransactions');
      await anvil.mine(FINALITY + 3);
      await follow(open({ rpcUrl: anvil.url }));
      held.letGo();
      await looked;
      assert.equal(await received(to), 0n);
      assert.deepEqual(said(), []);
      await anvil.mine(3);
      await follow(rail);
      assert.deepEqual(said(), ['payout_settled']);
      assert.equal(await received(to), 5n);
    });

    test('many concurrent payouts take consecutive nonces and all arrive', async () => {
      const { rail, open, said } = await world();
      const to = fresh();
      const processes = [rail, open(), open()];
      const sent = await Promise.all(Array.from({ length: 24 }, (_, i) => processes[i % 3]?.send(sending(1n, to))));
      assert.ok(sent.every((one) => one?.outcome === 'submitted'));
      await anvil.mine(2);
      await Promise.all(processes.map((one) => one.observe()));
      assert.equal(said().filter((type) => type === 'payout_settled').length, 24);
      assert.equal(await received(to), 24n);
    });

    test('a key reused for another transfer is a bug error, and the transfer is not sent', async () => {
      const { rail } = await world();
      const payout = sending(5n);
      await rail.send(payout);
      await assert.rejects(rail.send({ ...payout, units: 6n }), BugError);
      await assert.rejects(rail.sendFrom('faucet', payout), BugError);
    });

    test('a node that lost its mempool gets the stored bytes again', async () => {
      const { rail, rowsOf, said } = await world();
      const to = fresh();
      const payout = sending(5n, to);
      await rail.send(payout);
      await anvil.rpc('anvil_dropAllTransactions');
      await anvil.mine();
      assert.equal(await received(to), 0n);
      await follow(rail);
      await anvil.mine(2);
      await follow(rail);
      assert.deepEqual(said(), ['payout_settled']);
      assert.equal(await received(to), 5n);
      assert.equal((await rowsOf(payout.key)).length, 1);
    });

    test('a payout that a reorg removes before it is confirmed is broadcast again and settles once', async () => {
      const { rail, rowsOf, said } = await world();
      const to = fresh();
      const payout = sending(5n, to);
      await rail.send(payout);
      await anvil.mine();
      await follow(rail);
      assert.equal((await rowsOf(payout.key))[0]?.state, 'mined');
      await anvil.rpc('anvil_reorg', [1, []]);
      await anvil.rpc('anvil_dropAllTransactions');
      assert.equal(await received(to), 0n);
      await follow(rail);
      assert.equal((await rowsOf(payout.key))[0]?.state, 'signed');
      await anvil.mine(2);
      await follow(rail);
      assert.deepEqual(said(), ['payout_settled']);
      assert.equal(await received(to), 5n);
    });

    test('a settled payout that a reorg removes is broadcast again, and not settled twice', async () => {
      const { rail, said } = await world();
      const to = fresh();
      await rail.send(sending(5n, to));
      await anvil.mine(3);
      await follow(rail);
      assert.deepEqual(said(), ['payout_settled']);
      await anvil.rpc('anvil_reorg', [3, []]);
      await anvil.rpc('anvil_dropAllTransactions');
      assert.equal(await received(to), 0n);
      await follow(rail);
      await anvil.mine(3);
      await follow(rail);
      assert.equal(await received(to), 5n);
      // It is mined in another block at another gas price.
      assert.deepEqual(said(), ['cost_changed']);
    });

    test('a settled payout that a reorg deeper than finality removes is broadcast again when the rail continues', async () => {
      const { rail, said, settings } = await world();
      await anvil.mine(2 * FINALITY);
      const to = fresh();
      await rail.send(sending(5n, to));
      await anvil.mine(3);
      await follow(rail);
      assert.deepEqual(said(), ['payout_settled']);
      await anvil.rpc('anvil_reorg', [FINALITY + 2, []]);
      await anvil.rpc('anvil_dropAllTransactions');
      await follow(rail);
      assert.deepEqual(said(), ['rail_halted']);
      await fixture.db.asSystem((tx) => clearHalt(tx, settings.code, { restart: true }));
      await follow(rail);
      await anvil.mine(3);
      await follow(rail);
      assert.equal(await received(to), 5n);
      assert.ok(said().every((type) => type === 'cost_changed'));
    });

    test('a fee bump keeps nonce, recipient and amount, and the mined version settles the payout', async () => {
      const { rail, rowsOf, said, open } = await world({ pace: { stuckMs: 3_600_000 } });
      const to = fresh();
      const payout = sending(5n, to);
      await rail.send(payout);
      const hasty = open({ pace: { lowerBranchMs: 0, nativeEveryMs: 0, idleMs: 0, stuckMs: 0, rebroadcastMs: 0 } });
      await hasty.observe();
      const [first, second, ...more] = await rowsOf(payout.key);
      assert.ok(first && second && more.length === 0);
      for (const column of ['nonce', 'target', 'data', 'value']) assert.deepEqual(second[column], first[column]);
      assert.notEqual(second.hash, first.hash);
      assert.ok(offered(second) * 10n >= offered(first) * 11n);
      await anvil.mine(2);
      await follow(rail);
      assert.deepEqual(said(), ['payout_settled']);
      assert.equal(await received(to), 5n);
      assert.deepEqual(
        (await rowsOf(payout.key)).map((row) => row.state),
        ['replaced', 'confirmed'],
      );
      assert.deepEqual(await rail.status(payout.key), { outcome: 'known', reference: second.hash });
    });

    test('the earlier version settles the payout when it is the mined one', async () => {
      const { rail, rowsOf, facts, open } = await world();
      const to = fresh();
      const payout = sending(5n, to);
      await rail.send(payout);
      await anvil.mine();
      // The bump was decided by a process that had not yet read the block.
      const [first] = await rowsOf(payout.key);
      await rows.query(
        `insert into chain_sends (rail, wallet, nonce, key, version, target, data, value, asset, units, fee, reserved_at)
         select rail, wallet, nonce, key, 2, target, data, value, asset, units, fee, now() from chain_sends where key = $1`,
        [payout.key],
      );
      await anvil.mine();
      await follow(open());
      assert.deepEqual(
        facts.map((fact) => fact.type === 'payout_settled' && fact.reference),
        [first?.hash],
      );
      assert.deepEqual(
        (await rowsOf(payout.key)).map((row) => row.state),
        ['confirmed', 'replaced'],
      );
      assert.equal(await received(to), 5n);
    });

    test('a higher fee that was never signed delays nothing when a reorg removes the mined version', async () => {
      const { rail, rowsOf, said, open, settings } = await world();
      const to = fresh();
      const payout = sending(5n, to);
      await rail.send(payout);
      // The bump was decided while the signer was silent.
      await rows.query(
        `insert into chain_sends (rail, wallet, nonce, key, version, target, data, value, asset, units, fee, reserved_at)
         select rail, wallet, nonce, key, 2, target, data, value, asset, units,
                jsonb_set(fee, '{price}', to_jsonb(trunc((fee->>'price')::numeric * 5 / 4)::text)), now() - interval '1 hour'
           from chain_sends where key = $1`,
        [payout.key],
      );
      await anvil.mine(2);
      await follow(rail);
      assert.deepEqual(said(), ['payout_settled']);
      const hot = settings.signers?.hot;
      assert.ok(hot);
      let signatures = 0;
      const counting: Signer = {
        ...hot,
        sign: async (unsigned) => {
          signatures += 1;
          assert.ok(signatures <= 10, 'the same version was signed repeatedly');
          return await hot.sign(unsigned);
        },
      };
      await anvil.rpc('anvil_reorg', [2, []]);
      await anvil.rpc('anvil_dropAllTransactions');
      const next = open({ signers: { hot: counting } });
      await follow(next);
      await anvil.mine(FINALITY + 1);
      await follow(next);
      assert.equal(await received(to), 5n);
      assert.equal((await rowsOf(payout.key)).filter(({ state }) => state === 'confirmed').length, 1);
      assert.ok(said().every((type) => type === 'cost_changed'));
    });

    test('fee bumps stop at the cap', async () => {
      const { rail, rowsOf, open } = await world();
      const payout = sending(5n);
      await rail.send(payout);
      const [{ fee } = { fee: {} }] = await rowsOf(payout.key);
      const cap = (BigInt(fee.price) * 3n) / 2n;
      const hasty = open({
        maxGasPrice: cap,
        pace: { lowerBranchMs: 0, nativeEveryMs: 0, idleMs: 0, stuckMs: 0, rebroadcastMs: 0 },
      });
      for (let i = 0; i < 6; i += 1) await hasty.observe();
      const versions = await rowsOf(payout.key);
      assert.equal(versions.length, 2);
      await anvil.mine();
    });

    test('a payout that reverts on the chain is rejected, with its cost', async () => {
      const { rail, facts } = await world();
      const to = fresh();
      const payout = sending(5n, to);
      await rail.send(payout);
      // The tokens leave between the estimate and the block.
      await emptyTokens(rail.walletAddresses.hot ?? '');
      await anvil.mine(FINALITY);
      await follow(rail);
      assert.equal(facts.length, 0, 'it was rejected although a reorg could still make it succeed');
      await anvil.mine();
      await follow(rail);
      const [fact] = facts;
      assert.ok(fact?.type === 'payout_rejected', JSON.stringify(facts.map((one) => one.type)));
      assert.equal(fact.why, 'reverted on chain');
      assert.ok((fact.cost?.units ?? 0n) > 0n);
      assert.equal((await rail.status(payout.key)).outcome, 'rejected');
      assert.equal((await rail.send(payout)).outcome, 'rejected');
      assert.equal(await received(to), 0n);
    });

    test('a paid payout that reverts when it is mined again after a reorg is returned', async () => {
      const { rail, facts, said } = await world();
      const to = fresh();
      const payout = sending(5n, to);
      await rail.send(payout);
      await anvil.mine(2);
      await follow(rail);
      assert.deepEqual(said(), ['payout_settled']);
      await anvil.rpc('anvil_reorg', [2, []]);
      await anvil.rpc('anvil_dropAllTransactions');
      await emptyTokens(rail.walletAddresses.hot ?? '');
      await follow(rail);
      await anvil.mine(FINALITY);
      await follow(rail);
      const early = said();
      assert.ok(
        !early.includes('payout_returned'),
        `it was returned although a reorg could still make it succeed: ${early.join()}`,
      );
      facts.length = 0;
      await anvil.mine(2);
      await follow(rail);
      const [fact] = facts;
      assert.ok(fact?.type === 'payout_returned', JSON.stringify(facts.map((one) => one.type)));
      assert.deepEqual([fact.key, fact.units, fact.why], [payout.key, 5n, 'reverted on chain']);
      assert.equal(await received(to), 0n);
    });

    test('money of a simulated customer leaves its own wallet and reports nothing', async () => {
      const { rail, address, facts } = await world();
      const to = await address();
      const gift = { ...sending(5n, to), key: `sandbox:${to}` };
      const sent = await rail.sendFrom('faucet', gift);
      assert.equal(sent.outcome, 'submitted');
      await anvil.mine(3);
      await follow(rail);
      assert.deepEqual(
        facts.map((fact) => fact.type),
        ['deposit_seen', 'deposit_confirmed'],
      );
      assert.equal(await rail.balance('faucet', 'usdc.anvil'), 10n ** 12n - 5n);
      assert.equal(await rail.balance('hot', 'usdc.anvil'), 10n ** 12n);
    });

    /** A transfer out of the hot wallet that is not in these books. */
    async function sendsUnknown(settings: EvmOptions, nonce: bigint, units: bigint, to = FRIEND): Promise<string> {
      const transfer = { chainId: anvil.chainId, nonce, target: token, data: encodeTransfer(to, units), value: 0n };
      const signed = await settings.signers?.hot?.sign({ ...transfer, gas: 100_000n, price: 50n * GWEI, tip: GWEI });
      return await anvil.rpc('eth_sendRawTransaction', [`0x${signed?.raw.toString('hex')}`]);
    }

    test('an unknown nonce is read first; then nothing is sent to its recipient, even when the rail continues, while other sends leave', async () => {
      const { rail, rowsOf, settings, facts } = await world();
      await rail.send(sending(1n));
      await anvil.mine();
      await follow(rail);
      const hash = await sendsUnknown(settings, 1n, 7n);
      const waiting = sending(3n, fresh());
      const inPool = await rail.send(waiting);
      assert.equal(inPool.outcome, 'unknown', 'a payout was sent beside an unknown pending transaction');
      await anvil.mine();
      const same = sending(7n);
      assert.equal((await rail.send(same)).outcome, 'unknown');
      assert.deepEqual(await rowsOf(same.key), [], 'a nonce was reserved for it');
      assert.deepEqual(
        facts.filter(({ type }) => type === 'send_found'),
        [],
        'the movement was reported before it was final',
      );
      await anvil.mine(FINALITY + 1);
      await follow(rail);
      const found = facts.filter((fact) => fact.type === 'send_found');
      assert.deepEqual(
        found.map(({ reference, moved }) => [reference, moved]),
        [[hash, { asset: 'usdc.anvil', units: 7n }]],
      );
      const told = facts.filter((fact) => fact.type === 'nonces_used');
      assert.match(told[0]?.why ?? '', /^nonce 1 of wallet hot used by transactions that are not in the books$/);
      assert.equal((await rail.send(same)).outcome, 'unknown', 'the recipient was paid again');
      assert.equal((await rail.send(sending(8n))).outcome, 'unknown', 'another amount to the same recipient was sent');
      assert.equal((await rail.send(waiting)).outcome, 'submitted');
      assert.equal((await rowsOf(waiting.key))[0]?.nonce, 2n);
      await follow(rail);
      assert.equal(facts.filter(({ type }) => type === 'nonces_used').length, 1, 'the nonce was reported twice');
    });

    test('a nonce that a reorg has freed is used again, without a report', async () => {
      const { rail, rowsOf, settings, facts } = await world();
      await rail.send(sending(1n));
      await anvil.mine(3);
      await follow(rail);
      const stray = { chainId: anvil.chainId, nonce: 1n, target: FRIEND, data: Buffer.alloc(0), value: 1n };
      const signed = await settings.signers?.hot?.sign({ ...stray, gas: 21_000n, price: 50n * GWEI, tip: GWEI });
      await anvil.rpc('eth_sendRawTransaction', [`0x${signed?.raw.toString('hex')}`]);
      await anvil.mine();
      const payout = sending(2n, fresh());
      assert.equal((await rail.send(payout)).outcome, 'unknown');
      await anvil.rpc('anvil_reorg', [1, []]);
      await anvil.rpc('anvil_dropAllTransactions');
      // It is free once a final block newer than the finding shows it as unused.
      await until('the nonce is free', async () => {
        await anvil.mine(20);
        await follow(rail);
        return (await rail.send(payout)).outcome === 'submitted';
      });
      assert.equal((await rowsOf(payout.key))[0]?.nonce, 1n);
      assert.deepEqual(
        facts.filter(({ type }) => type === 'nonces_used' || type === 'send_found'),
        [],
      );
    });

    test('a nonce that another transaction used after we took it halts the rail until people have decided, and its payout is then sent once', async () => {
      const { rail, open, rowsOf, settings, said } = await world();
      await rail.send(sending(1n));
      await anvil.mine();
      await follow(rail);
      const payout = sending(5n, fresh());
      assert.equal((await rail.send(payout)).outcome, 'submitted');
      await anvil.rpc('anvil_dropAllTransactions');
      await sendsUnknown(settings, 1n, 7n);
      await anvil.mine(FINALITY + 2);
      // The row that is written when the nonce has looked used for a minute.
      await rows.query(`insert into found_movements (rail, wallet, nonce) values ($1, 'hot', 1)`, [rail.code]);
      for (let n = 0; n < 3; n += 1) await follow(rail);
      const isOf = (type: string) => type === 'rail_halted' || type === 'payout_settled';
      assert.deepEqual(said().filter(isOf), ['payout_settled', 'rail_halted']);
      // Cleared while nobody has decided: it halts again, whichever process looks.
      await fixture.db.asSystem((tx) => clearHalt(tx, rail.code, { restart: false }));
      await follow(open());
      assert.deepEqual(said().filter(isOf), ['rail_halted']);
      await rows.query(`update found_movements set state = 'foreign', ended_at = now() where rail = $1`, [rail.code]);
      await fixture.db.asSystem((tx) => clearHalt(tx, rail.code, { restart: false }));
      const next = open();
      await follow(next);
      assert.deepEqual(said(), []);
      assert.deepEqual(
        (await rowsOf(payout.key)).map(({ state }) => state),
        ['absent'],
      );
      assert.deepEqual(await next.status(payout.key), { outcome: 'absent' });
      assert.equal((await next.send(payout)).outcome, 'submitted');
      await anvil.mine(FINALITY + 2);
      await follow(next);
      assert.equal(await received(payout.destination.address), 5n);
      assert.equal((await rowsOf(payout.key)).at(-1)?.nonce, 2n);
      assert.deepEqual(said().filter(isOf), ['payout_settled']);
    });

    describe('a released nonce', () => {
      /** After a first payout. @param below the next nonce: those before it, except 0 and those of sends, are free */
      async function releases(rail: ChainRail, below: bigint): Promise<void> {
        await rows.query('update chain_nonces set next = $2 where rail = $1', [rail.code, below]);
        await rows.query(
          `insert into released_nonces (rail, wallet, nonce, key, why)
           select $1, 'hot', n, 'nobody', 'a kill switch is on' from generate_series(1, $2::bigint - 1) n
            where not exists (select from chain_sends where rail = $1 and nonce = n)`,
          [rail.code, below],
        );
      }

      test('that was used in the time lost by a restore is read before anything is sent, and the lost time is not over before', async (t) => {
        const { rail, settings, facts } = await world();
        await rail.send(sending(1n));
        await anvil.mine(3);
        await follow(rail);
        await releases(rail, 3n);
        const hashes = [await sendsUnknown(settings, 1n, 7n)];
        await rows.query(
          `insert into restores (backup_taken_at, restored_at) values (now() - interval '1 minute', now())`,
        );
        t.after(() => rows.query('delete from restores'));
        const isLooked = async () =>
          (await rows.query('select from chain_nonces where rail = $1 and looked_at is not null', [rail.code])).length >
          0;
        await follow(rail);
        assert.equal(await isLooked(), false, 'a transaction that waits to be mined was overlooked');
        hashes.push(await sendsUnknown(settings, 2n, 8n));
        await anvil.mine(FINALITY + 2);
        await follow(rail);
        await follow(rail);
        const found = facts.flatMap((fact) => (fact.type === 'send_found' ? [fact.reference] : []));
        assert.deepEqual([found, await isLooked()], [hashes, true]);
      });

      test('that waits to be mined for another transaction is not taken', async () => {
        const { rail, settings, rowsOf } = await world();
        await rail.send(sending(1n));
        await anvil.mine(3);
        await follow(rail);
        await releases(rail, 2n);
        await sendsUnknown(settings, 1n, 7n);
        const payout = sending(3n, fresh());
        assert.equal((await rail.send(payout)).outcome, 'unknown');
        assert.deepEqual(await rowsOf(payout.key), [], 'a second transaction was signed under the nonce');
        await anvil.mine(FINALITY + 2);
        await rail.send(payout);
        await follow(rail);
        assert.equal((await rail.send(payout)).outcome, 'submitted');
        assert.equal((await rowsOf(payout.key))[0]?.nonce, 2n);
      });

      test('that another program has used makes no later nonce of ours free', async () => {
        const says = new Map<string, SendAnswer>();
        const { rail, settings, rowsOf } = await world({
          mayLeave: async (_, { key }) => says.get(key) ?? { outcome: 'pay' },
        });
        await rail.send(sending(1n));
        await anvil.mine(3);
        await follow(rail);
        await releases(rail, 2n);
        await rows.query('update released_nonces set taken_by = $2 where rail = $1', [rail.code, 'a send']);
        const later = sending(3n, fresh());
        await rail.send(later);
        assert.equal((await rowsOf(later.key))[0]?.nonce, 2n);
        // Its bytes have reached no node, and wait.
        await anvil.rpc('anvil_dropAllTransactions');
        says.set(later.key, { outcome: 'wait', why: 'a kill switch is on' });
        await rows.query('update chain_sends set broadcast_at = null where key = $1', [later.key]);
        await rows.query('update released_nonces set taken_by = null where rail = $1', [rail.code]);
        await sendsUnknown(settings, 1n, 7n);
        await anvil.mine();
        const payout = sending(4n, fresh());
        assert.equal((await rail.send(payout)).outcome, 'unknown');
        await anvil.mine(FINALITY + 2);
        await follow(rail);
        await rail.send(payout);
        assert.equal((await rowsOf(payout.key))[0]?.nonce, 3n, 'it took the nonce of another payout');
      });
    });

    test('a node without the state of old blocks is read block by block', async (t) => {
      const node = await tampering(t);
      const { rail, settings, facts } = await world({ rpcUrl: node.url });
      await rail.send(sending(1n));
      await anvil.mine();
      await follow(rail);
      const hash = await sendsUnknown(settings, 1n, 9n);
      await anvil.mine(FINALITY + 2);
      node.tamper('eth_getTransactionCount', (answer, params) =>
        params[1] === 'latest' || params[1] === 'pending'
          ? answer
          : { jsonrpc: '2.0', id: answer.id, error: { code: -32000, message: 'missing trie node' } },
      );
      await follow(rail);
      assert.deepEqual(
        facts.flatMap((fact) => (fact.type === 'send_found' ? [fact.reference] : [])),
        [hash],
      );
    });

    describe('a payout signed by a process that was killed before it broadcast', () => {
      /** The gate's answer for each key, and a payout whose bytes are stored and reached no node. */
      async function signed(t: TestContext, says: Map<string, SendAnswer>) {
        const node = await tampering(t);
        const made = await world({
          rpcUrl: node.url,
          mayLeave: async (_, { key }) => says.get(key) ?? { outcome: 'pay' },
        });
        const payout = sending(8n, fresh());
        node.drop('eth_sendRawTransaction');
        assert.equal((await made.rail.send(payout)).outcome, 'unknown');
        node.honest();
        const [stored] = await made.rowsOf(payout.key);
        assert.equal(stored?.state, 'signed');
        // The next process an hour later, when a payout that delays others is signed again with a higher fee.
        await rows.query(`update chain_sends set reserved_at = now() - interval '1 hour' where key = $1`, [payout.key]);
        return { ...made, node, payout, stored, rail: made.open() };
      }

      for (const answer of [
        { outcome: 'wait', why: 'a kill switch is on' },
        { outcome: 'hold', why: 'held: customer_blocked' },
      ] as const)
        test(`is broadcast, once, when it may leave again (${answer.outcome})`, async (t) => {
          const says = new Map<string, SendAnswer>();
          const { rail, payout, stored, rowsOf, said } = await signed(t, says);
          says.set(payout.key, answer);
          const why = `it was signed with nonce ${stored?.nonce} and is not broadcast: ${answer.why}`;
          assert.deepEqual(await rail.status(payout.key), { outcome: 'unknown', why });
          assert.deepEqual(await rail.send(payout), { outcome: 'unknown', why });
          const other = sending(9n, fresh());
          assert.equal((await rail.send(other)).outcome, 'submitted');
          await follow(rail);
          await anvil.mine(2);
          await follow(rail);
          assert.equal(await received(payout.destination.address), 0n);
          assert.deepEqual(
            (await rowsOf(payout.key)).map(({ state, hash }) => [state, hash]),
            [['signed', stored?.hash]],
          );
          assert.deepEqual([...new Set(said())], answer.outcome === 'hold' ? ['payout_unknown'] : []);
          says.clear();
          await follow(rail);
          await anvil.mine(2);
          await follow(rail);
          await anvil.mine(2);
          await follow(rail);
          assert.equal(await received(payout.destination.address), 8n);
          assert.equal(await received(other.destination.address), 9n);
          assert.deepEqual(said(), ['payout_settled', 'payout_settled']);
          assert.ok((await rowsOf(payout.key)).every(({ nonce }) => nonce === stored?.nonce));
        });

      test('is not broadcast while its rail is halted', async (t) => {
        const { rail, open, payout, said } = await signed(t, new Map());
        await halts(rail);
        assert.deepEqual(await open().status(payout.key), {
          outcome: 'unknown',
          why: 'it was signed with nonce 0 and is not broadcast: the line is halted',
        });
        await anvil.mine(2);
        assert.equal(await received(payout.destination.address), 0n);
        await fixture.db.asSystem((tx) => clearHalt(tx, rail.code, { restart: false }));
        await follow(rail);
        await anvil.mine(2);
        await follow(rail);
        assert.deepEqual(said(), ['payout_settled']);
        assert.equal(await received(payout.destination.address), 8n);
      });

      test('never leaves once its movement is cancelled: an empty transfer uses its nonce, and then it is absent', async (t) => {
        const says = new Map<string, SendAnswer>();
        const { rail, open, payout, stored, rowsOf, said, facts } = await signed(t, says);
        says.set(payout.key, { outcome: 'hold', why: 'held: customer_blocked' });
        await follow(rail);
        const movements = () =>
          rows.query<{ id: bigint; state: string; units: bigint }>(
            'select id, state, units from found_movements where rail = $1 and nonce = $2',
            [rail.code, stored?.nonce],
          );
        const [movement] = await movements();
        assert.deepEqual([movement?.state, movement?.units], ['unread', 8n]);
        const [told] = facts.splice(0);
        assert.match(told?.type === 'payout_unknown' ? told.why : '', new RegExp(`cancel movement ${movement?.id}$`));
        // Until it is cancelled it blocks nothing.
        const behind = sending(9n, fresh());
        assert.equal((await rail.send(behind)).outcome, 'submitted');
        assert.equal(await fixture.db.asSystem((tx) => noteCancel(tx, movement?.id ?? 0n)), true);
        const meanwhile = sending(10n, fresh());
        const waits = await rail.send(meanwhile);
        assert.match(waits.outcome === 'unknown' ? waits.why : '', /movement [0-9]+ ends first/);
        // The gate lets it leave again, but it is cancelled and not broadcast.
        says.clear();
        const status = await rail.status(payout.key);
        assert.match(status.outcome === 'unknown' ? status.why : '', /movement [0-9]+ cancels it$/);
        await follow(rail);
        await anvil.mine(FINALITY + 3);
        await follow(rail);
        await follow(rail);
        assert.equal((await movements())[0]?.state, 'cancelled');
        assert.equal(await received(payout.destination.address), 0n);
        assert.equal(await received(behind.destination.address), 9n);
        assert.deepEqual(
          (await rowsOf(payout.key)).map(({ state }) => state),
          ['absent'],
        );
        assert.deepEqual(await rail.status(payout.key), { outcome: 'absent' });
        // The gas of the empty transfer is a debit to book.
        assert.deepEqual(said().toSorted(), ['payout_settled', 'send_matched', 'unexplained_debit']);
        // The stored bytes can no longer be mined.
        await assert.rejects(anvil.rpc('eth_sendRawTransaction', [hexOf(stored?.raw as Buffer)]), /nonce/);
        // A new payment of it gets a nonce of its own and is sent once, from any process.
        const next = open();
        assert.equal((await next.send(payout)).outcome, 'submitted');
        assert.equal((await next.send(meanwhile)).outcome, 'submitted');
        await anvil.mine(2);
        await follow(next);
        assert.equal(await received(payout.destination.address), 8n);
        assert.equal(await received(meanwhile.destination.address), 10n);
        assert.deepEqual(said(), ['payout_settled', 'payout_settled']);
      });

      test('before its bytes were stored waits with its nonce, and is cancelled in the same way', async (t) => {
        const says = new Map<string, SendAnswer>();
        const { rail, open, payout, stored, rowsOf, said, facts } = await signed(t, says);
        await rows.query(`update chain_sends set state = 'reserved', raw = null, hash = null where key = $1`, [
          payout.key,
        ]);
        says.set(payout.key, { outcome: 'wait', why: 'a kill switch is on' });
        await follow(rail);
        assert.deepEqual(said(), [], 'a wait ends by itself');
        says.set(payout.key, { outcome: 'hold', why: 'held: deposit_lost' });
        const status = await rail.status(payout.key);
        assert.match(
          status.outcome === 'unknown' ? status.why : '',
          /it may be signed with nonce 0: held: deposit_lost$/,
        );
        await rail.status(payout.key);
        const movements = () =>
          rows.query<{ id: bigint; state: string }>('select id, state from found_movements where rail = $1', [
            rail.code,
          ]);
        const [movement, ...others] = await movements();
        assert.deepEqual([movement?.state, others], ['unread', []]);
        const [told] = facts.splice(0);
        assert.match(told?.type === 'payout_unknown' ? told.why : '', new RegExp(`cancel movement ${movement?.id}$`));
        // Others are signed behind it, and wait for its nonce.
        const behind = sending(9n, fresh());
        assert.equal((await rail.send(behind)).outcome, 'submitted');
        assert.equal(await fixture.db.asSystem((tx) => noteCancel(tx, movement?.id ?? 0n)), true);
        says.clear();
        const after = await rail.status(payout.key);
        assert.match(after.outcome === 'unknown' ? after.why : '', /movement [0-9]+ cancels it$/);
        await follow(rail);
        await anvil.mine(FINALITY + 3);
        await follow(rail);
        await follow(rail);
        assert.equal((await movements())[0]?.state, 'cancelled');
        assert.deepEqual(
          [await received(payout.destination.address), await received(behind.destination.address)],
          [0n, 9n],
        );
        assert.equal((await rowsOf(payout.key))[0]?.state, 'absent');
        await assert.rejects(anvil.rpc('eth_sendRawTransaction', [hexOf(stored?.raw as Buffer)]), /nonce/);
        const next = open();
        assert.equal((await next.send(payout)).outcome, 'submitted');
        await anvil.mine(2);
        await follow(next);
        assert.equal(await received(payout.destination.address), 8n);
      });

      test('before its bytes were stored is signed once it may leave again, and its movement is gone', async (t) => {
        const says = new Map<string, SendAnswer>();
        const { rail, payout, stored, rowsOf } = await signed(t, says);
        await rows.query(`update chain_sends set state = 'reserved', raw = null, hash = null where key = $1`, [
          payout.key,
        ]);
        says.set(payout.key, { outcome: 'hold', why: 'held: customer_blocked' });
        await rail.status(payout.key);
        says.clear();
        assert.equal((await rail.status(payout.key)).outcome, 'known');
        assert.deepEqual(await rows.query('select id from found_movements where rail = $1', [rail.code]), []);
        await anvil.mine(2);
        await follow(rail);
        assert.equal(await received(payout.destination.address), 8n);
        assert.ok((await rowsOf(payout.key)).every(({ nonce }) => nonce === stored?.nonce));
      });

      test('is also absent in books from before its cancellation: the chain shows the empty transfer that used its nonce', async (t) => {
        const says = new Map<string, SendAnswer>();
        const { rail, open, payout, stored, rowsOf } = await signed(t, says);
        says.set(payout.key, { outcome: 'hold', why: 'held: customer_blocked' });
        await follow(rail);
        const of = [rail.code, stored?.nonce];
        const [movement] = await rows.query<{ id: bigint }>(
          'select id from found_movements where rail = $1 and nonce = $2',
          of,
        );
        await fixture.db.asSystem((tx) => noteCancel(tx, movement?.id ?? 0n));
        await follow(rail);
        await anvil.mine(FINALITY + 3);
        await follow(rail);
        await follow(rail);
        assert.equal((await rowsOf(payout.key))[0]?.state, 'absent');
        // The books are restored to when it was signed and the gate let it leave.
        await rows.query('delete from found_movements where rail = $1 and nonce = $2', of);
        await rows.query(
          `update chain_sends set state = 'signed', why = null, broadcast_at = null where rail = $1 and nonce = $2`,
          of,
        );
        says.clear();
        const next = open();
        const status = await next.status(payout.key);
        assert.match(status.outcome === 'unknown' ? status.why : '', /nonce too low/);
        // The row that is written when the nonce has been reported as used for a minute.
        await rows.query('insert into found_movements (rail, wallet, nonce) values ($1, $3, $2)', [...of, 'hot']);
        await follow(next);
        await follow(next);
        // It may have been signed again meanwhile with a higher fee, under the same nonce.
        assert.ok((await rowsOf(payout.key)).every(({ state }) => state === 'absent'));
        assert.deepEqual(await next.status(payout.key), { outcome: 'absent' });
        assert.equal((await next.send(payout)).outcome, 'submitted');
        await anvil.mine(2);
        await follow(next);
        assert.equal(await received(payout.destination.address), 8n);
      });

      test('is not submitted while no node answers', async (t) => {
        const { rail, payout, node, stored } = await signed(t, new Map());
        node.drop('eth_sendRawTransaction');
        assert.equal((await rail.status(payout.key)).outcome, 'unknown');
        node.honest();
        assert.deepEqual(await rail.status(payout.key), { outcome: 'known', reference: stored?.hash });
      });

      test('and that its node refused after the restart is checked at the gate before it is broadcast again', async (t) => {
        const says = new Map<string, SendAnswer>();
        const { rail, payout, stored, rowsOf, said } = await signed(t, says);
        const wallet = rail.walletAddresses.hot;
        const units = await anvil.rpc('eth_getBalance', [wallet, 'latest']);
        await anvil.rpc('anvil_setBalance', [wallet, '0x0']);
        const refused = await rail.status(payout.key);
        assert.match(refused.outcome === 'unknown' ? refused.why : '', /^not taken by the node: /);
        await rows.query(`update chain_sends set broadcast_at = broadcast_at - interval '1 hour' where key = $1`, [
          payout.key,
        ]);
        says.set(payout.key, { outcome: 'hold', why: 'held: customer_blocked' });
        await anvil.rpc('anvil_setBalance', [wallet, units]);
        for (const by of [rail, rail]) {
          await follow(by);
          await anvil.mine(2);
        }
        assert.equal(await received(payout.destination.address), 0n);
        assert.deepEqual([...new Set(said())], ['payout_unknown']);
        says.clear();
        await until('it has arrived', async () => {
          await follow(rail);
          await anvil.mine(2);
          return (await received(payout.destination.address)) === 8n;
        });
        await follow(rail);
        assert.deepEqual(said(), ['payout_settled']);
        assert.ok((await rowsOf(payout.key)).every(({ nonce }) => nonce === stored?.nonce));
      });

      test('is no longer a movement once it is in a block, without waiting for finality', async (t) => {
        const says = new Map<string, SendAnswer>();
        const { rail, payout, stored, said } = await signed(t, says);
        says.set(payout.key, { outcome: 'hold', why: 'held: customer_blocked' });
        await follow(rail);
        await anvil.rpc('eth_sendRawTransaction', [hexOf(stored?.raw as Buffer)]);
        await anvil.mine(1);
        await follow(rail);
        assert.equal((await rail.send(sending(9n, fresh()))).outcome, 'submitted');
        await anvil.mine(FINALITY + 3);
        await follow(rail);
        await follow(rail);
        assert.deepEqual([...new Set(said())], ['payout_unknown', 'payout_settled']);
        assert.equal(await received(payout.destination.address), 8n);
        assert.deepEqual(
          await rows.query(`select 1 from found_movements where rail = $1 and state = 'unread'`, [rail.code]),
          [],
        );
      });

      test('is broadcast again without the gate after a reorg, because a block had it although the answer of its node was lost', async (t) => {
        const says = new Map<string, SendAnswer>();
        const node = await tampering(t);
        const { rail, said } = await world({
          rpcUrl: node.url,
          mayLeave: async (_, { key }) => says.get(key) ?? { outcome: 'pay' },
        });
        const payout = sending(8n, fresh());
        node.dropAnswer('eth_sendRawTransaction');
        assert.equal((await rail.send(payout)).outcome, 'unknown');
        node.honest();
        says.set(payout.key, { outcome: 'hold', why: 'its payout is settled' });
        await anvil.mine(3);
        await follow(rail);
        assert.deepEqual(said(), ['payout_settled']);
        await anvil.rpc('anvil_reorg', [3, []]);
        await anvil.rpc('anvil_dropAllTransactions');
        assert.equal(await received(payout.destination.address), 0n);
        await follow(rail);
        await anvil.mine(3);
        await follow(rail);
        assert.equal(await received(payout.destination.address), 8n);
        // It is in another block, perhaps at another gas price.
        assert.deepEqual(
          said().filter((type) => type !== 'cost_changed'),
          [],
        );
      });
    });

    describe('an unsigned payout with a reserved nonce that may not leave any more', () => {
      /** The gate's answer, and a payout whose nonce was reserved by a process that ended before signing. */
      async function reserved(asked: { says: SendAnswer; keys: string[] }) {
        const made = await world({
          mayLeave: async (_, { key }) => {
            asked.keys.push(key);
            return asked.says;
          },
        });
        const { hot } = made.settings.signers ?? {};
        assert.ok(hot);
        const payout = sending(5n, fresh());
        const dying = { ...hot, refuses: hot.refuses, sign: () => Promise.reject(new Error('killed')) };
        // It ended before it called the signer: otherwise it might have received a signature.
        await assert.rejects(made.open({ signers: { hot: dying } }).send(payout), /killed/);
        await rows.query('update chain_sends set signing_at = null where key = $1', [payout.key]);
        const [{ nonce } = { nonce: undefined }] = await made.rowsOf(payout.key);
        const isOld = () =>
          rows.query(`update chain_sends set reserved_at = now() - interval '1 minute' where key = $1`, [payout.key]);
        return { ...made, hot, payout, nonce, isOld };
      }

      for (const says of [
        { outcome: 'wait', why: 'a kill switch is on' },
        { outcome: 'hold', why: 'held: customer_blocked' },
      ] as const)
        for (const who of ['the watcher', 'whoever asks for it', 'whoever sends it again'])
          test(`is not signed by ${who} (${says.outcome}), and its nonce is the next send’s`, async () => {
            const asked = { says: { outcome: 'pay' } as SendAnswer, keys: [] as string[] };
            const { rail, payout, nonce, isOld, rowsOf, said } = await reserved(asked);
            asked.says = says;
            await isOld();
            if (who === 'the watcher') await follow(rail);
            else if (who === 'whoever asks for it')
              assert.deepEqual(await rail.status(payout.key), { outcome: 'absent' });
            else assert.deepEqual(await rail.send(payout), { outcome: 'unknown', why: says.why });
            assert.deepEqual(await rowsOf(payout.key), []);
            assert.deepEqual(await rail.status(payout.key), { outcome: 'absent' });
            asked.says = { outcome: 'pay' };
            const other = sending(6n, fresh());
            assert.equal((await rail.send(other)).outcome, 'submitted');
            assert.equal((await rowsOf(other.key))[0]?.nonce, nonce);
            // The waiting payout is sent again under a nonce of its own, once.
            assert.equal((await rail.send(payout)).outcome, 'submitted');
            assert.equal((await rowsOf(payout.key))[0]?.nonce, (nonce as bigint) + 1n);
            await anvil.mine(2);
            await follow(rail);
            assert.deepEqual(said(), ['payout_settled', 'payout_settled']);
            assert.equal(await received(payout.destination.address), 5n);
            assert.equal(await received(other.destination.address), 6n);
          });

      test('is not signed while its rail is halted', async () => {
        const { rail, payout, rowsOf, said } = await reserved({ says: { outcome: 'pay' }, keys: [] });
        await halts(rail);
        assert.deepEqual(await rail.send(payout), { outcome: 'unknown', why: 'the line is halted' });
        assert.deepEqual(await rowsOf(payout.key), []);
        assert.deepEqual(await rail.status(payout.key), { outcome: 'absent' });
        await fixture.db.asSystem((tx) => clearHalt(tx, rail.code, { restart: false }));
        assert.equal((await rail.send(payout)).outcome, 'submitted');
        await anvil.mine(2);
        await follow(rail);
        assert.deepEqual(said(), ['payout_settled']);
        assert.equal(await received(payout.destination.address), 5n);
      });

      test('stays reserved where a signer may have signed it, and is not signed again until it may leave', async () => {
        const asked = { says: { outcome: 'pay' } as SendAnswer, keys: [] as string[] };
        const { rail, payout, nonce, isOld, rowsOf, said } = await reserved(asked);
        await rows.query('update chain_sends set signing_at = now() where key = $1', [payout.key]);
        asked.says = { outcome: 'wait', why: 'a kill switch is on' };
        await isOld();
        await follow(rail);
        const why = `it may be signed with nonce ${nonce}: a kill switch is on`;
        assert.deepEqual(await rail.status(payout.key), { outcome: 'unknown', why });
        assert.deepEqual(
          (await rowsOf(payout.key)).map((row) => [row.state, row.nonce]),
          [['reserved', nonce]],
        );
        assert.ok(
          asked.keys.filter((key) => key === payout.key).length >= 3,
          'it was signed without a check at the gate',
        );
        asked.says = { outcome: 'pay' };
        await follow(rail);
        await anvil.mine(2);
        await follow(rail);
        assert.deepEqual(said(), ['payout_settled']);
      });

      test('is given up after a signer declined it, because then no signature exists', async () => {
        const asked = { says: { outcome: 'pay' } as SendAnswer, keys: [] as string[] };
        const { rail, open, hot, isOld, rowsOf } = await reserved(asked);
        const other = sending(6n, fresh());
        const declines = () => Promise.reject(new NotSigned('more than may move in an hour', { declined: true }));
        await open({ signers: { hot: { ...hot, sign: declines } } }).send(other);
        asked.says = { outcome: 'hold', why: 'held: customer_blocked' };
        await isOld();
        assert.deepEqual(await rail.status(other.key), { outcome: 'absent' });
        assert.deepEqual(await rowsOf(other.key), []);
      });

      test('is discarded where its signature arrives late, because the check at the gate is too old', async () => {
        const asked = { says: { outcome: 'pay' } as SendAnswer, keys: [] as string[] };
        const { rail, open, hot, rowsOf } = await reserved(asked);
        const payout = sending(7n, fresh());
        const late = {
          ...hot,
          async sign(unsigned: Parameters<typeof hot.sign>[0]) {
            const signed = await hot.sign(unsigned);
            await rows.query(`update chain_sends set signing_at = now() - interval '1 minute' where key = $1`, [
              payout.key,
            ]);
            return signed;
          },
        };
        const sent = await open({ signers: { hot: late } }).send(payout);
        assert.equal(sent.outcome, 'unknown');
        assert.deepEqual((await rowsOf(payout.key))[0]?.raw, null);
        assert.equal((await rail.send(payout)).outcome, 'submitted');
      });
    });
  });

  describe('a node that is down, late or lying', () => {
    const lies: [string, (answer: Record<string, unknown>) => unknown][] = [
      ['HTML', () => '<html>502</html>'],
      ['half an answer', () => '[{"jsonrpc":"2.0","id":'],
      ['null', () => null],
      ['a number', () => 7],
      ['another id', (answer) => ({ ...answer, id: 999_999 })],
      ['neither result nor error', ({ id }) => ({ jsonrpc: '2.0', id })],
      ['an error', ({ id }) => ({ jsonrpc: '2.0', id, error: { code: -32000, message: 'header not found' } })],
      ['an error without words', ({ id }) => ({ jsonrpc: '2.0', id, error: {} })],
      ['null for a result', (answer) => ({ ...answer, result: null })],
      ['a text for a result', (answer) => ({ ...answer, result: 'yes' })],
      ['a list of nonsense', (answer) => ({ ...answer, result: [null, 7, {}, { topics: [] }] })],
      ['an empty object', (answer) => ({ ...answer, result: {} })],
      ['numbers as numbers', (answer) => ({ ...answer, result: { number: 5, hash: 6, parentHash: 7, timestamp: 8 } })],
      ['a quantity beyond any', (answer) => ({ ...answer, result: `0x${'f'.repeat(70)}` })],
      ['a negative quantity', (answer) => ({ ...answer, result: '0x-5' })],
      ['more than we read', (answer) => ({ ...answer, result: 'x'.repeat(300_000) })],
    ];
    for (const [what, lie] of lies) {
      test(`${what} in place of any answer is Unavailable, and changes nothing`, async (t) => {
        const node = await tampering(t);
        const { rail, address, facts } = await world({ rpcUrl: node.url, maxResponseBytes: 200_000 });
        const to = await address();
        const hash = await pays(to, 5n);
        await anvil.mine(2);
        for (const method of ['eth_getBlockByNumber', 'eth_getLogs', 'eth_getTransactionReceipt']) {
          node.tamper(method, lie);
          await assert.rejects(follow(rail), (error) => error instanceof Unavailable, method);
        }
        assert.equal(facts.length, 0);
        node.honest();
        const payout = sending(5n, fresh());
        for (const method of [
          'eth_estimateGas',
          'eth_getTransactionCount',
          'eth_getBalance',
          'eth_sendRawTransaction',
        ]) {
          node.tamper(method, lie);
          assert.equal((await rail.send(payout)).outcome, 'unknown', method);
          await assert.doesNotReject(rail.status(payout.key));
        }
        node.honest();
        await follow(rail);
        assert.deepEqual(
          facts.splice(0).map((fact) => 'externalId' in fact && fact.externalId),
          [`${hash}:0`, `${hash}:0`],
        );
        await anvil.mine(2);
        await follow(rail);
        assert.equal(facts.filter((fact) => fact.type === 'payout_settled').length, 1);
      });
    }

    test('a log with a wrong position is rejected', async (t) => {
      const node = await tampering(t);
      const { rail, address, facts } = await world({ rpcUrl: node.url });
      const to = await address();
      await pays(to, 5n);
      await anvil.mine();
      for (const change of [
        { blockHash: `0x${'ab'.repeat(32)}` },
        { logIndex: '0x63' },
        { transactionHash: '0x12' },
        { removed: true },
      ]) {
        node.tamper('eth_getLogs', (answer) => ({
          ...answer,
          result: (answer.result as object[]).map((log) => ({ ...log, ...change })),
        }));
        await assert.rejects(follow(rail), Unavailable, JSON.stringify(change));
      }
      assert.equal(facts.length, 0);
    });

    test('a receipt from another branch proves no deposit', async (t) => {
      const node = await tampering(t);
      const { rail, address, facts } = await world({ rpcUrl: node.url });
      await pays(await address(), 5n);
      await anvil.mine();
      node.tamper('eth_getTransactionReceipt', (answer) => ({
        ...answer,
        result: { ...(answer.result as object), blockHash: `0x${'ab'.repeat(32)}` },
      }));
      await assert.rejects(follow(rail), /another branch/);
      assert.equal(facts.length, 0);
    });

    test('an answer is read only up to its size limit', async (t) => {
      const node = await tampering(t);
      const { open } = await world();
      node.tamper('eth_getBlockByNumber', (answer) => ({ ...answer, more: 'x'.repeat(300_000) }));
      await assert.rejects(open({ rpcUrl: node.url, maxResponseBytes: 200_000 }).observe(), /more than 200000 bytes/);
    });

    test('a node that answers too late is Unavailable within the deadline', async (t) => {
      const node = await tampering(t);
      const { rail } = await world({ rpcUrl: node.url, deadlineMs: 300 });
      node.hang();
      const isLate = patience(2_000);
      await assert.rejects(rail.observe(), /too late/);
      assert.ok(!isLate(), 'it waited for longer than its deadline');
      assert.equal((await rail.send(sending(1n))).outcome, 'unknown');
    });

    test('an unreachable node is Unavailable, and its URL is in no message', async () => {
      const { open } = await world();
      const gone = open({ rpcUrl: 'http://127.0.0.1:9/secret-key' });
      await assert.rejects(
        gone.observe(),
        (error: Error) => error instanceof Unavailable && !/secret/.test(error.message),
      );
      await assert.rejects(gone.balance('hot', 'usdc.anvil'), Unavailable);
    });

    test('a node on another chain halts the rail', async () => {
      const { open, said } = await world();
      await open({ chainId: 5n }).observe();
      assert.deepEqual(said(), ['rail_halted']);
    });
  });

  const halts = ({ code }: ChainRail) => rows.query(`update chains set halted_why = 'a test' where rail = $1`, [code]);

  /** The test token keeps its balances in the mapping at slot 3. */
  async function emptyTokens(address: string): Promise<void> {
    const slot = keccak256(`0x${address.slice(2).padStart(64, '0')}${'3'.padStart(64, '0')}`);
    await anvil.rpc('anvil_setStorageAt', [token, slot, `0x${'0'.repeat(64)}`]);
    assert.equal(await received(address), 0n);
  }

  /** A proxy of the node that loses, changes or delays answers, by method. */
  async function tampering(t: TestContext) {
    type Change =
      | { drop: true }
      | { dropAnswer: true }
      | { until: Promise<void>; asked: () => void }
      | { lie: (answer: Record<string, unknown>, params: unknown[]) => unknown };
    let changes = new Map<string, Change>();
    let hanging = false;
    const server = createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      if (hanging) return;
      const body = Buffer.concat(parts).toString();
      type Asked = { id: number; method: string; params: unknown[] };
      const asked = JSON.parse(body) as Asked | Asked[];
      const paramsOf = new Map((Array.isArray(asked) ? asked : [asked]).map((one) => [one.id, one.params]));
      const methods = (Array.isArray(asked) ? asked : [asked]).map((one) => [one.id, changes.get(one.method)] as const);
      if (methods.some(([, change]) => change && 'drop' in change)) return request.socket.destroy();
      const answer = (await (
        await fetch(anvil.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      ).json()) as Record<string, unknown> | Record<string, unknown>[];
      if (methods.some(([, change]) => change && 'dropAnswer' in change)) return request.socket.destroy();
      for (const [, change] of methods) {
        if (change === undefined || !('until' in change)) continue;
        change.asked();
        await change.until;
      }
      const byId = new Map(methods);
      let text: string | undefined;
      const altered = (one: Record<string, unknown>): unknown => {
        const change = byId.get(one.id as number);
        if (change === undefined || !('lie' in change)) return one;
        const told = change.lie(one, paramsOf.get(one.id as number) ?? []);
        if (typeof told === 'string') text = told;
        return told;
      };
      const told = Array.isArray(answer) ? answer.map(altered) : altered(answer);
      response.setHeader('content-type', 'application/json');
      response.end(text ?? JSON.stringify(told));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as { port: number };
    return {
      url: `http://127.0.0.1:${port}`,
      drop: (method: string) => void (changes = new Map([[method, { drop: true }]])),
      dropAnswer: (method: string) => void (changes = new Map([[method, { dropAnswer: true }]])),
      tamper: (method: string, lie: (answer: Record<string, unknown>, params: unknown[]) => unknown) =>
        void (changes = new Map([[method, { lie }]])),
      /** Receives the answer, and holds it back until it is released. */
      hold(method: string) {
        const [until, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        changes = new Map([[method, { until: until.promise, asked: asked.resolve }]]);
        return { asked: asked.promise, letGo: until.resolve };
      },
      hang: () => void (hanging = true),
      honest: () => void (changes = new Map()),
    };
  }
});
