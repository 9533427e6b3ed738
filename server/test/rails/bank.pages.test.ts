/** Pages of a statement: what shares a transaction, what has one of its own, and where reading continues. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import type { Tx } from '../../src/base/db.ts';
import type { BankContext } from '../../src/rails/bank.ts';
import { type BankEnvironment, bankEnvironment } from '../support/bank.environment.ts';
import { type Counted, countedDatabase } from '../support/counted.ts';
import { targetOf } from '../support/targets.ts';
import { until } from '../support/until.ts';

describe('a page of the statement', () => {
  let w: BankEnvironment;
  let counted: Counted;
  afterEach(async () => {
    await counted.stop();
    await w.stop();
  });
  const LINE = /insert into bank_lines/;
  const CURSOR = /insert into bank_cursors/;
  const taking = (sent: string[][]) => sent.flat().filter((text) => LINE.test(text)).length;
  const stored = () => w.db.asSystem((tx) => tx.rows<{ externalId: string }>('select external_id from bank_lines'));

  /** A rail that has read the statement once; its transactions are counted from then on. */
  async function world(more: Partial<BankContext> = {}) {
    w = await bankEnvironment();
    counted = countedDatabase(w.db, w.serverUrl);
    const rail = w.railOn(counted.db, more);
    await rail.observe();
    counted.again();
    return rail;
  }
  const pays = (number: bigint, text = targetOf(w.rail, number)) =>
    w.bank.creditAccount({
      currency: 'INR',
      units: number,
      text,
      payerName: 'Meera Iyer',
      payerAccount: '998877665544',
    });

  it('with one line is one transaction: the row’s cursor, the line and the new cursor', async () => {
    const rail = await world();
    await pays(1n);
    await rail.observe();
    assert.deepEqual(
      counted.transactions.map((sent) => [taking(sent), sent.flat().filter((text) => CURSOR.test(text)).length]),
      [[1, 1]],
    );
  });

  it('with lines of several orders is one transaction, which locks the orders first', async () => {
    const locked: object[] = [];
    const rail = await world({
      async lockOrders(tx, of) {
        locked.push(of);
        return await tx.run('select 1 from unnest($1::text[]) as t', [[...(of.targets ?? []), ...(of.payouts ?? [])]]);
      },
    });
    const id = await w.writes(5_000n);
    await w.looksAt(id);
    await w.bank.settlesDue();
    const targets = [7n, 8n, 9n].map((number) => targetOf(w.rail, number));
    for (const number of [7n, 8n, 9n]) await pays(number);
    counted.again();
    await rail.observe();
    assert.deepEqual(locked, [{ rail: w.rail.code, externalIds: [], targets, payouts: [id] }]);
    assert.deepEqual(counted.transactions.map(taking), [4]);
    const texts = counted.transactions[0]?.flat() ?? [];
    assert.ok(texts.findIndex((text) => /unnest/.test(text)) < texts.findIndex((text) => LINE.test(text)));
    assert.equal(await w.state(id), 'settled');
    assert.equal(w.of('deposit_confirmed').length, 3);
  });

  it('has a transaction for each line if two name one order, one names none, or an order is not there', async () => {
    let orders = 2;
    const rail = await world({ lockOrders: async () => orders });
    const takes = async (): Promise<number[]> => {
      counted.again();
      await rail.observe();
      return counted.having(LINE).map(taking);
    };
    await pays(1n);
    await pays(2n, targetOf(w.rail, 1n));
    assert.deepEqual(await takes(), [1, 1]);
    await pays(3n);
    await pays(4n, 'rent');
    assert.deepEqual(await takes(), [1, 1]);
    orders = 1;
    await pays(5n);
    await pays(6n);
    assert.deepEqual(await takes(), [1, 1]);
    orders = 2;
    await pays(7n);
    await pays(8n);
    assert.deepEqual(await takes(), [2]);
    assert.equal((await stored()).length, 9);
  });

  it('of one line and a longer page with that line do not wait for each other in two processes', async () => {
    const order: string[] = [];
    // As `lockOrders` and the report of a deposit lock its order.
    const lock = (tx: Tx, target: string) => tx.run('select pg_advisory_xact_lock(hashtext($1))', [target]);
    const isWaiting = async () =>
      (
        await w.rows.query(
          'select from pg_locks join pg_stat_activity using (pid) where datname = current_database() and not granted',
        )
      ).length > 0;
    const first = await world({
      async lockOrders(tx, { targets = [] }) {
        for (const target of targets) await lock(tx, target);
        return targets.length;
      },
      async report(tx, fact) {
        if (fact.type !== 'deposit_confirmed') return;
        order.push('the line is stored');
        // Otherwise each would hold what the other one waits for, until PostgreSQL ends one of them.
        await until('the longer page is being taken', async () => order.length > 1 || (await isWaiting()));
        await lock(tx, fact.target);
        await w.report(tx, fact);
        order.push('the line is reported');
      },
    });
    const second = w.railOn(w.db, {
      async lockOrders(tx, { targets = [] }) {
        for (const target of targets) await lock(tx, target);
        order.push('the orders of the page are locked');
        return targets.length;
      },
    });
    await second.observe();
    await pays(1n);
    const one = first.observe();
    await until('the line is stored', () => order.length > 0);
    await pays(2n);
    await Promise.all([one, second.observe()]);
    assert.deepEqual(order, ['the line is stored', 'the line is reported', 'the orders of the page are locked']);
    assert.deepEqual(
      w.of('deposit_confirmed').map(({ units }) => units),
      [1n, 2n],
    );
  });

  it('with a line that cannot be taken takes those before it, and the rest once it can', async () => {
    let isBroken = true;
    const report: BankContext['report'] = async (tx, fact) => {
      if (isBroken && fact.type === 'deposit_confirmed' && fact.units === 2n) throw new Error('it fits nowhere');
      await w.report(tx, fact);
    };
    const rail = await world({ report, lockOrders: async (_tx, of) => of.targets?.length ?? 0 });
    for (const number of [1n, 2n, 3n]) await pays(number);
    await assert.rejects(rail.observe(), /it fits nowhere/);
    assert.equal((await stored()).length, 2);
    isBroken = false;
    await rail.observe();
    await rail.observe();
    assert.equal((await stored()).length, 4);
    // The first was also reported in the transaction that was rolled back.
    assert.deepEqual(
      w.of('deposit_confirmed').map(({ units }) => units),
      [1n, 1n, 2n, 3n],
    );
  });

  it('is read again from the row’s cursor if that is another than the one this process remembers', async () => {
    const rail = await world();
    await pays(1n);
    await rail.observe();
    // As a standby that was promoted without the last commits has it.
    await w.rows.query(`delete from bank_lines where units = 1`);
    await w.rows.query(`update bank_cursors set cursor = ''`);
    await pays(2n);
    await rail.observe();
    assert.equal((await stored()).length, 3);
  });
});
