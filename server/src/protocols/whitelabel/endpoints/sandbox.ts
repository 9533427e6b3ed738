/**
 * The sandbox's own endpoints: they cause facts, and the state machine reacts. No state is ever written directly.
 */
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import {
  type Customer,
  driveSubmission,
  type FieldReasons,
  fieldsOf,
  findCustomer,
  findSubmission,
  forgetLogin,
  recordLogin,
  recordVerification,
} from '../../../customers/index.ts';
import type { Direction } from '../../../orders/index.ts';
import type { Reply } from '../../protocol.ts';
import { businessForm } from '../../submissions.ts';
import { type Field, type Fields, id, malformedField, optional, required, text } from '../fields.ts';
import { ok, type SignedRequest } from '../route.ts';
import { drivenStatus } from '../status.ts';
import { BUSINESS_WORDS, businessChangeFor, type Change, changeFor, VERIFICATION_WORDS } from '../verification.ts';
import { submissionIdOf } from './identity.ts';
import { orderIn } from './orders.ts';

/** Accepts any text, because a partner may have its own words. */
const wordOf = (words: readonly string[]): Field<string> => ({
  ...text({ max: 64 }),
  rule: `one of ${words.join(', ')}`,
  schema: { type: 'string', enum: words },
});

export const changeKycFields = {
  customerId: required(id),
  status: required(wordOf(VERIFICATION_WORDS), 'Verification status'),
};

export async function changeKycStatus(input: SignedRequest<typeof changeKycFields>): Promise<Reply> {
  const { customerId, status } = input.values;
  const change = changeFor(status, input.caller.partner);
  if (change === undefined) throw malformedField('status', `must be one of ${VERIFICATION_WORDS.join(', ')}`);
  const customer = await input.inTx((tx) => findCustomer(tx, customerId));
  await verify(input, customer, change, 'Set in the sandbox');
  return ok({ changeStatus: true, message: `Status changed to ${status}` });
}

export const changeKybFields = {
  customerId: required(id),
  submissionId: optional(id),
  status: required(wordOf(BUSINESS_WORDS), 'Verification status'),
};

/** For a business and its submission: the named one, or else the newest, if there is one. */
export async function changeKybStatus(input: SignedRequest<typeof changeKybFields>): Promise<Reply> {
  const { customerId, submissionId, status } = input.values;
  const change = businessChangeFor(status);
  if (change === undefined) throw malformedField('status', `must be one of ${BUSINESS_WORDS.join(', ')}`);
  const named = submissionIdOf(submissionId);
  const { customer, submission, reasons } = await input.inTx(async (tx) => {
    const found = await findCustomer(tx, customerId);
    if (found.kind !== 'BUSINESS')
      throw malformedField('customerId', 'is an individual: its status is changed by test/changeKycStatus');
    const of = { customer: found, country: undefined };
    const { form } = await businessForm(tx, input.caller.partner, of, input.deps.clock.now());
    const first = fieldsOf(form)[0]?.name ?? 'identityNumber';
    const again: FieldReasons = status === 'UPDATE_REQUIRED' ? { [first]: 'not_accepted' } : {};
    return { customer: found, submission: await submissionMeant(tx, customerId, named), reasons: again };
  });
  await verify(input, customer, change, change.reason, async (tx, now) => {
    if (submission === undefined) return;
    await driveSubmission(tx, { submission, outcome: change.outcome, reasons, now });
  });
  return ok({ changeStatus: true, message: `Status changed to ${status}` });
}

/** Programs may drive a customer without a submission, as they could before submissions existed. */
async function submissionMeant(tx: Tx, customerId: string, named: bigint | undefined) {
  try {
    return await findSubmission(tx, customerId, named);
  } catch (error) {
    if (named === undefined && error instanceof Refusal && error.code === 'unknown_submission') return undefined;
    throw error;
  }
}

/** Uses the same verifier and record as every verification. */
async function verify(
  { deps, inTx }: Pick<SignedRequest<Fields>, 'deps' | 'inTx'>,
  { id: customerId, kind }: Customer,
  change: Change,
  reason: string | undefined,
  also?: (tx: Tx, now: Date) => Promise<void>,
): Promise<void> {
  if (deps.sandbox === undefined) throw new Refusal('sandbox_only');
  const now = deps.clock.now();
  // A verifier may be an outside service, so it is called between two transactions.
  const verified =
    change.outcome === 'verified' && change.level !== undefined
      ? await deps.sandbox.verify({ customerId, kind, level: change.level })
      : undefined;
  await inTx(async (tx) => {
    const customer = await findCustomer(tx, customerId);
    if (change.login === true && customer.loggedInAt === null) await recordLogin(tx, customer.id, now);
    if (change.login === false) await forgetLogin(tx, customer.id, now);
    const failed = change.outcome === 'failed' || change.outcome === 'refused';
    await recordVerification(tx, {
      customer,
      verifier: verified?.verifier ?? 'sandbox',
      outcome: change.outcome,
      level: verified?.level ?? change.level ?? customer.level,
      ...(failed && reason !== undefined ? { failedReason: reason } : {}),
      now,
    });
    await also?.(tx, now);
  });
}

/** The valid numbers depend on the order's direction. */
export const statusNumber = (example: string): Field<string> => ({
  ...text({ max: 8 }),
  rule: 'a status number, as in webhooks',
  schema: { type: 'string', pattern: '^-?[0-9]{1,2}$', examples: [example] },
});
export const changeOrderFields = {
  customerId: required(id),
  transactionId: required(id),
  status: required(statusNumber('6'), 'Status number, as in webhooks'),
};

export const changeOfframpStatus = (input: SignedRequest<typeof changeOrderFields>): Promise<Reply> =>
  changeStatus('offramp', input);
export const changeOnrampStatus = (input: SignedRequest<typeof changeOrderFields>): Promise<Reply> =>
  changeStatus('onramp', input);

async function changeStatus(direction: Direction, input: SignedRequest<typeof changeOrderFields>): Promise<Reply> {
  const { deps, caller, values } = input;
  if (deps.sandbox === undefined) throw new Refusal('sandbox_only');
  const asked = drivenStatus(direction, values.status);
  if (asked === undefined) throw malformedField('status', `must be a status number of an ${direction} transaction`);
  const order = await input.inTx((tx) => orderIn(direction, tx, input));
  // Every order has passed "created" already.
  if (asked.number !== 0) {
    await deps.sandbox.driveOrder({ partnerId: caller.partner.id, orderId: order.id, status: asked.number });
  }
  return ok({ changeStatus: true, message: `Status changed to ${values.status} i.e ${asked.word}` });
}
