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
      description: 'The resource at the time of the event: see the page on webhooks',
      examples: [{ orderId: '747983292881815', state: 'settled' }],
    }),
  },
  { ...closed, description: 'Something that happened' },
);

const endpoint = {
  id: text('Id of the endpoint', 'whe_4pQ9aXbT7mK2vN8c'),
  url: text('Address that events are posted to', 'https://wallet.example/hooks'),
  format: word(['standard', 'whitelabel', 'flat'] as const, 'Form of the body; `standard` is this API’s'),
  events: list(text('Type of events, or `order.*`', 'order.*'), 'Types of events; none: all'),
  enabled: yes('Whether events are sent'),
  failures: whole('How many attempts have failed in a row', 0),
  pausedUntil: maybe(time('Until when no attempt is made, after failures')),
  failingSince: rarely(time('Since when every attempt has failed')),
  switchedOffAt: rarely(time('When it was switched off, because every attempt had failed for five days')),
  heldAt: rarely(time('Since when it is held, because a key of yours may have leaked')),
  oldSecretUntil: maybe(time('Until when the previous secret signs as well')),
  createdAt: time('When it was added'),
  updatedAt: time('When it last changed'),
};
export const WebhookEndpoint = Type.Object(endpoint, { ...closed, description: 'Where events are posted to' });
export const WebhookEndpointWithSecret = Type.Object(
  { ...endpoint, secret: text('Secret that signs the webhooks: shown here and never again', 'whsec_…') },
  { ...closed, description: 'A webhook endpoint with its secret' },
);
export const Removed = Type.Object(
  {
    id: text('Id of the removed endpoint', 'whe_4pQ9aXbT7mK2vN8c'),
    removed: Type.Literal(true, { description: 'It is gone', examples: [true] }),
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
    hasMore: yes('Whether there are more: ask for a shorter span', false),
  },
  { ...closed, description: 'What is sent again' },
);
export const DELIVERY_STATES = ['waiting', 'delivered', 'dead', 'dropped'] as const;
export const Delivery = Type.Object(
  {
    eventId: text('Id of the event', 'evt_1_17'),
    type: text('What happened', 'order.settled'),
    subject: text('The subject', 'order:747983292881815'),
    sequence: whole('Position among the events of its subject', 3),
    state: word(DELIVERY_STATES, 'How far the delivery is'),
    attempts: whole('How many attempts were made', 1),
    lastError: maybe(text('Why the last attempt failed', 'answered 500')),
    endedAt: maybe(time('When it ended')),
  },
  { ...closed, description: 'An event on its way to an endpoint' },
);
export const Attempt = Type.Object(
  {
    at: time('When'),
    tookMs: whole('How long it took, in milliseconds', 41),
    status: maybe(whole('HTTP status of the answer', 200)),
    error: maybe(text('Why it failed', 'timed out')),
    answer: text('Beginning of what your server answered', 'ok'),
  },
  { ...closed, description: 'An attempt to deliver an event' },
);
