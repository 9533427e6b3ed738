import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { later, movableClock } from '../../src/base/clock.ts';
import { Unavailable } from '../../src/base/errors.ts';
import { openLog } from '../../src/base/log.ts';
import { callOnce } from '../../src/rails/call.ts';
import { HOUR_MS, MAGIC_ACCOUNTS, startSimulatedBank } from '../../src/rails/simulated/index.ts';
import { keepSettling } from '../../src/rails/simulated/settling.ts';
import { type BankEnvironment, bankEnvironment } from '../support/bank.environment.ts';
import { until } from '../support/until.ts';

describe('the simulated bank', () => {
  let w: BankEnvironment;
  afterEach(() => w.stop());

  const post = (body: unknown, token = w.bank.token) =>
    callOnce('test', {
      method: 'POST',
      url: `${w.bank.url}/payments`,
      headers: { authorization: `Bearer ${token}` },
      body,
      deadlineMs: 2_000,
    });
  const order = { key: 'k', units: '500', currency: 'INR', account: '12345678', name: 'A' };

  it('refuses a payment without its token, a malformed one, and one after its deadline', async () => {
    w = await bankEnvironment();
    assert.equal((await post(order, 'guess')).status, 401);
    for (const bad of [
      {},
      { ...order, units: 500 },
      { ...order, units: '-5' },
      { ...order, units: '1e3' },
      { ...order, key: '' },
      [],
    ]) {
      assert.equal((await post(bad)).status, 400);
    }
    assert.equal((await post({ ...order, notAfter: new Date(Date.now() - 1).toISOString() })).status, 409);
    assert.deepEqual(await w.bank.payments(), []);
  });

  it('rejects a payment above the balance, less the payments under way', async () => {
    w = await bankEnvironment({ funds: 900n, settleMs: 60_000 });
    assert.equal((await post(order)).status, 202);
    const second = await post({ ...order, key: 'k2' });
    assert.deepEqual([second.status, second.body], [422, { error: 'rejected', why: 'insufficient_funds' }]);
  });

  it('accepts a key once, and refuses another amount under it', async () => {
    w = await bankEnvironment();
    assert.deepEqual([(await post(order)).status, (await post(order)).status], [202, 202]);
    assert.equal((await post({ ...order, units: '501' })).status, 409);
    assert.equal(await w.paid('k'), 1);
  });

  it('forgets a key after its time: it finds no payment under it, and pays again under it', async () => {
    w = await bankEnvironment({ deduplicatesForMs: 48 * HOUR_MS });
    await post(order);
    await w.bank.ages(48 * HOUR_MS + 1);
    assert.deepEqual(await w.rail.status('k'), { outcome: 'absent' });
    assert.equal((await post(order)).status, 202);
    assert.equal(await w.paid('k'), 2);
    assert.equal((await w.rail.status('k')).outcome, 'known');
  });

  it('without deduplication finds a payment at any later time', async () => {
    w = await bankEnvironment({ deduplicatesForMs: 0 });
    await post(order);
    await w.bank.ages(1_000 * HOUR_MS);
    assert.equal((await w.rail.status('k')).outcome, 'known');
  });

  it('settles accepted payments on its own, also after a restart', async () => {
    w = await bankEnvironment({ settleMs: 200 });
    await post(order);
    await w.restartsBank();
    await until('it is settled', async () => (await w.bank.payments('k'))[0]?.state === 'settled');
    assert.equal(await w.bank.balance('INR'), 999_500n);
  });

  it('settles a payment at its time also where another one is pending for longer', async () => {
    w = await bankEnvironment({ settleMs: 200 });
    const slow = MAGIC_ACCOUNTS.find(({ outcome }) => outcome === 'slow')?.ending;
    await post({ ...order, account: `55550000${slow}` });
    await post({ ...order, key: 'quick' });
    const state = async (key: string) => (await w.bank.payments(key))[0]?.state;
    await until('the quick one is settled', async () => (await state('quick')) === 'settled');
    assert.equal(await state('k'), 'accepted');
  });

  it('meets each fault in one call, and only those that the call gets to', async () => {
    w = await bankEnvironment();
    await w.bank.setFault({ kind: 'delay_answer', delayMs: 300 });
    await w.bank.setFault({ kind: 'reject_next' });
    await w.bank.setFault({ kind: 'lose_answer_before_effect' });
    await assert.rejects(post(order), Unavailable);
    assert.deepEqual(await w.bank.payments(), [], 'a call that got lost had an effect');
    const began = performance.now();
    assert.equal((await post(order)).status, 422);
    assert.ok(performance.now() - began >= 290, 'the answer was not late');
    assert.equal((await post({ ...order, key: 'k2' })).status, 202);
  });

  it('funded twice under one id is funded once', async () => {
    w = await bankEnvironment();
    await w.bank.fund({ currency: 'INR', units: 1_000_000n, id: 'seed' });
    await w.reads();
    assert.equal(await w.bank.balance('INR'), 1_000_000n);
    assert.equal(w.of('funding_confirmed').length, 1);
    await w.bank.creditAccount({ currency: 'INR', units: 5n, text: 'FUNDING:forged' });
    await w.reads();
    assert.equal(w.of('funding_confirmed').length, 1, 'a payer’s text was treated as a funding');
  });

  it('behaves as each magic account requires', async () => {
    w = await bankEnvironment();
    const ends: Record<string, string> = {};
    for (const { ending, outcome } of MAGIC_ACCOUNTS) {
      const id = await w.writes(100n, `55550000${ending}`);
      for (let i = 0; i < 3; i += 1) await w.looksAt(id);
      await w.reads();
      await w.reads();
      ends[outcome] = `${await w.state(id)} ${await w.paid(id)}`;
    }
    assert.deepEqual(ends, {
      rejected: 'rejected 0',
      returned: 'returned 1',
      answer_lost_after_effect: 'settled 1',
      answer_lost_before_effect: 'settled 1',
      slow: 'submitted 1',
    });
    w.clock.advance(61_000);
    await w.reads();
    assert.equal(w.of('payout_settled').length, 4);
  });

  it('keeps its faults over a restart', async () => {
    w = await bankEnvironment();
    await w.bank.setFault({ kind: 'reject_next' });
    await w.restartsBank();
    assert.equal((await post(order)).status, 422);
    assert.equal((await post({ ...order, key: 'k2' })).status, 202);
  });
});

