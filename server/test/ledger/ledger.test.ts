import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import type { Tx } from '../../src/base/db.ts';
import { BugError } from '../../src/base/errors.ts';
import {
  type Account,
  balance,
  chart,
  type Entry,
  hold,
  type Line,
  move,
  type Problem,
  post,
  release,
  seal,
  settle,
  trialBalance,
  verifyJournal,
  verifySums,
} from '../../src/ledger/index.ts';
import { upsertAsset } from '../../src/partners/index.ts';
import { countedDatabase } from '../support/counted.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { fiat } from '../support/terms.ts';
import { until } from '../support/until.ts';

let fixture: Fixture;
before(async () => {
  fixture = await freshFixture();
  await fixture.db.asSystem(async (tx) => {
    for (const code of ['inr', 'eur']) {
      await upsertAsset(tx, fiat(code));
    }
  });
});
after(() => fixture.stop());

let count = 0;
const fresh = (): { custody: Account; treasury: Account; order: Account } => {
  count += 1;
  return {
    custody: chart.custody(`bank.${count}`, 'main', 'inr'),
    treasury: chart.suspense(`t${count}`, 'inr'),
    order: chart.order(BigInt(count), 1n, 'inr'),
  };
};
const entry = (lines: Line[], id = `e${(count += 1)}`): Entry => ({ id, kind: 'test', at: new Date(), lines });
const posting = (given: Entry) => fixture.db.asSystem((tx) => post(tx, given));
const unitsOf = async (account: Account) => (await fixture.db.asSystem((tx) => balance(tx, account))).units;

test('an entry changes both accounts', async () => {
  const { custody, treasury } = fresh();
  assert.deepEqual(await posting(entry(move(custody, treasury, 500n))), { outcome: 'posted' });
  assert.equal(await unitsOf(custody), 500n);
  assert.equal(await unitsOf(treasury), 500n);
});

test('the same entry twice is posted once', async () => {
  const { custody, treasury } = fresh();
  const once = entry(move(custody, treasury, 500n));
  await posting(once);
  assert.deepEqual(await posting(once), { outcome: 'duplicate' });
  assert.equal(await unitsOf(custody), 500n);
});

test('the same id with another amount is a bug, loudly', async () => {
  const { custody, treasury } = fresh();
  const once = entry(move(custody, treasury, 500n));
  await posting(once);
  await assert.rejects(posting({ ...once, lines: move(custody, treasury, 501n) }), BugError);
});

test('the same entry from ten concurrent callers is posted once', async () => {
  const { custody, treasury } = fresh();
  const once = entry(move(custody, treasury, 7n));
  const outcomes = await Promise.all(Array.from({ length: 10 }, () => posting(once)));
  assert.equal(outcomes.filter((one) => one.outcome === 'posted').length, 1);
  assert.equal(await unitsOf(custody), 7n);
});

test('moving more than the balance is short, and nothing is written', async () => {
  const { custody, treasury, order } = fresh();
  await posting(entry(move(custody, treasury, 100n)));
  const outcome = await posting(entry(move(treasury, order, 101n)));
  assert.deepEqual(outcome, { outcome: 'short', account: treasury.code });
  assert.equal(await unitsOf(order), 0n);
});

test('a hold sets units aside, and they cannot be spent', async () => {
  const { custody, treasury, order } = fresh();
  await posting(entry([...move(custody, treasury, 100n), ...move(treasury, order, 100n)]));
  await posting(entry(hold(`h${count}`, order, custody, 80n), `hold${count}`));
  assert.equal((await posting(entry(move(order, treasury, 21n)))).outcome, 'short');
  assert.equal((await posting(entry(move(order, treasury, 20n)))).outcome, 'posted');
});

test('a settled hold moves the money; it cannot be settled or voided again', async () => {
  const { custody, treasury, order } = fresh();
  const id = `hold-${count}`;
  await posting(entry([...move(custody, treasury, 100n), ...move(treasury, order, 100n)]));
  await posting(entry(hold(id, order, custody, 100n)));
  await posting(entry(settle(id)));
  assert.equal(await unitsOf(custody), 0n);
  assert.equal(await unitsOf(order), 0n);
  await assert.rejects(posting(entry(settle(id))), BugError);
  await assert.rejects(posting(entry(release(id))), BugError);
});

test('a voided hold leaves every balance unchanged', async () => {
  const { custody, treasury, order } = fresh();
  const id = `hold-${count}`;
  await posting(entry([...move(custody, treasury, 100n), ...move(treasury, order, 100n)]));
  await posting(entry(hold(id, order, custody, 100n)));
  await posting(entry(release(id)));
  const { units, heldUnits } = await fixture.db.asSystem((tx) => balance(tx, order));
  assert.deepEqual([units, heldUnits], [100n, 0n]);
});

