/**
 * Webhooks in the words of this wire: the format `whitelabel`.
 *
 * Receivers know a handful of words per direction, and action on each: so each word is said once of an order, in the order of
 * the words, and none is reversed. An event whose word was said before, or that comes behind one said, is not sent
 * (`concerns`). "Trade completed" is spelt with a space for a purchase and with an underscore for a sale, because receivers
 * compare it so.
 *
 * A message has its body in the header too, in base64, and the signature is over that text. Receivers compare it with the body
 * they got, or read the event from it; an endpoint may ask for `{timestamp, body}` there instead. When it was sent stands in the
 * metadata, which the signature covers, and in a header of its own.
 *
 * It is signed with the secret of the key the endpoint was set with. While that key is rotated two secrets are valid, a receiver
 * knows one of them, and there is room for one signature: attempts take turns, the old one first, so whichever the receiver
 * knows, the second attempt reaches it.
 *
 * The format `flat` (flat.ts) has the same headers over the whole order.
 */
import { type Format, type Happened, type Message, type PayloadForm, TEST_EVENT } from '../../events/index.ts';
import type { Direction, OrderState, Told } from '../../orders/index.ts';
import type { Partner } from '../../partners/index.ts';
import { sign } from './auth.ts';
import { toldShape } from './shapes.ts';
import { verificationWords } from './verification.ts';

type Says = string | undefined | ((submittedPayout: boolean) => string);

/** What is said of an order in a state; a state that says nothing new says nothing. */
const WORDS: Record<Direction, Record<OrderState, Says>> = {
  offramp: {
    created: undefined,
    // It may yet vanish: what is announced is ours.
    deposit_seen: undefined,
    deposit_confirmed: 'ON_CHAIN_DEPOSIT_RECEIVED',
    awaiting_liquidity: undefined,
    on_hold: undefined,
    paying_out: (submitted) => (submitted ? 'FIAT_TRANSFER_INITIATED' : 'TRADE_COMPLETED'),
    payout_held: undefined,
    settled: 'FIAT_TRANSFER_COMPLETED',
    refunding: undefined,
    refund_held: undefined,
    refunded: 'FAILED',
    expired: 'FAILED',
    cancelled: 'FAILED',
    // Stopped by law: nobody is told, and the status shows no end either. No event of today says it.
    frozen: undefined,
  },
  onramp: {
    created: undefined,
    deposit_seen: undefined,
    deposit_confirmed: 'FIAT_DEPOSIT_RECEIVED',
    awaiting_liquidity: undefined,
    on_hold: undefined,
    paying_out: (submitted) => (submitted ? 'ON_CHAIN_INITIATED' : 'TRADE COMPLETED'),
    payout_held: undefined,
    settled: 'ON_CHAIN_COMPLETED',
    refunding: undefined,
    refund_held: undefined,
    refunded: 'FAILED',
    expired: 'FAILED',
    cancelled: 'FAILED',
    frozen: undefined,
  },
};

/** The order in which they are said. */
const RANKS: Record<Direction, readonly string[]> = {
  offramp: [
    'ON_CHAIN_DEPOSIT_RECEIVED',
    'TRADE_COMPLETED',
    'FIAT_TRANSFER_INITIATED',
    'FIAT_TRANSFER_COMPLETED',
    'FAILED',
  ],
  onramp: ['FIAT_DEPOSIT_RECEIVED', 'TRADE COMPLETED', 'ON_CHAIN_INITIATED', 'ON_CHAIN_COMPLETED', 'FAILED'],
};

interface OrderBody extends Partial<Told> {
  orderId: string;
  direction: Direction;
  state: OrderState;
  submittedPayout?: boolean;
  exception: string | null;
  failure: string | null;
}

const isOrder = (event: Happened): boolean => event.type.startsWith('order.');
const isCustomer = (event: Happened): boolean => event.type.startsWith('customer.');

/** 0: no word; otherwise the higher, the further on. */
function rankOf(event: Happened): number {
  const { direction, state, submittedPayout } = event.body as unknown as OrderBody;
  const says = WORDS[direction]?.[state];
  const word = typeof says === 'function' ? says(submittedPayout === true) : says;
  return word === undefined ? 0 : RANKS[direction].indexOf(word) + 1;
}

const OUR_WORDS: Pick<Partner, 'kycWords'> = { kycWords: {} };

function customerWord(event: Happened, partner: Pick<Partner, 'kycWords'>): string {
  const { loggedInAt, ...facts } = event.body as Omit<Parameters<typeof verificationWords>[0], 'loggedInAt'> & {
    // Events written before logins were announced do not say; there was one, or there would have been no verification.
    loggedInAt?: string | null;
  };
  return verificationWords({ ...facts, loggedInAt: loggedInAt === null ? null : event.at }, partner).status;
}

const REASONS: Readonly<Record<string, string>> = {
  expired: 'Transaction timed out',
  cancelled: 'Transaction abandoned',
  amount: 'Amount mismatch',
  name: 'Name of the payer does not match',
};

function failureReason({ state, failure, exception }: OrderBody): string {
  const amount = failure === null && exception === 'underpaid' ? 'amount' : failure;
  return REASONS[state] ?? REASONS[amount ?? ''] ?? 'Transaction refunded';
}

