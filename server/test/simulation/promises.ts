/**
 * Promises: a cap on what is promised to the partner at a time, in one of twenty seeds. Customers come five at a time there, and
 * half of such groups order without a quote: then the order itself is the first promise.
 *
 * The cap is low enough that twenty orders reach it, and an order refused for it is tried again. The sum is of what customers were
 * told, and not of our rows: an order counts from when its customer knows of it, and no longer than until its customer pays, an
 * operator decides about it, or a process may take it for expired. That is less than what our server must count, so a sum above
 * the cap is always a violation.
 *
 * They use separate random numbers, so that all other seeds play as they would without them.
 */
import type { Order } from '../../src/orders/index.ts';
import type { Noted } from './actors.ts';
import { type Chance, chanceOf } from './chance.ts';
import { FIAT } from './outside.bank.ts';

export const hasCap = (seed: number): boolean => seed % 40 === 22 || seed % 40 === 28;

/** In rupees' hundredths: a single order is of at most two million. */
const CAP_UNITS = [2_200_000, 3_000_000] as const;
const AT_ONCE = 5;

export interface Promises {
  readonly done: ReadonlyMap<string, number>;
  readonly capUnits: bigint;
  /** When this order of a customer is to be made: as late as the others of its group. */
  comesAt(n: number, ms: number): number;
  hasQuote(n: number): boolean;
  /** An order was refused for the cap. */
  refused(): void;
  /** An order was made. @returns why it should not have been, or undefined */
  made(one: Noted): string | undefined;
  /** From now on it may be paid, end, or have other terms. */
  handled(one: Noted): void;
}

export function openPromises(deps: { seed: number; now: () => number; spreadMs: () => number }): Promises {
  const chance: Chance = chanceOf(deps.seed + 10_000_019);
  const done = new Map<string, number>();
  const did = (what: string): void => void done.set(what, (done.get(what) ?? 0) + 1);
  const capUnits = BigInt(chance.int(...CAP_UNITS));
  const times = new Map<number, number>();
  const unquoted = new Map<number, boolean>();
  const open = new Map<bigint, Order>();
  const groupOf = (n: number): number => Math.floor(n / AT_ONCE);

  return {
    done,
    capUnits,
    comesAt(n, ms) {
      const at = times.get(groupOf(n)) ?? ms;
      times.set(groupOf(n), at);
      return at;
    },
    hasQuote(n) {
      const is = unquoted.get(groupOf(n)) ?? chance.happens(0.5);
      unquoted.set(groupOf(n), is);
      return !is;
    },
    refused: () => did('refused for the cap'),
    made({ order }) {
      did('promised below the cap');
      open.set(order.id, order);
      // The clock of a process may be ahead by as much as clocks differ.
      const latest = deps.now() + deps.spreadMs();
      for (const [id, { expiresAt }] of open) if (expiresAt.getTime() <= latest) open.delete(id);
      const sum = [...open.values()].reduce((all, one) => all + worthOf(one), 0n);
      return sum > capUnits
        ? `order ${order.id}: ${sum} is promised in ${open.size} unpaid orders, and ${capUnits} is the cap`
        : undefined;
    },
    handled: ({ order }) => void open.delete(order.id),
  };
}

/** In rupees. */
const worthOf = ({ depositAsset, depositUnits, grossUnits }: Order): bigint =>
  depositAsset === FIAT ? depositUnits : grossUnits;
