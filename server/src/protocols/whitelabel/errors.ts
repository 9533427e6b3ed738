/**
 * Errors on the wire: every refusal as HTTP status, sentence and machine-readable code.
 *
 * The HTTP status is the `code` in the body. `error` and `message` carry the same sentence, because programs read one or the
 * other; `reason` is the code to branch on, and `fields` says which input was wrong and why.
 *
 * A bug is a 500 without details. An outside system that did not answer is a 503 that says when to retry.
 */
import { defined } from '../../base/defined.ts';
import { type Facts, Refusal, type RefusalCode, Unavailable } from '../../base/errors.ts';
import { isOutage } from '../outage.ts';
import type { Reply } from '../protocol.ts';

interface Word {
  code: number;
  say: (facts: Facts) => string;
}

const fieldsOf = (facts: Facts) => (facts.fields ?? {}) as Record<string, string>;
const listOf = (value: unknown) => (Array.isArray(value) ? value.map(String) : []);

const invalid: Word['say'] = (facts) =>
  typeof facts.sentence === 'string'
    ? facts.sentence
    : `Invalid parameter -> ${Object.entries(fieldsOf(facts))
        .map(([name, why]) => `${name} ${why}`)
        .join('; ')}.`;

/** The wording that programs search for. */
const limits = (facts: Facts): string =>
  facts.min === undefined ? '' : `: minimum ${facts.min}, maximum ${facts.max} ${facts.asset}`;

const supportedBeside = (facts: Facts): string => {
  const all = listOf(facts.supported);
  return all.length === 0 ? '' : ` Supported: ${all.join(', ')}.`;
};

/** Refusals that only other wires send; needed for a complete table. */
const elsewhere: Word = { code: 500, say: () => 'Something went wrong on our side.' };
const NOT_OF_THIS_WIRE = {
  unknown_alert: elsewhere,
  unknown_case: elsewhere,
  unknown_operator: elsewhere,
  unknown_token: elsewhere,
  unknown_session: elsewhere,
  unknown_passkey: elsewhere,
  step_up_required: elsewhere,
  cross_site: elsewhere,
  session_required: elsewhere,
  key_required: elsewhere,
  last_passkey: elsewhere,
  unknown_member: elsewhere,
  member_exists: elsewhere,
  member_joined: elsewhere,
  last_owner: elsewhere,
  too_many_members: elsewhere,
  too_many_keys: elsewhere,
  unknown_proposal: elsewhere,
  unknown_plan: elsewhere,
  unknown_partner: elsewhere,
  unknown_market: elsewhere,
  unknown_bulk: elsewhere,
  unknown_key: elsewhere,
  no_secret_waits: elsewhere,
  no_link_waits: elsewhere,
  unknown_held_item: elsewhere,
  role_missing: elsewhere,
  own_proposal: elsewhere,
  proposal_waits: elsewhere,
  code_not_sent: elsewhere,
  agreed_already: elsewhere,
  approver_role: elsewhere,
  file_needed: elsewhere,

  proposal_exists: elsewhere,
  proposal_over: elsewhere,
  plan_over: elsewhere,
  operator_exists: elsewhere,
  rail_not_halted: elsewhere,
  market_not_halted: elsewhere,
  partner_exists: elsewhere,
  unknown_payout: elsewhere,
  unknown_movement: elsewhere,
  movement_over: elsewhere,
  unknown_hit: elsewhere,
  unknown_list: elsewhere,
  unknown_screening: elsewhere,
  hit_over: elsewhere,
  unknown_break: elsewhere,
  break_over: elsewhere,
  case_claimed: elsewhere,
  unknown_own_address: elsewhere,
  unknown_transfer: elsewhere,
  unknown_attachment: elsewhere,
  too_many_attachments: elsewhere,
  own_recovery: elsewhere,
  notice_needed: elsewhere,
  unknown_identity: elsewhere,
  unknown_view: elsewhere,
  identity_bound: elsewhere,
  too_many_identities: elsewhere,
  too_many_views: elsewhere,
  sso_off: elsewhere,
  sso_unavailable: elsewhere,
  sso_declined: elsewhere,
  sso_unproved: elsewhere,
  sso_expired: elsewhere,
  sso_unbound: elsewhere,
  sso_other_operator: elsewhere,
  money_in_suspense: elsewhere,
  does_not_fit: elsewhere,

  // Partners, through the other wire.
  idempotency_key_missing: elsewhere,
  signature_required: elsewhere,
  unknown_version: elsewhere,
  unknown_quote: elsewhere,
  unknown_destination: elsewhere,
  unknown_information_request: elsewhere,
  information_request_over: elsewhere,
  unknown_request: elsewhere,
  quote_over: elsewhere,
  money_arrived: elsewhere,
  under_review: elsewhere,
  destination_waits: elsewhere,
  wrong_code: elsewhere,
  code_over: elsewhere,
} as const satisfies Partial<Record<RefusalCode, Word>>;

