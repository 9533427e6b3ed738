/**
 * The same drill for a manual bank: a file was closed and uploaded after the backup, and its payouts wait again as if the file had
 * never existed.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { parseUnits } from '../../src/base/money.ts';
import { correctCase } from '../../src/orders/index.ts';
import { BANK_RAIL, type Drills, openDrills } from '../support/drills.ts';

let w: Drills;

before(async () => {
  w = await openDrills();
});
after(async () => await w?.close());

const someone = (): string => `0x${randomBytes(20).toString('hex')}`;
const noCases = () => w.until('no case is open', async () => (await w.openCases()).length === 0);

test('a file closed after the backup and uploaded: the statement settles its payouts, and no file is closed before two people have confirmed', async () => {
  const sales = [await w.sells('50'), await w.sells('70')];
  for (const sale of sales) {
    await w.sendsTokens(sale.address, sale === sales[0] ? '50' : '70');
    await w.reaches(sale.id, 'paying_out');
  }
  const listed = async () => ((await (await w.asks('/bank/payouts')).json()) as { payouts: { key: string }[] }).payouts;
  const keys = sales.map(({ id }) => `pay_${id}_1`);
  await w.until('they are on the list', async () => {
    const there = (await listed()).map(({ key }) => key);
    return keys.every((key) => there.includes(key));
  });
  const restores = await w.backup();
  const batch = await w.operates('/bank/files', { asset: 'eur' });
  await w.operatesForFile(`/bank/files/${batch.id}/download`);
  const waiting = sales.map(({ id, toAmount }) => ({ key: `pay-${id}-1`, amount: toAmount }));

  await restores();
  await w.lifts('payouts', 'all');
  const tooEarly = await w.tries('/bank/files', { asset: 'eur' });
  assert.equal(tooEarly.status, 409, 'a file was closed');
  assert.match(tooEarly.body.error, /two operators must confirm/);
  // The bank has booked both: one under its reference, the other under words of its own.
  const [first, second] = waiting;
  const line = (amount: string, text: string) =>
    w.books({ amount: `-${amount}`, text, account: w.customer.iban, name: w.customer.name });
  line(two(first?.amount), `SEPA ${first?.key}`);
  line(two(second?.amount), 'SEPA transfer');
  await w.takesStatements();
  await w.reaches(sales[0]?.id ?? 0n, 'settled');
  const [debit] = await w.until('the other is unexplained', async () => {
    const cases = await w.casesOf('unexplained_debit');
    return cases.length > 0 && cases;
  });
  const asked = await w.operates('/bank-restore/confirm', {});
  const seen = (await (await w.asks(`/proposals/${asked.proposal}`)).json()) as { seen: { doubtful: object[] } };
  assert.deepEqual(seen.seen.doubtful, [
    { line: debit?.subject.replace(`${BANK_RAIL}:`, ''), payout: `pay_${sales[1]?.id}_1` },
  ]);
  await w.operates(`/proposals/${asked.proposal}/decline`, {});
  await w.twoDo(`/payouts/pay_${sales[1]?.id}_1/settle-by`, { line: debit?.subject.replace(`${BANK_RAIL}:`, '') });
  await w.reaches(sales[1]?.id ?? 0n, 'settled');
  await w.twoDo('/bank-restore/confirm');
  const empty = await w.tries('/bank/files', { asset: 'eur' });
  assert.match(empty.body.error, /No payout waits for a file/);
  await noCases();
  await w.isClean();
});

test('payouts that wait while payouts are switched off are shown beside the debits that may have paid them, and neither they nor a refund under a new id leave before the decision', async () => {
  const sale = await w.sells('60');
  const bought = await w.buys('52');
  w.pays(bought);
  w.pays(bought);
  await w.takesStatements();
  await w.reaches(bought.id, 'settled');
  const [second] = await w.until('the second payment lies in suspense', async () => {
    const cases = await w.casesOf('deposit_second');
    return cases.length > 0 && cases;
  });
  const deposit = second?.subject.replace('deposit:', '');
  await w.operates('/kill-switches', { kind: 'rail', subject: BANK_RAIL });
  await w.sendsTokens(sale.address, '60');
  await w.reaches(sale.id, 'paying_out');
  const refund = async (): Promise<string> => {
    const asked = await w.operates(`/deposits/${deposit}/refund`, { fiatAccountId: w.fiatAccount() });
    if (asked.outcome === 'proposed') await w.operates(`/proposals/${asked.proposal}/confirm`, {}, w.secondToken());
    return await w.until('its payout is created', async () => {
      const payout = (await w.traceOf(bought.id)).payouts.find(
        ({ purpose, endedAt }) => purpose === 'refund' && !endedAt,
      );
      return payout?.id;
    });
  };
  const restores = await w.backup();
  const before = await refund();
  await w.lifts('rail', BANK_RAIL);
  const payout = `pay_${sale.id}_1`;
  const listed = async (...keys: string[]): Promise<string[]> => {
    const { payouts } = (await (await w.asks('/bank/payouts')).json()) as { payouts: { key: string }[] };
    return payouts.map(({ key }) => key).filter((key) => keys.includes(key));
  };
  await w.until('both are on the list', async () => (await listed(payout, before)).length === 2);
  const batch = await w.operates('/bank/files', { asset: 'eur' });
  await w.operatesForFile(`/bank/files/${batch.id}/download`);

  await restores();
  const to = { account: w.customer.iban, name: w.customer.name };
  w.books({ amount: `-${two(sale.toAmount)}`, text: 'SEPA transfer', ...to });
  w.books({ amount: '-52.00', text: `SEPA ${before.replaceAll('_', '-')}`, ...to });
  await w.takesStatements();
  const debits = await w.until('both are unexplained', async () => {
    const cases = await w.casesOf('unexplained_debit');
    return cases.length === 2 && cases;
  });
  const [ofSale, ofRefund] = debits.map(({ subject }) => subject.replace(`${BANK_RAIL}:`, ''));
  const again = await refund();
  assert.notEqual(again, before, 'the refund has its old id: this drill shows nothing');
  // A kill switch stops payouts, so the list is empty; debits that may have paid them are shown all the same.
  assert.deepEqual(await listed(payout, again), []);
  const asked = await w.operates('/bank-restore/confirm', {});
  const { seen } = (await (await w.asks(`/proposals/${asked.proposal}`)).json()) as { seen: { doubtful: object[] } };
  assert.deepEqual(
    new Set(seen.doubtful.map((one) => JSON.stringify(one))),
    new Set(
      [
        { line: ofSale, payout },
        { line: ofRefund, payout: again },
      ].map((one) => JSON.stringify(one)),
    ),
  );
  // An operator in a hurry lifts the switch with both debits undecided.
  await w.operates(`/proposals/${asked.proposal}/confirm`, {}, w.secondToken());
  await w.lifts('rail', BANK_RAIL);
  await w.lifts('payouts', 'all');
  const waits = async (order: bigint, key: string, line: string | undefined) =>
    (await w.traceOf(order)).payouts.some(({ id, waitsFor }) => id === key && waitsFor?.includes(String(line)));
  await w.until('the payout waits', () => waits(sale.id, payout, ofSale));
  await w.until('the refund waits', () => waits(bought.id, again, ofRefund));
  assert.match((await w.tries('/bank/files', { asset: 'eur' })).body.error, /No payout waits for a file/);
  await w.twoDo(`/payouts/${payout}/settle-by`, { line: ofSale });
  await w.twoDo(`/payouts/${again}/settle-by`, { line: ofRefund });
  await w.reaches(sale.id, 'settled');
  await noCases();
  await w.isClean();
});

const two = (amount = ''): string => Number(amount).toFixed(2);

/** A credit in suspense, and the debit that has paid a sale whose payout waits: nothing explains it yet. */
async function unexplainedDebit(units: string) {
  await w.sendsTokens(w.hot, '33');
  const [credit] = await w.until('it is in suspense', async () => {
    const cases = await w.casesOf('unexpected_credit');
    return cases.length > 0 && cases;
  });
  const deposit = credit?.subject.replace('deposit:', '') ?? '';
  const sale = await w.sells(units);
  await w.operates('/kill-switches', { kind: 'rail', subject: BANK_RAIL });
  await w.sendsTokens(sale.address, units);
  await w.reaches(sale.id, 'paying_out');
  const amount = two(sale.toAmount);
  w.books({ amount: `-${amount}`, text: 'by the counter', account: w.customer.iban, name: w.customer.name });
  await w.takesStatements();
  const [debit] = await w.until('the debit is unexplained', async () => {
    const cases = await w.casesOf('unexplained_debit');
    return cases.length > 0 && cases;
  });
  const line = debit?.subject.replace(`${BANK_RAIL}:`, '');
  return { deposit, sale, amount, line, id: debit?.id, evidence: String(debit?.facts.reference) };
}

