/**
 * A file of payouts that the bank of a manual rail books as one debit, with its fee inside: operators see a case, two of them
 * settle the orders by that debit, and books and bank agree.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { startWorkers } from '../../src/base/workers.ts';
import { balance, chart, undo } from '../../src/ledger/index.ts';
import { askGate, type Order } from '../../src/orders/index.ts';
import { createServer } from '../../src/protocols/whitelabel/index.ts';
import { type ManualDesk, manualBank, openManualDesk, readManualBank } from '../../src/rails/manual/index.ts';
import { openItems, reconcileRail, verifyLedger } from '../../src/reconcile/index.ts';
import { oneOrTwoDo, operatorNamed, type Person, twoDo } from '../protocols/operator/people.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { operatorApi } from '../support/operatorapi.ts';
import { openSaleEnvironment } from '../support/sale.environment.ts';
import { type BankEntry, camt, NUMBER, SETTINGS, sumOf } from '../support/statements.ts';
import { until } from '../support/until.ts';

const RAIL = 'bank.test';
/** What the bank takes for a file. */
const FEE = 50n;
/** Our own account, from which we fund the one at this bank. */
const FUNDING = '000900080007';

describe('a file that its bank books as one debit with its fee', () => {
  let fixture: Fixture;
  let world: Awaited<ReturnType<typeof openSaleEnvironment>>;
  let desk: ManualDesk;
  let workers: Awaited<ReturnType<typeof startWorkers>>;
  let app: ReturnType<typeof createServer>;
  let ada: Person;
  let bea: Person;
  let statements = 0;
  let closing = 0n;

  before(async () => {
    fixture = await freshFixture();
    const accounts = SETTINGS.accounts.map((one) => ({ ...one, fundingAccounts: [FUNDING] }));
    const settings = readManualBank(JSON.stringify({ ...SETTINGS, accounts }));
    world = await openSaleEnvironment(fixture, {
      account: () => ({ name: 'Asha Rao', ifsc: 'HDFC0001234', account: String(randomInt(10 ** 11, 10 ** 12)) }),
      openBank(code, context) {
        const own = { ...settings, code };
        desk = openManualDesk(own, { ...context, gate: (tx, payout) => askGate(world.context, tx, payout) });
        return manualBank(own, context);
      },
    });
    const { db, clock, log } = fixture;
    workers = await startWorkers({ db, clock, log, handlers: world.handlers() });
    app = createServer({ log });
    await app.register(operatorApi(fixture, { bank: desk, rails: world.context.rails, orders: world.context }));
    const baseUrl = await app.listen({ port: 0, host: '127.0.0.1' });
    ada = await operatorNamed({ ...fixture, baseUrl }, 'ada', 'admin');
    bea = await operatorNamed({ ...fixture, baseUrl }, 'bea', 'admin');
  });
  after(async () => {
    await workers?.stop();
    await app?.close();
    await fixture?.stop();
  });

  const rail = () => {
    const found = world.context.rails.get(RAIL);
    assert.ok(found);
    return found;
  };
  /** The bank shows these lines, and the server reads them. */
  async function shows(entries: readonly BankEntry[], opening = closing): Promise<void> {
    statements += 1;
    const from = fixture.clock.now().toISOString().slice(0, 10);
    closing = opening + sumOf(entries);
    const own = { id: `S${statements}`, sequence: statements, currency: 'INR', number: NUMBER };
    const file = await desk.readStatement({
      asset: 'inr',
      bytes: Buffer.from(camt({ ...own, from, opening, entries })),
    });
    await fixture.db.asSystem((tx) => desk.takeStatement(tx, { file, by: 'ada' }));
    await rail().observe();
  }
  async function listed(): Promise<Order> {
    const order = await world.sells();
    await world.pays(order);
    await until('its payout is on the list', async () => (await world.stateOf(order)) === 'paying_out');
    await until('its payout is on the list', async () => (await world.payoutOf(order)).state === 'submitted');
    return order;
  }
  const keyOf = ({ id }: Order) => `pay_${id}_1`;
  const unitsIn = (account: Parameters<typeof balance>[1]) =>
    fixture.db.asSystem(async (tx) => (await balance(tx, account)).units);
  const casesOf = async (kind: string): Promise<string[]> =>
    (await ada.reads(`/cases?kind=${kind}`)).body.cases.map(({ subject }: { subject: string }) => subject);
  async function booksAgree(): Promise<void> {
    await reconcileRail({ ...fixture, graceMs: 0 }, rail(), 'begin');
    assert.deepEqual(await fixture.db.asSystem((tx) => openItems(tx, RAIL)), []);
    const { problems } = await fixture.db.asSystem((tx) => verifyLedger(tx));
    assert.deepEqual(problems, []);
  }
  /** A file of so many orders, downloaded and uploaded. */
  async function uploads(count: number) {
    const orders: Order[] = [];
    for (let n = 0; n < count; n += 1) orders.push(await listed());
    const { id: file } = await twoDo(ada, bea, '/bank/files', { asset: 'inr' });
    await fixture.db.asSystem((tx) => desk.file(tx, BigInt(file)));
    const units = (await fixture.db.asSystem((tx) => desk.batch(tx, BigInt(file)))).units;
    return { orders, file: file as string, units };
  }

  test('two people settle its orders by the debit; the fee is a difference, and nothing stays uncovered', async () => {
    const { orders, file, units } = await uploads(2);
    // The account has little more than these payouts: the unexplained debit exceeds what the books have free.
    await shows([], units + FEE + 10n);
    await fixture.db.asSystem((tx) =>
      undo(tx, 'opening', { id: 'opening:undone', kind: 'opening', at: fixture.clock.now() }),
    );
    await shows([{ units: -(units + FEE), text: `SAMMLER CLOVERLEAF-${file}`, ref: 'BULK1' }]);
    const staysClosed = async () => {
      for (const act of ['withdraw', 'download'])
        assert.equal((await oneOrTwoDo(ada, bea, `/bank/files/${file}/${act}`)).status, 409, act);
    };
    const [subject = ''] = await casesOf('unexplained_debit');
    const line = subject.replace(`${RAIL}:`, '');
    assert.deepEqual(await casesOf('uncovered'), [`custody:${RAIL}:main:inr`]);
    await staysClosed();

    await twoDo(ada, bea, `/bank/files/${file}/settle-by`, { line });
    for (const order of orders) {
      assert.equal(await world.stateOf(order), 'settled');
      const { events, exception } = await told(order);
      assert.ok(events.includes('order.settled'), events.join());
      assert.equal(exception, null, 'a customer is told of another amount');
    }
    assert.deepEqual(await casesOf('unexplained_debit'), []);
    assert.equal(await unitsIn(chart.uncovered(RAIL, 'inr')), 0n);
    assert.equal(await unitsIn(chart.loss('inr')), 0n);
    assert.equal(await unitsIn(chart.difference('inr')), -FEE);
    assert.equal(await unitsIn(chart.custody(RAIL, 'main', 'inr')), 10n);
    await booksAgree();
    await staysClosed();

    // One of them comes back later, as any payout does.
    const [back] = orders;
    assert.ok(back !== undefined);
    const part = units / 2n;
    await shows([{ units: part, endToEnd: keyOf(back).replaceAll('_', '-'), ref: 'BACK1', returned: 'AC04' }]);
    assert.equal((await world.payoutOf(back)).state, 'returned');
    assert.equal((await casesOf('payout_returned')).length, 1);
    await booksAgree();
  });

  test('new funds arrive for the next files', async () => {
    await shows([{ units: 1_000_000n, name: 'Ramp GmbH', account: FUNDING, ref: 'FUND1' }]);
    await booksAgree();
  });

  test('a debit without one of its payments, with less than the others and a stated charge, leaves that one open', async () => {
    const difference = await unitsIn(chart.difference('inr'));
    const { orders, file } = await uploads(3);
    const named = orders.slice(0, 2).map(keyOf);
    const list = (await fixture.db.asSystem((tx) => desk.batch(tx, BigInt(file)))).list;
    const units = (keys: readonly string[]) =>
      list.reduce((sum, one) => (keys.includes(one.key) ? sum + one.units : sum), 0n);
    await shows([{ units: -(units(named) - 7n + 3n), chargeUnits: 3n, text: `CLOVERLEAF-${file}`, ref: 'BULK2' }]);
    const [subject = ''] = await casesOf('unexplained_debit');
    // Two people had declared before that it paid nothing of ours.
    await twoDo(ada, bea, '/debits/foreign', { debit: subject });
    const line = subject.replace(`${RAIL}:`, '');
    await twoDo(ada, bea, `/bank/files/${file}/settle-by`, { line, payouts: named });
    assert.deepEqual(await Promise.all(orders.map(world.stateOf)), ['settled', 'settled', 'paying_out']);
    assert.equal((await unitsIn(chart.difference('inr'))) - difference, 7n);
    assert.equal(await unitsIn(chart.cost(RAIL, 'inr')), 3n);
    await booksAgree();
    const [, , left] = orders;
    assert.ok(left !== undefined);
    const endToEnd = keyOf(left).replaceAll('_', '-');
    await shows([{ units: -units([keyOf(left)]), endToEnd, ref: 'LEFT2' }]);
    assert.equal(await world.stateOf(left), 'settled');
    await booksAgree();
  });

  test('a file that was withdrawn and uploaded after all settles the orders that still hold their money', async () => {
    const { orders, file, units } = await uploads(2);
    const reason = 'we believe that it was not uploaded';
    await twoDo(ada, bea, `/bank/files/${file}/withdraw`, { reason });
    for (const order of orders)
      await until('its payout is rejected', async () => (await world.stateOf(order)) === 'payout_held');
    await shows([{ units: -(units + FEE), text: `CLOVERLEAF-${file}`, ref: 'BULK3' }]);
    const [subject = ''] = await casesOf('unexplained_debit');
    await twoDo(ada, bea, `/bank/files/${file}/settle-by`, { line: subject.replace(`${RAIL}:`, '') });
    assert.deepEqual(await Promise.all(orders.map(world.stateOf)), ['settled', 'settled']);
    await booksAgree();
  });

  async function told({ id }: Order) {
    return await fixture.db.asSystem(async (tx) => ({
      events: (await tx.rows<{ type: string }>(`select type from events where subject = 'order:' || $1`, [id])).map(
        ({ type }) => type,
      ),
      exception: (await tx.row<{ exception: string | null }>('select exception from orders where id = $1', [id]))
        ?.exception,
    }));
  }
});
