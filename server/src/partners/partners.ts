/**
 * Partners themselves: who they are and their settings.
 */
import type { Tx } from '../base/db.ts';
import { assert } from '../base/errors.ts';
import { closeActivity } from './activity.ts';
import { partnerRow, type Reason, recordChange } from './changes.ts';
import { type PartnerRow, partnerById, partnerByName, sql } from './store.ts';

export interface Partner {
  readonly id: bigint;
  readonly name: string;
  readonly suspended: boolean;
  /** Which of the wire's two quote formats its programs read. */
  readonly quoteShape: 'A' | 'B';
  /** Maximum difference between the current price and the rate that a program sends. */
  readonly toleranceBps: bigint;
  /** Its own words for our verification levels, if any. */
  readonly kycWords: Readonly<Record<string, string>>;
  /** Level from which its customers may trade. */
  readonly tradeLevel: number;
  readonly corsOrigins: readonly string[];
  readonly requestsPerMinute: number;
}

/** Adds a partner. Omitted settings take the defaults of the table. */
export async function createPartner(
  tx: Tx,
  p: {
    name: string;
    now: Date;
    quoteShape?: 'A' | 'B' | undefined;
    corsOrigins?: string[] | undefined;
    toleranceBps?: bigint | undefined;
    kycWords?: Record<string, string> | undefined;
    tradeLevel?: number | undefined;
    requestsPerMinute?: number | undefined;
  },
): Promise<Partner> {
  const row = await tx.row<PartnerRow>(sql.insertPartner, [
    p.name,
    p.quoteShape ?? 'B',
    p.toleranceBps ?? 50n,
    p.kycWords ?? {},
    p.tradeLevel ?? 1,
    p.corsOrigins ?? [],
    p.requestsPerMinute ?? 6_000,
    p.now,
  ]);
  assert(row !== undefined, 'an inserted partner is returned');
  return partnerOf(row);
}

/** undefined when there is no such partner, or this role may not see it. */
export async function findPartner(tx: Tx, by: { id: bigint } | { name: string }): Promise<Partner | undefined> {
  const row = 'id' in by ? await partnerById(tx, by.id) : await partnerByName(tx, by.name);
  return row === undefined ? undefined : partnerOf(row);
}

/** Partners by id, one page at a time. */
export const listPartners = async (tx: Tx, input: { after: bigint; limit: number }): Promise<Partner[]> =>
  (await tx.rows<PartnerRow>(sql.partners, [input.after, input.limit])).map(partnerOf);

/** Ids of all partners. */
export const partnerIds = async (tx: Tx): Promise<bigint[]> =>
  (await tx.rows<{ id: bigint }>(sql.partnerIds)).map(({ id }) => id);

/**
 * Changes the partner's terms; those that are left out stay. Requests have them within REMEMBER_MS; orders and quotes made before
 * keep theirs.
 */
export async function setPartner(
  tx: Tx,
  p: { id: bigint } & Partial<Pick<Partner, 'quoteShape' | 'toleranceBps' | 'tradeLevel' | 'requestsPerMinute'>>,
  reason: Reason,
): Promise<void> {
  const before = await partnerRow(tx, p.id);
  await tx.run(sql.setPartner, [
    p.id,
    p.quoteShape ?? null,
    p.toleranceBps ?? null,
    p.tradeLevel ?? null,
    p.requestsPerMinute ?? null,
  ]);
  await recordChange(tx, { what: 'partner', partnerId: p.id, before, after: await partnerRow(tx, p.id), reason });
}

/** Origins whose pages may call with its keys; a change takes effect within REMEMBER_MS. */
export async function setOrigins(tx: Tx, id: bigint, origins: readonly string[]): Promise<void> {
  await tx.run(sql.setOrigins, [id, origins]);
}

/**
 * Suspends the partner: its requests are refused from now on; its customers' orders under way continue. Once `tx` has
 * committed, no earlier request is still running, and no server makes a change for it.
 */
export async function suspendPartner(tx: Tx, id: bigint, now: Date): Promise<void> {
  await closeActivity(tx, id);
  await tx.run(sql.suspend, [id, now]);
}

/** When it was suspended; null while it is not suspended. */
export const suspendedSince = async (tx: Tx, id: bigint): Promise<Date | null> =>
  (await partnerById(tx, id))?.suspendedAt ?? null;

export async function resumePartner(tx: Tx, id: bigint): Promise<void> {
  await tx.run(sql.resume, [id]);
}

export function partnerOf(row: PartnerRow): Partner {
  return {
    id: row.id,
    name: row.name,
    suspended: row.suspendedAt !== null,
    quoteShape: row.quoteShape,
    toleranceBps: BigInt(row.toleranceBps),
    kycWords: row.kycWords,
    tradeLevel: row.tradeLevel,
    corsOrigins: row.corsOrigins,
    requestsPerMinute: row.requestsPerMinute,
  };
}
