/** What customers had at any place of their statements is what the journal says, whenever its entries were booked, sealed and summed. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type Account,
  addToCustomers,
  chart,
  hadBefore,
  move,
  type PostedFor,
  type Problem,
  post,
  seal,
  verifySums,
} from '../../src/ledger/index.ts';
import { customerStatement } from '../../src/reports/index.ts';
import { ends, linesOf, type StatementRow, standingOf } from '../../src/reports/statement.ts';
import { chanceOf } from '../simulation/chance.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { patience } from '../support/patience.ts';
import { openRows, type Rows } from '../support/rows.ts';

const HOUR_MS = 3_600_000;
const FIRST_MS = Date.UTC(2027, 0, 1);
const MONTHS_MS = 90 * 24 * HOUR_MS;
const at = (hour: number) => new Date(FIRST_MS + hour * HOUR_MS);
const CUSTOMERS = ['rows_1', 'rows_2', 'rows_3'];

let fixture: Fixture;
let rows: Rows;
let orders: { id: bigint; partnerId: bigint; customerId: string }[];

before(async () => {
  fixture = await freshFixture();
  rows = await openRows(fixture.adminUrl);
  await rows.cryptoAsset('usdc.x', 'x', 'contract');
  orders = [];
  for (const n of [0, 1, 2, 3, 4, 5]) {
    const { orderId, partnerId } = await rows.order('usdc.x', 'chain.x', `target ${n}`);
    orders.push({ id: orderId, partnerId, customerId: CUSTOMERS[n % 2] ?? '' });
  }
  for (const id of CUSTOMERS.slice(1))
    await rows.query(
      `insert into customers (id, partner_id, kind, created_at, updated_at) select $1, partner_id, 'INDIVIDUAL', now(), now() from customers limit 1`,
      [id],
    );
  for (const { id, customerId } of orders)
    await rows.query('update orders set customer_id = $1 where id = $2', [customerId, id]);
});
after(async () => {
  await rows?.close();
  await fixture?.stop();
});

const one = async <T>(sql: string) => (await fixture.db.asSystem((tx) => tx.row<{ one: T }>(sql)))?.one;
/** Seals, as a minute after the last mark. */
const seals = () =>
  fixture.db.asSystem(async (tx) => {
    await tx.run(`update journal_progress set marked_at = '-infinity'`);
    await seal(tx, fixture.clock.now());
  });
/** Seals all. A transaction of another database of the cluster, older than our entries, delays sealing until its end. */
async function sealAll(): Promise<void> {
  const isOver = patience(20_000);
  while (await one('select true as one from journal_progress where complete_to < (select max(seq) from entries)')) {
    assert.ok(!isOver(), 'entries were not sealed');
    await seals();
  }
}
const sumsAll = async () => {
  while ((await fixture.db.asSystem((tx) => addToCustomers(tx, 50))) > 0);
};
/** The findings of a verification. */
async function problemsOf(): Promise<Problem[]> {
  const problems: Problem[] = [];
  await fixture.db.asSystem((tx) => verifySums(tx, (problem) => problems.push(problem)));
  return problems;
}

/** Every line of a customer's entries in the journal, in order of posting, with the customer's own part of what is shared. */
async function journalOf(customerId: string): Promise<PostedFor[]> {
  const lines = await fixture.db.asSystem((tx) =>
    tx.rows<PostedFor>(
      `select e.id as entry, e.kind, e.seq, t.line::int as line, e.at, e.order_id, t.asset, t.units,
              d.code as debit, d.kind as debit_kind, c.code as credit, c.kind as credit_kind
         from entries e join transfers t on t.entry = e.id and t.step in ('post', 'settle')
         join accounts d on d.id = t.debit join accounts c on c.id = t.credit
        where e.order_id in (select id from orders where customer_id = $1)
           or e.id in (select t.entry from transfers t join accounts a on a.id in (t.debit, t.credit)
                        where a.kind = 'receivable' and split_part(a.code, ':', 2) = $1)
        order by e.seq, t.line`,
      [customerId],
    ),
  );
  const shared = new Map<string, bigint>();
  const isShared = (kind: string) => kind === 'suspense' || kind === 'dormant';
  return lines.map((line) => {
    const had = shared.get(line.debit) ?? 0n;
    const ownUnits = !isShared(line.debitKind) ? 0n : had < line.units ? had : line.units;
    shared.set(line.debit, had - ownUnits);
    if (isShared(line.creditKind)) shared.set(line.credit, (shared.get(line.credit) ?? 0n) + line.units);
    return { ...line, ownUnits };
  });
}

