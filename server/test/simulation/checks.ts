/**
 * The invariants: at the rails during the run, and everywhere at its end.
 *
 * At the rails the records of chain and bank count, by the accounts and addresses that belong to one order alone. Our own rows
 * are not used.
 */
import type { Clock } from '../../src/base/clock.ts';
import type { Database, Tx } from '../../src/base/db.ts';
import type { Order } from '../../src/orders/index.ts';
import type { Rail } from '../../src/rails/rail.ts';
import { openItems, reconcileRail } from '../../src/reconcile/index.ts';
import { brokenBooks } from '../support/books.ts';
import type { Noted, Terms } from './actors.ts';
import { leastTaken, type Rails, railsOf, wrongEnds } from './ends.ts';
import { OTHER_FIAT } from './outside.bank.ts';
import { CHAIN, TOKENS } from './outside.chain.ts';
import type { Environment, OurProcess } from './process.ts';
import type { Stray } from './strays.ts';

/** Kinds of violations. A planted bug must be found by a fitting kind (mutants.ts). */
export const KINDS = {
  paid_twice: 'more left at a rail than an order, or a key, may have',
  paid_against: 'money left against a block, a kill switch, a clearing time, a limit or the number of people',
  promised: 'more is promised than a cap lets, or at a price that nobody should believe',
  lost: 'money that nobody has, or that nobody has been told of',
  ends: 'a party ends with another amount than it must',
  rounding: 'more promised than the rate gives',
  books: 'the books against themselves, or against chain and bank',
  isolation: 'a connection speaks for a partner after its transaction',
  untold: 'a change of state without its event, or an event without its change',
  stuck: 'something never came to its end',
  deadlock: 'two transactions waited for each other',
  bug: 'code of ours threw what it never should',
  run: 'the simulation itself',
} as const;
export type Kind = keyof typeof KINDS;
export interface Violation {
  kind: Kind;
  what: string;
}

/** Whether more has left for an order than its deposits cover. @returns a sentence, or undefined */
export function overpaid({ bank, chain }: Pick<Environment, 'bank' | 'chain'>, one: Noted): string | undefined {
  const { order, terms } = one;
  const { everIn, left } = railsOf({ bank, chain }, one);
  const moved = {
    cameIn: everIn(order.depositAsset),
    paidOut: left(order.payoutAsset),
    refundedUnits: left(order.depositAsset),
    feesBack: one.compensated?.units ?? 0n,
    isFeeOfPayout: order.payoutAsset === order.fiatAsset,
  };
  return beyondCover(order.id, [...terms.values()], moved) ?? beyondOther(order, { everIn, left });
}

/** Money without an order is refunded at most up to the received amount. */
function beyondOther({ id, direction }: Order, { everIn, left }: Pick<Rails, 'everIn' | 'left'>): string | undefined {
  const asset = direction === 'offramp' ? `usdt.${CHAIN}` : OTHER_FIAT;
  const [cameIn, refundedUnits] = [everIn(asset), left(asset)];
  return refundedUnits > cameIn
    ? `order ${id}: ${refundedUnits} refunded of another asset, ${cameIn} came in`
    : undefined;
}

/**
 * Compares promises with payments, as chain and bank record them.
 *
 * @param terms of the orders that pay to the same destinations of a customer: one, and those made of its late money
 * @param moved.feesBack the operator's compensations of fees, in the asset of the payout or otherwise of the deposit
 * @returns a sentence, or undefined
 */
export function beyondCover(
  id: unknown,
  terms: readonly Terms[],
  moved: { cameIn: bigint; paidOut: bigint; refundedUnits: bigint; feesBack?: bigint; isFeeOfPayout?: boolean },
): string | undefined {
  const { cameIn, paidOut, refundedUnits, feesBack = 0n, isFeeOfPayout = false } = moved;
  const [besides, beyond] = isFeeOfPayout ? [feesBack, 0n] : [0n, feesBack];
  const promised = terms.reduce((sum, { payoutUnits }) => sum + payoutUnits, 0n) + besides;
  if (paidOut > promised) return `order ${id}: ${paidOut} paid out, ${promised} promised`;
  const taken = paidOut <= besides ? 0n : leastTaken(terms, paidOut - besides);
  if (refundedUnits > cameIn - taken + beyond)
    return `order ${id}: ${refundedUnits} refunded and ${paidOut} paid out for ${taken}, ${cameIn} came in`;
  return undefined;
}

