/** Partners: their settings, keys, the keys' activity, and the items held since a leak. */
import { Type } from 'typebox';
import { MAX_ENDPOINTS } from '../../../events/index.ts';
import {
  ACTIVITIES,
  HELD_KINDS,
  HELD_STATES,
  MAX_ACTIVITY,
  MAX_HELD,
  NOT_CREDENTIALS,
  SCOPES,
} from '../../../partners/index.ts';
import {
  about,
  flag,
  id,
  listOf,
  network,
  oneOf,
  optional,
  text,
  time,
  typed,
  whole,
} from '../../declaration/fields.ts';
import { OPERATION, PROTOCOLS } from '../../request-log.store.ts';
import { declareAction, declareRead, FILTERS, limit, PROPOSES } from '../declare.ts';
import { done, many, maybe, pages, rows, thing } from '../replies.ts';
import { itemsOf, keyName, partnerTerms } from './forms.ts';

const MAX_PARTNERS = 200;
const MAX_REQUESTS = 200;
const origin = text(200, /^(\*|https?:\/\/[^/\s]+)$/, 'an origin such as https://shop.example');
const items = about(itemsOf(MAX_HELD), 'Numbers of held items, or all', ['37', '38']);

const DELIVERY_STATES = ['waiting', 'delivered', 'dead', 'dropped'] as const;
const endpoint = about(text(80, /^[\x21-\x7e]+$/, 'the id of an endpoint'), 'Id of the endpoint', 'we_1');
const sequence = Type.Integer({ description: 'Position among the events about the same subject' });
const newestHeld = maybe(Type.String({ description: 'Number of the newest held item' }));
/** Limits of a decision about all held items. */
const onlyOf = <K extends string>(kinds: readonly K[]) => ({
  kind: optional(about(oneOf(kinds), 'With all: only items of this kind', 'account')),
  since: optional(about(time, 'With all: only items that were made at this time or later')),
  upTo: optional(about(id, 'With all: only items up to this number, so that none held later is decided', '37')),
});
const decision = {
  decidedAt: maybe(Type.String({ description: 'When it was decided: ISO 8601 in UTC' })),
  decidedBy: maybe(Type.String({ description: 'Who decided it' })),
};
const ITEM = ['id', 'kind', 'subject', 'address', 'why', 'madeAt', 'madeByKey', 'state', 'heldAt', 'heldBy', decision];
const suspendedAt = maybe(Type.String({ description: 'When it was last suspended: ISO 8601 in UTC' }));
const SEEN = ['name', 'suspended', 'held', { newestHeld, suspendedAt }];
const STILL = ['stillHeld', 'hasMore'] as const;
const decided = Type.Integer({ description: 'Number of decided items' });
const apiSecret = Type.String({ description: 'The secret: shown once' });
const bearerToken = Type.String({ description: 'The bearer token of the key under /v1: shown once' });
const secretFor = Type.String({
  description: 'Operator who collects the secret with `key secret`, if another operator confirmed the action',
});
const KEY = [
  ...['key', 'partnerId', 'label', 'scopes', 'addresses', 'expiresAt'],
  {
    revokedAt: maybe(Type.String({ description: 'Since when it is revoked: ISO 8601 in UTC' })),
    rotatingUntil: maybe(Type.String({ description: 'Until when its previous secret is also valid: ISO 8601 in UTC' })),
    unsignedWrites: Type.Boolean({ description: 'Whether it may write in production without a signature' }),
  },
  ...['heldAt', 'createdAt'],
];

const PARTNER = [
  ...['id', 'name', 'suspended'],
  {
    quoteShape: Type.String({ description: 'Format of quotes that its program expects' }),
    toleranceBps: Type.String({
      description: 'Tolerated change of the price between quote and order, in basis points',
    }),
    kycWords: Type.Object({}, { description: 'Its own names for states of verification' }),
    tradeLevel: Type.Integer({ description: 'Verification level required for trading' }),
    corsOrigins: Type.Array(Type.String(), { description: 'Origins whose pages may use its keys' }),
    requestsPerMinute: Type.Integer({ description: 'Maximum number of requests per minute and key' }),
  },
];

