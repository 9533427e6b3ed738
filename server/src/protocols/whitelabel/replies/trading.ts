/** Quotes, transactions, refunds and the history of transactions. */
import { Type } from 'typebox';
import { PUBLIC_REASONS } from '../../../orders/index.ts';
import {
  amountNumber,
  amountText,
  customerId,
  hash,
  isoTime,
  maybe,
  numberText,
  object,
  spacedTime,
  statusText,
  text,
  transactionId,
  whole,
} from './parts.ts';

const feeTexts = { text: amountText, number: amountNumber };
const feesOf = (form: 'text' | 'number') => {
  const fee = feeTexts[form];
  return Type.Array(
    object({
      type: Type.Literal('fiat'),
      onrampFee: fee('Fee of the operator'),
      clientFee: fee('Fee of the partner'),
      gatewayFee: fee('Fee of the payment rail'),
      gasFee: fee('Fee of the chain'),
      tdsFee: Type.Optional(fee('Tax withheld; only in a market that withholds tax')),
    }),
    { minItems: 1, maxItems: 1, description: 'Fees, in the fiat currency' },
  );
};
const sides = {
  fromCurrency: text('Currency given, as it was sent'),
  toCurrency: text('Currency received, as it was sent'),
};
export const QUOTE = Type.Union(
  [
    object(
      {
        ...sides,
        fromAmount: amountText('Amount given'),
        toAmount: amountText('Amount received, after fees'),
        rate: amountText('Fiat for one coin'),
        fees: feesOf('text'),
      },
      { title: 'QuoteWithRate' },
    ),
    object(
      {
        ...sides,
        toAmount: amountText('Amount received, after fees'),
        fromAmount: Type.Literal(''),
        fees: feesOf('number'),
      },
      { title: 'QuoteWithoutRate' },
    ),
  ],
  { title: 'Quote', description: 'A setting of the partner determines which of the two forms it receives' },
);
export const QUOTE_NUMBERS = object(
  {
    rate: amountNumber('Fiat for one coin'),
    quantity: amountNumber('Amount of the coin'),
    fiatAmount: amountNumber('Amount of the fiat'),
    onrampFee: amountNumber('Fee of the operator'),
    clientFee: amountNumber('Fee of the partner'),
    gatewayFee: amountNumber('Fee of the payment rail'),
    gasFee: amountNumber('Fee of the chain'),
    tdsFee: Type.Optional(amountNumber('Tax withheld; only in a market that withholds tax')),
  },
  { title: 'QuoteNumbers' },
);
export const CREATED_SALE = object(
  {
    transactionId,
    createdAt: spacedTime('When the transaction was created'),
    depositAddress: text('Address to which the customer sends the coins'),
    chain: text('Chain of that address'),
    fromAmount: amountText('Coins to send'),
    toAmount: amountText('Fiat that will be paid'),
    rate: amountText('Fiat for one coin'),
    expiresAt: isoTime('Deadline for the coins to arrive'),
  },
  { title: 'CreatedSale' },
);
export const PAY_INSTRUCTIONS = object(
  {
    type: text('Payment method'),
    bank: object({
      name: text('Holder of the account'),
      accountNumber: text('Account number, or the IBAN'),
      ifsc: Type.Optional(text('Bank code of an Indian account')),
      type: text('Type of the account'),
      branch: text('Branch'),
      bank: text('Name of the bank'),
      iban: Type.Optional(text('IBAN, if the account has one')),
      bic: Type.Optional(text('BIC, beside an IBAN')),
      bankCode: Type.Optional(text('Code of the bank, in countries with another kind of bank code')),
      sortCode: Type.Optional(text('Sort code, of a British account')),
      routingNumber: Type.Optional(text('Routing number, of an American account')),
    }),
    bankNotes: Type.Array(
      object({
        type: Type.Union([Type.Literal(1), Type.Literal(-1)], { description: '1: what to do. -1: what not to do' }),
        msg: text('A sentence for the customer'),
      }),
    ),
    otp: text('Reference that the customer writes into the remarks of the transfer'),
  },
  { title: 'PayInstructions' },
);
export const CREATED_PURCHASE = object(
  {
    transactionId,
    createdAt: spacedTime('When the transaction was created'),
    fiatAmount: amountText('Fiat to pay'),
    fiatPaymentInstructions: PAY_INSTRUCTIONS,
  },
  { title: 'CreatedPurchase' },
);
const transaction = {
  transactionId,
  createdAt: isoTime('When the transaction was created'),
  updatedAt: isoTime('When it last changed'),
  fromAmount: amountText('Amount to give'),
  toAmount: amountText('Amount to receive'),
  fromCurrency: text('Currency given'),
  toCurrency: text('Currency received'),
};
const sale = {
  ...transaction,
  chain: text('Chain of the coin'),
  fiatAccountId: text('Account to which the payout is sent; empty if none is named'),
  status: statusText,
  transactionHash: hash('Hash of the deposit'),
};
export const SALE = object(sale, { title: 'Sale' });
export const SALES = Type.Array(SALE);
export const PURCHASE = object(
  {
    ...transaction,
    paymentMethodType: text('Payment method'),
    depositAddress: text('Address to which the payout is sent'),
    status: statusText,
    transactionHash: hash('Hash of the payout'),
  },
  { title: 'Purchase' },
);
export const PURCHASES = Type.Array(PURCHASE);

