/** The key, the request log, and problems. */
import { Type } from 'typebox';
import { SCOPES } from '../../../partners/index.ts';
import { PROTOCOLS } from '../../request-log.store.ts';
import {
  closed,
  decimal,
  id,
  LIMIT_AMOUNTS,
  LIMIT_SCOPE,
  list,
  maybe,
  rarely,
  text,
  time,
  whole,
  word,
  yes,
} from './parts.ts';

export const Key = Type.Object(
  {
    key: text('The calling key', 'clv_4pQ9aX'),
    partner: Type.Object(
      { id: id('Number of the partner', '1'), name: text('Name of the partner', 'A Wallet') },
      { ...closed, description: 'The partner that owns the key' },
    ),
    scopes: list(word(SCOPES, 'A scope'), 'What the key may do'),
    version: text('API version of requests with this key that do not name one', '2026-11-23'),
    versions: list(text('A version', '2026-11-23'), 'All API versions, oldest first'),
    requestsPerMinute: whole('Requests per minute', 6000),
    writes: word(
      ['bearer', 'signed'] as const,
      '`signed`: a write must be signed; `bearer`: a write may be sent with the bearer token alone',
    ),
    environment: word(['sandbox', 'production'] as const, 'Environment of this server'),
    time: time('Time of the server, against which signatures are checked'),
  },
  { ...closed, description: 'The calling key' },
);

export const RequestLine = Type.Object(
  {
    id: text('Id of the request: `X-Request-Id` of its reply', '4f1c2a9d0e00001a'),
    clientRequestId: maybe(text('What you sent as `X-Client-Request-Id`', 'abc-1')),
    at: time('When it arrived'),
    key: text('Key or member of the request', 'clv_4pQ9aX'),
    protocol: word(
      PROTOCOLS,
      '`v1`: this API; `white-label`: the white-label wire, of which no body and no reply are stored',
    ),
    operation: text('Name of the endpoint; for the white-label wire, its path', 'orders.create'),
    method: text('HTTP method', 'POST'),
    path: text('Path of the request, without its query', '/v1/orders'),
    status: whole('HTTP status of the reply', 201),
    reason: maybe(text('Reason why it was declined', 'quote_over')),
    why: rarely(text('What was wrong with a rejected signature or token', 'the signature is too old')),
    tookMs: whole('How long it took, in milliseconds', 12),
    replayed: yes('Whether the reply was repeated from an earlier request', false),
    version: maybe(text('API version of the reply; null for the white-label wire', '2026-11-23')),
  },
  { ...closed, description: 'A request of yours' },
);
const logged = (description: string, example: Record<string, unknown>) =>
  maybe(Type.Unsafe<Record<string, unknown>>({ type: 'object', description, examples: [example] }));
export const RequestDetail = Type.Object(
  {
    ...RequestLine.properties,
    idempotencyKey: maybe(text('Idempotency-Key that was sent', 'k-1')),
    request: logged('Fields of the request, without personal data', { quoteId: '747983292881815' }),
    reply: logged('The reply, without personal data', { id: '747983292881815', state: 'created' }),
  },
  { ...closed, description: 'One of your requests, with its reply' },
);

export const Diagnosis = Type.Object(
  {
    accepted: yes('Whether the server would accept the request as authentic', false),
    findings: list(
      Type.Object(
        {
          part: word(
            ['headers', 'key', 'token', 'signature', 'digest', 'idempotency'] as const,
            'The part that was checked',
          ),
          ok: yes('Whether it is correct', false),
          says: text('Result of the check', 'the signature is too old'),
        },
        closed,
      ),
      'Each part that was checked',
    ),
  },
  { ...closed, description: 'Whether a request is accepted as authentic, and why' },
);

export const Problem = Type.Object(
  {
    type: text('Page that explains the reason', 'https://ramp.example/docs/errors/quote_over'),
    title: text('The reason in a few words', 'The quote is over'),
    status: whole('HTTP status', 409),
    detail: text('What is wrong with this request', 'The quote expired at 2026-11-23T09:31:00.000Z.'),
    reason: text('Stable code of the reason: branch on it', 'quote_over'),
    requestId: text('Id of the request', '4f1c2a9d0e00001a'),
    fields: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: 'Which field is wrong, and the rule it breaks',
        examples: [{ payAmount: 'must be an amount such as 100 or 0.5, without sign, of at most 40 characters' }],
      }),
    ),
    limits: Type.Optional(
      Type.Object(
        {
          asset: text('Code of the asset', 'usdc.matic20'),
          min: decimal('Minimum amount', '10'),
          max: decimal('Maximum amount', '10000'),
        },
        { ...closed, description: 'The allowed range' },
      ),
    ),
    supported: Type.Optional(list(text('A value', 'IMPS'), 'The supported values')),
    state: Type.Optional(text('State that does not allow the request', 'settled')),
    customerId: Type.Optional(text('Id of the existing customer', '8tvxR5aVmM_1')),
    submissionId: Type.Optional(id('Id of the submission that is under way')),
    usableAt: Type.Optional(time('From when the destination may be paid')),
    customerLimit: Type.Optional(
      Type.Object(
        {
          ...LIMIT_SCOPE,
          ...LIMIT_AMOUNTS,
          fitsAt: maybe(
            time('From when the limit allows this amount, if no further order is created; null if it never does'),
          ),
          level: whole('Level of the customer', 1),
          nextLevel: maybe(whole('The lowest level that allows more; null if no level does', 2)),
        },
        { ...closed, description: 'The limit with the smallest remainder' },
      ),
    ),
  },
  { ...closed, description: 'Why a request was declined: RFC 9457' },
);
