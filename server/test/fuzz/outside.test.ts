/**
 * Fuzzing of all other readers of outside data: price hosts, addresses that partners name, settings and files of operators,
 * backups, the signer's journal and both ends of its connection.
 *
 * Long because each reader of outside bytes has its generators beside its property.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { readBackup } from '../../src/backup/restore.ts';
import { SettingError } from '../../src/base/env.ts';
import { Refusal, Unavailable } from '../../src/base/errors.ts';
import type { Http } from '../../src/base/http.ts';
import { printConfig, readConfig } from '../../src/config.ts';
import { addressesOf, egressPolicyFor, hostOf, isPublic, readUrl } from '../../src/events/address.ts';
import { readChains } from '../../src/production/chains.ts';
import { addressAllowed } from '../../src/protocols/authorize.ts';
import type { PriceSource } from '../../src/quotes/index.ts';
import { NotSigned } from '../../src/rails/chain.ts';
import { readManualBank } from '../../src/rails/manual/settings.ts';
import { readSignerAddress } from '../../src/signer/address.ts';
import { signerClient } from '../../src/signer/client.ts';
import { openSigner } from '../../src/signer/core.ts';
import { JournalError, openJournal } from '../../src/signer/journal.ts';
import { keysOf, openKeys, publicOf } from '../../src/signer/keys.ts';
import { readLimits } from '../../src/signer/limits.ts';
import { serveOn } from '../../src/signer/serve.ts';
import { proofOf } from '../../src/signer/wire.ts';
import { dayOf, EXCHANGES, ecbDocument, FIXTURE, sourceAt, tickers } from '../support/pricehosts.ts';
import { SETTINGS as BANK_FILE } from '../support/statements.ts';
import { assertUnpolluted, fuzz, mangled, mangledJson, NASTY, nasty, nastyJson } from './fuzz.ts';

// Prices.

let answered: { body: string | Buffer; type: string; status: number; retryAfter?: string };
const http: Http = async ({ wants }) => {
  const { body, type, status, retryAfter } = answered;
  const head = {
    status,
    headers: { 'content-type': type, ...(retryAfter !== undefined && { 'retry-after': retryAfter }) },
  };
  return { ...head, body: wants?.(head) === 'none' ? Buffer.alloc(0) : Buffer.from(body) };
};
const WHERE = { baseUrl: 'http://prices.invalid', http };
const HOSTS = [...EXCHANGES, 'ecb'] as const;
const SOURCES = Object.fromEntries(HOSTS.map((code) => [code, sourceAt(code, WHERE)])) as Record<
  (typeof HOSTS)[number],
  PriceSource
>;
const PAIRS = [
  { base: 'eth', quote: 'usdt' },
  { base: 'eth', quote: 'usd' },
  { base: 'usd', quote: 'inr' },
  { base: 'usd', quote: 'eur' },
];

async function pricesAreSound(source: PriceSource): Promise<void> {
  try {
    const began = Date.now();
    for (const { base, quote, rate, pricedAt } of await source.fetch(PAIRS)) {
      assert.ok(rate.num > 0n && rate.den > 0n && rate.num < 10n ** 60n && rate.den < 10n ** 60n);
      assert.ok(pricedAt.getTime() <= Date.now() + 5_000, 'a price is dated in the future');
      assert.ok(pricedAt.getTime() >= began - 7 * 24 * 3_600_000);
      assert.ok(PAIRS.concat({ base: 'usdt', quote: 'usd' }).some((pair) => pair.base === base) && quote !== '');
    }
  } catch (error) {
    assert.ok(error instanceof Unavailable, String((error as Error).stack));
    assert.ok(error.message.length < 200 && !error.message.includes('secret'));
  }
  assertUnpolluted();
}

const ticker = fc.constantFrom(...EXCHANGES).chain((name) => {
  const right = tickers(name, [FIXTURE[name].of.symbol], () => ({}));
  return fc.record({
    name: fc.constant(name),
    body: fc.oneof(
      mangledJson(fc.constant(right), 3).map((json) => JSON.stringify(json) ?? 'undefined'),
      mangled(fc.constant(JSON.stringify(right))),
    ),
  });
});
fuzz(
  'prices: tickers',
  'are exact prices of near times, or the source is silent',
  2_500,
  ticker,
  async ({ name, body }) => {
    answered = { body, type: 'application/json', status: 200 };
    await pricesAreSound(SOURCES[name]);
  },
);

fuzz(
  'prices: tickers',
  'whatever else comes in their place',
  600,
  fc.tuple(
    fc.constantFrom(...EXCHANGES, 'ecb' as const),
    nasty,
    fc.constantFrom('application/json', 'text/xml', 'text/html', ''),
    fc.constantFrom(200, 200, 400, 404, 418, 429, 500, 503),
    fc.option(
      nasty.map((text) => text.replaceAll(/[^ -~]/g, '?')),
      { nil: undefined },
    ),
  ),
  async ([name, body, type, status, retryAfter]) => {
    answered = { body, type, status, ...(retryAfter === undefined ? {} : { retryAfter }) };
    await pricesAreSound(SOURCES[name]);
  },
);

const ECB_DAY = dayOf(new Date(Date.now() - 24 * 3_600_000));
fuzz(
  'prices: ECB',
  'the whole document as it is published, or nothing',
  1_500,
  mangled(fc.constant(ecbDocument(ECB_DAY))),
  async (body) => {
    answered = { body, type: 'text/xml', status: 200 };
    await pricesAreSound(SOURCES.ecb);
  },
);

fuzz(
  'prices: ECB',
  'of a day that no month has, or of rates that are none, is nothing',
  600,
  fc.tuple(
    fc.oneof(
      fc.constant(ECB_DAY),
      fc
        .tuple(fc.integer({ min: 0, max: 13 }), fc.integer({ min: 0, max: 32 }))
        .map(([month, on]) => `2026-${String(month).padStart(2, '0')}-${String(on).padStart(2, '0')}`),
    ),
    fc.oneof(nasty, fc.constant('1.0705')),
  ),
  async ([on, rate]) => {
    answered = {
      body: ecbDocument(on).replace(/rate=['"]1\.0705['"]/, `rate='${rate}'`),
      type: 'text/xml',
      status: 200,
    };
    await pricesAreSound(SOURCES.ecb);
  },
);

// Addresses that partners name.

const PRODUCTION = egressPolicyFor('production');
const SANDBOX = egressPolicyFor('sandbox');

/** Address ranges that no webhook may reach, expressed differently than in the code. */
const INNER = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  INNER.addSubnet(network, bits, 'ipv4');
const four = fc.oneof(
  fc.ipV4(),
  fc
    .tuple(
      fc.constantFrom('10', '127', '169.254', '172.16', '172.31', '192.168', '100.64', '0', '224', '255'),
      fc.nat(255),
      fc.nat(255),
      fc.nat(255),
    )
    .map(([head, ...rest]) => [...head.split('.').map(Number), ...rest].slice(0, 4).join('.')),
);
const numberOf = (ip: string): number => ip.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
/** The many ways to write an IPv4 address that browsers and libraries take. */
const SPELLINGS: readonly ((ip: string) => string)[] = [
  (ip) => ip,
  (ip) => `${ip}.`,
  (ip) => String(numberOf(ip)),
  (ip) => `0x${numberOf(ip).toString(16)}`,
  (ip) => `0${numberOf(ip).toString(8)}`,
  (ip) =>
    ip
      .split('.')
      .map((part) => `0x${Number(part).toString(16)}`)
      .join('.'),
  (ip) =>
    ip
      .split('.')
      .map((part) => `0${Number(part).toString(8)}`)
      .join('.'),
  (ip) =>
    ip
      .split('.')
      .map((part) => `0000${Number(part).toString(8)}`)
      .join('.'),
  (ip) => `${ip.split('.')[0]}.${numberOf(ip) % 2 ** 24}`,
  (ip) => `[::ffff:${ip}]`,
  (ip) => `[::${ip}]`,
  (ip) => `[64:ff9b::${ip}]`,
  (ip) => `[2002:${hexGroups(ip)}::1]`,
  (ip) => `[::ffff:0:${ip}]`,
  (ip) => ip.replaceAll('.', '\u3002'),
  (ip) =>
    [...ip].map((char) => (/[0-9]/.test(char) ? String.fromCodePoint(char.charCodeAt(0) + 0xfee0) : char)).join(''),
  (ip) => ip.replaceAll('.', '%2e'),
];
const hexGroups = (ip: string): string => {
  const [a = 0, b = 0, c = 0, d = 0] = ip.split('.').map(Number);
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
};

