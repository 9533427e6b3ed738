/**
 * The travel rule on a real database: which orders need data, what is said of wallets, the deadline with its policies, and what is
 * left after an erasure.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { verifyMessage } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { Tx } from '../../../src/base/db.ts';
import { Refusal } from '../../../src/base/errors.ts';
import {
  eraseTravelData,
  listCases,
  openTravelRule,
  recordsOfOrder,
  type Screening,
  type Sender,
  setTravelRule,
  travelDataOf,
} from '../../../src/compliance/index.ts';
import { strictest } from '../../../src/compliance/travel-rule/rules.ts';
import { findCustomer, saveDetails } from '../../../src/customers/index.ts';
import { type Fixture, freshFixture } from '../../support/fixture.ts';
import { openRows, type Rows } from '../../support/rows.ts';

const RAIL = 'evm.test';
const HOUR_S = 3_600;
const OWNER = privateKeyToAccount(`0x${'51'.repeat(32)}`);
const WALLET = OWNER.address.toLowerCase();

let fixture: Fixture;
let rows: Rows;
let partnerId = 0n;
const senders = new Map<bigint, Sender>();
const deposits = new Map<bigint, bigint[]>();
const refunded: bigint[] = [];
const held: bigint[] = [];
let outcome: 'held' | 'later' = 'held';
const paidTo = new Map<bigint, { payoutAddress: string | null; rail: string }>();
const now = () => fixture.clock.now();
const inTx = <T>(work: (tx: Tx) => Promise<T>) => fixture.db.asSystem(work);

before(async () => {
  fixture = await freshFixture();
  rows = await openRows(fixture.adminUrl);
  await rows.cryptoAsset('usdc.test', 'test', '0x01');
  ({ partnerId } = await rows.order('usdc.test', RAIL, '0xfirst'));
});
after(async () => {
  await rows?.close();
  await fixture?.stop();
});
beforeEach(() => sets({}));

const travel = () =>
  openTravelRule({
    ...{ db: fixture.db, vault: fixture.vault, clock: fixture.clock },
    senderOf: async (_tx, id) => senders.get(id),
    depositsOf: async (_tx, id) => deposits.get(id) ?? [],
    payoutOf: async (_tx, id) => paidTo.get(id),
    wake: async () => {},
    holdRefused: async (_tx, orderId) => {
      if (outcome === 'held') held.push(orderId);
      return outcome;
    },
    requestRefund: async (orderId) => {
      refunded.push(orderId);
      return 'requested';
    },
    isSignedBy: async (_rail, address, message, signature) =>
      await verifyMessage({ address: address as `0x${string}`, message, signature: signature as `0x${string}` }).catch(
        () => false,
      ),
  });

/** Rules for rupees: worth is in paise. */
const sets = (more: {
  jurisdiction?: string;
  thresholdUnits?: bigint;
  proofUnits?: bigint | null;
  policy?: 'hold' | 'send' | 'return' | 'refuse';
  isOn?: boolean;
  exchange?: 'none' | 'required';
  deadlineS?: number;
}) =>
  inTx((tx) =>
    setTravelRule(tx, {
      ...{ jurisdiction: '*', fiatAsset: 'inr', isOn: true, thresholdUnits: 100_000n, proofUnits: null },
      ...{ deadlineS: HOUR_S, policy: 'hold' as const, exchange: 'none' as const },
      ...{ why: 'a test', by: 'ada, bea', now: now() },
      ...more,
    }),
  );

