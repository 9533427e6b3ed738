/**
 * Public names use the field's words: tables, columns and stored values, paths, fields, values, reasons and events of our own
 * APIs, words of the commands, metrics and alerts. A word that was given up for the field's does not come back.
 *
 * Not here: names of the white-label wire, which other programs gave, and CHANGELOG.md, which tells of the past.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CONTROLS } from '../src/protocols/whitelabel/index.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The word that was given up → the one in use. Several words stand beside each other in a name. */
const GIVEN_UP: Readonly<Record<string, string>> = {
  handed: 'submitted',
  handing: 'submitting',
  'hand over': 'submit',
  'payout refused': 'payout rejected',
  'refund refused': 'refund rejected',
  'send refused': 'send rejected',
  'written at': 'created at',
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
  door: 'role or pool',
  world: 'environment',
  'kept replies': 'idempotency records',
  'forget replies': 'purge idempotency records',
  'hot coin': 'native asset',
  'chain coin': 'native asset',
  places: 'decimals, or position in a list',
  'tell older': 'mark restored',
  either: 'orders',
  ground: 'base',
  together: 'all',
  seal: 'encrypt',
  sealed: 'encrypted',
  'bring forward': 'shift due times',
  'claim reference': 'payer reference',
  'claimed reference': 'payer reference',
  oddities: 'misdirected deposits',
};

/** Names that have such a word in another meaning. */
const IN_ANOTHER_MEANING: Readonly<Record<string, string>> = {
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

const givenUpIn = (name: string): string[] =>
  Object.keys(GIVEN_UP).filter((words) => wordsOf(name).includes(` ${words} `));

/** Identifiers and stored values; comments and sentences of errors are none. */
const namesInSql = (text: string): string[] =>
  text
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/'[^']*\s[^']*'/g, '')
    .match(/[a-z][a-z_]*/g) ?? [];

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

const NAMES: Readonly<Record<string, readonly string[]>> = {
  tables: globSync('server/migrations/*.sql', { cwd: ROOT }).flatMap((path) => namesInSql(read(path))),
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
  alerts: [...read('docs/operating/alerts.yaml').matchAll(/alert: (\w+)/g)].map(([, name = '']) => name),
};

for (const [kind, names] of Object.entries(NAMES))
  test(`no name of these has a word that was given up: ${kind}`, () => {
    assert.ok(new Set(names).size > 15, `only ${names.length} names were found`);
    const wrong = [...new Set(names)]
      .filter((name) => !(name in IN_ANOTHER_MEANING))
      .flatMap((name) => givenUpIn(name).map((words) => `${name}: ${words} → ${GIVEN_UP[words]}`));
    assert.deepEqual(wrong, []);
  });

test('every exception is still a name', () => {
  const all = new Set(Object.values(NAMES).flat());
  assert.deepEqual(
    Object.keys(IN_ANOTHER_MEANING).filter((name) => !all.has(name)),
    [],
  );
});

test('a word that was given up is found in each spelling of a name', () => {
  for (const name of ['order.payout_handed', 'payoutHanded', 'payout-handed', 'PayoutHanded', 'handed'])
    assert.deepEqual(givenUpIn(name), ['handed'], name);
  assert.deepEqual(givenUpIn('claimedReference'), ['claimed reference']);
  assert.deepEqual(givenUpIn('ordering_key'), [], 'a part of a word is no word');
});
