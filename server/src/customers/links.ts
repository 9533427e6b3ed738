/**
 * Links to hosted pages: what a partner asked for, sealed into the address that its customer opens.
 *
 * A token is the customer's id, an end and where to go back to. Any process of the installation can read it and nobody
 * else, so nothing is kept for it. Holding a link shows a login page and no more: who is behind it proves the code.
 */
import type { Vault } from '../base/crypto.ts';

/** What the page behind a link is for; a token of one opens no other. */
export type LinkPurpose = 'kyc' | 'bank';

export interface Link {
  partnerId: string;
  customerId: string;
  /** Milliseconds since 1970. */
  until: number;
  /** http or https; null: there is nowhere to go back to. */
  redirectUrl: string | null;
  closeAfterLogin: boolean;
  /** The partner's handle on this errand, given back with the customer. */
  referenceId?: string;
}

/** Long enough to come back to a message the next day. */
export const LINK_FOR_MS = 24 * 3_600_000;

const CONTEXT: Readonly<Record<LinkPurpose, string>> = {
  kyc: 'whitelabel.kyc_link',
  bank: 'whitelabel.bank_link',
};

export const sealLink = (vault: Vault, purpose: LinkPurpose, link: Link): string =>
  vault.seal(JSON.stringify(link), CONTEXT[purpose]).toString('base64url');

/** @returns undefined for a token that is not ours or was altered; 'ended' for one of ours that is too old */
export function openLink(vault: Vault, purpose: LinkPurpose, token: string, now: Date): Link | 'ended' | undefined {
  let link: Link;
  try {
    link = JSON.parse(vault.open(Buffer.from(token, 'base64url'), CONTEXT[purpose])) as Link;
  } catch {
    return undefined;
  }
  return now.getTime() < link.until ? link : 'ended';
}
