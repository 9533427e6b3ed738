/**
 * Alerts: every rule uses metrics that a server really exports, and links to an existing, complete section whose commands exist.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { COMMANDS } from '../../src/cli/commands.ts';
import { CASE_KINDS } from '../../src/compliance/index.ts';
import {
  checkReadings,
  databaseReadings,
  railReadings,
  reconcileReadings,
  standbyReadings,
  treasuryReadings,
} from '../../src/ops/index.ts';
import { STATES } from '../../src/orders/index.ts';
import { openStory, type Story } from '../support/story.ts';

const ROOT = new URL('../../../', import.meta.url).pathname;
const OPERATING = join(ROOT, 'docs/operating');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

interface Rule {
  alert: string;
  expr: string;
  for?: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}
const file = parse(read('docs/operating/alerts.yaml')) as { groups: { name: string; rules: Rule[] }[] };
const rules = file.groups.flatMap((group) => group.rules);

const pages = readdirSync(OPERATING, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/operating/${name}`);
/** The anchor that GitHub gives a heading. */
const anchor = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
/** Comments in a block of commands are not headings. */
const headings = (page: string) =>
  [
    ...read(page)
      .replace(/^```.*?^```/gms, '')
      .matchAll(/^#+ (.+)$/gm),
  ].map(([, heading = '']) => anchor(heading));

test('every rule has the fields of a Prometheus rule, an urgency and a unique name', () => {
  assert.deepEqual(Object.keys(file), ['groups']);
  assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);
  for (const { alert, expr, for: lasting, labels, annotations, ...rest } of rules) {
    assert.deepEqual(rest, {}, alert);
    assert.match(alert, /^[A-Z][A-Za-z]+$/);
    assert.ok(typeof expr === 'string' && expr !== '', alert);
    assert.match(lasting ?? '1m', /^[0-9]+[smhd]$/, alert);
    assert.match(labels.severity ?? '', /^(wake|morning)$/, alert);
    assert.ok((annotations.summary ?? '').length > 15, alert);
    for (const [open, close] of ['()', '{}', '[]'])
      assert.equal(expr.split(open ?? '').length, expr.split(close ?? '').length, `${alert}: brackets`);
  }
});

test('every rule links to a section, and every section of a runbook is complete', () => {
  for (const { alert, annotations } of rules) {
    const [page = '', section = ''] = (annotations.runbook ?? '').split('#');
    assert.ok(headings(page).includes(section), `${alert}: ${annotations.runbook}`);
  }
  for (const page of pages.filter((name) => name.includes('/runbooks/'))) {
    const [, ...sections] = read(page).split(/^## /m);
    for (const section of sections) {
      const parts = [...section.matchAll(/^\*\*(.+?):\*\*/gm)].map(([, part]) => part);
      assert.deepEqual(
        parts,
        ['Means', 'In danger', 'Look', 'Do', "Don't", 'Over when'],
        `${page}: ${section.split('\n')[0]}`,
      );
      const link = `${page}#${anchor(section.split('\n')[0] ?? '')}`;
      assert.ok(
        rules.some(({ annotations }) => annotations.runbook === link),
        `no alert leads to ${link}`,
      );
    }
  }
});

test('every link within the operating pages leads somewhere', () => {
  for (const page of pages) {
    for (const [, to = ''] of read(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(to)) continue;
      const [path = '', section] = to.split('#');
      const target = path === '' ? page : join(page, '..', path);
      const there = headings(target);
      if (section !== undefined) assert.ok(there.includes(section), `${page}: ${to}`);
    }
  }
});

test('every command that an operating page names exists, with these arguments and options', () => {
  const wrong = pages.flatMap((page) => {
    // Commands in a transcript are run by a test of their own.
    const text = read(page)
      .replace(/^```console.*?^```/gms, '')
      .replace(/\n(?!\n|```|\*|-|\||npm|curl)/g, ' ');
    return [...text.matchAll(/npm run operator -- ([^`|#\n]*)/g)].flatMap(([, line = '']) => {
      const why = misuse(line);
      return why === undefined ? [] : [`${page}: ${line.trim()}: ${why}`];
    });
  });
  assert.deepEqual(wrong, []);
});

/** @returns the mistake in a command line of a page, if there is one */
function misuse(line: string): string | undefined {
  const words = (line.match(/'[^']*'|"[^"]*"|\S+/g) ?? []).map((word) => word.replace(/^['"]|['"]$/g, ''));
  if (words[0] === undefined || /^(--help|…|<command>)$/.test(words[0])) return undefined;
  // This command calls no server, so it is in no table.
  if (words.slice(0, 2).join(' ') === 'new token') return undefined;
  const end = words.findIndex((word) => word.startsWith('--'));
  const before = end < 0 ? words : words.slice(0, end);
  const command = COMMANDS.filter((one) => `${before.join(' ')} `.startsWith(`${one.words} `))
    .toSorted((a, b) => b.words.length - a.words.length)
    .at(0);
  if (command === undefined) return 'no such command';
  const values = before.slice(command.words.split(' ').length);
  // In running text a command may be named without its arguments.
  if (values.length === 0) return undefined;
  if (values.length !== command.args.length) return `wants ${command.args.join(' ')}`;
  const options = end < 0 ? [] : words.slice(end).filter((word) => word.startsWith('--'));
  const known = [
    ...(command.brief === undefined ? [] : ['--brief']),
    '--reason',
    '--json',
    '--help',
    ...(command.options ?? []).map((name) => `--${name}`),
  ];
  const unknown = options.find((name) => !known.includes(name));
  if (unknown !== undefined) return `has no ${unknown}`;
  return command.method === 'POST' && !options.includes('--reason') ? 'wants --reason' : undefined;
}

