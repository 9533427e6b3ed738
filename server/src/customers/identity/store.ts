/** Rows of identity: forms, and submissions with their encrypted answers. */
import type { Tx } from '../../base/db.ts';
import type { Form } from './form.ts';

export interface FormRow {
  id: bigint;
  version: number;
  form: Form;
  needsDocument: boolean;
}

export interface SubmissionRow {
  id: bigint;
  partnerId: bigint;
  customerId: string;
  kind: 'INDIVIDUAL' | 'BUSINESS';
  formId: bigint | null;
  /** The level that a program asked for; null: the one from which the partner's customers may trade. */
  level: number | null;
  state: 'open' | 'in_review' | 'completed' | 'failed';
  answers: Buffer;
  reasons: Record<string, string>;
  detailsVersion: number | null;
  createdAt: Date;
  updatedAt: Date;
}

const SUBMISSION = `id, partner_id, customer_id, kind, form_id, level, state, answers, reasons, details_version, created_at, updated_at`;

const EXPIRY = `customer_id, partner_id, version, expires_on::text as expires_on, items, asked_at, lapsed_at`;

export const sql = {
  // The most specific form in effect, a partner's own first; for one scope the newest. One without a question ends its scope's.
  formFor: `select id, version, form, needs_document from (
      select distinct on (partner_id, fiat, country, level) * from requirement_forms
        where kind = $1 and (fiat is null or fiat = $2) and (country is null or country = $3) and (level is null or level = $4)
          and (partner_id is null or partner_id = $5) and effective_at <= $6
        order by partner_id, fiat, country, level, effective_at desc, version desc) as newest
    where form::jsonb <> '{}'
    order by (partner_id is not null) desc,
      (fiat is not null)::int + (country is not null)::int + (level is not null)::int desc,
      fiat nulls last, country nulls last limit 1`,
  formById: 'select id, version, form, needs_document from requirement_forms where id = $1',
  insertForm: `insert into requirement_forms (kind, fiat, country, level, partner_id, version, form, needs_document, effective_at,
      set_by, set_at)
    select $1::text, $2::text, $3::text, $4::smallint, $5::bigint,
      coalesce(max(version), 0) + 1, $6::json, $7::boolean, $8::timestamptz, $9::text, $10::timestamptz
      from requirement_forms where kind = $1 and fiat is not distinct from $2 and country is not distinct from $3
        and level is not distinct from $4::smallint and partner_id is not distinct from $5::bigint
    returning id, version`,
  submissionById: `select ${SUBMISSION} from submissions where id = $1 and customer_id = $2`,
  newest: `select ${SUBMISSION} from submissions where customer_id = $1 order by id desc limit 1`,
  ofCustomer: `select ${SUBMISSION} from submissions where customer_id = $1 order by id limit $2`,
  page: `select ${SUBMISSION} from submissions where customer_id = $1 and ($2::bigint is null or id < $2)
    order by id desc limit $3`,
  underWay: `select ${SUBMISSION} from submissions where customer_id = $1 and state in ('open', 'in_review')`,
  insert: `insert into submissions (id, partner_id, customer_id, kind, form_id, state, answers, reasons, details_version,
      created_at, updated_at, level) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11) returning ${SUBMISSION}`,
  change: `update submissions set state = $2, answers = $3, reasons = $4, details_version = $5, updated_at = $6, form_id = $7
    where id = $1 returning ${SUBMISSION}`,
  // A result applies to the version that was checked: a submission that was corrected since waits for its own result.
  found: `update submissions set state = $3, reasons = $4, updated_at = $5
    where customer_id = $1 and details_version = $2 and state = 'in_review'`,
  // A customer who was verified another way has nothing left to submit, unless it or its form is for a higher level.
  superseded: `update submissions set state = 'completed', reasons = '{}', updated_at = $3
    where customer_id = $1 and state in ('open', 'in_review')
      and coalesce(level, (select f.level from requirement_forms f where f.id = submissions.form_id), 0) <= $2
      and not exists (select from document_expiries e where e.submission_id = submissions.id and e.ended_at is null)`,
  draft: 'select answers from hosted_drafts where customer_id = $1',
  saveDraft: `insert into hosted_drafts (customer_id, partner_id, answers, saved_at) values ($1, $2, $3, $4)
    on conflict (customer_id) do update set answers = excluded.answers, saved_at = excluded.saved_at`,
  emptyDraft: `update hosted_drafts set answers = '' where customer_id = $1 and answers <> ''`,
  emptyOldDrafts: `update hosted_drafts set answers = '' where saved_at < $1 and answers <> ''`,
  key: 'select wrapped from customer_keys where customer_id = $1',
  insertKey: `insert into customer_keys (customer_id, partner_id, wrapped, created_at) values ($1, $2, $3, $4)
    on conflict (customer_id) do nothing`,
  replaceFile:
    'update submission_files set replaced_at = $3 where submission_id = $1 and slot = $2 and replaced_at is null',
  insertFile: `insert into submission_files (id, partner_id, customer_id, submission_id, slot, type, bytes, digest, created_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
  insertAnswerFile: `insert into submission_files (id, partner_id, customer_id, information_request_id, slot, type, bytes,
      digest, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
  answerFiles: `select id, information_request_id, slot, type, bytes, created_at from submission_files
    where information_request_id = any($1::bigint[]) order by created_at, id`,
  filesOf: `select id, submission_id, slot, type, bytes, created_at from submission_files
    where submission_id = $1 and replaced_at is null order by slot`,
  digestsOf: 'select slot, digest from submission_files where submission_id = $1 and replaced_at is null',
  allFilesOf: `select id, submission_id, slot, type, bytes, created_at from submission_files
    where submission_id = $1 order by created_at, id`,
  fileById:
    'select id, submission_id, slot, type, bytes, created_at from submission_files where id = $1 and customer_id = $2',
  newestRestore: 'select max(restored_at) as at from restores',
  knownFiles: `select id from submission_files where id = any($1::text[])
    union all select id from case_attachments where id = any($1::text[]) and removed_at is null`,
  saveExpiry: `insert into document_expiries (customer_id, partner_id, version, expires_on, items) values ($1, $2, $3, $4, $5)
    on conflict (customer_id, version) do nothing`,
  // Who verified the details has read the document: that day replaces the one that was given with it.
  readExpiry: `insert into document_expiries (customer_id, partner_id, version, expires_on, items) values ($1, $2, $3, $4, $5)
    on conflict (customer_id, version) do update set expires_on = excluded.expires_on`,
  acceptExpiry:
    'update document_expiries set accepted_at = coalesce(accepted_at, $3) where customer_id = $1 and version = $2',
  // Details for another level may have no document: then the earlier one still counts.
  endExpiries: `update document_expiries e set ended_at = $3 where customer_id = $1 and version < $2 and ended_at is null
    and (exists (select from document_expiries newer where newer.customer_id = $1 and newer.version = $2)
      or exists (select from submissions s where s.id = e.submission_id and s.details_version = $2))`,
  // The sandbox control says that the customer is verified, whatever expired before.
  endAllExpiries:
    'update document_expiries set ended_at = $2 where customer_id = $1 and ended_at is null and accepted_at is not null',
  unlapsed: `update customers set document_lapsed_at = null where id = $1 and document_lapsed_at is not null
    and not exists (select from document_expiries e where e.customer_id = $1 and e.lapsed_at is not null and e.ended_at is null)`,
  lapsedCustomer: 'update customers set document_lapsed_at = $2 where id = $1',
  filesOfVersion: `select f.slot from submission_files f join submissions s on s.id = f.submission_id
    where s.customer_id = $1 and s.details_version = $2 and f.replaced_at is null order by f.slot`,
  dueExpiries: `select ${EXPIRY} from document_expiries
    where accepted_at is not null and ended_at is null and expires_on <= $1::date
      and (asked_at is null or (lapsed_at is null and expires_on < $2::date))
      and (document_expiries.expires_on, customer_id, version) > ($3::date, $4, $5)
    order by document_expiries.expires_on, customer_id, version limit $6`,
  openExpiry: `select ${EXPIRY} from document_expiries
    where customer_id = $1 and version = $2 and accepted_at is not null and ended_at is null`,
  openAgain: `update submissions set state = 'open', reasons = $3, updated_at = $4
    where customer_id = $1 and details_version = $2 and state = 'completed' returning id`,
  askedAgain: 'update document_expiries set asked_at = $3, submission_id = $4 where customer_id = $1 and version = $2',
  lapsed: 'update document_expiries set lapsed_at = $3 where customer_id = $1 and version = $2',
  drive: `update submissions set state = $2, reasons = $3, updated_at = $4,
      details_version = case when $2 = 'in_review' then coalesce(details_version, 1) else details_version end where id = $1`,
} as const;

export const newestSubmission = (tx: Tx, customerId: string) => tx.row<SubmissionRow>(sql.newest, [customerId]);
