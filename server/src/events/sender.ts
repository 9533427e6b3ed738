/**
 * Sender: one request to an address that an outsider chose, and its result. It never throws.
 *
 * - Five seconds for everything: name, connection, request, and the answer's head. A 2xx status within that time is success,
 *   whatever happens to the body.
 * - Of the answer, 16 KiB of head and the first kilobyte of body are read; then the connection is closed.
 * - The connection goes to an address that was just checked (address.ts). Redirects are not followed, no proxy of the
 *   environment is used, no connection is reused, and certificates are verified.
 *
 * base/http.ts makes the request, with our own agent and the checked addresses.
 */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { ask, type HttpRequest, NoAnswer } from '../base/http.ts';
import { addressesOf, type EgressPolicy, Forbidden, hostOf } from './address.ts';

export interface Outcome {
  readonly ok: boolean;
  readonly status: number | null;
  /** Why the attempt failed, as one word. */
  readonly error: string | null;
  /** The beginning of the answer, as printable text. */
  readonly answer: string;
  readonly tookMs: number;
}

export type Sender = (to: { url: string; headers: Readonly<Record<string, string>>; body: string }) => Promise<Outcome>;

export const DEADLINE_MS = 5_000;
const MAX_ANSWER_BYTES = 1024;
const MAX_ANSWER_CHARS = 500;

/**
 * How to connect to an address that an outsider chose: to the addresses that were just checked, without a proxy, on a connection
 * that is not reused.
 *
 * @param options.ca for tests: a certificate to trust in addition to the usual ones
 * @returns a function that throws Forbidden for an address that may not be called, or the error of the resolver
 */
export function checkedRoutes(
  egress: EgressPolicy,
  options: { ca?: string } = {},
): (url: URL, deadline: AbortSignal) => Promise<NonNullable<HttpRequest['via']>> {
  const agents = {
    'http:': new HttpAgent({ keepAlive: false }),
    'https:': new HttpsAgent({ keepAlive: false, minVersion: 'TLSv1.2', ...(options.ca ? { ca: options.ca } : {}) }),
  };
  return async (url, deadline) => {
    const addresses = await within(deadline, addressesOf(egress, hostOf(url), deadline));
    return { agent: agents[url.protocol === 'https:' ? 'https:' : 'http:'], lookup: only(addresses) };
  };
}

/** @param options.ca for tests: a certificate to trust in addition to the usual ones */
export function openSender(egress: EgressPolicy, options: { deadlineMs?: number; ca?: string } = {}): Sender {
  const deadlineMs = options.deadlineMs ?? DEADLINE_MS;
  const routeTo = checkedRoutes(egress, options);
  return async ({ url: text, headers, body }) => {
    const from = performance.now();
    const ended = (outcome: Partial<Outcome>): Outcome => ({
      ok: false,
      status: null,
      error: null,
      answer: '',
      tookMs: Math.round(performance.now() - from),
      ...outcome,
    });
    const deadline = AbortSignal.timeout(deadlineMs);
    try {
      const url = new URL(text);
      // A stored URL may no longer be allowed: a sandbox server may have become a production server.
      if (url.protocol !== 'https:' && !egress.plain) return ended({ error: 'not_https' });
      const via = await routeTo(url, deadline);
      const answer = await ask({
        via,
        url: url.href,
        method: 'POST',
        body,
        deadline,
        longestBytes: MAX_ANSWER_BYTES,
        wants: () => 'beginning',
        headers: {
          ...headers,
          'content-type': 'application/json',
          'user-agent': 'Cloverleaf-Webhooks/1',
          connection: 'close',
        },
      });
      return ended({ ...verdict(answer.status), answer: printable(answer.body) });
    } catch (error) {
      return ended({ error: deadline.aborted ? 'timeout' : wordFor(error) });
    }
  };
}

/** The status decides the outcome. */
function verdict(status: number): Pick<Outcome, 'ok' | 'status' | 'error'> {
  const ok = status >= 200 && status < 300;
  return { ok, status, error: ok ? null : status >= 300 && status < 400 ? 'redirect' : 'status' };
}

/** A body may contain anything: it is stored as text without control characters. */
export const printable = (bytes: Buffer): string =>
  bytes
    .toString('utf8')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\ufffd]+/gu, ' ')
    .slice(0, MAX_ANSWER_CHARS);

/** A lookup that always returns the checked addresses. */
const only =
  (addresses: readonly string[]): LookupFunction =>
  (_host, asked, answer) => {
    const all = addresses.map((address) => ({ address, family: isIP(address) }));
    const [first] = all;
    if (asked.all) answer(null, all);
    else answer(null, first?.address ?? '', first?.family);
  };

function within<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}

const WORDS: readonly [RegExp, string][] = [
  [/^(ENOTFOUND|ENODATA|ESERVFAIL|ETIMEOUT|ECANCELLED|EREFUSED|EAI_)/, 'name_not_found'],
  [/^ECONNREFUSED$/, 'connection_refused'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'connection_closed'],
  [/^(ETIMEDOUT|ENETUNREACH|EHOSTUNREACH)$/, 'unreachable'],
  [/^HPE_HEADER_OVERFLOW$/, 'answer_too_large'],
  [/^HPE_/, 'not_http'],
  [/CERT|SELF_SIGNED|UNABLE_TO_|^ERR_TLS/, 'certificate'],
  [/^(ERR_SSL|EPROTO)/, 'tls'],
];

function wordFor(error: unknown): string {
  if (error instanceof Forbidden) return 'address_forbidden';
  const known = (error instanceof NoAnswer ? error.code : (error as { code?: string }).code) ?? '';
  return WORDS.find(([form]) => form.test(known))?.[1] ?? 'failed';
}
