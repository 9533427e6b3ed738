/**
 * Wild prices: in one of twenty seeds the only price source says a hundred times its prices for a while, or a hundredth.
 *
 * No order may be made at such a price, and nothing paid out at it. Both are compared with the prices that were fed here before
 * and after, and not with any of our rows. It begins once an order was made: the first price that a market ever has is believed.
 *
 * They use separate random numbers, so that all other seeds play as they would without them.
 */
import type { Order } from '../../src/orders/index.ts';
import type { FetchedPrice } from '../../src/quotes/index.ts';
import { type Chance, chanceOf } from './chance.ts';
import { FIAT } from './outside.bank.ts';

export const goesWild = (seed: number): boolean => seed % 40 === 28 || seed % 40 === 37;

const FROM_MS = [25_000, 70_000] as const;
/** Each source is asked every twenty seconds (process.ts). */
const LASTS_MS = [20_000, 60_000] as const;
const LOOK_MS = 2_000;
const LEAST_TIMES = 2;
/** A market believes a price that has at most doubled or halved at once. */
const MOST = 2;
/** Units of a coin are millionths, and those of a rupee hundredths. */
const UNITS = 10_000;

export interface Wild {
  readonly done: ReadonlyMap<string, number>;
  /** The prices as the source says them now. */
  fed(prices: FetchedPrice[]): FetchedPrice[];
  /** An order was made. @returns why it should not have been, or undefined */
  made(order: Order): string | undefined;
  /** A payout is submitted, of an order with these terms. @returns why it should not be, or undefined */
  paysOut(asset: string, terms: { depositUnits: bigint; payoutUnits: bigint }): string | undefined;
}

export function openWild(deps: {
  seed: number;
  after: (ms: number, body: () => void) => void;
  hasOrders: () => boolean;
  ended: () => boolean;
}): Wild {
  const chance: Chance = chanceOf(deps.seed + 11_000_027);
  const done = new Map<string, number>();
  const did = (what: string): void => void done.set(what, (done.get(what) ?? 0) + 1);
  const isHigh = chance.happens(0.5);
  const lastsMs = chance.int(...LASTS_MS);
  let isWild = false;
  let times = 0;
  /** Of the traded pair, as far as it was not wild. */
  const tame = { least: Number.POSITIVE_INFINITY, most: 0 };

  const begins = (): void => {
    if (deps.ended()) return;
    if (!deps.hasOrders()) return deps.after(LOOK_MS, begins);
    isWild = true;
    deps.after(lastsMs, ends);
  };
  /** It was said, or else it would show nothing. */
  const ends = (): void => {
    if (times < LEAST_TIMES && !deps.ended()) return deps.after(LOOK_MS, ends);
    isWild = false;
  };
  deps.after(chance.int(...FROM_MS), begins);

  return {
    done,
    fed(prices) {
      if (isWild) {
        times += 1;
        did(isHigh ? 'a hundred times the price said' : 'a hundredth of the price said');
        const [up, down] = isHigh ? [100n, 1n] : [1n, 100n];
        return prices.map((one) => ({ ...one, rate: { num: one.rate.num * up, den: one.rate.den * down } }));
      }
      for (const { rate } of prices.filter(({ base, quote }) => base === 'usdc' && quote === FIAT)) {
        tame.least = Math.min(tame.least, numberOf(rate));
        tame.most = Math.max(tame.most, numberOf(rate));
      }
      return prices;
    },
    made({ id, rate }) {
      if (isWild) did('an order made meanwhile');
      const said = numberOf(rate);
      return said > tame.most * MOST || said < tame.least / MOST
        ? `order ${id} is made at ${said}, and only prices from ${tame.least} to ${tame.most} were to be believed`
        : undefined;
    },
    paysOut(asset, { depositUnits, payoutUnits }) {
      const [deposit, payout] = [Number(depositUnits), Number(payoutUnits)];
      const isTooMuch =
        asset === FIAT ? (payout / deposit) * UNITS > tame.most * MOST : (deposit / payout) * UNITS < tame.least / MOST;
      return isTooMuch ? `pays ${payoutUnits} for ${depositUnits}, at a price that nobody should believe` : undefined;
    },
  };
}

const numberOf = ({ num, den }: { num: bigint; den: bigint }): number => Number(num) / Number(den);
