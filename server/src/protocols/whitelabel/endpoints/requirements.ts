/** What a customer must supply to be verified. */
import { findCustomer } from '../../../customers/index.ts';
import { markets } from '../../../partners/index.ts';
import type { Reply } from '../../protocol.ts';
import type { Body } from '../body.ts';
import { fiatNamed, requiredFiat } from '../fiat.ts';
import { id, required } from '../fields.ts';
import { KYC_REQUIREMENTS } from '../kyb.ts';
import type { SignedRequest } from '../route.ts';

export const kycRequirementsFields = (body: Body) => ({ customerId: required(id), ...requiredFiat(body) });

/** The one reply whose content is beside `data`, where programs look for it; it is in `data` as well. */
export async function kycRequirements({
  values,
  inTx,
}: SignedRequest<ReturnType<typeof kycRequirementsFields>>): Promise<Reply> {
  await inTx(async (tx) => {
    await findCustomer(tx, values.customerId);
    fiatNamed(values, await markets(tx));
  });
  const kycRequirementData = KYC_REQUIREMENTS;
  return { status: 200, body: { status: 1, code: 200, kycRequirementData, data: { kycRequirementData } } };
}
