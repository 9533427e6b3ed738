/**
 * Meetings: events that coincide at the worst moment, in one of ten seeds.
 *
 * Elsewhere the order of two events is random, so events that take some milliseconds hardly ever overlap. Here they are brought
 * together:
 *
 * - The bank answers that it has accepted a payment just when its statement shows that payment: one process records the answer
 *   while another processes the line.
 * - Operators block an order by law as soon as it is paid, its customer pays once more, and the law releases the money at once,
 *   or much later.
 * - The node answers a transfer's estimated cost when its submission is over, and another process sends under the same key.
 * - While the screener is asked about another destination of a payout, or about the destination of a requested refund, one
 *   operator sends the payout again and another holds it.
 *
 * Invariants: no money of an order leaves while law blocks it (guard.ts), and a decision made before a hold does not pass it
 * (`wrong`).
 *
 * They use separate random numbers, so that all other seeds play as they would without them.
 */
import { Refusal } from '../../src/base/errors.ts';
import type { Screening } from '../../src/compliance/index.ts';
import {
  type Action,
  block,
  holdBack,
  nameDestination,
  type RefundTo,
  release,
  releaseBlocked,
  requestOrderRefund,
  retry,
  retryTo,
} from '../../src/orders/index.ts';
import type { Hands, Noted } from './actors.ts';
import { type Chance, chanceOf } from './chance.ts';
import type { Environment, OurProcess } from './process.ts';
import { lacksReferences } from './references.ts';
import { blockOfOrder, whenDone } from './stops.ts';

/** Seeds whose customers forget the reference, too: there law releases money that has not cleared (references.ts). */
export const hasMeetings = (seed: number): boolean => seed % 10 === 3 || lacksReferences(seed);

export interface Meetings {
  readonly done: ReadonlyMap<string, number>;
  /** Whether the bank delays this answer until its statement has shown the payment. */
  answersWithLine(): boolean;
  /** Additional delay of the node's cost estimate; undefined for none. */
  answersLateMs(): number | undefined;
  /** Called when the screener is asked. @returns what it waits for before it answers */
  asked(input: Screening): Promise<void> | undefined;
  /** At the end: decisions that passed a hold laid while the screener was asked, in sentences. */
  wrong(): Promise<string[]>;
}

type Plan = 'law' | 'elsewhere' | 'refund' | 'none';

const PEOPLE = ['operator:1', 'operator:2'];
const LOOK_MS = 1_000;
const AGAIN_MS = 15_000;
/** A submission lasts fifteen seconds, and is tried again soon after (rails/payouts.ts). */
const LATE_MS = [15_000, 40_000] as const;
/** Orders that hold their customer's money, and may be blocked. */
const HOLDING: readonly string[] = ['deposit_confirmed', 'awaiting_liquidity', 'paying_out', 'on_hold', 'payout_held'];

const unlessRefused = (error: unknown): void => {
  if (!(error instanceof Refusal)) throw error;
};

