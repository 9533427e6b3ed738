/** Events, the endpoints they are posted to, and deliveries. */
import { Type } from 'typebox';
import { closed, list, maybe, rarely, text, time, whole, word, yes } from './parts.ts';

export const Event = Type.Object(
  {
    id: text('Id of the event: the same in every delivery', 'evt_1_17'),
    type: text('What happened', 'order.settled'),
    timestamp: time('When it happened'),
    subject: text('The subject', 'order:747983292881815'),
    sequence: whole('Position among the events of its subject, from 1 without gaps', 3),
    data: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      description: 'The resource at the time of the event; see the page on webhooks',
      examples: [{ orderId: '747983292881815', state: 'settled' }],
    }),
  },
  { ...closed, description: 'An event' },
);

const endpoint = {
  id: text('Id of the endpoint', 'whe_4pQ9aXbT7mK2vN8c'),
  url: text('Address that events are posted to', 'https://wallet.example/hooks'),
  format: word(['standard', 'whitelabel', 'flat'] as const, 'Format of the body; `standard` is the format of this API'),
  events: list(
    text('An event type, or a group such as `order.*`', 'order.*'),
    'Event types that are sent; an empty list means all',
  ),
  enabled: yes('Whether events are sent'),
  failures: whole('How many attempts have failed in a row', 0),
  pausedUntil: maybe(time('Until when no attempt is made because of failures')),
  failingSince: rarely(time('Since when every attempt has failed')),
  switchedOffAt: rarely(time('When it was switched off, because every attempt had failed for five days')),
  heldAt: rarely(time('Since when it is held, because a key of yours may have leaked')),
  oldSecretUntil: maybe(time('Until when webhooks are also signed with the previous secret')),
  createdAt: time('When it was added'),
  updatedAt: time('When it last changed'),
};
export const WebhookEndpoint = Type.Object(endpoint, {
  ...closed,
  description: 'An endpoint to which events are posted',
});
export const WebhookEndpointWithSecret = Type.Object(
  { ...endpoint, secret: text('Secret with which webhooks are signed. It is shown only once', 'whsec_…') },
  { ...closed, description: 'A webhook endpoint with its secret' },
);
export const Removed = Type.Object(
  {
    id: text('Id of the removed endpoint', 'whe_4pQ9aXbT7mK2vN8c'),
    removed: Type.Literal(true, { description: 'The endpoint was removed', examples: [true] }),
  },
  { ...closed, description: 'Removed' },
);
export const TestSent = Type.Object(
  { sent: Type.Literal(true, { description: 'A test event is on its way', examples: [true] }) },
  { ...closed, description: 'Sent' },
);
export const Replayed = Type.Object(
  {
    replayed: whole('How many events are sent again', 3),
    hasMore: yes('Whether there are more events: request a shorter period', false),
  },
  { ...closed, description: 'The events that are sent again' },
);
export const DELIVERY_STATES = ['waiting', 'delivered', 'dead', 'dropped'] as const;
export const Delivery = Type.Object(
  {
    eventId: text('Id of the event', 'evt_1_17'),
    type: text('What happened', 'order.settled'),
    subject: text('The subject', 'order:747983292881815'),
    sequence: whole('Position among the events of its subject', 3),
    state: word(DELIVERY_STATES, 'State of the delivery'),
    attempts: whole('How many attempts were made', 1),
    lastError: maybe(text('Why the last attempt failed', 'answered 500')),
    endedAt: maybe(time('When it ended')),
  },
  { ...closed, description: 'The delivery of an event to an endpoint' },
);
export const Attempt = Type.Object(
  {
    at: time('When'),
    tookMs: whole('How long it took, in milliseconds', 41),
    status: maybe(whole('HTTP status of the response', 200)),
    error: maybe(text('Why it failed', 'timed out')),
    answer: text('Beginning of your server’s response', 'ok'),
  },
  { ...closed, description: 'An attempt to deliver an event' },
);
