/**
 * The signer: which transactions it signs, its journal, and that it behaves the same over a socket, in a separate process.
 *
 * Long because all of its claims share one set of keys and limits.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Duplex, duplexPair } from 'node:stream';
import { describe, test } from 'node:test';
import { HDKey } from '@scure/bip32';
import { randomHex } from '../../src/base/ids.ts';
import { NotSigned } from '../../src/rails/chain.ts';
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
import { encryptKeys, keysOf, newPhrase, openKeys, publicOf } from '../../src/signer/keys.ts';
import { readLimits } from '../../src/signer/limits.ts';
import { freshFolder } from '../support/folder.ts';
import { patience } from '../support/patience.ts';
import { collect, run } from '../support/process.ts';
import { startSigner } from '../support/signer.ts';
import { until } from '../support/until.ts';

const TOKEN = `0x${'11'.repeat(20)}`;
const FRIEND = `0x${'22'.repeat(20)}`;
const KEYS = keysOf(newPhrase()) ?? assert.fail('a new phrase is invalid');
const { wallets, xpub } = publicOf(KEYS);
const HOT = wallets.hot ?? '';
const depositAddress = addressesOf(xpub);

const LIMITS: ChainLimits = {
  chainId: 1n,
  tokens: { [TOKEN]: { perTransfer: 100n, perHour: 250n } },
  gas: { perTransfer: 50n, perHour: 120n },
  native: { perTransfer: 0n, perHour: 0n },
  fees: { perTransfer: 1_000n, perHour: 5_000n },
};
const HOUR_MS = 3_600_000;

const fees = { gas: 10n, price: 10n, tip: 1n };
const tokens = (nonce: bigint, units: bigint, to = FRIEND): Unsigned => ({
  chainId: 1n,
  nonce,
  target: TOKEN,
  data: encodeTransfer(to, units),
  value: 0n,
  ...fees,
});
const coin = (nonce: bigint, value: bigint, target: string, depositIndex?: bigint): Unsigned => ({
  chainId: 1n,
  nonce,
  target,
  data: Buffer.alloc(0),
  value,
  depositIndex,
  ...fees,
});
const hot = { wallet: 'hot' };

const fresh = (limits: Partial<ChainLimits> = {}, journal = openJournal(undefined)) =>
  openSigner(KEYS, [{ ...LIMITS, ...limits }], journal);

async function refusedBy(core: SignerCore, unsigned: Unsigned, from: Parameters<SignerCore['sign']>[0] = hot) {
  const answer = await core.sign(from, unsigned);
  return 'refused' in answer ? answer.refused : undefined;
}

describe('signed transactions', () => {
  test('are listed tokens to any recipient, gas to its own deposit addresses, sweeps to the hot wallet', async () => {
    const core = fresh();
    assert.equal(await refusedBy(core, tokens(0n, 100n)), undefined);
    assert.equal(await refusedBy(core, coin(1n, 50n, depositAddress(7n), 7n)), undefined);
    assert.equal(
      await refusedBy(core, tokens(0n, 10n ** 30n, HOT), { deposit: 7n }),
      undefined,
      'a sweep has no limit',
    );
  });

  const approve = Buffer.from(encodeTransfer(FRIEND, 1n));
  approve.set([0x09, 0x5e, 0xa7, 0xb3]);
  const odd: [string, Unsigned, string, Parameters<SignerCore['sign']>[0]?][] = [
    ['more than one transfer may move', tokens(0n, 101n), 'more than one transfer may move'],
    ['another contract', { ...tokens(0n, 1n), target: FRIEND }, 'a contract that is not allowed'],
    ['an approval', { ...tokens(0n, 1n), data: approve }, 'a call that is no transfer'],
    ['tokens to their contract', tokens(0n, 1n, TOKEN), 'tokens to a token contract'],
    ['coin with a token transfer', { ...tokens(0n, 1n), value: 1n }, 'native asset along with a token transfer'],
    ['another chain', { ...tokens(0n, 1n), chainId: 5n }, 'a chain that is not allowed'],
    ['a wallet that is not here', tokens(0n, 1n), 'a wallet that is not here', { wallet: 'cold' }],
    ['a wallet named as what every object has', tokens(0n, 1n), 'a wallet that is not here', { wallet: 'constructor' }],
    ['too dear a fee', { ...tokens(0n, 1n), price: 101n }, 'a fee above the limit'],
    ['coin to a stranger', coin(0n, 1n, FRIEND), 'more of the native asset than one transfer may move'],
    [
      'coin to a stranger with a number',
      coin(0n, 1n, FRIEND, 7n),
      'more of the native asset than one transfer may move',
    ],
    ['too much gas', coin(0n, 51n, depositAddress(7n), 7n), 'more of the native asset than one transfer may move'],
    ['a sweep elsewhere', tokens(0n, 1n, FRIEND), 'a recipient that is not allowed', { deposit: 7n }],
    ['a sweep of coin', coin(0n, 1n, HOT), 'more of the native asset than one transfer may move', { deposit: 7n }],
  ];
  for (const [what, unsigned, why, from] of odd) {
    test(`refuses ${what}`, async () => {
      const core = fresh();
      assert.equal(await refusedBy(core, unsigned, from ?? hot), why);
      assert.equal(
        core.check(unsigned.chainId, from ?? hot, unsigned),
        why,
        'the check before a nonce is taken gives another answer',
      );
    });
  }

  test('include the native asset to any recipient if a limit allows it', async () => {
    const core = fresh({ native: { perTransfer: 5n, perHour: 8n } });
    assert.equal(await refusedBy(core, coin(0n, 5n, FRIEND)), undefined);
    assert.equal(await refusedBy(core, coin(1n, 4n, FRIEND)), 'more than may move in an hour');
    assert.equal(
      await refusedBy(core, coin(1n, 50n, depositAddress(1n), 1n)),
      undefined,
      'gas counted against the limit of tokens',
    );
  });
});

describe('an hour', () => {
  test('has its limit per asset, and is over after 60 minutes', async () => {
    let nowMs = Date.now();
    const core = fresh({}, openJournal(undefined, { nowMs: () => nowMs }));
    for (const nonce of [0n, 1n]) assert.equal(await refusedBy(core, tokens(nonce, 100n)), undefined);
    assert.equal(await refusedBy(core, tokens(2n, 51n)), 'more than may move in an hour');
    assert.equal(await refusedBy(core, tokens(2n, 50n)), undefined);
    nowMs -= 2 * HOUR_MS;
    assert.equal(
      await refusedBy(core, tokens(3n, 1n)),
      'more than may move in an hour',
      'a clock that is set back gave another limit',
    );
    nowMs += 3 * HOUR_MS + 1;
    assert.equal(await refusedBy(core, tokens(3n, 100n)), undefined);
  });

  test('has one limit for requests that come at once', async () => {
    const core = fresh();
    const answers = await Promise.all([0n, 1n, 2n, 3n].map((nonce) => refusedBy(core, tokens(nonce, 100n))));
    const over = 'more than may move in an hour';
    assert.deepEqual(answers, [undefined, undefined, over, over]);
  });

  test('has its limit also after a start with a clock that was ahead', async () => {
    const path = join(freshFolder('signer'), 'signed.jsonl');
    const before = fresh({}, openJournal(path));
    for (const nonce of [0n, 1n]) assert.equal(await refusedBy(before, tokens(nonce, 100n)), undefined);
    let aheadMs = 24 * HOUR_MS;
    const after = fresh({}, openJournal(path, { nowMs: () => Date.now() + aheadMs }));
    aheadMs = 0;
    assert.equal(await refusedBy(after, tokens(2n, 51n)), 'more than may move in an hour');
    assert.equal(await refusedBy(after, tokens(2n, 50n)), undefined);
    aheadMs = HOUR_MS;
    assert.equal(await refusedBy(after, tokens(3n, 100n)), undefined);
  });

  test('ends fees too, however small the transfers', async () => {
    const core = fresh();
    const dear = { gas: 100n, price: 10n };
    for (let nonce = 0n; nonce < 5n; nonce += 1n)
      assert.equal(await refusedBy(core, { ...tokens(nonce, 1n), ...dear }), undefined);
    assert.equal(await refusedBy(core, tokens(5n, 1n)), 'more fees than may be paid in an hour');
  });
});

describe('a nonce', () => {
  test('signed again for the same transfer counts once; a bump changes fees alone', async () => {
    const core = fresh();
    const first = await core.sign(hot, tokens(0n, 100n));
    assert.deepEqual(await core.sign(hot, tokens(0n, 100n)), first, 'repeating it gave other bytes');
    for (const price of [11n, 12n, 13n]) assert.equal(await refusedBy(core, { ...tokens(0n, 100n), price }), undefined);
    assert.equal(await refusedBy(core, tokens(1n, 100n)), undefined);
    assert.equal(await refusedBy(core, tokens(2n, 50n)), undefined);
    assert.equal(
      await refusedBy(core, { ...tokens(2n, 50n), price: 20n }),
      undefined,
      'nothing is left, and it is no more',
    );
  });

  test('signed for another transfer is refused, for any caller and method', async () => {
    const core = fresh();
    await core.sign(hot, tokens(0n, 10n));
    const why = 'nonce 0 was signed for another transfer';
    for (const other of [tokens(0n, 11n), tokens(0n, 10n, HOT), coin(0n, 10n, depositAddress(1n), 1n)])
      assert.equal(await refusedBy(core, other), why);
    const sweep = { deposit: 3n };
    await core.sign(sweep, tokens(0n, 5n, HOT));
    assert.equal(await refusedBy(core, tokens(0n, 6n, HOT), sweep), why, 'an address shares the nonces of another');
  });

  test('is used up by an empty transfer to the wallet itself, even after another signature; after that nothing else is signed', async () => {
    const core = fresh();
    await core.sign(hot, tokens(0n, 10n));
    const empty = coin(0n, 0n, HOT);
    assert.equal(await refusedBy(core, empty), undefined);
    assert.equal(await refusedBy(core, { ...empty, price: 12n }), undefined, 'for a higher fee');
    const why = 'nonce 0 was signed for another transfer';
    assert.equal(await refusedBy(core, tokens(0n, 10n)), why, 'the cancelled transfer was signed again');
    assert.equal(await refusedBy(core, coin(0n, 0n, FRIEND)), why, 'to somebody else');
    assert.equal(await refusedBy(core, { ...empty, gas: 2_000n }), 'a fee above the limit');
    // A deposit address ends a nonce in the same way, and cannot pay anyone by it.
    const sweep = { deposit: 3n };
    await core.sign(sweep, tokens(0n, 5n, HOT));
    assert.deepEqual(
      core.signed(1n, sweep, 0n).map(({ kind, units }) => [kind, units]),
      [['sweep', 5n]],
    );
    assert.deepEqual(core.signed(1n, sweep, 1n), []);
    for (const target of [HOT, FRIEND, depositAddress(4n)])
      assert.notEqual(await refusedBy(core, coin(0n, 0n, target), sweep), undefined);
    assert.notEqual(await refusedBy(core, coin(0n, 1n, depositAddress(3n)), sweep), undefined, 'with coin');
    assert.equal(await refusedBy(core, coin(0n, 0n, depositAddress(3n)), sweep), undefined);
    assert.equal(await refusedBy(core, tokens(0n, 5n, HOT), sweep), why, 'the cancelled transfer was signed again');
  });
});

describe('the journal', () => {
  test('lists the signatures from a nonce on, also after a restart, and cancellations', async () => {
    const path = join(freshFolder('signer'), 'signed.jsonl');
    const before = fresh({}, openJournal(path));
    for (const nonce of [0n, 1n, 3n]) await before.sign(hot, tokens(nonce, 10n + nonce));
    await before.sign(hot, coin(3n, 0n, HOT));
    const after = fresh({}, openJournal(path));
    assert.deepEqual(
      after.signed(1n, hot, 1n).map(({ nonce, kind, units }) => [nonce, kind, units]),
      [
        [1n, 'token', 11n],
        [3n, 'cancel', 0n],
      ],
    );
    assert.deepEqual(after.signed(1n, hot, 4n), []);
    assert.deepEqual(after.signed(1n, { wallet: 'constructor' }, 0n), []);
  });

  test('lists signatures quickly, however far apart the nonces are, and signs no impossible nonce', async () => {
    const path = join(freshFolder('signer'), 'signed.jsonl');
    const core = fresh({}, openJournal(path));
    const far = 60_000_000n;
    for (const nonce of [far, 3n, far - 1n, 1n, 3n]) assert.equal(await refusedBy(core, tokens(nonce, 10n)), undefined);
    await core.sign({ deposit: 3n }, tokens(2n, 5n, HOT));
    const isLate = patience(2_000);
    for (const one of [core, fresh({}, openJournal(path))]) {
      const noncesFrom = (nonce: bigint) => one.signed(1n, hot, nonce).map((said) => said.nonce);
      assert.deepEqual(noncesFrom(0n), [1n, 3n, far - 1n, far]);
      assert.deepEqual(noncesFrom(2n), [3n, far - 1n, far]);
      assert.deepEqual(noncesFrom(far), [far]);
      assert.deepEqual(noncesFrom(far + 1n), []);
    }
    assert.ok(!isLate(), 'it checked every nonce between them');
    assert.equal(await refusedBy(core, tokens(10n ** 18n, 10n)), 'a nonce that no wallet can have');
  });

  test('remembers after a restart, and a torn last line was never signed', async () => {
    const path = join(freshFolder('signer'), 'signed.jsonl');
    const before = fresh({}, openJournal(path));
    for (const nonce of [0n, 1n]) await before.sign(hot, tokens(nonce, 100n));
    await before.sign(hot, { ...tokens(1n, 100n), price: 20n });
    appendFileSync(path, '{"at":"2026-01-01T00:00:00.000Z","chainId":"1","from":');

    const after = fresh({}, openJournal(path));
    assert.equal(await refusedBy(after, tokens(2n, 51n)), 'more than may move in an hour');
    assert.equal(await refusedBy(after, tokens(1n, 99n)), 'nonce 1 was signed for another transfer');
    assert.equal(await refusedBy(after, tokens(2n, 50n)), undefined);
    assert.equal(readFileSync(path, 'utf8').split('\n').length, 5, 'the journal does not have four complete lines');
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });

  test('stores a line whole or not at all when the disk is full, and remembers the stored ones', async () => {
    const path = join(freshFolder('signer'), 'signed.jsonl');
    const program = `
      import { openJournal } from './server/src/signer/journal.ts';
      const journal = openJournal(process.argv[1]);
      for (let nonce = 0n; nonce < 8n; nonce += 1n) {
        try {
          journal.keep({ chainId: 1n, from: 'a', nonce, kind: 'token', asset: 'b', to: 'c', units: 1n, feeUnits: 1n });
          console.log(String(nonce));
        } catch {}
      }`;
    const node = [process.execPath, '--input-type=module', '-e', program, path];
    // A file may have 1,024 bytes, which end in the middle of a line.
    const child = spawn('bash', ['-c', 'ulimit -f 1; exec "$@"', 'bash', ...node]);
    let out = '';
    child.stdout.on('data', (part) => (out += part));
    await once(child, 'close');
    const kept = out.trim().split('\n').map(BigInt);
    assert.ok(kept.length > 1 && kept.length < 8, out);
    assert.match(readFileSync(path, 'utf8'), /\n$/);
    const journal = openJournal(path);
    for (const nonce of kept) assert.ok(journal.under(1n, 'a', nonce), `nonce ${nonce}`);
    assert.equal(readFileSync(path, 'utf8').split('\n').length - 1, kept.length);
    journal.close();
  });

  test('with a line that cannot be read stops the signer', () => {
    const path = join(freshFolder('signer'), 'signed.jsonl');
    writeFileSync(path, '{"at":"yesterday"}\n');
    assert.throws(() => openJournal(path), /line 1 of the signer's journal .* cannot be read/);
  });
});

describe('keys', () => {
  test('come out of their file with the passphrase and not otherwise', () => {
    const encrypted = encryptKeys(KEYS, 'a long passphrase');
    assert.deepEqual(openKeys(encrypted, 'a long passphrase'), KEYS);
    assert.equal(openKeys(encrypted, 'a long passphrasE'), undefined);
    assert.equal(openKeys(encrypted.replace(/"encrypted": "./, '"encrypted": "'), 'a long passphrase'), undefined);
    for (const secret of [...Object.values(KEYS.wallets), KEYS.deposits]) assert.ok(!encrypted.includes(secret));
  });

  test('are those that any wallet program finds below the phrase', () => {
    const known = keysOf('test test test test test test test test test test test junk');
    assert.ok(known);
    assert.equal(publicOf(known).wallets.hot, '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266');
    assert.equal(HDKey.fromExtendedKey(known.deposits).publicExtendedKey, publicOf(known).xpub);
    assert.equal(keysOf('test test test'), undefined);
  });
});

test('an invalid limits file is refused with the place of the fault', () => {
  const right = {
    chainId: '1',
    tokens: { [TOKEN]: { perTransfer: '1', perHour: '2' } },
    ...Object.fromEntries(['gas', 'native', 'fees'].map((name) => [name, { perTransfer: '0', perHour: '0' }])),
  };
  const refuses = (change: object, why: RegExp) =>
    assert.throws(() => readLimits('SIGNER_LIMITS', JSON.stringify({ chains: [{ ...right, ...change }] })), why);
  assert.equal(readLimits('SIGNER_LIMITS', JSON.stringify({ chains: [right] })).length, 1);
  refuses({ chainId: 1 }, /^SettingError: SIGNER_LIMITS: chains\[0\]\.chainId must be a whole number/);
  refuses({ chainId: '0' }, /chains\[0\]\.chainId must not be 0/);
  refuses({ fees: undefined }, /chains\[0\]\.fees must be an object/);
  refuses({ gas: { perTransfer: '2', perHour: '1' } }, /chains\[0\]\.gas must allow at least one transfer an hour/);
  refuses({ tokens: { usdc: {} } }, /chains\[0\]\.tokens must be named by contract addresses/);
  refuses({ max: '1' }, /chains\[0\]\.max is no field/);
});

describe('over a socket', () => {
  const secret = randomHex(32);
  const expected = { wallets, xpub };

  test('it is the same signer; it refuses before and after a nonce is taken', async () => {
    const client = signerClient({ connect: signerWithin(fresh(), secret), secret, expected });
    const signer = client.wallet(1n, 'hot', HOT);
    assert.equal(await signer.refuses(tokens(0n, 100n)), undefined);
    assert.deepEqual(await signer.sign(tokens(0n, 100n)), await fresh().sign(hot, tokens(0n, 100n)));
    assert.equal(await signer.refuses(tokens(1n, 101n)), 'the signer refuses: more than one transfer may move');
    await assert.rejects(
      signer.sign(tokens(0n, 99n)),
      (error) => error instanceof NotSigned && error.declined && /nonce 0 was signed/.test(error.message),
    );
    assert.deepEqual(await signer.signedFrom?.(0n), [{ nonce: 0n, contract: TOKEN, to: FRIEND, units: 100n }]);
    assert.deepEqual(await signer.signedFrom?.(1n), []);
    const sweeper = client.deposits(1n, depositAddress)(3n);
    assert.deepEqual(await sweeper.signedFrom?.(0n), []);
    assert.equal(sweeper.address, depositAddress(3n));
    assert.equal(await sweeper.refuses(tokens(0n, 5n, HOT)), undefined);
    await sweeper.sign(tokens(0n, 5n, HOT));
    assert.deepEqual(await sweeper.signedFrom?.(0n), [{ nonce: 0n, contract: TOKEN, to: HOT, units: 5n }]);
    client.close();
  });

  test('a higher fee for a signed transfer is asked about under its nonce, and only its increase counts', async () => {
    const client = signerClient({ connect: signerWithin(fresh(), secret), secret, expected });
    const signer = client.wallet(1n, 'hot', HOT);
    for (const nonce of [0n, 1n]) await signer.sign(tokens(nonce, 100n));
    await signer.sign(tokens(2n, 50n));
    const { nonce, ...raised } = { ...tokens(2n, 50n), price: 20n };
    assert.equal(await signer.refuses(raised), 'the signer refuses: more than may move in an hour');
    assert.equal(await signer.refuses({ ...raised, nonce }), undefined);
    assert.match((await signer.refuses({ ...raised, nonce: 1n })) ?? '', /nonce 1 was signed for another transfer/);
    client.close();
  });

  test('it does not answer a client without the secret, and an impostor is not trusted', async () => {
    const stranger = signerClient({ connect: signerWithin(fresh(), secret), secret: randomHex(32), expected });
    await assert.rejects(stranger.ping(), /signer: the two sides have different shared secrets/);
    const echo = signerClient({
      secret,
      expected,
      connect: () => {
        const [ours, its] = duplexPair();
        its.write('{"challenge":"00"}\n');
        its.on('data', () => its.write(`{"proof":"${'0'.repeat(64)}"}\n`));
        return ours;
      },
    });
    await assert.rejects(echo.ping(), /it has another shared secret/);
  });

  test('one that has other keys, or no limits for the chain, is as good as none', async () => {
    const other = { wallets: { hot: FRIEND }, xpub };
    const client = signerClient({ connect: signerWithin(fresh(), secret), secret, expected: other });
    await assert.rejects(client.ping(), /it has other keys than this server watches: its wallet hot/);
    const elsewhere = { ...expected, chainId: 5n };
    const abroad = signerClient({ connect: signerWithin(fresh(), secret), secret, expected: elsewhere });
    await assert.rejects(abroad.ping(), /it has no limits for chain 5/);
  });

  test('one that does not answer is waited for so long and no longer', async () => {
    const silent = signerClient({ connect: () => duplexPair()[0], secret, expected, deadlineMs: 50 });
    await assert.rejects(silent.ping(), /no connection in time/);
    const broken = signerClient({
      secret,
      expected,
      connect: () => Duplex.from(async function* () {}),
    });
    await assert.rejects(broken.ping(), NotSigned);
  });

  test('nonsense ends the connection, and half a request gets an answer that names the field', async () => {
    const connect = signerWithin(fresh(), secret);
    const noise = connect();
    noise.resume();
    const closed = new Promise((done) => noise.once('end', done));
    noise.write('GET / HTTP/1.1\n');
    await closed;
    const client = signerClient({ connect, secret, expected });
    const broken = { ...tokens(0n, 1n), target: '0xABC' };
    await assert.rejects(client.wallet(1n, 'hot', HOT).sign(broken), /target is not as it must be/);
    client.close();
  });
});

test('as a process it outlives kill -9 with its memory, and its client finds it again', async () => {
  const signer = await startSigner({ limits: [LIMITS] });
  const client = signerClient({ connect: signer.connect, secret: signer.secret, expected: signer.expected });
  const wallet = client.wallet(1n, 'hot', signer.expected.wallets.hot ?? '');
  const first = await wallet.sign(tokens(0n, 100n));
  await wallet.sign(tokens(1n, 100n));
  if (signer.socket !== undefined) assert.equal(statSync(signer.socket).mode & 0o777, 0o600);

  await signer.kill();
  await assert.rejects(wallet.sign(tokens(0n, 100n)), NotSigned);
  await assert.rejects(client.ping(), /signer: no connection \(ECONNREFUSED\)/);

  await signer.start();
  await until('it answers', () =>
    client.ping().then(
      () => true,
      () => false,
    ),
  );
  assert.deepEqual(await wallet.sign(tokens(0n, 100n)), first);
  assert.equal(await wallet.refuses(tokens(2n, 51n)), 'the signer refuses: more than may move in an hour');
  client.close();
  await signer.stop();
});

describe('the key ceremony', () => {
  /** Output and exit code of a command of the signer. */
  async function signerSays(args: string[], env: NodeJS.ProcessEnv, stdin?: string) {
    const child = run(['server/src/apps/signer.ts', ...args], env, stdin);
    const output = collect(child);
    const code = await new Promise((done) => child.once('close', done));
    return { code, said: output().trim() };
  }

  test('makes keys once, and paper brings back the same', async () => {
    const dir = freshFolder('ceremony');
    const env = { SIGNER_KEYSTORE: join(dir, 'keys.json'), SIGNER_PASSPHRASE: 'correct horse battery' };
    const made = await signerSays(['new-keys'], env);
    assert.equal(made.code, 0, made.said);
    const words = /^ {2}((?:[a-z]+ ){23}[a-z]+)$/m.exec(made.said)?.[1] ?? '';
    const told = made.said.slice(made.said.indexOf('For the chains file'));
    assert.match(told, /hotWallet {2}0x[0-9a-f]{40}\n {2}xpub {7}xpub[1-9A-Za-z]{100,}$/);
    assert.equal(statSync(env.SIGNER_KEYSTORE).mode & 0o777, 0o600);
    const again = await signerSays(['new-keys'], env);
    assert.deepEqual(again, { code: 1, said: 'SIGNER_KEYSTORE exists already; it is not overwritten' });

    const copy = { ...env, SIGNER_KEYSTORE: join(dir, 'copy.json') };
    assert.deepEqual(await signerSays(['restore-keys'], copy, `${words}\n`), { code: 0, said: told });
    const wrong = { ...env, SIGNER_PASSPHRASE: 'another horse battery' };
    assert.match((await signerSays(['show'], wrong)).said, /^SIGNER_PASSPHRASE does not open SIGNER_KEYSTORE/);
  });

  test('and a start refuse unsafe input, in a sentence', async () => {
    const dir = freshFolder('ceremony');
    const limits = join(dir, 'limits.json');
    const nothing = { perTransfer: '0', perHour: '0' };
    const chain = { chainId: '1', tokens: {}, gas: nothing, native: nothing, fees: nothing };
    writeFileSync(limits, JSON.stringify({ chains: [chain] }));
    writeFileSync(join(dir, 'file'), '');
    const env = {
      SIGNER_LISTEN: join(dir, 's.sock'),
      SIGNER_SECRET: randomHex(32),
      SIGNER_LIMITS: limits,
      SIGNER_DIR: join(dir, 'journal'),
      SIGNER_PHRASE: newPhrase(),
    };
    for (const [change, why] of [
      [{ SIGNER_LISTEN: '0.0.0.0:7070' }, /^SIGNER_LISTEN must be the path of a unix socket/],
      [{ SIGNER_LISTEN: join(dir, 'file') }, /^SIGNER_LISTEN is a file but not a socket$/],
      [{ SIGNER_SECRET: 'short' }, /^SIGNER_SECRET must have at least 32 characters$/],
      [{ SIGNER_PHRASE: `${'test '.repeat(11)}junk` }, /^the keys come from the public phrase of local test nodes/],
      [{ SIGNER_PHRASE: 'abandon abandon' }, /^SIGNER_PHRASE is not a valid phrase/],
      [{ SIGNER_PHRASE: '' }, /^SIGNER_KEYSTORE must name the file/],
    ] as const) {
      const { code, said } = await signerSays([], { ...env, ...change });
      assert.equal(code, 1);
      assert.match(said, why);
    }
  });
});
