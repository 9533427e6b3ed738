/**
 * Fuzzing the partner API from its own description: requests are generated from docs/openapi-v1.json, correct except for some
 * parts, and every reply has to be in that description: a documented status, a body of its schema, a reason that the endpoint
 * declares. Never a 500, no internal words. At the end the books balance, and agree with chain and bank.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { type V1Environment, v1Environment } from '../protocols/v1/environment.ts';
import type { Came } from '../support/client.ts';
import type { Asked } from '../support/v1.ts';
import { assertUnpolluted, fuzz, nasty, nastyJson } from './fuzz.ts';

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly items?: Schema;
  readonly examples?: readonly unknown[];
}
interface Operation {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly fields: readonly { name: string; where: 'path' | 'query' | 'body'; required: boolean; schema: Schema }[];
  readonly statuses: readonly string[];
  /** Only signed-in members of a team change it, never a key. */
  readonly needsSession: boolean;
  /** Names of the fields in the example of its body. */
  readonly shown: readonly string[];
}

const described = JSON.parse(readFileSync(new URL('../../../docs/openapi-v1.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Came>>;
  components: { responses: Record<string, Came> };
};

/** Endpoints share the descriptions of their failures. */
const failureOf = (response: Came): Came =>
  response?.$ref === undefined ? response : described.components.responses[response.$ref.split('/').at(-1)];

const OPERATIONS: readonly Operation[] = Object.entries(described.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]): Operation => {
    const body = operation.requestBody?.content['application/json']?.schema ?? { properties: {}, required: [] };
    return {
      ...{ name: operation['x-name'], method: method.toUpperCase(), path, statuses: Object.keys(operation.responses) },
      needsSession: failureOf(operation.responses['403'])?.description.includes('`session_required`') ?? false,
      shown: Object.keys(operation.requestBody?.content['application/json']?.example ?? {}),
      fields: [
        ...operation.parameters
          .filter((one: Came) => one.in === 'path' || one.in === 'query')
          .map((one: Came) => ({ name: one.name, where: one.in, required: one.required, schema: one.schema })),
        ...Object.entries(body.properties).map(([name, schema]) => ({
          ...{ name, where: 'body' as const, required: body.required.includes(name), schema: schema as Schema },
        })),
      ],
    };
  }),
);

/** A value of this form, mostly without meaning. */
function valid(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.type === 'boolean') return fc.boolean();
  if (schema.type === 'integer')
    return fc.integer({ min: schema.minimum ?? 0, max: Math.min(schema.maximum ?? 1_000, 2 ** 31 - 1) });
  if (schema.type === 'array' && schema.items !== undefined)
    return fc.array(valid(schema.items), { minLength: 1, maxLength: 4 });
  if (schema.format === 'date-time')
    return fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((at) => at.toISOString());
  if (schema.pattern !== undefined)
    return fc.stringMatching(new RegExp(schema.pattern)).filter((text) => text.length <= (schema.maxLength ?? 400));
  return fc.string({ minLength: schema.minLength ?? 0, maxLength: Math.min(schema.maxLength ?? 60, 60) });
}

/** Internal words. */
const INSIDE = /node_modules|\.ts:\d|at async|select .* from|insert into|postgres|cloverleaf_|violates|stack/i;

let w: V1Environment;
/** Valid values for the names that have a meaning here. */
let real: Record<string, unknown>;
const reached = new Set<string>();
const seen = new Map<string, number>();

before(async () => {
  w = await v1Environment();
  const order = await w.sells('100', { reference: 'fuzz' });
  const home = await w.address(order.customerId);
  const quote = await w.api.does('POST', '/quotes', {
    payAsset: 'inr',
    receiveAsset: 'usdc.matic20',
    payAmount: '9000',
  });
  const hook = await w.api.does('POST', '/webhook-endpoints', { url: 'http://127.0.0.1:1999/' });
  const late = await w.sells('50', { customerId: order.customerId });
  await w.s.pays(w.sale(late), '50');
  await w.s.mines(3);
  await w.becomes(late, 'settled');
  await w.s.pays({ ...w.sale({ ...late, payment: { address: late.payment.address } }) }, '5');
  await w.s.mines(3);
  const deposit = await w.s.until('a second payment is in suspense', async () => {
    const { data } = await w.api.does('GET', `/orders/${late.id}/deposits`);
    return data.find(({ state }: Came) => state === 'suspense');
  });
  const begun = await w.api.does('POST', `/customers/${order.customerId}/submissions`, {});
  const { data: events } = await w.api.does('GET', '/event-feed?limit=1');
  real = {
    ...{ order: order.id, orderId: order.id, quote: quote.id, quoteId: quote.id, customer: order.customerId },
    ...{ customerId: order.customerId, destination: home.id, destinationId: home.id, endpoint: hook.id },
    ...{ event: events[0].id, eventId: events[0].id, depositId: deposit.id, market: order.market, reference: 'fuzz' },
    ...{ payAsset: 'usdc.matic20', receiveAsset: 'inr', url: 'http://127.0.0.1:1999/', chain: 'matic20' },
    submission: begun.id,
  };
  const asked = await w.api.get('/key');
  real.request = asked.headers.get('x-request-id');
});
after(async () => {
  await w?.s.close();
});

