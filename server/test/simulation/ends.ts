/**
 * Ends: the expected end of each party, computed separately from our code, and compared to the unit.
 *
 * Receipts and payments are those of chain and bank. Of our rows only promises and outcomes are used: the terms of each order,
 * its state, its remaining money in suspense. From that follows the expected remainder of each customer's order (with those that
 * were made of its late money) in each asset: zero. A missing amount was reversed by a rail after it had been paid out, and is a
 * loss or a debt; a surplus is blocked by law.
 *
 * - An order that is paid out takes its deposit whole. Fees and payout follow from rate and schedule, each rounded once.
 * - An order that is refunded returns its whole deposit except the fees that its policy keeps, once, in however many parts it
 *   came.
 * - Money that no order accepted is refunded whole.
 *
 * Not here: whether too much left at any moment (checks.ts), whether it was allowed to leave then (guard.ts).
 */
import { FEES, PARTNERS } from '../../src/sandbox/catalogue.ts';
import type { Noted, Terms } from './actors.ts';
import { FIAT, OTHER_FIAT } from './outside.bank.ts';
import { CHAIN, TOKENS } from './outside.chain.ts';
import type { Environment } from './process.ts';
import { type Stray, wrongStrays } from './strays.ts';

/** An order as it ended. Amounts as text. */
export interface Ended {
  id: string;
  made: string;
  direction: string;
  state: string;
  /** It was blocked by law after it had been converted. */
  blocked_converted: boolean;
  /** Its payout came back and its deposit was reversed: two people have undone it. */
  undone?: boolean;
  deposit_asset: string;
  payout_asset: string;
  deposit_units: string;
  received_units: string | null;
  payout_units: string;
  gross_units: string;
  rate_num: string;
  rate_den: string;
  fee_operator: string;
  fee_partner: string;
  fee_rail: string;
  fee_chain: string;
  keep: readonly ('operator' | 'partner' | 'rail' | 'chain')[];
}

/** Free in suspense at the end, of an order's deposits. */
export interface Free {
  made: string;
  asset: string;
  units: string;
}

/** The compensated part of a fee. */
export interface PaidBack {
  made: string;
  fee: string;
  asset: string;
  units: string;
}

/** Final balance of our accounts, those of one kind and asset together. */
export interface Held {
  kind: string;
  asset: string;
  units: string;
}

const ORDERS = `
  select o.id::text, coalesce(o.follows, o.id)::text as made, o.direction, o.state, o.deposit_asset, o.payout_asset,
         exists (select from order_history h where h.order_id = o.id and h.event = 'blocked' and h.state_from = 'payout_held')
           as blocked_converted,
         exists (select from entries e where e.order_id = o.id and e.facts ->> 'correction' = 'undone') as undone,
         o.deposit_units::text, o.received_units::text, o.payout_units::text, o.gross_units::text, o.rate_num::text,
         o.rate_den::text, o.fee_operator::text, o.fee_partner::text, o.fee_rail::text, o.fee_chain::text,
         coalesce(o.policy -> 'refundFees' -> 'keep', '[]') as keep
    from orders o order by o.id`;
const FREE = `
  select coalesce(o.follows, o.id)::text as made, d.asset, sum(d.units - d.taken_units - d.refund_units)::text as units
    from deposits d join orders o on o.id = d.order_id
   where d.state in ('suspense', 'applied', 'refunded') group by 1, 2 order by 1, 2`;
/**
 * Compensations of fees, by the order and the fee that they are booked for; without those that ended because a deposit was
 * reversed.
 */
const PAID_BACK = `
  select coalesce(o.follows, o.id)::text as made, d.facts ->> 'fee' as fee, d.asset, sum(d.units)::text as units
    from deposits d join orders o on o.id = d.order_id
   where d.origin = 'compensation' and d.state <> 'reversed' group by 1, 2, 3 order by 1, 2`;
/** Payments of another amount than ordered, as operators stated after a restore: the excess, or the shortfall. */
const OTHERWISE = `
  select coalesce(o.follows, o.id)::text as made, p.asset, sum(p.paid_units - p.units)::text as units
    from payouts p join orders o on o.id = p.order_id
   where p.paid_units is not null and p.state = 'settled' group by 1, 2 order by 1, 2`;
