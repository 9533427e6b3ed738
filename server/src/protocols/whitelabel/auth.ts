/**
 * Authentication: which key a request comes from, and proof that the key's holder wrote it.
 *
 * Three headers, each in either of two spellings: the key, a payload (base64 of the JSON `{body, timestamp}`, in the plain or
 * the URL alphabet, padded or not) and the HMAC-SHA512 of that base64 text under the key's secret, in lower-case hex. The
 * signature is checked over the header text exactly as it arrived, in constant time, before any of it is interpreted. Only then
 * the payload is decoded, its timestamp checked, and the signed body compared with the sent one (`body.ts`), by meaning and not
 * by bytes.
 *
 * Timestamps are checked against wall-clock time, not the movable clock: a signature contains the time at which the caller
 * signed.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Refusal } from '../../base/errors.ts';
import type { Credential } from '../../partners/index.ts';
import type { Call } from '../protocol.ts';
import { type Body, JsonNumber, parseJson, plainDecimal, signedBody, utf8 } from './body.ts';

/**
 * Accepted difference between a payload's time and ours. One public program always signs with a time thirty seconds in the
 * past.
 */
export interface ClockWindow {
  readonly behindMs: number;
  readonly aheadMs: number;
}
export const CLOCK_WINDOW: ClockWindow = { behindMs: 300_000, aheadMs: 30_000 };

export interface Caller {
  readonly credential: Credential;
  readonly partner: Credential['partner'];
  /** The secret that made the signature; replies to the caller are signed with the same one. */
  readonly secret: string;
  /** The base64 text; unique to this request. */
  readonly payload: string;
  readonly signedBody: Body;
}

export const SPELLINGS = {
  key: ['apikey', 'x-onramp-apikey'],
  payload: ['payload', 'x-onramp-payload'],
  signature: ['signature', 'x-onramp-signature'],
} as const;

/** Header names that a browser must be allowed to send, in both spellings. */
export const SIGNING_HEADERS = [
  'apiKey',
  'payload',
  'signature',
  'X-ONRAMP-APIKEY',
  'X-ONRAMP-PAYLOAD',
  'X-ONRAMP-SIGNATURE',
];

export function signingHeader(headers: Call['headers'], which: keyof typeof SPELLINGS): string | undefined {
  for (const name of SPELLINGS[which]) {
    const value = headers[name];
    if (value !== undefined && value !== '') return value;
  }
  return undefined;
}

/** Whether the request contains any part of a signature. */
export const isSigned = (headers: Call['headers']): boolean =>
  Object.keys(SPELLINGS).some((which) => signingHeader(headers, which as keyof typeof SPELLINGS) !== undefined);

/** @throws Refusal 'unauthenticated' | 'clock_ahead' */
export async function authenticate(
  headers: Call['headers'],
  options: {
    credential: (apiKey: string) => Promise<Credential | undefined>;
    nowMs: number;
    window: ClockWindow;
  },
): Promise<Caller> {
  const apiKey = signingHeader(headers, 'key');
  const payload = signingHeader(headers, 'payload');
  const signature = signingHeader(headers, 'signature');
  if (apiKey === undefined || payload === undefined || signature === undefined) {
    throw unauthenticated('apiKey, payload and signature are needed');
  }
  const credential = await options.credential(apiKey);
  if (credential === undefined) throw unauthenticated('the key is not known');
  const secret = credential.secrets.find((one) => signatureMatches(payload, signature, one));
  if (secret === undefined) throw unauthenticated('the signature does not match');
  const { body, timestampMs } = readPayload(payload);
  if (timestampMs > options.nowMs + options.window.aheadMs) throw new Refusal('clock_ahead');
  if (timestampMs < options.nowMs - options.window.behindMs) throw unauthenticated('the timestamp is too old');
  return { credential, partner: credential.partner, secret, payload, signedBody: body };
}

const unauthenticated = (why: string): Refusal => new Refusal('unauthenticated', { why });

export const sign = (message: string, secret: string): string =>
  createHmac('sha512', secret).update(message, 'latin1').digest('hex');

/** Node decodes header bytes as Latin-1, so the text is hashed byte for byte as it was sent. */
export function signatureMatches(payload: string, signature: string, secret: string): boolean {
  const expected = Buffer.from(sign(payload, secret), 'latin1');
  const given = Buffer.from(signature, 'latin1');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Either alphabet, with or without padding: programs send all four, and the signature covers the text as sent. */
const BASE64 = /^(?:[\w+/-]{4})*(?:[\w+/-]{2}(?:==)?|[\w+/-]{3}=?)?$/;

export const isBase64 = (text: string): boolean => BASE64.test(text);

/** @throws Refusal 'unauthenticated' */
export function readPayload(payload: string): { body: Body; timestampMs: number } {
  const text = isBase64(payload) ? utf8(Buffer.from(payload, 'base64')) : undefined;
  const value = text === undefined ? undefined : parseJson(text);
  if (!(value instanceof Map)) throw unauthenticated('the payload is not base64 of a JSON object');
  const timestampMs = readTimestamp(value.get('timestamp'));
  if (timestampMs === undefined) throw unauthenticated('the payload has no timestamp in Unix milliseconds');
  const body = signedBody(value.get('body'));
  if (body === undefined) throw unauthenticated('the signed body is not a JSON object');
  return { body, timestampMs };
}

/** Milliseconds as digits. A fraction, which some clocks give, is ignored. A JSON number may have an exponent. */
function readTimestamp(value: unknown): number | undefined {
  const text = value instanceof JsonNumber ? plainDecimal(value) : value;
  const digits = typeof text === 'string' ? /^([0-9]{1,15})(?:\.[0-9]+)?$/.exec(text)?.[1] : undefined;
  return digits === undefined ? undefined : Number(digits);
}
