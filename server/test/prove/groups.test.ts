/**
 * What mutation testing breaks: every file that decides about money or about who sees it is in one group of
 * scripts/mutate.groups.ts, or in the list below with the reason why it is not.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { GROUPS } from '../../../scripts/mutate.groups.ts';
import { KINDS, lineTexts, reasonsHere } from './reasons.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SERVER = join(ROOT, 'server');

/** Of server/src. */
const DEMANDED = [
  'base/db.ts',
  'base/money.ts',
  'compliance/**/*.ts',
  'ledger/**/*.ts',
  'operators/**/*.ts',
  'orders/**/*.ts',
  'partners/**/*.ts',
  'quotes/price.ts',
  'rails/{ahead,bank,chain,payouts}*.ts',
  'team/**/*.ts',
  'treasury/**/*.ts',
];

/** Files that no group has, by pattern. */
const NOT_MUTATED: Readonly<Record<string, string>> = {
  '**/*store.ts': 'statements: a mutant replaces the whole text of one, which any test that runs it notices',
  'rails/{bank,chain}.adapter.ts': 'types of a contract',
  '{compliance,operators,partners,treasury}/index.ts': 'exports: Stryker finds nothing to change',
  'orders/{context,payouts/rules}.ts': 'types',
  'ledger/entry.ts': 'types',
  'rails/chain.rail.ts': 'types',
};

const mutated = Object.values(GROUPS).flatMap(({ mutate }) => mutate);
const isExcepted = (path: string): boolean => Object.keys(NOT_MUTATED).some((pattern) => matchesGlob(path, pattern));

test('every file that decides about money or isolation is mutated, or is in the list of exceptions', () => {
  const demanded = globSync(DEMANDED, { cwd: join(SERVER, 'src') });
  assert.ok(demanded.length > 200, `${demanded.length} files`);
  const missing = demanded.filter((path) => !mutated.includes(path) && !isExcepted(path));
  assert.deepEqual(missing.toSorted(), []);
});

test('no file is in two groups, and none is both mutated and excepted', () => {
  assert.deepEqual(
    mutated.filter((path, at) => mutated.indexOf(path) !== at),
    [],
  );
  assert.deepEqual(mutated.filter(isExcepted), []);
});

test('each exception is of a file that exists', () => {
  const all = globSync('**/*.ts', { cwd: join(SERVER, 'src') });
  for (const pattern of Object.keys(NOT_MUTATED))
    assert.ok(
      all.some((path) => matchesGlob(path, pattern)),
      pattern,
    );
});

test('each group names files and tests that exist, and no test for which the step has no time', () => {
  for (const [name, { mutate, tests }] of Object.entries(GROUPS)) {
    for (const path of [...mutate.map((one) => join('src', one)), ...tests.map((one) => join('test', one))])
      assert.deepEqual(globSync(path, { cwd: SERVER }), [path], `${name}: ${path}`);
    assert.deepEqual(
      tests.filter((path) => path.endsWith('.long.test.ts')),
      [],
      name,
    );
  }
});

test('each reason of a survivor is of a mutated file, a known kind and a line that is there, says something, and stands once', () => {
  for (const [file, byKind] of Object.entries(reasonsHere(ROOT))) {
    assert.ok(mutated.includes(file), file);
    assert.deepEqual(
      Object.keys(byKind).filter((kind) => !KINDS.some((known) => known === kind)),
      [],
      file,
    );
    const texts = lineTexts(readFileSync(join(SERVER, 'src', file), 'utf8'));
    const all = Object.values(byKind)
      .flatMap((byLine) => Object.entries(byLine))
      .flatMap(([lineText, reasons]) =>
        Object.entries(reasons).map(([change, why]) => ({ lineText, change, why, name: `${lineText}: ${change}` })),
      );
    const names = all.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length, file);
    for (const { lineText, change, why, name } of all) {
      assert.ok(texts.includes(lineText), `${file}: ${name}: no such line`);
      assert.ok(change.includes(' -> ') && why.trim() !== '', `${file}: ${name}`);
    }
  }
});