const HELD = `
  select kind, asset, sum(case side when 'debit' then debits - credits else credits - debits end)::text as units
    from accounts group by kind, asset order by kind, asset`;

/** A customer's debt at the end. */
export interface Owed {
  customer: string;
  asset: string;
  units: string;
}
const OWED = `
  select split_part(code, ':', 2) as customer, asset, (debits - credits)::text as units
    from accounts where kind = 'receivable' order by code`;

export interface Rails {
  /** Received for this order and not reversed. */
  cameIn(asset: string): bigint;
  /** Received, whether or not it was reversed later. */
  everIn(asset: string): bigint;
  /** Paid to its customer, and not returned. */
  left(asset: string): bigint;
}

/** The rails' records of one order that a customer made. */
export function railsOf({ bank, chain }: Pick<Environment, 'bank' | 'chain'>, one: Noted): Rails {
  const { order, accounts, address, elsewhere, back } = one;
  const places = [address, elsewhere, ...(back === undefined ? [] : [back])];
  const contractOf = (asset: string) => TOKENS[(asset.split('.')[0] ?? '') as keyof typeof TOKENS];
  const isFiat = (asset: string) => asset === FIAT || asset === OTHER_FIAT;
  return {
    cameIn: (asset) =>
      isFiat(asset) ? bank.paidIn(order.depositTarget, asset) : chain.paidTo(order.depositTarget, contractOf(asset)),
    everIn: (asset) =>
      isFiat(asset)
        ? bank.everIn(order.depositTarget, asset)
        : chain.believedAt(order.depositTarget, contractOf(asset)),
    left: (asset) =>
      isFiat(asset)
        ? [...accounts.map(({ number }) => number), ...(one.senders?.keys() ?? [])].reduce(
            (sum, number) => sum + bank.outTo(number, asset),
            0n,
          )
        : places.reduce((sum, place) => sum + chain.paidTo(place, contractOf(asset)), 0n),
  };
}

const ASSETS = [FIAT, OTHER_FIAT, ...Object.keys(TOKENS).map((code) => `${code}.${CHAIN}`)];

/** @returns the violations, in sentences */
export async function wrongEnds(
  look: <R>(text: string, values?: unknown[]) => Promise<R[]>,
  world: Pick<Environment, 'bank' | 'chain'>,
  noted: readonly Noted[],
  lost?: ReadonlySet<string>,
  strays?: readonly Stray[],
): Promise<string[]> {
  const [orders, free, held] = [await look<Ended>(ORDERS), await look<Free>(FREE), await look<Held>(HELD)];
  const owed = await look<Owed>(OWED);
  const otherwise = await look<Free>(OTHERWISE);
  const paidBack = await look<PaidBack>(PAID_BACK);
  const known = new Set(noted.map(({ order }) => String(order.id)));
  // One whose maker never received an answer was never paid.
  const all = orders.filter(({ made }) => known.has(made));
  return [
    ...(strays === undefined ? [] : wrongStrays(world, strays, held, free)),
    ...all.flatMap(wrongTerms),
    ...noted.flatMap((one) => wrongPaidBack(one, paidBack)),
    ...noted.flatMap((one) => wrongSenders(world, one)),
    ...noted.filter(({ order }) => lost?.has(String(order.id))).flatMap((one) => wrongLost(one, railsOf(world, one))),
    ...wrongSums(
      noted.map((one) => {
        const made = String(one.order.id);
        return {
          made,
          customer: one.order.customerId,
          orders: all.filter((order) => order.made === made),
          free: free.filter((one) => one.made === made),
          otherwise: otherwise.filter((one) => one.made === made),
          paidBack: paidBack.filter((one) => one.made === made),
          isLost: lost?.has(made) === true,
          turnedOut: one.turnedOut === true,
          writtenOffUnits: [...(one.writtenOff?.values() ?? [])].reduce((sum, units) => sum + units, 0n),
          rails: railsOf(world, one),
        };
      }),
      held,
      owed,
      lost !== undefined,
    ),
  ];
}

