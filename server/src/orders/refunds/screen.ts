/** Screening of refunds, and creating the payouts of those that pass. */
import type { Tx } from '../../base/db.ts';
import { defined } from '../../base/defined.ts';
import { assert } from '../../base/errors.ts';
import type { Handled, Run } from '../../base/jobs.ts';
import { closeCases, record, type Verdict } from '../../compliance/index.ts';
import { chart, post } from '../../ledger/index.ts';
import type { Rail } from '../../rails/rail.ts';
import { bookedRefund, writeRefund } from '../advance.ts';
import type { OrdersContext, Rails } from '../context.ts';
import * as depositStore from '../deposits/store.ts';
import { holdRefund } from '../entries.ts';
import { keepVerdict, uncoveredFindings } from '../payouts/gate.ts';
import { screeningOf, suspenseRefundOf } from '../payouts/leaving.ts';
import { lookAgain, notReady } from '../payouts/ready.ts';
import { screenOutside } from '../payouts/rescreen.ts';
import type { Order } from '../store.ts';
import * as store from '../store.ts';
import { fitsRefund } from './destinations.ts';
import { announceRefund, comesNext, FUNDS_EVERY_MS, outgoing, refundCase } from './request.ts';
import { refundIsShort } from './short.ts';
import { changeRefund, findRefund, type LockedRefund, lockRefund, type Refund } from './store.ts';

/** Screens the destination of a refund out of suspense, then creates its payout. */
export async function screenRefund(context: OrdersContext, id: bigint, run?: Run): Promise<Handled> {
  const { refund, order, early } = await context.db.asSystem(async (tx) => {
    const found = await findRefund(tx, id);
    const deposit = found === undefined ? undefined : await depositStore.depositById(tx, found.depositId);
    return {
      refund: found,
      order: found?.orderId == null ? undefined : await store.get(tx, found.orderId),
      early: deposit && (await notReady(context, tx, [deposit], context.clock.now())),
    };
  });
  if (refund?.state !== 'screening') return undefined;
  // No refund while its rail can still reverse the deposit. Screened only after that, because lists change meanwhile.
  if (early !== undefined) return lookAgain(early, context.clock.now());
  const nobodys = await isNobodysThere(context.rails, refund, order);
  const asked = await context.db.asSystem((tx) => suspenseRefundOf(tx, refund, order));
  const verdict = await screenOutside(context, screeningOf(asked));
  return await context.db.asSystem(async (tx) => {
    const handled = await decideScreened(context, tx, { refund, verdict, nobodys });
    run?.ends(tx, handled);
    return handled;
  });
}

/** @param screened.refund as it was when its destination was screened */
async function decideScreened(
  context: OrdersContext,
  tx: Tx,
  { refund, verdict, nobodys }: { refund: Refund; verdict: Verdict; nobodys: boolean },
): Promise<Handled> {
  const locked = await lockRefund(tx, refund.id);
  assert(locked !== undefined, `refund ${refund.id} has disappeared`);
  const there = locked.refund;
  const same = there.address === refund.address && there.fiatAccountId === refund.fiatAccountId;
  if (there.state !== 'screening') return undefined;
  const to = { address: there.address ?? undefined, fiatAccountId: there.fiatAccountId ?? undefined };
  if (!(await fitsRefund(context, tx, outgoing(there, locked.order), to))) {
    const nowhere = { fiatAccountId: null, address: null };
    const open = await changeRefund(tx, there, { state: 'needs_destination', to: nowhere, now: context.clock.now() });
    await comesNext(tx, open, context.clock.now());
    return undefined;
  }
  // Another destination was named meanwhile; that one is screened next.
  if (!same) return { againInMs: 0 };
  const now = context.clock.now();
  const leaving = await suspenseRefundOf(tx, there, locked.order);
  keepVerdict(tx, leaving, verdict, now);
  const [first] = await uncoveredFindings(context, tx, leaving, now);
  await record(tx, {
    orderId: there.orderId ?? undefined,
    partnerId: there.partnerId,
    about: 'refund',
    ...verdict,
    outcome: first === undefined ? 'cleared' : 'held',
    now,
  });
  if (first !== undefined || nobodys) {
    const held = await changeRefund(tx, there, { state: 'held', now });
    await refundCase(tx, held, 'refund_destination_held', first?.rule ?? CONTRACT_ELSEWHERE, now);
    await announceRefund(tx, locked.order, now);
    return undefined;
  }
  return await sendFromSuspense(context, tx, locked, now);
}

const CONTRACT_ELSEWHERE =
  'it is a contract on the chain of the order, and nothing on the chain that the money came on';

/**
 * Whether an address may have no owner on this chain. Money that arrived on another chain than the order's is refunded on that
 * chain. A key owns the same address on both chains, but a contract does not: if the customer's contract is not deployed there,
 * its address may have no owner.
 *
 * @throws Unavailable
 */
async function isNobodysThere(
  rails: ReadonlyMap<string, Rail>,
  { rail, address }: Refund,
  order: Order | undefined,
): Promise<boolean> {
  if (order === undefined || address === null || rail === order.depositRail) return false;
  const [home, there] = [rails.get(order.depositRail), rails.get(rail)];
  if (home?.kind !== 'chain' || (await home.hasCode?.(address)) !== true) return false;
  return (await there?.hasCode?.(address)) !== true;
}

/**
 * Holds a refund in suspense and creates its next attempt.
 *
 * @returns when to try again, if the paying wallet has too little
 */
export async function sendFromSuspense(
  context: Rails,
  tx: Tx,
  { refund, order }: LockedRefund,
  now: Date,
): Promise<Handled> {
  const rail = context.rails.get(refund.rail);
  assert(rail !== undefined, `rail ${refund.rail} is not running`);
  const attempt = refund.attempt + 1;
  const payoutAttempt = (order?.payoutAttempt ?? 0) + 1;
  const key = refund.purpose === 'payout' ? `pay_${refund.orderId}_${payoutAttempt}` : `ref_${refund.id}_${attempt}`;
  const from = chart.suspense(refund.rail, refund.asset);
  const to = chart.custody(rail.code, rail.wallets.payouts, refund.asset);
  const posted = await post(tx, {
    id: `${key}:held`,
    kind: 'hold_refund',
    ...defined({ orderId: refund.orderId ?? undefined }),
    at: now,
    facts: { refund: String(refund.id), deposit: String(refund.depositId) },
    lines: holdRefund(bookedRefund({ ...refund, key }), from, to),
  });
  if (posted.outcome === 'short') {
    const { id, rail: at, asset, netUnits: units } = refund;
    // Any other state has no job that tries again.
    if (refund.state === 'screening')
      await refundIsShort(tx, { kind: 'screen_refund', subject: String(id), rail: at, asset, units, now });
    return { againInMs: FUNDS_EVERY_MS };
  }
  const written = await changeRefund(tx, refund, { state: 'created', attempt, key, now });
  if (refund.purpose === 'payout' && order !== undefined) await store.noteAttempt(tx, order.id, payoutAttempt, now);
  await writeRefund(tx, refund.purpose === 'payout' ? { ...written, attempt: payoutAttempt } : written, now);
  await closeCases(tx, { subject: `refund:${refund.id}`, outcome: 'created', now });
  return undefined;
}