// Long because its meetings are one closure over the random numbers of a run.
export function openMeetings(
  {
    scheduler,
    backends,
    faults,
    complain,
    stops: laid,
  }: Pick<Environment, 'scheduler' | 'backends' | 'faults' | 'complain' | 'stops'>,
  deps: { seed: number; noted: () => readonly Noted[]; hands: () => Hands | undefined },
): Meetings {
  const chance: Chance = chanceOf(deps.seed + 3_000_017);
  const late: Chance = chanceOf(deps.seed + 7_000_003);
  const isLawOnly = lacksReferences(deps.seed);
  const done = new Map<string, number>();
  const did = (what: string): void => void done.set(what, (done.get(what) ?? 0) + 1);
  const plans = new Map<string, Plan>();
  /** Orders decided about for which the screener has not answered yet. */
  const decided = new Map<string, { purpose: string; why: string; isHeld: boolean }>();
  const holds: { id: string; version: number; why: string }[] = [];
  const tried = new Map<string, number>();
  let decisions = 0;

  /** A process may freeze with the order locked: every retry waits there, too. */
  const isTime = (id: string): boolean => {
    const now = scheduler.time.now();
    if (now - (tried.get(id) ?? 0) < AGAIN_MS) return false;
    tried.set(id, now);
    return true;
  };
  const planOf = (id: string): Plan => {
    const plan =
      plans.get(id) ?? (isLawOnly ? 'law' : chance.pick(['law', 'law', 'law', 'elsewhere', 'refund'] as const));
    plans.set(id, plan);
    return plan;
  };
  const somewhere = (what: string, body: (process: OurProcess) => Promise<unknown>): void =>
    deps.hands()?.somewhere(what, body);
  const acting = (orderId: bigint, why: string, now: Date): Action => ({
    ...{ orderId, by: PEOPLE[0] ?? '', people: PEOPLE, why, now },
  });

  const look = (): void => {
    if (faults.ended) return;
    void scheduler
      .perform('people look closely', () =>
        backends.look<{ id: bigint; state: string }>(
          `select id, state from orders o where follows is null and state = any($1)
              and not exists (select from payouts p where p.order_id = o.id and p.submissions > 0 and p.state <> 'rejected')
            order by id`,
          [HOLDING],
        ),
      )
      .then((rows) => {
        for (const row of rows) {
          const one = deps.noted().find(({ order }) => order.id === row.id);
          if (one !== undefined) does(one, row.state);
        }
      })
      .catch((error: unknown) => complain('meetings', error));
    scheduler.after(LOOK_MS, look);
  };
  scheduler.after(LOOK_MS, look);

  function does(one: Noted, state: string): void {
    const { id } = one.order;
    const plan = planOf(String(id));
    if (plan === 'none') return;
    const isHeld = state === 'payout_held' || (state === 'on_hold' && plan === 'refund');
    if ((isLawOnly || !isHeld) && !isTime(String(id))) return;
    if (plan === 'law') return stops(one);
    if (!isHeld)
      return somewhere('hold', async ({ context }) => {
        const { db, clock } = context;
        if (state === 'on_hold') await db.asSystem((tx) => release(context, tx, acting(id, 'looked at', clock.now())));
        await db.asSystem((tx) => holdBack(context, tx, acting(id, 'stepped in', clock.now())));
      });
    // A second request would be a decision about the hold.
    plans.set(String(id), plan === 'elsewhere' && chance.happens(0.5) ? plan : 'none');
    if (plan === 'elsewhere') sendsElsewhere(one);
    else requestsRefund(one);
  }

  /** Law blocks it, more money arrives, and law releases the earlier money. */
  function stops(one: Noted): void {
    const { id, depositUnits } = one.order;
    somewhere('block', async ({ context }) => {
      await whenDone(
        context.db.asSystem((tx) => block(context, tx, acting(id, 'an authority asks', context.clock.now()))),
        laid.laying(blockOfOrder(id)),
      );
      plans.set(String(id), 'none');
      did('blocked by law');
      scheduler.within({ process: undefined, task: 'customer' }, () => {
        if (chance.happens(0.6))
          scheduler.after(chance.int(1, 4_000), () => {
            deps.hands()?.pays(one, depositUnits);
            did('paid once more beside a block');
          });
        const soon = chance.happens(0.6);
        scheduler.after(soon ? chance.int(20, 2_000) : chance.int(30_000, 70_000), () => letsGo(one, soon));
      });
    });
  }

  function letsGo(one: Noted, soon: boolean): void {
    const { id } = one.order;
    somewhere('release by law', async ({ context }) => {
      const { db, clock } = context;
      const over = laid.lifting(blockOfOrder(id));
      await whenDone(
        db.asSystem((tx) =>
          releaseBlocked(context, tx, { ...acting(id, 'looked at', clock.now()), legalAct: 'an action' }),
        ),
        over,
        over,
      );
      did(soon ? 'let go by law at once' : 'let go by law');
      const wanted = await db.asSystem((tx) =>
        tx.rows<{ rail: string; asset: string }>(
          `select rail, asset from refunds where order_id = $1 and state = 'needs_destination' order by id`,
          [id],
        ),
      );
      for (const { rail, asset } of wanted) {
        const to = rail.startsWith('bank.') ? accountIn(one, asset) : { address: one.address };
        if (to === undefined) continue;
        const approvedBy = { people: PEOPLE, reason: 'looked at' };
        await db.asSystem((tx) =>
          nameDestination(context, tx, { orderId: id, to, by: 'operator', approvedBy, now: clock.now() }),
        );
      }
    });
  }

  function accountIn({ accounts }: Noted, asset: string): RefundTo | undefined {
    const account = accounts.find(({ fiat }) => fiat === asset);
    return account === undefined ? undefined : { fiatAccountId: account.id };
  }

  const decides = (id: bigint, purpose: string): string => {
    decisions += 1;
    const why = `decided ${decisions}`;
    decided.set(String(id), { purpose, why, isHeld: false });
    return why;
  };

  function sendsElsewhere(one: Noted): void {
    const { id, direction } = one.order;
    const account = one.accounts[1];
    const to = direction === 'onramp' ? { address: one.elsewhere } : account && { fiatAccountId: account.id };
    if (to === undefined) return;
    const why = decides(id, 'payout');
    somewhere('retry elsewhere', async ({ context }) => {
      const { db, clock } = context;
      // An operator's hold ends first; without one this is refused.
      await db.asSystem((tx) => release(context, tx, acting(id, 'looked at', clock.now()))).catch(unlessRefused);
      await retryTo(context, acting(id, why, context.clock.now()), to);
      did('sent elsewhere');
    });
  }

  function requestsRefund(one: Noted): void {
    const { id, direction, depositAsset } = one.order;
    const to = direction === 'offramp' ? { address: one.address } : accountIn(one, depositAsset);
    if (to === undefined) return;
    const why = decides(id, 'refund');
    somewhere('request a refund', async ({ context }) => {
      const { db, clock } = context;
      await db.asSystem((tx) => requestOrderRefund(context, tx, acting(id, why, clock.now()), { failure: 'other' }));
      const approvedBy = { people: PEOPLE, reason: 'looked at' };
      await db.asSystem((tx) =>
        nameDestination(context, tx, { orderId: id, to, by: 'operator', approvedBy, now: clock.now() }),
      );
      did('a refund requested and its destination named');
    });
  }

  return {
    done,
    answersWithLine: () => !faults.ended && chance.happens(0.6),
    answersLateMs() {
      if (faults.ended || !late.happens(0.25)) return undefined;
      did('a transfer prepared after its submission was over');
      return late.int(...LATE_MS);
    },
    asked({ id, purpose }) {
      if (faults.ended) return undefined;
      const one = decided.get(String(id));
      // On the simulation's own clock (time.ts), which the scheduler moves: nothing sleeps.
      const pause = (mostMs: number) =>
        new Promise<void>((wake) => setTimeout(wake, Math.min(mostMs, chance.int(500, 3_000))));
      // Enough time for operators to intervene before it is paid out.
      if (one === undefined && purpose !== 'refund' && planOf(String(id)) !== 'none') return pause(LOOK_MS + 200);
      if (one === undefined || one.purpose !== purpose || one.isHeld) return undefined;
      one.isHeld = true;
      scheduler.within({ process: undefined, task: 'operator' }, () =>
        somewhere('send again and hold', async ({ context }) => {
          const { db, clock } = context;
          await db.asSystem(async (tx) => {
            const [order] = await tx.rows<{ state: string }>('select state from orders where id = $1', [id]);
            await (order?.state === 'on_hold' ? release : retry)(context, tx, acting(id, 'sent again', clock.now()));
          });
          const { order } = await db.asSystem((tx) => holdBack(context, tx, acting(id, 'held again', clock.now())));
          holds.push({ id: String(id), version: order.version, why: one.why });
          did(`held while the screener is asked about a ${purpose}`);
        }),
      );
      return pause(3_000);
    },
    async wrong() {
      const found: string[] = [];
      for (const { id, version, why } of holds) {
        const past = await backends.look<{ event: string }>(
          `select event from order_history h where order_id = $1 and version > $2 and event in ('retried', 'refund_requested')
              and facts ->> 'why' = $3
              and not exists (select from order_history r where r.order_id = h.order_id and r.event = 'released'
                                and r.version > $2 and r.version < h.version)`,
          [id, version, why],
        );
        for (const { event } of past)
          found.push(`order ${id} is ${event} as was decided before a person held it in version ${version}`);
      }
      return found;
    },
  };
}
