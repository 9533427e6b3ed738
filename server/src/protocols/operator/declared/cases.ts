/** Cases and operators' work on them; customers and their reviews. */
import { Type } from 'typebox';
import { MAX_CASES } from '../../../compliance/index.ts';
import { FIELD_REASONS, HIGHEST_LEVEL } from '../../../customers/index.ts';
import { CASE_CORRECTIONS } from '../../../orders/index.ts';
import {
  about,
  amount,
  day,
  flag,
  id,
  listOf,
  object,
  oneOf,
  optional,
  orNone,
  text,
  time,
  typed,
  whole,
} from '../../declaration/fields.ts';
import { declareAction, declareRead, limit, PROPOSES } from '../declare.ts';
import { done, maybe, pages, thing } from '../replies.ts';
import { customerId, fiatCode, operatorName } from './forms.ts';

const CASE = ['kind', 'about', 'assignee', 'outcome', 'open'] as const;
const attachment = about(
  text(32, /^[0-9a-f]{32}$/, 'the id of an attachment'),
  'Id of the attachment, as `case` shows it',
  'a'.repeat(32),
);
const ATTACHMENT = {
  id: Type.String({ description: 'Its id' }),
  type: Type.String({ description: 'Content type, detected from the content' }),
  bytes: Type.Integer({ description: 'Length in bytes' }),
  label: Type.String({ description: 'What it shows' }),
  attachedBy: Type.String({ description: 'Operator who attached it' }),
  attachedAt: Type.String({ description: 'When it was attached: ISO 8601 in UTC' }),
  removedAt: maybe(Type.String({ description: 'When it was removed or erased: ISO 8601 in UTC' })),
};
const ATTACHMENTS = {
  attachments: Type.Array(Type.Object(ATTACHMENT), { description: 'Files attached to the case, the oldest first' }),
};
const ROW = [
  ...['id', 'kind', 'subject', 'reason', 'facts', 'assignee', 'outcome'],
  {
    means: Type.String({ description: 'What it means' }),
    remedy: Type.String({ description: 'What to do' }),
    page: Type.String({ description: 'Page of the handbook' }),
  },
  ...['who', 'orderId', 'partnerId', 'openedAt', 'dueAt', 'closedAt'],
];

