/** The team, its keys, activity and settings. */
import { Type } from 'typebox';
import { SCOPES } from '../../../partners/index.ts';
import { MEMBER_ROLES } from '../../../team/index.ts';
import { closed, id, list, maybe, rarely, text, time, word, yes } from './parts.ts';

const member = {
  id: id('Number of the member', '7'),
  name: text('Short name', 'ada'),
  role: word(MEMBER_ROLES, 'What the member may do'),
  state: word(['invited', 'active', 'removed'] as const, '`invited`: has enrolled no passkey yet'),
  invitedBy: text('Who let the member in', 'member bob'),
  invitedUntil: maybe(time('Until when a link to enrol a passkey is open')),
  createdAt: time('When the member was invited'),
  joinedAt: maybe(time('When the first passkey was enrolled')),
  removedAt: rarely(time('When the member was removed')),
};
export const Member = Type.Object(member, { ...closed, description: 'A member of your team' });
export const Invitation = Type.Object(
  {
    member: Member,
    url: text('Link for the member alone: shown here and never again', 'https://ramp.example/partner/join#…'),
    expiresAt: time('Until when it works, once'),
  },
  { ...closed, description: 'An invitation' },
);

const key = {
  key: text('The key', 'clv_4pQ9aX'),
  label: text('What it is for', 'checkout server'),
  scopes: list(word(SCOPES, 'A scope'), 'What it may do'),
  networks: list(text('A network', '203.0.113.0/24'), 'Networks it may be used from; none: any'),
  state: word(['active', 'revoked', 'expired', 'held'] as const, '`held`: the operator has stopped it after a leak'),
  mustSign: yes('Whether a write must be signed in production'),
  rotatingUntil: maybe(time('Until when its previous secret is valid, too')),
  expiresAt: maybe(time('When it ends by itself')),
  lastUsedAt: maybe(time('When it was last used, to the minute')),
  createdAt: time('When it was created'),
  revokedAt: rarely(time('When it was revoked')),
};
export const ApiKey = Type.Object(key, { ...closed, description: 'An API key of yours' });
export const ApiKeyWithSecret = Type.Object(
  {
    ...key,
    secret: text('The secret: shown here and never again', 'Yk3…'),
    bearerToken: text('The bearer token for `/v1`: shown here and never again', 'clv_4pQ9aX.5f2…'),
  },
  { ...closed, description: 'An API key with its secret' },
);

export const ActivityLine = Type.Object(
  {
    id: id('Number', '31'),
    at: time('When'),
    action: text('What was done', 'endpoint.made'),
    subject: text('About what', 'endpoint:whe_4pQ9aXbT7mK2vN8c'),
    by: text('Which key or member did it, or a customer on a page', 'member ada'),
  },
  { ...closed, description: 'Something that was changed' },
);

export const Settings = Type.Object(
  {
    name: text('Your name, as customers see it', 'A Wallet'),
    origins: list(text('An origin', 'https://shop.example'), 'Origins whose pages may call with your keys'),
  },
  { ...closed, description: 'Your settings' },
);
