/** Operators: proposals, rules of how many people an action takes, the audit, and the operators themselves. */
import { Type } from 'typebox';
import {
  MAX_AUDIT,
  MAX_PEOPLE,
  MAX_PROPOSALS,
  MAX_SEALS,
  PROPOSAL_STATES,
  RIGHTS,
  ROLES,
} from '../../../operators/index.ts';
import {
  about,
  amount,
  id,
  listOf,
  oneOf,
  optional,
  orNone,
  text,
  time,
  typed,
  whole,
} from '../../declaration/fields.ts';
import { declareAction, declareRead, limit, PROPOSES } from '../declare.ts';
import { done, many, maybe, pages, rows, thing } from '../replies.ts';
import { operatorName } from './forms.ts';

/** Maximum lifetime of a token made for another person, who uses it to make their own. */
export const DAYS_FOR_OTHERS = 7;
const role = oneOf(ROLES);
/** The roles that a rule may name: a viewer approves nothing. */
const APPROVING = ROLES.filter((one) => one !== 'viewer');
const tokenSha256 = text(
  64,
  /^[0-9a-f]{64}$/,
  'the SHA-256 of a token as 64 lower-case hex digits; the person creates both with: npm run operator -- new token',
);
const SEEN = [
  'role',
  { disabled: Type.Boolean({ description: 'Whether the operator is disabled' }) },
  'disabledAt',
  'tokens',
];
const AUDIT = [
  ...['id', 'at', 'operator', 'role', 'address', 'action', 'subject', 'outcome', 'proposal', 'reason'],
  'via',
  { before: Type.Unknown({ description: 'The subject before the action' }) },
  { after: Type.Unknown({ description: 'The subject after the action' }) },
];

const moment = (description: string) => Type.String({ description: `${description}: ISO 8601 in UTC` });
const PROPOSAL = [
  ...['id', 'action', 'subject'],
  {
    input: Type.Object({}, { description: 'Fields of the action' }),
    seen: Type.Unknown({ description: 'The subject at the time of the proposal' }),
  },
  'reason',
  {
    proposedBy: Type.String({ description: 'Number of its proposer' }),
    proposer: Type.String({ description: 'Name of its proposer' }),
    proposedAt: moment('When it was proposed'),
    expiresAt: moment('When it expires'),
  },
  'state',
  {
    decider: maybe(Type.String({ description: 'Who decided it' })),
    decidedAt: maybe(moment('When it was decided')),
  },
  'people',
  {
    readyAt: maybe(moment('From when its proposer may confirm it')),
    failedWhy: maybe(Type.String({ description: 'Why the action failed' })),
  },
  ...['agreed', 'roles', 'awaits'],
];

