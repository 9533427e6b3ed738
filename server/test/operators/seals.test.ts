/** The audit as it was sealed: an edited, removed or inserted row is reported by its number. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client } from 'pg';
import { type Database, txOn } from '../../src/base/db.ts';
import { recordByMachine, sealAudit, verifyAudit, verifySeals } from '../../src/operators/index.ts';
import { verifiedTable, verifyLedger } from '../../src/reconcile/verify.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { until } from '../support/until.ts';

let fixture: Fixture;
let owner: Client;

before(async () => {
  fixture = await freshFixture();
  owner = new Client({ connectionString: fixture.adminUrl, options: '-c search_path=cloverleaf' });
  await owner.connect();
  for (let n = 1; n <= 12; n += 1) {
    await writes(n);
    if (n % 3 === 0) await seals();
  }
});
after(async () => {
  await owner?.end();
  await fixture?.stop();
});

const writes = (n: number) =>
  fixture.db.asSystem((tx) =>
    recordByMachine(tx, {
      ...{ action: 'a.test', subject: `subject:${n}`, reason: `a reason of “${n}” – ½`, now: fixture.clock.now() },
      after: { units: 10n ** 30n, at: fixture.clock.now(), nothing: null },
    }),
  );
/** One seal over everything unsealed. Transactions of other databases on the same PostgreSQL delay rows for a while. */
async function seals(): Promise<void> {
  const heldBack = 'select count(*)::int as n from audit where written_in >= pg_snapshot_xmin(pg_current_snapshot())';
  await until('no row is held back', async () => {
    return (await fixture.db.asSystem((tx) => tx.row<{ n: number }>(heldBack)))?.n === 0;
  });
  await fixture.db.asSystem((tx) => sealAudit(tx, fixture.clock.now()));
}

async function problems(db: Database = fixture.db, kept?: { number: bigint; hash: string }): Promise<string[]> {
  const told: string[] = [];
  await db.asSystem((tx) =>
    verifyAudit(tx, ({ subject, why }) => told.push(`${subject}: ${why}`), fixture.clock.now(), kept),
  );
  return told;
}

const untold = ({ subject, why }: { subject: string; why: string }): never => assert.fail(`${subject}: ${why}`);

/** As the owner of the database with the triggers off; undone after the check. */
async function tampered(statements: readonly string[]): Promise<string[]> {
  await owner.query('begin');
  await owner.query(`set local session_replication_role = 'replica'`);
  for (const one of statements) await owner.query(one);
  const told: string[] = [];
  await verifyAudit(txOn(owner), ({ subject, why }) => told.push(`${subject}: ${why}`), fixture.clock.now());
  const inParts: string[] = [];
  for (const limit of [1, 2, 100]) {
    const parts: string[] = [];
    for (let after: bigint | null = 0n; after !== null; )
      ({ next: after } = await verifySeals(
        txOn(owner),
        ({ subject, why }) => void parts.push(`${subject}: ${why}`),
        fixture.clock.now(),
        { after, limit },
      ));
    inParts.push(...parts.filter((one) => !told.includes(one)), ...told.filter((one) => !parts.includes(one)));
  }
  await owner.query('rollback');
  assert.deepEqual(inParts, [], 'verifying in parts gives another result');
  return told;
}

test('an untouched audit matches its seals, and its newest hash can be kept elsewhere', async () => {
  const {
    rows,
    seals: count,
    unsealed,
    newest,
  } = await fixture.db.asSystem((tx) => verifyAudit(tx, untold, fixture.clock.now()));
  assert.deepEqual([rows, count, unsealed, newest?.number], [12n, 4n, 0n, 4n]);
  assert.ok(newest);
  const parts = await fixture.db.asSystem(async (tx) => [
    await verifySeals(tx, untold, fixture.clock.now(), { after: 0n, limit: 3 }),
    await verifySeals(tx, untold, fixture.clock.now(), { after: 3n, limit: 3 }),
  ]);
  assert.deepEqual(
    parts.map((part) => [part.rows, part.seals, part.newest?.number, part.next]),
    [
      [9n, 3n, 3n, 3n],
      [3n, 1n, 4n, null],
    ],
  );
  assert.equal(parts[1]?.newest?.hash, newest.hash);
  assert.deepEqual(await problems(fixture.db, newest), []);
  assert.deepEqual(await problems(fixture.db, { number: 4n, hash: '0'.repeat(64) }), [
    'audit seal 4: it is not there with the hash that was kept',
  ]);
});

