/** The outcome of money without an order is compared with its plan, and a difference of one unit is found. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Environment } from './process.ts';
import { type Stray, wrongStrays } from './strays.ts';

const USDT = 'usdt.matic20';
const at = (plan: Stray['plan'], units: bigint, how: Partial<Stray> = {}): Stray => ({
  ...{ plan, asset: 'eur', units, from: `from ${plan}`, to: `to ${plan}`, name: `line of ${plan}` },
  ...how,
});
const coins = { asset: USDT, target: '0xhot' };
const ALL = [
  at('returned', 500n),
  at('claimed', 600n, coins),
  at('dust', 7n),
  at('small', 3n),
  at('dormant', 900n, coins),
];
const HELD = [
  { kind: 'rounding', asset: 'eur', units: '10' },
  { kind: 'dormant', asset: USDT, units: '900' },
  { kind: 'suspense', asset: 'eur', units: '40' },
];
const FREE = [{ made: '1', asset: 'eur', units: '40' }];

const wrong = (
  change: {
    left?: Record<string, bigint>;
    held?: typeof HELD;
    isMined?: (hash: string) => boolean;
    free?: typeof FREE;
  } = {},
) => {
  const left: Record<string, bigint> = { 'to returned': 500n, 'to claimed': 600n, ...change.left };
  const world = {
    bank: { outTo: (to: string) => left[to] ?? 0n },
    chain: { isMined: change.isMined ?? (() => true), paidTo: (to: string) => left[to] ?? 0n },
  } as unknown as Pick<Environment, 'bank' | 'chain'>;
  return wrongStrays(world, ALL, change.held ?? HELD, change.free ?? FREE);
};
const withHeld = (kind: string, units: string) => HELD.map((one) => (one.kind === kind ? { ...one, units } : one));

test('an end as planned is no violation', () => assert.deepEqual(wrong(), []));

for (const [what, change, why] of [
  [
    'less went back than came',
    { left: { 'to returned': 499n } },
    /500 eur of from returned, returned: 499 went back, and 500 must/,
  ],
  ['it went back twice', { left: { 'to claimed': 1_200n } }, /claimed: 1200 went back, and 600 must/],
  ['what nobody claimed was refunded', { left: { 'to dormant': 900n } }, /dormant: 900 went back, and 0 must/],
  ['dust went back', { left: { 'to dust': 7n } }, /dust: 7 went back, and 0 must/],
  ['somebody else has it', { left: { '0xthief': 1n } }, /1 usdt.matic20 went to 0xthief, whose it is not/],
  [
    'the dormant account lacks a unit',
    { held: withHeld('dormant', '899') },
    /dormant holds 899 usdt.matic20, and must hold 900/,
  ],
  [
    'more was written off than was dust',
    { held: withHeld('rounding', '11') },
    /rounding holds 11 eur, and must hold 10/,
  ],
  ['suspense has what no order has', { free: [] }, /suspense holds 40 eur, and must hold 0/],
  ['a reorg took it for good, and it was refunded', { isMined: () => false }, /claimed: 600 went back, and 0 must/],
] as const)
  test(`${what}: it is said`, () => assert.match(wrong(change as never).join('\n'), why));
