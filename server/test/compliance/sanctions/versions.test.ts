/**
 * New versions of a list from an address, on a real database: unchanged ones, several servers, a process that ends, and customers who
 * are compared with the difference only.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { Database, Tx } from '../../../src/base/db.ts';
import {
  acceptShrunken,
  listCases,
  listStates,
  openSanctions,
  RULES_VERSION,
  replayDecision,
  USUAL_THRESHOLD,
} from '../../../src/compliance/index.ts';
import { enroll, findCustomer, saveDetails } from '../../../src/customers/index.ts';
import { createPartner, type Partner } from '../../../src/partners/index.ts';
import { newPhone } from '../../support/client.ts';
import { type Fixture, freshFixture } from '../../support/fixture.ts';
import { openPublisher, type Publisher, sends } from './source.ts';

let fixture: Fixture;
let partner: Partner;
let publisher: Publisher;
const recorded: Record<string, unknown>[] = [];
const inTx = <T>(work: (tx: Tx) => Promise<T>) => fixture.db.asSystem(work);
const now = () => fixture.clock.now();

before(async () => {
  [fixture, publisher] = await Promise.all([freshFixture(), openPublisher()]);
  partner = await inTx((tx) => createPartner(tx, { name: 'Mine', now: now(), tradeLevel: 1 }));
});
after(async () => {
  await publisher?.close();
  await fixture?.stop();
});
beforeEach(() => void publisher.asked.splice(0));

/** A server of its own, as after a start. */
const server = (db: Database = fixture.db) =>
  openSanctions({
    ...{ db, vault: fixture.vault, clock: fixture.clock, ask: publisher.client },
    sources: [{ list: 'uk', from: publisher.url('/uk.xml') }],
    rules: { version: RULES_VERSION, threshold: USUAL_THRESHOLD },
    ...{ maxAgeMs: 86_400_000, payerOf: async () => undefined, rails: () => [] },
    record: async (_tx, { after: said }) => void recorded.push(said as Record<string, unknown>),
  });
type Server = ReturnType<typeof server>;
const reads = async (of: Server) => (await of.handlers.refresh_sanctions?.('uk'))?.againInMs;
async function compares(of: Server): Promise<void> {
  while ((await of.handlers.screen_names?.('all'))?.againInMs === 0);
}

const listOf = (names: Readonly<Record<string, string>>, published?: string): string =>
  `<Designations>${published === undefined ? '' : `<DateGenerated>${published}</DateGenerated>`}${Object.entries(names)
    .map(
      ([id, name]) =>
        `<Designation><UniqueID>${id}</UniqueID><IndividualEntityShip>Individual</IndividualEntityShip>
         <Names><Name><Name6>${name}</Name6><NameType>Primary Name</NameType></Name></Names></Designation>`,
    )
    .join('')}</Designations>`;
let etags = 0;
function publishes(names: Readonly<Record<string, string>>, published?: string): void {
  etags += 1;
  publisher.at('/uk.xml', sends(listOf(names, published), { etag: `"${etags}"` }));
}
const stateNow = async () => (await inTx(listStates))[0] ?? assert.fail('no list was stored');
const versions = async () =>
  (await inTx((tx) => tx.row<{ count: bigint }>('select count(*) as count from sanctions_versions')))?.count ?? 0n;

async function customerNamed(firstName: string, lastName: string): Promise<string> {
  const given = { partnerId: partner.id, phone: newPhone(), kind: 'INDIVIDUAL', now: now() } as const;
  const { id } = await inTx((tx) => enroll(tx, fixture.vault, { ...given, clientCustomerId: newPhone() }));
  const customer = await inTx((tx) => findCustomer(tx, id));
  await inTx((tx) => saveDetails(tx, fixture.vault, { customer, details: { firstName, lastName }, now: now() }));
  return id;
}

const BASE = { UK1: 'Taras Ilyich ORLENKOV', UK2: 'Harun Mustafa KHAYALI', UK3: 'Petronius QUILLFEATHER' };

test('an unchanged list costs one answer without a body, and counts as read; a start reads it whole', async () => {
  publishes(BASE);
  const first = server();
  await reads(first);
  const { versionId, asOf } = await stateNow();
  assert.deepEqual(recorded.at(-1), {
    ...recorded.at(-1),
    version: String(versionId),
    entries: 3,
    added: 3,
    changed: 0,
    removed: 0,
  });
  fixture.clock.advance(3_600_000);
  await reads(first);
  const later = await stateNow();
  assert.deepEqual([later.versionId, later.asOf > asOf, later.readAt > asOf], [versionId, true, true]);
  assert.deepEqual(
    publisher.asked.map(({ headers }) => headers['if-none-match']),
    [undefined, `"${etags}"`],
  );
  // Another version of the program may read more of the same bytes.
  publisher.asked.splice(0);
  const second = server();
  await reads(second);
  await reads(second);
  assert.deepEqual(
    publisher.asked.map(({ headers }) => headers['if-none-match']),
    [undefined, `"${etags}"`],
  );
  assert.equal(await versions(), 1n);
});

