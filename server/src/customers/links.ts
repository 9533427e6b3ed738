/**
 * Links to hosted pages: a partner's request, encrypted into the URL that its customer opens.
 *
 * A token contains its owner, its purpose, an expiry and a return URL. Only processes of this installation can read it, so no row
 * is stored for it. The holder of a link sees a login page (and for a checkout the offer) and no more: the login code proves who
 * the customer is.
 */
import type { Vault } from '../base/crypto.ts';

/** Common to all links: origin and id. */
interface Made {
  /** Identifies the link, to us and in its partner's activity. Links from before that was recorded have none, or no maker. */
  id?: string;
  /** The key that requested it. */
  madeBy?: string;
}

export interface Link extends Made {
  partnerId: string;
  customerId: string;
  /** Milliseconds since 1970. */
  until: number;
  /** http or https; null: no return URL. */
  redirectUrl: string | null;
  closeAfterLogin: boolean;
  /** The partner's own id of this flow, returned when the customer returns. */
  referenceId?: string;
  /** The account's fiat, if the partner has chosen it: the customer is not asked then. */
  fiat?: string;
  /** The destination to confirm. */
  destinationId?: string;
}

/**
 * A link through which a customer confirms the address for a refund of coins. An operator made it, so it has no key of the
 * partner.
 */
export interface ReturnLink extends Link {
  /** Id of its row. */
  id: string;
}

/** A link for buying or selling once. */
export interface CheckoutLink extends Made {
  /** Identifies the link, to us and to the partner. */
  id: string;
  partnerId: string;
  /** null: the customer who opens it is identified by phone. */
  customerId: string | null;
  /** Prefilled phone, if the partner knows it but has no customer for it. */
  phone: string | null;
  /** Id of the link's market. */
  marketId: string;
  depositUnits: string;
  /** Where bought crypto goes, in our spelling; null: the customer names it. */
  walletAddress: string | null;
  paymentMethod: string | null;
  merchantReference: string | null;
  /** Expiry of creating an order, and of viewing that order. Milliseconds since 1970. */
  orderUntil: number;
  until: number;
  redirectUrl: string | null;
}

/** The payload of each kind of link; a token for one page opens no other. */
interface LinkOf {
  kyc: Link;
  bank: Link;
  confirm: Link;
  checkout: CheckoutLink;
  return: ReturnLink;
}
export type LinkPurpose = keyof LinkOf;

/** Long enough to return to a message the next day. */
export const LINK_FOR_MS = 24 * 3_600_000;
/** Long enough for the partner's support to pass it on, and for the customer to see the result. */
export const RETURN_FOR_MS = 7 * 24 * 3_600_000;
/** Long enough to follow an order to its end, including a refund by a bank. */
export const CHECKOUT_FOR_MS = 30 * 24 * 3_600_000;

/** When a link was requested, and its id if that was recorded. */
export const madeAs = (link: Link | CheckoutLink): { id: string | undefined; madeAt: Date } => ({
  id: link.madeBy === undefined ? undefined : link.id,
  madeAt: new Date(link.until - ('marketId' in link ? CHECKOUT_FOR_MS : LINK_FOR_MS)),
});

const CONTEXT: Readonly<Record<LinkPurpose, string>> = {
  kyc: 'whitelabel.kyc_link',
  bank: 'whitelabel.bank_link',
  confirm: 'v1.confirmation_link',
  checkout: 'whitelabel.checkout_link',
  return: 'operator.return_link',
};

export const encryptLink = <P extends LinkPurpose>(vault: Vault, purpose: P, link: LinkOf[P]): string =>
  vault.encrypt(JSON.stringify(link), CONTEXT[purpose]).toString('base64url');

/** @returns undefined for a token that is not ours or was altered; 'ended' for an expired one of ours */
export function openLink<P extends LinkPurpose>(
  vault: Vault,
  purpose: P,
  token: string,
  now: Date,
): LinkOf[P] | 'ended' | undefined {
  let link: LinkOf[P];
  try {
    link = JSON.parse(vault.decrypt(Buffer.from(token, 'base64url'), CONTEXT[purpose])) as LinkOf[P];
  } catch {
    return undefined;
  }
  return now.getTime() < link.until ? link : 'ended';
}
