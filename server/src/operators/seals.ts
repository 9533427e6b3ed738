/**
 * Seals of the audit: its committed rows, chained by hash in batches like the journal's entries (ledger/seals.ts), so that a
 * row that is later edited, deleted or inserted is detected by its number.
 *
 * A row's hash covers all of its fields. A seal's hash covers the previous seal, its time and the hashes of its rows. Sealing
 * runs afterwards, and no action waits for it; a batch takes only rows whose transaction is older than every running one.
 *
 * A row gets its number before it commits, so a genuine row may be sealed up to 15 s (a transaction's maximum) after rows with
 * higher numbers. A row that is sealed, or still unsealed, long after them is reported as inserted later. The chain cannot show
 * that rows were appended at the end, or that its end was cut off: only the newest hash, kept elsewhere, shows that.
 *
 * When the master key is exchanged (src/rotation), the texts of sealed rows are encrypted again, and the seals stay. Such a row
 * has its new hash in `audit_reencrypted`, with a proof by the master key that it replaces the sealed one: an attacker who can
 * only write to the database cannot make it.
 */
import { createHash } from 'node:crypto';
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';

const BATCH = 1_000;
const FIRST = Buffer.alloc(32);
/** How far below the newest sealed row an unsealed one is still searched for. */
const LOOK_BACK = 10_000n;
/** A transaction ends within 15 s; servers' clocks differ a little. */
const LATE_MS = 600_000;
const PAGE_ROWS = 5_000;
/** Seals read at a time, and the maximum that one request verifies: up to 100,000 rows. */
export const MAX_SEALS = 100;

interface SealedRow {
  id: bigint;
  fields: (string | null)[];
}

/**
 * Every field as PostgreSQL formats it; the time in microseconds. A row without `via` has the form from before that column
 * existed, in which the migration sealed existing rows.
 */
const FIELDS = `array[a.id::text, (extract(epoch from a.at) * 1000000)::bigint::text, a.operator, a.role, a.address, a.action,
  a.subject, a.reason, a.outcome, a.proposal::text, a.before::text, a.after::text]
  || case when a.via is null then array[]::text[] else array[a.via] end`;

const sql = {
  lock: `select pg_try_advisory_xact_lock(hashtext('seal audit')) as locked`,
  newest: 'select number, last_id, hash from audit_seals order by number desc limit 1',
  next: `select a.id, ${FIELDS} as fields from audit a
    where a.id > $1 and a.written_in < pg_snapshot_xmin(pg_current_snapshot())
      and not exists (select from sealed_audit s where s.audit_id = a.id)
    order by a.id limit ${BATCH}`,
  insertSeal: `insert into audit_seals (number, last_id, rows, previous, hash, sealed_at) values ($1, $2, $3, $4, $5, $6)`,
  insertRows: `insert into sealed_audit (audit_id, seal, position, content)
    select id, $1, position, content from unnest($2::bigint[], $3::bytea[]) with ordinality as sealed (id, content, position)`,

  seals: `select number, last_id, rows, previous, hash, sealed_at from audit_seals where number > $1 order by number limit ${MAX_SEALS}`,
  hashOf: 'select hash from audit_seals where number = $1',
  reached: `select last_id, sealed_at from audit_seals where number <= $1
      and number >= coalesce((select max(number) from audit_seals where number <= $1 and sealed_at < $2), 1) order by number`,
  sealedRows: `select s.audit_id, s.content, case when a.id is null then null else ${FIELDS} end as fields, r.content as again, r.proof
    from sealed_audit s left join audit a on a.id = s.audit_id left join audit_reencrypted r on r.audit_id = s.audit_id
    where s.seal = $1 order by s.position`,
  sealedRow: `select s.content as sealed, ${FIELDS} as fields, r.audit_id is not null as is_proved
    from audit a join sealed_audit s on s.audit_id = a.id left join audit_reencrypted r on r.audit_id = a.id where a.id = $1`,
  prove: `insert into audit_reencrypted (audit_id, content, proof) values ($1, $2, $3)
    on conflict (audit_id) do update set content = excluded.content, proof = excluded.proof`,
  unsealed: `select a.id from audit a where a.id > $1 and not exists (select from sealed_audit s where s.audit_id = a.id)
    order by a.id limit ${PAGE_ROWS}`,
} as const;

/** Seals one batch. @returns how many rows were sealed */
export async function sealAudit(tx: Tx, now: Date): Promise<number> {
  // One sealer at a time; the others return 0.
  if ((await tx.row<{ locked: boolean }>(sql.lock))?.locked !== true) return 0;
  const last = await tx.row<{ number: bigint; lastId: bigint; hash: Buffer }>(sql.newest);
  const rows = await tx.rows<SealedRow>(sql.next, [(last?.lastId ?? 0n) - LOOK_BACK]);
  if (rows.length === 0) return 0;
  const number = (last?.number ?? 0n) + 1n;
  const previous = last?.hash ?? FIRST;
  const contents = rows.map(({ fields }) => contentOf(fields));
  const lastId = rows.reduce((highest, { id }) => (id > highest ? id : highest), last?.lastId ?? 0n);
  await tx.run(sql.insertSeal, [number, lastId, rows.length, previous, hashOver(previous, now, contents), now]);
  await tx.run(sql.insertRows, [number, rows.map(({ id }) => id), contents]);
  return rows.length;
}

