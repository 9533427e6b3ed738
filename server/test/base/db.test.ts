/** The database's two pools, when PostgreSQL itself fails. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { sendAll } from '../../src/base/batch.ts';
import { awaitAll, Collision, type Connections, pools } from '../../src/base/db.ts';
import { randomHex } from '../../src/base/ids.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { until } from '../support/until.ts';

let fixture: Fixture;
before(async () => {
  fixture = await freshFixture();
});
after(() => fixture?.stop());

test('a connection that dies in the middle of a transaction fails that transaction and not the process', async () => {
  const admin = new pg.Client(fixture.adminUrl);
  await admin.connect();
  const cut = fixture.db.asSystem(async (tx) => {
    const row = await tx.row<{ pid: number }>('select pg_backend_pid() as pid');
    await admin.query('select pg_terminate_backend($1)', [row?.pid]);
    // It ends while idle: only the connection itself can be notified.
    const isThere = 'select from pg_stat_activity where pid = $1';
    await until('it is gone', async () => (await admin.query(isThere, [row?.pid])).rowCount === 0);
    return await tx.row('select 1');
  });
  await assert.rejects(cut);
  await admin.end();
  assert.deepEqual(await fixture.db.asSystem((tx) => tx.row('select 1 as one')), { one: 1 });
});

test('PostgreSQL ending a session between its last answer and being ready fails the query, and not the process', async () => {
  const client = new pg.Client(fixture.adminUrl);
  client.on('error', () => {});
  await client.connect();
  // Reported by the client's own connection, between an administrator's messages.
  const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
  const why = Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' });
  connection.once('commandComplete', () => connection.emit('errorMessage', why));
  await assert.rejects(sendAll(client, [{ text: 'select 1 as one' }]), why);
  await client.end();
});

/** A table of the test's own, which both roles may use. */
async function newTable(): Promise<string> {
  const admin = new pg.Client(fixture.adminUrl);
  await admin.connect();
  const table = `cloverleaf.tried_${randomHex(4)}`;
  await admin.query(`create table ${table} (id int primary key, said text)`);
  await admin.query(`grant all on ${table} to cloverleaf_partner, cloverleaf_system`);
  await admin.end();
  return table;
}
const idsIn = async (table: string): Promise<number[]> =>
  (await fixture.db.asSystem((tx) => tx.rows<{ id: number }>(`select id from ${table} order by id`))).map(
    ({ id }) => id,
  );

describe('work outside of a transaction', () => {
  test('runs with nothing of it open, once for what it was given, and the body runs again with its result', async () => {
    const table = await newTable();
    const works: number[][] = [];
    const work = (n: number) => async () => {
      works.push([n, ...(await idsIn(table))]);
      // Another transaction gets the row that the body had locked.
      await fixture.db.asSystem((tx) => tx.run(`insert into ${table} values (1, 'other') on conflict do nothing`));
      return n * 10;
    };
    let bodies = 0;
    const results = await fixture.db.asSystem(async (tx) => {
      bodies += 1;
      await tx.run(`insert into ${table} values (1, 'mine') on conflict do nothing`);
      await tx.run(`insert into ${table} values (2, 'mine')`);
      return [await tx.outside('one', work(1)), await tx.outside('two', work(2)), await tx.outside('one', work(3))];
    });
    assert.deepEqual([results, bodies], [[10, 20, 10], 3]);
    assert.deepEqual(works, [[1], [2, 1]]);
    assert.deepEqual(await idsIn(table), [1, 2]);
  });

  test('that fails is the transaction’s failure; work that differs in each attempt ends it; a read does it at once', async () => {
    const table = await newTable();
    const failing = fixture.db.asSystem(async (tx) => {
      await tx.run(`insert into ${table} values (1)`);
      await tx.outside('fails', async () => assert.fail('no thread starts'));
    });
    await assert.rejects(failing, /no thread starts/);
    let n = 0;
    const endless = fixture.db.asSystem((tx) => tx.outside(String((n += 1)), async () => n));
    await assert.rejects(endless, /other work in each attempt/);
    assert.equal(n, 21);
    assert.deepEqual(await idsIn(table), []);
    assert.equal(await fixture.db.readOnlyAsPartner(1n, (tx) => tx.outside('reads', async () => 'read')), 'read');
  });
});

