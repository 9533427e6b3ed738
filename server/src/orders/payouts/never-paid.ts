/**
 * Never paid: operators end a payout whose outcome stays unknown, with evidence that its rail did not pay it.
 *
 * The payout ends as if its rail had rejected it: the order or refund keeps its money, and operators decide on another attempt
 * under a new key, through the same gate, or on a refund. If the rail later shows it as paid, that is a contradiction like any
 * other: booked as a loss, with a case, and the next attempt is cancelled if it has not been submitted (facts.ts).
 *
 * Not here: when it may be declared (rails/payouts.unpaid.ts).
 */
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { closeCases } from '../../compliance/index.ts';
import { lockPayout, type Payout, readPayout, statusNow, whyNotUnpaid } from '../../rails/payouts.ts';
import type { Rail } from '../../rails/rail.ts';
import type { Context, OrdersContext } from '../context.ts';
import { mayHavePaid } from '../custody/lost-time.ts';
import { lockOrderOf } from '../lock.ts';
import { payoutRejected } from './facts.ts';

/** The reason in the history of the order and in the payout's row. */
export const NEVER_PAID = 'declared_never_paid';

interface Declared {
  payout: string;
  evidence: string;
  by: string;
  why: string;
}

const wrong = (why: string) => new Refusal('does_not_fit', { why });

/** @throws Refusal 'unknown_payout' */
async function lockWithOrder(context: Pick<Context, 'rails'>, tx: Tx, key: string): Promise<[Payout, Rail]> {
  const known = await readPayout(tx, key);
  const rail = known && context.rails.get(known.rail);
  if (known === undefined || rail === undefined) throw new Refusal('unknown_payout');
  // Lock order: the order before its payout.
  const order = await lockOrderOf(tx, { rail: known.rail, key });
  const payout = (await lockPayout(tx, key)) ?? known;
  // In the time that a restore has lost, the rail may have paid the order through an attempt that is missing from these books.
  const isOpen = payout.endedAt === null && order !== undefined;
  const lost = isOpen ? await mayHavePaid(context, tx, order) : undefined;
  if (lost !== undefined) throw wrong(`its rail may have paid it in the time that a restore has lost: that is ${lost}`);
  return [payout, rail];
}

/**
 * Checks that operators may declare this payout never paid now. Locks its order and the payout.
 *
 * @throws Refusal 'unknown_payout' | 'does_not_fit' with the reason
 */
export async function requireUnpaid(context: Pick<Context, 'rails' | 'clock'>, tx: Tx, key: string): Promise<Payout> {
  const [payout, rail] = await lockWithOrder(context, tx, key);
  const why = await whyNotUnpaid(context, tx, rail, payout);
  if (why !== undefined) throw wrong(why);
  return payout;
}

/**
 * Ends the payout as never paid. First its rail is asked once more: the rail's answer about the key overrides the operators'
 * statement.
 *
 * @throws Refusal as `requireUnpaid`
 */
export async function declareNeverPaid(context: OrdersContext, declared: Declared): Promise<void> {
  const { payout: key, evidence, by, why } = declared;
  const { db, rails } = context;
  const before = await db.asSystem((tx) => requireUnpaid(context, tx, key));
  const rail = rails.get(before.rail);
  if (rail === undefined) throw new Refusal('unknown_payout');
  const status = await statusNow(rail, key);
  if (status.outcome === 'known') throw wrong('its rail says that it has this payment');
  if (status.outcome === 'rejected')
    throw wrong('its rail says that it rejected the payment: the payout ends by itself');
  await db.asSystem(async (tx) => {
    const payout = await requireUnpaid(context, tx, key);
    const now = context.clock.now();
    await closeCases(tx, { kind: 'payout_unknown', subject: `payout:${key}`, outcome: `never paid, says ${by}`, now });
    const fact = { type: 'payout_rejected', rail: payout.rail, key, why: NEVER_PAID } as const;
    await payoutRejected(context, tx, fact, { by, reason: why, evidence });
  });
}
