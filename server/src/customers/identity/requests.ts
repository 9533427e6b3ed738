/**
 * Requests for information: an operator's questions about a customer, beyond the form, with a deadline.
 *
 * The partner is notified by an event `information.requested`, reads the question and answers it (protocols/v1). A request is
 * answered once; an operator withdraws a request that is no longer needed. Question and answer are encrypted, and appear in no
 * event, case or log. Files that belong to an answer are sent while the request is open, and are read with it.
 *
 * Not here: the cases about answered and overdue requests (compliance/information.ts).
 */
import type { Vault } from '../../base/crypto.ts';
import type { Tx } from '../../base/db.ts';
import { assert, Refusal } from '../../base/errors.ts';
import { numericId } from '../../base/ids.ts';
import { enqueueAt } from '../../base/jobs.ts';
import { emit } from '../../events/index.ts';
import { findCustomer, lockCustomer } from '../customers.ts';
import type { StoredFile } from './documents.ts';
import type { FileType } from './inspect.ts';
import { sql as identity, newestSubmission } from './store.ts';

/** The job, due at the deadline of the answer; its subject is the request. */
export const INFORMATION_DUE = 'information_due';
/** Maximum of open requests per customer: more could not be answered with care. */
const MOST_OPEN = 20;
export const MAX_REQUESTS = 100;
/** Maximum of files per request. */
const MOST_FILES = 10;

export interface InformationRequest {
  readonly id: bigint;
  readonly partnerId: bigint;
  readonly customerId: string;
  readonly submissionId: bigint | null;
  readonly state: 'open' | 'answered' | 'withdrawn';
  readonly question: string;
  readonly answer: string | null;
  readonly askedAt: Date;
  readonly dueAt: Date;
  /** When it was answered or withdrawn. */
  readonly endedAt: Date | null;
  readonly files: readonly AnswerFile[];
}

interface AnswerFile {
  readonly id: string;
  /** `file-1`, `file-2` and so on. */
  readonly slot: string;
  readonly type: FileType;
  readonly bytes: number;
  readonly createdAt: Date;
}

interface Row extends Omit<InformationRequest, 'question' | 'answer' | 'files'> {
  question: Buffer;
  answer: Buffer | null;
}

const COLUMNS = 'id, partner_id, customer_id, submission_id, state, question, answer, asked_at, due_at, ended_at';
const SQL = {
  insert: `insert into information_requests (id, partner_id, customer_id, submission_id, state, question, asked_by, asked_at, due_at)
    values ($1, $2, $3, $4, 'open', $5, $6, $7, $8) returning ${COLUMNS}`,
  open: `select count(*)::int as count from information_requests where customer_id = $1 and state = 'open'`,
  ofCustomer: `select ${COLUMNS} from information_requests where customer_id = $1 and ($2::bigint is null or id < $2)
    order by id desc limit $3`,
  openOf: `select ${COLUMNS} from information_requests where partner_id = $1 and state = 'open' order by due_at, id limit $2`,
  openAboutSubmission: `select id from information_requests
    where customer_id = $1 and submission_id = $2 and state = 'open' order by id`,
  byId: `select ${COLUMNS} from information_requests where id = $1`,
  lock: `select ${COLUMNS} from information_requests where id = $1 and customer_id = $2 for update`,
  end: `update information_requests set state = $2, answer = $3, ended_at = $4 where id = $1 returning ${COLUMNS}`,
} as const;

const contextOf = (id: bigint, part: 'question' | 'answer'): string => `information_requests.${part}:${id}`;
/** Empty once the request was erased. */
const textIn = (vault: Vault, value: Buffer, context: string): string =>
  value.length === 0 ? '' : vault.decrypt(value, context);
async function opened(tx: Tx, vault: Vault, rows: readonly Row[]): Promise<InformationRequest[]> {
  const files = await tx.rows<AnswerFile & { informationRequestId: bigint }>(identity.answerFiles, [
    rows.map(({ id }) => id),
  ]);
  return rows.map((row) => ({
    ...row,
    question: textIn(vault, row.question, contextOf(row.id, 'question')),
    answer: row.answer === null ? null : textIn(vault, row.answer, contextOf(row.id, 'answer')),
    files: files
      .filter(({ informationRequestId }) => informationRequestId === row.id)
      .map(({ id, slot, type, bytes, createdAt }) => ({ id, slot, type, bytes, createdAt })),
  }));
}

async function openedOne(tx: Tx, vault: Vault, row: Row | undefined): Promise<InformationRequest> {
  assert(row !== undefined, 'the stored request was not returned');
  const [one] = await opened(tx, vault, [row]);
  assert(one !== undefined, 'the stored request was not opened');
  return one;
}

/**
 * Asks the partner of a customer.
 *
 * @throws Refusal 'unknown_customer'; 'malformed_field' when it was erased, or too many requests about the customer are open
 */
