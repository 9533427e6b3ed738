/**
 * To the sender: an order's refund to the bank account that its deposit came from.
 *
 * This is for a credit in another name than the customer's: the customer has no claim to it, and its payer may have no other
 * account with us. Only the bank knows who owns the account, so two operators must approve it whatever the rules say. It is
 * allowed only if there is one deposit, so that no part goes to the payer of another.
 *
 * Not here: the same for money in suspense (`deposit return`), and who has to approve (protocols/operator).
 */
import type { Vault } from '../../base/crypto.ts';
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { findFiatAccount, keepSenderAccount } from '../../customers/index.ts';
import type { Rails } from '../context.ts';
import { senderAccount } from '../deposits/payers.ts';
import * as depositStore from '../deposits/store.ts';
import type { Order } from '../store.ts';
import { isRejectedPart } from './cancel.ts';
import { refundsOf } from './store.ts';

/** An account, and the deposit that came from it. */
export interface Sender {
  fiatAccountId: bigint;
  senderOf: bigint;
}

/**
 * The account that an order's only deposit came from. It is stored, so that it is screened and paid like any other; a second
 * request uses the same one.
 *
 * @throws Refusal 'does_not_fit' if the order has several deposits or none, or if the deposit did not come from a bank or shows
 *   no account
 */
export async function senderOfOrder(
  context: Rails & { vault: Vault },
  tx: Tx,
  order: Pick<Order, 'id'>,
  now: Date,
): Promise<Sender> {
  const depositId = await onlyDeposit(tx, order);
  const details = await senderAccount(context, tx, depositId);
  const deposit = await depositStore.depositById(tx, depositId);
  const fiat = deposit?.asset ?? '';
  return {
    fiatAccountId: await keepSenderAccount(tx, context.vault, { depositId, fiat, details, now }),
    senderOf: depositId,
  };
}

/** @throws Refusal 'does_not_fit' */
export async function onlyDeposit(tx: Tx, { id }: Pick<Order, 'id'>): Promise<bigint> {
  const no = (why: string) => new Refusal('does_not_fit', { why });
  // Parts that a bank recalled are no deposits of their own.
  const deposits = (await depositStore.depositsOf(tx, id)).filter(({ facts }) => facts.partOf === undefined);
  const [only, ...others] = deposits;
  if (only === undefined) throw no('nothing has come for the order');
  if (others.length > 0) throw no(`the order has ${deposits.length} deposits: name a destination`);
  if (!HELD.includes(only.state)) throw no('its order does not hold the deposit');
  return only.id;
}

/** Includes the state after the refund, because an action is read back once it is done. */
const HELD: readonly depositStore.DepositRow['state'][] = ['applied', 'refunded'];

/** Whether an order's rejected refund goes to the account of a sender if it is sent again. */
export async function goesToSender(tx: Tx, orderId: bigint): Promise<boolean> {
  const rejected = (await refundsOf(tx, orderId)).find(isRejectedPart);
  if (rejected?.fiatAccountId == null) return false;
  return (await findFiatAccount(tx, rejected.fiatAccountId)).senderOf !== null;
}
