/** Balances of past instants, from daily totals, are the sums of the journal, whenever its entries were booked, sealed and summed. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import pg from 'pg';
import type { Tx } from '../../src/base/db.ts';
import {
  addToDailyTotals,
  balancesAt,
  chart,
  custodyAt,
  earnedWithin,
  hold,
  move,
  partnerFees,
  post,
  release,
  seal,
  settle,
} from '../../src/ledger/index.ts';
import { upsertAsset } from '../../src/partners/index.ts';
import { chanceOf } from '../simulation/chance.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { patience } from '../support/patience.ts';
import { fiat } from '../support/terms.ts';

const bank = chart.custody('bank.one', 'main', 'inr');
const fee = chart.feePartner(1n, 'inr');
const order = (id: bigint) => chart.order(id, 1n, 'inr');
const HOUR_MS = 3_600_000;
const FIRST_MS = Date.UTC(2027, 0, 1);
const at = (hour: number) => new Date(FIRST_MS + hour * HOUR_MS);

let fixture: Fixture;
before(async () => {
  fixture = await freshFixture();
  await fixture.db.asSystem((tx) => upsertAsset(tx, fiat('inr')));
});
after(() => fixture.stop());

/** Seals everything. A transaction of another database of the cluster, older than our entries, delays sealing until its end. */
async function sealAll(): Promise<void> {
  const isOver = patience(20_000);
  for (;;) {
    await fixture.db.asSystem((tx) => seal(tx, fixture.clock.now()));
    const left = await fixture.db.asSystem((tx) =>
      tx.row('select from entries e where not exists (select from sealed_entries where entry_seq = e.seq) limit 1'),
    );
    if (left === undefined) return;
    assert.ok(!isOver(), 'entries were not sealed');
  }
}

/** What the journal says, entry by entry. */
async function summedAt(when: Date) {
  return await fixture.db.asSystem((tx) =>
    tx.rows(
      `select * from (
         select case when a.kind in ('order', 'receivable') then a.kind || ':*:' || a.asset else a.code end as account,
                sum(case when step in ('post', 'settle') and t.debit = a.id then units else 0 end)::numeric(78,0) as debits,
                sum(case when step in ('post', 'settle') and t.credit = a.id then units else 0 end)::numeric(78,0) as credits,
                sum(case when t.debit = a.id then case step when 'hold' then units when 'post' then 0 else -units end else 0 end)::numeric(78,0)
                  as held_debits,
                sum(case when t.credit = a.id then case step when 'hold' then units when 'post' then 0 else -units end else 0 end)::numeric(78,0)
                  as held_credits
           from accounts a join transfers t on a.id in (t.debit, t.credit) join entries e on e.id = t.entry
          where e.at < $1 group by 1) found
        where debits <> 0 or credits <> 0 or held_debits <> 0 or held_credits <> 0 order by 1`,
      [when],
    ),
  );
}

async function assertSame(hours: readonly number[]): Promise<void> {
  const instants = hours.map(at);
  const wallets = await fixture.db.asSystem((tx) => custodyAt(tx, { at: instants }));
  for (const when of instants) {
    const found = await fixture.db.asSystem((tx) => balancesAt(tx, when));
    const same = found.map(({ account, debits, credits, heldDebits, heldCredits }) => ({
      account,
      debits,
      credits,
      heldDebits,
      heldCredits,
    }));
    assert.deepEqual(same, await summedAt(when), `trial balance at ${when.toISOString()}`);
    const own = found.find(({ account }) => account === bank.code)?.balance ?? 0n;
    const shown = wallets.find((one) => one.at.getTime() === when.getTime());
    assert.equal(shown?.units, own, `wallet at ${when.toISOString()}`);
  }
  for (const from of instants.slice(0, 5))
    for (const until of instants) if (from < until) await assertSameRevenue(from, until);
}

