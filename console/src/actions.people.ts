/** Forms about operators, their tokens, and how many people an action takes. */
import type { FormAction } from './actions.ts';

/** Roles, and the roles of each right, as the server has them: a test compares both. */
export const ROLES = ['viewer', 'night', 'support', 'compliance', 'treasury', 'finance', 'admin'] as const;
export const RIGHTS: Readonly<Record<string, readonly string[]>> = {
  read: ROLES,
  personal: ['support', 'compliance', 'finance', 'admin'],
  cases: ['night', 'support', 'compliance', 'treasury', 'finance', 'admin'],
  reviews: ['support', 'compliance', 'finance', 'admin'],
  compliance: ['compliance', 'admin'],
  kill_switch: ['night', 'support', 'compliance', 'treasury', 'finance', 'admin'],
  block: ['night', 'compliance', 'treasury', 'finance', 'admin'],
  resume: ['finance', 'admin'],
  money: ['finance', 'admin'],
  treasury: ['treasury', 'finance', 'admin'],
  partners: ['admin'],
  terms: ['admin'],
  operators: ['admin'],
};
const EACH = { right: 'operators', people: 'second' } as const;
const AT_ONCE = { right: 'operators', people: 'one' } as const;
const ROLE = { name: 'role', label: 'Role', isRequired: true, choices: ROLES } as const;
const HASH = {
  name: 'tokenSha256',
  label: 'SHA-256 of the token',
  hint: 'The person creates the token with npm run operator -- new token, and gives you only this hash',
  isRequired: true,
} as const;

const OPERATOR = '/operators/:operator';
export const OPERATOR_ACTIONS = {
  create: {
    ...{ ...EACH, name: 'operator.create', label: 'Let an operator in', path: '/operators' },
    says: 'Creates an operator with a role and a first token.',
    fields: [
      {
        name: 'operator',
        label: 'Name',
        hint: '2 to 40 lower-case letters, digits, dots, hyphens and underscores',
        isRequired: true,
      },
      ROLE,
      HASH,
    ],
  },
  role: {
    ...{ ...EACH, name: 'operator.role', label: 'Change role', path: `${OPERATOR}/role` },
    says: 'Gives the operator another role.',
    fields: [ROLE],
  },
  token: {
    ...{ ...EACH, name: 'operator.token', label: 'Admit a token', path: `${OPERATOR}/token` },
    says: 'Issues another token to the operator, for example after a lost passkey.',
    fields: [
      { name: 'label', label: 'Name of the token', hint: 'Such as laptop', isRequired: true },
      { name: 'days', label: 'Days', hint: 'For how many days it is valid, 1 to 7', isRequired: true },
      HASH,
    ],
  },
  revoke: {
    ...{ ...AT_ONCE, name: 'operator.revoke-token', label: 'Revoke', path: `${OPERATOR}/revoke-token` },
    says: 'Revokes a token of the operator.',
    isGrave: true,
  },
  endSessions: {
    ...{ ...AT_ONCE, name: 'operator.end-sessions', label: 'End sessions', path: `${OPERATOR}/end-sessions` },
    says: 'Ends all sessions of the operator in the console. Passkeys and tokens stay valid.',
    isGrave: true,
  },
  disable: {
    ...{ ...AT_ONCE, name: 'operator.disable', label: 'Disable', path: `${OPERATOR}/disable` },
    says: 'Disables the operator: logins and tokens are declined.',
    isGrave: true,
  },
  enable: {
    ...{ ...EACH, name: 'operator.enable', label: 'Enable', path: `${OPERATOR}/enable` },
    says: 'Enables the operator again.',
  },
  bind: {
    ...{ ...EACH, name: 'operator.bind', label: 'Bind an account', path: `${OPERATOR}/bind` },
    says: 'Binds a single sign-on account to the operator, who can then sign in with it.',
    fields: [
      {
        name: 'account',
        label: 'Id of the account',
        hint: 'The claim sub of the account’s tokens, as the provider shows it',
      },
      { name: 'email', label: 'Or e-mail address', hint: 'One that the provider has verified' },
    ],
  },
  unbind: {
    ...{ ...AT_ONCE, name: 'operator.unbind', label: 'Unbind', path: `${OPERATOR}/unbind` },
    says: 'Unbinds the account, and ends the sessions that began with it.',
    isGrave: true,
  },
} as const satisfies Record<string, FormAction>;

