/**
 * Money put away at an own address outside the server: two people for each step, one gate, sent once whatever is interrupted, and
 * books that agree with the chain to the unit afterwards.
 *
 * Long because its stories share one server.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { replaceDenyList } from '../../src/compliance/index.ts';
import { chart } from '../../src/ledger/index.ts';
import { setRule } from '../../src/operators/index.ts';
import { type ChainRail, trustFundingSource } from '../../src/rails/chain.ts';
import { reconcileRail } from '../../src/reconcile/index.ts';
import { setThreshold } from '../../src/treasury/index.ts';
import { confirmedBy, oneOrTwoDo, type Person } from '../protocols/operator/people.ts';
import { openStaffedStory, operatorIn } from '../support/staffed.ts';
import { nativeOf, type Story } from '../support/story.ts';
import { operatorTypes } from '../support/terminal.ts';

const CHAIN = 'evm.matic20';
const USDC = 'usdc.matic20';
const HOUR_MS = 3_600_000;
const MILLION = 1_000_000n;

let world: Story;
let ada: Person;
let bea: Person;
let cleo: Person;
let nia: Person;
let cold = { id: '', address: '' };

before(async () => {
  ({ world, ada, bea, cleo, nia } = await openStaffedStory(
    { ada: 'finance', bea: 'finance', cleo: 'admin', nia: 'night' },
    { settings: { DESTINATION_COOLING_OFF_S: '3600' } },
  ));
  cold = await registered();
});
after(async () => await world?.close());
beforeEach(() => {
  // A job waits five seconds of the clock before it asks the gate again.
  world.clock.advance(5_000);
});

const hot = () => world.balance(chart.custody(CHAIN, 'hot', USDC));
const put = async (id = cold.id) => (await world.balance(chart.custody(CHAIN, `own.${id}`, USDC))).units;
const rail = (): ChainRail => world.server.rails.get(CHAIN) as ChainRail;
const sendsOf = (key: string) =>
  world.read((tx) =>
    tx.rows<{ state: string; nonce: bigint }>('select state, nonce from chain_sends where key = $1', [key]),
  );

/** Proposed by ada and confirmed by bea. */
const both = async (path: string, body: Record<string, unknown> = {}) => {
  const said = await ada.does(path, body);
  assert.equal(said.status, 202, JSON.stringify(said.body));
  return await confirmedBy(bea, said);
};

/** An own address whose cooling-off time is over. */
async function registered(address = world.newAddress()): Promise<{ id: string; address: string }> {
  const done = await both('/treasury/own-addresses', { rail: CHAIN, address, label: 'the safe in Basel' });
  assert.equal(done.status, 200, JSON.stringify(done.body));
  world.clock.advance(HOUR_MS);
  const { addresses } = (await ada.reads('/treasury/own-addresses')).body;
  const { id } = addresses.find((one: { address: string }) => one.address.toLowerCase() === address);
  return { id, address };
}

const path = (id = cold.id) => `/treasury/own-addresses/${id}/transfers`;
const asks = (amount: string, id = cold.id) => ada.does(path(id), { asset: USDC, amount });
/** @returns the transfer's key */
async function sends(amount: string, id = cold.id): Promise<string> {
  const done = await both(path(id), { asset: USDC, amount });
  assert.equal(done.status, 200, JSON.stringify(done.body));
  return done.body.transfer;
}

interface Shown {
  key: string;
  state: string;
  why: string | null;
  people: string[];
  reference: string | null;
}
async function shown(key: string): Promise<Shown> {
  const { transfers } = (await ada.reads('/treasury/own-transfers')).body;
  return transfers.find((one: Shown) => one.key === key);
}
const becomes = (key: string, what: (one: Shown) => boolean) =>
  world.until(`${key} is as expected`, async () => {
    await world.mines(1);
    world.clock.advance(5_000);
    const one = await shown(key);
    return what(one) && one;
  });
