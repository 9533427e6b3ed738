/**
 * The contract of a screener: its input and its answer. The built-in one is screening.ts; a bought one implements `Screener`
 * too.
 *
 * Also the contract of results that are obtained in advance and stored (`StoredScreening`): comparisons of names with sanctions
 * lists (sanctions/), answers about the risk of addresses (address-risk/), data of transfers (travel-rule/).
 */
import { awaitAll, type Tx } from '../base/db.ts';
import { Unavailable } from '../base/errors.ts';

export interface Screener {
  /** May call outside, so it takes no `tx`. @throws Unavailable */
  screen(input: Screening): Promise<Verdict>;
  /**
   * The same answer, from rows alone, in the transaction that decides. Locks the customer, so it comes before accounts.
   *
   * @returns undefined if something outside, or a result that is not stored yet, is needed: then `screen` is called
   */
  within?(tx: Tx, input: Screening): Promise<Verdict | undefined>;
}

/** Ids only: a screener decrypts what it needs. An order has this shape. */
export interface Screening {
  /** The order's id; the refund's when there is no order. */
  id: bigint;
  /** Null for money without a known order: then only the destination is checked. */
  partnerId: bigint | null;
  customerId: string | null;
  /** As stored (base/texts.ts). */
  merchantReference: string | null;
  /** Destination: an account of the customer's, or an address. */
  fiatAccountId: bigint | null;
  payoutAddress: string | null;
  /** Code of the rail that would pay it. */
  rail?: string;
  /** The asset the order was to be paid in. */
  depositAsset?: string;
  depositUnits?: bigint;
  /** The deposits that fund it: who paid them is compared with sanctions lists. */
  depositIds?: readonly bigint[];
  /** For a transfer to an address that is registered as the operator's own: that address's number. */
  ownAddressId?: bigint;
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

export interface StoredScreening {
  /**
   * Obtains results that are missing or outdated. May take seconds and call outside, so it takes no `tx`. @throws Unavailable
   */
  ensure(input: Screening): Promise<void>;
  /** Whether `ensure` would do nothing. Absent: unknown, so it is called. Reads rows only. */
  isEnsured?(tx: Tx, input: Screening): Promise<boolean>;
  /** Current hits, for the gate and the screener. Reads rows only. */
  read(tx: Tx, input: Screening): Promise<Hits>;
  /** Why money has to wait; undefined when every result is current. Reads rows only. */
  wait(tx: Tx, input: Screening): Promise<Waits | undefined>;
}

export interface Hits {
  hits: readonly Hit[];
  rules: string;
  /** For the recorded decision: ids and words only. */
  inputs?: Verdict['inputs'];
}

export interface Waits {
  cause: 'lists' | 'screening' | 'travel_rule';
  why: string;
}

/** Combines several into one; undefined when there is none. */
export function combined(all: readonly (StoredScreening | undefined)[]): StoredScreening | undefined {
  const parts = all.filter((one) => one !== undefined);
  if (parts.length === 0) return undefined;
  return {
    async ensure(input) {
      for (const part of parts) await part.ensure(input);
    },
    async isEnsured(tx, input) {
      for (const part of parts) if ((await part.isEnsured?.(tx, input)) !== true) return false;
      return true;
    },
    async read(tx, input) {
      const read = await awaitAll(...parts.map((part) => part.read(tx, input)));
      return {
        hits: read.flatMap(({ hits }) => hits),
        rules: read.map(({ rules }) => rules).join(', '),
        inputs: Object.assign({}, ...read.map(({ inputs }) => inputs)) as Verdict['inputs'],
      };
    },
    async wait(tx, input) {
      const waits = await awaitAll(...parts.map((part) => part.wait(tx, input)));
      return waits.find((one) => one !== undefined);
    },
  };
}

/** Thrown when a provider does not answer and its case is open already. */
export class ProviderDown extends Unavailable {
  constructor({ source, message, retryAfterMs }: Unavailable) {
    super(source, message.slice(`${source}: `.length), { retryAfterMs });
  }
}

export interface Verdict {
  outcome: 'cleared' | 'held';
  /** Why the money is held: the rule of the first hit. */
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
  /** The money would go back to the account that it came from, and that is also an account of a blocked customer. */
  | 'sender_blocked'
  /** Another customer of the same partner has the account that would be paid, and is blocked. */
  | 'account_of_blocked'
  /** Another customer of the same partner gave the same document number, and is blocked. */
  | 'document_of_blocked'
  | 'held_by_magic_value'
  /** A name resembles one on a sanctions list, and the hit is undecided. */
  | 'sanctions_undecided'
  /** Operators decided that the customer is the person on the list. */
  | 'sanctions_hit'
  /** Lists are configured, and the customer has no known name to compare. */
  | 'sanctions_nameless'
  /** The risk of an address is too high, and the hit is undecided. */
  | 'address_risk_undecided'
  /** Operators decided that the risk is real. */
  | 'address_risk_hit'
  /** A provider of address risk is configured, and the chain does not show where a deposit came from. */
  | 'sender_unknown'
  /** The travel rule requires data about the wallet on the other side, and its deadline has passed. */
  | 'travel_rule_missing'
  /** The provider of the destination wallet has rejected the transfer. */
  | 'travel_rule_refused'
  /** The travel rule has refused the order, because its data was missing at the deadline. */
  | 'travel_rule_too_late'
  /** By its name, the holder of the account is not the customer (account-names.ts). */
  | 'account_name_differs';