export const PROPOSALS = {
  list: declareRead({
    path: '/proposals',
    says: 'Lists proposals: those that wait for approval or for their delay, and the others with their outcome.',
    fields: {
      state: optional(about(oneOf(PROPOSAL_STATES), 'Only proposals in this state')),
      action: optional(about(text(60), 'Only this action', 'order.release')),
      operator: optional(about(text(40), 'Only proposals of this operator', 'ada')),
      ...{ from: optional(time), until: optional(time) },
      ...{ below: optional(id), limit: limit(MAX_PROPOSALS) },
    },
    table: {
      list: 'proposals',
      columns: [
        ...[
          'id',
          'proposedAt',
          'state',
          'action',
          'subject',
          'proposer',
          'people',
          'roles',
          'agreed',
          'awaits',
          'reason',
        ],
        ...['decider', 'decidedAt', 'failedWhy', 'readyAt', 'expiresAt'],
      ],
    },
    gives: pages('proposals', PROPOSAL),
    command: {
      words: 'proposals',
      columns: [
        ...['id', 'state', 'action', 'subject', 'proposer', 'people', 'agreed', 'awaits', 'reason', 'readyAt'],
        'expiresAt',
      ],
    },
  }),
  one: declareRead({
    path: '/proposals/:proposal',
    says: 'Shows a proposal, with its subject at the time of the proposal.',
    fields: { proposal: id },
    refuses: ['unknown_proposal'],
    gives: thing(PROPOSAL),
    command: { words: 'proposal' },
  }),
  subject: declareRead({
    path: '/proposals/:proposal/subject',
    says: 'Compares the subject of a proposal with what it was when the proposal was made. If it has changed, a confirmation does nothing.',
    fields: { proposal: id },
    refuses: ['unknown_proposal'],
    gives: thing([
      ...['proposal', 'subject', 'state'],
      {
        seen: Type.Unknown({ description: 'The subject when it was proposed; null if it did not exist' }),
        now: Type.Unknown({ description: 'The subject now; null if it does not exist, or cannot be read' }),
        changed: Type.Array(Type.String(), { description: 'Names of the fields that differ' }),
        problem: maybe(
          Type.String({ description: 'Why it cannot be compared: a reason of the action, or not_comparable' }),
        ),
      },
    ]),
    command: { words: 'proposal compare' },
  }),
  confirm: {
    method: 'POST',
    path: '/proposals/:proposal/confirm',
    says: 'Approves a proposal of another operator, and executes the action if enough operators have approved. It needs the right of the action, or a role that a rule names for it, and can also be declined for the reasons of the action.',
    right: 'read',
    fields: { proposal: id },
    refuses: [
      ...(['unknown_proposal', 'proposal_over', 'own_proposal', 'agreed_already', 'proposal_waits'] as const),
      ...(['file_needed', 'approver_role'] as const),
    ],
    gives: Type.Object(
      {
        action: Type.String({ description: 'Name of the action' }),
        subject: Type.String({ description: 'Subject of the action' }),
        outcome: Type.Literal('done'),
        after: Type.Unknown({ description: 'The subject now' }),
      },
      { additionalProperties: true, description: 'Reply of the action' },
    ),
    command: { words: 'confirm', getsFile: true },
  },
  decline: {
    method: 'POST',
    path: '/proposals/:proposal/decline',
    says: 'Declines or withdraws a proposal, so that it is not executed. For a proposal of another operator, it needs the right of the action, or a role that the proposal takes.',
    right: 'read',
    fields: { proposal: id },
    refuses: ['unknown_proposal', 'proposal_over'],
    gives: thing(['proposal', { outcome: Type.Literal('declined', { description: 'The action is not executed' }) }]),
    command: { words: 'decline' },
  },
} as const;

export const AUDITED = {
  audit: declareRead({
    path: '/audit',
    says: 'Lists the audit: who did what, newest first.',
    fields: {
      operator: optional(text(40)),
      subject: optional(about(text(160), 'Only lines about this subject', 'order:17')),
      action: optional(about(text(60), 'Only this action', 'order.release')),
      ...{ from: optional(time), until: optional(time) },
      ...{ below: optional(id), limit: limit(MAX_AUDIT) },
    },
    table: {
      list: 'audit',
      columns: [
        ...['id', 'at', 'operator', 'role', 'address', 'action', 'subject', 'outcome', 'proposal', 'reason'],
        ...['via', 'before', 'after'],
      ],
    },
    gives: pages('audit', AUDIT),
    command: { words: 'audit', columns: ['id', 'at', 'operator', 'action', 'subject', 'outcome', 'reason'] },
  }),
  verification: declareRead({
    path: '/audit/verification',
    says: 'Verifies part of the audit against its chain of seals, oldest seals first.',
    fields: {
      after: optional(about(id, 'The seal to continue from: `next` of the previous answer', '100')),
      limit: limit(MAX_SEALS),
    },
    gives: thing([
      { seals: Type.String({ description: 'Number of verified seals' }) },
      { rows: Type.String({ description: 'Number of rows that they cover' }) },
      { unsealed: Type.String({ description: 'With the last seals: number of rows that wait for the next seal' }) },
      {
        newest: maybe(
          Type.Object(
            {
              number: Type.String({ description: 'Number of the seal' }),
              hash: Type.String({ description: 'Hash of the seal, in hex' }),
            },
            { description: 'The last verified seal: keep a copy outside this database' },
          ),
        ),
      },
      {
        problems: many(
          [
            { subject: Type.String({ description: 'The wrong row or seal' }) },
            { why: Type.String({ description: 'What is wrong' }) },
          ],
          'Faults that were found, at most 100',
        ),
      },
      { next: maybe(Type.String({ description: 'The seal to continue from; null at the end' })) },
    ]),
    command: { words: 'audit verify', list: 'problems', columns: ['subject', 'why'] },
  }),
};

