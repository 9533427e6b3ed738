/** Payers, and refunds to their accounts: shown only with the right to see them, sent by two people, never to a guessed account. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { parseUnits } from '../../src/base/money.ts';
import { replaceDenyList } from '../../src/compliance/index.ts';
import { addFiatAccount, blockCustomer, findCustomer, saveDetails } from '../../src/customers/index.ts';
import { confirmedBy, type Person, type Said, takes } from '../protocols/operator/people.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Purchase, Story } from '../support/story.ts';

let world: Story;
let ada: Person;
let bea: Person;
let vic: Person;
before(async () => {
  ({ world, ada, bea, vic } = await openStaffedStory({ ada: 'admin', bea: 'admin', vic: 'viewer' }));
});
after(async () => await world?.close());

const NAME = 'Ravi Iyer';
const ACCOUNT = '000987654321';

const depositLike = (where: string, value: string) =>
  world.until(`a deposit with ${where} ${value} lies in suspense`, async () => {
    const [row] = await world.read((tx) =>
      tx.rows<{ id: bigint }>(`select id from deposits where ${where} = $1 and state = 'suspense'`, [value]),
    );
    return row?.id;
  });

/** A credit without a reference of ours. */
async function unknownCredit(amount: string, how: { payerAccount?: string; payerName?: string } = {}): Promise<bigint> {
  const id = await world.bank.creditAccount({
    currency: 'INR',
    units: parseUnits(amount, 2),
    text: 'for the order, thanks',
    payerName: NAME,
    payerAccount: ACCOUNT,
    ...how,
  });
  await world.looksAtTheBank();
  return await depositLike('external_id', id);
}

const agreed = async (said: Said): Promise<number> => (await confirmedBy(bea, said)).status;

describe('the payer of a deposit', () => {
  test('a credit’s payer is shown to authorised operators, from its deposit and from its case, and each read is in the audit', async () => {
    const deposit = await unknownCredit('1200');
    const { cases } = (await ada.reads('/cases?kind=deposit_unknown_target')).body;
    const about = cases.find((one: { subject: string }) => one.subject === `deposit:${deposit}`);
    const payer = { name: NAME, account: ACCOUNT, text: 'for the order, thanks' };

    const plain = await vic.reads(`/deposits/${deposit}`);
    assert.deepEqual([plain.status, plain.body.asset, plain.body.units], [200, 'inr', '1200']);
    assert.doesNotMatch(JSON.stringify([plain.body, about]), /Ravi|987654|thanks/);
    assert.equal((await vic.does(`/deposits/${deposit}/payer`)).body.reason, 'role_missing');

    assert.deepEqual((await ada.does(`/deposits/${deposit}/payer`, { reason: 'to find the payer' })).body.payer, payer);
    const { payers } = (await ada.does(`/cases/${about.id}/payer`, { reason: 'to find the payer' })).body;
    assert.deepEqual(payers, [{ deposit: String(deposit), ...payer }]);
    for (const subject of [`deposit:${deposit}`, `case:${about.id}`]) {
      const { audit } = (await ada.reads(`/audit?subject=${subject}`)).body;
      assert.deepEqual([audit.length, audit[0].operator, audit[0].outcome], [1, 'ada', 'done']);
      assert.doesNotMatch(JSON.stringify(audit), /Ravi|987654/);
    }
  });

  test('coins show the address that they came from', async () => {
    const order = await world.sells('10', 'usdc');
    await world.pays(order, '10');
    await world.mines(2);
    await world.reaches(order, 6);
    const [deposit] = (await world.traceOf(order)).deposits;
    const { payer } = (await ada.does(`/deposits/${deposit?.id}/payer`)).body;
    assert.deepEqual(Object.keys(payer), ['address']);
    assert.match(payer.address, /^0x[0-9a-f]{40}$/i);
  });
});

