/**
 * One GET request to a price source through base/http.ts, with a check of the content type.
 *
 * Error texts are ours or a library's error code, never text of the answer: they are shown at /readyz, which is public.
 *
 * Not here: parsing the text (read.ts and each source).
 */
import { Unavailable } from '../../base/errors.ts';
import { ask, type Http, type HttpHead, MAY_BE_PACKED, NoAnswer } from '../../base/http.ts';

/** The source answered that we poll too often: nothing else is requested from it until its pause ends. */
export class AskedTooOften extends Unavailable {}

export interface Wish {
  url: string;
  /** What the content type must contain; also sent as Accept. */
  type: 'json' | 'xml';
  longestBytes: number;
  signal: AbortSignal;
  /** HTTP client. */
  http?: Http | undefined;
}

/**
 * @param source the source's code, for errors
 * @returns the whole text, or `undefined` when the source has no such thing (400, 404)
 * @throws AskedTooOften at 429 and 418 with its Retry-After; Unavailable for everything else, and nothing but these
 */
export async function getText(source: string, wish: Wish): Promise<string | undefined> {
  const { url, type, longestBytes, signal, http = ask } = wish;
  const isTyped = ({ headers }: HttpHead) => (headers['content-type'] ?? '').toLowerCase().includes(type);
  try {
    const answer = await http({
      url,
      headers: { accept: type === 'json' ? 'application/json' : 'application/xml, text/xml', ...MAY_BE_PACKED },
      deadline: signal,
      longestBytes,
      wants: (head) => (head.status === 200 && isTyped(head) ? 'whole' : 'none'),
    });
    if (answer.status !== 200) return refused(source, answer);
    if (!isTyped(answer)) throw new Unavailable(source, `the answer is not ${type.toUpperCase()}`);
    return new TextDecoder('utf-8', { fatal: true }).decode(answer.body);
  } catch (error) {
    if (error instanceof Unavailable) throw error;
    throw new Unavailable(source, whyNot(error, longestBytes), { cause: error });
  }
}

function whyNot(error: unknown, longestBytes: number): string {
  if (!(error instanceof NoAnswer)) return 'the answer is not text';
  return error.why === 'long' ? `the answer is longer than ${longestBytes} bytes` : error.message;
}

function refused(source: string, { status, headers }: HttpHead): undefined {
  if (status === 429 || status === 418) {
    const retryAfterMs = readRetryAfter(headers['retry-after']);
    throw new AskedTooOften(source, 'asked too often', retryAfterMs === undefined ? {} : { retryAfterMs });
  }
  if (status === 400 || status === 404) return undefined;
  throw new Unavailable(source, `HTTP ${status}`);
}

/** Binance bans for up to three days; no longer pause is known. */
const LONGEST_PAUSE_MS = 3 * 24 * 3_600_000;

/** Seconds or an HTTP date (RFC 9110 section 10.2.3). */
function readRetryAfter(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^[0-9]{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), LONGEST_PAUSE_MS);
}
