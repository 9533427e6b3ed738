/**
 * One request, retried until it is answered: deadline, retries, and errors as classes.
 *
 * A lost answer is not a failure: the request may have taken effect. So a request is repeated only if that is harmless: it
 * reads, it replaces a value, or the server recognises it by its Idempotency-Key, which is the same for all attempts. Any other
 * request whose answer is lost ends in NoAnswerError. If the server states that it did nothing (429), every request is
 * repeated.
 *
 * A success that is not JSON came from something in between, such as the login page of a network, so it counts as a lost
 * answer.
 *
 * Each attempt is signed again, because signatures expire. The wait doubles, with jitter, and is never shorter than the
 * server's Retry-After.
 *
 * Not here: signing (sign.ts), the list of requests (generated/).
 */
import type { Bytes } from './bytes.ts';
import { ApiError, NoAnswerError, UsageError } from './errors.ts';

export interface HttpOptions {
  /** Such as `https://ramp.example`, without a path. */
  readonly baseUrl: string;
  /** For runtimes with a fetch of their own, and for tests. */
  readonly fetch?: typeof fetch;
  /** Time limit of one attempt. Default 15 seconds. */
  readonly timeoutMs?: number;
  /** Time limit of all attempts together. Default one minute; 0 makes one attempt. */
  readonly patienceMs?: number;
}

/** Options of one call. */
export interface CallOptions {
  /** Your own Idempotency-Key, to repeat a call after a restart of your program; by default a random one. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly patienceMs?: number;
  /**
   * Repeat the call after a lost answer although the server has no key for it: set this when doing it twice is harmless to you.
   */
  readonly repeat?: boolean;
}

/** Files by their names in the form, such as `passportFront.jpg`. */
export type Files = Readonly<Record<string, Blob | Uint8Array>>;

export interface Outgoing {
  readonly method: string;
  /** Path with the query. */
  readonly path: string;
  /** The exact text or bytes to send. */
  readonly body: string | Uint8Array | undefined;
  readonly repeatable: boolean;
  readonly idempotencyKey: string | undefined;
  /** Called again for each attempt. */
  headers(): Promise<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly json: unknown;
}

export interface Http {
  readonly baseUrl: string;
  /** @throws ApiError | NoAnswerError */
  send(outgoing: Outgoing, options?: CallOptions): Promise<Answer>;
}

const TIMEOUT_MS = 15_000;
const PATIENCE_MS = 60_000;
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5_000;
/** A larger answer cannot be ours. */
const LONGEST_ANSWER_CHARS = 32 * 1024 * 1024;
const NOTHING_DONE = new Set([429]);
/** 502 and 504 come from a proxy in front of the server. */
const MAY_PASS = new Set([408, 502, 503, 504]);
/** A 500 may be temporary, and then a retry succeeds. */
const ATTEMPTS_AT_500 = 3;

