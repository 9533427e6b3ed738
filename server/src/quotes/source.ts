/** The contract of a price source: asked for pairs, it returns dated prices. Adapters are in sources/, one file each. */
import type { Clock } from '../base/clock.ts';
import type { Rate } from '../base/money.ts';

/** A source of prices. Adapters are in quotes/sources, one file each, and are listed in registry.ts. */
export interface PriceSource {
  readonly code: string;
  /** Sensible polling interval in milliseconds; five seconds by default. */
  readonly everyMs?: number;
  /**
   * A stored price that the source repeats is rewritten once it is as old as this, in milliseconds, or earlier if a market needs
   * younger prices; by default at every poll. With two and a half `everyMs` it must stay within the minute after which no price
   * counts.
   */
  readonly rewriteMs?: number;
  /**
   * Omits pairs that it cannot price; may add legs of composed prices (crosses.ts).
   *
   * @param clock dates prices that the source itself does not date
   * @throws Unavailable, and nothing else
   */
  fetch(pairs: readonly Pair[], clock?: Clock): Promise<FetchedPrice[]>;
}

export interface Pair {
  /** Coin, lower case: usdc, eth. */
  base: string;
  /** Fiat, lower case: inr. */
  quote: string;
}

export interface FetchedPrice extends Pair {
  rate: Rate;
  pricedAt: Date;
  /** The pairs it was computed through, in order; absent when the source quotes the pair. */
  composedOf?: readonly string[];
}

export interface SourceHealth {
  source: string;
  lastSuccessAgeMs: number | null;
  lastFailureAgeMs: number | null;
  /** Text of ours; never text of the source. */
  lastFailure: string | null;
  /** Number of failures since the last success. */
  failures: number;
}
