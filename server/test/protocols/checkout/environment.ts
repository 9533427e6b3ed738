/**
 * A server with the hosted pages beside the white-label API, over real HTTP, and a customer's browser that keeps cookies, follows
 * no redirect on its own, and fills in the forms that it is shown.
 */
import { createHmac } from 'node:crypto';
import { openFolder } from '../../../src/base/blobs.ts';
import { Unavailable } from '../../../src/base/errors.ts';
import { callbacks } from '../../../src/protocols/callbacks/index.ts';
import { type CheckoutDeps, checkout, sandboxSender } from '../../../src/protocols/checkout/index.ts';
import { verificationWords } from '../../../src/protocols/whitelabel/index.ts';
import { simulatedVerifier } from '../../../src/verifiers/simulated/index.ts';
import type { Finding, VerificationRequest, Verifier } from '../../../src/verifiers/verifier.ts';
import { type TestPartner, wireEnvironment } from '../whitelabel/environment.ts';

export type PagesEnvironment = Awaited<ReturnType<typeof pagesEnvironment>>;

export const BACK = 'https://wallet.example/back?flow=7';

/** @param options differences from the defaults; `null` leaves out the sender of codes */
export async function pagesEnvironment(
  options: {
    coolingOffMs?: number;
    phoneIdleMs?: number;
    requestsPerMinute?: number;
    sender?: CheckoutDeps['sender'] | null;
    uploadLimits?: CheckoutDeps['uploadLimits'];
    publicUrl?: string;
  } = {},
) {
  const asked: VerificationRequest[] = [];
  /** The verifier's answer from now on; undefined: that of the simulated verifier. */
  const verifier: { finding?: Finding | undefined; isAway?: boolean } = {};
  /** The verifier of these pages, and of anything that a test starts beside them. */
  const asking: Verifier = {
    ...simulatedVerifier,
    async begin(input) {
      asked.push(input);
      if (verifier.isAway === true) throw new Unavailable('verifier', 'away');
      return await simulatedVerifier.begin(input);
    },
    async finding(input) {
      if (verifier.isAway === true) throw new Unavailable('verifier', 'away');
      return verifier.finding ?? (await simulatedVerifier.finding(input));
    },
    readCallback: ({ headers, body }) =>
      headers['x-signature'] === callbackSignature(body) ? JSON.parse(body.toString('utf8')).key : undefined,
  };
  const world = await wireEnvironment({
    beside: (fixture) => async (app) => {
      const pages = checkout({
        ...fixture,
        ...(options.publicUrl === undefined ? {} : { publicUrl: () => options.publicUrl ?? '' }),
        blobs: openFolder(fixture.blobFolder),
        coolingOffMs: options.coolingOffMs,
        phoneIdleMs: options.phoneIdleMs,
        uploadLimits: options.uploadLimits,
        requestsPerMinute: options.requestsPerMinute ?? 10_000,
        sender: options.sender === null ? undefined : (options.sender ?? sandboxSender),
        statusWord: (customer, partner) => verificationWords(customer, partner).status,
        verifier: asking,
      });
      await app.register(pages);
      await app.register(callbacks({ ...fixture, verifier: asking }));
    },
  });
  let count = 0;

  /** A new customer who has not logged in, and a link for this customer. */
  async function invited(
    partner: TestPartner,
    over: Record<string, unknown> = {},
  ): Promise<{ customerId: string; kycUrl: string }> {
    count += 1;
    const { body, text, status } = await partner.post('kyc/url', {
      clientCustomerId: `pages-${count}`,
      phoneNumber: `+91 ${10_000 + count} 43210`,
      type: 'INDIVIDUAL',
      kycRedirectUrl: BACK,
      ...over,
    });
    if (status !== 200) throw new Error(text);
    return body.data;
  }

  return { ...world, asked, verifier, asking, invited };
}

