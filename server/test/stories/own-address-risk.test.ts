/**
 * A transfer to an own address is screened like other money that leaves: a hit holds it until two people accept the risk for this
 * address, and without a recent result it waits.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { ChainRail } from '../../src/rails/chain.ts';
import { confirmedBy, type Person } from '../protocols/operator/people.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Story } from '../support/story.ts';

const CHAIN = 'evm.matic20';
const USDC = 'usdc.matic20';
const MAX_AGE_S = 3_600;

let world: Story;
let ada: Person;
let bea: Person;

before(async () => {
  const settings = {
    ADDRESS_RISK: 'simulated',
    ADDRESS_RISK_MAX_AGE_S: String(MAX_AGE_S),
    DESTINATION_COOLING_OFF_S: '3600',
  };
  ({ world, ada, bea } = await openStaffedStory({ ada: 'admin', bea: 'admin' }, { settings }));
});
after(async () => await world?.close());
beforeEach(() => {
  // A job waits five seconds of the clock before it asks the gate again.
  world.clock.advance(5_000);
});

const rail = (): ChainRail => world.server.rails.get(CHAIN) as ChainRail;
const both = async (path: string, body: Record<string, unknown> = {}) => {
  const done = await confirmedBy(bea, await ada.does(path, body));
  assert.equal(done.status, 200, JSON.stringify(done.body));
  return done.body;
};
/** An own address with this end, whose cooling-off time is over. */
async function registered(ending: string): Promise<{ id: string; address: string }> {
  const address = `${world.newAddress().slice(0, -ending.length)}${ending}`;
  await both('/treasury/own-addresses', { rail: CHAIN, address, label: 'a safe' });
  world.clock.advance(3_600_000);
  const { addresses } = (await ada.reads('/treasury/own-addresses')).body;
  return addresses.find((one: { address: string }) => one.address.toLowerCase() === address);
}
const sends = async (id: string): Promise<string> =>
  (await both(`/treasury/own-addresses/${id}/transfers`, { asset: USDC, amount: '1' })).transfer;

interface Shown {
  key: string;
  state: string;
  why: string | null;
}
const becomes = (key: string, what: (one: Shown) => boolean) =>
  world.until(`${key} is as expected`, async () => {
    await world.mines(1);
    world.clock.advance(5_000);
    const { transfers } = (await ada.reads('/treasury/own-transfers')).body;
    const one = transfers.find((each: Shown) => each.key === key);
    return what(one) && one;
  });
const settles = (key: string) => becomes(key, ({ state }) => state === 'settled');
const casesOf = async (kind: string): Promise<string[]> =>
  (await ada.reads(`/cases?kind=${kind}`)).body.cases.map(({ subject }: { subject: string }) => subject);
const sendsOf = (key: string) => world.read((tx) => tx.rows('select state from chain_sends where key = $1', [key]));
const SCREENED_FIRST = /its addresses must be screened first/;

test('one that the provider calls risky gets nothing until two people accept the risk for it', async () => {
  const to = await registered('bad4');
  const key = await sends(to.id);
  await becomes(key, ({ why }) => why === 'screening denies its address');
  assert.deepEqual(await sendsOf(key), []);
  assert.ok((await casesOf('transfer_held')).includes(key));
  const { hits } = (await ada.reads('/address-risk/hits?state=open')).body;
  const hit = hits.find(({ owner }: { owner: string }) => owner === `own:${to.id}`);
  assert.deepEqual([hit.level, hit.subject, hit.customerId], ['severe', 'destination', null]);
  assert.equal(
    (await ada.does(`/treasury/own-addresses/${to.id}/transfers`, { asset: USDC, amount: '1' })).status,
    409,
  );
  await both(`/address-risk/hits/${hit.id}/dismiss`);
  await settles(key);
  assert.deepEqual(await casesOf('transfer_held'), []);
  assert.equal(await world.tokensOf(to.address, 'usdc'), '1');
});

test('while the provider does not answer about it, it waits, with one case', async () => {
  const to = await registered('bad5');
  const keys = [await sends(to.id), await sends(to.id)];
  for (const key of keys) {
    await becomes(key, ({ why }) => SCREENED_FIRST.test(why ?? ''));
    assert.deepEqual(await sendsOf(key), []);
  }
  assert.deepEqual(await casesOf('screening_unavailable'), ['address risk simulated']);
  assert.deepEqual(await casesOf('transfer_held'), []);
  for (const key of keys) assert.equal((await ada.does(`/treasury/own-transfers/${key}/cancel`)).status, 200);
});

test('a result that becomes too old after the job has looked lets it wait, and the job asks again', async () => {
  const to = await registered('5c5c');
  const { sendFrom } = rail();
  let seen: string | null = null;
  rail().sendFrom = async (...args) => {
    rail().sendFrom = sendFrom;
    world.clock.advance((MAX_AGE_S + 1) * 1_000);
    const sent = await sendFrom(...args);
    seen = 'why' in sent ? String(sent.why) : sent.outcome;
    return sent;
  };
  const key = await sends(to.id);
  await settles(key);
  assert.match(String(seen), SCREENED_FIRST);
  const answers = (await ada.reads(`/address-risk/answers?address=${to.address}`)).body.answers;
  assert.equal(answers.length, 2);
});