function kept(outside: typeof PRODUCTION, text: string): URL | undefined {
  try {
    return new URL(readUrl(outside, 'url', text));
  } catch (error) {
    assert.ok(error instanceof Refusal && error.code === 'malformed_field', String((error as Error).stack));
    const why = (error.facts.fields as Record<string, string>).url ?? '';
    assert.match(why, /^must /);
    return undefined;
  }
}

fuzz(
  'webhook URL',
  'a number, however it is spelled, is never called in production, nor an inner one in the sandbox',
  3_000,
  fc.tuple(
    four,
    fc.nat(SPELLINGS.length - 1),
    fc.constantFrom('https', 'http'),
    fc.constantFrom('', ':443', ':8443', ':8080'),
  ),
  async ([ip, spelling, scheme, port]) => {
    const text = `${scheme}://${SPELLINGS[spelling]?.(ip)}${port}/hook`;
    assert.equal(kept(PRODUCTION, text), undefined, text);
    const url = kept(SANDBOX, text);
    if (url === undefined) return;
    const host = hostOf(url);
    assert.ok(isIP(host) !== 0, `${host} is a number`);
    const plain = ipaddr.process(host).toString();
    assert.ok(
      ['10.', '127.', '192.168.', '172.'].some((head) => plain.startsWith(head)) || !INNER.check(plain, 'ipv4'),
      text,
    );
    assert.deepEqual(
      await addressesOf(SANDBOX, host, AbortSignal.timeout(1_000)),
      [host],
      'what is kept may be called',
    );
  },
);