describe('a statement sent ahead', () => {
  test('is visible to later statements, and is committed even without any', async () => {
    const table = await newTable();
    const seen = await fixture.db.asSystem(async (tx) => {
      tx.defer(`insert into ${table} values ($1, 'first')`, [1]);
      return await tx.rows(`select id, said from ${table}`);
    });
    assert.deepEqual(seen, [{ id: 1, said: 'first' }]);
    await fixture.db.asSystem((tx) => tx.defer(`insert into ${table} values ($1, 'first')`, [2]));
    assert.deepEqual(await idsIn(table), [1, 2]);
  });

  test('fails the transaction with PostgreSQL’s error, and neither the commit nor a later statement takes effect', async () => {
    const table = await newTable();
    const taken = { code: '23505' };
    const alone = fixture.db.asSystem((tx) => {
      for (const id of [1, 2, 1, 3]) tx.defer(`insert into ${table} values ($1)`, [id]);
    });
    await assert.rejects(alone, taken);
    const asked = fixture.db.asSystem(async (tx) => {
      for (const id of [1, 1]) tx.defer(`insert into ${table} values ($1)`, [id]);
      await tx.run(`insert into ${table} values (3)`);
    });
    await assert.rejects(asked, taken);
    assert.deepEqual(await idsIn(table), []);
  });

  test('is not sent when one of its values cannot be encoded, nor is the commit', async () => {
    const table = await newTable();
    const circle: Record<string, unknown> = {};
    circle.own = circle;
    const cut = fixture.db.asSystem((tx) => {
      tx.defer(`insert into ${table} values ($1)`, [1]);
      tx.defer(`insert into ${table} values (2, $1::jsonb::text)`, [circle]);
    });
    await assert.rejects(cut, TypeError);
    assert.deepEqual(await idsIn(table), []);
  });

  test('is not sent when the body fails', async () => {
    const table = await newTable();
    const failed = fixture.db.asSystem((tx) => {
      tx.defer(`insert into ${table} values (1)`);
      throw new Error('changed my mind');
    });
    await assert.rejects(failed, /changed my mind/);
    assert.deepEqual(await idsIn(table), []);
  });

  test('is refused when no later message would send it, and a finished transaction accepts no statement', async () => {
    await assert.rejects(
      fixture.db.readOnlyAsPartner(1n, (tx) => tx.defer('select 1')),
      /nothing is sent ahead here/,
    );
    const kept = await fixture.db.asSystem((tx) => ({ tx }));
    await assert.rejects(kept.tx.row('select 1'), /is over/);
  });
});

describe('statements issued together', () => {
  test('is answered one by one in its order, and of several that fail the first is thrown', async () => {
    const table = await newTable();
    await fixture.db.asSystem(async (tx) => {
      const [made, seen, none] = await awaitAll(
        tx.run(`insert into ${table} values (1), (2)`),
        tx.rows<{ id: number }>(`select id from ${table} order by id`),
        tx.row(`select id from ${table} where id = 3`),
      );
      assert.deepEqual([made, seen, none], [2, [{ id: 1 }, { id: 2 }], undefined]);
    });
    const late = new Promise((_, fail) => setTimeout(fail, 20, new Error('the first')));
    await assert.rejects(awaitAll(late, Promise.reject(new Error('the second'))), /the first/);
  });

  test('see one partner’s rows alone, and cannot write in a read-only transaction', async () => {
    const seen = await fixture.db.readOnlyAsPartner(7n, (tx) =>
      awaitAll(
        tx.row(`select current_setting('cloverleaf.partner') as partner`),
        tx.row(`select current_setting('transaction_read_only') as read_only`),
      ),
    );
    assert.deepEqual(seen, [{ partner: '7' }, { readOnly: 'on' }]);
    const table = await newTable();
    await assert.rejects(
      fixture.db.readOnlyAsPartner(7n, (tx) => tx.run(`insert into ${table} values (1)`)),
      { code: '25006' },
    );
  });

  test('encode every kind of value exactly, and a row that cannot be read fails its reader and not the process', async () => {
    const at = new Date('2026-01-05T10:00:00.123Z');
    const values = [
      `it's "quoted" \\ and ünïcode`,
      2n ** 70n,
      true,
      null,
      at,
      Buffer.from([0, 255, 92]),
      ['a,b', '"c"', '\\', '', null, '{}', 'NULL'],
      [1n, 2n],
      { of: ['json', 1] },
    ];
    const types = 'text numeric bool text timestamptz bytea text[] bigint[] jsonb'.split(' ');
    const columns = types.map((type, i) => `$${i + 1}::${type} as c${i}`).join(', ');
    const row = await fixture.db.asSystem((tx) => tx.row<Record<string, unknown>>(`select ${columns}`, values));
    assert.deepEqual(Object.values(row ?? {}), values.with(7, ['1', '2']));
    await assert.rejects(
      fixture.db.asSystem((tx) => tx.row(`select 'NaN'::numeric as n`)),
      SyntaxError,
    );
    assert.deepEqual(await fixture.db.asSystem((tx) => tx.row('select 1 as one')), { one: 1 });
  });
});

