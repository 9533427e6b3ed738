/** Actions on deposits that move money: refunded out of suspense, or assigned to an order. */
import type { Tx } from '../../../base/db.ts';
import { defined } from '../../../base/defined.ts';
import type { Need } from '../../../operators/index.ts';
import {
  assignDeposit,
  findDeposit,
  type Leaving,
  lockOrder,
  refundAddressOn,
  refundDeposit,
  refundsOfDeposit,
  requireNotHeldDeposit,
  requireNotSender,
  requireUnlistedPayer,
  standsForLoss,
  suspenseRefundOf,
} from '../../../orders/index.ts';
import { type Action, action } from '../action.ts';
import { DEPOSITS } from '../declared/deposits.ts';
import type { OperatorDeps } from '../deps.ts';
import { type Back, destinationOf, requireFit, requireNamed, type To, unitsOf } from './destinations.ts';
import { approvedIn, approves, needsOf } from './findings.ts';

export const DEPOSIT_ACTIONS: readonly Action[] = [
  action({
    ...DEPOSITS.refund,
    subject: (input) => `deposit:${input.deposit}`,
    async look(deps, tx, input) {
      requireNamed(input);
      const deposit = await findDeposit(tx, input.deposit);
      await requireFit(deps, tx, deposit, input);
      await requireNamedByOthers(deps, tx, deposit, input);
      // Reported at once instead of after a proposal.
      await requireNotHeldDeposit(tx, input.deposit);
      const { state, asset, units } = deposit;
      const refunds = (await refundsOfDeposit(tx, input.deposit)).map((one) => ({ id: one.id, state: one.state }));
      const leaving = await ofDeposit(deps, tx, input);
      return { state, asset, units, refunds, approves: leaving === undefined ? [] : await approves(deps, tx, leaving) };
    },
    async needs(deps, tx, input) {
      const { orderId, asset, units } = await findDeposit(tx, input.deposit);
      const leaving = await ofDeposit(deps, tx, input);
      const back = async (amount: { asset: string; units: bigint }): Promise<Need[]> => [
        // Without an order only the operator says who owns the deposit, and with a debt a claim is given up: two people,
        // whatever a rule says.
        orderId === null || (await standsForLoss(tx, orderId)) ? { ...amount, asks: 'always' } : amount,
        ...(leaving === undefined ? [] : await needsOf(deps, tx, leaving, { pastHits: input.pastHits === true })),
      ];
      // All refunds of the deposit count, so that splitting does not avoid a limit; a waiting refund is sent as a whole.
      const refunds = (await refundsOfDeposit(tx, input.deposit)).filter((one) => one.state !== 'cancelled');
      const named = refunds.reduce((sum, one) => sum + one.grossUnits, 0n);
      if (refunds.some((one) => one.state !== 'settled')) return await back({ asset, units: named });
      return await back({ asset, units: named + ((await unitsOf(tx, asset, input.amount)) ?? units) });
    },
    async perform({ orders }, tx, input, { operator, people, reason, now }, seen) {
      const deposit = await findDeposit(tx, input.deposit);
      const to = await destinationOf(orders, tx, deposit.rail, input);
      const units = await unitsOf(tx, deposit.asset, input.amount);
      await refundDeposit(orders, tx, {
        ...{ depositId: input.deposit, by: operator.name, people, pastHits: input.pastHits, why: reason, now },
        ...{ despiteDebt: input.despiteDebt, seen: approvedIn(seen) },
        ...defined({ units, to }),
      });
    },
  }),
  action({
    ...DEPOSITS.assign,
    subject: (input) => `deposit:${input.deposit}`,
    async look({ orders }, tx, input) {
      const { state, asset, units, orderId } = await findDeposit(tx, input.deposit);
      const order = await lockOrder(tx, input.order);
      await requireNotHeldDeposit(tx, input.deposit);
      await requireUnlistedPayer(orders, tx, input.deposit);
      return {
        state,
        asset,
        units,
        belongs: orderId,
        order: { id: order.id, state: order.state, version: order.version },
      };
    },
    async needs(_deps, tx, input) {
      const { orderId, asset, units } = await findDeposit(tx, input.deposit);
      // If the deposit belongs to another order or none, only the operator says who owns it: two people, whatever a rule says.
      return orderId === input.order ? { asset, units } : { asset, units, asks: 'always' as const };
    },
    async perform({ orders }, tx, input, { operator, reason, now }) {
      const { deposit: depositId, order: orderId } = input;
      const { asset } = await findDeposit(tx, depositId);
      const units = await unitsOf(tx, asset, input.amount);
      await assignDeposit(orders, tx, { depositId, orderId, units, by: operator.name, why: reason, now });
    },
  }),
];

/** The refund of a deposit in suspense, if the destination is known. */
async function ofDeposit(
  { orders }: OperatorDeps,
  tx: Tx,
  input: { deposit: bigint; amount: string | undefined } & To,
): Promise<Leaving | undefined> {
  const { id: depositId, rail, asset, units, orderId } = await findDeposit(tx, input.deposit);
  const to = await destinationOf(orders, tx, rail, input);
  if (to === undefined) return undefined;
  const order = orderId === null ? undefined : await lockOrder(tx, orderId);
  const { address = null, fiatAccountId = null } = to;
  const netUnits = (await unitsOf(tx, asset, input.amount)) ?? units;
  return await suspenseRefundOf(tx, { id: 0n, depositId, rail, asset, netUnits, address, fiatAccountId }, order);
}

/** An operator cannot name the sending address of coins as destination. @throws Refusal 'malformed_field' */
export async function requireNamedByOthers({ orders }: OperatorDeps, tx: Tx, back: Back & { id: bigint }, input: To) {
  if (input.address === undefined) return;
  const to = await refundAddressOn(orders, tx, back.rail, input.address);
  const order = back.orderId === null ? undefined : await lockOrder(tx, back.orderId);
  const named = order?.refundToBy === 'operator' ? null : (order?.refundAddress ?? null);
  await requireNotSender(orders, tx, { depositId: back.id, address: to, named });
}