fuzz(
  'webhook URL',
  'of any name is kept as an https address of a public name, or refused with a rule',
  3_000,
  fc.oneof(
    nasty.map((host) => `https://${host}/`),
    fc.tuple(fc.domain(), nasty).map(([domain, path]) => `https://${domain}/${path}`),
    mangled(fc.constant('https://hooks.partner.com:8443/x?y=1')).map((bytes) => bytes.toString('utf8')),
    fc.webUrl({ withQueryParameters: true, withFragments: true }),
  ),
  (text) => {
    const url = kept(PRODUCTION, text);
    if (url === undefined) return;
    assert.equal(url.protocol, 'https:');
    assert.ok(['', '8443'].includes(url.port) && url.username === '' && url.password === '' && url.hash === '');
    assert.ok(isIP(hostOf(url)) === 0 && url.hostname.includes('.') && !url.hostname.endsWith('.'));
    assert.ok(!/(^|\.)(localhost|local|internal|lan|home|corp|test|onion|arpa)$/.test(url.hostname));
    assert.equal(kept(PRODUCTION, url.href)?.href, url.href, 'the stored address is read differently');
  },
);

fuzz(
  'webhook URL',
  'where a name leads counts, whichever spelling the answer has',
  3_000,
  fc.oneof(
    four,
    fc.ipV6(),
    four.map((ip) => `::ffff:${ip}`),
    nasty,
    fc.tuple(four, fc.nat(SPELLINGS.length - 1)).map(([ip, n]) => (SPELLINGS[n]?.(ip) ?? '').replace(/^\[|\]$/g, '')),
  ),
  async (answer) => {
    const outside = { ...PRODUCTION, resolve: async () => ['93.184.216.34', answer] };
    let called: readonly string[];
    try {
      called = await addressesOf(outside, 'hooks.partner.com', AbortSignal.timeout(1_000));
    } catch {
      return;
    }
    assert.ok(called.every(isPublic));
    if (isIP(answer) === 4) assert.ok(!INNER.check(answer, 'ipv4'), answer);
    if (isIP(answer) === 6) assert.match(answer.toLowerCase(), /^[23]/, 'an unallocated IPv6 address is allowed');
  },
);

fuzz(
  'network list',
  'lets in who is in a network, in either spelling, and nobody else',
  2_000,
  fc.tuple(four, fc.integer({ min: 0, max: 32 }), four, fc.boolean()),
  ([base, bits, caller, mapped]) => {
    const mask = bits === 0 ? 0 : (2 ** 32 - 2 ** (32 - bits)) % 2 ** 32;
    const inside = bits === 0 || (numberOf(base) & mask) >>> 0 === (numberOf(caller) & mask) >>> 0;
    assert.equal(addressAllowed([`${base}/${bits}`], mapped ? `::ffff:${caller}` : caller), inside);
  },
);

