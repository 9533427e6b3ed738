/** Starting and ending as a person at a terminal sees it: sentences instead of stacks, and nothing left running. */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { isAlive } from '../src/base/processes.ts';
import { freshFolder } from './support/folder.ts';
import { collect, run } from './support/process.ts';
import { until } from './support/until.ts';

const ended = (child: ChildProcess) => new Promise<number | null>((done) => child.once('exit', done));

async function refused(env: NodeJS.ProcessEnv): Promise<string> {
  const child = run(['server/src/main.ts'], { PORT: '0', DATA_DIR: freshFolder('start'), ...env });
  const output = collect(child);
  assert.equal(await ended(child), 1);
  return output().trim();
}

test('a port that is taken is refused by the name of its setting', async () => {
  const other = createServer();
  await new Promise<void>((ready) => other.listen(0, '127.0.0.1', ready));
  const { port } = other.address() as { port: number };
  const said = await refused({ PORT: String(port) });
  assert.match(said, new RegExp(`^PORT ${port} of 127.0.0.1 is taken.*$`));
  other.close();
});

test('a database that cannot be used is refused in a sentence, without its password', async () => {
  assert.match(
    await refused({ DATABASE_URL: 'postgres://someone:geheim@127.0.0.1:1/x' }),
    /^DATABASE_URL cannot be used: (?!.*geheim).*$/,
  );
  assert.match(await refused({ DATABASE_URL: 'geheim' }), /^DATABASE_URL must begin with postgres:(?!.*geheim).*$/);
});

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  test(`a ${signal} in the middle of the start ends all that was started`, async () => {
    const dataDir = freshFolder('start');
    const child = run(['server/src/main.ts'], { PORT: '0', DATA_DIR: dataDir });
    const output = collect(child);
    const end = ended(child);
    const note = join(dataDir, 'chains', 'erc20', 'node.json');
    await until('the node is noted', () => existsSync(note), { more: output });
    const { pid } = JSON.parse(readFileSync(note, 'utf8')) as { pid: number };
    child.kill(signal);
    assert.equal(await end, 0, output());
    assert.ok(!isAlive(pid), 'the node');
    assert.ok(!existsSync(join(dataDir, 'server.lock')), 'the lock');
    assert.ok(!existsSync(join(dataDir, 'postgres', 'postmaster.pid')), 'the database');
  });
}
