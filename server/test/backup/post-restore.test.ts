/**
 * A database restored to a time before the latest movements of chain and bank. Nothing is paid again, no deposit is lost, and after
 * each drill the books agree with chain and bank, item by item, by the actions that docs/operating/backup.md names.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { formatUnits } from '../../src/base/money.ts';
import { balancesOf } from '../../src/ledger/index.ts';
import { setRule } from '../../src/operators/index.ts';
import { CHAIN_RAIL, type Drills, openDrills } from '../support/drills.ts';

let w: Drills;

before(async () => {
  w = await openDrills();
});
after(async () => await w?.close());

const someone = (): string => `0x${randomBytes(20).toString('hex')}`;
const stops = (subject: string) => w.operates('/kill-switches', { kind: 'rail', subject });

/** The step of the page after all movements are matched: lifting the switch must not pay anything again. */
async function letsPayoutsGo(): Promise<void> {
  await w.lifts('payouts', 'all');
}

test('a payout sent after the backup is adopted from the chain by itself and paid once', async () => {
  await stops(CHAIN_RAIL);
  const order = await w.buys('100');
  w.pays(order);
  await w.takesStatements();
  await w.reaches(order.id, 'paying_out');
  const restores = await w.backup();
  await w.lifts('rail', CHAIN_RAIL);
  await w.reaches(order.id, 'settled');
  const paid = await w.paidTo(order.address);
  assert.equal(paid.length, 1);

  await restores();
  // Also where both switches are lifted at once, before a person has checked.
  await w.lifts('rail', CHAIN_RAIL);
  await letsPayoutsGo();
  await w.reaches(order.id, 'settled');
  const next = await w.buys('50');
  w.pays(next);
  await w.takesStatements();
  await w.reaches(next.id, 'settled');
  assert.deepEqual(await w.paidTo(order.address), paid, 'the payout was paid a second time');
  assert.deepEqual(await w.openCases(), []);
  await w.isClean();
});

test('two equal payouts are not matched automatically: both wait with a case until two people match them, and each is paid once', async () => {
  await stops(CHAIN_RAIL);
  const recipient = someone();
  const orders = [await w.buys('30', recipient), await w.buys('30', recipient)];
  for (const order of orders) w.pays(order);
  await w.takesStatements();
  for (const { id } of orders) await w.reaches(id, 'paying_out');
  const restores = await w.backup();
  await w.lifts('rail', CHAIN_RAIL);
  for (const { id } of orders) await w.reaches(id, 'settled');

  await restores();
  await w.lifts('rail', CHAIN_RAIL);
  await letsPayoutsGo();
  const cases = await w.until('both movements have a case', async () => {
    const found = await w.casesOf('movement_unmatched');
    return found.length === 2 && found;
  });
  // An operator in a hurry lifts the switch, and still nothing leaves for that recipient.
  await w.until('the rail is stopped', async () => (await w.casesOf('rail_halted')).length === 1);
  await w.lifts('rail', CHAIN_RAIL);
  const other = await w.buys('20');
  w.pays(other);
  await w.takesStatements();
  await w.reaches(other.id, 'settled');
  assert.equal((await w.paidTo(recipient)).length, 2, 'it was paid again');

  const [movement] = cases.map(({ subject }) => subject.replace('movement:', ''));
  const [first, second] = orders.map(({ id }) => id);
  const wrong = await w.operates(`/movements/${movement}/match`, { key: `pay_${other.id}_1` });
  const refused = await w.tries(`/proposals/${wrong.proposal}/confirm`, {}, w.secondToken());
  assert.equal(refused.status, 409, JSON.stringify(refused));
  await w.twoDo(`/movements/${movement}/match`, { key: `pay_${first}_1` });
  await w.reaches(first ?? 0n, 'settled');
  // Now only the other payout fits.
  await w.reaches(second ?? 0n, 'settled');
  assert.equal((await w.paidTo(recipient)).length, 2, 'it was paid again');
  await w.until('no case is open', async () => (await w.openCases()).length === 0);
  await w.isClean();
});