/** The statement of a span, from the first line of the journal on. */
function fromJournal(journal: readonly PostedFor[], customerId: string, from: Date, until: Date): StatementRow[] {
  const standing = standingOf([]);
  const inTime = journal.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  linesOf(
    inTime.filter((line) => line.at < from),
    customerId,
    standing,
  );
  const opening = ends('opening', from, standing);
  const within = inTime.filter((line) => line.at >= from && line.at < until);
  const lines = linesOf(within, customerId, standing);
  return [...opening, ...lines, ...ends('closing', until, standing)];
}

async function assertSame(hours: readonly number[], limit = 500): Promise<void> {
  for (const customerId of CUSTOMERS) {
    const journal = await journalOf(customerId);
    for (const from of hours.map(at))
      for (const until of hours.map(at))
        if (from < until) {
          const shown: StatementRow[] = [];
          for (let next: string | null | undefined; next !== null; ) {
            const input = { customerId, from, until, limit, ...(next === undefined ? {} : { after: next }) };
            const page = await fixture.db.asSystem((tx) => customerStatement(tx, input));
            if (next === undefined)
              assert.equal(page.all?.length, fromJournal(journal, customerId, from, until).length);
            assert.ok(page.next === null || page.lines.length > 0);
            shown.push(...page.lines);
            ({ next } = page);
          }
          const span = `${customerId} from ${from.toISOString()} to ${until.toISOString()}`;
          assert.deepEqual(shown, fromJournal(journal, customerId, from, until), span);
        }
  }
}

const suspense = chart.suspense('chain.x', 'usdc.x');
const dormant = chart.dormant('chain.x', 'usdc.x');
const bank = chart.custody('chain.x', 'main', 'usdc.x');
const inr = chart.custody('bank.one', 'main', 'inr');

/** Debit and credit of a line, as any kind of entry about a customer has it. */
function sidesOf(shape: number, order: (typeof orders)[number]): [Account, Account] {
  const own = chart.order(order.id, order.partnerId, 'usdc.x');
  const owed = chart.receivable(order.customerId, order.partnerId, 'usdc.x');
  const shapes: [Account, Account][] = [
    [bank, own],
    [bank, suspense],
    [suspense, own],
    [suspense, bank],
    [own, chart.blocked('usdc.x')],
    [suspense, dormant],
    [dormant, suspense],
    [owed, bank],
    [suspense, owed],
    [own, chart.treasury('usdc.x')],
    [inr, chart.order(order.id, order.partnerId, 'inr')],
  ];
  return shapes[shape % shapes.length] as [Account, Account];
}

