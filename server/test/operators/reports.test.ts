/**
 * Reports: an auditor's five questions, and a fee that was wrong for an hour. Every sum is compared with the trial balance, so
 * that no report can contradict the books.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { formatUnits, parseUnits, percentage } from '../../src/base/money.ts';
import { addToDailyTotals, seal, verifyJournal, verifySums } from '../../src/ledger/index.ts';
import { marketById } from '../../src/partners/index.ts';
import { affectedOrders, customerStatement, type OtherTerms, revenue } from '../../src/reports/index.ts';
import { oneOpensGates, operatorNamed, type Person } from '../protocols/operator/people.ts';
import type { Came } from '../support/client.ts';
import { fetchDeclared } from '../support/declared.fetch.ts';
import { openStory, type Purchase, type Sale, type Story, type StoryCustomer } from '../support/story.ts';
import { type Ended, readCsv, terminal } from '../support/terminal.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

let world: Story;
let ada: Person;
let vic: Person;
let types: (...words: string[]) => Promise<Ended>;
let seller: StoryCustomer;
let market = '';
/** The market's fee before it was wrong, and during the wrong hour. */
let right: Came;
const WRONG_BPS = 500;
/** The evening of the first day: the books at that time. */
let evening: { at: string; accounts: Came[] };
let wrongFrom = '';
let wrongUntil = '';
let dear: Sale;
let promised: Sale;
let rejected: Sale;
let bought: Purchase;
let begin = '';
let end = '';

const now = () => world.clock.now().toISOString();
const reads = async (path: string): Promise<Came> => {
  const { status, body } = await vic.reads(path);
  assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
  return body;
};
const done = async (path: string, body: Record<string, unknown>): Promise<void> => {
  const said = await ada.does(path, body);
  assert.equal(said.status, 200, JSON.stringify(said.body));
};
async function sold(amount: string, customer: StoryCustomer): Promise<Sale> {
  const sale = await world.sells(amount, 'usdc', { customer });
  await world.pays(sale, amount);
  await world.mines(2);
  await world.until('it is settled', async () => (await world.stateOf(sale)) === 'settled');
  return sale;
}
/** The books do not change by themselves meanwhile. */
const quiet = async () => {
  let last = '';
  await world.until('the books are quiet', async () => {
    const seen = JSON.stringify(await reads('/trial-balance?by=account'));
    const isQuiet = seen === last;
    last = seen;
    return isQuiet;
  });
};

before(async () => {
  world = await openStory({ operators: 'two' });
  const where = { db: world.server.db, baseUrl: world.server.baseUrl, clock: world.clock };
  await world.read(oneOpensGates);
  ada = await operatorNamed(where, 'ada', 'admin');
  vic = await operatorNamed(where, 'vic', 'viewer');
  types = terminal(world.server.baseUrl, vic.token);
  // In the morning, so that the story's first day is one day.
  const today = world.clock.now().getTime();
  world.clock.advance(Math.ceil(today / DAY_MS) * DAY_MS + 6 * HOUR_MS - today);
  begin = new Date(world.clock.now().getTime() - DAY_MS).toISOString();
  seller = await world.verifiedCustomer();
  const first = await sold('50', seller);
  market = String((await world.traceOf(first)).order.marketId);
  bought = await world.buys('5000', 'usdc');
  await world.credits(bought, '5100');
  await world.until('it is settled', async () => (await world.stateOf(bought)) === 'settled');
  await quiet();
  world.clock.advance(1_000);
  evening = { at: now(), accounts: (await reads('/trial-balance?by=account')).accounts };

  world.clock.advance(DAY_MS);
  right = (await reads(`/markets/${market}`)).fees.find((one: Came) => one.kind === 'operator');
  await done(`/markets/${market}/fees`, { kind: 'operator', bps: String(WRONG_BPS), reason: 'the new price list' });
  wrongFrom = now();
  world.clock.advance(1_000);
  dear = await sold('60', seller);
  promised = await world.sells('70', 'usdc', { customer: seller });
  world.clock.advance(HOUR_MS / 2);
  wrongUntil = now();
  const { kind, fixed, bps, minimum } = right;
  await done(`/markets/${market}/fees`, { kind, fixed, bps: String(bps), minimum, reason: 'a nought too many' });
  world.clock.advance(1_000);
  rejected = await world.sells('40', 'usdc', { customer: seller, reference: 'screen:hold' });
  await world.pays(rejected, '40');
  await world.mines(2);
  await world.until('it is held', async () => (await world.stateOf(rejected)) === 'on_hold');
  await world.rejects(rejected, { failure: 'other', address: world.newAddress() });
  await world.refundArrives(rejected, -2);
  await quiet();
  world.clock.advance(1_000);
  end = now();
});
after(async () => await world?.close());

