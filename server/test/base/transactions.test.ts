/**
 * What a transaction sends, statement by statement, on a connection in memory: whose rows it sees, what is repeated, what is rolled
 * back, and what becomes of its connection. What PostgreSQL makes of it: db.test.ts.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Answer, Statement } from '../../src/base/batch.ts';
import { Collision, type Connections, pools, type Tx } from '../../src/base/db.ts';

/** Nothing here waits for anything: what has not ended by then repeats for ever. */
const ENDS = { timeout: 10_000 };

type Answers = (text: string, said: readonly string[]) => Partial<Answer> | Error;

/** Two pools that record each batch as one text, and the release of each connection. */
function recorded(answers: Answers = () => ({})) {
  const told: string[] = [];
  const values: unknown[] = [];
  const said: string[] = [];
  const broken: (Error | undefined)[] = [];
  const pool = (name: string): Connections => ({
    async connect() {
      return {
        async send(batch: readonly Statement[]) {
          told.push(`${name}: ${batch.map(({ text }) => text).join(' · ')}`);
          return batch.map(({ text, values: given = [] }, n) => {
            values.push(...given);
            said.push(text);
            const answer = answers(text, said);
            if (answer instanceof Error) throw answer;
            return { command: text.toUpperCase(), count: n, rows: [{ text }], ...answer };
          });
        },
        release: (error) => {
          broken.push(error);
          told.push(`${name}: release`);
        },
      };
    },
  });
  return { told, values, broken, db: pools(pool('partners'), pool('system')) };
}

const SEEN_BY = `select set_config('cloverleaf.partner', $1, true)`;
const failing = (code: string, constraint?: string) =>
  Object.assign(new Error(`failed with ${code}`), { code, constraint });

describe('whose rows a transaction sees', ENDS, () => {
  test('a partner’s is on the pool of partners, and names the partner before its first statement, for itself alone', async () => {
    const { told, values, db } = recorded();
    const row = await db.asPartner(7n, async (tx) => {
      const first = await tx.row('one');
      await tx.run('two');
      return first;
    });
    assert.deepEqual(told, [
      `partners: begin · ${SEEN_BY} · one`,
      'partners: two',
      'partners: commit',
      'partners: release',
    ]);
    assert.deepEqual([row, values], [{ text: 'one' }, [7n]]);
  });

  test('each batch of one that only reads is a transaction of its own, which names the partner again', async () => {
    const { told, values, db } = recorded();
    const rows = await db.readOnlyAsPartner(7n, async (tx) => {
      const together = await Promise.all([tx.rows('one'), tx.row('two')]);
      return [...together, await tx.run('three')];
    });
    assert.deepEqual(told, [
      `partners: begin read only · ${SEEN_BY} · one · two · commit`,
      'partners: release',
      `partners: begin read only · ${SEEN_BY} · three · commit`,
      'partners: release',
    ]);
    assert.deepEqual(
      [rows, values],
      [
        [[{ text: 'one' }], { text: 'two' }, 2],
        [7n, 7n],
      ],
    );
  });

  test('the system’s is on its own pool, and names no partner', async () => {
    const { told, values, db } = recorded();
    await db.asSystem((tx) => tx.row('one'));
    assert.deepEqual(told, ['system: begin · one', 'system: commit', 'system: release']);
    assert.deepEqual(values, []);
  });

  test('what a process caches is by database, and the same in each of its transactions', async () => {
    const [one, other] = [recorded().db, recorded().db];
    const keys: Tx['cacheKey'][] = [];
    const keep = (tx: Tx) => void keys.push(tx.cacheKey);
    await one.asSystem(keep);
    await one.asPartner(1n, keep);
    await one.readOnlyAsPartner(1n, keep);
    await other.asSystem(keep);
    const [first, ...rest] = keys.map((key) => key === one.cacheKey);
    assert.deepEqual([first, ...rest], [true, true, true, false]);
    assert.equal(keys[3], other.cacheKey);
  });
});

