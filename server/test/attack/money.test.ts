/** Attacks on money by an outside party, a full wallet or bad timing. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chart, hold, post, release } from '../../src/ledger/index.ts';
import { heldSale } from '../support/orders.ts';
import { openStory, type Sale, type Story } from '../support/story.ts';

let world: Story;
before(async () => {
  world = await openStory();
});
after(async () => await world?.close());

const HOT = chart.custody('evm.matic20', 'hot', 'usdc.matic20');
const BANK = chart.custody('bank.simulated', 'main', 'inr');

/** Sets the free balance of a custody account aside, as for payouts that are under way. @returns a function that releases it */
async function fillsUp(account: typeof HOT, id: string): Promise<() => Promise<void>> {
  const book = (what: string, lines: (free: bigint) => ReturnType<typeof hold>) =>
    world.read(async (tx) => {
      const { units, heldUnits } = await world.balance(account);
      const posted = await post(tx, {
        id: `${id}:${what}`,
        kind: 'test',
        at: world.clock.now(),
        lines: lines(units - heldUnits),
      });
      assert.equal(posted.outcome, 'posted');
    });
  await book('hold', (free) => hold(id, chart.fx(account.asset), account, free));
  return () => book('void', () => release(id));
}

const held = async (amount = '100'): Promise<Sale> => (await heldSale(world, amount)).order;

test('an order rejected while the wallet cannot carry the refund stays held, and is never paid out instead', async () => {
  const order = await held();
  const empties = await fillsUp(HOT, 'full-wallet');
  await assert.rejects(world.rejects(order, { failure: 'other', address: world.newAddress() }), { name: 'Refusal' });
  assert.equal(await world.stateOf(order), 'on_hold');
  assert.deepEqual(
    (await world.casesOf(order)).map(({ kind, open }) => [kind, open]),
    [['on_hold', true]],
  );
  await empties();
  await world.rejects(order, { failure: 'other', address: world.newAddress() });
  await world.mines(2);
  await world.reaches(order, -2);
  assert.deepEqual(await world.bank.payments(`pay_${order.id}_1`), []);
});

test('a debit above the free balance is booked whole, with a case, and the next payout continues', async () => {
  const books = await world.balances();
  const line = await world.bank.creditAccount({ currency: 'INR', units: 10_000n, text: 'from a stranger' });
  await world.until('it is in the books', async () => (await world.changesSince(books))[BANK.code] === 10_000n);
  const empties = await fillsUp(BANK, 'full-bank');
  await world.bank.recall(line);
  await world.until('the case is there', () => openCaseOf('uncovered', BANK.code));
  const changes = await world.changesSince(books);
  assert.equal(changes[chart.uncovered('bank.simulated', 'inr').code], 10_000n);
  await empties();
  const order = await world.sells('100', 'usdc');
  await world.pays(order, '100');
  await world.mines(2);
  await world.reaches(order, 6);
});

test('a charge above the free balance does not stop reading of the statement', async () => {
  const order = await world.sells('100', 'usdc', { customer: await world.verifiedCustomer({ ending: '9005' }) });
  await world.pays(order, '100');
  await world.mines(2);
  await world.reaches(order, 5);
  const books = await world.balances();
  const empties = await fillsUp(BANK, 'full-again');
  await world.bankCharges(700n);
  world.clock.advance(60_000);
  await world.reaches(order, 6);
  await world.bankCharges(0n);
  const changes = await world.changesSince(books);
  assert.equal(changes[chart.cost('bank.simulated', 'inr').code], 700n);
  assert.equal(changes[chart.uncovered('bank.simulated', 'inr').code], 700n);
  await empties();
});

async function openCaseOf(kind: string, subject: string): Promise<boolean> {
  const rows = await world.read((tx) =>
    tx.rows('select from cases where kind = $1 and subject = $2 and closed_at is null', [kind, subject]),
  );
  return rows.length === 1;
}

test('a refund mined again after a reorg costs the chain’s final charge', async () => {
  const order = await held();
  const address = world.newAddress();
  await world.rejects(order, { failure: 'other', address });
  await world.mines(2);
  await world.reaches(order, -2);
  const hash = (await world.traceOf(order)).payouts[0]?.reference as `0x${string}`;
  await world.reorgsAway({ hash, raw: '0x', chain: 'matic20' });
  assert.equal(await world.tokensOf(address, 'usdc'), '0');
  await world.until('our bytes are broadcast and mined again', async () => {
    await world.mines(1);
    return (await world.tokensOf(address, 'usdc')) === '100';
  });
  await world.mines(12);
  const NATIVE = chart.custody('evm.matic20', 'hot', 'matic.matic20');
  await world.until('the books have what the chain has', async () => {
    const { units } = await world.balance(NATIVE);
    return units === (await world.server.rails.get('evm.matic20')?.balance('hot', 'matic.matic20'));
  });
});