test('a payment of a lost order has no row: two people declare it foreign, and book what it paid', async () => {
  const restores = await w.backup();
  const recipient = someone();
  const lost = await w.buys('40', recipient);
  w.pays(lost);
  await w.takesStatements();
  await w.reaches(lost.id, 'settled');

  await restores();
  const [found] = await w.until('the movement has a case', async () => {
    const cases = await w.casesOf('movement_unmatched');
    return cases.length > 0 && cases;
  });
  await w.takesStatements();
  const [deposit] = await w.until('its payment lies in suspense, with its reference', async () => {
    const cases = await w.casesOf('deposit_unknown_target');
    return cases.length > 0 && cases;
  });
  assert.equal(deposit?.facts.target, lost.reference);
  const { body } = await w.tries(`/movements/${found?.subject.replace('movement:', '')}/foreign`, {});
  assert.equal(body.outcome, 'proposed', 'one person declared it foreign');
  await w.operates(`/proposals/${body.proposal}/confirm`, {}, w.secondToken());
  // The rail was halted only because of it, and goes on.
  await w.until('the rail goes on', async () => (await w.casesOf('rail_halted')).length === 0);
  await letsPayoutsGo();
  // The customer's money lies in suspense, and its payout is a loss: two people declare that they belong together.
  const debits = await w.casesOf('unexplained_debit');
  const debit = debits.find(({ facts }) => facts.asset === 'usdc.base');
  const gas = debits.find(({ facts }) => facts.asset === 'eth.base');
  const given = deposit?.subject.replace('deposit:', '');
  const evidence = String(debit?.facts.reference);
  const path = `/cases/${debit?.id}/correct`;
  const left = formatUnits(BigInt(String(debit?.facts.units)), 6);
  const input = { as: 'lost_order', amount: left, evidence, deposit: given };
  for (const [wrong, reason] of [
    [{ deposit: undefined }, 'malformed_field'],
    [{ deposit: '999999999' }, 'unknown_deposit'],
    [{ evidence: 'something else' }, 'does_not_fit'],
    [{ amount: '1' }, 'does_not_fit'],
    [{ as: 'fee' }, 'malformed_field'],
  ] as const)
    assert.equal((await w.tries(path, { ...input, ...wrong })).body.reason, reason, JSON.stringify(wrong));
  await w.operates(`/deposits/${given}/hold`, {});
  assert.equal((await w.tries(path, input)).body.reason, 'does_not_fit', 'a held deposit was accepted');
  await w.operates(`/deposits/${given}/release`, {}).then(async ({ outcome, proposal }) => {
    if (outcome === 'proposed') await w.operates(`/proposals/${proposal}/confirm`, {}, w.secondToken());
  });
  const proposed = await w.operates(path, input);
  assert.equal(proposed.outcome, 'proposed', 'one person booked the correction');
  // Its gas is booked as the cost of a payout.
  const { units: gasUnits, reference: gasReference } = gas?.facts ?? {};
  const fee = { as: 'fee', amount: formatUnits(BigInt(String(gasUnits)), 18), evidence: String(gasReference) };
  await w.twoDo(`/cases/${gas?.id}/correct`, fee);
  // The server is stopped and started again between the two.
  await w.backup();
  const confirm = () => w.tries(`/proposals/${proposed.proposal}/confirm`, {}, w.secondToken());
  const said = await Promise.all([confirm(), confirm()]);
  assert.deepEqual(said.map(({ status }) => status === 200).sort(), [false, true], JSON.stringify(said));
  assert.deepEqual(await w.openCases(), []);
  // The deposit cannot be refunded, because its customer has been paid.
  assert.equal((await w.tries(`/deposits/${given}/refund`, { address: recipient })).status >= 400, true);
  assert.equal((await w.paidTo(recipient)).length, 1);
  const losses = await w.read((tx) => balancesOf(tx, ['loss', 'suspense']));
  assert.deepEqual(
    losses.filter(({ units }) => units !== 0n),
    [],
    'a loss or a balance in suspense remains',
  );
  await w.isClean();
});