/** Whether the compensation of an order's fees is the operator's decision, once, or zero. */
export function wrongPaidBack(
  { order, compensated }: Pick<Noted, 'order' | 'compensated'>,
  all: readonly PaidBack[],
): string[] {
  const [one, ...more] = all.filter(({ made }) => made === String(order.id));
  if (one === undefined) return [];
  const { fee, asset, units } = one;
  const isDecided = asset === FIAT && fee === compensated?.fee && units === String(compensated.units);
  return more.length === 0 && isDecided
    ? []
    : [
        `order ${order.id}: ${units} ${asset} of ${fee} and ${more.length} more paid back, and ${compensated?.units ?? 0} of ${compensated?.fee} were to be`,
      ];
}

const FEES_OF = ['fee_operator', 'fee_partner', 'fee_rail', 'fee_chain'] as const;
const up = (num: bigint, den: bigint): bigint => (num + den - 1n) / den;
/** A coin has six decimals here and a rupee two. */
const PLACES = 10_000n;

/** Whether its promise follows from its rate and the schedule. The chain's fee is the price of gas then. */
export function wrongTerms(order: Ended): string[] {
  const [deposit, num, den] = [BigInt(order.deposit_units), BigInt(order.rate_num), BigInt(order.rate_den)];
  const selling = order.direction === 'offramp';
  const chain = BigInt(order.fee_chain);
  const base = selling ? (deposit * num) / (den * PLACES) : deposit;
  const fees = {
    fee_operator: up(base * BigInt(FEES.operatorBps), 10_000n),
    fee_partner: up(base * BigInt(PARTNERS[0].partnerFeeBps), 10_000n),
    fee_rail: FEES.railFixed[FIAT],
    fee_chain: chain,
  };
  const sum = FEES_OF.reduce((all, kind) => all + fees[kind], 0n);
  const gross = selling ? base : ((deposit - sum) * den * PLACES) / num;
  const payout = selling ? gross - sum : gross;
  const expected: Record<string, bigint> = { ...fees, gross_units: gross, payout_units: payout };
  return Object.entries(expected).flatMap(([name, units]) => {
    const said = order[name as keyof Ended];
    return BigInt(said as string) === units ? [] : [`order ${order.id}: ${name} is ${said}, and must be ${units}`];
  });
}

export interface Group {
  made: string;
  customer: string;
  orders: readonly Ended[];
  free: readonly Free[];
  rails: Rails;
  /** As in OTHERWISE. */
  otherwise?: readonly Free[];
  paidBack?: readonly PaidBack[];
  /** A restore has lost it: its outcome is checked separately (wrongLost), and leaves no remainder. */
  isLost?: boolean;
  /** Its bank has shown a rejected payment as paid. */
  turnedOut?: boolean;
  /** At most this much of its customer's debt was written off, in its deposit's units. */
  writtenOffUnits?: bigint;
}

/** It exchanged its deposit for its payout, finally. */
const isConverted = ({ state, blocked_converted, undone = false }: Ended): boolean =>
  (state === 'settled' && !undone) || (state === 'frozen' && blocked_converted);

/** The fees we keep of a refunded order, in its deposit's units. */
export function keptOf(order: Ended): bigint {
  const fiat = order.keep.reduce((sum, kind) => sum + BigInt(order[`fee_${kind}`]), 0n);
  const kept = order.direction === 'onramp' ? fiat : (fiat * BigInt(order.rate_den) * PLACES) / BigInt(order.rate_num);
  return kept < BigInt(order.received_units ?? 0) ? kept : 0n;
}

/** An order missing in the books: its customer has its payout, or its money except the fees, or paid nothing. */
export function wrongLost({ order, terms }: Pick<Noted, 'order' | 'terms'>, { cameIn, everIn, left }: Rails): string[] {
  const { id, depositAsset, payoutAsset, fees, rate, direction } = order;
  const paidOut = left(payoutAsset);
  const taken = paidOut === 0n ? 0n : leastTaken([...terms.values()], paidOut);
  const fiat = Object.values(fees).reduce((sum, units) => sum + units, 0n);
  const mostKept = paidOut > 0n ? 0n : direction === 'onramp' ? fiat : up(fiat * rate.den * PLACES, rate.num);
  return ASSETS.flatMap((asset) => {
    if (asset === payoutAsset || everIn(asset) > cameIn(asset)) return [];
    const over = cameIn(asset) - left(asset) - (asset === depositAsset ? taken : 0n);
    return over < 0n || over > (asset === depositAsset ? mostKept : 0n)
      ? [
          `order ${id}, which the books have lost: of ${cameIn(asset)} ${asset}, ${left(asset)} went back and ${taken} was paid for: ${over} over`,
        ]
      : [];
  });
}

