/**
 * Every declared action of the operator interface has a place in the console: a form of its own, a generated form on the page of
 * its subject, or an upload.
 *
 * UPDATE_DOCS=1 regenerates console/src/declared.json.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { MONITORING_KINDS } from '../../../console/src/actions.risk.ts';
import { type DeclaredForm, OTHER, type OtherPlace, othersOf, placeOfCase } from '../../../console/src/other.ts';
import { INNER_PAGES, PAGES } from '../../../console/src/places.ts';
import { KINDS } from '../../src/monitoring/index.ts';
import { consoleForms } from '../../src/protocols/operator/consoleforms.ts';
import type { DeclaredAction } from '../../src/protocols/operator/declare.ts';
import { ENDPOINTS } from '../../src/protocols/operator/declared/index.ts';
import { testFresh } from '../support/described.ts';

const ACTIONS = ENDPOINTS.filter((one): one is DeclaredAction => one.method === 'POST' && 'name' in one);
const SOURCE = fileURLToPath(new URL('../../../console/src/', import.meta.url));
const sources = new Map(
  globSync('**/*.{ts,tsx,json}', { cwd: SOURCE, exclude: ['partner/**'] }).map((path) => [
    path,
    readFileSync(`${SOURCE}${path}`, 'utf8'),
  ]),
);
const FORMS = JSON.parse(sources.get('declared.json') ?? '[]') as DeclaredForm[];
const PLACES = Object.keys(OTHER) as OtherPlace[];
const GENERATED = PLACES.flatMap((place) => Object.keys(OTHER[place]));

/** Actions that a page does without a form of actions*.ts: the file, and the text in it that sends the request. */
const BY_PAGE: Readonly<Record<string, readonly [string, string]>> = {
  'case.attach': ['pages/case.attachments.tsx', '/attachments`'],
  'review.decide': ['pages/reviews.tsx', 'REVIEW_DECIDE.path'],
  'account.find': ['pages/account.find.tsx', "'/accounts/find'"],
  'bank.take_statement': ['pages/bank.tsx', "'/bank/statements'"],
  'team.invite': ['pages/partners.team.tsx', '`/partners/${partner}/team`'],
  'team.invite_again': ['pages/partners.team.tsx', '/invitation`'],
  'team.collect': ['pages/partners.team.tsx', '/link`'],
  'team.remove': ['pages/partners.team.tsx', '/remove`'],
};
/** Actions that the console has no place for, and why. */
const NOWHERE: Readonly<Record<string, string>> = {
  'requirements.set': 'its form is a JSON document of questions, which is kept in a file and sent by the terminal',
};

testFresh({ 'console/src/declared.json': consoleForms(GENERATED) });

describe('a declared action', () => {
  /** Named in a table of forms; `actions.test.ts` compares each of those with its declaration. */
  const tables = [...sources].filter(([path]) => /^actions[^/]*\.ts$/.test(path)).map(([, text]) => text);
  for (const { name } of ACTIONS)
    test(`${name} has exactly one place in the console`, () => {
      const [file, snippet] = BY_PAGE[name] ?? [];
      const places = [
        ...(tables.some((text) => text.includes(`'${name}'`)) ? ['a form of its own'] : []),
        ...GENERATED.filter((one) => one === name).map(() => 'a generated form'),
        ...(file !== undefined && sources.get(file)?.includes(snippet ?? '') === true ? [file] : []),
        ...(name in NOWHERE ? ['nowhere, with a reason'] : []),
      ];
      assert.equal(places.length, 1, places.join(', ') || 'it has no place');
    });

  test('that is generated is declared, and its place is on a page', () => {
    const names = new Set(ACTIONS.map(({ name }) => name));
    assert.deepEqual(
      [...GENERATED, ...Object.keys(BY_PAGE), ...Object.keys(NOWHERE)].filter((name) => !names.has(name)),
      [],
    );
    const pages = [...sources].filter(([path]) => path.startsWith('pages/')).map(([, text]) => text);
    assert.deepEqual(
      PLACES.filter((place) => !pages.some((text) => text.includes(`<OtherActions of="${place}"`))),
      [],
      'places on no page',
    );
    for (const place of PLACES)
      assert.deepEqual(
        othersOf(place, {}, FORMS).map(({ name }) => name),
        Object.keys(OTHER[place]),
      );
  });
});

test('a form asks only for what its page does not know', () => {
  const asked = (place: OtherPlace, known: Record<string, string>) =>
    Object.fromEntries(
      othersOf(place, known, FORMS).map(({ name, fields = [] }) => [name, fields.map((one) => one.name)]),
    );
  assert.deepEqual(asked('deposit', { deposit: '7' }), {
    'deposit.return': ['address', 'signature', 'pastHits', 'despiteDebt'],
    'deposit.return-link': [],
    'deposit.payer': [],
    'deposit.wake': [],
  });
  assert.deepEqual(asked('rail', {})['rail.clear'], ['rail', 'restart']);
  assert.deepEqual(asked('rail', { rail: 'evm.x' })['rail.clear'], ['restart']);
});

test('the page of a case offers the actions on its subject', () => {
  const places = [
    ['overpaid', 'deposit:12'],
    ['dormant', 'order:5'],
    ['rail_halted', 'evm.matic20'],
    ['unexplained_debit', 'bank.simulated:2027-01-31:4'],
    ['screening_unavailable', 'denylist'],
    ['treasury_short', 'evm.matic20:usdc.matic20'],
    ['payout_unknown', 'payout:pay_1_1'],
  ] as const;
  assert.deepEqual(
    places.map(([kind, subject]) => placeOfCase(kind, subject)),
    [
      { place: 'deposit', known: { deposit: '12' } },
      { place: 'order', known: { order: '5' } },
      { place: 'rail', known: { rail: 'evm.matic20' } },
      { place: 'debit', known: { debit: 'bank.simulated:2027-01-31:4' } },
      { place: 'screening', known: {} },
      { place: 'funds', known: { rail: 'evm.matic20', asset: 'usdc.matic20' } },
      undefined,
    ],
  );
});

test('the page on which a rule of monitoring is tried has every kind', () => {
  assert.deepEqual([...MONITORING_KINDS].toSorted(), Object.keys(KINDS).toSorted());
});

describe('a page of the console', () => {
  const named = [...PAGES, ...INNER_PAGES];
  const paths = [...(sources.get('main.tsx') ?? '').matchAll(/(?:route|lazy)\('([^'$]+)'/g)].map(
    ([, path = '']) => path,
  );

  test('that is no record has a name in the palette', () => {
    assert.ok(paths.length > 40, `${paths.length} pages`);
    assert.deepEqual(named.map(({ to }) => to).toSorted(), paths.filter((path) => path !== '/search').toSorted());
    assert.equal(new Set(named.map(({ name }) => name)).size, named.length, 'two pages have one name');
  });

  test('has a key of its own, which the handbook names', () => {
    const text = readFileSync(new URL('../../../docs/operating/console.md', import.meta.url), 'utf8');
    const keys = PAGES.map(({ key }) => key);
    assert.equal(new Set(keys).size, keys.length, 'two pages have one key');
    assert.deepEqual(
      keys.filter((key) => !text.includes(`\`g ${key}\``)),
      [],
    );
  });
});