describe("the simulated bank's timer", () => {
  it('looks when the next payment is due, and not between', async () => {
    const clock = movableClock();
    const due = [later(clock.now(), 300)];
    let looks = 0;
    const timer = keepSettling(
      async () => {
        looks += 1;
        if (due[0] !== undefined && due[0] <= clock.now()) due.shift();
        // A look on a slow machine: if its time were taken off the wait for the next payment, the timer would look too early.
        await sleep(30);
        return due[0];
      },
      { clock, log: openLog('silent') },
    );
    try {
      await until('it is settled', () => due.length === 0);
      assert.equal(looks, 2);
      const [soon, late] = [later(clock.now(), 300), later(clock.now(), 600)];
      due.push(soon, late);
      timer.expect(soon);
      timer.expect(late);
      await until('both are settled', () => due.length === 0);
      assert.equal(looks, 4);
      due.push(later(clock.now(), 60_000));
      timer.expect(later(clock.now(), 60_000));
      clock.advance(60_000);
      await until('it sees that the clock was moved', () => due.length === 0);
    } finally {
      await timer.stop();
    }
  });
});

describe('two instances of a simulated bank on the same books', () => {
  let w: BankEnvironment;
  beforeEach(async () => {
    w = await bankEnvironment();
  });
  afterEach(() => w.stop());

  const shows = async (path: string): Promise<unknown> =>
    (
      await callOnce('test', {
        method: 'GET',
        url: `${w.bank.url}${path}`,
        headers: { authorization: `Bearer ${w.bank.token}` },
        deadlineMs: 10_000,
      })
    ).body;
  const statement = async (after = ''): Promise<number> =>
    ((await shows(`/statement?after=${after}`)) as { lines: unknown[] }).lines.length;

  it('meet the faults that were set at either', async () => {
    const other = await startSimulatedBank(w);
    try {
      assert.equal(await statement(), 1);
      assert.equal(await statement('1'), 0);
      await other.setFault({ kind: 'statement_twice' });
      await other.setFault({ kind: 'status_unavailable' });
      await until('the fault is met', async () => (await statement('1')) === 2, { everyMs: 1 });
      assert.deepEqual([await statement('1'), await statement()], [0, 1]);
      assert.equal((await w.rail.status('k')).outcome, 'unknown');
      assert.equal((await w.rail.status('k')).outcome, 'absent');
    } finally {
      await other.stop();
    }
  });

  it('answer a statement without new lines from memory, and show a new line of either at once', async () => {
    const other = await startSimulatedBank(w);
    const line = async (id: string): Promise<void> => {
      await w.rows.query(
        `insert into simulated_bank.lines (seq, id, direction, currency, units, reference, booked_at)
         select max(seq) + 1, $1, 'credit', 'INR', 1, '', now() from simulated_bank.lines`,
        [id],
      );
    };
    try {
      assert.equal(await statement('1'), 0);
      // Nobody is told of this line.
      await w.rows.query('alter table simulated_bank.lines disable trigger tell');
      await line('untold');
      assert.equal(await statement('1'), 0, 'the books were read');
      assert.equal(await statement(), 2, 'a page from an earlier position must come from the books');
      assert.equal(await statement('1'), 0);
      await shows('/balance/INR');
      assert.equal(await statement('1'), 1, 'a balance with the line was followed by a statement without it');
      await w.rows.query('alter table simulated_bank.lines enable trigger tell');
      await other.creditAccount({ currency: 'INR', units: 5n, text: '' });
      await until('the line of the other is shown', async () => (await statement('1')) === 2, { everyMs: 1 });
      assert.equal(await statement('3'), 0);
      await w.bank.creditAccount({ currency: 'INR', units: 5n, text: '' });
      assert.equal(await statement('3'), 1, 'its own line was not shown at once');
    } finally {
      await other.stop();
    }
  });

  it('read the books while they cannot be told of changes', async () => {
    assert.equal(await statement('1'), 0);
    await w.rows.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'simulated_bank_changes'
      and datname = current_database()`);
    await w.rows.query('alter table simulated_bank.lines disable trigger tell');
    await w.rows.query(`update simulated_bank.lines set seq = 2`);
    await until('the line is shown', async () => (await statement('1')) === 1, { withinMs: 5_000 });
  });
});

describe('a call to a bank', () => {
  it('is tried once, ends by its deadline, and refuses endless, broken or cut answers', async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? '');
      if (request.url === '/slow') return;
      if (request.url === '/trickle') {
        response.writeHead(200);
        setInterval(() => response.write(' '), 20).unref();
      } else if (request.url === '/cut') {
        response.writeHead(200, { 'content-length': '100' }).write('{');
        setTimeout(() => response.destroy(), 20);
      } else if (request.url === '/huge') {
        response.end(Buffer.alloc(5 * 1024 * 1024, 32));
      } else if (request.url === '/redirect') {
        response.writeHead(302, { location: '/elsewhere' }).end();
      } else {
        response.end('<html>');
      }
    });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    const call = (path: string) =>
      callOnce('test', {
        method: 'POST',
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
        body: {},
        deadlineMs: 300,
      });
    try {
      for (const path of ['/slow', '/trickle', '/cut', '/huge', '/html']) {
        await assert.rejects(call(path), { name: 'Unavailable' }, path);
      }
      assert.equal((await call('/redirect')).status, 302);
      assert.deepEqual(asked, ['/slow', '/trickle', '/cut', '/huge', '/html', '/redirect']);
    } finally {
      server.closeAllConnections();
      server.close();
    }
    await assert.rejects(callOnce('test', { method: 'GET', url: 'http://127.0.0.1:1/', deadlineMs: 300 }), {
      name: 'Unavailable',
    });
  });
});
