/**
 * Shapes: quotes, orders, customers and accounts in the format of this API.
 *
 * Amounts are plain decimal text. A shape has exactly the interface's keys, in the interface's order.
 */
import { formatRate, formatUnits } from '../../base/money.ts';
import { isoTime } from '../../base/times.ts';
import type { FiatAccount } from '../../customers/index.ts';
import type { ListedOrder, Order, Payee, PublicMoney } from '../../orders/index.ts';
import type { Asset } from '../../partners/index.ts';
import type { Quote } from '../../quotes/index.ts';
import { chainNumber, coinNumber, fiatNumber, methodKind } from './reference.ts';
import { statusNumber } from './status.ts';

export type Assets = ReadonlyMap<string, Asset>;

/** `2024-05-08 12:38:11`, UTC: in the few places where programs expect it. */
export const spacedTime = (at: Date): string => isoTime(at).slice(0, 19).replace('T', ' ');

/** A JSON number with exactly these digits: JSON.stringify writes it unchanged. */
export const rawNumber = (text: string): unknown =>
  (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text);

/**
 * @param sent currencies as the partner wrote them, for the reply
 * @param shape B has the rate and fees as text; A has neither rate nor fromAmount, and fees as numbers
 */
export function quoteShape(
  quote: Quote,
  sent: { fromCurrency: string; toCurrency: string },
  shape: 'A' | 'B',
): Record<string, unknown> {
  const { market, fees } = quote;
  const [from, to] = market.direction === 'offramp' ? [market.crypto, market.fiat] : [market.fiat, market.crypto];
  const fee = (units: bigint): unknown => {
    const text = formatUnits(units, market.fiat.decimals);
    return shape === 'A' ? rawNumber(text) : text;
  };
  const feeList = [
    {
      type: 'fiat',
      onrampFee: fee(fees.operator),
      clientFee: fee(fees.partner),
      gatewayFee: fee(fees.rail),
      gasFee: fee(fees.chain),
      ...(withholds(quote) ? { tdsFee: fee(fees.tax) } : {}),
    },
  ];
  const toAmount = formatUnits(quote.payoutUnits, to.decimals);
  if (shape === 'A') return { ...sent, toAmount, fromAmount: '', fees: feeList };
  return {
    ...sent,
    fromAmount: formatUnits(quote.depositUnits, from.decimals),
    toAmount,
    rate: formatRate(quote.rate),
    fees: feeList,
  };
}

/** Whether fees have a sixth key, for withheld tax: the interface itself has five. */
const withholds = ({ market, fees }: Quote): boolean => market.taxBps > 0n || fees.tax > 0n;

/** A quote as numbers: both sides' amounts, the rate and the fees, which are in the fiat. */
export function quoteNumbersShape(quote: Quote) {
  const { market, fees } = quote;
  const isSale = market.direction === 'offramp';
  const number = (units: bigint, { decimals }: Asset) => rawNumber(formatUnits(units, decimals));
  const { depositUnits, payoutUnits } = quote;
  return {
    rate: rawNumber(formatRate(quote.rate)),
    quantity: number(isSale ? depositUnits : payoutUnits, market.crypto),
    fiatAmount: number(isSale ? payoutUnits : depositUnits, market.fiat),
    onrampFee: number(fees.operator, market.fiat),
    clientFee: number(fees.partner, market.fiat),
    gatewayFee: number(fees.rail, market.fiat),
    gasFee: number(fees.chain, market.fiat),
    ...(withholds(quote) ? { tdsFee: number(fees.tax, market.fiat) } : {}),
  };
}

const assetOf = (assets: Assets, code: string): Asset => {
  const found = assets.get(code);
  if (found === undefined) throw new Error(`asset ${code} is not known`);
  return found;
};

const depositAmount = (order: ListedOrder, assets: Assets) =>
  formatUnits(order.depositUnits, assetOf(assets, order.depositAsset).decimals);
const payoutAmount = (order: ListedOrder, assets: Assets) =>
  formatUnits(order.payoutUnits, assetOf(assets, order.payoutAsset).decimals);

/** Selling: crypto and fiat both in upper case. The hash is the deposit's. */
export function offrampShape(order: ListedOrder, assets: Assets) {
  const crypto = assetOf(assets, order.depositAsset);
  return {
    transactionId: String(order.id),
    createdAt: isoTime(order.createdAt),
    updatedAt: isoTime(order.updatedAt),
    fromAmount: depositAmount(order, assets),
    toAmount: payoutAmount(order, assets),
    fromCurrency: crypto.coin.toUpperCase(),
    toCurrency: assetOf(assets, order.payoutAsset).coin.toUpperCase(),
    chain: crypto.chain ?? '',
    fiatAccountId: order.fiatAccountId === null ? '' : String(order.fiatAccountId),
    status: String(statusNumber(order)),
    transactionHash: (order.depositReference ?? '').toLowerCase(),
  };
}

