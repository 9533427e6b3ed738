/**
 * Again: a block, hold or kill switch is set a second time; earlier approvals must not apply to it. Two of twenty seeds have it.
 *
 * - Operators block the customer of an order, let its payout pass that block while payouts are switched off, and block the customer once
 *   more before anything leaves.
 * - Money of no order goes to an account of a customer who is blocked before it leaves; or its deposit is held.
 * - One operator proposes to unblock a customer, to release a deposit or to lift a kill switch; the block, hold or switch is laid once
 *   more; another one confirms what was proposed before.
 *
 * The actors that set and lift them record it (stops.ts); the guard checks it whenever money leaves.
 *
 * They have a chance of their own, so that all other seeds are what they were without them.
 */
import { blockCustomer } from '../../src/customers/index.ts';
import {
  holdDeposit,
  type Action as OrderAction,
  refundDeposit,
  release,
  releaseDeposit,
  retry,
} from '../../src/orders/index.ts';
import { liftKillSwitch, setKillSwitch } from '../../src/partners/index.ts';
import type { Action } from '../../src/protocols/operator/action.ts';
import { CUSTOMER_ACTIONS } from '../../src/protocols/operator/actions/customers.ts';
import { HOLD_ACTIONS } from '../../src/protocols/operator/actions/holds.ts';
import { KILL_SWITCH_ACTIONS } from '../../src/protocols/operator/actions/kill-switches.ts';
import type { Hands, Noted } from './actors.ts';
import { type Chance, chanceOf } from './chance.ts';
import { OTHER_CURRENCY, OTHER_FIAT } from './outside.bank.ts';
import { RAIL } from './outside.chain.ts';
import { PEOPLE_NAMED, proposes } from './people.ts';
import type { Environment, OurProcess } from './process.ts';
import { blockOfCustomer, holdOfDeposit, killSwitch, whenDone } from './stops.ts';
import { REFUND_IS_SHORT } from './strays.ts';

export const laysAgain = (seed: number): boolean => seed % 20 === 11 || seed % 20 === 12;

export interface Again {
  readonly done: ReadonlyMap<string, number>;
  /** No switch of theirs is on, and money of no order has gone where it was to go. */
  readonly isOver: boolean;
  operate(): void;
}

/** Money of no order, by the bank's line. */
interface Gift {
  line: string;
  plan: 'blocked' | 'held';
  account: bigint;
  customer: string;
  isHeldAgain: boolean;
}

interface GiftRow {
  line: string;
  id: string;
  free: string;
  refund: string | null;
  /** The refund waits for funds. */
  short: boolean;
  held: boolean;
}

interface Switch {
  kind: 'payouts' | 'rail';
  subject: string;
}

const PEOPLE = PEOPLE_NAMED.slice(0, 2);
const WHY = 'stepped in';
const LOOK_MS = 1_000;
const AGAIN_MS = 15_000;
/** Orders that hold money of their customer which has not left, and those of them that wait for people. */
const HOLDING: readonly string[] = ['deposit_confirmed', 'awaiting_liquidity', 'paying_out', 'on_hold', 'payout_held'];
const WAITING: readonly string[] = ['on_hold', 'payout_held'];
const NAMEABLE: readonly string[] = ['needs_destination', 'held', 'rejected', 'returned'];

const ACTIONS = new Map([...CUSTOMER_ACTIONS, ...HOLD_ACTIONS, ...KILL_SWITCH_ACTIONS].map((one) => [one.name, one]));
const named = (name: string): Action => {
  const found = ACTIONS.get(name);
  if (found === undefined) throw new Error(`${name} is no action`);
  return found;
};

