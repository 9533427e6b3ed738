// In the white-label interface: sells 100 USDC for rupees, and asks for its status until the money has arrived.
import { randomUUID } from 'node:crypto';
import { client } from './cloverleaf.ts';

const { post } = client.whitelabel;

const { customerId } = await post('kyc/url', {
  clientCustomerId: randomUUID(), // your own id of this customer
  phoneNumber: `+91-9${String(Date.now()).slice(-9)}`, // one phone is one customer
  type: 'INDIVIDUAL',
});
// Only the sandbox verifies on request; elsewhere the customer opens the kycUrl of that reply.
await post('test/changeKycStatus', { customerId, status: 'BASIC_KYC_COMPLETED' });
const account = { customerId, fiatAccount: '000111222333', ifsc: 'HDFC0000001' };
const { fiatAccountId } = await post('bank/addFiatAccount', account);

const pair = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: '100' };
const quote = await post('offramp/quote', pair);
const rate = 'rate' in quote ? quote.rate : undefined;
const order = { ...pair, rate, toAmount: quote.toAmount, customerId, fiatAccountId };
const { transactionId, depositAddress } = await post('offramp/createTransaction', order);
console.log(`send 100 USDC to ${depositAddress}, to receive ${quote.toAmount} INR`);

// The sandbox's customer pays: a token transfer on its chain.
await post('test/changeOfframpStatus', { customerId, transactionId, status: '2' });
while ((await post('offramp/transaction', { customerId, transactionId })).status !== '6')
  await new Promise((wake) => setTimeout(wake, 1000));
console.log('status 6: paid to the bank account');