/** One sale: the list's item, where and until when to pay, and the history of its money. */
export const offrampDetailShape = (order: ListedOrder, assets: Assets, told: PublicMoney) => ({
  ...offrampShape(order, assets),
  depositAddress: order.depositTarget,
  expiresAt: isoTime(order.expiresAt),
  ...publicMoneyShape(told),
});

/** The history of an order's money. The interface has no null texts: an empty one is ''. */
export const publicMoneyShape = ({ reason, refunds, returnedPayouts, ...rest }: PublicMoney) => ({
  ...rest,
  reason: reason ?? '',
  refunds: refunds.map(withoutAsset),
  returnedPayouts: returnedPayouts.map(withoutAsset),
});

/** Removes our asset codes: the interface has coin and chain instead. */
function withoutAsset<T extends { asset: string }>(money: T): Omit<T, 'asset'> {
  const { asset: _, ...shown } = money;
  return shown;
}

/** Buying: the fiat in upper case, the crypto in lower. The hash is the payout's. */
export const onrampShape = (order: ListedOrder, assets: Assets) => ({
  transactionId: String(order.id),
  createdAt: isoTime(order.createdAt),
  updatedAt: isoTime(order.updatedAt),
  fromAmount: depositAmount(order, assets),
  toAmount: payoutAmount(order, assets),
  fromCurrency: assetOf(assets, order.depositAsset).coin.toUpperCase(),
  toCurrency: assetOf(assets, order.payoutAsset).coin.toLowerCase(),
  paymentMethodType: order.paymentMethod,
  depositAddress: order.payoutAddress ?? '',
  status: String(statusNumber(order)),
  transactionHash: (order.payoutReference ?? '').toLowerCase(),
});

export function createdOfframpShape(order: Order, assets: Assets) {
  return {
    transactionId: String(order.id),
    createdAt: spacedTime(order.createdAt),
    depositAddress: order.depositTarget,
    chain: assetOf(assets, order.depositAsset).chain ?? '',
    fromAmount: depositAmount(order, assets),
    toAmount: payoutAmount(order, assets),
    rate: formatRate(order.rate),
    expiresAt: isoTime(order.expiresAt),
  };
}

/** Payment instructions: always complete, and always with the reference that identifies the order. */
export function payInstructionsShape(order: Order, { payee, reference }: { payee: Payee; reference: string }) {
  return {
    type: order.paymentMethod,
    bank: {
      name: payee.holder,
      accountNumber: payee.accountNumber === '' ? payee.iban : payee.accountNumber,
      ...(payee.ifsc === '' ? {} : { ifsc: payee.ifsc }),
      type: payee.accountType,
      branch: payee.branch,
      bank: payee.bank,
      ...(payee.iban === '' ? {} : { iban: payee.iban, bic: payee.bic }),
      ...payee.codes,
    },
    bankNotes: [
      { type: 1, msg: `Write ${reference} into the remarks of the transfer, and nothing else.` },
      { type: 1, msg: `Pay exactly the amount shown, before ${spacedTime(order.expiresAt)} UTC.` },
      { type: -1, msg: 'Do not pay from an account in another name.' },
    ],
    otp: reference,
  };
}

export function createdOnrampShape(order: Order, instructions: { payee: Payee; reference: string }, assets: Assets) {
  return {
    transactionId: String(order.id),
    createdAt: spacedTime(order.createdAt),
    fiatAmount: depositAmount(order, assets),
    fiatPaymentInstructions: payInstructionsShape(order, instructions),
  };
}

/** The account as the partner submitted it, under its field names. */
export function accountShape(account: FiatAccount & { details: Record<string, string> }, assets: Assets) {
  const { account: number, ...rest } = account.details;
  return {
    fiatAccountId: String(account.id),
    fiatAccount: number ?? rest.iban ?? '',
    ...rest,
    currency: assetOf(assets, account.fiat).coin.toUpperCase(),
    createdAt: isoTime(account.createdAt),
  };
}

/** States in which the conversion has been made and not reversed. */
const TRADED: readonly Order['state'][] = ['paying_out', 'payout_held', 'settled'];

