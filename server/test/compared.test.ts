/**
 * Every reply of an API that a test reads is compared with its declaration: tests call by clients that compare, by `fetchDeclared`
 * or `injectDeclared`, or compare the reply themselves. A plain `fetch` or `inject` of an API's path is found here.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const TESTS = import.meta.dirname;

/** A plain `fetch` with what follows it up to the end of its first argument, or a line. */
const FETCH = /(?<![\w.])fetch\(\s*([^,\n]*)/g;
/** Paths of an API, in the URL or in a variable of the same file. */
const API = /\/(?:operator|partner|sandbox)\/v1|\$\{[^}]*[uU]rl\}\/v1|\/onramp\/|\/offramp\//;

/** Why a plain `fetch` is right there. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'operators/order.test.ts': 'CSV',
  'operators/outside.test.ts': 'CSV',
  'stories/settlement.test.ts': 'CSV',
  'production/upgrade.test.ts': 'the server of another version, which has its own declarations',
  'protocols/operator/attachments.test.ts': 'compares the reply itself; the other one is a file',
  'protocols/operator/people.ts': 'compares each reply itself',
  'protocols/operator/signing.ts': 'compares each reply itself',
};

/** A plain `inject` with its URL, which may be the argument or a field of it. */
const INJECT = /\.inject\(([^;]*)/g;

/** The URLs of plain calls: as they are written, and what a variable was set to anywhere in the file. */
function plain(file: string): string[] {
  const text = readFileSync(join(TESTS, file), 'utf8');
  return [...text.matchAll(FETCH)]
    .flatMap(([, url = '']) => {
      const set = /^(\w+)(?:\)|$)/.exec(url)?.[1];
      if (set === undefined) return [url];
      return [...text.matchAll(new RegExp(`(?:const|let) ${set} =([^;]*);`, 'g'))].map(([, value = '']) => value);
    })
    .concat([...text.matchAll(INJECT)].map(([, asked = '']) => asked))
    .filter((url) => API.test(url));
}

test('no test reads a reply of an API that nobody compares with its declaration', () => {
  const files = globSync('**/*.ts', { cwd: TESTS }).filter((file) => !file.startsWith('support/'));
  assert.ok(files.length > 300, `${files.length} files were looked at`);
  const found = files.filter((file) => file !== 'compared.test.ts' && plain(file).length > 0);
  assert.deepEqual(found.toSorted(), Object.keys(ELSEWHERE).toSorted());
});