let made = 0;
type Source = 'phone' | 'document' | 'partner' | 'form' | null;
/** An order of this worth, paid to this address, of a customer with this name and country. */
async function order(
  o: { worth?: bigint; address?: string | null; name?: string; country?: string; countryBy?: Source } = {},
) {
  const { worth = 100_000n, address = WALLET, name = 'Zebulon', country = 'IN', countryBy = 'phone' } = o;
  const customerId = `travellers_${(made += 1)}`;
  await rows.query(
    `insert into customers (id, partner_id, kind, country, country_by, created_at, updated_at)
      values ($1, $2, 'INDIVIDUAL', $3, $4, now(), now())`,
    [customerId, partnerId, country, countryBy],
  );
  if (name !== '')
    await inTx(async (tx) => {
      const customer = await findCustomer(tx, customerId);
      const details = { firstName: name, lastName: 'Quagmire' };
      await saveDetails(tx, fixture.vault, { customer, details, now: now() });
    });
  const { orderId } = await rows.order('usdc.test', RAIL, `0xtravel${made}`);
  await rows.query(
    'update orders set customer_id = $2, gross_units = $3, payout_address = $4, payout_rail = $5 where id = $1',
    [orderId, customerId, String(worth), address, RAIL],
  );
  const input: Screening = {
    ...{ id: orderId, partnerId, customerId, merchantReference: null, fiatAccountId: null },
    ...{ payoutAddress: address, rail: RAIL, depositIds: [] },
  };
  paidTo.set(orderId, { payoutAddress: address, rail: RAIL });
  const of = { id: orderId, payoutAddress: address, rail: RAIL };
  const wallet = { customerId, partnerId, rail: RAIL, address: address ?? WALLET };
  return { orderId, customerId, input, of, wallet };
}
type Made = Awaited<ReturnType<typeof order>>;

const asText = (value: unknown): string =>
  JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part));
const OWN = { kind: 'self_hosted', owner: 'customer' } as const;
const waits = async ({ input }: Made) => (await inTx((tx) => travel().wait(tx, input)))?.cause;
const hits = async ({ input }: Made) => (await inTx((tx) => travel().read(tx, input))).hits.map(({ rule }) => rule);
const missing = async ({ of }: Made) =>
  (await inTx((tx) => travel().needs(tx, of))).needed.flatMap((one) => one.missing);
const cases = async ({ orderId }: Made) =>
  (await inTx((tx) => listCases(tx, { open: true, kind: 'travel_rule_missing', limit: 200 }))).filter(
    ({ subject }) => subject === `order:${orderId}`,
  ).length;
const records = ({ orderId }: Made) => inTx((tx) => recordsOfOrder(tx, fixture.vault, orderId));
const says = ({ of, wallet }: Made, more: Record<string, unknown> = {}) =>
  inTx((tx) => travel().declare(tx, of, { ...wallet, ...OWN, ...more }));

test('from the threshold on a payout waits for the wallet, with one case; what is below it, and a refund, does not', async () => {
  const [large, small] = [await order(), await order({ worth: 99_999n })];
  assert.equal(await waits(small), undefined);
  const back = { ...large, input: { ...large.input, purpose: 'refund' as const } };
  assert.equal(await waits(back), undefined);
  assert.equal(await waits(large), 'screening');
  for (const again of [1, 2]) {
    await travel().ensure(large.input);
    assert.equal(await cases(large), 1, `asked ${again} times`);
  }
  assert.equal(await waits(large), 'travel_rule');
  assert.deepEqual(await missing(large), ['wallet']);
  assert.deepEqual(await hits(large), []);

  await says(large);
  assert.equal(await waits(large), undefined);
  assert.equal(await cases(large), 0);
  const [record, ...more] = await records(large);
  assert.equal(more.length, 0);
  assert.deepEqual([record?.direction, record?.state, record?.address], ['out', 'complete', WALLET]);
  assert.match(JSON.stringify(record?.ivms), /"primaryIdentifier":"Quagmire","secondaryIdentifier":"Zebulon"/);
});

test('the rule of the customer’s country goes before that of every other, also where it is switched off', async () => {
  await sets({ jurisdiction: 'DE', thresholdUnits: 0n });
  await sets({ jurisdiction: 'AE', isOn: false });
  const worth = 50_000n;
  assert.equal(await waits(await order({ worth, country: 'DE' })), 'screening');
  assert.equal(await waits(await order({ worth: 0n, country: 'DE' })), 'screening');
  assert.equal(await waits(await order({ worth, country: 'IN' })), undefined);
  assert.equal(await waits(await order({ worth: 10_000_000n, country: 'AE' })), undefined);
  await sets({ jurisdiction: 'DE', isOn: false });
  assert.equal(await waits(await order({ worth, country: 'DE' })), undefined);
});

