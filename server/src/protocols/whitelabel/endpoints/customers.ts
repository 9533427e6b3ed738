/**
 * Customers: a link to be verified by, and how far verification has come. The page behind the link is another protocol's.
 */
import { Refusal } from '../../../base/errors.ts';
import { enroll, findCustomer, LINK_FOR_MS, sealLink, updateContact } from '../../../customers/index.ts';
import type { Reply } from '../../protocol.ts';
import { sign } from '../auth.ts';
import { type Body, isAbsent, JsonNumber } from '../body.ts';
import { email, flag, id, malformedField, oneOf, optional, phone, required, sameType, webAddress } from '../fields.ts';
import { ok, type SignedAsk } from '../route.ts';
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
    // What it was verified as is not changed by a word in passing.
    if (values.type !== undefined && values.type !== known.kind)
      throw malformedField('type', `must be ${known.kind}, which this customer is: another kind is another customer`);
    if (phoneNumber !== undefined || mail !== undefined) await updateContact(tx, deps.vault, known.id, contact);
    return known;
  });
  const token = sealLink(deps.vault, 'kyc', {
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