test('entries of any time, sealed and summed in any order', async () => {
  const chance = chanceOf(11);
  const whole = (below: number) => Math.floor(chance.next() * below);
  const hours = [-1, 0, 400, 744, 745, 1_000, 1_416, 1_500, 2_200];
  await fixture.db.asSystem((tx) =>
    post(tx, {
      id: 'first',
      kind: 'test',
      at: at(-2),
      lines: [...move(bank, suspense, 9_999n), ...move(bank, dormant, 999n)],
    }),
  );
  let posted = 0;
  for (let n = 0; n < 160; n += 1) {
    const order = orders[whole(orders.length)];
    assert.ok(order);
    const lines = Array.from({ length: 1 + whole(3) }, () =>
      move(...sidesOf(whole(11), order), BigInt(1 + whole(60))),
    ).flat();
    // Booked in any order, as by a clock that steps or a transaction that ends late. Some entries are of no order, or of another customer's.
    const of = chance.next() < 0.2 ? {} : { orderId: (chance.next() < 0.1 ? orders[0] : order)?.id ?? 0n };
    const { outcome } = await fixture.db.asSystem((tx) =>
      post(tx, { ...{ id: `e${n}`, kind: 'test', at: new Date(FIRST_MS + whole(MONTHS_MS)) }, ...of, lines }),
    );
    posted += outcome === 'posted' ? 1 : 0;
    if (chance.next() < 0.1) await sealAll();
    if (chance.next() < 0.2) await fixture.db.asSystem((tx) => addToCustomers(tx, 1 + whole(20)));
    if (n % 40 === 39) await assertSame(hours);
  }
  assert.ok(posted > 80, `${posted} entries were posted`);
  await sealAll();
  await assertSame(hours);
  await sumsAll();
  await assertSame(hours);
  await assertSame([-1, 745, 1_500], 3);
  await assertSame([-1, 745, 1_500], 1);
  const taken = (await journalOf('rows_1')).filter(
    ({ debitKind }) => debitKind === 'suspense' || debitKind === 'dormant',
  );
  assert.ok(taken.some(({ ownUnits, units }) => ownUnits === units));
  assert.ok(taken.some(({ ownUnits, units }) => ownUnits > 0n && ownUnits < units));
  assert.ok(taken.some(({ ownUnits }) => ownUnits === 0n));
  assert.deepEqual(await problemsOf(), []);
});

test('a transaction that ends late, after later entries are sealed and summed', async () => {
  const [order] = orders;
  assert.ok(order);
  const other = chart.custody('chain.y', 'main', 'usdc.x');
  const isPosted = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  const hours = [-1, 10, 800, 2_200];
  const late = fixture.db.asSystem(async (tx) => {
    const lines = move(other, chart.order(order.id, order.partnerId, 'usdc.x'), 7n);
    await post(tx, { id: 'late', kind: 'test', orderId: order.id, at: at(5), lines });
    isPosted.resolve();
    await mayEnd.promise;
  });
  await isPosted.promise;
  const summed = 'select customers_to as one from daily_totals_progress';
  const before = await one<bigint>(summed);
  try {
    const [, next] = orders;
    assert.ok(next);
    await fixture.db.asSystem((tx) =>
      post(tx, {
        id: 'next',
        kind: 'test',
        orderId: next.id,
        at: at(6),
        lines: move(inr, chart.order(next.id, next.partnerId, 'inr'), 3n),
      }),
    );
    for (let n = 0; n < 3; n += 1) await seals();
    await sumsAll();
    assert.equal(await one(summed), before, 'sums passed a number that a transaction under way has drawn');
    await assertSame(hours);
  } finally {
    mayEnd.resolve();
    await late;
  }
  await assertSame(hours);
  await sealAll();
  await assertSame(hours);
  await sumsAll();
  await assertSame(hours);
  assert.notEqual(await one(summed), before);
  assert.deepEqual(await problemsOf(), []);
});

/** What a customer has in an asset after all. */
const heldOf = async (customerId: string, asset: string) => {
  const had = await fixture.db.asSystem((tx) => hadBefore(tx, customerId, { at: at(9_000), seq: 0n }));
  return had.find((row) => row.asset === asset)?.heldUnits ?? 0n;
};

test('money in suspense counts once if the clock is behind when it goes to the order', async () => {
  const { orderId, partnerId } = await rows.order('usdc.x', 'chain.x', 'target of the clock');
  const id = CUSTOMERS[2] ?? '';
  await rows.query('update orders set customer_id = $1 where id = $2', [id, orderId]);
  const posts = (name: string, hour: number, lines: ReturnType<typeof move>) =>
    fixture.db.asSystem((tx) => post(tx, { id: name, kind: 'test', orderId, at: at(hour), lines }));
  // The second server's clock is an hour behind: by time, money would leave suspense before it came.
  await posts('comes', 3_001, move(bank, suspense, 50n));
  await posts('goes', 3_000, move(suspense, chart.order(orderId, partnerId, 'usdc.x'), 50n));
  const before = await heldOf(id, 'usdc.x');
  const span = { customerId: id, from: at(2_999), until: at(3_002), limit: 50 };
  const page = () => fixture.db.asSystem((tx) => customerStatement(tx, span));
  const lines = async () => (await page()).lines.filter(({ entry }) => entry !== null).map(({ units }) => units);
  assert.deepEqual(await lines(), [50n]);
  await sealAll();
  // One entry at a time, so that the second one finds the first in the tables.
  while ((await fixture.db.asSystem((tx) => addToCustomers(tx, 1))) > 0);
  assert.deepEqual(await lines(), [50n]);
  assert.equal(await heldOf(id, 'usdc.x'), before);
  assert.equal(before, 50n);
  await assertSame([2_999, 3_001, 3_002]);
});

