/** The expected end of each party, checked on histories that are right to the unit and then wrong by one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Ended,
  type Free,
  type Group,
  type Held,
  keptOf,
  type Owed,
  type PaidBack,
  wrongPaidBack,
  wrongSums,
  wrongTerms,
} from './ends.ts';
import { type Arrival, arrivedTwice, type OwnBalance, type OwnRow, wrongOwn } from './own.ends.ts';

const RATE = { num: 86n, den: 1n };
/** A purchase for 10,000 rupees: a quarter percent to us, one percent to the partner, a fixed sum for the rail, gas. */
const BOUGHT: Ended = {
  id: '1',
  made: '1',
  direction: 'onramp',
  state: 'settled',
  blocked_converted: false,
  deposit_asset: 'inr',
  payout_asset: 'usdc.matic20',
  deposit_units: '1000000',
  received_units: '1000000',
  payout_units: String(((1_000_000n - 2_500n - 10_000n - 590n - 7n) * RATE.den * 10_000n) / RATE.num),
  gross_units: String(((1_000_000n - 2_500n - 10_000n - 590n - 7n) * RATE.den * 10_000n) / RATE.num),
  rate_num: String(RATE.num),
  rate_den: String(RATE.den),
  fee_operator: '2500',
  fee_partner: '10000',
  fee_rail: '590',
  fee_chain: '7',
  keep: ['operator', 'rail'],
};
const PAID = BigInt(BOUGHT.payout_units);
const REFUNDED: Ended = { ...BOUGHT, state: 'refunded' };

const group = (
  order: Ended,
  moved: { cameIn?: bigint; everIn?: bigint; back?: bigint; out?: bigint },
  free: Free[] = [],
): Group => {
  const { cameIn = 1_000_000n, everIn = cameIn, back = 0n, out = 0n } = moved;
  const of = (inr: bigint, usdc: bigint) => (asset: string) =>
    asset === 'inr' ? inr : asset === 'usdc.matic20' ? usdc : 0n;
  return {
    made: order.made,
    customer: 'c1',
    orders: [order],
    free,
    rails: { cameIn: of(cameIn, 0n), everIn: of(everIn, 0n), left: of(back, out) },
  };
};
const held = (units: Record<string, bigint>): Held[] =>
  Object.entries(units).map(([name, of]) => {
    const [kind = '', asset = ''] = name.split(' ');
    return { kind, asset, units: String(of) };
  });
const FEES = {
  'fee_operator inr': 2_500n,
  'fee_partner inr': 10_000n,
  'fee_rail inr': 590n,
  'fee_chain inr': 7n,
};
const owed = (units: bigint): Owed[] => [{ customer: 'c1', asset: 'inr', units: String(units) }];

test('fees and payout follow from amount, rate and schedule, each rounded once, to the unit', () => {
  assert.deepEqual(wrongTerms(BOUGHT), []);
  for (const name of ['fee_operator', 'fee_partner', 'fee_rail', 'gross_units', 'payout_units'] as const) {
    const off = wrongTerms({ ...BOUGHT, [name]: String(BigInt(BOUGHT[name]) + 1n) });
    assert.ok(
      off.some((what) => what.includes(`${name} is`)),
      name,
    );
  }
  const selling = { direction: 'offramp', deposit_units: '10000001', gross_units: '86000', fee_operator: '215' };
  const sold: Ended = { ...BOUGHT, ...selling, fee_partner: '860', payout_units: String(86_000 - 215 - 860 - 590 - 7) };
  assert.deepEqual(wrongTerms(sold), []);
  assert.equal(wrongTerms({ ...sold, fee_operator: '214' }).length, 1);
});

test('a settled order has received its deposit and paid its payout, to the unit', () => {
  assert.deepEqual(wrongSums([group(BOUGHT, { out: PAID })], held(FEES), []), []);
  assert.match(wrongSums([group(BOUGHT, { out: PAID - 1n })], held(FEES), []).join(), /1 over/);
  assert.match(wrongSums([group(BOUGHT, { out: PAID + 1n })], held(FEES), []).join(), /-1 over/);
  assert.match(wrongSums([group(BOUGHT, { out: PAID, back: 1n })], held(FEES), []).join(), /-1 over/);
});

