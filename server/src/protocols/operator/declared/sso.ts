/** Single sign-on of operators: logins at the provider, and the accounts there that are bound to operators. */
import { Type } from 'typebox';
import { about, type Field, flag, id, object, optional, text } from '../../declaration/fields.ts';
import { act, type Declared, look, PROPOSES } from '../declare.ts';
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
      description: 'What it is known by: the id of the account at the provider, or a verified e-mail address',
    }),
    value: Type.String({ description: 'That id or address' }),
  },
  'createdAt',
];
const SEEN = [
  'role',
  { disabled: Type.Boolean({ description: 'Whether the operator is out' }) },
  {
    identities: Type.Array(Type.Object({}, { additionalProperties: true }), {
      description: 'Accounts that are bound to the operator',
    }),
  },
];

export const SSO = {
  provider: written({
    method: 'GET',
    path: '/session/sso',
    says: 'Shows whether operators can sign in at a provider of single sign-on.',
    fields: {},
    gives: thing([
      { provider: maybe(Type.String({ description: 'Name of the provider; null where there is none' })) },
      { stepUp: Type.Boolean({ description: 'Whether a login there counts for what takes a fresh login' }) },
    ]),
    isOpen: true,
  }),
  begin: written({
    method: 'POST',
    path: '/session/sso',
    says: 'Begins a login at the provider: the address to open there. Its cookie is in the reply. The login holds for ten minutes, once, in this browser.',
    fields: {
      again: optional(about(flag, 'The provider asks for the login anew, although it remembers the person', true)),
    },
    refuses: ['sso_off', 'sso_unavailable', 'too_many_requests'],
    gives: thing([{ url: Type.String({ description: 'Address at the provider' }) }]),
    isOpen: true,
  }),
  finish: written({
    method: 'POST',
    path: '/session/sso/answer',
    says: 'Ends a login at the provider. A session begins if the provider proves more than a password; otherwise the reply has what the browser gives to a passkey.',
    fields: {
      answer: about(
        text(8_000, /^[\x21-\x7e]*$/, 'the query of an address'),
        'The query of the address that the provider sent the browser back to',
        'code=abc&state=def',
      ),
    },
    refuses: [
      ...(['sso_off', 'sso_unavailable', 'sso_declined', 'sso_unproved', 'sso_expired', 'sso_unbound'] as const),
      'too_many_requests',
    ],
    gives: thing([
      { signedIn: maybe(thing(SESSION, 'The session that began; null where a passkey is asked for')) },
      { options: maybe(options) },
    ]),
    isOpen: true,
  }),
  passkey: written({
    method: 'POST',
    path: '/session/sso/passkey',
    says: 'Begins a session after a login at the provider that took a passkey, with the answer of a passkey of the same operator.',
    fields: { credential: object },
    refuses: ['sso_off', 'sso_expired', 'sso_unbound', 'sso_other_operator', 'too_many_requests'],
    gives: thing(SESSION),
    isOpen: true,
  }),
} satisfies Record<string, Declared>;

export const IDENTITY = {
  list: look({
    path: '/operators/:operator/identities',
    says: 'Lists the accounts at the provider of single sign-on that are bound to an operator.',
    fields: { operator: text(40) },
    refuses: ['unknown_operator'],
    gives: rows('identities', IDENTITIES),
    command: {
      words: 'operator identities',
      list: 'identities',
      columns: ['id', 'issuer', 'kind', 'value', 'createdAt'],
    },
  }),
  bind: act({
    name: 'operator.bind',
    path: '/operators/:operator/bind',
    says: 'Lets an operator sign in by an account at the provider of single sign-on: by its id there, or by a verified e-mail address. One of both is needed.',
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
  unbind: act({
    name: 'operator.unbind',
    path: '/operators/:operator/unbind',
    says: 'Ends the binding of an account, and the sessions that began by it.',
    right: 'operators',
    people: 'one',
    fields: { operator: operatorName, identity: id },
    refuses: ['unknown_operator', 'unknown_identity'],
    gives: done(SEEN),
    command: { words: 'operator unbind', args: ['operator', 'identity'] },
  }),
};
