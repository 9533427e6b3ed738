/** The data that a customer must supply to be verified. */
import { findCustomer } from '../../../customers/index.ts';
import type { Reply } from '../../protocol.ts';
import type { Body } from '../body.ts';
import { requiredFiat } from '../fiat.ts';
import { id, required } from '../fields.ts';
import type { SignedRequest } from '../route.ts';
import { personForm } from './identity.ts';

export const kycRequirementsFields = (body: Body) => ({ customerId: required(id), ...requiredFiat(body) });

/** The one reply whose content is beside `data`, where programs look for it; it is in `data` as well. */
export async function kycRequirements({
  deps,
  caller,
  values,
  inTx,
}: SignedRequest<ReturnType<typeof kycRequirementsFields>>): Promise<Reply> {
  const { form: kycRequirementData } = await inTx(async (tx) => {
    const customer = await findCustomer(tx, values.customerId);
    return await personForm(tx, { partner: caller.partner, customer }, values, deps.clock.now());
  });
  return { status: 200, body: { status: 1, code: 200, kycRequirementData, data: { kycRequirementData } } };
}
