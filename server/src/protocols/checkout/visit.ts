/**
 * A visit: one request to a hosted page, after its link was opened and everybody it names was found.
 */
import type { Clock } from '../../base/clock.ts';
import type { Vault } from '../../base/crypto.ts';
import type { Database, Tx } from '../../base/db.ts';
import type { Log } from '../../base/log.ts';
import type { CheckoutLink, Customer, Link, recordFinding } from '../../customers/index.ts';
import type { Orders } from '../../orders/index.ts';
import type { Partner, Through } from '../../partners/index.ts';
import type { Allowance } from '../limit.ts';
import type { Problems } from './form.ts';
import { type Html, html } from './html.ts';
import { form, type Look, linkButton, type News, page, paragraph } from './pages.ts';
import type { CodeSender } from './sender.ts';
import type { Session } from './session.ts';

/** What is asked of a verifier here; its contract is verifiers/verifier.ts. */
export interface DetailsVerifier {
  readonly code: string;
  readonly highestLevel: number;
  /** @throws Unavailable */
  begin(input: DetailsInput): Promise<{ pageUrl: string | undefined }>;
  /** @throws Unavailable */
  finding(input: DetailsInput): Promise<Parameters<typeof recordFinding>[1]['finding']>;
}

interface DetailsInput {
  /** The same key is the same verification. */
  key: string;
  customerId: string;
  kind: Customer['kind'];
  level: number;
}

export interface CheckoutDeps {
  readonly db: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly log: Log;
  /** Where customers' browsers reach us, without a slash at the end. */
  readonly publicUrl: () => string;
  readonly orders: Orders;
  readonly verifier: DetailsVerifier;
  /** Without one nobody can log in, and the page says so. */
  readonly sender: CodeSender | undefined;
  /** What a customer's standing is called in the address it goes back to: the partner's own words. */
  readonly statusWord: (customer: Customer, partner: Partner) => string;
  /** Per network address; 120 by default. */
  readonly requestsPerMinute?: number | undefined;
}

/** A visit before it is said who comes. */
export interface Arrival {
  readonly deps: CheckoutDeps;
  readonly look: Look;
  readonly partner: Partner;
  readonly session: Session;
  /** The page's own address, where its forms are sent. */
  readonly action: string;
  /** What the address says after the question mark. */
  readonly query: URLSearchParams;
  /** What was sent; undefined when the page is only looked at. */
  readonly form: URLSearchParams | undefined;
  readonly now: Date;
  /** The network that asks, and the link as one text: what limits are counted by. */
  readonly from: { readonly network: string; readonly link: string };
  /** Another phone number may be named from this network. */
  readonly mayNamePhone: () => Allowance;
  /** By which link, and by whose key that was made. */
  readonly through: Through;
  /** What a login page offers besides. */
  readonly aside?: Html | undefined;
  /** A transaction that sees this partner's rows only. */
  readonly inTx: <T>(body: (tx: Tx) => Promise<T>) => Promise<T>;
}

export interface Visit extends Arrival {
  readonly link: Link;
  readonly customer: Customer;
  /** The customer's number was typed in by whoever holds the link: nothing is told of it but what was typed. */
  readonly isOpen?: boolean;
}

/** To buy or to sell. The customer is the one that the link names, or the one that has given a phone number meanwhile. */
export interface CheckoutVisit extends Arrival {
  readonly link: CheckoutLink;
  readonly customer: Customer | undefined;
}

/** What comes of a visit: a page to show, or another address of ours to look at instead. */
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

export const formOf = (visit: Arrival, f: { intent: string; body: Html; button: Html }): Html =>
  form({ action: visit.action, csrf: visit.session.csrf, ...f });

/** The partner's address with what it is told put in; undefined where it gave none that a browser may be sent to. */
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

/** Straight back to the partner, or an end of it where there is no way back. */
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
