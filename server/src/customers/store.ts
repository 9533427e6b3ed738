/**
 * Rows of customers: identity (encrypted), verification results, fiat accounts (encrypted), login codes, and submitted
 * details (encrypted).
 */
import type { Tx } from '../base/db.ts';

export const COUNTRY_SOURCES = ['phone', 'document', 'partner', 'form'] as const;
export type CountrySource = (typeof COUNTRY_SOURCES)[number];

export interface CustomerRow {
  id: string;
  partnerId: bigint;
  clientCustomerId: string | null;
  kind: 'INDIVIDUAL' | 'BUSINESS';
  level: number;
  verification: 'none' | 'in_review' | 'verified' | 'failed' | 'refused';
  previousLevel: number;
  failedReason: string | null;
  country: string;
  countryBy: CountrySource | null;
  loggedInAt: Date | null;
  loginEpoch: number;
  documentLapsedAt: Date | null;
  blockedAt: Date | null;
  erasedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

export interface FiatAccountRow {
  id: bigint;
  customerId: string | null;
  senderOf: bigint | null;
  fiat: string;
  hint: string;
  createdAt: Date;
}

export interface LoginSendRow {
  id: bigint;
  customerId: string;
  session: Buffer;
  /** Null: invalidated, because the phone has changed. */
  code: Buffer | null;
  sentAt: Date;
  tries: number;
  usedAt: Date | null;
  failedAt: Date | null;
}

/** Codes sent within a time: by the session, by the link for this customer and in total, and to the customer by kind of link. */
export interface SendCounts {
  sessionSends: bigint;
  sessionNewest: Date | null;
  sessionOldest: Date | null;
  wrong: bigint;
  ownLinkSends: bigint;
  ownLinkNewest: Date | null;
  ownLinkOldest: Date | null;
  namedSends: bigint;
  namedOldest: Date | null;
  openSends: bigint;
  networkSends: bigint;
  openLinkSends: bigint;
  linkSends: bigint;
  linkOldest: Date | null;
}

export interface CustomerDetailsRow {
  details: Buffer;
  version: number;
  outcome: 'in_review' | 'verified' | 'failed' | 'refused' | null;
}

/** What names a customer: typed, and read by a verifier. */
export interface KnownNamesRow {
  details: Buffer;
  revision: number;
  verifiedNames: Buffer | null;
  readNames: Buffer | null;
}

export interface LockedNamesRow extends CustomerDetailsRow {
  readFor: number | null;
  readNames: Buffer | null;
}

/** When a customer's number was last confirmed. */
export interface PhoneConfirmedRow {
  confirmedAt: Date;
  /** The same before the partner was told the customer's id because of the number. */
  confirmedBefore: Date;
  /** The partner was told the id since. */
  isTold: boolean;
  /** The customer has logged in, or given details. */
  isUsed: boolean;
}

/** What a proof of identity is compared with, and its wrong tries. */
export interface ProofRow {
  proofTries: number;
  proofTriedAt: Date | null;
  details: Buffer | null;
  identityIndex: Buffer | null;
}

export interface CheckRow {
  version: number;
  begunWith: string | null;
  polls: number;
  givenAt: Date;
  /** That the submission of these details asks for; null without a submission, or if it names none. */
  level: number | null;
  /** A new document is asked for. */
  isRenewal: boolean;
}

const LOGIN_SEND = 'id, customer_id, session, code, sent_at, tries, used_at, failed_at';
const CUSTOMER = `id, partner_id, client_customer_id, kind, level, verification, previous_level, failed_reason, country,
  country_by, logged_in_at, login_epoch, document_lapsed_at, blocked_at, erased_at, created_at, updated_at`;
const ACCOUNT = 'id, customer_id, sender_of, fiat, hint, created_at';

/** A number that the partner set after it was told the id may be the new holder's own, so it confirms nothing. */
const CONFIRMED_BEFORE = `greatest(logged_in_at, created_at, case when phone_changed_at <= id_told_at then phone_changed_at end)`;

/** Indexes of the document numbers of customer $2, typed and read, with those of $4. */
const OWN_NUMBERS = `array(select identity_index from customer_details where customer_id = $2 and identity_index is not null
  union all select value_index from compared_documents where customer_id = $2 and kind = 'number') || $4::bytea[]`;

export const sql = {
  insert: `insert into customers (id, partner_id, client_customer_id, kind, phone, phone_index, email, created_at, updated_at,
      country, country_by) values ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10)
    on conflict (partner_id, client_customer_id) do nothing returning ${CUSTOMER}`,
  idOfClient: 'select id from customers where partner_id = $1 and client_customer_id = any($2::text[])',
  byPhone: `select ${CUSTOMER} from customers
    where partner_id = $1 and phone_index = any($2::bytea[]) and client_customer_id is null order by created_at, id limit 1`,
  namedByPhone: `select id from customers
    where partner_id = $1 and phone_index = any($2::bytea[]) and client_customer_id is not null and id <> $3 order by created_at, id limit 1`,
  hasPhone: 'select from customers where id = $1 and phone_index = any($2::bytea[])',
  detachPhone: `update customers set phone = null, phone_index = null, logged_in_at = null, login_epoch = login_epoch + 1,
      updated_at = $2 where id = $1 and phone_index is not null`,
  byId: `select ${CUSTOMER} from customers where id = $1`,
  // Both bounds are always set: with an optional condition PostgreSQL would read the whole index.
  page: `select ${CUSTOMER} from customers where partner_id = $1 and created_at >= $2 and (created_at, id) < ($3, $4)
    order by created_at desc, id desc limit $5`,
  pageOfVerification: `select ${CUSTOMER} from customers
    where partner_id = $1 and created_at >= $2 and (created_at, id) < ($3, $4) and verification = $6
    order by created_at desc, id desc limit $5`,
  updateContact: `update customers set phone = coalesce($2, phone), phone_index = coalesce($3, phone_index),
      email = coalesce($4, email), updated_at = $5,
      login_epoch = login_epoch + case when $3::bytea is not null and (phone_index = any($7::bytea[])) is not true then 1 else 0 end,
      phone_changed_at = case when $3::bytea is not null and (phone_index = any($7::bytea[])) is not true then $5 else phone_changed_at end,
      country = case when $6::text is not null and coalesce(country_by, 'phone') = 'phone' then $6 else country end,
      country_by = case when $6::text is not null and coalesce(country_by, 'phone') = 'phone' then $8 else country_by end
    where id = $1`,
  setCountry: `update customers set country = $2, country_by = $3, updated_at = $4
    where id = $1 and (country, country_by) is distinct from ($2, $3)`,
  setDocumentCountry: `update customers set country = $2, country_by = 'document', updated_at = $3
    where id = $1 and coalesce(country_by, 'phone') in ('phone', 'document') and (country, country_by) is distinct from ($2, 'document')`,
  contact: 'select phone, email from customers where id = $1',
  // The previous level is stored only when the level changes, and both are computed from the current row.
  verified: `update customers set verification = $2, level = $3, failed_reason = $4, updated_at = $5,
      previous_level = case when level <> $3 then level else previous_level end
    where id = $1 returning ${CUSTOMER}`,
  insertVerification: `insert into verifications (partner_id, customer_id, verifier, outcome, level, at)
    values ($1, $2, $3, $4, $5, $6)`,
  loggedIn: 'update customers set logged_in_at = $2, updated_at = $2 where id = $1',
  loggedOut: 'update customers set logged_in_at = null, login_epoch = login_epoch + 1, updated_at = $2 where id = $1',
  phoneConfirmed: `select greatest(logged_in_at, phone_changed_at, created_at) as confirmed_at, ${CONFIRMED_BEFORE} as confirmed_before,
      coalesce(id_told_at > ${CONFIRMED_BEFORE}, false) as is_told,
      logged_in_at is not null or exists (select from customer_details d where d.customer_id = customers.id) as is_used
    from customers where id = $1`,
  // The first telling since the number was confirmed: a later one would confirm a number that was set between the two.
  toldByPhone: `update customers set id_told_at = case when id_told_at > ${CONFIRMED_BEFORE} then id_told_at else $2 end
    where id = $1`,
  proof: `select c.proof_tries, c.proof_tried_at, d.details, d.identity_index
    from customers c left join customer_details d on d.customer_id = c.id where c.id = $1`,
  proofTried: 'update customers set proof_tries = $2, proof_tried_at = $3 where id = $1',
  lock: 'select from customers where id = $1 for no key update',
  lockAgainstOrders: 'select from customers where id = $1 for update',
  blockOf: 'select blocked_at from customers where id = $1 for share',
  unblock: 'update customers set blocked_at = null, blocked_for = null, updated_at = $2 where id = $1',
  debtEnded: `update customers set blocked_at = null, blocked_for = null, updated_at = $2 where id = $1 and blocked_for = 'debt'`,
  // Each by itself: with `or` and the order, PostgreSQL may walk all customers by id.
  likeText: `select ${CUSTOMER} from customers where id = any(array(
      select id from customers where id = any($1::text[])
      union (select id from customers where client_customer_id = any($2::text[]) limit 50))) order by id limit 50`,
  // An operator's block, before or since, is independent of the debt. Each block has a time: approvals name it, so that an
  // approval for one block does not apply to the next.
  block: `update customers set blocked_at = greatest($2, blocked_at + interval '1 millisecond'), updated_at = $2,
      blocked_for = case when $3::text is null or blocked_at is null then $3 else blocked_for end where id = $1`,
  insertAccount: `insert into fiat_accounts (id, partner_id, customer_id, fiat, details, details_index, hint, created_at, number_index)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (customer_id, details_index) do nothing returning ${ACCOUNT}`,
  insertSender: `insert into fiat_accounts (id, fiat, details, details_index, hint, created_at, sender_of, number_index)
    values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (sender_of) do nothing`,
  accountOfSender: 'select id from fiat_accounts where sender_of = $1',
  accountByIndex: `select ${ACCOUNT} from fiat_accounts where customer_id = $1 and details_index = any($2::bytea[])`,
  accountsOfNumber: `select partner_id, ${ACCOUNT} from fiat_accounts where number_index = any($1::bytea[]) order by id desc limit 50`,
  ownersOfNumber: `select id as customer_id, blocked_at from customers
    where id in (select customer_id from fiat_accounts where number_index = any($1::bytea[])) order by blocked_at, id for share`,
  // Accounts stored by an older version, which had no such index.
  unnumbered: `select id, partner_id, details from fiat_accounts
    where number_index is null and details <> ''::bytea and id > $1 order by id limit $2`,
  // Does not apply to an account that was erased since it was read.
  setNumber: `update fiat_accounts set number_index = $2 where id = $1 and number_index is null and details <> ''::bytea`,
  accountsOf: `select ${ACCOUNT} from fiat_accounts where customer_id = $1 order by id`,
  accountDetailsOf: `select ${ACCOUNT}, details from fiat_accounts where customer_id = $1 order by id limit 200`,
  // Ids grow with time.
  accountsSince: 'select id, created_at from fiat_accounts where partner_id = $1 and id >= $2 order by id',
  accountById: `select ${ACCOUNT}, details from fiat_accounts where id = $1`,

  forgetLoginSends: 'delete from login_sends where customer_id = $1 and sent_at < $2',
  forgetSendsBefore: `delete from login_sends where sent_at < $1 and sent_at < clock_timestamp() - interval '1 hour'`,
  sendsBefore: 'select count(*)::int as sends from login_sends where sent_at < $1',
  // Wrong tries do not count if the code was entered correctly in the end.
  loginSends: `select count(*) filter (where session = $2) as session_sends,
      max(sent_at) filter (where session = $2) as session_newest, min(sent_at) filter (where session = $2) as session_oldest,
      coalesce(sum(tries) filter (where session = $2 and used_at is null), 0)::int8 as wrong,
      count(*) filter (where link = $3) as own_link_sends, max(sent_at) filter (where link = $3) as own_link_newest,
      min(sent_at) filter (where link = $3) as own_link_oldest,
      count(*) filter (where not is_open) as named_sends, min(sent_at) filter (where not is_open) as named_oldest,
      count(*) filter (where is_open and is_sent) as open_sends,
      count(*) filter (where is_open and is_sent and network = $4) as network_sends,
      count(*) filter (where is_open and is_sent and link = $3) as open_link_sends,
      (select count(*) from login_sends where link = $3 and sent_at > $5) as link_sends,
      (select min(sent_at) from login_sends where link = $3 and sent_at > $5) as link_oldest
    from login_sends where customer_id = $1 and sent_at > $5`,
  insertLoginSend: `insert into login_sends (partner_id, customer_id, session, link, network, is_open, is_sent, code, sent_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning id`,
  loginSend: `select ${LOGIN_SEND} from login_sends where customer_id = $1 and session = $2 order by id desc limit 1`,
  lockLoginSend: `select ${LOGIN_SEND} from login_sends where customer_id = $1 and session = $2
    order by id desc limit 1 for update`,
  wrongTries: `select coalesce(sum(tries), 0)::int8 as wrong from login_sends
    where customer_id = $1 and session = $2 and used_at is null and sent_at > $3`,
  useLoginSend: 'update login_sends set used_at = coalesce(used_at, $2) where id = $1',
  missLoginSend: 'update login_sends set tries = tries + 1 where id = $1',
  failLoginSend: 'update login_sends set failed_at = $2 where id = $1',
  forgetLoginCode: 'update login_sends set code = null where customer_id = $1',

  // Also blocks the customer: it no longer trades, and money that still has to leave waits for an operator.
  contactOf: `select from customers where id = $1
    and num_nonnulls(client_customer_id, phone, phone_index, email, failed_reason) > 0`,
  eraseCustomer: `update customers set client_customer_id = null, phone = null, phone_index = null, email = null, failed_reason = null,
      logged_in_at = null, login_epoch = login_epoch + 1, blocked_at = coalesce(blocked_at, $2), blocked_for = null,
      erased_at = coalesce(erased_at, $2), updated_at = $2 where id = $1`,
  eraseExpiries: 'delete from document_expiries where customer_id = $1',
  eraseDetails: 'delete from customer_details where customer_id = $1',
  eraseSubmissions: `update submissions set answers = '', reasons = '{}', updated_at = $2, details_version = null,
      state = case when state in ('open', 'in_review') then 'failed' else state end
    where customer_id = $1 and (answers <> ''::bytea or reasons <> '{}' or state in ('open', 'in_review') or details_version is not null)`,
  eraseAccounts: `update fiat_accounts set details = '', details_index = uuid_send(gen_random_uuid()), number_index = null, hint = ''
    where (customer_id = $1 or sender_of = any($2::bigint[])) and details <> ''::bytea`,
  eraseInformation: `update information_requests set question = '', answer = case when answer is null then null else ''::bytea end,
      state = case when state = 'open' then 'withdrawn' else state end,
      ended_at = coalesce(ended_at, $2) where customer_id = $1 returning id`,
  eraseCompared: 'delete from compared_documents where customer_id = $1',
  eraseDestinations: 'delete from customer_destinations where customer_id = $1',
  eraseLogins: 'delete from login_sends where customer_id = $1',
  eraseFiles: 'delete from submission_files where customer_id = $1 returning id',
  eraseKey: 'delete from customer_keys where customer_id = $1',
  firstDetails: `insert into customer_details (customer_id, partner_id, details, given_at, identity_index)
      values ($1, $2, $3, $4, $5)
    on conflict (customer_id) do nothing`,
  details: 'select details, version, outcome from customer_details where customer_id = $1',
  detailsVersion: `select version, outcome, exists (select from document_expiries e join submissions s on s.id = e.submission_id
      where e.customer_id = d.customer_id and e.ended_at is null and s.state = 'open') as is_expiring
    from customer_details d where customer_id = $1`,
  lockDetails: 'select details, version, outcome from customer_details where customer_id = $1 for update',
  replaceDetails: `update customer_details
      set details = $2, version = $3, outcome = null, given_at = $4, begun_with = null, polls = 0,
        identity_index = $5, read_names = null, read_for = null
    where customer_id = $1`,
  // The first result counts: neither a late answer "no result yet" nor another result overwrites it.
  detailsFound: `update customer_details set outcome = $3
    where customer_id = $1 and version = $2 and outcome is distinct from $3
      and (outcome is null or outcome = 'in_review')`,
  lockNames: `select details, version, outcome, read_for, read_names from customer_details where customer_id = $1 for update`,
  readNames: `update customer_details set read_names = $3, read_for = $2, names_revision = names_revision + 1
    where customer_id = $1 and version = $2`,
  // A verifier that reads no name leaves what an earlier one read. An operator has compared the typed name with the document.
  acceptNames: `update customer_details set read_names = null, read_for = null, names_revision = names_revision + 1,
      verified_names = case when read_for = $2 then read_names when $3 then null else verified_names end
    where customer_id = $1 and version = $2 and (read_names is not null or ($3 and verified_names is not null))`,
  dropNames: `update customer_details set read_names = null, read_for = null, names_revision = names_revision + 1
    where customer_id = $1 and read_names is not null`,
  knownNames: `select details, version + names_revision as revision, verified_names,
      case when read_for = version then read_names end as read_names
    from customer_details where customer_id = $1`,
  // The first ones of each index are enough: who is among the first of all is among the first of every index that it has.
  sameDocument: `select customer_id, array_agg(distinct kind order by kind) as by from (
      select one.customer_id, 'number' as kind from unnest($2::bytea[]) as own (index) cross join lateral (
        select d.customer_id from customer_details d
          where d.partner_id = $1 and d.identity_index = own.index and d.customer_id <> $3
          order by d.customer_id limit $4) as one
      union all
      select one.customer_id, one.kind from unnest($2::bytea[]) as own (index) cross join lateral (
        select c.customer_id, c.kind from compared_documents c
          where c.partner_id = $1 and c.value_index = own.index and c.customer_id <> $3
          order by c.customer_id limit $4) as one) as found
    group by customer_id order by customer_id limit $4`,
  keepCompared: `insert into compared_documents (partner_id, customer_id, kind, value, value_index, created_at)
    select $1, $2, $3, $4, $5, $6
    where not exists (select from compared_documents where customer_id = $2 and value_index = any($7::bytea[]))`,
  comparedOf: `select kind, value from compared_documents where customer_id = $1 order by kind desc, id desc limit $2`,
  // Blocked ones first. All are locked, so that a block that is under way counts. The customer's own indexes are read here, so that
  // its details need not be decrypted.
  sameOwner: `select c.id as customer_id, c.blocked_at,
      exists (select from fiat_accounts a where a.customer_id = c.id and a.number_index = any($3::bytea[])) as has_account
    from customers c where c.partner_id = $1 and c.id <> $2 and c.id in (
      select customer_id from fiat_accounts
        where number_index = any($3::bytea[]) and number_index is not null and customer_id is not null
      union all
      select customer_id from customer_details where partner_id = $1 and identity_index is not null and identity_index
        = any(${OWN_NUMBERS})
      union all
      select customer_id from compared_documents where partner_id = $1 and kind = 'number' and value_index = any(${OWN_NUMBERS}))
    order by c.blocked_at, c.id limit $5 for share of c`,
  // In one order, so that two who lock several do not wait for each other.
  blocksAmong: `select id as customer_id, blocked_at from customers where id = any($1::text[]) order by id for share`,
  // The level of the submission that these details are of, and whether they replace a document that expires.
  checkUnderWay: `select version, begun_with, polls, given_at,
      (select s.level from submissions s where s.customer_id = d.customer_id and s.details_version = d.version
        order by s.id desc limit 1) as level,
      exists (select from document_expiries e where e.customer_id = d.customer_id and e.asked_at is not null
        and e.ended_at is null) as is_renewal
    from customer_details d
    where customer_id = $1 and (outcome is null or outcome = 'in_review')`,
  detailsAsked: `update customer_details set begun_with = $3, polls = polls + $4 where customer_id = $1 and version = $2`,
} as const;

export const customerById = (tx: Tx, id: string) => tx.row<CustomerRow>(sql.byId, [id]);
export const accountsOf = (tx: Tx, customerId: string) => tx.rows<FiatAccountRow>(sql.accountsOf, [customerId]);
export const accountDetailsOf = (tx: Tx, customerId: string) =>
  tx.rows<FiatAccountRow & { details: Buffer }>(sql.accountDetailsOf, [customerId]);
export const accountById = (tx: Tx, id: bigint) => tx.row<FiatAccountRow & { details: Buffer }>(sql.accountById, [id]);