/** The debit paid the sale, so the deposit that was assigned to it is in suspense again, and goes back. */
async function isPaidAndClaimed({ deposit, sale }: Awaited<ReturnType<typeof unexplainedDebit>>): Promise<void> {
  await w.reaches(sale.id, 'settled');
  assert.deepEqual(
    (await w.openCases()).map(({ kind, subject }) => [kind, subject]),
    [['deposit_unknown_target', `deposit:${deposit}`]],
  );
  await w.isClean();
  await w.lifts('rail', BANK_RAIL);
  const back = someone();
  await w.twoDo(`/deposits/${deposit}/refund`, { address: back });
  await w.until('it is refunded', async () => (await w.paidTo(back)).length === 1);
  await w.isFinal();
  await noCases();
  await w.isClean();
}

test('a debit assigned to a lost order turns out to be a payout of the books: the assignment is undone, and the deposit can be claimed again', async () => {
  const found = await unexplainedDebit('45');
  const { deposit, sale, amount, line, id, evidence } = found;
  await w.twoDo(`/cases/${id}/correct`, { as: 'lost_order', amount, evidence, deposit });
  assert.deepEqual(
    (await w.openCases()).map(({ kind }) => kind),
    [],
  );
  await w.isClean();

  await w.twoDo(`/payouts/pay_${sale.id}_1/settle-by`, { line });
  await isPaidAndClaimed(found);
});

