/** The steps of `npm start` before any program runs: it installs, shows progress, and prints npm's message on failure. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freshFolder } from './support/folder.ts';
import { collect } from './support/process.ts';
import { until } from './support/until.ts';

const RUN = fileURLToPath(new URL('../../scripts/run.mjs', import.meta.url));

/** A clone with two packages to install, and an npm that runs `script`. */
function clone(script: string) {
  const root = freshFolder('install');
  mkdirSync(join(root, 'scripts'));
  // Outside the clone, whose own programs are ignored while it is being installed.
  const bin = freshFolder('install-bin');
  copyFileSync(RUN, join(root, 'scripts/run.mjs'));
  const packages = { '': {}, 'node_modules/one': { version: '1.0.0' }, 'node_modules/two': { version: '1.0.0' } };
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages }));
  writeFileSync(join(root, 'hello.mjs'), `console.log('it runs');`);
  // The target folder is this one, whichever npm runs.
  writeFileSync(join(root, 'package.json'), '{}');
  const npm = join(bin, 'npm');
  writeFileSync(npm, `#!/bin/sh\n${script}\n`);
  chmodSync(npm, 0o755);
  const child = spawn(process.execPath, ['scripts/run.mjs', 'hello.mjs'], {
    cwd: root,
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((done) => child.once('close', done));
  return { root, output: collect(child), ended };
}

test('an installation shows its progress, and then the file runs', async () => {
  const { root, output, ended } = clone(`mkdir -p node_modules/one
echo '{}' > node_modules/one/package.json
while [ ! -e goes-on ]; do sleep 0.05; done
mkdir -p node_modules/two
echo '{}' > node_modules/two/package.json`);
  await until('it tells', () => output().includes('1 of up to 2 packages'), { more: output });
  writeFileSync(join(root, 'goes-on'), '');
  assert.equal(await ended, 0, output());
  assert.match(output(), /^cloverleaf: installing dependencies/);
  assert.match(output(), /^cloverleaf: 1 of up to 2 packages, \d+ s$/m);
  assert.match(output(), /^cloverleaf: installed in \d+ s\nit runs$/m);
  assert.ok(existsSync(join(root, 'node_modules/.cloverleaf-installed')));
  assert.ok(!existsSync(join(root, '.install.lock')), 'the lock stayed');
});

test('a failed installation shows npm’s message, and nothing runs', async () => {
  const { root, output, ended } = clone('echo "no such registry" >&2; exit 7');
  assert.equal(await ended, 1);
  assert.match(output(), /no such registry\n/);
  assert.match(output(), /cloverleaf: npm ci failed; what it said is above/);
  assert.ok(!output().includes('it runs'));
  assert.ok(!existsSync(join(root, 'node_modules/.cloverleaf-installed')), 'it would not be tried again');
});
