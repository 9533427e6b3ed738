// Buys 50 USDC for rupees: a customer, a wallet, a quote for the amount received, an order, and its state until the coins have arrived.
import { randomUUID } from 'node:crypto';
import { client } from './cloverleaf.ts';

const { id: customerId } = await client.customers.create({
  reference: randomUUID(),
  kind: 'individual',
  phone: `+91-9${String(Date.now()).slice(-9)}`,
});
await client.whitelabel.post('test/changeKycStatus', { customerId, status: 'BASIC_KYC_COMPLETED' });
const { id: destinationId } = await client.destinations.create(customerId, {
  kind: 'address',
  chain: 'matic20',
  address: '0x90f79bf6eb2c4f870365e785982e1f101e93b906',
});

// The amount received is fixed here; payAmount fixes the other side.
const quote = await client.quotes.create({ payAsset: 'inr', receiveAsset: 'usdc.matic20', receiveAmount: '50' });
const { id, pay, payment } = await client.orders.create({ quoteId: quote.id, customerId, destinationId });
const reference = payment !== null && 'reference' in payment ? payment.reference : '';
console.log(`order ${id}: transfer ${pay.amount} INR with the reference ${reference}`);

// The sandbox's customer pays: a bank transfer that carries the reference.
await client.sandbox.pay({ transactionId: id });
while ((await client.orders.get(id)).state !== 'settled') await new Promise((wake) => setTimeout(wake, 1000));
console.log('settled: 50 USDC are at the address');
