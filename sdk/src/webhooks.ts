/**
 * Verifies a webhook before it is trusted: that the server signed it, that it is unchanged, and that it is not an old one sent
 * again.
 *
 *     const { event } = await verifyWebhook({ headers: request.headers, body: await request.text() }, { secret });
 *
 * Pass the body unchanged: text or bytes, never parsed and printed again. Events are delivered at least once, so process each
 * `id` once, and skip a `sequence` lower than one you have processed of the same `subject`.
 *
 * A message in the format `flat` contains no signed time, so its age cannot be checked: process each `orderId` once.
 */
import { type Bytes, fromBase64, fromHex, hmac, hmacMatches, textOf, toBase64, utf8 } from './bytes.ts';
import { CloverleafError, UsageError } from './errors.ts';
import type { FlatWebhook, StandardWebhook, WhitelabelWebhook } from './generated/whitelabel.ts';

export type WebhookFormat = 'standard' | 'whitelabel' | 'flat';

export interface WebhookMessage {
  /** A Headers object, or an object as Node's servers have it. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string | Uint8Array;
}

export interface VerifyOptions {
  /**
   * `standard`: the endpoint's secret (`whsec_…`). `whitelabel` and `flat`: the secret of the API key that set the endpoint.
   * Several during a rotation.
   */
  readonly secret: string | readonly string[];
  /** Accept only these formats. Default all. */
  readonly formats?: readonly WebhookFormat[];
  /** Maximum difference of the signed time from now. Default five minutes. */
  readonly toleranceMs?: number;
  readonly nowMs?: number;
}

interface Common {
  /** Process each id once. */
  readonly id: string;
  /** What the event is about, such as `order:17`. */
  readonly subject: string;
  readonly sequence: number;
}

export type VerifiedWebhook =
  | (Common & { readonly format: 'standard'; readonly event: StandardWebhook })
  | (Common & { readonly format: 'whitelabel'; readonly event: WhitelabelWebhook })
  | (Common & { readonly format: 'flat'; readonly event: FlatWebhook });

export type WebhookProblem =
  | 'header_missing'
  | 'format_not_accepted'
  | 'wrong_signature'
  | 'body_differs'
  | 'too_old'
  | 'too_new'
  | 'malformed';

/** Answer such a message with 401, and do nothing else. */
export class WebhookError extends CloverleafError {
  override name = 'WebhookError';
  readonly reason: WebhookProblem;

  constructor(reason: WebhookProblem, message: string) {
    super(message);
    this.reason = reason;
  }
}

const TOLERANCE_MS = 300_000;

/** @throws WebhookError; UsageError for invalid options, whatever the message */
export async function verifyWebhook(message: WebhookMessage, options: VerifyOptions): Promise<VerifiedWebhook> {
  const secrets = typeof options.secret === 'string' ? [options.secret] : options.secret;
  if (!Array.isArray(secrets) || secrets.some((one) => typeof one !== 'string'))
    throw new UsageError('secret must be a text, or a list of texts: is the variable of the environment set?');
  if (!isAsItCame(message.body))
    throw new UsageError('body must be the text or the bytes as they came: a body that was parsed cannot be verified');
  if (secrets.length === 0 || secrets.some((one) => one === ''))
    throw new WebhookError('wrong_signature', 'no secret was given: nothing can be verified with an empty one');
  const get = headersOf(message.headers);
  const bytes = typeof message.body === 'string' ? utf8(message.body) : (new Uint8Array(message.body) as Bytes);
  if (get('webhook-signature') !== '') {
    accepts(options, 'standard');
    return await verifyStandard(get, bytes, secrets, options);
  }
  if (get('x-onramp-signature') !== '') return await verifyWire(get, bytes, secrets, options);
  throw new WebhookError('header_missing', 'it has neither webhook-signature nor x-onramp-signature');
}

const isAsItCame = (body: unknown): boolean => typeof body === 'string' || body instanceof Uint8Array;

async function verifyStandard(
  get: Get,
  body: Bytes,
  secrets: readonly string[],
  options: VerifyOptions,
): Promise<VerifiedWebhook> {
  const id = required(get, 'webhook-id');
  const timestamp = required(get, 'webhook-timestamp');
  const signed = joined(utf8(`${id}.${timestamp}.`), body);
  const given = get('webhook-signature')
    .split(' ')
    .filter((one) => one.startsWith('v1,'))
    .map((one) => fromBase64(one.slice(3)))
    .filter((one) => one !== undefined);
  // During a rotation there are two signatures; ours may match either.
  let genuine = false;
  for (const secret of secrets) {
    const key = fromBase64(secret.replace(/^whsec_/, ''));
    if (key === undefined || key.length === 0) continue;
    for (const signature of given.slice(0, 4)) genuine ||= await hmacMatches('SHA-256', key, signed, signature);
  }
  if (!genuine) throw wrongSignature();
  if (!/^[0-9]{1,12}$/.test(timestamp)) throw malformed('webhook-timestamp is no Unix time');
  checkAge(Number(timestamp) * 1000, options);
  const event = parsed(body) as unknown as StandardWebhook;
  if (event.id !== id) throw new WebhookError('body_differs', 'the body has another id than webhook-id');
  return { format: 'standard', event, id, subject: event.subject, sequence: event.sequence };
}

