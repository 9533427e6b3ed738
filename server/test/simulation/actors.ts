/**
 * Customers and operator. Customers order through a process of ours and pay as people do: exactly, too little, too much, in
 * parts, late, twice, in another coin, or not at all. The operator reviews waiting cases and takes one of the allowed actions, so
 * that every order comes to an end.
 *
 * Long because customers and operator are one closure over the random numbers and orders of a run.
 */
import type { Tx } from '../../src/base/db.ts';
import { Refusal, Unavailable } from '../../src/base/errors.ts';
import { openText } from '../../src/base/texts.ts';
import { blockCustomer, findCustomer, recordVerification, unblockCustomer } from '../../src/customers/index.ts';
import { type OrdersContext } from '../../src/orders/context.ts';
import {
  type Action,
  block,
  cancel,
  compensate,
  correctCase,
  holdBack,
  nameDestination,
  type Order,
  type RefundTo,
  refundDeposit,
  refundOrder,
  release,
  releaseBlocked,
  reprice,
  requestOrderRefund,
  retry,
  retryRefund,
  retryTo,
} from '../../src/orders/index.ts';
import {
  findMarket,
  findPartner,
  type KillSwitchKind,
  liftKillSwitch,
  setKillSwitch,
} from '../../src/partners/index.ts';
import { createQuote } from '../../src/quotes/index.ts';
import { PARTNERS } from '../../src/sandbox/catalogue.ts';
import type { Chance } from './chance.ts';
import { vault } from './ground.ts';
import { CONFIRMATIONS } from './guard.ts';
import { type Moves, openMoves } from './moves.ts';
import { FIAT, OTHER_CURRENCY, OTHER_FIAT } from './outside.bank.ts';
import { FAUCET, HOT_ADDRESS, RAIL, TOKENS } from './outside.chain.ts';
import type { Environment, OurProcess } from './process.ts';
import type { Promises } from './promises.ts';
import { blockOfCustomer, blockOfOrder, killSwitch, whenDone } from './stops.ts';

export interface Terms {
  depositUnits: bigint;
  payoutUnits: bigint;
}

/** A customer's knowledge of an order, and further destinations of its money. */
export interface Noted {
  order: Order;
  /**
   * The first is the order's payout or refund account, the second another account of the customer's; the third is in another
   * currency.
   */
  accounts: readonly { id: bigint; number: string; fiat: string }[];
  /** Its own address on the chain: of the payout or the refund. */
  address: string;
  /** Another one, which only an operator names. */
  elsewhere: string;
  /** Another address of the customer's, which the customer confirms on a hosted page (strays.ts). */
  back?: string;
  /** Its destination, if that waits for the customer's confirmation. */
  waits?: string;
  /** Accounts that it was paid from, with the amounts: only accounts of its payments (moves.ts). */
  senders?: Map<string, bigint>;
  /** Debts of its customer that people have written off, or may have, by their cases. */
  writtenOff?: Map<string, bigint>;
  /** The provider holds it. */
  held: boolean;
  /** Its bank will show a rejected payment as paid: no actor decides about it before it is settled (contradictions.ts). */
  isLeftAlone?: boolean;
  /** Its bank has shown, or will show, a rejected payment as paid. */
  turnedOut?: boolean;
  /** Lines at the bank by which it was paid. */
  lines: string[];
  /** Each order that pays to these destinations, by its id: this one's until another amount or price; and those that follow. */
  terms: Map<string, Terms>;
  /** The compensation of its fees once it has settled: decided once, and requested until it is done. */
  compensated?: Compensated;
}

export interface Compensated {
  fee: 'operator' | 'partner' | 'rail';
  /** In rupees, which every fee is charged in. */
  units: bigint;
}

/** The operator's functions. */
export interface Hands {
  /** @param tell called after the commit, or after a failure */
  inTx(
    what: string,
    body: (tx: Tx, now: Date, process: OurProcess) => Promise<unknown>,
    tell?: { committed: () => void; failed?: () => void },
  ): void;
  somewhere(what: string, body: (process: OurProcess) => Promise<unknown>): void;
  /** An action lost by a restore was repeated: this amount of this asset left for the order, to this destination. */
  again(one: Noted, asset: string, to: RefundTo): void;
  fund(): void;
  /** One more payment into an order. */
  pays(one: Noted, units: bigint): void;
}

export interface Actors {
  readonly hands: Hands;
  readonly noted: Noted[];
  readonly moves: Moves | undefined;
  /** Orders that failed for lack of a price or a process. */
  readonly unmade: number;
  /** No actor plans a further step. */
  readonly idle: boolean;
  operate(): void;
  /** A rail was asked to send, and has not answered. */
  unanswered(): void;
}

