/**
 * The signer on a chain of Tron's family: it signs the bytes of a transaction, and the content it has read from them is all that
 * its limits need.
 */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { HDKey } from '@scure/bip32';
import { encodeTransfer } from '../../src/rails/erc20.ts';
import { addressOf, encodeRawData, hashOf, type RawData, tronSignerOf } from '../../src/rails/tron/index.ts';
import {
  type ChainLimits,
  type Journal,
  openJournal,
  openSigner,
  publicOf,
  type SignerCore,
} from '../../src/signer/index.ts';
import { readLimits } from '../../src/signer/limits.ts';
import { freshFolder } from '../support/folder.ts';

const CHAIN = 728_126_428n;
const TOKEN = `0x${'11'.repeat(20)}`;
const FRIEND = `0x${'22'.repeat(20)}`;
const NOW = 1_800_000_000_000;
const keys = {
  wallets: { hot: `0x${'33'.repeat(32)}` },
  deposits: HDKey.fromMasterSeed(Buffer.alloc(32, 5)).privateExtendedKey,
};
const { wallets } = publicOf(keys);
const hot = addressOf(wallets.hot ?? '');
const limits: ChainLimits = {
  chainId: CHAIN,
  family: 'tron',
  tokens: { [TOKEN]: { perTransfer: 1_000n, perHour: 2_500n } },
  gas: { perTransfer: 0n, perHour: 0n },
  native: { perTransfer: 50n, perHour: 50n },
  fees: { perTransfer: 40_000_000n, perHour: 200_000_000n },
};

const good: RawData = {
  refBlockBytes: Buffer.from('8ad9', 'hex'),
  refBlockHash: Buffer.from('eaef69105495eb15', 'hex'),
  expirationMs: BigInt(NOW + 60_000),
  timestampMs: BigInt(NOW),
  feeLimit: 20_000_000n,
  owner: hot,
  target: addressOf(TOKEN),
  data: encodeTransfer(FRIEND, 1_000n),
  value: 0n,
};

describe('signing bytes of Tron', () => {
  let journal: Journal;
  let core: SignerCore;
  beforeEach(() => {
    journal = openJournal(undefined, { nowMs: () => NOW });
    core = openSigner(keys, [limits], journal, { nowMs: () => NOW });
  });
  const sign = (change: Partial<RawData> = {}, by = core) =>
    by.signRaw(
      { wallet: 'hot' },
      { chainId: CHAIN, rawData: encodeRawData({ ...good, ...change }), depositIndex: undefined },
    );
  const why = (answer: Buffer | { refused: string }) => (Buffer.isBuffer(answer) ? 'signed' : answer.refused);

  test('a transfer within the limits is signed with the wallet that it names', () => {
    const signature = sign();
    assert.ok(Buffer.isBuffer(signature));
    assert.equal(tronSignerOf(encodeRawData(good), signature), hot);
  });

  for (const [what, change, words] of [
    ['a larger transfer', { data: encodeTransfer(FRIEND, 1_001n) }, /more than one transfer/],
    ['another contract', { target: addressOf(FRIEND) }, /contract that is not allowed/],
    ['an approval', { data: Buffer.concat([Buffer.from('095ea7b3', 'hex'), good.data.subarray(4)]) }, /no transfer/],
    ['native asset along with a call', { value: 1n }, /along with/],
    [
      'more of the native asset',
      { target: addressOf(FRIEND), data: Buffer.alloc(0), value: 51n, feeLimit: 0n },
      /native asset/,
    ],
    ['a fee above its limit', { feeLimit: 40_000_000n }, /fee above/],
    ['an expiration far ahead', { expirationMs: BigInt(NOW + 601_000) }, /expiration/],
    ['a transfer of another wallet', { owner: addressOf(FRIEND) }, /another wallet/],
  ] as const)
    test(`${what} is not signed`, () => {
      assert.match(why(sign(change)), words);
      assert.equal(journal.as(CHAIN, wallets.hot ?? '', hashOf(encodeRawData({ ...good, ...change }))), undefined);
    });

  test('bytes that are no transfer are not signed, nor those of an unknown account', () => {
    const asked = { chainId: CHAIN, rawData: Buffer.from('0a02', 'hex'), depositIndex: undefined };
    assert.match(why(core.signRaw({ wallet: 'hot' }, asked)), /no transfer/);
    const rawData = encodeRawData(good);
    assert.match(why(core.signRaw({ wallet: 'constructor' }, { ...asked, rawData })), /another wallet/);
    assert.match(why(core.signRaw({ wallet: 'hot' }, { ...asked, rawData, chainId: 1n })), /chain that is not allowed/);
  });

  test('the same bytes count once in an hour, and others again, even for the same transfer', () => {
    for (let n = 0; n < 5; n += 1) assert.equal(why(sign()), 'signed');
    assert.equal(why(sign({ timestampMs: 1n })), 'signed');
    assert.match(why(sign({ timestampMs: 2n })), /more than may move in an hour/);
    assert.equal(why(sign()), 'signed', 'a signed transaction could not be signed again');
  });

  test('the journal restores signatures by their hash', () => {
    const path = `${freshFolder('journal')}/journal`;
    const first = openJournal(path, { nowMs: () => NOW });
    const before = openSigner(keys, [limits], first, { nowMs: () => NOW });
    sign({}, before);
    sign({ timestampMs: 1n }, before);
    first.close();
    const again = openSigner(keys, [limits], openJournal(path, { nowMs: () => NOW }), { nowMs: () => NOW });
    assert.equal(why(sign({}, again)), 'signed');
    assert.match(why(sign({ timestampMs: 2n }, again)), /in an hour/);
    assert.deepEqual(again.signed(CHAIN, { wallet: 'hot' }, 0n), [], 'the journal has nonces');
  });

  test('a chain is signed for in its own form only', async () => {
    const evm = { ...limits, chainId: 1n };
    delete evm.family;
    const both = openSigner(keys, [limits, evm], journal, { nowMs: () => NOW });
    const rawData = encodeRawData(good);
    assert.match(
      why(both.signRaw({ wallet: 'hot' }, { chainId: 1n, rawData, depositIndex: undefined })),
      /not written so/,
    );
    const unsigned = { nonce: 0n, target: TOKEN, data: good.data, value: 0n, gas: 1n, price: 1n, tip: undefined };
    const signed = await both.sign({ wallet: 'hot' }, { ...unsigned, chainId: CHAIN });
    assert.match('refused' in signed ? signed.refused : '', /no nonce/);
  });

  test('its limits name contracts as Tron spells them', () => {
    const limit = { perTransfer: '1', perHour: '1' };
    const file = (token: string, family?: string) =>
      JSON.stringify({
        chains: [
          {
            chainId: '728126428',
            ...(family === undefined ? {} : { family }),
            tokens: { [token]: limit },
            gas: limit,
            native: limit,
            fees: limit,
          },
        ],
      });
    const [read] = readLimits('LIMITS', file('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 'tron'));
    assert.deepEqual(Object.keys(read?.tokens ?? {}), ['0xa614f803b6fd780986a42c78ec9c7f77e6ded13c']);
    assert.throws(() => readLimits('LIMITS', file('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t')), /tokens must be named by/);
    assert.throws(() => readLimits('LIMITS', file(TOKEN, 'tron')), /tokens must be named by/);
    assert.throws(() => readLimits('LIMITS', file(TOKEN, 'bitcoin')), /family must be one of evm, tron/);
  });
});