const settles = (key: string) => becomes(key, ({ state }) => state === 'settled');
const heldCase = async (key: string): Promise<string | undefined> =>
  (await ada.reads('/cases?kind=transfer_held')).body.cases.find((one: { subject: string }) => one.subject === key)
    ?.reason;

test('two people put tokens away: custody moves, only the fee of the chain is spent, and the books agree with it', async () => {
  const native = nativeOf('matic20');
  const [before, gas, spent] = [
    await world.balances(),
    await world.balance(chart.custody(CHAIN, 'hot', native)),
    await world.balance(chart.cost(CHAIN, native)),
  ];
  const key = await sends('25');
  const { people, reference } = await settles(key);
  assert.deepEqual(people, ['ada', 'bea']);
  assert.match(String(reference), /^0x[0-9a-f]{64}$/);
  assert.equal(await world.tokensOf(cold.address, 'usdc'), '25');
  const changes = await world.changesSince(before);
  assert.equal(changes[`custody:${CHAIN}:hot:${USDC}`], -25n * MILLION);
  assert.equal(changes[`custody:${CHAIN}:own.${cold.id}:${USDC}`], 25n * MILLION);
  assert.equal(changes[`treasury:${USDC}`] ?? 0n, 0n, 'what is ours changed by moving it');
  const fee = (await world.balance(chart.cost(CHAIN, native))).units - spent.units;
  assert.ok(fee > 0n);
  assert.equal((await world.balance(chart.custody(CHAIN, 'hot', native))).units, gas.units - fee);
  assert.equal((await hot()).heldUnits, 0n);
  await world.reconciles();
  const { balances } = (await ada.reads('/treasury/balances')).body;
  const own = balances.find(
    (one: { wallet: string; asset: string }) => one.wallet === `own.${cold.id}` && one.asset === USDC,
  );
  assert.deepEqual([own.ledgerUnits, own.differenceUnits, own.breaks], ['25', '0', '0']);
});

test('one person moves nothing: not alone, not twice, not without the right, and of two who confirm at once one does', async () => {
  const before = await hot();
  const said = await asks('3');
  assert.equal(said.status, 202);
  const confirm = `/proposals/${said.body.proposal}/confirm`;
  assert.equal((await ada.does(confirm)).body.reason, 'own_proposal');
  assert.equal((await nia.does(confirm)).body.reason, 'role_missing');
  assert.equal((await nia.does(path(), { asset: USDC, amount: '3' })).body.reason, 'role_missing');
  assert.deepEqual(await hot(), before, 'a proposal set money aside');
  const answers = await Promise.all([bea.does(confirm), cleo.does(confirm), bea.does(confirm), cleo.does(confirm)]);
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409, 409, 409]);
  const key = answers.find(({ status }) => status === 200)?.body.transfer;
  await settles(key);
  assert.equal((await hot()).units, before.units - 3n * MILLION);
  assert.equal((await bea.does(confirm)).body.reason, 'proposal_over');
});

test('two people cannot split what takes three: each transfer counts, also to one address', async () => {
  const [tia, tom] = [await operatorIn(world, 'tia', 'treasury'), await operatorIn(world, 'tom', 'treasury')];
  const rule = { action: 'transfer.send', right: '*', asset: USDC };
  const limits = [
    { ...rule, aboveUnits: 0n, people: 2 },
    { ...rule, aboveUnits: 5n * MILLION, people: 3 },
  ];
  await world.read(async (tx) => {
    for (const one of limits) await setRule(tx, one);
  });
  const ask = () => tia.does(path(), { asset: USDC, amount: '3' });
  const done = await confirmedBy(tom, await ask());
  assert.equal(done.status, 200, JSON.stringify(done.body));
  await settles(done.body.transfer);
  const again = await ask();
  assert.deepEqual([again.status, again.body.people], [202, 3], 'two people sent 6 in pieces of 3');
  const agreed = await confirmedBy(tom, again);
  assert.deepEqual([agreed.status, agreed.body.outcome], [202, 'agreed']);
  const third = await confirmedBy(cleo, again);
  assert.equal(third.status, 200, JSON.stringify(third.body));
  await settles(third.body.transfer);
  await world.read(async (tx) => {
    for (const one of limits) await setRule(tx, { ...one, people: null });
  });
});

