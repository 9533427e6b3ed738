/** Pages of lists: a cursor marks the start of the next page, and is opaque to the caller. */
import { Refusal } from '../../base/errors.ts';

const PAGE = 50;

export const unknownCursor = (): Refusal =>
  new Refusal('malformed_field', { fields: { cursor: 'must be the nextCursor of an earlier page' } });

/** @throws Refusal 'malformed_field' for a cursor that no page has returned */
export function readCursor(cursor: string | undefined): bigint | undefined {
  if (cursor === undefined) return undefined;
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  if (!/^[0-9]{1,18}$/.test(text) || Buffer.from(text).toString('base64url') !== cursor) throw unknownCursor();
  return BigInt(text);
}

export const cursorOf = (at: bigint | null): string | null =>
  at === null ? null : Buffer.from(String(at)).toString('base64url');

/** A page of an append-only list that is in memory as a whole. */
export function pageFrom<T, S>(
  all: readonly T[],
  { cursor, limit = PAGE }: { cursor: string | undefined; limit: number | undefined },
  shape: (one: T) => S,
): { data: S[]; nextCursor: string | null } {
  const from = Number(readCursor(cursor) ?? 0n);
  const end = from + limit;
  return {
    data: all.slice(from, end).map(shape),
    nextCursor: end < all.length ? cursorOf(BigInt(end)) : null,
  };
}
