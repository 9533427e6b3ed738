/**
 * The same drills where a transaction was signed and broadcast in the time that the restore has lost, and every node has dropped it
 * since: it is in no block, in no mempool and in no row. Only the signer's journal has it, and it could still be mined.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { formatUnits } from '../../src/base/money.ts';
import { CHAIN_RAIL, type Drills, openDrills } from '../support/drills.ts';

let w: Drills;

before(async () => {
  w = await openDrills();
});
after(async () => await w?.close());

const someone = (): string => `0x${randomBytes(20).toString('hex')}`;
const waitsAtTheNode = () =>
  w.until('it waits at the node', async () => {
    const block = await w.anvil.rpc<{ transactions: { hash: string; nonce: string }[] }>('eth_getBlockByNumber', [
      'pending',
      true,
    ]);
    return block.transactions.length > 0 && block.transactions;
  });

/** Pays in the lost time by a transaction that the node accepts and never mines. @returns its bytes */
async function signedAndNotMined(pay: () => Promise<void>): Promise<string[]> {
  await w.anvil.rpc('evm_setIntervalMining', [0]);
  await pay();
  const waiting = await waitsAtTheNode();
  const raws: string[] = [];
  for (const { hash } of waiting) raws.push(await w.anvil.rpc<string>('eth_getRawTransactionByHash', [hash]));
  for (const { hash } of waiting) await w.anvil.rpc('anvil_dropTransaction', [hash]);
  return raws;
}
const theMovement = async () => {
  const [found] = await w.until('what the signer knows has a case', async () => {
    const cases = await w.casesOf('movement_unmatched');
    return cases.length > 0 && cases;
  });
  return found;
};
/** Books the gas of the empty transfer as a cost. */
async function gasIsACost(): Promise<void> {
  const [gas] = await w.until('its gas has a case', async () => {
    const cases = await w.casesOf('unexplained_debit');
    return cases.length > 0 && cases;
  });
  await w.twoDo(`/cases/${gas?.id}/correct`, {
    as: 'fee',
    amount: formatUnits(BigInt(String(gas?.facts.units)), 18),
    evidence: String(gas?.facts.reference),
  });
}

test('a payout signed in the lost time and dropped: nothing else leaves, two people cancel it, and it can never pay', async () => {
  const lost = someone();
  const restores = await w.backup();
  const before = await w.nonceOf();
  const raws = await signedAndNotMined(async () => {
    const order = await w.buys('40', lost);
    w.pays(order);
    await w.takesStatements();
  });
  await restores();
  await w.anvil.rpc('evm_setIntervalMining', [1]);
  const order = await w.buys('30', someone());
  w.pays(order);
  await w.takesStatements();
  await w.lifts('payouts', 'all');
  await w.reaches(order.id, 'paying_out');

  const found = await theMovement();
  assert.match(String(found?.facts.asset), /^usdc\./);
  assert.deepEqual(await w.paidTo(order.address), [], 'a second payout left beside one that may still be mined');
  assert.equal(await w.nonceOf(), before);
  const movement = found?.subject.replace('movement:', '');
  await w.twoDo(`/movements/${movement}/cancel`, {});
  await w.reaches(order.id, 'settled');
  // A holder of the bytes broadcasts them now.
  for (const raw of raws) await assert.rejects(w.anvil.rpc('eth_sendRawTransaction', [raw]), /nonce/i);
  assert.deepEqual(await w.paidTo(lost), []);
  assert.equal((await w.paidTo(order.address)).length, 1);
  await gasIsACost();
  assert.deepEqual(
    (await w.openCases()).map(({ kind }) => kind),
    ['deposit_unknown_target'],
    'anything but the deposit of the lost order is left',
  );
  const { status, body } = await w.tries(`/movements/${movement}/cancel`, {});
  assert.ok(status === 409 || body.outcome === 'proposed');
  await w.isClean();
});

