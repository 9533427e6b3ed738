/** When a statement goes out: with which batch, in which order, and how long a repeated transaction waits. On connections in memory. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Collision, type Connections, pools, type Tx, txOn } from '../../src/base/db.ts';

/** Nothing here waits for anything outside: what has not ended by then never does. */
const ENDS = { timeout: 10_000 };

function recorded() {
  const told: string[] = [];
  const blind: string[] = [];
  const connections: Connections = {
    connect: async () => ({
      async send(batch) {
        told.push(batch.map(({ text }) => text).join(' · '));
        blind.push(...batch.filter(({ isBlind }) => isBlind).map(({ text }) => text));
        await new Promise((answered) => setImmediate(answered));
        return batch.map(({ text }) => ({ command: text.toUpperCase(), count: 0, rows: [] }));
      },
      release: () => {},
    }),
  };
  return { told, blind, db: pools(connections, connections) };
}
const underWay = (told: readonly string[]) =>
  new Promise<void>((begun) => {
    const look = () => (told.length > 0 ? begun() : setImmediate(look));
    look();
  });

test(
  'a statement issued while another is under way goes out after it, though nothing else is issued',
  ENDS,
  async () => {
    const { told, db } = recorded();
    await db.asSystem(async (tx) => {
      const first = tx.run('one');
      await underWay(told);
      await Promise.all([first, tx.run('two')]);
    });
    assert.deepEqual(told, ['begin · one', 'two', 'commit']);
  },
);

test('a deferred one waits for the next statement whose answer is wanted', ENDS, async () => {
  const { told, db } = recorded();
  await db.asSystem(async (tx) => {
    const first = tx.run('one');
    await underWay(told);
    tx.defer('ahead');
    await first;
    // A batch goes out before the next turn of the event loop.
    await new Promise((turn) => setImmediate(turn));
  });
  assert.deepEqual(told, ['begin · one', 'ahead · commit']);
});

test('statements of one key are sent with the commit in the order in which they were issued', ENDS, async () => {
  const { told, db } = recorded();
  await db.asSystem((tx) => {
    for (const text of ['one', 'two', 'three']) tx.deferLast('key', text);
  });
  assert.deepEqual(told, ['begin · one · two · three · commit']);
});

test('rows are read of statements whose caller gets them, and of no other', ENDS, async () => {
  const { blind, db } = recorded();
  await db.asPartner(1n, async (tx) => {
    tx.defer('ahead');
    tx.deferLast('key', 'last');
    await Promise.all([tx.rows('rows'), tx.row('row'), tx.run('run')]);
  });
  assert.deepEqual(blind, [`select set_config('cloverleaf.partner', $1, true)`, 'ahead', 'last']);
});

test('a transaction waits longer before each repetition, by chance up to 20 ms more', ENDS, async (t) => {
  const { db } = recorded();
  const waits: unknown[] = [];
  t.mock.method(Math, 'random', () => 0.5);
  const wait = globalThis.setTimeout;
  t.mock.method(globalThis, 'setTimeout', (wake: () => void, ms: number) => {
    waits.push(ms);
    return wait(wake, 0);
  });
  await assert.rejects(
    db.asSystem(() => Promise.reject(new Collision('again'))),
    Collision,
  );
  mock.restoreAll();
  assert.deepEqual(waits, [10, 20, 30, 40]);
});

test('what a client caches is of that client', () => {
  const client = {} as Parameters<typeof txOn>[0];
  assert.equal((txOn(client) as Tx).cacheKey, client);
});