test('a debit that two operators assign to a lost order while two others settle a payout by it is decided by one of them after the other', async () => {
  const found = await unexplainedDebit('46');
  const { deposit, sale, amount, line, id, evidence } = found;
  const assigned = Promise.withResolvers<void>();
  const commit = Promise.withResolvers<void>();
  const assigning = w.read(async (tx) => {
    await correctCase(w.server.orders, tx, {
      ...{ case: BigInt(id ?? 0), as: 'lost_order', evidence },
      ...{ units: parseUnits(amount, 2), deposit: BigInt(deposit), by: 'operator:1, operator:2', now: new Date() },
    });
    assigned.resolve();
    await commit.promise;
  });
  // If the assignment is refused, the test fails instead of waiting.
  await Promise.race([assigned.promise, assigning]);
  const settling = w.twoDo(`/payouts/pay_${sale.id}_1/settle-by`, { line });
  await w
    .until('the settlement waits', async () => {
      const [waiting] = await w.read((tx) =>
        tx.rows<{ times: bigint }>(
          `select count(*) as times from pg_locks l join pg_stat_activity a using (pid)
            where not l.granted and a.datname = current_database()`,
        ),
      );
      return Number(waiting?.times) > 0;
    })
    .finally(() => commit.resolve());
  await Promise.all([assigning, settling]);
  await isPaidAndClaimed(found);
});

test('a lost order that was paid in two parts, whose excess went back: every debit and every part is ended, and undone with the payout that it was', async () => {
  const credits: { deposit: string; case: string; reference: string }[] = [];
  for (const units of ['21', '12']) {
    await w.sendsTokens(w.hot, units);
    await w.until(
      `${units} lie in suspense`,
      async () => (await w.casesOf('unexpected_credit')).length > credits.length,
    );
    for (const { id, subject, facts } of await w.casesOf('unexpected_credit')) {
      const deposit = subject.replace('deposit:', '');
      if (credits.some((one) => one.deposit === deposit)) continue;
      credits.push({ deposit, case: String(id), reference: String(facts.reference) });
    }
  }
  const [first, second] = credits;
  const sale = await w.sells('41');
  await w.operates('/kill-switches', { kind: 'rail', subject: BANK_RAIL });
  await w.sendsTokens(sale.address, '41');
  await w.reaches(sale.id, 'paying_out');
  const amount = two(sale.toAmount);
  const to = { account: w.customer.iban, name: w.customer.name };
  w.books({ amount: `-${amount}`, text: 'by the counter', ...to });
  w.books({ amount: '-3.21', text: 'by the counter again', ...to });
  await w.takesStatements();
  const debits = await w.until('both debits are unexplained', async () => {
    const cases = await w.casesOf('unexplained_debit');
    return cases.length === 2 && cases;
  });
  const of = (units: string) => debits.find(({ facts }) => two(String(Number(facts.units) / 100)) === units);
  const corrects = (id: unknown, body: Record<string, unknown>) =>
    w.twoDo(`/cases/${id}/correct`, { as: 'lost_order', ...body });
  const evidence = (units: string) => String(of(units)?.facts.reference);

  // A later part is accepted for the order only after its first part.
  const early = { as: 'lost_order', amount: '12', evidence: second?.reference, deposit: first?.deposit };
  const declined = await w.tries(`/cases/${second?.case}/correct`, early);
  assert.match(declined.body.error, /given for no lost order/);
  await corrects(of(amount)?.id, { amount, evidence: evidence(amount), deposit: first?.deposit });
  await corrects(of('3.21')?.id, { amount: '3.21', evidence: evidence('3.21'), deposit: first?.deposit });
  await corrects(second?.case, { amount: '12', evidence: second?.reference, deposit: first?.deposit });
  assert.deepEqual(
    (await w.openCases()).map(({ kind }) => kind),
    [],
  );
  await w.isClean();

  // The larger one turns out to have paid an order of the books.
  await w.twoDo(`/payouts/pay_${sale.id}_1/settle-by`, { line: of(amount)?.subject.replace(`${BANK_RAIL}:`, '') });
  await w.reaches(sale.id, 'settled');
  assert.deepEqual(
    new Set((await w.openCases()).map(({ subject }) => subject)),
    new Set(credits.map(({ deposit }) => `deposit:${deposit}`)),
    'the deposit given for it is not in suspense again',
  );
  await w.isClean();
  await w.lifts('rail', BANK_RAIL);
  for (const { deposit } of credits) {
    const back = someone();
    await w.twoDo(`/deposits/${deposit}/refund`, { address: back });
    await w.until('it is refunded', async () => (await w.paidTo(back)).length === 1);
  }
  await w.isFinal();
  await noCases();
  await w.isClean();
});
