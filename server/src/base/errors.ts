/**
 * The three kinds of error. There is no fourth.
 *
 * - `Refusal`: expected. The caller asked for something we do not do; the code names the rule, the facts name the field. Thrown
 *   inside a database transaction it leaves nothing changed, because the transaction is rolled back.
 * - `Unavailable`: an outside system (a node, a bank, a price source) did not answer or its data is stale. The caller
 *   retries.
 * - `assert`: a bug of ours. Never caught in order to continue.
 *
 * HTTP status codes are not here: each protocol maps these codes to its own.
 */

/** Every code of a Refusal, in one union, so that a protocol that does not translate a code does not compile. */
export type RefusalCode =
  // input
  | 'missing_fields'
  | 'malformed_field'
  | 'malformed_amount'
  | 'wrong_type'
  | 'malformed_body'
  | 'body_too_large'
  | 'unsupported_media_type'
  | 'unknown_path'
  | 'method_not_allowed'
  // authentication
  | 'unauthenticated'
  | 'step_up_required'
  | 'cross_site'
  | 'session_required'
  | 'key_required'
  | 'clock_ahead'
  | 'signature_required'
  | 'unknown_version'
  | 'partner_suspended'
  | 'partner_switched_off'
  | 'scope_missing'
  | 'address_not_allowed'
  | 'too_many_requests'
  // idempotency
  | 'idempotency_conflict'
  | 'idempotency_in_flight'
  | 'idempotency_key_missing'
  // not found, for this partner
  | 'unknown_customer'
  | 'unknown_order'
  | 'unknown_account'
  | 'unknown_alert'
  | 'unknown_case'
  | 'unknown_operator'
  | 'unknown_token'
  | 'unknown_session'
  | 'unknown_passkey'
  | 'unknown_identity'
  | 'unknown_view'
  | 'last_passkey'
  | 'unknown_member'
  | 'member_exists'
  | 'member_joined'
  | 'last_owner'
  | 'too_many_members'
  | 'too_many_keys'
  | 'unknown_proposal'
  | 'unknown_plan'
  | 'unknown_partner'
  | 'unknown_market'
  | 'unknown_bulk'
  | 'unknown_key'
  | 'no_secret_waits'
  | 'no_link_waits'
  | 'unknown_held_item'
  | 'unknown_submission'
  | 'submission_exists'
  | 'submission_over'
  | 'unknown_information_request'
  | 'information_request_over'
  | 'unknown_endpoint'
  | 'unknown_quote'
  | 'unknown_destination'
  | 'unknown_request'
  | 'unknown_event'
  | 'webhook_not_taken'
  | 'too_many_endpoints'
  | 'customer_exists'
  // whether this customer may trade
  | 'login_required'
  | 'verification_required'
  | 'customer_blocked'
  // operators
  | 'role_missing'
  | 'own_proposal'
  | 'proposal_exists'
  | 'proposal_over'
  | 'plan_over'
  | 'proposal_waits'
  | 'code_not_sent'
  | 'agreed_already'
  | 'approver_role'
  | 'file_needed'
  | 'operator_exists'
  | 'identity_bound'
  | 'too_many_identities'
  | 'too_many_views'
  | 'sso_off'
  | 'sso_unavailable'
  | 'sso_declined'
  | 'sso_unproved'
  | 'sso_expired'
  | 'sso_unbound'
  | 'sso_other_operator'
  | 'rail_not_halted'
  | 'market_not_halted'
  | 'unknown_payout'
  | 'unknown_movement'
  | 'movement_over'
  | 'does_not_fit'
  | 'unknown_break'
  | 'unknown_hit'
  | 'unknown_list'
  | 'unknown_screening'
  | 'hit_over'
  | 'break_over'
  | 'case_claimed'
  | 'unknown_own_address'
  | 'unknown_transfer'
  | 'unknown_attachment'
  | 'too_many_attachments'
  | 'own_recovery'
  | 'notice_needed'
  | 'money_in_suspense'
  | 'partner_exists'
  // the request itself
  | 'market_switched_off'
  | 'unsupported_pair'
  | 'unsupported_chain'
  | 'unsupported_method'
  | 'amount_outside_limits'
  | 'amount_below_fees'
  | 'exposure_exceeded'
  | 'customer_limit_exceeded'
  | 'price_moved'
  | 'quote_over'
  | 'order_over'
  | 'money_arrived'
  | 'under_review'
  | 'destination_waits'
  | 'wrong_code'
  | 'code_over'
  | 'payout_submitted'
  | 'destination_held'
  // files of a bank without an API
  | 'file_refused'
  | 'batch_refused'
  | 'erasure_refused'
  | 'funds_short'
  | 'unknown_refund'
  | 'unknown_deposit'
  | 'refund_under_way'
  | 'refund_exceeds'
  | 'deposit_unfit'
  | 'sandbox_only';

export type Facts = Readonly<Record<string, unknown>>;

export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly facts: Facts;
  constructor(code: RefusalCode, facts: Facts = {}) {
    super(code);
    this.name = 'Refusal';
    this.code = code;
    this.facts = facts;
  }
}

/** An outside system did not answer, or answered too late. */
export class Unavailable extends Error {
  readonly source: string;
  /** When a retry makes sense, in milliseconds; a protocol turns it into Retry-After. */
  readonly retryAfterMs: number;
  /** A more precise reason, which protocols pass on. */
  readonly reason: 'unavailable' | 'price_halted';
  /** A sentence for the caller: what is not available and what was not done. It contains no address and no secret. */
  readonly said: string | undefined;
  /** The chain that was needed. In a sandbox its node may not have been started yet. */
  readonly chain: string | undefined;
  constructor(
    source: string,
    why: string,
    options: { retryAfterMs?: number; cause?: unknown; reason?: 'price_halted'; said?: string; chain?: string } = {},
  ) {
    super(`${source}: ${why}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Unavailable';
    this.source = source;
    this.retryAfterMs = options.retryAfterMs ?? 5_000;
    this.reason = options.reason ?? 'unavailable';
    this.said = options.said;
    this.chain = options.chain;
  }
}

export class BugError extends Error {
  override name = 'BugError';
}

export function assert(condition: unknown, what: string): asserts condition {
  if (!condition) throw new BugError(what);
}

/** For the end of an exhaustive switch: an unhandled case does not compile. */
export function unreachable(value: never): never {
  throw new BugError(`unreachable: ${String(value)}`);
}
