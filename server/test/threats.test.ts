/** The threat model names tests; a missing or renamed test is a threat that is not tested. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const text = readFileSync(new URL('../../docs/threat-model.md', import.meta.url), 'utf8');
const rows = text.split('\n').filter((line) => line.startsWith('| ') && !/^\| (---|Threat )/.test(line));

test('the threat model has threats', () => assert.ok(rows.length > 25, `${rows.length}`));

for (const row of rows) {
  const [, threat = '', , tried = ''] = row.split('|').map((cell) => cell.trim());
  test(`tried: ${threat}`, () => {
    if (tried === 'none') return;
    let file = '';
    let cited = 0;
    for (const [, path, words] of tried.matchAll(/`([\w./-]+\.test\.ts)`|"([^"]+)"/g)) {
      if (path !== undefined) {
        const url = new URL(path, import.meta.url);
        assert.ok(existsSync(url), `${path} is there`);
        file = readFileSync(url, 'utf8');
        cited += 1;
      } else assert.ok(file.includes(words ?? ''), `a test says "${words}"`);
    }
    assert.ok(cited > 0, 'the row names no test file');
  });
}