/** An order as one flat row of numbers, for accounting. Expected amounts are beside the actual ones so far. */
export function historyShape(order: ListedOrder, assets: Assets) {
  const isSale = order.direction === 'offramp';
  const [deposit, payout] = [assetOf(assets, order.depositAsset), assetOf(assets, order.payoutAsset)];
  const [crypto, fiat] = isSale ? [deposit, payout] : [payout, deposit];
  const number = (units: bigint, { decimals }: Asset) => rawNumber(formatUnits(units, decimals));
  const rate = rawNumber(formatRate(order.rate));
  const paidUnits = order.state === 'settled' ? order.payoutUnits : 0n;
  const fees = {
    clientFee: number(order.fees.partner, fiat),
    gatewayFee: number(order.fees.rail, fiat),
    gasFee: number(order.fees.chain, fiat),
  };
  const every = {
    orderId: rawNumber(String(order.id)),
    customerId: order.customerId,
    coinId: coinNumber(crypto),
    chainId: chainNumber(crypto.chain ?? ''),
    fiatType: fiatNumber(fiat),
    paymentType: methodKind(order.paymentMethod),
    expectedPrice: rate,
    actualPrice: TRADED.includes(order.state) ? rate : 0,
    merchantRecognitionId: order.merchantReference ?? '',
    createdAt: isoTime(order.createdAt),
    updatedAt: isoTime(order.updatedAt),
    status: statusNumber(order),
    ...fees,
    tdsFee: number(order.fees.tax, fiat),
  };
  if (isSale) {
    return {
      ...every,
      walletAddress: order.depositTarget,
      expectedQuantity: number(order.depositUnits, crypto),
      expectedFiatAmount: number(order.payoutUnits, fiat),
      actualQuantity: number(order.receivedUnits ?? 0n, crypto),
      actualFiatAmount: number(paidUnits, fiat),
      onrampFee: number(order.fees.operator, fiat),
      transactionHash: (order.depositReference ?? '').toLowerCase(),
    };
  }
  return {
    ...every,
    walletAddress: order.payoutAddress ?? '',
    fiatAmount: number(order.depositUnits, fiat),
    expectedCryptoAmount: number(order.payoutUnits, crypto),
    actualCryptoAmount: number(paidUnits, crypto),
    onRampFee: number(order.fees.operator, fiat),
    kycNeeded: 0,
    referenceId: order.payerReference,
    transactionHash: (order.payoutReference ?? '').toLowerCase(),
  };
}

/** A completed order in the format `flat`; a sale has its own pair of amounts beside those of every order. */
export function flatShape(order: ListedOrder, assets: Assets, webhookTrials: number): Record<string, unknown> {
  const isSale = order.direction === 'offramp';
  const [deposit, payout] = [assetOf(assets, order.depositAsset), assetOf(assets, order.payoutAsset)];
  const [crypto, fiat] = isSale ? [deposit, payout] : [payout, deposit];
  const number = (units: bigint, { decimals }: Asset) => rawNumber(formatUnits(units, decimals));
  const rate = rawNumber(formatRate(order.rate));
  const [cryptoUnits, fiatUnits] = isSale
    ? [order.depositUnits, order.payoutUnits]
    : [order.payoutUnits, order.depositUnits];
  const actualCryptoUnits = isSale ? (order.receivedUnits ?? order.depositUnits) : order.payoutUnits;
  return {
    orderId: rawNumber(String(order.id)),
    eventType: order.direction,
    walletAddress: isSale ? order.depositTarget : (order.payoutAddress ?? ''),
    coinId: coinNumber(crypto),
    coinCode: crypto.coin.toLowerCase(),
    chainId: chainNumber(crypto.chain ?? ''),
    network: crypto.chain ?? '',
    fiatType: fiatNumber(fiat),
    fiatAmount: number(fiatUnits, fiat),
    paymentType: methodKind(order.paymentMethod),
    expectedPrice: rate,
    expectedCryptoAmount: number(cryptoUnits, crypto),
    actualPrice: rate,
    actualCryptoAmount: number(actualCryptoUnits, crypto),
    ...(isSale
      ? {
          actualFiatAmount: number(order.payoutUnits, fiat),
          actualQuantity: number(actualCryptoUnits, crypto),
          statusDescription: 'SUCCESS',
        }
      : {}),
    kycNeeded: 0,
    createdAt: isoTime(order.createdAt),
    updatedAt: isoTime(order.updatedAt),
    status: statusNumber(order),
    referenceId: (isSale ? order.payoutReference : order.payerReference) ?? '',
    onRampFee: number(order.fees.operator, fiat),
    clientFee: number(order.fees.partner, fiat),
    gatewayFee: number(order.fees.rail, fiat),
    gasFee: number(order.fees.chain, fiat),
    ...(order.fees.tax > 0n ? { tdsFee: number(order.fees.tax, fiat) } : {}),
    transactionHash: ((isSale ? order.depositReference : order.payoutReference) ?? '').toLowerCase(),
    merchantRecognitionId: order.merchantReference ?? '',
    webhookTrials,
  };
}
