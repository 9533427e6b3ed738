/** The same document under another customer, and the name of an account's holder compared with the customer's. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { openFolder } from '../../src/base/blobs.ts';
import { openVault } from '../../src/base/crypto.ts';
import type { Tx } from '../../src/base/db.ts';
import { checkHandlers, closeCases, listCases, screenOwn } from '../../src/compliance/index.ts';
import {
  addFiatAccount,
  blockCustomer,
  blockedTwins,
  CHECK_VERIFICATION,
  comparedAccounts,
  customerKey,
  enroll,
  eraseCustomerRows,
  findCustomer,
  givenDetails,
  inspectFiles,
  keepReadNumbers,
  openCompared,
  sameDocument,
  saveDetails,
  storeFiles,
  submit,
} from '../../src/customers/index.ts';
import { createPartner, type Partner } from '../../src/partners/index.ts';
import { newPhone } from '../support/client.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { freshFolder } from '../support/folder.ts';
import { jpeg } from '../support/pictures.ts';

let fixture: Fixture;
let [mine, theirs]: Partner[] = [];
let checks: (customerId: string) => Promise<void>;
/** What the verifier has read. */
let read: { outcome: 'verified'; level: number; documentNumbers: string[] } | undefined;
const blobs = openFolder(freshFolder('duplicates'));
const now = () => fixture.clock.now();
const asSystem = <T>(work: (tx: Tx) => Promise<T>) => fixture.db.asSystem(work);

before(async () => {
  fixture = await freshFixture();
  const partner = (name: string) => asSystem((tx) => createPartner(tx, { name, now: now(), tradeLevel: 1 }));
  mine = await partner('Mine');
  theirs = await partner('Theirs');
  const finding = async () => read ?? { outcome: 'in_review' as const, level: 0, pending: { callsBack: true } };
  const verifier = { code: 'manual', highestLevel: 4, begin: async () => ({ pageUrl: undefined }), finding };
  const jobs = checkHandlers({ ...fixture, verifier, overdueMs: 86_400_000 });
  checks = async (customerId) => void (await jobs[CHECK_VERIFICATION]?.(customerId));
});
after(() => fixture?.stop());

async function gives(details: Record<string, string>, partner = mine as Partner, id?: string): Promise<string> {
  const asked = { partnerId: partner.id, clientCustomerId: `c-${newPhone()}`, phone: newPhone(), kind: 'INDIVIDUAL' };
  return await fixture.db.asPartner(partner.id, async (tx) => {
    const customer =
      id === undefined
        ? await enroll(tx, fixture.vault, { ...asked, now: now() } as Parameters<typeof enroll>[2])
        : await findCustomer(tx, id);
    const over = await givenDetails(tx, customer.id);
    await saveDetails(tx, fixture.vault, { customer, details, over, now: now() });
    return customer.id;
  });
}
const same = (id: string, vault = fixture.vault) => asSystem((tx) => sameDocument(tx, vault, id));
const others = async (id: string) => (await same(id)).map(({ customerId }) => customerId);
const cases = async (id: string) =>
  (await asSystem((tx) => listCases(tx, { open: true, kind: 'identity_duplicate', limit: 100 }))).filter(
    ({ subject }) => subject === `customer:${id}`,
  );

test('a number in another spelling is the same document, for one partner and not across partners', async () => {
  const first = await gives({ firstName: 'Asha', identityNumber: 'ABCDE 1234-f' });
  const second = await gives({ firstName: 'Usha', identityNumber: 'abcde1234F' });
  const third = await gives({ firstName: 'Usha', identityNumber: 'ABCDE1234F' }, theirs);
  const short = [await gives({ identityNumber: '0000' }), await gives({ identityNumber: '0000' })];
  assert.deepEqual([await others(first), await others(second), await others(third)], [[second], [first], []]);
  for (const id of short) assert.deepEqual(await others(id), [], 'four characters counted as a document number');
});

test('the case names the others, stays closed for the same ones, and opens again for another', async () => {
  const number = 'K1234567';
  const [first, second] = [await gives({ identityNumber: number }), await gives({ identityNumber: number })];
  await checks(second);
  await checks(second);
  const [told, ...more] = await cases(second);
  assert.deepEqual([told?.facts, more], [{ others: [first], by: ['number'] }, []]);
  await asSystem((tx) =>
    closeCases(tx, { kind: 'identity_duplicate', subject: `customer:${second}`, outcome: 'twins', now: now() }),
  );
  await checks(second);
  assert.deepEqual(await cases(second), []);
  const third = await gives({ identityNumber: number });
  await checks(second);
  assert.deepEqual((await cases(second))[0]?.facts, { others: [first, third].toSorted(), by: ['number'] });
});

