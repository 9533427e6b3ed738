/**
 * The feed: a partner's events in one order that never changes, readable from any position.
 *
 * Publishing assigns positions to committed events, and inserts a delivery per endpoint that is to receive them in the same
 * transaction. One process publishes at a time, so positions become visible in order: once a reader has seen position 7, no new
 * event appears at a position below 7. Uncommitted events are published later, under a higher position; none is skipped, because
 * unpublished events are marked (decision 23).
 *
 * The order of one subject's events is kept: the second can only be inserted once the first is committed, so its id is higher
 * and it is never visible without the first.
 */
import type { Clock } from '../base/clock.ts';
import type { Vault } from '../base/crypto.ts';
import type { Database, Tx } from '../base/db.ts';
import { listening } from './endpoints.ts';
import { endpointSubject, type Formats, type Happened, happened, opened, TEST_EVENT, wanted } from './format.ts';
import { insertDeliveries } from './log.ts';
import { insertOrderingKeys, type Leased, type LeaseTerms, type OrderingKey, withHeads } from './ordering.ts';
import { resource } from './standard.ts';
import { type EventRow, sql } from './store.ts';

/** Number of events that one transaction publishes at most. */
export const BATCH = 200;
/**
 * An order has about a dozen events. For a subject with more earlier events than this, later ones are sent without checking
 * further back.
 */
const MOST_EARLIER = 500;

export interface Published {
  /** Number of events; 0 also if another process is publishing. */
  count: number;
  /** The new ordering keys that were given the lease. */
  leased: Leased[];
  /** Ordering keys of these events wait to be claimed. */
  isMoreDue: boolean;
}

/** Publishes the oldest unpublished events, up to `BATCH` of them. */
export async function publish(
  deps: { db: Database; clock: Clock; formats: Formats },
  terms: LeaseTerms,
): Promise<Published> {
  return await deps.db.asSystem(async (tx) => {
    const nothing = { count: 0, leased: [], isMoreDue: false };
    const lock = await tx.row<{ locked: boolean }>(sql.lockFeed);
    if (lock?.locked !== true) return nothing;
    // A separate statement, so that it sees everything the previous one has published.
    const rows = await tx.rows<EventRow>(sql.unpublished, [BATCH]);
    if (rows.length === 0) return nothing;
    const last = new Map<bigint, bigint>();
    for (const row of rows) {
      const before = last.get(row.partnerId) ?? (await lastPosition(tx, row.partnerId));
      row.position = before + 1n;
      last.set(row.partnerId, row.position);
    }
    tx.defer(sql.setPositions, [rows.map(({ id }) => id), rows.map(({ position }) => position)]);
    const { leased, isMoreDue } = await enqueueDeliveries(tx, { ...deps, terms }, rows);
    return { count: rows.length, leased: await withHeads(tx, leased), isMoreDue };
  });
}

const lastPosition = async (tx: Tx, partnerId: bigint): Promise<bigint> =>
  (await tx.row<{ last: bigint }>(sql.lastPosition, [partnerId]))?.last ?? 0n;

async function enqueueDeliveries(
  tx: Tx,
  { clock, formats, terms }: { clock: Clock; formats: Formats; terms: LeaseTerms },
  rows: readonly EventRow[],
): Promise<{ leased: OrderingKey[]; isMoreDue: boolean }> {
  const endpoints = await listening(tx, [...new Set(rows.map((row) => row.partnerId))]);
  if (endpoints.length === 0) return { leased: [], isMoreDue: false };
  const now = clock.now();
  const given: { endpointId: string; row: EventRow }[] = [];
  for (const row of rows) {
    const event = happened(row);
    const theirs = endpoints.filter(
      (endpoint) =>
        endpoint.partnerId === row.partnerId &&
        (row.type === TEST_EVENT ? row.subject === endpointSubject(endpoint.id) : wanted(endpoint.filter, row.type)),
    );
    const needsPast = theirs.some(({ format }) => format !== 'standard') && row.subjectSeq > 1;
    const earlier: readonly Happened[] = needsPast
      ? (await tx.rows<EventRow>(sql.earlier, [row.subject, row.subjectSeq, MOST_EARLIER])).map(happened).toReversed()
      : [];
    for (const endpoint of theirs) {
      if (formats[endpoint.format].concerns(event, earlier)) given.push({ endpointId: endpoint.id, row });
    }
  }
  // Inserts the ordering keys first: a worker that empties one has it locked, so it sees what was inserted while this waited for
  // the lock (dispatcher.ts).
  const orderingKeys = await insertOrderingKeys(tx, given, terms, now);
  insertDeliveries(tx, given, now);
  return orderingKeys;
}

/** Position of a partner's newest event; 0 if there is none. */
export async function newestPosition(tx: Tx, partnerId: bigint): Promise<bigint> {
  return (await tx.row<{ newest: bigint | null }>(sql.newest, [partnerId]))?.newest ?? 0n;
}

export interface FeedPage {
  events: ReturnType<typeof resource>[];
  /** Pass as `after` next time. */
  next: bigint;
  hasMore: boolean;
}

/** A partner's events after a position, oldest first. The caller must bound the limit. */
export async function readFeed(
  tx: Tx,
  vault: Vault,
  input: { partnerId: bigint; after: bigint; limit: number },
): Promise<FeedPage> {
  const rows = await tx.rows<EventRow>(sql.page, [input.partnerId, input.after, input.limit + 1]);
  const page = rows.slice(0, input.limit);
  return {
    events: page.map((row) => resource(opened(vault, happened(row)))),
    next: page.at(-1)?.position ?? input.after,
    hasMore: rows.length > input.limit,
  };
}
