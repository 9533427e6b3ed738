// Sells 100 USDC for rupees: a customer, a quote, an order, and its status until the money has arrived.
import { randomUUID } from 'node:crypto';
import { call } from './cloverleaf.ts';

const WL = '/onramp/api/v2/whiteLabel';

const { customerId } = await call('POST', `${WL}/kyc/url`, {
  clientCustomerId: randomUUID(), // your own id of this customer
  phoneNumber: `+91-9${String(Date.now()).slice(-9)}`, // one phone is one customer
  type: 'INDIVIDUAL',
});
// Only the sandbox verifies on request; elsewhere the customer opens the kycUrl of that reply.
await call('POST', `${WL}/test/changeKycStatus`, { customerId, status: 'BASIC_KYC_COMPLETED' });
const account = { customerId, fiatAccount: '000111222333', ifsc: 'HDFC0000001' };
const { fiatAccountId } = await call('POST', `${WL}/bank/addFiatAccount`, account);

const pair = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: '100' };
const { rate, toAmount } = await call('POST', `${WL}/offramp/quote`, pair);
const order = { ...pair, rate, toAmount, customerId, fiatAccountId };
const { transactionId, depositAddress } = await call('POST', `${WL}/offramp/createTransaction`, order);
console.log(`send 100 USDC to ${depositAddress}, to receive ${toAmount} INR`);

// The sandbox's customer pays: a token transfer on its chain.
await call('POST', `${WL}/test/changeOfframpStatus`, { customerId, transactionId, status: '2' });
for (let status: string | undefined; status !== '6'; await new Promise((wake) => setTimeout(wake, 1000)))
  ({ status } = await call('POST', `${WL}/offramp/transaction`, { customerId, transactionId }));
console.log('status 6: paid to the bank account');
