/**
 * The manual bank with real payouts and a real database: payout, file, statement, settlement; and the actions of people on files.
 *
 * Long because its claims share one desk and one set of statements.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { txOn } from '../../src/base/db.ts';
import { sumOfLines } from '../../src/rails/bank.store.ts';
import { lockPayout, recordRejected, whyNotUnpaid } from '../../src/rails/payouts.ts';
import { type ManualEnvironment, manualEnvironment, PAYEE } from '../support/manual.environment.ts';
import { patience } from '../support/patience.ts';
import { camt, DAY, germanCsv } from '../support/statements.ts';
import { targetOf } from '../support/targets.ts';

const refusedFile = (why: RegExp) => (error: { code?: string; facts?: { why?: string } }) => {
  assert.equal(error.code, 'file_refused');
  assert.match(error.facts?.why ?? '', why);
  return true;
};
const refusedBatch = (why: RegExp) => (error: { code?: string; facts?: { why?: string } }) => {
  assert.equal(error.code, 'batch_refused');
  assert.match(error.facts?.why ?? '', why);
  return true;
};
const carried = (id: string): string => id.replaceAll('_', '-');

describe('a payout after a restore', () => {
  let w: ManualEnvironment;
  before(async () => {
    w = await manualEnvironment();
  });
  after(() => w.stop());

  it('that a statement showed before it was created again is settled by that line and listed in no file', async () => {
    const before = await w.pays(400n);
    await w.asks((desk, tx) => desk.takeOff(tx, before));
    await w.looksAt(before);
    const [, order, attempt] = before.split('_');
    const id = `pay_${order}_${Number(attempt) + 1}`;
    const shown = (units: bigint) => ({
      units: -units,
      text: `SEPA ${carried(id)}`,
      ref: `R${units}`,
      name: 'A Payee',
    });
    await w.takes(w.nextStatement([shown(401n), shown(500n)]));
    assert.equal(w.of('unexplained_debit').length, 2);
    assert.equal(await w.pays(500n), id);
    assert.equal(await w.state(id), 'settled');
    const settled = w.of('payout_settled').at(-1);
    assert.equal(settled?.undoes, w.of('unexplained_debit')[1]?.externalId, 'the booking of the line was not undone');
    assert.deepEqual(await w.asks((desk, tx) => desk.waiting(tx, 'eur')), []);
  });
});

describe('a payout through a manual bank', () => {
  let w: ManualEnvironment;
  before(async () => {
    w = await manualEnvironment();
  });
  after(() => w.stop());

  it('waits on the list, leaves in a file, and is settled by the statement alone', async () => {
    const id = await w.pays(12_345n);
    assert.equal(await w.state(id), 'submitted');
    assert.deepEqual(
      (await w.asks((desk, tx) => desk.waiting(tx, 'eur'))).map(({ key, units }) => [key, units]),
      [[id, 12_345n]],
    );
    const batch = await w.closes();
    assert.deepEqual([batch.payouts, batch.units, batch.format], [1, 12_345n, 'pain.001.001.09']);
    assert.deepEqual(await w.asks((desk, tx) => desk.waiting(tx)), []);
    assert.equal(await w.state(id), 'submitted');
    await w.takes(w.nextStatement([{ units: -12_345n, endToEnd: carried(id), ref: 'D1', name: 'Somebody' }]));
    assert.equal(await w.state(id), 'settled');
    assert.deepEqual(
      w.of('payout_settled').map(({ key, reference }) => [key, reference]),
      [[id, 'D1']],
    );
    assert.deepEqual(
      (await w.asks((desk, tx) => desk.batch(tx, batch.id))).list.map(({ state }) => state),
      ['settled'],
    );
  });

  it('is in one file only, also when two people close concurrently, and every download of a file has the same bytes', async () => {
    const ids = [await w.pays(100n), await w.pays(200n), await w.pays(300n)];
    const closed = await Promise.allSettled([w.closes(), w.closes(), w.closes()]);
    const made = closed.filter((one) => one.status === 'fulfilled').map(({ value }) => value);
    assert.deepEqual(
      made.map(({ payouts }) => payouts),
      [3],
    );
    const [first, again] = [
      await w.asks((desk, tx) => desk.file(tx, made[0]?.id ?? 0n)),
      await w.asks((desk, tx) => desk.file(tx, made[0]?.id ?? 0n)),
    ];
    assert.deepEqual(first, again);
    for (const id of ids)
      assert.equal(
        first.bytes.toString().split(carried(id)).length - 1,
        2,
        'the key is not in the file exactly once as id and once as text',
      );
    await assert.rejects(
      w.rows.query('update manual_payouts set batch_id = null where key = $1', [ids[0]]),
      /is in file/,
    );
    await assert.rejects(
      w.db.asSystem((tx) => tx.run(`update manual_batches set content = ''`)),
      { code: '42501' },
    );
  });

  it('that may not leave any more is in no file and ends unpaid, and one that waits stays on the list', async () => {
    const [held, waits, goes] = [await w.pays(400n), await w.pays(500n), await w.pays(600n)];
    w.gateSays(held, { outcome: 'hold', why: 'held: customer_blocked' });
    w.gateSays(waits, { outcome: 'wait', why: 'not cleared', againInMs: 1_000 });
    const batch = await w.closes();
    assert.deepEqual(
      batch.leftOut.map(({ key, why }) => [key, why]),
      [
        [held, 'held: customer_blocked'],
        [waits, 'not cleared'],
      ],
    );
    const { bytes } = await w.asks((desk, tx) => desk.file(tx, batch.id));
    assert.equal(bytes.toString().includes(carried(goes)), true);
    for (const id of [held, waits]) assert.equal(bytes.toString().includes(carried(id)), false);
    await w.looksAt(held);
    assert.equal(await w.state(held), 'rejected');
    assert.equal(await w.state(waits), 'submitted');
    await assert.rejects(w.closes(), refusedBatch(/None of the 1 waiting payouts may be paid now: .*not cleared/));
    w.gateSays(waits, { outcome: 'pay' });
    assert.equal((await w.closes()).payouts, 1);
  });

  it('that is held after its file was closed keeps the file from being downloaded', async () => {
    const [held, other] = [await w.pays(700n), await w.pays(800n)];
    const { id } = await w.closes();
    w.gateSays(held, { outcome: 'hold', why: 'held: destination_denied' });
    await assert.rejects(
      w.asks((desk, tx) => desk.file(tx, id)),
      refusedBatch(/1 of its payouts must not be paid now: .*destination_denied.* Withdraw the file/),
    );
    await w.looksAt(held);
    assert.equal(
      await w.state(held),
      'submitted',
      'a payout in a file was taken off the list, although it may have been uploaded',
    );
    await w.withdraws(id, 'the file was never downloaded');
    for (const one of [held, other]) {
      await w.looksAt(one);
      assert.equal(await w.state(one), 'rejected');
    }
  });

  it('that is held while it is still being submitted keeps the file from being downloaded', async () => {
    const [held, other] = [await w.pays(705n), await w.pays(706n)];
    const { id } = await w.closes();
    // Its worker listed it, and died before it recorded that.
    await w.db.asSystem((tx) =>
      tx.run(
        `update payouts set state = 'submitting', submitting_until = now() + interval '15 s', submitted_at = null
          where id = $1`,
        [held],
      ),
    );
    w.gateSays(held, { outcome: 'hold', why: 'held: customer_blocked' });
    await assert.rejects(
      w.asks((desk, tx) => desk.file(tx, id)),
      refusedBatch(new RegExp(`1 of its payouts must not be paid now: ${held}`)),
    );
    await w.withdraws(id, 'the file was never downloaded');
    for (const one of [held, other]) await w.looksAt(one);
    assert.equal(await w.state(other), 'rejected');
  });

  it('that has to wait after its file was closed keeps the file from being downloaded until it may leave', async () => {
    const [waits, held, goes] = [await w.pays(710n), await w.pays(720n), await w.pays(730n)];
    const { id } = await w.closes();
    const file = () => w.asks((desk, tx) => desk.file(tx, id));
    w.gateSays(waits, { outcome: 'wait', why: 'not cleared', againInMs: 1_000 });
    const notYet = new RegExp(`1 of its payouts may not leave yet: ${waits} \\(not cleared\\)\\. Retry once`);
    await assert.rejects(file(), refusedBatch(notYet));
    w.gateSays(held, { outcome: 'hold', why: 'held: customer_blocked' });
    await assert.rejects(file(), refusedBatch(notYet));
    await assert.rejects(file(), refusedBatch(new RegExp(`1 of its payouts must not be paid now: ${held}`)));
    for (const key of [waits, held]) w.gateSays(key, { outcome: 'pay' });
    assert.equal((await file()).bytes.toString().includes(carried(goes)), true);
    await w.withdraws(id, 'the file was never uploaded');
  });

  it('is chosen for the next file without blocking others that lock its order', async () => {
    const id = await w.pays(740n);
    const other = await w.db.session();
    await other.query('begin');
    await txOn(other).run('select from manual_payouts where key = $1 for update', [id]);
    const { keys } = await w.asks((desk, tx) => desk.next(tx, { asset: 'eur', until: w.clock.now() }));
    await other.query('rollback');
    await other.end();
    assert.deepEqual(keys, [id]);
    await w.asks((desk, tx) => desk.takeOff(tx, id));
    await w.looksAt(id);
  });

  it('that the bank sends back is returned, with the reason in our words and the bank’s code', async () => {
    const id = await w.pays(5_000n);
    await w.closes();
    await w.takes(w.nextStatement([{ units: -5_000n, endToEnd: carried(id), ref: 'D2' }]));
    assert.equal(await w.state(id), 'settled');
    await w.takes(w.nextStatement([{ units: 5_000n, endToEnd: carried(id), ref: 'C2', returned: 'AC04' }]));
    assert.equal(await w.state(id), 'returned');
    assert.deepEqual(
      w.of('payout_returned').map(({ key, why, units }) => [key, why, units]),
      [[id, 'account_closed (AC04)', 5_000n]],
    );
  });

  it('whose debit and return are in one statement, the return first, is settled and returned', async () => {
    const id = await w.pays(5_100n);
    await w.closes();
    const entries = [
      { units: 5_100n, endToEnd: carried(id), ref: 'C3', reversal: true },
      { units: -5_100n, endToEnd: carried(id), ref: 'D3' },
    ];
    await w.takes(w.nextStatement(entries));
    assert.equal(await w.state(id), 'returned');
    assert.deepEqual(w.contradictions, []);
    assert.deepEqual(w.of('unexplained_debit'), []);
  });

  it('of a file that the bank books as one debit is settled by it, if it equals the sum of the file', async () => {
    const ids = [await w.pays(610n), await w.pays(620n)];
    const { id } = await w.closes();
    const entry = { ref: 'WHOLE', text: `SAMMLER CLOVERLEAF-${id} ANZAHL 2` };
    await w.takes(w.nextStatement([{ ...entry, units: -1_229n, ref: 'OTHER' }]));
    assert.deepEqual([await w.state(ids[0] ?? ''), w.of('unexplained_debit').length], ['submitted', 1]);
    const file = w.nextStatement([{ ...entry, units: -1_230n }]);
    await w.takes(file);
    await w.takes(`${file}\n`);
    assert.deepEqual([await w.state(ids[0] ?? ''), await w.state(ids[1] ?? '')], ['settled', 'settled']);
    assert.equal(w.of('unexplained_debit').length, 1);
  });

  /** Two payouts in one file that the bank books as one debit, named by the file. */
  const paidAsOne = async (units: readonly [bigint, bigint], ref: string, debit = units[0] + units[1]) => {
    const ids = [await w.pays(units[0]), await w.pays(units[1])];
    const { id } = await w.closes();
    const text = `SAMMLER CLOVERLEAF-${id} ANZAHL 2`;
    await w.takes(w.nextStatement([{ ref, text, units: -debit }]));
    return { ids, text, states: () => Promise.all(ids.map(w.state)) };
  };
  const creditsSince = (at: number) => w.facts.slice(at).filter(({ type }) => type === 'deposit_confirmed');
  const returnsSince = (at: number) =>
    w.facts.slice(at).flatMap((fact) => (fact.type === 'payout_returned' ? [[fact.key, fact.units] as const] : []));

  it('of a file that the bank takes back as one credit is returned, and so is each other payout of the file', async () => {
    const { ids, text, states } = await paidAsOne([631n, 642n], 'WHOLE1');
    assert.deepEqual(await states(), ['settled', 'settled']);
    const at = w.facts.length;
    const file = w.nextStatement([{ ref: 'BACK1', text, units: 1_273n, reversal: true }]);
    await w.takes(file);
    await w.takes(`${file}\n`);
    assert.deepEqual(await states(), ['returned', 'returned']);
    assert.deepEqual(returnsSince(at), [
      [ids[0], 631n],
      [ids[1], 642n],
    ]);
    assert.deepEqual(creditsSince(at), []);
  });

  it('of a file that comes back with more than its payouts is returned, and the rest has no owner', async () => {
    const { ids, text, states } = await paidAsOne([633n, 644n], 'WHOLE2');
    const at = w.facts.length;
    await w.takes(w.nextStatement([{ ref: 'BACK2', text, units: 1_280n, returned: 'MS03' }]));
    assert.deepEqual(await states(), ['returned', 'returned']);
    assert.deepEqual(
      returnsSince(at).map(([key]) => key),
      ids,
    );
    const rest = creditsSince(at).map((fact) => ('units' in fact && 'target' in fact ? [fact.units, fact.target] : []));
    assert.deepEqual(rest, [[3n, '']]);
  });

  it('of a file that comes back with less stays settled: nobody but the bank knows which payment lacks it', async () => {
    const { text, states } = await paidAsOne([635n, 646n], 'WHOLE3');
    const at = w.facts.length;
    const file = w.nextStatement([{ ref: 'BACK3', text, units: 1_280n, reversal: true }]);
    await w.takes(file);
    assert.deepEqual([await states(), returnsSince(at)], [['settled', 'settled'], []]);
    assert.deepEqual(
      creditsSince(at).map((fact) => 'units' in fact && fact.units),
      [1_280n],
    );
  });

  it('of a file whose debit no payout explains is not returned by the credit that takes that debit back', async () => {
    // Both are on the statement: paid out and returned, the payouts would count as paid by a debit of their own.
    const { text, states } = await paidAsOne([637n, 648n], 'WHOLE4', 1_290n);
    const at = w.facts.length;
    await w.takes(w.nextStatement([{ ref: 'BACK4', text, units: 1_290n, reversal: true }]));
    assert.deepEqual([await states(), returnsSince(at)], [['submitted', 'submitted'], []]);
    assert.deepEqual(
      creditsSince(at).map((fact) => 'units' in fact && fact.units),
      [1_290n],
    );
    // So do both in one statement.
    const ids = [await w.pays(639n), await w.pays(650n)];
    const { id } = await w.closes();
    const both = { text: `SAMMLER CLOVERLEAF-${id}` };
    await w.takes(
      w.nextStatement([
        { ...both, ref: 'BACK5', units: 1_300n, reversal: true },
        { ...both, ref: 'WHOLE5', units: -1_300n },
      ]),
    );
    assert.deepEqual(await Promise.all(ids.map(w.state)), ['submitted', 'submitted']);
  });

  it('of a file that was not uploaded is rejected when the file is withdrawn, and only then', async () => {
    const id = await w.pays(900n);
    const batch = await w.closes();
    await assert.rejects(w.withdraws(batch.id, 'no'), { code: 'malformed_field' });
    await w.withdraws(batch.id, 'The bank rejected the upload, its screen said so.');
    await w.looksAt(id);
    assert.equal(await w.state(id), 'rejected');
    assert.equal((await w.rail.status(id)).outcome, 'rejected');
    await assert.rejects(
      w.asks((desk, tx) => desk.file(tx, batch.id)),
      refusedBatch(/withdrawn/),
    );
    await assert.rejects(w.closes(), refusedBatch(/No payout waits/));
    // If the file was uploaded after all, money has left, and a person has to decide.
    await w.takes(w.nextStatement([{ units: -900n, endToEnd: carried(id), ref: 'D4' }]));
    assert.deepEqual(w.contradictions, [id]);
  });

  it('of a file that is being downloaded cannot be withdrawn at the same moment', async () => {
    await w.pays(905n);
    const { id } = await w.closes();
    const done: string[] = [];
    let withdrawing: Promise<unknown> | undefined;
    await w.asks(async (desk, tx) => {
      await desk.file(tx, id);
      withdrawing = w.withdraws(id, 'The upload was never begun, says the bank.').then(() => done.push('withdrawn'));
      const isWaiting = () => w.rows.query(`select from pg_locks where locktype = 'advisory' and not granted`);
      for (const isOver = patience(5_000); (await isWaiting()).length === 0 && done.length === 0; )
        assert.ok(!isOver(), 'the withdrawal did not wait for the download');
      done.push('downloaded');
    });
    await withdrawing;
    assert.deepEqual(done, ['downloaded', 'withdrawn']);
  });

  it('of a file that the statement shows cannot be withdrawn', async () => {
    const [a, b] = [await w.pays(910n), await w.pays(920n)];
    const batch = await w.closes();
    const file = w.nextStatement([{ units: -910n, endToEnd: carried(a), ref: 'D5' }]);
    await w.imports(file);
    const withdraw = () => w.withdraws(batch.id, 'I believe that it was not uploaded.');
    await assert.rejects(withdraw(), refusedBatch(/being imported/));
    await w.rail.observe();
    await assert.rejects(withdraw(), refusedBatch(/it was uploaded/));
    assert.deepEqual([await w.state(a), await w.state(b)], ['settled', 'submitted']);
  });

  it('of a file that a debit of another amount names cannot be withdrawn', async () => {
    // The bank booked the file as one debit, without the payment that it could not make.
    const ids = [await w.pays(930n), await w.pays(940n)];
    const batch = await w.closes();
    const debit = { units: -940n, ref: 'PART', text: `SAMMLER CLOVERLEAF-${batch.id} ANZAHL 1` };
    await w.takes(w.nextStatement([debit]));
    assert.equal(w.of('unexplained_debit').at(-1)?.units, 940n);
    await assert.rejects(
      w.withdraws(batch.id, 'I believe that it was not uploaded.'),
      refusedBatch(/A statement shows a debit that names this file or its payouts, so it was uploaded/),
    );
    await assert.rejects(
      w.asks((desk, tx) => desk.file(tx, batch.id)),
      refusedBatch(/A statement shows a debit that names this file/),
    );
    assert.deepEqual([await w.state(ids[0] ?? ''), await w.state(ids[1] ?? '')], ['submitted', 'submitted']);
  });

  it('that is named in details which do not add up to their debit keeps its file from being withdrawn', async () => {
    const ids = [await w.pays(931n), await w.pays(941n)];
    const batch = await w.closes();
    // The bank booked both as one debit and added a charge that it did not state.
    const parts = [
      { units: -931n, endToEnd: carried(ids[0] ?? '') },
      { units: -941n, endToEnd: carried(ids[1] ?? '') },
    ];
    await w.takes(w.nextStatement([{ units: -1_900n, ref: 'CHARGED', parts }]));
    assert.equal(w.of('unexplained_debit').at(-1)?.units, 1_900n);
    const named = refusedBatch(/A statement shows a debit that names this file/);
    await assert.rejects(w.withdraws(batch.id, 'I believe that it was not uploaded.'), named);
    await assert.rejects(
      w.asks((desk, tx) => desk.file(tx, batch.id)),
      named,
    );
    assert.deepEqual([await w.state(ids[0] ?? ''), await w.state(ids[1] ?? '')], ['submitted', 'submitted']);
  });

  it('taken off the list is in no file, and one that does not fit any file is rejected at once', async () => {
    const id = await w.pays(950n);
    await w.asks((desk, tx) => desk.takeOff(tx, id));
    await w.looksAt(id);
    assert.equal(await w.state(id), 'rejected');
    for (const [details, why] of [
      [{ name: 'A B', account: '12345678' }, 'no_iban'],
      [{ name: '', account: PAYEE.iban }, 'no_name'],
      [{ name: '李小龍', account: PAYEE.iban }, 'name_not_writable'],
      [{ name: 'A B', account: PAYEE.iban, bic: 'not a bic' }, 'malformed_bic'],
    ] as const) {
      const bad = await w.pays(1n, details);
      assert.equal(await w.state(bad), 'rejected');
      assert.equal(w.of('payout_rejected').at(-1)?.why, why);
    }
    await assert.rejects(w.closes(), refusedBatch(/No payout waits/));
  });

  it('that ended otherwise before its file was closed is left out', async () => {
    const [gone, stays] = [await w.pays(960n), await w.pays(970n)];
    await w.rows.query(`update payouts set state = 'rejected', ended_at = now() where id = $1`, [gone]);
    const batch = await w.closes();
    assert.deepEqual(
      (await w.asks((desk, tx) => desk.batch(tx, batch.id))).list.map(({ key }) => key),
      [stays],
    );
  });

  it('that may still be uploaded cannot be declared never paid until its file is withdrawn or on a statement', async () => {
    const [onList, inFile, beside] = [await w.pays(971n), await w.pays(972n), await w.pays(973n)];
    await w.rows.query(
      `update payouts set alarmed_at = now(), submitting_until = now() - interval '4 days' where id = any($1)`,
      [[onList, inFile, beside]],
    );
    await w.takes(w.nextStatement([]));
    const whyNot = async (key: string) =>
      await w.asks(async (_desk, tx) => {
        const payout = await lockPayout(tx, key);
        assert.ok(payout);
        return await whyNotUnpaid({ clock: w.clock, graceMs: 0 }, tx, w.rail, payout);
      });
    assert.match((await whyNot(onList)) ?? '', /waits on the list/);
    await w.asks((desk, tx) => desk.takeOff(tx, onList));
    const { id } = await w.closes();
    assert.match((await whyNot(inFile)) ?? '', new RegExp(`file ${id}, .*withdraw`));
    // The statement shows that the file was uploaded, so people may decide about payouts that it does not show.
    await w.takes(w.nextStatement([{ units: -973n, endToEnd: carried(beside), ref: 'D9' }]));
    assert.equal(await w.state(beside), 'settled');
    assert.equal(await whyNot(inFile), undefined);
  });

  it('is declared never paid only once statements cover the end of its submission, however wrong the clock of the server is', async () => {
    const [beside, unpaid] = [await w.pays(976n), await w.pays(977n)];
    await w.closes();
    await w.takes(w.nextStatement([{ units: -976n, endToEnd: carried(beside), ref: 'D976' }]));
    const whyNot = async (aheadMs: number) =>
      await w.asks(async (_desk, tx) => {
        const payout = await lockPayout(tx, unpaid);
        assert.ok(payout);
        const clock = { now: () => new Date(Date.now() + aheadMs) };
        return await whyNotUnpaid({ clock, graceMs: 0 }, tx, w.rail, payout);
      });
    const submittedAgo = (time: string) =>
      w.rows.query('update payouts set alarmed_at = now(), submitting_until = now() - $2::interval where id = $1', [
        unpaid,
        time,
      ]);
    // The statements cover the days before today, and its submission ended within today.
    await submittedAgo('0');
    for (const aheadMs of [-3, 0, 3].map((days) => days * 86_400_000))
      assert.match((await whyNot(aheadMs)) ?? 'nothing', /is read up to/, `${aheadMs} ms ahead`);
    await submittedAgo('2 days');
    for (const aheadMs of [-3, 0, 3].map((days) => days * 86_400_000))
      assert.equal(await whyNot(aheadMs), undefined, `${aheadMs} ms ahead`);
    // The submission is not over by the database's clock.
    await submittedAgo('-1 hour');
    assert.match((await whyNot(3 * 86_400_000)) ?? '', /may still execute it/);
  });

  it('that ended unpaid keeps its whole file from being downloaded again', async () => {
    const [over, stays] = [await w.pays(974n), await w.pays(975n)];
    const { id } = await w.closes();
    await w.asks(async (_desk, tx) => {
      await recordRejected(tx, { rail: w.rail.code, key: over, why: 'declared_never_paid', now: w.clock.now() });
    });
    await assert.rejects(
      w.asks((desk, tx) => desk.file(tx, id)),
      refusedBatch(new RegExp(`${over} .*ended`)),
    );
    await w.withdraws(id, 'It was never uploaded, says the bank.');
    await w.looksAt(stays);
    assert.equal(await w.state(stays), 'rejected');
  });

  it('that another debit paid keeps its whole file from being downloaded', async () => {
    const [paid, other] = [await w.pays(976n), await w.pays(977n)];
    const { id } = await w.closes();
    // A person was in a hurry, paid it on the bank's own page, and named it there.
    await w.takes(w.nextStatement([{ units: -976n, endToEnd: carried(paid), ref: 'D10' }]));
    assert.deepEqual([await w.state(paid), await w.state(other)], ['settled', 'submitted']);
    await assert.rejects(
      w.asks((desk, tx) => desk.file(tx, id)),
      refusedBatch(new RegExp(`1 of its payouts .*paid.*: ${paid}`)),
    );
  });

  it('is listed whatever this machine’s clock says, and never after the time of its submission', async (t) => {
    const real = Date.now;
    const { mock } = t.mock.method(Date, 'now', () => real() - 3_600_000);
    const behind = await w.pays(981n);
    assert.equal(await w.state(behind), 'submitted');
    // A worker that was frozen for longer than its submission, on a machine whose clock is ahead.
    const late = await w.pays(982n, { name: '', account: 'x' });
    await w.rows.query(
      `update payouts set state = 'submitting', ended_at = null, submitting_until = now() - interval '1 s' where id = $1`,
      [late],
    );
    mock.mockImplementation(() => real() + 3_600_000);
    const destination = { kind: 'account', details: PAYEE } as const;
    const notAfter = new Date(Date.now() + 10_000);
    const sent = await w.rail.send({ key: late, asset: 'eur', units: 982n, destination, notAfter });
    assert.equal(sent.outcome, 'unknown');
    mock.restore();
    await w.asks((desk, tx) => desk.takeOff(tx, behind));
  });

  it('that was killed while its file was being closed still waits', async () => {
    const id = await w.pays(980n);
    const client = await w.db.session();
    await client.query('begin');
    await txOn(client).run('update manual_payouts set batch_id = (select max(id) from manual_batches) where key = $1', [
      id,
    ]);
    const closing = w.closes();
    await client.end();
    assert.deepEqual(
      (await w.asks(async (desk, tx) => desk.batch(tx, (await closing).id))).list.map(({ key }) => key),
      [id],
    );
  });

  it('whose worker ended after it was listed is submitted; one whose worker ended before has never arrived', async () => {
    const dies = async (listed: boolean) => {
      const id = await w.pays(990n, { name: '', account: 'x' });
      const submitting = (left: string) =>
        w.rows.query(
          `update payouts set state = 'submitting', ended_at = null, submitting_until = now() + $2::interval where id = $1`,
          [id, left],
        );
      await submitting('1 minute');
      const destination = { kind: 'account', details: PAYEE } as const;
      if (listed) await w.rail.send({ key: id, asset: 'eur', units: 990n, destination });
      await submitting('-1 hour');
      await w.looksAt(id);
      return id;
    };
    const [listed, lost] = [await dies(true), await dies(false)];
    assert.deepEqual([await w.state(listed), await w.state(lost)], ['submitted', 'rejected']);
    assert.equal(w.of('payout_rejected').at(-1)?.why, 'never_arrived');
    const { id } = await w.closes();
    assert.deepEqual(
      (await w.asks((desk, tx) => desk.batch(tx, id))).list.map(({ key }) => key),
      [listed],
    );
  });

  it('leaves no name or account readable in the database', async () => {
    for (const table of ['manual_payouts', 'manual_batches', 'manual_lines', 'manual_statements', 'manual_imports']) {
      const stored = await w.rows.query<{ row: string }>(`select ${table}::text as row from ${table}`);
      assert.ok(stored.length > 0, table);
      const text = stored.map(({ row }) => row).join() + stored.map(({ row }) => Buffer.from(row, 'hex')).join();
      for (const secret of ['Groß', 'Gross', PAYEE.iban, 'Somebody', Buffer.from('Gross').toString('hex')])
        assert.ok(!text.includes(secret), `${table}: ${secret}`);
    }
  });
});

