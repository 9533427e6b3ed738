/** Single sign-on of operators: logins at the provider, and the accounts there that are bound to operators. */
import { Type } from 'typebox';
import { about, type Field, flag, id, object, optional, text } from '../../declaration/fields.ts';
import { type Declared, declareAction, declareRead, PROPOSES } from '../declare.ts';
import { done, maybe, rows, thing } from '../replies.ts';
import { operatorName } from './forms.ts';
import { options, SESSION, written } from './session.ts';

const address = text(254, /^[^\s@]+@[^\s@]+$/, 'an e-mail address');
/** In lower case, which is how the address in an ID token is compared. */
const email: Field<string> = {
  ...address,
  typed: 'looked up',
  read: (given) => address.read(given)?.toLowerCase(),
};
const account: Field<string> = {
  ...text(255, /^[\x21-\x7e]+$/, 'the id of an account, of at most 255 characters without spaces'),
  typed: 'looked up',
};
const IDENTITIES = [
  { id: Type.String({ description: 'Number of the bound account' }) },
  {
    issuer: Type.String({ description: 'The provider' }),
    kind: Type.Union([Type.Literal('subject'), Type.Literal('email')], {
      description: 'How the account is identified: by its id at the provider, or by a verified e-mail address',
    }),
    value: Type.String({ description: 'The id or the e-mail address' }),
  },
  'createdAt',
];
const SEEN = [
  'role',
  { disabled: Type.Boolean({ description: 'Whether the operator is disabled' }) },
  {
    identities: Type.Array(Type.Object({}, { additionalProperties: true }), {
      description: 'Accounts bound to the operator',
    }),
  },
];

export const SSO = {
  provider: written({
    method: 'GET',
    path: '/session/sso',
    says: 'Shows whether operators can sign in by single sign-on.',
    fields: {},
    gives: thing([
      { provider: maybe(Type.String({ description: 'Name of the provider; null if there is none' })) },
      { stepUp: Type.Boolean({ description: 'Whether a login at the provider counts as a recent login' }) },
    ]),
    isOpen: true,
  }),
  begin: written({
    method: 'POST',
    path: '/session/sso',
    says: 'Begins a login at the provider, returns the address to open there, and sets a cookie. The login can be completed once, within ten minutes, in the same browser.',
    fields: {
      again: optional(
        about(
          flag,
          'Whether the provider must ask for the login again, even if it still has a session of the person',
          true,
        ),
      ),
    },
    refuses: ['sso_off', 'sso_unavailable', 'too_many_requests'],
    gives: thing([{ url: Type.String({ description: 'Address at the provider' }) }]),
    isOpen: true,
  }),
  finish: written({
    method: 'POST',
    path: '/session/sso/answer',
    says: 'Completes a login at the provider. A session begins if the provider states that the login used more than a password. Otherwise the reply has the options for a passkey.',
    fields: {
      answer: about(
        text(8_000, /^[\x21-\x7e]*$/, 'the query of an address'),
        'Query of the address to which the provider redirected the browser',
        'code=abc&state=def',
      ),
    },
    refuses: [
      ...(['sso_off', 'sso_unavailable', 'sso_declined', 'sso_unproved', 'sso_expired', 'sso_unbound'] as const),
      'too_many_requests',
    ],
    gives: thing([
      { signedIn: maybe(thing(SESSION, 'The session that began; null if a passkey is required')) },
      { options: maybe(options) },
    ]),
    isOpen: true,
  }),
  passkey: written({
    method: 'POST',
    path: '/session/sso/passkey',
    says: 'Begins a session after a login at the provider that requires a passkey, with the response of a passkey of the same operator.',
    fields: { credential: object },
    refuses: ['sso_off', 'sso_expired', 'sso_unbound', 'sso_other_operator', 'too_many_requests'],
    gives: thing(SESSION),
    isOpen: true,
  }),
} satisfies Record<string, Declared>;

export const IDENTITY = {
  list: declareRead({
    path: '/operators/:operator/identities',
    says: 'Lists the single sign-on accounts that are bound to an operator.',
    fields: { operator: text(40) },
    refuses: ['unknown_operator'],
    gives: rows('identities', IDENTITIES),
    command: {
      words: 'operator identities',
      list: 'identities',
      columns: ['id', 'issuer', 'kind', 'value', 'createdAt'],
    },
  }),
  bind: declareAction({
    name: 'operator.bind',
    path: '/operators/:operator/bind',
    says: 'Binds a single sign-on account to an operator, who can then sign in with it. Identify the account by its id at the provider or by a verified e-mail address.',
    right: 'operators',
    people: 'second',
    onlyNamed: true,
    fields: {
      operator: operatorName,
      account: optional(about(account, 'Id of the account: the claim `sub` of its tokens', '248289761001')),
      email: optional(about(email, 'E-mail address that the provider has verified', 'ada@bank.example')),
    },
    refuses: ['unknown_operator', 'sso_off', 'identity_bound', 'too_many_identities', ...PROPOSES],
    gives: done(SEEN),
    command: { words: 'operator bind', args: ['operator'] },
  }),
  unbind: declareAction({
    name: 'operator.unbind',
    path: '/operators/:operator/unbind',
    says: 'Unbinds an account, and ends the sessions that began with it.',
    right: 'operators',
    people: 'one',
    fields: { operator: operatorName, identity: id },
    refuses: ['unknown_operator', 'unknown_identity'],
    gives: done(SEEN),
    command: { words: 'operator unbind', args: ['operator', 'identity'] },
  }),
};