test('the fee kept of a refund is kept once', () => {
  const kept = keptOf(REFUNDED);
  assert.equal(kept, 3_090n);
  const books = held({ 'fee_operator inr': kept });
  assert.deepEqual(wrongSums([group(REFUNDED, { back: 1_000_000n - kept })], books, []), []);
  const twice = wrongSums(
    [group(REFUNDED, { back: 1_000_000n - 2n * kept })],
    held({ 'fee_operator inr': 2n * kept }),
    [],
  );
  assert.match(twice.join(), /3090 over/);
  assert.match(twice.join(), /fee_operator holds 6180 inr, and must hold 3090/);
  assert.equal(keptOf({ ...REFUNDED, received_units: '3090' }), 0n, 'a fee consumed the whole deposit');
});

test('a compensation reduces its fee, once, and by the decided amount', () => {
  const back: PaidBack[] = [{ made: '1', fee: 'operator', asset: 'inr', units: '500' }];
  const one = { ...group(BOUGHT, { out: PAID, back: 500n }), paidBack: back };
  assert.deepEqual(wrongSums([one], held({ ...FEES, 'fee_operator inr': 2_000n }), []), []);
  assert.match(wrongSums([one], held(FEES), []).join(), /fee_operator holds 2500 inr, and must hold 2000/);
  const twice = { ...group(BOUGHT, { out: PAID, back: 1_000n }), paidBack: back };
  assert.match(wrongSums([twice], held({ ...FEES, 'fee_operator inr': 2_000n }), []).join(), /-500 over/);
  const noted = (units?: bigint) =>
    ({
      order: { id: 1n },
      ...(units === undefined ? {} : { compensated: { fee: 'operator', units } }),
    }) as Parameters<typeof wrongPaidBack>[0];
  assert.deepEqual([wrongPaidBack(noted(500n), back), wrongPaidBack(noted(500n), [])], [[], []]);
  for (const decided of [undefined, 499n]) assert.equal(wrongPaidBack(noted(decided), back).length, 1);
  assert.equal(wrongPaidBack(noted(500n), [...back, { ...back[0], fee: 'rail' } as PaidBack]).length, 1);
});

test('money in suspense is neither missing nor in excess', () => {
  const free: Free[] = [{ made: '1', asset: 'inr', units: '77' }];
  assert.deepEqual(wrongSums([group(BOUGHT, { cameIn: 1_000_077n, out: PAID }, free)], held(FEES), []), []);
  assert.match(wrongSums([group(BOUGHT, { cameIn: 1_000_077n, out: PAID })], held(FEES), []).join(), /77 over/);
});

test('a deposit recalled after its payout is its customer’s debt, and no loss', () => {
  const gone = [group(BOUGHT, { cameIn: 0n, everIn: 1_000_000n, out: PAID })];
  assert.deepEqual(wrongSums(gone, held({ ...FEES, 'receivable inr': 1_000_000n }), owed(1_000_000n)), []);
  assert.match(
    wrongSums(gone, held({ ...FEES, 'loss inr': 1_000_000n }), []).join(),
    /customer c1 owes 0 inr, and must owe 1000000/,
  );
  assert.match(wrongSums(gone, held(FEES), []).join(), /-1000000 inr is over of all orders/);
});

test('a part recalled after its payout is owed to the unit, unless it was written off', () => {
  const part = 200_000n;
  const gone = { ...group(BOUGHT, { cameIn: 1_000_000n - part, everIn: 1_000_000n, out: PAID }) };
  assert.deepEqual(wrongSums([gone], held({ ...FEES, 'receivable inr': part }), owed(part)), []);
  for (const off of [part - 1n, part + 1n])
    assert.match(
      wrongSums([gone], held({ ...FEES, 'receivable inr': off }), owed(off)).join(),
      new RegExp(`customer c1 owes ${off} inr, and must owe 200000`),
    );
  const books = held({ ...FEES, 'loss inr': part });
  assert.match(wrongSums([gone], books, []).join(), /customer c1 owes 0 inr, and must owe 200000/);
  assert.deepEqual(wrongSums([{ ...gone, writtenOffUnits: part }], books, []), []);
  assert.equal(wrongSums([{ ...gone, writtenOffUnits: part - 1n }], books, []).length, 1);
});