const FORM = {
  proof: { label: 'Proof of address', required: 0, type: 'file' },
  documents: { 3: { idName: 'Passport', files: ['passport.jpg', 'selfie.jpg'] } },
} as const;
const picture = () => jpeg({ more: [[0xfe, randomBytes(8)]] });

/** Sends files in these slots, as a part of a submission. */
async function sends(id: string, files: Record<string, Buffer>, partner = mine as Partner): Promise<void> {
  const { vault } = fixture;
  const parts = Object.entries(files).map(([name, content]) => ({ names: [name], content }));
  const inspected = await inspectFiles(FORM, parts, { id, partnerId: partner.id });
  await fixture.db.asPartner(partner.id, async (tx) => {
    const key = await customerKey(tx, vault, { id, partnerId: partner.id }, now());
    const stored = await storeFiles(blobs, vault, { customerId: id, key, files: inspected });
    const given = { answers: {}, files: stored };
    const form = { id: null, version: 1, form: FORM, needsDocument: true };
    await submit(tx, vault, { customerId: id, form, given, inParts: true, now: now() });
  });
}

test('the same file of a document is found for one partner, and the customer’s own file sent again is not', async () => {
  const passport = picture();
  const [first, second, third] = [await gives({}), await gives({}), await gives({}, theirs)];
  await sends(first, { 'passport.jpg': passport });
  await sends(first, { 'passport.jpg': passport, 'selfie.jpg': picture() });
  await checks(first);
  assert.deepEqual([await same(first), await cases(first)], [[], []]);
  await sends(third, { 'passport.jpg': passport }, theirs);
  await sends(second, { 'selfie.jpg': passport });
  await checks(second);
  assert.deepEqual(await same(third), [], 'another partner’s customer was found');
  assert.deepEqual(await same(second), [{ customerId: first, by: ['file'] }]);
  const [told] = await cases(second);
  assert.deepEqual(told?.facts, { others: [first], by: ['file'] });
  assert.match(told?.reason ?? '', /^the same document file as another customer$/);

  // Between one master key and the next, both are found.
  const next = openVault(randomBytes(32), createHash('sha256').update('a master key for tests').digest());
  assert.deepEqual(await same(second, next), [{ customerId: first, by: ['file'] }]);
  await asSystem((tx) => eraseCustomerRows(tx, { customerId: first, deposits: [], now: now() }));
  assert.deepEqual(await same(second), []);
  const rows = await asSystem((tx) => tx.rows('select from compared_documents where customer_id = $1', [first]));
  assert.deepEqual(rows, []);
});

test('a proof of address is no identity document: two of one household may send the same', async () => {
  const bill = picture();
  const [first, second] = [await gives({}), await gives({})];
  for (const id of [first, second]) await sends(id, { proof: bill });
  assert.deepEqual([await same(first), await same(second)], [[], []]);
});

test('a number that a verifier read is found beside typed and read ones, and opens a case for what is newly the same', async () => {
  const number = 'R7654321';
  const [typed, first, second] = [await gives({ identityNumber: number }), await gives({}), await gives({})];
  read = { outcome: 'verified', level: 1, documentNumbers: ['r 765-4321', '12'] };
  for (const id of [first, second]) await checks(id);
  read = undefined;
  const twins = [typed, first].toSorted();
  assert.deepEqual(
    await same(second),
    twins.map((customerId) => ({ customerId, by: ['number'] })),
  );
  assert.deepEqual(await others(typed), [first, second].toSorted());
  assert.deepEqual((await cases(second))[0]?.facts, { others: twins, by: ['number'] });
  assert.equal((await cases(first))[0]?.reason, 'the same document number as another customer');

  const closes = () =>
    asSystem((tx) =>
      closeCases(tx, { kind: 'identity_duplicate', subject: `customer:${second}`, outcome: 'twins', now: now() }),
    );
  await closes();
  await checks(second);
  assert.deepEqual(await cases(second), []);
  const passport = picture();
  for (const id of [first, second]) await sends(id, { 'passport.jpg': passport });
  await checks(second);
  assert.deepEqual((await cases(second))[0]?.facts, { others: twins, by: ['file', 'number'] });

  // Its money is held while another with the number is blocked, and not for a file.
  const [third, fourth] = [await gives({}), await gives({})];
  for (const id of [third, fourth]) await sends(id, { 'selfie.jpg': passport });
  for (const id of [typed, third]) await asSystem((tx) => blockCustomer(tx, id, now()));
  const blocked = async (customerId: string) =>
    (await asSystem((tx) => blockedTwins(tx, fixture.vault, { customerId, partnerId: null }))).map((one) => [
      one.customerId,
      one.by,
    ]);
  assert.deepEqual(await blocked(second), [[typed, 'document']]);
  assert.deepEqual(await blocked(fourth), []);
});

