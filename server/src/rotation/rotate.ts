/**
 * Exchange of the master key: everything that the old key has encrypted or indexed is rewritten under the new one, in batches.
 *
 * A batch is one transaction: its rows, and the position in its part. The next run continues from there if the process is
 * killed; two concurrent runs take turns. Servers work meanwhile. Each has both keys (base/crypto.ts): it writes under the new
 * one, reads by either, and looks up by both. So the number of values under the old key only decreases.
 *
 * At the end every value is decrypted once more with the new key alone. The exchange is finished when no value is left under
 * the old key; until then no server starts without it.
 *
 * It uses the role that owns the tables, because some append-only tables contain encrypted texts (migration 0028).
 */
import pg from 'pg';
import type { Vault } from '../base/crypto.ts';
import { type Database, txOn } from '../base/db.ts';
import { SettingError } from '../base/env.ts';
import { assert } from '../base/errors.ts';
import { deniedBefore, reloadAddresses } from '../compliance/index.ts';
import { forgetOldSends } from '../customers/index.ts';
import { proveAudit } from '../operators/index.ts';
import { type Keys, PARTS, type Part, type Row } from './parts.ts';
import { renew, TOKEN_SQL } from './texts.ts';

export interface RotationReport {
  /** Parts that contained values of the old key, over all runs. */
  rewritten: { part: string; values: bigint }[];
  /** Values still under the old key, and how to end them. */
  left: { part: string; values: number; how: string }[];
}

/** Rows per transaction: a server that waits for one of them waits for milliseconds. */
const BATCH = 200;
const ATTEMPTS = 20;
/** SQLSTATEs after which a batch is retried: deadlock, lock timeout, serialization failure. */
const AGAIN = ['40P01', '55P03', '40001'];
const LOCK = `hashtext('exchange of the master key')`;

/** Records that servers write under the new key from now on. @throws SettingError when this key alone cannot read everything */
export async function noteRotation(db: Pick<Database, 'asSystem'>, vault: Vault): Promise<void> {
  await db.asSystem(async (tx) => {
    const { old } = vault;
    if (old !== undefined) {
      await tx.run(
        'insert into key_rotations (old_key, new_key) values ($1, $2) on conflict (old_key, new_key) do nothing',
        [old.keyName, vault.keyName],
      );
      return;
    }
    const unfinished = await tx.row('select from key_rotations where new_key = $1 and finished_at is null', [
      vault.keyName,
    ]);
    if (unfinished !== undefined)
      throw new SettingError(
        'OLD_MASTER_KEY is missing: values are still encrypted with the old master key. Set it, run npm run rotate-master-key until it says that nothing is left, and remove it then.',
      );
  });
}

/**
 * @param onBatch called after each commit with the part's name; for progress, and for tests that stop in between
 * @throws SettingError when another process is exchanging the key
 */
export async function rotate(
  adminUrl: string,
  vault: Vault,
  options: { batch?: number; onBatch?: (part: string) => void } = {},
): Promise<RotationReport> {
  assert(vault.old !== undefined, 'there is no old key');
  const keys: Keys = { from: vault.old, to: vault.current ?? vault };
  const client = new pg.Client({
    connectionString: adminUrl,
    connectionTimeoutMillis: 10_000,
    options: '-c search_path=cloverleaf -c lock_timeout=5000',
  });
  client.on('error', () => {});
  await client.connect();
  try {
    const { rows: mine } = await client.query(`select pg_try_advisory_lock(${LOCK}) as locked`);
    if (mine[0]?.locked !== true) throw new SettingError('Another process exchanges the master key at this moment.');
    return await run(client, keys, { batch: options.batch ?? BATCH, onBatch: options.onBatch ?? (() => {}) });
  } finally {
    await client.end();
  }
}

interface Going {
  client: pg.Client;
  keys: Keys;
  rotation: { id: bigint; startedAt: Date };
  partnerIds: readonly bigint[];
  batch: number;
  onBatch: (part: string) => void;
}

