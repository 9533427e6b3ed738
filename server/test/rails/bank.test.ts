import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { sumOfLines } from '../../src/rails/bank.store.ts';
import { type BankAdapter, bankRail, type StatementLine } from '../../src/rails/bank.ts';
import { findReference, makeReference } from '../../src/rails/reference.ts';
import { type BankEnvironment, bankEnvironment } from '../support/bank.environment.ts';
import { targetOf } from '../support/targets.ts';
import { until } from '../support/until.ts';

describe('references', () => {
  const index = fc.bigInt({ min: 0n, max: 32n ** 7n - 1n });

  it('are found in the spellings that people use', () => {
    fc.assert(
      fc.property(index, fc.constantFrom('', ' ', '-', '.', ' / '), fc.boolean(), (number, gap, lower) => {
        const reference = makeReference(number);
        assert.match(reference, /^CL[0-9A-HJKMNP-TV-Z]{10}$/);
        const typed = [...reference].join(gap).replaceAll('0', 'O').replaceAll('1', 'l');
        assert.equal(findReference(`UPI/rent for ${lower ? typed.toLowerCase() : typed} thanks`), reference);
      }),
    );
  });

  it('with up to three wrong symbols, or two swapped, are never read as another reference', () => {
    const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
    const wrong = fc.array(fc.tuple(fc.integer({ min: 2, max: 11 }), fc.constantFrom(...alphabet)), {
      minLength: 1,
      maxLength: 3,
    });
    fc.assert(
      fc.property(index, wrong, (number, changes) => {
        const symbols = [...makeReference(number)];
        for (const [at, symbol] of changes) symbols[at] = symbol;
        const typed = symbols.join('');
        assert.equal(findReference(typed), typed === makeReference(number) ? typed : '');
      }),
    );
    fc.assert(
      fc.property(index, fc.integer({ min: 2, max: 10 }), (number, at) => {
        const symbols = [...makeReference(number)];
        [symbols[at], symbols[at + 1]] = [symbols[at + 1] as string, symbols[at] as string];
        const typed = symbols.join('');
        assert.equal(findReference(typed), typed === makeReference(number) ? typed : '');
      }),
    );
  });

  it('are not found in a text with two of them, nor in other text', () => {
    assert.equal(findReference(`${makeReference(1n)} or ${makeReference(2n)}`), '');
    assert.equal(findReference(`${makeReference(1n)} ${makeReference(1n)}`), makeReference(1n));
    for (const text of ['', 'invoice 7', 'CL0000000000', 'CL', 'class 12345678901234', 'ＣＬ'.repeat(300)])
      assert.equal(findReference(text), '');
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => assert.equal(findReference(text), '')));
  });
});

