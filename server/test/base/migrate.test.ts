/** Who may start on a database: the installation that set it up, even if it was killed at any moment. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, mock, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import pg from 'pg';
import { type Database, openDatabase } from '../../src/base/db.ts';
import { knownMigrations, migrate } from '../../src/base/migrate.ts';
import { startPostgres } from '../../src/base/postgres.ts';
import { joinServers } from '../../src/base/servers.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { freshFolder } from '../support/folder.ts';

let database: FreshDatabase;
before(async () => {
  database = await freshDatabase({ isEmpty: true });
});
after(() => database?.drop());

async function canWork(url: string): Promise<boolean> {
  const db = openDatabase(url);
  try {
    return (await db.asSystem((tx) => tx.row('select from jobs'))) === undefined;
  } finally {
    await db.close();
  }
}

test('a server with another master key is refused, and the one that was there works on', async () => {
  const url = await migrate(database.adminUrl, 'of the first key');
  await assert.rejects(migrate(database.adminUrl, 'of another key'), { name: 'SettingError' });
  assert.equal(await canWork(url), true);
  assert.equal(await migrate(database.adminUrl, 'of the first key'), url);
});

test('a login made by a server that was killed before it had its rights gets them at the next start', async () => {
  const url = await migrate(database.adminUrl, 'of the first key');
  const admin = new pg.Client(database.adminUrl);
  await admin.connect();
  const login = decodeURIComponent(new URL(url).username);
  await admin.query(`revoke cloverleaf_partner, cloverleaf_system from ${pg.escapeIdentifier(login)}`);
  await admin.end();
  await assert.rejects(canWork(url));
  assert.equal(await canWork(await migrate(database.adminUrl, 'of the first key')), true);
});

test('databases of one new cluster may be migrated at once: the roles they share are made once', async () => {
  const own = await startPostgres({ dataDir: freshFolder('roles'), fast: true });
  try {
    const names = ['one', 'two', 'three', 'four'];
    const admin = new pg.Client({ connectionString: own.adminUrl });
    await admin.connect();
    for (const name of names) await admin.query(`create database ${name}`);
    await admin.end();
    const urls = names.map((name) => Object.assign(new URL(own.adminUrl), { pathname: `/${name}` }).href);
    const migrated = await Promise.all(urls.map((url) => migrate(url, 'a password')));
    assert.equal(new Set(migrated).size, names.length);
  } finally {
    await own.stop();
  }
});

test('files are numbered from 0001 without gaps', async () => {
  const names = await knownMigrations();
  assert.deepEqual(
    names.map((name) => name.slice(0, 5)),
    names.map((_, at) => `${String(at + 1).padStart(4, '0')}_`),
  );
});

test('a file that is there is never changed: each has the hash that SHA256SUMS keeps of it', async () => {
  const folder = new URL('../../migrations/', import.meta.url);
  const names = await knownMigrations();
  const sums = names.map((name) => {
    const sum = createHash('sha256')
      .update(readFileSync(new URL(name, folder)))
      .digest('hex');
    return `${sum}  ${name}`;
  });
  assert.deepEqual(readFileSync(new URL('SHA256SUMS', folder), 'utf8').trimEnd().split('\n'), sums);
});

test('a database of a development version before the first release is refused with a sentence that says what to do', async () => {
  const own = await freshDatabase({ isEmpty: true });
  const admin = new pg.Client({ connectionString: own.adminUrl });
  try {
    await admin.connect();
    await migrate(own.adminUrl, 'of the first key');
    await admin.query("update cloverleaf_meta.migrations set name = '0001_ground.sql' where name like '0001%'");
    await assert.rejects(migrate(own.adminUrl, 'of the first key'), {
      name: 'SettingError',
      message: /development version before 0\.1\.0.*empty database/,
    });
  } finally {
    await admin.end();
    await own.drop();
  }
});

/** The migrations of a later version: ours and one more. */
function laterVersion(name: string, sql: string): URL {
  const folder = freshFolder('migrations');
  cpSync(fileURLToPath(new URL('../../migrations/', import.meta.url)), folder, { recursive: true });
  writeFileSync(join(folder, name), sql);
  return pathToFileURL(`${folder}/`);
}

