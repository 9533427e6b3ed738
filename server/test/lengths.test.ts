/**
 * No file of ours has more than 500 lines, and no function more than 120, unless its header says "Long because …".
 *
 * Functions are found by the indentation that the formatter gives them. A `describe` groups tests and counts as none.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FILE_LINES = 500;
const FUNCTION_LINES = 120;
const REASON = 'Long because ';

const sources = globSync(['{server,sdk,console,bench,scripts}/**/*.{ts,tsx,mjs}'], {
  cwd: ROOT,
  exclude: (path) => /(?:^|\/)(?:node_modules|dist[^/]*|generated)$/.test(path),
}).toSorted();

const STARTS = /(?:\bfunction\b.*|=>|\)(?:: [^=]+)?) \{$/;
const IS_NONE = /^\s*(?:\}? ?(?:if|for|while|switch|catch|else|do|try)\b)|\bdescribe\(/;

interface Long {
  line: number;
  lines: number;
}

/** Functions of a formatted source that are longer than allowed. */
function longFunctions(text: string): Long[] {
  const lines = text.split('\n');
  return lines.flatMap((line, at) => {
    if (!STARTS.test(line) || IS_NONE.test(line)) return [];
    const indent = /^ */.exec(line)?.[0] ?? '';
    const end = lines.findIndex((other, n) => n > at && other.startsWith(`${indent}}`));
    const length = end - at + 1;
    return length > FUNCTION_LINES ? [{ line: at + 1, lines: length }] : [];
  });
}

const headerOf = (text: string): string => /\/\*\*[\s\S]*?\*\//.exec(text)?.[0].replaceAll(/\s+\* /g, ' ') ?? '';

test('a long file or function says in its header why', () => {
  assert.ok(sources.length > 900, `${sources.length} sources were found`);
  const without: string[] = [];
  for (const path of sources) {
    const text = readFileSync(join(ROOT, path), 'utf8');
    if (headerOf(text).includes(REASON)) continue;
    const lines = text.trimEnd().split('\n').length;
    if (lines > FILE_LINES) without.push(`${path}: ${lines} lines`);
    without.push(...longFunctions(text).map((one) => `${path}:${one.line}: a function of ${one.lines} lines`));
  }
  assert.deepEqual(without, []);
});

test('a long function is found in each of its spellings', () => {
  const body = '  one();\n'.repeat(FUNCTION_LINES);
  for (const head of ['function one() {', 'const one = async (a: string) => {', '): Promise<void> {', 'async one(a) {'])
    assert.equal(longFunctions(`${head}\n${body}}\n`).length, 1, head);
  for (const head of ["describe('it', () => {", 'if (is) {', 'for (const one of all) {', 'export const ALL = {'])
    assert.deepEqual(longFunctions(`${head}\n${body}}\n`), [], head);
});
