/**
 * Everything that registry.ts lists, checked against the contract of its kind. A new line there adds a check here; without its
 * fixture it fails, by the name of the missing file. Not here: banks and chains (rails.test.ts).
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { after, afterEach, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { allOf, allSettings } from '../../src/config.ts';
import { CHAIN_FAMILIES } from '../../src/rails/families.ts';
import { LISTS } from '../../src/registry.ts';
import {
  EXCHANGES,
  type ExchangeName,
  ecbDocument,
  FIXTURE,
  type PriceHosts,
  priceHosts,
  sourceAt,
  tickers,
} from '../support/pricehosts.ts';
import { type AddressRiskEnvironment, testAddressRisk } from './addressrisk.ts';
import { type ChannelEnvironment, testChannel } from './channel.ts';
import { fixtureOf } from './fixtures.ts';
import { type PriceSourceEnvironment, testPriceSource } from './pricesource.ts';
import { type SenderEnvironment, testSender } from './sender.ts';
import { type TravelProtocolEnvironment, testTravelProtocol } from './travelprotocol.ts';
import { testVerifier, type VerifierFixture } from './verifier.ts';

const inTests = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));
const codesOf = (list: readonly { code: string }[]): string[] => list.map(({ code }) => code);

describe('lists', () => {
  test('no two adapters of a kind share a code, and no two settings a name', () => {
    for (const list of Object.values(LISTS)) {
      const codes = codesOf(list as { code: string }[]);
      assert.equal(new Set(codes).size, codes.length, codes.join());
    }
    const names = allSettings().map(({ setting }) => setting.name);
    assert.deepEqual(
      names.filter((name, at) => names.indexOf(name) !== at),
      [],
    );
    for (const name of names) assert.match(name, /^[A-Z][A-Z0-9_]{2,40}$/);
  });

  test('each is described in a line, and one that production refuses says why in words that end its sentence', () => {
    for (const { code, about, sandboxOnly = 'it is not' } of allOf(LISTS)) {
      assert.match(about, /^[A-Z][^\n]{6,120}[^.]$/, code);
      assert.match(sandboxOnly, /^[a-z][^\n]{1,80}[^.]$/, code);
    }
  });

  test('each kind has one for the sandbox and one for production', () => {
    // No alert channel and no travel rule protocol is on unless a setting names it, in the sandbox too.
    const { alertChannels: _, travelProtocols: __, ...needed } = LISTS;
    for (const [kind, list] of Object.entries(needed)) {
      const refused = (list as readonly { sandboxOnly?: string }[]).map(({ sandboxOnly }) => sandboxOnly !== undefined);
      assert.ok(refused.includes(true) && refused.includes(false), kind);
    }
  });

  test('what a setting falls back to is shown as it is read', () => {
    for (const { setting } of allSettings()) {
      if (setting.fallback === undefined || setting.name === 'DATA_DIR') continue;
      assert.equal(String(setting.read(undefined)), setting.fallback, setting.name);
    }
  });

  test('the signer knows a family of chains by its object only', () => {
    const folder = fileURLToPath(new URL('../../src/signer/', import.meta.url));
    // The default family is the form in which every transfer is decided (rails/signing.ts).
    for (const { code } of CHAIN_FAMILIES.slice(1))
      for (const file of readdirSync(folder))
        assert.ok(!readFileSync(`${folder}${file}`, 'utf8').includes(`rails/${code}/`), `${file} imports from ${code}`);
  });
});

describe('price sources', () => {
  let hosts: PriceHosts;
  before(async () => {
    hosts = await priceHosts();
    for (const name of EXCHANGES) hosts.books[name][FIXTURE[name].of.symbol] = {};
  });
  after(() => hosts?.stop());
  afterEach(() => hosts.instead.clear());

  for (const { code, sandboxOnly } of LISTS.priceSources) {
    // Its prices are a table: there is no host to simulate.
    if (sandboxOnly !== undefined) continue;
    if (code !== 'ecb') {
      test(`${code} has a fixture`, () => {
        assert.ok(
          existsSync(inTests(`fixtures/prices/${code}.json`)),
          `server/test/fixtures/prices/${code}.json is missing`,
        );
      });
      if (!(EXCHANGES as readonly string[]).includes(code)) continue;
    }
    testPriceSource(code, () => ({ ...worldOf(code), ...common(code) }));
  }

  const common = (code: string) => ({
    source: (deadlineMs?: number) => hosts.source(code, deadlineMs),
    nowhere: () => sourceAt(code, { baseUrl: 'http://127.0.0.1:1' }),
    tells: (how: Parameters<PriceSourceEnvironment['tells']>[0]) => void hosts.instead.set(code as ExchangeName, how),
    asked: hosts.asked,
  });

  function worldOf(code: string): Pick<PriceSourceEnvironment, 'wanted' | 'legs' | 'contentType' | 'good'> {
    if (code === 'ecb')
      return {
        wanted: [{ base: 'eth', quote: 'inr' }],
        legs: ['usd/inr'],
        contentType: 'text/xml',
        good: (_symbols, value) => ecbDocument(hosts.bank.day).replace('89.2495', () => value ?? '89.2495'),
      };
    const name = code as ExchangeName;
    const [base = '', quote = ''] = FIXTURE[name].of.pair.split('/');
    return {
      wanted: [{ base, quote }],
      legs: [`${base}/${quote}`, `${base}/usd`, `${base}/usdt`, 'usdt/usd', `usd/${quote}`],
      contentType: 'application/json',
      good: (symbols, value) =>
        JSON.stringify(tickers(name, symbols, () => (value === undefined ? {} : { bid: value, ask: value }))),
    };
  }
});

for (const { code } of LISTS.verifiers) {
  const fixture = await fixtureOf<VerifierFixture>('verifiers', code);
  if (fixture === undefined) test(code, () => assert.fail(`server/test/fixtures/verifiers/${code}.ts is missing`));
  else testVerifier(code, fixture);
}

for (const { code } of LISTS.codeSenders) {
  const make = await fixtureOf<() => Promise<SenderEnvironment>>('senders', code);
  if (make === undefined) test(code, () => assert.fail(`server/test/fixtures/senders/${code}.ts is missing`));
  else testSender(code, make);
}

for (const { code } of LISTS.alertChannels) {
  const make = await fixtureOf<() => Promise<ChannelEnvironment>>('channels', code);
  if (make === undefined) test(code, () => assert.fail(`server/test/fixtures/channels/${code}.ts is missing`));
  else testChannel(code, make);
}

for (const { code } of LISTS.addressRisks) {
  const make = await fixtureOf<() => Promise<AddressRiskEnvironment>>('addressrisks', code);
  if (make === undefined) test(code, () => assert.fail(`server/test/fixtures/addressrisks/${code}.ts is missing`));
  else testAddressRisk(code, make);
}

for (const { code } of LISTS.travelProtocols) {
  const make = await fixtureOf<() => Promise<TravelProtocolEnvironment>>('travelprotocols', code);
  if (make === undefined) test(code, () => assert.fail(`server/test/fixtures/travelprotocols/${code}.ts is missing`));
  else testTravelProtocol(code, make);
}
