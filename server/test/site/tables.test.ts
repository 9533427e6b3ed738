/**
 * The tables and pictures of docs/site/ match the code, and each of them is on a page.
 *
 * `UPDATE_DOCS=1 npm test -- server/test/site/tables.test.ts` writes them again.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { picture } from './pictures.ts';
import { TABLES, withTables } from './tables.ts';

const docs = join(import.meta.dirname, '../../../docs/site');
const files = globSync('**/*.md', { cwd: docs }).toSorted();

for (const file of files)
  test(`docs/site/${file} has the tables that the code makes`, () => {
    const path = join(docs, file);
    const text = readFileSync(path, 'utf8');
    const made = withTables(text);
    if (process.env.UPDATE_DOCS === '1') writeFileSync(path, made);
    else assert.equal(text, made, `${file} is stale: UPDATE_DOCS=1 npm test -- server/test/site/tables.test.ts`);
  });

test('every table is on a page', () => {
  const all = files.map((file) => readFileSync(join(docs, file), 'utf8')).join('\n');
  for (const name of Object.keys(TABLES)) assert.ok(all.includes(`<!-- table: ${name} -->`), `${name} is on no page`);
});

for (const [name, direction] of [
  ['selling', 'offramp'],
  ['buying', 'onramp'],
] as const)
  test(`the picture of ${name} has the states and ways of the machine`, () => {
    const path = join(docs, `pictures/${name}.svg`);
    const made = picture(direction);
    if (process.env.UPDATE_DOCS === '1') writeFileSync(path, made);
    else
      assert.equal(
        readFileSync(path, 'utf8'),
        made,
        `stale: UPDATE_DOCS=1 npm test -- server/test/site/tables.test.ts`,
      );
    assert.match(
      readFileSync(join(docs, `${name}.md`), 'utf8'),
      new RegExp(`!\\[[^\\]]{20,}\\]\\(pictures/${name}\\.svg\\)`),
    );
  });