/** No receiver has a transaction of this number. */
const SAMPLE = { referenceId: 0, eventType: 'ONRAMP', status: 'ON_CHAIN_COMPLETED' };

/** A message to see whether an address would do; of no event. */
export const sampleMessage = (secret: string, sentAt: Date): Message =>
  signedMessage(
    { ...SAMPLE, metadata: { eventId: 0, eventCreatedAt: sentAt.toISOString(), sample: true } },
    { secret, sentAt, payloadForm: 'body' },
  );

/** @returns undefined where this format has no word for the event */
export function whitelabelBody(
  event: Happened,
  partner: Pick<Partner, 'kycWords'>,
): Record<string, unknown> | undefined {
  const metadata = {
    eventId: Number(event.position),
    eventCreatedAt: event.at.toISOString(),
    sequence: event.sequence,
  };
  if (event.type === TEST_EVENT) return { ...SAMPLE, metadata: { ...metadata, sample: true } };
  if (isCustomer(event)) {
    const { customerId, clientCustomerId, kind } = event.body;
    return {
      eventType: kind === 'BUSINESS' ? 'KYB' : 'KYC',
      status: customerWord(event, partner),
      metadata: { ...metadata, customerId, clientCustomerId },
    };
  }
  const rank = isOrder(event) ? rankOf(event) : 0;
  if (rank === 0) return undefined;
  const order = event.body as unknown as OrderBody;
  const status = RANKS[order.direction][rank - 1];
  return {
    // A JSON number, as receivers read it: ids stay below 2^53.
    referenceId: Number(order.orderId),
    eventType: order.direction === 'onramp' ? 'ONRAMP' : 'OFFRAMP',
    status,
    metadata: {
      ...metadata,
      ...(status === 'FAILED' ? { failure_reasons: failureReason(order) } : {}),
      ...toldIn(order),
    },
  };
}

/** What the event tells of the order's money; events of before that was told say nothing of it. */
function toldIn({ receivedAmount, receivedCurrency, reason, needsDestination, ...more }: OrderBody) {
  const { refunds, returnedPayouts, unclaimedFrom, olderRefunds, olderReturnedPayouts } = more;
  if (receivedAmount === undefined || receivedCurrency === undefined) return {};
  return toldShape({
    ...{ receivedAmount, receivedCurrency, reason: reason ?? null },
    ...{ needsDestination: needsDestination === true, refunds: refunds ?? [], returnedPayouts: returnedPayouts ?? [] },
    ...(olderRefunds === undefined ? {} : { olderRefunds }),
    ...(olderReturnedPayouts === undefined ? {} : { olderReturnedPayouts }),
    ...(unclaimedFrom === undefined ? {} : { unclaimedFrom }),
  });
}

export interface WhitelabelFormatDeps {
  partner(id: bigint): Promise<Pick<Partner, 'kycWords'>>;
  /** Valid now, the old one first; none where the key is gone. */
  secrets(apiKey: string): Promise<readonly string[]>;
}

export function whitelabelFormat(deps: WhitelabelFormatDeps): Format {
  return {
    concerns(event, earlier) {
      if (event.type === TEST_EVENT) return true;
      if (isCustomer(event)) {
        const last = earlier.filter(isCustomer).at(-1);
        return (
          customerWord(event, OUR_WORDS) !== (last === undefined ? 'LOGIN_REQUIRED' : customerWord(last, OUR_WORDS))
        );
      }
      if (!isOrder(event)) return false;
      return rankOf(event) > Math.max(0, ...earlier.filter(isOrder).map(rankOf));
    },

    async message(event, { apiKey, attempt, sentAt, payloadForm }) {
      const body = whitelabelBody(event, isCustomer(event) ? await deps.partner(event.partnerId) : OUR_WORDS);
      if (body === undefined) return 'no_word';
      const secret = await secretFor(deps, apiKey, attempt);
      return secret === undefined ? 'no_key' : signedMessage(body, { secret, sentAt, payloadForm });
    },
  };
}

/** The one to sign an attempt with: they take turns where two are valid. */
export async function secretFor(
  { secrets }: Pick<WhitelabelFormatDeps, 'secrets'>,
  apiKey: string,
  attempt: number,
): Promise<string | undefined> {
  const valid = await secrets(apiKey);
  return valid[attempt % valid.length];
}

/** The body with the time in its metadata, where it has any, and the headers that sign it. */
export function signedMessage(
  content: Record<string, unknown>,
  { secret, sentAt, payloadForm }: { secret: string; sentAt: Date; payloadForm: PayloadForm },
): Message {
  const timestamp = sentAt.getTime();
  const { metadata } = content;
  const body = JSON.stringify(metadata === undefined ? content : { ...content, metadata: { ...metadata, timestamp } });
  const carried = payloadForm === 'body' ? body : `{"timestamp":${timestamp},"body":${body}}`;
  const payload = Buffer.from(carried).toString('base64');
  return {
    body,
    headers: {
      'x-onramp-payload': payload,
      'x-onramp-signature': sign(payload, secret),
      'x-onramp-timestamp': String(timestamp),
    },
  };
}