// Settings and files of operators.

const nearRight: Record<string, string[]> = {
  PROFILE: ['sandbox', 'production'],
  PORT: ['0', '8080', '65535', '65536', '-1', '1e3'],
  TRUSTED_PROXIES: ['10.0.0.0/8', 'none', '::1, 10.0.0.1', '10.0.0.0/33', '10.0.0.0/08'],
  ALLOW_LOCAL_CHAINS: ['1337', '31337, 1', '1,,2'],
  PRICE_SOURCES: ['fixed', 'binance,ecb', 'binance,binance'],
  PRICE_BINANCE_URL: ['https://a.b', 'http://127.0.0.1:1', 'http://127.0.0.1@evil', 'https://a:b@c'],
  DATABASE_URL: ['postgres://a', 'mysql://a'],
  MASTER_KEY: ['ab'.repeat(32), 'ab'],
  SIGNER_SECRET: ['x'.repeat(32)],
};
const setting = fc
  .constantFrom(...Object.keys(nearRight), 'HOST', 'METRICS_PORT', 'PUBLIC_URL', 'OPERATOR_TOKEN', 'DATA_DIR')
  .chain((name) => fc.tuple(fc.constant(name), fc.oneof(nasty, fc.constantFrom(...(nearRight[name] ?? [''])))));
fuzz(
  'settings: environment',
  'are read, or refused by name; a secret is never printed',
  2_500,
  fc.array(setting, { maxLength: 4 }),
  (all) => {
    const env = Object.fromEntries(all);
    try {
      const shown = printConfig(readConfig(env));
      for (const name of ['MASTER_KEY', 'SIGNER_SECRET', 'OPERATOR_TOKEN'])
        assert.match(shown.split('\n').find((line) => line.startsWith(`${name} `)) ?? '', /^\w+ +\((not )?set\) /);
    } catch (error) {
      assert.ok(error instanceof SettingError, String((error as Error).stack));
      assert.ok(
        all.some(([name]) => error.message.includes(name)),
        error.message,
      );
    }
    assertUnpolluted();
  },
);

const XPUB = publicOf(keysOf('test test test test test test test test test test test junk') ?? assert.fail()).xpub;
const ADDRESS = `0x${'5a'.repeat(20)}`;
const CHAINS_FILE = {
  chains: [
    {
      code: 'erc20',
      chainId: '1',
      native: 'eth',
      rpcUrls: ['https://node.example/key'],
      finality: 64,
      maxGasPrice: '200000000000',
      hotWallet: ADDRESS,
      xpub: XPUB,
      fundedFrom: { treasury: `0x${'6b'.repeat(20)}` },
      levels: { lowUnits: '10', alarmUnits: '5' },
      tokens: [
        {
          coin: 'usdc',
          contract: `0x${'7c'.repeat(20)}`,
          decimals: 6,
          confirmations: [{ fromUnits: '0', confirmations: 12 }],
          sweepFromUnits: '1',
        },
      ],
    },
  ],
};
const LIMITS_FILE = {
  chains: [
    {
      chainId: '1',
      tokens: { [ADDRESS]: { perTransfer: '50000', perHour: '200000' } },
      gas: { perTransfer: '1', perHour: '2' },
      native: { perTransfer: '0', perHour: '0' },
      fees: { perTransfer: '1', perHour: '2' },
    },
  ],
};
const FILES: Record<string, [unknown, (text: string) => unknown]> = {
  'chains file': [CHAINS_FILE, (text) => readChains('CHAINS_FILE', text, [])],
  'signer limits': [LIMITS_FILE, (text) => readLimits('SIGNER_LIMITS', text)],
  'manual bank file': [BANK_FILE, (text) => readManualBank(text)],
};
for (const [name, [right, read]] of Object.entries(FILES)) {
  const text = fc.oneof(
    mangledJson(fc.constant(right), 2).map((json) => JSON.stringify(json) ?? ''),
    mangled(fc.constant(JSON.stringify(right))).map((bytes) => bytes.toString('utf8')),
  );
  fuzz(`settings: ${name}`, 'is read, or refused by its place and rule', 1_200, text, (json) => {
    try {
      read(json);
    } catch (error) {
      assert.ok(error instanceof SettingError, String((error as Error).stack));
      assert.ok(error.message !== '' && error.message.length < 2_000);
    }
    assertUnpolluted();
  });
}

