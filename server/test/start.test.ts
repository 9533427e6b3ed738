/** Starting and ending as seen at a terminal: sentences instead of stacks, and no process left. */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { isAlive } from '../src/base/processes.ts';
import { freshFolder } from './support/folder.ts';
import { isLong } from './support/long.ts';
import { collect, run } from './support/process.ts';
import { until } from './support/until.ts';

const ended = (child: ChildProcess) => new Promise<number | null>((done) => child.once('exit', done));

async function refused(env: NodeJS.ProcessEnv): Promise<string> {
  const child = run(['server/src/apps/server.ts'], { PORT: '0', DATA_DIR: freshFolder('start'), ...env });
  const output = collect(child);
  assert.equal(await ended(child), 1);
  // Of the start, its last step; the rest is why it ended.
  return output()
    .replaceAll(/^· .*\n/gm, '')
    .trim();
}

test('a port that is taken is refused by the name of its setting', async () => {
  const other = createServer();
  await new Promise<void>((ready) => other.listen(0, '127.0.0.1', ready));
  const { port } = other.address() as { port: number };
  try {
    const said = await refused({ PORT: String(port) });
    assert.match(said, new RegExp(`^PORT ${port} of 127.0.0.1 is in use by another program.*$`, 'm'));
  } finally {
    other.close();
  }
});

test('an unknown argument is refused, and the message says where settings are', async () => {
  for (const word of ['--port=80', 'port']) {
    const child = run(['server/src/apps/server.ts', word], { DATA_DIR: freshFolder('start') });
    const output = collect(child);
    assert.equal(await ended(child), 1);
    assert.match(output(), /^Unexpected argument '.*'|^Unknown option '--port'/);
    assert.match(output(), /\. Settings are environment variables: npm run config lists them\n$/);
  }
});

test('a database that cannot be used is refused in a sentence, without its password', async () => {
  assert.match(
    await refused({ DATABASE_URL: 'postgres://someone:geheim@127.0.0.1:1/x' }),
    /^DATABASE_URL cannot be used: (?!.*geheim).*$/,
  );
  assert.match(await refused({ DATABASE_URL: 'geheim' }), /^DATABASE_URL must begin with postgres:(?!.*geheim).*$/);
});

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
for (const signal of isLong ? SIGNALS : SIGNALS.slice(0, 1)) {
  test(`a ${signal} in the middle of the start ends all that was started`, async () => {
    const dataDir = freshFolder('start');
    const child = run(['server/src/apps/server.ts'], { PORT: '0', DATA_DIR: dataDir });
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

if (isLong)
  test('a sandbox shows its progress while it starts, and its URL answers with the next steps', async () => {
    const dataDir = freshFolder('start');
    const child = run(['server/src/apps/server.ts'], { PORT: '0', DATA_DIR: dataDir });
    const output = collect(child);
    const end = ended(child);
    await until('it is ready', () => output().includes('Cloverleaf sandbox is ready'), {
      more: output,
      withinMs: 60_000,
    });
    const steps = output()
      .split('\n')
      .filter((line) => line.startsWith('· '));
    assert.deepEqual(steps, [
      '· starting PostgreSQL',
      '· bringing the tables up to date',
      '· starting chains and a bank, deploying test tokens',
      '· making partners, markets and funds',
      '· waiting for first prices',
    ]);
    const sandbox = JSON.parse(readFileSync(join(dataDir, 'sandbox.json'), 'utf8'));
    const get = (accept: string) => fetch(`${sandbox.baseUrl}/`, { headers: { accept } });

    const page = await get('text/html,application/xhtml+xml;q=0.9,*/*;q=0.8');
    const text = await page.text();
    assert.deepEqual([page.status, page.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
    assert.match(page.headers.get('content-security-policy') ?? '', /^default-src 'none'; style-src 'sha256-/);
    for (const part of [
      'npm run demo',
      `href="${sandbox.baseUrl}/readyz"`,
      ...sandbox.partners.map((one: { apiKey: string }) => one.apiKey),
    ])
      assert.ok(text.includes(part), `the page does not say ${part}`);

    const other = await get('*/*');
    assert.deepEqual([other.status, other.headers.get('vary')], [200, 'accept']);
    const shown = (await other.json()) as {
      coins: string;
      readiness: string;
      metrics: string;
      chains: unknown;
      docs: { url: string; file: string }[];
    };
    assert.deepEqual(
      shown.chains,
      sandbox.chains.map(({ code, chainId, rpcUrl }: Record<string, unknown>) => ({ code, chainId, rpcUrl })),
    );
    for (const url of [shown.coins, shown.readiness, shown.metrics]) assert.equal((await fetch(url)).status, 200, url);
    for (const { url, file } of shown.docs) {
      assert.ok(existsSync(file), `${file} is named and is not there`);
      assert.equal((await fetch(url)).status, 200, url);
      assert.ok(text.includes(`href="${url}"`), `the page does not link to ${url}`);
    }
    for (const { apiSecret } of sandbox.partners)
      assert.ok(!text.includes(apiSecret) && !JSON.stringify(shown).includes(apiSecret), 'a secret is shown');

    child.kill('SIGINT');
    assert.equal(await end, 0, output());
  });
