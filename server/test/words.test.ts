/**
 * Public names use the field's words: tables, columns and stored values, kinds of jobs, entries and cases, paths, fields, values,
 * reasons and events of our own APIs, refusal codes, settings, names of the SDK, words of the commands, metrics and alerts. A word
 * that was replaced by the field's does not come back. Nor do names in the code have those that it has in no other meaning.
 *
 * Not here: names of the white-label wire, which other programs chose, and CHANGELOG.md, which describes the past. Not listed
 * either: "coin", a standard term (USDC on two chains is one coin), "ask" of a customer, and "outside", which in names means a
 * chain or a bank.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CASE_KINDS } from '../src/compliance/index.ts';
import { allSettings } from '../src/config.ts';
import { BANK_FAULTS } from '../src/protocols/sandbox.ts';
import { CONTROLS } from '../src/protocols/whitelabel/index.ts';
import { MAGIC_NAMES } from '../src/rails/simulated/magic.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The word that was replaced → the one in use. Several words are adjacent in a name. */
const REPLACED: Readonly<Record<string, string>> = {
  handed: 'submitted',
  handing: 'submitting',
  'hand over': 'submit',
  'payout refused': 'payout rejected',
  'refund refused': 'refund rejected',
  'send refused': 'send rejected',
  'refused by': 'rejected by',
  'refuse next': 'reject next',
  'hand out': 'download',
  'handed out': 'downloaded',
  'order refuse': 'order refund',
  written: 'created',
  ring: 'enqueue',
  rung: 'enqueued',
  'set alarm': 'enqueue at',
  standing: 'recurring',
  bell: 'wake-up',
  lane: 'ordering key',
  courier: 'dispatcher',
  act: 'action',
  acts: 'actions',
  stop: 'kill switch, halt or cancel',
  stops: 'kill switches',
  stopped: 'switched off, halted or cancelled',
  'give back': 'refund',
  'given back': 'refunded',
  'want refund': 'request refund',
  'refund wanted': 'refund requested',
  'taken back': 'reversed or recalled',
  adrift: 'orphaned',
  anew: 'follow-on order',
  errand: 'flow',
  strike: 'fault',
  strikes: 'faults',
  struck: 'hit by a fault',
  door: 'role or pool',
  world: 'environment',
  'kept replies': 'idempotency records',
  'forget replies': 'purge idempotency records',
  'hot coin': 'native asset',
  'chain coin': 'native asset',
  'native coin': 'native asset',
  places: 'decimals, or position in a list',
  'tell older': 'mark restored',
  either: 'orders',
  ground: 'base',
  together: 'all',
  'tx send': 'tx defer',
  look: 'read or find',
  'read as partner': 'read only',
  agree: 'aggregate',
  seal: 'encrypt',
  sealed: 'encrypted',
  'bring forward': 'shift due times',
  'claim reference': 'payer reference',
  'claimed reference': 'payer reference',
  oddities: 'misdirected deposits',
};

/** Names that have such a word in another meaning, or that can no longer change. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  sanctions_hits_standing: 'an index of a migration that is frozen; no statement names it',
  address_hits_standing: 'an index of a migration that is frozen; no statement names it',
  either: 'of a side of an account, which may be a debit or a credit',
  written_off: 'the standard term for an amount that is given up',
  dust_written_off: 'the standard term for an amount that is given up',
  written_in: 'a column of frozen migrations: the database transaction that wrote the row',
  written_timeline: 'a function of a frozen migration: the timeline to which PostgreSQL writes',
  refused_by_: 'what migration 0083 replaces',
  hand_out_file: 'what migration 0083 replaces',
  refused_by: 'a column of a frozen migration: the rule under which we refused a transfer; no bank did',
  legalAct: 'the statute under which money is kept',
  seal: 'of the journal: the hash of a batch of entries',
  sealed_at: 'of the journal',
  sealed_audit: 'of the audit, as of the journal',
  sealed_entries: 'of the journal',
};

/** `payoutHanded`, `payout_handed` and `order.payout-handed` → the same words. */
const wordsOf = (name: string): string =>
  ` ${name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .join(' ')
    .trim()} `;

const replacedIn = (name: string): string[] =>
  Object.keys(REPLACED).filter((words) => wordsOf(name).includes(` ${words} `));

