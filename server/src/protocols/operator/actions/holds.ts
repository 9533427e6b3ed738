/** Actions that hold a deposit's money in suspense, and release it. */
import type { Tx } from '../../../base/db.ts';
import { findDeposit, heldDeposit, holdDeposit, refundsOfDeposit, releaseDeposit } from '../../../orders/index.ts';
import { type Action, action } from '../action.ts';
import { DEPOSITS } from '../declared/deposits.ts';
import type { OperatorDeps } from '../deps.ts';

/** A deposit with its refunds, and the operator who holds it. */
async function lookHeld(_deps: OperatorDeps, tx: Tx, input: { deposit: bigint }) {
  const { state, asset, units } = await findDeposit(tx, input.deposit);
  const refunds = (await refundsOfDeposit(tx, input.deposit)).map((one) => ({ id: one.id, state: one.state }));
  const held = await heldDeposit(tx, input.deposit);
  return { state, asset, units, refunds, heldBy: held?.by ?? null, heldSince: held?.at ?? null };
}

export const HOLD_ACTIONS: readonly Action[] = [
  action({
    ...DEPOSITS.hold,
    subject: (input) => `deposit:${input.deposit}`,
    look: lookHeld,
    // The action sends no money, so the `night` role may do it.
    async perform({ orders }, tx, input, { operator, reason, now }) {
      await holdDeposit(orders, tx, { depositId: input.deposit, by: operator.name, why: reason, now });
    },
  }),
  action({
    ...DEPOSITS.release,
    subject: (input) => `deposit:${input.deposit}`,
    look: lookHeld,
    async needs(_deps, tx, input) {
      const { orderId, asset, units } = await findDeposit(tx, input.deposit);
      // Without an order only the operator says who owns the deposit.
      return orderId === null ? ('always' as const) : { asset, units };
    },
    async perform(_deps, tx, input, { operator, now }) {
      await releaseDeposit(tx, { depositId: input.deposit, by: operator.name, now });
    },
  }),
];
