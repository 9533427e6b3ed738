/**
 * A database that was promoted, restored or loaded elsewhere, which nobody has marked: no statement of a server is answered by it
 * before it is recorded, and its payouts are switched off unless the operator has declared that nothing can be missing.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { continueTimeline, markRestored, restoreBackup, takeBackup } from '../../src/backup/index.ts';
import { openVault } from '../../src/base/crypto.ts';
import { type Database, openDatabase } from '../../src/base/db.ts';
import { openLog } from '../../src/base/log.ts';
import { migrateFor } from '../../src/base/migrate.ts';
import { openPooled } from '../../src/base/pooled.ts';
import { startPostgres } from '../../src/base/postgres.ts';
import { readConfig } from '../../src/config.ts';
import { cutOff, killSwitches } from '../../src/partners/index.ts';
import { isOutage } from '../../src/protocols/outage.ts';
import { openPair, type Pair } from '../chaos/pair.ts';
import { freshFolder } from '../support/folder.ts';
import { isLong } from '../support/long.ts';
import { until } from '../support/until.ts';

const log = openLog('fatal');
let pair: Pair;
let url: string;
let db: Database;
const found: string[] = [];

const finds = async (losesNothing = false) => {
  const what = await continueTimeline(pair.adminUrl, { losesNothing, log });
  found.push(what);
  return what;
};
const onOtherTimeline = async () => void (await finds());

before(async () => {
  pair = await openPair(freshFolder('promoted'), { isSynchronous: false, settings: {} });
  url = await migrateFor(pair.adminUrl, openVault(randomBytes(32)));
  db = openDatabase(url, { onOtherTimeline });
  await pair.attach();
});
after(async () => {
  await db?.close();
  await pair?.stop();
});

/** As the owner. */
async function owner<R>(text: string): Promise<R[]> {
  const client = new pg.Client({ connectionString: pair.adminUrl, options: '-c search_path=cloverleaf' });
  await client.connect();
  try {
    return (await client.query(text)).rows as R[];
  } finally {
    await client.end();
  }
}
const stops = async () => (await db.asSystem(killSwitches)).map(({ kind, subject, by }) => `${kind}:${subject} ${by}`);
const marks = async () => (await owner('select from restores')).length;
const lift = () => owner(`delete from kill_switches`);
/** Three transactions on three connections: each holds its own for a moment. */
const several = (from: Database) =>
  Promise.all([1, 2, 3].map(() => from.asSystem((tx) => tx.row('select pg_sleep(0.1)'))));

test('a standby that was promoted and not marked is marked before the first statement, once for all connections', async () => {
  await several(db);
  assert.deepEqual([found, await stops(), await marks()], [[], [], 0], 'the same database was taken for another');
  const [before] = await owner<{ last: string }>('select last_value as last from deposit_indexes');
  await pair.failOver({ behindMs: 0 });
  // Connections to the dead primary fail at their next use.
  for (let n = 0; n < 20; n += 1)
    if (
      await several(db).then(
        () => true,
        () => false,
      )
    )
      break;
  assert.deepEqual(await stops(), ['payouts:all the machine']);
  assert.equal(found.filter((what) => what === 'restored').length, 1, found.join());
  assert.equal(await marks(), 1);
  const [now] = await owner<{ last: string }>('select last_value as last from deposit_indexes');
  assert.ok(Number(now?.last) >= Number(before?.last) + 1_000_000, 'addresses may be given out again');
  assert.equal(await finds(), 'same', 'it is marked at every look');
  await lift();
});

test('declared to lose nothing, a promoted standby goes on, and the audit says why; another cluster does not', async () => {
  await owner('update database_timeline set timeline = 99');
  assert.equal(await finds(true), 'promoted');
  const [row] = await owner<{ operator: string; reason: string }>(
    `select operator, reason from audit where action = 'database.promoted'`,
  );
  assert.match(JSON.stringify(row), /the machine.*DATABASE_FAILOVER=synchronous/);
  assert.deepEqual([await stops(), await marks()], [[], 1]);
  await owner('update database_timeline set cluster = 1');
  assert.equal(await finds(true), 'restored');
  assert.deepEqual([await stops(), await marks()], [['payouts:all the machine'], 2]);
  await lift();
});

test('through a pooler the next transaction finds it, on a connection from before, and runs once', async () => {
  const { port } = new URL(pair.adminUrl);
  const pooled = openPooled(
    { direct: url, pooler: `postgres://127.0.0.1:${port}` },
    { systemConnections: 1, partnerConnections: 1, onOtherTimeline },
  );
  try {
    await pooled.asSystem((tx) => tx.run('select 1'));
    await owner('create table ran (n int)');
    await owner('grant insert on ran to cloverleaf_system');
    await owner('update database_timeline set timeline = 99');
    await pooled.asSystem((tx) => tx.run('insert into ran values (1)'));
    assert.deepEqual([(await owner('select from ran')).length, await marks()], [1, 3]);
    await owner('update database_timeline set timeline = 99');
    assert.deepEqual(await pooled.readOnlyAsPartner(1n, (tx) => tx.rows('select 1 as one')), [{ one: 1 }]);
    assert.equal(await marks(), 4);
  } finally {
    await pooled.close();
  }
});