export function openHttp(options: HttpOptions): Http {
  const baseUrl = readBaseUrl(options.baseUrl);
  // Called as a plain function, because some runtimes refuse a fetch that is called as a method.
  const request = options.fetch ?? ((...args: Parameters<typeof fetch>) => fetch(...args));

  return {
    baseUrl,
    async send(outgoing, call = {}) {
      const giveUpAt = Date.now() + (call.patienceMs ?? options.patienceMs ?? PATIENCE_MS);
      const timeoutMs = call.timeoutMs ?? options.timeoutMs ?? TIMEOUT_MS;
      const repeatable = outgoing.repeatable || call.repeat === true;
      for (let attempts = 1; ; attempts += 1) {
        call.signal?.throwIfAborted();
        const { answer, cause } = await attempt(outgoing, timeoutMs, call.signal);
        const wait = waitBefore(attempts, answer);
        const inTime = Date.now() + wait <= giveUpAt;
        if (answer === undefined) {
          if (repeatable && inTime) await sleep(wait, call.signal);
          else throw noAnswer(outgoing, attempts, cause);
        } else if (answer.status < 300) {
          return answer;
        } else {
          const error = declined(answer, outgoing.idempotencyKey);
          const again =
            NOTHING_DONE.has(answer.status) ||
            error.reason === 'idempotency_in_flight' ||
            (repeatable && (MAY_PASS.has(answer.status) || (answer.status === 500 && attempts < ATTEMPTS_AT_500)));
          if (!again || !inTime) throw error;
          await sleep(wait, call.signal);
        }
      }
    },
  };

  async function attempt(
    outgoing: Outgoing,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<{ answer?: Answer; cause?: unknown }> {
    const headers = await outgoing.headers();
    const deadline = AbortSignal.timeout(timeoutMs);
    try {
      const response = await request(`${baseUrl}${outgoing.path}`, {
        method: outgoing.method,
        headers,
        ...(outgoing.body === undefined ? {} : { body: outgoing.body as string | Bytes }),
        // A redirect would send the signed request elsewhere.
        redirect: 'manual',
        signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
      });
      const text = await response.text();
      if (text.length > LONGEST_ANSWER_CHARS) return { cause: new Error('the answer is too long') };
      const { status, headers: of } = response;
      const json = parsed(text);
      // A redirect that the runtime hides has the status 0.
      if (status < 200) return { cause: new Error(`the answer has the status ${status}`) };
      if (status < 300 && json === undefined) return { cause: new Error('the answer is no JSON') };
      return { answer: { status, headers: of, json } };
    } catch (cause) {
      if (signal?.aborted === true) throw signal.reason;
      return { cause };
    }
  }
}

function readBaseUrl(text: string | undefined): string {
  let url: URL;
  try {
    url = new URL(text ?? '');
  } catch {
    // The value is not shown, because it may be a secret in the wrong place.
    const is = text === '' ? 'empty' : text === undefined ? 'undefined' : 'none';
    throw new UsageError(`baseUrl must be a URL such as https://ramp.example, and is ${is}`);
  }
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal))
    throw new UsageError('baseUrl must begin with https://, or with http:// on this machine');
  if (url.username !== '' || url.search !== '' || url.hash !== '')
    throw new UsageError('baseUrl must have no user name, query or fragment');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads both forms of a failure: the white-label envelope, and problem details (RFC 9457). */
function declined({ status, headers, json }: Answer, idempotencyKey: string | undefined): ApiError {
  const body = (typeof json === 'object' && json !== null ? json : {}) as Record<string, unknown>;
  const said = [body.detail, body.error, body.message, body.title].find((one) => typeof one === 'string');
  return new ApiError({
    status,
    reason: typeof body.reason === 'string' ? body.reason : status >= 500 ? 'unavailable' : 'unknown',
    message: typeof said === 'string' ? said : `The server answered ${status}.`,
    fields: fieldsIn(body),
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterMs: retryAfter(headers),
    idempotencyKey,
    body: json,
  });
}

function fieldsIn({ fields, errors }: Record<string, unknown>): Record<string, string> {
  if (typeof fields === 'object' && fields !== null && !Array.isArray(fields))
    return Object.fromEntries(Object.entries(fields).map(([name, why]) => [name, String(why)]));
  if (!Array.isArray(errors)) return {};
  return Object.fromEntries(
    (errors as Record<string, unknown>[]).map((one) => [
      String(one.field ?? one.pointer ?? ''),
      String(one.detail ?? ''),
    ]),
  );
}

function retryAfter(headers: Headers): number | undefined {
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const ms = /^[0-9]+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

function waitBefore(attempts: number, answer: Answer | undefined): number {
  const most = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempts - 1, 10));
  const asked = answer === undefined ? 0 : (retryAfter(answer.headers) ?? 0);
  return Math.max(asked, most / 2 + (Math.random() * most) / 2);
}

function noAnswer({ method, path, idempotencyKey }: Outgoing, attempts: number, cause: unknown): NoAnswerError {
  const times = attempts === 1 ? 'one attempt' : `${attempts} attempts`;
  return new NoAnswerError(
    `${method} ${path.split('?')[0]} was not answered in ${times}; whether it took effect is unknown.`,
    { attempts, idempotencyKey, cause },
  );
}

export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', ended);
      done();
    }, ms);
    const ended = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', ended, { once: true });
  });
}