const BRANDING = {
  displayName: maybe(Type.String({ description: 'Name on its hosted pages; null: the name of the partner' })),
  accent: maybe(Type.String({ description: 'Its colour on a light background' })),
  accentDark: maybe(Type.String({ description: 'Its colour on a dark background' })),
  logo: maybe(Type.String({ description: 'Path of its logo' })),
};

const REQUEST = [
  'id',
  'partnerId',
  'protocol',
  'requestId',
  'clientRequestId',
  'apiKey',
  'operation',
  'method',
  'path',
];
const REQUEST_END = ['status', 'reason', 'why', 'tookMs', 'replayed', 'version', 'at'];
/** A line of the log of requests. */
export const REQUEST_LINE = [
  ...['id', 'partnerId'],
  {
    protocol: Type.String({ description: '`v1`, or `white-label`, of which no version and no bodies are stored' }),
    requestId: Type.String({ description: 'Our id of the request' }),
    clientRequestId: maybe(Type.String({ description: 'The id that the program sent as X-Client-Request-Id' })),
  },
  'apiKey',
  {
    operation: Type.String({ description: 'Name of the endpoint' }),
    method: Type.String({ description: 'Method' }),
    path: Type.String({ description: 'Path, without personal data' }),
    status: Type.Integer({ description: 'HTTP status of the reply' }),
    reason: maybe(Type.String({ description: 'Reason why it was declined' })),
    why: maybe(Type.String({ description: 'What was wrong with its signature or token' })),
    tookMs: Type.Integer({ description: 'Duration' }),
    replayed: Type.Boolean({
      description: 'Whether the reply was repeated from an earlier request with the same Idempotency-Key',
    }),
    version: Type.String({ description: 'API version' }),
  },
  'at',
];

