/**
 * Time until a register of customers is compared with a new version of a sanctions list, by the server's own job on a real
 * PostgreSQL with fsync: `node scripts/run.mjs bench/rescreening.ts`.
 *
 * Arguments: customers, entries. The names are generated (server/test/compliance/sanctions/register.ts) and encrypted as the
 * server stores them, each with a result for the first version that says "no hit". Then a version adds entries, and the job
 * compares all customers: every hit is a new one. It fails unless every customer then has a result for the newest version, each
 * new entry has a hit, and only customers with a hit got a new row.
 *
 * Not here: the comparison alone, without a database (screening.ts).
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../server/src/base/clock.ts';
import { openVault } from '../server/src/base/crypto.ts';
import { openDatabase } from '../server/src/base/db.ts';
import { randomText } from '../server/src/base/ids.ts';
import { migrate } from '../server/src/base/migrate.ts';
import { startPostgres } from '../server/src/base/postgres.ts';
import { encryptText } from '../server/src/base/texts.ts';
import { openSanctions, RULES_VERSION, USUAL_THRESHOLD } from '../server/src/compliance/index.ts';
import type { ListEntry } from '../server/src/compliance/sanctions/entry.ts';
import { takeList } from '../server/src/compliance/sanctions/lists.ts';
import { rulesText, subjectText } from '../server/src/compliance/sanctions/match.ts';
import { createPartner } from '../server/src/partners/index.ts';
import { customers, register } from '../server/test/compliance/sanctions/register.ts';

const [wanted = 100_000, listed = 20_000] = parseArgs({ allowPositionals: true }).positionals.map(Number);
const AT_ONCE = 5_000;
/** One of so many customers is named by an entry that the second version adds. */
const NEWLY_LISTED = 2_000;

const dataDir = mkdtempSync(join(tmpdir(), 'rescreening-'));
const postgres = await startPostgres({ dataDir });
const vault = openVault(createHash('sha256').update('a master key of the bench').digest());
const db = openDatabase(await migrate(postgres.adminUrl, vault.derive('database login')));
const clock = systemClock;
const rules = { version: RULES_VERSION, threshold: USUAL_THRESHOLD };
const sanctions = openSanctions({
  ...{ db, vault, clock, ask: async () => assert.fail('no list is fetched'), sources: [{ list: 'uk', from: 'bench' }] },
  ...{ rules, maxAgeMs: 86_400_000 },
  payerOf: async () => undefined,
  rails: () => [],
  record: async () => {},
});

const entries = register(listed);
const subjects = customers(wanted, entries);
const added = subjects
  .filter((_, at) => at % NEWLY_LISTED === 11)
  .map(({ names, kind }, at): ListEntry => {
    const about = { births: [], countries: [], identifiers: [], addresses: [] };
    const name = { text: names[0] ?? '', quality: 'strong', isPrimary: true } as const;
    return { id: `new.${at}`, kind: kind ?? 'person', names: [name], ...about };
  });

/** Runs a step and prints how long it took, and how much CPU time of this process. */
async function timed(what: string, step: () => Promise<unknown>): Promise<void> {
  const began = performance.now();
  const cpu = process.cpuUsage();
  await step();
  const { user, system } = process.cpuUsage(cpu);
  const seconds = [(performance.now() - began) / 1_000, (user + system) / 1_000_000].map((one) => one.toFixed(0));
  console.log(`${what}: ${seconds[0]} s, ${seconds[1]} s of CPU`);
}

const takes = (all: readonly ListEntry[], published: string) =>
  db.asSystem((tx) => {
    const now = clock.now();
    const read = {
      list: 'uk',
      entries: new Map(all.map((entry) => [entry.id, entry])),
      sha256: Buffer.alloc(32),
    } as const;
    return takeList(tx, vault, { ...read, published, asOf: now, now });
  });

const screens = async () => {
  while ((await sanctions.handlers.screen_names?.('all'))?.againInMs === 0);
};

