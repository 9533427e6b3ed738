/** Folders of runs: what a killed run left is removed by the next one, also a disk that is still in use below it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { freshFolder } from './folder.ts';
import { folderOfRun } from './memory.ts';

test('a disk that a killed run left mounted, with a file open on it, does not stop the next run', () => {
  const folders = freshFolder('runs of tests');
  const disk = join(folders, String(endedProcess()), 'disk');
  mkdirSync(disk, { recursive: true });
  // A user that may not mount leaves a plain folder.
  spawnSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]);
  const path = join(disk, 'held');
  writeFileSync(path, 'of the killed run');
  const held = openSync(path, 'r');
  try {
    const own = folderOfRun(folders);
    assert.deepEqual(readdirSync(folders), [String(process.pid)], 'the folder of the killed run is still there');
    assert.ok(existsSync(own));
  } finally {
    closeSync(held);
  }
});

const endedProcess = (): number => spawnSync(process.execPath, ['--eval', '']).pid;
