/**
 * Checkout: the pages that customers see, rendered here and working without any script.
 *
 * `/kyc/:token` verifies a customer, `/bank/:token` adds a bank account, `/confirm/:token` confirms a destination (confirm.ts),
 * `/checkout/:token` buys or sells (flow.ts), `/return/:token` confirms a refund address for coins (return.ts). The token comes
 * from a signed call of the partner's program (for a return link, from an operator). It names partner, flow, the return URL and
 * usually the customer, and gives access to a login page only (customers/links.ts). Every step is a form that posts to its own
 * page; success answers with a redirect to the same page, which shows the next step from stored data. So reloading, going back
 * and sending twice are harmless.
 *
 * A request is checked in this order: rate limit of its network address, link, the customer it names, session, form, and then
 * the page (`answer`). An invalid link and a link to a missing customer get the same answer.
 *
 * Not here: making links (whitelabel, v1), codes and their limits (customers/login.ts), the meaning of a verification result
 * (customers).
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Tx } from '../../base/db.ts';
import { assert, Refusal, Unavailable } from '../../base/errors.ts';
import { describeError } from '../../base/log.ts';
import {
  type CheckoutLink,
  type Customer,
  findCustomer,
  type Link,
  type LinkPurpose,
  madeAs,
  openLink,
} from '../../customers/index.ts';
import { brandingOf, cutOff, findPartner, isLinkHeld } from '../../partners/index.ts';
import { networkOf, openLimiter } from '../limit.ts';
import type { Call, Protocol, Reply } from '../protocol.ts';
import { bank } from './bank.ts';
import { brandingOn, serveBranding } from './branding.ts';
import { confirm } from './confirm.ts';
import { checkoutPage } from './flow.ts';
import { html } from './html.ts';
import { kyc } from './kyc.ts';
import { type Messages, messagesFor } from './messages.ts';
import { type Look, linkButton, page, paragraph } from './pages.ts';
import { proofOrLogin } from './proof.ts';
import { returnPage } from './return.ts';
import { beginSession, isOwnForm, readSession, sessionCookie } from './session.ts';
import { openUploads } from './upload.ts';
import type { Arrival, CheckoutDeps, Outcome, Visit } from './visit.ts';

export { erasePhones } from './erase.ts';
export { html } from './html.ts';
export { type CodeSender, knownCodes, SANDBOX_CODE, SANDBOX_DEAD_PHONE, sandboxSender } from './sender.ts';
export { webhookCodes } from './sender.webhook.ts';
export type { CheckoutDeps } from './visit.ts';

const PURPOSES: readonly LinkPurpose[] = ['kyc', 'bank', 'confirm', 'checkout', 'return'];
const PAGES: Readonly<Record<Exclude<LinkPurpose, 'checkout'>, (visit: Visit) => Promise<Outcome>>> = {
  kyc,
  bank,
  confirm,
  return: returnPage,
};

/** Pages whose forms have files: those on which a customer is verified. */
const TAKE_FILES: readonly LinkPurpose[] = ['kyc', 'checkout'];
/** Our own form has two kilobytes; an operators' form may have sixty answers of 256 characters. */
const MAX_BODY_BYTES = 64 * 1024;
/** A visit is about ten requests; many people may share one address. */
const REQUESTS_PER_MINUTE = 120;
/** Phone numbers that one network may enter: thirty at once, then one a minute. */
const MOST_NAMINGS = 30;
const REQUESTS_PER_NAMING = 120;

const asset = (name: string, type: string) => {
  const bytes = readFileSync(new URL(name, import.meta.url));
  const version = createHash('sha256').update(bytes).digest('hex').slice(0, 12);
  return { path: `/hosted/${name}`, address: `/hosted/${name}?v=${version}`, type, bytes };
};
const CSS = asset('page.css', 'text/css; charset=utf-8');
const JS = asset('page.js', 'text/javascript; charset=utf-8');

