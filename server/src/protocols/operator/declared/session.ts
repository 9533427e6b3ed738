/** Sessions of the console: passkeys, logins and their endings. They have no commands: a terminal uses a token. */
import { Type } from 'typebox';
import { about, id, object, text } from '../../declaration/fields.ts';
import { type Declared, look } from '../declare.ts';
import { maybe, rows, thing } from '../replies.ts';

export const moment = (description: string) =>
  Type.String({ description: `${description}: ISO 8601 in UTC`, format: 'date-time' });
export const options = Type.Object(
  {},
  { description: 'What the browser is given, as WebAuthn has it', additionalProperties: true },
);
export const SESSION = [
  'name',
  'role',
  {
    rights: Type.Array(Type.String(), { description: 'Rights of the role' }),
    profile: Type.Union([Type.Literal('sandbox'), Type.Literal('production')], { description: 'What this server is' }),
    session: maybe(Type.String({ description: 'Number of the session; null with a token' })),
    since: maybe(moment('When it began')),
    expires: maybe(moment('When it ends at the latest; half an hour without a request ends it before')),
    stepUpUntil: maybe(moment('Until when actions that need a fresh login are done')),
    recoveryCodes: Type.Integer({ description: 'How many recovery codes are left' }),
  },
];
const code = about(
  text(64, /^[\w -]{20,}$/, 'a recovery code of twenty letters and digits'),
  'One of your recovery codes; capitals, spaces and dashes do not matter',
  '7k2m9-4pqxa-b3c8d-e5f6g',
);
export const written = <F extends Declared['fields']>(
  declared: Pick<Declared<F>, 'method' | 'path' | 'says' | 'fields' | 'gives' | 'refuses' | 'isOpen'>,
): Declared<F> => ({ ...declared, right: 'read', withoutReason: true }) as Declared<F>;
const ended = (what: string) => thing([{ ended: Type.Literal(true, { description: what }) }]);

export const SESSIONS = {
  self: look({
    path: '/session',
    says: 'Shows who is signed in, with its rights.',
    fields: {},
    gives: thing(SESSION),
  }),
  loginOptions: written({
    method: 'POST',
    path: '/session/options',
    says: 'Begins a login: what the browser gives to a passkey. It holds for five minutes, once.',
    fields: {},
    refuses: ['too_many_requests'],
    gives: thing([{ options }]),
    isOpen: true,
  }),
  login: written({
    method: 'POST',
    path: '/session',
    says: 'Begins a session with the answer of a passkey; its cookie is in the reply. A session that the request came with ends. A fresh login is also what `step_up_required` asks for.',
    fields: { credential: object },
    refuses: ['too_many_requests'],
    gives: thing(SESSION),
    isOpen: true,
  }),
  logout: written({
    method: 'DELETE',
    path: '/session',
    says: 'Ends the session that the request came with.',
    fields: {},
    refuses: ['unknown_session'],
    gives: ended('It has ended'),
  }),
  list: look({
    path: '/sessions',
    says: 'Lists your sessions.',
    fields: {},
    gives: rows('sessions', [
      'id',
      'address',
      {
        passkey: maybe(Type.String({ description: 'Number of its passkey; null by single sign-on' })),
        since: moment('When it began'),
        seen: moment('When it was last used, to the minute'),
        expires: moment('When it ends at the latest'),
        current: Type.Boolean({ description: 'Whether the request came with it' }),
      },
    ]),
  }),
  end: written({
    method: 'DELETE',
    path: '/sessions/:session',
    says: 'Ends one of your sessions.',
    fields: { session: id },
    refuses: ['unknown_session'],
    gives: ended('It has ended'),
  }),
  passkeys: look({
    path: '/session/passkeys',
    says: 'Lists your passkeys.',
    fields: {},
    gives: rows('passkeys', [
      'id',
      { since: moment('When it was enrolled'), used: maybe(moment('When it was last used')) },
    ]),
  }),
  enrolOptions: written({
    method: 'POST',
    path: '/session/passkeys/options',
    says: 'Begins to enrol a passkey: what the browser gives to the authenticator. It holds for five minutes, once.',
    fields: {},
    refuses: ['step_up_required'],
    gives: thing([{ options }]),
  }),
  enrol: written({
    method: 'POST',
    path: '/session/passkeys',
    says: 'Enrols a passkey of your own, which begins sessions from then on.',
    fields: { credential: object },
    refuses: ['step_up_required'],
    gives: thing([{ passkey: Type.String({ description: 'Number of the passkey' }) }]),
  }),
  revoke: written({
    method: 'DELETE',
    path: '/session/passkeys/:passkey',
    says: 'Revokes one of your passkeys, and ends its sessions.',
    fields: { passkey: id },
    refuses: ['unknown_passkey'],
    gives: ended('It no longer works'),
  }),
  recoverOptions: written({
    method: 'POST',
    path: '/session/recovery/options',
    says: 'Begins to enrol a passkey with a recovery code, which stays unused: what the browser gives to the authenticator. It holds for five minutes, once.',
    fields: { code },
    refuses: ['wrong_code', 'too_many_requests'],
    gives: thing([{ options }]),
    isOpen: true,
  }),
  recover: written({
    method: 'POST',
    path: '/session/recovery',
    says: 'Uses a recovery code up: enrols the passkey, and ends your earlier passkeys and sessions. It begins no session. It opens a case, so that others are notified.',
    fields: { code, credential: object },
    refuses: ['wrong_code', 'too_many_requests'],
    gives: thing([
      {
        passkey: Type.String({ description: 'Number of the passkey' }),
        recoveryCodes: Type.Integer({ description: 'How many recovery codes are left' }),
      },
    ]),
    isOpen: true,
  }),
  newCodes: written({
    method: 'POST',
    path: '/session/recovery-codes',
    says: 'Makes ten recovery codes of your own, shown once; earlier ones end. Needs a session with a fresh login: a token does not suffice.',
    fields: {},
    refuses: ['step_up_required', 'session_required'],
    gives: thing([{ codes: Type.Array(Type.String(), { description: 'The codes: shown once' }) }]),
  }),
};
