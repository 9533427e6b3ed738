/**
 * Operators' lists of debts, bank lines and partners' requests; accounts by their full number; and the reconciliation report with
 * the seal of the journal.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { numberAccounts } from '../../src/customers/index.ts';
import { seal, verifyJournal } from '../../src/ledger/index.ts';
import { verifySigned } from '../../src/reports/index.ts';
import { amountsDecide, type Person, twoDo } from '../protocols/operator/people.ts';
import type { Came } from '../support/client.ts';
import { settledPurchase, strayCredit } from '../support/orders.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Purchase, Story } from '../support/story.ts';
import { readCsv } from '../support/terminal.ts';
import { openV1 } from '../support/v1.ts';

const DAY_MS = 86_400_000;
const NUMBER = '0001 4477 1203 9988';

let world: Story;
let ada: Person;
let finn: Person;
let vic: Person;
let orders: Purchase[];
let partner = '';

const reads = async (path: string): Promise<Came> => {
  const { status, body } = await vic.reads(path);
  assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
  return body;
};
const csvOf = async (path: string) => {
  const url = `${world.server.baseUrl}/operator/v1${path}${path.includes('?') ? '&' : '?'}format=csv`;
  return readCsv(await (await fetch(url, { headers: { authorization: `Bearer ${vic.token}` } })).text());
};
/** As a CSV has a row of JSON. */
const cells = (row: Came, columns: readonly string[]) =>
  columns.map((name) => (row[name] === null ? '' : String(row[name])));
async function sameAsCsv(path: string, list: string): Promise<void> {
  const shown: Came[] = (await reads(path))[list];
  const csv = await csvOf(path);
  const columns = Object.keys(csv[0] ?? {});
  assert.ok(shown.length > 0 && columns.length > 5, 'nothing to compare');
  assert.deepEqual(
    csv.map((row) => columns.map((name) => row[name])),
    shown.map((row) => cells(row, columns)),
  );
}
/** Every row of a list, one by one. */
async function pages(path: string, list: string, cursor: string): Promise<Came[]> {
  const all: Came[] = [];
  for (let next: string | null = '', page = 0; next !== null && page < 60; page += 1) {
    const more: string = next === '' ? '' : `&${cursor}=${encodeURIComponent(next)}`;
    const body = await reads(`${path}${path.includes('?') ? '&' : '?'}limit=1${more}`);
    all.push(...body[list]);
    next = body.next;
  }
  return all;
}

before(async () => {
  ({ world, ada, finn, vic } = await openStaffedStory({ ada: 'admin', finn: 'finance', vic: 'viewer' }));
  await world.read(amountsDecide);
  const [first, second] = [await settledPurchase(world), await settledPurchase(world)];
  orders = [first.order, second.order];
  partner = String((await world.traceOf(first.order)).order.partnerId);
  for (const { order, line } of [first, second]) {
    await world.bank.recall(line);
    await world.looksAtTheBank();
    await world.opensCase(order, 'customer_owes');
    world.clock.advance(1_000);
  }
  await world.bankShows({ id: 'charge-1', direction: 'debit', units: 250n, reference: '=SUM(A1)' });
  await world.until('it is a case', async () => (await reads('/cases?kind=unexplained_debit')).cases.length === 1);
});
after(async () => await world?.close());

describe('debts', () => {
  test('are listed by customer and asset, with the orders that they come from and their age', async () => {
    const { debts, next } = await reads('/debts');
    assert.equal(next, null);
    assert.deepEqual(
      debts.map((one: Came) => [one.customerId, one.partnerId, one.asset, one.units, one.orderIds, one.days]),
      orders.map(({ customerId, id }) => [customerId, partner, 'inr', '5000', String(id), 0]),
    );
    assert.ok(debts[0].since < debts[1].since);
    await sameAsCsv('/debts', 'debts');
    assert.deepEqual(
      (await pages('/debts', 'debts', 'after')).map(({ id }) => id),
      debts.map(({ id }: Came) => id),
    );
  });

  test('are narrowed by partner, customer and asset; an unknown one is an error', async () => {
    const of = async (query: string) => (await reads(`/debts?${query}`)).debts.map((one: Came) => one.customerId);
    const [first, second] = orders.map(({ customerId }) => customerId);
    assert.deepEqual(await of(`customer=${second}`), [second]);
    assert.deepEqual(await of(`partner=${partner}&asset=inr`), [first, second]);
    assert.deepEqual(await of('asset=eur'), []);
    for (const [query, status] of [
      ['asset=nothing', 400],
      ['customer=Nobody1234_1', 404],
      ['partner=999', 404],
    ] as const)
      assert.equal((await vic.reads(`/debts?${query}`)).status, status, query);
  });

  test('a part that is paid leaves the rest with its age, and a debt that is paid is gone', async () => {
    const [order] = orders;
    assert.ok(order);
    const [was] = (await reads(`/debts?customer=${order.customerId}`)).debts;
    world.clock.advance(DAY_MS);
    await twoDo(finn, ada, `/deposits/${await strayCredit(world, order, '2000')}/assign`, { order: String(order.id) });
    const [now] = (await reads(`/debts?customer=${order.customerId}`)).debts;
    assert.deepEqual([now.units, now.since, now.days], ['3000', was.since, 1]);
    await twoDo(finn, ada, `/deposits/${await strayCredit(world, order, '3000')}/assign`, { order: String(order.id) });
    assert.deepEqual(
      (await reads('/debts')).debts.map((one: Came) => one.customerId),
      [orders[1]?.customerId],
    );
  });
});

