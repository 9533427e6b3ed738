/**
 * The contract of a screener: its input and its answer. The built-in one is screening.ts; a bought one implements `Screener` too.
 */
import type { Tx } from '../base/db.ts';

export interface Screener {
  /** May call outside, so it takes no `tx`. @throws Unavailable */
  screen(input: Screening): Promise<Verdict>;
}

/** Ids only: a screener decrypts what it needs. An order has this shape. */
export interface Screening {
  /** The order's id; the refund's when there is no order. */
  id: bigint;
  /** Null for money without a known order: only the destination is checked. */
  partnerId: bigint | null;
  customerId: string | null;
  /** As stored (base/texts.ts). */
  merchantReference: string | null;
  /** Destination: an account of the customer's, or an address. */
  fiatAccountId: bigint | null;
  payoutAddress: string | null;
  /** The asset the order was to be paid in. */
  depositAsset?: string;
  depositUnits?: bigint;
  /** The deposits that fund it: who paid them is compared with sanctions lists. */
  depositIds?: readonly bigint[];
  /** A payout by default; a refund has its own destination. */
  purpose?: 'payout' | 'refund' | undefined;
}

/** One finding of screening. */
export interface Hit {
  rule: HeldReason;
  /** The exact hit: the list's entry, the time of the block. An approval names it, so that only new hits need another one. */
  entry: string;
  /** Found by our own blocks and lists, which the gate reads again each time. */
  own: boolean;
}

export interface NameScreening {
  /** Compares subjects without a current result. May take seconds, so it takes no `tx`. @throws Unavailable without any list */
  ensure(input: Screening): Promise<void>;
  /** Present hits, for the gate and the screener. Rows only. */
  read(tx: Tx, input: Screening): Promise<{ hits: Hit[]; rules: string }>;
  /** Why money has to wait; undefined when every result is current. Rows only. */
  wait(tx: Tx, input: Screening): Promise<{ cause: 'lists' | 'screening'; why: string } | undefined>;
}

export interface Verdict {
  outcome: 'cleared' | 'held';
  /** Why it is held: the rule of the first hit. */
  reason?: HeldReason;
  /** Everything found; empty when cleared. */
  hits: readonly Hit[];
  /** Rules and list versions, such as `built-in 1, sanctions@2026-01-05`. */
  rules: string;
  /** Ids and words only: stored unencrypted. */
  inputs: Readonly<Record<string, string | boolean | readonly string[]>>;
}

export type HeldReason =
  | 'destination_denied'
  | 'customer_blocked'
  | 'held_by_magic_value'
  /** A name resembles one on a sanctions list, and the hit is undecided. */
  | 'sanctions_undecided'
  /** Operators decided that it is the person on the list. */
  | 'sanctions_hit'
  /** Lists are configured, and the customer has no known name to compare. */
  | 'sanctions_nameless'
  /** The holder of the account is not the customer, as far as names show (account-names.ts). */
  | 'account_name_differs';
