/**
 * HTTP: the one client by which this program asks others. Every outgoing HTTP request of ours is made here.
 *
 * - **One try.** Nothing underneath sends a request a second time, which is why it is made on node:http and not on fetch:
 *   whoever asked decides whether asking again is harmless. Nothing that moves money is ever asked again from here.
 * - **One deadline** for all of it: name, connection, request, and the answer to its last byte. It is the caller's signal, so
 *   several requests may share one.
 * - **A bound on the answer**, counted after unpacking. A longer answer is not read to its end. Heads have 16 KiB.
 * - **No redirects.** A 3xx is an answer like any other; the caller reads its status.
 * - **Proxies** of the environment are used where Node itself is told to (`NODE_USE_ENV_PROXY=1`), and never by a caller that
 *   brings an agent of its own, as the sender of webhooks does.
 * - **Connections** are kept for the next request to the same host, except where an answer was not read to its end.
 *
 * A request that brings no whole answer is a `NoAnswer`, which says why in a word. Its message holds nothing of the answer.
 * Whether the request had an effect is then not known.
 *
 * Not here: what an answer means (each caller), which addresses may be called (events/address.ts), waiting before another try
 * (backoff.ts).
 */
import { type Agent as HttpAgent, request as http, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { type Agent as HttpsAgent, request as https } from 'node:https';
import type { LookupFunction } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

/** How a caller asks; a test that plays the other side without a network brings its own. */
export type Http = (request: HttpRequest) => Promise<HttpAnswer>;

export interface HttpRequest {
  url: string;
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  deadline: AbortSignal;
  /** Bytes of the body, after unpacking. */
  longestBytes: number;
  /** By the head, how much of the body is read: all of it where this is left out. */
  wants?: (head: HttpHead) => Wanted;
  /** Where the connection goes, instead of where its name leads. */
  via?: { agent: HttpAgent | HttpsAgent; lookup: LookupFunction };
}

/**
 * `whole`: an answer without its end, or beyond the bound, is none. `beginning`: the head is the answer, and as much of the
 * body as comes within bound and deadline is shown with it, as it came. `none`: the head alone.
 */
export type Wanted = 'whole' | 'beginning' | 'none';

export interface HttpHead {
  status: number;
  headers: IncomingHttpHeaders;
}

export interface HttpAnswer extends HttpHead {
  body: Buffer;
}

/** `late`: past the deadline. `long`: beyond the bound. `short`: it ended before its end. `failed`: see the code. */
export class NoAnswer extends Error {
  override name = 'NoAnswer';
  readonly why: 'late' | 'long' | 'short' | 'failed';
  /** Of a failure, Node's word for it, such as ECONNREFUSED. */
  readonly code: string | undefined;
  constructor(why: NoAnswer['why'], cause?: unknown) {
    const code = why === 'failed' ? codeOf(cause) : undefined;
    super(code === undefined ? WORDS[why] : `${WORDS[why]} (${code})`, cause === undefined ? undefined : { cause });
    this.why = why;
    this.code = code;
  }
}

const WORDS = {
  late: 'no whole answer in time',
  long: 'the answer is too long',
  short: 'the answer was cut short',
  failed: 'no whole answer',
} as const;

/** For callers that take answers packed: what is understood here. */
export const MAY_BE_PACKED = { 'accept-encoding': 'gzip, deflate, br' } as const;
/** Some hosts refuse callers that do not say what they are. */
const AGENT = 'cloverleaf';
const LONGEST_HEAD = 16 * 1024;

/** @throws NoAnswer, and nothing else */
export const ask: Http = async (request) => {
  try {
    return await exchange(request);
  } catch (error) {
    if (error instanceof NoAnswer) throw error;
    throw new NoAnswer(request.deadline.aborted ? 'late' : 'failed', error);
  }
};

async function exchange(asked: HttpRequest): Promise<HttpAnswer> {
  const { deadline, longestBytes, wants } = asked;
  deadline.throwIfAborted();
  const response = await headOf(asked);
  const { statusCode: status = 0, headers } = response;
  const wanted = wants?.({ status, headers }) ?? 'whole';
  try {
    const body = wanted === 'none' ? Buffer.alloc(0) : await READ[wanted](response, longestBytes);
    return { status, headers, body };
  } finally {
    // A socket with an unread body would never be free again.
    if (!response.readableEnded) response.destroy();
  }
}

function headOf({ url, method = 'GET', headers, body, deadline, via }: HttpRequest): Promise<IncomingMessage> {
  const send = new URL(url).protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const request = send(url, {
      method,
      signal: deadline,
      maxHeaderSize: LONGEST_HEAD,
      headers: {
        'user-agent': AGENT,
        ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
        ...headers,
      },
      ...via,
    });
    request.once('response', resolve);
    // Not once: what fails after the head is told by the response, too, and must not be an uncaught error here.
    request.on('error', reject);
    request.end(body);
  });
}

const READ: Record<Exclude<Wanted, 'none'>, (response: IncomingMessage, longestBytes: number) => Promise<Buffer>> = {
  async whole(response, longestBytes) {
    const chunks: Buffer[] = [];
    let size = 0;
    // Leaving the loop ends the stream, so the rest is never received.
    for await (const chunk of unpacked(response) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > longestBytes) throw new NoAnswer('long');
      chunks.push(chunk);
    }
    if (!response.complete) throw new NoAnswer('short');
    return Buffer.concat(chunks);
  },
  async beginning(response, longestBytes) {
    const chunks: Buffer[] = [];
    let size = 0;
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        chunks.push(chunk);
        size += chunk.length;
        if (size >= longestBytes) break;
      }
    } catch {
      // Past the deadline or cut: what came before is shown.
    }
    return Buffer.concat(chunks).subarray(0, longestBytes);
  },
};

const UNPACK: Readonly<Record<string, () => ReturnType<typeof createGunzip>>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

function unpacked(response: IncomingMessage): Readable {
  const unpack = UNPACK[response.headers['content-encoding']?.toLowerCase() ?? ''];
  // Its errors are those of the stream that is read.
  return unpack === undefined ? response : pipeline(response, unpack(), () => {});
}

/** Of several addresses that were tried, the first one's. */
function codeOf(error: unknown): string | undefined {
  const { code, errors } = (error ?? {}) as { code?: unknown; errors?: { code?: unknown }[] };
  const found = code ?? errors?.[0]?.code;
  return typeof found === 'string' ? found : undefined;
}