test('a part recalled before its refund left is nobody’s, and the rest is refunded', () => {
  const kept = keptOf(REFUNDED);
  const books = held({ 'fee_operator inr': kept });
  const back = (more: bigint) =>
    group(REFUNDED, { cameIn: 800_000n, everIn: 1_000_000n, back: 800_000n - kept + more });
  assert.deepEqual(wrongSums([back(0n)], books, []), []);
  assert.match(wrongSums([back(-kept - 1n)], books, []).join(), /3091 over/);
});

test('money blocked by law is held, and no other', () => {
  const frozen: Ended = { ...BOUGHT, state: 'frozen' };
  assert.deepEqual(wrongSums([group(frozen, {})], held({ 'blocked inr': 1_000_000n }), []), []);
  const converted: Ended = { ...frozen, blocked_converted: true };
  const recalled = group(converted, { cameIn: 0n, everIn: 1_000_000n });
  const books = { ...FEES, 'blocked usdc.matic20': PAID, 'loss inr': 1_000_000n };
  assert.deepEqual(wrongSums([recalled], held(books), []), [], 'a debt was expected although no one was paid');
  assert.deepEqual(wrongSums([group(converted, {})], held({ ...FEES, 'blocked usdc.matic20': PAID }), []), []);
  assert.match(wrongSums([group(frozen, {})], held({ 'blocked inr': 990_000n }), []).join(), /1000000 inr is over/);
});

const PUT = { target: '0xcold1', asset: 'usdc.matic20' };
const SENT: OwnRow = { ...PUT, key: 'transfer:1', units: '700', state: 'settled', told: false };
const CAME: Arrival = { ...PUT, units: 700n };
const THERE: OwnBalance = { ...PUT, there: 700n, booked: 700n };
const isOrdered = (target: string, units: bigint): boolean => target === PUT.target && units === 700n;

test('a transfer to an own address arrives once, and the books have there what the chain has', () => {
  assert.deepEqual(wrongOwn([SENT], [CAME], [THERE], isOrdered), []);
  const twice = wrongOwn([SENT], [CAME, CAME], [{ ...THERE, there: 1_400n }], isOrdered);
  assert.match(
    twice.join('; '),
    /arrived 2 times, and is booked 1 times; 1400 usdc.matic20 are at 0xcold1, and 700 in/,
  );
  assert.deepEqual(arrivedTwice([CAME, { ...CAME, units: 701n }]), []);
  assert.equal(arrivedTwice([CAME, CAME]).length, 1);
  const again = { ...SENT, key: 'transfer:2' };
  assert.match(
    wrongOwn([SENT, again], [CAME, CAME], [THERE], isOrdered).join(),
    /arrived 2 times, and is booked 2 times/,
  );
  assert.match(wrongOwn([SENT], [], [THERE], isOrdered).join(), /arrived 0 times, and is booked 1 times/);
  assert.match(wrongOwn([SENT], [CAME], [THERE], () => false).join(), /no two people have ordered it/);
  for (const state of ['failed', 'cancelled']) {
    const ended = { ...SENT, state, told: state === 'failed' };
    assert.deepEqual(wrongOwn([ended], [], [], isOrdered), []);
    assert.match(wrongOwn([ended], [CAME], [], isOrdered).join(), /arrived 1 times, and is booked 0 times/);
    assert.match(wrongOwn([{ ...ended, told: !ended.told }], [], [], isOrdered).join(), /case about it is open/);
  }
  assert.match(wrongOwn([{ ...SENT, state: 'submitted' }], [], [], isOrdered).join(), /is submitted at the end/);
});

test('of what came back from an own address, the books have as much less there as the chain', () => {
  assert.deepEqual(wrongOwn([SENT], [CAME], [{ ...THERE, there: 500n, booked: 500n }], isOrdered), []);
  assert.equal(wrongOwn([SENT], [CAME], [{ ...THERE, there: 500n }], isOrdered).length, 1);
});