test('every kind of case has its line in cases.md, in the words of the code', () => {
  const rows = new Map(
    [...read('docs/operating/cases.md').matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, kind = '', rest = '']) => [
      kind,
      rest.split(' | '),
    ]),
  );
  assert.deepEqual(
    Object.fromEntries(rows),
    Object.fromEntries(
      Object.entries(CASE_KINDS).map(([kind, { means, remedy, who }]) => [kind, [means, remedy, who]]),
    ),
  );
});

/** The declared label, also of a metric that has no row at the moment. */
const nothing = undefined as never;
const declared = [
  databaseReadings(nothing, nothing),
  railReadings([]),
  treasuryReadings(nothing),
  reconcileReadings(nothing),
  standbyReadings(nothing),
  checkReadings(() => []),
].flatMap(({ readings }) => readings);
const labelOf = (name: string) => declared.find((one) => one.name === name)?.label;

describe('against a server', () => {
  let world: Story;
  let text: string;
  before(async () => {
    world = await openStory();
    // Rows of each kind exist, so that every metric has a row with its labels.
    await world.setsAside('inr', 0n);
    const order = await world.sells('100', 'usdc');
    await world.pays(order, '100');
    await world.mines(2);
    await world.isShort(order);
    text = await (await fetch(world.server.metricsUrl)).text();
  });
  after(async () => await world?.close());

  test('every metric that a rule names is exported, with the labels that it names', () => {
    const exported = new Set([...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name));
    for (const { alert, expr } of rules) {
      const named = [...expr.matchAll(/(cloverleaf_\w+)(?:\{([^}]*)\})?/g)];
      assert.ok(named.length > 0, alert);
      for (const [, name = '', selector = ''] of named) {
        assert.ok(exported.has(name), `${alert}: there is no ${name}`);
        for (const [, label = '', , value = ''] of selector.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)) {
          assert.equal(label, labelOf(name), `${alert}: ${name} has no label ${label}`);
          for (const one of value.split('|')) {
            if (label === 'kind' && name.startsWith('cloverleaf_cases'))
              assert.ok(one in CASE_KINDS, `${alert}: ${one}`);
            if (label === 'state' && name.startsWith('cloverleaf_orders')) assert.ok(one in STATES, `${alert}: ${one}`);
          }
        }
      }
    }
  });

  test('a template names only labels that its expression keeps', () => {
    for (const { alert, expr, annotations } of rules) {
      const names = [...expr.matchAll(/cloverleaf_\w+/g)].map(([name]) => labelOf(name));
      for (const [, label] of (annotations.summary ?? '').matchAll(/\$labels\.(\w+)/g))
        assert.ok(names.includes(label), `${alert}: $labels.${label}`);
    }
  });

  test('the metrics count the order that waits for funds, and show that the database answers', () => {
    assert.match(text, /^cloverleaf_orders_oldest_seconds\{state="awaiting_liquidity"\} /m);
    assert.match(text, /^cloverleaf_cases_oldest_seconds\{kind="treasury_short"\} /m);
    assert.match(text, /^cloverleaf_check_ok\{check="database"\} 1$/m);
    assert.match(text, /^cloverleaf_check_ok\{check="rail bank.simulated"\} 1$/m);
    assert.match(text, /^cloverleaf_readings_ok 1$/m);
  });
});
