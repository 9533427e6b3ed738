/**
 * Seals: committed entries, chained by hash in batches, so that history cannot be rewritten undetected.
 *
 * Sealing runs after posting; no posting waits for it. Entries get their sequence number before they commit, so a batch takes
 * only entries whose transaction is older than every running one: no entry can appear before them later. A newest hash that is
 * published elsewhere makes everything before it tamper-evident. Verification: verify.ts.
 */
import { createHash } from 'node:crypto';
import type { Tx } from '../base/db.ts';

const BATCH = 1_000;
/** Input of the first seal's hash, in place of a previous hash. */
export const FIRST = Buffer.alloc(32);
/**
 * An unsealed entry may still appear this many sequence numbers below the newest seal. A transaction ends within 15 s
 * (base/db.ts), in which a single database never drew this many.
 */
export const LOOK_BACK = 100_000n;
/** No entry without a seal has this sequence number or a lower one, as an expression of a statement. Mostly it is near the newest. */
export const UNSEALED_ABOVE = `greatest(coalesce((select last_seq from seals order by number desc limit 1), 0) - ${LOOK_BACK},
  (select complete_to from journal_progress))`;
/** Longer than any transaction: one that had drawn a number and had no transaction id yet has ended by then. */
const MARK_EVERY_S = 60;

export interface SealedEntry {
  seq: bigint;
  id: string;
  kind: string;
  at: Date;
  content: Buffer;
}

/** Seals one batch. @returns how many entries were sealed */
export async function seal(tx: Tx, now: Date): Promise<number> {
  // Only one sealer at a time; the others return 0.
  const mine = await tx.row<{ locked: boolean }>(`select pg_try_advisory_xact_lock(hashtext('seal')) as locked`);
  if (!mine?.locked) return 0;
  const last = await tx.row<{ number: bigint; lastSeq: bigint; hash: Buffer }>(
    'select number, last_seq, hash from seals order by number desc limit 1',
  );
  // Before the entries are read, so that all that it names as ended are among them.
  const mark = await tx.row<{ seq: bigint; ended: string; begun: string }>(
    `select coalesce(max(seq), 0) as seq, pg_snapshot_xmin(pg_current_snapshot())::text as ended,
            pg_snapshot_xmax(pg_current_snapshot())::text as begun from entries`,
  );
  const entries = await tx.rows<SealedEntry>(
    `select seq, id, kind, at, content from entries e
      where seq > $1 and written_in < pg_snapshot_xmin(pg_current_snapshot())
        and not exists (select from sealed_entries where entry_seq = e.seq)
      order by seq limit ${BATCH}`,
    [(last?.lastSeq ?? 0n) - LOOK_BACK],
  );
  if (mark !== undefined && entries.length < BATCH) await noteComplete(tx, mark);
  if (entries.length === 0) return 0;
  const number = (last?.number ?? 0n) + 1n;
  const previous = last?.hash ?? FIRST;
  const lastSeq = entries.reduce((highest, entry) => (entry.seq > highest ? entry.seq : highest), last?.lastSeq ?? 0n);
  await tx.run(
    'insert into seals (number, first_seq, last_seq, entries, previous, hash, sealed_at) values ($1, $2, $3, $4, $5, $6, $7)',
    [number, entries[0]?.seq, lastSeq, entries.length, previous, hashOf(previous, entries), now],
  );
  await tx.run(
    `insert into sealed_entries (entry_seq, seal, position)
     select seq, $2, position from unnest($1::bigint[]) with ordinality as sealed (seq, position)`,
    [entries.map((entry) => entry.seq), number],
  );
  return entries.length;
}

/**
 * Everything that had ended is sealed now: so is each number up to the last mark, if all transactions that had begun at the mark
 * have ended. Then sets the next mark.
 */
async function noteComplete(tx: Tx, mark: { seq: bigint; ended: string; begun: string }): Promise<void> {
  await tx.run(
    `update journal_progress set complete_to = mark_seq, mark_seq = $1, mark_xid = $3::text::xid8, marked_at = clock_timestamp()
      where (mark_seq < $1 or complete_to < mark_seq) and mark_xid <= $2::text::xid8
        and marked_at < clock_timestamp() - make_interval(secs => ${MARK_EVERY_S})`,
    [mark.seq, mark.ended, mark.begun],
  );
}

export interface NewestSeal {
  number: bigint;
  hash: string;
  sealedAt: Date;
}

/** The newest seal. Its hash covers every sealed entry before it, too. */
export async function newestSeal(tx: Tx): Promise<NewestSeal | undefined> {
  const row = await tx.row<{ number: bigint; hash: Buffer; sealedAt: Date }>(
    'select number, hash, sealed_at from seals order by number desc limit 1',
  );
  return row && { ...row, hash: row.hash.toString('hex') };
}

/** Sequence numbers drawn since the newest seal: about the number of unsealed entries, without counting rows of the journal. */
export async function sealLag(tx: Tx): Promise<bigint> {
  const row = await tx.row<{ lag: bigint }>(
    `select coalesce((select max(seq) from entries), 0)
          - coalesce((select last_seq from seals order by number desc limit 1), 0) as lag`,
  );
  return row?.lag ?? 0n;
}

/** Booking time of the oldest entry that is not sealed; null if everything is sealed. */
export async function unsealedSince(tx: Tx): Promise<Date | null> {
  const row = await tx.row<{ at: Date }>(
    `select at from entries
      where seq > coalesce((select last_seq from seals order by number desc limit 1), 0) order by seq limit 1`,
  );
  return row?.at ?? null;
}

function hashOf(previous: Buffer, entries: readonly SealedEntry[]): Buffer {
  const hasher = hasherOver(previous);
  for (const entry of entries) hasher.add(entry);
  return hasher.hash();
}

/** Computes the hash of a seal from its entries, one at a time, in order. */
export function hasherOver(previous: Buffer): { add(entry: SealedEntry): void; hash(): Buffer } {
  const hash = createHash('sha256').update(previous);
  return {
    add({ seq, id, kind, at, content }) {
      hash.update(JSON.stringify([String(seq), id, kind, at.toISOString()])).update(content);
    },
    hash: () => hash.digest(),
  };
}