/** Fees of all days between two instants, by day: as the report has them, and entry by entry. */
async function assertSameRevenue(from: Date, until: Date): Promise<void> {
  const [found, summed] = await fixture.db.asSystem(async (tx) => [
    await earnedWithin(tx, { from, until }),
    await tx.rows<{ day: string; units: bigint }>(
      `select to_char(e.at at time zone 'UTC', 'YYYY-MM-DD') as day,
              sum(case when t.credit = a.id then t.units else -t.units end)::numeric(78,0) as units
         from entries e join transfers t on t.entry = e.id and t.step in ('post', 'settle') join accounts a on a.id in (t.debit, t.credit)
        where a.kind = 'fee_partner' and e.at >= $1 and e.at < $2 and e.kind <> 'partner_settlement' group by 1 order by 1`,
      [from, until],
    ),
  ]);
  const shown = found.map(({ day, units }) => ({ day, units })).sort((one, other) => (one.day < other.day ? -1 : 1));
  assert.deepEqual(shown, summed, `revenue from ${from.toISOString()} to ${until.toISOString()}`);
}

test('entries of any day, sealed and summed in any order', async () => {
  const chance = chanceOf(7);
  const whole = (below: number) => Math.floor(chance.next() * below);
  const open: string[] = [];
  // Three days and the edges between them; hours repeat, so that several instants share a day.
  const hours = [0, 1, 5, 23, 24, 25, 40, 47, 48, 60, 71, 72, 100];
  for (let n = 0; n < 120; n += 1) {
    const ended = open.length > 3 ? open.splice(whole(open.length), 1)[0] : undefined;
    const held = ended === undefined && chance.next() < 0.3 ? `hold ${n}` : undefined;
    const [from, to] = [order(BigInt(whole(4))), chart.suspense('someone', 'inr')];
    const lines =
      ended !== undefined
        ? (chance.next() < 0.5 ? settle : release)(ended)
        : held !== undefined
          ? hold(held, to, bank, 1n)
          : [
              ...move(bank, to, BigInt(10 + whole(90))),
              ...move(bank, from, 5n),
              ...move(from, fee, BigInt(1 + whole(4))),
            ];
    // Booked in any order, as by a clock that steps or a transaction that ends late.
    const posted = await fixture.db.asSystem((tx) =>
      post(tx, { id: `e${n}`, kind: 'test', at: new Date(FIRST_MS + whole(72 * 60) * 60_000), lines }),
    );
    assert.equal(posted.outcome, 'posted');
    if (held !== undefined) open.push(held);
    if (chance.next() < 0.1) await sealAll();
    if (chance.next() < 0.1) await fixture.db.asSystem((tx) => addToDailyTotals(tx, 1));
    if (n % 40 === 39) await assertSame(hours);
  }
  await sealAll();
  await assertSame(hours);
  while ((await fixture.db.asSystem((tx) => addToDailyTotals(tx))) > 0);
  await assertSame(hours);
  const rows = await fixture.db.asSystem((tx) =>
    tx.row<{ days: bigint }>('select count(distinct day) as days from daily_totals'),
  );
  assert.equal(rows?.days, 3n);
});

test('fees of a partner begin and end with its balance, in a short span and in a long one', async () => {
  for (const [first, last] of [
    [0, 72],
    [5, 40],
    [24, 48],
    [30, 31],
    [-900, 60],
    [71, 2_000],
  ] as const) {
    const [from, until] = [at(first), at(last)];
    const [opening, ...days] = await fixture.db.asSystem((tx) =>
      partnerFees(tx, { partnerId: 1n, assets: ['inr'], from, until }),
    );
    const had = async (when: Date) => {
      const found = await fixture.db.asSystem((tx) => balancesAt(tx, when));
      return found.find(({ account }) => account === fee.code)?.balance ?? 0n;
    };
    assert.equal(opening?.earnedUnits, await had(from), `opening of ${first} to ${last}`);
    const sum = days.reduce((all, { earnedUnits }) => all + earnedUnits, opening?.earnedUnits ?? 0n);
    assert.equal(sum, await had(until), `closing of ${first} to ${last}`);
  }
});

test('two servers at once count each seal once', async () => {
  for (const n of [1, 2, 3]) {
    await fixture.db.asSystem((tx) =>
      post(tx, { id: `twice${n}`, kind: 'test', at: at(n), lines: move(bank, order(9n), 7n) }),
    );
    await sealAll();
  }
  const added = await Promise.all([1, 2, 3, 4].map(() => fixture.db.asSystem((tx) => addToDailyTotals(tx, 2))));
  for (let more = 1; more > 0; ) {
    more = await fixture.db.asSystem((tx) => addToDailyTotals(tx, 2));
    added.push(more);
  }
  assert.equal(
    added.reduce((sum, one) => sum + one, 0),
    3,
  );
  await assertSame([0, 2, 24]);
});

