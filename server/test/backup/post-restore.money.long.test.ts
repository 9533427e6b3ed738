/**
 * The same drills for deposits, refunds and transfers between our own wallets: after a restore from an older backup none of them is
 * lost, doubled or unexplained.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { CHAIN_RAIL, type Drills, openDrills } from '../support/drills.ts';

let w: Drills;

before(async () => {
  w = await openDrills();
});
after(async () => await w?.close());

const someone = (): string => `0x${randomBytes(20).toString('hex')}`;
const noCases = () => w.until('no case is open', async () => (await w.openCases()).length === 0);

test('a sweep and its gas made after the backup are adopted; nothing is moved or booked twice', async () => {
  const sale = await w.sells('100');
  const restores = await w.backup();
  await w.sendsTokens(sale.address, '100');
  await w.reaches(sale.id, 'paying_out');
  const swept = async () => (await w.balanceOf(sale.address)) === '0';
  await w.until('the deposit is swept', swept);
  await w.isFinal();
  const [hotNonce, depositNonce] = [await w.nonceOf(), await w.nonceOf(sale.address)];
  assert.equal(depositNonce, 1);

  await restores();
  await w.lifts('payouts', 'all');
  await w.reaches(sale.id, 'paying_out');
  await w.until('sweep and gas are booked', async () => {
    const rows = await w.read((tx) =>
      tx.rows<{ kind: string }>(`select kind from own_transfers where state = 'settled' and booked_at is not null`),
    );
    return rows.length >= 2;
  });
  await noCases();
  await w.isClean();
  assert.deepEqual(
    [await w.nonceOf(), await w.nonceOf(sale.address)],
    [hotNonce, depositNonce],
    'the sweep or its gas was sent again',
  );
});

test('100 USDC at an address given out after the backup are found: a case names address and number, and they go back by two', async () => {
  const restores = await w.backup();
  const lost = await w.sells('100');
  await restores();
  // The customer pays to the address that was shown.
  const hash = await w.sendsTokens(lost.address, '100');
  const [found] = await w.until('a case names it', async () => {
    const cases = await w.casesOf('deposit_unknown_target');
    return cases.length > 0 && cases;
  });
  assert.equal(found?.facts.target, lost.address);
  assert.equal(typeof found?.facts.index, 'number');
  const looked = (await (await w.asks(`/lookup?text=${hash}`)).json()) as { deposits: { id: string }[] };
  const [deposit] = looked.deposits;
  assert.ok(deposit, 'the deposit is not found by its hash');
  const byAddress = (await (await w.asks(`/lookup?text=${lost.address}`)).json()) as { deposits: { id: string }[] };
  assert.deepEqual(byAddress.deposits, looked.deposits);
  const next = await w.sells('10');
  assert.notEqual(next.address, lost.address, 'its address was given to another order');

  await w.lifts('payouts', 'all');
  const back = someone();
  await w.twoDo(`/deposits/${deposit.id}/refund`, { address: back });
  await w.until('it is refunded', async () => (await w.paidTo(back)).length === 1);
  await w.isFinal();
  await noCases();
  await w.isClean();
});

test('a refund paid after the backup is adopted and not paid again', async () => {
  const unknown = await w.sendsTokens(w.hot, '33');
  const [credit] = await w.until('it is in suspense', async () => {
    const cases = await w.casesOf('unexpected_credit');
    return cases.length > 0 && cases;
  });
  assert.equal(credit?.facts.reference, unknown);
  await w.operates('/kill-switches', { kind: 'rail', subject: CHAIN_RAIL });
  const back = someone();
  const deposit = credit?.subject.replace('deposit:', '');
  await w.twoDo(`/deposits/${deposit}/refund`, { address: back });
  await w.until('its payout waits', async () => {
    const rows = await w.read((tx) => tx.rows('select from payouts where address = $1', [back]));
    return rows.length === 1;
  });
  const restores = await w.backup();
  await w.lifts('rail', CHAIN_RAIL);
  await w.until('it is refunded', async () => (await w.paidTo(back)).length === 1);
  await noCases();

  await restores();
  await w.lifts('rail', CHAIN_RAIL);
  await w.lifts('payouts', 'all');
  await noCases();
  assert.equal((await w.paidTo(back)).length, 1, 'it was refunded again');
  await w.isClean();
});
