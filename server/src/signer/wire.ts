/**
 * The signer's protocol: one line of JSON per request and one per answer, over a socket.
 *
 * First both sides prove that they know the shared secret, each by hashing the other's random challenge; nothing else is read
 * before that. Then five methods: `describe`, `check`, `sign`, `signRaw`, `signed`. Whole numbers are decimal text and bytes
 * are hex. `signRaw` takes the bytes of a transaction, for chains without nonces; `check` takes such a transfer as accounts
 * in hex, with its highest fee as `gas` at a price of one.
 *
 * Requests are parsed strictly: missing, too long and malformed fields are errors, and so are unknown ones.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { Delegating, SignedBefore, Unsigned } from '../rails/evm/index.ts';
import type { AskedRaw } from './core.ts';
import type { Content, From } from './policy.ts';

/** A request is a few hundred characters; a batch of a hundred sweeps has 9,000. */
const LONGEST_LINE = 16 * 1024;

export interface Request {
  id: number;
  method: string;
  params: Record<string, unknown>;
}

export type Answer =
  | { id: number; result: Record<string, unknown> }
  | { id: number; refused: string }
  | { id: number; error: string };

/** Calls `took` with each line, parsed as JSON. Closes the stream at invalid JSON or at a line that is too long. */
export function readLines(stream: Duplex, took: (message: unknown) => void): void {
  let rest = '';
  let over = false;
  const giveUp = () => {
    over = true;
    hangUp(stream);
  };
  stream.on('end', giveUp);
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    rest += chunk;
    for (let end = rest.indexOf('\n'); end !== -1; end = rest.indexOf('\n')) {
      const line = rest.slice(0, end);
      rest = rest.slice(end + 1);
      let message: unknown;
      try {
        message = JSON.parse(line);
      } catch {
        giveUp();
        return;
      }
      if (over || stream.destroyed || stream.writableEnded) return;
      took(message);
    }
    if (rest.length > LONGEST_LINE) giveUp();
  });
}

/** Ends the stream before destroying it: destroying it directly may not inform the other side. */
export const hangUp = (stream: Duplex): void => void stream.end(() => stream.destroy());

export function writeLine(stream: Duplex, message: unknown): void {
  if (stream.writable) stream.write(`${JSON.stringify(message)}\n`);
}

/**
 * A side's proof that it knows the secret. Each side has its own prefix, because otherwise one proof could be echoed back.
 */
export const proofOf = (side: 'server' | 'signer', secret: string, challenge: string): string =>
  createHmac('sha256', secret).update(`cloverleaf ${side} ${challenge}`).digest('hex');