const PER: Readonly<Record<string, string>> = { order: 'an order', day: 'in 24 hours', month: 'in 30 days' };

const WORDS: Record<RefusalCode, Word> = {
  missing_fields: { code: 400, say: (facts) => `Missing parameter -> ${listOf(facts.names).join(', ')}.` },
  malformed_field: { code: 400, say: invalid },
  malformed_amount: { code: 400, say: (facts) => `Invalid amount: it ${facts.why ?? 'is not a number'}.` },
  wrong_type: { code: 409, say: invalid },
  malformed_body: { code: 400, say: (facts) => `Invalid request body: it ${facts.why ?? 'must be a JSON object'}.` },
  body_too_large: { code: 413, say: (facts) => `The request body is larger than ${facts.maxBytes} bytes.` },
  unsupported_media_type: {
    code: 415,
    say: () => 'The content type must be application/json, application/x-www-form-urlencoded or multipart/form-data.',
  },
  unknown_path: {
    code: 404,
    say: ({ nearest }) =>
      `There is nothing at this path.${typeof nearest === 'string' ? ` The nearest is ${nearest}.` : ''}`,
  },
  method_not_allowed: { code: 405, say: (facts) => `This path supports ${listOf(facts.allow).join(', ')}.` },

  unauthenticated: { code: 401, say: (facts) => `Unauthorized: ${facts.why ?? 'the request is not signed'}.` },
  clock_ahead: { code: 401, say: () => 'Ahead of Time' },
  partner_suspended: { code: 403, say: () => 'This account is suspended.' },
  partner_switched_off: { code: 403, say: () => 'New quotes and orders are switched off for this account at present.' },
  scope_missing: { code: 403, say: (facts) => `This key may not do that: it lacks the scope ${facts.scope}.` },
  address_not_allowed: { code: 403, say: () => 'This key may not be used from this network address.' },
  too_many_requests: { code: 429, say: () => 'Too many requests: wait before sending the next.' },

  idempotency_conflict: { code: 409, say: () => 'This idempotency key was used for a request with another body.' },
  idempotency_in_flight: { code: 409, say: () => 'The same request is in progress: repeat it in a moment.' },

  unknown_customer: { code: 404, say: () => 'Customer not found.' },
  unknown_order: { code: 404, say: (facts) => String(facts.sentence ?? 'Transaction not found.') },
  unknown_account: { code: 404, say: () => 'Fiat account not found.' },
  unknown_submission: { code: 404, say: () => 'Submission not found.' },
  submission_exists: {
    code: 409,
    say: (facts) =>
      facts.state === 'in_review'
        ? `Submission ${facts.submissionId} is in review: wait for its result.`
        : `Submission ${facts.submissionId} is open: send its submissionId to add to it.`,
  },
  submission_over: { code: 417, say: () => 'The submission is over: send a new one, without a submissionId.' },
  unknown_endpoint: { code: 404, say: () => 'Webhook endpoint not found.' },
  unknown_event: { code: 404, say: (facts) => String(facts.sentence ?? 'Event not found.') },
  webhook_not_taken: { code: 424, say: (facts) => `Your server did not accept the webhook: ${facts.why}.` },
  too_many_endpoints: { code: 409, say: (facts) => `At most ${facts.most} webhook endpoints: remove one first.` },
  customer_exists: {
    code: 400,
    say: (facts) =>
      `This clientCustomerId or phone number is already linked to customerId ${facts.customerId}: send it with the request.`,
  },

  login_required: { code: 403, say: () => 'Please login before raising this request' },
  verification_required: {
    code: 403,
    say: () => 'The verification level of the customer does not allow this request.',
  },
  customer_blocked: { code: 403, say: () => 'This customer may not trade.' },

  market_switched_off: { code: 503, say: () => 'New quotes and orders are switched off on this market at present.' },
  unsupported_pair: {
    code: 406,
    say: (facts) =>
      (facts.coin === undefined || facts.coin === ''
        ? `The currency ${facts.fiat ?? ''} is not supported.`
        : `The pair ${facts.coin}/${facts.fiat ?? ''} is not supported.`) + supportedBeside(facts),
  },
  unsupported_chain: {
    code: 406,
    say: (facts) =>
      `The chain ${facts.chain ?? ''} is not supported for ${facts.coin ?? 'this coin'}.${supportedBeside(facts)}`,
  },
  unsupported_method: {
    code: 406,
    say: (facts) =>
      `The payment method ${facts.method ?? ''} is not supported for ${facts.fiat ?? 'this currency'}.${supportedBeside(facts)}`,
  },
  amount_outside_limits: { code: 413, say: (facts) => `The amount is outside the limits${limits(facts)}.` },
  amount_below_fees: { code: 413, say: (facts) => `Nothing of the amount would be left after fees${limits(facts)}.` },
  destination_held: { code: 403, say: () => 'We may not pay to this destination at present.' },
  funds_short: { code: 503, say: () => 'Our wallet does not hold enough at the moment: try again later.' },
  unknown_refund: { code: 404, say: () => 'This transaction has no money to send back or to pay again.' },
  unknown_deposit: { code: 404, say: () => 'Deposit not found.' },
  refund_under_way: { code: 417, say: () => 'The money is on its way, or has arrived: it cannot be sent elsewhere.' },
  refund_exceeds: { code: 413, say: () => 'Less than this amount of the deposit is left to refund.' },
  deposit_unfit: { code: 417, say: (facts) => `The deposit does not fit: ${facts.why}.` },
  exposure_exceeded: {
    code: 413,
    say: (facts) =>
      `The amount is more than can be quoted at present: at most ${facts.left} ${facts.asset} of ${facts.cap} are left.`,
  },
  customer_limit_exceeded: {
    code: 413,
    say: ({ left, max, coin, period }) =>
      `The amount is outside the limits of the customer: at most ${left} ${coin} of ${max} ${coin} ${PER[String(period)] ?? ''} are left.`,
  },
  price_moved: { code: 428, say: () => 'The price has changed since the quote: request a new one.' },
  order_over: { code: 417, say: () => 'The transaction is over.' },
  // Operators only: no request of a partner ends in these.
  payout_submitted: { code: 409, say: () => 'The payout has been submitted.' },
  file_refused: { code: 400, say: () => 'The file was not taken.' },
  erasure_refused: { code: 409, say: () => 'The customer cannot be erased now.' },
  batch_refused: { code: 409, say: () => 'The file of payouts does not allow this.' },
  sandbox_only: { code: 404, say: () => 'There is nothing at this path.' },
  ...NOT_OF_THIS_WIRE,
};

