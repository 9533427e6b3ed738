/**
 * The evidence reports its faults: each way in which a result may fall short is a sentence at the top of the page and an exit
 * code of 1, and every number of the page comes from a result.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { KINDS } from '../chaos/faults.ts';
import type { Outcome as Chaos } from '../chaos/run.ts';
import { FAULTS } from '../simulation/faults.ts';
import { freshFolder } from '../support/folder.ts';
import { collect, run } from '../support/process.ts';
import { codeOf, importedBy } from './about.ts';
import { type About, evidence, troubles } from './evidence.ts';
import { type Reasons, touchedBy } from './reasons.ts';
import { chosenOf, type Result, sizesOf, stepsOf, WHOLE } from './steps.ts';
import { openStore, readJson } from './store.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const ABOUT: About = {
  commit: 'c0ffee',
  code: 'abc',
  dirty: false,
  node: 'v24.0.0',
  postgres: '18.4',
  anvil: 'anvil 1.7',
  system: 'Linux 6',
  machine: '2 × a processor, 8 GiB',
};
const STEPS = stepsOf(WHOLE);

const simulated = {
  command: 'npm run simulate',
  seeds: 500,
  runs: 2_345,
  orders: 20_123,
  unmade: 3,
  steps: 9_000_001,
  waits: 4_711,
  seconds: 7_000,
  ordersPerSecond: 2.9,
  ended: { settled: 19_000, refunded: 1_123 },
  faults: {
    ...Object.fromEntries(Object.entries(FAULTS).map(([name, rate]) => [name, { rate, times: 345 }])),
    double_spent: { rate: 0.02, times: 101 },
  },
  points: { known: 300, hit: 300, ends: 12_345, never: [] as { point: string; why: string }[] },
  paidTwice: 0,
  paidAgainst: 0,
  submissions: 23_456,
  lost: 0,
  restores: { played: 14, ended: { 'let go': 14 } },
  rules: { played: 70, done: { 'denied a destination': 219 } },
  unexplained: 0,
  failing: [] as unknown[],
};
const hunt = {
  command: 'npm run simulate -- --mutants',
  seconds: 100,
  planted: 70,
  found: 70,
  mutants: Array.from({ length: 70 }, (_, n) => ({
    mutant: `bug ${n}`,
    files: [],
    found: true,
    ...(n === 7 ? { test: 'server/test/locks.test.ts' } : { seed: n + 1, kind: 'paid_twice' }),
  })),
};
const chaosRun = (mode: Chaos['mode']): Chaos => ({
  ...{ mode, seed: 1, seconds: 300, healedAfterS: 40, orders: 512, sales: 256, perSecond: 1.51, retries: 77 },
  ...{
    states: { settled: 512 },
    faults: Object.fromEntries(KINDS.map((kind) => [kind, 9])),
    missed: [],
    trouble: [],
    ledger: '4242 entries',
  },
  ...{ gone: [], paidTwice: [], lost: [], unexplained: [], broken: [], left: [], good: true, summary: '' },
});
const fuzzed = {
  inputs: 1_234_567,
  held: true,
  seed: 5,
  readers: [
    { reader: 'camt.053', inputs: 1_234_567, slowestMs: 12 },
    { reader: 'requests: the partner API', inputs: 20_000, slowestMs: 300 },
  ],
};
const REPORTS: Record<string, unknown> = {
  simulate: simulated,
  mutants: hunt,
  'chaos-deduplicating': [chaosRun('deduplicating')],
  'chaos-repeating': [chaosRun('repeating')],
  fuzz: fuzzed,
  mutation: {
    ...{ mutants: 1_000, killed: 998, survived: 2, untouched: ['types.ts', 'words.ts'], unreached: ['held.ts'] },
    files: [
      { file: 'money.ts', score: 91.4, mutants: 900, killed: 900, hung: 0, broken: 0, survivors: [] },
      {
        ...{ file: 'gate.ts', score: 98, mutants: 100, killed: 98, hung: 0, broken: 0 },
        sampled: { lines: 48, of: 377 },
        survivors: [
          { line: 7, lineText: 'return a < b;', mutator: 'EqualityOperator', code: 'a < b', instead: 'a <= b' },
          { line: 9, lineText: 'if (x || y)', mutator: 'LogicalOperator', code: 'x || y', instead: 'x && y' },
        ],
      },
    ],
  },
};

const REASONS: Reasons = {
  'gate.ts': {
    equivalent: {
      'return a < b;': { 'a < b -> a <= b': 'both give the same at equality' },
      'if (x || y)': { 'x || y -> x && y': 'x and y are one' },
    },
  },
};

/** A complete result, except for the given changes. */
const results = (change: Record<string, Partial<Result> | undefined> = {}): Result[] =>
  STEPS.flatMap(({ name }) => {
    if (name in change && change[name] === undefined) return [];
    const result = {
      step: name,
      command: `npm run ${name}`,
      commit: 'c0ffee',
      code: 'abc',
      said: `${name} said\n7 passed, 0 failed\n`,
    };
    const report = REPORTS[name] === undefined ? {} : { report: REPORTS[name] };
    return [{ ...result, startedAt: '2026-01-05', seconds: 60, exitCode: 0, ...report, ...change[name] }];
  });