test('what another source said, or a version that was stored without it, makes no request conditional', async () => {
  const of = server();
  await reads(of);
  await inTx((tx) => tx.run(`update sanctions_lists set source = 'https://another.example/uk.xml'`));
  publisher.asked.splice(0);
  await reads(of);
  // A server of the previous version stores a list, and knows nothing of the columns.
  await inTx((tx) => tx.run('update sanctions_lists set source_version = null'));
  await reads(of);
  await reads(of);
  assert.deepEqual(
    publisher.asked.map(({ headers }) => headers['if-none-match'] !== undefined),
    [false, false, true],
  );
});

test('a source that fails is asked again after five minutes, then ten, at most an hour, until it answers', async () => {
  const of = server();
  publisher.at('/uk.xml', (response) => void response.writeHead(503).end());
  const waits: (number | undefined)[] = [];
  for (let at = 0; at < 6; at += 1) waits.push(await reads(of));
  assert.deepEqual(waits, [300_000, 600_000, 1_200_000, 2_400_000, 3_600_000, 3_600_000]);
  const open = () => inTx((tx) => listCases(tx, { open: true, kind: 'sanctions_list', limit: 10 }));
  assert.match((await open())[0]?.reason ?? '', /answers 503/);
  publishes(BASE);
  assert.equal(await reads(of), 3_600_000);
  assert.deepEqual(await open(), []);
  publisher.at('/uk.xml', (response) => void response.writeHead(503).end());
  assert.equal(await reads(of), 300_000);
});

test('two servers that read a new version at once store it once; the older of two answers changes nothing', async () => {
  publishes({ ...BASE, UK4: 'Grace OKAFOR' });
  const count = await versions();
  await Promise.all([reads(server()), reads(server()), reads(server())]);
  assert.equal(await versions(), count + 1n);
  const { added, entries } = await stateNow();
  assert.deepEqual([added, entries], [1, 4]);

  // The slow server gets its answer before the publisher changes the list, and stores it after the quick one.
  const old = listOf({ ...BASE, UK4: 'Grace OKAFOR' });
  let finish = (): void => {};
  const isAsked = new Promise<void>((resolve) => {
    publisher.at('/uk.xml', (response) => {
      response.write(old.slice(0, 100));
      finish = () => void response.end(old.slice(100));
      resolve();
    });
  });
  const slow = reads(server());
  await isAsked;
  fixture.clock.advance(1_000);
  publishes({ ...BASE, UK4: 'Grace OKAFOR', UK5: 'Miriam NJOROGE' });
  await reads(server());
  finish();
  await slow;
  assert.equal((await stateNow()).entries, 5, 'an older answer replaced a newer one');
});

test('a process that ends between download and activation leaves the version before, and the next one stores all', async () => {
  publishes({ ...BASE, UK6: 'Emma JOHANSSON' });
  const before = await stateNow();
  const dies: Database['asSystem'] = (body) =>
    fixture.db.asSystem(async (tx) => {
      const result = await body(tx);
      throw new Error('the process has ended', { cause: result });
    });
  await assert.rejects(reads(server({ ...fixture.db, asSystem: dies })), /has ended/);
  assert.deepEqual(await stateNow(), before);
  const of = server();
  await reads(of);
  const { entries, added, removed } = await stateNow();
  assert.deepEqual([entries, added, removed], [4, 1, 2]);
});

