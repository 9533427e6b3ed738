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
import { about, amount, id, oneOf, optional, orNone, text, time, typed, whole } from '../../declaration/fields.ts';
import { act, limit, look, PROPOSES } from '../declare.ts';
import { done, many, maybe, pages, rows, thing } from '../replies.ts';
import { operatorName } from './forms.ts';

/** Maximum lifetime of a token made for another person, who uses it to make their own. */
export const DAYS_FOR_OTHERS = 7;
const role = oneOf(ROLES);
const tokenSha256 = text(
  64,
  /^[0-9a-f]{64}$/,
  'the SHA-256 of a token as 64 small hexadecimal digits; its person makes both with: npm run operator -- new token',
);
const SEEN = [
  'role',
  { disabled: Type.Boolean({ description: 'Whether the operator is out' }) },
  'disabledAt',
  'tokens',
];
const AUDIT = [
  ...['id', 'at', 'operator', 'role', 'address', 'action', 'subject', 'outcome', 'proposal', 'reason'],
  'via',
  { before: Type.Unknown({ description: 'The subject before the action' }) },
  { after: Type.Unknown({ description: 'The same, after' }) },
];

const moment = (description: string) => Type.String({ description: `${description}: ISO 8601 in UTC` });
const PROPOSAL = [
  ...['id', 'action', 'subject'],
  {
    input: Type.Object({}, { description: 'What was asked' }),
    seen: Type.Unknown({ description: 'The subject, as it was when proposed' }),
  },
  'reason',
  {
    proposed_by: Type.String({ description: 'Number of its proposer' }),
    proposer: Type.String({ description: 'Name of its proposer' }),
    proposed_at: moment('When it was proposed'),
    expires_at: moment('Until when it waits'),
  },
  'state',
  {
    decider: maybe(Type.String({ description: 'Who decided it' })),
    decided_at: maybe(moment('When it was decided')),
  },
  'people',
  {
    ready_at: maybe(moment('From when on its proposer may confirm it')),
    failed_why: maybe(Type.String({ description: 'Why it could not be done' })),
  },
  'agreed',
];

export const PROPOSALS = {
  list: look({
    path: '/proposals',
    says: 'Lists proposed actions: those that wait for approval or for their delay, and the outcome of the others.',
    fields: {
      state: optional(about(oneOf(PROPOSAL_STATES), 'Only proposals in this state')),
      action: optional(about(text(60), 'Only this action', 'order.release')),
      operator: optional(about(text(40), 'Only what this operator proposed', 'ada')),
      ...{ from: optional(time), until: optional(time) },
      ...{ below: optional(id), limit: limit(MAX_PROPOSALS) },
    },
    table: {
      list: 'proposals',
      columns: [
        ...['id', 'proposed_at', 'state', 'action', 'subject', 'proposer', 'people', 'agreed', 'reason'],
        ...['decider', 'decided_at', 'failed_why', 'ready_at', 'expires_at'],
      ],
    },
    gives: pages('proposals', PROPOSAL),
    command: {
      words: 'proposals',
      columns: ['id', 'state', 'action', 'subject', 'proposer', 'people', 'agreed', 'reason', 'ready_at', 'expires_at'],
    },
  }),
  one: look({
    path: '/proposals/:proposal',
    says: 'Shows a proposal, with its subject as it was when proposed.',
    fields: { proposal: id },
    refuses: ['unknown_proposal'],
    gives: thing(PROPOSAL),
    command: { words: 'proposal' },
  }),
  confirm: {
    method: 'POST',
    path: '/proposals/:proposal/confirm',
    says: 'Agrees to what another operator proposed, and does it where enough have agreed. Needs the right of the action, and declines for its reasons, too.',
    right: 'read',
    fields: { proposal: id },
    refuses: [
      ...(['unknown_proposal', 'proposal_over', 'own_proposal', 'agreed_already', 'proposal_waits'] as const),
      ...(['file_needed'] as const),
    ],
    gives: Type.Object(
      {
        action: Type.String({ description: 'Name of the action' }),
        subject: Type.String({ description: 'What it is about' }),
        outcome: Type.Literal('done'),
        after: Type.Unknown({ description: 'The subject now' }),
      },
      { additionalProperties: true, description: 'What the action answers' },
    ),
    command: { words: 'confirm', getsFile: true },
  },
  decline: {
    method: 'POST',
    path: '/proposals/:proposal/decline',
    says: 'Ends a proposal: it is not done. Of a proposal of another operator, needs the right of the action.',
    right: 'read',
    fields: { proposal: id },
    refuses: ['unknown_proposal', 'proposal_over'],
    gives: thing(['proposal', { outcome: Type.Literal('declined', { description: 'It is not done' }) }]),
    command: { words: 'decline' },
  },
} as const;