/** Identifiers and stored values; comments, and literals with a space (sentences of errors), are none. */
const namesInSql = (text: string): string[] =>
  text
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/'(?:[^']|'')*'/g, (literal) => (/\s/.test(literal) ? ' ' : literal))
    .match(/[a-z][a-z0-9_]*/g) ?? [];

/** Paths, operations, parameters, fields and values of an OpenAPI description. */
function namesInApi(node: unknown, isOurs: (path: string) => boolean = () => true, within = ''): string[] {
  if (Array.isArray(node)) return node.flatMap((one) => namesInApi(one, isOurs, within));
  if (node === null || typeof node !== 'object') return [];
  return Object.entries(node).flatMap(([key, value]) => {
    if (within === 'paths' && !isOurs(key)) return [];
    if (['description', 'summary', 'example', 'examples'].includes(key) && within !== 'properties') return [];
    const own = ['properties', 'paths', 'webhooks', 'x-reasons'].includes(within)
      ? [key]
      : ['operationId', 'const', 'name'].includes(key)
        ? [value]
        : key === 'enum'
          ? (value as unknown[])
          : [];
    return [...own.filter((one) => typeof one === 'string'), ...namesInApi(value, isOurs, key)];
  });
}

interface Command {
  words: string;
  args?: readonly string[];
  fields?: Readonly<Record<string, unknown>>;
}
const namesOfCommands = (commands: readonly Command[]): string[] =>
  commands.flatMap(({ words, args = [], fields = {} }) => [...words.split(' '), ...args, ...Object.keys(fields)]);

/** What the given patterns capture in our sources. */
const captured = (paths: string, ...patterns: readonly RegExp[]): string[] =>
  globSync(paths, { cwd: ROOT }).flatMap((path) => {
    const text = read(path);
    return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = '']) => name));
  });