test('a customer of an unknown country is under the strictest of all rules, and its residence is not passed on', async () => {
  await sets({ jurisdiction: 'AE', isOn: false });
  await sets({ jurisdiction: 'GB', thresholdUnits: 50_000n, proofUnits: 60_000n });
  try {
    const [unknown, known, british] = [
      await order({ worth: 60_000n, country: 'AE', countryBy: null }),
      await order({ worth: 60_000n, country: 'AE', countryBy: 'document' }),
      await order({ worth: 60_000n, country: 'GB', countryBy: 'form' }),
    ];
    assert.equal(await waits(await order({ worth: 49_999n, country: 'AE', countryBy: null })), undefined);
    assert.equal(await waits(known), undefined);
    for (const one of [unknown, british]) {
      assert.equal(await waits(one), 'screening');
      await says(one);
      assert.deepEqual(await missing(one), ['proof']);
      await rows.query('update travel_wallets set proven_at = now() where customer_id = $1', [one.customerId]);
      await travel().ensure(one.input);
    }
    assert.match(asText(await records(british)), /"countryOfResidence":"GB"/);
    assert.doesNotMatch(asText(await records(unknown)), /countryOfResidence/);
    assert.equal((await records(unknown)).length, 1);
  } finally {
    await sets({ jurisdiction: 'GB', isOn: false });
  }
});

test('of several rules the strictest part of each counts that applies to the worth', () => {
  const rule = (more: Partial<Parameters<typeof strictest>[0][number]>) => ({
    ...{ isOn: true, thresholdUnits: 10n, proofUnits: null, deadlineS: 3_600, policy: 'hold' as const },
    ...{ exchange: 'none' as const, ...more },
  });
  const of = (worth: bigint, ...rules: ReturnType<typeof rule>[]) => strictest(rules, worth);
  assert.equal(of(9n, rule({})), undefined);
  assert.equal(of(10n, rule({ isOn: false })), undefined);
  assert.equal(of(10n), undefined);
  const [sends, returns, refuses] = [
    rule({ policy: 'send', deadlineS: 60, proofUnits: 20n }),
    rule({ policy: 'return', exchange: 'required', proofUnits: 15n }),
    rule({ policy: 'refuse', thresholdUnits: 100n, deadlineS: 7_200 }),
  ];
  const together = { ...returns, deadlineS: 60 };
  for (const all of [
    [sends, returns, refuses],
    [refuses, returns, sends],
  ])
    assert.deepEqual(of(99n, ...all), together);
  assert.deepEqual(of(100n, sends, returns, refuses), { ...together, policy: 'refuse', thresholdUnits: 100n });
  assert.equal(of(10n, rule({ policy: 'send' }), rule({}))?.policy, 'hold');
});