test('if everything ran and held, the page says so, with the numbers of the results', () => {
  assert.deepEqual(troubles(STEPS, results(), WHOLE, ABOUT, REASONS), []);
  const page = evidence(STEPS, results(), WHOLE, ABOUT, REASONS);
  assert.match(page, /Everything ran and everything held\./);
  assert.match(page, /21147 orders: paid twice 0, lost 0, unexplained 0\./);
  assert.match(page, /Paid against a block, kill switch, clearing time or limit 0, of 23456 submissions/);
  for (const number of [
    '345',
    '101',
    '12345',
    '4711',
    '1234567',
    '2.9',
    '2345',
    '1.51',
    '998',
    '91.4',
    '48 of 377',
    'denied a destination 219',
    '| let go 14 |',
    '2 not, of which 2 are explained',
    'The chosen lines of these have nothing to change: types.ts, words.ts.',
    'The sample has 2 files. 1 more are not in it: held.ts.',
    '| gate.ts:7 | `a < b` | `a <= b` | equivalent | both give the same at equality |',
    '| gate.ts:9 | `x \\|\\| y` | `x && y` | equivalent | x and y are one |',
    '300 known',
    '| bug 6 | seed 7 | paid twice |',
    '| bug 7 | server/test/locks.test.ts | the test fails |',
    '4242',
    'c0ffee',
  ])
    assert.ok(page.includes(number), number);
});