export const AUDITED = {
  audit: look({
    path: '/audit',
    says: 'Lists who did what, the newest first.',
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
  verification: look({
    path: '/audit/verification',
    says: 'Verifies the audit against its chain of seals, the oldest first, some seals at a time.',
    fields: {
      after: optional(about(id, 'The seal to continue from: `next` of the previous answer', '100')),
      limit: limit(MAX_SEALS),
    },
    gives: thing([
      { seals: Type.String({ description: 'How many seals were verified' }) },
      { rows: Type.String({ description: 'How many rows they cover' }) },
      { unsealed: Type.String({ description: 'With the last seals: how many rows wait for the next one' }) },
      {
        newest: maybe(
          Type.Object(
            {
              number: Type.String({ description: 'Its number' }),
              hash: Type.String({ description: 'Its hash, in hex' }),
            },
            { description: 'The last seal that was verified: keep it where this database is not' },
          ),
        ),
      },
      {
        problems: many(
          [
            { subject: Type.String({ description: 'Row or seal that is wrong' }) },
            { why: Type.String({ description: 'What is wrong' }) },
          ],
          'What does not fit, at most 100',
        ),
      },
      { next: maybe(Type.String({ description: 'The seal to continue from; null at the end' })) },
    ]),
    command: { words: 'audit verify', list: 'problems', columns: ['subject', 'why'] },
  }),
};

export const OPERATORS = {
  self: look({
    path: '/self',
    says: 'Shows who you are, and your tokens.',
    fields: {},
    gives: thing(['name', 'role', 'tokens', 'installation']),
    command: { words: 'self' },
  }),
  selfToken: act({
    name: 'self.token',
    path: '/self/token',
    says: 'Makes a token of your own; it is shown once.',
    right: 'read',
    isFresh: true,
    people: 'one',
    fields: { label: typed(60), days: about(whole(1, 365), 'For how many days it works', 90) },
    gives: done(null, [{ token: Type.String({ description: 'The token: shown once' }) }]),
    command: { words: 'self token', args: ['label', 'days'] },
  }),
  selfRevoke: act({
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
  list: look({
    path: '/operators',
    says: 'Lists all operators.',
    fields: {},
    gives: rows('operators', ['id', 'name', 'role', 'createdAt', 'disabledAt']),
    command: { words: 'operators', list: 'operators', columns: ['name', 'role', 'createdAt', 'disabledAt'] },
  }),
  one: look({
    path: '/operators/:operator',
    says: 'Shows an operator and its tokens.',
    fields: { operator: text(40) },
    refuses: ['unknown_operator'],
    gives: thing(['id', 'name', 'role', 'createdAt', 'disabledAt', 'tokens']),
    command: { words: 'operator' },
  }),
  create: act({
    name: 'operator.create',
    path: '/operators',
    says: 'Lets an operator in, with a token that this person made; it works for 7 days.',
    right: 'operators',
    people: 'second',
    morePeople: 'Always one where the role may not confirm.',
    onlyNamed: true,
    fields: { operator: operatorName, role, tokenSha256 },
    refuses: ['operator_exists', ...PROPOSES],
    gives: done(SEEN),
    command: { words: 'operator create', args: ['operator', 'role', 'tokenSha256'] },
  }),
  role: act({
    name: 'operator.role',
    path: '/operators/:operator/role',
    says: 'Gives an operator another role.',
    right: 'operators',
    people: 'second',
    morePeople: 'Always one where neither role may confirm.',
    onlyNamed: true,
    fields: { operator: operatorName, role },
    refuses: ['unknown_operator', ...PROPOSES],
    gives: done(SEEN),
    command: { words: 'operator role', args: ['operator', 'role'] },
  }),
  sessions: look({
    path: '/operators/:operator/sessions',
    says: 'Lists the sessions of an operator in the console.',
    fields: { operator: text(40) },
    refuses: ['unknown_operator'],
    gives: rows('sessions', [
      'id',
      {
        address: Type.String({ description: 'Network address that it began at' }),
        passkey: maybe(Type.String({ description: 'Number of its passkey; null by single sign-on' })),
        since: Type.String({ description: 'When it began: ISO 8601 in UTC' }),
        seen: Type.String({ description: 'When it was last used, to the minute: ISO 8601 in UTC' }),
        expires: Type.String({ description: 'When it ends at the latest: ISO 8601 in UTC' }),
      },
    ]),
    command: { words: 'operator sessions' },
  }),
  endSessions: act({
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
  disable: act({
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
  enable: act({
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
  token: act({
    name: 'operator.token',
    path: '/operators/:operator/token',
    says: 'Lets an operator in with another token that this person made.',
    right: 'operators',
    people: 'second',
    onlyNamed: true,
    fields: {
      operator: operatorName,
      label: typed(60),
      days: about(whole(1, DAYS_FOR_OTHERS), 'For how many days it works', 7),
      tokenSha256,
    },
    refuses: ['unknown_operator', ...PROPOSES],
    gives: done(SEEN),
    command: { words: 'operator token', args: ['operator', 'label', 'days', 'tokenSha256'] },
  }),
  revoke: act({
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
    right: Type.String({ description: 'Right of the actions that it is for, or *' }),
    asset: Type.String({ description: 'Asset that it is for, or *' }),
    'above?': Type.String({ description: 'Amount above which it holds' }),
    'aboveUnits?': Type.String({ description: 'Amount of the asset above which it holds' }),
  },
];

export const RULES = {
  list: look({
    path: '/rules',
    says: 'Lists how many people each action takes, and whether one operator is declared.',
    fields: {},
    gives: rows(
      'rules',
      [...RULE, 'people'],
      [
        'installation',
        {
          otherwise: Type.Integer({ description: 'Number of people if no rule matches' }),
          findings: Type.Array(Type.String(), { description: 'What rules can name, besides actions' }),
        },
      ],
    ),
    command: { words: 'rules', list: 'rules', columns: ['action', 'right', 'asset', 'above', 'aboveUnits', 'people'] },
  }),
  set: act({
    name: 'rule.set',
    path: '/rules',
    says: 'Sets how many people an action takes, a family of actions (order.*), or every action (*).',
    right: 'operators',
    people: 'two',
    morePeople: 'As many as the stricter of the old and the new rule says.',
    onlyNamed: true,
    fields: {
      action: about(
        text(60, /^(\*|[a-z][a-z-]*\.(\*|[a-z][a-z_-]*))$/, 'an action, a family such as order.*, or *'),
        'The action or finding, its family, or *',
        'order.release',
      ),
      people: about(orNone(whole(1, MAX_PEOPLE)), 'How many; none takes the rule away', 2),
      right: optional(
        about(oneOf(['*', ...(Object.keys(RIGHTS) as (keyof typeof RIGHTS)[])]), 'Only actions of this right', 'money'),
      ),
      asset: optional(
        about(text(60, /^(\*|[a-z0-9.]+)$/, "an asset's code, or *"), 'Only amounts of this asset', 'eur'),
      ),
      above: optional(about(amount, 'Only above this amount of the asset', '5000')),
    },
    refuses: ['malformed_amount', ...PROPOSES],
    gives: done([
      ...RULE,
      { people: maybe(Type.Integer({ description: 'Number of people; null if there is no such rule' })) },
    ]),
    command: { words: 'rule set', args: ['action', 'people'] },
  }),
};
