/** Batches of sweeps at the signer: what it signs, its limits, and its journal. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { SignedAuthorization } from 'viem';
import { parseTransaction, recoverAuthorizationAddress } from 'viem/utils';
import { randomHex } from '../../src/base/ids.ts';
import { batchCall } from '../../src/rails/evm/batch.ts';
import { addressesOf, type Unsigned } from '../../src/rails/evm/index.ts';
import { encodeTransfer } from '../../src/rails/evm/transfers.ts';
import {
  type ChainLimits,
  openJournal,
  openSigner,
  type SignerCore,
  signerClient,
  signerWithin,
} from '../../src/signer/index.ts';
import { keysOf, newPhrase, publicOf } from '../../src/signer/keys.ts';
import { readLimits } from '../../src/signer/limits.ts';
import { freshFolder } from '../support/folder.ts';

const TOKEN = `0x${'11'.repeat(20)}`;
const FRIEND = `0x${'22'.repeat(20)}`;
const KEYS = keysOf(newPhrase()) ?? assert.fail('a new phrase is invalid');
const { wallets, xpub } = publicOf(KEYS);
const HOT = wallets.hot ?? '';
const SECRET = randomHex(32);
const depositAddress = addressesOf(xpub);

const LIMITS: ChainLimits = {
  chainId: 1n,
  tokens: { [TOKEN]: { perTransfer: 100n, perHour: 250n } },
  gas: { perTransfer: 50n, perHour: 120n },
  native: { perTransfer: 0n, perHour: 0n },
  fees: { perTransfer: 1_000n, perHour: 5_000n },
};
const fees = { gas: 10n, price: 10n, tip: 1n };
const tokens = (nonce: bigint, units: bigint): Unsigned => ({
  chainId: 1n,
  nonce,
  target: TOKEN,
  data: encodeTransfer(FRIEND, units),
  value: 0n,
  ...fees,
});

const fresh = (limits: Partial<ChainLimits> = {}, journal = openJournal(undefined)) =>
  openSigner(KEYS, [{ ...LIMITS, ...limits }], journal);

async function refusedBy(
  core: SignerCore,
  unsigned: Unsigned,
  from: Parameters<SignerCore['sign']>[0] = { wallet: 'hot' },
) {
  const answer = await core.sign(from, unsigned);
  return 'refused' in answer ? answer.refused : undefined;
}

describe('a batch of sweeps', () => {
  const sweeper = `0x${'33'.repeat(20)}`;
  const batch = (nonce: bigint, units: readonly bigint[], delegating: readonly bigint[] = []): Unsigned => {
    const moves = units.map((one, at) => ({ address: depositAddress(BigInt(at)), units: one }));
    const call = batchCall(sweeper, TOKEN, moves);
    assert.ok(!('rejected' in call));
    const { target, data } = call;
    const delegates = delegating.map((index) => ({ index, nonce: 5n }));
    return { chainId: 1n, nonce, target, data, value: 0n, ...fees, delegating: delegates };
  };

  test('is signed for the hot wallet, with authorizations of its deposit addresses for this chain alone', async () => {
    const client = signerClient({
      connect: signerWithin(fresh({ sweeper }), SECRET),
      secret: SECRET,
      expected: { wallets, xpub },
    });
    const { raw } = await client.wallet(1n, 'hot', HOT).sign(batch(0n, [60n, 40n], [0n, 1n]));
    const { type, to, authorizationList = [] } = parseTransaction(`0x${raw.toString('hex')}`);
    assert.deepEqual([type, to], ['eip7702', sweeper]);
    for (const [at, one] of authorizationList.entries()) {
      const signer = await recoverAuthorizationAddress({ authorization: one as SignedAuthorization });
      assert.equal(signer.toLowerCase(), depositAddress(BigInt(at)));
      assert.deepEqual([one.chainId, one.address, one.nonce], [1, sweeper, 5]);
    }
    assert.equal(authorizationList.length, 2);
    client.close();
  });

  test('has the limits of one transfer, and a nonce of its own', async () => {
    const core = fresh({ sweeper });
    const refused = (unsigned: Unsigned, from?: Parameters<SignerCore['sign']>[0]) => refusedBy(core, unsigned, from);
    assert.match((await refused(batch(0n, [60n, 41n]))) ?? '', /more than one transfer may move/);
    assert.match((await refused({ ...batch(0n, [1n]), gas: 101n })) ?? '', /fee above the limit/);
    assert.match((await refused({ ...batch(0n, [1n]), value: 1n })) ?? '', /no batch/);
    assert.match((await refused({ ...batch(0n, [1n]), data: Buffer.from('ff', 'hex') })) ?? '', /no batch/);
    assert.match((await refused(batch(0n, [1n]), { deposit: 1n })) ?? '', /another wallet than the hot one/);
    assert.match((await refused(batch(0n, [1n], [9n]))) ?? '', /not in the batch/);
    assert.equal(await refused(batch(0n, [60n, 40n])), undefined);
    assert.equal(await refused({ ...batch(0n, [60n, 40n]), price: 20n }), undefined);
    assert.match((await refused(batch(0n, [40n, 60n]))) ?? '', /nonce 0 was signed for another transfer/);
    assert.match((await refused(tokens(0n, 100n))) ?? '', /nonce 0 was signed for another transfer/);
    assert.equal(await refused(tokens(1n, 100n)), undefined);
    assert.match((await refusedBy(fresh(), batch(0n, [1n]))) ?? '', /contract that is not allowed/);
  });

  test('is in the journal after a restart, and its fees count', async () => {
    const path = join(freshFolder('batches'), 'journal');
    const first = openJournal(path);
    assert.equal(await refusedBy(fresh({ sweeper }, first), batch(0n, [60n, 40n])), undefined);
    first.close();
    const again = openJournal(path);
    const core = fresh({ sweeper, fees: { perTransfer: 1_000n, perHour: 150n } }, again);
    assert.match((await refusedBy(core, batch(0n, [1n]))) ?? '', /nonce 0 was signed/);
    assert.match((await refusedBy(core, batch(1n, [1n]))) ?? '', /more fees than may be paid in an hour/);
    again.close();
  });

  test('needs the contract in the file of limits, which must be an address on an EVM chain', () => {
    const file = (more: object) => {
      const limit = { perTransfer: '1', perHour: '1' };
      const chain = { chainId: '1', tokens: {}, gas: limit, native: limit, fees: limit, ...more };
      return readLimits('limits', JSON.stringify({ chains: [chain] }));
    };
    assert.equal(file({})[0]?.sweeper, undefined);
    assert.equal(file({ sweeper })[0]?.sweeper, sweeper);
    for (const more of [{ sweeper: '0x12' }, { sweeper: 5 }, { sweeper, family: 'tron' }])
      assert.throws(() => file(more), /sweeper must be the address of the Sweeper contract/);
  });
});