const span = (from: string, until: string) => `from=${from}&until=${until}`;

describe("an auditor's five questions", () => {
  test('the trial balance of an instant equals the books at that time, whatever was posted since', async () => {
    const then = await reads(`/trial-balance?at=${evening.at}`);
    assert.deepEqual(then.accounts, evening.accounts);
    const today = await reads('/trial-balance?by=account');
    assert.notDeepEqual(today.accounts, evening.accounts, 'the second day changed nothing');
    assert.deepEqual((await reads(`/trial-balance?at=${end}`)).accounts, today.accounts);
    assert.deepEqual((await reads(`/trial-balance?at=2020-01-01T00:00:00Z`)).accounts, []);
    for (const { asset, debits, credits, heldDebits, heldCredits } of then.assets)
      assert.deepEqual([debits, heldDebits], [credits, heldCredits], asset);
    const { body } = await vic.reads('/trial-balance');
    assert.ok(Array.isArray(body), 'the reply without an instant differs');
    assert.deepEqual(
      body.filter(({ debits }: Came) => debits !== '0'),
      today.assets,
      'accounts do not come to the sums by asset',
    );
  });

  test('a statement begins and ends with the amounts held, and every line is one of the journal', async () => {
    const { lines, totals, next } = await reads(`/reports/statement?customer=${seller.id}&${span(begin, end)}`);
    assert.equal(next, null);
    const inUnits = (text: string, asset: string) =>
      parseUnits(text.replace('-', ''), asset === 'inr' ? 2 : 6) * (text.startsWith('-') ? -1n : 1n);
    const assets = [...new Set<string>(lines.map(({ asset }: Came) => asset))];
    assert.deepEqual(assets.sort(), ['inr', 'usdc.matic20']);
    for (const asset of assets) {
      const of = lines.filter((one: Came) => one.asset === asset);
      const sum = of
        .filter(({ what }: Came) => what !== 'closing')
        .reduce((units: bigint, one: Came) => units + inUnits(one.units, asset), 0n);
      assert.equal(sum, inUnits(of.at(-1).units, asset), `${asset} does not add up`);
      assert.equal(of.at(-1).what, 'closing');
    }
    const of = (what: string, asset: string) =>
      totals.find((one: Came) => one.what === what && one.asset === asset)?.units;
    assert.equal(of('deposit', 'usdc.matic20'), '150');
    assert.equal(of('refund', 'usdc.matic20'), '-40');
    assert.equal(of('closing', 'usdc.matic20'), '0');
    const [paid, feesPaid] = await Promise.all([
      world.read((tx) =>
        tx.rows<{ units: bigint }>(
          `select sum(p.units)::numeric(78,0) as units from payouts p join orders o on o.id = p.order_id where o.customer_id = $1 and p.purpose = 'payout'`,
          [seller.id],
        ),
      ),
      world.read((tx) =>
        tx.rows<{ units: bigint }>(
          `select sum(fee_operator)::numeric(78,0) as units from orders where customer_id = $1 and state = 'settled'`,
          [seller.id],
        ),
      ),
    ]);
    assert.equal(of('payout', 'inr'), `-${formatUnits(paid[0]?.units ?? 0n, 2)}`);
    assert.equal(of('fee_operator', 'inr'), `-${formatUnits(feesPaid[0]?.units ?? 0n, 2)}`);
    const later = await reads(`/reports/statement?customer=${seller.id}&${span(evening.at, end)}`);
    const firstDay = await reads(`/reports/statement?customer=${seller.id}&${span(begin, evening.at)}`);
    const moved = (body: Came) => body.lines.filter(({ entry }: Came) => entry !== null);
    assert.deepEqual(
      [...moved(firstDay), ...moved(later)],
      moved({ lines }),
      'two adjacent spans do not sum to the whole',
    );
    const paged: Came[] = [];
    for (let after = ''; ; ) {
      const page = await reads(`/reports/statement?customer=${seller.id}&${span(begin, end)}&limit=3${after}`);
      paged.push(...page.lines);
      if (page.next === null) break;
      after = `&after=${page.next}`;
    }
    assert.deepEqual(paged, lines);
  });

  test('totals come with the first page, and not for a span with very many lines; its pages are the same', async () => {
    const page = (input: { after?: string; mostTotalled?: number }) =>
      world.read((tx) =>
        customerStatement(tx, {
          ...{ customerId: seller.id, from: new Date(begin), until: new Date(end), limit: 3 },
          ...input,
        }),
      );
    const [first, long] = [await page({}), await page({ mostTotalled: 3 })];
    assert.ok(first.all !== null && first.all.length > 6);
    assert.deepEqual({ ...long, all: first.all }, first);
    assert.equal(long.all, null);
    const { next } = first;
    assert.ok(next !== null);
    const second = await page({ after: next });
    assert.deepEqual([second.all, second.lines], [null, first.all.slice(3, 6)]);
    const reply = await reads(`/reports/statement?customer=${seller.id}&${span(begin, end)}&limit=3&after=${next}`);
    assert.equal(reply.totals, null);
  });

  test('statements of all customers sum to the customers’ money in the books', async () => {
    const sums = new Map<string, bigint>();
    const customers = await world.read((tx) =>
      tx.rows<{ id: string }>('select distinct customer_id as id from orders'),
    );
    for (const { id: customerId } of customers) {
      const input = { customerId, from: new Date(begin), until: new Date(end), limit: 500 };
      for (const { what, asset, units } of (await world.read((tx) => customerStatement(tx, input))).lines)
        if (what === 'closing') sums.set(asset, (sums.get(asset) ?? 0n) + units);
    }
    const booked = await world.read((tx) =>
      tx.rows<{ asset: string; units: bigint }>(
        `select asset, sum(credits - debits)::numeric(78,0) as units from accounts where kind in ('order', 'suspense', 'blocked')
          group by asset having sum(credits - debits) <> 0 order by asset`,
      ),
    );
    assert.deepEqual(
      [...sums].filter(([, units]) => units !== 0n).map(([asset, units]) => ({ asset, units })),
      booked,
    );
    assert.deepEqual(
      booked,
      [{ asset: 'inr', units: 10_000n }],
      'the excess of the purchase is not the only money held',
    );
  });

  test('revenue per partner and day equals the receipts of the fee accounts', async () => {
    const { revenue: rows, next } = await reads(`/reports/revenue?${span(begin, end)}`);
    assert.equal(next, null);
    const days = new Set(rows.map(({ day }: Came) => day));
    assert.deepEqual([...days], [evening.at.slice(0, 10), wrongFrom.slice(0, 10)]);
    const partner = String((await world.traceOf(dear)).order.partnerId);
    const [second] = rows.filter((one: Came) => one.day === wrongFrom.slice(0, 10) && one.marketId === market);
    assert.deepEqual([second.partnerId, second.asset], [partner, 'inr']);
    assert.equal(second.operatorFee, formatUnits(dear.fees.operator, 2));
    const all = await world.read((tx) => revenue(tx, { from: new Date(begin), until: new Date(end), limit: 500 }));
    for (const kind of ['fee_operator', 'fee_partner', 'fee_rail', 'fee_chain', 'cost'] as const) {
      const sums = new Map<string, bigint>();
      for (const { asset, units } of all.rows) sums.set(asset, (sums.get(asset) ?? 0n) + units[kind]);
      const booked = await world.read((tx) =>
        tx.rows<{ asset: string; units: bigint }>(
          `select asset, sum(case kind when 'cost' then debits - credits else credits - debits end)::numeric(78,0) as units
             from accounts where kind = $1 group by asset`,
          [kind],
        ),
      );
      for (const { asset, units } of booked) assert.equal(sums.get(asset) ?? 0n, units, `${kind} ${asset}`);
    }
    const one = await reads(`/reports/revenue?${span(begin, end)}&partner=${partner}&market=${market}`);
    assert.ok(one.revenue.every((row: Came) => row.partnerId === partner && row.marketId === market));
    assert.equal(one.revenue.length, 2);
    const paged: Came[] = [];
    for (let after = ''; ; ) {
      const page = await reads(`/reports/revenue?${span(begin, end)}&limit=1${after}`);
      paged.push(...page.revenue);
      if (page.next === null) break;
      after = `&after=${page.next}`;
    }
    assert.deepEqual(paged, rows);
    // From the sums of sealed entries, as from the journal.
    await world.until('all is sealed and summed', async () => {
      await world.read((tx) => seal(tx, world.clock.now()));
      await world.read((tx) => addToDailyTotals(tx));
      const isLeft = `exists (select from entries where not exists (select from sealed_entries where entry_seq = seq))
        or (select revenue_to from daily_totals_progress) < (select max(number) from seals)`;
      return (await world.read((tx) => tx.row(`select where ${isLeft}`))) === undefined;
    });
    assert.deepEqual((await reads(`/reports/revenue?${span(begin, end)}`)).revenue, rows);
  });

  test('orders are counted by the country of their customers, and what settled of each fiat adds up', async () => {
    const { countries } = await reads(`/reports/countries?${span(begin, end)}`);
    const rows = await world.read((tx) =>
      tx.rows<{ state: string; fiat: string; worth: bigint; customerId: string }>(
        `select state, fiat_asset as fiat, customer_id,
           case when deposit_asset = fiat_asset then deposit_units else gross_units end as worth from orders`,
      ),
    );
    assert.deepEqual(
      countries.map(({ country, saidBy, fiat }: Came) => [country, saidBy, fiat]),
      [['IN', 'phone', 'inr']],
    );
    const [{ customers, orders, settled, settledUnits }] = countries;
    const ended = rows.filter(({ state }) => state === 'settled');
    assert.ok(ended.length > 1 && ended.length < rows.length, `${ended.length} of ${rows.length} settled`);
    assert.deepEqual(
      [customers, orders, settled, settledUnits],
      [
        ...[new Set(rows.map(({ customerId }) => customerId)).size, rows.length, ended.length].map(String),
        formatUnits(
          ended.reduce((sum, { worth }) => sum + worth, 0n),
          2,
        ),
      ],
    );
    // Another country is another row, of the orders that were created before, too.
    await world.read((tx) =>
      tx.run("update customers set country = 'PT', country_by = 'form' where id = $1", [seller.id]),
    );
    const moved = (await reads(`/reports/countries?${span(begin, end)}`)).countries;
    assert.deepEqual(
      moved.map(({ country, saidBy }: Came) => `${country} ${saidBy}`),
      ['IN phone', 'PT form'],
    );
    const sum = moved.reduce((all: bigint, { orders: count }: Came) => all + BigInt(count), 0n);
    assert.equal(sum, BigInt(rows.length));
    await world.read((tx) =>
      tx.run("update customers set country = 'IN', country_by = 'phone' where id = $1", [seller.id]),
    );
    const before = `from=1999-01-01T00:00:00Z&until=${encodeURIComponent(begin)}`;
    assert.deepEqual((await reads(`/reports/countries?${before}`)).countries, []);
    assert.equal((await vic.reads(`/reports/countries?${span(begin, end)}&partner=9`)).status, 404);
  });

  test('the journal is untouched, and changes and audit show who changed a fee and when', async () => {
    const problems: unknown[] = [];
    await world.read((tx) => seal(tx, world.clock.now()));
    const tell = (problem: unknown): void => void problems.push(problem);
    for (const verify of [verifyJournal, verifySums]) await world.read(async (tx) => void (await verify(tx, tell)));
    assert.deepEqual(problems, []);
    const within = span(new Date(Date.parse(wrongFrom) - 60_000).toISOString(), end);
    const { audit } = await reads(`/audit?action=fee.set&${within}`);
    assert.deepEqual(
      audit.map(({ operator, reason, subject }: Came) => [operator, reason, subject]),
      [
        ['ada', 'a nought too many', `market:${market}`],
        ['ada', 'the new price list', `market:${market}`],
      ],
    );
    assert.deepEqual((await reads(`/audit?action=fee.set&${span(begin, evening.at)}`)).audit, []);
    const { changes } = await reads(`/changes?market=${market}&what=fee&limit=2`);
    assert.deepEqual(
      changes.map(({ by, why }: Came) => [by, why]),
      [
        ['ada', 'a nought too many'],
        ['ada', 'the new price list'],
      ],
    );
    assert.deepEqual((await reads(`/changes?what=fee&until=2020-01-01T00:00:00Z`)).changes, []);
  });

  test('the changes of one partner are those of its own terms, and no others', async () => {
    const partner = String((await world.traceOf(dear)).order.partnerId);
    await done(`/partners/${partner}/caps`, { fiat: 'inr', max: '9000000', reason: 'as its contract says' });
    const { changes } = await reads(`/changes?partner=${partner}&limit=200`);
    assert.ok(changes.length > 0 && changes.every(({ partnerId }: Came) => partnerId === partner));
    const [{ what, item, why }] = changes;
    assert.deepEqual([what, item, why], ['exposure', 'inr', 'as its contract says']);
    assert.deepEqual((await reads(`/changes?partner=${partner}&market=${market}&what=exposure`)).changes, []);
  });
});