async function withServer(
  adminUrl: string,
  body: (told: { outdated: Promise<Error>; leave: () => Promise<void> }) => Promise<void>,
): Promise<void> {
  const db = openDatabase(await migrate(adminUrl, 'of the first key'));
  try {
    const { promise: outdated, resolve: onOutdated } = Promise.withResolvers<Error>();
    const { leave } = await joinServers(db, { version: '1.0.0', onOutdated, everyMs: 20 });
    await body({ outdated, leave });
    await leave();
  } finally {
    await db.close();
  }
}

test('a migration that only adds is made beside running servers, and the older code starts again after it', async () => {
  const own = await freshDatabase({ isEmpty: true });
  try {
    await withServer(own.adminUrl, async () => {
      const later = laterVersion('9001_more.sql', 'alter table cloverleaf.jobs add column later text;');
      await migrate(own.adminUrl, 'of the first key', later);
      assert.equal(await canWork(await migrate(own.adminUrl, 'of the first key')), true);
    });
  } finally {
    await own.drop();
  }
});

test('a breaking migration waits until no server runs that does not know it; then older code refuses to start', async () => {
  const own = await freshDatabase({ isEmpty: true });
  const later = laterVersion(
    '9002_less.sql',
    '-- Breaking: work is elsewhere\nalter table cloverleaf.jobs rename to chores;',
  );
  try {
    await withServer(own.adminUrl, async () => {
      await assert.rejects(migrate(own.adminUrl, 'of the first key', later), {
        name: 'SettingError',
        message: /9002_less\.sql is breaking \(work is elsewhere\).*1 of version 1\.0\.0/,
      });
    });
    await migrate(own.adminUrl, 'of the first key', later);
    await assert.rejects(migrate(own.adminUrl, 'of the first key'), {
      name: 'SettingError',
      message: /newer version.*9002_less\.sql: work is elsewhere/,
    });
  } finally {
    await own.drop();
  }
});

test('a server that has left is not reported again by a report that was late', async () => {
  const own = await freshDatabase();
  const db = openDatabase(await migrate(own.adminUrl, 'of the first key'));
  const late: (() => void)[] = [];
  let isSlow = false;
  const slow: Pick<Database, 'asSystem'> = {
    asSystem: async (body) => {
      if (isSlow) await new Promise<void>((go) => late.push(go));
      return await db.asSystem(body);
    },
  };
  mock.timers.enable({ apis: ['setInterval'] });
  try {
    const place = await joinServers(slow, { version: '1.0.0', onOutdated: () => {}, everyMs: 20 });
    isSlow = true;
    for (let at = 0; at < 3; at += 1) mock.timers.tick(20);
    isSlow = false;
    assert.equal(late.length, 1, 'two reports ran at the same time');
    const left = place.leave();
    late[0]?.();
    await left;
    assert.deepEqual(await db.asSystem((tx) => tx.rows('select id from servers')), []);
  } finally {
    mock.timers.reset();
    await db.close();
    await own.drop();
  }
});

test('a server that slept through a breaking migration stops at its next look', async () => {
  const own = await freshDatabase({ isEmpty: true });
  const later = laterVersion(
    '9003_less.sql',
    '-- Breaking: nothing may be leased\nalter table cloverleaf.jobs drop column lease;',
  );
  try {
    await withServer(own.adminUrl, async ({ outdated }) => {
      // Like a server frozen for longer than the timeout: it is not counted when the other checks.
      const admin = new pg.Client(own.adminUrl);
      await admin.connect();
      await admin.query('begin');
      await admin.query("update cloverleaf.servers set known = known || '9003_less.sql'::text");
      await admin.query('commit');
      await admin.end();
      await migrate(own.adminUrl, 'of the first key', later);
      assert.match((await outdated).message, /9003_less\.sql: nothing may be leased/);
    });
  } finally {
    await own.drop();
  }
});

