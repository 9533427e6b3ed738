/**
 * Names that come after a comparison with sanctions lists: of originators, in messages of providers, and of the owners of wallets, in
 * declarations of partners. A result of the names of before does not count, whichever commits first.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Tx } from '../../../src/base/db.ts';
import {
  comparedOf,
  decideHit,
  eraseScreenings,
  eraseTravelData,
  listHits,
  openSanctions,
  openTravelRule,
  RULES_VERSION,
  replayDecision,
  type Screening,
  USUAL_THRESHOLD,
} from '../../../src/compliance/index.ts';
import { digestOf, exchangeSql } from '../../../src/compliance/travel-rule/exchange.store.ts';
import { messageContext } from '../../../src/compliance/travel-rule/exchange.ts';
import { declareWallet } from '../../../src/compliance/travel-rule/wallets.ts';
import { findCustomer, saveDetails } from '../../../src/customers/index.ts';
import { type Fixture, freshFixture } from '../../support/fixture.ts';
import { openRows, type Rows } from '../../support/rows.ts';
import { person } from '../../support/trp.ts';

const RAIL = 'evm.test';
let fixture: Fixture;
let rows: Rows;
let dir: string;
const now = () => fixture.clock.now();
const inTx = <T>(work: (tx: Tx) => Promise<T>) => fixture.db.asSystem(work);

before(async () => {
  fixture = await freshFixture();
  rows = await openRows(fixture.adminUrl);
  await rows.cryptoAsset('usdc.test', 'test', '0x01');
  dir = mkdtempSync(join(tmpdir(), 'sanctions-'));
  writeFileSync(
    join(dir, 'uk.xml'),
    `<Designations><Designation><UniqueID>UK1</UniqueID><IndividualEntityShip>Individual</IndividualEntityShip>
      <Names><Name><Name1>Harun Mustafa</Name1><Name6>Khayali</Name6><NameType>Primary Name</NameType></Name></Names>
      </Designation></Designations>`,
  );
  await opened().handlers.refresh_sanctions?.('uk');
});
after(async () => {
  await rows?.close();
  await fixture?.stop();
  if (dir !== undefined) rmSync(dir, { recursive: true });
});

const never = () => assert.fail('this is not used');
const travelRule = () =>
  openTravelRule({
    ...{ db: fixture.db, vault: fixture.vault, clock: fixture.clock, senderOf: never, depositsOf: never, wake: never },
    ...{ payoutOf: never, holdRefused: never, requestRefund: never, isSignedBy: never },
  });

/** @param meanwhile runs once names were read, before their result is stored */
function opened(meanwhile: () => Promise<void> = async () => {}) {
  return openSanctions({
    ...{ db: fixture.db, vault: fixture.vault, clock: fixture.clock, ask: async () => never() },
    sources: [{ list: 'uk', from: join(dir, 'uk.xml') }],
    rules: { version: RULES_VERSION, threshold: USUAL_THRESHOLD },
    maxAgeMs: 86_400_000,
    async payerOf(tx, depositId) {
      const known = await travelRule().originatorsOf(tx, depositId);
      await meanwhile();
      return { ...known, address: `0xsender${depositId}` };
    },
    rails: () => [],
    record: async () => {},
  });
}
type Opened = ReturnType<typeof opened>;

let made = 0;
/** An order with its deposit. */
async function paid() {
  made += 1;
  const target = `0xtarget${made}`;
  const { orderId, partnerId } = await rows.order('usdc.test', RAIL, target);
  const [row] = await rows.query<{ id: string }>(
    `insert into deposits (rail, external_id, asset, units, target, order_id, partner_id, state, reference, seen_at)
     values ($1, $2, 'usdc.test', 1, $3, $4, $5, 'confirmed', '', now()) returning id`,
    [RAIL, `0xhash${made}`, target, orderId, partnerId],
  );
  const depositId = BigInt(row?.id ?? 0);
  const of: Screening = {
    ...{ id: orderId, partnerId, customerId: null, merchantReference: null, fiatAccountId: null, payoutAddress: null },
    depositIds: [depositId],
  };
  return { orderId, partnerId, depositId, of };
}

