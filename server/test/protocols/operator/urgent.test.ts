/**
 * The order of open cases: overdue ones first, then by the worth of the money at risk, then the oldest; over all open cases, however
 * many older ones there are.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createServer } from '../../../src/protocols/whitelabel/index.ts';
import { worthIn } from '../../../src/reports/worth.ts';
import type { Came } from '../../support/client.ts';
import { injectDeclared } from '../../support/declared.fetch.ts';
import { type Fixture, freshFixture } from '../../support/fixture.ts';
import { operatorApi } from '../../support/operatorapi.ts';
import { openRows, type Rows } from '../../support/rows.ts';
import { readCsv } from '../../support/terminal.ts';
import { operatorNamed, type Person } from './people.ts';

const HOUR_MS = 3_600_000;
/** Older than every other case, and about no money. */
const OLD = 300;

let fixture: Fixture;
let rows: Rows;
let app: ReturnType<typeof createServer>;
let vic: Person;
let sale = 0n;

interface Given {
  kind: string;
  subject: string;
  /** Due times follow from the kind: `on_hold` is due after four hours, `deposit_late` after a day. */
  hoursAgo: number;
  facts?: Record<string, unknown>;
  order?: bigint;
  assignee?: string;
}
async function opens({ kind, subject, hoursAgo, facts = {}, order, assignee }: Given): Promise<void> {
  const openedAt = new Date(fixture.clock.now().getTime() - hoursAgo * HOUR_MS);
  await rows.query(
    `insert into cases (kind, subject, order_id, reason, facts, opened_at, assignee) values ($1, $2, $3, $4, $5, $6, $7)`,
    [kind, subject, order ?? null, `about ${subject}`, JSON.stringify(facts), openedAt, assignee ?? null],
  );
}
async function deposits(asset: string, units: number): Promise<string> {
  const [row] = await rows.query<{ id: string }>(
    `insert into deposits (rail, external_id, asset, units, target, state, reference, seen_at, origin)
     values ('bank.simulated', $1, $2, $3, 'main', 'seen', '=1+1', now(), 'rail') returning id`,
    [`line ${asset} ${units}`, asset, units],
  );
  return `deposit:${row?.id}`;
}

before(async () => {
  fixture = await freshFixture();
  rows = await openRows(fixture.adminUrl);
  app = createServer({ log: fixture.log });
  await app.register(operatorApi(fixture));
  vic = await operatorNamed({ ...fixture, baseUrl: '' }, 'vic', 'viewer');
  for (const code of ['inr', 'eur', 'xts'])
    await rows.query(
      `insert into assets (code, kind, coin, decimals) values ($1, 'fiat', $1, 2) on conflict do nothing`,
      [code],
    );
  await rows.cryptoAsset('usdc', 'evm.one', '0xc0', 6);
  sale = (await rows.order('usdc', 'evm.one', '0xt')).orderId;
  // 1 usdc = 1 usd = 80 inr, 1 eur = 1.25 usdc; xts has no price.
  for (const [base, quote, num, den] of [
    ['usdc', 'usd', 1, 1],
    ['usdc', 'inr', 80, 1],
    ['usdc', 'eur', 4, 5],
  ] as const)
    await rows.query(
      `insert into prices (source, base, quote, num, den, priced_at, fetched_at) values ('fixed', $1, $2, $3, $4, now(), now())`,
      [base, quote, num, den],
    );
  await rows.query(
    `insert into cases (kind, subject, reason, opened_at)
     select 'deposit_late', 'old:' || n, 'old', $1::timestamptz + n * interval '1 second' from generate_series(1, ${OLD}) n`,
    [new Date(fixture.clock.now().getTime() - 23 * HOUR_MS)],
  );
  // Overdue: an amount that the case names, a break, and no money.
  await opens({ kind: 'unexplained_debit', subject: 'late big', hoursAgo: 2, facts: { asset: 'eur', units: '80000' } });
  await opens({ kind: 'break_amount', subject: 'reconcile:r:deposit:3:inr:k:1', hoursAgo: 3, assignee: 'ada' });
  await rows.query(
    `insert into reconcile_items (rail, wallet, asset, key, kind, outside_units, ledger_units, why, names)
     values ('r', 'deposit:3', 'inr', 'k:1', 'break_amount', 100, 800100, 'why', '[]')`,
  );
  await opens({ kind: 'rail_halted', subject: 'late, no money', hoursAgo: 30 });
  // Not overdue: a deposit, an order, two wallets, one without a price.
  await opens({ kind: 'deposit_late', subject: await deposits('inr', 1_600_000), hoursAgo: 1 });
  await opens({ kind: 'on_hold', subject: 'order:1', hoursAgo: 1, order: sale });
  await opens({
    ...{ kind: 'treasury_short', subject: 'short', hoursAgo: 0.5 },
    facts: { asset: 'usdc', missing: '150.5', units: undefined },
  });
  await opens({
    ...{ kind: 'treasury_low', subject: 'low', hoursAgo: 0.5 },
    facts: { asset: 'usdc', units: '900000000', alarm: '1000000000' },
  });
  await opens({ kind: 'deposit_late', subject: 'no price', hoursAgo: 0.1, facts: { asset: 'xts', units: '99999999' } });
  // Not for a person, and over.
  await opens({ kind: 'frozen', subject: 'order:2', hoursAgo: 900, facts: { asset: 'eur', units: '999999999' } });
  await rows.query(
    `insert into cases (kind, subject, reason, opened_at, closed_at, outcome) values ('on_hold', 'over', 'over', now(), now(), 'done')`,
  );
});
after(async () => {
  await app?.close();
  await rows?.close();
  await fixture?.stop();
});

