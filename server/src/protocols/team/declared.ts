/**
 * The endpoints of this interface, each declared once: route, validation, the types of its handler and OpenAPI (openapi.ts) are
 * generated from it. Behaviour is in index.ts, under the same name.
 */
import { type Static, type TSchema, Type } from 'typebox';
import { MEMBER_RIGHTS, MEMBER_ROLES } from '../../team/index.ts';
import { about, type Fields, id, object, text, type Values } from '../declaration/fields.ts';
import { type Reason, statusOf } from './reasons.ts';

export const PREFIX = '/partner/v1';

export interface Declared<F extends Fields = Fields, G extends TSchema = TSchema> {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below /partner/v1; its `:names` are fields. */
  readonly path: string;
  /** Its effect, in one sentence of the present tense. */
  readonly says: string;
  readonly fields: F;
  /** The schema of a successful reply. */
  readonly gives: G;
  /** Its refusals, beyond those of any request. */
  readonly refuses?: readonly Reason[];
  /** Needs no session: part of a login, or of using a code. */
  readonly isOpen?: true;
  /** Needs a login of the last ten minutes. */
  readonly isFresh?: true;
}
export type InputOf<D extends Declared> = Values<D['fields']>;
/** The type of the reply that its handler returns. */
export type ReplyOf<D extends Declared> = Static<D['gives']>;

const declare = <F extends Fields, G extends TSchema>(declared: Declared<F, G>): Declared<F, G> => declared;
const open = <F extends Fields, G extends TSchema>(
  declared: Omit<Declared<F, G>, 'method' | 'isOpen'>,
): Declared<F, G> & { isOpen: true } => ({ ...declared, method: 'POST', isOpen: true });

const closed = { additionalProperties: false } as const;
const thing = <P extends Record<string, TSchema>>(properties: P) => Type.Object(properties, closed);
const words = (description: string, example: string) => Type.String({ description, examples: [example] });
const number = (description: string, example = '7') =>
  Type.String({ description, pattern: '^[0-9]+$', examples: [example] });
const time = (description: string) =>
  Type.String({ description, format: 'date-time', examples: ['2026-11-23T09:30:00.000Z'] });
const word = <const T extends readonly string[]>(all: T, description: string) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...all], description, examples: [all[0]] });
const flag = (description: string) => Type.Boolean({ description, examples: [true] });

const credential = about(object, 'The response of the browser’s authenticator, in the WebAuthn format', {
  ...{ id: 'AQID', type: 'public-key' },
  response: {},
});
const code = about(
  text(64, /^[\w -]+$/, 'the code of an invitation, or a recovery code'),
  'The code of an invitation (the end of its link), or a recovery code; in a recovery code, case, spaces and dashes are ignored',
  '7k2m9-4pqxa-b3c8d-e5f6g',
);

const options = Type.Object(
  {},
  { description: 'Options for the browser, in the WebAuthn format', additionalProperties: true, examples: [{}] },
);
const codes = Type.Array(words('A recovery code', '7k2m9-4pqxa-b3c8d-e5f6g'), {
  description: 'Ten recovery codes. They are shown only once',
});
const ended = thing({ ended: Type.Literal(true, { description: 'It is no longer valid', examples: [true] }) });

const session = {
  id: number('Number of the member'),
  name: words('Name of the member in the team', 'ada'),
  role: word(MEMBER_ROLES, 'Role of the member'),
  rights: Type.Array(word(MEMBER_RIGHTS, 'A right'), { description: 'Rights of the role' }),
  partner: Type.Object(
    {
      id: number('Number of the partner', '3'),
      name: words('Name of the partner', 'Acme Wallet'),
      suspended: flag('Whether the operator has suspended the partner'),
    },
    { ...closed, description: 'The partner of the team' },
  ),
  profile: word(['sandbox', 'production'], 'Kind of this installation'),
  session: number('Number of the session', '41'),
  since: time('When it began'),
  expires: time('When it ends at the latest; it ends earlier after half an hour without a request'),
  stepUpUntil: time('Until when the login counts as recent'),
  recoveryCodes: Type.Integer({ description: 'Number of recovery codes that are left', examples: [10] }),
};

