/**
 * HTTP: the one client for all outgoing HTTP requests of this program.
 *
 * - **One try.** No layer sends a request twice; therefore this uses node:http and not fetch. The caller decides whether a retry
 *   is harmless. A request that moves money is never retried here.
 * - **One deadline** for name resolution, connection, request, and the answer up to its last byte. It is the caller's signal,
 *   so several requests may share one.
 * - **A size limit on the answer**, counted after decompression. The rest of a longer answer is not read. Heads are limited
 *   to 16 KiB.
 * - **No redirects.** A 3xx is an answer like any other; the caller reads its status.
 * - **Proxies** from the environment are used if `NODE_USE_ENV_PROXY=1`, and never if the caller passes its own agent, as the
 *   webhook sender does.
 * - **Connections** are reused for the next request to the same host, except after an answer that was not read to its end.
 *
 * A request without a complete answer throws `NoAnswer`, whose `why` is one word. Its message contains no part of the answer. The
 * request may or may not have had an effect.
 *
 * Not here: the meaning of an answer (each caller), which addresses may be called (events/address.ts), waiting before a retry
 * (backoff.ts).
 */
import { type Agent as HttpAgent, request as http, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { type Agent as HttpsAgent, request as https } from 'node:https';
import type { LookupFunction } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

/** The client's interface. A test that simulates the remote side passes its own implementation. */
export type Http = (request: HttpRequest) => Promise<HttpAnswer>;

export interface HttpRequest {
  url: string;
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  deadline: AbortSignal;
  /** Maximum size of the body in bytes, after decompression. */
  longestBytes: number;
  /** Decides from the head how much of the body to read; by default all of it. */
  wants?: (head: HttpHead) => Wanted;
  /**
   * Receives a whole body piece by piece, and the answer's `body` is then empty. The next piece is read when the one before has been
   * taken, so a body of any size needs little memory. The pieces of an answer that then turns out to be cut off were passed too.
   */
  onPiece?: (piece: Buffer) => Promise<void>;
  /** Connects through this agent and lookup instead of resolving the URL's host. */
  via?: { agent: HttpAgent | HttpsAgent; lookup: LookupFunction };
}

/**
 * `whole`: an answer that is cut off or exceeds the limit is an error. `beginning`: the head is the answer; what arrives of the
 * body within limit and deadline is returned with it. `none`: the head alone.
 */
export type Wanted = 'whole' | 'beginning' | 'none';

export interface HttpHead {
  status: number;
  headers: IncomingHttpHeaders;
}

export interface HttpAnswer extends HttpHead {
  body: Buffer;
}

/** `late`: past the deadline. `long`: beyond the size limit. `short`: cut off before its end. `failed`: see `code`. */
export class NoAnswer extends Error {
  override name = 'NoAnswer';
  readonly why: 'late' | 'long' | 'short' | 'failed';
  /** Node's error code, such as ECONNREFUSED. */
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

/** For callers that accept compressed answers: the encodings that this client supports. */
export const MAY_BE_PACKED = { 'accept-encoding': 'gzip, deflate, br' } as const;
/** Some hosts reject requests without a user agent. */
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
  const { deadline, longestBytes, wants, onPiece } = asked;
  deadline.throwIfAborted();
  const response = await headOf(asked);
  const { statusCode: status = 0, headers } = response;
  const wanted = wants?.({ status, headers }) ?? 'whole';
  try {
    const body = wanted === 'none' ? Buffer.alloc(0) : await READ[wanted](response, longestBytes, onPiece);
    return { status, headers, body };
  } finally {
    // Closes the socket: with an unread body it cannot be reused.
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
    // `on`, not `once`: a failure after the head is also emitted by the response and must not become an uncaught error here.
    request.on('error', reject);
    request.end(body);
  });
}

type Read = (response: IncomingMessage, longestBytes: number, onPiece: HttpRequest['onPiece']) => Promise<Buffer>;

const READ: Record<Exclude<Wanted, 'none'>, Read> = {
  async whole(response, longestBytes, onPiece) {
    const chunks: Buffer[] = [];
    let size = 0;
    // Leaving the loop closes the stream, so the rest is not received.
    for await (const chunk of unpacked(response) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > longestBytes) throw new NoAnswer('long');
      if (onPiece === undefined) chunks.push(chunk);
      else await onPiece(chunk);
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
      // Past the deadline or cut off: what has arrived is returned.
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
  // Errors of the pipeline surface on the stream that is read.
  return unpack === undefined ? response : pipeline(response, unpack(), () => {});
}

/** If several addresses were tried, the code of the first one. */
function codeOf(error: unknown): string | undefined {
  const { code, errors } = (error ?? {}) as { code?: unknown; errors?: { code?: unknown }[] };
  const found = code ?? errors?.[0]?.code;
  return typeof found === 'string' ? found : undefined;
}