test('a process that dies before it sends, or before it knows that it has sent, sends once', async () => {
  const before = await put();
  const { sendFrom } = rail();
  let deaths = 0;
  rail().sendFrom = async (...args) => {
    if (!args[1].key.startsWith('transfer:')) return await sendFrom(...args);
    deaths += 1;
    if (deaths === 1) throw new Error('killed before it sent');
    const sent = await sendFrom(...args);
    if (deaths === 2) throw new Error('killed before it knew');
    return sent;
  };
  try {
    const key = await sends('4');
    await settles(key);
    assert.equal(deaths, 2, 'it was sent again although its transaction was stored');
    assert.equal((await sendsOf(key)).length, 1);
    assert.equal(await put(), before + 4n * MILLION);
  } finally {
    rail().sendFrom = sendFrom;
  }
  await world.reconciles();
});

test('a lost node loses and repeats nothing', async () => {
  const before = await put();
  let key = '';
  await world.nodeDown(async () => {
    key = await sends('2');
    await world.until('it was tried', async () => (await shown(key)).why !== null);
  });
  await settles(key);
  assert.equal(await put(), before + 2n * MILLION);
  assert.equal((await sendsOf(key)).length, 1);
});

test('a kill switch holds it, also one that is set while its transaction is reserved, and it leaves when that is lifted', async () => {
  const { sendFrom } = rail();
  const switches = { kind: 'payouts', subject: 'all' };
  for (const isReserved of [false, true]) {
    const before = await put();
    const off = async () => assert.equal((await nia.does('/kill-switches', switches)).status, 200);
    if (isReserved) {
      // After the job has asked the gate, and before the rail asks it again.
      rail().sendFrom = async (...args) => {
        rail().sendFrom = sendFrom;
        await off();
        return await sendFrom(...args);
      };
    } else await off();
    const key = await sends('1');
    const { state, why } = await becomes(key, (one) => /kill switch/.test(one.why ?? ''));
    assert.equal(state, 'created', why ?? '');
    assert.deepEqual(await sendsOf(key), [], 'a transaction is reserved or signed');
    assert.equal(await put(), before);
    assert.equal((await oneOrTwoDo(ada, bea, '/kill-switches/lift', switches)).status, 200);
    await settles(key);
    assert.equal(await put(), before + MILLION);
  }
});

test('an address on a deny list gets nothing, however many agreed before, and a cancelled transfer frees its money', async () => {
  const other = await registered();
  const said = await asks('6', other.id);
  assert.equal(said.status, 202);
  const before = await hot();
  const { sendFrom } = rail();
  const { vault } = world.server;
  const deny = (...values: string[]) =>
    world.read((tx) =>
      replaceDenyList(tx, vault, {
        ...{ list: 'test', version: String(values.length), now: world.clock.now() },
        destinations: values.map((value) => ({ kind: 'address' as const, value })),
      }),
    );
  // The list comes after two people agreed and after the job's own look.
  rail().sendFrom = async (...args) => {
    rail().sendFrom = sendFrom;
    await deny(other.address);
    return await sendFrom(...args);
  };
  const done = await confirmedBy(bea, said);
  const key = done.body.transfer;
  await becomes(key, (one) => one.why === 'screening denies its address');
  assert.deepEqual(await sendsOf(key), []);
  await world.until('people are told', async () => (await heldCase(key)) === 'screening denies its address');
  assert.equal(await world.tokensOf(other.address, 'usdc'), '0');
  assert.equal((await asks('1', other.id)).body.reason, 'destination_held');
  assert.equal((await hot()).heldUnits, before.heldUnits + 6n * MILLION);
  assert.equal((await nia.does(`/treasury/own-transfers/${key}/cancel`)).status, 200);
  assert.deepEqual(await hot(), before);
  assert.equal(await heldCase(key), undefined);
  assert.equal((await nia.does(`/treasury/own-transfers/${key}/cancel`)).body.reason, 'does_not_fit');
  const fresh = world.newAddress();
  await deny(other.address, fresh);
  const denied = await ada.does('/treasury/own-addresses', { rail: CHAIN, address: fresh, label: 'a new safe' });
  assert.equal(denied.body.reason, 'destination_held');
  await deny();
});