const SHORT: readonly [what: string, change: Record<string, Partial<Result> | undefined>, says: RegExp][] = [
  ['a step that did not run', { kills: undefined }, /\*\*kills\*\*: did not run/],
  ['a step that failed', { fuzz: { exitCode: 1 } }, /\*\*fuzz\*\*: failed \(exit code 1\)/],
  ['a step that was stopped', { kills: { exitCode: null } }, /\*\*kills\*\*: was stopped before its end/],
  ['a report that is missing', { simulate: { report: undefined } }, /\*\*simulate\*\*: left no report/],
  [
    'an order paid twice in the simulation, whatever its exit code',
    { simulate: { report: { ...simulated, paidTwice: 1 } } },
    /\*\*simulate\*\*: paid twice 1[^]*paid twice 1, lost 0/,
  ],
  [
    'money that left against a rule in the simulation',
    { simulate: { report: { ...simulated, paidAgainst: 2 } } },
    /\*\*simulate\*\*: paid against a block, kill switch, clearing time or limit 2[^]*time or limit 2, of/,
  ],
  [
    'a simulation that looked at no submission',
    { simulate: { report: { ...simulated, submissions: 0 } } },
    /\*\*simulate\*\*: no submission was looked at/,
  ],
  [
    'a kind of fault that was rare',
    { simulate: { report: { ...simulated, faults: { ...simulated.faults, reorg: { rate: 1, times: 99 } } } } },
    /\*\*simulate\*\*: faults fewer than 100 times: reorg 99\n/,
  ],
  [
    'a kind of fault that the report does not know',
    { simulate: { report: { ...simulated, faults: {} } } },
    /\*\*simulate\*\*: faults fewer than 100 times: [^\n]*\breorg 0\b/,
  ],
  [
    'a simulation without orders',
    { simulate: { report: { ...simulated, orders: 0, ended: {} } } },
    /\*\*simulate\*\*: no orders/,
  ],
  [
    'a simulation in which no order settled',
    { simulate: { report: { ...simulated, ended: { expired: 20_123 } } } },
    /\*\*simulate\*\*: no order settled/,
  ],
  [
    'fewer seeds than were asked for, however many runs',
    { simulate: { report: { ...simulated, seeds: 499 } } },
    /\*\*simulate\*\*: 499 seeds, and 500 were asked for/,
  ],
  [
    'a hunt that planted nothing',
    { mutants: { report: { ...hunt, planted: 0, found: 0, mutants: [] } } },
    /\*\*mutants\*\*: 0 mutants, and 70 are the least/,
  ],
  [
    'a kind of fault that was never injected',
    {
      'chaos-repeating': {
        report: [{ ...chaosRun('repeating'), faults: { ...chaosRun('repeating').faults, 'server killed': 0 } }],
      },
    },
    /\*\*chaos-repeating\*\*: never injected: server killed\n[^]*\| server killed \| 9 \| 0 \|/,
  ],
  [
    'books that are broken after the chaos, which nothing explains',
    { 'chaos-repeating': { report: [{ ...chaosRun('repeating'), broken: ['balance'], good: false }] } },
    /\*\*chaos-repeating\*\*: broken 1\n[^]*lost 0, unexplained 1\./,
  ],
  [
    'a chaos after which no order settled',
    { 'chaos-repeating': { report: [{ ...chaosRun('repeating'), states: { payout_held: 512 } }] } },
    /\*\*chaos-repeating\*\*: no order settled/,
  ],
  [
    'mutation testing that changed nothing',
    { mutation: { report: { mutants: 0, killed: 0, survived: 0, files: [], untouched: [], unreached: [] } } },
    /\*\*mutation\*\*: no changes of the code/,
  ],
  ['a test that was skipped', { partners: { said: '1 skipped\n6 passed, 0 failed' } }, /\*\*partners\*\*: 1 skipped/],
  ['tests that say nothing', { partners: { said: '' } }, /\*\*partners\*\*: does not say that tests passed/],
  [
    'a planted bug that was not found',
    { mutants: { report: { ...hunt, found: 11, mutants: [{ mutant: 'bug', files: [], found: false }] } } },
    /\*\*mutants\*\*: mutants that were not found 1[^]*\| bug \| \*\*not found\*\*/,
  ],
  [
    'money lost in the chaos',
    { 'chaos-repeating': { report: [{ ...chaosRun('repeating'), lost: ['order 1'], good: false }] } },
    /\*\*chaos-repeating\*\*: lost 1[^]*lost 1, unexplained 0/,
  ],
  [
    'a server that ended by itself',
    { 'chaos-repeating': { report: [{ ...chaosRun('repeating'), trouble: ['server 1'], good: false }] } },
    /\*\*chaos-repeating\*\*: trouble 1/,
  ],
  [
    'a property that did not hold',
    { fuzz: { report: { ...fuzzed, held: false } } },
    /\*\*fuzz\*\*: a property did not hold/,
  ],
  [
    'fewer requests to the partner API than the whole makes',
    { fuzz: { report: { ...fuzzed, readers: [{ ...fuzzed.readers[1], inputs: 19_999 }] } } },
    /\*\*fuzz\*\*: 19999 requests to the partner API, and 20000 were asked for/,
  ],
];

for (const [what, change, says] of SHORT)
  test(`${what} is reported as a fault`, () => {
    const short = results(change);
    assert.notDeepEqual(troubles(STEPS, short, WHOLE, ABOUT, REASONS), []);
    const page = evidence(STEPS, short, WHOLE, ABOUT, REASONS);
    assert.match(page, says);
    assert.doesNotMatch(page, /everything held/);
  });

const LINE = 'if (x || y)';
const SURVIVOR = { line: 9, lineText: LINE, mutator: 'LogicalOperator', code: 'x || y', instead: 'x && y' };
const because = (why: string, lineText = LINE) => ({ [lineText]: { 'x || y -> x && y': why } });
const NOT_ENOUGH: readonly [what: string, file: string, reasons: Reasons, says: string | undefined][] = [
  ['without a reason', 'gate.ts', {}, 'not explained'],
  ['whose reason is empty', 'gate.ts', { 'gate.ts': { equivalent: because(' ') } }, 'not explained'],
  ['whose reason is of another file', 'gate.ts', { 'judge.ts': { equivalent: because('one') } }, 'not explained'],
  [
    'whose reason is of the same change in another line',
    'gate.ts',
    { 'gate.ts': { equivalent: because('one', `${LINE} (2)`) } },
    'not explained',
  ],
  [
    'that is accepted where money moves',
    'orders/payouts/gate.ts',
    { 'orders/payouts/gate.ts': { accepted: because('rare') } },
    'touches money, and is only accepted',
  ],
  [
    'that only costs time where rows are isolated',
    'base/db.ts',
    { 'base/db.ts': { speed: because('one look more') } },
    'touches isolation, and is only speed',
  ],
  [
    'that is called words and is none',
    'partners/colours.ts',
    { 'partners/colours.ts': { words: because('a sentence') } },
    'not a literal, so not only words',
  ],
  [
    'that is accepted where nothing is at risk',
    'partners/colours.ts',
    { 'partners/colours.ts': { accepted: because('a shade') } },
    undefined,
  ],
  ['that is equivalent', 'base/db.ts', { 'base/db.ts': { equivalent: because('one') } }, undefined],
];

