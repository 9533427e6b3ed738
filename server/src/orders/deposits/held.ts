/**
 * Held deposits: an operator holds a deposit's money in suspense until an operator releases it, whether or not its owner is
 * known.
 *
 * Orders have a hold of their own (actions.ts), which does not cover a late, second, excess or unidentified deposit: its refund
 * has a row of its own, or is not requested yet. A hold writes one row (held_deposits), which the gate, screening and follow-on
 * orders read. So it also prevents refunds that a policy or a partner requests later. A refund whose payout is created but not
 * submitted is ended; the payout's row lock decides which of the two comes first.
 *
 * A hit of a deposit's payer in a sanctions list needs no such row: the gate stops every refund and payout of it, and whatever else uses
 * money in suspense asks listed.ts.
 */
import type { Tx } from '../../base/db.ts';
import { assert, Refusal } from '../../base/errors.ts';
import { closeCases, openCase } from '../../compliance/index.ts';
import type { Rail } from '../../rails/rail.ts';
import { HELD_AT_GATE } from '../decide.ts';
import { cancelUnsubmitted } from '../refunds/rejected.ts';
import { comesNext, inSuspense, isOpen } from '../refunds/request.ts';
import { changeRefund, lockRefund, type Refund, refundsOfDeposit } from '../refunds/store.ts';
import * as store from '../store.ts';
import { wakeDeposit } from './dormant.ts';
import { deleteHeld, heldDeposit, insertHeld } from './held.store.ts';
import { unfit } from './replace.ts';
import type { DepositRow } from './store.ts';
import * as depositStore from './store.ts';

type Context = { rails: ReadonlyMap<string, Rail> };

export interface DepositAction {
  depositId: bigint;
  by: string;
  why: string;
  now: Date;
}

/** @throws Refusal 'unknown_deposit' | 'deposit_unfit' if no part of it is in suspense | 'payout_submitted' if it is too late */
export async function holdDeposit(context: Context, tx: Tx, action: DepositAction): Promise<void> {
  const { depositId, by, why, now } = action;
  const deposit = await lockWithOrder(tx, depositId);
  const open = await openRefund(tx, depositId);
  if (open === undefined && inSuspense(deposit) <= 0n) throw unfit('none of it is in suspense');
  await wakeDeposit(tx, deposit, { by, why, now });
  const isCreated = open?.state === 'created' || open?.state === 'submitted';
  if (isCreated && !(await cancelUnsubmitted(context, tx, open.id, `${HELD_AT_GATE}by ${by}`, now)))
    throw new Refusal('payout_submitted', { payout: open.key, state: open.state });
  await insertHeld(tx, depositId, { by, why, at: now });
  await openCase(tx, {
    kind: 'deposit_held',
    subject: `deposit:${depositId}`,
    orderId: deposit.orderId ?? undefined,
    partnerId: deposit.partnerId ?? undefined,
    reason: `held by ${by}`,
    facts: { units: String(open?.netUnits ?? inSuspense(deposit)), asset: deposit.asset },
    now,
  });
  const locked = open && (await lockRefund(tx, open.id));
  if (locked === undefined || !(isCreated ? locked.refund.state === 'rejected' : locked.refund.state === 'screening'))
    return;
  await changeRefund(tx, locked.refund, { state: 'held', now });
  await closeCases(tx, { subject: `refund:${locked.refund.id}`, outcome: `held by ${by}`, now });
}

/**
 * Releases a held deposit, which continues from its previous state: a refund with a destination is screened again, and passes the
 * gate as usual.
 *
 * @throws Refusal 'unknown_deposit' | 'deposit_unfit' if it is not held
 */
export async function releaseDeposit(tx: Tx, action: Omit<DepositAction, 'why'>): Promise<void> {
  const { depositId, by, now } = action;
  await lockWithOrder(tx, depositId);
  if (!(await deleteHeld(tx, depositId))) throw unfit('it is not held');
  await closeCases(tx, { kind: 'deposit_held', subject: `deposit:${depositId}`, outcome: `released by ${by}`, now });
  const open = await openRefund(tx, depositId);
  const locked = open && (await lockRefund(tx, open.id));
  if (locked?.refund.state !== 'held') return;
  await closeCases(tx, { subject: `refund:${locked.refund.id}`, outcome: `released by ${by}`, now });
  await comesNext(tx, await changeRefund(tx, locked.refund, { state: 'screening', now }), now);
}

/** @throws Refusal 'deposit_unfit' */
export async function requireNotHeldDeposit(tx: Tx, depositId: bigint): Promise<void> {
  if ((await heldDeposit(tx, depositId)) !== undefined) throw unfit('an operator holds it: release it first');
}

const openRefund = async (tx: Tx, depositId: bigint): Promise<Refund | undefined> =>
  (await refundsOfDeposit(tx, depositId)).find((one) => one.source === 'suspense' && isOpen(one));

/** The deposit, locked after its order. @throws Refusal 'unknown_deposit' */
export async function lockWithOrder(tx: Tx, id: bigint): Promise<DepositRow> {
  const known = await depositStore.depositById(tx, id);
  if (known === undefined) throw new Refusal('unknown_deposit', {});
  if (known.orderId !== null) await store.lock(tx, known.orderId);
  const deposit = await depositStore.lockDepositById(tx, id);
  assert(deposit !== undefined, `deposit ${id} is gone`);
  return deposit;
}