export const CASES = {
  list: declareRead({
    path: '/cases',
    says: 'Lists cases, the oldest first; only open ones unless `open` is false.',
    fields: {
      open: optional(about(flag, 'Whether the case is open', true)),
      kind: optional(about(text(60), 'Kind of case', 'on_hold')),
      assignee: optional(about(text(40), 'Operator it is assigned to', 'ada')),
      overdue: optional(about(flag, 'Only open ones past their due time', true)),
      ...{ after: optional(id), limit: limit(MAX_CASES) },
    },
    table: {
      list: 'cases',
      columns: [
        ...[
          'id',
          'openedAt',
          'dueAt',
          'closedAt',
          'kind',
          'subject',
          'orderId',
          'partnerId',
          'who',
          'assignee',
          'reason',
        ],
        ...['outcome', 'facts'],
      ],
    },
    refuses: ['unknown_case'],
    gives: pages('cases', ROW),
    command: { words: 'cases', columns: ['id', 'openedAt', 'dueAt', 'kind', 'subject', 'who', 'assignee', 'reason'] },
  }),
  one: declareRead({
    path: '/cases/:case',
    says: 'Shows a case: its meaning, the remedy, its history and its attachments.',
    fields: { case: id },
    refuses: ['unknown_case'],
    gives: thing([...ROW, 'actions', ATTACHMENTS]),
    command: { words: 'case' },
  }),
  handbook: declareRead({
    path: '/handbook',
    says: 'Shows a page of the handbook, such as the one that a case names.',
    fields: {
      page: about(
        text(60, /^(?:runbooks\/|troubles\/)?[a-z0-9-]+\.md$/, 'the name of a page in docs/operating'),
        'Page of the handbook',
        'runbooks/treasury.md',
      ),
    },
    refuses: ['unknown_path'],
    gives: thing([
      { page: Type.String({ description: 'Its name' }) },
      { text: Type.String({ description: 'The page, as Markdown' }) },
    ]),
    command: { words: 'handbook', args: ['page'] },
  }),
  payer: declareAction({
    name: 'case.payer',
    path: '/cases/:case/payer',
    says: 'Shows who paid the deposits that a case is about.',
    right: 'personal',
    people: 'one',
    fields: { case: id },
    refuses: ['unknown_case', 'unknown_deposit'],
    gives: done(['deposits'], ['payers']),
    command: { words: 'case payer' },
  }),
  assign: declareAction({
    name: 'case.assign',
    path: '/cases/:case/assign',
    says: 'Assigns a case to an operator.',
    right: 'cases',
    people: 'one',
    fields: {
      case: id,
      to: about(orNone(operatorName), 'Name of an operator; `none` removes the assignment', 'ada'),
      takeOver: optional(about(flag, 'Assign it although another operator has claimed it', true)),
    },
    refuses: ['unknown_case', 'unknown_operator', 'case_claimed'],
    gives: done(CASE),
    command: { words: 'case assign', args: ['case', 'to'] },
  }),
  note: declareAction({
    name: 'case.note',
    path: '/cases/:case/note',
    says: 'Adds the reason to a case as a note.',
    right: 'cases',
    people: 'one',
    fields: { case: id },
    refuses: ['unknown_case'],
    gives: done(CASE),
    command: { words: 'case note' },
  }),
  attach: declareAction({
    name: 'case.attach',
    path: '/cases/:case/attachments',
    says: 'Attaches a file to an open case: a JPEG, PNG, WEBP, PDF or plain text of at most 5 MiB.',
    right: 'cases',
    people: 'one',
    takesForm: 'The file. Its name is not stored',
    fields: { case: id, label: about(typed(200), 'What the file shows', 'letter of the bank of 31 January') },
    refuses: ['unknown_case', 'too_many_attachments', 'body_too_large', 'too_many_requests'],
    gives: done([...CASE, ATTACHMENTS], [{ attachment: Type.String({ description: 'Id of the attachment' }) }]),
    command: { words: 'case attach', args: ['case', 'label', 'file'], sendsForm: true },
  }),
  attachment: declareAction({
    name: 'case.attachment',
    path: '/cases/:case/attachments/:attachment/open',
    says: 'Returns a file that is attached to a case. The audit records each download.',
    right: 'personal',
    people: 'one',
    fields: { case: id, attachment },
    refuses: ['unknown_attachment'],
    gives: Type.Unsafe<unknown>({
      type: 'string',
      format: 'binary',
      description: 'The file; its SHA-256 is in the header `x-content-sha256`, its file name in `content-disposition`',
    }),
    command: { words: 'case attachment', getsFile: true },
  }),
  detach: declareAction({
    name: 'case.detach',
    path: '/cases/:case/attachments/:attachment/remove',
    says: 'Removes a file from a case. It can never be read again; its entry in the case stays.',
    right: 'reviews',
    people: 'two',
    fields: { case: id, attachment },
    refuses: ['unknown_attachment', 'erasure_refused', ...PROPOSES],
    gives: done([ATTACHMENT]),
    command: { words: 'case detach' },
  }),
  close: declareAction({
    name: 'case.close',
    path: '/cases/:case/close',
    says: 'Closes a case that no other action closes.',
    right: 'cases',
    people: 'one',
    fields: {
      case: id,
      outcome: about(typed(200), 'How it ended, in words', 'the bank explained the charge'),
      leaveInSuspense: optional(about(flag, 'Close it although its money stays in suspense', true)),
    },
    refuses: ['unknown_case', 'case_claimed', 'own_recovery', 'money_in_suspense', 'notice_needed'],
    gives: done(CASE),
    command: { words: 'case close', args: ['case', 'outcome'] },
  }),
  correct: declareAction({
    name: 'entry.correct-case',
    path: '/cases/:case/correct',
    says: 'Closes a case with a correcting entry.',
    right: 'money',
    people: 'two',
    weighs: true,
    fields: {
      case: id,
      as: about(oneOf(CASE_CORRECTIONS), 'Kind of entry; it determines the accounts'),
      ...{ amount, evidence: text(200) },
      deposit: optional(
        about(
          id,
          'With lost_order: the deposit of the order; with undone: the deposit that the returned payout created; with recall: the credit that was partly recalled',
        ),
      ),
      partner: optional(about(id, 'With partner_fees: the partner whose fees the debit paid', '1')),
    },
    refuses: [
      ...([
        'unknown_case',
        'case_claimed',
        'unknown_deposit',
        'unknown_customer',
        'unknown_partner',
        'does_not_fit',
        'malformed_amount',
      ] as const),
      ...PROPOSES,
    ],
    gives: done(['kind', 'subject', 'open', 'asset', 'units', 'reference']),
    command: { words: 'case correct', args: ['case', 'as', 'amount', 'evidence'] },
  }),
};

