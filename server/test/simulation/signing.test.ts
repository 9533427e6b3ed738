/** The guard at the signer and at the node gets each violation that it has to find, alone, and a transfer without violations. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PEOPLE, type Truth } from './guard.ts';
import { againstMoving, type Moving, type OwnTruth, openSigning } from './signing.ts';

const NOW = 1_000_000;
const TRANSFER: Moving = {
  key: 'transfer:1',
  rail: 'evm.matic20',
  target: '0xcold1',
  asset: 'usdc.matic20',
  units: '700',
  people: ['ada', 'bea'],
  over: false,
  address: '0xcold1',
  address_rail: 'evm.matic20',
  registered_by: 'ada, bea',
  usable_at: NOW,
  ended: false,
  switched_off: false,
  needed: null,
  spare: '0',
  nonces: [],
};
const truth = (says: Partial<OwnTruth> = {}): OwnTruth => ({
  now: () => NOW,
  spreadMs: () => 0,
  isOrdered: () => true,
  isDenied: () => false,
  isNeeded: () => true,
  ...says,
});
const standing = (what: string): Truth['stops'] => ({
  since: (one) => (one === what ? 5 : undefined),
  covers: () => false,
});

for (const [what, moving, says, seen] of [
  ['a transfer as it should be', {}, {}, undefined],
  ['one person', { people: ['ada', 'ada'] }, {}, /for 1 people/],
  ['two people of three', { needed: 3 }, {}, /for 2 people of 3/],
  ['a rule that a transaction may not have seen', { needed: 3 }, { isNeeded: () => false }, undefined],
  ['three people of three', { needed: 3, people: ['ada', 'bea', 'cyd'] }, {}, undefined],
  ['what nobody has ordered', {}, { isOrdered: () => false }, /no two people have ordered it/],
  ['a transfer that has ended', { over: true }, {}, /has ended/],
  ['another address', { target: '0xthief' }, {}, /the own address is 0xcold1/],
  ['an address that one person registered', { registered_by: 'ada' }, {}, /only ada has registered/],
  ['an address that is not registered any more', { ended: true }, {}, /not registered any more/],
  ['an address in its cooling-off time', { usable_at: NOW + 1 }, {}, /1 ms before/],
  ['a clock that is ahead', { usable_at: NOW + 1 }, { spreadMs: () => 1 }, undefined],
  ['a denied address', {}, { isDenied: () => true }, /which is denied/],
  ['a kill switch in the rows', { switched_off: true }, {}, /kill switch is on/],
  ['a kill switch that people know of', {}, { stops: standing('kill switch payouts all') }, /people have stopped it/],
  ['a switch of another rail', {}, { stops: standing('kill switch rail bank.simulated') }, undefined],
  ['another nonce of its key', { nonces: ['4'] }, {}, /beside nonce 4/],
] as const)
  test(`${what}: ${seen === undefined ? 'nothing is said' : 'it is said'}`, () => {
    const said = againstMoving({ ...TRANSFER, ...moving }, truth(says), 'signed');
    if (seen === undefined) return assert.deepEqual(said, []);
    assert.equal(said.length, 1, said.join('; '));
    assert.match(said[0] ?? '', seen);
  });

test('the wallet keeps its threshold when a transfer is created; a switch counts only when it is signed', () => {
  const short = { ...TRANSFER, spare: '-3', switched_off: true };
  assert.deepEqual(againstMoving(short, truth(), 'created'), ['leaves the wallet 3 below its threshold']);
  assert.deepEqual(againstMoving({ ...short, spare: '0' }, truth(), 'created'), []);
  assert.equal(PEOPLE, 2);
});

test('signed bytes are given to a node for the first time only by a process that has asked, and under their own nonce', async () => {
  const said: string[] = [];
  const signing = openSigning({
    truth: { now: () => NOW } as unknown as Truth,
    own: truth(),
    violated: (what) => said.push(what),
  });
  const bytes = { to: '0xcold1', contract: '0xusdc', units: 700n, nonce: 3n };
  const row = { key: TRANSFER.key, nonce: '3', contract: '0xusdc', call: '0xcold1 700' };
  signing.offers('P1', bytes);
  assert.match(said.splice(0).join(), /was not signed for any key/);
  await signing.signing(['1'], async (text) => (text.includes('treasury_transfers') ? [TRANSFER] : [row]));
  assert.equal(signing.looked, 1);
  signing.lets('P1', TRANSFER.key);
  signing.offers('P1', bytes);
  assert.deepEqual(said, []);
  signing.offers('P2', bytes);
  assert.match(said.splice(0).join(), /by a process that has not asked/);
  signing.offers('P1', { ...bytes, nonce: 4n });
  assert.match(said.splice(0).join(), /was not signed for any key/);
  signing.left(bytes);
  signing.offers('P2', bytes);
  assert.deepEqual(said, [], 'what a node has may be broadcast again');
});