/** Each field as its length in bytes, a colon and its text; `-` where there is none. */
const contentOf = (fields: readonly (string | null)[]): Buffer =>
  createHash('sha256')
    .update(fields.map((field) => (field === null ? '-' : `${Buffer.byteLength(field)}:${field}`)).join(''))
    .digest();

const hashOver = (previous: Buffer, sealedAt: Date, contents: readonly Buffer[]): Buffer =>
  createHash('sha256')
    .update(Buffer.concat([previous, Buffer.from(String(sealedAt.getTime())), ...contents]))
    .digest();

/**
 * Proves that a sealed row was re-encrypted: its new hash replaces the sealed hash and any earlier replacement. An unsealed row
 * is later sealed in its present form.
 */
export async function proveAudit(tx: Tx, vault: Vault, id: bigint, isChanged: boolean): Promise<void> {
  const row = await tx.row<{ sealed: Buffer; fields: (string | null)[]; isProved: boolean }>(sql.sealedRow, [id]);
  if (row === undefined || (!isChanged && !row.isProved)) return;
  const content = contentOf(row.fields);
  await tx.run(sql.prove, [id, content, proofsOf(vault, { id, sealed: row.sealed, content })[0]]);
}

const proofsOf = (vault: Vault, row: { id: bigint; sealed: Buffer; content: Buffer }): Buffer[] =>
  vault.indexes(`${row.id}:${row.sealed.toString('hex')}:${row.content.toString('hex')}`, 'audit_reencrypted');

export interface AuditProblem {
  /** `audit row 17` or `audit seal 3`. */
  subject: string;
  why: string;
}

export interface AuditSummary {
  rows: bigint;
  seals: bigint;
  unsealed: bigint;
  /** The newest seal: keep it somewhere that cannot be changed together with the database. */
  newest: { number: bigint; hash: string } | null;
}

interface SealRow {
  number: bigint;
  lastId: bigint;
  rows: number;
  previous: Buffer;
  hash: Buffer;
  sealedAt: Date;
}

interface SealedContent {
  auditId: bigint;
  /** Content hash at the time of sealing. */
  content: Buffer;
  /** Fields now; null when the row no longer exists. */
  fields: (string | null)[] | null;
  /** For a re-encrypted row: its new hash and the proof. */
  again: Buffer | null;
  proof: Buffer | null;
}

/** The highest sealed row number, and its time. */
interface Reached {
  id: bigint;
  at: number;
}

/** The hash that a row must have: the sealed one, or its replacement, if the master key proves it. */
function contentNow(vault: Vault | undefined, { auditId, content, again, proof }: SealedContent): Buffer {
  if (again === null || proof === null || vault === undefined) return content;
  const proofs = proofsOf(vault, { id: auditId, sealed: content, content: again });
  return proofs.some((one) => one.equals(proof)) ? again : content;
}

/** Verifies seals one after the other, each over the previous one. @param begin.reached of earlier seals, oldest first */
function chainFrom(
  tx: Tx,
  tell: (problem: AuditProblem) => void,
  begin: { last: bigint; previous: Buffer; reached: Reached[] },
  vault: Vault | undefined,
) {
  const summary: AuditSummary = { rows: 0n, seals: 0n, unsealed: 0n, newest: null };
  const { reached } = begin;
  let { last, previous } = begin;
  /** Time of the first seal over rows above this one; undefined if there is none. */
  const passedAt = (id: bigint): number | undefined => {
    let [low, high] = [0, reached.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((reached[middle]?.id ?? 0n) > id) high = middle;
      else low = middle + 1;
    }
    return reached[low]?.at;
  };
  async function verify(seal: SealRow): Promise<void> {
    const subject = `audit seal ${seal.number}`;
    if (seal.number !== last + 1n) tell({ subject, why: `seals ${last + 1n} to ${seal.number - 1n} are missing` });
    else if (!seal.previous.equals(previous)) tell({ subject, why: 'it is not made over the seal before it' });
    const rows = await tx.rows<SealedContent>(sql.sealedRows, [seal.number]);
    for (const sealed of rows) {
      const { auditId: id, fields } = sealed;
      const row = `audit row ${id}`;
      summary.rows += 1n;
      if (fields === null) tell({ subject: row, why: 'it was sealed and is not there any more' });
      else if (!contentOf(fields).equals(contentNow(vault, sealed)))
        tell({ subject: row, why: 'it has changed since it was sealed' });
      if (seal.sealedAt.getTime() - (passedAt(id) ?? seal.sealedAt.getTime()) > LATE_MS)
        tell({ subject: row, why: `it was slipped in among older rows before seal ${seal.number}` });
    }
    const contents = rows.map(({ content }) => content);
    if (rows.length !== seal.rows) tell({ subject, why: `it covers ${seal.rows} rows and ${rows.length} are there` });
    else if (!hashOver(seal.previous, seal.sealedAt, contents).equals(seal.hash))
      tell({ subject, why: 'its hash does not match the rows it covers' });
    if (seal.lastId > (reached.at(-1)?.id ?? 0n)) reached.push({ id: seal.lastId, at: seal.sealedAt.getTime() });
    previous = seal.hash;
    last = seal.number;
    summary.seals += 1n;
    summary.newest = { number: seal.number, hash: seal.hash.toString('hex') };
  }
  return { summary, passedAt, verify };
}