test('an address that is denied while a kill switch is on holds the transfer at once, and not when the switch is lifted', async () => {
  const other = await registered();
  const switches = { kind: 'payouts', subject: 'all' };
  const deny = (...values: string[]) =>
    world.read((tx) =>
      replaceDenyList(tx, world.server.vault, {
        ...{ list: 'test', version: `switch ${values.length}`, now: world.clock.now() },
        destinations: values.map((value) => ({ kind: 'address' as const, value })),
      }),
    );
  assert.equal((await nia.does('/kill-switches', switches)).status, 200);
  const key = (await confirmedBy(bea, await asks('3', other.id))).body.transfer;
  await becomes(key, (one) => /kill switch/.test(one.why ?? ''));
  await deny(other.address);
  world.clock.advance(5_000);
  await becomes(key, (one) => one.why === 'screening denies its address');
  await world.until('people are told', async () => (await heldCase(key)) === 'screening denies its address');
  assert.equal((await nia.does(`/treasury/own-transfers/${key}/cancel`)).status, 200);
  await deny();
  assert.equal((await oneOrTwoDo(ada, bea, '/kill-switches/lift', switches)).status, 200);
});

test('a transfer that is cancelled while its job is about to ask the gate leaves no case open', async () => {
  const { status } = rail();
  const sent = Promise.withResolvers<string>();
  let isCancelled = false;
  // Its job may ask before we know its key, and jobs of other transfers ask, too.
  rail().status = async (asked) => {
    const answer = await status(asked);
    if (!asked.startsWith('transfer:') || asked !== (await sent.promise)) return answer;
    rail().status = status;
    assert.equal((await nia.does(`/treasury/own-transfers/${asked}/cancel`)).status, 200);
    isCancelled = true;
    return answer;
  };
  const key = await sends('1');
  sent.resolve(key);
  await world.until('its job has ended', async () => {
    world.clock.advance(5_000);
    const jobs = await world.read((tx) => tx.rows('select 1 from jobs where subject = $1', [key]));
    return isCancelled && jobs.length === 0;
  });
  assert.equal((await shown(key)).state, 'cancelled');
  assert.equal(await heldCase(key), undefined, 'a case about a transfer that was cancelled is open');
});

test('limits: not more than is free, not below the low threshold, and not two that fit only alone', async () => {
  const { units, heldUnits } = await hot();
  const free = units - heldUnits;
  const text = (of: bigint) => `${of / MILLION}.${String(of % MILLION).padStart(6, '0')}`;
  const threshold = { rail: CHAIN, wallet: 'hot', asset: USDC, alarmUnits: 0n };
  await world.read((tx) => setThreshold(tx, { ...threshold, lowUnits: 0n }));
  assert.equal((await asks(text(free + 1n))).body.reason, 'funds_short');
  await world.read((tx) => setThreshold(tx, { ...threshold, lowUnits: free - 10n * MILLION }));
  assert.equal((await asks('10.000001')).body.reason, 'funds_short');
  for (const amount of ['0', '-1', '0.0000001', 'x']) assert.equal((await asks(amount)).status, 400, amount);
  const other = await registered();
  const proposals = [await asks('7'), await asks('8', other.id)];
  assert.deepEqual(
    proposals.map(({ status }) => status),
    [202, 202],
  );
  const answers = await Promise.all(proposals.map((said) => bea.does(`/proposals/${said.body.proposal}/confirm`)));
  const outcomes = answers.map(({ status, body }) => (status === 200 ? 'done' : body.reason)).toSorted();
  assert.deepEqual(outcomes, ['done', 'funds_short']);
  const { transfers } = (await ada.reads('/treasury/own-transfers?limit=1')).body;
  await settles(transfers[0].key);
  assert.equal((await asks('10')).body.reason, 'funds_short');
  await world.read((tx) => setThreshold(tx, { ...threshold, lowUnits: 0n }));
  const native = await ada.does(path(), { asset: nativeOf('matic20'), amount: '1' });
  assert.equal(native.body.reason, 'does_not_fit');
});