describe('bank lines', () => {
  test('are listed the newest first, as they were booked, without their texts', async () => {
    const { lines } = await reads('/bank-lines');
    const times = lines.map(({ bookedAt }: Came) => bookedAt);
    assert.deepEqual(times, times.toSorted().toReversed());
    const meanings = new Set(lines.map(({ meaning }: Came) => meaning));
    for (const meaning of ['deposit', 'recall', 'unexplained']) assert.ok(meanings.has(meaning), meaning);
    const charge = lines.find(({ line }: Came) => line === 'charge-1');
    assert.deepEqual(
      [charge.id, charge.direction, charge.asset, charge.units, charge.meaning, charge.key],
      ['bank.simulated:charge-1', 'debit', 'inr', '2.5', 'unexplained', null],
    );
    const said = JSON.stringify(lines);
    for (const text of ['SUM(A1)', 'what I owe', orders[0]?.reference ?? '?'])
      assert.ok(!said.includes(text), `the list shows ${text}`);
    await sameAsCsv('/bank-lines', 'lines');
  });

  test('are narrowed by rail, direction, meaning, amount and time, in any combination, page by page', async () => {
    const all: Came[] = (await reads('/bank-lines?limit=200')).lines;
    const middle = all[Math.floor(all.length / 2)]?.bookedAt;
    const filters: readonly [string, string, (one: Came) => boolean][] = [
      ['rail', 'bank.simulated', (one) => one.rail === 'bank.simulated'],
      ['direction', 'credit', (one) => one.direction === 'credit'],
      ['meaning', 'deposit', (one) => one.meaning === 'deposit'],
      ['asset', 'inr', (one) => one.asset === 'inr'],
      ['from', middle, (one) => one.bookedAt >= middle],
      ['until', all[0]?.bookedAt, (one) => one.bookedAt < all[0]?.bookedAt],
    ];
    for (let chosen = 0; chosen < 2 ** filters.length; chosen += 1) {
      const some = filters.filter((_, at) => (chosen >> at) & 1);
      const query = some.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
      const { status, body } = await vic.reads(`/bank-lines?limit=200&${query}`);
      if (
        some.some(([name]) => name === 'from') &&
        some.some(([name]) => name === 'until') &&
        middle === all[0]?.bookedAt
      ) {
        assert.equal(status, 400);
        continue;
      }
      const expected = all.filter((one) => some.every(([, , fits]) => fits(one))).map(({ id }) => id);
      assert.deepEqual(
        body.lines?.map(({ id }: Came) => id),
        expected,
        query,
      );
    }
    const many = (await reads('/bank-lines?asset=inr&min=2.5&max=3000')).lines;
    assert.deepEqual(
      many.map(({ units }: Came) => units).toSorted(),
      all
        .map(({ units }) => units)
        .filter((units) => Number(units) >= 2.5 && Number(units) <= 3000)
        .toSorted(),
    );
    assert.deepEqual(
      (await pages('/bank-lines', 'lines', 'below')).map(({ id }) => id),
      all.map(({ id }) => id),
    );
    const lost = await vic.reads('/bank-lines?below=bank.simulated:nothing');
    assert.deepEqual([lost.status, Object.keys(lost.body.fields ?? {})], [400, ['below']]);
    assert.equal((await vic.reads('/bank-lines?min=5')).status, 400);
  });
});

