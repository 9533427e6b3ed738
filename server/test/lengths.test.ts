/**
 * No file of ours has more than 500 lines, unless its header says "Long because …", and no function more than 120, unless the comment
 * above it says so. The reason of a file does not count for its functions, and a reason that is no longer needed is removed.
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
const REASON = /Long because [^…]/;

const sources = globSync(['{server,sdk,console,bench,scripts}/**/*.{ts,tsx,mjs,js,css}'], {
  cwd: ROOT,
  // public/ has copies of a library.
  exclude: (path) => /(?:^|\/)(?:node_modules|dist[^/]*|generated|vendor|public)$/.test(path),
}).toSorted();

/** A body of statements, or of one object. */
const STARTS = /(?:\bfunction\b.*|=>|\)(?:: [^=]+)?) (\(?)\{$/;
const IS_NONE = /^\s*(?:\}? ?(?:if|for|while|switch|catch|else|do|try)\b)|\bdescribe\(/;

interface Long {
  line: number;
  lines: number;
  isExplained: boolean;
}

/** The comment directly above the declaration whose body begins in this line; empty if there is none. */
function commentAbove(lines: readonly string[], at: number, indent: string): string {
  const first = lines.slice(0, at + 1).findLastIndex((line) => new RegExp(`^${indent}[^\\s)}\\]]`).test(line));
  const above = lines.slice(0, first);
  const comment = above.findLastIndex((line) => !/^\s*(?:\/\/|\/?\*)/.test(line)) + 1;
  return above.slice(comment).join('\n');
}

/** Functions of a formatted source that are longer than allowed. */
function longFunctions(text: string): Long[] {
  const lines = text.split('\n');
  return lines.flatMap((line, at) => {
    const started = STARTS.exec(line);
    if (started === null || IS_NONE.test(line)) return [];
    const close = started[1] === '(' ? '})' : '}';
    const indent = /^ */.exec(line)?.[0] ?? '';
    const end = lines.findIndex((other, n) => n > at && other.startsWith(`${indent}${close}`));
    const length = end - at + 1;
    const isExplained = REASON.test(commentAbove(lines, at, indent));
    return length > FUNCTION_LINES ? [{ line: at + 1, lines: length, isExplained }] : [];
  });
}

const headerOf = (text: string): string => /^\/\*[\s\S]*?\*\//.exec(text)?.[0].replaceAll(/\s+\* /g, ' ') ?? '';

test('a long file says in its header why, and a long function in the comment above it', () => {
  assert.ok(sources.length > 900, `${sources.length} sources were found`);
  const wrong: string[] = [];
  for (const path of sources) {
    const text = readFileSync(join(ROOT, path), 'utf8');
    const lines = text.trimEnd().split('\n').length;
    const isExplained = REASON.test(headerOf(text));
    if (lines > FILE_LINES && !isExplained) wrong.push(`${path}: ${lines} lines`);
    if (lines <= FILE_LINES && isExplained) wrong.push(`${path}: has a reason, but only ${lines} lines`);
    for (const one of longFunctions(text))
      if (!one.isExplained) wrong.push(`${path}:${one.line}: a function of ${one.lines} lines`);
  }
  assert.deepEqual(wrong, []);
});

test('the reason of a function stands directly above it', () => {
  const long = `function one(\n  a: string,\n): void {\n${'  two();\n'.repeat(FUNCTION_LINES)}}\n`;
  const isExplained = (text: string): boolean | undefined => longFunctions(text)[0]?.isExplained;
  const why = 'Long because it is one table.';
  assert.equal(isExplained(`// ${why}\n${long}`), true);
  assert.equal(isExplained(`const a = 1;\n/**\n * One.\n *\n * ${why}\n */\n${long}`), true);
  assert.equal(isExplained(`/** ${why} */\nimport { a } from 'b';\n\n${long}`), false);
  assert.equal(isExplained(`/** ${why} */\n\n${long}`), false, 'a header is none');
  assert.equal(isExplained(long), false);
});

test('a long function is found in each of its spellings', () => {
  const body = '  one();\n'.repeat(FUNCTION_LINES);
  for (const head of ['function one() {', 'const one = async (a: string) => {', '): Promise<void> {', 'async one(a) {'])
    assert.equal(longFunctions(`${head}\n${body}}\n`).length, 1, head);
  for (const head of ["describe('it', () => {", 'if (is) {', 'for (const one of all) {', 'export const ALL = {'])
    assert.deepEqual(longFunctions(`${head}\n${body}}\n`), [], head);
  for (const head of ['const one = (a: string) => ({', '  read: () => ({'])
    assert.equal(
      longFunctions(`${head}\n${'    a: 1,\n'.repeat(FUNCTION_LINES)}${/^ */.exec(head)?.[0]}})\n`).length,
      1,
      head,
    );
});