test('rules about money and terms still hold for the actions that got a right of their own', async () => {
  const own = await freshDatabase();
  const admin = new pg.Client(own.adminUrl);
  await admin.connect();
  try {
    await admin.query('set search_path = cloverleaf');
    const rule = (action: string, right: string, asset: string, above: number, people: number) =>
      admin.query(
        'insert into people_rules (action, for_right, asset, above_units, people) values ($1, $2, $3, $4, $5)',
        [...[action, right, asset, above, people]],
      );
    await rule('*', 'money', 'inr', 100, 2);
    await rule('break.correct', 'money', '*', 0, 3);
    await rule('entry.correct', 'money', 'inr', 5, 3);
    await rule('order.*', 'money', '*', 0, 3);
    await rule('*', 'terms', '*', 0, 1);
    await rule('fee.set', 'terms', '*', 0, 3);
    for (const name of ['0052_desk_roles.sql', '0053_correction_rules.sql'])
      await admin.query(readFileSync(new URL(`../../migrations/${name}`, import.meta.url), 'utf8'));
    const { rows } = await admin.query({
      text: `select action, for_right, asset, above_units::int, people from people_rules
        where for_right in ('treasury', 'compliance') order by for_right, action`,
      rowMode: 'array',
    });
    assert.deepEqual(rows, [
      ['*', 'compliance', '*', 0, 1],
      ['*', 'treasury', 'inr', 100, 2],
      ['break.correct', 'treasury', '*', 0, 3],
      ['entry.correct', 'treasury', 'inr', 5, 3],
    ]);
  } finally {
    await admin.end();
    await own.drop();
  }
});

test('renamed reasons and actions are mapped where rows may change, and a rule holds under the new name', async () => {
  const own = await freshDatabase();
  const admin = new pg.Client(own.adminUrl);
  await admin.connect();
  const all = async (text: string) => (await admin.query({ text, rowMode: 'array' })).rows;
  try {
    // Rows without those that they refer to.
    await admin.query(`set search_path = cloverleaf; set session_replication_role = replica`);
    await admin.query(`insert into payouts (id, order_id, partner_id, purpose, attempt, rail, asset, units, address, state, why, created_at)
      select 'ord_' || n, n, 1, 'payout', 1, 'bank.manual', 'inr', 1, '', 'rejected', why, now()
        from unnest(array['refused_by_payee (MS02)', 'refused_by_bank', 'refused_by_bankers', null]) with ordinality t (why, n)`);
    await admin.query(`insert into people_rules (action, for_right, asset, above_units, people, roles)
      values ('bank.hand_out_file', 'treasury', 'inr', 5, 2, '{finance}')`);
    await admin.query(`insert into proposals (action, subject, input, reason, proposed_by, proposed_at, expires_at, state)
      select 'bank.hand_out_file', 'bank.manual:1', '{}', 'asked', 1, now(), now(), state
        from unnest(array['open', 'expired']) state`);
    await admin.query('set session_replication_role = origin');
    const file = new URL('../../migrations/0083_words_of_rejections.sql', import.meta.url);
    await admin.query(readFileSync(file, 'utf8'));
    assert.deepEqual(await all('select why from payouts order by order_id'), [
      ['rejected_by_payee (MS02)'],
      ['rejected_by_bank'],
      ['refused_by_bankers'],
      [null],
    ]);
    assert.deepEqual(
      await all('select action, above_units::int, people, roles from people_rules order by action'),
      ['bank.download_file', 'bank.hand_out_file'].map((action) => [action, 5, 2, ['finance']]),
    );
    const ended = new URL('../../migrations/0086_rule_of_a_renamed_action.sql', import.meta.url);
    await admin.query(readFileSync(ended, 'utf8'));
    assert.deepEqual(await all('select action from people_rules'), [['bank.download_file']]);
    assert.deepEqual(await all('select action, state from proposals order by state'), [
      ['bank.hand_out_file', 'expired'],
      ['bank.download_file', 'open'],
    ]);
  } finally {
    await admin.end();
    await own.drop();
  }
});
