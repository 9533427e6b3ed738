/** The team, its keys, its activity, and settings of the partner. Only people signed in with a passkey can create secrets. */

import { SCOPES } from '../../../partners/index.ts';
import { MEMBER_ROLES } from '../../../team/index.ts';
import {
  about,
  listOf as fieldList,
  id,
  listOrNone,
  network,
  oneOf,
  optional,
  orNone,
  personal,
  text,
  time,
  whole,
} from '../../declaration/fields.ts';
import { declare, PAGED } from '../declare.ts';
import { LOGO_RULE, MAX_LOGO_BYTES } from '../logo.ts';
import { listOf, pageOf } from '../schemas/parts.ts';
import {
  ActivityLine,
  ApiKey,
  ApiKeyWithSecret,
  Branding,
  Colours,
  Invitation,
  Member,
  Settings,
} from '../schemas/team.ts';

const member = { member: about(id, 'Number of the member', '7') };
const role = about(oneOf(MEMBER_ROLES), 'What the member may do', 'developer');
const key = { key: about(text(128, /^[\x21-\x7e]+$/, 'a key'), 'The key', 'clv_4pQ9aX') };
/** Free text, which may contain a name. */
const label = about(personal(text(60)), 'What the key is for', 'checkout server');
const scopes = about(fieldList(oneOf(SCOPES), SCOPES.length), 'What the key may do', ['read', 'trade']);
const networks = about(listOrNone(network, 20), 'Networks from which the key may be used; an empty list allows all', [
  '203.0.113.0/24',
]);
const origin = text(200, /^https?:\/\/[^/\s*]+$/, 'an origin such as https://shop.example');
const NOT_ONE_LINE = String.raw`\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069`;
/** Excludes characters that change the direction of text: they could make one name look like another. */
const displayName = text(
  60,
  new RegExp(`^[^\\s${NOT_ONE_LINE}]([^${NOT_ONE_LINE}]*[^\\s${NOT_ONE_LINE}])?$`, 'u'),
  'one line of 1 to 60 characters, without spaces at its ends and without characters that change the text direction',
);
const colour = text(7, /^#[0-9a-f]{6}$/, 'a colour such as #0b5cad, in lower-case hex digits');
const logo = text(Math.ceil(MAX_LOGO_BYTES / 3) * 4, /^[A-Za-z0-9+/]+={0,2}$/, LOGO_RULE);
/** A base64 logo and the other fields. */
const MAX_BRANDING_BYTES = 384 * 1024;
const MAX_OVERLAP_S = 7 * 24 * 3_600;

export const TEAM = {
  list: declare({
    name: 'team.list',
    method: 'GET',
    path: '/team',
    scope: 'admin',
    member: 'read',
    says: 'Lists the members of your team; removed members come last.',
    fields: {},
    gives: listOf(Member),
  }),
  invite: declare({
    name: 'team.invite',
    method: 'POST',
    path: '/team',
    scope: 'admin',
    member: 'team',
    person: true,
    says: 'Invites a person to your team. The reply has a link that enrols one passkey and is valid for three days.',
    fields: {
      name: about(
        text(
          40,
          /^[a-z][a-z0-9._-]{1,39}$/,
          'a short name: 2 to 40 lower-case letters, digits, ., _ and -, beginning with a letter',
        ),
        'Short name',
        'ada',
      ),
      role,
    },
    gives: Invitation,
    status: 201,
    refuses: ['member_exists', 'too_many_members'],
  }),
  inviteAgain: declare({
    name: 'team.inviteAgain',
    method: 'POST',
    path: '/team/:member/invitation',
    scope: 'admin',
    member: 'team',
    person: true,
    says: 'Creates a new link for a member who has not joined yet, and invalidates the earlier link.',
    fields: member,
    gives: Invitation,
    status: 201,
    refuses: ['unknown_member', 'member_joined'],
  }),
  changeRole: declare({
    name: 'team.changeRole',
    method: 'PATCH',
    path: '/team/:member',
    scope: 'admin',
    member: 'team',
    person: true,
    says: 'Gives a member another role.',
    fields: { ...member, role },
    gives: Member,
    refuses: ['unknown_member', 'last_owner'],
  }),
  signOut: declare({
    name: 'team.signOut',
    method: 'POST',
    path: '/team/:member/sign-out',
    scope: 'admin',
    member: 'team',
    person: true,
    says: 'Ends the sessions of a member. The member’s passkeys stay valid.',
    fields: member,
    gives: Member,
    refuses: ['unknown_member'],
  }),
  remove: declare({
    name: 'team.remove',
    method: 'DELETE',
    path: '/team/:member',
    scope: 'admin',
    member: 'team',
    person: true,
    says: 'Removes a member permanently, with passkeys, sessions and invitations.',
    fields: member,
    gives: Member,
    refuses: ['unknown_member', 'last_owner'],
  }),
  activity: declare({
    name: 'team.activity',
    method: 'GET',
    path: '/activity',
    scope: 'admin',
    member: 'read',
    says: 'Lists the changes made by your keys and your team, newest first.',
    fields: { from: optional(time), until: optional(time), ...PAGED },
    gives: pageOf(ActivityLine),
  }),
} as const;

export const KEYS = {
  list: declare({
    name: 'keys.list',
    method: 'GET',
    path: '/keys',
    scope: 'admin',
    member: 'read',
    says: 'Lists your API keys, the oldest first, without their secrets.',
    fields: {},
    gives: listOf(ApiKey),
  }),
  create: declare({
    name: 'keys.create',
    method: 'POST',
    path: '/keys',
    scope: 'admin',
    member: 'keys',
    person: true,
    says: 'Creates an API key, and returns its secret.',
    fields: { label, scopes, networks: optional(networks), expiresAt: optional(about(time, 'When the key expires')) },
    gives: ApiKeyWithSecret,
    status: 201,
    refuses: ['too_many_keys'],
  }),
  update: declare({
    name: 'keys.update',
    method: 'PATCH',
    path: '/keys/:key',
    scope: 'admin',
    member: 'keys',
    person: true,
    says: 'Changes label, scopes or networks of an API key. The change takes effect within three seconds.',
    fields: { ...key, label: optional(label), scopes: optional(scopes), networks: optional(networks) },
    gives: ApiKey,
    refuses: ['unknown_key'],
    example: { key: 'clv_4pQ9aX', scopes: ['read'] },
  }),
  rotate: declare({
    name: 'keys.rotate',
    method: 'POST',
    path: '/keys/:key/rotate',
    scope: 'admin',
    member: 'keys',
    person: true,
    says: 'Gives an API key a new secret. The previous one stays valid for `overlapSeconds`, one day by default.',
    fields: { ...key, overlapSeconds: optional(whole(0, MAX_OVERLAP_S)) },
    gives: ApiKeyWithSecret,
    refuses: ['unknown_key'],
  }),
  revoke: declare({
    name: 'keys.revoke',
    method: 'POST',
    path: '/keys/:key/revoke',
    scope: 'admin',
    member: 'keys',
    says: 'Revokes an API key permanently. After the reply, no request with the key changes anything.',
    fields: key,
    gives: ApiKey,
    refuses: ['unknown_key'],
  }),
} as const;

export const SETTINGS = {
  get: declare({
    name: 'settings.get',
    method: 'GET',
    path: '/settings',
    scope: 'read',
    says: 'Returns your name as customers see it, and the origins whose pages may use your keys.',
    fields: {},
    gives: Settings,
  }),
  update: declare({
    name: 'settings.update',
    method: 'PATCH',
    path: '/settings',
    scope: 'admin',
    member: 'settings',
    person: true,
    says: 'Sets the list of origins whose pages may use your keys. It replaces the whole list.',
    fields: {
      origins: about(listOrNone(origin, 20), 'Origins; an empty list allows no page', ['https://shop.example']),
    },
    gives: Settings,
  }),
} as const;

export const BRANDING = {
  get: declare({
    name: 'branding.get',
    method: 'GET',
    path: '/settings/branding',
    scope: 'read',
    says: 'Returns display name, colours and logo of your hosted pages.',
    fields: {},
    gives: Branding,
  }),
  colours: declare({
    name: 'branding.colours',
    method: 'GET',
    path: '/settings/branding/colours',
    scope: 'read',
    says: 'Previews the colours of hosted pages with their contrast, without changing anything.',
    fields: {
      accent: optional(about(colour, 'Colour of links and buttons', '#0b5cad')),
      accentDark: optional(about(colour, 'Colour of links and buttons on a dark background', '#85bdf7')),
    },
    gives: Colours,
  }),
  update: declare({
    name: 'branding.update',
    method: 'PATCH',
    path: '/settings/branding',
    scope: 'admin',
    member: 'settings',
    person: true,
    says: 'Sets display name, colours and logo of your hosted pages. A field that is left out keeps its value; null removes it.',
    more: 'A colour needs a contrast of at least 4.5 to 1 with the background of the page (WCAG 2.2, 1.4.3, level AA): white, or #17171b for customers who prefer dark pages. Without `accentDark`, the server derives it from `accent`. A logo is re-encoded as PNG of at most 480 by 144 pixels, and shown on white.',
    maxBodyBytes: MAX_BRANDING_BYTES,
    fields: {
      displayName: about(optional(orNone(displayName)), 'Name on hosted pages', 'A Wallet'),
      accent: about(optional(orNone(colour)), 'Colour of links and buttons', '#0b5cad'),
      accentDark: about(optional(orNone(colour)), 'Colour of links and buttons on a dark background', '#85bdf7'),
      // Marked as personal, so that its bytes stay out of the request log.
      logo: about(personal(optional(orNone(logo))), 'The logo', 'none'),
    },
    gives: Branding,
    example: { displayName: 'A Wallet', accent: '#0b5cad' },
  }),
} as const;
