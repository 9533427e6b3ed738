/**
 * A visit: one request to a hosted page, after its link was decrypted and its partner and customer were read.
 */
import type { Blobs } from '../../base/blobs.ts';
import type { Clock } from '../../base/clock.ts';
import type { Vault } from '../../base/crypto.ts';
import type { Database, Tx } from '../../base/db.ts';
import type { Log } from '../../base/log.ts';
import type { AskedVerifier } from '../../compliance/index.ts';
import type { CheckoutLink, Customer, Link } from '../../customers/index.ts';
import type { Orders } from '../../orders/index.ts';
import type { Partner, Through } from '../../partners/index.ts';
import type { Allowance } from '../limit.ts';
import type { UploadedFile, UploadLimits } from '../uploads.ts';
import type { Problems } from './form.ts';
import { type Html, html } from './html.ts';
import { form, type Look, linkButton, type News, page, paragraph } from './pages.ts';
import type { CodeSender } from './sender.ts';
import type { Session } from './session.ts';
import type { UploadFault } from './upload.ts';

export interface CheckoutDeps {
  readonly db: Database;
  readonly vault: Vault;
  /** The store of customers' files. */
  readonly blobs: Blobs;
  readonly clock: Clock;
  readonly log: Log;
  /** The public base URL for customers' browsers, without a trailing slash. */
  readonly publicUrl: () => string;
  readonly orders: Orders;
  readonly verifier: AskedVerifier;
  /** Without a sender no customer can log in, and the page says so. */
  readonly sender: CodeSender | undefined;
  /** The customer's status in the return URL: the partner's own word. */
  readonly statusWord: (customer: Customer, partner: Partner) => string;
  /** Time for which a phone that the partner has changed cannot confirm a destination, in milliseconds; 0 by default. */
  readonly coolingOffMs?: number | undefined;
  /** Time without a login after which a code alone does not open the customer behind a number, in milliseconds; 0, the default: never. */
  readonly phoneIdleMs?: number | undefined;
  /** Those of the intake by default. */
  readonly uploadLimits?: UploadLimits | undefined;
  /** Per network address; 120 by default. */
  readonly requestsPerMinute?: number | undefined;
}

/** A visit before the customer is known. */
export interface Arrival {
  readonly deps: CheckoutDeps;
  readonly look: Look;
  readonly partner: Partner;
  readonly session: Session;
  /** The page's own URL, which its forms post to. */
  readonly action: string;
  /** The URL's query. */
  readonly query: URLSearchParams;
  /** The submitted form; undefined for a GET. */
  readonly form: URLSearchParams | undefined;
  /** The files of the form, named by their inputs. */
  readonly files: readonly UploadedFile[];
  /** Why the files of the form were not taken. */
  readonly uploadFault: UploadFault | undefined;
  readonly now: Date;
  /** The requesting network, and the link as text: the keys of rate limits. */
  readonly from: { readonly network: string; readonly link: string };
  /** Whether this network may enter another phone number. */
  readonly mayNamePhone: () => Allowance;
  /** The link and the key that made it, as recorded with activity. */
  readonly through: Through;
  /** Additional content of a login page. */
  readonly aside?: Html | undefined;
  /** A transaction that sees only this partner's rows. */
  readonly inTx: <T>(body: (tx: Tx) => Promise<T>) => Promise<T>;
}

export interface Visit extends Arrival {
  readonly link: Link;
  readonly customer: Customer;
  /** True if the holder of the link typed the customer's number: the page then shows only the typed digits. */
  readonly isOpen?: boolean;
  /** True if the link names no customer: only the number identifies it. */
  readonly isByPhone?: boolean;
}

/** Buying or selling. The customer is the one that the link names, or the one whose phone number was entered. */
export interface CheckoutVisit extends Arrival {
  readonly link: CheckoutLink;
  readonly customer: Customer | undefined;
}

/** The result of a visit: a page, or a redirect to another page of ours. */
export type Outcome =
  | { status: number; page: string; session?: Session; retryAfterMs?: number }
  | { goTo: string; session?: Session };

/** A page of this visit. */
export const show = (
  visit: Arrival,
  p: {
    title: string;
    body: Html;
    problems?: Problems | undefined;
    goTo?: string | undefined;
    close?: boolean;
    news?: News | undefined;
    status?: number;
  },
): { status: number; page: string } => ({
  status: p.status ?? ((p.problems?.size ?? 0) > 0 ? 400 : 200),
  page: page(visit.look, p),
});

export const formOf = (
  visit: Arrival,
  { hasFiles = false, ...f }: { intent: string; body: Html; button: Html; hasFiles?: boolean },
): Html =>
  form({
    ...{ action: visit.action, csrf: visit.session.csrf, ...f },
    hasFiles: hasFiles ? visit.look.m.files.script : undefined,
  });

/** The partner's return URL with the result added; undefined without a URL that a browser may be sent to. */
export function addressBack(
  link: Pick<Link, 'redirectUrl'>,
  told: Readonly<Record<string, string>>,
): string | undefined {
  if (link.redirectUrl === null || !URL.canParse(link.redirectUrl)) return undefined;
  const url = new URL(link.redirectUrl);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  for (const [name, value] of Object.entries(told)) url.searchParams.set(name, value);
  return url.href;
}

export function wayBack({ look, partner }: Arrival, address: string | undefined): Html {
  return address === undefined ? paragraph(look.m.mayClose) : linkButton(address, look.m.backTo(partner.name));
}

/** Redirects to the partner, or shows a final page when there is no return URL. */
export function leave(visit: Visit, address: string | undefined): Outcome {
  const { m } = visit.look;
  const text = address === undefined ? undefined : paragraph(m.goingBack(visit.partner.name));
  return show(visit, {
    title: m.backTo(visit.partner.name),
    body: html`${text}${wayBack(visit, address)}`,
    goTo: address,
    close: address === undefined,
  });
}