describe('requests of a partner', () => {
  test('are listed without bodies, narrowed, and found by our id and by the program’s own', async () => {
    const [keys] = world.server.sandbox.partners;
    assert.ok(keys);
    const api = openV1(world.server.baseUrl, keys);
    const got = await api.get('/orders?limit=1', { headers: { 'x-client-request-id': 'mine-1' } });
    const declined = await api.get('/orders/1');
    const lines = await world.until('both are in the log', async () => {
      const { requests } = await reads(`/partners/${partner}/requests?protocol=v1`);
      return requests.length >= 2 && (requests as Came[]);
    });
    const shown = lines.find(({ requestId }) => requestId === got.headers.get('x-request-id'));
    assert.deepEqual(
      [shown?.operation, shown?.status, shown?.clientRequestId, shown?.apiKey, shown?.partnerId],
      ['orders.list', 200, 'mine-1', keys.apiKey, partner],
    );
    assert.ok(!('request' in (shown ?? {})) && !('idempotencyKey' in (shown ?? {})));
    const of = async (query: string) =>
      (await reads(`/partners/${partner}/requests?${query}`)).requests.map(({ requestId }: Came) => requestId);
    const lost = declined.headers.get('x-request-id') ?? '';
    assert.deepEqual(await of('status=404&operation=orders.get'), [lost]);
    assert.deepEqual(await of(`reason=unknown_order&key=${keys.apiKey}`), [lost]);
    assert.deepEqual(await of('key=clv_nothing'), []);
    await sameAsCsv(`/partners/${partner}/requests`, 'requests');
    assert.equal((await vic.reads('/partners/999/requests')).body.reason, 'unknown_partner');
    for (const id of ['mine-1', got.headers.get('x-request-id')])
      assert.deepEqual(
        (await reads(`/lookup?text=${id}`)).requests.map(({ operation }: Came) => operation),
        ['orders.list'],
        String(id),
      );
    const { requests } = await reads('/partners/2/requests');
    assert.deepEqual(requests, [], 'another partner’s list has them');
  });
});

describe('accounts by their number', () => {
  const finds = (person: Person, number: string) => person.does('/accounts/find', { number });
  let customer = '';
  let accountId = '';

  before(async () => {
    customer = (await world.verifiedCustomer()).id;
    const details = { customerId: customer, fiatAccount: NUMBER.replaceAll(' ', ''), ifsc: 'HDFC0000001' };
    accountId = (await world.told('bank/addFiatAccount', details)).fiatAccountId ?? '';
  });

  test('the full number finds account, customer and orders; a part of it, and another role, nothing', async () => {
    const sale = await world.sells('20', 'usdc', { customer: { id: customer, fiatAccountId: accountId } });
    for (const number of [NUMBER, NUMBER.replaceAll(' ', ''), NUMBER.replaceAll(' ', '-')]) {
      const { status, body } = await finds(ada, number);
      assert.equal(status, 200, JSON.stringify(body));
      assert.deepEqual(
        body.accounts.map((one: Came) => [one.fiatAccountId, one.customerId, one.partnerId, one.fiat, one.orders]),
        [[accountId, customer, partner, 'inr', [String(sale.id)]]],
      );
    }
    assert.deepEqual((await finds(ada, NUMBER.slice(0, -1))).body.accounts, []);
    assert.equal((await finds(vic, NUMBER)).body.reason, 'role_missing');
    assert.deepEqual(Object.keys((await finds(ada, '=1+1')).body.fields ?? {}), ['number']);
  });

  test('the audit says that somebody looked and why, and the number is stored nowhere in clear', async () => {
    const { audit } = await reads('/audit?action=account.find');
    assert.deepEqual([audit[0].operator, audit[0].reason, audit[0].outcome], ['ada', 'a test', 'done']);
    const number = NUMBER.replaceAll(' ', '');
    const found = await world.read((tx) =>
      tx.rows<{ n: bigint }>(
        `select 1 as n from audit where strpos(audit::text, $1) > 0 or strpos(audit::text, $2) > 0
         union all select 2 from fiat_accounts where strpos(fiat_accounts::text, $1) > 0`,
        [number, NUMBER],
      ),
    );
    assert.deepEqual(found, []);
  });

  test('an account of an older version is found once the background has indexed it', async () => {
    await world.read((tx) => tx.run('update fiat_accounts set number_index = null where id = $1', [accountId]));
    assert.deepEqual((await finds(ada, NUMBER)).body.accounts, []);
    assert.ok((await numberAccounts(world.server.db, world.server.vault)) >= 1);
    assert.equal((await finds(ada, NUMBER)).body.accounts.length, 1);
    assert.equal(await numberAccounts(world.server.db, world.server.vault), 0, 'it is indexed twice');
  });

  test('an account that is erased while the background indexes it stays without an index', async () => {
    await world.read((tx) => tx.run('update fiat_accounts set number_index = null where id = $1', [accountId]));
    const eraser = new pg.Client({ connectionString: world.adminUrl, options: '-c search_path=cloverleaf' });
    await eraser.connect();
    try {
      await eraser.query('begin');
      await eraser.query(`update fiat_accounts set details = '', hint = '' where id = $1`, [accountId]);
      const indexing = numberAccounts(world.server.db, world.server.vault);
      await world.until('it has read the account and waits for its row', async () => {
        // Within a transaction the activity of others stands still.
        await eraser.query('select pg_stat_clear_snapshot()');
        const { rowCount } = await eraser.query(
          `select from pg_stat_activity where wait_event_type = 'Lock' and query like 'update fiat_accounts set number_index%'`,
        );
        return rowCount === 1;
      });
      await eraser.query('commit');
      await indexing;
    } finally {
      await eraser.end();
    }
    const row = await world.read((tx) =>
      tx.row<{ numberIndex: Buffer | null }>('select number_index from fiat_accounts where id = $1', [accountId]),
    );
    assert.equal(row?.numberIndex, null, 'an erased account is found by its number');
  });
});

