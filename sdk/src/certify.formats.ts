/**
 * The messages of each format about an order, for certify: `standard` has a message for each event, `whitelabel` one for each
 * of its words, `flat` the order once it is paid out. They are built here exactly as the server builds them, and signed with
 * the receiver's secret.
 */
import { hmac, toBase64, toHex, utf8 } from './bytes.ts';
import type { Cloverleaf } from './client.ts';
import { signWebhook, type WebhookFormat } from './webhooks.ts';

/** An event of the feed. */
export interface Told {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly subject: string;
  readonly sequence: number;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Message {
  readonly headers: Record<string, string>;
  readonly body: string;
}

export interface Dialect {
  readonly format: WebhookFormat;
  /** Whether a message contains the time of sending. */
  readonly hasTime: boolean;
  /** Name of the header that contains the signature. */
  readonly signature: string;
  /** The events of an order that a receiver of this format receives. */
  heard(events: readonly Told[]): Told[];
  message(event: Told, how: { secret: string; nowMs?: number | undefined }): Promise<Message>;
}

/** The words of a sale's states, in the order in which they are sent; each is sent once. */
const WORDS = [
  ['deposit_confirmed', 'ON_CHAIN_DEPOSIT_RECEIVED'],
  ['paying_out', 'TRADE_COMPLETED'],
  ['paying_out', 'FIAT_TRANSFER_INITIATED'],
  ['settled', 'FIAT_TRANSFER_COMPLETED'],
  ['refunded', 'FAILED'],
  ['expired', 'FAILED'],
  ['cancelled', 'FAILED'],
] as const;

const rankOf = ({ data }: Told): number => {
  const isSubmitted = data.state === 'paying_out' && data.submittedPayout === true;
  return (
    1 + WORDS.findIndex(([state, word]) => state === data.state && (word === 'FIAT_TRANSFER_INITIATED') === isSubmitted)
  );
};

const FAILURES: Readonly<Record<string, string>> = {
  expired: 'Transaction timed out',
  cancelled: 'Transaction abandoned',
  amount: 'Amount mismatch',
  name: 'Name of the payer does not match',
};

/** Fields of an event that the format `whitelabel` puts into its metadata. */
const MONEY = [
  ...['receivedAmount', 'receivedCurrency', 'reason', 'needsDestination', 'refunds', 'returnedPayouts'],
  ...['olderRefunds', 'olderReturnedPayouts', 'unclaimedFrom'],
];

/** Texts are never null in that format, and it does not contain our asset codes. */
function onWire(value: unknown): unknown {
  if (!Array.isArray(value)) return value ?? '';
  return value.map((money: object) => Object.fromEntries(Object.entries(money).filter(([name]) => name !== 'asset')));
}

/** The body without the time of sending. @throws when the format has no word for the event */
export function whitelabelMessage(event: Told): Record<string, unknown> {
  const { data, timestamp, sequence, id } = event;
  const [state, word] = WORDS[rankOf(event) - 1] ?? [];
  if (state === undefined || word === undefined) throw new Error(`${event.type} has no word`);
  const cause = data.failure == null && data.exception === 'underpaid' ? 'amount' : String(data.failure);
  const failure = FAILURES[state] ?? FAILURES[cause] ?? 'Transaction refunded';
  return {
    referenceId: Number(data.orderId),
    eventType: 'OFFRAMP',
    status: word,
    metadata: {
      ...{ eventId: Number(id.split('_').at(-1)), eventCreatedAt: timestamp, sequence },
      ...(word === 'FAILED' ? { failure_reasons: failure } : {}),
      ...Object.fromEntries(MONEY.filter((name) => name in data).map((name) => [name, onWire(data[name])])),
    },
  };
}

async function signWire(body: string, { secret, nowMs }: { secret: string; nowMs: number }): Promise<Message> {
  const payload = toBase64(utf8(body));
  const headers = {
    'content-type': 'application/json',
    'x-onramp-payload': payload,
    'x-onramp-signature': toHex(await hmac('SHA-512', utf8(secret), utf8(payload))),
    'x-onramp-timestamp': String(nowMs),
  };
  return { headers, body };
}

const WIRE = { signature: 'x-onramp-signature' } as const;

/** @param client used to read orders */
export function dialectOf(format: WebhookFormat, client: Cloverleaf): Dialect {
  if (format === 'standard')
    return {
      ...{ format, hasTime: true, signature: 'webhook-signature' },
      heard: (events) => [...events],
      message: (event, { secret, nowMs }) => signWebhook(event, { secret, ...(nowMs === undefined ? {} : { nowMs }) }),
    };
  if (format === 'whitelabel')
    return {
      ...{ ...WIRE, format, hasTime: true },
      heard(events) {
        let sent = 0;
        return events.filter((event) => {
          const rank = rankOf(event);
          if (rank <= sent) return false;
          sent = rank;
          return true;
        });
      },
      async message(event, { secret, nowMs = Date.now() }) {
        const made = whitelabelMessage(event);
        const metadata = { ...(made.metadata as object), timestamp: nowMs };
        return await signWire(JSON.stringify({ ...made, metadata }), { secret, nowMs });
      },
    };
  const rows = new Map<string, string>();
  return {
    ...{ ...WIRE, format, hasTime: false },
    heard: (events) => events.filter(({ type }) => type === 'order.settled').slice(0, 1),
    async message({ data }, { secret, nowMs = Date.now() }) {
      const id = String(data.orderId);
      const row = rows.get(id) ?? (await flatRow(client, id));
      rows.set(id, row);
      return await signWire(row, { secret, nowMs });
    },
  };
}

/**
 * The order as one flat row, with the white-label wire's numbers for the pair that certify sells: usdc on matic20 for rupees,
 * by IMPS.
 */
async function flatRow(client: Cloverleaf, id: string): Promise<string> {
  const [order, { evidence }] = await Promise.all([client.orders.get(id), client.orders.trace(id)]);
  const of = { transactionId: id, customerId: order.customerId };
  const { depositAddress } = await client.whitelabel.post('offramp/transaction', of);
  const reference = evidence.find(({ what }) => what === 'payout_settled')?.bankReference ?? '';
  const hash = evidence.find((one) => one.hash !== null)?.hash ?? '';
  const number = Number;
  const [crypto, fiat] = [order.pay, order.receive];
  const fee = (kind: string) => number(order.fees.find((one) => one.kind === kind)?.amount.amount ?? 0);
  const came = number(order.received.amount);
  return JSON.stringify({
    ...{ orderId: number(id), eventType: 'offramp' },
    ...{ walletAddress: depositAddress, fiatType: 1 },
    ...{ coinId: 116, coinCode: crypto.asset.split('.')[0], chainId: 3, network: crypto.asset.split('.')[1] },
    ...{ fiatAmount: number(fiat.amount), paymentType: 2, expectedPrice: number(order.rate) },
    ...{ expectedCryptoAmount: number(crypto.amount), actualPrice: number(order.rate), actualCryptoAmount: came },
    ...{ actualFiatAmount: number(fiat.amount), actualQuantity: came, statusDescription: 'SUCCESS', kycNeeded: 0 },
    ...{ createdAt: order.createdAt, updatedAt: order.updatedAt, status: 6, referenceId: reference },
    ...{ onRampFee: fee('operator'), clientFee: fee('partner'), gatewayFee: fee('rail'), gasFee: fee('chain') },
    ...{ transactionHash: hash, merchantRecognitionId: order.reference ?? '', webhookTrials: 1 },
  });
}