test('no statement of a failed transaction runs after the rollback, whatever was issued beside the failed one', async () => {
  const table = await newTable();
  const cut = fixture.db.asSystem(async (tx) => {
    await tx.row('select 1');
    const beside = tx.run(`insert into ${table} values (1)`);
    beside.catch(() => {});
    throw new Error('changed my mind');
  });
  await assert.rejects(cut, /changed my mind/);
  assert.deepEqual(await idsIn(table), []);
});

describe('a transaction without a statement', () => {
  /** The system's pool, with what was opened, sent and given back. */
  function counted(connect?: () => Promise<void>) {
    const told: string[] = [];
    const system: Connections = {
      async connect() {
        told.push('open');
        await connect?.();
        return {
          send: async (batch) => {
            told.push(batch.map(({ text }) => text).join(' · '));
            return batch.map(({ text }) => ({ command: text.toUpperCase(), count: 0, rows: [] }));
          },
          release: () => void told.push('release'),
        };
      },
    };
    return { told, db: pools(system, system) };
  }

  test('opens no connection, whether it succeeds, fails or runs again', async () => {
    const { told, db } = counted();
    assert.equal(await db.asSystem(() => 7), 7);
    assert.equal(await db.asPartner(1n, async () => 8), 8);
    await assert.rejects(
      db.asSystem(() => {
        throw new Error('changed my mind');
      }),
      /changed my mind/,
    );
    let tries = 0;
    const third = db.asSystem(() => {
      tries += 1;
      if (tries < 3) throw new Collision('again');
      return tries;
    });
    assert.equal(await third, 3);
    assert.deepEqual(told, []);
  });

  test('is one as soon as a statement is deferred or was not awaited, and sends it with the commit', async () => {
    const { told, db } = counted();
    await db.asSystem((tx) => tx.defer('one'));
    await db.asSystem((tx) => tx.deferLast('', 'two'));
    await db.asSystem((tx) => void tx.run('three'));
    assert.deepEqual(told, [
      ...['open', 'begin · one · commit', 'release'],
      ...['open', 'begin · two · commit', 'release'],
      ...['open', 'begin · three · commit', 'release'],
    ]);
  });

  test('gives back a connection that was opened for a statement after its code had failed', async () => {
    let open = (): void => {};
    const { told, db } = counted(() => new Promise((opened) => (open = opened)));
    const cut = db.asSystem(async (tx) => {
      const beside = tx.run('one');
      beside.catch(() => {});
      await until('it is opening', () => told.length > 0);
      setImmediate(open);
      throw new Error('changed my mind');
    });
    await assert.rejects(cut, /changed my mind/);
    assert.deepEqual(told, ['open', 'release']);
  });

  test('fails with the reason if the connection that its first statement needs cannot be opened', async () => {
    const { told, db } = counted(() => Promise.reject(new Error('no room')));
    await assert.rejects(
      db.asSystem((tx) => tx.run('one')),
      /no room/,
    );
    await assert.rejects(
      db.asSystem((tx) => tx.defer('one')),
      /no room/,
    );
    assert.deepEqual(told, ['open', 'open']);
  });
});