describe('the first statement of an account', () => {
  it('books the opening balance as the operator’s own, and no earlier statement is accepted later', async () => {
    const w = await manualEnvironment();
    try {
      const of = (from: string, opening: bigint, units: bigint) =>
        camt({ id: from, from, opening, entries: [{ units, ref: from }] });
      await assert.rejects(w.imports(of('2026-11-02', -5n, 10n)), refusedFile(/negative opening balance/));
      await w.takes(of('2026-11-02', 5_000n, 10n));
      assert.deepEqual(
        w.of('funding_confirmed').map(({ units, reference }) => [units, reference]),
        [[5_000n, 'opening balance']],
      );
      assert.equal(
        await w.db.asSystem((tx) => sumOfLines(tx, w.rail.code, 'eur')),
        await w.rail.balance('main', 'eur'),
      );
      await assert.rejects(
        w.imports(of('2026-11-01', 4_000n, 1_000n)),
        refusedFile(/whose opening balance includes them/),
      );
      await w.takes(of('2026-11-03', 5_010n, 7n));
      assert.equal(await w.asks((desk, tx) => desk.missing(tx, 'eur')), 0n);
      assert.equal(w.of('funding_confirmed').length, 1);
      assert.equal(await w.rail.balance('main', 'eur'), 5_017n);

      // A statement is missing from here on; no lines can be added to a day inside a statement that was taken in.
      const week = { from: '2026-11-04', to: '2026-11-08', opening: 5_017n };
      await w.takes(camt({ id: 'week', ...week, entries: [{ units: 3n, ref: 'X', on: '2026-11-06' }] }));
      assert.equal((await w.imports(of('2026-11-10', 6_000n, 1n))).gaps.length, 1);
      const within = { from: '2026-11-06', opening: 5_017n, entries: [{ units: 3n, ref: 'Y' }] };
      await assert.rejects(w.imports(camt({ id: 'within', ...within })), refusedFile(/contradict/));
      // A day that was not over is shown again with more lines, which does not contradict the first statement.
      const noon = { units: 10n, text: 'noon', on: '2026-11-11' };
      const evening = { units: 20n, text: 'evening', on: '2026-11-11' };
      const opening = { opening: 6_001n };
      assert.equal((await w.imports(germanCsv([noon], opening))).import.newLines, 1);
      assert.equal((await w.imports(germanCsv([noon, evening], opening))).import.newLines, 1);
      const reworded = [noon, { ...evening, text: 'at night' }];
      await assert.rejects(w.imports(germanCsv(reworded, opening)), refusedFile(/contradict/));
    } finally {
      await w.stop();
    }
  });
});

