/**
 * Tron's transactions as bytes: the small part of its protobuf format that a transfer needs, encoded and decoded by hand.
 *
 * Two contracts are supported: `TransferContract` (the native asset) and `TriggerSmartContract` (a call). Decoding is strict:
 * bytes that contain anything else, or that would be encoded differently here, are rejected. So a signature covers exactly the
 * content that the signer decoded.
 */
import { accountOf, addressOf } from './addresses.ts';

/** The content of a transaction, without its signature. */
export interface RawData {
  /** Bytes 6 and 7 of the number, and bytes 8 to 15 of the id, of an earlier block to which it refers. */
  refBlockBytes: Buffer;
  refBlockHash: Buffer;
  /** In milliseconds: it cannot be in a block that follows a block of this time or later. */
  expirationMs: bigint;
  timestampMs: bigint;
  /** Maximum native units burnt for energy; 0 for a native transfer. */
  feeLimit: bigint;
  owner: string;
  /** The contract that is called, or the account that is paid. */
  target: string;
  /** Empty for a native transfer. */
  data: Buffer;
  /** Native units that are moved. */
  value: bigint;
}

const TRANSFER = { type: 1n, url: 'type.googleapis.com/protocol.TransferContract' } as const;
const TRIGGER = { type: 31n, url: 'type.googleapis.com/protocol.TriggerSmartContract' } as const;

/** Fields by number, in ascending order: a whole number, or bytes. */
type Fields = readonly (readonly [number: number, value: bigint | Buffer])[];

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    const low = Number(rest & 0x7fn);
    if (rest < 0x80n) return Buffer.from([...bytes, low]);
    bytes.push(low | 0x80);
  }
}

/** Zero and empty bytes are omitted, as in protobuf. */
const write = (fields: Fields): Buffer =>
  Buffer.concat(
    fields.flatMap(([number, value]) => {
      if (typeof value === 'bigint') return value === 0n ? [] : [varint(BigInt(number << 3)), varint(value)];
      return value.length === 0 ? [] : [varint(BigInt((number << 3) | 2)), varint(BigInt(value.length)), value];
    }),
  );

/** @returns undefined if this is no message of whole numbers and bytes with each field once and in order */
function read(bytes: Buffer): Map<number, bigint | Buffer> | undefined {
  const found = new Map<number, bigint | Buffer>();
  let at = 0;
  let last = 0;
  function next(): bigint | undefined {
    let value = 0n;
    for (let shift = 0n; shift < 63n; shift += 7n) {
      const byte = bytes[at];
      if (byte === undefined) return undefined;
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return undefined;
  }
  while (at < bytes.length) {
    const tag = next();
    if (tag === undefined || tag > 1_000n) return undefined;
    const number = Number(tag >> 3n);
    if (number <= last) return undefined;
    last = number;
    const value = next();
    if (value === undefined) return undefined;
    if ((tag & 7n) === 0n) {
      found.set(number, value);
      continue;
    }
    if ((tag & 7n) !== 2n || value > BigInt(bytes.length - at)) return undefined;
    found.set(number, bytes.subarray(at, at + Number(value)));
    at += Number(value);
  }
  return found;
}

const bytesOf = (address: string): Buffer => Buffer.from(`41${accountOf(address).slice(2)}`, 'hex');
const addressIn = (bytes: bigint | Buffer | undefined): string | undefined =>
  Buffer.isBuffer(bytes) && bytes.length === 21 && bytes[0] === 0x41
    ? addressOf(`0x${bytes.subarray(1).toString('hex')}`)
    : undefined;

export function encodeRawData(raw: RawData): Buffer {
  const { owner, target, data, value } = raw;
  const kind = data.length === 0 ? TRANSFER : TRIGGER;
  const message: Fields =
    kind === TRANSFER
      ? [
          [1, bytesOf(owner)],
          [2, bytesOf(target)],
          [3, value],
        ]
      : [
          [1, bytesOf(owner)],
          [2, bytesOf(target)],
          [3, value],
          [4, data],
        ];
  const any = write([
    [1, Buffer.from(kind.url)],
    [2, write(message)],
  ]);
  return write([
    [1, raw.refBlockBytes],
    [4, raw.refBlockHash],
    [8, raw.expirationMs],
    [
      11,
      write([
        [1, kind.type],
        [2, any],
      ]),
    ],
    [14, raw.timestampMs],
    [18, raw.feeLimit],
  ]);
}

/** Decodes exactly what `encodeRawData` encodes; undefined for everything else. */
export function decodeRawData(bytes: Buffer): RawData | undefined {
  const raw = read(bytes);
  const contract = messageIn(raw, 11);
  const any = messageIn(contract, 2);
  const message = messageIn(any, 2);
  if (raw === undefined || contract === undefined || any === undefined || message === undefined) return undefined;
  const [owner, target] = [addressIn(message.get(1)), addressIn(message.get(2))];
  if (owner === undefined || target === undefined) return undefined;
  const number = (from: Map<number, bigint | Buffer>, at: number): bigint => {
    const value = from.get(at);
    return typeof value === 'bigint' ? value : 0n;
  };
  const part = (from: Map<number, bigint | Buffer>, at: number): Buffer => {
    const value = from.get(at);
    return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
  };
  const found = {
    refBlockBytes: part(raw, 1),
    refBlockHash: part(raw, 4),
    expirationMs: number(raw, 8),
    timestampMs: number(raw, 14),
    feeLimit: number(raw, 18),
    owner,
    target,
    data: part(message, 4),
    value: number(message, 3),
  };
  // If some content was not decoded, encoding gives different bytes.
  return encodeRawData(found).equals(bytes) ? found : undefined;
}

function messageIn(of: Map<number, bigint | Buffer> | undefined, at: number): Map<number, bigint | Buffer> | undefined {
  const bytes = of?.get(at);
  return Buffer.isBuffer(bytes) ? read(bytes) : undefined;
}

/** A transaction with its only signature. */
export const encodeTransaction = (rawData: Buffer, signature: Buffer): Buffer =>
  write([
    [1, rawData],
    [2, signature],
  ]);

export function decodeTransaction(bytes: Buffer): { rawData: Buffer; signature: Buffer } | undefined {
  const found = read(bytes);
  const [rawData, signature] = [found?.get(1), found?.get(2)];
  return Buffer.isBuffer(rawData) && Buffer.isBuffer(signature) ? { rawData, signature } : undefined;
}