test('a number that was read for details of before, or for an erased customer, is not stored', async () => {
  const id = await gives({ firstName: 'Asha' });
  const customer = { id, partnerId: (mine as Partner).id };
  const kept = async () => await asSystem((tx) => openCompared(tx, fixture.vault, id));
  const reads = (version: number) =>
    asSystem((tx) => keepReadNumbers(tx, fixture.vault, { customer, version, numbers: ['N1234567'], now: now() }));
  await gives({ firstName: 'Usha' }, mine, id);
  await reads(1);
  assert.deepEqual(await kept(), []);
  await reads(2);
  assert.deepEqual(await kept(), [{ kind: 'number', value: 'N1234567' }]);
  await asSystem((tx) => eraseCustomerRows(tx, { customerId: id, deposits: [], now: now() }));
  await reads(2);
  assert.deepEqual(await kept(), []);
});

test('a corrected number and an erased customer are no duplicates', async () => {
  const number = 'ZZ998877';
  const [first, second] = [await gives({ identityNumber: number }), await gives({ identityNumber: number })];
  const third = await gives({ identityNumber: number });
  await gives({ identityNumber: 'ZZ998878' }, mine, second);
  assert.deepEqual(await others(first), [third]);
  await asSystem((tx) => eraseCustomerRows(tx, { customerId: third, deposits: [], now: now() }));
  assert.deepEqual(await others(first), []);
});

test('a payout to another holder’s account is held if the operator requires it, and by default not', async () => {
  await asSystem((tx) =>
    tx.run(
      `insert into assets (code, kind, coin, decimals) values ('inr', 'fiat', 'inr', 2) on conflict do nothing`,
      [],
    ),
  );
  const id = await gives({ firstName: 'Asha', lastName: 'Rao' });
  const nameless = await gives({ identityNumber: 'NAMELESS1' });
  const account = async (customerId: string, accountHolder?: string) =>
    await asSystem(async (tx) => {
      const details = {
        account: `${newPhone()}`.replace('+', ''),
        ifsc: 'HDFC0000001',
        ...(accountHolder && { accountHolder }),
      };
      const customer = await findCustomer(tx, customerId);
      return (await addFiatAccount(tx, fixture.vault, { customer, fiat: 'inr' as never, details, now: now() })).id;
    });
  const hits = async (customerId: string, fiatAccountId: bigint, rules = {}, purpose: 'payout' | 'refund' = 'payout') =>
    await asSystem(async (tx) => {
      const ids = { id: 1n, partnerId: (mine as Partner).id, merchantReference: null, payoutAddress: null };
      const { hits: found } = await screenOwn(
        tx,
        fixture.vault,
        { ...ids, customerId, fiatAccountId, purpose },
        undefined,
        rules,
      );
      return found.map(({ rule, entry }) => `${rule} ${entry}`);
    });
  const hold = { accountNames: 'hold' } as const;
  const [own, spelled, other, none, of] = [
    await account(id, 'ASHA RAO'),
    await account(id, 'Rao, Asha D.'),
    await account(id, 'Ravi Kumar'),
    await account(id),
    await account(nameless, 'Ravi Kumar'),
  ];
  for (const fine of [own, spelled, none]) assert.deepEqual(await hits(id, fine, hold), []);
  assert.deepEqual(await hits(id, other, hold), [`account_name_differs account ${other}, score 0`]);
  assert.deepEqual(await hits(nameless, of, hold), [`account_name_differs account ${of}, score none`]);
  assert.deepEqual(await hits(id, other), []);
  assert.deepEqual(await hits(id, other, hold, 'refund'), []);

  // Operators see the same from the moment in which an account is added, whatever the setting.
  const seen = async (customerId: string) =>
    (await asSystem((tx) => comparedAccounts(tx, fixture.vault, customerId))).map(
      ({ holder }) => holder?.match ?? null,
    );
  assert.deepEqual([await seen(id), await seen(nameless)], [['same', 'same', 'other', null], ['unknown']]);
});