test('two servers at once add each entry once', async () => {
  const [order] = orders;
  assert.ok(order);
  for (let n = 0; n < 6; n += 1)
    await fixture.db.asSystem((tx) =>
      post(tx, {
        ...{ id: `twice${n}`, kind: 'test', orderId: order.id, at: at(3_100 + n) },
        lines: move(bank, chart.order(order.id, order.partnerId, 'usdc.x'), 7n),
      }),
    );
  await sealAll();
  await Promise.all([1, 2, 3, 4].map(() => fixture.db.asSystem((tx) => addToCustomers(tx, 2))));
  await sumsAll();
  assert.deepEqual(await problemsOf(), []);
  await assertSame([3_000, 3_103, 3_200]);
});

test('progress never goes back, and sums that were deleted are made again', async () => {
  const hours = [-1, 745, 1_500, 4_000];
  await rows.query('update daily_totals_progress set customers_to = customers_to + 5');
  assert.equal(await fixture.db.asSystem((tx) => addToCustomers(tx)), 0);
  await rows.query('delete from customer_changes');
  await rows.query('delete from customer_days');
  await rows.query('update daily_totals_progress set customers_to = 0');
  await assertSame(hours);
  await fixture.db.asSystem((tx) => addToCustomers(tx, 100));
  await assertSame(hours);
  await sumsAll();
  await assertSame(hours);
  assert.deepEqual(await problemsOf(), []);
});

test('a customer without entries has nothing, and a cursor that is no line is refused', async () => {
  assert.deepEqual(await fixture.db.asSystem((tx) => hadBefore(tx, 'nobody', { at: at(9_000), seq: 0n })), []);
  const [seq] = await rows.query<{ seq: string }>(`select seq from entries where id = 'twice0'`);
  for (const [customerId, after] of [
    ['rows_2', `${seq?.seq}.1`],
    ['rows_1', `${seq?.seq}.9`],
    ['rows_1', `${'9'.repeat(30)}.1`],
    ['rows_1', '999999.1'],
  ] as const)
    await assert.rejects(
      fixture.db.asSystem((tx) =>
        customerStatement(tx, { customerId, from: at(0), until: at(9_000), after, limit: 5 }),
      ),
      { code: 'malformed_field' },
      `${customerId} after ${after}`,
    );
});

test('a stored change or sum that was edited, and one that was removed, is found and named', async () => {
  const kept = async () => {
    await rows.query('delete from customer_changes');
    await rows.query('delete from customer_days');
    await rows.query('update daily_totals_progress set customers_to = 0');
    await sumsAll();
    assert.deepEqual(await problemsOf(), []);
  };
  for (const change of [
    `update customer_changes set held_units = held_units + 1 where customer_id = 'rows_1'`,
    `update customer_changes set owed_units = owed_units + 1 where customer_id = 'rows_1' and account <> ''`,
    `update customer_changes set at = at - interval '1 millisecond' where customer_id = 'rows_1'`,
    `delete from customer_changes where customer_id = 'rows_1'`,
    `update customer_days set held_units = held_units - 1 where customer_id = 'rows_1'`,
    `update customer_days set owed_units = owed_units - 1 where customer_id = 'rows_1'`,
    `update customer_days set day = day - 400 where customer_id = 'rows_1'`,
    `delete from customer_days where customer_id = 'rows_1'`,
  ]) {
    await rows.query(change);
    const found = await problemsOf();
    assert.ok(found.length > 0, change);
    for (const { rule, subject } of found) {
      assert.equal(rule, 'daily_total');
      assert.match(subject, /^\d{4}-\d\d-\d\d rows_1$/, change);
    }
    await kept();
  }
});
