/** What a customer must supply to be verified. */
import { findCustomer } from '../../../customers/index.ts';
import { markets } from '../../../partners/index.ts';
import type { Reply } from '../../protocol.ts';
import { code, id, required } from '../fields.ts';
import { KYC_REQUIREMENTS } from '../kyb.ts';
import { fiatOf } from '../reference.ts';
import type { SignedAsk } from '../route.ts';

export const kycRequirementsFields = { customerId: required(id), fiatType: required(code) };

/** The one reply whose content stands beside `data`, where programs look for it; it is in `data` as well. */
export async function kycRequirements({ values, inTx }: SignedAsk<typeof kycRequirementsFields>): Promise<Reply> {
  await inTx(async (tx) => {
    await findCustomer(tx, values.customerId);
    fiatOf(values.fiatType, await markets(tx));
  });
  const kycRequirementData = KYC_REQUIREMENTS;
  return { status: 200, body: { status: 1, code: 200, kycRequirementData, data: { kycRequirementData } } };
}