async function verifyWire(
  get: Get,
  body: Bytes,
  secrets: readonly string[],
  options: VerifyOptions,
): Promise<VerifiedWebhook> {
  const payload = required(get, 'x-onramp-payload');
  const signature = fromHex(get('x-onramp-signature'));
  let genuine = false;
  for (const secret of signature === undefined ? [] : secrets)
    genuine ||= await hmacMatches('SHA-512', utf8(secret), utf8(payload), signature as Bytes);
  if (!genuine) throw wrongSignature();

  const carried = fromBase64(payload);
  if (carried === undefined) throw malformed('x-onramp-payload is no base64');
  const signedAt: number[] = [];
  if (!sameBytes(carried, body)) {
    // The alternative content of the header: {timestamp, body}.
    const wrapped = /^\{"timestamp":([0-9]{1,15}),"body":(.*)\}$/s.exec(textIn(carried));
    if (wrapped === null || wrapped[2] !== textIn(body))
      throw new WebhookError('body_differs', 'the body is not the one that was signed');
    signedAt.push(Number(wrapped[1]));
  }
  const event = parsed(body);
  const format = 'orderId' in event ? 'flat' : 'whitelabel';
  accepts(options, format);
  if (format === 'flat') {
    for (const at of signedAt) checkAge(at, options);
    const order = event as unknown as FlatWebhook;
    return { format, event: order, id: `flat:${order.orderId}`, subject: `order:${order.orderId}`, sequence: 1 };
  }
  const metadata = (event.metadata ?? {}) as {
    timestamp?: unknown;
    eventId?: unknown;
    sequence?: unknown;
    customerId?: unknown;
  };
  if (typeof metadata.timestamp !== 'number') throw malformed('metadata.timestamp is missing');
  for (const at of [...signedAt, metadata.timestamp]) checkAge(at, options);
  const subject =
    event.referenceId === undefined ? `customer:${String(metadata.customerId)}` : `order:${String(event.referenceId)}`;
  const about = { id: String(metadata.eventId), subject, sequence: Number(metadata.sequence) };
  return { format, event: event as unknown as WhitelabelWebhook, ...about };
}

/**
 * Signs an event in the format `standard` as the server does: to test a receiver.
 *
 * @returns the headers and the body to post
 */
export async function signWebhook(
  event: { readonly id: string },
  options: { secret: string; nowMs?: number },
): Promise<{ headers: Record<string, string>; body: string }> {
  const key = fromBase64(options.secret.replace(/^whsec_/, ''));
  if (key === undefined || key.length === 0) throw new UsageError('secret must be that of a webhook endpoint: whsec_…');
  const body = JSON.stringify(event);
  const timestamp = String(Math.floor((options.nowMs ?? Date.now()) / 1000));
  const signature = toBase64(await hmac('SHA-256', key, utf8(`${event.id}.${timestamp}.${body}`)));
  const headers = { 'webhook-id': event.id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
  return { headers: { 'content-type': 'application/json', ...headers }, body };
}

type Get = (name: string) => string;

function headersOf(headers: WebhookMessage['headers']): Get {
  if (typeof (headers as Headers).get === 'function') return (name) => (headers as Headers).get(name) ?? '';
  const all = Object.entries(headers as Record<string, string | readonly string[] | undefined>);
  const lower = new Map(all.map(([name, value]) => [name.toLowerCase(), Array.isArray(value) ? value[0] : value]));
  return (name) => String(lower.get(name) ?? '');
}

function required(get: Get, name: string): string {
  const value = get(name);
  if (value === '') throw new WebhookError('header_missing', `${name} is missing`);
  return value;
}

function accepts({ formats }: VerifyOptions, format: WebhookFormat): void {
  if (formats !== undefined && !formats.includes(format))
    throw new WebhookError('format_not_accepted', `the format ${format} is not accepted here`);
}

function checkAge(atMs: number, { toleranceMs = TOLERANCE_MS, nowMs = Date.now() }: VerifyOptions): void {
  const age = Math.round((nowMs - atMs) / 1000);
  if (nowMs - atMs > toleranceMs) throw new WebhookError('too_old', `it was signed ${age} s ago`);
  if (atMs - nowMs > toleranceMs)
    throw new WebhookError('too_new', `it was signed ${-age} s in the future: check your clock`);
}

const wrongSignature = (): WebhookError =>
  new WebhookError(
    'wrong_signature',
    'no signature is that of the secret: it is of another sender, or the secret is another',
  );

const malformed = (why: string): WebhookError => new WebhookError('malformed', why);

function parsed(body: Bytes): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(textOf(body));
  } catch {
    throw malformed('the body is no JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw malformed('the body is no JSON object');
  return value as Record<string, unknown>;
}

function textIn(bytes: Bytes): string {
  try {
    return textOf(bytes);
  } catch {
    throw malformed('the body is no UTF-8');
  }
}

function joined(one: Bytes, other: Bytes): Bytes {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}

/** The compared values are not secret (they were authenticated before), so constant time is not needed. */
const sameBytes = (one: Bytes, other: Bytes): boolean =>
  one.length === other.length && one.every((byte, at) => byte === other[at]);