export const checkout: Protocol<CheckoutDeps> = (deps) => async (app) => {
  const answer = answerer(deps);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );
  // Read only when the sender is known (upload.ts).
  app.addContentTypeParser(/^\s*multipart\/form-data\s*;/i, (_request, body, done) => done(null, body));
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id).headers(securityHeaders(isSecure(deps)));
  });
  app.setErrorHandler(async (error, request, reply) => {
    const plain = plainPages(deps, request.headers as Call['headers']);
    const { statusCode } = error as { statusCode?: unknown };
    if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
      return send(reply, plain.page(statusCode, plain.m.badRequest));
    }
    if (cutOff(error) !== undefined) return send(reply, plain.page(403, plain.m.suspended));
    // A body that is not complete multipart/form-data.
    if (error instanceof Refusal && error.code === 'malformed_body')
      return send(reply, plain.page(400, plain.m.badRequest));
    const isOutside = error instanceof Unavailable;
    deps.log[isOutside ? 'warn' : 'error'](
      { requestId: request.id, path: request.routeOptions.url, ...describeError(error) },
      'page failed',
    );
    return send(reply, isOutside ? plain.page(503, plain.m.unavailable) : plain.page(500, plain.m.broken));
  });

  for (const purpose of PURPOSES) {
    const url = `/${purpose}/:token`;
    app.route({
      method: ['GET', 'POST'],
      url,
      bodyLimit: MAX_BODY_BYTES,
      handler: async (request, reply) =>
        await send(reply, await answer(purpose, callOf(request), new URLSearchParams(queryOf(request.url)))),
    });
    const others = app.supportedMethods.filter((method) => !['GET', 'HEAD', 'POST'].includes(method));
    const refuse = async (request: FastifyRequest, reply: FastifyReply) => {
      const plain = plainPages(deps, request.headers as Call['headers']);
      return await send(reply.header('allow', 'GET, HEAD, POST'), plain.page(405, plain.m.badRequest));
    };
    app.route({ method: others, url, onRequest: refuse, handler: refuse });
  }
  for (const { path, type, bytes } of [CSS, JS]) {
    app.get(path, async (_request, reply) =>
      reply.header('content-type', type).header('cache-control', 'public, max-age=86400').send(bytes),
    );
  }
  const served = { db: deps.db, requestsPerMinute: deps.requestsPerMinute ?? REQUESTS_PER_MINUTE };
  serveBranding(app, served, (reply, status) =>
    reply.code(status).headers({ 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }).send(''),
  );
  const nothing = async (request: FastifyRequest, reply: FastifyReply) => {
    const plain = plainPages(deps, request.headers as Call['headers']);
    return await send(reply, plain.page(404, plain.m.unknownPage));
  };
  for (const prefix of [...PURPOSES.map((purpose) => `/${purpose}`), '/hosted']) {
    for (const url of [prefix, `${prefix}/*`]) {
      app.route({ method: app.supportedMethods, url, onRequest: nothing, handler: nothing });
    }
  }
};

/** Answers requests to pages. */
function answerer(deps: CheckoutDeps) {
  const limiter = openLimiter();
  const namings = openLimiter();
  const uploads = openUploads(deps.uploadLimits);
  const perMinute = deps.requestsPerMinute ?? REQUESTS_PER_MINUTE;

  return async (purpose: LinkPurpose, call: Call, query: URLSearchParams): Promise<Reply> => {
    const plain = plainPages(deps, call.headers);
    const { m } = plain;
    const network = networkOf(call.address);
    const allowance = limiter.take(network, perMinute);
    if (!allowance.allowed) return retryLater(plain.page(429, m.tooMany), allowance.retryAfterMs);

    const now = deps.clock.now();
    const token = call.params.token ?? '';
    const link = openLink(deps.vault, purpose, token, now);
    if (link === 'ended') return plain.page(410, m.endedLink);
    if (link === undefined) return plain.page(404, m.unknownLink);
    const inTx: Arrival['inTx'] = (work) => deps.db.asPartner(BigInt(link.partnerId), work);
    const secure = isSecure(deps);
    const kept = readSession(deps.vault, call.headers.cookie, { customerId: link.customerId, now, secure });
    const named = link.customerId ?? kept?.customerId ?? '';
    const found = await inTx(async (tx) => {
      const partner = await findPartner(tx, { id: BigInt(link.partnerId) });
      if (partner === undefined) return undefined;
      // Links that a leaked key may have made are held. Return links are exempt, because an operator makes them.
      const isHeld = purpose !== 'return' && (await isLinkHeld(tx, { partnerId: partner.id, ...madeAs(link) }));
      const branding = await brandingOf(tx, partner.id);
      return { partner, branding, isHeld, customer: named === '' ? undefined : await customerOrNone(tx, named) };
    });
    if (found === undefined || (link.customerId !== null && found.customer === undefined))
      return plain.page(404, m.unknownLink);
    const { branding, customer } = found;
    const partner = { ...found.partner, name: branding.displayName ?? found.partner.name };
    if (partner.suspended || found.isHeld) return plain.page(403, m.suspended);

    // A session of another partner's customer does not count here. If a phone number passes to another person, the earlier
    // customer's login ends in every browser.
    const theirs = named !== '' && customer === undefined ? undefined : kept;
    const isLogin =
      customer === undefined || (customer.loggedInAt !== null && customer.loginEpoch === (theirs?.epoch ?? 0));
    const known = theirs && { ...theirs, loggedIn: theirs.loggedIn && isLogin };
    const look: Look = { ...plain.look, partner: partner.name, brand: brandingOn(branding, rootOf(deps)) };
    const action = `${rootOf(deps)}/${purpose}/${token}`;
    const isForm = call.method === 'POST';
    if (call.upload !== undefined && !TAKE_FILES.includes(purpose)) return plain.page(415, m.badRequest);
    // A stranger's files are not read: without a login the form is answered as one of an ended session.
    const upload = known?.loggedIn === true && customer !== undefined ? call.upload : undefined;
    const posted = upload && (await uploads.read(upload, call.headers['content-type'] ?? '', customer?.id ?? ''));
    if (posted !== undefined && 'retryAfterMs' in posted)
      return retryLater(plain.page(429, m.tooManyFiles), posted.retryAfterMs);
    const form = isForm ? (posted?.form ?? new URLSearchParams(call.body.toString('utf8'))) : undefined;
    if (form !== undefined && !isOwnForm(known, form.get('csrf'))) {
      const { title, text, reload } = m.staleForm;
      return htmlReply(403, page(look, { title, body: html`${paragraph(text)}${linkButton(action, reload)}` }));
    }
    const session = known ?? beginSession(link.customerId ?? '', now);
    const from = { network, link: token };
    const mayNamePhone = () =>
      namings.take(network, perMinute / REQUESTS_PER_NAMING, (MOST_NAMINGS * perMinute) / REQUESTS_PER_MINUTE);
    const through = { partnerId: partner.id, apiKey: link.madeBy ?? null, link: madeAs(link).id ?? 'earlier' };
    const arrival: Arrival = {
      ...{ deps, look, partner, session, action, query, form, now, inTx, from, mayNamePhone, through },
      ...{ files: posted?.files ?? [], uploadFault: posted?.fault },
    };
    const outcome = await pageFor(purpose, arrival, { link, customer });

    const next = outcome.session ?? (known === undefined ? session : undefined);
    const cookie = next === undefined ? {} : { 'set-cookie': sessionCookie(deps.vault, next, secure) };
    if ('goTo' in outcome) return { status: 303, body: '', headers: { ...HTML, ...cookie, location: outcome.goTo } };
    const reply = htmlReply(outcome.status, outcome.page, cookie);
    return outcome.retryAfterMs === undefined ? reply : retryLater(reply, outcome.retryAfterMs);
  };
}

