/** Contexts: what the parts of orders are given to run with, and types that several of them name. */
import type { Clock } from '../base/clock.ts';
import type { Vault } from '../base/crypto.ts';
import type { Database, Tx } from '../base/db.ts';
import type { Log } from '../base/log.ts';
import type { Screener } from '../compliance/index.ts';
import type { PayerMatch } from '../customers/index.ts';
import type { Rail, RailFact } from '../rails/rail.ts';
import type { GateRules, SeenFinding } from './payouts/rules.ts';

export interface OrdersContext {
  db: Database;
  clock: Clock;
  log: Log;
  rails: ReadonlyMap<string, Rail>;
  screener: Screener;
  /** Encrypts the accounts that money goes to. */
  vault: Vault;
  /** What the gate reads from other modules before money leaves. */
  gate: GateRules;
}

/** What the gate reads. */
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

/** What facts are taken with. */
export interface Context {
  rails: ReadonlyMap<string, Rail>;
  clock: Clock;
  /** Whether a payer's name matches the customer's; without it names are not compared. */
  comparePayer?: (tx: Tx, customerId: string, payerName: string) => Promise<PayerMatch>;
}

/** A fact of one type. */
export type Of<T extends RailFact['type']> = Extract<RailFact, { type: T }>;
/** What an operator decided about an order. */
export interface Action {
  orderId: bigint;
  by: string;
  /** Names of everyone who approved it. */
  people?: readonly string[];
  /** For refunds: go ahead despite the screening hits and blocks that stand against the destination now. */
  pastHits?: boolean | undefined;
  /** What these people were shown, when they confirmed in an earlier transaction. */
  seen?: readonly SeenFinding[] | undefined;
  why: string;
  now: Date;
}