async function run(
  client: pg.Client,
  keys: Keys,
  { batch, onBatch }: { batch: number; onBatch: (part: string) => void },
): Promise<RotationReport> {
  const names = [keys.from.keyName, keys.to.keyName];
  await client.query('insert into key_rotations (old_key, new_key) values ($1, $2) on conflict do nothing', names);
  const { rows } = await client.query(
    'select id, started_at from key_rotations where old_key = $1 and new_key = $2',
    names,
  );
  const partners = await client.query<{ id: bigint }>('select id from partners order by id');
  const rotation = { id: rows[0].id as bigint, startedAt: rows[0].started_at as Date };
  const partnerIds = [...partners.rows.map(({ id }) => id), 0n];
  const going: Going = { client, keys, rotation, partnerIds, batch, onBatch };
  const parts = [...PARTS, ...(await textParts(client))];
  for (const part of parts) await rewriteAll(going, part);
  await reloadLists(going);
  const sends = await forgetOldSends(txOn(client), rotation.startedAt);
  const left = [...(await leftOf(going, parts)), ...(await leftBlind(client, rotation.startedAt, sends))];
  if (left.length === 0)
    await client.query(
      'update key_rotations set finished_at = coalesce(finished_at, clock_timestamp()) where id = $1',
      [rotation.id],
    );
  const done = await client.query(
    'select part, rewritten from key_rotation_parts where rotation_id = $1 and rewritten > 0 order by part',
    [rotation.id],
  );
  return { rewritten: done.rows.map(({ part, rewritten }) => ({ part, values: rewritten as bigint })), left };
}