test('a server that does not see the newest seals moves no progress back', async () => {
  await assert.rejects(
    fixture.db.asSystem(async (tx) => {
      // The row of the progress is as new as its lock, and may count seals that the statement does not see.
      await tx.run(
        'update daily_totals_progress set seal = n.newest + 1, revenue_to = n.newest - 1 from (select max(number) as newest from seals) n',
      );
      await addToDailyTotals(tx);
      const moved = await tx.row(
        'select p.seal - n.newest as seal, p.revenue_to - n.newest as revenue_to from daily_totals_progress p, (select max(number) as newest from seals) n',
      );
      assert.deepEqual(moved, { seal: 1n, revenueTo: 0n });
      throw new Error('undone');
    }),
    /^Error: undone$/,
  );
});

test('totals that were changed are summed again after the documented statements', async () => {
  const owner = new pg.Client({ connectionString: fixture.adminUrl });
  await owner.connect();
  try {
    await owner.query('update cloverleaf.daily_totals set debits = debits + 1');
    await assert.rejects(assertSame([40]), /trial balance at/);
    const page = readFileSync(new URL('../../../docs/operating/reconciliation.md', import.meta.url), 'utf8');
    const statements = /`(delete from cloverleaf\.daily_totals;[^`]+)`/.exec(page)?.[1];
    assert.ok(statements, 'the page has no statements');
    await owner.query(`begin; ${statements}; commit`);
  } finally {
    await owner.end();
  }
  await assertSame([40]);
  while ((await fixture.db.asSystem((tx) => addToDailyTotals(tx))) > 0);
  await assertSame([0, 40, 100]);
});

test('all is sealed up to a number only once every transaction that may have drawn a lower one has ended', async () => {
  const sealedTo = async () =>
    (await fixture.db.asSystem((tx) => tx.row<{ to: bigint }>('select complete_to as to from journal_progress')))?.to ??
    0n;
  const newest = async () =>
    (await fixture.db.asSystem((tx) => tx.row<{ seq: bigint }>('select max(seq) as seq from entries')))?.seq ?? 0n;
  /** Seals, as a minute after the last mark. */
  const seals = () =>
    fixture.db.asSystem(async (tx) => {
      await tx.run(`update journal_progress set marked_at = '-infinity'`);
      await seal(tx, fixture.clock.now());
    });
  const pays = (tx: Tx, id: string) =>
    post(tx, { id, kind: 'test', at: at(200), lines: move(bank, chart.suspense('someone', 'inr'), 7n) });
  const sealsToTheEnd = async () => {
    const isOver = patience(20_000);
    while ((await sealedTo()) < (await newest())) {
      assert.ok(!isOver(), 'the number stays behind');
      await seals();
    }
  };
  await sealAll();
  await sealsToTheEnd();
  const [before, beforehand] = [await newest(), await balancesOf()];
  const isPosted = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  const late = fixture.db.asSystem(async (tx) => {
    await pays(tx, 'late');
    isPosted.resolve();
    await mayEnd.promise;
  });
  await isPosted.promise;
  const other = chart.custody('bank.two', 'main', 'inr');
  await fixture.db.asSystem((tx) =>
    post(tx, { id: 'next', kind: 'test', at: at(200), lines: move(other, chart.suspense('another', 'inr'), 3n) }),
  );
  for (let n = 0; n < 3; n += 1) await seals();
  assert.equal(await sealedTo(), before, 'a number is passed that a transaction under way has drawn');
  mayEnd.resolve();
  await late;
  assert.equal((await balancesOf()) - beforehand, 7n, 'an entry without a seal is not in a balance');
  await sealsToTheEnd();
  assert.equal((await balancesOf()) - beforehand, 7n);
});

const balancesOf = async (): Promise<bigint> =>
  (await fixture.db.asSystem((tx) => balancesAt(tx, at(300)))).find(({ account }) => account === bank.code)?.debits ??
  0n;