describe('the reconciliation report', () => {
  test('has the sums of each wallet, the open items, both sides of the books and the newest seal', async () => {
    await world.until('all is sealed', async () => world.read(async (tx) => (await seal(tx, world.clock.now())) === 0));
    const report = await reads('/reports/reconciliation');
    const kept = { number: BigInt(report.seal.number), hash: report.seal.hash };
    assert.match(kept.hash, /^[0-9a-f]{64}$/);
    const problems: string[] = [];
    const tell = ({ why }: { why: string }) => void problems.push(why);
    await world.read((tx) => verifyJournal(tx, tell, kept));
    assert.deepEqual(problems, []);
    const other = `${kept.hash.startsWith('0') ? '1' : '0'}${kept.hash.slice(1)}`;
    await world.read((tx) => verifyJournal(tx, tell, { ...kept, hash: other }));
    assert.ok(problems.length > 0, 'another hash is proven, too');
    for (const { debits, credits } of report.assets) assert.equal(debits, credits);
    const { balances } = await reads('/treasury/balances');
    assert.deepEqual(
      report.lines
        .filter(({ what }: Came) => what === 'wallet')
        .map((one: Came) => [one.rail, one.wallet, one.asset, one.ledgerUnits, one.outsideUnits]),
      balances.map((one: Came) => [one.rail, one.wallet, one.asset, one.ledgerUnits, one.outsideUnits]),
    );
  });

  test('is signed with the key that is shown beside it, and by no other', async () => {
    const [report, { keys }] = [await reads('/reports/reconciliation'), await reads('/reports/reconciliation/keys')];
    assert.deepEqual([keys.length, keys[0].isPresent, keys[0].publicKey], [1, true, report.publicKey]);
    assert.equal(verifySigned(JSON.stringify(report), keys[0].pem).isGenuine, true);
    const [line] = report.lines;
    for (const other of [
      { ...report, lines: [{ ...line, ledgerUnits: `${line.ledgerUnits}1` }] },
      { ...report, seal: { ...report.seal, number: '1' } },
    ])
      assert.equal(verifySigned(JSON.stringify(other), keys[0].pem).isGenuine, false);
  });

  test('of a day is the one that was made then, and a day without one is refused', async () => {
    const { days } = await reads('/reports/reconciliation/days');
    assert.ok(days.length > 0, 'the server made no report');
    const [{ day, verdict }] = days;
    const { keys } = await reads('/reports/reconciliation/keys');
    const report = await reads(`/reports/reconciliation?day=${day}`);
    assert.deepEqual([report.day, report.verdict], [day, verdict]);
    if (report.lines.length > 0) await sameAsCsv(`/reports/reconciliation?day=${day}`, 'lines');
    assert.equal(verifySigned(JSON.stringify(report), keys[0].pem).isGenuine, true);
    const none = await vic.reads('/reports/reconciliation?day=2020-01-01');
    assert.deepEqual([none.status, none.body.fields.day.startsWith('has no report')], [400, true]);
    assert.equal((await vic.reads('/reports/reconciliation?day=2026-02-30')).status, 400);
  });
});
