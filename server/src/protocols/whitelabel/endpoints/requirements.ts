/** What a customer must supply to be verified. */
import { findCustomer } from '../../../customers/index.ts';
import { markets } from '../../../partners/index.ts';
import type { Reply } from '../../protocol.ts';
import { type Body, isAbsent } from '../body.ts';
import { code, type Field, id, optional, required } from '../fields.ts';
import { KYC_REQUIREMENTS } from '../kyb.ts';
import { fiatOf, fiatOfCountry } from '../reference.ts';
import type { SignedRequest } from '../route.ts';

/** Without a currency, the country's is used. */
export const kycRequirementsFields = (body: Body) => {
  const needed = isAbsent(body.get('countryCode')) ? required : optional;
  return { customerId: required(id), fiatType: needed(code) as Field<string | undefined>, countryCode: optional(code) };
};

/** The one reply whose content is beside `data`, where programs look for it; it is in `data` as well. */
export async function kycRequirements({
  values,
  inTx,
}: SignedRequest<ReturnType<typeof kycRequirementsFields>>): Promise<Reply> {
  const { customerId, fiatType, countryCode = '' } = values;
  await inTx(async (tx) => {
    await findCustomer(tx, customerId);
    fiatOf(fiatType ?? fiatOfCountry(countryCode) ?? `of ${countryCode}`, await markets(tx));
  });
  const kycRequirementData = KYC_REQUIREMENTS;
  return { status: 200, body: { status: 1, code: 200, kycRequirementData, data: { kycRequirementData } } };
}