// Long because its moves are closures over one environment that a schedule drives.
export function openAgain(
  world: Environment,
  deps: { seed: number; forMs: number; noted: () => readonly Noted[]; hands: () => Hands | undefined },
): Again {
  const { scheduler, backends, faults, stops, bank } = world;
  const chance: Chance = chanceOf(deps.seed + 8_000_009);
  const done = new Map<string, number>();
  const did = (what: string): void => void done.set(what, (done.get(what) ?? 0) + 1);
  const now = () => scheduler.time.now();
  const tried = new Map<string, number>();
  const blockedAgain = new Set<string>();
  const gifts: Gift[] = [];
  /** By when each of their switches is to be lifted, at the latest. */
  const switches = new Map<string, number>();
  let [planned, settled] = [0, false];

  /** A process may freeze with a row locked: everybody who tries again waits there, too. */
  const isTime = (what: string): boolean => {
    if (now() - (tried.get(what) ?? 0) < AGAIN_MS) return false;
    tried.set(what, now());
    return true;
  };
  const later = (ms: number, body: () => void): void => {
    planned += 1;
    scheduler.after(ms, () => {
      planned -= 1;
      body();
    });
  };
  const somewhere = (what: string, body: (process: OurProcess) => Promise<unknown>): void =>
    deps.hands()?.somewhere(what, body);
  const acting = (orderId: bigint, at: Date): OrderAction => ({
    ...{ orderId, by: PEOPLE[0] ?? '', people: PEOPLE, why: WHY, now: at },
  });

  const blocks = ({ context: { db, clock } }: OurProcess, customer: string): Promise<void> =>
    whenDone(
      db.asSystem((tx) => blockCustomer(tx, customer, clock.now())),
      stops.laying(blockOfCustomer(customer)),
    );
  const holds = ({ context }: OurProcess, depositId: bigint): Promise<void> =>
    whenDone(
      context.db.asSystem((tx) =>
        holdDeposit(context, tx, { depositId, by: PEOPLE[0] ?? '', why: WHY, now: context.clock.now() }),
      ),
      stops.laying(holdOfDeposit(depositId)),
    );
  const switchesOff = (
    { context: { db, clock } }: OurProcess,
    { kind, subject }: Switch,
    by: string,
  ): Promise<boolean> =>
    whenDone(
      db.asSystem((tx) => setKillSwitch(tx, { kind, subject, by, reason: WHY, at: clock.now() })),
      stops.laying(killSwitch(kind, subject)),
    );
  const lifts = async ({ context: { db } }: OurProcess, { kind, subject }: Switch): Promise<void> => {
    const over = stops.lifting(killSwitch(kind, subject));
    await whenDone(
      db.asSystem((tx) => liftKillSwitch(tx, kind, subject)),
      over,
      over,
    );
  };
  /** One of theirs, which they lift themselves when its time has come. */
  function offFor(kind: Switch['kind'], subject: string, ms: number): Switch {
    const name = killSwitch(kind, subject);
    switches.set(name, Math.max(switches.get(name) ?? 0, now() + ms));
    return { kind, subject };
  }

  // Two people: one proposes, the other confirms.

  /** @param meanwhile between proposal and confirmation: what is laid there stays */
  async function proposesThen(
    process: OurProcess,
    { name, stop, given }: { name: string; stop: string; given: Record<string, unknown> },
    meanwhile: () => Promise<unknown>,
  ): Promise<void> {
    const confirms = await proposes(process, named(name), given);
    const proposed = stops.next();
    await meanwhile();
    stops.lifting(stop, proposed);
    const reply = await confirms(1);
    did(`${name} ${reply.status === 409 ? 'overtaken' : 'confirmed'}`);
  }

  const unblocking = (customer: string) => ({
    ...{ name: 'customer.unblock', stop: blockOfCustomer(customer), given: { customer } },
  });
  const releasing = (deposit: bigint) => ({
    ...{ name: 'deposit.release', stop: holdOfDeposit(deposit), given: { deposit: String(deposit) } },
  });

  // Orders.

  const look = (): void => {
    if (faults.ended) return;
    void scheduler
      .perform('people look whom they have blocked', () =>
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
      .catch((error: unknown) => world.complain('again', error));
    scheduler.after(LOOK_MS, look);
  };
  scheduler.after(LOOK_MS, look);

  function does({ order: { id, customerId } }: Noted, state: string): void {
    const what = String(id);
    if (blockedAgain.has(what) || !isTime(what)) return;
    if (stops.since(blockOfCustomer(customerId)) === undefined) {
      if (chance.happens(0.7)) somewhere('block', (process) => blocks(process, customerId));
      return;
    }
    if (chance.happens(0.3)) {
      blockedAgain.add(what);
      return somewhere('unblock as proposed before', (process) =>
        proposesThen(process, unblocking(customerId), () => blocks(process, customerId)),
      );
    }
    if (WAITING.includes(state)) passes(id, customerId, state);
  }

  /** Past the block that stands, and not past the next. */
  function passes(id: bigint, customer: string, state: string): void {
    blockedAgain.add(String(id));
    const off = offFor('payouts', 'all', chance.int(2_000, 20_000));
    somewhere('let pass and block again', async (process) => {
      const { context } = process;
      const at = () => context.clock.now();
      await switchesOff(process, off, PEOPLE[0] ?? '');
      await context.db.asSystem((tx) =>
        state === 'on_hold' ? release(context, tx, acting(id, at())) : retry(context, tx, acting(id, at())),
      );
      await blocks(process, customer);
      did('blocked again after people had let a payout pass');
    });
  }

  // Switches.

  for (let n = 0; n < 2; n += 1) later(chance.int(20_000, deps.forMs), liftsAsProposed);

  function liftsAsProposed(): void {
    const subject = chance.pick([RAIL, 'bank.simulated']);
    const off = offFor('rail', subject, chance.int(30_000, 60_000));
    const isLifted = chance.happens(0.5);
    const again = isLifted ? PEOPLE : [chance.pick(PEOPLE_NAMED)];
    const lifting = { name: 'kill-switch.lift', stop: killSwitch('rail', subject), given: { kind: 'rail', subject } };
    somewhere('lift as proposed before', async (process) => {
      for (const by of PEOPLE) await switchesOff(process, off, by);
      await proposesThen(process, lifting, async () => {
        if (isLifted) await lifts(process, off);
        for (const by of again) await switchesOff(process, off, by);
      });
    });
  }

  // Money of no order.

  for (const plan of ['blocked', 'held', 'held'] as const) later(chance.int(20_000, deps.forMs), () => comes(plan));

  /** For an account that no order of theirs pays to: the last ones of each customer. */
  function comes(plan: Gift['plan']): void {
    void scheduler
      .perform('somebody gives', () =>
        backends.look<{ account: bigint; customer: string }>(
          `select distinct on (customer_id) id as account, customer_id as customer from fiat_accounts
            where fiat = $1 and customer_id is not null order by customer_id, hint desc, id desc`,
          [OTHER_FIAT],
        ),
      )
      .then((rows) => {
        const to = rows.toSorted((a, b) => (a.account < b.account ? -1 : 1))[gifts.length % Math.max(rows.length, 1)];
        if (to === undefined) return;
        const says = `a present ${gifts.length}`;
        const line = bank.credit(BigInt(chance.int(5_000, 100_000)), says, { currency: OTHER_CURRENCY });
        gifts.push({ ...to, line, plan, isHeldAgain: false });
      })
      .catch((error: unknown) => world.complain('somebody gives', error));
  }

  async function looks(): Promise<{ on: Switch[]; rows: GiftRow[] }> {
    const on = await backends.look<Switch>(
      'select kind, subject from kill_switches where by = any($1) order by kind, subject',
      [PEOPLE_NAMED],
    );
    const rows = await backends.look<GiftRow>(
      `select d.external_id as line, d.id::text, (d.units - d.taken_units - d.refund_units)::text as free,
              (select r.state from refunds r where r.deposit_id = d.id and r.state not in ('settled', 'cancelled')
                order by r.id limit 1) as refund,
              ${REFUND_IS_SHORT} as short,
              exists (select from held_deposits h where h.deposit_id = d.id) as held
         from deposits d where d.external_id = any($1) order by d.id`,
      [gifts.map(({ line }) => line)],
    );
    return { on, rows };
  }

  function operate(): void {
    void scheduler
      .perform('people look at presents', looks)
      .then(({ on, rows }) => {
        for (const one of on) liftsInTime(one);
        let open = planned + on.length;
        for (const gift of gifts) {
          const row = rows.find(({ line }) => line === gift.line);
          if (row !== undefined && BigInt(row.free) === 0n && row.refund === null) continue;
          open += 1;
          if (row !== undefined) gives(gift, row);
        }
        settled = open === 0;
      })
      .catch((error: unknown) => world.complain('again', error));
  }

  function liftsInTime(one: Switch): void {
    const name = killSwitch(one.kind, one.subject);
    if (!faults.ended && now() < (switches.get(name) ?? 0)) return;
    if (isTime(name)) somewhere('lift what was laid again', (process) => lifts(process, one));
  }

  function gives(gift: Gift, { id, free, refund, short, held }: GiftRow): void {
    const deposit = BigInt(id);
    // Money of the same bank account was recalled meanwhile.
    if (short && isTime(`funds for ${id}`)) deps.hands()?.fund();
    if (held) return releases(gift, deposit);
    const isWaiting = BigInt(free) > 0n || NAMEABLE.includes(refund ?? '');
    if (!isWaiting || (!faults.ended && !isTime(`present ${id}`))) return;
    const { customer } = gift;
    const isFirst = BigInt(free) > 0n && !faults.ended;
    const off = isFirst ? offFor('payouts', 'all', chance.int(5_000, 40_000)) : undefined;
    somewhere('give a present', async (process) => {
      const { context } = process;
      if (off !== undefined) await switchesOff(process, off, PEOPLE[0] ?? '');
      await context.db.asSystem((tx) =>
        refundDeposit(context, tx, {
          ...{ depositId: deposit, to: { fiatAccountId: gift.account }, why: WHY, now: context.clock.now() },
          ...{ by: PEOPLE[0] ?? '', people: PEOPLE },
        }),
      );
      did('refunded to an account of a customer');
      if (off === undefined) return;
      if (gift.plan === 'held') return await holds(process, deposit);
      await blocks(process, customer);
      did('the owner of an account blocked before it was refunded to');
    });
  }

  function releases(gift: Gift, deposit: bigint): void {
    if (!isTime(`hold of ${deposit}`)) return;
    if (!gift.isHeldAgain && !faults.ended) {
      gift.isHeldAgain = true;
      return somewhere('release as proposed before', (process) =>
        proposesThen(process, releasing(deposit), () => holds(process, deposit)),
      );
    }
    if (!faults.ended && chance.happens(0.7)) return;
    somewhere('release', async (process) => {
      const over = stops.lifting(holdOfDeposit(deposit));
      const { db, clock } = process.context;
      await whenDone(
        db.asSystem((tx) => releaseDeposit(tx, { depositId: deposit, by: PEOPLE.join(', '), now: clock.now() })),
        over,
        over,
      );
      did('released a deposit');
    });
  }

  return {
    done,
    get isOver() {
      return settled;
    },
    operate,
  };
}
