/** The guard of the simulation gets each violation that it has to find, alone, and a submission without violations. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { against, CLEARING_MS, openGuard, type Submission, type Truth } from './guard.ts';

const SHOWN_AT = 1_000_000;
const SALE: Submission = {
  id: 'pay_1_1',
  at: SHOWN_AT,
  order_id: '1',
  refund_id: null,
  purpose: 'payout',
  rail: 'bank.simulated',
  asset: 'inr',
  units: '800',
  address: null,
  fiat_account_id: '5',
  deposit_units: '100000000',
  payout_units: '800',
  deposit_rail: 'evm.matic20',
  follows: null,
  blocked_at: null,
  limit_units: null,
  switched_off: false,
  deposits: [
    { name: '0xa:0', rail: 'evm.matic20', units: '60000000', state: 'applied', origin: 'rail', taken: '60000000' },
    { name: '0xb:0', rail: 'evm.matic20', units: '40000000', state: 'applied', origin: 'rail', taken: '40000000' },
  ],
  approvals: [],
};
const credit = { name: 'line-1', rail: 'bank.simulated', units: '500', state: 'suspense', origin: 'rail', taken: '0' };
const SMALL = {
  name: '0xa:0',
  rail: 'evm.matic20',
  units: '60000000',
  state: 'applied',
  origin: 'rail',
  taken: '60000000',
};
const REFUND: Submission = {
  ...SALE,
  id: 'ref_9_1',
  refund_id: '9',
  purpose: 'refund',
  units: '500',
  deposits: [credit],
};
const TO_ADDRESS: Submission = {
  ...REFUND,
  rail: 'evm.matic20',
  asset: 'usdc',
  address: '0xelse',
  fiat_account_id: null,
};

const truth = (says: Partial<Truth> & { held?: boolean } = {}): Truth => ({
  customerOf: () => ({
    named: ['0xown'],
    operators: ['0xelse'],
    accounts: [
      { id: '5', fiat: 'inr' },
      { id: '6', fiat: 'eur' },
    ],
    held: says.held ?? false,
  }),
  firstShown: () => SHOWN_AT,
  deepest: () => 4,
  wasScreened: () => true,
  now: () => SHOWN_AT + CLEARING_MS,
  spreadMs: () => 0,
  ...says,
});

const BLOCKED_AT = '2027-01-04T09:00:00.000Z';
const approval = (rule: string, entry: string, how: Partial<Submission['approvals'][number]> = {}) => ({
  approvals: [
    {
      rule,
      entry,
      destination: 'account:5',
      asset: 'inr',
      units: '800',
      order_id: '1',
      people: ['ada', 'bea'],
      ...how,
    },
  ],
});
const block = (how: Partial<Submission['approvals'][number]> = {}) => ({
  ...SALE,
  blocked_at: BLOCKED_AT,
  ...approval('customer_blocked', how.entry ?? BLOCKED_AT, how),
});

for (const [what, submission, says, seen] of [
  ['a sale as it should be', SALE, {}, undefined],
  ['an order that is being paid out', { ...SALE, order_state: 'paying_out' }, {}, undefined],
  ['an order that a person holds', { ...SALE, order_state: 'payout_held' }, {}, /when its order is payout_held/],
  ['a refund of an order on hold', { ...REFUND, order_state: 'on_hold' }, {}, undefined],
  ['what people have changed of the rules', SALE, { byRules: () => ['is denied'] }, /is denied/],
  ['a kill switch', { ...SALE, switched_off: true }, {}, /kill switch/],
  ['a block by law', { ...REFUND, stopped: true }, {}, /law blocks its order/],
  ['made beside a block by law', { ...SALE, follows: '7', after_block: true }, {}, /beside one that law blocks/],
  ['made before its first was blocked', { ...SALE, follows: '7', after_block: false }, {}, undefined],
  ['a block', { ...SALE, blocked_at: BLOCKED_AT }, {}, /customer is blocked/],
  ['a block that two let pass', block(), {}, undefined],
  ['a block that one let pass', block({ people: ['ada'] }), {}, /customer is blocked/],
  ['a block that one let pass twice', block({ people: ['ada', 'ada'] }), {}, /customer is blocked/],
  ['a block that was let pass when it was another', block({ entry: 'another time' }), {}, /customer is blocked/],
  ['a block that was let pass for less', block({ units: '799' }), {}, /customer is blocked/],
  ['a block that was let pass for elsewhere', block({ destination: 'account:6' }), {}, /customer is blocked/],
  ['a block that was let pass for another order', block({ order_id: '2' }), {}, /customer is blocked/],
  ['a block that was let pass for another asset', block({ asset: 'eur' }), {}, /customer is blocked/],
  ['what a provider holds', SALE, { held: true }, /screening holds it/],
  [
    'what a provider holds and two let pass',
    { ...SALE, ...approval('held_by_magic_value', '') },
    { held: true },
    undefined,
  ],
  ['a refund, which a provider does not hold', REFUND, { held: true }, undefined],
  ['above the limit', { ...SALE, limit_units: '99999999' }, {}, /above the limit/],
  ['at the limit', { ...SALE, limit_units: '100000000' }, {}, undefined],
  ['a refund, which no limit holds', { ...REFUND, limit_units: '1' }, {}, undefined],
  ['to where nobody screened', SALE, { wasScreened: () => false }, /never screened/],
  ['another amount than the order pays', { ...SALE, payout_units: '799' }, {}, /its order pays 799/],
  [
    'a deposit that was reversed',
    { ...SALE, deposits: SALE.deposits.map((one) => ({ ...one, state: 'lost' })) },
    {},
    /deposit was reversed/,
  ],
  ['a stranger’s account', { ...SALE, fiat_account_id: '7' }, {}, /not the customer's/],
  ['an account in another currency', { ...SALE, fiat_account_id: '6' }, {}, /inr to an account in eur/],
  ['an address that nobody named', { ...TO_ADDRESS, address: '0xthief' }, {}, /nobody named/],
  ['an address that only an operator named', TO_ADDRESS, {}, /fewer than 2 people named/],
  [
    'an address that two operators named',
    {
      ...TO_ADDRESS,
      ...approval('destination_new', '', { destination: 'address:0xelse', asset: 'usdc', units: '500' }),
    },
    {},
    undefined,
  ],
  ['an address that the customer named', { ...TO_ADDRESS, address: '0xown' }, {}, undefined],
  ['a credit that has cleared', REFUND, {}, undefined],
  ['a credit that has not', REFUND, { now: () => SHOWN_AT + CLEARING_MS - 1 }, /clears after 12000/],
  ['a clock that is ahead', REFUND, { now: () => SHOWN_AT + CLEARING_MS - 1, spreadMs: () => 1 }, undefined],
  ['a credit that the bank never showed', REFUND, { firstShown: () => undefined }, /never showed/],
  [
    'money of ours that came back',
    { ...REFUND, deposits: [{ ...credit, origin: 'returned' }] },
    { now: () => 0 },
    undefined,
  ],
  [
    'money that law let go, of a credit that has not cleared',
    { ...REFUND, deposits: [credit, { ...credit, origin: 'released' }] },
    { now: () => SHOWN_AT + CLEARING_MS - 1 },
    /clears after 12000/,
  ],
  [
    'money that law let go, which adds nothing to the sum of what came',
    { ...REFUND, deposits: [SMALL, { ...SMALL, origin: 'released' }] },
    { deepest: () => 2 },
    undefined,
  ],
  ['parts that are too shallow for their sum', SALE, { deepest: () => 3 }, /3 deep, and 4 are asked for/],
  ['one shallow part', SALE, { deepest: (hash: string) => (hash === '0xb' ? 3 : 4) }, /0xb:0 of 100000000 was 3 deep/],
  ['a small deposit, for which two suffice', { ...SALE, deposits: [SMALL] }, { deepest: () => 2 }, undefined],
] as const)
  test(`${what}: ${seen === undefined ? 'nothing is said' : 'it is said'}`, () => {
    const said = against(submission, truth(says));
    if (seen === undefined) assert.deepEqual(said, []);
    else {
      assert.ok(said.length > 0, 'nothing is said');
      for (const one of said) assert.match(one, seen);
    }
  });

test('each send needs a submission of its own, and nothing leaves that no rail was asked to send', async () => {
  const said: string[] = [];
  const guard = openGuard({
    truth: truth(),
    violated: (what) => said.push(what),
    submitted: () => {},
  });
  const sending = { key: SALE.id, asset: 'inr', units: 800n, destination: { kind: 'account', details: {} } } as const;
  guard.leaves({ key: SALE.id });
  guard.sends('bank.simulated', sending);
  assert.deepEqual(said.splice(0), [
    'pay_1_1 leaves and nobody was asked to send it',
    'pay_1_1 is sent without having been submitted',
  ]);
  await guard.submitting([SALE.id], async () => [SALE]);
  guard.sends('bank.simulated', sending);
  guard.leaves({ key: SALE.id });
  assert.deepEqual(said, []);
  guard.sends('bank.simulated', sending);
  assert.deepEqual(said.splice(0), ['pay_1_1 is sent again without having been submitted']);
  guard.leaves({ to: '0xown', contract: '0x1', units: 1n });
  assert.deepEqual(said, ['1 to 0xown leaves and nobody was asked to send it']);
});

const standing = (what: string, covered: readonly string[] = []): Truth['stops'] => ({
  since: (one) => (one === what ? 5 : undefined),
  covers: (approval) => covered.includes(approval),
});
const OWNED: Submission = { ...SALE, customer_id: 'Cus1', ...approval('customer_blocked', BLOCKED_AT, { id: '9' }) };

for (const [what, submission, stops, seen] of [
  ['a block that people know of', OWNED, standing('customer Cus1'), /customer Cus1 was blocked/],
  ['a block of another customer', OWNED, standing('customer Cus2'), undefined],
  ['a block that was let pass since', OWNED, standing('customer Cus1', ['9']), undefined],
  [
    'a block that one let pass since',
    { ...OWNED, ...approval('customer_blocked', BLOCKED_AT, { id: '9', people: ['ada'] }) },
    standing('customer Cus1', ['9']),
    /customer Cus1 was blocked/,
  ],
  [
    'a block of the owner of the account that money of no order goes to',
    { ...REFUND, order_id: null, customer_id: 'Cus1' },
    standing('customer Cus1'),
    /customer Cus1 was blocked/,
  ],
  ['a block by law that people know of', OWNED, standing('order 1'), /blocked order 1 by law/],
  ['a deposit that people hold', { ...REFUND, deposit_id: '3' }, standing('deposit 3'), /hold deposit 3/],
  ['a switch that people know of', OWNED, standing('kill switch payouts all'), /people have stopped it/],
  ['a switch of its rail', OWNED, standing('kill switch rail bank.simulated'), /people have stopped it/],
  ['a switch of another rail', OWNED, standing('kill switch rail evm.matic20'), undefined],
] as const)
  test(`${what}: ${seen === undefined ? 'nothing is said' : 'it is said'}`, () => {
    const said = against(submission, truth({ stops }));
    if (seen === undefined) assert.deepEqual(said, []);
    else {
      assert.equal(said.length, 1);
      assert.match(said[0] ?? '', seen);
    }
  });
