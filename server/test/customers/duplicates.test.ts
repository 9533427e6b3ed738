/** The same document under another customer, and the name of an account's holder compared with the customer's. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Tx } from '../../src/base/db.ts';
import { checkHandlers, closeCases, listCases, screenOwn } from '../../src/compliance/index.ts';
import {
  addFiatAccount,
  CHECK_VERIFICATION,
  comparedAccounts,
  enroll,
  eraseCustomerRows,
  findCustomer,
  givenDetails,
  sameDocument,
  saveDetails,
} from '../../src/customers/index.ts';
import { createPartner, type Partner } from '../../src/partners/index.ts';
import { newPhone } from '../support/client.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';

let fixture: Fixture;
let [mine, theirs]: Partner[] = [];
let checks: (customerId: string) => Promise<void>;
const now = () => fixture.clock.now();
const asSystem = <T>(work: (tx: Tx) => Promise<T>) => fixture.db.asSystem(work);

before(async () => {
  fixture = await freshFixture();
  const partner = (name: string) => asSystem((tx) => createPartner(tx, { name, now: now(), tradeLevel: 1 }));
  mine = await partner('Mine');
  theirs = await partner('Theirs');
  const finding = async () => ({ outcome: 'in_review' as const, level: 0, pending: { callsBack: true } });
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
const others = (id: string) => asSystem((tx) => sameDocument(tx, fixture.vault, id));
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
  assert.deepEqual([told?.facts, more], [{ others: [first] }, []]);
  await asSystem((tx) =>
    closeCases(tx, { kind: 'identity_duplicate', subject: `customer:${second}`, outcome: 'twins', now: now() }),
  );
  await checks(second);
  assert.deepEqual(await cases(second), []);
  const third = await gives({ identityNumber: number });
  await checks(second);
  assert.deepEqual((await cases(second))[0]?.facts, { others: [first, third].toSorted() });
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
