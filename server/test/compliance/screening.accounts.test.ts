/**
 * Whose account is paid decides who is looked for: the other customers with a customer's own account, at the same partner, or the
 * blocked owners of the account that a credit came from. Neither is found twice.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Tx } from '../../src/base/db.ts';
import { screenOwn } from '../../src/compliance/index.ts';
import { addFiatAccount, blockCustomer, enroll, keepSenderAccount } from '../../src/customers/index.ts';
import { createPartner } from '../../src/partners/index.ts';
import { newPhone } from '../support/client.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { openRows, type Rows } from '../support/rows.ts';

let fixture: Fixture;
let rows: Rows;
let partnerId: bigint;
const now = () => fixture.clock.now();
const asSystem = <T>(work: (tx: Tx) => Promise<T>) => fixture.db.asSystem(work);

before(async () => {
  fixture = await freshFixture();
  rows = await openRows(fixture.adminUrl);
  await rows.query("insert into assets (code, kind, coin, decimals) values ('inr', 'fiat', 'inr', 2)");
  partnerId = (await asSystem((tx) => createPartner(tx, { name: 'Of both', now: now(), tradeLevel: 1 }))).id;
});
after(async () => {
  await rows?.close();
  await fixture?.stop();
});

const ACCOUNT = { account: '900712345678', ifsc: 'SIMB0000001', name: 'Asha Rao' };

/** A customer of the partner with ACCOUNT. */
const owns = () =>
  fixture.db.asPartner(partnerId, async (tx) => {
    const asked = { partnerId, clientCustomerId: newPhone(), phone: newPhone(), kind: 'INDIVIDUAL' as const };
    const customer = await enroll(tx, fixture.vault, { ...asked, now: now() });
    const account = await addFiatAccount(tx, fixture.vault, { customer, fiat: 'inr', details: ACCOUNT, now: now() });
    return { customerId: customer.id, fiatAccountId: account.id };
  });

const rulesFor = (customerId: string, fiatAccountId: bigint): Promise<string[]> =>
  asSystem(async (tx) => {
    const of = { id: 1n, partnerId, customerId, merchantReference: null, payoutAddress: null, depositIds: [] };
    const asked = { ...of, purpose: 'refund' as const, fiatAccountId, rail: 'bank.simulated' };
    return (await screenOwn(tx, fixture.vault, asked)).hits.map(({ rule }) => rule);
  });

test("another owner who is blocked is found once: as one of a customer's own account, or of a credit's", async () => {
  const [paid, other] = [await owns(), await owns()];
  const [deposit] = await rows.query<{ id: string }>(
    `insert into deposits (rail, external_id, asset, units, target, state, reference, seen_at)
     values ('bank.simulated', 'a credit', 'inr', 500, '', 'suspense', '', now()) returning id::text`,
  );
  const credit = { depositId: BigInt(deposit?.id ?? 0), fiat: 'inr', details: ACCOUNT, now: now() };
  const sender = await asSystem((tx) => keepSenderAccount(tx, fixture.vault, credit));
  const found = async () => [
    await rulesFor(paid.customerId, paid.fiatAccountId),
    await rulesFor(paid.customerId, sender),
  ];
  assert.deepEqual(await found(), [[], []]);
  await asSystem((tx) => blockCustomer(tx, other.customerId, now()));
  assert.deepEqual(await found(), [['account_of_blocked'], ['sender_blocked']]);
});
