/**
 * Journal: the signer's record of its signatures, in its own append-only file.
 *
 * A line is on disk before its signature is returned. So a restart loses no line, and after a crash the journal may contain a
 * signature that was never returned. A crash may leave an incomplete last line: it is cut off, because no signature was made for
 * it. Any other unreadable line means that the file was tampered with, and the signer refuses to start.
 *
 * The whole file is read at start (about 280 bytes per transfer, kept in memory). It is never shortened: a line that no longer
 * counts for the hourly limits is still needed for its nonce.
 */
import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { type Content, counterOf, FEES, type Kind, type Signed, sameTransfer } from './policy.ts';

export interface Journal extends Signed {
  /** Records a signature; it is on disk when this returns. The same content without a higher fee is not recorded again. */
  keep(content: Content): void;
  /** The transactions signed under nonces from this one on, in order. */
  since(chainId: bigint, from: string, nonce: bigint, limit: number): Content[];
  close(): void;
}

export class JournalError extends Error {
  override name = 'JournalError';
}

const HOUR_MS = 3_600_000;

/**
 * @param path undefined: in memory only, for tests
 * @param durable false if a machine crash may lose entries: the sandbox
 */
export function openJournal(path: string | undefined, { durable = true, nowMs = Date.now } = {}): Journal {
  const file = path === undefined ? undefined : openSync(path, 'a+', 0o600);
  // Each entry is one packed string, because there is one for every transfer ever signed.
  const byNonce = new Map<string, string>();
  const under = (chainId: bigint, from: string, nonce: bigint): Content | undefined => {
    const packed = byNonce.get(nonceKey(chainId, from, nonce));
    return packed === undefined ? undefined : { chainId, from, nonce, ...unpack(packed) };
  };
  const as = (chainId: bigint, from: string, tx: string): Content | undefined => {
    const packed = byNonce.get(txKey(chainId, from, tx));
    return packed === undefined ? undefined : { chainId, from, nonce: 0n, tx, ...unpack(packed) };
  };
  const beforeOf = ({ chainId, from, nonce, tx }: Content): Content | undefined =>
    tx === undefined ? under(chainId, from, nonce) : as(chainId, from, tx);
  const counters = new Map<string, Counter>();
  /** Nonces of each named wallet, in order. A client may have a very high nonce signed, so a search must not count up to it. */
  const nonces = new Map<string, bigint[]>();
  // Time never goes backwards here: setting the clock back must not give another hour's limit.
  let newestMs = 0;
  const now = () => {
    newestMs = Math.max(newestMs, nowMs());
    return newestMs;
  };

  function remember(content: Content, atMs: number): void {
    newestMs = Math.max(newestMs, atMs);
    const before = beforeOf(content);
    // A cancelling transfer may cost less than the transfer it cancels, and is the one that counts from then on.
    const isDearer = before !== undefined && sameTransfer(before, content) && before.feeUnits > content.feeUnits;
    byNonce.set(keyOf(content), pack(isDearer ? before : content));
    if (before === undefined && content.kind !== 'sweep' && content.tx === undefined) note(content);
    if (content.kind === 'sweep') return;
    const grown = content.feeUnits - (before?.feeUnits ?? 0n);
    if (before === undefined) count(content, counterOf(content), content.units, atMs);
    if (grown > 0n) count(content, FEES, grown, atMs);
  }

  function note({ chainId, from, nonce }: Content): void {
    const wallet = `${chainId}:${from}`;
    const all = nonces.get(wallet) ?? [];
    nonces.set(wallet, all);
    all.splice(placeOf(all, nonce), 0, nonce);
  }

  function count({ chainId, from }: Content, what: string, units: bigint, atMs: number): void {
    const key = `${chainId}:${from}:${what}`;
    const counter = counters.get(key) ?? { sum: 0n, parts: [] };
    counters.set(key, counter);
    counter.sum += units;
    counter.parts.push({ atMs, units });
    // By the journal's own time: at the start the clock may be ahead, and then would forget an hour that is not over.
    forget(counter, newestMs - HOUR_MS);
  }

  if (file !== undefined) {
    const whole = eachLine(file, (line, at) => {
      const read = readLine(line);
      if (read === undefined) throw new JournalError(`line ${at} of the signer's journal ${path} cannot be read`);
      remember(read.content, read.atMs);
    });
    ftruncateSync(file, whole);
  }

  return {
    under,
    as,
    inTheLastHour(chainId, from, what) {
      const counter = counters.get(`${chainId}:${from}:${what}`);
      if (counter === undefined) return 0n;
      forget(counter, now() - HOUR_MS);
      return counter.sum;
    },
    keep(content) {
      const before = beforeOf(content);
      if (before !== undefined && sameTransfer(before, content) && before.feeUnits >= content.feeUnits) return;
      const atMs = now();
      if (file !== undefined) {
        append(file, Buffer.from(lineOf(content, atMs)));
        if (durable) fdatasyncSync(file);
      }
      remember(content, atMs);
    },
    since(chainId, from, nonce, limit) {
      const all = nonces.get(`${chainId}:${from}`) ?? [];
      const first = placeOf(all, nonce);
      return all.slice(first, first + limit).flatMap((at) => under(chainId, from, at) ?? []);
    },
    close: () => file !== undefined && closeSync(file),
  };
}