export function isProof(given: unknown, expected: string): boolean {
  if (typeof given !== 'string') return false;
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** A transfer in its wire form. */
export function writeTransfer(from: From, wanted: Partial<Unsigned> & Pick<Unsigned, 'target' | 'data'>) {
  const numbers = ['chainId', 'nonce', 'value', 'gas', 'price', 'tip', 'depositIndex'] as const;
  return {
    ...('wallet' in from ? { wallet: from.wallet } : { deposit: String(from.deposit) }),
    target: wanted.target,
    data: wanted.data.toString('hex'),
    ...((wanted.delegating?.length ?? 0) === 0
      ? {}
      : { delegating: wanted.delegating?.map(({ index, nonce }) => `${index}:${nonce}`).join(',') }),
    ...Object.fromEntries(
      numbers.flatMap((name) => (wanted[name] === undefined ? [] : [[name, String(wanted[name])]])),
    ),
  };
}

/** @returns undefined if this is no answer: it has no number, or its content is invalid */
export function readAnswer({ id, result, refused, error }: Record<string, unknown>): Answer | undefined {
  if (typeof id !== 'number') return undefined;
  if (typeof result === 'object' && result !== null) return { id, result: result as Record<string, unknown> };
  if (typeof refused === 'string') return { id, refused };
  return typeof error === 'string' ? { id, error } : undefined;
}

export class Misread extends Error {}

/** Parameters of `signed`. @throws Misread naming the field */
export function readQuestion(params: Record<string, unknown>): { chainId: bigint; from: From; nonce: bigint } {
  for (const name of Object.keys(params))
    if (name !== 'chainId' && name !== 'wallet' && name !== 'deposit' && name !== 'nonce')
      throw new Misread(`${name.slice(0, 40)} is no field`);
  const text = (name: string, form: RegExp): string => {
    const value = params[name];
    if (typeof value !== 'string' || !form.test(value)) throw new Misread(`${name} is not as it must be`);
    return value;
  };
  return {
    chainId: BigInt(text('chainId', NUMBER)),
    from:
      params.deposit === undefined
        ? { wallet: text('wallet', /^[a-z]{1,20}$/) }
        : { deposit: below31(BigInt(text('deposit', NUMBER)), 'deposit') },
    nonce: BigInt(text('nonce', /^[0-9]{1,18}$/)),
  };
}

/** Parameters of `signRaw`. @throws Misread naming the field */
export function readRaw(params: Record<string, unknown>): { from: From; asked: AskedRaw } {
  const known = new Set(['chainId', 'wallet', 'deposit', 'rawData', 'depositIndex']);
  for (const name of Object.keys(params)) if (!known.has(name)) throw new Misread(`${name.slice(0, 40)} is no field`);
  const text = (name: string, form: RegExp): string => {
    const value = params[name];
    if (typeof value !== 'string' || !form.test(value)) throw new Misread(`${name} is not as it must be`);
    return value;
  };
  const index = (name: string): bigint => below31(BigInt(text(name, NUMBER)), name);
  return {
    from: params.deposit === undefined ? { wallet: text('wallet', /^[a-z]{1,20}$/) } : { deposit: index('deposit') },
    asked: {
      chainId: BigInt(text('chainId', NUMBER)),
      rawData: Buffer.from(text('rawData', /^([0-9a-f]{2}){1,600}$/), 'hex'),
      depositIndex: params.depositIndex === undefined ? undefined : index('depositIndex'),
    },
  };
}

function below31(value: bigint, name: string): bigint {
  if (value >= 2n ** 31n) throw new Misread(`${name} is not below 2^31`);
  return value;
}

/** At most a hundred deposit addresses, each with a nonce. */
const DELEGATING = /^[0-9]{1,10}:[0-9]{1,18}(,[0-9]{1,10}:[0-9]{1,18}){0,99}$/;

const readDelegating = (list: string): Delegating[] =>
  list.split(',').map((one) => {
    const [index = '', nonce = ''] = one.split(':');
    return { index: below31(BigInt(index), 'delegating'), nonce: BigInt(nonce) };
  });

const NUMBER = /^[0-9]{1,78}$/;
const ADDRESS = /^0x[0-9a-f]{40}$/;

/** The wire form of a recorded signature. */
export const writeContent = ({ nonce, asset, to, units }: Content) => ({
  nonce: String(nonce),
  asset,
  to,
  units: String(units),
});

/** @returns undefined if this is no list of signatures from `nonce` on, in nonce order */
export function readSigned(answer: unknown, nonce: bigint): SignedBefore[] | undefined {
  if (!Array.isArray(answer)) return undefined;
  const found: SignedBefore[] = [];
  for (const one of answer) {
    const { nonce: at, asset, to, units } = (one ?? {}) as Record<string, unknown>;
    if (typeof at !== 'string' || !/^[0-9]{1,18}$/.test(at) || typeof units !== 'string' || !NUMBER.test(units))
      return undefined;
    if (typeof asset !== 'string' || (asset !== 'native' && !ADDRESS.test(asset))) return undefined;
    if (typeof to !== 'string' || !ADDRESS.test(to)) return undefined;
    if (BigInt(at) < (found.at(-1)?.nonce ?? nonce - 1n) + 1n) return undefined;
    found.push({ nonce: BigInt(at), contract: asset === 'native' ? null : asset, to, units: BigInt(units) });
  }
  return found;
}

/** @throws Misread naming the field */
export function readTransfer(params: Record<string, unknown>): { from: From; unsigned: Unsigned; hasNonce: boolean } {
  const known = new Set([
    'wallet',
    'deposit',
    'target',
    'data',
    'chainId',
    'nonce',
    'value',
    'gas',
    'price',
    'tip',
    'depositIndex',
    'delegating',
  ]);
  for (const name of Object.keys(params)) if (!known.has(name)) throw new Misread(`${name.slice(0, 40)} is no field`);
  const text = (name: string, form: RegExp): string => {
    const value = params[name];
    if (typeof value !== 'string' || !form.test(value)) throw new Misread(`${name} is not as it must be`);
    return value;
  };
  const number = (name: string): bigint => BigInt(text(name, /^[0-9]{1,78}$/));
  const perhaps = (name: string) => (params[name] === undefined ? undefined : number(name));
  const index = (name: string): bigint => below31(number(name), name);
  const from: From =
    params.deposit === undefined ? { wallet: text('wallet', /^[a-z]{1,20}$/) } : { deposit: index('deposit') };
  const nonce = perhaps('nonce');
  return {
    from,
    hasNonce: nonce !== undefined,
    unsigned: {
      chainId: number('chainId'),
      nonce: nonce ?? 0n,
      target: text('target', /^0x[0-9a-f]{40}$/),
      data: Buffer.from(text('data', /^([0-9a-f]{2}){0,3400}$/), 'hex'),
      value: number('value'),
      gas: number('gas'),
      price: number('price'),
      tip: perhaps('tip'),
      depositIndex: params.depositIndex === undefined ? undefined : index('depositIndex'),
      ...(params.delegating === undefined ? {} : { delegating: readDelegating(text('delegating', DELEGATING)) }),
    },
  };
}