/** Rebuilds the indexes of sanctions lists' addresses from the stored addresses, without downloading the lists. */
async function reloadLists({ client, keys, rotation }: Going): Promise<void> {
  await client.query('begin');
  try {
    const now = new Date(Math.max(Date.now(), rotation.startedAt.getTime()));
    await reloadAddresses(txOn(client), keys.to, { before: rotation.startedAt, now });
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

/** A part whose columns contain encrypted texts with markers. */
interface TextPart extends Omit<Part, 'rewrite'> {
  readonly types: readonly string[];
}
const isText = (part: Part | TextPart): part is TextPart => 'types' in part;

/**
 * Every table that may have values of the master key. `texts` is an SQL expression of its text columns, in which marked texts may
 * occur; undefined for a table with encrypted columns.
 */
export async function encryptedTables(client: pg.Client): Promise<{ table: string; texts?: string }[]> {
  const texts = await textParts(client);
  return [
    ...PARTS.map(({ table }) => ({ table })),
    ...texts.map(({ table, writes }) => ({ table, texts: textOf(writes) })),
  ];
}

const textOf = (columns: readonly string[]): string =>
  `concat_ws(' ', ${columns.map((one) => `${quoted(one)}::text`).join(', ')})`;

/** All text columns of all tables. */
async function textParts(client: pg.Client): Promise<TextPart[]> {
  const { rows } = await client.query<{ table: string; columns: string[]; types: string[]; owned: boolean }>(
    `select c.relname as table, array_agg(a.attname::text order by a.attnum) as columns,
            array_agg(format_type(a.atttypid, null) order by a.attnum) as types,
            exists (select from pg_attribute p where p.attrelid = c.oid and p.attname = 'partner_id') as owned
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relnamespace = 'cloverleaf'::regnamespace and c.relkind = 'r'
        and a.atttypid in ('text'::regtype, 'text[]'::regtype, 'json'::regtype, 'jsonb'::regtype) and a.attgenerated = ''
        and exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)
      group by c.oid order by 1`,
  );
  return rows
    .filter(({ table }) => !['key_rotations', 'key_rotation_parts', 'requirement_forms'].includes(table))
    .map(({ table, columns, types, owned }) => ({
      name: `texts of ${table}`,
      table,
      reads: owned ? ['partner_id'] : [],
      writes: columns,
      types,
      where: `${textOf(columns)} ~ '${TOKEN_SQL}'
        ${table === 'audit' ? 'or id in (select audit_id from audit_reencrypted)' : ''}`,
    }));
}

const quoted = (name: string): string => `"${name}"`;

async function keyOf(client: pg.Client, table: string): Promise<{ column: string; type: string }[]> {
  const { rows } = await client.query<{ column: string; type: string }>(
    `select a.attname as column, format_type(a.atttypid, a.atttypmod) as type
       from pg_index i cross join unnest(i.indkey) with ordinality as k (attnum, at)
       join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
      where i.indrelid = $1::regclass and i.indisprimary order by k.at`,
    [table],
  );
  assert(rows.length > 0, `${table} has no primary key`);
  return rows;
}

/** Rows after a primary key, in its order. Conditions use $1 for the time, so the parameter is always passed. */
async function page(going: Going, part: Part | TextPart, after: readonly string[] | null, forUpdate: boolean) {
  const key = await keyOf(going.client, part.table);
  const columns = key.map(({ column }) => quoted(column)).join(', ');
  const from = key.map(({ type }, at) => `($2::text[])[${at + 1}]::${type}`).join(', ');
  const values = isText(part) ? part.writes.map((one) => `${quoted(one)}::text as ${quoted(one)}`) : [];
  const read = [...part.reads.filter((one) => !(isText(part) && part.writes.includes(one))).map(quoted), ...values];
  const { rows } = await going.client.query<Row & { row_at: string[] }>(
    `select array[${key.map(({ column }) => `t.${quoted(column)}::text`).join(', ')}] as row_at, ${read.join(', ')} from ${quoted(part.table)} t
      where ($1::timestamptz is not null) and (${part.where ?? 'true'}) and ($2::text[] is null or (${columns}) > (${from}))
      order by ${key.map(({ column }) => `t.${quoted(column)}`).join(', ')} limit ${going.batch} ${forUpdate ? 'for update' : ''}`,
    [going.rotation.startedAt, after],
  );
  return { rows, key };
}

interface Changed {
  values: { column: string; type?: string | undefined; value: unknown }[];
  /** Number of values that were under the old key. */
  count: number;
}

/** The columns that change; undefined when none does. */
function renewedRow(going: Going, part: Part | TextPart, row: Row): Changed | undefined {
  if (!isText(part)) {
    const values = part.rewrite(going.keys, row);
    return values && { values: part.writes.map((column, at) => ({ column, value: values[at] })), count: 1 };
  }
  const own = row.partner_id as bigint | null | undefined;
  const partnerIds = own === null || own === undefined ? going.partnerIds : [own, ...going.partnerIds];
  const changed: Changed = { values: [], count: 0 };
  for (const [at, column] of part.writes.entries()) {
    const stored = row[column] as string | null;
    if (stored === null) continue;
    const { value, renewed } = renew(going.keys, stored, partnerIds);
    if (renewed === 0) continue;
    changed.values.push({ column, type: part.types[at], value });
    changed.count += renewed;
  }
  return changed.count === 0 ? undefined : changed;
}

async function rewriteAll(going: Going, part: Part | TextPart): Promise<void> {
  const { client, rotation } = going;
  for (let attempt = 1, isDone = false; !isDone; ) {
    try {
      await client.query('begin');
      isDone = await rewriteBatch(going, part);
      await client.query('commit');
      attempt = 1;
      going.onBatch(part.name);
    } catch (error) {
      await client.query('rollback');
      attempt += 1;
      if (attempt > ATTEMPTS || !AGAIN.includes((error as { code?: string }).code ?? '')) {
        const why = error instanceof Error ? error.message : String(error);
        throw new Error(`exchange ${rotation.id} stopped at ${part.name}: ${why}`, { cause: error });
      }
    }
  }
}

/** Rewrites one batch. @returns whether the part is done */
async function rewriteBatch(going: Going, part: Part | TextPart): Promise<boolean> {
  const { client, rotation } = going;
  const { rows: noted } = await client.query<{ after: string[] | null; is_done: boolean }>(
    'select after, is_done from key_rotation_parts where rotation_id = $1 and part = $2',
    [rotation.id, part.name],
  );
  // A completed part is skipped only if its hashes cannot be recognised as new. Other parts are read again: a server that had
  // not noticed the new key may have added rows.
  if (noted[0]?.is_done === true && part.isBlind === true) return true;
  const isSealed = part.table === 'audit';
  // No row is sealed while it is being changed.
  if (isSealed) await client.query(`select pg_advisory_xact_lock(hashtext('seal audit'))`);
  await client.query(`set local cloverleaf.reencrypting = 'on'`);
  const { rows, key } = await page(going, part, noted[0]?.is_done === true ? null : (noted[0]?.after ?? null), true);
  let rewritten = 0;
  for (const row of rows) {
    const changed = renewedRow(going, part, row);
    if (changed === undefined && !isSealed) continue;
    if (changed !== undefined) {
      await update(client, part.table, { key, at: row.row_at, values: changed.values });
      rewritten += changed.count;
    }
    if (isSealed) await proveAudit(txOn(client), going.keys.to, BigInt(row.row_at[0] ?? ''), changed !== undefined);
  }
  const isDone = rows.length < going.batch;
  await client.query(
    `insert into key_rotation_parts (rotation_id, part, after, rewritten, is_done) values ($1, $2, $3, $4, $5)
     on conflict (rotation_id, part) do update set after = coalesce(excluded.after, key_rotation_parts.after),
       rewritten = key_rotation_parts.rewritten + excluded.rewritten, is_done = excluded.is_done`,
    [rotation.id, part.name, rows.at(-1)?.row_at ?? null, rewritten, isDone],
  );
  return isDone;
}

async function update(
  client: pg.Client,
  table: string,
  row: { key: readonly { column: string; type: string }[]; at: readonly string[]; values: Changed['values'] },
): Promise<void> {
  const set = row.values.map(({ column, type }, i) => {
    const cast = type === undefined ? '' : `::text::${type}`;
    return `${quoted(column)} = $${i + 2}${cast}`;
  });
  const where = row.key.map(({ column, type }, i) => `${quoted(column)} = ($1::text[])[${i + 1}]::${type}`);
  const values = row.values.map(({ value }) => value);
  await client.query(`update ${quoted(table)} set ${set.join(', ')} where ${where.join(' and ')}`, [row.at, ...values]);
}

/** Decrypts every value once more with the new key alone. @returns the parts with values left */
async function leftOf(going: Going, parts: readonly (Part | TextPart)[]): Promise<RotationReport['left']> {
  const left: RotationReport['left'] = [];
  for (const part of parts) {
    if (part.isBlind === true) continue;
    let values = 0;
    for (let after: string[] | null = null; ; ) {
      const { rows }: { rows: (Row & { row_at: string[] })[] } = await page(going, part, after, false);
      values += rows.filter((row) => renewedRow(going, part, row) !== undefined).length;
      after = rows.at(-1)?.row_at ?? null;
      if (rows.length < going.batch) break;
    }
    if (values > 0) left.push({ part: part.name, values, how: 'run this command again' });
  }
  return left;
}

/** Counts hashes whose values are not stored: they expire, or are replaced when their data is loaded again. */
async function leftBlind(client: pg.Client, startedAt: Date, sends: number): Promise<RotationReport['left']> {
  const left = [
    {
      part: 'denied_destinations.index',
      values: await deniedBefore(txOn(client), startedAt),
      how: 'load the deny lists again',
    },
    { part: 'login_sends', values: sends, how: 'run this command again an hour after the exchange began' },
  ];
  return left.filter(({ values }) => values > 0);
}
