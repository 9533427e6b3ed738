/**
 * Documents: the files of submissions, encrypted in a store, with a row each.
 *
 * Every customer has a separate key, encrypted by the master key: without that row the customer's files can never be read again.
 * A file is on disk before its row is written; one without a row after an hour belongs to a request that failed, and is deleted.
 * The database has only a keyed digest, the size and the type. No file name from outside is stored: a slot is a name of the form.
 *
 * Not here: what a file may be (inspect.ts), which are needed (form.ts).
 */
import { createHash, randomBytes } from 'node:crypto';
import { type Blobs, newBlobId } from '../../base/blobs.ts';
import { later } from '../../base/clock.ts';
import { decryptBytes, encryptBytes, type Vault } from '../../base/crypto.ts';
import type { Database, Tx } from '../../base/db.ts';
import { assert, Refusal } from '../../base/errors.ts';
import type { Whose } from '../../base/turns.ts';
import { keepCompared } from '../compared-documents.ts';
import { findCustomer, requireNotErased } from '../customers.ts';
import { documentSlotsOf, type Form, slotsOf } from './form.ts';
import { type FileType, inspectAside, safeContent, UNDECODABLE } from './inspect.ts';
import { sql } from './store.ts';

/** A file that may be stored: pictures are encoded by us. */
export interface InspectedFile {
  readonly slot: string;
  readonly type: FileType;
  readonly content: Buffer;
  /** SHA-256 of the bytes that were sent, in hex: the same file is recognised, whatever encoded it. */
  readonly sentDigest: string;
}

/** A file that was inspected and is in the store; its row is not written yet. */
export interface StoredFile {
  readonly id: string;
  readonly slot: string;
  readonly type: FileType;
  readonly bytes: number;
  readonly digest: Buffer;
  /** As in `InspectedFile`. Not stored in the clear. */
  readonly sentDigest: string;
}

export interface DocumentRow {
  id: string;
  submissionId: bigint;
  slot: string;
  type: FileType;
  bytes: number;
  createdAt: Date;
}

const contextOf = (id: string): string => `submission_files:${id}`;
const keyContext = (customerId: string): string => `customer_keys.wrapped:${customerId}`;

/** The key of a customer's files; created with the first file. */
export async function customerKey(
  tx: Tx,
  vault: Vault,
  c: { id: string; partnerId: bigint },
  now: Date,
): Promise<Buffer> {
  const known = await keyOf(tx, vault, c.id);
  if (known !== undefined) return known;
  requireNotErased(await findCustomer(tx, c.id));
  const wrapped = vault.encrypt(randomBytes(32).toString('hex'), keyContext(c.id));
  await tx.run(sql.insertKey, [c.id, c.partnerId, wrapped, now]);
  // A concurrent request has created the key.
  const made = await keyOf(tx, vault, c.id);
  assert(made !== undefined, 'the customer has no key for files');
  return made;
}

async function keyOf(tx: Tx, vault: Vault, customerId: string): Promise<Buffer | undefined> {
  const row = await tx.row<{ wrapped: Buffer }>(sql.key, [customerId]);
  return row && Buffer.from(vault.decrypt(row.wrapped, keyContext(customerId)), 'hex');
}

/**
 * Files as sent, each in its slot, inspected; pictures are encoded again. It takes time, so never call it in a transaction.
 *
 * @param sent.names the names by which its slot is recognised
 * @throws Refusal 'malformed_field' that names each slot; a file without a slot of the form is named `files`
 */
export async function inspectFiles(
  form: Form,
  sent: readonly { names: readonly string[]; content: Buffer }[],
  customer: Sender,
): Promise<InspectedFile[]> {
  const slots = slotsOf(form);
  const whose = whoseOf(customer);
  const wrong: Record<string, string> = {};
  const inspected: InspectedFile[] = [];
  for (const { names, content } of sent) {
    const slot = names.map((name) => slotNamed(slots, name)).find((one) => one !== undefined);
    const found = await inspectAside(content, whose);
    if (slot === undefined) wrong.files = `must be named as in the requirements: ${[...slots].join(', ')}`;
    else if ('why' in found) wrong[slot] = found.why;
    else inspected.push({ slot, type: found.type, content, sentDigest: sha256(content) });
  }
  if (Object.keys(wrong).length > 0) throw new Refusal('malformed_field', { fields: wrong });
  return await reencoded(inspected, whose, ({ slot }) => slot);
}

/**
 * Files that have no place in a form, inspected, and pictures are encoded again.
 *
 * @throws Refusal 'malformed_field' that names each as `files[0]`
 */
export async function inspectAny(sent: readonly { content: Buffer }[], customer: Sender): Promise<InspectedFile[]> {
  const whose = whoseOf(customer);
  const wrong: Record<string, string> = {};
  const inspected: InspectedFile[] = [];
  for (const [at, { content }] of sent.entries()) {
    const found = await inspectAside(content, whose);
    if ('why' in found) wrong[`files[${at}]`] = found.why;
    else inspected.push({ slot: 'file', type: found.type, content, sentDigest: sha256(content) });
  }
  if (Object.keys(wrong).length > 0) throw new Refusal('malformed_field', { fields: wrong });
  return await reencoded(inspected, whose, (_file, at) => `files[${at}]`);
}