const OPERATOR = 'operator:1';
/** Probability that a settled order is compensated, at each check by the operator. */
const COMPENSATED = 0.6;
/** Answers after which a customer tries again. */
const TOLD: ReadonlySet<string> = new Set([
  'price_moved',
  'amount_outside_limits',
  'customer_limit_exceeded',
  'verification_required',
]);

const FUNDS = { inr: 100_000_000_00n, usdc: 1_000_000_000_000n } as const;
/** How long a quote is valid (ground.ts). */
const QUOTE_MS = 20_000;
/** A sale of this amount waits for more blocks, and one below twice that can be paid in two parts that do not. */
const LARGE_UNITS = CONFIRMATIONS[1].fromUnits;
const FEW = { inr: 9_000_00n, usdc: 100_000_000n } as const;

// Long because customers and operator are one closure over the random numbers and orders of a run.
export function openActors(
  world: Environment,
  deps: {
    chance: Chance;
    /** Customers that operators compensate, with amounts: separate, so that a seed without compensations plays as before. */
    compensations: Chance;
    /** The seed, if people take further actions (moves.ts). */
    moves: number | undefined;
    orders: number;
    forMs: number;
    processes: () => OurProcess[];
    /** Called with every order. */
    made: (one: Noted) => void;
    /** A cap, and how customers come where there is one (promises.ts). */
    promises: Promises | undefined;
    /** After a restore, operators make no other decision before they have released payouts. */
    isRestoring: () => boolean;
    /** Not while a restore will lose the compensation: the rails do not show what it was for. */
    mayCompensate: () => boolean;
  },
): Actors {
  const { scheduler, faults, bank, chain } = world;
  const { chance, compensations, forMs, promises } = deps;
  const noted: Noted[] = [];
  let planned = 0;
  let unmade = 0;
  const moves =
    deps.moves === undefined
      ? undefined
      : openMoves(world, {
          seed: deps.moves,
          somewhere: (what, body) => somewhere(what, body),
          later: (ms, body) => later(ms, body),
        });

  const later = (ms: number, body: () => void) => {
    planned += 1;
    scheduler.after(ms, () => {
      planned -= 1;
      body();
    });
  };

  // The operator's own money.
  const few = faults.occurs('short_of_funds');
  bank.credit(few ? FEW.inr : FUNDS.inr, 'opening', { funding: true });
  endow();

  /** Once the chain is followed: tokens from before the first block that is read are not in the books. */
  function endow(): void {
    void scheduler
      .perform('the chain is followed', () =>
        world.backends.look<{ is: boolean }>('select exists (select from chains where head_number is not null) as is'),
      )
      .then(([followed]) => {
        if (followed?.is !== true) return later(2_000, endow);
        chain.transfer(FAUCET, HOT_ADDRESS, TOKENS.usdc, few ? FEW.usdc : FUNDS.usdc);
        // No order buys these, but mistaken payments are refunded from this wallet, and nothing is swept here.
        chain.transfer(FAUCET, HOT_ADDRESS, TOKENS.usdt, FUNDS.usdc);
      });
  }

  for (let n = 0; n < deps.orders; n += 1) {
    const at = 15_000 + chance.int(0, forMs);
    later(promises?.comesAt(n, at) ?? at, () => orderNumber(n, 1));
  }

  function orderNumber(n: number, attempt: number): void {
    const alive = deps.processes().filter(({ dead }) => !dead);
    const process = alive.length === 0 ? undefined : chance.pick(alive);
    const again = () => {
      if (attempt < 8) later(chance.int(2_000, 15_000), () => orderNumber(n, attempt + 1));
      else unmade += 1;
    };
    if (process === undefined) return again();
    scheduler.within({ process, task: 'create' }, () => {
      make(process, n).then(
        (made) => {
          noted.push(made);
          deps.made(made);
          scheduler.within({ process: undefined, task: 'customer' }, () => {
            pay(made);
            meddle(made);
            moves?.confirms(made);
            stepIn(made);
          });
        },
        (error: unknown) => {
          // A lost connection and a missing price are reported to the customer, who tries again.
          const isForCap = promises !== undefined && error instanceof Refusal && error.code === 'exposure_exceeded';
          if (isForCap) promises.refused();
          const told = isForCap || error instanceof Unavailable || (error instanceof Refusal && TOLD.has(error.code));
          if (!told && !isLost(error)) world.complain('create', error);
          scheduler.within({ process: undefined, task: 'customer' }, again);
        },
      );
    });
  }

  async function make(process: OurProcess, n: number): Promise<Noted> {
    const { db, clock } = process.context;
    const direction = chance.happens(0.5) ? 'offramp' : 'onramp';
    const held = faults.occurs('held_by_screening');
    const name = PARTNERS[0]?.name ?? '';
    const partner = await db.asSystem((tx) => findPartner(tx, { name }));
    if (partner === undefined) throw new Error('the partner is there');
    const { market, accounts, customer, depositUnits, quote } = await db.asPartner(partner.id, async (tx) => {
      const found = await findMarket(tx, { direction, coin: 'usdc', fiat: 'inr' });
      const own = await accountsOf(tx, n);
      const units =
        direction === 'offramp' ? BigInt(chance.int(5_000_000, 200_000_000)) : BigInt(chance.int(50_000, 2_000_000));
      return {
        market: found,
        accounts: own,
        customer: await findCustomer(tx, own[0]?.customer ?? ''),
        depositUnits: units,
        quote:
          promises?.hasQuote(n) === false
            ? undefined
            : await createQuote(tx, { partner, market: found, depositUnits: units, now: clock.now() }),
      };
    });
    if (faults.occurs('quote_expired')) await new Promise((wake) => setTimeout(wake, QUOTE_MS + chance.int(1, 20_000)));
    return await db.asPartner(partner.id, async (tx) => {
      const address = `0xown${n}`;
      const [first] = accounts;
      const order = await process.orders.create(tx, {
        partner,
        customer,
        market,
        depositUnits,
        ...(quote === undefined ? {} : { rate: quote.rate, payoutUnits: quote.payoutUnits }),
        ...(first === undefined ? {} : { fiatAccountId: first.id }),
        ...(direction === 'onramp' ? { payoutAddress: address } : { refundAddress: address }),
        ...(held ? { merchantReference: 'screen:hold' } : {}),
        now: clock.now(),
      });
      const terms = new Map([[String(order.id), order]]);
      const to = direction === 'onramp' ? { address } : { ...(first === undefined ? {} : { account: first.id }) };
      const waits = await moves?.waits(tx, { customer, ...to, now: clock.now() });
      const more = waits === undefined ? {} : { waits };
      return { ...more, order, accounts, address, elsewhere: `0xelse${n}`, back: `0xback${n}`, held, lines: [], terms };
    });
  }

  /** Two accounts of one customer that no other order has. */
  async function accountsOf(tx: Tx, n: number) {
    const customers = inOrder(await tx.rows<CustomerName>(`select ${NAMED} from customers`));
    const customer = customers[n % customers.length]?.id ?? '';
    const at = Math.floor(n / customers.length) * 2;
    const numbers = [at + 1, at + 2].map((a) => numberOf((n % customers.length) + 1, a));
    const rows = await tx.rows<{ id: bigint; fiat: string }>(
      `(select id, fiat from fiat_accounts where customer_id = $1 and fiat = $2 order by hint limit 2 offset $3)
       union all (select id, fiat from fiat_accounts where customer_id = $1 and fiat = $4 order by hint limit 1 offset $5)`,
      [customer, FIAT, at, OTHER_FIAT, at / 2],
    );
    return rows.map(({ id, fiat }, k) => ({ id, fiat, customer, number: numbers[k] ?? `9${numbers[0]}` }));
  }

  /** One payment into an order, on its deposit rail. */
  function pays(one: Noted, units: bigint, how: { otherAsset?: true; again?: true } = {}): void {
    const { order, lines } = one;
    promises?.handled(one);
    if (order.direction === 'offramp') {
      const contract = how.otherAsset ? TOKENS.usdt : TOKENS.usdc;
      chain.transfer(`0xcustomer${order.id}`, order.depositTarget, contract, units);
      return;
    }
    const nameless = how.again || how.otherAsset ? undefined : world.forgotten?.(one);
    const line = bank.credit(units, order.depositTarget, {
      ...(how.otherAsset ? { currency: OTHER_CURRENCY } : moves?.sender(one, units)),
      ...(nameless === undefined ? {} : { says: nameless.text }),
    });
    nameless?.came(line);
    lines.push(line);
    if (how.otherAsset !== true) world.paidByBank(one, line, units);
    if (faults.occurs(how.again ? 'recalls_second' : 'recalls')) later(chance.int(1, 60_000), () => bank.recall(line));
  }

  function pay(one: Noted): void {
    const { depositUnits } = one.order;
    if (faults.occurs('pays_nothing')) return;
    const soon = () => chance.int(500, 40_000);
    const much = (bps: number) => (depositUnits * BigInt(bps)) / 10_000n;
    if (faults.occurs('pays_wrong_asset')) return later(soon(), () => pays(one, depositUnits, { otherAsset: true }));
    if (faults.occurs('pays_less')) return later(soon(), () => pays(one, much(chance.int(2_000, 9_900))));
    if (faults.occurs('pays_more')) return later(soon(), () => pays(one, much(chance.int(10_100, 15_000))));
    if (faults.occurs('pays_late')) return later(chance.int(78_000, 120_000), () => pays(one, depositUnits));
    const { direction } = one.order;
    const isSplittable = direction === 'offramp' && depositUnits >= LARGE_UNITS && depositUnits < LARGE_UNITS * 2n - 1n;
    if (isSplittable && faults.occurs('splits_below_threshold')) {
      const part = depositUnits - LARGE_UNITS + 1n + (LARGE_UNITS * 2n - depositUnits - 1n) / BigInt(chance.int(2, 9));
      later(soon(), () => pays(one, part));
      return later(soon(), () => pays(one, depositUnits - part));
    }
    if (faults.occurs('pays_in_parts')) {
      const part = much(chance.int(1_000, 9_000));
      const { customerId } = one.order;
      if (faults.occurs('level_lowered_in_parts'))
        later(chance.int(10_000, 50_000), () =>
          faults.ended ? undefined : inTx('lower level', (tx, now) => leveled(tx, customerId, 1, now)),
        );
      later(soon(), () => pays(one, part));
      // The second one may be too little, too: then the order ends with parts that are refunded, or is repriced for them.
      const rest = chance.happens(0.4) ? (depositUnits - part) / 2n : depositUnits - part;
      return later(soon(), () => pays(one, rest));
    }
    later(soon(), () => pays(one, depositUnits));
    if (faults.occurs('pays_twice')) later(soon(), () => pays(one, depositUnits, { again: true }));
  }

  // The operator.

  function fund(): void {
    bank.credit(FUNDS.inr, 'more', { funding: true });
    // A credit in it may be recalled after it was refunded, and then the next refund lacks the money.
    bank.credit(FUNDS.inr, 'more', { funding: true, currency: OTHER_CURRENCY });
    chain.transfer(FAUCET, HOT_ADDRESS, TOKENS.usdc, FUNDS.usdc);
  }

  function through(process: OurProcess, what: string, body: () => Promise<unknown>): void {
    scheduler.within({ process, task: `operator ${what}` }, () => {
      body().catch((error: unknown) => {
        if (error instanceof Refusal && error.code === 'funds_short')
          return scheduler.within({ process: undefined, task: 'operator' }, fund);
        if (error instanceof Refusal || error instanceof Unavailable || isLost(error)) return;
        world.complain(`operator ${what}`, error);
      });
    });
  }

  interface Waiting {
    id: bigint;
    /** The order that a customer made: this one, or the one that it follows. */
    made: bigint;
    state: string;
    direction: string;
    /** Its refund was requested, and no destination is named. */
    asks: boolean;
    /** An operator has held its rejected payout, and it is not released. */
    held: boolean;
    /** A refund waits for funds. */
    short: boolean;
    refund: string | null;
    refund_rail: string | null;
    refund_asset: string | null;
    deposit: bigint | null;
    deposit_rail: string | null;
    deposit_asset: string | null;
    /**
     * A returned payout waits to be paid again, and cannot be, because its deposit was reversed. Its case, the debt, and the
     * returned deposit.
     */
    undo_case: bigint | null;
    undo_units: string | null;
    /** All that the order accepted was reversed: otherwise the rest remains, and the debt is written off. */
    undo_whole: boolean | null;
    undo_reference: string | null;
    undo_back: bigint | null;
  }

  /** For one with a link, its customer names the destination (strays.ts). */
  const NO_LINK = 'not exists (select from return_links l where l.deposit_id = d.id and l.replaced_at is null)';

  /**
   * Held since its refund was requested: people decide once more. Of an order whose payout was rejected, a hold by an operator that
   * was released since then does not count (decide.ts).
   */
  const HELD_SINCE = `exists (select from order_history h where h.order_id = o.id
    and h.version > coalesce((o.refund_request->>'decidedHold')::int, 0)
    and (o.state = 'on_hold' and h.event = 'held' and h.state_from = 'on_hold' or o.state = 'payout_held'
      and (h.event in ('payout_rejected', 'refund_rejected') or h.event = 'held' and h.facts->>'heldBy' is distinct from 'operator')))`;

  async function waiting(): Promise<Waiting[]> {
    return await world.backends.look<Waiting>(
      `select o.id, coalesce(o.follows, o.id) as made, o.state, o.direction,
              o.state in ('on_hold', 'payout_held') and o.refund_request is not null and not (${HELD_SINCE}) as asks,
              o.state = 'payout_held' and (select h.facts->>'heldBy' = 'operator' from order_history h where h.order_id = o.id
                 order by h.version desc limit 1) is true as held,
              exists (select from short_refunds s where s.kind = 'refund_order' and s.subject = o.id::text
                or s.kind = 'screen_refund' and s.subject in (select r.id::text from refunds r where r.order_id = o.id)) as short,
              (select min(r.state) from refunds r where r.order_id = o.id
                 and r.state in ('needs_destination', 'held', 'rejected', 'returned')) as refund,
              (select min(r.rail) from refunds r where r.order_id = o.id
                 and r.state in ('needs_destination', 'held', 'rejected', 'returned')) as refund_rail,
              (select r.asset from refunds r where r.order_id = o.id
                 and r.state in ('needs_destination', 'held', 'rejected', 'returned') order by r.rail, r.id limit 1) as refund_asset,
              (select min(d.id) from deposits d where d.order_id = o.id and d.state = 'suspense'
                 and d.units > d.taken_units + d.refund_units and ${NO_LINK}) as deposit,
              (select d.rail from deposits d where d.order_id = o.id and d.state = 'suspense'
                 and d.units > d.taken_units + d.refund_units and ${NO_LINK} order by d.id limit 1) as deposit_rail,
              (select d.asset from deposits d where d.order_id = o.id and d.state = 'suspense'
                 and d.units > d.taken_units + d.refund_units and ${NO_LINK} order by d.id limit 1) as deposit_asset
              , u.*
         from orders o left join lateral (
           select c.id as undo_case, l.lost_units::text as undo_units,
                  l.lost_units = coalesce(o.received_units, o.deposit_units) as undo_whole, l.reference as undo_reference, b.id as undo_back
             from deposits l join cases c on c.subject = 'deposit:' || l.id and c.closed_at is null
              and c.kind in ('customer_owes', 'deposit_lost')
             join deposits b on b.order_id = o.id and b.origin = 'returned' and b.state = 'suspense'
             join refunds r on r.deposit_id = b.id and r.state = 'held'
            where l.order_id = o.id and l.state = 'lost' and o.state = 'settled' order by l.id, b.id limit 1) u on true
        order by o.id`,
    );
  }

  function operate(): void {
    void scheduler
      .perform('the operator looks', waiting)
      .then(async (rows) => {
        const blocked = await scheduler.perform('the operator looks at customers', () =>
          world.backends.look<CustomerName>(`select ${NAMED} from customers where blocked_at is not null`),
        );
        // They are assumed to have paid their debt.
        for (const { id } of inOrder(blocked)) if (faults.ended || chance.happens(0.3)) unblock(id);
        const stops = await scheduler.perform('the operator looks at kill switches', () =>
          world.backends.look<{ kind: KillSwitchKind; subject: string }>(
            `select kind, subject from kill_switches where by = $1 order by kind, subject`,
            [OPERATOR],
          ),
        );
        const lowered = await scheduler.perform('the operator looks at levels', () =>
          world.backends.look<CustomerName>(`select ${NAMED} from customers where level < 2`),
        );
        for (const { id } of inOrder(lowered))
          if (faults.ended || chance.happens(0.3)) inTx('raise level', (tx, now) => leveled(tx, id, 2, now));
        for (const { kind, subject } of stops) if (faults.ended || chance.happens(0.5)) lift(kind, subject);
        if (deps.isRestoring()) return;
        for (const row of rows) compensates(row);
        for (const row of rows) {
          if (!faults.ended && !chance.happens(0.4)) continue;
          action(row);
          if (faults.occurs('two_operators')) action(row);
        }
      })
      .catch((error: unknown) => world.complain('operator', error));
  }

  /** By any running process. */
  function somewhere(what: string, body: (process: OurProcess) => Promise<unknown>): void {
    const alive = deps.processes().filter(({ dead }) => !dead);
    if (alive.length === 0) return;
    const process = chance.pick(alive);
    through(process, what, () => body(process));
  }
  const inTx: Hands['inTx'] = (what, body, tell) =>
    somewhere(what, (process) => {
      const { db, clock } = process.context;
      const ended = db.asSystem((tx) => body(tx, clock.now(), process));
      return tell === undefined ? ended : whenDone(ended, tell.committed, tell.failed);
    });
  const { stops } = world;
  const lays = (what: string) => ({ committed: stops.laying(what) });
  const lifts = (what: string) => {
    const over = stops.lifting(what);
    return { committed: over, failed: over };
  };

  const unblock = (id: string): void =>
    inTx('unblock', (tx, now) => unblockCustomer(tx, id, now), lifts(blockOfCustomer(id)));
  const lift = (kind: KillSwitchKind, subject: string): void =>
    inTx('lift', (tx) => liftKillSwitch(tx, kind, subject), lifts(killSwitch(kind, subject)));
  const people = () => (faults.occurs('one_operator') ? [OPERATOR] : [OPERATOR, 'operator:2']);

  function switchOff(): void {
    const [kind, subject] = chance.pick([
      ['payouts', 'all'] as const,
      ['rail', RAIL] as const,
      ['rail', 'bank.simulated'] as const,
    ]);
    inTx(
      'switch off',
      (tx, now) => setKillSwitch(tx, { kind, subject, by: OPERATOR, reason: 'stepped in', at: now }),
      lays(killSwitch(kind, subject)),
    );
  }

  /** An operator intervenes while an order is under way, at any moment. */
  function meddle(one: Noted): void {
    const { id, customerId } = one.order;
    const soon = (body: () => void) =>
      later(chance.int(500, 60_000), () => {
        if (faults.ended || deps.isRestoring() || one.isLeftAlone === true) return;
        promises?.handled(one);
        body();
      });
    const actions = (
      what: string,
      body: (tx: Tx, context: OrdersContext, action: Action) => Promise<unknown>,
      stop?: string,
    ) =>
      soon(() =>
        inTx(
          what,
          (tx, now, { context }) =>
            body(tx, context, { orderId: id, by: OPERATOR, people: people(), why: 'stepped in', now }),
          stop === undefined ? undefined : lays(stop),
        ),
      );
    if (faults.occurs('customer_blocked'))
      actions('block customer', (tx, _, { now }) => blockCustomer(tx, customerId, now), blockOfCustomer(customerId));
    if (faults.occurs('level_lowered')) actions('lower level', (tx, _, { now }) => leveled(tx, customerId, 1, now));
    if (faults.occurs('switched_off')) soon(switchOff);
    if (faults.occurs('cancelled')) actions('cancel', (tx, context, action) => cancel(context, tx, action));
    if (faults.occurs('held_by_operator')) actions('hold', (tx, context, action) => holdBack(context, tx, action));
    if (faults.occurs('requoted')) actions('requote', (tx, context, action) => reprice(context, tx, action));
    if (faults.occurs('blocked_by_law')) {
      actions('block', (tx, context, action) => block(context, tx, action), blockOfOrder(id));
      if (faults.occurs('recalled_when_blocked'))
        later(chance.int(20_000, 90_000), () => {
          for (const line of one.lines) bank.recall(line);
        });
    }
    if (faults.occurs('refunded_by_operator'))
      soon(() =>
        somewhere('refund', ({ context }) => {
          const action = { orderId: id, by: OPERATOR, people: people(), why: 'stepped in', now: context.clock.now() };
          return refundOrder(context, action, { failure: 'other', ...backOf(one, one.order.direction) });
        }),
      );
  }

  async function leveled(tx: Tx, customerId: string, level: number, now: Date): Promise<void> {
    const customer = await findCustomer(tx, customerId);
    await recordVerification(tx, { customer, verifier: 'simulated', outcome: 'verified', level, now });
  }

  /** The operator's choice of a deposit's refund destination. */
  function backOf(one: Noted | undefined, direction: string): { address?: string; fiatAccountId?: bigint } {
    if (direction === 'offramp') {
      if (one === undefined) return { address: '0xnobody' };
      return { address: faults.occurs('named_elsewhere') ? one.elsewhere : one.address };
    }
    const account = one?.accounts[chance.int(0, 1)];
    return account === undefined ? {} : { fiatAccountId: account.id };
  }

  const stepping = (orderId: bigint, now: Date): Action => ({
    ...{ orderId, by: OPERATOR, people: people(), why: 'stepped in', now },
  });
  const refundsToSender = (id: bigint): void =>
    somewhere('refund to the sender', async ({ context }) => {
      await refundOrder(context, stepping(id, context.clock.now()), { failure: 'other', toSender: true });
      moves?.did('refunded to the sender');
    });
  const requestsRefund = (id: bigint): void =>
    inTx('request a refund', async (tx, now, { context }) => {
      await requestOrderRefund(context, tx, stepping(id, now), { failure: 'other' });
      moves?.did('a refund requested without a destination');
    });

  /** Further actions of moves.ts, at any moment. */
  function stepIn(one: Noted): void {
    const { id } = one.order;
    moves?.stepsIn((how) => {
      if (faults.ended) return;
      promises?.handled(one);
      if (how === 'to the sender') return refundsToSender(id);
      if (how === 'without a destination') return requestsRefund(id);
      inTx('hold', (tx, now, { context }) => holdBack(context, tx, stepping(id, now)));
    });
  }

  /** A destination of the customer other than the order's. */
  function elsewhereOf({ accounts, elsewhere }: Noted, direction: string): RefundTo | undefined {
    if (direction === 'onramp') return { address: elsewhere };
    const account = accounts[1];
    return account === undefined ? undefined : { fiatAccountId: account.id };
  }

  function action(row: Waiting, again?: Again): void {
    const alive = deps.processes().filter(({ dead }) => !dead);
    if (alive.length === 0) return;
    const process = chance.pick(alive);
    const one = noted.find(({ order }) => String(order.id) === String(row.made));
    // Only the order itself waits for what the bank shows later, and not one that was made of further money of its customer.
    if (one?.isLeftAlone === true && row.state === 'payout_held' && String(row.id) === String(row.made)) return;
    const { context } = process;
    const { db, clock } = context;
    const agreed = people();
    const base = () => ({ orderId: row.id, by: OPERATOR, people: agreed, why: 'looked at', now: clock.now() });
    const back = again === undefined ? backOf(one, row.direction) : named(again.to);
    const isPaid = again === undefined ? undefined : again.asset === one?.order.payoutAsset;
    const names = () =>
      inTx('name where a refund goes', async (tx, now, { context: other }) => {
        const approvedBy = { people: agreed, reason: 'looked at' };
        await nameDestination(other, tx, { orderId: row.id, to: back, by: 'operator', approvedBy, now });
        moves?.did('where a requested refund goes was named');
      });
    const rejects = () => {
      const how = again === undefined ? moves?.refunding() : undefined;
      if (how === 'to the sender') return refundsToSender(row.id);
      if (how === 'without a destination') return requestsRefund(row.id);
      through(process, 'reject', () => refundOrder(context, base(), { failure: 'other', ...back }));
    };
    const retries = () => {
      const to = one !== undefined && moves?.goesElsewhere() === true ? elsewhereOf(one, row.direction) : undefined;
      if (to === undefined) return through(process, 'retry', () => db.asSystem((tx) => retry(context, tx, base())));
      const destination = to.address === undefined ? `account:${to.fiatAccountId}` : `address:${to.address}`;
      moves?.named(row.id, destination, false);
      through(process, 'retry elsewhere', async () => {
        await retryTo(context, base(), to);
        moves?.named(row.id, destination, true);
      });
    };
    // The refund of a held order may lack funds, too.
    if (row.short) fund();
    const releases = () => through(process, 'release', () => db.asSystem((tx) => release(context, tx, base())));
    // No other decision about it is made before that.
    if (row.held) return releases();
    // Only its destination is missing.
    if (row.asks && moves !== undefined) return names();
    const requotes = () => inTx('requote', (tx, now, { context: other }) => reprice(other, tx, { ...base(), now }));
    switch (row.state) {
      case 'on_hold':
        if (isPaid ?? chance.happens(0.5)) {
          if (again === undefined && faults.occurs('requoted_after')) later(chance.int(20, 2_000), requotes);
          return releases();
        }
        return rejects();
      case 'payout_held':
        if (again === undefined && faults.occurs('requoted_after')) return requotes();
        if (isPaid ?? chance.happens(0.5)) return retries();
        return rejects();
      case 'refund_held':
        return through(process, 'retry refund', () => retryRefund(context, { ...base(), to: back }));
      case 'awaiting_liquidity':
        return fund();
      case 'paying_out':
        // In the lost time its deposit was refunded: after a hold, or before a new order was made of it.
        if (isPaid === false) return through(process, 'hold', () => db.asSystem((tx) => holdBack(context, tx, base())));
        break;
      case 'frozen':
        // Money beside it stays while law blocks it, until the law releases it.
        if (faults.occurs('released_by_law') || (faults.ended && (row.refund !== null || row.deposit !== null))) {
          const over = stops.lifting(blockOfOrder(row.id));
          through(process, 'release by law', () =>
            whenDone(
              db.asSystem((tx) => releaseBlocked(context, tx, { ...base(), legalAct: 'an action' })),
              over,
              over,
            ),
          );
          // The released money is under way by then, or has arrived, or was returned.
          if (one !== undefined && one.lines.length > 0 && faults.occurs('recalled_when_blocked'))
            later(chance.int(500, 60_000), () => {
              for (const line of one.lines) bank.recall(line);
            });
        }
    }
    const { undo_case: undone, undo_back: came } = row;
    if (faults.ended && undone !== null && came !== null) {
      if (row.undo_whole !== true && one !== undefined)
        (one.writtenOff ??= new Map()).set(String(undone), BigInt(row.undo_units ?? 0));
      return inTx('undo the exchange', (tx, now) =>
        correctCase(context, tx, {
          ...{ case: BigInt(undone), evidence: row.undo_reference ?? '', units: BigInt(row.undo_units ?? 0) },
          ...(row.undo_whole === true ? { as: 'undone' as const, deposit: BigInt(came) } : { as: 'debt' as const }),
          ...{ by: agreed.join(', '), now },
        }),
      );
    }
    if (row.refund !== null) {
      const to = again?.to ?? destinationOn(row.refund_rail, row.refund_asset, one);
      // The partner acts for the customer, and only on the customer's own money.
      const isOwn = to.address === undefined || to.address === one?.address;
      const by = isOwn ? 'partner' : 'operator';
      const approvedBy = { people: agreed, reason: 'looked at' };
      const input = { orderId: row.id, to, by, ...(isOwn && !faults.ended ? {} : { approvedBy }) } as const;
      return through(process, 'name destination', () =>
        db.asSystem((tx) => nameDestination(context, tx, { ...input, now: clock.now() })),
      );
    }
    const { deposit } = row;
    if (deposit !== null && (again !== undefined || chance.happens(0.5))) {
      const to = again?.to ?? destinationOn(row.deposit_rail, row.deposit_asset, one);
      through(process, 'refund deposit', () =>
        db.asSystem((tx) => refundDeposit(context, tx, { ...base(), depositId: BigInt(deposit), to })),
      );
    }
  }

  /**
   * A settled order is compensated for some of a fee. A repeated request, and two concurrent ones, are the same compensation. If
   * late money made other orders of it, it does not matter which of them has settled.
   */
  function compensates({ id, made, state }: Waiting): void {
    const one = noted.find(({ order }) => String(order.id) === String(made));
    if (one === undefined || state !== 'settled' || id !== made || faults.ended || !deps.mayCompensate()) return;
    if (!compensations.happens(one.compensated === undefined ? COMPENSATED : 0.8)) return;
    one.compensated ??= decided(one);
    const { fee, units } = one.compensated;
    const [account] = one.accounts;
    const times = compensations.happens(0.2) ? 2 : 1;
    for (let n = 0; n < times; n += 1)
      inTx('compensate', (tx, now, { context }) =>
        compensate(context, tx, {
          ...{ orderId: id, fee, asset: FIAT, units, nth: 1, by: people().join(', '), why: 'a wrong fee', now },
          // A purchase has no account of its own.
          ...(one.order.direction === 'onramp' ? { fiatAccountId: account?.id } : {}),
        }),
      );
  }

  function decided({ order }: Noted): Compensated {
    const fee = compensations.pick(['operator', 'partner', 'rail'] as const);
    return { fee, units: BigInt(compensations.int(1, Number(order.fees[fee]))) };
  }

  /** The customer's destination for money that leaves by this rail. */
  const destinationOn = (rail: string | null, asset: string | null, one: Noted | undefined): RefundTo =>
    rail?.startsWith('bank.')
      ? { fiatAccountId: one?.accounts.findLast(({ fiat }) => fiat === asset || faults.occurs('misnamed'))?.id }
      : backOf(one, 'offramp');

  function doAgain(one: Noted, asset: string, to: RefundTo): void {
    void scheduler
      .perform('the operator looks again', waiting)
      .then((rows) => {
        for (const row of rows) if (String(row.made) === String(one.order.id)) action(row, { asset, to });
      })
      .catch((error: unknown) => world.complain('operator', error));
  }

  return {
    noted,
    moves,
    hands: { inTx, somewhere, again: doAgain, fund, pays: (one, units) => pays(one, units, { again: true }) },
    get unmade() {
      return unmade;
    },
    get idle() {
      return planned === 0;
    },
    operate,
    unanswered() {
      if (faults.occurs('switched_off_when_unanswered')) later(chance.int(1, 900), switchOff);
    },
  };
}

const named = ({ address, fiatAccountId }: RefundTo) => ({
  ...(address === undefined ? {} : { address }),
  ...(fiatAccountId === undefined ? {} : { fiatAccountId }),
});

/** An operator's action before a restore, and its repetition. */
interface Again {
  asset: string;
  to: RefundTo;
}

/** As ground.ts numbers them. */
const numberOf = (customer: number, account: number): string => `${customer}${String(account).padStart(7, '0')}`;

export const isLost = (error: unknown): boolean =>
  error instanceof Error &&
  (/Connection terminated|not queryable|canceling statement/.test(error.message) ||
    ['40001', '40P01', '57014'].includes((error as { code?: string }).code ?? ''));

interface CustomerName {
  id: string;
  partner: string;
  name: string;
}
const NAMED = 'id, partner_id::text as partner, client_customer_id as name';

/** As enrolled: by the names that they were given. */
function inOrder(customers: readonly CustomerName[]): CustomerName[] {
  const nameOf = ({ partner, name }: CustomerName): string => openText(vault, BigInt(partner), name);
  return customers.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}