test('an entry with an amount of nothing, below nothing, or none at all cannot be posted', async () => {
  const { custody, treasury } = fresh();
  await assert.rejects(posting(entry([])), BugError);
  for (const units of [0n, -1n]) {
    await assert.rejects(posting(entry([{ step: 'post', debit: custody, credit: treasury, units }])), BugError);
  }
});

test('no line crosses assets', async () => {
  const { custody } = fresh();
  const line: Line = { step: 'post', debit: custody, credit: chart.treasury('eur'), units: 1n };
  await assert.rejects(posting(entry([line])), BugError);
});

const refuses = async (statement: string, values: unknown[] = []) => {
  await assert.rejects(fixture.db.asSystem((tx: Tx) => tx.run(statement, values)));
};

test('the table itself refuses overdraft, change and deletion', async () => {
  const { custody, treasury } = fresh();
  const once = entry(move(custody, treasury, 100n));
  await posting(once);
  await refuses('update accounts set credits = credits + 101 where code = $1', [custody.code]);
  await refuses('update transfers set units = 1 where entry = $1', [once.id]);
  await refuses('delete from transfers where entry = $1', [once.id]);
  await refuses('update entries set kind = $1 where id = $2', ['other', once.id]);
  await refuses('delete from entries where id = $1', [once.id]);
});

test('the table itself refuses a transfer across assets', async () => {
  const { custody, treasury } = fresh();
  const once = entry(move(custody, treasury, 1n));
  await posting(once);
  await posting(entry(move(chart.custody('x', 'y', 'eur'), chart.treasury('eur'), 1n)));
  await refuses(
    `insert into transfers (entry, line, debit, credit, asset, units, step)
     select $1, 9, d.id, c.id, 'inr', 1, 'post' from accounts d, accounts c where d.code = $2 and c.code = 'treasury:eur'`,
    [once.id, custody.code],
  );
});

test('concurrent postings in any order keep both sides equal and never deadlock', async () => {
  const wallets = Array.from({ length: 4 }, (_, index) => chart.custody(`storm${index}`, 'main', 'inr'));
  const owners = Array.from({ length: 4 }, (_, index) => chart.suspense(`storm${index}`, 'inr'));
  const any = fc.record({
    from: fc.nat(3),
    to: fc.nat(3),
    units: fc.bigInt({ min: 1n, max: 50n }),
    opens: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(any, { minLength: 20, maxLength: 40 }), async (moves) => {
      const lines = moves.flatMap(({ from, to, units, opens }): Line[][] => {
        const [wallet, owner, other] = [wallets[from], owners[from], owners[to]] as [Account, Account, Account];
        if (opens) return [[...move(wallet, owner, units), ...(owner === other ? [] : move(owner, other, units))]];
        return owner === other ? [] : [move(owner, other, units)];
      });
      await Promise.all(lines.map((one) => posting(entry(one))));
      for (const row of await fixture.db.asSystem(trialBalance)) {
        assert.equal(row.debits, row.credits, row.asset);
        assert.equal(row.heldDebits, row.heldCredits, row.asset);
      }
    }),
    { numRuns: 15 },
  );
  const rows = await fixture.db.asSystem((tx) =>
    tx.rows<{ code: string; debits: bigint; credits: bigint; d: bigint; c: bigint }>(
      `select code, debits, credits,
              coalesce((select sum(units) from transfers where debit = a.id and step in ('post', 'settle')), 0) as d,
              coalesce((select sum(units) from transfers where credit = a.id and step in ('post', 'settle')), 0) as c
         from accounts a`,
    ),
  );
  for (const row of rows)
    assert.deepEqual([row.debits, row.credits], [row.d, row.c], `${row.code} is the sum of its transfers`);
});

async function problems(): Promise<Problem[]> {
  const told: Problem[] = [];
  const tell = (problem: Problem): void => void told.push(problem);
  await fixture.db.asSystem(async (tx) => {
    await verifyJournal(tx, tell);
    await verifySums(tx, tell);
  });
  return told;
}

test('seals are valid until a covered row is rewritten', async () => {
  let sealed = 0;
  for (;;) {
    const more = await fixture.db.asSystem((tx) => seal(tx, new Date()));
    if (more === 0) break;
    sealed += more;
  }
  assert.ok(sealed > 0);
  assert.deepEqual(await problems(), []);
  const pg = (await import('pg')).default;
  const owner = new pg.Client({ connectionString: fixture.adminUrl });
  await owner.connect();
  await owner.query('set search_path = cloverleaf; alter table entries disable trigger user');
  await owner.query(`update entries set kind = 'forged' where seq = (select min(seq) from entries)`);
  await owner.end();
  const rules = (await problems()).map(({ rule, subject }) => `${rule} ${subject}`);
  assert.ok(rules.includes('seal seal 1') && rules.some((rule) => rule.startsWith('content ')), rules.join());
});

