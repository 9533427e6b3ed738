/**
 * Sessions of the console: passkeys, logins and their endings. They have no commands: a terminal uses a token. What an operator has
 * at either, saved views and the networks to connect from, has commands.
 */
import { Type } from 'typebox';
import { about, type Field, id, object, text, typed } from '../../declaration/fields.ts';
import { type Declared, declareRead } from '../declare.ts';
import { maybe, rows, thing } from '../replies.ts';

export const moment = (description: string) =>
  Type.String({ description: `${description}: ISO 8601 in UTC`, format: 'date-time' });
export const options = Type.Object(
  {},
  { description: 'Options for the browser, in the WebAuthn format', additionalProperties: true },
);
export const SESSION = [
  'name',
  'role',
  {
    rights: Type.Array(Type.String(), { description: 'Rights of the role' }),
    profile: Type.Union([Type.Literal('sandbox'), Type.Literal('production')], {
      description: 'Kind of this installation',
    }),
    session: maybe(Type.String({ description: 'Number of the session; null with a token' })),
    since: maybe(moment('When it began')),
    expires: maybe(moment('When it ends at the latest; it ends earlier after half an hour without a request')),
    stepUpUntil: maybe(moment('Until when actions that require a recent login are possible')),
    recoveryCodes: Type.Integer({ description: 'Number of recovery codes that are left' }),
  },
];
const code = about(
  text(64, /^[\w -]{20,}$/, 'a recovery code of twenty letters and digits'),
  'One of your recovery codes; case, spaces and dashes are ignored',
  '7k2m9-4pqxa-b3c8d-e5f6g',
);
const page = about(
  text(100, /^(?:\/[A-Za-z0-9_-]+)+$/, 'the path of a list, such as /orders, of at most 100 characters'),
  'The list: its path in this interface',
  '/orders',
);
const viewName: Field<string> = about(
  {
    ...text(60, /^\S(?:.*\S)?$/, 'a name of 1 to 60 characters on one line, without spaces around it'),
    typed: 'looked up',
  },
  'Name of the view. A view of the same list and name is replaced',
  'Held, above 10,000',
);
const search = about(
  typed(
    2_000,
    /^[A-Za-z0-9._~*'()!%&=+:,@/-]+$/,
    'filters as in a URL, such as state=on_hold&partner=1, of 1 to 2000 characters',
  ),
  'The filters, as in the URL of the console after its question mark',
  'state=on_hold&partner=1',
);
export const written = <F extends Declared['fields']>(
  declared: Pick<Declared<F>, 'method' | 'path' | 'says' | 'fields' | 'gives' | 'refuses' | 'isOpen' | 'command'>,
): Declared<F> => ({ ...declared, right: 'read', withoutReason: true }) as Declared<F>;
const ended = (what: string) => thing([{ ended: Type.Literal(true, { description: what }) }]);

export const SESSIONS = {
  self: declareRead({
    path: '/session',
    says: 'Shows who is signed in, with its rights.',
    fields: {},
    gives: thing(SESSION),
  }),
  loginOptions: written({
    method: 'POST',
    path: '/session/options',
    says: 'Begins a login, and returns the options for the passkey. They can be used once, within five minutes.',
    fields: {},
    refuses: ['too_many_requests'],
    gives: thing([{ options }]),
    isOpen: true,
  }),
  login: written({
    method: 'POST',
    path: '/session',
    says: 'Begins a session with the response of a passkey, and sets its cookie. An earlier session of the request ends. This is also the recent login that `step_up_required` demands.',
    fields: { credential: object },
    refuses: ['too_many_requests'],
    gives: thing(SESSION),
    isOpen: true,
  }),
  logout: written({
    method: 'DELETE',
    path: '/session',
    says: 'Ends the session of the request.',
    fields: {},
    refuses: ['unknown_session'],
    gives: ended('The session has ended'),
  }),
  list: declareRead({
    path: '/sessions',
    says: 'Lists your sessions.',
    fields: {},
    gives: rows('sessions', [
      'id',
      'address',
      {
        passkey: maybe(Type.String({ description: 'Number of its passkey; null if it began by single sign-on' })),
        since: moment('When it began'),
        seen: moment('When it was last used, to the minute'),
        expires: moment('When it ends at the latest'),
        current: Type.Boolean({ description: 'Whether it is the session of the request' }),
      },
    ]),
  }),
  end: written({
    method: 'DELETE',
    path: '/sessions/:session',
    says: 'Ends one of your sessions.',
    fields: { session: id },
    refuses: ['unknown_session'],
    gives: ended('The session has ended'),
  }),
  passkeys: declareRead({
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
    says: 'Begins to enrol a passkey, and returns the options for the authenticator. They can be used once, within five minutes.',
    fields: {},
    refuses: ['step_up_required'],
    gives: thing([{ options }]),
  }),
  enrol: written({
    method: 'POST',
    path: '/session/passkeys',
    says: 'Enrols a passkey of your own, with which you can then sign in.',
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
    gives: ended('The passkey is no longer valid'),
  }),
  recoverOptions: written({
    method: 'POST',
    path: '/session/recovery/options',
    says: 'Begins to enrol a passkey with a recovery code, and returns the options for the authenticator. They can be used once, within five minutes. The code is not used up yet.',
    fields: { code },
    refuses: ['wrong_code', 'too_many_requests'],
    gives: thing([{ options }]),
    isOpen: true,
  }),
  recover: written({
    method: 'POST',
    path: '/session/recovery',
    says: 'Enrols the passkey and uses up the recovery code. Your earlier passkeys and sessions end, and no session begins. A case is opened, so that other operators are notified.',
    fields: { code, credential: object },
    refuses: ['wrong_code', 'too_many_requests'],
    gives: thing([
      {
        passkey: Type.String({ description: 'Number of the passkey' }),
        recoveryCodes: Type.Integer({ description: 'Number of recovery codes that are left' }),
      },
    ]),
    isOpen: true,
  }),
  newCodes: written({
    method: 'POST',
    path: '/session/recovery-codes',
    says: 'Creates ten recovery codes of your own, and shows them once. Earlier codes become invalid. It needs a session with a recent login: a token is not sufficient.',
    fields: {},
    refuses: ['step_up_required', 'session_required'],
    gives: thing([{ codes: Type.Array(Type.String(), { description: 'The codes. They are shown only once' }) }]),
  }),
  network: declareRead({
    path: '/session/network',
    says: 'Shows the networks from which operators may connect, and the address that this request came from.',
    fields: {},
    gives: thing([
      {
        address: Type.String({ description: 'Address that this request came from, as the server sees it' }),
        networks: Type.Array(Type.String(), {
          description: 'Networks from which operators may connect; empty where every address is allowed',
        }),
        within: Type.Array(Type.String(), { description: 'Those of the networks that contain the address' }),
        setting: Type.String({ description: 'Setting of the server that names the networks' }),
      },
    ]),
    command: { words: 'network' },
  }),
  views: declareRead({
    path: '/session/views',
    says: 'Lists the views of lists that you have saved, in any browser.',
    fields: {},
    gives: rows('views', [
      'id',
      {
        page: Type.String({ description: 'The list: its path in this interface' }),
        name: Type.String({ description: 'Name of the view' }),
        search: Type.String({ description: 'The filters, as in the URL of the console' }),
        savedAt: moment('When it was saved'),
      },
    ]),
    command: { words: 'views', list: 'views', columns: ['id', 'page', 'name', 'search', 'savedAt'] },
  }),
  saveView: written({
    method: 'POST',
    path: '/session/views',
    says: 'Saves the filters of a list under a name, for you alone. It replaces your earlier view of this list with this name.',
    fields: { page, name: viewName, search },
    refuses: ['too_many_views'],
    gives: thing([{ view: Type.String({ description: 'Number of the saved view' }) }]),
    command: { words: 'view save', args: ['page', 'name', 'search'] },
  }),
  deleteView: written({
    method: 'DELETE',
    path: '/session/views/:view',
    says: 'Deletes one of your saved views.',
    fields: { view: id },
    refuses: ['unknown_view'],
    gives: thing([{ deleted: Type.Literal(true, { description: 'The view is gone' }) }]),
    command: { words: 'view delete' },
  }),
};