const isReversed = ({ cameIn, everIn }: Rails): boolean => ASSETS.some((asset) => everIn(asset) > cameIn(asset));

/** Compares each order's money, and the total with our accounts. */
export function wrongSums(
  groups: readonly Group[],
  held: readonly Held[],
  owed: readonly Owed[],
  wasRestored = false,
): string[] {
  const wrong: string[] = [];
  const on = (kind: string, asset: string): bigint =>
    BigInt(held.find((one) => one.kind === kind && one.asset === asset)?.units ?? 0);
  for (const asset of ASSETS) {
    // If a rail reversed a part of an order, or law blocked it half-way, its fees may not have been kept.
    let [over, doubt, kept] = [0n, 0n, 0n];
    let isUndone = false;
    const debts = new Map<string, bigint>();
    const blockedToo = new Map<string, bigint>();
    const writtenOff = new Map<string, bigint>();
    let beyond = 0n;
    for (const group of groups) {
      const { made, customer, orders, free, rails, otherwise = [], paidBack = [], isLost = false } = group;
      if (orders.some(({ deposit_asset }) => deposit_asset === asset))
        writtenOff.set(customer, (writtenOff.get(customer) ?? 0n) + (group.writtenOffUnits ?? 0n));
      if (isLost) {
        // It was paid, and a rail reversed its deposit since: the debit stays the booked loss.
        doubt += rails.everIn(asset) - rails.cameIn(asset) + (isReversed(rails) ? rails.left(asset) : 0n);
        continue;
      }
      const of = <T>(from: readonly T[], units: (one: T) => bigint) => from.reduce((sum, one) => sum + units(one), 0n);
      const ours = orders.filter((order) => order.deposit_asset === asset);
      const keeps = of(
        ours.filter(({ state }) => state === 'refunded'),
        keptOf,
      );
      const taken = of(ours.filter(isConverted), ({ received_units }) => BigInt(received_units ?? 0));
      const owed = of(
        orders.filter((order) => order.payout_asset === asset && isConverted(order)),
        ({ payout_units }) => BigInt(payout_units),
      );
      const idle = of(
        free.filter((one) => one.asset === asset),
        ({ units }) => BigInt(units),
      );
      const cameIn = rails.cameIn(asset);
      const more = of(
        otherwise.filter((one) => one.asset === asset),
        ({ units }) => BigInt(units),
      );
      beyond += more;
      const fees = of(
        paidBack.filter((one) => one.asset === asset),
        ({ units }) => BigInt(units),
      );
      const left = cameIn + owed + more + fees - taken - keeps - idle - rails.left(asset);
      const isBack = rails.everIn(asset) > cameIn;
      const isBlocked = orders.some(({ state }) => state === 'frozen');
      // It was paid in the lost time, and its deposit reversed: our loss, in the paid asset.
      const isGivenUp = orders.some(({ undone = false }) => undone);
      const isLoss = (wasRestored && isReversed(rails)) || isGivenUp;
      if ((left < 0n && !isBack && !isBlocked && !isLoss) || (left > 0n && !isBlocked && !(isBack && left <= keeps)))
        wrong.push(
          `order ${made}: of ${cameIn} ${asset} that came and ${owed} that is paid for, ${taken} was taken, ${keeps} kept, ${idle} lies in suspense and ${rails.left(asset)} left: ${left} over`,
        );
      over += left;
      // Money blocked by law was paid to no one: if its deposit is reversed, that is a loss.
      const unpaid = of(
        ours.filter((order) => order.state === 'frozen' && isConverted(order)),
        ({ received_units }) => BigInt(received_units ?? 0),
      );
      // The part of a returned payment that banks kept is not a debt.
      if (left + unpaid < 0n && !isGivenUp) {
        debts.set(customer, (debts.get(customer) ?? 0n) - left - unpaid);
        // If the rest of that deposit was refunded, all of it is owed, and money blocked by law stays the customer's.
        const inLaw = of(
          ours.filter(({ state }) => state === 'frozen'),
          ({ received_units }) => BigInt(received_units ?? 0),
        );
        if (isReversed(rails)) blockedToo.set(customer, (blockedToo.get(customer) ?? 0n) + inLaw);
      }
      kept += keeps;
      if (isBack || isBlocked)
        doubt += of(
          ours.filter(({ state }) => state === 'refunded' || state === 'frozen'),
          keptOf,
        );
      // Released by law after its rail reversed the deposit: the conversion was undone for that.
      isUndone ||= orders.some((order) => order.blocked_converted) && isReversed(rails);
    }
    if (on('difference', asset) !== -beyond)
      wrong.push(`difference holds ${on('difference', asset)} ${asset}, and must hold ${-beyond}`);
    const stands = on('blocked', asset) - on('loss', asset) - on('receivable', asset);
    if (!isUndone && (over > stands + doubt || over < stands - doubt))
      wrong.push(
        `${over} ${asset} is over of all orders, and ${on('blocked', asset)} is blocked, ${on('loss', asset)} lost and ${on('receivable', asset)} owed`,
      );
    // The customer owes a payment that a bank recalled. For a chain only the sum with losses is checked, above, except when a
    // bank has paid after all what it had rejected.
    const isFiat = asset === FIAT || asset === OTHER_FIAT;
    if (!isUndone)
      for (const customer of new Set(
        groups.filter(({ turnedOut }) => isFiat || turnedOut).map((one) => one.customer),
      )) {
        const must = debts.get(customer) ?? 0n;
        const said = BigInt(owed.find((one) => one.customer === customer && one.asset === asset)?.units ?? 0);
        // A refund of the lost time that was then recalled is a loss: the books do not know its recipient.
        const least = must - doubt - (writtenOff.get(customer) ?? 0n);
        if (said > must + doubt + (blockedToo.get(customer) ?? 0n) || (said < least && !wasRestored))
          wrong.push(`customer ${customer} owes ${said} ${asset}, and must owe ${must}`);
      }
    for (const kind of FEES_OF) {
      const earned = groups
        .flatMap(({ orders }) => orders)
        .filter((order) => isConverted(order) && (asset === FIAT || asset === OTHER_FIAT))
        .reduce((sum, order) => (asset === FIAT ? sum + BigInt(order[kind]) : sum), 0n);
      const back = groups
        .flatMap(({ paidBack = [] }) => paidBack)
        .filter((one) => one.asset === asset && `fee_${one.fee}` === kind)
        .reduce((sum, { units }) => sum + BigInt(units), 0n);
      const must = (kind === 'fee_operator' ? earned + kept : earned) - back;
      const off = on(kind, asset) - must;
      const within = kind === 'fee_operator' ? doubt : 0n;
      if (!isUndone && (off > within || off < -within))
        wrong.push(`${kind} holds ${on(kind, asset)} ${asset}, and must hold ${must}`);
    }
  }
  return wrong;
}

/** The minimum for which this amount may have been paid out: each order takes its deposit whole. */
export function leastTaken([first, ...others]: readonly Terms[], paidOut: bigint): bigint {
  if (paidOut <= 0n) return 0n;
  if (first === undefined) return paidOut * 10n ** 18n;
  const withIt = first.depositUnits + leastTaken(others, paidOut - first.payoutUnits);
  const without = leastTaken(others, paidOut);
  return withIt < without ? withIt : without;
}

/** Payers who received more back than they paid, in sentences. */
export const wrongSenders = ({ bank }: Pick<Environment, 'bank'>, { order, senders }: Noted): string[] =>
  [...(senders ?? [])].flatMap(([account, units]) =>
    bank.outTo(account) > units
      ? [`order ${order.id}: ${bank.outTo(account)} went back to ${account}, which had paid ${units}`]
      : [],
  );
