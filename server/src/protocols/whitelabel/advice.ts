/**
 * Explains each refusal code for readers of the API description: its meaning and the remedy. The sentence of an actual refusal,
 * with its field or amount, is in errors.ts.
 */
import type { RefusalCode, Unavailable } from '../../base/errors.ts';

export interface Advice {
  readonly means: string;
  readonly todo: string;
}
export type Reason =
  | RefusalCode
  | Unavailable['reason']
  | 'internal'
  | 'headers_too_large'
  | 'request_timeout'
  | 'malformed_request';

const advice = (means: string, todo: string): Advice => ({ means, todo });
const SIGN_AGAIN =
  'Sign the exact body that is sent with the secret of the key, and the time of now. `npm run sandbox -- doctor` explains a request.';
const ANOTHER_AMOUNT = 'Choose an amount within the limits that the sentence names.';

/** Refusals of any request. */
export const COMMON_REASONS: Partial<Record<Reason, Advice>> = {
  malformed_request: advice('The request is no HTTP that can be read.', 'Mend the program that wrote it.'),
  malformed_body: advice('The body is not a JSON object, form or multipart form.', 'Send one of the three.'),
  body_too_large: advice('The body is larger than the server takes.', 'Send less.'),
  headers_too_large: advice('The headers are larger than the server takes.', 'Send less.'),
  unsupported_media_type: advice('The content type is none of those taken.', 'Send application/json.'),
  request_timeout: advice('The request did not come to its end in time.', 'Send it again.'),
  unknown_path: advice('There is nothing at the path.', 'Compare it with this description.'),
  method_not_allowed: advice('The path takes another method.', 'Use one that the header `allow` names.'),
  too_many_requests: advice('More requests than the key may send in a minute.', 'Wait as long as `retry-after` says.'),
  unavailable: advice(
    'The server, or something it needs, is away for a moment.',
    'Send the same request again after `retry-after`.',
  ),
  internal: advice('A defect of the server.', 'Tell the operator the value of `x-request-id`.'),
};

/** Refusals of any signed request. */
export const SIGNED_REASONS: Partial<Record<Reason, Advice>> = {
  unauthenticated: advice('The key is unknown or revoked, or the signature does not fit.', SIGN_AGAIN),
  clock_ahead: advice('The time in the payload is ahead of the server’s.', 'Set the clock, or ask currentTimestamp.'),
  partner_suspended: advice('The operator has suspended the account.', 'Ask the operator.'),
  scope_missing: advice('The key may not do this.', 'Use a key with the scope that the sentence names.'),
  address_not_allowed: advice(
    'The key may not be used from this network address.',
    'Have the operator add the address.',
  ),
};

/** Refusals of any request with fields. */
export const FIELD_REASONS: Partial<Record<Reason, Advice>> = {
  missing_fields: advice('A required field is missing; `fields` names each.', 'Send it.'),
  malformed_field: advice('A field has another form than it must; `fields` says the rule.', 'Correct it.'),
  malformed_amount: advice('An amount is no plain decimal.', 'Send digits with at most one point.'),
  wrong_type: advice('A field is an object, list or boolean where a text belongs.', 'Send a text.'),
};

/** Refusals of some endpoints only. */
export const OWN_REASONS: Partial<Record<Reason, Advice>> = {
  idempotency_conflict: advice('The Idempotency-Key was used with another body.', 'Use a new key for a new request.'),
  idempotency_in_flight: advice('The same request is being worked on.', 'Ask again after `retry-after`.'),
  unknown_customer: advice('No customer of yours has this id.', 'Use the customerId that kyc/url answered.'),
  unknown_order: advice(
    'The customer has no such transaction.',
    'Use the transactionId that was answered, with its customer.',
  ),
  unknown_account: advice('The customer has no such account.', 'List them with bank/fiatAccounts.'),
  unknown_submission: advice('There is no such submission.', 'Send the submissionId that kyb/submit answered.'),
  submission_exists: advice(
    'A submission of the customer is under way; `submissionId` says which.',
    'Add to it with its submissionId, or wait while it is in review.',
  ),
  submission_over: advice('The submission is decided.', 'Send a new one, without a submissionId.'),
  unknown_endpoint: advice('There is no such webhook endpoint.', 'List them, or set an address first.'),
  unknown_event: advice('There is no such event.', 'Use an id from an event or a delivery.'),
  unknown_refund: advice('Nothing of the transaction is to be sent back or paid again.', 'Read its refunds first.'),
  unknown_held_item: advice('The endpoint is not held.', 'Nothing: it is sent to.'),
  webhook_not_taken: advice(
    'Your server did not take the webhook; the sentence says what it answered.',
    'Mend the receiver, and send again.',
  ),
  too_many_endpoints: advice('There are as many endpoints as may be.', 'Remove one first.'),
  customer_exists: advice(
    'The phone or the clientCustomerId is another customer’s; `customerId` says which.',
    'Send that customerId with the request.',
  ),
  login_required: advice(
    'The customer has not logged in yet; `kycUrl` is a link to do so.',
    'Send the customer there.',
  ),
  verification_required: advice(
    'The customer is not verified far enough.',
    'Send the customer to the link of kyc/url.',
  ),
  customer_blocked: advice('The customer may not trade.', 'Ask the operator.'),
  unsupported_pair: advice('No market trades this pair; the sentence lists what is traded.', 'Choose one of those.'),
  unsupported_chain: advice(
    'The coin is not traded on this chain; the sentence lists where it is.',
    'Choose one of those.',
  ),
  unsupported_method: advice('The fiat is not paid by this method.', 'Choose one that fetchPaymentMethodType names.'),
  amount_outside_limits: advice('The amount is below the least or above the most.', ANOTHER_AMOUNT),
  amount_below_fees: advice('Nothing of the amount would be left after fees.', ANOTHER_AMOUNT),
  exposure_exceeded: advice('The operator cannot take on so much at present.', 'Ask for less, or later.'),
  market_switched_off: advice('The market is switched off.', 'Ask again later.'),
  price_halted: advice('The market is halted until its price is certain.', 'Ask again after `retry-after`.'),
  partner_switched_off: advice('New quotes and transactions of the account are switched off.', 'Ask the operator.'),
  price_moved: advice('The price has moved since the quote.', 'Ask for a new quote, and show it to the customer.'),
  destination_held: advice('This destination may not be paid to at present.', 'Ask the operator.'),
  refund_under_way: advice('The money is on its way, or has arrived.', 'Nothing: it cannot be sent elsewhere.'),
  order_over: advice('The transaction is over.', 'Nothing can be changed.'),
  funds_short: advice('The operator’s wallet is short.', 'Ask again later.'),
  sandbox_only: advice('This exists in the sandbox alone.', 'Use the sandbox.'),
};

export const adviceOf = (reason: Reason): Advice | undefined =>
  COMMON_REASONS[reason] ?? SIGNED_REASONS[reason] ?? FIELD_REASONS[reason] ?? OWN_REASONS[reason];