describe('a fee that was wrong for an hour', () => {
  const affected = (more: string, from = wrongFrom, until = wrongUntil) =>
    reads(`/reports/affected?market=${market}&${span(from, until)}&${more}`);

  test('has its orders, the charge of each, the correct charge, and the total difference', async () => {
    const { changes } = await reads(`/changes?market=${market}&what=fee&limit=2`);
    const body = await affected(`change=${changes[1].id}`);
    const [paid, open] = body.orders;
    const { order } = await world.traceOf(dear);
    const other = parseUnits(right.fixed, 2) + percentage(order.grossUnits, BigInt(right.bps), 'up');
    assert.equal(body.compared.bps, String(right.bps));
    assert.deepEqual(
      [paid.order, paid.isCharged, paid.was, paid.other, paid.difference],
      [
        String(dear.id),
        true,
        formatUnits(dear.fees.operator, 2),
        formatUnits(other, 2),
        formatUnits(dear.fees.operator - other, 2),
      ],
    );
    assert.deepEqual(
      [open.order, open.isCharged, open.was],
      [String(promised.id), false, formatUnits(promised.fees.operator, 2)],
    );
    assert.deepEqual(body.charged, {
      asset: 'inr',
      orders: 1,
      was: paid.was,
      other: paid.other,
      difference: paid.difference,
    });
    assert.equal(body.promised.orders, 1);
    assert.deepEqual(
      (await affected(`fee=operator&bps=${right.bps}&fixed=${right.fixed}&minimum=${right.minimum}`)).orders,
      body.orders,
      'the same terms by name compare otherwise',
    );
    assert.equal((await affected(`change=${changes[1].id}&limit=1`)).next, String(dear.id));
    assert.deepEqual((await affected(`change=${changes[1].id}&limit=1&after=${dear.id}`)).orders, [open]);
  });

  test('leaves out orders without a charge, and a partner with a fee of its own', async () => {
    const all = await affected('fee=operator&bps=1', begin, end);
    assert.ok(
      !all.orders.some((one: Came) => one.order === String(rejected.id)),
      'an order that was refunded is charged',
    );
    assert.equal(all.charged.orders, 2);
    const { partnerId, marketId } = (await world.traceOf(dear)).order;
    const terms: OtherTerms = { fee: 'operator', fixedUnits: 0n, bps: 1n, minimumUnits: 0n, notFor: [partnerId] };
    const dates = { from: new Date(begin), until: new Date(end) };
    const found = await world.read(async (tx) =>
      affectedOrders(tx, { market: await marketById(tx, marketId), ...dates, terms }),
    );
    assert.deepEqual(found.orders, []);
  });

  test('and so has a price: what would have been paid out, with the fees as they were', async () => {
    const { order } = await world.traceOf(dear);
    const rate = '100';
    const body = await affected(`rate=${rate}`);
    const [paid] = body.orders;
    const feesUnits = Object.values(order.fees).reduce((sum, units) => sum + units, 0n);
    const expected = 60n * 100n * 100n - feesUnits;
    assert.equal(paid.other, formatUnits(expected, 2));
    assert.equal(paid.difference, formatUnits(expected - order.payoutUnits, 2));
    assert.equal(body.compared.rate, rate);
  });

  test('is asked for by one way of saying the other terms, and by no other', async () => {
    const base = `/reports/affected?market=${market}&${span(wrongFrom, wrongUntil)}`;
    for (const [more, field, rule] of [
      ['', 'change', /only one of them/],
      ['&change=1&rate=2', 'change', /only one of them/],
      ['&change=999999', 'change', /a change of a fee of this market/],
      ['&fee=operator', 'fee', /bps, fixed or minimum/],
      ['&rate=2&bps=4', 'bps', /is allowed only with fee/],
      ['&rate=0', 'rate', /above zero/],
      ['&fee=gas&bps=1', 'fee', /one of operator/],
      ['&fee=operator&bps=10001', 'bps', /from 0 to 10000/],
    ] as const) {
      const { status, body } = await vic.reads(`${base}${more}`);
      assert.equal(status, 400, more);
      assert.match(body.fields[field] ?? '', rule, more);
    }
    const wrong = await vic.reads(`/reports/statement?customer=${seller.id}&${span(end, begin)}`);
    assert.match(wrong.body.fields.until, /after from/);
    assert.equal(
      (await vic.reads(`/reports/statement?customer=nobody&${span(begin, end)}`)).body.reason,
      'unknown_customer',
    );
    const missing = await vic.reads('/reports/revenue');
    assert.deepEqual(missing.body.fields, { from: 'is missing', until: 'is missing' });
    const beyond = await vic.reads(`/reports/statement?customer=${seller.id}&${span(begin, end)}&after=1.99`);
    assert.match(beyond.body.fields.after, /a line of this statement/);
  });
});

