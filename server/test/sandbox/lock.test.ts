/** One server per data folder: refused while the holder lives, taken over when it is dead. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { lockDataDir } from '../../src/base/lock.ts';
import { startOf } from '../../src/base/processes.ts';
import { freshFolder } from '../support/folder.ts';
import { hold } from './holder.ts';

const lockOf = (dataDir: string) => join(dataDir, 'server.lock');

test('a second server on the same data folder is refused, with the holder’s process number', async () => {
  const dataDir = freshFolder('lock');
  const first = await hold('lock', dataDir);
  const second = await hold('lock', dataDir);
  assert.match(String(second.got.error), new RegExp(`process ${first.child.pid}\\b.*DATA_DIR`));
  assert.ok(String(second.got.error).includes(dataDir));
  await first.kill();
});

test('the lock of a server that was killed is taken over without being cleaned up by hand', async () => {
  const dataDir = freshFolder('lock');
  const first = await hold('lock', dataDir);
  await first.kill();
  assert.ok(existsSync(lockOf(dataDir)), 'the lock file is gone after a kill -9');
  lockDataDir(dataDir)();
  assert.ok(!existsSync(lockOf(dataDir)), 'the lock file was not removed');
});

test('a lock whose process number now belongs to another process is stale', () => {
  const dataDir = freshFolder('lock');
  writeFileSync(lockOf(dataDir), JSON.stringify({ pid: process.pid, start: 'another boot:1' }));
  const release = lockDataDir(dataDir);
  assert.deepEqual(JSON.parse(readFileSync(lockOf(dataDir), 'utf8')), {
    pid: process.pid,
    start: startOf(process.pid),
  });
  release();
});

test('a lock file that holds no process is stale', () => {
  const dataDir = freshFolder('lock');
  writeFileSync(lockOf(dataDir), '');
  lockDataDir(dataDir)();
});

test('exactly one of five servers that find a dead server’s lock concurrently gets it', async () => {
  const dataDir = freshFolder('lock');
  await (await hold('lock', dataDir)).kill();
  const holders = await Promise.all(Array.from({ length: 5 }, () => hold('lock', dataDir)));
  const refused = holders.filter(({ got }) => got.error !== undefined);
  assert.equal(refused.length, 4);
  await Promise.all(holders.map(({ kill, child }) => (child.exitCode === null ? kill() : undefined)));
});