for (const [what, statement] of [
  ['reason', `update audit set reason = 'another one' where id = 5`],
  ['operator', `update audit set operator = 'finn' where id = 5`],
  ['time', `update audit set at = at + interval '1 microsecond' where id = 5`],
  ['outcome', `update audit set outcome = 'declined' where id = 5`],
  ['amount', `update audit set after = jsonb_set(after, '{units}', '"1"') where id = 5`],
] as const)
  test(`an edited ${what} is found, in its row and no other`, async () => {
    assert.deepEqual(await tampered([statement]), ['audit row 5: it has changed since it was sealed']);
  });

test('a removed row is found, even if its seal is repaired', async () => {
  assert.deepEqual(await tampered(['delete from audit where id = 5']), [
    'audit row 5: it was sealed and is not there any more',
  ]);
  assert.deepEqual(await tampered(['delete from audit where id = 5', 'delete from sealed_audit where audit_id = 5']), [
    'audit seal 2: it covers 3 rows and 2 are there',
  ]);
  const gone = await tampered([
    'delete from audit where id in (4, 5, 6)',
    'delete from sealed_audit where seal = 2',
    'delete from audit_seals where number = 2',
  ]);
  assert.deepEqual(gone, ['audit seal 3: seals 2 to 2 are missing']);
});

test('a hash that is made to fit an edited row breaks the seal, and the seals above', async () => {
  const edited = `update audit set reason = 'another one' where id = 5`;
  const content = `update sealed_audit set content = (select content from sealed_audit where audit_id = 6) where audit_id = 5`;
  const told = await tampered([edited, content]);
  assert.ok(told.includes('audit seal 2: its hash does not match the rows it covers'), told.join('\n'));
  assert.deepEqual(
    await tampered([`update audit_seals set sealed_at = sealed_at + interval '1 day' where number = 2`]),
    ['audit seal 2: its hash does not match the rows it covers'],
  );
});

test('a row that is slipped in among older ones is found, sealed or not', async () => {
  // Numbers without a row: of actions that were rolled back.
  await owner.query(`select nextval(pg_get_serial_sequence('audit', 'id')) from generate_series(1, 3)`);
  await writes(16);
  await seals();
  const slipped = (id: number): string =>
    `insert into audit (id, at, operator, role, address, action, subject, reason, outcome)
     overriding system value values (${id}, now(), 'finn', 'finance', 'local', 'order.release', 'order:1', 'as agreed', 'done')`;
  fixture.clock.advance(3_600_000);
  assert.deepEqual(await tampered([slipped(14)]), ['audit row 14: it is among sealed rows, and no seal covers it']);
  // The server seals it unknowingly.
  await owner.query(slipped(14));
  await seals();
  assert.deepEqual(await problems(), ['audit row 14: it was slipped in among older rows before seal 6']);
});

test('an inserted row is found even by a verification that begins after the older seals', async () => {
  const told: string[] = [];
  await fixture.db.asSystem((tx) =>
    verifySeals(tx, ({ subject }) => void told.push(subject), fixture.clock.now(), { after: 5n, limit: 10 }),
  );
  assert.deepEqual(told, ['audit row 14']);
  await assert.rejects(
    fixture.db.asSystem((tx) => verifySeals(tx, untold, fixture.clock.now(), { after: 99n, limit: 1 })),
    { code: 'malformed_field' },
  );
});

test('verify-ledger names the row', async () => {
  const verified = await fixture.db.asSystem((tx) => verifyLedger(tx, { now: fixture.clock.now() }));
  assert.deepEqual(
    verified.problems.filter(({ rule }) => rule === 'audit').map(({ subject }) => subject),
    ['audit row 14'],
  );
  assert.match(verifiedTable(verified), /BROKEN {2}audit .*\n(.*\n)*audit +audit row 14: it was slipped in/);
});