describe('what runs again', ENDS, () => {
  const repeated: readonly [error: Error, isRepeated: boolean][] = [
    [new Collision('again'), true],
    [failing('40001'), true],
    [failing('40P01'), true],
    ...['orders_pkey', 'fiat_accounts_pkey', 'quotes_pkey', 'refunds_pkey'].map((constraint): [Error, boolean] => [
      failing('23505', constraint),
      true,
    ]),
    [failing('23505', 'payouts_pkey'), false],
    [failing('23505', 'orders_pkey_old'), false],
    [failing('23505', 'old_orders_pkey'), false],
    [failing('23505'), false],
    [failing('23514', 'orders_pkey'), false],
    [failing('55P03'), false],
    [new Error('no code'), false],
  ];
  for (const [error, isRepeated] of repeated)
    test(`${error.message} ${(error as { constraint?: string }).constraint ?? ''}: ${isRepeated ? 'five times, then it fails' : 'not'}`, async () => {
      let [tries, attempts] = [0, new Set<object>()];
      const { told, db } = recorded((text) => (text === 'one' ? error : {}));
      const made = db.asSystem(async (tx) => {
        tries += 1;
        attempts = attempts.add(tx.attempts);
        await tx.run('one');
      });
      await assert.rejects(made, error);
      assert.equal(tries, isRepeated ? 5 : 1);
      assert.equal(attempts.size, 1, 'attempts of one transaction share one object');
      const attempt = ['system: begin · one', 'system: rollback', 'system: release'];
      assert.deepEqual(told, Array.from({ length: tries }, () => attempt).flat());
    });

  test('a batch that only reads runs once more after a collision, and not after another error', async () => {
    let failures = 0;
    const { told, db } = recorded((text) => {
      if (text === 'again' && failures === 0) {
        failures += 1;
        return new Collision('again');
      }
      return text === 'never' ? failing('40001') : {};
    });
    assert.deepEqual(await db.readOnlyAsPartner(1n, (tx) => tx.row('again')), { text: 'again' });
    const begun = `partners: begin read only · ${SEEN_BY}`;
    assert.deepEqual(told, [
      ...[`${begun} · again · commit`, 'partners: rollback', 'partners: release'],
      ...[`${begun} · again · commit`, 'partners: release'],
    ]);
    await assert.rejects(
      db.readOnlyAsPartner(1n, (tx) => tx.row('never')),
      { code: '40001' },
    );
    assert.deepEqual(told.slice(5), [`${begun} · never · commit`, 'partners: rollback', 'partners: release']);
  });
});

describe('the end of a transaction', ENDS, () => {
  test('a connection that cannot be rolled back is given back as broken, and the first error is thrown', async () => {
    const lost = new Error('lost');
    for (const way of ['asSystem', 'readOnlyAsPartner'] as const) {
      const { broken, db } = recorded((text) => (text === 'one' ? failing('23514') : text === 'rollback' ? lost : {}));
      const ask = (tx: Tx) => tx.run('one');
      await assert.rejects(way === 'asSystem' ? db.asSystem(ask) : db.readOnlyAsPartner(1n, ask), { code: '23514' });
      assert.deepEqual(broken, [lost], way);
    }
    const { broken, db } = recorded();
    await db.asSystem((tx) => tx.run('one'));
    await db.readOnlyAsPartner(1n, (tx) => tx.run('one'));
    assert.deepEqual(broken, [undefined, undefined]);
  });

  test('a commit that PostgreSQL answers with a rollback is no success', async () => {
    const { told, db } = recorded((text) => (text === 'commit' ? { command: 'ROLLBACK' } : {}));
    await assert.rejects(
      db.asSystem((tx) => tx.run('one')),
      /a transaction whose statement failed was committed/,
    );
    assert.deepEqual(told.slice(1), ['system: commit', 'system: rollback', 'system: release']);
  });

  test('nothing is sent once it is over, by its own object or for the sake of a connection that opens late', async () => {
    const { told, db } = recorded();
    const kept = await db.asSystem(async (tx) => {
      await tx.run('one');
      return { tx };
    });
    const before = told.length;
    await assert.rejects(kept.tx.run('two'), /a statement was issued, but its transaction is over/);
    assert.equal(told.length, before);
  });
});

describe('what is sent with the commit', ENDS, () => {
  test('goes out after everything else, in the order of its keys: shorter ones first, then by their characters', async () => {
    const { told, db } = recorded();
    const counts: [string, number][] = [];
    await db.asSystem(async (tx) => {
      for (const key of ['10', 'b', '9', 'a', '11', 'a'])
        tx.deferLast(key, `last ${key}`, [], (rows) => void counts.push([key, rows]));
      tx.deferLast('c', 'last c');
      tx.defer('ahead');
      await tx.run('one');
    });
    assert.deepEqual(told, [
      'system: begin · ahead · one',
      'system: last 9 · last a · last a · last b · last c · last 10 · last 11 · commit',
      'system: release',
    ]);
    assert.deepEqual(counts, [
      ['9', 0],
      ['a', 1],
      ['a', 2],
      ['b', 3],
      ['10', 5],
      ['11', 6],
    ]);
  });

  test('is refused where nothing is committed', async () => {
    const { told, db } = recorded();
    for (const send of [(tx: Tx) => tx.defer('one'), (tx: Tx) => tx.deferLast('', 'one')])
      await assert.rejects(db.readOnlyAsPartner(1n, send), /nothing is sent (ahead|with the commit) here/);
    assert.deepEqual(told, []);
  });

  test('what is issued while a batch is under way is the next one', async () => {
    const { told, db } = recorded();
    await db.asSystem(async (tx) => {
      const first = tx.run('one');
      const then = first.then(() => tx.run('three'));
      await new Promise((turn) => process.nextTick(turn));
      const second = tx.run('two');
      tx.defer('ahead');
      await Promise.all([first, second, then]);
    });
    assert.deepEqual(told.slice(0, -1), ['system: begin · one', 'system: two · ahead · three', 'system: commit']);
  });
});