for (const [what, file, reasons, says] of NOT_ENOUGH)
  test(`a survivor ${what} ${says === undefined ? 'is no fault' : 'is reported as a fault'}`, () => {
    const files = [{ file, score: 99, mutants: 9, killed: 8, hung: 0, broken: 0, survivors: [SURVIVOR] }];
    const survived = results({
      mutation: { report: { mutants: 9, killed: 8, survived: 1, files, untouched: [], unreached: [] } },
    });
    assert.deepEqual(
      troubles(STEPS, survived, WHOLE, ABOUT, reasons),
      says === undefined ? [] : [{ step: 'mutation', why: `survivors, ${says}: ${file}:9` }],
    );
    const page = evidence(STEPS, survived, WHOLE, ABOUT, reasons);
    assert.equal(page.includes('Everything ran and everything held.'), says === undefined);
  });

test('a file touches money unless it is known to touch isolation or neither', () => {
  for (const [file, what] of Object.entries({
    'orders/refunds/rest.ts': 'money',
    'compliance/sanctions/match.ts': 'money',
    'operators/rules.ts': 'money',
    'added/later.ts': 'money',
    'base/db.ts': 'isolation',
    'team/held.ts': 'isolation',
    'orders/read/public.ts': 'neither',
    'compliance/sanctions/erase.ts': 'neither',
  }))
    assert.equal(touchedBy(file), what, file);
});

test('a point where no process was ended is listed with its reason', () => {
  const never = [{ point: 'commit of payouts', why: 'it is rare' }];
  const report = { ...simulated, points: { ...simulated.points, never } };
  const page = evidence(STEPS, results({ simulate: { report } }), WHOLE, ABOUT, REASONS);
  assert.match(page, /1 never[^]*\| `commit of payouts` \| it is rare \|/);
});

test('uncommitted code is reported as a fault', () => {
  const about = { ...ABOUT, dirty: true };
  assert.equal(troubles(STEPS, results(), WHOLE, about, REASONS).length, 1);
  const page = evidence(STEPS, results(), WHOLE, about, REASONS);
  assert.match(page, /\*\*commit\*\*: what was run is not committed/);
  assert.doesNotMatch(page, /everything held/);
});

test('a step that ran at another commit is shown with that one', () => {
  const page = evidence(STEPS, results({ kills: { commit: 'facade0123456789' } }), WHOLE, ABOUT, REASONS);
  assert.match(page, /\| kills \| `npm run kills` \| facade012345 \|/);
  assert.match(page, /\| fuzz \| `npm run fuzz` \| c0ffee \|/);
});

test('an incomplete run is reported as incomplete', () => {
  const sizes = { ...WHOLE, seeds: '1..20' };
  assert.match(
    evidence(stepsOf(sizes), results(), sizes, ABOUT, REASONS),
    /\*\*sizes\*\*: seeds 1\.\.20, and the whole is 1\.\.500/,
  );
});

test('a word of --only that means no step is refused, and not left out', () => {
  const names = (only: string) => chosenOf(STEPS, only).map(({ name }) => name);
  assert.deepEqual(names('chaos,kills'), ['chaos-deduplicating', 'chaos-repeating', 'kills']);
  for (const only of ['', 'kill', 'kills,', 'kills,simulation', 'chaos-'])
    assert.throws(() => names(only), /--only/, only);
});

test('sizes of zero are refused', () => {
  assert.deepEqual(sizesOf(WHOLE), WHOLE);
  for (const bad of [
    ...['5..1', '0..3', '1', '1..', '1..2..3', 'a..b'].map((seeds) => ({ seeds })),
    ...['0', '0.5', '-1', 'many'].map((kills) => ({ kills })),
    ...['0', '-1', 'Infinity', ''].flatMap((size) => [{ minutes: size }, { times: size }]),
  ])
    assert.throws(() => sizesOf({ ...WHOLE, ...bad }), /^Error: --/, JSON.stringify(bad));
});

