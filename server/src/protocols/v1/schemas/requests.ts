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
    key: text('The key that asks', 'clv_4pQ9aX'),
    partner: Type.Object(
      { id: id('Number of the partner', '1'), name: text('Name of the partner', 'A Wallet') },
      { ...closed, description: 'Whose key it is' },
    ),
    scopes: list(word(SCOPES, 'A scope'), 'What the key may do'),
    version: text('Version that is used if a request of this key names none', '2026-11-23'),
    versions: list(text('A version', '2026-11-23'), 'Versions there are, oldest first'),
    requestsPerMinute: whole('Requests a minute', 6000),
    writes: word(['bearer', 'signed'] as const, '`signed`: a write must be signed; `bearer`: it may carry the token'),
    environment: word(['sandbox', 'production'] as const, 'Where you are'),
    time: time('Time of the server: signatures are checked against it'),
  },
  { ...closed, description: 'The key that asks' },
);

export const RequestLine = Type.Object(
  {
    id: text('Id of the request: `X-Request-Id` of its answer', '4f1c2a9d0e00001a'),
    clientRequestId: maybe(text('What you sent as `X-Client-Request-Id`', 'abc-1')),
    at: time('When it came'),
    key: text('The key that asked', 'clv_4pQ9aX'),
    protocol: word(PROTOCOLS, '`v1`: this API; `white-label`: the older wire, whose lines have neither body nor reply'),
    operation: text('Name of the endpoint; of the white-label wire, its path', 'orders.create'),
    method: text('HTTP method', 'POST'),
    path: text('Path as asked, without its query', '/v1/orders'),
    status: whole('HTTP status that was answered', 201),
    reason: maybe(text('Why it was declined', 'quote_over')),
    why: rarely(text('What was wrong with a signature or token that was not accepted', 'the signature is too old')),
    tookMs: whole('How long it took, in milliseconds', 12),
    replayed: yes('Whether an earlier answer was given again', false),
    version: maybe(text('Version that answered; null of the white-label wire', '2026-11-23')),
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
    accepted: yes('Whether the server would take it as authentic', false),
    findings: list(
      Type.Object(
        {
          part: word(['headers', 'key', 'token', 'signature', 'digest', 'idempotency'] as const, 'What was looked at'),
          ok: yes('Whether it is right', false),
          says: text('What was found', 'the signature is too old'),
        },
        closed,
      ),
      'Each part that was looked at',
    ),
  },
  { ...closed, description: 'Why a request is accepted or not' },
);

export const Problem = Type.Object(
  {
    type: text('Page that explains the reason', 'https://ramp.example/docs/errors/quote_over'),
    title: text('The reason in a few words', 'The quote is over'),
    status: whole('HTTP status', 409),
    detail: text('What is wrong with this request', 'The quote expired at 2026-11-23T09:31:00.000Z.'),
    reason: text('The word to branch on', 'quote_over'),
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
          min: decimal('Least amount', '10'),
          max: decimal('Largest amount', '10000'),
        },
        { ...closed, description: 'What is allowed' },
      ),
    ),
    supported: Type.Optional(list(text('A value', 'IMPS'), 'What there is instead')),
    state: Type.Optional(text('State that does not allow it', 'settled')),
    customerId: Type.Optional(text('The customer that exists', '8tvxR5aVmM_1')),
    submissionId: Type.Optional(id('The submission that is under way')),
    usableAt: Type.Optional(time('From when on the destination may be paid')),
    customerLimit: Type.Optional(
      Type.Object(
        {
          ...LIMIT_SCOPE,
          ...LIMIT_AMOUNTS,
          fitsAt: maybe(time('From when this amount is available, if no further order is made; null if it never is')),
          level: whole('Level of the customer', 1),
          nextLevel: maybe(whole('The lowest level that allows more; null where none does', 2)),
        },
        { ...closed, description: 'The limit with the smallest remainder' },
      ),
    ),
  },
  { ...closed, description: 'Why a request was declined: RFC 9457' },
);