/** The customer whose files are inspected. */
interface Sender {
  readonly id: string;
  readonly partnerId: bigint;
}
const whoseOf = ({ id, partnerId }: Sender): Whose => ({ one: id, partner: String(partnerId) });

const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/** One after the other: only one picture is decoded at a time. */
async function reencoded(
  files: readonly InspectedFile[],
  whose: Whose,
  nameOf: (file: InspectedFile, at: number) => string,
): Promise<InspectedFile[]> {
  const wrong: Record<string, string> = {};
  const safe: InspectedFile[] = [];
  for (const [at, file] of files.entries()) {
    const content = await safeContent(file.type, file.content, whose);
    if (content === undefined) wrong[nameOf(file, at)] = UNDECODABLE;
    else safe.push({ ...file, content });
  }
  if (Object.keys(wrong).length > 0) throw new Refusal('malformed_field', { fields: wrong });
  return safe;
}

/** Programs name the part, or the file in it, as the slot, with or without its ending. */
const slotNamed = (slots: ReadonlySet<string>, name: string): string | undefined =>
  slots.has(name) ? name : [...slots].find((slot) => slot.replace(/\.[a-z]+$/, '') === name);

/** Puts inspected files into the store. Calls outside, so never in a transaction. */
export async function storeFiles(
  blobs: Blobs,
  vault: Vault,
  f: { customerId: string; key: Buffer; files: readonly InspectedFile[] },
): Promise<StoredFile[]> {
  const stored: StoredFile[] = [];
  for (const { slot, type, content, sentDigest } of f.files) {
    const id = newBlobId();
    await blobs.write(id, encryptBytes(f.key, content, contextOf(id)));
    const digest = vault.index(sentDigest, `submission_files:${f.customerId}`);
    stored.push({ id, slot, type, bytes: content.length, digest, sentDigest });
  }
  return stored;
}

/** Writes their rows; an earlier file in the same slot is replaced. Those of identity documents are compared (duplicates.ts). */
export async function recordFiles(
  tx: Tx,
  vault: Vault,
  f: {
    submission: { id: bigint; customerId: string; partnerId: bigint };
    form: Form;
    files: readonly StoredFile[];
    now: Date;
  },
): Promise<void> {
  const { id: submissionId, customerId, partnerId } = f.submission;
  for (const { id, slot, type, bytes, digest } of f.files) {
    await tx.run(sql.replaceFile, [submissionId, slot, f.now]);
    await tx.run(sql.insertFile, [id, partnerId, customerId, submissionId, slot, type, bytes, digest, f.now]);
  }
  const slots = documentSlotsOf(f.form);
  const values = f.files.flatMap(({ slot, sentDigest }) => (slots.has(slot) ? [sentDigest] : []));
  await keepCompared(tx, vault, { customer: { id: customerId, partnerId }, kind: 'file', values, now: f.now });
}

/** The present files of a submission. */
export const filesOf = (tx: Tx, submissionId: bigint): Promise<DocumentRow[]> =>
  tx.rows<DocumentRow>(sql.filesOf, [submissionId]);

/** A request takes far less time than this between storing its files and inserting their rows. */
const SWEPT_AFTER_MS = 3_600_000;
/**
 * For this long after a restore, another restore may bring rows back: from an older archive, or a disk that became readable
 * again.
 */
export const KEPT_AFTER_RESTORE_MS = 30 * 24 * 3_600_000;

/**
 * Deletes files without a row, left by requests that failed. After a restore, the rows of files stored since the backup are
 * missing too, so files older than the restore are kept for a time.
 *
 * @returns the number of deleted files
 */
export async function sweepFiles(db: Database, blobs: Blobs, now: Date): Promise<number> {
  let swept = 0;
  const restore = await db.asSystem((tx) => tx.row<{ at: Date | null }>(sql.newestRestore));
  const restoredAt = restore?.at ?? null;
  const isRecent = restoredAt !== null && now < later(restoredAt, KEPT_AFTER_RESTORE_MS);
  for await (const ids of blobs.olderThan(later(now, -SWEPT_AFTER_MS), isRecent ? restoredAt : undefined)) {
    const known = await db.asSystem((tx) => tx.rows<{ id: string }>(sql.knownFiles, [ids]));
    const named = new Set(known.map(({ id }) => id));
    for (const id of ids.filter((one) => !named.has(one))) {
      await blobs.remove(id);
      swept += 1;
    }
  }
  return swept;
}

/** A file's content, decrypted: for the operator who verifies, never for a log. undefined: this customer has no such file. */
export async function openFile(
  deps: { db: Pick<Database, 'asSystem'>; blobs: Blobs; vault: Vault },
  f: { customerId: string; id: string },
): Promise<{ type: FileType; content: Buffer } | undefined> {
  const { db, blobs, vault } = deps;
  const found = await db.asSystem(async (tx) => ({
    row: await tx.row<DocumentRow>(sql.fileById, [f.id, f.customerId]),
    key: await keyOf(tx, vault, f.customerId),
  }));
  // The file was erased together with the key.
  if (found.row === undefined || found.key === undefined) return undefined;
  const encrypted = await blobs.read(f.id);
  return encrypted && { type: found.row.type, content: decryptBytes(found.key, encrypted, contextOf(f.id)) };
}
