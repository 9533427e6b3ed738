/**
 * Rows of customers: who they are (sealed), what was verified about them, their fiat accounts (sealed), the codes they log
 * in with and the details they gave (sealed).
 */
import type { Tx } from '../base/db.ts';

export interface CustomerRow {
  id: string;
  partner_id: bigint;
  client_customer_id: string | null;
  kind: 'INDIVIDUAL' | 'BUSINESS';
  level: number;
  verification: 'none' | 'in_review' | 'verified' | 'failed' | 'refused';
  previous_level: number;
  failed_reason: string | null;
  country: string;
  logged_in_at: Date | null;
  blocked_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

export interface FiatAccountRow {
  id: bigint;
  customer_id: string;
  fiat: string;
  hint: string;
  created_at: Date;
}

export interface LoginCodeRow {
  code: Buffer | null;
  sent_at: Date | null;
  tries: number;
  used_by: Buffer | null;
  window_began: Date;
  sends: number;
  wrong: number;
  locked_until: Date | null;
}

export interface CustomerDetailsRow {
  details: Buffer;
  version: number;
  outcome: 'in_review' | 'verified' | 'failed' | 'refused' | null;
}

const LOGIN_CODE = 'code, sent_at, tries, used_by, window_began, sends, wrong, locked_until';
const CUSTOMER = `id, partner_id, client_customer_id, kind, level, verification, previous_level, failed_reason, country,
  logged_in_at, blocked_at, created_at, updated_at`;
const ACCOUNT = 'id, customer_id, fiat, hint, created_at';

export const sql = {
  insert: `insert into customers (id, partner_id, client_customer_id, kind, phone, phone_index, email, created_at, updated_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $8)
    on conflict (partner_id, client_customer_id) do nothing returning ${CUSTOMER}`,
  idOfClient: 'select id from customers where partner_id = $1 and client_customer_id = $2',
  byPhone: `select ${CUSTOMER} from customers
    where partner_id = $1 and phone_index = $2 and client_customer_id is null order by created_at, id limit 1`,
  byId: `select ${CUSTOMER} from customers where id = $1`,
  updateContact: `update customers set phone = coalesce($2, phone), phone_index = coalesce($3, phone_index),
      email = coalesce($4, email), updated_at = $5 where id = $1`,
  contact: 'select phone, email from customers where id = $1',
  // The level before is kept only where the level changes, and both are reckoned from the row as it is now.
  verified: `update customers set verification = $2, level = $3, failed_reason = $4, updated_at = $5,
      previous_level = case when level <> $3 then level else previous_level end
    where id = $1 returning ${CUSTOMER}`,
  insertVerification: `insert into verifications (partner_id, customer_id, verifier, outcome, level, at)
    values ($1, $2, $3, $4, $5, $6)`,
  loggedIn: 'update customers set logged_in_at = $2, updated_at = $2 where id = $1',
  loggedOut: 'update customers set logged_in_at = null, updated_at = $2 where id = $1',
  unblock: 'update customers set blocked_at = null, updated_at = $2 where id = $1',
  likeText: `select ${CUSTOMER} from customers where id = $1 or client_customer_id = $1 order by id limit 50`,
  block: 'update customers set blocked_at = coalesce(blocked_at, $2), updated_at = $2 where id = $1',
  insertAccount: `insert into fiat_accounts (id, partner_id, customer_id, fiat, details, details_index, hint, created_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (customer_id, details_index) do nothing returning ${ACCOUNT}`,
  accountByIndex: `select ${ACCOUNT} from fiat_accounts where customer_id = $1 and details_index = $2`,
  accountsOf: `select ${ACCOUNT} from fiat_accounts where customer_id = $1 order by id`,
  accountById: `select ${ACCOUNT}, details from fiat_accounts where id = $1`,

  firstLoginCode: `insert into login_codes (customer_id, partner_id, window_began) values ($1, $2, $3)
    on conflict (customer_id) do nothing`,
  loginCode: `select ${LOGIN_CODE} from login_codes where customer_id = $1`,
  lockLoginCode: `select ${LOGIN_CODE} from login_codes where customer_id = $1 for update`,
  issueLoginCode: `update login_codes set code = $2, sent_at = $3, tries = 0, used_by = null, window_began = $4, sends = $5
    where customer_id = $1`,
  forgetLoginCode: 'update login_codes set code = null where customer_id = $1',
  useLoginCode: 'update login_codes set used_by = $2, wrong = 0, locked_until = null where customer_id = $1',
  missLoginCode: 'update login_codes set tries = $2, wrong = $3, locked_until = $4 where customer_id = $1',

  firstDetails: `insert into customer_details (customer_id, partner_id, details, given_at) values ($1, $2, $3, $4)
    on conflict (customer_id) do nothing`,
  details: 'select details, version, outcome from customer_details where customer_id = $1',
  detailsVersion: 'select version, outcome from customer_details where customer_id = $1',
  lockDetails: 'select details, version, outcome from customer_details where customer_id = $1 for update',
  replaceDetails: `update customer_details set details = $2, version = $3, outcome = null, given_at = $4
    where customer_id = $1`,
  // What was found is not undone by an answer that is late to say that nothing is found yet.
  detailsFound: `update customer_details set outcome = $3
    where customer_id = $1 and version = $2 and outcome is distinct from $3
      and ($3 <> 'in_review' or outcome is null)`,
} as const;

export const customerById = (tx: Tx, id: string) => tx.row<CustomerRow>(sql.byId, [id]);
export const accountsOf = (tx: Tx, customerId: string) => tx.rows<FiatAccountRow>(sql.accountsOf, [customerId]);
export const accountById = (tx: Tx, id: bigint) => tx.row<FiatAccountRow & { details: Buffer }>(sql.accountById, [id]);
