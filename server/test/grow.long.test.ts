/** A grown database: its copies are orders that the books agree with. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { freshFolder } from './support/folder.ts';
import { processesOf } from './support/leftbehind.ts';

const ROOT = resolve(import.meta.dirname, '../..');

const runs = (dataDir: string, program: string, ...args: string[]) =>
  promisify(execFile)(process.execPath, [join(ROOT, program), ...args], {
    cwd: ROOT,
    env: { ...process.env, DATA_DIR: dataDir },
  });

test('orders are copied with every row they have, and the journal of the copies verifies', {
  timeout: 600_000,
}, async () => {
  const dataDir = freshFolder('grown');
  const grown = await runs(
    dataDir,
    'bench/grow/main.ts',
    '--orders',
    '200',
    '--customers',
    '40',
    '--data-dir',
    dataDir,
  );
  assert.match(grown.stdout, /200 orders: \d+ MB/);
  const verified = await runs(dataDir, 'server/src/apps/reconcile.ts', 'verify-ledger');
  assert.match(verified.stdout, /\d+ entries/);
  assert.deepEqual(processesOf(dataDir), []);
});