test('after a new version a customer is compared with added and changed entries only, as if with all of them', async () => {
  publishes(BASE);
  await reads(server());
  const ids = new Map<string, string>();
  for (const [first, last] of [
    ['Taras', 'Orlenkov'],
    ['Harun', 'Khayali'],
    ['Emma', 'Svenningsen'],
    ['Ludmila', 'Petrenko'],
    ['Petronius', 'Quillfeather'],
  ] as const)
    ids.set(last, await customerNamed(first, last));
  await compares(server());
  const found = async () => {
    const rows = await inTx((tx) =>
      tx.rows<{ id: bigint; subject: string; entries: string[]; isNewest: boolean }>(
        `select s.id, s.subject, s.screened_to = (select max(id) from sanctions_versions) as is_newest,
            array(select e.entry || ':' || (e.content -> 'names' -> 0 ->> 'text') from jsonb_array_elements(s.found) f
              join sanctions_entries e on e.id = (f ->> 'entryId')::bigint order by 1) as entries
          from name_screenings s where ended_at is null order by id`,
      ),
    );
    const all: Record<string, string[]> = {};
    for (const [name, id] of ids) {
      const row = rows.find(({ subject }) => subject === `customer:${id}`);
      assert.equal(row?.isNewest, true, `${name} was not compared with the newest version`);
      all[name] = row?.entries ?? [];
      assert.equal((await replayDecision(fixture, { kind: 'names', id: row?.id ?? 0n })).outcome, 'same', name);
    }
    return all;
  };
  const none = { Svenningsen: [], Petrenko: [] };
  assert.deepEqual(await found(), {
    ...none,
    Orlenkov: ['UK1:Taras Ilyich ORLENKOV'],
    Khayali: ['UK2:Harun Mustafa KHAYALI'],
    Quillfeather: ['UK3:Petronius QUILLFEATHER'],
  });
  const hits = () =>
    inTx((tx) =>
      tx.rows<{ state: string; entry: string }>(
        'select h.state, e.entry from sanctions_hits h join sanctions_entries e on e.id = h.entry_id order by h.id',
      ),
    );
  assert.deepEqual(
    (await hits()).map(({ state }) => state),
    ['open', 'open', 'open'],
  );

  // One entry is changed, one is removed, one is added, one stays.
  publishes({ UK1: BASE.UK1, UK2: 'Harun Mustafa AL-KHAYALI', UK7: 'Ludmila PETRENKO' });
  await reads(server());
  const { added, changed, removed } = await stateNow();
  assert.deepEqual([added, changed, removed], [1, 1, 1]);
  await compares(server());
  assert.deepEqual(await found(), {
    ...none,
    Orlenkov: ['UK1:Taras Ilyich ORLENKOV'],
    Khayali: ['UK2:Harun Mustafa AL-KHAYALI'],
    Petrenko: ['UK7:Ludmila PETRENKO'],
    Quillfeather: [],
  });
  // The removed entry's hit ends by itself, undecided as it was; the changed entry asks anew.
  assert.deepEqual((await hits()).map(({ entry, state }) => `${entry} ${state}`).toSorted(), [
    'UK1 open',
    'UK2 gone',
    'UK2 open',
    'UK3 gone',
    'UK7 open',
  ]);

  // Two versions later at once, and an unchanged entry is not looked at: this one would now be a hit.
  await inTx((tx) =>
    tx.run(
      `update sanctions_entries set content = (replace(content::text, 'ORLENKOV', 'SVENNINGSEN Emma'))::json
        where entry = 'UK1' and removed_in is null`,
    ),
  );
  publishes({ UK1: BASE.UK1, UK2: 'Harun Mustafa AL-KHAYALI', UK7: 'Ludmila PETRENKO', UK8: 'Somebody ELSE' });
  await reads(server());
  publishes({ UK1: BASE.UK1, UK2: 'Harun Mustafa AL-KHAYALI', UK8: 'Somebody ELSE', UK9: 'Petronius QUILLFEATHER' });
  await reads(server());
  await compares(server());
  const rows = await inTx((tx) =>
    tx.rows<{ subject: string; count: number }>(
      `select subject, jsonb_array_length(found) as count from name_screenings
        where ended_at is null and screened_to = (select max(id) from sanctions_versions)`,
    ),
  );
  const counts = Object.fromEntries(
    [...ids].map(([name, id]) => [name, rows.find(({ subject }) => subject === `customer:${id}`)?.count]),
  );
  assert.deepEqual(counts, { Orlenkov: 1, Khayali: 1, Svenningsen: 0, Petrenko: 0, Quillfeather: 1 });
});

test('an older copy clears nobody until people accept it; one that only says another date, or adds, is taken', async () => {
  const more = { ...BASE, UK4: 'Grace OKAFOR' };
  publishes(more, '20/11/2026');
  const of = server();
  await reads(of);
  const { versionId } = await stateNow();
  const open = async () =>
    (await inTx((tx) => listCases(tx, { open: true, kind: 'sanctions_list', limit: 10 })))[0]?.reason;
  // A machine of the publisher that is behind. The day comes after that of the newer one as text.
  publishes(BASE, '31/10/2026');
  await reads(of);
  const waits = await stateNow();
  assert.deepEqual(
    [waits.versionId, waits.entries, waits.refusedRemoved],
    [versionId, 4, 1],
    'an older copy was taken',
  );
  assert.match((await open()) ?? '', /published before the version in use, which is of 20\/11\/2026/);
  // The machine has caught up: what it gave before waits no longer, and cannot be accepted.
  publisher.at('/uk.xml', sends(listOf(more, '20/11/2026'), { etag: `"${etags - 1}"` }));
  publisher.asked.splice(0);
  await reads(of);
  assert.equal(publisher.asked[0]?.headers['if-none-match'], `"${etags - 1}"`);
  assert.deepEqual([(await stateNow()).refusedSha256, await open()], [null, undefined]);
  // It waits also if it removes nobody: a changed entry may lack a name.
  publishes({ ...more, UK1: 'Taras SOMEBODY' }, '31/10/2026');
  await reads(of);
  assert.equal((await stateNow()).versionId, versionId);
  publishes(more, '31/10/2026');
  await reads(of);
  assert.equal(await open(), undefined);

  publishes(BASE, '31/10/2026');
  await reads(of);
  const { refusedSha256 } = await stateNow();
  await inTx((tx) => acceptShrunken(tx, { list: 'uk', sha256: refusedSha256 ?? '', now: now() }));
  await reads(of);
  assert.deepEqual([(await stateNow()).entries, await open()], [3, undefined]);
  publishes({ ...BASE, UK9: 'Miriam NJOROGE' }, '01/10/2026');
  await reads(of);
  assert.equal((await stateNow()).entries, 4, 'an added entry waits');
});
