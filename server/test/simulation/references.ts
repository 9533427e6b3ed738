/**
 * References: customers pay by the bank without naming their order, in one of twenty seeds.
 *
 * Their credit arrives as money without an order. Operators find it by amount and account and assign it at once, before the bank
 * can no longer recall it: so the order accepts money that has not cleared, which a credit with its reference never causes. In
 * the same seeds law blocks orders as soon as they are paid and releases them (meetings.ts), so released money has to wait for
 * that credit. Money that no order accepts any more goes to its customer's account.
 *
 * Whether money leaves before the credit behind it has cleared is checked elsewhere (guard.ts), by when the bank first showed it.
 *
 * They use separate random numbers, so that all other seeds play as they would without them.
 */
import { assignDeposit, refundDeposit } from '../../src/orders/index.ts';
import type { Hands, Noted } from './actors.ts';
import { type Chance, chanceOf } from './chance.ts';
import { FIAT } from './outside.bank.ts';
import type { Environment } from './process.ts';

export const lacksReferences = (seed: number): boolean => seed % 20 === 18;

/** A payment whose text does not name its order. */
export interface Nameless {
  text: string;
  came(line: string): void;
}

export interface References {
  readonly done: ReadonlyMap<string, number>;
  /** Every credit has its order, or was refunded. */
  readonly isOver: boolean;
  /** A payer pays by the bank. @returns undefined if they name their order */
  forgotten(one: Noted): Nameless | undefined;
}

interface Credit {
  line: string;
  one: Noted;
  cameAt: number;
  triedAt: number;
}

const LOOK_MS = 1_000;
/** A process may freeze with the order locked: every retry waits there, too. */
const AGAIN_MS = 15_000;
/** By then no receipt is recalled any more (actors.ts), and every planned assignment is made. */
const GOES_BACK_MS = 200_000;

export function openReferences(
  { scheduler, backends, faults, complain }: Pick<Environment, 'scheduler' | 'backends' | 'faults' | 'complain'>,
  deps: { seed: number; hands: () => Hands | undefined },
): References {
  const chance: Chance = chanceOf(deps.seed + 4_000_037);
  const done = new Map<string, number>();
  const did = (what: string): void => void done.set(what, (done.get(what) ?? 0) + 1);
  const credits = new Map<string, Credit>();

  const look = (): void => {
    if (credits.size > 0)
      void scheduler
        .perform('people look for the order of a credit', () =>
          backends.look<{ id: bigint; line: string; state: string; order: bigint | null; refund: string | null }>(
            `select d.id, d.external_id as line, d.state, d.order_id as order,
                    (select r.state from refunds r where r.deposit_id = d.id order by r.id desc limit 1) as refund
               from deposits d where d.external_id = any($1) order by d.id`,
            [[...credits.keys()]],
          ),
        )
        .then((rows) => {
          for (const row of rows) {
            const credit = credits.get(row.line);
            if (credit === undefined) continue;
            if (row.order !== null || row.state !== 'suspense') credits.delete(row.line);
            else if (scheduler.time.now() - credit.triedAt > AGAIN_MS) next(row, credit);
          }
        })
        .catch((error: unknown) => complain('references', error));
    scheduler.after(LOOK_MS, look);
  };
  scheduler.after(LOOK_MS, look);

  function next({ id, refund }: { id: bigint; refund: string | null }, credit: Credit): void {
    const now = scheduler.time.now();
    credit.triedAt = now;
    if (now - credit.cameAt > GOES_BACK_MS) goesBack(id, credit);
    else if (refund === null) assigns(id, credit);
  }

  const people = ['operator:1', 'operator:2'];
  const acting = { by: people[0] ?? '', people, why: 'found by its amount' };

  function assigns(depositId: bigint, { one }: Credit): void {
    deps.hands()?.somewhere('assign a deposit', async ({ context }) => {
      const { db, clock } = context;
      const orderId = one.order.id;
      await db.asSystem((tx) => assignDeposit(context, tx, { ...acting, depositId, orderId, now: clock.now() }));
      did('assigned before it has cleared');
    });
  }

  function goesBack(depositId: bigint, { one }: Credit): void {
    const account = one.accounts.find(({ fiat }) => fiat === FIAT);
    if (account === undefined) return;
    deps.hands()?.somewhere('refund a deposit of no order', async ({ context }) => {
      const { db, clock } = context;
      const to = { fiatAccountId: account.id };
      const { state } = await db.asSystem((tx) =>
        refundDeposit(context, tx, { ...acting, depositId, to, now: clock.now() }),
      );
      if (state === 'screening') did('gone back without an order');
    });
  }

  return {
    done,
    get isOver() {
      return credits.size === 0;
    },
    forgotten(one) {
      if (faults.ended || !chance.happens(0.8)) return undefined;
      const text = `for my order ${chance.int(1, 1_000_000)}`;
      return { text, came: (line) => void credits.set(line, { line, one, cameAt: scheduler.time.now(), triedAt: 0 }) };
    },
  };
}
