/**
 * Client of Tron's HTTP API, for a node that may be slow, down, overloaded or lying.
 *
 * Every request has a deadline that includes reading the answer, and every answer has a size limit. Whole numbers are read as
 * bigint, because balances do not fit a float. A broken answer is Unavailable. The URL may contain an API key, so no message
 * contains it.
 */
import { Unavailable } from '../../base/errors.ts';
import { ask, type Http, MAY_BE_PACKED } from '../../base/http.ts';
import { Malformed, type NodeUrl, nodesInTurn, notAnswered } from '../nodes.ts';

export { Malformed, type NodeUrl };

export type Answer = Readonly<Record<string, unknown>>;

/** @returns the answer as a JSON object or list. @throws Unavailable */
export type Ask = (path: string, body?: Answer) => Promise<unknown>;

/**
 * @param urls         nodes of one chain: the current one is used until it fails, then the next
 * @param solidityUrls nodes that answer for solidified blocks, if they are separate: paths below `walletsolidity`
 * @param source       name in errors when none answers: the rail's code
 * @param apiKey       for a provider that requires one, as header `TRON-PRO-API-KEY`
 */
export function tronClient(options: {
  urls: readonly NodeUrl[];
  solidityUrls?: readonly NodeUrl[] | undefined;
  source: string;
  apiKey?: string | undefined;
  deadlineMs?: number | undefined;
  maxResponseBytes?: number | undefined;
  http?: Http | undefined;
}): Ask {
  const { urls, source, apiKey, http = ask } = options;
  const deadlineMs = options.deadlineMs ?? 4_000;
  // The transactions of a full block with all their logs take a few MB.
  const longestBytes = options.maxResponseBytes ?? 32_000_000;
  const inTurn = nodesInTurn(urls);
  const solidInTurn = options.solidityUrls === undefined ? inTurn : nodesInTurn(options.solidityUrls);

  async function askOne(url: string, path: string, body: Answer): Promise<unknown> {
    try {
      const answer = await http({
        url: `${url.replace(/\/$/, '')}/${path}`,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(apiKey === undefined ? {} : { 'TRON-PRO-API-KEY': apiKey }),
          ...MAY_BE_PACKED,
        },
        body: JSON.stringify(body, (_, part) => (typeof part === 'bigint' ? Number(part) : part)),
        deadline: AbortSignal.timeout(deadlineMs),
        longestBytes,
      });
      if (answer.status < 200 || answer.status > 299) throw new Error(`HTTP ${answer.status}`);
      const read = parse(answer.body.toString('utf8'));
      if (typeof read !== 'object' || read === null) throw new Error('neither an object nor a list');
      if ('Error' in read) throw new Error('an error of its own');
      return read;
    } catch (error) {
      throw notAnswered(source, error, longestBytes);
    }
  }

  return async (path, body = {}) =>
    await (path.startsWith('walletsolidity/') ? solidInTurn : inTurn)((url) => askOne(url, path, body));
}

/** Whole numbers as bigint, from their digits. */
const parse = (text: string): unknown =>
  JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && /^-?[0-9]{1,30}$/.test(context?.source ?? '') ? BigInt(context?.source ?? '') : value,
  );

/* Readers of a node's values; each throws Malformed, which `reading` turns into Unavailable. */

/** Runs `read` on an answer. If the format is unexpected, the node counts as unavailable, instead of our result being wrong. */
export function reading<T>(source: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Malformed) throw new Unavailable(source, `malformed answer: ${error.message}`);
    throw error;
  }
}

export function object(value: unknown, what: string): Answer {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Malformed(what);
  return value as Answer;
}

export function list(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Malformed(what);
  return value;
}

/** Zero or more, below 2^63. Protobuf omits zeros. */
export function amount(value: unknown, what: string): bigint {
  if (value === undefined) return 0n;
  if (typeof value !== 'bigint' || value < 0n || value >= 2n ** 63n) throw new Malformed(what);
  return value;
}

/** A count of blocks or of milliseconds: no such count exceeds what a float represents exactly. */
export function count(value: unknown, what: string): bigint {
  const read = amount(value, what);
  if (read > BigInt(Number.MAX_SAFE_INTEGER)) throw new Malformed(what);
  return read;
}

/** Hex of exactly `bytes` bytes, in lower case and without `0x`. */
export function hexOf(value: unknown, bytes: number, what: string): string {
  if (typeof value !== 'string' || value.length !== bytes * 2 || !/^[0-9a-fA-F]*$/.test(value))
    throw new Malformed(what);
  return value.toLowerCase();
}