describe('a credit goes back', () => {
  test('to the account that it came from, when two agree, and the books balance', async () => {
    const deposit = await unknownCredit('900');
    assert.equal(await agreed(await ada.does(`/deposits/${deposit}/return`, { reason: 'nobody knows it' })), 200);
    const paid = await world.until('the bank has paid it back', async () => {
      const { refunds } = (await ada.reads(`/deposits/${deposit}`)).body;
      return refunds[0]?.state === 'settled' ? await world.bank.payments(`ref_${refunds[0].id}_1`) : undefined;
    });
    assert.deepEqual(
      paid.map(({ account, name, units }) => ({ account, name, units })),
      [{ account: ACCOUNT, name: NAME, units: 90_000n }],
    );
    const { cases } = (await ada.reads('/cases?kind=deposit_unknown_target')).body;
    assert.equal(
      cases.some((one: { subject: string }) => one.subject === `deposit:${deposit}`),
      false,
    );
  });

  test('only if the statement shows an account, and only by two operators', async () => {
    const nameless = await unknownCredit('800', { payerAccount: '' });
    const said = await ada.does(`/deposits/${nameless}/return`);
    assert.deepEqual([said.status, said.body.reason], [409, 'does_not_fit']);
    assert.match(said.body.error, /no account/);
    const deposit = await unknownCredit('700');
    const { proposal } = (await ada.does(`/deposits/${deposit}/return`)).body;
    assert.equal((await ada.does(`/proposals/${proposal}/confirm`)).body.reason, 'own_proposal');
    assert.deepEqual((await ada.reads(`/deposits/${deposit}`)).body.refunds, []);
  });

  test('the account of one deposit is no destination for another', async () => {
    const [one, other] = [await unknownCredit('600'), await unknownCredit('500', { payerAccount: '000111222999' })];
    await ada.does(`/deposits/${one}/return`);
    const [account] = await world.read((tx) =>
      tx.rows<{ id: bigint }>('select id from fiat_accounts where sender_of = $1', [one]),
    );
    const said = await ada.does(`/deposits/${other}/refund`, { fiatAccountId: String(account?.id) });
    assert.equal(await agreed(said).catch(() => said.status), 404);
    assert.deepEqual((await ada.reads(`/deposits/${other}`)).body.refunds, []);
  });
});

describe('crypto goes back', () => {
  test('to an address that the sending key signs for, and to no other by that signature; never to the sender by itself', async () => {
    const sender = privateKeyToAccount(generatePrivateKey());
    const order = await world.sells('10', 'usdc');
    await world.pays(order, '10');
    await world.mines(2);
    await world.reaches(order, 6);
    await world.pays(order, '25');
    await world.mines(2);
    const deposit = await depositLike('order_id::text', String(order.id));
    const { payer } = (await ada.does(`/deposits/${deposit}/payer`)).body;
    const target = world.newAddress();

    const back = await ada.does(`/deposits/${deposit}/refund`, { address: payer.address });
    assert.equal(back.status, 400);
    assert.match(back.body.fields.address, /proven by its owner/);

    assert.equal((await ada.does(`/deposits/${deposit}/return`)).body.reason, 'missing_fields');
    const { text } = (await vic.reads(`/deposits/${deposit}/return-text?address=${target}`)).body;
    const forged = await sender.signMessage({ message: text });
    const wrong = await ada.does(`/deposits/${deposit}/return`, { address: target, signature: forged });
    assert.deepEqual([wrong.status, Object.keys(wrong.body.fields)], [400, ['signature']]);

    const signature = await world.signsAsPayer(text);
    const elsewhere = await ada.does(`/deposits/${deposit}/return`, { address: world.newAddress(), signature });
    assert.equal(elsewhere.status, 400);
    assert.equal(await agreed(await ada.does(`/deposits/${deposit}/return`, { address: target, signature })), 200);
    await world.until('the refund is with the node', async () => {
      const { payouts } = await world.traceOf(order);
      return payouts.some(({ purpose, submittedAt }) => purpose === 'refund' && submittedAt !== null);
    });
    await world.mines(2);
    await world.until('the refund is settled', async () => {
      const { refunds } = (await ada.reads(`/deposits/${deposit}`)).body;
      return refunds[0]?.state === 'settled' && refunds[0].address === target;
    });
  });
});

test('a deposit that an order holds cannot be returned as money in suspense, and no proposal is created for it', async () => {
  const order = await world.buys('5000', 'usdc', { reference: 'screen:hold' });
  await world.credits(order, '5000', { name: NAME });
  await world.until('it is held', async () => (await world.stateOf(order)) === 'on_hold');
  const [deposit] = (await world.traceOf(order)).deposits;
  const said = await ada.does(`/deposits/${deposit?.id}/return`, { reason: 'somebody else has paid' });
  assert.deepEqual([said.status, said.body.proposal], [409, undefined], JSON.stringify(said.body));
  assert.match(said.body.error, /none of it is in suspense/);
});

