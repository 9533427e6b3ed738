import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { indexOf } from '../../../src/compliance/sanctions/find.ts';
import {
  matchEntry,
  prepare,
  RULES_VERSION,
  type Subject,
  subjectDigest,
  USUAL_THRESHOLD,
} from '../../../src/compliance/sanctions/match.ts';
import { nameOf, soundOf } from '../../../src/compliance/sanctions/names.ts';
import { measured, pairs, scoreOf } from './measured.ts';
import { customers, register } from './register.ts';

const RULES = { version: RULES_VERSION, threshold: USUAL_THRESHOLD };

/** Rows of the table of decision 73: threshold, true pairs found, false pairs that hit. */
const STATED = [
  ...readFileSync(new URL('../../../../docs/decisions/0073-sanctions-lists.md', import.meta.url), 'utf8').matchAll(
    /^\| \**(\d+)\** \| \**(\d+) of (\d+)\** \| \**(\d+) of (\d+)\** \|$/gm,
  ),
].map(([, ...numbers]) => numbers.map(Number));

test('recall and false hits among the published pairs are as decision 73 states them, at each of its thresholds', () => {
  assert.ok(STATED.some(([threshold]) => threshold === USUAL_THRESHOLD));
  for (const [threshold = 0, ...stated] of STATED) {
    const { same, others, missed, wrong } = measured(threshold);
    const names = [...missed, ...wrong].map(
      (pair) => `${pair.isSame}: ${pair.subject.names[0]} / ${pair.entry.names[0]?.text}: ${scoreOf(pair)}`,
    );
    assert.deepEqual([same - missed.length, same, wrong.length, others], stated, `${threshold}:\n${names.join('\n')}`);
  }
});

const entryOf = (name: string, more: object = {}) => ({
  ...(pairs[0]?.entry ?? assert.fail()),
  names: [{ text: name, quality: 'strong' as const, isPrimary: true }],
  ...more,
});
const scored = (subject: Subject, entry: ReturnType<typeof entryOf>) =>
  matchEntry(subject, subject.names.map(nameOf), prepare(entry));

test('the explanation names each pair of words and why, what is left over, and the evidence', () => {
  const births = [{ from: '1971-01-01', to: '1972-12-31', isCirca: false }];
  const entry = entryOf('ОРЛЕНКОВ Тарас Ильич', { births, countries: ['RU'] });
  const match = scored({ names: ['T. Orlenkoff'], kind: 'person', born: '1972-05-05', countries: ['RU'] }, entry);
  assert.deepEqual(match?.explanation, {
    givenName: 'T. Orlenkoff',
    listedName: 'ОРЛЕНКОВ Тарас Ильич',
    isWeakAlias: false,
    words: [
      { given: 'orlenkoff', listed: 'orlenkov', how: 'sound' },
      { given: 't', listed: 'taras', how: 'initial' },
    ],
    unmatched: { given: [], listed: ['ilich'] },
    born: 'agrees',
    country: 'agrees',
    kind: 'agrees',
  });
});

test('evidence moves a score: a date within a period raises it, another one lowers it, none leaves it', () => {
  const births = [{ from: '1971-01-01', to: '1971-12-31', isCirca: false }];
  const entry = entryOf('Taras Ilyich ORLENKOV', { births });
  const at = (born?: string) =>
    scored({ names: ['Taras Orlenkov'], ...(born === undefined ? {} : { born }) }, entry)?.score ?? 0;
  assert.ok(at('1971-06-01') > at() && at() > at('1999-01-01'));
  assert.equal(at('1973-06-01'), at(), 'two years of difference to a listed date counted as evidence');
  const circa = entryOf('Taras Ilyich ORLENKOV', { births: births.map((birth) => ({ ...birth, isCirca: true })) });
  assert.equal(scored({ names: ['Taras Orlenkov'], born: '1975-06-01' }, circa)?.explanation.born, 'near');
  // The whole name remains a hit against another date: dates on lists are often wrong.
  const whole = scored({ names: ['Taras Ilyich Orlenkov'], born: '1999-01-01' }, entry);
  assert.ok((whole?.score ?? 0) >= USUAL_THRESHOLD);
});

test('a weak alias scores less than a strong one, and the best of several names counts', () => {
  const strong = entryOf('Taras Orlenkov');
  const weak = entryOf('', { names: [{ text: 'Taras Orlenkov', quality: 'weak', isPrimary: false }] });
  const subject: Subject = { names: ['Somebody Else', 'Taras Orlenkov'] };
  assert.deepEqual([scored(subject, strong)?.score, scored(subject, weak)?.score], [10_000, 9_000]);
  assert.equal(scored(subject, weak)?.explanation.isWeakAlias, true);
});

test('romanisations of one name sound alike, and names that differ do not', () => {
  for (const [one, other] of [
    ['mohamed', 'muhammad'],
    ['yevgeny', 'evgenii'],
    ['ivanoff', 'ivanov'],
    ['juergen', 'jurgen'],
    ['khadija', 'kadija'],
  ])
    assert.equal(soundOf(one ?? ''), soundOf(other ?? ''), `${one} ${other}`);
  for (const [one, other] of [
    ['hassan', 'hussein'],
    ['ali', 'ola'],
    ['omar', 'amir'],
  ])
    assert.notEqual(soundOf(one ?? ''), soundOf(other ?? ''), `${one} ${other}`);
});

test('the same subject is the same input, whatever the order of its countries', () => {
  const one = subjectDigest({ names: ['A B'], countries: ['RU', 'DE'] });
  assert.deepEqual(one, subjectDigest({ names: ['A B'], countries: ['DE', 'RU'] }));
  assert.notDeepEqual(one, subjectDigest({ names: ['A B'], born: '1990-01-01', countries: ['DE', 'RU'] }));
});

test('the index finds the same hits as comparing with every entry, for the pairs and for a register of customers', () => {
  const entries = [...pairs.map(({ entry }) => entry), ...register(1_500)];
  const index = indexOf(entries.map((entry) => ({ entry, of: entry.id })));
  const prepared = entries.map(prepare);
  const subjects = [...pairs.map(({ subject }) => subject), ...customers(60, entries)];
  let hits = 0;
  for (const subject of subjects) {
    const given = subject.names.map(nameOf);
    const all = prepared
      .flatMap((one) => ({ id: one.entry.id, score: matchEntry(subject, given, one)?.score ?? 0 }))
      .filter(({ score }) => score >= RULES.threshold)
      .map(({ id }) => id);
    const found = index.find(subject, RULES).map(({ of }) => of);
    assert.deepEqual(found.toSorted(), all.toSorted(), subject.names.join(', '));
    hits += all.length;
  }
  assert.ok(hits >= 100, `only ${hits} hits to find`);
});

test('hostile names are compared in time and throw nothing', () => {
  const index = indexOf(register(200).map((entry) => ({ entry, of: entry.id })));
  for (const name of [
    '',
    ' ',
    '\u0000',
    'a'.repeat(100_000),
    'a '.repeat(50_000),
    '٠١٢',
    '欧'.repeat(5_000),
    '__proto__',
    'constructor',
    '😀 😀',
    '\ud800',
  ])
    assert.deepEqual(index.find({ names: [name] }, RULES), [], name.slice(0, 10));
});