test('a self-hosted wallet is proven by its key from a worth on: by this customer, for this address, and again for another kind', async () => {
  await sets({ proofUnits: 200_000n });
  const [small, large, other] = [await order(), await order({ worth: 200_000n }), await order({ worth: 200_000n })];
  await says(small);
  assert.deepEqual(await missing(small), []);
  await says(large);
  assert.deepEqual(await missing(large), ['proof']);
  const textOf = async (one: Made) => (await inTx((tx) => travel().needs(tx, one.of))).needed[0]?.text ?? '';
  const signature = await OWNER.signMessage({ message: await textOf(large) });
  const stranger = privateKeyToAccount(`0x${'52'.repeat(32)}`);
  for (const wrong of [
    '0x',
    '0x00',
    signature.replace(/^0x../, (head) => (head === '0x00' ? '0x01' : '0x00')),
    await stranger.signMessage({ message: await textOf(large) }),
  ])
    await assert.rejects(says(large, { signature: wrong }), Refusal, wrong);
  await assert.rejects(says(other, { signature }), Refusal, 'a signature of another customer was taken');
  assert.equal(await waits(large), 'travel_rule');
  await says(large, { signature });
  assert.deepEqual(await missing(large), []);
  assert.equal((await records(large)).length, 1);

  // The proof counts for the next order, and no longer once another kind of wallet is claimed.
  const next = { ...large, ...(await order({ worth: 200_000n })) };
  await rows.query('update orders set customer_id = $2 where id = $1', [next.orderId, large.customerId]);
  const mine: Made = {
    ...next,
    customerId: large.customerId,
    input: { ...next.input, customerId: large.customerId },
    wallet: { ...next.wallet, customerId: large.customerId },
  };
  assert.deepEqual(await missing(mine), []);
  await says(mine, { kind: 'hosted', provider: 'An Exchange Ltd' });
  await rows.query('delete from travel_records where order_id = $1', [mine.orderId]);
  await says(mine);
  assert.deepEqual(await missing(mine), ['proof']);
});

test('names that its kind or owner needs are asked for, and kept in no row in clear', async () => {
  const one = await order();
  await assert.rejects(says(one, { kind: 'hosted' }), Refusal);
  await assert.rejects(says(one, { owner: 'other' }), Refusal);
  await says(one, { kind: 'hosted', provider: 'Fjord Exchange', owner: 'other', ownerName: 'Xanthippe Vrblova' });
  assert.match(asText(await records(one)), /Xanthippe Vrblova.*Fjord Exchange/);
  for (const table of ['travel_wallets', 'travel_records', 'travel_waits', 'cases', 'decisions', 'jobs'])
    for (const { row } of await rows.query<{ row: string }>(`select t::text as row from ${table} t`)) {
      assert.doesNotMatch(row, /xanthippe|vrblova|fjord|quagmire|zebulon/i, table);
      assert.doesNotMatch(row, new RegExp(Buffer.from('Vrblova').toString('hex')), table);
    }
});

test('coins that come in need the wallet they came from; a customer without a name, and an unknown sender, wait', async () => {
  const sale = await order({ address: null });
  senders.set(81n, { rail: RAIL, address: '0xsender' });
  senders.set(82n, { rail: RAIL, address: null });
  const came = (one: Made, depositIds: bigint[]): Made => {
    deposits.set(one.orderId, depositIds);
    return { ...one, input: { ...one.input, depositIds }, wallet: { ...one.wallet, address: '0xsender' } };
  };
  assert.deepEqual(await missing(sale), [], 'nothing has come yet');
  const paid = came(sale, [81n]);
  assert.deepEqual(await missing(paid), ['wallet']);
  await says(paid);
  assert.equal((await records(paid))[0]?.direction, 'in');
  assert.equal(await waits(paid), undefined);

  const odd = came(await order({ address: null }), [82n]);
  assert.deepEqual(await missing(odd), ['sender']);
  const nameless = came(await order({ address: null, name: '' }), [81n]);
  await says(nameless);
  assert.deepEqual(await missing(nameless), ['name']);
  assert.equal((await records(nameless)).length, 0);
});

test('at the deadline the policy decides: held for people, or sent and recorded as without', async () => {
  const held = await order();
  await travel().ensure(held.input);
  fixture.clock.advance(HOUR_S * 1_000 - 1_000);
  await travel().handlers.travel_rule_due?.(String(held.orderId));
  assert.equal(await waits(held), 'travel_rule');
  assert.deepEqual(await hits(held), []);
  fixture.clock.advance(2_000);
  await travel().handlers.travel_rule_due?.(String(held.orderId));
  assert.deepEqual(await hits(held), ['travel_rule_missing']);
  assert.equal((await records(held)).length, 0);
  assert.equal(await cases(held), 1);
  // Late is not too late.
  await says(held);
  assert.deepEqual([await hits(held), await waits(held)], [[], undefined]);

  await sets({ policy: 'send' });
  const sent = await order();
  await travel().ensure(sent.input);
  assert.equal(await waits(sent), 'travel_rule');
  fixture.clock.advance(HOUR_S * 1_000 + 1_000);
  assert.equal(await waits(sent), 'travel_rule', 'it left before that was written down');
  // Twice, and by two at once.
  await Promise.all([1, 2].map(() => travel().handlers.travel_rule_due?.(String(sent.orderId))));
  assert.equal(await waits(sent), undefined);
  assert.deepEqual(
    (await records(sent)).map(({ state }) => state),
    ['without'],
  );
  assert.equal(await cases(sent), 0);
});

