/**
 * The lists of breaks, movements and imported statements over HTTP: filters in any combination, an order that pages keep, and a
 * CSV of exactly the rows shown.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createServer } from '../../../src/protocols/whitelabel/index.ts';
import type { Came } from '../../support/client.ts';
import { injectDeclared } from '../../support/declared.fetch.ts';
import { type ManualEnvironment, manualEnvironment } from '../../support/manual.environment.ts';
import { operatorApi } from '../../support/operatorapi.ts';
import { readCsv } from '../../support/terminal.ts';
import { operatorNamed, type Person } from './people.ts';

const FORMULA = '=HYPERLINK("http://evil.test")';
const HOT = 'hot';

let w: ManualEnvironment;
let app: ReturnType<typeof createServer>;
let vic: Person;

const at = (day: number): string => `2027-03-${String(day).padStart(2, '0')}T10:00:00.000Z`;

before(async () => {
  w = await manualEnvironment();
  app = createServer({ log: w.log });
  await app.register(operatorApi(w, { bank: w.desk, rails: new Map([[w.rail.code, w.rail]]) }));
  vic = await operatorNamed({ ...w, baseUrl: '' }, 'vic', 'viewer');
  await w.rows.query(
    `insert into assets (code, kind, coin, decimals) values ('inr', 'fiat', 'inr', 2) on conflict do nothing`,
  );
  await w.rows.query(`insert into chains (rail, chain, finality) values ('evm.one', 'one', 1), ('evm.two', 'two', 1)`);
  for (const [day, rail, asset, kind, outside, ledger, transit] of [
    [1, 'bank.manual', 'eur', 'break_amount', 1_050, 1_000, null],
    [2, 'bank.manual', 'inr', 'break_missing_outside', 0, 777, null],
    [3, 'evm.one', 'eur', 'break_missing_outside', 0, 500, 'a payout that is under way'],
    [4, 'evm.one', 'eur', 'break_missing_in_ledger', 300, 0, null],
    [5, 'evm.two', 'inr', 'break_balance', 10, 11, 'a sweep that is under way'],
  ] as const)
    await w.rows.query(
      `insert into reconcile_items (rail, wallet, asset, key, kind, outside_units, ledger_units, transit, why, names, found_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, '["a name", "another"]', $10)`,
      [rail, HOT, asset, `key ${day}`, kind, outside, ledger, transit, FORMULA, at(day)],
    );
  await w.rows.query(
    `insert into reconcile_items (rail, wallet, asset, key, kind, outside_units, ledger_units, why, names, closed_at)
     values ('evm.one', 'hot', 'eur', 'over', 'break_amount', 1, 2, 'corrected', '[]', now())`,
  );
  // Decided and undecided ones in turn, so that their order is not that of their numbers.
  for (const [day, rail, state] of [
    [1, 'evm.one', 'unread'],
    [2, 'evm.one', 'foreign'],
    [3, 'evm.two', 'unread'],
    [4, 'evm.two', 'cancelled'],
    [5, 'evm.one', 'unread'],
    [6, 'evm.one', 'foreign'],
  ] as const)
    await w.rows.query(
      `insert into found_movements (rail, wallet, nonce, hash, state, recipient, asset, units, found_at, signed,
         block, block_at, succeeded, cost_units, target, data, value, fee)
       values ($1, 'hot', $2, $3, $4, $5, $6, 12345, $7, true, 9, now(), true, 1, '0xt', '', 0, '{}')`,
      [rail, day, `0x${day}`, state, FORMULA, day === 5 ? 'inr' : 'eur', at(day)],
    );
  for (const day of [1, 2, 3, 4])
    await w.rows.query(
      `insert into manual_imports (rail, asset, format, sha256, bytes, lines, new_lines, imported_at, imported_by)
       values ('bank.manual', $1, 'csv', $2, 100, 3, $3, $4, $5)`,
      [day === 3 ? 'inr' : 'eur', Buffer.from(`file ${day}`), day, at(day), day === 4 ? '+SUM(A1)' : 'ada'],
    );
});
after(async () => {
  await app?.close();
  await w?.stop();
});

const asks = (url: string) =>
  injectDeclared(app, { url: `/operator/v1${url}`, headers: { authorization: `Bearer ${vic.token}` } });
async function tries(path: string): Promise<{ status: number; body: Came }> {
  const reply = await asks(path);
  return { status: reply.statusCode, body: reply.json() };
}
async function reads(path: string): Promise<Came> {
  const { status, body } = await tries(path);
  assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
  return body;
}
const withQuery = (path: string, query: string) => `${path}${path.includes('?') ? '&' : '?'}${query}`;
/** All rows of a list in pages of one. */
async function byOne(path: string, list: string, cursor: string): Promise<Came[]> {
  const all: Came[] = [];
  for (let next: string | null = ''; next !== null; ) {
    assert.ok(all.length < 50, `${path} does not end`);
    const begin = next === '' ? '' : `&${cursor}=${encodeURIComponent(next)}`;
    const body: Came = await reads(withQuery(path, `limit=1${begin}`));
    all.push(...body[list]);
    next = body.next;
  }
  return all;
}
const textOf = (value: unknown): string =>
  value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