describe('a statement file', () => {
  let w: ManualEnvironment;
  before(async () => {
    w = await manualEnvironment();
  });
  after(() => w.stop());
  const count = () => w.of('deposit_confirmed').length;
  const bookedIs = async (units: bigint) =>
    assert.equal(await w.db.asSystem((tx) => sumOfLines(tx, w.rail.code, 'eur')), units);
  const lines = [
    { units: 10_000n, text: 'first', name: 'Müller', on: '2026-11-01' },
    { units: 10_000n, text: 'first', name: 'Müller', on: '2026-11-01' },
    { units: 123_456n, text: 'second; with "quotes"', name: 'Ås', on: '2026-11-02' },
    { units: -3_000n, text: 'fee', on: '2026-11-02' },
  ];

  it('twice, in other encodings, cut or reordered takes each line once', async () => {
    const csv = germanCsv(lines);
    assert.equal((await w.imports(csv)).import.newLines, 4);
    assert.equal((await w.imports(csv)).outcome, 'known');
    const others = [
      Buffer.from(`\ufeff${csv}`),
      Buffer.from(`\ufeff${csv}`, 'utf16le'),
      Buffer.from(`\ufeff${csv}`, 'utf16le').swap16(),
      Buffer.from(csv, 'utf16le'),
      Buffer.from(csv, 'latin1'),
      Buffer.from(csv.replaceAll('\r\n', '\n')),
      Buffer.from(germanCsv(lines.slice(0, 2))),
      Buffer.from(germanCsv(lines.slice(2), { opening: 20_000n })),
    ];
    for (const [i, other] of others.entries()) {
      const { outcome, import: imported } = await w.imports(other);
      assert.deepEqual([outcome, imported.newLines], ['taken', 0], `form ${i}`);
    }
    const [head, ...rows] = csv.split(/(?<=\r\n)(?=")/);
    const backwards = [head, ...rows.toReversed()].join('');
    assert.equal((await w.imports(backwards)).import.newLines, 0);
    await assert.rejects(w.imports([head, rows[1], rows[3], rows[0], rows[2]].join('')), refusedFile(/do not add up/));
    await w.rail.observe();
    assert.deepEqual([count(), w.of('unexplained_debit').length], [3, 1]);
    await bookedIs(140_456n);
    assert.equal(await w.rail.balance('main', 'eur'), 140_456n);
  });

  it('that overlaps with the previous one adds only new lines, in any format of the bank', async () => {
    const more = [...lines.slice(2), { units: 777n, text: 'third', on: '2026-11-03' }];
    assert.equal((await w.imports(germanCsv(more, { opening: 20_000n }))).import.newLines, 1);
    await w.rail.observe();
    assert.equal(count(), 4);
    assert.equal(await w.asks((desk, tx) => desk.missing(tx, 'eur')), 0n);
    await bookedIs(141_233n);
  });

  it('of a day that was not over is taken in again when it is, and in reverse order leaves no gap', async () => {
    const day = [...lines.slice(3), { units: 777n, text: 'third', on: '2026-11-03' }];
    const opening = 141_233n - day.reduce((sum, { units }) => sum + units, 0n);
    const noon = { units: 10n, text: 'noon', on: '2026-11-03' };
    const evening = { units: -10n, text: 'evening', on: '2026-11-03' };
    await w.imports(germanCsv([...day, noon], { opening }));
    assert.equal((await w.imports(germanCsv([...day, noon, evening], { opening }))).import.newLines, 1);
    await w.imports(germanCsv([...day, noon], { opening }).replace('Kontoauszug', 'Auszug'));
    await w.rail.observe();
    assert.equal(await w.asks((desk, tx) => desk.missing(tx, 'eur')), 0n);
    await bookedIs(141_233n);
  });

  for (const version of ['001.02', '001.08'] as const)
    it(`in pages (${version}) is complete for its day only with the last of them`, async () => {
      const w = await manualEnvironment();
      try {
        const day = (ago: number) => new Date(w.clock.now().getTime() - ago * DAY_MS).toISOString().slice(0, 10);
        const at = day(3);
        await w.imports(camt({ version, id: 'S-BEFORE', sequence: 16, from: day(4), entries: [] }));
        const pages = [1, 2, 3].map((number) =>
          camt({
            ...{ version, id: 'S-PAGES', sequence: 17, from: at, page: { number, isLast: number === 3 } },
            opening: BigInt(number - 1) * 100n,
            entries: [{ units: 100n, ref: `P${number}`, text: `page ${number}` }],
          }),
        );
        const isRead = async () => {
          await w.rail.observe();
          const readTo = await w.asks(async (_desk, tx) => await w.rail.readTo?.(tx, 'eur'));
          return Number(readTo ?? 0) >= Date.parse(`${at}T00:00:00Z`) + DAY_MS;
        };
        for (const [nr, isComplete] of [
          [1, false],
          [0, false],
          [2, true],
        ] as const) {
          await w.imports(pages[nr] ?? '');
          assert.equal(await isRead(), isComplete, `after page ${nr + 1}`);
        }
        assert.equal((await w.imports(`${pages[1]}\n`)).import.newLines, 0);
        assert.deepEqual(
          w.of('deposit_confirmed').map(({ units }) => units),
          [100n, 100n, 100n],
        );
        assert.equal(await w.asks((desk, tx) => desk.missing(tx, 'eur')), 0n);
      } finally {
        await w.stop();
      }
    });

  it('in CSV whose rows add up from either end is read in the order that continues the books', async () => {
    const w = await manualEnvironment();
    try {
      // The newest row comes first: 100.00 came back, after it had been charged. Both rows are of one day.
      const newestFirst = (text: string) => {
        const oldestFirst = germanCsv(
          [
            { units: -10_000n, on: DAY, text: `${text} out` },
            { units: 10_000n, on: DAY, text: `${text} back` },
          ],
          { opening: 10_000n },
        );
        const rows = oldestFirst.split('\r\n');
        return [...rows.slice(0, 3), rows[4], rows[3], ''].join('\r\n');
      };
      await assert.rejects(w.imports(newestFirst('first')), refusedFile(/add up from either end/));
      await w.imports(camt({ from: '2026-11-19', opening: 10_000n, entries: [] }));
      const { gaps } = await w.imports(newestFirst('second'));
      assert.deepEqual(gaps, []);
      assert.equal(await w.asks((desk, tx) => desk.missing(tx, 'eur')), 0n);
      const [statement] = await w.asks((desk, tx) => desk.statements(tx, 'eur', { from: DAY, to: DAY }));
      assert.deepEqual([statement?.opening, statement?.closing], [10_000n, 10_000n]);
    } finally {
      await w.stop();
    }
  });

  it('that shows known lines with other texts is refused as a whole', async () => {
    const altered = lines.map((line, i) => (i === 2 ? { ...line, text: 'other words' } : line));
    await assert.rejects(w.imports(germanCsv(altered)), refusedFile(/contradict/));
    const richer = lines.map((line, i) => (i === 2 ? { ...line, units: 123_457n } : line));
    await assert.rejects(w.imports(germanCsv(richer)), refusedFile(/contradict/));
    await bookedIs(141_233n);
  });

  it('of another account, currency or bank is refused with a sentence that names the difference', async () => {
    const before = await w.rows.query('select count(*) from manual_lines');
    for (const [file, asset, why] of [
      [germanCsv(lines, { iban: 'DE75512108001245126199' }), 'eur', /Line 4 belongs to another account/],
      [germanCsv(lines).replace('EUR', 'CHF'), 'eur', /Line 4 is not in EUR/],
      [germanCsv(lines), 'inr', /no settings for statements in CSV/],
      [camt({ iban: 'DE75512108001245126199', entries: [] }), 'eur', /account of statement 1 is not/],
      [camt({ entries: [] }, { number: '77', entries: [] }), 'eur', /account of statement 2 is not/],
      [camt({ currency: 'CHF', entries: [] }), 'eur', /not in EUR/],
      [camt({ entries: [{ units: 5n, currency: 'CHF' }] }), 'eur', /Entry 1 of statement 1 is not in EUR/],
      [camt({ entries: [{ units: 5n }], closing: 6n }), 'eur', /is not its closing balance/],
      ['Date,Amount\n2026-01-01,5\n', 'eur', /no header with the column/],
      ['%PDF-1.7 and so on', 'eur', /no header|incomplete/],
      ['', 'eur', /empty/],
      [camt({ entries: [] }).replace('camt.053', 'camt.052'), 'eur', /not a camt.053/],
    ] as const)
      await assert.rejects(w.imports(file, asset), refusedFile(why), String(why));
    assert.deepEqual(await w.rows.query('select count(*) from manual_lines'), before);
    await assert.rejects(w.imports('x', 'usd'), { code: 'malformed_field' });
  });

  it('missing in between is reported once, and the rail is unhealthy until it is taken in', async () => {
    const day = (on: string, opening: bigint, units: bigint, sequence: number) =>
      camt({ id: `N${sequence}`, sequence, from: on, opening, entries: [{ units, ref: `N${sequence}`, text: on }] });
    const fourth = await w.imports(day('2026-11-05', 141_300n, 50n, 12));
    assert.deepEqual(fourth.gaps, ['A statement is missing before the one of 2026-11-05 to 2026-11-05.']);
    assert.equal(w.of('statement_gap').length, 1);
    assert.equal(await w.asks((desk, tx) => desk.missing(tx, 'eur')), 67n);
    // While the sum does not show what is missing, known lines are still not accepted with other texts.
    const again = lines.map((line, i) => ({ ...line, ref: `again ${i}` }));
    const first = camt({ id: 'again', from: '2026-11-01', to: '2026-11-02', opening: 0n, entries: again });
    await assert.rejects(w.imports(first), refusedFile(/On 2026-11-01 .* csv statement .* cannot tell/));
    // Not even where their sum is exactly the missing amount.
    const part = [
      { units: -140_389n, ref: 'x', on: '2026-11-01' },
      { units: 140_456n, ref: 'y', on: '2026-11-02' },
    ];
    const filling = camt({ id: 'filling', from: '2026-11-01', to: '2026-11-02', opening: 140_389n, entries: part });
    await assert.rejects(w.imports(filling), refusedFile(/contradict/));
    const fourthAgain = { id: 'N12', sequence: 12, from: '2026-11-05', opening: 141_300n };
    await assert.rejects(w.imports(camt({ ...fourthAgain, entries: [{ units: 50n }] })), refusedFile(/contradict/));
    await w.imports(day('2026-11-04', 141_233n, 67n, 11));
    assert.equal(await w.asks((desk, tx) => desk.missing(tx, 'eur')), 0n);
    assert.equal(w.of('statement_gap').length, 1);
    await w.rail.observe();
    await bookedIs(141_350n);
    assert.equal(
      (await w.imports(day('2026-11-06', 141_350n, 1n, 14))).gaps.length,
      1,
      'the missing statement 13 was not reported',
    );
  });

  it('with a known reference of the bank and another amount is refused as a whole', async () => {
    const same = (units: bigint, id: string, opening: bigint) =>
      camt({
        id,
        from: '2026-11-07',
        opening,
        entries: [
          { units, ref: 'K1' },
          { units: 9n, ref: id },
        ],
      });
    await w.imports(same(700n, 'K', 141_351n));
    await assert.rejects(
      w.imports(same(7_000n, 'L', 142_060n)),
      refusedFile(/has the reference of a line imported before/),
    );
  });

  it('reports a funding, a customer’s reference, and a credit that the bank recalls, whole or in parts', async () => {
    const target = targetOf(w.rail, 42n);
    const entries = [
      { units: 50_000n, ref: 'F1', name: 'Ramp', account: 'DE75 5121 0800 1245 1261 99' },
      { units: 800n, ref: 'F2', endToEnd: target, name: 'Payer' },
      { units: 900n, ref: 'F3', endToEnd: 'INVOICE-9', name: 'Payer' },
      { units: -900n, ref: 'F4', endToEnd: 'INVOICE-9', reversal: true },
      { units: 40n, ref: 'F5', endToEnd: 'pay-1-1', text: 'not a return, whatever the payer writes' },
      { units: 703n, ref: 'F6', endToEnd: 'INVOICE-10', name: 'Payer' },
      { units: -203n, ref: 'F7', endToEnd: 'INVOICE-10', reversal: true },
      { units: -500n, ref: 'F8', endToEnd: 'INVOICE-10', reversal: true },
    ];
    const before = count();
    await w.takes(camt({ id: 'F', from: '2026-11-08', opening: 142_060n, entries }));
    assert.deepEqual(
      w.of('funding_confirmed').map(({ units }) => units),
      [50_000n],
    );
    const deposits = w.of('deposit_confirmed').slice(before);
    assert.deepEqual(
      deposits.filter(({ target: to }) => to === target).map(({ units }) => units),
      [800n],
    );
    const [taken, inParts] = [900n, 703n].map((of) => deposits.find(({ units }) => units === of)?.externalId);
    assert.deepEqual(
      w.of('deposit_reversed').map(({ externalId, part }) => [externalId, part?.units]),
      [
        [taken, undefined],
        [inParts, 203n],
        [inParts, 500n],
      ],
    );
    assert.deepEqual(w.of('payout_returned'), []);
  });

  it('read concurrently, and killed half-way, is taken in completely or not at all', async () => {
    const entries = Array.from({ length: 50 }, (_, i) => ({ units: 1n, ref: `P${i}` }));
    const file = camt({ id: 'P', from: '2026-11-09', opening: 192_900n, entries });
    const [a, b] = await Promise.all([w.imports(file), w.imports(`${file}\n`)]);
    assert.deepEqual([a.import.newLines, b.import.newLines].toSorted(), [0, 50]);
    const next = camt({ id: 'Q', from: '2026-11-10', opening: 192_950n, entries: [{ units: 5n, ref: 'Q' }] });
    // The statement's lines are locked away, so the import waits in the middle of its transaction, and is killed there.
    await w.rows.query('begin');
    await w.rows.query('lock table manual_lines in access exclusive mode');
    const killed = assert.rejects(w.imports(next));
    const isOver = patience(10_000);
    for (let ended = 0; ended === 0 && !isOver(); ) {
      // Otherwise the list of running queries stays the same for the whole transaction.
      await w.rows.query('select pg_stat_clear_snapshot()');
      const found = await w.rows.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where wait_event_type = 'Lock' and datname = current_database() and query like '%manual_lines%'`,
      );
      ended = found.length;
    }
    await killed;
    await w.rows.query('rollback');
    assert.equal((await w.imports(next)).import.newLines, 1);
  });

  it('that is too old makes the rail unhealthy, by a deadline that is a setting', async () => {
    await w.imports(camt({ currency: 'INR', number: '000100020003', from: w.today(), entries: [] }), 'inr');
    await w.imports(camt({ id: 'T', from: w.today(), opening: 192_955n, entries: [] }));
    w.clock.advance(4 * 86_400_000);
    assert.equal((await w.rail.health()).healthy, true);
    w.clock.advance(2 * 86_400_000);
    const { healthy, why } = await w.rail.health();
    assert.deepEqual([healthy, why], [false, 'the newest statement of eur is too old']);
  });

  it('can be queried by a range of days, with lines and balances', async () => {
    const span = { from: '2026-11-04', to: '2026-11-05' };
    assert.deepEqual(
      (await w.asks((desk, tx) => desk.statements(tx, 'eur', span))).map(({ opening, closing }) => [opening, closing]),
      [
        [141_233n, 141_300n],
        [141_300n, 141_350n],
      ],
    );
    assert.deepEqual(
      (await w.asks((desk, tx) => desk.lines(tx, 'eur', span)))
        .map(({ units, direction, bookedOn }) => [units, direction, bookedOn])
        .toSorted(),
      [
        [50n, 'credit', '2026-11-05'],
        [67n, 'credit', '2026-11-04'],
      ],
    );
    assert.ok((await w.asks((desk, tx) => desk.imports(tx))).length > 5);
  });
});

const DAY_MS = 86_400_000;

describe('the time of a credit at a manual bank', () => {
  let w: ManualEnvironment;
  before(async () => {
    w = await manualEnvironment();
  });
  after(async () => await w.stop());

  const dayBefore = (day: string) => new Date(Date.parse(`${day}T00:00:00Z`) - DAY_MS).toISOString().slice(0, 10);
  const readTo = () => w.db.asSystem(async (tx) => await w.rail.readTo?.(tx, 'eur'));

  it('is its booking date, and unknown if the bank names only its value date', async () => {
    const yesterday = dayBefore(w.today());
    assert.equal(await readTo(), undefined);
    await w.takes(
      camt({
        id: 'A',
        from: yesterday,
        entries: [
          { units: 700n, text: 'one', ref: 'R1' },
          { units: 800n, text: 'two', ref: 'R2', valuedOn: dayBefore(yesterday) },
        ],
      }),
    );
    assert.deepEqual(
      w.of('deposit_confirmed').map(({ units, at, withinMs }) => [units, at?.toISOString(), withinMs]),
      [
        [700n, `${yesterday}T00:00:00.000Z`, DAY_MS],
        [800n, undefined, undefined],
      ],
    );
  });

  it('is complete up to the end of the last day that was over when its statement was taken in', async () => {
    const today = w.today();
    const midnight = new Date(`${today}T00:00:00Z`);
    assert.deepEqual(await readTo(), midnight);
    await w.takes(camt({ id: 'B', from: today, opening: 1_500n, entries: [] }));
    assert.deepEqual(await readTo(), midnight, 'today counted as complete, although more may be booked');
    w.clock.advance(DAY_MS);
    await w.rail.observe();
    assert.deepEqual(await readTo(), midnight, 'an old statement counted as complete for later days');
    await w.takes(camt({ id: 'C', from: today, opening: 1_500n, entries: [{ units: 1n, ref: 'R3' }] }));
    assert.deepEqual(await readTo(), new Date(midnight.getTime() + DAY_MS));
  });

  it('is not complete for a day that was in the future when its statement was taken in', async () => {
    const midnight = Date.parse(`${w.today()}T00:00:00Z`);
    const days = new Date(midnight + 3 * DAY_MS).toISOString().slice(0, 10);
    await w.takes(camt({ id: 'D', from: w.today(), to: days, opening: 1_501n, entries: [] }));
    assert.deepEqual(
      await readTo(),
      new Date(midnight),
      'the statement of a day to come says all of the days until then',
    );
  });

  it('is not known while a statement is missing', async () => {
    const before = await readTo();
    w.clock.advance(5 * DAY_MS);
    await w.takes(camt({ id: 'E', from: dayBefore(w.today()), opening: 9_000n, entries: [{ units: 5n, ref: 'R9' }] }));
    assert.equal(w.of('statement_gap').length, 1);
    assert.deepEqual(await readTo(), before);
  });
});

describe('a statement dated ahead', () => {
  const dayAfter = (day: string, days: number): string =>
    new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);

  /** Taken in today: a statement of yesterday, and one that the bank dates to the end of a period in the future. */
  async function begun(w: ManualEnvironment) {
    const today = w.today();
    const of = (id: string, from: string, to: string, opening: bigint, units?: bigint) =>
      camt({ id, from, to, opening, entries: units === undefined ? [] : [{ units, ref: id, on: from }] });
    await w.takes(of('before', dayAfter(today, -1), dayAfter(today, -1), 0n, 100n));
    await w.takes(of('ahead', today, dayAfter(today, 10), 100n, 50n));
    const missing = () => w.asks((desk, tx) => desk.missing(tx, 'eur'));
    return { today, of, missing };
  }

  it('does not shut out those that end before it', async () => {
    const w = await manualEnvironment();
    try {
      const { today, of, missing } = await begun(w);
      // More lines of the same day follow, and later days are as usual.
      assert.deepEqual((await w.imports(of('today', today, today, 150n, 20n))).gaps, []);
      w.clock.advance(DAY_MS);
      assert.deepEqual((await w.imports(of('next', dayAfter(today, 1), dayAfter(today, 1), 170n, -30n))).gaps, []);
      await w.rail.observe();
      assert.deepEqual([await missing(), await w.rail.balance('main', 'eur')], [0n, 140n]);
      const readTo = await w.db.asSystem(async (tx) => await w.rail.readTo?.(tx, 'eur'));
      assert.deepEqual(readTo, new Date(`${dayAfter(today, 1)}T00:00:00Z`));
      w.clock.advance(2 * DAY_MS);
      // A missing statement is still detected, and so is a day that was over when it was taken in.
      assert.equal((await w.imports(of('later', dayAfter(today, 3), dayAfter(today, 3), 200n, 1n))).gaps.length, 1);
      await w.takes(of('filling', dayAfter(today, 2), dayAfter(today, 2), 140n, 60n));
      assert.equal(await missing(), 0n);
      const over = of('over', dayAfter(today, -1), dayAfter(today, -1), 100n, 7n);
      await assert.rejects(w.imports(over), refusedFile(/contradict/));
    } finally {
      await w.stop();
    }
  });

  it('is taken in beside one of the same day, and the whole period again when it is over', async () => {
    const w = await manualEnvironment();
    try {
      const { today, of, missing } = await begun(w);
      w.clock.advance(DAY_MS);
      const next = dayAfter(today, 1);
      await w.takes(of('next', next, next, 150n, 5n));
      await w.takes(of('ahead again', next, dayAfter(today, 12), 155n, -5n));
      assert.deepEqual([await missing(), await w.rail.balance('main', 'eur')], [0n, 150n]);
      w.clock.advance(12 * DAY_MS);
      const all = camt({
        ...{ id: 'whole', from: today, to: dayAfter(today, 12), opening: 100n },
        entries: [
          { units: 50n, ref: 'ahead', on: today },
          { units: 5n, ref: 'next', on: next },
          { units: -5n, ref: 'ahead again', on: next },
          { units: 9n, ref: 'new', on: dayAfter(today, 11) },
        ],
      });
      assert.deepEqual((await w.imports(all)).import.newLines, 1);
      await w.rail.observe();
      assert.deepEqual([await missing(), await w.rail.balance('main', 'eur')], [0n, 159n]);
    } finally {
      await w.stop();
    }
  });

  it('cannot be the first statement of an account', async () => {
    const w = await manualEnvironment();
    try {
      const from = dayAfter(w.today(), 5);
      await assert.rejects(
        w.imports(camt({ id: 'first', from, opening: 10n, entries: [] })),
        refusedFile(/is in the future/),
      );
      await w.takes(camt({ id: 'true', from: w.today(), opening: 10n, entries: [] }));
      assert.equal(await w.rail.balance('main', 'eur'), 10n);
    } finally {
      await w.stop();
    }
  });
});

describe('the same days in two forms', () => {
  const DAYS = ['2026-11-02', '2026-11-03'] as const;
  const [first, second] = DAYS;
  /** The texts of the camt.053, and those of the CSV, which differ and have no references. */
  const wire = [
    { units: 10_000n, on: first, ref: 'A1', text: 'invoice 17', name: 'A Payer', account: 'DE89370400440532013000' },
    { units: -2_500n, on: first, ref: 'A2', text: 'rent', name: 'A Landlord', account: 'DE75512108001245126199' },
    { units: 7_000n, on: second, ref: 'B1', text: 'invoice 18', name: 'B Payer', account: 'DE89370400440532013000' },
  ];
  const typed = wire.map(({ units, on, text, account }) => ({
    units,
    on,
    text: `SEPA ${text.toUpperCase()} EREF+NONE`,
    account,
  }));
  const week = { id: 'week', from: first, to: second, entries: wire };

  const world = async (check: (w: ManualEnvironment) => Promise<void>) => {
    const w = await manualEnvironment();
    try {
      await check(w);
    } finally {
      await w.stop();
    }
  };
  const isWhole = async (w: ManualEnvironment, units: bigint) => {
    await w.rail.observe();
    assert.equal(await w.asks((desk, tx) => desk.missing(tx, 'eur')), 0n, 'a statement seems to be missing');
    assert.equal(await w.rail.balance('main', 'eur'), units);
    assert.deepEqual(w.of('statement_gap'), []);
    const reported = w.of('deposit_confirmed').reduce((sum, fact) => sum + fact.units, 0n);
    assert.equal(reported, 17_000n, 'a credit was reported twice, or not at all');
  };

  it('a CSV after a camt adds no known line, and makes no gap', async () =>
    await world(async (w) => {
      await w.takes(camt(week));
      assert.deepEqual([(await w.imports(germanCsv(typed))).import.newLines], [0]);
      await isWhole(w, 14_500n);
      // More lines of the day follow, and the CSV is the first to show them.
      const more = [...typed, { units: -500n, on: second, text: 'fee' }];
      const taken = await w.imports(germanCsv(more));
      assert.deepEqual([taken.import.newLines, taken.gaps], [1, []]);
      await isWhole(w, 14_000n);
    }));

  it('a camt that overlaps a CSV adds only its new lines, and makes no gap', async () =>
    await world(async (w) => {
      await w.takes(germanCsv(typed.slice(0, 2)));
      const taken = await w.imports(camt(week));
      assert.deepEqual([taken.import.newLines, taken.gaps], [1, []]);
      await isWhole(w, 14_500n);
    }));

  it('texts decide which of two equal lines was taken in from the other format; where they do not, the file is refused', async () =>
    await world(async (w) => {
      const noon = [{ ...typed[0], units: 10_000n }];
      await w.takes(germanCsv(noon));
      const alike = { units: 7_000n, on: first, ref: 'A9', text: 'invoice 19', account: 'DE02100500000054540402' };
      const day = { id: 'day', from: first, entries: [wire[0], { ...alike, units: 10_000n }] } as const;
      const taken = await w.imports(camt(day as Parameters<typeof camt>[0]));
      assert.deepEqual([taken.import.newLines, taken.gaps], [1, []]);
    }));

  it('a file of the rest of the day adds a credit that equals one of the morning', async () =>
    await world(async (w) => {
      const account = 'DE02100500000054540402';
      let opening = 0n;
      for (const [on, numbered] of [
        [first, {}],
        [second, { sequence: 7 }],
      ] as const) {
        await w.takes(germanCsv([{ ...typed[0], units: 10_000n, on }], { opening }));
        const alike = { units: 10_000n, on, ref: `A ${on}`, text: 'invoice 19', name: 'C Payer', account };
        const rest = { id: `rest of ${on}`, from: on, opening: opening + 10_000n, ...numbered };
        // With the same text as well the two cannot be distinguished: the file is refused, and no line is left out.
        const same = { ...alike, text: 'SEPA', account: typed[0]?.account ?? '' };
        await assert.rejects(w.imports(camt({ ...rest, entries: [same] })), refusedFile(/do not prove|cannot tell/));
        await w.takes(camt({ ...rest, entries: [alike] }));
        opening += 20_000n;
        const came = w.of('deposit_confirmed').reduce((sum, fact) => sum + fact.units, 0n);
        assert.equal(came, opening, 'the credit of the afternoon is missing');
        assert.equal(await w.asks((desk, tx) => desk.missing(tx, 'eur')), 0n);
      }
    }));

  it('a file is refused if one of two equal lines is known and they cannot be distinguished; the sentence names both', async () =>
    await world(async (w) => {
      await w.takes(germanCsv([{ units: 10_000n, on: first, text: 'cash' }]));
      const entries = [
        { units: 10_000n, on: first, ref: 'A1', text: 'at the desk' },
        { units: 10_000n, on: first, ref: 'A2', text: 'at the desk' },
      ];
      await assert.rejects(
        w.imports(camt({ id: 'day', from: first, entries })),
        refusedFile(
          /On 2026-11-02 the file shows 2 credits of 100, and the csv statement of 2026-11-02 to 2026-11-02 shows 1/,
        ),
      );
      assert.equal(await w.rail.balance('main', 'eur'), 10_000n);
    }));

  it('a file of the same format with other texts is refused, and makes no gap', async () =>
    await world(async (w) => {
      await w.takes(germanCsv(typed));
      const other = typed.map((line) => ({ ...line, text: `again ${line.units}` }));
      await assert.rejects(w.imports(germanCsv(other)), refusedFile(/contradict/));
      await isWhole(w, 14_500n);
    }));
});
