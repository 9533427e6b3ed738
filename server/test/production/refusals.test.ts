/** Why production does not start: every sandbox-only setting, each with a sentence that names it. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { adapter } from '../../src/base/adapter.ts';
import { demanded, SettingError, sharedSecret, webAddress } from '../../src/base/env.ts';
import { randomHex } from '../../src/base/ids.ts';
import { printConfig, readConfig } from '../../src/config.ts';
import { settle } from '../../src/production/refusals.ts';
import { simulatedBankAt } from '../../src/rails/simulated/index.ts';
import { addressOf } from '../../src/rails/tron/index.ts';
import { codeSender, LISTS } from '../../src/registry.ts';
import { CHAINS } from '../../src/sandbox/catalogue.ts';
import { ANVIL_FIRST, ANVIL_MNEMONIC } from '../support/anvil.ts';
import { collect, run } from '../support/process.ts';
import { bankFile, installation } from '../support/production.ts';

const known = HDKey.fromMasterSeed(mnemonicToSeedSync(ANVIL_MNEMONIC)).derive("m/44'/60'/1'");
const SECRET = '0123456789abcdef'.repeat(4);

function reasons(env: NodeJS.ProcessEnv): string[] {
  try {
    settle(readConfig(env), env);
    return [];
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
    return error.message.split('\n');
  }
}

test('an installation with everything as it should be has nothing against it', () => {
  assert.deepEqual(reasons(installation().env), []);
});

test('all missing settings are named together', () => {
  const said = reasons({ PROFILE: 'production', DATA_DIR: installation().env.DATA_DIR });
  const names = said.map((line) => /^([A-Z_]+) must be set in production: ./.exec(line)?.[1]);
  assert.deepEqual(names, [
    'MASTER_KEY',
    'DATABASE_URL',
    'PUBLIC_URL',
    'TRUSTED_PROXIES',
    'SANCTIONS_LISTS',
    'OPERATOR_TOKEN',
    'CHAINS_FILE',
    'MANUAL_BANK_FILE',
    'SIGNER_ADDRESS',
    'SIGNER_SECRET',
    'CODE_SENDER_URL',
    'CODE_SENDER_SECRET',
  ]);
});

test('each role is asked for its own settings only', () => {
  const both = ['MASTER_KEY', 'DATABASE_URL', 'PUBLIC_URL', 'CHAINS_FILE', 'MANUAL_BANK_FILE', 'SANCTIONS_LISTS'];
  const own = {
    api: ['TRUSTED_PROXIES', 'OPERATOR_TOKEN', 'CODE_SENDER_URL', 'CODE_SENDER_SECRET'],
    worker: ['SIGNER_ADDRESS', 'SIGNER_SECRET'],
  };
  for (const [role, more] of Object.entries(own)) {
    const said = reasons({ PROFILE: 'production', ROLE: role, DATA_DIR: installation().env.DATA_DIR });
    const names = said.map((line) => /^([A-Z_]+) must be set in production: ./.exec(line)?.[1] ?? line);
    assert.deepEqual(names.toSorted(), [...both, ...more].toSorted(), role);
  }
});

type Change = Parameters<typeof installation>[0];
const wrong: [string, Change, RegExp][] = [
  ['a short master key', { env: { MASTER_KEY_FILE: '', MASTER_KEY: 'ab12' } }, /^MASTER_KEY must be 64 hex digits/],
  ['a master key of zeros', { env: { MASTER_KEY_FILE: '', MASTER_KEY: '0'.repeat(64) } }, /^MASTER_KEY is too regular/],
  ['a counted master key', { env: { MASTER_KEY_FILE: '', MASTER_KEY: SECRET } }, /^MASTER_KEY is too regular/],
  ['a short operator token', { env: { OPERATOR_TOKEN: 'hunter2' } }, /^OPERATOR_TOKEN must have at least 32/],
  ['a signer secret of one letter', { env: { SIGNER_SECRET: 'x'.repeat(40) } }, /^SIGNER_SECRET is too regular/],
  ['a plain public address', { env: { PUBLIC_URL: 'http://ramp.example' } }, /^PUBLIC_URL must be an https address/],
  ['made-up prices', { env: { PRICE_SOURCES: 'kraken,fixed' } }, /^PRICE_SOURCES must not name fixed/],
  ['prices that drift', { env: { SANDBOX_PRICE_DRIFT_BPS: '5' } }, /^SANDBOX_PRICE_DRIFT_BPS is the sandbox/],
  [
    'a bank that pays twice',
    { env: { SANDBOX_BANK_DEDUPLICATES_HOURS: '0' } },
    /^SANDBOX_BANK_DEDUPLICATES_HOURS is the sandbox/,
  ],
  [
    'a signer elsewhere',
    { env: { SIGNER_ADDRESS: '10.0.0.7:7070' } },
    /^SIGNER_ADDRESS must be the path of a unix socket/,
  ],
  [
    'files that are not there',
    { env: { CHAINS_FILE: '/nowhere/chains.json' } },
    /^CHAINS_FILE cannot be read: ENOENT$/,
  ],
  ['a bank file that is wrong', { bank: { accounts: [] } }, /^MANUAL_BANK_FILE: accounts must be a list of 1/],
  [
    'the chain of a local node',
    { chain: { chainId: '31337' } },
    /chains\[0\]\.chainId 31337 is that of a local test node/,
  ],
  ...CHAINS.map(({ code, chainId }): [string, { chain: { chainId: string } }, RegExp] => [
    `the sandbox's ${code}`,
    { chain: { chainId: String(chainId) } },
    new RegExp(`chains\\[0\\]\\.chainId ${chainId} is that of a local test node`),
  ]),
  [
    'a wallet that everybody has',
    { chain: { hotWallet: ANVIL_FIRST } },
    /chains\[0\]\.hotWallet is an account of the phrase/,
  ],
  [
    'addresses that everybody has',
    { chain: { xpub: known.publicExtendedKey } },
    /chains\[0\]\.xpub belongs to the public test phrase/,
  ],
  [
    'a purse that everybody has',
    { chain: { fundedFrom: { cold: ANVIL_FIRST } } },
    /fundedFrom\.cold is an account of the phrase/,
  ],
  ['a private key', { chain: { xpub: known.privateExtendedKey } }, /chains\[0\]\.xpub is an extended private key/],
  ['a node in the open', { chain: { rpcUrls: ['http://node.example'] } }, /rpcUrls\[0\] must be an https address/],
  ['a mistyped address', { chain: { hotWallet: `0x${'ab'.repeat(19)}` } }, /chains\[0\]\.hotWallet must be an address/],
  [
    'batches, without saying what a restore to before one means',
    { chain: { sweeper: `0x${'5'.repeat(40)}` } },
    /chains\[0\]\.restoreBeforeBatch must be "halts-this-chain" beside sweeper: after a restore .* halts/,
  ],
  [
    'batches, and another word about restores',
    { chain: { sweeper: `0x${'5'.repeat(40)}`, restoreBeforeBatch: true } },
    /chains\[0\]\.restoreBeforeBatch must be "halts-this-chain"/,
  ],
  [
    'a word about batches that are off',
    { chain: { restoreBeforeBatch: 'halts-this-chain' } },
    /chains\[0\]\.restoreBeforeBatch must be left out without sweeper/,
  ],
  ['a misspelt field', { chain: { rpcUrl: 'https://node.example' } }, /chains\[0\]\.rpcUrl is no field/],
];

describe('production does not start with', () => {
  for (const [what, change, why] of wrong) {
    test(what, () => {
      const said = reasons(installation(change).env);
      assert.equal(said.length, 1, said.join('\n'));
      assert.match(said[0] ?? '', why);
    });
  }

  test('one secret in two places', () => {
    const { env } = installation();
    assert.match(reasons({ ...env, OPERATOR_TOKEN: env.SIGNER_SECRET }).join(), /must each be another/);
  });

  for (const name of ['sandbox.json', 'master.key', 'operator.token', 'signer.journal']) {
    test(`${name} of a sandbox in its folder`, () => {
      const { env } = installation();
      mkdirSync(String(env.DATA_DIR));
      writeFileSync(join(String(env.DATA_DIR), name), '{}');
      assert.match(reasons(env).join(), new RegExp(`^DATA_DIR holds ${name} of a sandbox`));
    });
  }

  test('a master key beside its data', () => {
    const { env } = installation();
    mkdirSync(String(env.DATA_DIR));
    const path = join(String(env.DATA_DIR), 'key');
    writeFileSync(path, randomHex(32));
    assert.match(reasons({ ...env, MASTER_KEY_FILE: path }).join('\n'), /MASTER_KEY_FILE is in DATA_DIR/);
  });
});

describe('a chain of Tron', () => {
  const FIELDS = { nodeUrls: ['https://full.example'], solidityUrls: ['https://solid.example'] };
  const LIMITS = { maxFeeLimit: '100000000', maxEnergyPrice: '1000' };
  const token = {
    ...{ coin: 'usdt', contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', decimals: 6, sweepFromUnits: '1000000' },
    confirmations: [{ fromUnits: '0', confirmations: 19 }],
  };
  const NAMES = { family: 'tron', code: 'trc20', chainId: '728126428', native: 'trx', tokens: [token] };
  const evm = { rpcUrls: undefined, finality: undefined, maxGasPrice: undefined };
  const hotWallet = addressOf(`0x${'5'.repeat(40)}`);
  const chain = { ...evm, ...NAMES, ...FIELDS, ...LIMITS, hotWallet };

  test('starts with its nodes, its limits and the key of its provider', () => {
    assert.deepEqual(reasons(installation({ chain }).env), []);
    const { env } = installation({ chain: { ...chain, apiKey: 'a-key-of-a-provider', finality: 19 } });
    const [one] = settle(readConfig(env), env).chains;
    assert.deepEqual([one?.rail, one?.nativeDecimals, one?.hotWallet], ['tron.trc20', 6, hotWallet]);
    assert.equal(one?.accountOf(hotWallet), `0x${'5'.repeat(40)}`);
    assert.deepEqual(one?.connect(undefined).chainId, 728126428n);
  });

  for (const field of ['nodeUrls', 'solidityUrls', 'maxFeeLimit', 'maxEnergyPrice']) {
    test(`does not start without ${field}`, () => {
      const said = reasons(installation({ chain: { ...chain, [field]: undefined } }).env);
      assert.equal(said.length, 1, said.join('\n'));
      assert.match(said[0] ?? '', new RegExp(`chains\\[0\\]\\.${field} must be`));
    });
  }

  const wrong: [string, Record<string, unknown>, RegExp][] = [
    ['a field of another family', { maxGasPrice: '1' }, /chains\[0\]\.maxGasPrice is no field/],
    ['a family that there is not', { family: 'solana' }, /chains\[0\]\.family must be one of evm, tron/],
    ['an address of another family', { hotWallet: `0x${'5'.repeat(40)}` }, /hotWallet must be an address of Tron/],
    ['a wallet that everybody has', { hotWallet: addressOf(ANVIL_FIRST.toLowerCase()) }, /is an account of the phrase/],
    ['a node without TLS', { solidityUrls: ['http://solid.example'] }, /solidityUrls\[0\] must be an https address/],
  ];
  for (const [what, change, why] of wrong) {
    test(`does not start with ${what}`, () => {
      const said = reasons(installation({ chain: { ...chain, ...change } }).env);
      assert.equal(said.length, 1, said.join('\n'));
      assert.match(said[0] ?? '', why);
    });
  }
});

test('batches are accepted if the chains file says what a restore to before one means', () => {
  const chain = { sweeper: `0x${'5'.repeat(40)}`, restoreBeforeBatch: 'halts-this-chain' };
  assert.deepEqual(reasons(installation({ chain }).env), []);
});

test('local nodes are accepted if they are named', () => {
  const change = {
    chain: { chainId: '31337', rpcUrls: ['http://127.0.0.1:8545'] },
    env: { ALLOW_LOCAL_CHAINS: '31337' },
  };
  assert.deepEqual(reasons(installation(change).env), []);
});

test('a wrong setting is refused before anything is looked at, and a value in two places', () => {
  const { env } = installation();
  assert.throws(
    () => readConfig({ ...env, TRUSTED_PROXIES: 'the-proxy' }),
    /^SettingError: TRUSTED_PROXIES must be IP/,
  );
  assert.throws(() => readConfig({ ...env, MASTER_KEY: SECRET }), /MASTER_KEY and MASTER_KEY_FILE are both set/);
  assert.deepEqual(readConfig({ ...env, TRUSTED_PROXIES: '10.0.0.0/8, ::1' }).trustedProxies, ['10.0.0.0/8', '::1']);
  assert.deepEqual(readConfig({ ...env, TRUSTED_PROXIES: 'none' }).trustedProxies, []);
});

test('the program prints them as sentences and exits with 1; they contain no secret', async () => {
  const { env } = installation({
    bank: bankFile(),
    chain: { chainId: '31337' },
    env: { PUBLIC_URL: 'http://x.example' },
  });
  const child = run(['server/src/apps/server.ts'], env);
  const output = collect(child);
  assert.equal(await new Promise((done) => child.once('exit', done)), 1);
  assert.deepEqual(
    output()
      .trim()
      .split('\n')
      .map((line) => line.split(' ')[0]),
    ['PUBLIC_URL', 'CHAINS_FILE:'],
  );
  for (const secret of [env.OPERATOR_TOKEN, env.SIGNER_SECRET, env.CODE_SENDER_SECRET])
    assert.ok(!output().includes(String(secret)));
});

describe('production starts with any bank of the list', () => {
  /** A bank with an API, as its folder would declare it. */
  const apiBank = adapter({
    code: 'example',
    about: 'A bank with an API',
    settings: {
      url: demanded(webAddress('EXAMPLE_BANK_URL', 'where its API is', undefined), 'where its API is'),
      token: demanded(sharedSecret('EXAMPLE_BANK_TOKEN', 'opens its API'), 'opens its API'),
    },
    create: ({ url = '', token = '' }) =>
      simulatedBankAt({ code: 'bank.example', url, token, deduplicatesForMs: 86_400_000, currencies: { EUR: 'eur' } }),
  });
  const lists = { ...LISTS, banks: [...LISTS.banks, apiBank] };
  const settled = (env: NodeJS.ProcessEnv) => settle(readConfig(env, lists), env);
  const own = { BANKS: 'example', EXAMPLE_BANK_URL: 'https://bank.example', EXAMPLE_BANK_TOKEN: randomHex(32) };

  test('without a file of accounts, where it is named', () => {
    const { banks } = settled({ ...installation().env, MANUAL_BANK_FILE: '', ...own });
    assert.deepEqual(
      banks.map(({ code, accounts }) => [code, accounts]),
      [['bank.example', [{ currency: 'EUR', asset: 'eur' }]]],
    );
  });

  test('with several rails, each one’s requirements are named', () => {
    const { env } = installation();
    const codes = settled({ ...env, ...own, BANKS: 'manual,example' }).banks.map(({ code }) => code);
    assert.deepEqual(codes, ['bank.manual', 'bank.example']);
    const reasons = (more: NodeJS.ProcessEnv): string => {
      try {
        settled({ ...env, ...more });
        return '';
      } catch (error) {
        return (error as Error).message;
      }
    };
    assert.equal(
      reasons({ BANKS: 'example' }),
      'EXAMPLE_BANK_URL must be set in production: where its API is\n' +
        'EXAMPLE_BANK_TOKEN must be set in production: opens its API',
    );
    assert.equal(
      reasons({ ...own, EXAMPLE_BANK_TOKEN: 'short' }),
      'EXAMPLE_BANK_TOKEN must have at least 32 characters',
    );
    assert.match(
      reasons({ ...own, EXAMPLE_BANK_TOKEN: env.SIGNER_SECRET }),
      /EXAMPLE_BANK_TOKEN.* must each be another/,
    );
    assert.match(
      reasons({ BANKS: 'simulated' }),
      /^BANKS must not name simulated in production: its money is invented/,
    );
    assert.throws(
      () => readConfig({ ...env, BANKS: 'exampel' }, lists),
      /BANKS must be some of simulated, manual, example/,
    );
    assert.throws(() => readConfig({ BANKS: 'manual' }), /BANKS must not be set in the sandbox/);
  });

  test('its settings are printed with all others, and its secret is not', () => {
    const { env } = installation();
    const shown = printConfig(readConfig({ ...env, ...own }, lists));
    assert.match(shown, /^EXAMPLE_BANK_URL +https:\/\/bank\.example +where its API is$/m);
    assert.match(shown, /^EXAMPLE_BANK_TOKEN +\(set\) +opens its API$/m);
    assert.ok(!shown.includes(own.EXAMPLE_BANK_TOKEN));
  });
});

test('a verifier that accepts everyone, and publicly known codes, are refused by name', () => {
  const { env } = installation();
  assert.deepEqual(reasons({ ...env, VERIFIER: 'simulated' }), [
    'VERIFIER must not name simulated in production: it verifies every customer',
  ]);
  assert.deepEqual(reasons({ ...env, CODE_SENDER: 'known' }), [
    'CODE_SENDER must not name known in production: its codes are public',
  ]);
});

test('a sandbox with production’s adapters is told the missing settings', () => {
  assert.throws(
    () => codeSender(readConfig({ CODE_SENDER: 'webhook' })),
    /^SettingError: CODE_SENDER_URL must be set where webhook is used: address to which login codes are posted/,
  );
  assert.equal(codeSender(readConfig({})).hint, '123456');
});