/** Keys that had more than one effect at a bank. */
export function paidTwice({ bank }: Pick<Environment, 'bank'>): string[] {
  const effects = new Map<string, number>();
  for (const { key, state } of bank.payments) {
    if (state !== 'rejected') effects.set(key, (effects.get(key) ?? 0) + 1);
  }
  return [...effects].filter(([, times]) => times > 1).map(([key, times]) => `${key} was paid ${times} times`);
}

/** Sentences about everything that is still under way; empty when a run has come to its end. */
export async function underWay(look: Environment['backends']['look']): Promise<string[]> {
  const rows = await look<{ what: string }>(
    `select 'order ' || id || ' is ' || state as what from orders
      where state not in ('settled', 'refunded', 'expired', 'cancelled', 'frozen')
     union all
     select 'payout ' || id || ' is ' || state from payouts where state in ('created', 'submitting', 'submitted', 'unknown')
     union all
     select 'refund ' || id || ' is ' || state from refunds where state not in ('settled', 'cancelled')
     union all
     select 'send ' || key || ' is ' || state from chain_sends s where state in ('reserved', 'signed', 'mined')
        and not exists (select from chain_sends other where other.key = s.key and other.state in ('confirmed', 'failed'))
     union all
     select 'deposit ' || id || ' is ' || state from deposits where state in ('seen', 'confirmed')
     union all
     select 'rail ' || rail || ' is stopped: ' || halted_why from chains where halted_why is not null
     union all
     select concat('work ', kind, ' ', subject, ' is due ', due_at, ' ', ordering_key, ' ', leased_until, ' ', attempts, ' ', last_error) from jobs where dead_at is null
        and kind not in ('observe_rail', 'watch_levels', 'reconcile_rail', 'sweep', 'overdue_orders', 'seal', 'refresh_gas',
                         'refresh_prices', 'purge_quotes', 'purge_idempotency_records', 'note_dormant',
                         'refresh_sanctions', 'screen_names', 'monitor_orders')
        and kind not like 'watch%' and kind not like 'sweep%'`,
  );
  return rows.map(({ what }) => what);
}

/** An order promises the amount of its rate, rounded down, less its fees in fiat. @returns a sentence, or undefined */
export function roundedUp({ id, direction, depositUnits, payoutUnits, fees, rate }: Order): string | undefined {
  const feeUnits = Object.values(fees).reduce((sum, units) => sum + units, 0n);
  const selling = direction === 'offramp';
  // A coin has six decimals here and a rupee two.
  const [num, den] = selling
    ? [depositUnits * rate.num, rate.den * 10_000n]
    : [(depositUnits - feeUnits) * rate.den * 10_000n, rate.num];
  return (selling ? payoutUnits + feeUnits : payoutUnits) * den > num
    ? `order ${id}: ${payoutUnits} promised and ${feeUnits} taken of ${depositUnits}, and ${num}/${den} is all there is`
    : undefined;
}

/** Called in a read-only process at the end of a run. @returns the violations */
export async function broken(
  world: Environment,
  auditor: OurProcess,
  noted: readonly Noted[],
  lost?: ReadonlySet<string>,
  strays?: readonly Stray[],
): Promise<Violation[]> {
  const { db, clock, rails } = auditor.context;
  const found: Violation[] = [];
  const say = (kind: Kind, all: readonly (string | undefined)[]): void => {
    for (const what of all) if (what !== undefined) found.push({ kind, what });
  };
  const read = <T>(body: (tx: Tx) => Promise<T>) => db.asSystem(body);
  say('paid_twice', paidTwice(world));
  say(
    'paid_twice',
    noted.map((one) => overpaid(world, one)),
  );
  const states = new Map((await read(statesOf)).map(({ id, state }) => [id, state]));
  say(
    'lost',
    noted.map((one) => unpaid(world, one, states.get(one.order.id))),
  );
  // One step: no other process continues during the query, or PostgreSQL's speed would decide who goes next.
  const ends = () => wrongEnds(world.backends.look, world, noted, lost, strays);
  say('ends', await world.scheduler.perform('what each ends with', ends));
  say(
    'books',
    await read((tx) => brokenBooks(tx, async (rail, wallet, asset) => rails.get(rail)?.balance(wallet, asset))),
  );
  for (const rail of rails.values()) say('books', await unmatched({ db, clock }, rail));
  say('paid_twice', await read(unproven));
  say('untold', await read(untold));
  say('lost', await read(unseen));
  return found;
}

/**
 * If its deposit was reversed and its payout was returned, operators have undone the exchange: it stays settled, without a
 * payment. If its whole deposit and its whole refund left the chain again, it stays refunded, without a payment.
 */
