/**
 * The sandbox's own endpoints: they cause facts, and the machine draws its conclusions. No state is ever written by hand.
 */
import { Refusal } from '../../../base/errors.ts';
import { findCustomer, recordLogin, recordVerification } from '../../../customers/index.ts';
import type { Direction } from '../../../orders/index.ts';
import type { Reply } from '../../protocol.ts';
import { id, malformedField, required, text } from '../fields.ts';
import { ok, type SignedAsk } from '../route.ts';
import { drivenStatus } from '../status.ts';
import { changeFor, VERIFICATION_WORDS } from '../verification.ts';
import { orderNumberOf } from './offramp.ts';

export const changeKycFields = { customerId: required(id), status: required(text({ max: 64 })) };

export async function changeKycStatus({
  deps,
  caller,
  values,
  inTx,
}: SignedAsk<typeof changeKycFields>): Promise<Reply> {
  const { status } = values;
  const change = changeFor(status, caller.partner);
  if (change === undefined) throw malformedField('status', `must be one of ${VERIFICATION_WORDS.join(', ')}`);
  if (deps.sandbox === undefined) throw new Refusal('sandbox_only');
  const now = deps.clock.now();
  const { id: customerId, kind } = await inTx((tx) => findCustomer(tx, values.customerId));
  // A verifier may be somebody outside, so it is asked between two transactions.
  const verified =
    change.outcome === 'verified' && change.level !== undefined
      ? await deps.sandbox.verify({ customerId, kind, level: change.level })
      : undefined;
  await inTx(async (tx) => {
    const customer = await findCustomer(tx, customerId);
    if (change.login && customer.loggedInAt === null) await recordLogin(tx, customer.id, now);
    const failed = change.outcome === 'failed' || change.outcome === 'refused';
    await recordVerification(tx, {
      customer,
      verifier: verified?.verifier ?? 'sandbox',
      outcome: change.outcome,
      level: verified?.level ?? change.level ?? customer.level,
      ...(failed ? { failedReason: 'Set in the sandbox' } : {}),
      now,
    });
  });
  return ok({ changeStatus: true, message: `Status changed to ${status}` });
}

export const changeOrderFields = {
  customerId: required(id),
  transactionId: required(id),
  status: required(text({ max: 8 })),
};

export const changeOfframpStatus = (ask: SignedAsk<typeof changeOrderFields>): Promise<Reply> =>
  changeStatus('offramp', ask);
export const changeOnrampStatus = (ask: SignedAsk<typeof changeOrderFields>): Promise<Reply> =>
  changeStatus('onramp', ask);

async function changeStatus(
  direction: Direction,
  { deps, caller, values, inTx }: SignedAsk<typeof changeOrderFields>,
): Promise<Reply> {
  if (deps.sandbox === undefined) throw new Refusal('sandbox_only');
  const asked = drivenStatus(direction, values.status);
  if (asked === undefined) throw malformedField('status', `must be a status number of an ${direction} transaction`);
  const order = await inTx(async (tx) => {
    const customer = await findCustomer(tx, values.customerId);
    return await deps.orders.get(tx, { id: orderNumberOf(values.transactionId), direction, customerId: customer.id });
  });
  // Every order has been created.
  if (asked.number !== 0) {
    await deps.sandbox.driveOrder({ partnerId: caller.partner.id, orderId: order.id, status: asked.number });
  }
  return ok({ changeStatus: true, message: `Status changed to ${values.status} i.e ${asked.word}` });
}