test('a rule that asks for more people by now holds what fewer agreed to', async () => {
  const rule = { action: 'transfer.send', right: 'treasury', asset: '*', aboveUnits: 0n };
  const { sendFrom } = rail();
  rail().sendFrom = async (...args) => {
    rail().sendFrom = sendFrom;
    await world.read((tx) => setRule(tx, { ...rule, people: 3 }));
    return await sendFrom(...args);
  };
  const key = await sends('1');
  await becomes(key, (one) => one.why === 'the rules now require 3 people');
  assert.deepEqual(await sendsOf(key), []);
  const said = await asks('1');
  assert.equal(said.body.people, 3);
  await world.read((tx) => setRule(tx, { ...rule, people: null }));
  await settles(key);
  assert.equal((await ada.does(`/proposals/${said.body.proposal}/decline`)).status, 200);
});

test('an address is registered by two, is no address of this server or of a customer, and waits out its time', async () => {
  const address = world.newAddress();
  const asked = { rail: CHAIN, address, label: 'a second safe' };
  const said = await ada.does('/treasury/own-addresses', asked);
  assert.equal(said.status, 202);
  assert.equal((await ada.does(`/proposals/${said.body.proposal}/confirm`)).body.reason, 'own_proposal');
  assert.equal((await nia.does('/treasury/own-addresses', asked)).body.reason, 'role_missing');
  assert.equal((await confirmedBy(bea, said)).status, 200);
  const { addresses } = (await ada.reads('/treasury/own-addresses')).body;
  const { id } = addresses.at(-1);
  const early = await asks('1', id);
  assert.match(early.body.error, /usable from/);
  world.clock.advance(HOUR_MS);
  const waits = await asks('1', id);
  assert.equal(waits.status, 202);
  assert.equal((await nia.does(`/treasury/own-addresses/${id}/end`)).status, 200);
  assert.equal((await bea.does(`/proposals/${waits.body.proposal}/confirm`)).body.reason, 'proposal_overtaken');
  assert.equal((await asks('1', id)).body.reason, 'does_not_fit');
  // Registered again it waits again, under the same number.
  assert.equal((await both('/treasury/own-addresses', asked)).status, 200);
  assert.match((await asks('1', id)).body.error, /usable from/);

  const purchase = await world.buys('5000', 'usdc');
  const sale = await world.sells('50', 'usdc');
  for (const [taken, why] of [
    [rail().walletAddresses.hot, /wallet or deposit address of this server/],
    [sale.depositAddress, /wallet or deposit address of this server/],
    [purchase.address, /money of customers/],
    [cold.address, /is registered/],
  ] as const) {
    const { body } = await ada.does('/treasury/own-addresses', { ...asked, address: taken });
    assert.equal(body.reason, 'does_not_fit', JSON.stringify(body));
    assert.match(body.error, why);
  }
  for (const wrong of [{ address: '0x12' }, { rail: 'bank.simulated' }])
    assert.equal((await ada.does('/treasury/own-addresses', { ...asked, ...wrong })).body.reason, 'malformed_field');
});