test('a payout signed in the lost time, dropped and then mined pays its order, and does not leave again', async () => {
  await w.operates('/kill-switches', { kind: 'rail', subject: CHAIN_RAIL });
  const order = await w.buys('50', someone());
  w.pays(order);
  await w.takesStatements();
  await w.reaches(order.id, 'paying_out');
  const restores = await w.backup();
  const raws = await signedAndNotMined(() => w.lifts('rail', CHAIN_RAIL));
  await restores();
  await w.anvil.rpc('evm_setIntervalMining', [1]);
  await w.lifts('rail', CHAIN_RAIL);
  await w.lifts('payouts', 'all');
  const found = await theMovement();
  const movement = found?.subject.replace('movement:', '');
  const proposed = await w.operates(`/movements/${movement}/cancel`, {});
  assert.equal(proposed.outcome, 'proposed', 'one person cancelled it');
  for (const raw of raws) await w.anvil.rpc('eth_sendRawTransaction', [raw]);
  await w.reaches(order.id, 'settled');
  const late = await w.tries(`/proposals/${proposed.proposal}/confirm`, {}, w.secondToken());
  assert.equal(late.status, 409, 'it was cancelled after it had been mined');
  assert.equal((await w.paidTo(order.address)).length, 1, 'it was paid twice');
  await w.until('its case is closed', async () => (await w.casesOf('movement_unmatched')).length === 0);
  await w.isClean();
});

/** A sweep is signed and broadcast in the lost time, and every node has forgotten it; then more comes to its address. */
async function sweepForgotten() {
  const sale = await w.sells('100');
  const restores = await w.backup();
  await w.anvil.rpc('evm_setIntervalMining', [0]);
  await w.sendsTokens(sale.address, '100');
  await w.anvil.mine(6);
  const waiting = async () => {
    const block = await w.anvil.rpc<{ transactions: { hash: string; from: string }[] }>('eth_getBlockByNumber', [
      'pending',
      true,
    ]);
    return block.transactions;
  };
  await w.until('gas is sent ahead', async () => (await waiting()).length > 0);
  await w.anvil.mine(1);
  const [sweep] = await w.until('the sweep waits at the node', async () => {
    const own = (await waiting()).filter(({ from }) => from === sale.address.toLowerCase());
    return own.length > 0 && own;
  });
  const raw = await w.anvil.rpc<string>('eth_getRawTransactionByHash', [sweep?.hash]);
  await w.anvil.rpc('anvil_dropTransaction', [sweep?.hash]);
  await w.sendsTokens(sale.address, '50');
  await w.anvil.mine(6);
  assert.equal(await w.nonceOf(sale.address), 0, 'the sweep was mined: this drill shows nothing');
  await restores();
  await w.anvil.rpc('evm_setIntervalMining', [1]);
  await w.lifts('payouts', 'all');
  const found = await theMovement();
  return { sale, raw, movement: found?.subject.replace('movement:', '') };
}

test('a sweep signed in the lost time and dropped, and due again with another amount: two people cancel it, and all is swept', async () => {
  const { sale, raw, movement } = await sweepForgotten();
  assert.equal(await w.balanceOf(sale.address), '150');
  await w.twoDo(`/movements/${movement}/cancel`, {});
  await w.until('all of it is swept', async () => (await w.balanceOf(sale.address)) === '0');
  await assert.rejects(w.anvil.rpc('eth_sendRawTransaction', [raw]), /nonce/i);
  await gasIsACost();
  await w.until('its case is closed', async () => (await w.casesOf('movement_unmatched')).length === 0);
  await w.isClean();
});

test('a sweep signed in the lost time, dropped, and mined after all is booked as that sweep, and later deposits are swept after it', async () => {
  const { sale, raw } = await sweepForgotten();
  await w.anvil.rpc('eth_sendRawTransaction', [raw]);
  await w.until('all of it is swept', async () => (await w.balanceOf(sale.address)) === '0');
  await w.until('its case is closed', async () => (await w.casesOf('movement_unmatched')).length === 0);
  assert.equal(await w.nonceOf(sale.address), 2);
  await w.isClean();
});
