/**
 * The same drills for deposits, refunds and transfers between our own wallets: after a restore from an older backup none of them is
 * lost, doubled or unexplained.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { encodeFunctionData, erc20Abi, type Hex } from 'viem';
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

/** An own address that two people registered, whose cooling-off time is over. @returns its path for transfers, too */
async function ownAddress(): Promise<{ address: string; path: string }> {
  const address = someone();
  await w.twoDo('/treasury/own-addresses', { rail: CHAIN_RAIL, address, label: 'the safe in Basel' });
  const { addresses } = (await (await w.asks('/treasury/own-addresses')).json()) as {
    addresses: { id: string; address: string }[];
  };
  const { id } = addresses.find((one) => one.address.toLowerCase() === address) ?? {};
  assert.ok(id, 'the own address is not registered');
  await w.read((tx) => tx.run('update treasury_addresses set usable_at = registered_at where id = $1', [id]));
  return { address, path: `/treasury/own-addresses/${id}/transfers` };
}

async function transferOf(key: string): Promise<{ state: string; why: string | null; reference: string | null }> {
  const { transfers } = (await (await w.asks('/treasury/own-transfers')).json()) as {
    transfers: { key: string; state: string; why: string | null; reference: string | null }[];
  };
  const found = transfers.find((one) => one.key === key);
  assert.ok(found, `there is no transfer ${key}`);
  return found;
}
const settles = async (key: string) => {
  await w.isFinal();
  await w.until(`${key} is settled`, async () => (await transferOf(key)).state === 'settled');
};
const theMovement = async (): Promise<string> => {
  const [found] = await w.until('the movement has a case', async () => {
    const cases = await w.casesOf('movement_unmatched');
    return cases.length > 0 && cases;
  });
  return found?.subject.replace('movement:', '') ?? '';
};

test('a transfer to an own address that left after the backup waits for two people, who match it, and is not sent again', async () => {
  const { address, path } = await ownAddress();
  await w.operates('/kill-switches', { kind: 'rail', subject: CHAIN_RAIL });
  const { transfer: key } = await w.twoDo(path, { asset: 'usdc.base', amount: '25' });
  await w.until('it waits', async () => (await transferOf(key)).why === 'a kill switch is on');
  const restores = await w.backup();
  await w.lifts('rail', CHAIN_RAIL);
  await settles(key);
  const { reference } = await transferOf(key);
  const nonce = await w.nonceOf();

  await restores();
  assert.equal((await transferOf(key)).state, 'created');
  const movement = await theMovement();
  // People who lift everything too early send it no second time.
  await w.lifts('rail', CHAIN_RAIL);
  await w.lifts('payouts', 'all');
  await w.until('it was tried', async () => (await transferOf(key)).why !== 'a kill switch is on');
  await w.isFinal();
  assert.deepEqual([await w.paidTo(address), await w.nonceOf()], [['25'], nonce], 'it was sent again');

  await w.twoDo(`/movements/${movement}/match`, { key });
  await settles(key);
  assert.equal((await transferOf(key)).reference, reference);
  await noCases();
  await w.isClean();
  assert.deepEqual([await w.paidTo(address), await w.nonceOf()], [['25'], nonce], 'it was sent again');
});

test('a transfer to an own address that the restore lost: two people write it again, match it, and it is not sent again', async () => {
  const { address, path } = await ownAddress();
  const restores = await w.backup();
  const { transfer: lost } = await w.twoDo(path, { asset: 'usdc.base', amount: '25' });
  await settles(lost);
  const nonce = await w.nonceOf();

  await restores();
  const movement = await theMovement();
  const { transfer: key } = await w.twoDo(path, { asset: 'usdc.base', amount: '25' });
  await w.lifts('rail', CHAIN_RAIL);
  await w.lifts('payouts', 'all');
  await w.until('it was tried', async () => /unknown|not in the books/.test((await transferOf(key)).why ?? ''));
  await w.isFinal();
  assert.deepEqual([await w.paidTo(address), await w.nonceOf()], [['25'], nonce], 'it was sent again');

  await w.twoDo(`/movements/${movement}/match`, { key });
  await settles(key);
  await noCases();
  await w.isClean();
  assert.deepEqual([await w.paidTo(address), await w.nonceOf()], [['25'], nonce], 'it was sent again');
});

for (const isKnown of [true, false])
  test(`what came back of a transfer before the restore is ours again after the match, ${isKnown ? 'which the backup has' : 'which people write again'}`, async () => {
    const { address, path } = await ownAddress();
    let restores = isKnown ? undefined : await w.backup();
    await w.operates('/kill-switches', { kind: 'rail', subject: CHAIN_RAIL });
    let { transfer: key } = await w.twoDo(path, { asset: 'usdc.base', amount: '25' });
    await w.until('it waits', async () => (await transferOf(key)).why === 'a kill switch is on');
    restores ??= await w.backup();
    await w.lifts('rail', CHAIN_RAIL);
    await settles(key);
    await w.anvil.rpc('anvil_setBalance', [address, '0xde0b6b3a7640000']);
    await w.anvil.rpc('anvil_impersonateAccount', [address]);
    const args = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [w.hot as Hex, 25_000_000n] });
    await w.anvil.rpc('eth_sendTransaction', [{ from: address, to: w.token, data: args }]);
    await w.isFinal();

    await restores();
    const movement = await theMovement();
    // It is read before the transfer is matched, and waits as money of an unknown sender.
    await w.until('it has a case', async () => (await w.casesOf('unexpected_credit')).length === 1);
    if (!isKnown) key = (await w.twoDo(path, { asset: 'usdc.base', amount: '25' })).transfer;
    await w.lifts('rail', CHAIN_RAIL);
    await w.lifts('payouts', 'all');
    await w.twoDo(`/movements/${movement}/match`, { key });
    await settles(key);
    await noCases();
    await w.isClean();
    assert.deepEqual(await w.paidTo(address), ['25'], 'it was sent again');
  });
