/** What the gate asks of other modules, and what it finds: the types that its callers name, too. */
import type { Tx } from '../../base/db.ts';
import type { Screening, Verdict } from '../../compliance/index.ts';

/** What the gate reads from other modules, in its transaction. None of it calls outside. */
export interface GateRules {
  /** Our own blocks and deny lists, read now. */
  screenOwn(tx: Tx, input: Screening): Promise<Verdict>;
  /** Whether a kill switch holds this rail; the answer stays valid until `tx` ends. */
  isSwitchedOff(tx: Tx, rail: string): Promise<boolean>;
  /** How many people must approve to let such a hit pass, at this moment. */
  peopleNeeded(tx: Tx, need: { action: ApprovedAction; asset: string; units: bigint; now: Date }): Promise<number>;
  /**
   * Whether the destination was added after the time from which its partner is not trusted; undefined when it may be paid.
   */
  heldDestination?(
    tx: Tx,
    d: { partnerId: bigint; fiatAccountId: bigint | null; address: string | null; orderId: bigint | null; now: Date },
  ): Promise<{ since: Date; why: string; isRejected: boolean } | undefined>;
  /** Until when the destination waits for its customer's confirmation; undefined when it does not. */
  unconfirmedUntil?(
    tx: Tx,
    d: { customerId: string; fiatAccountId: bigint | null; address: string | null; now: Date },
  ): Promise<Date | undefined>;
  /** Where sanctions lists are configured: why money waits for names to be compared, or for a list. */
  namesWait?(tx: Tx, input: Screening): Promise<{ cause: 'lists' | 'screening'; why: string } | undefined>;
  /** Default maximum age of a stored screening result, in milliseconds. */
  screeningMaxAgeMs: number;
}

/** What people approve: each has its own rule for how many people it takes. */
export type ApprovedAction =
  | 'release.customer_blocked'
  | 'release.screening_hit'
  | 'release.destination_held'
  | 'destination.new';

/** A reason to keep money from leaving until a person has decided. */
export interface Finding {
  rule: string;
  /** The exact hit: an entry of a list, the time of a block, a limit. */
  entry: string;
  /** The approval that lets it pass; null when nothing can. */
  action: ApprovedAction | null;
}

/** What people were shown: a finding, with the destination and amount that it stood against. */
export interface SeenFinding {
  rule: string;
  entry: string;
  asset: string;
  units: bigint;
  address: string | null;
  fiatAccountId: bigint | null;
}
