// Sells 100 USDC for rupees: a customer, a destination, a quote, an order, and its state until the money has arrived.
import { randomUUID } from 'node:crypto';
import { client } from './cloverleaf.ts';

const { id: customerId } = await client.customers.create({
  reference: randomUUID(), // your own id of this customer
  kind: 'individual',
  phone: `+91-9${String(Date.now()).slice(-9)}`, // one phone is one customer
});
// Only the sandbox verifies on request; elsewhere the customer opens the link of client.customers.verificationLink(customerId).
await client.whitelabel.post('test/changeKycStatus', { customerId, status: 'BASIC_KYC_COMPLETED' });
const { id: destinationId } = await client.destinations.create(customerId, {
  kind: 'account',
  asset: 'inr',
  accountNumber: '000111222333',
  ifsc: 'HDFC0000001',
});

const quote = await client.quotes.create({ payAsset: 'usdc.matic20', receiveAsset: 'inr', payAmount: '100' });
const { id, payment } = await client.orders.create({ quoteId: quote.id, customerId, destinationId });
const address = payment !== null && 'address' in payment ? payment.address : '';
console.log(`order ${id}: send 100 USDC to ${address}`);

// The sandbox's customer pays: a token transfer on its chain.
await client.sandbox.pay({ transactionId: id });
while ((await client.orders.get(id)).state !== 'settled') await new Promise((wake) => setTimeout(wake, 1000));
console.log('settled: paid to the bank account');
