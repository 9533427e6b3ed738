/**
 * Shortage: orders that have their deposit and wait because the account that pays them out has too little.
 *
 * There is one case per rail and asset, however many orders wait. It says how much is missing and for how many orders, and closes
 * when none waits any more. A separate job maintains it, in a transaction that locks no order. Orders only enqueue that job when
 * they begin and end waiting, so they do not contend for the case.
 *
 * The order that has waited longest is paid first, and later orders queue behind it (advance.ts): otherwise small orders would
 * repeatedly take the funds that a large one waits for. A held order is not in the queue, and returns to its old position after
 * the hold. An operator may temporarily let orders pass for which the funds suffice.
 *
 * Not here: retrying to pay them (jobs.ts), warning before anything waits (treasury/levels.ts).
 */
import type { Tx } from '../../base/db.ts';
import { enqueue, type Handled, type Handlers } from '../../base/jobs.ts';
import { formatUnits } from '../../base/money.ts';
import { closeCases, upsertCase } from '../../compliance/index.ts';
import { balance, chart } from '../../ledger/index.ts';
import { assets } from '../../partners/index.ts';
import type { OrdersContext } from '../context.ts';
import type { Order } from '../store.ts';
import * as store from '../store.ts';
import { endPass, firstInTurn, inTurn, passNow, setPass } from './queue.store.ts';

const CHECK = 'check_shortage';
/** Interval while orders wait, because incoming funds and payouts of other orders change the missing amount. */
export const EVERY_MS = 5_000;

/** Enqueues an update of the case: an order begins or stops waiting for funds. */
export const shortageChanged = (tx: Tx, { payoutRail, payoutAsset }: Order, now: Date): void =>
  enqueue(tx, { kind: CHECK, subject: `${payoutRail}:${payoutAsset}`, dueAt: now });

export type What = { rail: string; asset: string };

/** Whether smaller orders may pass now, and whose turn it is. */
export async function shortageNow(tx: Tx, what: What, now: Date) {
  const [pass, first] = [await passNow(tx, what, now), await firstInTurn(tx, what)];
  return { first: first?.id ?? null, passUntil: pass?.until ?? null, passBy: pass?.by ?? null };
}

/** Until the given time, orders for which the funds suffice may pass older ones for which they do not. */
export async function letPass(tx: Tx, what: What, pass: { until: Date; by: string; reason: string; now: Date }) {
  const { now, ...said } = pass;
  await setPass(tx, what, { ...said, at: now });
  await lookAgain(tx, what, now);
}

/** Ends the pass: orders are paid strictly in the order of waiting again. */
export async function endLettingPass(tx: Tx, what: What, now: Date): Promise<void> {
  await endPass(tx, what);
  await lookAgain(tx, what, now);
}

async function lookAgain(tx: Tx, { rail, asset }: What, now: Date): Promise<void> {
  for (const { id } of await inTurn(tx, { rail, asset }))
    enqueue(tx, { kind: 'fund_order', subject: String(id), dueAt: now });
  enqueue(tx, { kind: CHECK, subject: `${rail}:${asset}`, dueAt: now });
}

/** @returns what the wallet or account that pays has free, undefined if its rail is not running; and amounts of the asset as text */
export async function payingFunds(tx: Tx, rails: OrdersContext['rails'], { rail, asset }: What) {
  const wallet = rails.get(rail)?.wallets.payouts;
  const paying = wallet === undefined ? undefined : await balance(tx, chart.custody(rail, wallet, asset));
  const decimals = (await assets(tx)).get(asset)?.decimals ?? 0;
  return {
    freeUnits: paying && paying.units - paying.heldUnits,
    shown: (units: bigint): string => formatUnits(units, decimals),
  };
}

export function shortageHandlers({ db, clock, rails }: Pick<OrdersContext, 'db' | 'clock' | 'rails'>): Handlers {
  return {
    [CHECK]: (subject) =>
      db.asSystem(async (tx): Promise<Handled> => {
        const [rail = '', asset = ''] = subject.split(':');
        const now = clock.now();
        const about = { kind: 'treasury_short', subject } as const;
        const waiting = await store.short(tx, { rail, asset });
        const first = await firstInTurn(tx, { rail, asset });
        if (waiting.orders === 0 || first === undefined) {
          await closeCases(tx, { ...about, outcome: 'no order waits for it any more', now });
          return undefined;
        }
        const { units: ownFree } = await balance(tx, chart.treasury(asset));
        const { freeUnits, shown } = await payingFunds(tx, rails, { rail, asset });
        // The conversion takes from our own funds, and the payout leaves the paying account. Either may have too little.
        const lacks = ({ givenUnits, payoutUnits }: { givenUnits: bigint; payoutUnits: bigint }): bigint => {
          const ownMissing = givenUnits - ownFree;
          const payingMissing = freeUnits === undefined ? 0n : payoutUnits - freeUnits;
          return [ownMissing, payingMissing, 0n].reduce((most, units) => (units > most ? units : most));
        };
        const missing = lacks(waiting);
        const pass = await passNow(tx, { rail, asset }, now);
        const many = `${waiting.orders} order${waiting.orders === 1 ? '' : 's'}`;
        await upsertCase(tx, {
          ...about,
          reason:
            `${shown(missing)} ${asset} missing at ${rail}: ${many} wait${waiting.orders === 1 ? 's' : ''}` +
            `, first order ${first.id}, which lacks ${shown(lacks(first))}` +
            (pass === undefined ? '' : `; smaller ones may pass until ${pass.until.toISOString()}, says ${pass.by}`),
          facts: {
            ...{ rail, asset, orders: waiting.orders, missing: shown(missing) },
            ...{ needed: shown(waiting.givenUnits), own: shown(ownFree) },
            ...{ first: String(first.id), firstSince: first.since.toISOString(), firstLacks: shown(lacks(first)) },
            ...(pass === undefined
              ? {}
              : { passUntil: pass.until.toISOString(), passBy: pass.by, passWhy: pass.reason }),
          },
          now,
        });
        return { againInMs: EVERY_MS };
      }),
  };
}
