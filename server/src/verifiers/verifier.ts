/**
 * The contract of a verifier: a provider or a person that establishes who a customer is.
 *
 * A verifier reports results and keeps no state of its own; customers.recordVerification decides and stores what a result
 * means. Names and documents pass through it and are neither logged nor stored here.
 *
 * How to add one: a folder beside `simulated/` that exports its adapter, and one line in registry.ts
 * (docs/adding-a-verifier.md).
 */
import type { Adapter } from '../base/adapter.ts';

/** The adapters listed in registry.ts. */
export type VerifierAdapter = Adapter<Verifier, VerifierContext>;

/** What an installation passes to a verifier besides its settings. */
export interface VerifierContext {
  /** Reviews by people. */
  reviews: {
    /** Requests a review by a person. Idempotent per key. */
    ask(asked: VerificationRequest): Promise<void>;
    /** Its result; undefined while there is none. */
    found(asked: VerificationRequest): Promise<Finding | undefined>;
  };
}

export interface Verifier {
  /** Stored in rows, so it never changes. */
  readonly code: string;
  /** The highest level it can verify to, 1 to 5. */
  readonly highestLevel: number;

  /**
   * Begins a verification. Idempotent: the same key is the same verification.
   *
   * @throws Unavailable when the provider does not answer in time
   */
  begin(input: VerificationRequest): Promise<Begun>;

  /**
   * The result so far; `in_review` while there is none.
   *
   * @throws Unavailable
   */
  finding(input: VerificationRequest): Promise<Finding>;
}

export interface VerificationRequest {
  /** Identifies this verification at the provider. */
  key: string;
  customerId: string;
  kind: 'INDIVIDUAL' | 'BUSINESS';
  /** The level asked for, 1 to 5: basic, intermediate, advanced, enhanced, complete. */
  level: number;
}

/** Either the provider has a page for the customer, or the result comes without one. */
export type Begun = { pageUrl: string } | { pageUrl: undefined };

export interface Finding {
  outcome: 'in_review' | 'verified' | 'failed' | 'refused';
  /** The level reached; 0 unless verified. */
  level: number;
  /** A word or sentence that names nobody. */
  reason?: string;
}