/** Rows as `enroll`, `saveDetails` and a comparison without hits write them, many in one statement. */
async function seed(partnerId: bigint): Promise<void> {
  for (let at = 0; at < subjects.length; at += AT_ONCE) {
    const rows = subjects.slice(at, at + AT_ONCE).map((subject, offset) => {
      const {
        names: [name = ''],
        kind,
        born,
      } = subject;
      const id = `${randomText(10)}_${partnerId}`;
      const [firstName, ...rest] = name.split(' ');
      const person = { firstName, lastName: rest.join(' '), ...(born === undefined ? {} : { dob: born }) };
      const details = JSON.stringify(kind === 'entity' ? { entityName: name } : person);
      return {
        id,
        reference: encryptText(vault, partnerId, `customer-${at + offset}`),
        kind: kind === 'entity' ? 'BUSINESS' : 'INDIVIDUAL',
        details: vault.encrypt(details, `customer_details.details:${id}`),
        inputs: vault.encrypt(JSON.stringify([subject]), `name_screenings.inputs:customer:${id}`),
        digest: vault.indexes(JSON.stringify([subjectText(subject)]), `name_screenings.inputs:customer:${id}`)[0],
      };
    });
    const [ids, references] = [rows.map(({ id }) => id), rows.map(({ reference }) => reference)];
    await db.asSystem(async (tx) => {
      await tx.run(
        `insert into customers (id, partner_id, client_customer_id, kind, country, created_at, updated_at)
         select id, $1, reference, kind, 'IN', $5, $5 from unnest($2::text[], $3::text[], $4::text[]) as one (id, reference, kind)`,
        [partnerId, ids, references, rows.map(({ kind }) => kind), clock.now()],
      );
      await tx.run(
        `insert into customer_details (customer_id, partner_id, details, given_at)
         select id, $1, details, $4 from unnest($2::text[], $3::bytea[]) as one (id, details)`,
        [partnerId, ids, rows.map(({ details }) => details), clock.now()],
      );
      await tx.run(
        `insert into name_screenings (subject, owner, partner_id, customer_id, inputs, inputs_digest, revision, names, rules,
            screened_to, found, first_at, at)
         select 'customer:' || id, 'customer:' || id, $1, id, inputs, digest, 1, 1, $5,
            (select max(id) from sanctions_versions), '[]', $6, $6
           from unnest($2::text[], $3::bytea[], $4::bytea[]) as one (id, inputs, digest)`,
        [
          partnerId,
          ids,
          rows.map((row) => row.inputs),
          rows.map((row) => row.digest),
          rulesText(rules, ['uk']),
          clock.now(),
        ],
      );
      await tx.run('delete from names_to_compare where subject = any($1)', [ids.map((id) => `customer:${id}`)]);
    });
  }
}

try {
  const partner = await db.asSystem((tx) => createPartner(tx, { name: 'Bench', now: clock.now() }));
  await timed(`list of ${listed} entries stored`, () => takes(entries, 'first'));
  await timed(`${wanted} customers stored`, () => seed(partner.id));
  await timed(`version with ${added.length} new entries stored`, () => takes([...entries, ...added], 'second'));
  await timed('compared with the new version', screens);
  const row = await db.asSystem((tx) =>
    tx.row<{ current: bigint; newlyHit: bigint; hits: bigint; hit: bigint; ended: bigint }>(
      `select count(*) filter (where screened_to = (select max(id) from sanctions_versions)) as current,
          (select count(distinct entry_id) from sanctions_hits h join sanctions_entries e on e.id = h.entry_id
            where e.entry like 'new.%') as newly_hit, (select count(*) from sanctions_hits) as hits,
          count(*) filter (where found <> '[]') as hit, (select count(*) from name_screenings where ended_at is not null) as ended
        from name_screenings where ended_at is null`,
    ),
  );
  assert.deepEqual([row?.current, row?.newlyHit], [BigInt(wanted), BigInt(added.length)]);
  assert.equal(row?.ended, row?.hit, 'a customer without a hit got a new row');
  console.log(`${wanted} customers have a result for the newest version; ${row?.hits} hits of ${row?.hit} customers`);
} finally {
  await db.close();
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