export const OPERATORS = {
  self: declareRead({
    path: '/self',
    says: 'Shows who you are, and your tokens.',
    fields: {},
    gives: thing(['name', 'role', 'tokens', 'installation']),
    command: { words: 'self' },
  }),
  selfToken: declareAction({
    name: 'self.token',
    path: '/self/token',
    says: 'Creates a token of your own, and shows it once.',
    right: 'read',
    isFresh: true,
    people: 'one',
    fields: { label: typed(60), days: about(whole(1, 365), 'For how many days it is valid', 90) },
    gives: done(null, [{ token: Type.String({ description: 'The token. It is shown only once' }) }]),
    command: { words: 'self token', args: ['label', 'days'] },
  }),
  selfRevoke: declareAction({
    name: 'self.revoke-token',
    path: '/self/revoke-token',
    says: 'Revokes one of your tokens.',
    right: 'read',
    people: 'one',
    fields: { token: id },
    refuses: ['unknown_token'],
    gives: done(null),
    command: { words: 'self revoke-token', args: ['token'] },
  }),
  list: declareRead({
    path: '/operators',
    says: 'Lists all operators.',
    fields: {},
    gives: rows('operators', ['id', 'name', 'role', 'createdAt', 'disabledAt']),
    command: { words: 'operators', list: 'operators', columns: ['name', 'role', 'createdAt', 'disabledAt'] },
  }),
  one: declareRead({
    path: '/operators/:operator',
    says: 'Shows an operator and its tokens.',
    fields: { operator: text(40) },
    refuses: ['unknown_operator'],
    gives: thing(['id', 'name', 'role', 'createdAt', 'disabledAt', 'tokens']),
    command: { words: 'operator' },
  }),
  create: declareAction({
    name: 'operator.create',
    path: '/operators',
    says: 'Creates an operator, with a token that this person has generated. The token is valid for 7 days.',
    right: 'operators',
    people: 'second',
    morePeople: 'Always one if the role has no right to confirm actions.',
    onlyNamed: true,
    fields: { operator: operatorName, role, tokenSha256 },
    refuses: ['operator_exists', ...PROPOSES],
    gives: done(SEEN),
    command: { words: 'operator create', args: ['operator', 'role', 'tokenSha256'] },
  }),
  role: declareAction({
    name: 'operator.role',
    path: '/operators/:operator/role',
    says: 'Gives an operator another role.',
    right: 'operators',
    people: 'second',
    morePeople: 'Always one if neither role has the right to confirm actions.',
    onlyNamed: true,
    fields: { operator: operatorName, role },
    refuses: ['unknown_operator', ...PROPOSES],
    gives: done(SEEN),
    command: { words: 'operator role', args: ['operator', 'role'] },
  }),
  sessions: declareRead({
    path: '/operators/:operator/sessions',
    says: 'Lists the sessions of an operator in the console.',
    fields: { operator: text(40) },
    refuses: ['unknown_operator'],
    gives: rows('sessions', [
      'id',
      {
        address: Type.String({ description: 'Network address from which it began' }),
        passkey: maybe(Type.String({ description: 'Number of its passkey; null if it began by single sign-on' })),
        since: Type.String({ description: 'When it began: ISO 8601 in UTC' }),
        seen: Type.String({ description: 'When it was last used, to the minute: ISO 8601 in UTC' }),
        expires: Type.String({ description: 'When it ends at the latest: ISO 8601 in UTC' }),
      },
    ]),
    command: { words: 'operator sessions' },
  }),
  endSessions: declareAction({
    name: 'operator.end-sessions',
    path: '/operators/:operator/end-sessions',
    says: 'Ends all console sessions of an operator. Passkeys and tokens stay valid.',
    right: 'operators',
    people: 'one',
    fields: { operator: operatorName },
    refuses: ['unknown_operator'],
    gives: done(SEEN),
    command: { words: 'operator end-sessions' },
  }),
  disable: declareAction({
    name: 'operator.disable',
    path: '/operators/:operator/disable',
    says: 'Disables an operator at once.',
    right: 'operators',
    people: 'one',
    fields: { operator: operatorName },
    refuses: ['unknown_operator'],
    gives: done(SEEN),
    command: { words: 'operator disable' },
  }),
  enable: declareAction({
    name: 'operator.enable',
    path: '/operators/:operator/enable',
    says: 'Enables an operator again.',
    right: 'operators',
    people: 'second',
    onlyNamed: true,
    fields: { operator: operatorName },
    refuses: ['unknown_operator', ...PROPOSES],
    gives: done(SEEN),
    command: { words: 'operator enable' },
  }),
  token: declareAction({
    name: 'operator.token',
    path: '/operators/:operator/token',
    says: 'Adds another token that this person has generated to an operator.',
    right: 'operators',
    people: 'second',
    onlyNamed: true,
    fields: {
      operator: operatorName,
      label: typed(60),
      days: about(whole(1, DAYS_FOR_OTHERS), 'For how many days it is valid', 7),
      tokenSha256,
    },
    refuses: ['unknown_operator', ...PROPOSES],
    gives: done(SEEN),
    command: { words: 'operator token', args: ['operator', 'label', 'days', 'tokenSha256'] },
  }),
  revoke: declareAction({
    name: 'operator.revoke-token',
    path: '/operators/:operator/revoke-token',
    says: 'Revokes a token of an operator.',
    right: 'operators',
    people: 'one',
    fields: { operator: operatorName, token: id },
    refuses: ['unknown_operator', 'unknown_token'],
    gives: done(SEEN),
    command: { words: 'operator revoke-token', args: ['operator', 'token'] },
  }),
};

