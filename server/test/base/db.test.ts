/** The database's two doors, where PostgreSQL itself is what fails. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { freshGround, type Ground } from '../support/ground.ts';
import { until } from '../support/until.ts';

let ground: Ground;
before(async () => {
  ground = await freshGround();
});
after(() => ground?.stop());

test('a connection that dies in the middle of a transaction fails that transaction and not the process', async () => {
  const admin = new pg.Client(ground.adminUrl);
  await admin.connect();
  const cut = ground.db.asSystem(async (tx) => {
    const row = await tx.row<{ pid: number }>('select pg_backend_pid() as pid');
    await admin.query('select pg_terminate_backend($1)', [row?.pid]);
    // Its end comes while nothing is being asked: nobody but the connection itself can be told.
    const isThere = 'select from pg_stat_activity where pid = $1';
    await until('it is gone', async () => (await admin.query(isThere, [row?.pid])).rowCount === 0);
    return await tx.row('select 1');
  });
  await assert.rejects(cut);
  await admin.end();
  assert.deepEqual(await ground.db.asSystem((tx) => tx.row('select 1 as one')), { one: 1 });
});