describe('a credit in another name that its order holds goes back to the account that it came from', () => {
  // These rules would let one operator do it alone.
  before(async () => {
    await world.read(async (tx) => {
      for (const action of ['order.refund', 'order.retry-refund', 'destination.new']) await takes(tx, 1, { action });
    });
  });

  type Payer = { name?: string; account?: string };

  async function ordered(): Promise<Purchase> {
    const customer = await world.verifiedCustomer();
    const details = { firstName: 'Asha', firstSurname: 'Rao', secondSurname: 'Menon' };
    await world.read(async (tx) => {
      const known = await findCustomer(tx, customer.id);
      await saveDetails(tx, world.vault, { customer: known, details, now: world.clock.now() });
    });
    return await world.buys('5000', 'usdc', { customer });
  }
  async function credited(order: Purchase, amount: string, { name = NAME, account = ACCOUNT }: Payer = {}) {
    const credit = { currency: 'INR' as const, units: parseUnits(amount, 2), text: order.reference };
    await world.bank.creditAccount({ ...credit, payerName: name, payerAccount: account });
    await world.looksAtTheBank();
  }
  async function held(payer?: Payer): Promise<Purchase> {
    const order = await ordered();
    await credited(order, '5000', payer);
    await world.until('it is held', async () => (await world.stateOf(order)) === 'on_hold');
    return order;
  }
  const refunds = (order: Purchase, more: Record<string, unknown> = {}) =>
    ada.does(`/orders/${order.id}/refund`, { failure: 'name', toSender: true, reason: 'another payer', ...more });
  const depositOf = async (order: Purchase) => (await world.traceOf(order)).deposits[0]?.id;

  test('when two agree, whatever a rule says, and the books balance', async () => {
    const order = await held();
    const said = await refunds(order);
    assert.deepEqual([said.status, said.body.people], [202, 2], JSON.stringify(said.body));
    const { proposal } = said.body;
    assert.equal((await ada.does(`/proposals/${proposal}/confirm`)).body.reason, 'own_proposal');
    assert.equal(await world.stateOf(order), 'on_hold');
    const shown = (await bea.reads('/proposals')).body.proposals.find(({ id }: { id: string }) => id === proposal);
    assert.equal(shown.seen?.goesTo?.senderOf, String(await depositOf(order)), JSON.stringify(shown));
    assert.equal((await bea.does(`/proposals/${proposal}/confirm`)).status, 200);
    await world.until('it is back', async () => (await world.stateOf(order)) === 'refunded');
    const [refund] = (await world.traceOf(order)).refunds;
    const paid = await world.bank.payments(`ref_${refund?.id}_1`);
    assert.deepEqual(
      paid.map(({ account, name, units }) => ({ account, name, units })),
      [{ account: ACCOUNT, name: NAME, units: 500_000n }],
    );
    assert.deepEqual([await world.openCaseKinds(order), await world.statusOf(order)], [[], -3]);
    await world.reconciles();
  });

  test('once it is screened: a hit passes only if two people say so', async () => {
    const account = '000555444333';
    const order = await held({ account });
    const lists = (value: string) => ({
      ...{ list: 'sanctions', version: '2026-11-02', now: world.clock.now() },
      destinations: [{ kind: 'account' as const, value }],
    });
    await world.read((tx) => replaceDenyList(tx, world.vault, lists(account)));
    const said = await refunds(order);
    assert.equal(said.status, 202, JSON.stringify(said.body));
    const done = await bea.does(`/proposals/${said.body.proposal}/confirm`);
    assert.deepEqual([done.status, done.body.reason], [409, 'destination_held'], JSON.stringify(done.body));
    assert.deepEqual([await world.stateOf(order), await world.openCaseKinds(order)], ['on_hold', ['on_hold']]);
    assert.equal(await agreed(await refunds(order, { pastHits: true })), 200);
    await world.until('it is back', async () => (await world.stateOf(order)) === 'refunded');
    await world.read((tx) => replaceDenyList(tx, world.vault, lists('000000000009')));
  });

  test('to an account that a blocked customer has, only if two people say so', async () => {
    const account = '000333222111';
    const customerId = (await world.verifiedCustomer()).id;
    await world.read(async (tx) => {
      const [customer, details] = [await findCustomer(tx, customerId), { account, ifsc: 'SIMB0000001', name: NAME }];
      await addFiatAccount(tx, world.vault, { customer, fiat: 'inr', details, now: world.clock.now() });
      await blockCustomer(tx, customerId, world.clock.now());
    });
    const order = await held({ account });
    const kept = await bea.does(`/proposals/${(await refunds(order)).body.proposal}/confirm`);
    assert.deepEqual([kept.status, kept.body.reason], [409, 'destination_held'], JSON.stringify(kept.body));
    assert.equal(await agreed(await refunds(order, { pastHits: true })), 200);
    await world.until('it is back', async () => (await world.stateOf(order)) === 'refunded');
    await world.reconciles();
  });

  test('on a retry after the bank has rejected it, by two people as well', async () => {
    const order = await held({ account: '000123459001' });
    assert.equal(await agreed(await refunds(order)), 200);
    await world.until('the bank rejects it', async () => (await world.stateOf(order)) === 'refund_held');
    const again = await ada.does(`/orders/${order.id}/retry-refund`);
    assert.deepEqual([again.status, again.body.people], [202, 2], JSON.stringify(again.body));
    assert.equal(await agreed(again), 200);
    await world.until('the bank rejects it once more', async () => {
      const trace = await world.traceOf(order);
      return trace.order.state === 'refund_held' && trace.refunds[0]?.attempt === 2;
    });
    const { fiatAccountId } = await world.verifiedAccount(order.customerId);
    const own = await ada.does(`/orders/${order.id}/retry-refund`, { fiatAccountId });
    assert.equal(own.status, 200, 'a retry to an account of the customer did not follow the rules');
    await world.until('it is back', async () => (await world.stateOf(order)) === 'refunded');
  });

  test('on a retry past a hit that was found after the bank had rejected it', async () => {
    const account = '000123469001';
    const order = await held({ account });
    assert.equal(await agreed(await refunds(order)), 200);
    await world.until('the bank rejects it', async () => (await world.stateOf(order)) === 'refund_held');
    const list = (value: string) =>
      world.read((tx) =>
        replaceDenyList(tx, world.vault, {
          ...{ list: 'sanctions', version: '2026-11-03', now: world.clock.now() },
          destinations: [{ kind: 'account', value }],
        }),
      );
    await list(account);
    const retries = (more: Record<string, unknown>) => ada.does(`/orders/${order.id}/retry-refund`, more);
    const kept = await bea.does(`/proposals/${(await retries({ toSender: true })).body.proposal}/confirm`);
    assert.deepEqual([kept.status, kept.body.reason], [409, 'destination_held']);
    const past = await retries({ toSender: true, pastHits: true });
    assert.ok(past.body.people >= 2, JSON.stringify(past.body));
    assert.equal(await agreed(past), 200);
    await world.until('the bank rejects it once more', async () => {
      const trace = await world.traceOf(order);
      return trace.order.state === 'refund_held' && trace.refunds[0]?.attempt === 2;
    });
    await list('000000000009');
  });

  test('only for a single credit, with an account on the statement, and without another destination', async () => {
    const parts = await ordered();
    await credited(parts, '2500', { name: 'Asha Rao Menon' });
    await credited(parts, '2500', { account: '000111222333' });
    await world.until('it is held', async () => (await world.stateOf(parts)) === 'on_hold');
    const of = async (order: Purchase, more = {}) => {
      const { status, body } = await refunds(order, more);
      return [status, body.reason, body.error ?? JSON.stringify(body.fields)];
    };
    const [status, reason, why] = await of(parts);
    assert.deepEqual([status, reason], [409, 'does_not_fit']);
    assert.match(why, /2 deposits/);
    const nameless = await of(await held({ account: '' }));
    assert.deepEqual(nameless.slice(0, 2), [409, 'does_not_fit']);
    assert.match(nameless[2], /no account/);

    const order = await held();
    const { fiatAccountId } = await world.verifiedAccount(order.customerId);
    const both = await refunds(order, { fiatAccountId });
    assert.deepEqual([both.status, Object.keys(both.body.fields)], [400, ['toSender']]);
    const unpaid = await of(await ordered());
    assert.equal(unpaid[0], 409);
  });

  test('not for crypto', async () => {
    const order = await world.sells('10', 'usdc', { reference: 'screen:hold' });
    await world.pays(order, '10');
    await world.mines(2);
    await world.reaches(order, 3);
    const said = await ada.does(`/orders/${order.id}/refund`, { failure: 'other', toSender: true });
    assert.deepEqual([said.status, said.body.reason], [409, 'does_not_fit']);
    assert.match(said.body.error, /coins go back to an address that their sender proves/);
  });

  test('and neither a partner nor an operator can name that account as a destination', async () => {
    const order = await held();
    await refunds(order);
    const deposit = await depositOf(order);
    const [account] = await world.read((tx) =>
      tx.rows<{ id: bigint }>('select id from fiat_accounts where sender_of = $1', [deposit]),
    );
    const fiatAccountId = String(account?.id);
    const named = await ada.does(`/orders/${order.id}/refund`, { failure: 'name', fiatAccountId });
    assert.deepEqual([named.status, named.body.reason], [404, 'unknown_account']);
    const partner = await world.partner.put('onramp/refundDestination', {
      ...{ customerId: order.customerId, transactionId: String(order.id), fiatAccountId },
    });
    assert.equal(partner.body.reason, 'unknown_account');
    assert.equal(await world.stateOf(order), 'on_hold');
  });
});