interface Part {
  /** How a field is filled: correctly, in its form only, or with anything. */
  readonly how: 'right' | 'valid' | 'nasty' | 'absent';
  readonly valid: unknown;
  readonly nasty: unknown;
}

const part = (schema: Schema): fc.Arbitrary<Part> =>
  fc.record({
    how: fc.oneof(
      { weight: 8, arbitrary: fc.constant('right' as const) },
      { weight: 3, arbitrary: fc.constant('valid' as const) },
      { weight: 1, arbitrary: fc.constant('nasty' as const) },
      { weight: 1, arbitrary: fc.constant('absent' as const) },
    ),
    valid: valid(schema),
    nasty: fc.oneof(nasty as fc.Arbitrary<unknown>, nastyJson),
  });

const request = fc.nat(OPERATIONS.length - 1).chain((at) => {
  const operation = OPERATIONS[at] ?? assert.fail();
  return fc.record({
    operation: fc.constant(operation),
    parts: fc.tuple(...operation.fields.map(({ schema }) => part(schema))),
    /** All fields correct. */
    tame: fc.boolean(),
    /** Optional fields that are sent. */
    sent: fc.array(fc.nat(20), { maxLength: 4 }),
    more: fc.option(fc.tuple(nasty, nastyJson), { nil: undefined, freq: 12 }),
    key: fc.option(nasty, { nil: undefined, freq: 20 }),
  });
});

const rightFor = (name: string, schema: Schema): unknown => real[name] ?? schema.examples?.[0] ?? schema.enum?.[0];

/** A path with another meaning: fetch removes `.` and `..` before it sends, and a slash in a value makes more parts. */
const isAnother = (path: string): boolean => /%2F|%5C|\/\.\.?(\/|$)/i.test(path);

/** Characters that a header or a path can carry. */
const plain = (value: unknown): string =>
  String(typeof value === 'object' ? JSON.stringify(value) : value)
    .toWellFormed()
    .slice(0, 300);

async function sends({ operation, parts, tame, sent, more, key }: Came): Promise<Asked> {
  const { method, fields, shown } = operation as Operation;
  let { path } = operation as Operation;
  const query = new URLSearchParams();
  const body: Record<string, unknown> = {};
  for (const [at, { name, where, required, schema }] of fields.entries()) {
    const { how: chosen, valid: formed, nasty: any } = parts[at] as Part;
    const how = tame ? 'right' : chosen;
    const isSent = required || (tame ? shown.includes(name) : sent.includes(at));
    const value = how === 'nasty' ? any : how === 'valid' ? formed : rightFor(name, schema);
    if (where === 'path') path = path.replace(`{${name}}`, encodeURIComponent(plain(value)) || '%20');
    else if (how === 'absent' || !isSent) continue;
    else if (where === 'query') query.append(name, plain(value));
    else Object.defineProperty(body, name, { value, enumerable: true });
  }
  if (more !== undefined && !tame && method !== 'GET')
    Object.defineProperty(body, plain(more[0]), { value: more[1], enumerable: true });
  const headers = key === undefined || tame ? {} : { 'idempotency-key': encodeURIComponent(plain(key)).slice(0, 300) };
  // Otherwise nothing would be left to query.
  if (operation.name === 'webhooks.remove' && path.endsWith(String(real.endpoint))) path += 'x';
  const url = query.size === 0 ? path : `${path}?${query}`.slice(0, 8_000);
  // Behaviour outside the endpoints is checked below; the client checks their replies.
  return await w.api.send(method, url, method === 'GET' ? undefined : body, {
    headers,
    isUndeclared: isAnother(path),
  });
}

fuzz(
  'requests: the partner API',
  'whatever is asked in the form of its description is answered as the description says',
  1_000,
  request,
  async (one) => {
    const answer = await sends(one);
    const { name, statuses } = one.operation;
    const what = `${name}: ${answer.status} ${answer.text.slice(0, 600)}`;
    assert.ok(answer.status < 500 || answer.status === 503, what);
    assert.ok(answer.status >= 400 || !INSIDE.test(answer.text), what);
    const beside = isAnother(answer.path.split('?')[0] ?? '') ? [404, 405] : [404];
    assert.ok([...statuses.map(Number), ...beside].includes(answer.status), `${what}: not a status of it`);
    assertUnpolluted();
    seen.set(name, (seen.get(name) ?? 0) + 1);
    if (answer.status < 300) reached.add(name);
  },
);

test('nearly every endpoint was asked, and answered with a success', () => {
  const byKey = OPERATIONS.filter(({ needsSession }) => !needsSession).map(({ name }) => name);
  assert.ok(byKey.length > OPERATIONS.length / 2);
  const missed = byKey.filter((name) => !reached.has(name));
  assert.equal(seen.size, OPERATIONS.length);
  // Here nothing was removed or held, no code is correct, and no payout was returned.
  assert.ok(missed.length <= byKey.length / 4, `only refusals from ${missed.join(', ')}`);
});