async function pageFor(
  purpose: LinkPurpose,
  arrival: Arrival,
  { link, customer }: { link: Link | CheckoutLink; customer: Customer | undefined },
): Promise<Outcome> {
  if ('marketId' in link) return await checkoutPage({ ...arrival, link, customer });
  assert(customer !== undefined && purpose !== 'checkout', `the ${purpose} link names no customer`);
  return await (arrival.session.loggedIn ? PAGES[purpose] : proofOrLogin)({ ...arrival, link, customer });
}

async function customerOrNone(tx: Tx, id: string): Promise<Customer | undefined> {
  try {
    return await findCustomer(tx, id);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'unknown_customer') return undefined;
    throw error;
  }
}

const HTML = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' } as const;

const htmlReply = (status: number, body: string, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status,
  body,
  headers: { ...HTML, ...headers },
});

const retryLater = (reply: Reply, afterMs: number): Reply => ({
  ...reply,
  headers: { ...reply.headers, 'retry-after': String(Math.max(1, Math.ceil(afterMs / 1000))) },
});

/** Pages for requests whose partner is not known. */
function plainPages(deps: CheckoutDeps, headers: Call['headers']) {
  const m: Messages = messagesFor(headers['accept-language']);
  const root = rootOf(deps);
  const look: Look = { m, partner: '', assets: { css: `${root}${CSS.address}`, js: `${root}${JS.address}` } };
  return {
    m,
    look,
    page: (status: number, words: { title: string; text: string }): Reply =>
      htmlReply(status, page(look, { title: words.title, body: paragraph(words.text) })),
  };
}

/** The public URL may have a path, which a proxy in front removes. */
const rootOf = (deps: CheckoutDeps): string => new URL(deps.publicUrl()).pathname.replace(/\/+$/, '');
const isSecure = (deps: CheckoutDeps): boolean => deps.publicUrl().startsWith('https:');

const securityHeaders = (secure: boolean): Record<string, string> => ({
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  ...(secure ? { 'strict-transport-security': 'max-age=31536000' } : {}),
});

const queryOf = (url: string): string => (url.includes('?') ? url.slice(url.indexOf('?')) : '');

const callOf = (request: FastifyRequest): Call => ({
  method: request.method,
  params: request.params as Record<string, string>,
  headers: request.headers as Call['headers'],
  body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
  ...(request.body instanceof Readable ? { upload: request.body } : {}),
  address: request.ip,
});

const send = async (reply: FastifyReply, { status, body, headers }: Reply): Promise<FastifyReply> =>
  await reply
    .code(status)
    .headers(headers ?? {})
    .send(body);
