/**
 * Parts: every column that the master key has encrypted or indexed, and how its values are encrypted again under another key.
 *
 * Columns of bytes are listed one by one, with the context in which their module encrypts them. Encrypted texts carry their own
 * marks (base/texts.ts, base/typed.ts) and occur in many columns, so they are searched for in all of them (texts.ts).
 *
 * `rewrite` gets a row and returns the new values of `writes`, or undefined when all of them use the new key already, so a row
 * may be visited twice.
 */
import type { Vault } from '../base/crypto.ts';
import { renewedHit, renewedResult } from '../compliance/index.ts';
import {
  comparedContext,
  comparedIndexes,
  detailsIndexes,
  identityIndexes,
  namesContext,
  numberIndexes,
  phoneIndexes,
} from '../customers/index.ts';
import { payerIndexes, textIndexes } from '../rails/bank.ts';

export interface Keys {
  readonly from: Vault;
  readonly to: Vault;
}

export type Row = Readonly<Record<string, unknown>>;

export interface Part {
  readonly name: string;
  readonly table: string;
  /** Columns besides the primary key that `rewrite` reads. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Selects rows: an SQL condition with $1, the time from which all values are written under the new key. */
  readonly where?: string;
  /** A keyed hash of a value that is not stored: a row does not show which key it uses, so it is visited once. */
  readonly isBlind?: boolean;
  rewrite(keys: Keys, row: Row): readonly (Buffer | readonly Buffer[] | null)[] | undefined;
}

/** The text of a value, and whether it is encrypted under the new key already. @throws when neither key decrypts it */
function opened({ from, to }: Keys, value: Buffer, context: string): { text: string; isNew: boolean } {
  try {
    return { text: to.decrypt(value, context), isNew: true };
  } catch {
    return { text: from.decrypt(value, context), isNew: false };
  }
}

/** One encrypted column, with the context that its module gives it. */
const encrypted = (table: string, column: string, reads: readonly string[], contextOf: (row: Row) => string): Part => ({
  name: `${table}.${column}`,
  table,
  reads: [...new Set([...reads, column])],
  writes: [column],
  rewrite(keys, row) {
    const value = row[column] as Buffer | null;
    if (value === null || value.length === 0) return undefined;
    const { text, isNew } = opened(keys, value, contextOf(row));
    return isNew ? undefined : [keys.to.encrypt(text, contextOf(row))];
  },
});

/**
 * A new index for a value that is stored in no other column: a keyed hash of the old index, which only the old key can compute.
 */
const again = ({ to }: Keys, old: Buffer, column: string): Buffer => to.index(old.toString('hex'), `again ${column}`);

