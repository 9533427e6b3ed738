/**
 * JSON-RPC over HTTP to a node that may be slow, down, overloaded or lying.
 *
 * Every request has a deadline that includes reading the answer, and every answer has a size limit. Answers are parsed with the
 * strict readers below, so a broken one is `Unavailable` and never a NaN or a crash. An error returned by the node is an
 * `RpcError`; some of these are answers ("already known"), so the caller decides.
 *
 * The URL may contain an API key, so it is in no message.
 */
import { Unavailable } from '../../base/errors.ts';
import { ask, type Http, MAY_BE_PACKED } from '../../base/http.ts';
import { Malformed, type NodeUrl, nodesInTurn, notAnswered } from '../nodes.ts';

export { Malformed, type NodeUrl };

export interface Call {
  method: string;
  params: readonly unknown[];
}

export interface Rpc {
  /** @throws RpcError if the node returns an error, Unavailable if it does not answer in time or in a valid format */
  call(method: string, params: readonly unknown[]): Promise<unknown>;
  /** Answers in the order of the calls, with errors as RpcError. Up to BATCH of them come from one node at one time. */
  batch(calls: readonly Call[]): Promise<unknown[]>;
}

/** An error returned by the node, with its message shortened. */
export class RpcError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message.slice(0, 200));
    this.name = 'RpcError';
    this.code = code;
  }
}

/** Maximum number of calls per request that public providers accept. */
const BATCH = 100;

/**
 * @param urls             nodes of one chain: the current one is used until it fails, then the next
 * @param source           name in errors when none answers: the rail's code
 * @param deadlineMs       for one request, its answer included
 * @param maxResponseBytes a longer answer is not read to its end
 * @param http             HTTP client
 */
export function rpcClient(options: {
  urls: readonly NodeUrl[];
  source: string;
  deadlineMs?: number | undefined;
  maxResponseBytes?: number | undefined;
  http?: Http | undefined;
}): Rpc {
  const { urls, source, http = ask } = options;
  const deadlineMs = options.deadlineMs ?? 4_000;
  // A block of 1,500 token transfers is about 1 MB of logs; up to a hundred such blocks are in one request.
  const maxResponseBytes = options.maxResponseBytes ?? 64_000_000;
  let lastId = 0;
  const inTurn = nodesInTurn(urls);

  const post = (body: unknown): Promise<unknown> => inTurn((url) => postTo(url, body));

  async function postTo(url: string, body: unknown): Promise<unknown> {
    try {
      const answer = await http({
        url,
        method: 'POST',
        headers: { 'content-type': 'application/json', ...MAY_BE_PACKED },
        body: JSON.stringify(body),
        deadline: AbortSignal.timeout(deadlineMs),
        longestBytes: maxResponseBytes,
      });
      const text = answer.body.toString('utf8');
      // Some nodes put an error object into the body of a 4xx or 5xx; others send an HTML page.
      if (!isOk(answer.status) && (isRedirect(answer.status) || !/^[{[]/.test(text)))
        throw new Error(`HTTP ${answer.status}`);
      return JSON.parse(text);
    } catch (error) {
      throw notAnswered(source, error, maxResponseBytes);
    }
  }

  const read = (answer: unknown, id: number): unknown => {
    if (!isObject(answer) || answer.id !== id) throw new Unavailable(source, 'the node answered something else');
    if (isObject(answer.error)) return rpcError(answer.error);
    if (answer.result === undefined) throw new Unavailable(source, 'the answer of the node has no result and no error');
    return answer.result;
  };

  const request = ({ method, params }: Call) => {
    lastId += 1;
    return { jsonrpc: '2.0', id: lastId, method, params };
  };

  return {
    async call(method, params) {
      const asked = request({ method, params });
      const result = read(await post(asked), asked.id);
      if (result instanceof RpcError) throw result;
      return result;
    },
    async batch(calls) {
      const results: unknown[] = [];
      for (let at = 0; at < calls.length; at += BATCH) {
        const asked = calls.slice(at, at + BATCH).map(request);
        const answers = await post(asked);
        if (!Array.isArray(answers)) {
          if (isObject(answers) && isObject(answers.error)) throw rpcError(answers.error);
          throw new Unavailable(source, 'the node did not answer a batch with a batch');
        }
        // The answers of a batch may come in any order.
        const byId = new Map(answers.filter(isObject).map((answer) => [answer.id, answer]));
        for (const { id } of asked) results.push(read(byId.get(id), id));
      }
      return results;
    },
  };
}

function rpcError(error: Record<string, unknown>): RpcError {
  return new RpcError(
    typeof error.code === 'number' ? error.code : 0,
    typeof error.message === 'string' ? error.message : 'rejected without a message',
  );
}

const isOk = (status: number): boolean => status >= 200 && status < 300;
const isRedirect = (status: number): boolean => status >= 300 && status < 400;

/* Readers of a node's values; each throws Malformed, which `orUnavailable` turns into Unavailable. */

/** Runs `read` on an answer. If the format is unexpected, the node counts as unavailable, instead of our result being wrong. */
export function orUnavailable<T>(source: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Malformed) throw new Unavailable(source, `malformed answer: ${error.message}`);
    if (error instanceof RpcError)
      throw new Unavailable(source, `the node rejected: ${error.message}`, { cause: error });
    throw error;
  }
}

/** A JSON-RPC quantity: `0x` and up to 64 hex digits without leading zeros. */
export function quantity(value: unknown, what: string): bigint {
  if (value instanceof RpcError) throw value;
  if (typeof value !== 'string' || !/^0x(0|[1-9a-f][0-9a-f]{0,63})$/.test(value)) throw new Malformed(what);
  return BigInt(value);
}

/** A quantity that counts something: blocks, logs, transactions. No such count exceeds what a float represents exactly. */
export function count(value: unknown, what: string): bigint {
  const read = quantity(value, what);
  if (read > BigInt(Number.MAX_SAFE_INTEGER)) throw new Malformed(what);
  return read;
}

export function hash32(value: unknown, what: string): string {
  return hexOf(value, 32, what);
}

export function address20(value: unknown, what: string): string {
  return hexOf(value, 20, what);
}

/** Lower-case hex of exactly `bytes` bytes, with its `0x`. */
export function hexOf(value: unknown, bytes: number, what: string): string {
  if (value instanceof RpcError) throw value;
  if (typeof value !== 'string' || value.length !== 2 + bytes * 2 || !/^0x[0-9a-fA-F]*$/.test(value))
    throw new Malformed(what);
  return value.toLowerCase();
}

/** Bytes of any length, as hex with its `0x`. */
export function bytesOf(value: unknown, what: string): Buffer {
  if (value instanceof RpcError) throw value;
  if (typeof value !== 'string' || !/^0x([0-9a-fA-F]{2})*$/.test(value)) throw new Malformed(what);
  return Buffer.from(value.slice(2), 'hex');
}

export function object(value: unknown, what: string): Record<string, unknown> {
  if (value instanceof RpcError) throw value;
  if (!isObject(value)) throw new Malformed(what);
  return value;
}

export function list(value: unknown, what: string): unknown[] {
  if (value instanceof RpcError) throw value;
  if (!Array.isArray(value)) throw new Malformed(what);
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