/** The CSV has the rows of the JSON, in their order; a cell that a spreadsheet would run is a text. */
async function hasCsv(path: string, list: string): Promise<void> {
  const reply = await asks(withQuery(path, 'format=csv'));
  assert.match(String(reply.headers['content-type']), /^text\/csv/);
  const csv = readCsv(reply.body);
  const { [list]: shown, next } = await reads(path);
  assert.equal(reply.headers['x-next'], next ?? undefined);
  const columns = Object.keys(csv[0] ?? {});
  assert.ok(shown.length > 0 && columns.length >= 9, `${path} has nothing to compare`);
  assert.deepEqual(
    csv.map((row) => columns.map((name) => row[name])),
    shown.map((row: Came) => columns.map((name) => textOf(row[name]).replace(/^(?=[=+])/, "'"))),
  );
}

/** For each filter: the query, and the days of the rows that are left, in the order of the list. */
const LISTS = [
  {
    ...{ path: '/breaks', list: 'breaks', cursor: 'after', time: 'foundAt' },
    filters: [
      ['', [1, 2, 3, 4, 5]],
      ['kind=break_missing_outside', [2, 3]],
      ['state=break', [1, 2, 4]],
      ['state=in_transit', [3, 5]],
      ['rail=evm.one', [3, 4]],
      ['asset=eur&state=break', [1, 4]],
      [`from=${at(2)}&until=${at(4)}`, [2, 3]],
      [`rail=evm.one&asset=eur&kind=break_missing_in_ledger&state=break&from=${at(4)}`, [4]],
      ['rail=evm.none', []],
    ],
  },
  {
    ...{ path: '/movements', list: 'movements', cursor: 'below', time: 'foundAt' },
    filters: [
      ['', [5, 3, 1, 6, 4, 2]],
      ['state=unread', [5, 3, 1]],
      ['state=foreign', [6, 2]],
      ['rail=evm.two', [3, 4]],
      ['asset=inr', [5]],
      [`from=${at(2)}&until=${at(6)}`, [5, 3, 4, 2]],
      [`rail=evm.one&asset=eur&state=foreign&until=${at(6)}`, [2]],
    ],
  },
  {
    ...{ path: '/bank/imports', list: 'imports', cursor: 'below', time: 'importedAt' },
    filters: [
      ['', [4, 3, 2, 1]],
      ['asset=eur', [4, 2, 1]],
      ['by=ada', [3, 2, 1]],
      [`from=${at(2)}&until=${at(4)}`, [3, 2]],
      [`asset=eur&by=ada&from=${at(2)}`, [2]],
    ],
  },
] as const;

for (const { path, list, cursor, time, filters } of LISTS)
  describe(path, () => {
    for (const [query, days] of filters)
      test(`${query === '' ? 'without filters' : query.replaceAll(/=[^&]*/g, '').replaceAll('&', ', ')} shows ${days.length} rows, in pages too`, async () => {
        const filtered = query === '' ? path : `${path}?${query}`;
        const daysOf = (rows: readonly Came[]) => rows.map((row) => Number(row[time].slice(8, 10)));
        assert.deepEqual(daysOf((await reads(filtered))[list]), days);
        assert.deepEqual(daysOf(await byOne(filtered, list, cursor)), days);
      });

    test('the CSV has exactly the rows shown, of a filter and of a page too', async () => {
      await hasCsv(path, list);
      await hasCsv(`${path}?asset=eur`, list);
      await hasCsv(`${path}?limit=2`, list);
    });

    test('an unknown asset, a wrong span and a wrong cursor are errors that name the field', async () => {
      for (const [query, field] of [
        ['asset=nothing', 'asset'],
        [`from=${at(4)}&until=${at(2)}`, 'until'],
        [`${cursor}=x`, cursor],
        ['limit=0', 'limit'],
        ['from=yesterday', 'from'],
      ] as const) {
        const { status, body } = await tries(`${path}?${query}`);
        assert.deepEqual([status, Object.keys(body.fields)], [400, [field]], query);
      }
    });
  });

test('a break shows both sides and their difference as decimals; one that is over is not listed', async () => {
  const { breaks } = await reads('/breaks');
  const [first] = breaks;
  assert.deepEqual(
    [first.outsideUnits, first.ledgerUnits, first.differenceUnits, first.transit, first.names],
    ['10.5', '10', '0.5', null, ['a name', 'another']],
  );
  assert.equal(breaks[1].differenceUnits, '-7.77');
  assert.ok(!JSON.stringify(breaks).includes('corrected'));
});

test('a movement that is decided between two pages neither hides another nor is shown twice in its part', async () => {
  const first = await reads('/movements?limit=2');
  assert.deepEqual(
    first.movements.map(({ nonce }: Came) => nonce),
    ['5', '3'],
  );
  await w.rows.query(`update found_movements set state = 'foreign' where nonce = 3`);
  try {
    const rest = await reads(`/movements?below=${first.next}`);
    assert.deepEqual(
      rest.movements.map(({ nonce }: Came) => nonce),
      ['1', '6', '4', '3', '2'],
    );
  } finally {
    await w.rows.query(`update found_movements set state = 'unread' where nonce = 3`);
  }
});
