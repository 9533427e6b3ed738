/** The stored form of a quote. */
import type { Rate } from '../base/money.ts';
import type { Market, Partner } from '../partners/index.ts';
import type { Fees } from './price.ts';

export interface Quote {
  id: bigint;
  partnerId: bigint;
  market: Market;
  /** What the customer pays, in the deposit asset's units. */
  depositUnits: bigint;
  payoutUnits: bigint;
  grossUnits: bigint;
  /** Whole fiat per one whole crypto unit: exactly the rate used. */
  rate: Rate;
  fees: Fees;
  createdAt: Date;
  expiresAt: Date;
}

/** The side whose amount the request fixed. */
export type FixedSide = 'pay' | 'receive';

/** A stored price that a quote is based on. */
export interface UsedPrice {
  base: string;
  source: string;
  rate: string;
  at: string;
  /** The pairs it was computed through; absent when the source quotes the pair. */
  composedOf?: readonly string[];
}

/** Which live quote is taken, and for which order. */
export interface TakeInput {
  partner: Partner;
  market: Market;
  depositUnits: bigint;
  rate: Rate;
  payoutUnits: bigint;
  orderId: bigint;
  now: Date;
}
