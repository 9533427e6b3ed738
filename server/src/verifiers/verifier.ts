/**
 * The contract of a verifier: somebody who finds out who a customer is.
 *
 * A verifier reports findings and keeps no state of its own; what a finding means for the customer is decided and stored
 * by customers.recordVerification. Names and documents pass through it and are neither logged nor kept here.
 *
 * How to add one: a folder beside `simulated/` that exports an adapter of it, and one line in registry.ts
 * (docs/adding-a-verifier.md).
 */
import type { Adapter } from '../base/adapter.ts';

/** What registry.ts lists. */
export type VerifierAdapter = Adapter<Verifier, VerifierContext>;

/** What an installation hands to a verifier beside its settings. */
export interface VerifierContext {
  /** People who look at what a customer gave, and decide. */
  reviews: {
    /** Has a person look. Asking again for the same key changes nothing. */
    ask(asked: VerificationRequest): Promise<void>;
    /** What they found; undefined while nobody has. */
    found(asked: VerificationRequest): Promise<Finding | undefined>;
  };
}

export interface Verifier {
  /** Stands in rows, so it never changes. */
  readonly code: string;
  /** The highest level it can verify to, 1 to 4. */
  readonly highestLevel: number;

  /**
   * Begins a verification. The key makes it safe to ask again: the same key is the same verification.
   *
   * @throws Unavailable when the provider does not answer in time
   */
  begin(input: VerificationRequest): Promise<Begun>;

  /**
   * What has been found so far; `in_review` as long as nothing has.
   *
   * @throws Unavailable
   */
  finding(input: VerificationRequest): Promise<Finding>;
}

export interface VerificationRequest {
  /** Names this verification with the provider. */
  key: string;
  customerId: string;
  kind: 'INDIVIDUAL' | 'BUSINESS';
  /** The level asked for, 1 to 4: basic, intermediate, advanced, enhanced. */
  level: number;
}

/** Either the provider has a page that the customer is sent to, or the finding will come without one. */
export type Begun = { pageUrl: string } | { pageUrl: undefined };

export interface Finding {
  outcome: 'in_review' | 'verified' | 'failed' | 'refused';
  /** The level that was reached; 0 unless verified. */
  level: number;
  /** A word or sentence that names nobody. */
  reason?: string;
}