const NAMES: Readonly<Record<string, readonly string[]>> = {
  tables: globSync('server/migrations/*.sql', { cwd: ROOT }).flatMap((path) => namesInSql(read(path))),
  'kinds of jobs and entries, and other stored words': captured(
    'server/src/**/*.ts',
    /\bkind: '([a-z_]+)'/g,
    /\bconst [A-Z_]+ = '([a-z_]+)'/g,
  ),
  'kinds of cases': Object.keys(CASE_KINDS),
  'refusal codes': captured('server/src/base/errors.ts', /^ {2}\| '([a-z_]+)'/gm),
  settings: allSettings().map(({ setting }) => setting.name),
  SDK: captured(
    'sdk/src/{*,cli/*,generated/v1}.ts',
    /\b(?:function|const|class|interface|type) (\w+)/g,
    /^ +(?:(?:readonly|static|async|get) )*(\w+)\??[:(]/gm,
  ),
  'partner API': namesInApi(JSON.parse(read('docs/openapi-v1.json'))),
  'sessions of teams': namesInApi(JSON.parse(read('docs/openapi-partner.json'))),
  'operator API': namesInApi(JSON.parse(read('docs/operator-openapi.json'))),
  'our paths beside the wire': namesInApi({ paths: JSON.parse(read('docs/openapi.json')).paths }, (path) =>
    /^\/(?:v1|sandbox)\//.test(path),
  ),
  'operator commands': namesOfCommands(JSON.parse(read('server/src/cli/commands.json'))),
  'sandbox commands': CONTROLS.flatMap(({ name, takes }) => [...name.split(' '), ...Object.keys(takes)]),
  metrics: globSync(['server/src/**/*.ts', 'docs/operating/alerts.yaml'], { cwd: ROOT }).flatMap(
    (path) => read(path).match(/\bcloverleaf_[a-z_]+/g) ?? [],
  ),
  'keys of the audit': captured('server/src/**/*.ts', /\b(?:before|after): \{([^{}]*)\}/g).flatMap((keys) =>
    [...keys.matchAll(/(?:^|,)\s*(\w+)/g)].map(([, name = '']) => name),
  ),
  alerts: [...read('docs/operating/alerts.yaml').matchAll(/alert: (\w+)/g)].map(([, name = '']) => name),
};

for (const [kind, names] of Object.entries(NAMES))
  test(`no name of these has a word that was replaced: ${kind}`, () => {
    assert.ok(new Set(names).size > 15, `only ${names.length} names were found`);
    const wrong = [...new Set(names)]
      .filter((name) => !(name in EXCEPTIONS))
      .flatMap((name) => replacedIn(name).map((words) => `${name}: ${words} → ${REPLACED[words]}`));
    assert.deepEqual(wrong, []);
  });

/** Words that code has in no other meaning, unlike "stop" (of a process) or "seal" (of the journal). */
const ONLY_REPLACED = [
  ...[
    'handed',
    'handing',
    'hand over',
    'ring',
    'rung',
    'set alarm',
    'bell',
    'lane',
    'courier',
    'act',
    'acts',
    'give back',
    'given back',
  ],
  ...[
    'want refund',
    'refund wanted',
    'taken back',
    'adrift',
    'anew',
    'errand',
    'strike',
    'strikes',
    'struck',
    'door',
    'kept replies',
  ],
  ...[
    'forget replies',
    'hot coin',
    'chain coin',
    'native coin',
    'tell older',
    'tx send',
    'read as partner',
    'bring forward',
  ],
  ...['claim reference', 'claimed reference', 'oddities'],
];

test('nothing that the code declares has such a word in its name', () => {
  const declared = captured(
    '{server/src,server/test,sdk,console/src,scripts,bench}/**/*.{ts,tsx}',
    /\b(?:const|let|function|class|interface|type) (\w+)/g,
    /^\s+(?:readonly )?(\w+)\??: /gm,
  );
  assert.ok(declared.length > 10_000, `only ${declared.length} names were found`);
  const wrong = [...new Set(declared)]
    .filter((name) => !(name in EXCEPTIONS) && !(name in REPLACED))
    .flatMap((name) => replacedIn(name).map((words) => [name, words] as const))
    .filter(([, words]) => ONLY_REPLACED.includes(words));
  assert.deepEqual(wrong, []);
});

/** What rails answer, as it is stored, and what makes the simulated bank answer so. */
const OF_RAILS = [
  ...captured('server/src/rails/manual/reasons.ts', /^ {2}\w+: '(\w+)'/gm),
  ...captured('server/src/rails/simulated/types.ts', /^ {2}\| '([a-z_]+)'/gm),
  ...captured('server/src/rails/simulated/{index,http}.ts', /'([a-z]+(?:_[a-z]+)+)'/g),
  ...captured('server/src/treasury/store.ts', /'([a-z]+)'(?= \||;)/g),
  ...MAGIC_NAMES.flatMap(({ name, outcome }) => [name, outcome]),
  ...BANK_FAULTS,
];

test('a rail rejects what is submitted, and never refuses it; it fails only as a chain fails a transaction', () => {
  assert.ok(OF_RAILS.length > 80, `only ${OF_RAILS.length} words were found`);
  // Mined and failed: the standard term, explained in GLOSSARY.md.
  const exceptions = ['failed', 'settlement_failed', 'own_transfer_failed'];
  const wrong = OF_RAILS.filter(
    (name) => /\b(?:refuse|refused|failed) /.test(wordsOf(name)) && !exceptions.includes(name),
  );
  assert.deepEqual([...new Set(wrong)], []);
});

test('every exception is still a name', () => {
  const all = new Set(Object.values(NAMES).flat());
  assert.deepEqual(
    Object.keys(EXCEPTIONS).filter((name) => !all.has(name)),
    [],
  );
});

test('a word that was replaced is found in each spelling of a name', () => {
  for (const name of ['order.payout_handed', 'payoutHanded', 'payout-handed', 'PayoutHanded', 'handed'])
    assert.deepEqual(replacedIn(name), ['handed'], name);
  assert.deepEqual(replacedIn('claimedReference'), ['claimed reference']);
  assert.deepEqual(replacedIn('ordering_key'), [], 'a part of a word is no word');
});

test('names of SQL are found between literals, and not in sentences or comments', () => {
  const text = "check (a in ('one', 'two')), b text default '' -- it's c\n; raise 'it''s no name: %', d; create e";
  const found = 'check a in one two b text default raise d create e'.split(' ');
  assert.deepEqual(namesInSql(text), found);
});
