/** Tampering with the books, by an attacker with full access to the database, is found and named. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { txOn } from '../../src/base/db.ts';
import { addToDailyTotals, chart, hold, move, post, seal, settle } from '../../src/ledger/index.ts';
import { verifyLedger } from '../../src/reconcile/index.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { patience } from '../support/patience.ts';
import { openRows, type Rows } from '../support/rows.ts';

let fixture: Fixture;
let rows: Rows;
let superuser: pg.Client;
let kept: { number: bigint; hash: string };

/** Entries per batch, and batches. */
const [EACH, BATCHES] = [4, 3];

before(async () => {
  fixture = await freshFixture();
  rows = await openRows(fixture.adminUrl);
  superuser = new pg.Client({ connectionString: fixture.adminUrl, options: '-c search_path=cloverleaf' });
  await superuser.connect();
  await rows.cryptoAsset('usdc.test', 'test', '0x01');
  const { orderId, partnerId } = await rows.order('usdc.test', 'evm.test', '0xabc');
  await rows.query(
    `insert into order_history (order_id, version, partner_id, state_from, event, state_to, at)
     values ($1, 0, $2, 'none', 'created', 'created', now())`,
    [orderId, partnerId],
  );
  const [bank, treasury, owed] = [
    chart.custody('bank.x', 'main', 'inr'),
    chart.treasury('inr'),
    chart.suspense('bank.x', 'inr'),
  ];
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const id = (name: string) => `entry_${batch}_${name}`;
    // In one transaction, so that they are sealed together.
    await fixture.db.asSystem(async (tx) => {
      for (const [name, lines] of [
        ['in', move(bank, treasury, 100n)],
        ['over', move(treasury, owed, 50n)],
        ['hold', hold(`held_${batch}`, owed, bank, 20n)],
        ['settle', settle(`held_${batch}`)],
      ] as const) {
        const posted = await post(tx, { id: id(name), kind: name, at: fixture.clock.now(), lines });
        assert.equal(posted.outcome, 'posted');
      }
    });
    await sealsAll();
  }
  assert.equal(await fixture.db.asSystem((tx) => addToDailyTotals(tx)), BATCHES);
  const clean = await fixture.db.asSystem((tx) => verifyLedger(tx));
  assert.deepEqual(clean.problems, []);
  assert.deepEqual(
    [clean.entries, clean.seals, clean.unsealed, clean.orders],
    [BigInt(EACH * BATCHES), BigInt(BATCHES), 0n, 1n],
  );
  assert(clean.newest);
  kept = clean.newest;
});
after(async () => {
  await superuser.end();
  await rows.close();
  await fixture.stop();
});

/** A transaction of another database of the cluster, older than our entries, delays sealing until its end. */
async function sealsAll(): Promise<void> {
  const isOver = patience(20_000);
  for (let sealed = 0; sealed < EACH; ) {
    assert.ok(!isOver(), `${sealed} of ${EACH} entries were sealed`);
    sealed += await fixture.db.asSystem((tx) => seal(tx, fixture.clock.now()));
  }
}

/** The findings after a change that bypassed triggers, checks and keys; the change is undone. Days of totals are left out. */
async function afterwards(...changes: string[]): Promise<string[]> {
  await superuser.query('begin');
  try {
    await superuser.query('set local session_replication_role = replica');
    for (const change of changes) await superuser.query(change);
    const found = await verifyLedger(txOn(superuser), { kept });
    return found.problems.map(({ rule, subject }) => `${rule} ${subject.replace(/^\d{4}-\d\d-\d\d /, '')}`);
  } finally {
    await superuser.query('rollback');
  }
}