fuzz(
  'settings: signer address',
  'leads to this machine and nowhere else',
  1_000,
  fc.oneof(
    nasty,
    mangled(fc.constantFrom('127.0.0.1:7070', '[::1]:7070', '/run/s.sock')).map((bytes) => bytes.toString('utf8')),
  ),
  (text) => {
    const read = readSignerAddress(text);
    if (read === undefined) return;
    if ('path' in read) assert.ok(read.path.startsWith('/') && Buffer.byteLength(read.path) <= 100);
    else assert.ok(['127.0.0.1', '::1'].includes(read.host) && read.port > 0 && read.port < 65_536);
  },
);

fuzz(
  'backup: manifest',
  'is of a whole backup, or the backup is refused',
  200,
  mangledJson(
    fc.constant({
      format: 1,
      takenAt: '2026-11-21T00:00:00Z',
      postgres: 18,
      system: '1',
      migrations: [],
      startLsn: '0/1',
      stopLsn: '0/2',
      files: [{ path: 'a', bytes: 1, sha256: createHash('sha256').update('a').digest('hex') }],
    }),
    2,
  ),
  async (manifest) => {
    const folder = mkdtempSync(join(tmpdir(), 'cloverleaf-fuzz-'));
    try {
      writeFileSync(join(folder, 'a'), 'a');
      writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest) ?? '');
      const read = await readBackup(folder);
      assert.equal(read.format, 1);
      for (const { path } of read.files) assert.equal(path, 'a');
    } catch (error) {
      assert.ok(error instanceof SettingError, String((error as Error).stack));
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

// The signer.

const KEYS =
  keysOf('legal winner thank year wave sausage worth useful legal winner thank yellow') ?? assert.fail('a phrase');
const SECRET = 'a secret of at least thirty-two characters';
const LIMITS = readLimits('x', JSON.stringify(LIMITS_FILE));

fuzz(
  'signer: journal',
  'is read whole, or stops the signer with its line; a torn end was never signed',
  250,
  mangled(
    fc.constant(
      `{"at":"2026-11-21T00:00:00.000Z","chainId":"1","from":"${ADDRESS}","nonce":"1","kind":"token","asset":"x","to":"y","units":"5","feeUnits":"1"}\n`.repeat(
        3,
      ),
    ),
    2,
  ),
  (bytes) => {
    const folder = mkdtempSync(join(tmpdir(), 'cloverleaf-fuzz-'));
    try {
      writeFileSync(join(folder, 'j'), bytes);
      openJournal(join(folder, 'j'), { durable: false }).close();
    } catch (error) {
      assert.ok(error instanceof JournalError && /^line [0-9]+ /.test(error.message), String((error as Error).stack));
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

fuzz(
  'signer: key file',
  'opens as it was encrypted, or not at all',
  40,
  mangledJson(
    fc.constant({
      what: 'cloverleaf signer keys, version 1: scrypt, aes-256-gcm',
      salt: '',
      nonce: '',
      tag: '',
      encrypted: '',
    }),
  ).filter((file) => (file as { what?: string } | null)?.what?.startsWith?.('cloverleaf') !== true),
  (file) => {
    assert.equal(openKeys(JSON.stringify(file) ?? '', 'passphrase'), undefined);
  },
);

/** Two ends of one connection. */
function pair(): [Duplex, Duplex] {
  const ends: Duplex[] = [];
  const end = (other: () => Duplex | undefined) =>
    new Duplex({
      read() {},
      write(chunk, _encoding, done) {
        other()?.push(chunk);
        done();
      },
      final(done) {
        other()?.push(null);
        done();
      },
    });
  ends.push(
    end(() => ends[1]),
    end(() => ends[0]),
  );
  return ends as [Duplex, Duplex];
}

const request = {
  id: 1,
  method: 'check',
  params: { wallet: 'hot', target: ADDRESS, data: '', chainId: '1', value: '1', gas: '21000', price: '1' },
};
fuzz(
  'signer: request',
  'is answered, with a field named where it is wrong; nothing unproved is answered at all',
  400,
  fc.tuple(
    fc.array(
      fc.oneof(
        mangledJson(fc.constant(request), 2).map((json) => JSON.stringify(json) ?? ''),
        mangled(fc.constant(JSON.stringify(request))).map((bytes) => bytes.toString('utf8')),
      ),
      { minLength: 1, maxLength: 3 },
    ),
    fc.boolean(),
  ),
  async ([lines, proves]) => {
    const said: string[] = [];
    const [near, far] = pair();
    const core = openSigner(KEYS, LIMITS, openJournal(undefined));
    serveOn(far, { core, secret: SECRET, said: (line) => said.push(line) });
    let heard = '';
    near.on('error', () => {});
    near.setEncoding('utf8').on('data', (chunk: string) => (heard += chunk));
    await turn();
    const { challenge } = JSON.parse(heard.split('\n')[0] ?? '') as { challenge: string };
    if (proves) near.write(`${JSON.stringify({ proof: proofOf('server', SECRET, challenge), challenge: 'mine' })}\n`);
    for (const line of lines) near.write(`${line}\n`);
    await turn();
    await turn();
    const answers = heard
      .split('\n')
      .slice(1)
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.ok(
      said.every((line) => !line.startsWith('failed')),
      said.join('\n'),
    );
    if (!proves) assert.deepEqual(answers, [], 'an unproved client received an answer');
    for (const answer of answers) assert.ok(['proof', 'result', 'refused', 'error'].some((key) => key in answer));
    assert.ok(
      !heard.includes(KEYS.deposits) && !heard.includes(KEYS.wallets.hot?.slice(2) ?? 'none'),
      'no key is ever said',
    );
    near.destroy();
    far.destroy();
    assertUnpolluted();
  },
);
const turn = () => new Promise((done) => setImmediate(() => setImmediate(done)));

const answer = fc.oneof(
  mangledJson(fc.constant({ id: 2, result: { raw: '00', hash: `0x${'00'.repeat(32)}` } }), 2),
  fc.record({ id: fc.constant(2), result: nastyJson }),
  fc.record({ id: fc.constant(2), refused: nastyJson }),
  fc.record({ id: fc.constant(2), error: nastyJson }),
  fc.record({
    id: fc.constant(2),
    result: fc.record({ raw: fc.constantFrom(...NASTY, 'zz', '0', '00'), hash: nastyJson }),
  }),
);
fuzz(
  'signer: answer',
  'of whoever knows the secret is a signature of the very bytes, or is not believed',
  400,
  fc.tuple(
    answer,
    fc.oneof({ weight: 3, arbitrary: fc.constant<unknown>('right') }, { weight: 1, arbitrary: nastyJson }),
    fc.boolean(),
  ),
  async ([reply, describes, signs]) => {
    const [near, far] = pair();
    const { wallets, xpub } = publicOf(KEYS);
    const theirs = (message: unknown) => far.write(`${JSON.stringify(message)}\n`);
    far.on('error', () => {});
    far.setEncoding('utf8').on('data', (chunk: string) => {
      for (const line of chunk.split('\n').filter(Boolean)) {
        const { challenge, id, method } = JSON.parse(line) as { challenge?: string; id?: number; method?: string };
        if (challenge !== undefined) theirs({ proof: proofOf('signer', SECRET, challenge) });
        else if (method === 'describe')
          theirs({ id, result: describes === 'right' ? { wallets, xpub, chainIds: ['1'] } : describes });
        else theirs(typeof reply === 'object' && reply !== null && !Array.isArray(reply) ? { ...reply, id } : reply);
      }
    });
    const client = signerClient({
      connect: () => near,
      secret: SECRET,
      expected: { wallets, xpub, chainId: 1n },
      deadlineMs: 40,
    });
    theirs({ challenge: 'theirs' });
    const signer = client.wallet(1n, 'hot', wallets.hot ?? '');
    const wanted = { target: ADDRESS, data: Buffer.alloc(0), value: 1n, gas: 21_000n, price: 1n };
    try {
      if (signs) {
        const { raw, hash } = await signer.sign({ ...wanted, chainId: 1n, nonce: 0n, tip: undefined });
        assert.ok(Buffer.isBuffer(raw) && /^0x[0-9a-f]{64}$/.test(hash));
      } else assert.ok(['undefined', 'string'].includes(typeof (await signer.refuses(wanted))));
    } catch (error) {
      assert.ok(error instanceof NotSigned, String((error as Error).stack));
    } finally {
      client.close();
      near.destroy();
      far.destroy();
    }
    assertUnpolluted();
  },
);