/**
 * Verifies the audit against its seals, from the first row on.
 *
 * @param kept a seal's number and hash from a copy kept elsewhere: they must still be there
 * @param vault checks rows that were encrypted again since; without it they count as changed
 */
export async function verifyAudit(
  tx: Tx,
  tell: (problem: AuditProblem) => void,
  now: Date,
  kept?: { number: bigint; hash: string },
  vault?: Vault,
): Promise<AuditSummary> {
  const { summary, passedAt, verify } = chainFrom(tx, tell, { last: 0n, previous: FIRST, reached: [] }, vault);
  let keptIsThere = kept === undefined;
  for (let last = 0n; ; ) {
    const page = await tx.rows<SealRow>(sql.seals, [last]);
    for (const seal of page) {
      await verify(seal);
      keptIsThere ||= kept?.number === seal.number && kept.hash === seal.hash.toString('hex');
      last = seal.number;
    }
    if (page.length === 0) break;
  }
  if (!keptIsThere && kept !== undefined)
    tell({ subject: `audit seal ${kept.number}`, why: 'it is not there with the hash that was kept' });
  await verifyUnsealed(tx, tell, summary, (id) => now.getTime() - (passedAt(id) ?? now.getTime()) > LATE_MS);
  return summary;
}

/**
 * Verifies a part of the seals, so that one request is bounded whatever the length of the chain. Rows that no seal covers are
 * checked with the last part.
 *
 * @param part.after the seal after which to begin; its own hash is used as stored
 * @param part.vault as with `verifyAudit`
 * @throws Refusal 'malformed_field' when there is no such seal
 */
export async function verifySeals(
  tx: Tx,
  tell: (problem: AuditProblem) => void,
  now: Date,
  part: { after: bigint; limit: number; vault?: Vault },
): Promise<AuditSummary & { next: bigint | null }> {
  const found = await tx.rows<SealRow>(sql.seals, [part.after]);
  const page = found.slice(0, Math.min(part.limit, MAX_SEALS));
  const before = part.after === 0n ? FIRST : (await tx.row<{ hash: Buffer }>(sql.hashOf, [part.after]))?.hash;
  if (before === undefined) throw new Refusal('malformed_field', { fields: { after: 'must be the number of a seal' } });
  // Whether a row is late is judged by the newest seal older than this; still earlier seals add nothing.
  const early = new Date((page[0]?.sealedAt ?? now).getTime() - LATE_MS);
  const seals = await tx.rows<{ lastId: bigint; sealedAt: Date }>(sql.reached, [part.after, early]);
  const reached = seals.map(({ lastId: id, sealedAt }) => ({ id, at: sealedAt.getTime() }));
  const { summary, passedAt, verify } = chainFrom(
    tx,
    tell,
    { last: part.after, previous: before, reached },
    part.vault,
  );
  for (const seal of page) await verify(seal);
  const isEnd = page.length === found.length && found.length < MAX_SEALS;
  if (isEnd) await verifyUnsealed(tx, tell, summary, (id) => now.getTime() - (passedAt(id) ?? now.getTime()) > LATE_MS);
  return { ...summary, next: isEnd ? null : (page.at(-1)?.number ?? null) };
}

/**
 * Checks rows that no seal covers: only the newest rows may be unsealed, and no row may be below rows that were sealed long
 * ago.
 */
async function verifyUnsealed(
  tx: Tx,
  tell: (problem: AuditProblem) => void,
  summary: AuditSummary,
  isLate: (id: bigint) => boolean,
): Promise<void> {
  for (let after = 0n; ; ) {
    const rows = await tx.rows<{ id: bigint }>(sql.unsealed, [after]);
    for (const { id } of rows) {
      summary.unsealed += 1n;
      if (isLate(id)) tell({ subject: `audit row ${id}`, why: 'it is among sealed rows, and no seal covers it' });
      after = id;
    }
    if (rows.length < PAGE_ROWS) return;
  }
}