const statesOf = (tx: Tx) =>
  tx.rows<{ id: bigint; state: string }>(
    `select id, case when state = 'settled' and exists (
              select from deposits d where d.order_id = o.id and d.origin = 'returned' and d.state = 'applied')
            then 'undone'
            when state = 'refunded'
             and exists (select from deposits d where d.order_id = o.id and d.state in ('lost', 'reversed'))
             and not exists (select from deposits d where d.order_id = o.id and d.origin = 'rail' and d.state not in ('lost', 'reversed'))
             and not exists (select from refunds r where r.order_id = o.id and r.state <> 'cancelled')
            then 'undone' else state end as state
       from orders o order by id`,
  );

/** An order whose state says paid has paid, and one whose state says refunded has refunded. */
function unpaid(
  { bank, chain }: Environment,
  { order, accounts, senders, address, elsewhere, back = '' }: Noted,
  state?: string,
): string | undefined {
  const numbers = [...accounts.map(({ number }) => number), ...(senders?.keys() ?? [])];
  const atBank = numbers.reduce((sum, number) => sum + bank.everTo(number), 0n);
  const onChain = [address, elsewhere, back].reduce(
    (sum, to) => sum + chain.paidTo(to, TOKENS.usdc) + chain.paidTo(to, TOKENS.usdt),
    0n,
  );
  const selling = order.direction === 'offramp';
  if (state === 'settled' && (selling ? atBank : onChain) === 0n)
    return `order ${order.id} is settled and nothing was paid`;
  if (state === 'refunded' && (selling ? onChain : atBank) === 0n)
    return `order ${order.id} is refunded and nothing was refunded`;
  return undefined;
}

/** Differences between a rail and the books, compared from the beginning, without grace periods. */
export async function unmatched(context: { db: Database; clock: Clock }, rail: Rail): Promise<string[]> {
  await reconcileRail({ ...context, graceMs: 0 }, rail, 'begin');
  const items = await context.db.asSystem((tx) => openItems(tx, rail.code));
  return items.map(
    (item) =>
      `${item.kind} ${rail.code} ${item.wallet} ${item.asset} ${item.key}: ${item.outsideUnits} outside, ${item.ledgerUnits} booked, ${item.transit ?? item.why}`,
  );
}

/**
 * A new attempt follows only a proven failure or return of the last. If an attempt's failure turned out to be wrong, after a
 * reorg or because the bank corrected itself, it has paid, and the attempt after it has not.
 */
export async function unproven(tx: Tx): Promise<string[]> {
  const rows = await tx.rows<{ id: string; attempt: number; state: string; next: string }>(
    `select last.id, last.attempt, last.state, next.state as next
       from payouts next join payouts last on last.purpose = next.purpose and last.attempt = next.attempt - 1
        and case next.purpose when 'payout' then last.order_id = next.order_id else last.refund_id = next.refund_id end
      where last.state not in ('rejected', 'returned') and not (last.state = 'settled' and next.state = 'rejected')`,
  );
  return rows.map(
    ({ id, attempt, state, next }) =>
      `payout ${id}, attempt ${attempt}, is ${state}, and the attempt after it is ${next}`,
  );
}

/** Every change of state has its event, in order, and there are no others. An order blocked by law emits none. */
export async function untold(tx: Tx): Promise<string[]> {
  const rows = await tx.rows<{ id: bigint; steps: string[]; told: string[] }>(
    `select o.id,
            (select coalesce(array_agg('order.' || state_to order by version), '{}') from order_history h
              where h.order_id = o.id and h.state_from <> h.state_to and h.state_to <> 'frozen') as steps,
            (select coalesce(array_agg(type order by subject_seq), '{}') from events e
              where e.subject = 'order:' || o.id and e.type not in ('order.changed', 'order.payout_submitted')
                and e.type not like 'refund.%' and e.type not like 'deposit.%') as told
       from orders o`,
  );
  return rows
    .filter(({ steps, told }) => steps.join() !== told.join())
    .map(({ id, steps, told }) => `order ${id} went ${steps.join()} and told ${told.join()}`);
}

/** Money in suspense that no refund takes, and that no case reports. */
export async function unseen(tx: Tx): Promise<string[]> {
  const rows = await tx.rows<{ id: bigint; why: string }>(
    `select d.id, d.why from deposits d
      where d.state = 'suspense' and not d.dust and d.units > d.taken_units + d.refund_units
        and not exists (select from cases c where c.subject = 'deposit:' || d.id)`,
  );
  return rows.map(({ id, why }) => `deposit ${id} lies in suspense (${why}) and no case says so`);
}