test('an address that is ended after people agreed gets nothing, and its transfer is cancelled', async () => {
  const other = await registered();
  const { sendFrom } = rail();
  rail().sendFrom = async (...args) => {
    rail().sendFrom = sendFrom;
    assert.equal((await nia.does(`/treasury/own-addresses/${other.id}/end`)).status, 200);
    return await sendFrom(...args);
  };
  const key = await sends('1', other.id);
  await becomes(key, (one) => one.why === 'its address is no longer registered as ours');
  assert.deepEqual(await sendsOf(key), []);
  assert.equal((await nia.does(`/treasury/own-transfers/${key}/cancel`)).status, 200);
  assert.equal(await world.tokensOf(other.address, 'usdc'), '0');
});

test('a transfer is either cancelled or sent, never both, whatever comes first', async () => {
  const { sendFrom } = rail();
  const before = await hot();
  // Cancelled after the job has asked the gate: the rail asks it again.
  rail().sendFrom = async (...args) => {
    rail().sendFrom = sendFrom;
    assert.equal((await nia.does(`/treasury/own-transfers/${args[1].key}/cancel`)).status, 200);
    return await sendFrom(...args);
  };
  const key = await sends('1');
  await becomes(key, ({ state }) => state === 'cancelled');
  await world.until('the reservation is given up', async () => (await sendsOf(key)).length === 0);
  assert.deepEqual(await hot(), before);
  const other = await sends('1');
  await world.until('it is sent', async () => (await sendsOf(other)).length === 1);
  const late = await nia.does(`/treasury/own-transfers/${other}/cancel`);
  assert.equal(late.body.reason, 'does_not_fit');
  await settles(other);
});

test('what lay at an address before is found by reconciliation, and booked by two', async () => {
  const other = await registered();
  const payer = await world.sells('5', 'usdc');
  await world.pays({ ...payer, depositAddress: other.address }, '5');
  await world.mines(13);
  const one = await world.until('the break is found', async () => {
    await reconcileRail({ db: world.server.db, clock: world.clock, graceMs: 0 }, rail(), 'begin');
    const { breaks } = (await ada.reads('/breaks')).body;
    return breaks.find(
      ({ wallet, transit }: Record<string, unknown>) => wallet === `own.${other.id}` && transit === null,
    );
  });
  assert.equal(one.differenceUnits, '5');
  const done = await both(`/breaks/${one.id}/correct`, { as: 'found', evidence: one.names[0] ?? one.key, amount: '5' });
  assert.equal(done.status, 200, JSON.stringify(done.body));
  await settles(await sends('2', other.id));
  assert.equal(await put(other.id), 7n * MILLION);
  await world.reconciles();
});

/** Sends tokens from an own address to the hot wallet. */
async function sendsBack(from: string, units: bigint): Promise<void> {
  const { hot: to } = rail().walletAddresses;
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to as Hex, units] });
  const token = world.tokenAddress('usdc', 'matic20');
  await world.rpc('matic20', 'anvil_setBalance', [from, '0xde0b6b3a7640000']);
  await world.rpc('matic20', 'anvil_impersonateAccount', [from]);
  await world.rpc('matic20', 'eth_sendTransaction', [{ from, to: token, data }]);
}

test('what comes back from an own address is ours again, and no money of an unknown sender', async () => {
  const other = await registered();
  await settles(await sends('6', other.id));
  const before = await world.balances();
  const comesBack = async (left: bigint) => {
    await sendsBack(other.address, 3n * MILLION);
    await world.until('it is booked', async () => {
      await world.mines(1);
      return (await put(other.id)) === left;
    });
  };
  await comesBack(3n * MILLION);
  // Also where operators have listed it as a source of their own money.
  await trusts(other.address);
  await comesBack(0n);
  const changes = await world.changesSince(before);
  assert.equal(changes[`custody:${CHAIN}:hot:${USDC}`], 6n * MILLION);
  assert.equal(changes[`suspense:${CHAIN}:${USDC}`] ?? 0n, 0n);
  assert.equal(changes[`treasury:${USDC}`] ?? 0n, 0n);
  await world.reconciles();
});