const REASONS = Object.keys(FIELD_REASONS).filter((code) => code !== 'missing');
const AGAIN = new RegExp(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}:(?:${REASONS.join('|')})$`);
const REVIEW = ['level', 'verification', 'version', 'sameDocument', 'risks'] as const;
const maybeTime = (description: string) => maybe(Type.String({ description: `${description}: ISO 8601 in UTC` }));

const BLOCKED_AT = { blockedAt: maybeTime('When the customer was last blocked') };

export const CUSTOMERS = {
  one: declareRead({
    path: '/customers/:customer',
    says: 'Shows a customer, without anything personal.',
    fields: { customer: text(40) },
    refuses: ['unknown_customer'],
    gives: thing([
      ...['id', 'partnerId', 'kind', 'level', 'verification', 'blocked', 'createdAt', 'updatedAt'],
      {
        previousLevel: Type.Integer({ description: 'Previous level of verification' }),
        failedReason: maybe(Type.String({ description: 'Why verification failed' })),
        country: maybe(Type.String({ description: 'Country, two letters' })),
        countryBy: maybe(
          Type.String({ description: 'Source of the country: phone, document, partner or form; null: it is unknown' }),
        ),
        loggedInAt: maybeTime('When the customer last logged in'),
        documentLapsedAt: maybeTime('Since when an accepted document has been expired and not replaced'),
        clientCustomerId: maybe(Type.String({ description: 'The partner’s own id of the customer' })),
        accounts: Type.Array(
          Type.Object({
            id: Type.String({ description: 'Number of the account in our books' }),
            fiat: Type.String({ description: 'Code of the fiat' }),
            hint: Type.String({ description: 'Last characters of the account number' }),
            holder: maybe(
              Type.String({
                description:
                  'Whether the name of its holder is the customer’s: same, other, or unknown if the customer gave no name. Null: the account names no holder, and is paid under the customer’s name',
              }),
            ),
            holderScore: maybe(
              Type.String({ description: 'How alike both names are, from 0 to 1; from 0.8500 they are the same' }),
            ),
          }),
          { description: 'Accounts of the customer, oldest first, at most two hundred' },
        ),
        erasedAt: maybeTime('When the personal data of the customer was erased'),
        erasure: maybe(
          Type.Object(
            {},
            {
              description: 'The erasure: when it was ordered and done, and when the last backup expires',
              additionalProperties: true,
            },
          ),
        ),
      },
    ]),
    command: { words: 'customer' },
  }),
  personal: declareAction({
    name: 'customer.personal',
    path: '/customers/:customer/personal',
    says: 'Shows the phone, e-mail address, name and accounts of a customer.',
    right: 'personal',
    people: 'one',
    fields: { customer: customerId },
    refuses: ['unknown_customer'],
    gives: done(null, ['personal']),
    command: { words: 'customer personal' },
  }),
  review: declareAction({
    name: 'review.open',
    path: '/customers/:customer/review/open',
    says: 'Shows the data that a customer supplied for verification.',
    right: 'personal',
    people: 'one',
    fields: { customer: customerId },
    refuses: ['unknown_customer'],
    gives: done(REVIEW, ['review']),
    command: { words: 'customer review' },
  }),
  decide: declareAction({
    name: 'review.decide',
    path: '/customers/:customer/review/decide',
    says: 'Decides a review. The reason of a refusal is shown to the partner.',
    right: 'reviews',
    people: 'ruled',
    morePeople:
      'At least two to verify to level 4 or above, if another customer has the same document, while a hit in a sanctions list or a finding of transaction monitoring is open, or if the document shows another name. One for any other outcome.',
    onlyNamed: true,
    fields: {
      customer: customerId,
      version: about(whole(1, 1_000_000), 'Version of the details that were reviewed', 1),
      outcome: about(oneOf(['verified', 'failed', 'refused']), 'Verified, failed (may try again) or refused for good'),
      level: optional(about(whole(1, HIGHEST_LEVEL), 'With verified: the level', 1)),
      again: optional(
        about(
          listOf(text(100, AGAIN, `a field or file and one of ${REASONS.join(', ')}, such as dob:unreadable`), 20),
          'With failed: which details must be submitted again, and why; the partner’s program receives both',
          ['dob:unreadable'],
        ),
      ),
      expires: optional(
        about(
          day,
          'With verified: the last day on which the identity document is valid, as printed on it',
          '2031-01-31',
        ),
      ),
    },
    refuses: ['unknown_customer', ...PROPOSES],
    gives: done(REVIEW),
    command: { words: 'customer decide', args: ['customer', 'version', 'outcome'] },
  }),
  document: declareAction({
    name: 'review.document',
    path: '/customers/:customer/review/document',
    says: 'Shows a file that a customer sent, in base64.',
    right: 'personal',
    people: 'one',
    fields: {
      customer: customerId,
      file: about(
        text(32, /^[0-9a-f]{32}$/, 'the id of a file'),
        'Id of the file, as `customer review` shows it',
        'a'.repeat(32),
      ),
    },
    refuses: ['unknown_customer'],
    gives: done(REVIEW, [
      {
        document: Type.Object(
          {
            type: Type.String({ description: 'Content type, detected from the content' }),
            content: Type.String({ description: 'In base64' }),
          },
          { description: 'The file' },
        ),
      },
    ]),
    command: { words: 'customer document', args: ['customer', 'file'] },
  }),
  requirements: declareAction({
    name: 'requirements.set',
    path: '/requirements',
    says: 'Sets the form that customers of a kind must fill in to be verified, as a new version.',
    right: 'terms',
    people: 'ruled',
    onlyNamed: true,
    refuses: ['unknown_partner', ...PROPOSES],
    fields: {
      kind: about(oneOf(['INDIVIDUAL', 'BUSINESS']), 'Which customers it applies to', 'BUSINESS'),
      form: about(
        object,
        'Fields, groups, documents, and what the owners of a business must hold together (`owners`), as programs receive them; with a partner, `{}` ends its own form',
        {
          identityNumber: { label: 'Number', required: 1, regex: '^[A-Z0-9]{5,20}$' },
        },
      ),
      fiat: optional(about(fiatCode, 'Only with this fiat', 'inr')),
      country: optional(about(text(2, /^[A-Z]{2}$/, 'a country, two capital letters'), 'Only in this country', 'IN')),
      level: optional(about(whole(1, HIGHEST_LEVEL), 'Only for this level', 1)),
      partner: optional(about(id, 'Only for this partner; it then comes before the forms of every partner', '1')),
      needsDocument: optional(about(flag, 'Whether one of its documents is required', false)),
      effectiveAt: optional(about(time, 'When it takes effect; immediately if left out', '2027-01-31T00:00:00Z')),
    },
    gives: done([{ version: Type.Integer({ description: 'Version that applies now; 0: the default' }) }]),
    command: { words: 'requirements set', args: ['kind', 'form'] },
  }),
  detachPhone: declareAction({
    name: 'customer.detach_phone',
    path: '/customers/:customer/detach-phone',
    says: 'Removes a phone number from a customer, because its network has given the number to someone else.',
    right: 'reviews',
    people: 'one',
    fields: {
      customer: customerId,
      evidence: about(
        typed(500, /\S{2}/, 'what was verified, in 3 to 500 characters'),
        'How the new identity was verified, and where the record is',
        'new owner verified, ticket 4711',
      ),
    },
    refuses: ['unknown_customer'],
    gives: done(
      [
        {
          hasPhone: Type.Boolean({ description: 'Whether the customer has a phone number' }),
          evidence: Type.String({ description: 'What was verified' }),
        },
      ],
      [{ detached: Type.Boolean({ description: 'Whether there was a number to remove' }) }],
    ),
    command: { words: 'customer detach-phone', args: ['customer', 'evidence'] },
  }),
  block: declareAction({
    name: 'customer.block',
    path: '/customers/:customer/block',
    says: 'Blocks a customer: no new orders, and payouts and refunds that are not submitted are held.',
    right: 'block',
    people: 'one',
    fields: { customer: customerId },
    refuses: ['unknown_customer'],
    gives: done(['blocked', BLOCKED_AT, 'debts'], ['underWay']),
    command: { words: 'customer block' },
  }),
  unblock: declareAction({
    name: 'customer.unblock',
    path: '/customers/:customer/unblock',
    says: 'Unblocks a customer; the proposal shows what the customer owes.',
    right: 'money',
    people: 'two',
    fields: { customer: customerId },
    refuses: ['unknown_customer', ...PROPOSES],
    gives: done(['blocked', BLOCKED_AT, 'debts']),
    command: { words: 'customer unblock' },
  }),
};