/** A provider has named an originator, and confirmed it. */
const comes = (orderId: bigint, partnerId: bigint, ...name: [string, string]) =>
  inTx(async (tx) => {
    const key = {
      orderId,
      direction: 'in',
      requestId: `${orderId} ${digestOf(name.join(' ')).toString('hex').slice(0, 8)}`,
    } as const;
    const ivms = { originator: { originatorPersons: [person(...name)] } };
    const message = fixture.vault.encrypt(JSON.stringify({ url: '', body: '', ivms }), messageContext(key));
    await tx.run(exchangeSql.insert, [
      ...['in', orderId, 'rows_1', partnerId, 'trp', 'a.example', key.requestId, RAIL, '0x', 'usdc.test', 1n],
      ...[digestOf(key.requestId), 'approved', message, null, now()],
    ]);
    await tx.run('update travel_exchanges set told_at = $2 where order_id = $1', [orderId, now()]);
    await tx.run(exchangeSql.noteOriginators, [orderId]);
  });

const waits = async (sanctions: Opened, of: Screening) => (await inTx((tx) => sanctions.wait(tx, of)))?.cause;
const found = async (sanctions: Opened, of: Screening) =>
  (await inTx((tx) => sanctions.read(tx, of))).hits.map(({ rule }) => rule);
const noted = async (subject: string) =>
  (await inTx((tx) => tx.rows('select from names_to_compare where subject = $1', [subject]))).length;
const openHits = async (subject: string) =>
  (await inTx((tx) => listHits(tx, { state: 'open', after: 0n, limit: 100 }))).filter((hit) => hit.subject === subject);
const screens = async (sanctions: Opened) => {
  while ((await sanctions.handlers.screen_names?.('all'))?.againInMs === 0);
};

test('a message that commits while its payer is compared outdates that result, and its names are compared although nothing leaves', async () => {
  const { orderId, partnerId, depositId, of } = await paid();
  let hasCome = false;
  const during = opened(async () => {
    if (hasCome) return;
    hasCome = true;
    await comes(orderId, partnerId, 'Harun', 'Khayali');
  });
  await during.ensure(of);
  assert.ok(hasCome);
  const calm = opened();
  assert.deepEqual([await waits(calm, of), await found(calm, of)], ['screening', []]);
  await screens(calm);
  assert.deepEqual([await waits(calm, of), await found(calm, of)], [undefined, ['sanctions_undecided']]);
  assert.equal(await noted(`payer:${depositId}`), 0);
  const [hit] = await openHits(`payer:${depositId}`);
  assert.equal((await replayDecision(fixture, { kind: 'names', id: hit?.screening ?? 0n })).outcome, 'same');
});

test('each message outdates the result, and of a deposit that becomes another order’s the originators of its address count', async () => {
  const sanctions = opened();
  const [first, other] = [await paid(), await paid()];
  const { orderId, partnerId, depositId, of } = first;
  await sanctions.ensure(of);
  assert.equal(await waits(sanctions, of), undefined);
  for (const name of ['Cordelia', 'Ophelia'] as const) {
    await comes(orderId, partnerId, name, 'Sender');
    assert.equal(await waits(sanctions, of), 'screening', name);
    await sanctions.ensure(of);
    assert.equal(await waits(sanctions, of), undefined, name);
  }
  await rows.query('update deposits set order_id = $2 where id = $1', [depositId, other.orderId]);
  assert.equal(await waits(sanctions, of), undefined, 'it lost its originators');
  await comes(other.orderId, partnerId, 'Harun', 'Khayali');
  await sanctions.ensure(of);
  assert.deepEqual(await found(sanctions, of), ['sanctions_undecided']);
  await screens(sanctions);
  assert.deepEqual([await noted(`payer:${depositId}`), await noted(`payer:${other.depositId}`)], [0, 0]);
});

const ADDRESS = '0x00000000000000000000000000000000000000aa';