export const PARTNERS = {
  list: declareRead({
    path: '/partners',
    says: 'Lists partners by number.',
    fields: { after: optional(id), limit: limit(MAX_PARTNERS) },
    gives: rows('partners', PARTNER),
    command: { words: 'partners', list: 'partners', columns: ['id', 'name', 'suspended', 'requestsPerMinute'] },
  }),
  one: declareRead({
    path: '/partners/:partner',
    says: 'Shows a partner, its keys, its webhook endpoints and its caps.',
    fields: { partner: id },
    refuses: ['unknown_partner'],
    gives: thing([
      ...PARTNER,
      {
        branding: Type.Object(
          {
            ...BRANDING,
            changedAt: maybe(Type.String({ description: 'When it was last changed: ISO 8601 in UTC' })),
          },
          { description: 'Branding of its hosted pages, as set by its team' },
        ),
        keys: Type.Array(Type.Unknown(), { description: 'Its keys, without their secrets' }),
        endpoints: Type.Array(Type.Unknown(), {
          description: 'Its webhook endpoints, each with the key that created it',
        }),
        caps: many(
          [
            'asset',
            { maxUnits: Type.String({ description: 'Maximum total of its live quotes and unpaid orders' }) },
            { liveUnits: Type.String({ description: 'Their present total' }) },
          ],
          'Its caps, by fiat',
        ),
      },
    ]),
    command: { words: 'partner' },
  }),
  create: declareAction({
    name: 'partner.create',
    path: '/partners',
    says: 'Creates a partner.',
    right: 'partners',
    people: 'one',
    fields: {
      name: about(text(60), 'Name of the partner', 'Shop'),
      ...partnerTerms,
      corsOrigins: optional(
        about(listOf(origin, 20), 'Origins whose pages may use its keys', ['https://shop.example']),
      ),
    },
    refuses: ['partner_exists'],
    gives: done(['id', 'name', 'suspended']),
    command: { words: 'partner create', args: ['name'] },
  }),
  suspend: declareAction({
    name: 'partner.suspend',
    path: '/partners/:partner/suspend',
    says: 'Suspends a partner: all its requests are rejected, and payments in progress continue. With `since`, everything that was created since then is also held.',
    right: 'block',
    people: 'one',
    fields: {
      partner: id,
      since: optional(about(time, 'Time since which a key may have leaked: everything created since then is held')),
      key: optional(about(keyName, 'With `since`: the leaked key, if only items that it created are to be held')),
    },
    refuses: ['unknown_partner', 'unknown_key'],
    gives: done(SEEN, [
      { 'containment?': Type.Object({}, { description: 'The leak, and its containment' }) },
      ...STILL.map((name) => `${name}?`),
      ...['activity?', 'recordedFrom?'],
      { 'hasMoreActivity?': Type.Boolean({ description: 'Whether there is more activity than the reply shows' }) },
    ]),
    command: { words: 'partner suspend' },
  }),
  resume: declareAction({
    name: 'partner.resume',
    path: '/partners/:partner/resume',
    says: 'Ends the suspension of a partner: its requests are accepted again.',
    right: 'partners',
    people: 'rules',
    fields: { partner: id },
    refuses: ['unknown_partner', ...PROPOSES],
    gives: done(SEEN, STILL),
    command: { words: 'partner resume' },
  }),
  resetBranding: declareAction({
    name: 'partner.resetBranding',
    path: '/partners/:partner/branding/reset',
    says: 'Removes the display name, colours and logo that a partner has set. Its hosted pages then use its name and the default colours.',
    right: 'partners',
    people: 'one',
    fields: { partner: id },
    refuses: ['unknown_partner'],
    gives: done(['name', 'suspended', BRANDING]),
    command: { words: 'partner reset-branding' },
  }),
  endpoints: declareRead({
    path: '/endpoints',
    says: 'Lists the webhook endpoints of all partners, each with its URL, the key that created it, and since when it has been failing.',
    fields: {
      partner: FILTERS.partner,
      enabled: optional(about(flag, 'Whether the endpoint is enabled', true)),
      ...{ from: FILTERS.from, until: FILTERS.until },
      after: optional(
        about(
          text(80, /^[\x21-\x7e]+$/, 'the id of an endpoint'),
          '`next` of the previous page; without it, the first page',
          'we_1',
        ),
      ),
      limit: limit(MAX_ENDPOINTS),
    },
    table: {
      list: 'endpoints',
      columns: [
        ...['id', 'partnerId', 'url', 'format', 'enabled', 'madeByKey', 'createdAt', 'lastAttemptAt', 'lastStatus'],
        ...['failures', 'failingSince', 'switchedOffAt', 'heldAt'],
      ],
    },
    refuses: ['unknown_partner', 'unknown_endpoint'],
    command: {
      words: 'endpoint list',
      columns: [
        ...['id', 'partnerId', 'url', 'format', 'enabled', 'madeByKey', 'lastAttemptAt', 'lastStatus', 'failingSince'],
        'heldAt',
      ],
    },
  }),
  deliveries: declareRead({
    path: '/endpoints/:endpoint/deliveries',
    says: 'Lists deliveries of events to a webhook endpoint, the newest first.',
    fields: {
      endpoint,
      state: optional(oneOf(DELIVERY_STATES)),
      ...{ below: optional(id), limit: limit(MAX_ENDPOINTS) },
    },
    table: {
      list: 'deliveries',
      columns: ['eventId', 'position', 'type', 'subject', 'sequence', 'state', 'attempts', 'lastError', 'endedAt'],
    },
    refuses: ['unknown_endpoint'],
    gives: pages(
      'deliveries',
      [
        { eventId: Type.String({ description: 'Id of the event, as the receiver gets it' }) },
        { position: Type.String({ description: 'Position among the events of the partner' }) },
        { type: Type.String({ description: 'Type of the event, such as order.settled' }), sequence },
        ...['subject', 'state', { attempts: Type.Integer({ description: 'How many attempts were made' }) }],
        ...[{ lastError: maybe(Type.String({ description: 'Why the last attempt failed' })) }, 'endedAt'],
      ],
      ['partnerId', 'url', 'format', 'enabled'],
    ),
    command: {
      words: 'endpoint deliveries',
      columns: ['position', 'type', 'subject', 'sequence', 'state', 'attempts', 'lastError', 'endedAt'],
    },
  }),
  attempts: declareRead({
    path: '/endpoints/:endpoint/deliveries/:position/attempts',
    says: 'Lists attempts to deliver an event to a webhook endpoint, newest first, without the bodies of the responses.',
    fields: { endpoint, position: about(id, 'Position of the event, as its delivery shows it', '1001') },
    refuses: ['unknown_endpoint'],
    gives: rows('attempts', [
      'at',
      { tookMs: Type.Integer({ description: 'How long it took, in milliseconds' }) },
      { status: maybe(Type.Integer({ description: 'HTTP status of the reply' })) },
      { error: maybe(Type.String({ description: 'Why it failed' })) },
    ]),
    command: { words: 'endpoint attempts', list: 'attempts', columns: ['at', 'tookMs', 'status', 'error'] },
  }),
  activity: declareRead({
    path: '/partners/:partner/activity',
    says: 'Lists the activity of the keys and the team of a partner, newest first.',
    fields: {
      partner: id,
      key: optional(about(keyName, 'Only activity of this key')),
      action: optional(about(oneOf(ACTIVITIES), 'Only activity of this kind')),
      ...{ since: optional(time), until: optional(time) },
      ...{ below: optional(id), limit: limit(MAX_ACTIVITY) },
    },
    table: { list: 'activity', columns: ['id', 'at', 'action', 'subject', 'apiKey', 'member', 'link', 'facts'] },
    refuses: ['unknown_partner', 'unknown_key'],
    gives: pages(
      'activity',
      [
        'id',
        'at',
        'action',
        'subject',
        'apiKey',
        { member: maybe(Type.String({ description: 'Number of the member who did it; null if a key did' })) },
        'link',
        'facts',
      ],
      ['recordedFrom'],
    ),
    command: { words: 'activity', columns: ['id', 'at', 'action', 'subject', 'apiKey', 'member', 'link', 'facts'] },
  }),
  requests: declareRead({
    path: '/partners/:partner/requests',
    says: 'Lists the API requests of a partner in the last 30 days, newest first, without their bodies.',
    fields: {
      partner: id,
      operation: optional(
        about(text(80, OPERATION, 'the name of an endpoint'), 'Name of the endpoint', 'orders.create'),
      ),
      protocol: optional(about(oneOf(PROTOCOLS), 'Only requests to this API')),
      status: optional(about(whole(200, 599), 'HTTP status of the reply', 409)),
      reason: optional(
        about(text(64, /^[a-z_]+$/, 'a reason of the API'), 'Reason why it was declined', 'unauthenticated'),
      ),
      key: optional(about(keyName, 'Only requests with this key')),
      ...{ from: FILTERS.from, until: FILTERS.until },
      ...{ below: optional(id), limit: limit(MAX_REQUESTS) },
    },
    table: { list: 'requests', columns: [...REQUEST, ...REQUEST_END] },
    refuses: ['unknown_partner'],
    gives: pages('requests', REQUEST_LINE),
    command: {
      words: 'requests',
      columns: ['at', 'requestId', 'protocol', 'operation', 'status', 'reason', 'apiKey', 'tookMs'],
    },
  }),
  held: declareRead({
    path: '/partners/:partner/held',
    says: 'Lists the items of a partner that are held after a leak.',
    fields: {
      partner: id,
      kind: optional(oneOf(HELD_KINDS)),
      state: optional(oneOf(HELD_STATES)),
      ...{ after: optional(id), limit: limit(MAX_HELD) },
    },
    refuses: ['unknown_partner'],
    gives: pages('held', ITEM, ['containments']),
    command: {
      words: 'held',
      list: 'held',
      columns: ['id', 'kind', 'subject', 'address', 'why', 'madeAt', 'madeByKey', 'state'],
    },
  }),
  release: declareAction({
    name: 'held.release',
    path: '/partners/:partner/held/release',
    says: 'Releases held items. With `all`, keys that were created since or named as leaked are revoked and sessions end instead; other keys, members, passkeys and codes stay held until each is named by its number.',
    right: 'partners',
    people: 'rules',
    fields: {
      partner: id,
      items,
      ...onlyOf(NOT_CREDENTIALS),
    },
    refuses: ['unknown_partner', 'unknown_held_item', 'unknown_endpoint', ...PROPOSES],
    gives: done([...SEEN, { 'items?': many(ITEM, 'The named items') }], [{ decided }, ...STILL]),
    command: { words: 'held release', args: ['partner', 'items'] },
  }),
  reject: declareAction({
    name: 'held.reject',
    path: '/partners/:partner/held/reject',
    says: 'Rejects held items permanently: endpoints and members are removed, keys and passkeys are revoked, sessions end, and codes are deleted.',
    right: 'partners',
    people: 'one',
    fields: {
      partner: id,
      items,
      ...onlyOf(HELD_KINDS),
    },
    refuses: ['unknown_partner', 'unknown_held_item', 'unknown_endpoint'],
    gives: done([...SEEN, { 'items?': many(ITEM, 'The named items') }], [{ decided }, ...STILL]),
    command: { words: 'held reject', args: ['partner', 'items'] },
  }),
  createKey: declareAction({
    name: 'key.create',
    path: '/partners/:partner/keys',
    says: 'Creates a key. Its secret is shown once, to the operator who requested it.',
    right: 'partners',
    people: 'rules',
    fields: {
      partner: id,
      label: about(typed(60), 'Label of the key', 'main'),
      scopes: about(listOf(oneOf(SCOPES), SCOPES.length), 'What the key may do', ['read', 'trade']),
      addresses: optional(about(listOf(network, 50), 'Networks from which it may be used', ['203.0.113.0/24'])),
      expiresAt: optional(about(time, 'Until when it is valid', '2028-01-31T00:00:00Z')),
    },
    refuses: ['unknown_partner', ...PROPOSES],
    gives: done(
      ['name', 'suspended'],
      ['apiKey', { 'apiSecret?': apiSecret, 'bearerToken?': bearerToken, 'secretFor?': secretFor }],
    ),
    command: { words: 'key create', args: ['partner', 'label', 'scopes'] },
  }),
  rotateKey: declareAction({
    name: 'key.rotate',
    path: '/keys/:key/rotate',
    says: 'Gives a key a new secret. The previous one stays valid for `overlapHours`.',
    right: 'partners',
    people: 'rules',
    fields: {
      key: keyName,
      overlapHours: optional(
        about(whole(0, 24 * 30), 'For how many hours the previous secret stays valid; 24 by default', 24),
      ),
    },
    refuses: ['unknown_key', ...PROPOSES],
    gives: done(KEY, [
      'apiKey',
      { 'apiSecret?': apiSecret, 'bearerToken?': bearerToken, 'secretFor?': secretFor },
      { oldSecretValidUntil: Type.String({ description: 'Until when the previous secret is valid: ISO 8601 in UTC' }) },
    ]),
    command: { words: 'key rotate' },
  }),
  collect: declareAction({
    name: 'key.collect',
    path: '/keys/:key/secret',
    says: 'Shows the secret of a key that you requested and another operator confirmed: once, within a day.',
    right: 'partners',
    people: 'one',
    fields: { key: keyName },
    refuses: ['unknown_key', 'no_secret_waits'],
    gives: done(KEY, ['apiKey', { apiSecret, bearerToken }]),
    command: { words: 'key secret' },
  }),
  keyWrites: declareAction({
    name: 'key.writes',
    path: '/keys/:key/writes',
    says: 'Sets whether writes with a key under /v1 must be signed in production, or may be sent with its bearer token alone.',
    right: 'partners',
    people: 'rules',
    fields: { key: keyName, signed: about(flag, 'Whether writes with the key must be signed', true) },
    refuses: ['unknown_key', ...PROPOSES],
    gives: done(KEY),
    command: { words: 'key writes', args: ['key', 'signed'] },
  }),
  revoke: declareAction({
    name: 'key.revoke',
    path: '/keys/:key/revoke',
    says: 'Revokes a key.',
    right: 'block',
    people: 'one',
    fields: { key: keyName },
    refuses: ['unknown_key'],
    gives: done(KEY),
    command: { words: 'key revoke' },
  }),
};
