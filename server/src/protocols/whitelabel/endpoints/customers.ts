/**
 * Customers: a verification link, and the state of the verification. Another protocol serves the page behind the link.
 */
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import { randomText } from '../../../base/ids.ts';
import { openTextOrNull } from '../../../base/texts.ts';
import {
  type Customer,
  clientIdOf,
  customerNamed,
  encryptLink,
  enroll,
  findCustomer,
  hasPhone,
  LINK_FOR_MS,
  noteTold,
  updateContact,
  VERIFICATION_REASONS,
  type VerificationReason,
  verificationReason,
} from '../../../customers/index.ts';
import { recordActivity } from '../../../partners/index.ts';
import type { Reply } from '../../protocol.ts';
import { sign } from '../auth.ts';
import { type Body, isAbsent, JsonNumber } from '../body.ts';
import {
  email,
  type Fields,
  flag,
  id,
  malformedField,
  oneOf,
  optional,
  phone,
  required,
  sameType,
  webAddress,
} from '../fields.ts';
import { ok, type SignedRequest, throughOf } from '../route.ts';
import { rawNumber, spacedTime } from '../shapes.ts';
import { verificationWords } from '../verification.ts';

/** With a customer id, the data for creating a customer may be omitted. */
export const kycUrlFields = (body: Body) => {
  const known = !isAbsent(body.get('customerId'));
  const first = known ? optional : required;
  const kind = oneOf('INDIVIDUAL', 'BUSINESS');
  return {
    clientCustomerId: first(sameType(id)) as ReturnType<typeof optional<{ text: string; sent: string | JsonNumber }>>,
    phoneNumber: first(phone) as ReturnType<typeof optional<string>>,
    type: first(kind, 'A person or a business') as ReturnType<typeof optional<'INDIVIDUAL' | 'BUSINESS'>>,
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
}: SignedRequest<ReturnType<typeof kycUrlFields>>): Promise<Reply> {
  const now = deps.clock.now();
  const { clientCustomerId, phoneNumber, email: mail, customerId } = values;
  const contact = { phone: phoneNumber, email: mail, now };
  const through = throughOf(caller);
  const linkId = randomText(20);
  const recordLink = (customer: string, tx: Tx) => {
    const about = { subject: `link:${linkId}`, facts: { purpose: 'kyc', customer } };
    recordActivity(tx, through, { action: 'link.made', ...about, now });
  };
  const customer = await inTx(async (tx) => {
    if (customerId === undefined) {
      const enrolled = await enroll(tx, deps.vault, {
        partnerId: caller.partner.id,
        clientCustomerId: clientCustomerId?.text ?? '',
        kind: values.type ?? 'INDIVIDUAL',
        ...contact,
      });
      recordActivity(tx, through, { action: 'customer.enrolled', subject: `customer:${enrolled.id}`, now });
      recordLink(enrolled.id, tx);
      return enrolled;
    }
    const known = await findCustomer(tx, customerId);
    // Another clientCustomerId is accepted as a further name of the same customer if the phone is the customer's, as the
    // refusal above requires, and no other customer has that name. Otherwise two names mean two customers, and neither is
    // used.
    if (clientCustomerId !== undefined && clientIdOf(deps.vault, known) !== clientCustomerId.text) {
      const isTheirs = phoneNumber !== undefined && (await hasPhone(tx, deps.vault, known, phoneNumber));
      const other = await customerNamed(tx, deps.vault, caller.partner.id, clientCustomerId.text);
      if (!isTheirs || other !== undefined) throw new Refusal('unknown_customer');
      // Only the number says that both names are one customer's.
      await noteTold(tx, { customerId: known.id, now });
    }
    // This field does not change the kind as which the customer was verified.
    if (values.type !== undefined && values.type !== known.kind)
      throw malformedField('type', `must be ${known.kind}, which this customer is: another kind is another customer`);
    if (phoneNumber !== undefined || mail !== undefined) {
      await updateContact(tx, deps.vault, known.id, contact);
      const facts = { phone: phoneNumber !== undefined, email: mail !== undefined };
      recordActivity(tx, through, { action: 'customer.contact_changed', subject: `customer:${known.id}`, facts, now });
    }
    recordLink(known.id, tx);
    return known;
  });
  const url = kycLink({ deps, caller }, linkId, customer, {
    now,
    redirectUrl: values.kycRedirectUrl ?? null,
    closeAfterLogin: values.closeAfterLogin ?? false,
  });
  const sent = clientCustomerId?.sent ?? clientIdOf(deps.vault, customer) ?? '';
  return ok({
    kycUrl: url,
    customerId: customer.id,
    clientCustomerId: sent instanceof JsonNumber ? rawNumber(sent.text) : sent,
    signature: sign(url, caller.secret),
  });
}

/** The URL of the page behind a link that the caller has recorded. */
function kycLink(
  { deps, caller }: Pick<SignedRequest<Fields>, 'deps' | 'caller'>,
  id: string,
  customer: Customer,
  { now, redirectUrl, closeAfterLogin }: { now: Date; redirectUrl: string | null; closeAfterLogin: boolean },
): string {
  const token = encryptLink(deps.vault, 'kyc', {
    id,
    madeBy: caller.credential.key,
    partnerId: String(customer.partnerId),
    customerId: customer.id,
    until: now.getTime() + LINK_FOR_MS,
    redirectUrl,
    closeAfterLogin,
  });
  return `${deps.publicUrl()}/kyc/${token}`;
}

/**
 * The Refusal for a customer who has not logged in, with a login link if the key may make one. The link is recorded like any
 * other, so that it can be found and held after a leak.
 */
export async function withLoginLink(
  { deps, caller, body, inTx }: Pick<SignedRequest<Fields>, 'deps' | 'caller' | 'body' | 'inTx'>,
  refusal: Refusal,
): Promise<Refusal> {
  const customerId = body.get('customerId');
  const { scopes } = caller.credential;
  const mayLink = scopes.includes('customers') || scopes.includes('admin');
  if (refusal.code !== 'login_required' || typeof customerId !== 'string' || !mayLink) return refusal;
  const now = deps.clock.now();
  const id = randomText(20);
  const customer = await inTx(async (tx) => {
    const facts = { purpose: 'kyc', customer: customerId };
    recordActivity(tx, throughOf(caller), { action: 'link.made', subject: `link:${id}`, facts, now });
    return await findCustomer(tx, customerId);
  });
  const kycUrl = kycLink({ deps, caller }, id, customer, { now, redirectUrl: null, closeAfterLogin: true });
  return new Refusal('login_required', { ...refusal.facts, kycUrl });
}

export const kycStatusFields = { customerId: required(id) };

/** The words of an operator, or else the meaning of the code. A single word is a code, or that of a provider, which is not told. */
const inWords = (code: VerificationReason, said: string | null): string =>
  said === null || /^[a-z_]+$/.test(said) ? VERIFICATION_REASONS[code].means : said;

export async function kycStatus({ deps, caller, values, inTx }: SignedRequest<typeof kycStatusFields>): Promise<Reply> {
  const customer = await inTx((tx) => findCustomer(tx, values.customerId));
  const code = verificationReason(customer);
  const failedReason = openTextOrNull(deps.vault, caller.partner.id, customer.failedReason);
  const words = verificationWords(customer, caller.partner);
  return ok({
    status: words.status,
    updatedAt: spacedTime(customer.updatedAt),
    countryISO: customer.country,
    currentKycVerificationStep: words.current,
    previousSuccessfulKycStep: words.previous,
    ...(code === undefined ? {} : { failedReason: inWords(code, failedReason), failedReasonCode: code }),
  });
}