const ENTRY = `'entry_1_in'`;
const [BANK, TREASURY, OWED] = ['custody:bank.x:main:inr', 'treasury:inr', 'suspense:bank.x:inr'].map(
  (one) => `daily_total ${one}`,
) as [string, string, string];
const TAMPERED: readonly [string, string[], string[]][] = [
  [
    'a daily total is changed',
    [`update daily_totals set credits = credits + 1 where account = 'treasury:inr'`],
    [TREASURY],
  ],
  [
    'a daily total is moved to another day',
    [`update daily_totals set day = day - 1 where account = 'treasury:inr'`],
    [TREASURY, TREASURY],
  ],
  [
    'revenue of a day is changed',
    [
      `insert into daily_revenue (day, partner_id, market_id, asset, kind, units) values ('2027-01-01', 1, 2, 'inr', 'fee_rail', 1)`,
    ],
    ['daily_total fee_rail:1:2:inr'],
  ],
  [
    'what an entry changed for a customer is changed',
    [
      `insert into customer_changes (customer_id, at, seq, account, line, asset, held_units, owed_units)
       values ('C', '2027-02-03', 1, '', 0, 'inr', 1, 0)`,
    ],
    ['daily_total C'],
  ],
  [
    'a sum of a customer is changed',
    [
      `insert into customer_days (customer_id, day, asset, held_units, owed_units) values ('C', '2027-02-01', 'inr', 1, 0)`,
    ],
    ['daily_total C'],
  ],
  ['a batch is counted twice', ['update daily_totals_progress set seal = 2'], [BANK, OWED, TREASURY]],
  [
    "a running balance is raised on an account's row",
    [`update accounts set debits = debits + 1 where code = 'custody:bank.x:main:inr'`],
    ['balance custody:bank.x:main:inr', 'double_entry inr'],
  ],
  [
    'units are made to look held',
    [`update accounts set debits_held = debits_held + 1 where code = 'suspense:bank.x:inr'`],
    ['balance suspense:bank.x:inr', 'double_entry inr'],
  ],
  [
    'a transfer gets another amount, and both accounts with it',
    [
      `update transfers set units = 101 where entry = ${ENTRY}`,
      `update accounts set debits = debits + 1 where code = 'custody:bank.x:main:inr'`,
      `update accounts set credits = credits + 1 where code = 'treasury:inr'`,
    ],
    ['content entry_1_in', BANK, TREASURY],
  ],
  [
    'a transfer goes to another account',
    [
      `update transfers set credit = (select id from accounts where code = 'suspense:bank.x:inr') where entry = ${ENTRY}`,
    ],
    ['balance suspense:bank.x:inr', 'balance treasury:inr', 'content entry_1_in', OWED, TREASURY],
  ],
  [
    'a transfer is removed',
    [`delete from transfers where entry = ${ENTRY}`],
    ['balance custody:bank.x:main:inr', 'balance treasury:inr', 'content entry_1_in', BANK, TREASURY],
  ],
  [
    "an entry's content hash is made to fit other transfers",
    [`update entries set content = sha256('other') where id = ${ENTRY}`],
    ['content entry_1_in', 'seal seal 2'],
  ],
  [
    "an entry's time is changed",
    [`update entries set at = at - interval '1 day' where id = ${ENTRY}`],
    [BANK, BANK, TREASURY, TREASURY, 'seal seal 2'],
  ],
  [
    'an entry is removed with its transfers',
    [`delete from transfers where entry = ${ENTRY}`, `delete from entries where id = ${ENTRY}`],
    ['balance custody:bank.x:main:inr', 'balance treasury:inr', BANK, TREASURY, 'seal seal 2'],
  ],
  [
    'an entry is taken out of its seal',
    [`delete from sealed_entries where entry_seq = (select seq from entries where id = ${ENTRY})`],
    [BANK, TREASURY, 'seal seal 2'],
  ],
  [
    'a seal gets another hash',
    [`update seals set hash = sha256('other') where number = 2`],
    ['seal seal 2', 'seal seal 3'],
  ],
  [
    'a batch is missing',
    [`delete from sealed_entries where seal = 2`, `delete from seals where number = 2`],
    [BANK, OWED, TREASURY, 'seal seal 3'],
  ],
  [
    'the newest batch was cut off, and its hash was kept elsewhere',
    [`delete from sealed_entries where seal = ${BATCHES}`, `delete from seals where number = ${BATCHES}`],
    [BANK, OWED, TREASURY, `seal seal ${BATCHES}`],
  ],
  [
    'a hold is called let go that was settled',
    [`update holds set state = 'voided' where id = 'held_1'`],
    ['hold held_1'],
  ],
  ['a hold stands that no entry made', [`delete from holds where id = 'held_1'`], ['hold held_1']],
  [
    'an order says that it was paid and its history does not',
    [`update orders set state = 'settled'`],
    ['order order 1000001'],
  ],
  [
    'an order says that it has a deposit and holds none',
    [`update orders set state = 'deposit_confirmed'`],
    ['order order 1000001', 'order order 1000001'],
  ],
  [
    'a step of an order was made that the machine does not have',
    [
      `insert into order_history (order_id, version, partner_id, state_from, event, state_to, at)
       select order_id, 1, partner_id, 'created', 'released', 'settled', now() from order_history`,
      `update orders set state = 'settled'`,
    ],
    ['order order 1000001'],
  ],
];

for (const [what, changes, found] of TAMPERED) {
  test(`it is found and named when ${what}`, async () => {
    assert.deepEqual((await afterwards(...changes)).toSorted(), found);
  });
}

test('a hash kept elsewhere is found again, and nothing is broken', async () => {
  assert.deepEqual(await afterwards('select 1'), []);
});

test('the command’s exit code is 0, 1 for a broken rule, or 2 if it could not check', async () => {
  const file = fileURLToPath(new URL('../../src/apps/reconcile.ts', import.meta.url));
  const run = (url: string, ...args: string[]) => {
    const env = { ...process.env, DATABASE_URL: url };
    const { status, stdout, stderr } = spawnSync(process.execPath, [file, 'verify-ledger', ...args], { env });
    return { status, said: `${stdout}${stderr}` };
  };
  const clean = run(fixture.adminUrl, '--seal', `${kept.number}:${kept.hash}`);
  assert.equal(clean.status, 0, clean.said);
  assert.match(clean.said, new RegExp(`Newest seal: ${kept.number}:${kept.hash}`));
  const other = run(fixture.adminUrl, '--seal', `2:${kept.hash}`);
  assert.deepEqual([other.status, /BROKEN {2}seal/.test(other.said)], [1, true]);
  assert.equal(run(fixture.adminUrl, '--seal', 'x').status, 2);
  assert.equal(run('postgres://127.0.0.1:1/nothing').status, 2);
});