const RULE = [
  { action: Type.String({ description: 'An action, a family such as order.*, or *' }) },
  {
    right: Type.String({ description: 'Right of the actions to which the rule applies, or *' }),
    asset: Type.String({ description: 'Asset to which the rule applies, or *' }),
    'above?': Type.String({ description: 'Amount above which the rule applies' }),
    'aboveUnits?': Type.String({ description: 'Amount of the asset above which the rule applies' }),
  },
];

const UNMET = {
  unmet: Type.Array(Type.String(), {
    description: 'Roles of it that too few enabled operators have, so that what it decides waits until more have them',
  }),
};

export const RULES = {
  list: declareRead({
    path: '/rules',
    says: 'Lists the rules for how many operators an action needs, and whether the installation has declared that it has one operator.',
    fields: {},
    gives: rows(
      'rules',
      [...RULE, 'people', 'roles', UNMET],
      [
        'installation',
        {
          otherwise: Type.Integer({ description: 'Number of operators if no rule matches' }),
          findings: Type.Array(Type.String(), { description: 'Findings that rules can name, besides actions' }),
        },
      ],
    ),
    command: {
      words: 'rules',
      list: 'rules',
      columns: ['action', 'right', 'asset', 'above', 'aboveUnits', 'people', 'roles', 'unmet'],
    },
  }),
  set: declareAction({
    name: 'rule.set',
    path: '/rules',
    says: 'Sets how many operators are needed for an action, a family of actions (order.*), or every action (*), and which roles must be among them.',
    right: 'operators',
    people: 'two',
    morePeople: 'The stricter of the old and the new rule determines how many.',
    onlyNamed: true,
    fields: {
      action: about(
        text(60, /^(\*|[a-z][a-z-]*\.(\*|[a-z][a-z_-]*))$/, 'an action, a family such as order.*, or *'),
        'The action or finding, its family, or *',
        'order.release',
      ),
      people: about(orNone(whole(1, MAX_PEOPLE)), 'Number of operators; `none` removes the rule', 2),
      right: optional(
        about(oneOf(['*', ...(Object.keys(RIGHTS) as (keyof typeof RIGHTS)[])]), 'Only actions of this right', 'money'),
      ),
      asset: optional(
        about(text(60, /^(\*|[a-z0-9.]+)$/, "an asset's code, or *"), 'Only amounts of this asset', 'eur'),
      ),
      above: optional(about(amount, 'Only above this amount of the asset', '5000')),
      roles: optional(
        about(
          listOf(oneOf(APPROVING), MAX_PEOPLE),
          'Roles that must be among them, one operator each; a role twice takes two. They approve without the right of the action',
          ['compliance'],
        ),
      ),
    },
    refuses: ['malformed_amount', ...PROPOSES],
    gives: done([
      ...RULE,
      { people: maybe(Type.Integer({ description: 'Number of operators; null if there is no such rule' })) },
      'roles',
    ]),
    command: { words: 'rule set', args: ['action', 'people'] },
  }),
};