test('two transactions that post twice, to the same accounts in opposite order, do not deadlock', async () => {
  const [one, other] = [fresh(), fresh()];
  for (const { custody, treasury } of [one, other]) await posting(entry(move(custody, treasury, 500n)));
  const codes: string[] = [];
  const [hasFirst, hasSecond] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const postsBoth = (accounts: (typeof one)[], has: PromiseWithResolvers<void>, otherHas: Promise<void>) => {
    const entries = accounts.map(({ custody, treasury }) => entry(move(custody, treasury, 1n)));
    return fixture.db.asSystem(async (tx) => {
      try {
        for (const each of entries) {
          await post(tx, each);
          has.resolve();
          await otherHas;
        }
      } catch (error) {
        codes.push((error as { code: string }).code);
        throw error;
      }
    });
  };
  await Promise.all([
    postsBoth([one, other], hasFirst, hasSecond.promise),
    postsBoth([other, one], hasSecond, hasFirst.promise),
  ]);
  assert.deepEqual(codes, ['40001'], 'one did not begin again exactly once, without a deadlock');
  assert.equal(await unitsOf(one.custody), 502n);
  assert.equal(await unitsOf(other.custody), 502n);
});

test('a transaction that has locked accounts does not wait for one that is being created elsewhere', async () => {
  const [one, missing] = [fresh(), fresh()];
  await posting(entry(move(one.custody, one.treasury, 500n)));
  const [first, second] = [move(one.custody, one.treasury, 1n), move(one.custody, missing.treasury, 1n)].map((lines) =>
    entry(lines),
  ) as [Entry, Entry];
  const codes: string[] = [];
  let creates: Promise<unknown> | undefined;
  await fixture.db.asSystem(async (tx) => {
    // Begun again: the other one has waited for our locks, and on a busy machine it would lose them to us once more.
    await creates;
    await post(tx, first);
    creates ??= posting(entry(move(one.custody, missing.treasury, 2n)));
    if (codes.length === 0)
      await until('it has created the account, and waits for ours', async () => {
        const waiting = await fixture.db.asSystem((other) =>
          other.rows(`select from pg_locks where not granted
            and pid in (select pid from pg_stat_activity where datname = current_database())`),
        );
        return waiting.length > 0;
      });
    try {
      await post(tx, second);
    } catch (error) {
      codes.push((error as { code: string }).code);
      throw error;
    }
  });
  await creates;
  assert.deepEqual(codes, ['40001'], 'it did not begin again exactly once, without a deadlock');
  assert.equal(await unitsOf(missing.treasury), 3n);
});

test('an entry takes two round trips while its accounts are locked, and a third that is the caller’s; a new account takes one more', async () => {
  const counted = countedDatabase(fixture.db, fixture.serverUrl);
  const { custody, treasury, order } = fresh();
  const id = `hold-${count}`;
  const takes = async (lines: Line[]): Promise<number> => {
    counted.again();
    assert.equal((await counted.db.asSystem((tx) => post(tx, entry(lines)))).outcome, 'posted');
    return counted.transactions.flat().length;
  };
  try {
    assert.equal(await takes(move(custody, treasury, 100n)), 5, 'the lock for creating accounts is another one');
    assert.equal(await takes(move(treasury, order, 90n)), 4);
    assert.equal(await takes([...move(treasury, order, 10n), ...hold(id, order, custody, 40n)]), 3);
    assert.equal(await takes([...settle(id), ...hold(`${id}b`, order, custody, 60n)]), 3);
    const [found, locked, written] = counted.transactions[0] ?? [];
    const tables = [found, locked, written].map((batch) =>
      batch?.map((text) => /(?:from|into|update) (\w+)/.exec(text)?.[1]),
    );
    assert.deepEqual(tables, [
      [undefined, 'holds', 'accounts'],
      ['accounts', 'entries'],
      ['entries', 'transfers', 'holds', 'holds', 'accounts', undefined],
    ]);
  } finally {
    await counted.stop();
  }
  assert.deepEqual([await unitsOf(custody), await unitsOf(order)], [60n, 60n]);
});

test('an entry that ends a hold twice is a bug, and one that is short leaves the transaction usable', async () => {
  const { custody, treasury, order } = fresh();
  const id = `hold-${count}`;
  await posting(entry([...move(custody, treasury, 100n), ...move(treasury, order, 100n)]));
  await posting(entry(hold(id, order, custody, 100n)));
  for (const again of [settle(id), release(id)])
    await assert.rejects(posting(entry([...settle(id), ...again])), new RegExp(`hold ${id} is not open`));
  const outcomes = await fixture.db.asSystem(async (tx) => {
    const short = await post(tx, entry(move(order, treasury, 1n)));
    return [short, await post(tx, entry(settle(id))), await balance(tx, custody)];
  });
  assert.deepEqual(outcomes, [
    { outcome: 'short', account: order.code },
    { outcome: 'posted' },
    { code: custody.code, asset: 'inr', units: 0n, heldUnits: 0n },
  ]);
});