const trusts = (address: string) => world.read((tx) => trustFundingSource(tx, CHAIN, address, 'the safe'));

/** Money is put away, and sent back in two parts, before the books have the first transfer. */
async function comesBackEarly(other: { id: string; address: string }): Promise<void> {
  const before = await world.balances();
  const opened = async () => (await ada.reads('/cases?kind=unexpected_credit')).body.cases;
  const others = await opened();
  const key = await sends('6', other.id);
  await world.until('it is in a block', async () => {
    await world.mines(1);
    return (await world.tokensOf(other.address, 'usdc')) === '6';
  });
  await sendsBack(other.address, 2n * MILLION);
  await sendsBack(other.address, 3n * MILLION);
  // Usually one step of the follower finds all of it final, and reads what came back first. On a busy machine it may look in between.
  await world.mines(20);
  await settles(key);
  await world.until('what came back is booked', async () => (await put(other.id)) === MILLION);
  const changes = await world.changesSince(before);
  assert.equal(changes[`custody:${CHAIN}:hot:${USDC}`], -MILLION);
  assert.equal(changes[`suspense:${CHAIN}:${USDC}`] ?? 0n, 0n);
  assert.equal(changes[`treasury:${USDC}`] ?? 0n, 0n, 'money that came back was booked as new');
  assert.deepEqual(await opened(), others);
  await world.reconciles();
}

test('what comes back before the books have its transfer is ours again once they have it, also in parts', async () =>
  await comesBackEarly(await registered()));

test('the same where the own address becomes a funding source later', async () => {
  const other = await registered();
  await trusts(other.address);
  await comesBackEarly(other);
});

test('the same where a funding source becomes an own address later, but not where that was a mistake that was ended', async () => {
  const address = world.newAddress();
  await trusts(address);
  await comesBackEarly(await registered(address));

  const mistaken = world.newAddress();
  await trusts(mistaken);
  const { id } = await registered(mistaken);
  assert.equal((await nia.does(`/treasury/own-addresses/${id}/end`)).status, 200);
  const payer = await world.sells('5', 'usdc');
  await world.pays({ ...payer, depositAddress: mistaken }, '5');
  await world.mines(1);
  const before = await world.balances();
  await sendsBack(mistaken, 5n * MILLION);
  await world.until('it is booked as funding', async () => {
    await world.mines(1);
    return (await world.changesSince(before))[`treasury:${USDC}`] === 5n * MILLION;
  });
});

test('at a terminal: registered, sent, listed', async () => {
  const types = (person: Person, ...words: string[]) =>
    operatorTypes({ baseUrl: world.server.baseUrl, token: person.token, cwd: world.dataDir }, words);
  const address = world.newAddress();
  const said = await types(
    ada,
    'treasury',
    'register',
    CHAIN,
    address,
    'a third safe',
    '--reason',
    'more to store',
    '--json',
  );
  assert.equal(said.code, 3, said.err);
  const proposal = JSON.parse(said.out).proposal;
  assert.equal((await types(bea, 'confirm', proposal, '--reason', 'looked at')).code, 0);
  const list = await types(ada, 'treasury', 'addresses');
  assert.match(list.out, /a third safe/);
  const { addresses } = (await ada.reads('/treasury/own-addresses')).body;
  world.clock.advance(HOUR_MS);
  const sent = await types(
    ada,
    'treasury',
    'send',
    addresses.at(-1).id,
    USDC,
    '1',
    '--reason',
    'to the safe',
    '--json',
  );
  assert.equal(sent.code, 3, sent.err);
  const done = await types(bea, 'confirm', JSON.parse(sent.out).proposal, '--reason', 'looked at', '--json');
  assert.equal(done.code, 0, done.err);
  const { transfer } = JSON.parse(done.out);
  assert.match((await types(ada, 'treasury', 'own-transfers')).out, new RegExp(transfer));
  await settles(transfer);
});
