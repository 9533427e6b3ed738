/**
 * The contract of a verifier: a provider or a person that establishes who a customer is.
 *
 * A verifier reports results and keeps no state of its own; customers.recordVerification decides and stores their effect. Names
 * and documents pass through it and are neither logged nor stored here; the names of a finding are stored encrypted
 * (customers/known-names.ts).
 *
 * How to add one: a folder beside `simulated/` that exports its adapter, and one line in registry.ts
 * (docs/adding-a-verifier.md).
 */
import type { Adapter } from '../base/adapter.ts';

/** The adapters listed in registry.ts. */
export type VerifierAdapter = Adapter<Verifier, VerifierContext>;

/** What an installation passes to a verifier besides its settings. */
export interface VerifierContext {
  /**
   * The customer's submitted data, decrypted, by field, and the time. For the provider, never for a log; undefined when no check
   * is under way.
   */
  details(customerId: string): Promise<{ fields: Readonly<Record<string, string>>; givenAt: Date } | undefined>;
  /** The current time, from the same clock as the times in rows. */
  now(): Date;
  /** Reviews by operators. */
  reviews: {
    /** Requests a review by an operator. Idempotent per key. */
    ask(asked: VerificationRequest): Promise<void>;
    /** The review's result; undefined while there is none. */
    found(asked: VerificationRequest): Promise<Finding | undefined>;
  };
}

export interface Verifier {
  /** Stored in rows, so it never changes. */
  readonly code: string;
  /** The highest level it can verify to, 1 to 5. */
  readonly highestLevel: number;

  /** The same for customers of one kind, 0 if it verifies none of them; absent if `highestLevel` is for each kind. */
  highestLevelFor?(kind: VerificationRequest['kind']): number;

  /**
   * Begins a verification. Idempotent: the same key is the same verification.
   *
   * @throws Unavailable when the provider does not answer in time
   */
  begin(input: VerificationRequest): Promise<Begun>;

  /**
   * The result so far; `in_review` while there is none, with how to learn more. A job asks until there is a result, from any
   * process and also after a restart. The first result counts: a later one is ignored.
   *
   * @throws Unavailable
   */
  finding(input: VerificationRequest): Promise<Finding>;

  /**
   * Reads a call that the provider made to `POST /verifiers/<code>/callback`. It only wakes the job, which then asks for the
   * finding: of the call only the key is used, and repeating the call is harmless.
   *
   * @returns the key of the verification it is about; undefined unless the provider's signature is right
   */
  readCallback?(call: ProviderCall): string | undefined;
}

/** A provider's call, unchanged. */
export interface ProviderCall {
  /** Names in lower case. Values of a repeated header are joined. */
  headers: Readonly<Record<string, string | undefined>>;
  body: Buffer;
}

export interface VerificationRequest {
  /** Identifies this verification at the provider. */
  key: string;
  customerId: string;
  kind: 'INDIVIDUAL' | 'BUSINESS';
  /** The requested level, 1 to 5: basic, intermediate, advanced, enhanced, complete. */
  level: number;
}

/** Either the provider has a page for the customer, or the result comes without one. */
export type Begun = { pageUrl: string } | { pageUrl: undefined };

export interface Finding {
  outcome: 'in_review' | 'verified' | 'failed' | 'refused';
  /** The level reached; 0 unless verified. */
  level: number;
  /**
   * With failed or refused: why, as the partner may be told, by a code of `VERIFICATION_REASONS` (customers/identity/reasons.ts). By
   * default `not_verified` or `not_accepted`. Never a suspicion. A code that is no word of at most 60 characters does not count.
   */
  code?: string;
  /** The provider's own word or sentence for operators, without personal data. A partner does not see it. */
  reason?: string;
  /**
   * With failed: the fields or files of the form to submit again, with reasons: `unreadable`, `expired`, `does_not_match`,
   * `incomplete` or `not_accepted`. A program's submission is then open again.
   */
  fields?: Readonly<Record<string, string>>;
  /** With verified: the last day on which the document is valid, YYYY-MM-DD. The customer is asked for a new one in time. */
  expiresOn?: string;
  /** With verified: what the document shows. Never for a log. A verifier that reads no document gives none. */
  names?: DocumentNames;
  /**
   * With verified: the numbers of the identity documents that were accepted, as they are printed. Never for a log. They are stored
   * encrypted, and compared with those of the partner's other customers.
   */
  documentNumbers?: readonly string[];
  /**
   * With verified: the country that issued the accepted identity documents, two letters (ISO 3166-1). It counts where the customer and
   * its partner state none. Absent if the documents are of several countries.
   */
  country?: string;
  /** Only for `in_review`. */
  pending?: Pending;
}

/**
 * Names as the document shows them, and not as the customer typed them. Stored encrypted, and compared with payers, holders of
 * accounts and sanctions lists.
 */
export interface DocumentNames {
  /** Of a person, with middle names. */
  firstName?: string;
  /** Of a person: all surnames. */
  lastName?: string;
  /** Of a person: date of birth, YYYY-MM-DD. */
  dob?: string;
  /** The registered name of a business. */
  companyName?: string;
}

/** How to obtain the result of a check that has none yet. */
export interface Pending {
  /**
   * When to ask again, in milliseconds: the first pause. Each further one is twice as long, up to an hour; less than a second
   * is a second.
   */
  pollAfterMs?: number;
  /**
   * Whether the provider, or an operator, wakes the job. The job polls anyway, at first every ten minutes, because a call may
   * be lost.
   */
  callsBack?: boolean;
}