/**
 * On a full disk a write may store part of a line and report that only in its byte count. That part is cut off again: otherwise
 * the next line would be appended to it, and neither would be readable.
 *
 * @throws the disk's error; the file then contains no part of the line
 */
function append(file: number, line: Buffer): void {
  const { size } = fstatSync(file);
  try {
    for (let done = 0; done < line.length; ) done += writeSync(file, line, done);
  } catch (error) {
    ftruncateSync(file, size);
    throw error;
  }
}

const CHUNK_BYTES = 1 << 20;

/** Reads in chunks, because the file only grows. @returns the bytes up to the end of its last complete line */
function eachLine(file: number, took: (line: string, at: number) => void): number {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let rest: Buffer = Buffer.alloc(0);
  let position = 0;
  let count = 0;
  for (;;) {
    const read = readSync(file, chunk, 0, CHUNK_BYTES, position);
    if (read === 0) return position - rest.length;
    position += read;
    const bytes = Buffer.concat([rest, chunk.subarray(0, read)]);
    const end = bytes.lastIndexOf(0x0a) + 1;
    rest = bytes.subarray(end);
    for (const line of bytes.toString('utf8', 0, end).split('\n').slice(0, -1)) {
      count += 1;
      took(line, count);
    }
  }
}

interface Counter {
  sum: bigint;
  parts: { atMs: number; units: bigint }[];
}

/** Drops the parts of this time and earlier. */
function forget(counter: Counter, upToMs: number): void {
  const over = counter.parts.findIndex(({ atMs }) => atMs > upToMs);
  for (const { units } of counter.parts.splice(0, over === -1 ? counter.parts.length : over)) counter.sum -= units;
}

/** Number of nonces below this one. A binary search, because there is one nonce for every transfer ever signed. */
function placeOf(inOrder: readonly bigint[], nonce: bigint): number {
  let [low, high] = [0, inOrder.length];
  // The nonce is almost always the next one.
  if ((inOrder.at(-1) ?? -1n) < nonce) return high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((inOrder[middle] ?? 0n) < nonce) low = middle + 1;
    else high = middle;
  }
  return low;
}

const nonceKey = (chainId: bigint, from: string, nonce: bigint): string => `${chainId}:${from}:${nonce}`;
const txKey = (chainId: bigint, from: string, tx: string): string => `${chainId}:${from}:tx:${tx}`;
const keyOf = ({ chainId, from, nonce, tx }: Content): string =>
  tx === undefined ? nonceKey(chainId, from, nonce) : txKey(chainId, from, tx);

const pack = ({ kind, asset, to, units, feeUnits }: Content): string => [kind, asset, to, units, feeUnits].join('|');

function unpack(packed: string): Omit<Content, 'chainId' | 'from' | 'nonce' | 'tx'> {
  const [kind, asset = '', to = '', units = '0', feeUnits = '0'] = packed.split('|');
  return { kind: kind as Kind, asset, to, units: BigInt(units), feeUnits: BigInt(feeUnits) };
}

const lineOf = (content: Content, atMs: number): string =>
  `${JSON.stringify({ at: new Date(atMs).toISOString(), ...content }, (_, part) => (typeof part === 'bigint' ? String(part) : part))}\n`;

const KINDS: readonly Kind[] = ['token', 'gas', 'native', 'sweep', 'cancel', 'batch'];

function readLine(line: string): { content: Content; atMs: number } | undefined {
  try {
    const { at, chainId, from, nonce, tx, kind, asset, to, units, feeUnits } = JSON.parse(line) as Record<
      string,
      string
    >;
    const atMs = Date.parse(at ?? '');
    if (Number.isNaN(atMs) || !KINDS.includes(kind as Kind)) return undefined;
    if (from === undefined || asset === undefined || to === undefined) return undefined;
    if (tx !== undefined && !/^[0-9a-f]{64}$/.test(tx)) return undefined;
    const numbers = [chainId, nonce, units, feeUnits].map((text) =>
      typeof text === 'string' && /^[0-9]{1,78}$/.test(text) ? BigInt(text) : undefined,
    );
    const [chain, count, moved, fee] = numbers;
    if (chain === undefined || count === undefined || moved === undefined || fee === undefined) return undefined;
    const content = { chainId: chain, from, nonce: count, kind: kind as Kind, asset, to, units: moved, feeUnits: fee };
    return { content: tx === undefined ? content : { ...content, tx }, atMs };
  } catch {
    return undefined;
  }
}