test('at the deadline of a rule that returns, it is held and its deposit goes back, once and only without the data', async () => {
  await sets({ policy: 'return' });
  const [late, whole] = [await order(), await order()];
  for (const one of [late, whole]) await travel().ensure(one.input);
  fixture.clock.advance(HOUR_S * 1_000 - 1_000);
  await travel().handlers.travel_rule_due?.(String(late.orderId));
  assert.deepEqual(refunded, [], 'it went back before the deadline');
  await says(whole);
  fixture.clock.advance(2_000);
  for (const one of [late, whole]) await travel().handlers.travel_rule_due?.(String(one.orderId));
  assert.deepEqual(refunded, [late.orderId]);
  assert.deepEqual(await hits(late), ['travel_rule_missing']);
  assert.deepEqual([await hits(whole), await waits(whole)], [[], undefined]);
});

test('at the deadline of a rule that refuses, the refusal is stored once its order is held; no later data, rule or server undoes it', async () => {
  await sets({ policy: 'refuse' });
  const [late, whole] = [await order(), await order()];
  for (const one of [late, whole]) await travel().ensure(one.input);
  await says(whole);
  fixture.clock.advance(HOUR_S * 1_000 + 1_000);
  outcome = 'later';
  const due = (one: Made) => travel().handlers.travel_rule_due?.(String(one.orderId));
  assert.deepEqual(await due(late), { againInMs: 300_000 });
  assert.deepEqual(await hits(late), ['travel_rule_missing'], 'refused while its payout was submitted');
  outcome = 'held';
  await Promise.all([due(late), due(late), due(whole)]);
  assert.deepEqual(held, [late.orderId]);
  // `travel()` is another server each time.
  await sets({ policy: 'send' });
  await sets({ isOn: false });
  for (const again of [1, 2]) {
    await says(late);
    await travel().ensure(late.input);
    await due(late);
    assert.deepEqual(await hits(late), ['travel_rule_too_late'], `asked ${again} times`);
  }
  const needs = await inTx((tx) => travel().needs(tx, late.of));
  assert.deepEqual([needs.needed, needs.dueAt], [[], null]);
  assert.notEqual(needs.refusedAt, null);
  assert.deepEqual([(await records(late)).length, await cases(late), held.length], [0, 0, 1]);
  assert.deepEqual([await hits(whole), (await records(whole)).length], [[], 1]);
});

test('the data of a transfer stays as it was, whatever is said of its wallet later', async () => {
  const one = await order();
  await says(one);
  const before = await records(one);
  await says(one, { kind: 'hosted', provider: 'Another Ltd' });
  await travel().ensure(one.input);
  assert.deepEqual(await records(one), before);
});

test('an export has it all, and an erasure leaves no name', async () => {
  const one = await order();
  await says(one, { owner: 'other', ownerName: 'Xanthippe Vrblova' });
  const of = { customerId: one.customerId, limit: 100 };
  const told = asText(await inTx((tx) => travelDataOf(tx, fixture.vault, of)));
  assert.match(told, /Xanthippe Vrblova/);
  assert.match(told, /Quagmire/);
  await inTx((tx) => eraseTravelData(tx, one.customerId));
  const left = await inTx((tx) => travelDataOf(tx, fixture.vault, of));
  assert.deepEqual([left.records[0]?.ivms, left.wallets[0]?.ownerName], [null, undefined]);
  assert.equal(left.records.length, 1);
});
