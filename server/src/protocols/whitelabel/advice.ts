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
  'Sign the body exactly as it is sent, with the secret of the key and the current time. `npm run sandbox -- doctor` explains what is wrong with a request.';
const ANOTHER_AMOUNT = 'Choose an amount within the limits in `error`.';

/** Refusals of any request. */
export const COMMON_REASONS: Partial<Record<Reason, Advice>> = {
  malformed_request: advice('The request is not valid HTTP.', 'Correct the program that sent it.'),
  malformed_body: advice('The body is not a JSON object, form or multipart form.', 'Send one of the three.'),
  body_too_large: advice('The body is larger than the server accepts.', 'Send a smaller body.'),
  headers_too_large: advice('The headers are larger than the server accepts.', 'Send smaller headers.'),
  unsupported_media_type: advice('The content type is not supported.', 'Send application/json.'),
  request_timeout: advice('The request did not arrive completely in time.', 'Send it again.'),
  unknown_path: advice('There is no such path.', 'Compare it with this description.'),
  method_not_allowed: advice('The path does not support this method.', 'Use one of the methods in the header `allow`.'),
  too_many_requests: advice('The key has sent too many requests in a minute.', 'Wait for `retry-after` seconds.'),
  unavailable: advice(
    'The server or one of its dependencies is temporarily unavailable.',
    'Send the same request again after `retry-after` seconds.',
  ),
  internal: advice('The server has a defect.', 'Send the operator the value of `x-request-id`.'),
};

/** Refusals of any signed request. */
export const SIGNED_REASONS: Partial<Record<Reason, Advice>> = {
  unauthenticated: advice('The key is unknown or revoked, or the signature is wrong.', SIGN_AGAIN),
  clock_ahead: advice(
    'The time in the payload is ahead of the server’s clock.',
    'Correct the clock, or use the time that currentTimestamp returns.',
  ),
  partner_suspended: advice('The operator has suspended the partner.', 'Ask the operator.'),
  scope_missing: advice(
    'The key does not have the scope that this request needs.',
    'Use a key with the scope named in `error`.',
  ),
  address_not_allowed: advice(
    'The key may not be used from this network address.',
    'Ask the operator to add the address.',
  ),
};

/** Refusals of any request with fields. */
export const FIELD_REASONS: Partial<Record<Reason, Advice>> = {
  missing_fields: advice('A required field is missing; `fields` names each missing field.', 'Send it.'),
  malformed_field: advice('A field breaks its rule; `fields` has the rule.', 'Correct the field.'),
  malformed_amount: advice('An amount is not a plain decimal.', 'Send digits with at most one decimal point.'),
  wrong_type: advice('A field is an object, a list or a boolean instead of a text.', 'Send a text.'),
};

/** Refusals of some endpoints only. */
export const OWN_REASONS: Partial<Record<Reason, Advice>> = {
  idempotency_conflict: advice(
    'The Idempotency-Key was used for a request with another body.',
    'Use a new key for a new request.',
  ),
  idempotency_in_flight: advice('The same request is in progress.', 'Repeat it after `retry-after` seconds.'),
  unknown_customer: advice('No customer of yours has this id.', 'Use the customerId that kyc/url returned.'),
  unknown_order: advice(
    'The customer has no such transaction.',
    'Use the transactionId that the server returned, with the customer of that transaction.',
  ),
  unknown_account: advice('The customer has no such account.', 'List them with bank/fiatAccounts.'),
  unknown_submission: advice('There is no such submission.', 'Send the submissionId that kyb/submit returned.'),
  submission_exists: advice(
    'A submission of the customer is in progress; `submissionId` is its number.',
    'Add to it with its submissionId, or wait for the result if it is in review.',
  ),
  submission_over: advice('The submission is completed or has failed.', 'Send a new one, without a submissionId.'),
  unknown_endpoint: advice('There is no such webhook endpoint.', 'List them, or set an address first.'),
  unknown_event: advice('There is no such event.', 'Use an id from an event or a delivery.'),
  unknown_refund: advice(
    'The transaction has no money that waits to be refunded or paid again.',
    'Read its refunds first.',
  ),
  unknown_held_item: advice('The endpoint is not held.', 'Nothing to do: it receives events.'),
  webhook_not_taken: advice(
    'Your server did not accept the webhook; `error` has its response.',
    'Repair the receiver, and send the webhook again.',
  ),
  too_many_endpoints: advice('The partner has the maximum number of webhook endpoints.', 'Remove one first.'),
  customer_exists: advice(
    'Another customer has this phone number or clientCustomerId; `customerId` is that customer.',
    'Send that customerId with the request.',
  ),
  login_required: advice(
    'The customer has not logged in yet; `kycUrl` is a link for the login.',
    'Send the customer to that link.',
  ),
  verification_required: advice(
    'The verification level of the customer does not allow this.',
    'Send the customer to the link of kyc/url.',
  ),
  customer_blocked: advice('The customer is blocked and may not trade.', 'Ask the operator.'),
  unsupported_pair: advice('No market trades this pair; `error` lists the supported ones.', 'Choose one of those.'),
  unsupported_chain: advice(
    'The coin is not traded on this chain; `error` lists the supported chains.',
    'Choose one of those.',
  ),
  unsupported_method: advice(
    'The payment method is not offered for this fiat.',
    'Choose one that fetchPaymentMethodType lists.',
  ),
  amount_outside_limits: advice('The amount is below the minimum or above the maximum.', ANOTHER_AMOUNT),
  amount_below_fees: advice('Nothing would be left of the amount after fees.', ANOTHER_AMOUNT),
  exposure_exceeded: advice(
    'The live quotes and unpaid transactions of the partner would exceed its cap in this fiat.',
    'Choose a smaller amount, or try again later.',
  ),
  market_switched_off: advice(
    'The operator has switched off new quotes and transactions on this market.',
    'Try again later.',
  ),
  price_halted: advice(
    'The market makes no quotes until its price is reliable again.',
    'Try again after `retry-after` seconds.',
  ),
  partner_switched_off: advice(
    'The operator has switched off new quotes and transactions of the partner.',
    'Ask the operator.',
  ),
  price_moved: advice('The price has changed since the quote.', 'Request a new quote, and show it to the customer.'),
  destination_held: advice(
    'The operator is reviewing this destination, so no money may be sent to it.',
    'Ask the operator.',
  ),
  refund_under_way: advice(
    'A refund or payout of this money is in progress or has arrived.',
    'Nothing to do: the money cannot be sent elsewhere.',
  ),
  order_over: advice('The transaction has ended.', 'Nothing to do: it can no longer be changed.'),
  funds_short: advice('The operator’s wallet does not hold enough.', 'Try again later.'),
  sandbox_only: advice('This endpoint exists in the sandbox only.', 'Use the sandbox.'),
};

export const adviceOf = (reason: Reason): Advice | undefined =>
  COMMON_REASONS[reason] ?? SIGNED_REASONS[reason] ?? FIELD_REASONS[reason] ?? OWN_REASONS[reason];
