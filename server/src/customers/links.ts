/**
 * Links to hosted pages: what a partner asked for, sealed into the address that its customer opens.
 *
 * A token says whose it is, what it is for, an end and where to go back to. Any process of the installation can read it and
 * nobody else, so nothing is kept for it. Holding a link shows a login page (and of a checkout the offer) and no more: who is
 * behind it proves the code.
 */
import type { Vault } from '../base/crypto.ts';

/** What every link says of its making. */
interface Made {
  /** Names the link, to us and in the activity of its partner. Links of before that was recorded have none, or no maker. */
  id?: string;
  /** The key that asked for it. */
  madeBy?: string;
}

export interface Link extends Made {
  partnerId: string;
  customerId: string;
  /** Milliseconds since 1970. */
  until: number;
  /** http or https; null: there is nowhere to go back to. */
  redirectUrl: string | null;
  closeAfterLogin: boolean;
  /** The partner's handle on this flow, refunded with the customer. */
  referenceId?: string;
  /** The fiat that the account is to be in, where the partner has said it: the customer is not asked then. */
  fiat?: string;
}

/** A link by which a customer confirms where coins go back to. An operator made it, so no key of the partner did. */
export interface ReturnLink extends Link {
  /** Names its row. */
  id: string;
}

/** A link to buy or to sell by, once. */
export interface CheckoutLink extends Made {
  /** Names the link, to us and to the partner. */
  id: string;
  partnerId: string;
  /** null: whoever opens it says who it is, by phone. */
  customerId: string | null;
  /** Filled in for them, where the partner knows it but has no customer for it. */
  phone: string | null;
  /** What it is for. */
  marketId: string;
  depositUnits: string;
  /** Where what is bought goes, in the spelling we keep; null: the customer says. */
  walletAddress: string | null;
  paymentMethod: string | null;
  merchantReference: string | null;
  /** Until when an order can be made by it, and until when that can be looked at. Milliseconds since 1970. */
  orderUntil: number;
  until: number;
  redirectUrl: string | null;
}

/** What the page behind a link is for; a token of one opens no other. */
interface LinkOf {
  kyc: Link;
  bank: Link;
  checkout: CheckoutLink;
  return: ReturnLink;
}
export type LinkPurpose = keyof LinkOf;

/** Long enough to come back to a message the next day. */
export const LINK_FOR_MS = 24 * 3_600_000;
/** Long enough to be passed on by the partner's support, and to see what became of it. */
export const RETURN_FOR_MS = 7 * 24 * 3_600_000;
/** Long enough to see what became of an order, a refund by a bank included. */
export const CHECKOUT_FOR_MS = 30 * 24 * 3_600_000;

/** When a link was asked for, and its id where that was recorded then. */
export const madeAs = (link: Link | CheckoutLink): { id: string | undefined; madeAt: Date } => ({
  id: link.madeBy === undefined ? undefined : link.id,
  madeAt: new Date(link.until - ('marketId' in link ? CHECKOUT_FOR_MS : LINK_FOR_MS)),
});

const CONTEXT: Readonly<Record<LinkPurpose, string>> = {
  kyc: 'whitelabel.kyc_link',
  bank: 'whitelabel.bank_link',
  checkout: 'whitelabel.checkout_link',
  return: 'operator.return_link',
};

export const encryptLink = <P extends LinkPurpose>(vault: Vault, purpose: P, link: LinkOf[P]): string =>
  vault.encrypt(JSON.stringify(link), CONTEXT[purpose]).toString('base64url');

/** @returns undefined for a token that is not ours or was altered; 'ended' for one of ours that is too old */
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