if (isLong)
  test('two servers that find it at the same moment mark it once', async () => {
    await owner('update database_timeline set timeline = 99');
    assert.deepEqual((await Promise.all([finds(), finds(), finds()])).toSorted(), ['restored', 'same', 'same']);
    assert.equal(await marks(), 5);
  });

test('a mark that fails lets no statement through', async () => {
  await owner('update database_timeline set timeline = 99');
  const refused = openDatabase(url, {
    onOtherTimeline: async () => {
      throw new Error('the owner cannot log in');
    },
  });
  try {
    await assert.rejects(
      refused.asSystem((tx) => tx.run('select 1')),
      /the owner cannot log in/,
    );
    await assert.rejects(
      refused.asPartner(1n, (tx) => tx.run('select 1')),
      /the owner cannot log in/,
    );
  } finally {
    await refused.close();
  }
});

test('the refusal of a suspended partner is not taken for another database', async () => {
  await finds();
  const before = found.length;
  const pooled = openPooled(
    { direct: url, pooler: `postgres://127.0.0.1:${new URL(pair.adminUrl).port}` },
    { onOtherTimeline },
  );
  try {
    for (const from of [db, pooled])
      await assert.rejects(
        from.asSystem((tx) => tx.run(`do $$ begin raise exception 'suspended' using errcode = 'CL001'; end $$`)),
        (error) => cutOff(error)?.code === 'partner_suspended',
      );
    assert.equal(found.length, before);
  } finally {
    await pooled.close();
  }
});

test('what nobody has marked is an outage to callers, and no refusal of theirs', async () => {
  await owner('update database_timeline set timeline = 99');
  const unmarked = openDatabase(url, { onOtherTimeline: async () => {} });
  try {
    await assert.rejects(
      unmarked.asPartner(1n, (tx) => tx.run('select 1')),
      (error) => isOutage(error) && cutOff(error) === undefined,
    );
  } finally {
    await unmarked.close();
    await finds();
  }
});

test('a standby that is not promoted is a read-only database', async () => {
  await pair.attach();
  const at = new URL(url);
  at.port = new URL(pair.standbyUrl()).port;
  const standby = openDatabase(at.href, { onOtherTimeline });
  try {
    await assert.rejects(
      standby.asSystem((tx) => tx.run('select 1')),
      { code: '25006' },
    );
  } finally {
    await standby.close();
  }
});

if (isLong)
  test('an operator and a server that mark it at the same moment do not lock each other out', async () => {
    await owner('update database_timeline set timeline = 99');
    const submission = new pg.Client({ connectionString: pair.adminUrl });
    await submission.connect();
    const wait = (many: number) =>
      until(
        `${many} wait`,
        async () => (await submission.query('select from pg_locks where not granted')).rows.length === many,
        { withinMs: 10_000, everyMs: 20 },
      );
    try {
      await submission.query('select pg_advisory_lock_shared(1937010544)');
      const byOperator = markRestored(pair.adminUrl, { now: new Date() });
      await wait(1);
      const byServer = finds();
      await wait(2);
      await submission.query('select pg_advisory_unlock_all()');
      assert.deepEqual(
        (await Promise.allSettled([byOperator, byServer])).map(({ status }) => status),
        ['fulfilled', 'fulfilled'],
      );
      assert.equal(await byServer, 'same');
    } finally {
      await submission.end();
    }
  });

if (isLong)
  test('a recovery to a point in time is marked whatever is declared, and a restored backup is not marked again', async () => {
    const [dataDir, elsewhere] = [freshFolder('promoted-alone'), freshFolder('promoted-restored')];
    const countOf = async (adminUrl: string) => {
      const client = new pg.Client({ connectionString: adminUrl });
      await client.connect();
      const { rows } = await client.query('select from cloverleaf.restores');
      await client.end();
      return rows.length;
    };
    let postgres = await startPostgres({
      dataDir,
      fast: true,
      settings: { recovery_target_name: 'before the mistake' },
    });
    try {
      await migrateFor(postgres.adminUrl, openVault(randomBytes(32)));
      const client = new pg.Client({ connectionString: postgres.adminUrl });
      await client.connect();
      await client.query('update cloverleaf.database_timeline set timeline = 99');
      await client.end();
      assert.equal(await continueTimeline(postgres.adminUrl, { losesNothing: true, log }), 'restored');
      const { folder } = await takeBackup(
        { adminUrl: postgres.adminUrl, dataDir },
        freshFolder('promoted-backups'),
        new Date(),
      );
      await postgres.stop();
      await restoreBackup({ backup: folder, dataDir: elsewhere, replace: false, now: new Date() });
      postgres = await startPostgres({ dataDir: elsewhere, fast: true });
      assert.equal(await continueTimeline(postgres.adminUrl, { losesNothing: false, log }), 'same');
      assert.equal(await countOf(postgres.adminUrl), 2);
    } finally {
      await postgres.stop();
    }
  });

test('what is declared about standbys is one of two words', () => {
  assert.equal(readConfig({}).databaseFailover, 'any');
  assert.throws(() => readConfig({ DATABASE_FAILOVER: 'yes' }), /DATABASE_FAILOVER must be one of any, synchronous/);
});
