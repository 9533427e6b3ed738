// A sale of 100 USDC that is paid with 50 alone: its deadline passes, and what came goes back to an address of the customer.
import { randomUUID } from 'node:crypto';
import { client } from './cloverleaf.ts';

const { id: customerId } = await client.customers.create({
  reference: randomUUID(),
  kind: 'individual',
  phone: `+91-9${String(Date.now()).slice(-9)}`,
});
await client.whitelabel.post('test/changeKycStatus', { customerId, status: 'BASIC_KYC_COMPLETED' });
const account = await client.destinations.create(customerId, {
  kind: 'account',
  asset: 'inr',
  accountNumber: '000111222333',
  ifsc: 'HDFC0000001',
});
const wallet = await client.destinations.create(customerId, {
  kind: 'address',
  chain: 'matic20',
  address: '0x90f79bf6eb2c4f870365e785982e1f101e93b906',
});
const quote = await client.quotes.create({ payAsset: 'usdc.matic20', receiveAsset: 'inr', payAmount: '100' });
const { id } = await client.orders.create({ quoteId: quote.id, customerId, destinationId: account.id });

type Order = Awaited<ReturnType<typeof client.orders.get>>;
async function until(is: (order: Order) => boolean): Promise<Order> {
  for (;;) {
    const order = await client.orders.get(id);
    if (is(order)) return order;
    await new Promise((wake) => setTimeout(wake, 1000));
  }
}

// The sandbox's customer pays half.
await client.sandbox.pay({ transactionId: id, how: 'UNDER' });
const { received } = await until(({ reason }) => reason === 'underpaid');
console.log(`order ${id}: ${received.amount} of 100 USDC came; the rest may come until its deadline`);

// Nothing more comes. The sandbox's clock brings the deadline nearer; then the order is on hold, and its money may go back.
await client.sandbox.clock({ advance: '2h' });
await until(({ state }) => state === 'on_hold');
await client.orders.refund(id, { destinationId: wallet.id });
await until(({ state }) => state === 'refunded');
const { data } = await client.orders.refunds(id).first();
console.log(`refunded: ${data[0]?.amount.amount} USDC are back by the transfer ${data[0]?.hash}`);