export async function askInformation(
  tx: Tx,
  vault: Vault,
  r: { customerId: string; question: string; dueAt: Date; by: string; now: Date },
): Promise<InformationRequest> {
  // Counted under the customer's lock: two concurrent requests cannot exceed the maximum together.
  await lockCustomer(tx, r.customerId);
  const customer = await findCustomer(tx, r.customerId);
  if (customer.erasedAt !== null) throw new Refusal('malformed_field', { fields: { customer: 'was erased' } });
  const { id: customerId, partnerId } = customer;
  const open = await tx.row<{ count: number }>(SQL.open, [customerId]);
  if ((open?.count ?? 0) >= MOST_OPEN)
    throw new Refusal('malformed_field', { fields: { customer: `has ${MOST_OPEN} open questions, and no more fit` } });
  const id = numericId(r.now);
  const submission = await newestSubmission(tx, customerId);
  const row = await tx.row<Row>(SQL.insert, [
    ...[id, partnerId, customerId, submission?.id ?? null],
    vault.encrypt(r.question, contextOf(id, 'question')),
    ...[r.by, r.now, r.dueAt],
  ]);
  assert(row !== undefined, 'the stored request was not returned');
  enqueueAt(tx, { kind: INFORMATION_DUE, subject: String(id), dueAt: r.dueAt });
  await emit(tx, {
    partnerId,
    type: 'information.requested',
    subject: `customer:${customerId}`,
    body: {
      customerId,
      requestId: String(id),
      submissionId: row.submissionId === null ? null : String(row.submissionId),
      dueAt: r.dueAt.toISOString(),
    },
    at: r.now,
  });
  return await openedOne(tx, vault, row);
}

/**
 * Adds files to an open request; they are in the store already.
 *
 * @throws Refusal 'unknown_information_request'; 'information_request_over' when it has ended; 'malformed_field' beyond the maximum
 */
export async function addInformationFiles(
  tx: Tx,
  vault: Vault,
  r: { customerId: string; id: bigint; files: readonly StoredFile[]; now: Date },
): Promise<InformationRequest> {
  // The lock prevents an answer between the check and the insert.
  await lockCustomer(tx, r.customerId);
  const request = await openRequest(tx, r);
  const before = await openedOne(tx, vault, request);
  if (before.files.length + r.files.length > MOST_FILES)
    throw new Refusal('malformed_field', { fields: { files: `must be at most ${MOST_FILES} for one question` } });
  for (const [at, { id, type, bytes, digest }] of r.files.entries()) {
    const slot = `file-${before.files.length + at + 1}`;
    const of = [id, request.partnerId, r.customerId, request.id, slot];
    await tx.run(identity.insertAnswerFile, [...of, type, bytes, digest, r.now]);
  }
  return await openedOne(tx, vault, request);
}

/** @throws Refusal 'unknown_information_request'; 'information_request_over' when it has ended */
export async function openRequest(tx: Tx, r: { customerId: string; id: bigint }): Promise<Row> {
  const found = await tx.row<Row>(SQL.byId, [r.id]);
  if (found === undefined || found.customerId !== r.customerId) throw new Refusal('unknown_information_request');
  if (found.state !== 'open') throw new Refusal('information_request_over', { state: found.state });
  return found;
}

/**
 * Answers a request, or (without a text) withdraws it.
 *
 * @throws Refusal 'unknown_information_request'; 'information_request_over' when it has ended
 */
export async function endInformation(
  tx: Tx,
  vault: Vault,
  r: { customerId: string; id: bigint; answer: string | null; now: Date },
): Promise<InformationRequest> {
  // Files are added under the customer's lock too, so none is added after the answer.
  await lockCustomer(tx, r.customerId);
  const found = await tx.row<Row>(SQL.lock, [r.id, r.customerId]);
  if (found === undefined) throw new Refusal('unknown_information_request');
  if (found.state !== 'open') throw new Refusal('information_request_over', { state: found.state });
  const answer = r.answer === null ? null : vault.encrypt(r.answer, contextOf(r.id, 'answer'));
  const row = await tx.row<Row>(SQL.end, [r.id, answer === null ? 'withdrawn' : 'answered', answer, r.now]);
  return await openedOne(tx, vault, row);
}

/** A partner's open requests, most urgent first. */
export const openInformation = async (
  tx: Tx,
  vault: Vault,
  input: { partnerId: bigint; limit: number },
): Promise<InformationRequest[]> =>
  await opened(tx, vault, await tx.rows<Row>(SQL.openOf, [input.partnerId, input.limit]));

/** A customer's requests, newest first. @param of.below only requests older than this id */
export const informationOf = async (
  tx: Tx,
  vault: Vault,
  of: { customerId: string; below?: bigint | undefined; limit: number },
): Promise<InformationRequest[]> =>
  await opened(tx, vault, await tx.rows<Row>(SQL.ofCustomer, [of.customerId, of.below ?? null, of.limit]));

/** Ids of the open requests that were asked about a submission, oldest first. */
export const openAboutSubmission = async (tx: Tx, of: { id: bigint; customerId: string }): Promise<bigint[]> =>
  (await tx.rows<{ id: bigint }>(SQL.openAboutSubmission, [of.customerId, of.id])).map(({ id }) => id);

/** The facts of a case about a request: neither the question nor the answer. */
export const informationState = (
  tx: Tx,
  id: bigint,
): Promise<Pick<InformationRequest, 'customerId' | 'partnerId' | 'state' | 'dueAt'> | undefined> =>
  tx.row<Row>(SQL.byId, [id]);