/** A customer of this name, and a payout of it to the wallet. */
async function customer(firstName: string, lastName: string) {
  made += 1;
  const id = `walletused_${made}`;
  const { partnerId } = await paid();
  await rows.query(
    `insert into customers (id, partner_id, kind, country, created_at, updated_at) values ($1, $2, 'INDIVIDUAL', 'IN', now(), now())`,
    [id, partnerId],
  );
  await inTx(async (tx) => {
    const details = { firstName, lastName };
    await saveDetails(tx, fixture.vault, { customer: await findCustomer(tx, id), details, now: now() });
  });
  const of: Screening = {
    ...{ id: 1n, partnerId, customerId: id, merchantReference: null, fiatAccountId: null, payoutAddress: ADDRESS },
  };
  const declares = async (ownerName?: string): Promise<string> => {
    await inTx((tx) =>
      declareWallet(tx, fixture.vault, {
        ...{
          customerId: id,
          partnerId,
          rail: RAIL,
          address: ADDRESS,
          kind: 'self_hosted',
          isProven: false,
          now: now(),
        },
        ...(ownerName === undefined ? { owner: 'customer' } : { owner: 'other', ownerName }),
      }),
    );
    const [row] = await rows.query<{ id: string }>('select id from travel_wallets where customer_id = $1', [id]);
    return `wallet:${row?.id}`;
  };
  return { id, of, declares };
}

test('each declaration of another owner is compared before money leaves, and no later one takes a hit away', async () => {
  const sanctions = opened();
  const { of, declares } = await customer('Emma', 'Walletuser');
  await sanctions.ensure(of);
  assert.equal(await waits(sanctions, of), undefined);
  const wallet = await declares('Harun Khayali');
  assert.equal(await waits(sanctions, of), 'screening');
  assert.equal(await waits(sanctions, { ...of, payoutAddress: '0xelsewhere' }), undefined);
  await screens(sanctions);
  assert.deepEqual([await waits(sanctions, of), await found(sanctions, of)], [undefined, ['sanctions_undecided']]);
  const [hit] = await openHits(wallet);
  assert.equal((await replayDecision(fixture, { kind: 'names', id: hit?.screening ?? 0n })).outcome, 'same');
  for (const name of ['Ophelia Sender', undefined]) {
    await declares(name);
    await sanctions.ensure(of);
    assert.deepEqual([await waits(sanctions, of), await found(sanctions, of)], [undefined, ['sanctions_undecided']]);
  }
  await screens(sanctions);
  assert.equal(await noted(wallet), 0);
});

test('that a customer is not the listed person says nothing about another person of that name, whose wallet it uses', async () => {
  const sanctions = opened();
  const { id, of, declares } = await customer('Harun', 'Khayali');
  await sanctions.ensure(of);
  const decide = async (subject: string): Promise<void> => {
    const [hit] = await openHits(subject);
    assert(hit !== undefined, `there is no hit of ${subject}`);
    const outcome = 'false_positive' as const;
    await inTx((tx) => decideHit(tx, { id: hit.id, outcome, people: ['ada', 'bea'], reason: 'r', now: now() }));
  };
  await decide(`customer:${id}`);
  assert.deepEqual(await found(sanctions, of), []);
  const wallet = await declares('Harun Khayali');
  await sanctions.ensure(of);
  assert.deepEqual(await found(sanctions, of), ['sanctions_undecided']);
  await decide(wallet);
  assert.deepEqual(await found(sanctions, of), []);
});

test('an export has the compared owner of a wallet, and an erasure leaves neither its name nor a comparison that waits for it', async () => {
  const sanctions = opened();
  const { id, declares } = await customer('Emma', 'Erasable');
  const wallet = await declares('Harun Khayali');
  await screens(sanctions);
  const { compared } = await inTx((tx) => comparedOf(tx, fixture.vault, { customerId: id, limit: 100 }));
  assert.deepEqual(
    compared.filter(({ subject }) => subject === wallet).map((one) => one.compared),
    [[{ names: ['Harun Khayali'], address: ADDRESS }]],
  );
  const [hit] = await openHits(wallet);
  await declares('Harun Khayali');
  await inTx(async (tx) => {
    await tx.run('update customers set erased_at = $2 where id = $1', [id, now()]);
    await eraseTravelData(tx, id);
    await eraseScreenings(tx, { owners: [`customer:${id}`], now: now() });
  });
  assert.equal((await replayDecision(fixture, { kind: 'names', id: hit?.screening ?? 0n })).outcome, 'inputs_erased');
  await screens(sanctions);
  assert.equal(await noted(wallet), 0);
  const kept = await rows.query('select from name_screenings where subject = $1 and inputs is not null', [wallet]);
  assert.equal(kept.length, 0, 'an erased name was stored again');
});