const asks = (path: string) =>
  injectDeclared(app, { url: `/operator/v1${path}`, headers: { authorization: `Bearer ${vic.token}` } });
async function reads(path: string): Promise<Came> {
  const reply = await asks(path);
  assert.equal(reply.statusCode, 200, reply.body);
  return reply.json();
}

const ORDER = [
  ['late big', '1000', '800', 'eur'],
  ['reconcile:r:deposit:3:inr:k:1', '100', '8000', 'inr'],
  ['late, no money', null, null, null],
  ['deposit:1', '200', '16000', 'inr'],
  ['short', '150.5', '150.5', 'usdc'],
  ['low', '100', '100', 'usdc'],
  ['order:1', '1', '1', 'usdc'],
  ['no price', null, '999999.99', 'xts'],
];

test('overdue cases come first, then those with the most money at risk, then the oldest', async () => {
  const { cases, unit, total, notShown } = await reads('/cases/urgent?limit=10');
  assert.deepEqual(
    cases.slice(0, ORDER.length).map((one: Came) => [one.subject, one.worth, one.units, one.asset]),
    ORDER,
  );
  assert.deepEqual(
    cases.slice(ORDER.length).map(({ subject }: Came) => subject),
    ['old:1', 'old:2'],
  );
  assert.deepEqual(
    cases.map(({ overdue }: Came) => overdue),
    [true, true, true, ...Array.from({ length: 7 }, () => false)],
  );
  assert.deepEqual([unit, total, notShown], ['usd', OLD + ORDER.length, OLD + ORDER.length - 10]);
});

test('what is not shown is counted, by kind too, with cases that wait for no person', async () => {
  const { cases, notShown, kinds } = await reads('/cases/urgent?limit=200');
  assert.deepEqual([cases.length, notShown], [200, OLD + ORDER.length - 200]);
  const of = (kind: string) => {
    const { open, overdue, unclaimed, claimers } = kinds.find((one: Came) => one.kind === kind);
    return [open, overdue, unclaimed, claimers];
  };
  assert.deepEqual(of('deposit_late'), [OLD + 2, 0, OLD + 2, []]);
  assert.deepEqual(of('break_amount'), [1, 1, 0, ['ada']]);
  assert.deepEqual(of('frozen'), [1, 1, 1, []]);
  assert.ok(!cases.some(({ kind, subject }: Came) => kind === 'frozen' || subject === 'over'));
});

test('a case becomes overdue with time, and then comes first', async () => {
  fixture.clock.advance(3 * HOUR_MS + 60_000);
  try {
    const { cases } = await reads('/cases/urgent?limit=5');
    assert.deepEqual(
      cases.map(({ subject, overdue }: Came) => [subject, overdue]),
      [
        ['late big', true],
        ['short', true],
        ['reconcile:r:deposit:3:inr:k:1', true],
        ['order:1', true],
        ['late, no money', true],
      ],
    );
  } finally {
    fixture.clock.advance(-3 * HOUR_MS - 60_000);
  }
});

test('without prices the oldest comes first, and no worth is claimed', async () => {
  await rows.query(`update prices set fetched_at = now() - interval '8 days'`);
  try {
    const { cases, unit } = await reads('/cases/urgent?limit=4');
    assert.deepEqual(
      cases.map(({ subject, worth }: Came) => [subject, worth]),
      [
        ['reconcile:r:deposit:3:inr:k:1', null],
        ['late big', null],
        ['late, no money', null],
        ['deposit:1', null],
      ],
    );
    assert.equal(unit, null);
  } finally {
    await rows.query('update prices set fetched_at = now()');
  }
});

test('the CSV has exactly the rows shown', async () => {
  await rows.query(`update cases set reason = '=HYPERLINK("http://evil.test")' where subject = 'late big'`);
  const csv = readCsv((await asks('/cases/urgent?limit=9&format=csv')).body);
  const { cases } = await reads('/cases/urgent?limit=9');
  const columns = Object.keys(csv[0] ?? {});
  assert.ok(columns.includes('worth') && columns.includes('dueAt'), columns.join());
  assert.deepEqual(
    csv.map((row) => columns.map((name) => row[name])),
    cases.map((row: Came) => columns.map((name) => (row[name] === null ? '' : String(row[name]).replace(/^=/, "'=")))),
  );
});

describe('worth in one unit', () => {
  const price = (base: string, quote: string, num: number, den = 1) => ({
    ...{ base, quote, num: BigInt(num), den: BigInt(den) },
  });
  const shown = (prices: Parameters<typeof worthIn>[0]) => {
    const { unit, rates } = worthIn(prices) ?? { unit: null, rates: new Map() };
    return [unit, Object.fromEntries([...rates].map(([coin, { num, den }]) => [coin, Number(num) / Number(den)]))];
  };

  test('is in dollars where a price is, else in the coin of most prices', () => {
    assert.deepEqual(shown([]), [null, {}]);
    assert.deepEqual(shown([price('usdc', 'inr', 80), price('usdt', 'usd', 1)]), ['usd', { usd: 1, usdt: 1 }]);
    const [unit] = shown([price('usdc', 'eur', 1), price('usdc', 'inr', 80), price('usdt', 'inr', 80)]);
    assert.equal(unit, 'inr');
  });

  test('goes through coins that have a price in both, and takes the middle of several sources', () => {
    assert.deepEqual(
      shown([
        ...[price('usdc', 'usd', 1), price('usdc', 'inr', 80), price('eth', 'inr', 160_000)],
        ...[price('usdc', 'inr', 8), price('usdc', 'inr', 800)],
      ]),
      ['usd', { usd: 1, usdc: 1, inr: 0.0125, eth: 2000 }],
    );
  });
});
