/**
 * Customers: a link to be verified by, and how far verification has come.
 *
 * The link's token is the customer's id and an end, sealed: it can be read by any process of the installation and by
 * nobody else, so nothing is kept for it.
 */

import type { Vault } from '../../../base/crypto.ts';
import { Refusal } from '../../../base/errors.ts';
import { enroll, findCustomer, updateContact } from '../../../customers/index.ts';
import type { Reply } from '../../protocol.ts';
import { sign } from '../auth.ts';
import { type Body, isAbsent, JsonNumber } from '../body.ts';
import { email, flag, id, oneOf, optional, phone, required, sameType, webAddress } from '../fields.ts';
import { type Ask, ok, type SignedAsk } from '../route.ts';
import { rawNumber, spacedTime } from '../shapes.ts';
import { verificationWords } from '../verification.ts';

/** With the customer's id at hand, what it was made from need not be said again. */
export const kycUrlFields = (body: Body) => {
  const known = !isAbsent(body.get('customerId'));
  const first = known ? optional : required;
  const kind = oneOf('INDIVIDUAL', 'BUSINESS');
  return {
    clientCustomerId: first(sameType(id)) as ReturnType<typeof optional<{ text: string; sent: string | JsonNumber }>>,
    phoneNumber: first(phone) as ReturnType<typeof optional<string>>,
    type: first(kind) as ReturnType<typeof optional<'INDIVIDUAL' | 'BUSINESS'>>,
    email: optional(email),
    customerId: optional(id),
    kycRedirectUrl: optional(webAddress),
    closeAfterLogin: optional(flag),
  };
};

export async function kycUrl({
  deps,
  caller,
  values,
  inTx,
}: SignedAsk<ReturnType<typeof kycUrlFields>>): Promise<Reply> {
  const now = deps.clock.now();
  const { clientCustomerId, phoneNumber, email: mail, customerId } = values;
  const contact = { phone: phoneNumber, email: mail, now };
  const customer = await inTx(async (tx) => {
    if (customerId === undefined) {
      return await enroll(tx, deps.vault, {
        partnerId: caller.partner.id,
        clientCustomerId: clientCustomerId?.text ?? '',
        kind: values.type ?? 'INDIVIDUAL',
        ...contact,
      });
    }
    const known = await findCustomer(tx, customerId);
    // Two names for two customers: neither is meant.
    if (clientCustomerId !== undefined && known.clientCustomerId !== clientCustomerId.text)
      throw new Refusal('unknown_customer');
    if (phoneNumber !== undefined || mail !== undefined) await updateContact(tx, deps.vault, known.id, contact);
    return known;
  });
  const token = sealLink(deps.vault, {
    partnerId: String(customer.partnerId),
    customerId: customer.id,
    until: now.getTime() + LINK_FOR_MS,
    redirectUrl: values.kycRedirectUrl ?? null,
    closeAfterLogin: values.closeAfterLogin ?? false,
  });
  const url = `${deps.publicUrl()}/kyc/${token}`;
  const sent = clientCustomerId?.sent ?? customer.clientCustomerId ?? '';
  return ok({
    kycUrl: url,
    customerId: customer.id,
    clientCustomerId: sent instanceof JsonNumber ? rawNumber(sent.text) : sent,
    signature: sign(url, caller.secret),
  });
}

/** What a link says; read by the hosted page. */
export interface Link {
  partnerId: string;
  customerId: string;
  until: number;
  redirectUrl: string | null;
  closeAfterLogin: boolean;
}

/** Long enough to come back to a message the next day. */
const LINK_FOR_MS = 24 * 3_600_000;
const LINK = 'whitelabel.kyc_link';

const sealLink = (vault: Vault, link: Link): string => vault.seal(JSON.stringify(link), LINK).toString('base64url');

/** @returns undefined for a token that is not ours, was altered, or has ended */
export function openLink(vault: Vault, token: string, now: Date): Link | undefined {
  try {
    const link = JSON.parse(vault.open(Buffer.from(token, 'base64url'), LINK)) as Link;
    return now.getTime() < link.until ? link : undefined;
  } catch {
    return undefined;
  }
}

export const kycStatusFields = { customerId: required(id) };

export async function kycStatus({ caller, values, inTx }: SignedAsk<typeof kycStatusFields>): Promise<Reply> {
  const customer = await inTx((tx) => findCustomer(tx, values.customerId));
  const words = verificationWords(customer, caller.partner);
  return ok({
    status: words.status,
    updatedAt: spacedTime(customer.updatedAt),
    countryISO: customer.country,
    currentKycVerificationStep: words.current,
    previousSuccessfulKycStep: words.previous,
    ...(customer.failedReason === null ? {} : { failedReason: customer.failedReason }),
  });
}

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex',
} as const;

/** The page behind the link. It has no form yet, and says so. */
export async function kycPage({ deps, call }: Pick<Ask<Record<string, never>>, 'deps' | 'call'>): Promise<Reply> {
  const link = openLink(deps.vault, call.params.token ?? '', deps.clock.now());
  if (link === undefined) {
    return page(404, 'This link does not work', [
      'It is incomplete or older than a day. Ask the app that sent you here for a new one.',
    ]);
  }
  const how =
    deps.sandbox === undefined
      ? 'The form for it is not open here yet. The app that sent you here can tell you how to go on.'
      : 'This is a sandbox without a form: set the result with test/changeKycStatus.';
  return page(200, 'Verification', [`This page is for the verification of customer ${link.customerId}.`, how]);
}

const text = (plain: string): string => plain.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

function page(status: number, title: string, paragraphs: readonly string[]): Reply {
  const body = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${text(title)}</title>
<style>body{font:1.1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:15vh auto;padding:0 1rem}</style></head>
<body><main><h1>${text(title)}</h1>
${paragraphs.map((paragraph) => `<p>${text(paragraph)}</p>`).join('\n')}
</main></body></html>
`;
  return { status, body, headers: PAGE_HEADERS };
}