describe('at a terminal', () => {
  test('every report is a table and CSV with the same rows', async () => {
    const [balance, csv, statement, earned, orders] = await Promise.all([
      types('report', 'trial-balance', '--at', evening.at),
      types('report', 'trial-balance', '--at', evening.at, '--csv'),
      types('report', 'statement', seller.id, begin, end, '--csv', '--all', '--limit', '4'),
      types('report', 'revenue', begin, end, '--csv'),
      types('report', 'affected', market, wrongFrom, wrongUntil, '--fee', 'operator', '--bps', String(right.bps)),
    ]);
    assert.equal(balance.code, 0, balance.err);
    assert.match(balance.out, /treasury:inr +treasury/);
    assert.deepEqual(
      readCsv(csv.out).map(({ account, balance: units }) => [account, units]),
      evening.accounts.map(({ account, balance: units }) => [account, units]),
    );
    assert.equal(statement.code, 0, statement.err);
    assert.deepEqual(
      readCsv(statement.out).map(({ line, units }) => [line, units]),
      (await reads(`/reports/statement?customer=${seller.id}&${span(begin, end)}`)).lines.map(
        ({ line, units }: Came) => [line, units],
      ),
    );
    assert.deepEqual(
      readCsv(earned.out).map(({ day, operatorFee }) => [day, operatorFee]),
      (await reads(`/reports/revenue?${span(begin, end)}`)).revenue.map(({ day, operatorFee }: Came) => [
        day,
        operatorFee,
      ]),
    );
    assert.equal(orders.code, 0, orders.err);
    assert.match(orders.out, /charged:\n {2}asset +inr\n {2}orders +1\n/);
    assert.match(orders.out, new RegExp(`${dear.id} .* inr`));
  });

  test('shows no report to a program without the right to read', async () => {
    const reply = await fetchDeclared(`${world.server.baseUrl}/operator/v1/reports/revenue?${span(begin, end)}`);
    assert.equal(reply.status, 401);
  });
});
