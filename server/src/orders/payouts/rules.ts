/** Types of the gate that its callers use, too: its inputs from other modules, and its findings. */
import type { Tx } from '../../base/db.ts';
import type { Screening, Verdict, Waits } from '../../compliance/index.ts';

/** The gate's inputs from other modules, read in its transaction. None of them makes an outside call. */
export interface GateRules {
  /** Our own blocks and deny lists, read now. */
  screenOwn(tx: Tx, input: Screening): Promise<Verdict>;
  /** Whether a kill switch is on for this rail. The answer stays valid until `tx` ends. */
  isSwitchedOff(tx: Tx, rail: string): Promise<boolean>;
  /** How many people must approve this kind of finding now, where these approved (`by`): more than they are, if a role is missing. */
  peopleNeeded(
    tx: Tx,
    need: { action: ApprovedAction; asset: string; units: bigint; by?: readonly string[]; now: Date },
  ): Promise<number>;
  /** Whether the destination was added after the time from which its partner is not trusted; undefined if it may be paid. */
  heldDestination?(
    tx: Tx,
    d: { partnerId: bigint; fiatAccountId: bigint | null; address: string | null; orderId: bigint | null; now: Date },
  ): Promise<{ since: Date; why: string; isRejected: boolean } | undefined>;
  /** Until when the destination waits for its customer's confirmation; undefined if it does not wait. */
  unconfirmedUntil?(
    tx: Tx,
    d: { customerId: string; fiatAccountId: bigint | null; address: string | null; now: Date },
  ): Promise<Date | undefined>;
  /** Why the money waits: for names to be compared, for a list, for a provider's answer, or for the data of a transfer. */
  storedWait?(tx: Tx, input: Screening): Promise<Waits | undefined>;
  /** Whether the payer of this money in suspense must first be compared with the newest sanctions lists; absent without lists. */
  isPayerDue?(tx: Tx, depositId: bigint): Promise<boolean>;
  /** Maximum age of a stored screening result, in milliseconds (SCREENING_MAX_AGE_S). */
  screeningMaxAgeMs: number;
}

/** The findings that operators can approve. Each has its own rule for the number of people. */
export type ApprovedAction =
  | 'release.customer_blocked'
  | 'release.screening_hit'
  | 'release.destination_held'
  | 'destination.new';

/** A reason to hold money until an operator has decided. */
export interface Finding {
  rule: string;
  /** Identifies the hit: an entry of a list, the time of a block, a limit. */
  entry: string;
  /** The approval that lets it pass; null if it cannot be approved. */
  action: ApprovedAction | null;
}

/** What the approvers were shown: a finding, with its destination and amount. */
export interface SeenFinding {
  rule: string;
  entry: string;
  asset: string;
  units: bigint;
  address: string | null;
  fiatAccountId: bigint | null;
}