test('a truncated result, or one of other code or another command, does not count', () => {
  // Made with its first result.
  const home = join(freshFolder('prove'), 'results');
  const [result] = results();
  assert.ok(result !== undefined);
  const { code, command } = result;
  const own = openStore(home);
  assert.equal(own.kept('simulate', result), undefined);
  own.keep('simulate', result);
  assert.deepEqual(own.kept('simulate', result), result);
  assert.equal(own.kept('simulate', { code: 'other', command }), undefined);
  assert.equal(own.kept('simulate', { code, command: `${command} -- --seeds 1..2` }), undefined);
  const path = join(home, 'simulate.json');
  const text = readFileSync(path, 'utf8');
  for (const length of [0, 1, text.length - 3]) {
    writeFileSync(path, text.slice(0, length));
    assert.equal(own.kept('simulate', result), undefined, `cut at ${length}`);
    assert.equal(readJson(path), undefined);
  }
  own.keep('simulate', result);
  own.forget('simulate');
  assert.equal(own.kept('simulate', result), undefined);
});

test('of the server, the simulation depends on what it imports, and the other steps on all of it', () => {
  const simulate = STEPS.find(({ name }) => name === 'simulate');
  const imported = importedBy(ROOT, simulate?.entry ?? '');
  for (const path of [
    'orders/payouts/gate.ts',
    'orders/decide.ts',
    'ledger/index.ts',
    'base/db.ts',
    'compliance/cases.ts',
  ])
    assert.ok(imported.includes(`server/src/${path}`), path);
  for (const path of ['console/build.ts', 'site/explorer.ts', 'apps/server.ts', 'signer/serve.ts'])
    assert.ok(!imported.includes(`server/src/${path}`), path);
  assert.notEqual(codeOf(ROOT, simulate?.entry), codeOf(ROOT));
  assert.equal(codeOf(ROOT, STEPS.find(({ name }) => name === 'kills')?.entry), codeOf(ROOT));
});

test('the code of a step changes with a file that it imports, and with no other', () => {
  const root = freshFolder('prove');
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.test', ...args], { cwd: root });
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const code = () => codeOf(root, 'server/test/entry.ts');
  const after = (path: string, text: string): string => {
    write(path, text);
    git('add', '-A');
    git('commit', '-qm', path);
    return code();
  };
  git('init', '-q');
  for (const path of ['server/migrations/1.sql', 'server/package.json', 'package-lock.json', 'server/src/other.ts'])
    write(path, '');
  write('server/test/entry.ts', "import '../src/used.ts';\nimport './helper.ts';\n");
  write('server/test/helper.ts', '');
  const first = after('server/src/used.ts', '');
  assert.equal(after('server/src/other.ts', '// changed'), first);
  assert.equal(after('server/test/helper.ts', '// changed'), first, 'a test is part of the proved code');
  // A file that git does not know yet has no part in it.
  write('server/src/new.ts', '');
  write('server/src/used.ts', "import './new.ts';\n");
  git('commit', '-qam', 'used');
  const second = code();
  assert.notEqual(second, first);
  assert.notEqual(after('server/src/new.ts', ''), second);
  const third = code();
  assert.notEqual(after('server/migrations/1.sql', 'select 1;'), third);
});

test('imports are followed however they are written, and packages are not', () => {
  const folder = freshFolder('prove');
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write(
    'entry.ts',
    "import pg from 'pg';\nimport {\n  b,\n} from './b.ts';\nexport * from './c.ts';\nimport './d.ts';\n",
  );
  write('b.ts', "const e = await import('./e.ts');\nnew URL('./f.json', import.meta.url);\n");
  for (const name of ['c.ts', 'd.ts', 'e.ts', 'f.json', 'unused.ts']) write(name, "import './entry.ts';\n");
  assert.deepEqual(importedBy(folder, 'entry.ts'), ['b.ts', 'c.ts', 'd.ts', 'e.ts', 'entry.ts', 'f.json']);
});

test('with nothing kept, the command writes that nothing ran, and ends with 1', async () => {
  const folder = freshFolder('prove');
  const out = join(folder, 'evidence.md');
  const child = run(
    ['server/test/prove/main.process.ts', '--write', '--store', folder, '--results', folder, '--out', out],
    {},
  );
  const output = collect(child);
  assert.equal(await new Promise((done) => child.once('exit', done)), 1, output());
  const page = readFileSync(out, 'utf8');
  for (const { name } of STEPS) assert.ok(page.includes(`**${name}**: did not run`), name);
  assert.match(page, /Nothing was counted/);
});
