/** Contexts: the dependencies that are passed to the parts of orders, and types that several parts share. */
import type { Clock } from '../base/clock.ts';
import type { Vault } from '../base/crypto.ts';
import type { Database, Tx } from '../base/db.ts';
import type { Log } from '../base/log.ts';
import type { Screener, TravelRule } from '../compliance/index.ts';
import type { PayerMatch } from '../customers/index.ts';
import type { Submissions } from '../rails/payouts.ts';
import type { Rail, RailFact } from '../rails/rail.ts';
import type { HighestLevelFor } from './limits.ts';
import type { GateRules, SeenFinding } from './payouts/rules.ts';

export interface OrdersContext {
  db: Database;
  clock: Clock;
  log: Log;
  rails: ReadonlyMap<string, Rail>;
  screener: Screener;
  /** Encrypts payout accounts. */
  vault: Vault;
  /** The gate's inputs from other modules. */
  gate: GateRules;
  /** Begins payouts in the transaction that decides on them. Where it is absent, their jobs do. */
  submissions?: Submissions;
  /** What partners state about wallets; absent in tests that do not need it. */
  travelRule?: TravelRule;
}

/** What the API of orders needs. */
export interface OpeningContext extends Pick<OrdersContext, 'rails' | 'clock' | 'gate' | 'vault'> {
  /** The highest level that the verifier gives to customers of a kind; by default the highest there is. */
  highestLevelFor?: HighestLevelFor;
}

/** The gate's dependencies. */
export interface GateContext {
  clock: Clock;
  rails: ReadonlyMap<string, Rail>;
  gate: GateRules;
}

export type Rails = { rails: ReadonlyMap<string, Rail> };

/** Destination: the customer's address on a chain, or a bank account. */
export interface RefundTo {
  address?: string | undefined;
  fiatAccountId?: bigint | undefined;
}

/** The dependencies of code that applies facts. */
export interface Context {
  rails: ReadonlyMap<string, Rail>;
  clock: Clock;
  /** Compares a payer's name with the customer's. Without it, names are not compared. */
  comparePayer?: (tx: Tx, customerId: string, payerName: string) => Promise<PayerMatch>;
}

/** A fact of one type. */
export type Of<T extends RailFact['type']> = Extract<RailFact, { type: T }>;
/** An operator's decision about an order. */
export interface Action {
  orderId: bigint;
  by: string;
  /** Names of all operators who approved it. */
  people?: readonly string[];
  /** For refunds: proceed despite the screening hits and blocks that apply to the destination now. */
  pastHits?: boolean | undefined;
  /** The findings that these operators were shown, if they confirmed in an earlier transaction. */
  seen?: readonly SeenFinding[] | undefined;
  /** Version of the order at that time: these operators did not know of an operator's hold that is newer. */
  seenVersion?: number | undefined;
  why: string;
  now: Date;
}