const ALERT_NAME = {
  name: 'name',
  label: 'Name',
  hint: 'Lower-case letters, digits, dots and hyphens',
  isRequired: true,
} as const;
const AN_ALERT = { right: 'operators', people: 'one' } as const;
export const ALERT_ACTIONS = {
  set: {
    ...{ ...AN_ALERT, name: 'alert.set', label: 'Set a rule', path: '/alerts' },
    says: 'Sets a rule that notifies operators, replacing the rule with the same name. No case is sent twice.',
    fields: [
      ALERT_NAME,
      {
        name: 'channel',
        label: 'Channel',
        hint: 'One of this server: email, slack, pagerduty or webhook',
        isRequired: true,
      },
      {
        name: 'about',
        label: 'Tells of',
        hint: 'Cases that are opened, unclaimed or overdue; or a digest each day',
        isRequired: true,
        choices: ['opened', 'unclaimed', 'overdue', 'digest'],
      },
      {
        ...{ name: 'kinds', label: 'Kinds', empty: 'every kind' },
        hint: 'Separated by commas, such as payout_unknown; all if empty',
      },
      { name: 'asset', label: 'Asset', empty: 'any asset', hint: 'Only cases about this asset, such as inr' },
      {
        ...{ name: 'least', label: 'At least', empty: 'any amount' },
        hint: 'Only cases about at least this amount of the asset',
      },
      { name: 'afterMinutes', label: 'After minutes', empty: '0', hint: 'At once if empty' },
      { name: 'zone', label: 'Time zone', empty: 'UTC', hint: 'Such as Asia/Kolkata; UTC if empty' },
      { name: 'fromHour', label: 'From hour', empty: '0', hint: '0 to 23; for a digest, the hour at which it is sent' },
      { name: 'untilHour', label: 'Until hour', empty: '0', hint: '0 to 23; if both hours are equal, all day' },
    ],
  },
  test: {
    ...{ ...AN_ALERT, name: 'alert.test', label: 'Send a test', path: '/alerts/test' },
    says: 'Sends a test message to a channel.',
  },
  remove: {
    ...{ ...AN_ALERT, name: 'alert.remove', label: 'Remove', path: '/alerts/remove' },
    says: 'Removes the rule. It sends no more alerts.',
    isGrave: true,
  },
} as const satisfies Record<string, FormAction>;

export const CHANNEL_ACTIONS = {
  test: {
    ...{ ...AN_ALERT, name: 'channel.test', label: 'Send a test', path: '/channels/test' },
    says: 'Sends a test message through the channel. No rule is needed.',
  },
  testCode: {
    ...{ ...AN_ALERT, name: 'code-sender.test', label: 'Send a test code', path: '/code-sender/test' },
    says: 'Sends the code 000000 to a phone through the sender of login codes. The code is valid for no login.',
    fields: [
      {
        name: 'phone',
        label: 'Phone',
        hint: 'A phone of yours with its country, such as +919812345678',
        isRequired: true,
      },
    ],
  },
} as const satisfies Record<string, FormAction>;

export const RULE_SET = {
  ...{ name: 'rule.set', label: 'Set a rule', path: '/rules', right: 'operators', people: 'two' },
  says: 'Sets how many operators an action needs. If several rules match, the most specific one applies.',
  fields: [
    {
      name: 'action',
      label: 'Action',
      hint: 'Such as order.release, a family such as order.*, or *',
      isRequired: true,
    },
    {
      name: 'people',
      label: 'People',
      hint: 'none removes the rule',
      isRequired: true,
      choices: ['1', '2', '3', 'none'],
    },
    {
      name: 'roles',
      label: 'Of them with role',
      hint: 'One person each, such as compliance; compliance, compliance takes two. Empty: any role',
    },
    { name: 'right', label: 'With right', hint: 'Only actions of this right', choices: ['*', ...Object.keys(RIGHTS)] },
    { name: 'asset', label: 'Asset', hint: 'Only amounts of this asset, such as inr' },
    { name: 'above', label: 'Above', hint: 'Only above this amount of the asset' },
  ],
} as const satisfies FormAction;
