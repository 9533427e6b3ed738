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
    says: 'Lists the markets on which you can trade, each with its limits and terms.',
    fields: {},
    gives: listOf(Market),
  }),
  assets: declare({
    name: 'assets.list',
    method: 'GET',
    path: '/assets',
    scope: 'read',
    says: 'Lists the assets that the markets trade.',
    fields: {},
    gives: listOf(Asset),
  }),
  chains: declare({
    name: 'chains.list',
    method: 'GET',
    path: '/chains',
    scope: 'read',
    says: 'Lists the chains that the markets use.',
    fields: {},
    gives: listOf(Chain),
  }),
  methods: declare({
    name: 'methods.list',
    method: 'GET',
    path: '/methods',
    scope: 'read',
    says: 'Lists the payment methods that the markets accept.',
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
    says: 'Returns what the calling key may do, and the API version that its requests use.',
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

const requestId = text(64, /^[\w.-]+$/, 'the id of a request');

export const REQUESTS = {
  list: declare({
    name: 'requests.list',
    method: 'GET',
    path: '/request-log',
    scope: 'read',
    says: 'Lists your requests of the last 30 days to this API and to the white-label wire, newest first.',
    more: 'Of the white-label wire, the log has requests with a known key, at most 600 a minute for each key.',
    fields: {
      protocol: optional(about(oneOf(PROTOCOLS), 'Only requests of this interface', 'white-label')),
      operation: optional(text(80, OPERATION, 'the name of an endpoint, such as orders.create or offramp/quote')),
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
    says: 'Returns one of your requests of the last 30 days, with its reply and, if it was declined, the reason.',
    more: 'Request and reply are shown without personal data. A request appears in the log shortly after its reply.',
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
    says: 'Explains why a request of your program is authenticated or not: it checks key, token, covered parts, digest, time and signature.',
    more: 'The request is checked as if it arrived now, against your valid keys. It is not executed, and its headers and body are not stored. If the signature does not match, the reply names the common mistake that would produce it, if there is one.',
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
