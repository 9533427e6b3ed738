/**
 * The contract of a bank adapter: the calls of one bank, in the form that the engine (bank.ts) uses. An adapter keeps no state
 * and retries nothing.
 *
 * How to add one: docs/adding-a-rail.md.
 */
import type { Clock } from '../base/clock.ts';
import type { Vault } from '../base/crypto.ts';
import type { Database, Tx } from '../base/db.ts';
import type { Log } from '../base/log.ts';
import type { AssetCode } from '../base/money.ts';
import type { Payee, PayoutStatus, Rail, Report, Sending, Sent } from './rail.ts';
import { findReference, makeReference } from './reference.ts';

export interface BankAdapter {
  /** The rail's code, such as `bank.simulated`. */
  readonly code: string;
  /**
   * How long the bank promises that two payment orders under one key are one payment, in milliseconds; 0 if it promises nothing
   * or states no duration. Never more than it states, and never Infinity. See Rail.deduplicatesForMs.
   */
  readonly deduplicatesForMs: number;
  /** The currencies of the account in the bank's spelling, and our assets for them: `{ INR: 'inr' }`. */
  readonly currencies: Readonly<Record<string, AssetCode>>;
  /** For a bank that does not accept our references: functions that make and find its own. */
  readonly references?: { make(index: bigint): string; find(text: string): string };

  /** Our account in this currency, as shown to customers. */
  payee(asset: AssetCode): Payee | undefined;

  /**
   * A page of the statement after a cursor, oldest first as far as the bank supports that.
   * @param cursor '' for the beginning, else the cursor of the previous page
   * @throws Unavailable
   */
  statement(cursor: string): Promise<StatementPage>;
  /** See Rail.send. One try, with no retries underneath: a client that retries by itself pays twice. */
  send(sending: Sending): Promise<Sent>;
  /** See Rail.status. `absent` only if the bank's answer proves it. */
  status(key: string): Promise<PayoutStatus>;
  /** @throws Unavailable */
  balance(asset: AssetCode): Promise<bigint>;
  /**
   * For a bank whose statements operators upload: whether they have confirmed that the statements show everything paid before the
   * last restore. If this function is absent, the statement must have been read up to that time.
   */
  isShown?(tx: Tx): Promise<boolean>;
}

export interface StatementPage {
  lines: readonly StatementLine[];
  cursor: string;
  more: boolean;
  /**
   * The time up to which lines are complete, per asset. Absent if the statement is current for all assets at the time of the
   * call.
   */
  readTo?: Readonly<Record<AssetCode, Date>>;
}

export interface StatementLine {
  /** The bank's own id of the line; the same each time the line is shown. */
  externalId: string;
  direction: 'credit' | 'debit';
  /** In the bank's spelling. */
  currency: string;
  /** Smallest units; null if the adapter could not read the amount. */
  units: bigint | null;
  /** Charged by the bank in addition to a debit. */
  chargeUnits?: bigint;
  /** The bank's reference for display: a UTR, an end-to-end id. No names. */
  reference: string;
  /**
   * When the bank booked it: the earliest instant that this can be. For a day without a time, the beginning of that day at the
   * bank.
   */
  bookedAt: Date;
  /** How much later that may have been, in milliseconds: for a day without a time, the length of that day. */
  withinMs?: number;
  /** Set if the bank does not give the booking day: `bookedAt` is then the beginning of the value date. */
  bookedOn?: 'unknown';
  /** For a debit: the key of its payout, as the bank carried it. */
  key?: string;
  /** For a credit: the key of the returned payout, and the bank's reason code. */
  returnOf?: { key: string; why: string };
  /** For a debit that recalls an earlier credit: the id of that line, and why. */
  recallOf?: { externalId: string; why: string };
  /** For a credit: the operator's own money, recognised by the adapter. */
  funding?: boolean;
  /** All free text: remittance text, name and account of the other party. The engine encrypts it on arrival. */
  free: { text?: string; name?: string; account?: string };
}

/** A bank as an installation configures it. Opening it gives a rail. */
export interface Bank {
  /** The rail's code. */
  readonly code: string;
  /** Our assets at the bank, and the bank's name of each currency. */
  readonly accounts: readonly { readonly asset: AssetCode; readonly currency: string }[];
  open(context: BankContext): BankRail;
}

export interface BankContext {
  db: Database;
  clock: Clock;
  log: Log;
  report: Report;
  vault: Vault;
  /** Interval between statement reads without a wake-up, in milliseconds. */
  pollMs?: number;
  unreadAtMostMs?: number;
  /**
   * Locks the orders of these targets and payouts until `tx` ends, before anything else, as the lock order requires where one
   * transaction reports facts about several. Without it, each line has a transaction of its own.
   *
   * @returns the number of orders
   */
  lockOrders?(
    tx: Tx,
    of: { rail: string; externalIds: readonly string[]; targets?: readonly string[]; payouts?: readonly string[] },
  ): Promise<number>;
}

/** A bank as a rail. `wake` is for a webhook: it makes the next read due now, and trusts no content of the webhook. */
export type BankRail = Rail & { wake(tx: Tx): void };

/** The context of every function of the engine. */
export interface OpenBank {
  readonly adapter: BankAdapter;
  readonly context: BankContext;
}

export const referencesOf = ({ references }: BankAdapter) => references ?? { make: makeReference, find: findReference };
