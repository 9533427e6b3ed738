/**
 * Answer: one GET to a price source, over HTTP or HTTPS. One try, one deadline for head and body together, a bound on the
 * bytes (after unpacking), no redirects, and the content type that was expected.
 *
 * What goes wrong is told in words of ours and a library's error code, never in words of the answer: they are shown at
 * /readyz, which anybody may read.
 *
 * Not here: what the text says (read.ts and each source).
 */
import { Unavailable } from '../../base/errors.ts';

/** It said that we ask too often: nothing else is asked of it before its time. */
export class AskedTooOften extends Unavailable {}

export interface Ask {
  url: string;
  /** What the content type must contain, and what is asked for. */
  type: 'json' | 'xml';
  longestBytes: number;
  signal: AbortSignal;
}

/**
 * @param source how errors call the other side: the source's code
 * @returns the whole text, or `undefined` where the source says it has no such thing (400, 404)
 * @throws AskedTooOften at 429 and 418 with its Retry-After; Unavailable for everything else, and nothing but these
 */
export async function getText(source: string, ask: Ask): Promise<string | undefined> {
  try {
    const headers = {
      accept: ask.type === 'json' ? 'application/json' : 'application/xml, text/xml',
      'user-agent': AGENT,
    };
    const response = await fetch(ask.url, { headers, redirect: 'manual', signal: ask.signal });
    if (response.status !== 200) {
      // Not read: a socket with an unread body would never be free again.
      await response.body?.cancel();
      return refused(source, response);
    }
    if (!(response.headers.get('content-type') ?? '').toLowerCase().includes(ask.type)) {
      await response.body?.cancel();
      throw new Unavailable(source, `the answer is not ${ask.type.toUpperCase()}`);
    }
    return await bounded(source, response, ask.longestBytes);
  } catch (error) {
    if (error instanceof Unavailable) throw error;
    throw new Unavailable(source, ask.signal.aborted ? 'no whole answer in time' : `no whole answer${codeOf(error)}`, {
      cause: error,
    });
  }
}

/** Some refuse callers that do not say what they are. */
const AGENT = 'cloverleaf';

function refused(source: string, { status, headers }: Response): undefined {
  if (status === 429 || status === 418) {
    const retryAfterMs = readRetryAfter(headers.get('retry-after'));
    throw new AskedTooOften(source, 'asked too often', retryAfterMs === undefined ? {} : { retryAfterMs });
  }
  if (status === 400 || status === 404) return undefined;
  throw new Unavailable(source, `HTTP ${status}`);
}

/** Binance bans for up to three days, and nobody is known to mean more. */
const LONGEST_PAUSE_MS = 3 * 24 * 3_600_000;

/** Seconds or an HTTP date, as RFC 9110 section 10.2.3 has it. */
function readRetryAfter(text: string | null): number | undefined {
  if (text === null) return undefined;
  const ms = /^[0-9]{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), LONGEST_PAUSE_MS);
}

async function bounded(source: string, response: Response, longestBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    // Leaving the loop cancels the body.
    if (size > longestBytes) throw new Unavailable(source, `the answer is longer than ${longestBytes} bytes`);
    chunks.push(chunk);
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
}

/** fetch says "fetch failed" and hides why in its cause. */
function codeOf(error: unknown): string {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
  const found = cause?.code ?? code;
  return typeof found === 'string' ? ` (${found})` : '';
}
