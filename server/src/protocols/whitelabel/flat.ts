/**
 * Webhooks as one flat order: the format `flat`.
 *
 * Older receivers know only this message, sent when an order is completed: the order with its amounts, prices and fees as
 * numbers, and the interface's own numbers for coin, chain, fiat and status. Receivers recognise it by `orderId` at its top
 * level, where the format `whitelabel` has `referenceId`. The order is read when the message is made, so a repeated message is
 * as current as the first.
 */
import { type Format, type Happened, type Message, TEST_EVENT } from '../../events/index.ts';
import type { ListedOrder } from '../../orders/index.ts';
import { orderNumberOf } from './endpoints/orders.ts';
import { type Assets, flatShape } from './shapes.ts';
import { secretFor, signedMessage } from './webhooks.ts';

const COMPLETED = 'order.settled';
const isCompletion = ({ type }: Happened): boolean => type === COMPLETED;

/** A sample with every key of a completed purchase; no receiver has an order with this number. */
const sample = (at: Date, trials: number): Record<string, unknown> => ({
  orderId: 0,
  eventType: 'onramp',
  walletAddress: '0x0000000000000000000000000000000000000001',
  coinId: 54,
  coinCode: 'usdt',
  chainId: 3,
  network: 'matic20',
  fiatType: 1,
  fiatAmount: 100,
  paymentType: 1,
  expectedPrice: 87,
  expectedCryptoAmount: 1.12,
  actualPrice: 87,
  actualCryptoAmount: 1.12,
  kycNeeded: 0,
  createdAt: at.toISOString(),
  updatedAt: at.toISOString(),
  status: 4,
  referenceId: 'SAMPLE',
  onRampFee: 0.25,
  clientFee: 0,
  gatewayFee: 0,
  gasFee: 2.31,
  transactionHash: `0x${'0'.repeat(64)}`,
  merchantRecognitionId: 'SAMPLE',
  webhookTrials: trials,
});

/** A test message for an address; it belongs to no event. */
export const sampleFlatMessage = (secret: string, sentAt: Date): Message =>
  signedMessage(sample(sentAt, 1), { secret, sentAt, payloadForm: 'body' });

export interface FlatFormatDeps {
  order(of: { partnerId: bigint; id: bigint }): Promise<{ order: ListedOrder; assets: Assets }>;
  /** The currently valid secrets, the old one first; empty when the key is gone. */
  secrets(apiKey: string): Promise<readonly string[]>;
}

export function flatFormat(deps: FlatFormatDeps): Format {
  return {
    concerns: (event, earlier) => event.type === TEST_EVENT || (isCompletion(event) && !earlier.some(isCompletion)),

    async message(event, { apiKey, attempt, sentAt, payloadForm }) {
      const isTest = event.type === TEST_EVENT;
      if (!isTest && !isCompletion(event)) return 'no_word';
      const secret = await secretFor(deps, apiKey, attempt);
      if (secret === undefined) return 'no_key';
      const trials = attempt + 1;
      if (isTest) return signedMessage(sample(event.at, trials), { secret, sentAt, payloadForm });
      const id = orderNumberOf(String(event.body.orderId));
      const { order, assets } = await deps.order({ partnerId: event.partnerId, id });
      return signedMessage(flatShape(order, assets, trials), { secret, sentAt, payloadForm });
    },
  };
}