describe('a statement', () => {
  let w: BankEnvironment;
  afterEach(() => w.stop());
  const credit = (units: bigint, text: string) =>
    w.bank.creditAccount({ currency: 'INR', units, text, payerName: 'Meera Iyer', payerAccount: '998877665544' });

  it('with a credit that carries a reference is a deposit for it; with a wrong one, a credit without an order', async () => {
    w = await bankEnvironment();
    const target = targetOf(w.rail, 42n);
    await credit(700n, `rent ${target.toLowerCase()}`);
    await credit(800n, `${target.slice(0, -1)}${target.endsWith('X') ? 'Y' : 'X'}`);
    await w.reads();
    assert.deepEqual(
      w.of('deposit_confirmed').map((fact) => [fact.target, fact.units]),
      [
        [target, 700n],
        ['', 800n],
      ],
    );
    assert.deepEqual(
      w.of('funding_confirmed').map(({ units }) => units),
      [1_000_000n],
    );
  });

  it('shown twice, from its beginning and backwards books every line once', async () => {
    w = await bankEnvironment();
    const id = await w.writes(5_000n);
    await w.looksAt(id);
    for (let i = 1; i <= 60; i += 1) await credit(BigInt(i), targetOf(w.rail, BigInt(i)));
    await w.bank.setFault({ kind: 'statement_twice', times: 4 });
    await w.bank.setFault({ kind: 'statement_reordered', times: 3 });
    for (let i = 0; i < 5; i += 1) await w.reads();
    assert.equal(w.of('deposit_confirmed').length, 60);
    assert.equal(w.of('payout_settled').length, 1);
    assert.equal(w.of('funding_confirmed').length, 1);
    assert.deepEqual(w.troubles, []);
    assert.equal(await w.db.asSystem((tx) => sumOfLines(tx, w.rail.code, 'inr')), await w.rail.balance('main', 'inr'));
  });

  it('read by two concurrent processes books every line once', async () => {
    w = await bankEnvironment();
    for (let i = 1; i <= 120; i += 1) await credit(BigInt(i), targetOf(w.rail, BigInt(i)));
    await Promise.all([w.rail.observe(), w.rail.observe(), w.rail.observe()]);
    // All three may have read the same page of the statement.
    await w.reads();
    const seen = w.of('deposit_confirmed').map(({ externalId }) => externalId);
    assert.deepEqual([seen.length, new Set(seen).size], [120, 120]);
  });

  it('is booked line by line: work on the order of one line does not wait for the accounts of another', async () => {
    w = await bankEnvironment();
    for (let i = 1; i <= 5; i += 1) await credit(BigInt(i), targetOf(w.rail, BigInt(i)));
    await w.reads();
    const lines = await w.db.asSystem((tx) => tx.rows<{ xmin: string }>('select xmin::text from bank_lines'));
    assert.equal(lines.length, 6);
    assert.equal(new Set(lines.map(({ xmin }) => xmin)).size, lines.length);
  });

  it('line that arrives before the answer settles the payout', async () => {
    w = await bankEnvironment({ deduplicatesForMs: 0 });
    const id = await w.writes(5_000n);
    await w.bank.setFault({ kind: 'delay_answer', delayMs: 500 });
    const looking = w.looksAt(id);
    await until('the bank has paid', async () => (await w.paid(id)) > 0);
    await w.reads();
    assert.equal(await w.state(id), 'settled');
    await looking;
    assert.deepEqual([await w.state(id), await w.paid(id)], ['settled', 1]);
    assert.deepEqual(w.contradictions, []);
  });

  it('with a return after settling reports it once', async () => {
    w = await bankEnvironment();
    const id = await w.writes(5_000n, '123450009002');
    await w.looksAt(id);
    await w.reads();
    await w.reads();
    await w.bank.setFault({ kind: 'statement_twice' });
    await w.reads();
    assert.equal(await w.state(id), 'returned');
    assert.deepEqual(
      w.of('payout_returned').map(({ key, units, why }) => [key, units, why]),
      [[id, 5_000n, 'account_closed']],
    );
    assert.equal(w.of('deposit_confirmed').length, 0);
  });

  it('that shows the return before the debit reports the settlement first', async () => {
    w = await bankEnvironment();
    const id = await w.writes(5_000n, '123450009002');
    await w.looksAt(id);
    await w.bank.settlesDue();
    await w.bank.settlesDue();
    await w.bank.setFault({ kind: 'statement_reordered' });
    await w.rail.observe();
    const told = w.facts.filter(({ type }) => /settled|returned/.test(type)).map(({ type }) => type);
    assert.deepEqual(told.slice(0, 2), ['payout_settled', 'payout_returned']);
    assert.equal(await w.state(id), 'returned');
    assert.deepEqual([w.contradictions, w.troubles], [[], []]);
  });

  it('that shows the return of a payout whose debit was shown before its row existed settles it by that debit', async () => {
    w = await bankEnvironment();
    const id = await w.writes(5_000n);
    // After a restore the debit of the lost time is read while the payout is being created again.
    await w.rows.query(`update payouts set id = 'not there yet' where id = $1`, [id]);
    const details = { account: '123456780000', name: 'Asha Rao', ifsc: 'SIMB0000001' };
    await w.rail.send({ key: id, asset: 'inr', units: 5_000n, destination: { kind: 'account', details } });
    await w.reads();
    const [debit] = w.of('unexplained_debit');
    await w.rows.query(`update payouts set id = $1 where id = 'not there yet'`, [id]);
    assert.equal(await w.bank.returnPayment(id), true);
    await w.reads();
    assert.deepEqual(
      w.of('payout_settled').map(({ key, undoes }) => [key, undoes]),
      [[id, debit?.externalId]],
    );
    assert.deepEqual([await w.state(id), w.of('payout_returned').length], ['returned', 1]);
    const lines = await w.rows.query('select meaning from bank_lines where key = $1 order by meaning', [id]);
    assert.deepEqual(lines, [{ meaning: 'payout' }, { meaning: 'return' }]);
  });

  it('that shows the return before a debit with a charge still reports the charge', async () => {
    w = await bankEnvironment({ chargeUnits: 590n });
    const id = await w.writes(5_000n, '123450009002');
    await w.looksAt(id);
    await w.bank.settlesDue();
    await w.bank.settlesDue();
    await w.bank.setFault({ kind: 'statement_reordered' });
    await w.rail.observe();
    assert.deepEqual(
      w.of('payout_settled').map(({ cost }) => cost),
      [undefined],
    );
    const charges = w.of('cost_changed').map(({ key, before, units }) => ({ key, before, units }));
    assert.deepEqual(charges, [{ key: id, before: 0n, units: 590n }]);
    assert.deepEqual(w.of('unexplained_debit'), [], 'the charge of a known payout was reported as unexplained');
  });

  it('with a debit that no payout explains reports it: a foreign debit, a second debit for one payout', async () => {
    w = await bankEnvironment({ deduplicatesForMs: 0 });
    const id = await w.writes(5_000n);
    await w.looksAt(id);
    await w.rail.send({
      key: id,
      asset: 'inr',
      units: 5_000n,
      destination: { kind: 'account', details: { account: '12345678' } },
    });
    await w.rail.send({
      key: 'pay_77_1',
      asset: 'inr',
      units: 9n,
      destination: { kind: 'account', details: { account: '12345678' } },
    });
    await w.reads();
    assert.equal(w.of('payout_settled').length, 1);
    assert.deepEqual(
      w
        .of('unexplained_debit')
        .map(({ units }) => units)
        .toSorted(),
      [5_000n, 9n].toSorted(),
    );
  });

  it('that recalls a credit names it, once; a second recall is an unexplained debit', async () => {
    w = await bankEnvironment();
    const line = await credit(700n, 'by mistake');
    await w.reads();
    await w.bank.recall(line);
    await w.reads();
    assert.deepEqual(
      w.of('deposit_reversed').map(({ externalId }) => externalId),
      [line],
    );
    assert.equal(w.of('unexplained_debit').length, 0);
    await w.bank.recall(line);
    await w.reads();
    assert.equal(w.of('deposit_reversed').length, 1);
    assert.deepEqual(
      w.of('unexplained_debit').map(({ units }) => units),
      [700n],
    );
  });

  it('reports the charges of the bank', async () => {
    w = await bankEnvironment({ chargeUnits: 590n });
    const id = await w.writes(5_000n);
    await w.looksAt(id);
    await w.reads();
    assert.deepEqual(
      w.of('payout_settled').map(({ cost }) => cost),
      [{ asset: 'inr', units: 590n }],
    );
    assert.equal(await w.db.asSystem((tx) => sumOfLines(tx, w.rail.code, 'inr')), await w.rail.balance('main', 'inr'));
  });

  it('with a line that changes its amount keeps the first one, and reports the change once', async () => {
    w = await bankEnvironment();
    const id = await credit(700n, 'x');
    await w.reads();
    await w.bank.alterLine(id, 7_000n);
    for (let i = 0; i < 2; i += 1) {
      await w.bank.setFault({ kind: 'statement_twice' });
      await w.reads();
    }
    assert.deepEqual(
      w.of('line_refused').map(({ externalId, why }) => [externalId, why]),
      [[id, 'changed since it was booked']],
    );
    assert.deepEqual(
      w.of('deposit_confirmed').map(({ units }) => units),
      [700n],
    );
  });

  it('with lines that cannot be booked sets each aside, once, and continues', async () => {
    w = await bankEnvironment();
    const good = line({ externalId: 'good', units: 5n });
    const lines = [
      line({ externalId: 'currency', currency: 'XXX' }),
      line({ externalId: 'zero', units: 0n }),
      line({ externalId: 'negative', units: -1n }),
      line({ externalId: 'absurd', units: 10n ** 77n }),
      line({ externalId: 'unread', units: null }),
      line({ externalId: 'dateless', bookedAt: new Date(Number.NaN) }),
      line({ externalId: '' }),
      line({ externalId: 'n\0l' }),
      line({ externalId: 'long'.repeat(100) }),
      good,
    ];
    const rail = bankRail(adapter(lines), w);
    await rail.observe();
    await rail.observe();
    assert.equal(w.of('line_refused').length, 9);
    assert.deepEqual(
      w.of('deposit_confirmed').map(({ externalId, units }) => [externalId, units]),
      [['good', 5n]],
    );
  });

  it('stores hostile text as text', async () => {
    w = await bankEnvironment();
    const hostile = "\0'; drop table bank_lines; --\u{1F4A3}\ud800";
    await bankRail(
      adapter([line({ externalId: 'a', reference: hostile, free: { text: hostile, name: hostile } })]),
      w,
    ).observe();
    assert.equal(w.of('deposit_confirmed').length, 1);
  });

  it('leaves no name, account or free text readable in our database', async () => {
    w = await bankEnvironment();
    await credit(700n, 'for Meera Iyer, flat 12');
    await w.reads();
    const stored = await w.rows.query<{ row: string }>(
      'select row_to_json(bank_lines)::text || encode(details, $1) as row from bank_lines',
      ['escape'],
    );
    const text = stored.map(({ row }) => row).join();
    for (const secret of ['Meera', 'Iyer', 'flat 12', '998877665544']) assert.ok(!text.includes(secret), secret);
  });

  it('that cannot be read leaves the cursor unchanged, and is stale after a while', async () => {
    w = await bankEnvironment();
    assert.equal((await w.rail.health()).healthy, false);
    await w.reads();
    assert.equal((await w.rail.health()).healthy, true);
    await w.rows.query(`update bank_cursors set read_at = now() - interval '10 minutes'`);
    const { healthy, why } = await w.rail.health();
    assert.deepEqual([healthy, why], [false, 'statement not read for too long']);
  });

  it('is read at once when the bank wakes us', async () => {
    w = await bankEnvironment();
    await w.db.asSystem((tx) => w.rail.wake(tx));
    const due = await w.rows.query(`select kind, subject from jobs where due_at <= now()`);
    assert.deepEqual(due, [{ kind: 'observe_rail', subject: 'bank.simulated' }]);
  });
});

function line(given: Partial<StatementLine>): StatementLine {
  return {
    externalId: 'line',
    direction: 'credit',
    currency: 'INR',
    units: 1n,
    reference: 'UTR',
    bookedAt: new Date(),
    free: {},
    ...given,
  };
}

/** A bank that always shows these lines. */
function adapter(lines: StatementLine[]): BankAdapter {
  return {
    code: 'bank.odd',
    payee: () => undefined,
    deduplicatesForMs: 0,
    currencies: { INR: 'inr' },
    statement: async () => ({ lines, cursor: 'end', more: false }),
    send: async () => ({ outcome: 'unknown', why: 'odd' }),
    status: async () => ({ outcome: 'unknown', why: 'odd' }),
    balance: async () => 0n,
  };
}
