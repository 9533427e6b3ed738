/**
 * How many files one quote passes, counted by the engine.
 *
 * A file counts if one of its functions runs while one warm quote of the white-label wire is answered over HTTP by a server in
 * this process (precise coverage of V8, which counts calls). The quote's own files are those that do not run for an unrelated
 * request of the same wire, the list of a customer's accounts: what both run is the way of every request (signature, body,
 * database, clock). Timers and connections of the server run beside single requests, so a file counts only if it runs for each
 * of several.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { after, before, test } from 'node:test';
import { type Environment, type TestPartner, wireEnvironment } from '../protocols/whitelabel/environment.ts';

const SRC = new URL('../../src/', import.meta.url).href;
const ARCHITECTURE = new URL('../../../ARCHITECTURE.md', import.meta.url);
const TIMES = 10;
/** Answers of the first ones fill caches. */
const WARMING = 2;
const MOST_OWN = 13;

let world: Environment;
let acme: TestPartner;
let all: Set<string>;
let own: string[];

before(async () => {
  world = await wireEnvironment();
  acme = await world.partner('acme');
  const engine = new Session();
  engine.connect();
  try {
    await engine.post('Profiler.enable');
    await engine.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    const pair = { fromCurrency: 'usdc', toCurrency: 'inr', chain: 'matic20' };
    all = await filesOf(engine, () => acme.post('offramp/quote', { ...pair, fromAmount: '100' }));
    const others = await filesOf(engine, () => acme.post('bank/fiatAccounts', { customerId: acme.customerId }));
    own = [...all].filter((file) => !others.has(file)).toSorted();
  } finally {
    engine.disconnect();
  }
});
after(async () => await world?.stop());

/** The files of which a function runs for every one of these requests, but for the first. */
async function filesOf(engine: Session, request: () => Promise<{ status: number }>): Promise<Set<string>> {
  const ran = async (): Promise<Set<string>> => {
    const { result } = await engine.post('Profiler.takePreciseCoverage');
    const files = result.filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0));
    return new Set(files.filter(({ url }) => url.startsWith(SRC)).map(({ url }) => url.slice(SRC.length)));
  };
  const each: Set<string>[] = [];
  for (let at = 0; at < TIMES; at += 1) {
    await ran();
    assert.equal((await request()).status, 200);
    each.push(await ran());
  }
  const [first = new Set<string>(), ...rest] = each.slice(WARMING);
  return new Set([...first].filter((file) => rest.every((files) => files.has(file))));
}

test('a quote passes at most 13 files of its own', () => {
  assert.ok(own.length <= MOST_OWN, `${own.length} files: ${own.join(', ')}`);
  for (const file of ['quotes/index.ts', 'quotes/price.ts', 'quotes/store.ts'])
    assert.ok(own.includes(file), `${file} is not among ${own.join(', ')}: nothing was counted`);
});

test('the files that ARCHITECTURE.md lists run, and its numbers are those counted', () => {
  const section = /^## The path of a quote$([\s\S]*?)^## /m.exec(readFileSync(ARCHITECTURE, 'utf8'))?.[1] ?? '';
  const listed = [...section.matchAll(/^\d+\. `([^`]+\.ts)`/gm)].map(([, file = '']) => file);
  assert.ok(listed.length >= 8, section);
  assert.deepEqual(
    listed.filter((file) => !all.has(file)),
    [],
  );
  const told = /runs functions of (\d+) of our files, and (\d+) of them/.exec(section.replaceAll(/\s+/g, ' '));
  assert.deepEqual([told?.[1], told?.[2]], [String(all.size), String(own.length)], [...all].toSorted().join('\n'));
  for (const file of own) assert.ok(section.includes(`\`${file}\``), `ARCHITECTURE.md does not name ${file}`);
});