/** Signs a callback as the provider of these pages' verifier does. */
export const callbackSignature = (body: Buffer | string): string =>
  createHmac('sha256', 'shared with the provider').update(body).digest('hex');

export interface Shown {
  status: number;
  text: string;
  headers: Headers;
  title: string;
  /** The target of a redirect as an absolute URL. */
  location: string | undefined;
}

/** A file for an input: the input's name, its content, and the name that the customer's device has for it. */
export type Chosen = readonly [name: string, content: Buffer, fileName?: string];

/** A browser without a script engine. `at` is the page it is on. */
export function openBrowser(cookies = new Map<string, string>()) {
  let at = '';
  let csrf = '';

  async function ask(url: string, init: RequestInit = {}): Promise<Shown> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      redirect: 'manual',
      ...init,
      headers: { ...(cookie === '' ? {} : { cookie }), ...init.headers },
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';', 1);
      cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    const text = await response.text();
    const location = response.headers.get('location');
    csrf = /name="csrf" value="([0-9a-f]+)"/.exec(text)?.[1] ?? csrf;
    return {
      status: response.status,
      text,
      headers: response.headers,
      title: /<h1>(.*?)<\/h1>/.exec(text)?.[1] ?? '',
      location: location === null ? undefined : new URL(location, url).href,
    };
  }

  const browser = {
    cookies,
    ask,
    async open(url: string): Promise<Shown> {
      at = url;
      return await ask(url);
    },
    /** From the last page that had a form. */
    csrf: (): string => csrf,
    /** Sends a form of the page and returns the answer, redirect or not. */
    async send(intent: string, values: Record<string, string> = {}): Promise<Shown> {
      const page = (at.split('?', 1)[0] ?? at).split('#', 1)[0] ?? at;
      return await ask(page, { method: 'POST', body: new URLSearchParams({ csrf, intent, ...values }) });
    },
    /** Sends a form and opens the next page. */
    async go(intent: string, values: Record<string, string> = {}): Promise<Shown> {
      const shown = await browser.send(intent, values);
      return shown.location === undefined ? shown : await browser.open(shown.location);
    },
    /** Sends a form that has inputs for files, as a browser does: an input without a file is an empty part. */
    async upload(
      intent: string,
      values: Record<string, string> = {},
      files: readonly Chosen[] = [],
      over: { empty?: readonly string[] } = {},
    ): Promise<Shown> {
      const page = (at.split('?', 1)[0] ?? at).split('#', 1)[0] ?? at;
      const body = new FormData();
      for (const [name, value] of Object.entries({ csrf, intent, ...values })) body.append(name, value);
      for (const [name, content, fileName = 'photo.jpg'] of files)
        body.append(name, new Blob([new Uint8Array(content)], { type: 'image/jpeg' }), fileName);
      for (const name of over.empty ?? []) body.append(name, new Blob([]), '');
      const shown = await ask(page, { method: 'POST', body });
      return shown.location === undefined ? shown : await browser.open(shown.location);
    },
    async login(url: string, code = '123456'): Promise<Shown> {
      await browser.open(url);
      await browser.go('code');
      return await browser.go('login', { code });
    },
  };
  return browser;
}

/** The link back to the partner that a page offers. */
export function wayBack({ text }: Shown): URL | undefined {
  const href = /<a class="button" href="([^"]*)">Back to/.exec(text)?.[1];
  return href === undefined ? undefined : new URL(unescaped(href));
}

export const unescaped = (text: string): string =>
  text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));

export const DETAILS = {
  firstName: 'Zebulon',
  // Of a person, and of who acts for a business.
  lastName: 'Quagmire-Ōtaki',
  secondSurname: 'Quagmire-Ōtaki',
  dob: '1984-02-29',
  sex: 'male',
  identityNumber: 'ZQ4711X0815',
  sourceOfFunds: 'salary',
  addressLine1: '17 Fjordmail Crescent',
  city: 'Wolverhampton',
  postalCode: 'WV1 4QZ',
};