export const ENDPOINTS = {
  loginOptions: open({
    path: '/session/options',
    says: 'Begins a login, and returns the options for the passkey. They can be used once, within five minutes.',
    fields: {},
    gives: thing({ options }),
  }),
  login: open({
    path: '/session',
    says: 'Begins a session with the response of a passkey, and sets its cookie. An earlier session of the request ends.',
    fields: { credential },
    refuses: ['unauthenticated'],
    gives: thing(session),
  }),
  joinOptions: open({
    path: '/join/options',
    says: 'Begins to enrol a passkey with the code of an invitation or a recovery code. The code is not used up yet.',
    fields: { code },
    refuses: ['unauthenticated', 'partner_suspended'],
    gives: thing({
      options,
      kind: word(['invitation', 'recovery'], 'Kind of the code'),
      name: words('Name of the member in the team', 'ada'),
      role: word(MEMBER_ROLES, 'Role of the member'),
      partner: words('Name of the partner', 'Acme Wallet'),
    }),
  }),
  join: open({
    path: '/join',
    says: 'Enrols the passkey and uses up the code. Earlier passkeys and sessions of the member end; a session begins, and its cookie is set.',
    fields: { code, credential },
    refuses: ['unauthenticated', 'partner_suspended'],
    gives: thing({
      ...session,
      newRecoveryCodes: Type.Union([codes, Type.Null()], {
        description: 'Ten recovery codes after an invitation. They are shown only once. Null after a recovery',
      }),
    }),
  }),
  self: declare({
    method: 'GET',
    path: '/session',
    says: 'Shows who is signed in.',
    fields: {},
    gives: thing(session),
  }),
  logout: declare({
    method: 'DELETE',
    path: '/session',
    says: 'Ends the session of the request.',
    fields: {},
    refuses: ['unknown_session'],
    gives: ended,
  }),
  sessions: declare({
    method: 'GET',
    path: '/sessions',
    says: 'Lists your sessions.',
    fields: {},
    gives: thing({
      sessions: Type.Array(
        thing({
          id: number('Number of the session', '41'),
          address: words('Network address of its login', '203.0.113.7'),
          passkey: number('Number of its passkey', '12'),
          since: time('When it began'),
          seen: time('When it was last used, to the minute'),
          expires: time('When it ends at the latest'),
          current: flag('Whether it is the session of the request'),
        }),
        { description: 'All sessions that have not ended' },
      ),
    }),
  }),
  endSession: declare({
    method: 'DELETE',
    path: '/sessions/:session',
    says: 'Ends one of your sessions.',
    fields: { session: about(id, 'Number of the session', '41') },
    refuses: ['unknown_session'],
    gives: ended,
  }),
  passkeys: declare({
    method: 'GET',
    path: '/passkeys',
    says: 'Lists your passkeys.',
    fields: {},
    gives: thing({
      passkeys: Type.Array(
        thing({
          id: number('Number of the passkey', '12'),
          since: time('When it was enrolled'),
          used: Type.Union([time('A time'), Type.Null()], { description: 'When it was last used; null: never' }),
        }),
        { description: 'All passkeys that are not revoked' },
      ),
    }),
  }),
  enrolOptions: declare({
    method: 'POST',
    path: '/passkeys/options',
    says: 'Begins to enrol another passkey, and returns the options for the authenticator. They can be used once, within five minutes.',
    fields: {},
    isFresh: true,
    gives: thing({ options }),
  }),
  enrol: declare({
    method: 'POST',
    path: '/passkeys',
    says: 'Enrols another passkey of your own.',
    fields: { credential },
    isFresh: true,
    refuses: ['partner_suspended'],
    gives: thing({ passkey: number('Number of the passkey', '12') }),
  }),
  revoke: declare({
    method: 'DELETE',
    path: '/passkeys/:passkey',
    says: 'Revokes one of your passkeys and ends its sessions. The last passkey cannot be revoked.',
    fields: { passkey: about(id, 'Number of the passkey', '12') },
    isFresh: true,
    refuses: ['partner_suspended', 'unknown_passkey', 'last_passkey'],
    gives: ended,
  }),
  newCodes: declare({
    method: 'POST',
    path: '/recovery-codes',
    says: 'Creates ten new recovery codes. Earlier codes become invalid.',
    fields: {},
    isFresh: true,
    refuses: ['partner_suspended'],
    gives: thing({ codes }),
  }),
} as const;
export type Name = keyof typeof ENDPOINTS;

export const FAILURE = thing({
  error: words('The reason as a sentence', 'You have no such session.'),
  reason: words('Stable code of the reason: branch on it', 'unknown_session'),
  fields: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: 'Which field is wrong, and the rule it breaks',
      examples: [{ code: 'is missing' }],
    }),
  ),
});

/** Reasons for which an endpoint may refuse a request, in the order of their HTTP status. */
export function reasonsOf({ method, fields, refuses = [], isOpen, isFresh }: Declared): Reason[] {
  const all: Reason[] = [
    ...(['malformed_field', 'internal', 'unavailable'] as const),
    ...(Object.keys(fields).length === 0 ? [] : (['missing_fields'] as const)),
    ...(method === 'GET' ? [] : (['cross_site', 'malformed_body'] as const)),
    isOpen === true ? 'too_many_requests' : 'unauthenticated',
    ...(isFresh === true ? (['step_up_required'] as const) : []),
    ...refuses,
  ];
  return [...new Set(all)].toSorted((a, b) => statusOf(a) - statusOf(b));
}
