/** Orders in the states that stories begin with, and what their banks say about them. */
import assert from 'node:assert/strict';
import type { Paid, Purchase, Sale, Story } from './story.ts';

/** A sale whose deposit is confirmed and which screening holds. */
export async function heldSale(
  world: Story,
  amount: string,
  how: Omit<Parameters<Story['sells']>[2], 'reference'> = {},
): Promise<{ order: Sale; paid: Paid }> {
  const order = await world.sells(amount, 'usdc', { ...how, reference: 'screen:hold' });
  const paid = await world.pays(order, amount);
  await world.mines(2);
  await world.becomes(order, 'on_hold');
  return { order, paid };
}

/** A settled sale that its customer pays a second time by mistake: the second deposit lies in suspense. */
export async function salePaidTwice(
  world: Story,
  amount: string,
  how: Parameters<Story['sells']>[2] = {},
): Promise<{ order: Sale; deposit: bigint }> {
  const order = await world.sells('10', 'usdc', how);
  await world.pays(order, '10');
  await world.mines(2);
  await world.reaches(order, 6);
  await world.pays(order, amount);
  await world.mines(2);
  const deposit = await world.until('the second payment lies in suspense', async () => {
    const { deposits } = await world.traceOf(order);
    return deposits.find(({ state }) => state === 'suspense')?.id;
  });
  return { order, deposit };
}

/** A purchase for 5000 rupees whose crypto has arrived. @returns the bank's line too, which can be recalled */
export async function settledPurchase(
  world: Story,
  how: Parameters<Story['buys']>[2] = {},
): Promise<{ order: Purchase; line: string }> {
  const order = await world.buys('5000', 'usdc', how);
  const line = await world.credits(order, '5000');
  await world.payoutIsSubmitted(order);
  await world.mines(2);
  await world.reaches(order, 4);
  return { order, line };
}

/** A credit whose text names no order: it lies in suspense, under no order. @returns the deposit */
export async function strayCredit(world: Story, order: Purchase, amount: string): Promise<bigint> {
  const all = () =>
    world.read((tx) =>
      tx.rows<{ id: bigint }>(
        `select id from deposits where order_id is null and origin = 'rail' and state = 'suspense'`,
      ),
    );
  const known = new Set((await all()).map(({ id }) => id));
  await world.credits(order, amount, { text: 'what I owe' });
  return await world.until('it is in suspense', async () => (await all()).find(({ id }) => !known.has(id))?.id);
}

/** The bank's statement shows the first attempt as paid that the bank had rejected. */
export async function paysAfterAll(world: Story, order: Sale | Purchase): Promise<void> {
  const refused = (await world.traceOf(order)).payouts.find(({ state }) => state === 'rejected');
  assert(refused);
  const { id: key, units } = refused;
  await world.bankShows({ id: `late-${key}`, direction: 'debit', units, reference: 'UTR-LATE', key });
  await world.until('the payment is seen', async () =>
    (await world.traceOf(order)).payouts.some(({ id, state }) => id === refused.id && state === 'settled'),
  );
}