/** The HTTP status that goes with a reason. */
export function statusOf(reason: RefusalCode | OtherReason): number {
  const other = { internal: 500, unavailable: 503, price_halted: 503, headers_too_large: 431, request_timeout: 408 };
  if (reason === 'malformed_request') return 400;
  return Object.hasOwn(other, reason) ? other[reason as keyof typeof other] : WORDS[reason as RefusalCode].code;
}

/** Codes without a Refusal. */
type OtherReason = 'internal' | Unavailable['reason'] | 'headers_too_large' | 'request_timeout' | 'malformed_request';

/** The failure envelope. */
export function failure(
  code: number,
  reason: RefusalCode | OtherReason,
  sentence: string,
  more: { fields?: Record<string, string>; headers?: Record<string, string>; top?: Record<string, unknown> } = {},
): Reply {
  return {
    status: code,
    body: {
      status: 0,
      code,
      error: sentence,
      message: sentence,
      reason,
      ...defined({ fields: more.fields }),
      ...more.top,
    },
    ...defined({ headers: more.headers }),
  };
}

/** The reply to a Refusal, to an Unavailable, or (without details) to a bug. */
export function failureOf(error: unknown): Reply {
  if (error instanceof Refusal) return refused(error);
  if (error instanceof Unavailable) {
    const said = error.reason === 'price_halted' ? HALTED : error.said;
    return unavailable(Math.max(1, Math.ceil(error.retryAfterMs / 1000)), error.reason, said);
  }
  if (isOutage(error)) return unavailable(5);
  return failure(500, 'internal', 'Something went wrong on our side.');
}

/** Reasons that programs of this wire know by another word. */
const ON_THIS_WIRE: Partial<Record<RefusalCode, RefusalCode>> = { customer_limit_exceeded: 'amount_outside_limits' };

function refused({ code: reason, facts }: Refusal): Reply {
  const { code, say } = WORDS[reason];
  const fields =
    reason === 'missing_fields'
      ? Object.fromEntries(listOf(facts.names).map((name) => [name, 'is missing']))
      : facts.fields === undefined
        ? undefined
        : fieldsOf(facts);
  const headers: Record<string, string> = {};
  if (reason === 'method_not_allowed') headers.allow = listOf(facts.allow).join(', ');
  if (facts.retryAfterMs !== undefined)
    headers['retry-after'] = String(Math.max(1, Math.ceil(Number(facts.retryAfterMs) / 1000)));
  if (reason === 'idempotency_in_flight') headers['retry-after'] ??= '1';
  return failure(code, ON_THIS_WIRE[reason] ?? reason, say(facts), {
    ...defined({ fields }),
    headers,
    // Programs look for it beside `error`, not inside `data`.
    ...(reason === 'customer_exists' ? { top: { customerId: facts.customerId } } : {}),
    ...(reason === 'submission_exists' ? { top: { submissionId: facts.submissionId } } : {}),
    ...(reason === 'login_required' && facts.kycUrl !== undefined ? { top: { kycUrl: facts.kycUrl } } : {}),
  });
}

const HALTED = 'Quotes and orders are halted on this market until its price is reliable again: try again later.';

function unavailable(
  seconds: number,
  reason: Unavailable['reason'] = 'unavailable',
  said = 'This cannot be answered at the moment: try again shortly.',
): Reply {
  return failure(503, reason, said, {
    headers: { 'retry-after': String(seconds) },
  });
}
