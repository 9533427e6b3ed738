/**
 * Webhooks in this API's words: the format `whitelabel`.
 *
 * Receivers know a few words per direction and act on each one. So each word is sent at most once per order, in a fixed order,
 * and never withdrawn. An event is skipped if its word, or a later word, was sent already (`concerns`). "Trade completed" is
 * spelt with a space for a purchase and with an underscore for a sale, because receivers compare exactly that text.
 *
 * A header of each message repeats its body in base64, and the signature covers that text. Receivers compare it with the
 * received body, or read the event from it; an endpoint may request `{timestamp, body}` there instead. The time of sending is
 * in the metadata, which the signature covers, and in a header of its own.
 *
 * A message is signed with the secret of the key that set the endpoint. During a rotation of that key two secrets are valid,
 * the receiver may know only one of them, and the message has room for one signature. So attempts alternate between the
 * secrets, the old one first: at the latest the second attempt is accepted.
 *
 * The format `flat` (flat.ts) has the same headers over the whole order.
 */
import { defined } from '../../base/defined.ts';
import { type Format, type Happened, type Message, type PayloadForm, TEST_EVENT } from '../../events/index.ts';
import type { Direction, OrderState, PublicMoney } from '../../orders/index.ts';
import type { Partner } from '../../partners/index.ts';
import { sign } from './auth.ts';
import { publicMoneyShape } from './shapes.ts';
import { verificationWords } from './verification.ts';

type Says = string | undefined | ((submittedPayout: boolean) => string);

/** The word sent for a state; undefined if nothing is sent. */
const WORDS: Record<Direction, Record<OrderState, Says>> = {
  offramp: {
    created: undefined,
    // A seen deposit may still vanish: only a confirmed one is announced.
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
    // A freeze by law is not reported, and the status does not show an end. No current event contains this state.
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

/** The order in which they are sent. */
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

interface OrderBody extends Partial<PublicMoney> {
  orderId: string;
  direction: Direction;
  state: OrderState;
  submittedPayout?: boolean;
  exception: string | null;
  failure: string | null;
}

const isOrder = (event: Happened): boolean => event.type.startsWith('order.');
const isCustomer = (event: Happened): boolean => event.type.startsWith('customer.');

/** Rank of the event's word: higher is later; 0 without a word. */
function rankOf(event: Happened): number {
  const { direction, state, submittedPayout } = event.body as unknown as OrderBody;
  const says = WORDS[direction]?.[state];
  const word = typeof says === 'function' ? says(submittedPayout === true) : says;
  return word === undefined ? 0 : RANKS[direction].indexOf(word) + 1;
}

const OUR_WORDS: Pick<Partner, 'kycWords'> = { kycWords: {} };

function customerWord(event: Happened, partner: Pick<Partner, 'kycWords'>): string {
  const { loggedInAt, ...facts } = event.body as Omit<Parameters<typeof verificationWords>[0], 'loggedInAt'> & {
    // Missing in events from before logins were announced. The customer had logged in, because verification requires it.
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

/** No receiver has a transaction with this number. */
const SAMPLE = { referenceId: 0, eventType: 'ONRAMP', status: 'ON_CHAIN_COMPLETED' };

/** A test message for an address; it belongs to no event. */
export const sampleMessage = (secret: string, sentAt: Date): Message =>
  signedMessage(
    { ...SAMPLE, metadata: { eventId: 0, eventCreatedAt: sentAt.toISOString(), sample: true } },
    { secret, sentAt, payloadForm: 'body' },
  );

/** @returns undefined when this format has no word for the event */
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
      ...publicMoneyIn(order),
    },
  };
}

/** The event's data about the order's money; older events have none. */
function publicMoneyIn({ receivedAmount, receivedCurrency, reason, needsDestination, ...more }: OrderBody) {
  const { refunds, returnedPayouts, unclaimedFrom, olderRefunds, olderReturnedPayouts } = more;
  if (receivedAmount === undefined || receivedCurrency === undefined) return {};
  return publicMoneyShape({
    ...{ receivedAmount, receivedCurrency, reason: reason ?? null },
    ...{ needsDestination: needsDestination === true, refunds: refunds ?? [], returnedPayouts: returnedPayouts ?? [] },
    ...defined({ olderRefunds, olderReturnedPayouts, unclaimedFrom }),
  });
}

export interface WhitelabelFormatDeps {
  partner(id: bigint): Promise<Pick<Partner, 'kycWords'>>;
  /** The currently valid secrets, the old one first; empty when the key is gone. */
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

/** The secret for this attempt: attempts alternate while two are valid. */
export async function secretFor(
  { secrets }: Pick<WhitelabelFormatDeps, 'secrets'>,
  apiKey: string,
  attempt: number,
): Promise<string | undefined> {
  const valid = await secrets(apiKey);
  return valid[attempt % valid.length];
}

/** The body with the time in its metadata, if it has any, and the headers that sign it. */
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