export const PARTS: readonly Part[] = [
  {
    name: 'customers.phone',
    table: 'customers',
    reads: ['id', 'partner_id', 'phone', 'phone_index'],
    writes: ['phone', 'phone_index'],
    rewrite(keys, row) {
      if (row.phone === null) return undefined;
      const context = `customers.phone:${row.id}`;
      const { text, isNew } = opened(keys, row.phone as Buffer, context);
      const [index] = phoneIndexes(keys.to, row.partner_id as bigint, text);
      if (isNew && index.equals(row.phone_index as Buffer)) return undefined;
      return [isNew ? (row.phone as Buffer) : keys.to.encrypt(text, context), index];
    },
  },
  encrypted('customers', 'email', ['id'], ({ id }) => `customers.email:${id}`),
  {
    name: 'customer_details.details',
    table: 'customer_details',
    reads: ['customer_id', 'partner_id', 'details', 'identity_index'],
    writes: ['details', 'identity_index'],
    rewrite(keys, row) {
      const context = `customer_details.details:${row.customer_id}`;
      const { text, isNew } = opened(keys, row.details as Buffer, context);
      if (isNew) return undefined;
      const [index = null] = identityIndexes(keys.to, row.partner_id as bigint, JSON.parse(text));
      return [keys.to.encrypt(text, context), index];
    },
  },
  encrypted('customer_details', 'read_names', ['customer_id'], ({ customer_id: id }) => namesContext(String(id))),
  encrypted('customer_details', 'verified_names', ['customer_id'], ({ customer_id: id }) => namesContext(String(id))),
  {
    name: 'fiat_accounts.details',
    table: 'fiat_accounts',
    reads: ['id', 'customer_id', 'partner_id', 'sender_of', 'fiat', 'details', 'details_index', 'number_index'],
    writes: ['details', 'details_index', 'number_index'],
    rewrite(keys, row) {
      const details = row.details as Buffer;
      if (details.length === 0) return undefined;
      const context = `fiat_accounts.details:${row.id}`;
      const { text, isNew } = opened(keys, details, context);
      const owner = (row.customer_id as string | null) ?? `sender of ${row.sender_of}`;
      const given = JSON.parse(text);
      const [index] = detailsIndexes(keys.to, owner, String(row.fiat), given);
      const [number] = numberIndexes(keys.to, row.partner_id as bigint | null, given);
      const kept = row.number_index as Buffer | null;
      const isNumbered = number === undefined || (kept !== null && number.equals(kept));
      if (isNew && isNumbered && index.equals(row.details_index as Buffer)) return undefined;
      return [isNew ? details : keys.to.encrypt(text, context), index, number ?? kept];
    },
  },
  {
    name: 'compared_documents.value',
    table: 'compared_documents',
    reads: ['partner_id', 'customer_id', 'kind', 'value', 'value_index'],
    writes: ['value', 'value_index'],
    rewrite(keys, row) {
      const context = comparedContext(String(row.customer_id));
      const { text, isNew } = opened(keys, row.value as Buffer, context);
      if (isNew) return undefined;
      const kind = row.kind as 'file' | 'number';
      const [index = row.value_index as Buffer] = comparedIndexes(keys.to, row.partner_id as bigint, kind, text);
      return [keys.to.encrypt(text, context), index];
    },
  },
  encrypted('submissions', 'answers', ['id'], ({ id }) => `submissions.answers:${id}`),
  encrypted('hosted_drafts', 'answers', ['customer_id'], (row) => `hosted_drafts.answers:${row.customer_id}`),
  encrypted('customer_keys', 'wrapped', ['customer_id'], ({ customer_id: id }) => `customer_keys.wrapped:${id}`),
  encrypted('case_attachments', 'wrapped', ['id'], ({ id }) => `case_attachments.wrapped:${id}`),
  encrypted('api_keys', 'secret', ['key'], ({ key }) => `api_keys.secret:${key}`),
  encrypted('api_keys', 'next_secret', ['key'], ({ key }) => `api_keys.secret:${key}`),
  encrypted('webhook_endpoints', 'secret', ['id'], ({ id }) => `webhook_endpoints.secret:${id}`),
  encrypted('webhook_endpoints', 'old_secret', ['id'], ({ id }) => `webhook_endpoints.secret:${id}`),
  encrypted(
    'webhook_attempts',
    'answer',
    ['endpoint_id', 'event_id'],
    (row) => `webhook_attempts.answer:${row.endpoint_id}:${row.event_id}`,
  ),
  {
    name: 'bank_lines.details',
    table: 'bank_lines',
    reads: ['rail', 'external_id', 'details', 'payer_index', 'payer_partner_id', 'text_index'],
    writes: ['details', 'payer_index', 'text_index'],
    rewrite(keys, row) {
      const details = row.details as Buffer | null;
      if (details === null || details.length === 0) return undefined;
      const context = `bank_lines.details:${row.rail}:${row.external_id}`;
      const { text, isNew } = opened(keys, details, context);
      const free = JSON.parse(text) as { account?: string; text?: string };
      // Null: not indexed yet. Empty: there is nothing to index.
      const renewed = (kept: Buffer | null, indexes: () => Buffer[]) =>
        kept === null || kept.length === 0 ? kept : (indexes()[0] ?? kept);
      const payer = row.payer_index as Buffer | null;
      const partnerId = row.payer_partner_id as bigint | null;
      const payerIndex = renewed(payer, () => payerIndexes(keys.to, partnerId, free.account ?? ''));
      const said = row.text_index as Buffer | null;
      const textIndex = renewed(said, () => textIndexes(keys.to, free.text));
      const isSame = (one: Buffer | null, other: Buffer | null) =>
        one === other || (one && other?.equals(one)) === true;
      if (isNew && isSame(payerIndex, payer) && isSame(textIndex, said)) return undefined;
      return [isNew ? details : keys.to.encrypt(text, context), payerIndex, textIndex];
    },
  },
  encrypted(
    'bank_odd_lines',
    'details',
    ['rail', 'external_id'],
    (row) => `bank_odd_lines.details:${row.rail}:${row.external_id}`,
  ),
  encrypted('manual_batches', 'content', ['rail', 'id'], (row) => `manual_batches.content:${row.rail}:${row.id}`),
  encrypted('manual_payouts', 'details', ['rail', 'key'], (row) => `manual_payouts.details:${row.rail}:${row.key}`),
  encrypted(
    'manual_lines',
    'content',
    ['rail', 'external_id'],
    (row) => `manual_lines.content:${row.rail}:${row.external_id}`,
  ),
  encrypted('information_requests', 'question', ['id'], ({ id }) => `information_requests.question:${id}`),
  encrypted('information_requests', 'answer', ['id'], ({ id }) => `information_requests.answer:${id}`),
  encrypted(
    'travel_wallets',
    'details',
    ['customer_id', 'rail', 'address'],
    (row) => `travel_wallets.details:${row.customer_id}:${row.rail}:${row.address}`,
  ),
  encrypted(
    'travel_records',
    'ivms',
    ['order_id', 'direction', 'address'],
    (row) => `travel_records.ivms:${row.order_id}:${row.direction}:${row.address}`,
  ),
  encrypted(
    'travel_exchanges',
    'message',
    ['order_id', 'direction', 'request_id'],
    (row) => `travel_exchanges.message:${row.order_id}:${row.direction}:${row.request_id}`,
  ),
  encrypted(
    'travel_exchanges',
    'peer',
    ['order_id', 'request_id'],
    (row) => `travel_exchanges.peer:${row.order_id}:${row.request_id}`,
  ),
  encrypted(
    'travel_exchanges',
    'reason',
    ['order_id', 'request_id'],
    (row) => `travel_exchanges.reason:${row.order_id}:${row.request_id}`,
  ),
  {
    name: 'name_screenings.inputs',
    table: 'name_screenings',
    reads: ['subject', 'owner', 'inputs', 'inputs_digest'],
    writes: ['inputs', 'inputs_digest'],
    rewrite: (keys, row) =>
      renewedResult(keys, {
        ...{ subject: String(row.subject), owner: String(row.owner) },
        ...{ inputs: row.inputs as Buffer | null, inputsDigest: row.inputs_digest as Buffer },
      }),
  },
  {
    name: 'sanctions_hits.explanation',
    table: 'sanctions_hits',
    reads: ['owner', 'explanation', 'inputs_digest', 'name_digest'],
    writes: ['explanation', 'inputs_digest', 'name_digest'],
    rewrite: (keys, row) =>
      renewedHit(keys, {
        ...{ owner: String(row.owner), explanation: row.explanation as Buffer },
        ...{ inputsDigest: row.inputs_digest as Buffer, nameDigest: row.name_digest as Buffer },
      }),
  },
  {
    name: 'submission_files.digest',
    table: 'submission_files',
    reads: ['digest'],
    writes: ['digest'],
    where: 'created_at < $1',
    isBlind: true,
    rewrite: (keys, { digest }) => [again(keys, digest as Buffer, 'submission_files.digest')],
  },
  {
    // The reference is in no other column. After the exchange an operator has to match a reversal of an earlier line.
    name: 'manual_lines.relation',
    table: 'manual_lines',
    reads: ['relation'],
    writes: ['relation'],
    where: `relation is not null and statement_id in (select s.id from manual_statements s
      join manual_imports i on i.id = s.import_id where i.imported_at < $1)`,
    isBlind: true,
    rewrite: (keys, { relation }) => [again(keys, relation as Buffer, 'manual_lines.relation')],
  },
  {
    name: 'checkouts.phones_named',
    table: 'checkouts',
    reads: ['phones_named'],
    writes: ['phones_named'],
    where: `begun_at < $1 and phones_named <> '{}'`,
    isBlind: true,
    rewrite: (keys, { phones_named: named }) => [
      (named as Buffer[]).map((one) => again(keys, one, 'checkouts.phones_named')),
    ],
  },
];

