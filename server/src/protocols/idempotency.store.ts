/**
 * SQL of the stored replies for idempotency.
 */
import type { Tx } from '../base/db.ts';

export interface IdempotencyRecord {
  body: Buffer;
  reply: string;
  keptAt: Date;
}

export const idempotencyRecords = {
  /** Locks until the transaction ends, without waiting. @param number derived from the key @returns whether it is locked */
  lock: async (tx: Tx, number: bigint): Promise<boolean> =>
    (await tx.row<{ locked: boolean }>('select pg_try_advisory_xact_lock($1) as locked', [number]))?.locked === true,

  /** Stored as a JSON string inside the column, because jsonb itself would not keep the order of keys. */
  find: (tx: Tx, k: { partnerId: bigint; path: string; key: Buffer }) =>
    tx.row<IdempotencyRecord>(
      `select body, reply #>> '{}' as reply, kept_at from idempotency_records where partner_id = $1 and path = $2 and key = $3`,
      [k.partnerId, k.path, k.key],
    ),

  keep: (tx: Tx, k: { partnerId: bigint; path: string; key: Buffer; body: Buffer; reply: string; now: Date }) =>
    tx.defer(
      'insert into idempotency_records (partner_id, path, key, body, reply, kept_at) values ($1, $2, $3, $4, to_jsonb($5::text), $6)',
      [k.partnerId, k.path, k.key, k.body, k.reply, k.now],
    ),

  /** Inserts a record unless one exists. */
  keepFirst: (tx: Tx, k: { partnerId: bigint; path: string; key: Buffer; body: Buffer; reply: string; now: Date }) =>
    tx.run(
      `insert into idempotency_records (partner_id, path, key, body, reply, kept_at)
       values ($1, $2, $3, $4, to_jsonb($5::text), $6) on conflict do nothing`,
      [k.partnerId, k.path, k.key, k.body, k.reply, k.now],
    ),

  /** Replies of a partner, in the order of their keys. Runs with the system role. */
  page: (tx: Tx, k: { partnerId: bigint; after: { path: string; key: Buffer }; limit: number }) =>
    tx.rows<{ path: string; key: Buffer; reply: string }>(
      `select path, key, reply #>> '{}' as reply from idempotency_records
        where partner_id = $1 and (path, key) > ($2, $3) order by path, key limit $4`,
      [k.partnerId, k.after.path, k.after.key, k.limit],
    ),

  /** Empties a reply. No body has the new hash, so a repeated request is refused. Runs with the system role. */
  erase: (tx: Tx, k: { partnerId: bigint; path: string; key: Buffer }) =>
    tx.run(
      `update idempotency_records set body = uuid_send(gen_random_uuid()), reply = to_jsonb(''::text)
        where partner_id = $1 and path = $2 and key = $3`,
      [k.partnerId, k.path, k.key],
    ),

  /** Runs with the system role. */
  drop: (tx: Tx, k: { partnerId: bigint; path: string; key: Buffer }) =>
    tx.run('delete from idempotency_records where partner_id = $1 and path = $2 and key = $3', [
      k.partnerId,
      k.path,
      k.key,
    ]),

  /** Runs with the system role: the partner role may insert replies and read its own, but delete none. */
  forget: (tx: Tx, before: Date) => tx.run('delete from idempotency_records where kept_at <= $1', [before]),
};
