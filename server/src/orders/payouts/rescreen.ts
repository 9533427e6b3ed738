/**
 * Calls the screener: outside any transaction, before money leaves, and again if the stored result is too old.
 *
 * While a screener does not answer, money waits. One case covers the outage for all orders; the next answer closes it.
 */
import type { Tx } from '../../base/db.ts';
import { Unavailable } from '../../base/errors.ts';
import { enqueue, type Handled, type Handlers } from '../../base/jobs.ts';
import { closeCases, openCase, ProviderDown, record, type Screening, type Verdict } from '../../compliance/index.ts';
import { findPayout, payoutsOf } from '../../rails/payouts.ts';
import type { OrdersContext } from '../context.ts';
import { keepVerdict } from './gate.ts';
import { leavingOf, screeningOf } from './leaving.ts';

const SUBJECT = 'screening';

/** Screeners whose last call from this process failed, or that were not called yet: their case may be open. */
const mayBeDown = new WeakMap<object, boolean>();

/** @throws Unavailable if the screener does not answer; a case is then open */
export async function screenOutside(context: OrdersContext, input: Screening): Promise<Verdict> {
  const { screener, db, clock } = context;
  try {
    const verdict = await screener.screen(input);
    if (mayBeDown.get(screener) ?? true) {
      await db.asSystem((tx) => closeOutage(context, tx));
      mayBeDown.set(screener, false);
    }
    return verdict;
  } catch (error) {
    // A provider whose case is already open needs no second one.
    if (!(error instanceof Unavailable) || error instanceof ProviderDown) throw error;
    mayBeDown.set(screener, true);
    await db.asSystem((tx) =>
      openCase(tx, {
        kind: 'screening_unavailable',
        subject: SUBJECT,
        reason: 'the screener does not answer: money that has to be screened waits',
        now: clock.now(),
      }),
    );
    throw error;
  }
}

/**
 * Screens in `tx`, if nothing outside is asked. An outage that this process has not seen end is over then, too.
 *
 * @returns undefined if something outside is asked: then `screenOutside` is called
 */
export async function screenWithin(context: OrdersContext, tx: Tx, input: Screening): Promise<Verdict | undefined> {
  const { screener } = context;
  const verdict = await screener.within?.(tx, input);
  if (verdict !== undefined && (mayBeDown.get(screener) ?? true)) await closeOutage(context, tx);
  return verdict;
}

const closeOutage = (context: OrdersContext, tx: Tx): Promise<void> =>
  closeCases(tx, {
    kind: 'screening_unavailable',
    subject: SUBJECT,
    outcome: 'it answers again',
    now: context.clock.now(),
  });

/** Has the waiting payouts of an order ask the gate again, because their cause for waiting has ended. */
export async function wakePayouts(tx: Tx, orderId: bigint, now: Date): Promise<void> {
  for (const { id, state } of await payoutsOf(tx, orderId))
    if (state === 'created') enqueue(tx, { kind: 'send_payout', subject: id, dueAt: now });
}

export function rescreenHandlers(context: OrdersContext): Handlers {
  return { rescreen_payout: (id) => rescreen(context, id) };
}

/** Screens a payout again, stores the result, and has the payout ask the gate again. */
async function rescreen(context: OrdersContext, id: string): Promise<Handled> {
  const { db, clock } = context;
  const input = await db.asSystem(async (tx) => {
    const payout = await findPayout(tx, id);
    if (payout === undefined || payout.endedAt !== null) return undefined;
    return screeningOf(await leavingOf(tx, payout));
  });
  if (input === undefined) return undefined;
  const verdict = await screenOutside(context, input);
  await db.asSystem(async (tx) => {
    const payout = await findPayout(tx, id);
    if (payout === undefined || payout.endedAt !== null) return;
    const now = clock.now();
    const leaving = await leavingOf(tx, payout);
    keepVerdict(tx, leaving, verdict, now);
    const { partnerId, orderId } = payout;
    await record(tx, { partnerId, orderId: orderId ?? undefined, about: leaving.purpose, ...verdict, now });
    enqueue(tx, { kind: 'send_payout', subject: id, dueAt: now });
  });
  return undefined;
}
