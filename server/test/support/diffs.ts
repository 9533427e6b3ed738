/**
 * Applies the diffs in documents: new files as a whole, and changes where their context occurs exactly once. A document whose
 * context is no longer in the sources fails here by name.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** @returns the files that were made or changed */
export function applyDiffs(markdown: string, root: string): string[] {
  const blocks = [...markdown.matchAll(/^```diff\n([^]*?)^```$/gm)].map(([, text = '']) => text);
  return blocks.flatMap((text) =>
    text
      .split(/^(?=--- )/m)
      .filter((part) => part.startsWith('--- '))
      .map((part) => applyTo(part, root)),
  );
}

function applyTo(part: string, root: string): string {
  const [from = '', to = '', ...lines] = part.trimEnd().split('\n');
  const path = to.replace(/^\+\+\+ b\//, '');
  const file = join(root, path);
  const hunks = lines
    .join('\n')
    .split(/^@@.*\n?/m)
    .slice(1)
    .map((hunk) => hunk.replace(/\n$/, '').split('\n'));
  const side = (hunk: readonly string[], signs: string) =>
    hunk.filter((line) => signs.includes(line[0] ?? ' ')).map((line) => `${line.slice(1)}\n`);
  if (from === '--- /dev/null') {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, hunks.flatMap((hunk) => side(hunk, '+')).join(''), { flag: 'wx' });
    return path;
  }
  let text = readFileSync(file, 'utf8');
  for (const hunk of hunks) {
    const before = side(hunk, ' -').join('');
    assert.equal(text.split(before).length, 2, `${path} does not have these lines exactly once:\n${before}`);
    text = text.replace(before, () => side(hunk, ' +').join(''));
  }
  writeFileSync(file, text);
  return path;
}