const reason = (description: string) =>
  Type.Union(
    [...PUBLIC_REASONS, ''].map((word) => Type.Literal(word)),
    { description: `${description}; empty if there is no reason` },
  );
const money = {
  amount: amountText('Amount'),
  currency: text('Coin or fiat, in upper case'),
  chain: text('Chain of a coin; empty for fiat'),
};
export const publicMoney = {
  unclaimedFrom: Type.Optional(isoTime('When unclaimed money becomes dormant; only if that was announced')),
  receivedAmount: amountText('Amount received for the transaction and not reversed'),
  receivedCurrency: text('Currency of the received amount'),
  reason: reason('Why the transaction is unusual'),
  needsDestination: Type.Boolean({ description: 'Whether money waits until refundDestination names its destination' }),
  refunds: Type.Array(
    object(
      {
        ...money,
        refundId: numberText('Number of the refund'),
        kind: Type.Union([Type.Literal('refund'), Type.Literal('payout')], {
          description: 'payout: a payout that came back and is paid again',
        }),
        status: text('State of the refund'),
        reason: reason('Why it is paid'),
        address: text('Address to which it is sent; empty for a bank account, or before one is named'),
        fiatAccountId: text('Account to which it is sent; empty for an address, or before one is named'),
        reference: text('Hash or bank reference; empty before there is one'),
        createdAt: isoTime('When it was created'),
        updatedAt: isoTime('When it last changed'),
      },
      { title: 'Refund' },
    ),
    {
      description:
        'The newest refunds, in the order of their creation: 20 in transactions and events, as many as requested in refunds',
    },
  ),
  olderRefunds: Type.Optional(
    whole(
      'Number of refunds older than the first one here; only if there are any. The refunds call returns them with `before`',
    ),
  ),
  returnedPayouts: Type.Array(
    object(
      {
        ...money,
        reference: text('Reference of the bank'),
        reason: reason('Why it came back'),
        returnedAt: isoTime('When it came back'),
      },
      { title: 'ReturnedPayout' },
    ),
    {
      description:
        'The newest returned payouts, in the order of their return: 20 in transactions and events, 100 in refunds',
    },
  ),
  olderReturnedPayouts: Type.Optional(
    whole('Number of returned payouts that are not in the list; only if there are any'),
  ),
};
export const SALE_DETAIL = object(
  {
    ...sale,
    depositAddress: text('Address to which the customer sends the coins'),
    expiresAt: isoTime('Deadline for the coins to arrive'),
    ...publicMoney,
  },
  { title: 'SaleDetail' },
);
export const REFUNDS = object({ transactionId, ...publicMoney }, { title: 'Refunds' });
export const NAMED_DESTINATION = object(
  {
    transactionId,
    address: Type.Optional(text('The address, as it was sent')),
    fiatAccountId: Type.Optional(text('The account, as it was sent')),
  },
  { title: 'NamedDestination' },
);
export const CLAIMED = object({ transactionId, referenceId: text('The reference, as it was sent') });
const history = {
  orderId: whole('Number of the transaction'),
  customerId,
  coinId: whole('Number of the coin'),
  chainId: whole('Number of the chain'),
  fiatType: whole('Number of the fiat'),
  paymentType: whole('1: instant. 2: a bank transfer'),
  expectedPrice: amountNumber('Fiat for one coin when the transaction was created'),
  actualPrice: amountNumber('The same after the trade; 0 before'),
  merchantRecognitionId: text('The partner’s own reference'),
  createdAt: isoTime('When the transaction was created'),
  updatedAt: isoTime('When it last changed'),
  status: whole('Status number'),
  clientFee: amountNumber('Fee of the partner'),
  gatewayFee: amountNumber('Fee of the payment rail'),
  gasFee: amountNumber('Fee of the chain'),
  tdsFee: amountNumber('Tax withheld'),
  walletAddress: text('Deposit address of a sale, destination address of a purchase'),
  transactionHash: hash('Hash on the chain'),
};
export const HISTORY = Type.Array(
  Type.Union([
    object(
      {
        ...history,
        expectedQuantity: amountNumber('Coins asked for'),
        expectedFiatAmount: amountNumber('Fiat to pay'),
        actualQuantity: amountNumber('Coins received'),
        actualFiatAmount: amountNumber('Fiat paid'),
        onrampFee: amountNumber('Fee of the operator'),
      },
      { title: 'SaleRow' },
    ),
    object(
      {
        ...history,
        fiatAmount: amountNumber('Fiat to receive'),
        expectedCryptoAmount: amountNumber('Coins to pay'),
        actualCryptoAmount: amountNumber('Coins paid'),
        onRampFee: amountNumber('Fee of the operator'),
        kycNeeded: whole('Always 0'),
        referenceId: maybe(text('Bank reference that the customer named')),
      },
      { title: 'PurchaseRow' },
    ),
  ]),
);
export const ORDER_STATUS = object({ orderStatus: whole('Status number: see the table of statuses') });