/**
 * Byte columns that the master key does not affect, or that `rotate.ts` handles separately. A test checks that every byte
 * column is listed here or above.
 */
export const OTHER_BYTES: Readonly<Record<string, string>> = {
  'denied_destinations.index': 'the values are in no column: a list is loaded again, a sanctions list by itself',
  'login_sends.session': 'forgotten after an hour, at the exchange',
  'login_sends.link': 'forgotten after an hour, at the exchange',
  'login_sends.network': 'forgotten after an hour, at the exchange',
  'login_sends.code': 'forgotten after an hour, at the exchange',
  'address_risks.digest': 'a hash without a key',
  'audit_reencrypted.content': 'a hash without a key',
  'audit_reencrypted.proof': 'made again with the audit',
  'audit_seals.hash': 'a hash without a key',
  'audit_seals.previous': 'a hash without a key',
  'bank_odd_lines.content': 'a hash without a key',
  'chain_sends.body': 'public on the chain',
  'chain_sends.data': 'public on the chain',
  'chain_sends.raw': 'public on the chain',
  'partner_branding.logo': 'public: customers see it',
  'entries.content': 'a hash without a key',
  'found_movements.data': 'public on the chain',
  'idempotency_records.body': 'a hash without a key',
  'idempotency_records.key': 'a hash without a key',
  'manual_batches.sha256': 'a hash without a key',
  'manual_imports.sha256': 'a hash without a key',
  'manual_statements.identity': 'a hash without a key',
  'member_challenges.hash': 'a hash without a key',
  'member_codes.hash': 'a hash without a key',
  'member_passkeys.credential_id': 'public',
  'member_passkeys.public_key': 'public',
  'member_sessions.hash': 'a hash without a key',
  'operator_challenges.hash': 'a hash without a key',
  'operator_codes.hash': 'a hash without a key',
  'operator_passkeys.credential_id': 'public',
  'operator_passkeys.public_key': 'public',
  'operator_sessions.hash': 'a hash without a key',
  'operator_sso_logins.hash': 'a hash without a key',
  'operator_tokens.hash': 'a hash without a key',
  'reconciliation_reports.public_key': 'public: whoever verifies a report of that day needs the key of then',
  'reconciliation_reports.signature': 'made with the key of then, and verified with it',
  'sanctions_entries.digest': 'a hash without a key',
  'sanctions_shrunken.sha256': 'a hash without a key',
  'sanctions_versions.sha256': 'a hash without a key',
  'sealed_audit.content': 'a hash without a key',
  'travel_exchanges.digest': 'a hash without a key',
  'travel_exchanges.token': 'a hash without a key',
  'seals.hash': 'a hash without a key',
  'seals.previous': 'a hash without a key',
};
