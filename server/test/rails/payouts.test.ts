/**
 * Payouts are sent once, whatever the bank answers and whenever a worker ends.
 *
 * Long because its claims share one bank and one worker.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { awaitAll } from '../../src/base/db.ts';
import { Unavailable } from '../../src/base/errors.ts';
import { startWorkers } from '../../src/base/workers.ts';
import { killSwitches, liftKillSwitch, setKillSwitch } from '../../src/partners/index.ts';
import { recordRejected, returned, settled } from '../../src/rails/payouts.observed.ts';
import { enqueueUnsubmitted, findPayout, openPayouts, payoutHandlers, write } from '../../src/rails/payouts.ts';
import { HOUR_MS } from '../../src/rails/simulated/index.ts';
import { type BankEnvironment, bankEnvironment, behaving } from '../support/bank.environment.ts';
import { until } from '../support/until.ts';

const DAY_MS = 24 * HOUR_MS;

let world: BankEnvironment;
const make = async (options: Parameters<typeof bankEnvironment>[0] = {}) => {
  world = await bankEnvironment(options);
  return world;
};
afterEach(() => world.stop());

describe('a payout that goes well', () => {
  it('is submitted, and settles by the statement alone', async () => {
    const w = await make();
    const id = await w.writes(5_000n);
    assert.equal(await w.state(id), 'created');
    await w.looksAt(id);
    assert.equal(await w.state(id), 'submitted');
    assert.deepEqual(
      w.of('payout_submitted').map(({ key }) => key),
      [id],
    );
    await w.reads();
    const payout = await w.payout(id);
    assert.equal(payout.state, 'settled');
    assert.match(payout.reference ?? '', /^UTR/);
    assert.equal(await w.looksAt(id), undefined, 'an ended payout still has a job');
    assert.equal(await w.paid(id), 1);
  });

  it('created twice is one payout, and with another amount a bug error', async () => {
    const w = await make();
    const { orderId, partnerId } = await w.rows.order('usdc.test', 'evm.test', '0xdef');
    const fiatAccountId = await w.rows.fiatAccount();
    const given = {
      id: `pay_${orderId}_1`,
      orderId,
      partnerId,
      purpose: 'payout' as const,
      attempt: 1,
      rail: 'bank.simulated',
      asset: 'inr',
      fiatAccountId,
      now: w.clock.now(),
    };
    await w.db.asSystem((tx) => write(tx, { ...given, units: 5n }));
    await w.db.asSystem((tx) => write(tx, { ...given, units: 5n }));
    await assert.rejects(
      w.db.asSystem((tx) => write(tx, { ...given, units: 6n })),
      { name: 'BugError' },
    );
    const open = await w.db.asSystem(openPayouts);
    assert.deepEqual(
      open.map(({ state, count }) => [state, count]),
      [['created', 1]],
    );
  });

  it('is paid by real workers whose job its creation enqueues', async () => {
    const w = await make();
    const handlers = payoutHandlers({
      ...w,
      rails: new Map([[w.rail.code, w.rail]]),
      openAccount: async () => ({ account: '12345678' }),
      gate: async () => ({ outcome: 'pay' }),
    });
    const workers = await startWorkers({ db: w.db, clock: w.clock, log: w.log, handlers });
    const id = await w.writes(5_000n);
    await until('it is submitted', async () => (await w.state(id)) === 'submitted');
    await workers.stop();
  });
});

describe('submission under a kill switch', () => {
  it('begins for no payout once the switch is set, and for all once it is lifted, each paid once', async () => {
    const w = await make();
    const ids: string[] = [];
    for (let i = 0; i < 24; i += 1) ids.push(await w.writes(1_000n + BigInt(i)));
    const now = w.clock.now();
    const stop = { kind: 'rail', subject: w.rail.code, by: 'a test', reason: 'a test', at: now } as const;
    // The switch is set while workers run: some payouts are before it and some after, at random.
    const working = ids.slice(0, 12).map((id) => w.looksAt(id));
    const switched = w.db
      .asSystem((tx) => setKillSwitch(tx, stop))
      .then(() => Promise.all(ids.map((id) => w.state(id))));
    working.push(...ids.slice(12).map((id) => w.looksAt(id)));
    const atSwitch = await switched;
    await Promise.all(working);
    const later = await Promise.all(ids.map((id) => w.state(id)));
    const waiting = ids.filter((_, i) => atSwitch[i] === 'created');
    assert.ok(waiting.length > 0, 'all submissions had begun before the switch');
    assert.deepEqual(
      ids.filter((_, i) => later[i] === 'created'),
      waiting,
    );
    for (const id of waiting) {
      assert.deepEqual(await w.looksAt(id), { againInMs: 5_000 });
      assert.equal(await w.paid(id), 0);
    }
    await w.db.asSystem(async (tx) => {
      assert.equal(await liftKillSwitch(tx, 'rail', w.rail.code), true);
      await tx.run(`delete from jobs where kind = 'send_payout'`);
      await enqueueUnsubmitted(tx, now);
    });
    const enqueued = await w.db.asSystem((tx) =>
      tx.rows<{ subject: string }>('select subject from jobs order by subject'),
    );
    assert.deepEqual(enqueued.map(({ subject }) => subject).sort(), [...waiting].sort());
    await Promise.all(ids.map((id) => w.looksAt(id)));
    for (const id of ids) assert.equal(await w.paid(id), 1);
  });
});

describe('a kill switch that is set while an answer is lost', () => {
  it('stops the second submission of the same payout, which is paid once after the switch is lifted', async () => {
    const w = await make();
    const id = await w.writes(5_000n);
    await w.bank.setFault({ kind: 'lose_answer_before_effect' });
    await w.looksAt(id);
    assert.equal(await w.state(id), 'unknown');
    const stop = { kind: 'rail', subject: w.rail.code, by: 'a test', reason: 'a test', at: w.clock.now() } as const;
    await w.db.asSystem((tx) => setKillSwitch(tx, stop));
    for (let i = 0; i < 3; i += 1) assert.deepEqual(await w.looksAt(id), { againInMs: 5_000 });
    const waiting = await w.payout(id);
    assert.deepEqual([waiting.state, waiting.submissions], ['unknown', 1], 'it was submitted again');
    assert.equal(await w.paid(id), 0, 'the bank received it while the switch was on');
    await w.db.asSystem((tx) => liftKillSwitch(tx, 'rail', w.rail.code));
    await w.looksAt(id);
    assert.equal(await w.state(id), 'submitted');
    assert.equal(await w.paid(id), 1);
  });

  it('is set by one person while another lifts it, and neither fails', async () => {
    const w = await make();
    const stop = { kind: 'rail', subject: w.rail.code, by: 'a test', reason: 'a test', at: w.clock.now() } as const;
    await w.db.asSystem((tx) => setKillSwitch(tx, stop));
    const waiting = async (times: number) =>
      await until(`${times} wait`, async () => {
        const rows = await w.rows.query('select from pg_locks where not granted');
        return rows.length === times;
      });
    // It delays the process that has found the switch, before its name is added.
    await w.rows.query('begin');
    await w.rows.query('lock table kill_switch_layers in share mode');
    const set = w.db.asSystem((tx) => setKillSwitch(tx, { ...stop, by: 'another' }));
    await waiting(1);
    const lifted = w.db.asSystem((tx) => liftKillSwitch(tx, stop.kind, stop.subject));
    await waiting(2);
    await w.rows.query('commit');
    assert.deepEqual(await awaitAll(set, lifted), [false, true]);
    assert.deepEqual(await w.db.asSystem((tx) => killSwitches(tx)), []);
  });

  it('is checked in every submission, the first and later ones, and never in between', async () => {
    const w = await make();
    const id = await w.writes(5_000n);
    const asked: string[] = [];
    const { send_payout: look } = payoutHandlers({
      ...w,
      rails: new Map([[w.rail.code, w.rail]]),
      openAccount: async () => ({ account: '123456780000', name: 'Asha Rao', ifsc: 'SIMB0000001' }),
      gate: async (tx, { id: asks }) => {
        const payout = await findPayout(tx, asks);
        asked.push(`${payout?.state} ${payout?.submissions}`);
        return { outcome: 'pay' };
      },
    });
    assert(look);
    await w.bank.setFault({ kind: 'lose_answer_before_effect' });
    for (let i = 0; i < 3; i += 1) await look(id);
    assert.deepEqual(asked, ['created 0', 'unknown 1']);
    assert.equal(await w.paid(id), 1);
  });
});

describe('a payout that is held after it was submitted', () => {
  it('ends unsubmitted only once no submission can be under way, although its rail reports it as absent', async () => {
    const w = await make();
    const id = await w.writes(5_000n);
    let isHeld = false;
    const { send_payout: look } = payoutHandlers({
      ...w,
      rails: new Map([[w.rail.code, w.rail]]),
      openAccount: async () => ({ account: '123456780000', name: 'Asha Rao', ifsc: 'SIMB0000001' }),
      gate: async () => (isHeld ? { outcome: 'hold', why: 'held: customer_blocked' } : { outcome: 'pay' }),
    });
    assert(look);
    await w.bank.setFault({ kind: 'lose_answer_before_effect' });
    await look(id);
    isHeld = true;
    await look(id);
    assert.equal(await w.state(id), 'unknown');
    await w.rows.query(
      `update payouts set submitting_until = clock_timestamp() - interval '61 seconds' where id = $1`,
      [id],
    );
    await look(id);
    assert.equal(await w.state(id), 'rejected');
    assert.equal(await w.paid(id), 0);
  });
});

describe('a payout whose answer is lost', () => {
  for (const deduplicates of [true, false]) {
    const bank = deduplicates ? 'a bank that deduplicates' : 'a bank that does not';
    it(`after the effect is paid once by ${bank}`, async () => {
      const w = await make({ deduplicatesForMs: deduplicates ? DAY_MS : 0 });
      const id = await w.writes(5_000n);
      await w.bank.setFault({ kind: 'lose_answer_after_effect' });
      await w.looksAt(id);
      assert.equal(await w.state(id), 'unknown');
      for (let i = 0; i < 3; i += 1) await w.looksAt(id);
      assert.equal(await w.state(id), 'submitted');
      await w.reads();
      assert.equal(await w.state(id), 'settled');
      assert.equal(await w.paid(id), 1);
      assert.equal(await w.bank.balance('INR'), 995_000n);
    });
  }

  it('before the effect is sent again under the same key where the bank deduplicates', async () => {
    const w = await make();
    const id = await w.writes(5_000n);
    await w.bank.setFault({ kind: 'lose_answer_before_effect' });
    await w.looksAt(id);
    assert.equal(await w.state(id), 'unknown');
    assert.equal(await w.paid(id), 0);
    await w.looksAt(id);
    assert.equal(await w.state(id), 'submitted');
    assert.equal((await w.payout(id)).submissions, 2);
    assert.equal(await w.paid(id), 1);
  });

  it('before the effect ends as never_arrived where absence is proved, but only once no submission can be under way', async () => {
    const w = await make({ deduplicatesForMs: 0, submitMs: 900, graceMs: 300 });
    const id = await w.writes(5_000n);
    await w.bank.setFault({ kind: 'lose_answer_before_effect' });
    await w.looksAt(id);
    await w.looksAt(id);
    assert.equal(await w.state(id), 'unknown', 'it ended although the bytes may still arrive');
    await until('nothing can be under way', async () => (await w.looksAt(id)) === undefined);
    const payout = await w.payout(id);
    assert.deepEqual([payout.state, payout.why], ['rejected', 'never_arrived']);
    assert.deepEqual(
      w.of('payout_rejected').map(({ key, why }) => [key, why]),
      [[id, 'never_arrived']],
    );
    assert.equal(await w.paid(id), 0);
  });

  it('before the effect waits for a person with one case where absence cannot be proved', async () => {
    const w = await make({ deduplicatesForMs: 0, provesAbsence: false, submitMs: 900, graceMs: 0 });
    const id = await w.writes(5_000n);
    await w.bank.setFault({ kind: 'lose_answer_before_effect' });
    await w.looksAt(id);
    await w.sleep(1_000);
    await w.looksAt(id);
    assert.deepEqual([await w.state(id), w.of('payout_unknown').length], ['unknown', 0]);
    w.clock.advance(16 * 60_000);
    for (let i = 0; i < 3; i += 1) assert.ok((await w.looksAt(id))?.againInMs, 'the rail is not asked any more');
    assert.deepEqual(
      w.of('payout_unknown').map(({ key }) => key),
      [id],
    );
    assert.deepEqual([await w.state(id), await w.paid(id)], ['unknown', 0]);
  });

  it('is unknown as long as the bank does not answer, and known when it answers again', async () => {
    const w = await make({ deduplicatesForMs: 0 });
    const id = await w.writes(5_000n);
    await w.bank.setFault({ kind: 'lose_answer_after_effect' });
    await w.bank.setFault({ kind: 'status_unavailable', times: 2 });
    await w.looksAt(id);
    await w.looksAt(id);
    await w.looksAt(id);
    assert.equal(await w.state(id), 'unknown');
    await w.looksAt(id);
    assert.equal(await w.state(id), 'submitted');
    assert.equal(await w.paid(id), 1);
  });

  it('is unknown when the answer is later than the deadline, and is paid once', async () => {
    const w = await make({ deduplicatesForMs: 0, submitMs: 600 });
    const id = await w.writes(5_000n);
    await w.bank.setFault({ kind: 'delay_answer', delayMs: 800 });
    await w.looksAt(id);
    assert.equal(await w.state(id), 'unknown');
    await w.looksAt(id);
    assert.equal(await w.state(id), 'submitted');
    assert.equal(await w.paid(id), 1);
  });

  it('with the bank killed and started again still settles once', async () => {
    const w = await make({ settleMs: 300 });
    const id = await w.writes(5_000n);
    await w.bank.setFault({ kind: 'lose_answer_after_effect' });
    await w.looksAt(id);
    await w.restartsBank();
    await w.looksAt(id);
    await until('it is settled', async () => {
      await w.reads();
      return (await w.state(id)) === 'settled';
    });
    assert.equal(await w.paid(id), 1);
  });
});

describe('a payout whose bank may have forgotten its key', () => {
  it('is not sent again after an answer that was lost, and the statement settles it', async () => {
    const w = await make({ deduplicatesForMs: DAY_MS });
    const id = await w.writes(5_000n);
    await w.bank.setFault({ kind: 'lose_answer_after_effect' });
    await w.looksAt(id);
    assert.equal(await w.state(id), 'unknown');
    await w.isOffFor(25 * HOUR_MS);
    assert.deepEqual(await w.rail.status(id), { outcome: 'absent' }, 'the bank has not forgotten the key');
    for (let i = 0; i < 3; i += 1) await w.looksAt(id);
    const { state, submissions, why } = await w.payout(id);
    assert.deepEqual(
      [state, submissions, why, await w.paid(id)],
      ['unknown', 1, 'absent, and the rail may have forgotten its key', 1],
    );
    await w.reads();
    assert.deepEqual([await w.state(id), await w.paid(id)], ['settled', 1]);
    assert.deepEqual(w.troubles, []);
  });

  it('is not sent again after it was accepted, however late the statement shows it, and opens a case after days', async () => {
    const w = await make({ deduplicatesForMs: DAY_MS, settleMs: 5 * DAY_MS });
    const id = await w.writes(5_000n);
    await w.looksAt(id);
    assert.equal(await w.state(id), 'submitted');
    await w.isOffFor(2 * DAY_MS);
    w.clock.advance(2 * DAY_MS);
    for (let i = 0; i < 3; i += 1) await w.looksAt(id);
    const { state, submissions } = await w.payout(id);
    assert.deepEqual([state, submissions, await w.paid(id)], ['submitted', 1, 1]);
    assert.deepEqual(w.troubles, []);
    w.clock.advance(2 * DAY_MS);
    await w.looksAt(id);
    assert.deepEqual(
      w.troubles.map(({ type }) => type),
      ['payout_unknown'],
    );
    w.clock.advance(2 * DAY_MS);
    await w.reads();
    assert.deepEqual([await w.state(id), await w.paid(id)], ['settled', 1]);
  });

  it('is sent again within half of the time that the bank promises, and not later', async () => {
    const w = await make({ deduplicatesForMs: DAY_MS });
    const [early, late] = [await w.writes(5_000n), await w.writes(6_000n)];
    await w.bank.setFault({ kind: 'lose_answer_before_effect', times: 2 });
    await w.looksAt(early);
    await w.looksAt(late);
    await w.isOffFor(12 * HOUR_MS - 60_000);
    await w.looksAt(early);
    assert.deepEqual([await w.state(early), await w.paid(early)], ['submitted', 1]);
    await w.isOffFor(60_000);
    await w.looksAt(late);
    assert.deepEqual([await w.state(late), await w.paid(late)], ['unknown', 0]);
    w.clock.advance(16 * 60_000);
    for (let i = 0; i < 3; i += 1) await w.looksAt(late);
    assert.deepEqual(
      w.of('payout_unknown').map(({ key, why }) => [key, why]),
      [[late, 'absent, and the rail may have forgotten its key']],
    );
    assert.deepEqual([await w.state(late), await w.paid(late)], ['unknown', 0]);
  });

  it('counts from its first submission, also after later ones', async () => {
    const w = await make({ deduplicatesForMs: DAY_MS });
    const id = await w.writes(5_000n);
    await w.bank.setFault({ kind: 'lose_answer_before_effect', times: 2 });
    await w.looksAt(id);
    await w.isOffFor(8 * HOUR_MS);
    await w.looksAt(id);
    assert.equal((await w.payout(id)).submissions, 2);
    await w.isOffFor(8 * HOUR_MS);
    await w.looksAt(id);
    assert.deepEqual([await w.state(id), (await w.payout(id)).submissions, await w.paid(id)], ['unknown', 2, 0]);
  });

  it('is not sent again if an older server created it without recording the first submission', async () => {
    const w = await make({ deduplicatesForMs: DAY_MS });
    const id = await w.writes(5_000n);
    await w.bank.setFault({ kind: 'lose_answer_before_effect' });
    await w.looksAt(id);
    await w.rows.query('update payouts set first_submission_at = null where id = $1', [id]);
    await w.looksAt(id);
    assert.deepEqual([await w.state(id), (await w.payout(id)).submissions], ['unknown', 1]);
  });

  it('is queried before it is sent after a restore of an older backup', async () => {
    const w = await make({ deduplicatesForMs: DAY_MS });
    const paid: number[] = [];
    for (const takenAgo of ['11 hours', '13 hours']) {
      const id = await w.writes(5_000n);
      await w.rows.query('delete from restores');
      await w.rows.query(
        'insert into restores (backup_taken_at, restored_at) values (clock_timestamp() - $1::interval, clock_timestamp())',
        [takenAgo],
      );
      await w.bank.setFault({ kind: 'status_unavailable' });
      await w.looksAt(id);
      paid.push(await w.paid(id));
    }
    assert.deepEqual(paid, [1, 0]);
  });
});

describe('workers with accidents', () => {
  for (const deduplicates of [true, false]) {
    const bank = deduplicates ? 'deduplicating' : 'not deduplicating';

    it(`two workers at one payout submit it once (${bank})`, async () => {
      const w = await make({ deduplicatesForMs: deduplicates ? DAY_MS : 0 });
      const ids = [await w.writes(5_000n), await w.writes(5_000n), await w.writes(5_000n)];
      await Promise.all(ids.flatMap((id) => Array.from({ length: 8 }, () => w.worker()(id))));
      for (const id of ids) assert.deepEqual([await w.state(id), (await w.bank.payments(id)).length], ['submitted', 1]);
    });

    it(`a worker killed between the effect and its recording costs time, not money (${bank})`, async () => {
      const w = await make({ deduplicatesForMs: deduplicates ? DAY_MS : 0, submitMs: 1_500, graceMs: 300 });
      const id = await w.writes(5_000n);
      assert.equal(await accident(w, id, 'dies_after_sending', deduplicates), 'SIGKILL');
      assert.equal(await w.state(id), 'submitting');
      const wait = await w.looksAt(id);
      assert.ok(wait && wait.againInMs > 0, 'the lease of the killed worker did not count');
      assert.equal(await w.state(id), 'submitting');
      await w.sleep(wait.againInMs);
      await w.looksAt(id);
      assert.equal(await w.state(id), 'submitted');
      await w.reads();
      assert.deepEqual([await w.state(id), await w.paid(id)], ['settled', 1]);
    });

    it(`what a killed worker was submitting is unknown, without an alarm, until the bank says (${bank})`, async () => {
      const w = await make({ deduplicatesForMs: deduplicates ? DAY_MS : 0 });
      const id = await w.writes(5_000n);
      await w.rows.query(
        `update payouts set state = 'submitting', submissions = 1, submitting_until = clock_timestamp() - interval '1 second'
          where id = $1`,
        [id],
      );
      await w.bank.setFault({ kind: 'status_unavailable' });
      await w.looksAt(id, behaving(w.rail, { send: () => Promise.reject(new Unavailable('bank', 'is down')) }));
      const [row] = await w.rows.query<{ state: string; why: string; since: Date | null; alarmed_at: Date | null }>(
        'select state, why, unknown_since as since, alarmed_at from payouts where id = $1',
        [id],
      );
      assert.equal(row?.state, 'unknown');
      assert.notEqual(row.why, '');
      assert.ok(row.since !== null, 'nobody knows since when');
      assert.equal(row.alarmed_at, null, 'a case was opened before its time');
    });

    it(`a worker frozen past its lease neither pays nor records (${bank})`, async () => {
      const w = await make({ deduplicatesForMs: deduplicates ? DAY_MS : 0, submitMs: 1_500, graceMs: 200 });
      const id = await w.writes(5_000n);
      await accident(w, id, 'freezes_before_sending', deduplicates, async () => {
        assert.equal(await w.state(id), 'submitting');
        await w.sleep(((await w.looksAt(id))?.againInMs ?? 0) + 300);
        await w.looksAt(id);
        // The first bank gets it again under the same key; the other proves absence, and the attempt ends.
        assert.equal(await w.state(id), deduplicates ? 'submitted' : 'rejected');
      });
      assert.equal((await w.bank.payments(id)).length, deduplicates ? 1 : 0, 'the resumed worker paid');
      assert.equal(await w.state(id), deduplicates ? 'submitted' : 'rejected', 'the resumed worker recorded a result');
    });
  }

  it('a worker that breaks right after the effect leaves a payout that its successor finds paid', async () => {
    const w = await make({ deduplicatesForMs: 0, submitMs: 600 });
    const id = await w.writes(5_000n);
    const breaking = behaving(w.rail, {
      async send(sending) {
        await w.rail.send(sending);
        throw new Error('out of memory');
      },
    });
    await w.looksAt(id, breaking);
    assert.equal(await w.state(id), 'unknown');
    await w.looksAt(id);
    assert.deepEqual([await w.state(id), await w.paid(id)], ['submitted', 1]);
  });

  it('an answer that arrives after the statement has settled the payout records nothing', async () => {
    const w = await make();
    const id = await w.writes(5_000n);
    const slow = behaving(w.rail, {
      async send(sending) {
        const sent = await w.rail.send(sending);
        await w.reads();
        assert.equal(await w.state(id), 'settled');
        return sent;
      },
    });
    await w.looksAt(id, slow);
    assert.equal(await w.state(id), 'settled');
  });

  it('a rejection that arrives after the statement has settled the payout does not undo it', async () => {
    const w = await make();
    const id = await w.writes(5_000n);
    const lying = behaving(w.rail, {
      async send(sending) {
        await w.rail.send(sending);
        await w.reads();
        return { outcome: 'rejected', why: 'no' };
      },
    });
    await w.looksAt(id, lying);
    assert.deepEqual([await w.state(id), await w.paid(id)], ['settled', 1]);
  });
});

describe('random faults', () => {
  const KINDS = [
    'lose_answer_before_effect',
    'lose_answer_after_effect',
    'delay_answer',
    'reject_next',
    'return_next',
    'status_unavailable',
    'statement_twice',
    'statement_reordered',
  ] as const;

  for (const deduplicates of [true, false]) {
    it(`every payout ends, paid once or not at all, and its state says which (${deduplicates ? '' : 'not '}deduplicating)`, async (t) => {
      const seed = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000);
      t.diagnostic(`TEST_SEED=${seed}`);
      const random = seeded(seed);
      const w = await make({ deduplicatesForMs: deduplicates ? DAY_MS : 0, submitMs: 900, graceMs: 100 });
      const ids: string[] = [];
      for (let i = 0; i < 25; i += 1) ids.push(await w.writes(BigInt(100 + i)));
      const openIds = async () => {
        const states = await Promise.all(ids.map((id) => w.payout(id)));
        return states.filter(({ endedAt }) => endedAt === null).map(({ id }) => id);
      };
      for (let round = 0; round < 200; round += 1) {
        const open = await openIds();
        if (open.length === 0) break;
        if (round < 6) {
          for (const kind of KINDS) await w.bank.setFault({ kind, times: Math.floor(random() * 4), delayMs: 700 });
        }
        await Promise.all(open.flatMap((id) => [w.looksAt(id), w.looksAt(id)]));
        await w.reads();
        await w.sleep(100);
      }
      assert.deepEqual(await openIds(), []);
      await w.bank.clearFaults();
      await w.reads();
      await w.reads();
      let left = 0n;
      for (const id of ids) {
        const { state, units } = await w.payout(id);
        assert.deepEqual([id, await w.paid(id)], [id, state === 'rejected' ? 0 : 1], state);
        if (state === 'settled') left += units;
      }
      assert.equal(await w.bank.balance('INR'), 1_000_000n - left);
      assert.deepEqual([w.contradictions, w.troubles], [[], []]);
    });
  }
});

describe('a payout that is rejected', () => {
  it('at once ends and is reported once', async () => {
    const w = await make();
    const id = await w.writes(5_000n, '123450009001');
    assert.equal(await w.looksAt(id), undefined);
    await w.looksAt(id);
    const payout = await w.payout(id);
    assert.deepEqual([payout.state, payout.why], ['rejected', 'account_closed']);
    assert.deepEqual(
      w.of('payout_rejected').map(({ key, why }) => [key, why]),
      [[id, 'account_closed']],
    );
  });

  it('after it was accepted is found by a status query', async () => {
    const w = await make();
    const id = await w.writes(5_000n);
    const late = behaving(w.rail, { status: async () => ({ outcome: 'rejected', why: 'account_closed' }) });
    await w.looksAt(id);
    assert.equal(await w.looksAt(id, late), undefined);
    assert.equal(await w.state(id), 'rejected');
  });

  it('that was accepted and is not shown as paid for days opens one case, and is still queried', async () => {
    const w = await make();
    const id = await w.writes(5_000n);
    await w.looksAt(id);
    const silent = behaving(w.rail, { status: async () => ({ outcome: 'known' }) });
    await w.looksAt(id, silent);
    assert.deepEqual([await w.state(id), w.of('payout_unknown').length], ['submitted', 0]);
    w.clock.advance(3 * 86_400_000);
    for (let i = 0; i < 2; i += 1)
      assert.ok((await w.looksAt(id, silent))?.againInMs, 'the rail is not asked any more');
    assert.deepEqual([await w.state(id), w.of('payout_unknown').length], ['submitted', 1]);
  });

  it('that was accepted, and about which the rail has no answer for days, opens one case', async () => {
    const w = await make();
    const id = await w.writes(5_000n);
    await w.looksAt(id);
    const silent = behaving(w.rail, { status: async () => ({ outcome: 'unknown', why: 'no answer' }) });
    await w.looksAt(id, silent);
    assert.deepEqual([await w.state(id), w.of('payout_unknown').length], ['submitted', 0]);
    w.clock.advance(3 * DAY_MS);
    for (let i = 0; i < 2; i += 1)
      assert.ok((await w.looksAt(id, silent))?.againInMs, 'the rail is not asked any more');
    assert.deepEqual([await w.state(id), w.of('payout_unknown').length], ['submitted', 1]);
  });

  it('that was unknown for long before it was accepted opens a case again if it is not shown as paid', async () => {
    const w = await make();
    const id = await w.writes(5_000n);
    const unknown = async () => ({ outcome: 'unknown' as const, why: 'no answer' });
    const silent = behaving(w.rail, { send: unknown, status: unknown });
    await w.looksAt(id, silent);
    w.clock.advance(16 * 60_000);
    await w.looksAt(id, silent);
    assert.equal(w.of('payout_unknown').length, 1);
    // This fact closes the case.
    const accepted = behaving(w.rail, { status: async () => ({ outcome: 'known' }) });
    await w.looksAt(id, accepted);
    assert.deepEqual([await w.state(id), w.of('payout_submitted').length], ['submitted', 1]);
    w.clock.advance(3 * DAY_MS);
    for (let i = 0; i < 2; i += 1) await w.looksAt(id, accepted);
    assert.equal(w.of('payout_unknown').length, 2);
  });

  it('after it was accepted does not follow from absence alone', async () => {
    // Accepted within its time also on a busy machine: otherwise absence would prove that it never left.
    const w = await make({ deduplicatesForMs: 0, submitMs: 2_000, graceMs: 0 });
    const id = await w.writes(5_000n);
    await w.looksAt(id);
    w.clock.advance(2_100);
    const forgetful = behaving(w.rail, { status: async () => ({ outcome: 'absent' }) });
    await w.looksAt(id, forgetful);
    await w.looksAt(id, forgetful);
    assert.equal(await w.state(id), 'unknown');
    w.clock.advance(16 * 60_000);
    await w.looksAt(id, forgetful);
    assert.equal(w.of('payout_unknown').length, 1);
    assert.equal(await w.paid(id), 1);
  });
});

describe('observations in an unusual order', () => {
  it('settle a payout from every open state, and once', async () => {
    const w = await make();
    for (const state of ['created', 'submitting', 'submitted', 'unknown']) {
      const id = await w.writes(1n);
      await at(w, id, state);
      const fact = { rail: w.rail.code, key: id, reference: 'UTR1', now: w.clock.now() };
      const first = await w.db.asSystem((tx) => settled(tx, fact));
      assert.deepEqual([first?.before, first?.payout.state, first?.contradiction], [state, 'settled', false]);
      assert.equal(await w.db.asSystem((tx) => settled(tx, fact)), undefined);
    }
  });

  it('settled after rejected is a contradiction, and the payout is settled because the money has left', async () => {
    const w = await make();
    const id = await w.writes(1n);
    const fact = { rail: w.rail.code, key: id, reference: 'UTR1', why: 'no', now: w.clock.now() };
    await w.db.asSystem((tx) => recordRejected(tx, fact));
    const observed = await w.db.asSystem((tx) => settled(tx, fact));
    assert.deepEqual([observed?.contradiction, observed?.payout.state], [true, 'settled']);
    assert.equal(await w.db.asSystem((tx) => settled(tx, fact)), undefined);
  });

  it('returned after settled is reported once; rejected after settled is a contradiction and changes nothing', async () => {
    const w = await make();
    const id = await w.writes(1n);
    const fact = { rail: w.rail.code, key: id, reference: 'UTR1', why: 'no', now: w.clock.now() };
    await w.db.asSystem((tx) => settled(tx, fact));
    const late = await w.db.asSystem((tx) => recordRejected(tx, fact));
    assert.deepEqual([late?.contradiction, await w.state(id)], [true, 'settled']);
    const back = await w.db.asSystem((tx) => returned(tx, fact));
    assert.deepEqual([back?.before, back?.payout.state, back?.contradiction], ['settled', 'returned', false]);
    assert.equal(await w.db.asSystem((tx) => returned(tx, fact)), undefined);
    assert.equal(await w.db.asSystem((tx) => settled(tx, fact)), undefined);
  });

  it('of another rail change nothing', async () => {
    const w = await make();
    const id = await w.writes(1n);
    assert.equal(
      await w.db.asSystem((tx) => settled(tx, { rail: 'bank.other', key: id, reference: 'x', now: w.clock.now() })),
      undefined,
    );
    assert.equal(await w.state(id), 'created');
  });
});

const at = async (w: BankEnvironment, id: string, state: string) =>
  w.rows.query('update payouts set state = $2, submissions = 1 where id = $1', [id, state]);

/** Runs a worker process that has an accident. @returns the signal that ended it, if one did */
async function accident(
  w: BankEnvironment,
  id: string,
  kind: 'freezes_before_sending' | 'dies_after_sending',
  deduplicates: boolean,
  whileFrozen?: () => Promise<void>,
): Promise<NodeJS.Signals | null> {
  const orders = JSON.stringify({
    serverUrl: w.serverUrl,
    url: w.bank.url,
    token: w.bank.token,
    deduplicatesForMs: deduplicates ? DAY_MS : 0,
    id,
    submitMs: 1_500,
    accident: kind,
  });
  const script = fileURLToPath(new URL('worker.process.ts', import.meta.url));
  const child = spawn(process.execPath, [script, orders], { stdio: ['ignore', 'inherit', 'inherit'] });
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  if (whileFrozen !== undefined) {
    try {
      await until('it is begun', async () => (await w.state(id)) !== 'created');
      await whileFrozen();
    } finally {
      child.kill('SIGCONT');
    }
  }
  const [code, signal] = await ended;
  if (signal === null) assert.equal(code, 0);
  return signal;
}

/** mulberry32: numbers from 0 to below 1, the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