test('a payout created again only after the restore is matched with its earlier payment', async () => {
  const order = await w.buys('60');
  const restores = await w.backup();
  w.pays(order);
  await w.takesStatements();
  await w.reaches(order.id, 'settled');

  await restores();
  await letsPayoutsGo();
  // Its bank statement is taken in again, and the order goes on.
  await w.takesStatements();
  await w.reaches(order.id, 'settled');
  assert.equal((await w.paidTo(order.address)).length, 1, 'it was paid again');
  await w.until('no case is open', async () => (await w.openCases()).length === 0);
  await w.isClean();
});

test('two people settle a payout by the hash that one of them knows: only if it is final, ours and in no row; it is paid once', async () => {
  // It takes two, also where the rules let one person act.
  const rule = { action: 'payout.*', right: '*', asset: '*', aboveUnits: 0n };
  await w.read((tx) => setRule(tx, { ...rule, people: 1 }));
  await stops(CHAIN_RAIL);
  const recipient = someone();
  const before = await w.buys('30', recipient);
  w.pays(before);
  await w.takesStatements();
  await w.lifts('rail', CHAIN_RAIL);
  await w.reaches(before.id, 'settled');
  const [known = ''] = await w.hashesTo(recipient);
  await stops(CHAIN_RAIL);
  // Alike, so the server does not match them by itself.
  const orders = [await w.buys('30', recipient), await w.buys('30', recipient)];
  for (const order of orders) w.pays(order);
  await w.takesStatements();
  for (const { id } of orders) await w.reaches(id, 'paying_out');
  const foreign = await w.sendsTokens(recipient, '30');
  await w.isFinal();
  const restores = await w.backup();
  await w.anvil.rpc('evm_setIntervalMining', [0]);
  const ours = async () => (await w.hashesTo(recipient)).filter((hash) => hash !== known && hash !== foreign);
  await w.lifts('rail', CHAIN_RAIL);
  for (const { id } of orders)
    await w.until('it is with the node', async () => (await w.payoutStates(id)).includes('submitted'));
  await w.anvil.mine(1);
  await w.until('both are mined', async () => (await ours()).length === 2);
  const [first = '', second = ''] = await ours();

  await restores();
  await letsPayoutsGo();
  const [one, other] = orders.map(({ id }) => id);
  const path = `/payouts/pay_${one}_1/settle-by`;
  /** One person proposes it, which changes nothing; the answer is the one to the second person. */
  const bothSay = async (hash: string) => {
    const alone = await w.tries(path, { hash });
    assert.deepEqual([alone.status, alone.body.outcome], [202, 'proposed'], JSON.stringify(alone));
    const again = await w.tries(`/proposals/${alone.body.proposal}/confirm`, {});
    assert.ok(again.status >= 400, `one person confirmed it alone: ${JSON.stringify(again)}`);
    assert.equal(await w.stateOf(one ?? 0n), 'paying_out', 'one person settled it alone');
    return await w.tries(`/proposals/${alone.body.proposal}/confirm`, {}, w.secondToken());
  };
  const isRefused = async (hash: string, why: RegExp) => {
    const { status, body } = await bothSay(hash);
    assert.deepEqual([status, body.reason], [409, 'does_not_fit'], JSON.stringify(body));
    assert.match(body.error, why);
  };
  await isRefused(first, /no final block holds/);
  await w.anvil.rpc('evm_setIntervalMining', [1]);
  await w.isFinal();
  await isRefused(foreign, /no final block holds a transaction of our wallet/);
  await isRefused(known, /in the books already/);
  assert.deepEqual(
    (await w.traceOf(one ?? 0n)).payouts.map(({ reference }) => reference),
    [null],
  );
  const settled = await bothSay(second);
  assert.equal(settled.status, 200, JSON.stringify(settled));
  await w.reaches(one ?? 0n, 'settled');
  assert.equal((await w.traceOf(one ?? 0n)).payouts[0]?.reference, second);
  // Now only the other payout fits the other transaction.
  await w.reaches(other ?? 0n, 'settled');
  assert.equal((await w.traceOf(other ?? 0n)).payouts[0]?.reference, first);
  await w.lifts('rail', CHAIN_RAIL);
  assert.equal((await w.paidTo(recipient)).length, 3, 'it was paid again');
  await w.until('no case is open', async () => (await w.openCases()).length === 0);
  await w.isClean();
});
