/** Markets and assets to trade, the caller's limits, key and requests. */
import { about, object, oneOf, optional, personal, text, time, whole } from '../../declaration/fields.ts';
import { OPERATION, PROTOCOLS } from '../../request-log.store.ts';
import { declare, PAGED } from '../declare.ts';
import { Asset, Chain, Market, PaymentMethod } from '../schemas/catalogue.ts';
import { Limits } from '../schemas/customers.ts';
import { listOf, pageOf } from '../schemas/parts.ts';
import { Diagnosis, Key, RequestDetail, RequestLine } from '../schemas/requests.ts';

export const CATALOGUE = {
  markets: declare({
    name: 'markets.list',
    method: 'GET',
    path: '/markets',
    scope: 'read',
    says: 'Lists the pairs that are traded, each with its limits and terms.',
    fields: {},
    gives: listOf(Market),
  }),
  assets: declare({
    name: 'assets.list',
    method: 'GET',
    path: '/assets',
    scope: 'read',
    says: 'Lists the assets of the markets.',
    fields: {},
    gives: listOf(Asset),
  }),
  chains: declare({
    name: 'chains.list',
    method: 'GET',
    path: '/chains',
    scope: 'read',
    says: 'Lists the chains of the markets.',
    fields: {},
    gives: listOf(Chain),
  }),
  methods: declare({
    name: 'methods.list',
    method: 'GET',
    path: '/methods',
    scope: 'read',
    says: 'Lists the payment methods of the markets.',
    fields: {},
    gives: listOf(PaymentMethod),
  }),
} as const;

export const ACCOUNT = {
  key: declare({
    name: 'key.get',
    method: 'GET',
    path: '/key',
    scope: 'read',
    member: 'none',
    says: 'Answers what the key that asks may do, and which version answers it.',
    fields: {},
    gives: Key,
  }),
  limits: declare({
    name: 'limits.get',
    method: 'GET',
    path: '/limits',
    scope: 'read',
    says: 'Shows your limits: used and remaining amounts.',
    fields: {},
    gives: Limits,
  }),
} as const;

const requestId = text(64, /^[\w.-]+$/, 'an id of a request');

export const REQUESTS = {
  list: declare({
    name: 'requests.list',
    method: 'GET',
    path: '/request-log',
    scope: 'read',
    says: 'Lists your requests of the last 30 days, on this API and on the white-label wire, the newest first.',
    more: 'Of the white-label wire, requests whose key is known have a line: at most 600 a minute for each key.',
    fields: {
      protocol: optional(about(oneOf(PROTOCOLS), 'Only requests of this interface', 'white-label')),
      operation: optional(text(80, OPERATION, 'a name of an endpoint, such as orders.create or offramp/quote')),
      status: optional(whole(200, 599)),
      reason: optional(text(64, /^[a-z_]+$/, 'a reason')),
      from: optional(time),
      until: optional(time),
      ...PAGED,
    },
    gives: pageOf(RequestLine),
  }),
  get: declare({
    name: 'requests.get',
    method: 'GET',
    path: '/request-log/:request',
    scope: 'read',
    says: 'Shows one of your requests of the last 30 days, with its reply and the reason.',
    more: 'Personal data is left out of both. A request appears in the log shortly after its reply.',
    fields: {
      request: about(requestId, 'Id of the request, or what you sent as X-Client-Request-Id', '4f1c2a9d0e00001a'),
    },
    gives: RequestDetail,
    refuses: ['unknown_request'],
  }),
  diagnose: declare({
    name: 'requests.diagnose',
    method: 'POST',
    path: '/request-log/diagnosis',
    scope: 'admin',
    says: 'Says why a request of your program is accepted or not: key, token, covered parts, digest, time and signature.',
    more: 'It is checked as if it came now, against your valid keys. Nothing is carried out, and nothing of it is kept. Of a signature that does not match, the mistakes that are known to be made are tried.',
    fields: {
      method: about(oneOf(['GET', 'POST', 'PATCH', 'DELETE']), 'Method of the request', 'POST'),
      path: about(
        text(2_000, /^\/[^\s#]*$/, 'a path with its query, such as /v1/orders?limit=5'),
        'Path and query',
        '/v1/orders',
      ),
      headers: optional(personal(about(object, 'Headers by name', { authorization: 'Bearer clv_4pQ9aX.5f2…' }))),
      body: optional(
        personal(
          about(
            { ...text(60_000), read: (given) => (typeof given === 'string' ? given : undefined) },
            'Body, exactly as it was sent',
            '{"quoteId":"7"}',
          ),
        ),
      ),
    },
    gives: Diagnosis,
  }),
} as const;
