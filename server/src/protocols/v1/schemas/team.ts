/** The team, its keys, activity and settings. */
import { Type } from 'typebox';
import { SCOPES } from '../../../partners/index.ts';
import { MEMBER_ROLES } from '../../../team/index.ts';
import { closed, decimal, id, list, maybe, rarely, text, time, whole, word, yes } from './parts.ts';

const member = {
  id: id('Number of the member', '7'),
  name: text('Short name', 'ada'),
  role: word(MEMBER_ROLES, 'What the member may do'),
  state: word(['invited', 'active', 'removed'] as const, '`invited`: has enrolled no passkey yet'),
  invitedBy: text('Who invited the member', 'member bob'),
  invitedUntil: maybe(time('Until when a link to enrol a passkey is valid')),
  createdAt: time('When the member was invited'),
  joinedAt: maybe(time('When the first passkey was enrolled')),
  removedAt: rarely(time('When the member was removed')),
};
export const Member = Type.Object(member, { ...closed, description: 'A member of your team' });
export const Invitation = Type.Object(
  {
    member: Member,
    url: text('Link for this member only. It is shown only once', 'https://ramp.example/partner/join#…'),
    expiresAt: time('Until when the link can be used, once'),
  },
  { ...closed, description: 'An invitation' },
);

const key = {
  key: text('The key', 'clv_4pQ9aX'),
  label: text('What it is for', 'checkout server'),
  scopes: list(word(SCOPES, 'A scope'), 'What it may do'),
  networks: list(
    text('A network', '203.0.113.0/24'),
    'Networks from which the key may be used; an empty list allows all',
  ),
  state: word(['active', 'revoked', 'expired', 'held'] as const, '`held`: the operator has suspended it after a leak'),
  mustSign: yes('Whether a write must be signed in production'),
  rotatingUntil: maybe(time('Until when its previous secret is also valid')),
  expiresAt: maybe(time('When it expires')),
  lastUsedAt: maybe(time('When it was last used, to the minute')),
  createdAt: time('When it was created'),
  revokedAt: rarely(time('When it was revoked')),
};
export const ApiKey = Type.Object(key, { ...closed, description: 'An API key of yours' });
export const ApiKeyWithSecret = Type.Object(
  {
    ...key,
    secret: text('The secret. It is shown only once', 'Yk3…'),
    bearerToken: text('The bearer token for `/v1`. It is shown only once', 'clv_4pQ9aX.5f2…'),
  },
  { ...closed, description: 'An API key with its secret' },
);

export const ActivityLine = Type.Object(
  {
    id: id('Number', '31'),
    at: time('When'),
    action: text('What was done', 'endpoint.made'),
    subject: text('Subject of the change', 'endpoint:whe_4pQ9aXbT7mK2vN8c'),
    by: text('Key or member that made the change, or a customer on a hosted page', 'member ada'),
  },
  { ...closed, description: 'A change' },
);

export const Settings = Type.Object(
  {
    name: text('Your name, as the operator set it', 'A Wallet'),
    origins: list(text('An origin', 'https://shop.example'), 'Origins whose pages may use your keys'),
  },
  { ...closed, description: 'Your settings' },
);

const onGround = (ground: string, colour: string, on: string, contrast: string) =>
  Type.Object(
    {
      accent: text('Colour of links and buttons', colour),
      onAccent: text('Colour of the text on buttons: the background colour of the page', on),
      contrast: decimal('Contrast ratio of the two colours, to 1', contrast),
    },
    { ...closed, description: `For customers who see ${ground} pages` },
  );
export const Colours = Type.Object(
  { light: onGround('light', '#0b5cad', '#ffffff', '6.67'), dark: onGround('dark', '#85bdf7', '#17171b', '9.02') },
  { ...closed, description: 'Colours of hosted pages' },
);

export const Branding = Type.Object(
  {
    displayName: maybe(text('Name on hosted pages; null: your name', 'A Wallet')),
    accent: maybe(text('Your colour on a light background; null: the default colour', '#0b5cad')),
    accentDark: maybe(text('Your colour on a dark background; null: derived from `accent`', '#85bdf7')),
    colours: Colours,
    logo: maybe(
      Type.Object(
        {
          path: text(
            'Path at which the logo is served; its name is the SHA-256 of the content',
            '/hosted/logo/9f2e….png',
          ),
          width: whole('Width in pixels', 240),
          height: whole('Height in pixels', 72),
        },
        { ...closed, description: 'Your logo, as re-encoded by the server' },
      ),
    ),
    changedAt: maybe(time('When it was last changed')),
  },
  { ...closed, description: 'How hosted pages look to your customers' },
);
