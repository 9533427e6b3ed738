/**
 * Attachments: files that operators add to a case, as evidence for its decision.
 *
 * A file is inspected as customers' files are, and plain text is accepted as well. It is stored encrypted under a key of its own
 * before its row is written; a file without a row is swept. The key is a column, encrypted by the master key: exchanging that
 * key rewrites the column and no file. Removing an attachment empties its key, so the file is unreadable at once, in the store and in
 * backups taken later; the sweep then deletes it.
 *
 * An attachment stays as long as its case: cases are records and are never deleted. It ends when two people remove it, or when
 * its customer is erased. Names of files from outside are stored only as an encrypted label.
 *
 * Not here: the limits of a request (protocols/uploads.ts), who may read one (protocols/operator).
 */
import { randomBytes } from 'node:crypto';
import { type Blobs, newBlobId } from '../base/blobs.ts';
import { decryptBytes, encryptBytes, type Vault } from '../base/crypto.ts';
import type { Database, Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import { FILE_RULE, type FileType, inspectAside, isPlainText } from '../customers/index.ts';
import { lockCase, noteCase } from './cases.ts';

type AttachmentType = FileType | 'text/plain';

/** A file in the store that has no row yet. */
export interface StoredAttachment {
  readonly id: string;
  readonly type: AttachmentType;
  readonly bytes: number;
  readonly wrapped: Buffer;
}

/** An attachment as listed with its case. */
export interface Attachment {
  id: string;
  type: AttachmentType;
  bytes: number;
  label: string;
  attachedBy: string;
  attachedAt: Date;
  removedAt: Date | null;
}

/** Per case, including removed ones. */
export const MAX_ATTACHMENTS = 20;

const contextOf = (id: string): string => `case_attachments:${id}`;
/** Encryption context of the file's key. rotation/parts.ts has the same text. */
const keyContext = (id: string): string => `case_attachments.wrapped:${id}`;

const ROW = 'id, type, bytes, label, attached_by, attached_at, removed_at';
const sql = {
  insert: `insert into case_attachments (id, case_id, type, bytes, label, wrapped, attached_by, attached_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8)`,
  count: 'select count(*)::int as count from case_attachments where case_id = $1',
  ofCase: `select ${ROW} from case_attachments where case_id = $1 order by attached_at, id limit ${MAX_ATTACHMENTS}`,
  one: `select ${ROW} from case_attachments where id = $1 and case_id = $2`,
  key: 'select type, wrapped from case_attachments where id = $1 and case_id = $2 and removed_at is null',
  remove: `update case_attachments set wrapped = '', removed_at = $3
    where id = $1 and case_id = $2 and removed_at is null`,
  erase: `update case_attachments set wrapped = '', label = without_typed(label), removed_at = coalesce(removed_at, $3)
    where case_id in (select id from cases where subject = any($1::text[]) or order_id = any($2::bigint[])) returning id`,
} as const;

/**
 * Inspects a file and puts it into the store. Calls the store, so never use it inside a transaction.
 *
 * @param by the operator's name
 * @throws Refusal 'malformed_field' that names `file`
 */
export async function storeAttachment(
  { blobs, vault }: { blobs: Blobs; vault: Vault },
  content: Buffer,
  by: string,
): Promise<StoredAttachment> {
  const type = await typeOf(content, by);
  const id = newBlobId();
  const key = randomBytes(32);
  await blobs.write(id, encryptBytes(key, content, contextOf(id)));
  return { id, type, bytes: content.length, wrapped: vault.encrypt(key.toString('hex'), keyContext(id)) };
}

async function typeOf(content: Buffer, by: string): Promise<AttachmentType> {
  const found = await inspectAside(content, { one: `operator ${by}` });
  if ('type' in found) return found.type;
  if (found.why !== FILE_RULE) throw new Refusal('malformed_field', { fields: { file: found.why } });
  if (isPlainText(content)) return 'text/plain';
  const rule = `${FILE_RULE}, or plain text in UTF-8 without markup and control characters`;
  throw new Refusal('malformed_field', { fields: { file: rule } });
}

/**
 * Adds a stored file to an open case, with a line in its history.
 *
 * @param a.label as the operator API encrypted it
 * @throws Refusal 'unknown_case' also when it is closed; 'too_many_attachments'
 */
export async function attachFile(
  tx: Tx,
  a: { caseId: bigint; file: StoredAttachment; label: string; by: string; now: Date },
): Promise<void> {
  const { caseId, label, by, now } = a;
  const { id, type, bytes, wrapped } = a.file;
  if ((await lockCase(tx, caseId)) === undefined) throw new Refusal('unknown_case');
  const { count = 0 } = (await tx.row<{ count: number }>(sql.count, [caseId])) ?? {};
  if (count >= MAX_ATTACHMENTS) throw new Refusal('too_many_attachments', { most: MAX_ATTACHMENTS });
  await tx.run(sql.insert, [id, caseId, type, bytes, label, wrapped, by, now]);
  await noteCase(tx, { id: caseId, what: 'acted', note: `attached ${label} (${id})`, by, now });
}

/** All attachments of a case, oldest first, including removed ones. */
export const attachmentsOf = (tx: Tx, caseId: bigint): Promise<Attachment[]> =>
  tx.rows<Attachment>(sql.ofCase, [caseId]);

/** @throws Refusal 'unknown_attachment' */
export async function findAttachment(tx: Tx, a: { caseId: bigint; id: string }): Promise<Attachment> {
  const found = await tx.row<Attachment>(sql.one, [a.id, a.caseId]);
  if (found === undefined) throw new Refusal('unknown_attachment');
  return found;
}

/** Content of an attachment, decrypted; undefined when it was removed or is missing from the store. */
export async function readAttachment(
  deps: { db: Pick<Database, 'asSystem'>; blobs: Blobs; vault: Vault },
  a: { caseId: bigint; id: string },
): Promise<{ type: AttachmentType; content: Buffer } | undefined> {
  const { db, blobs, vault } = deps;
  const row = await db.asSystem((tx) => tx.row<{ type: AttachmentType; wrapped: Buffer }>(sql.key, [a.id, a.caseId]));
  if (row === undefined) return undefined;
  const encrypted = await blobs.read(a.id);
  if (encrypted === undefined) return undefined;
  const key = Buffer.from(vault.decrypt(row.wrapped, keyContext(a.id)), 'hex');
  return { type: row.type, content: decryptBytes(key, encrypted, contextOf(a.id)) };
}

/**
 * Empties the key, so that the file is unreadable for good; the row stays. @throws Refusal 'unknown_attachment' also when it
 * was removed before
 */
export async function removeAttachment(
  tx: Tx,
  a: { caseId: bigint; id: string; by: string; now: Date },
): Promise<void> {
  if ((await tx.run(sql.remove, [a.id, a.caseId, a.now])) === 0) throw new Refusal('unknown_attachment');
  await noteCase(tx, { id: a.caseId, what: 'acted', note: `removed attachment ${a.id}`, by: a.by, now: a.now });
}

/** Removes the attachments of every case about these subjects and orders. @returns ids of files to delete from the store */
export const eraseAttachments = async (
  tx: Tx,
  about: { subjects: readonly string[]; orders: readonly bigint[]; now: Date },
): Promise<string[]> =>
  (await tx.rows<{ id: string }>(sql.erase, [about.subjects, about.orders, about.now])).map(({ id }) => id);
