/**
 * Reasons of /v1: for each its HTTP status, a title, its meaning and the remedy. A failure is an RFC 9457 problem with a stable
 * `reason`; the pages under /docs/errors, OpenAPI and the reference are generated from this table only.
 *
 * The sentence about one request (`detail`) is in problems.ts.
 */
import type { RefusalCode, Unavailable } from '../../base/errors.ts';

interface Told {
  readonly status: number;
  readonly title: string;
  readonly means: string;
  readonly todo: string;
}

const told = (status: number, title: string, means: string, todo: string): Told => ({ status, title, means, todo });

export const REASONS = {
  // The request itself
  malformed_body: told(
    400,
    'The body cannot be read',
    'The body is not a JSON object or, for files, not complete multipart/form-data.',
    'Send a JSON object in UTF-8, or complete multipart/form-data for files.',
  ),
  missing_fields: told(
    400,
    'A field is missing',
    'A required field is missing; `fields` names each missing field.',
    'Send it.',
  ),
  malformed_field: told(
    400,
    'A field is wrong',
    'A field breaks its rule, or does not exist; `fields` has the rule of each such field.',
    'Correct the field, or leave it out.',
  ),
  idempotency_key_missing: told(
    400,
    'Idempotency-Key is missing',
    'A write needs the header `Idempotency-Key` with 1 to 255 visible ASCII characters.',
    'Send a new random text for each operation, and the same text when you repeat a request.',
  ),
  unknown_version: told(
    400,
    'Unknown API version',
    'The header `Cloverleaf-Version` does not name a version of this API.',
    'Send a version that `key.get` lists, or leave the header out to use the version of your key.',
  ),
  body_too_large: told(
    413,
    'The body is too large',
    'A body may have at most 64 KiB; with files, 20 MiB, of which each file may have 5 MiB.',
    'Send less.',
  ),
  unsupported_media_type: told(
    415,
    'Unsupported media type',
    'A body must be `application/json` or, for files, `multipart/form-data`, without a content encoding.',
    'Set `Content-Type` accordingly, and send the body uncompressed.',
  ),

  // Authentication
  unauthenticated: told(
    401,
    'Not authenticated',
    'The bearer token or the signature is missing, wrong, expired or revoked; `detail` has more.',
    'Check key, secret, signed parts and clock; `requests.diagnose` explains what is wrong.',
  ),
  signature_required: told(
    401,
    'A signature is required',
    'In production a write must be signed (RFC 9421), unless the operator allows this key to write without a signature.',
    'Sign the request, or ask the operator.',
  ),
  partner_suspended: told(403, 'Suspended', 'The partner is suspended.', 'Ask the operator.'),
  address_not_allowed: told(
    403,
    'Network address not allowed',
    'The key may not be used from this network address.',
    'Send requests from a network that the key lists, or change the networks of the key in the console.',
  ),
  scope_missing: told(
    403,
    'Not allowed for this key',
    'The key does not have the scope that the endpoint needs.',
    'Use a key that has it.',
  ),
  session_required: told(
    403,
    'Only a signed-in person may do this',
    'Only a team member who is signed in to the console can change secrets, the team and settings, not an API key.',
    'Sign in to the console.',
  ),
  key_required: told(
    403,
    'Only a program may do this',
    'Quotes, orders and destinations are created with an API key, for one of your customers.',
    'Use an API key.',
  ),
  role_missing: told(
    403,
    'Your role does not allow this',
    'The role of the member does not include this right.',
    'Ask an owner of your team.',
  ),
  step_up_required: told(
    401,
    'A recent login is required',
    'Actions on money, secrets and the team require a login within the last ten minutes.',
    'Sign in again with the passkey.',
  ),
  cross_site: told(
    403,
    'The request does not come from a page of this server',
    'A session may change something only with the header `x-console: 1`, from a page of this server.',
    'Use the console, or an API key.',
  ),
  too_many_requests: told(
    429,
    'Too many requests',
    'The key has sent too many requests per minute, or too many codes were sent to the phone.',
    'Wait for `Retry-After` seconds.',
  ),

  // Idempotency
  idempotency_conflict: told(
    409,
    'The Idempotency-Key was used with another body',
    'Within the last 24 hours, this `Idempotency-Key` was used for a request with another body.',
    'Use a new `Idempotency-Key` for a new request.',
  ),
  idempotency_in_flight: told(
    409,
    'The same request is in progress',
    'The first request with this `Idempotency-Key` has not finished.',
    'Repeat the request after `Retry-After` seconds, with the same `Idempotency-Key`.',
  ),

  // Not there, for this partner
  unknown_path: told(404, 'Unknown path', 'There is no such path.', 'Compare it with the reference.'),
  method_not_allowed: told(
    405,
    'Method not allowed',
    'The path does not support this method; `Allow` lists those it supports.',
    'Use one of them.',
  ),
  unknown_quote: told(404, 'No such quote', 'No quote of yours has this id.', 'Create a quote.'),
  unknown_order: told(404, 'No such order', 'No order of yours has this id.', 'Look it up with `orders.list`.'),
  unknown_deposit: told(404, 'No such deposit', 'The order has no such deposit.', 'Read `orders.deposits`.'),
  unknown_customer: told(404, 'No such customer', 'No customer of yours has this id.', 'Read `customers.list`.'),
  unknown_destination: told(
    404,
    'No such destination',
    'The customer has no destination with this id, or it cannot receive the asset.',
    'Read `destinations.list`.',
  ),
  unknown_information_request: told(
    404,
    'No such information request',
    'The customer has no information request with this id.',
    'Read `informationRequests.list`.',
  ),
  information_request_over: told(
    409,
    'The information request is closed',
    'It was already answered, or the operator withdrew it.',
    'Read `informationRequests.list`.',
  ),
  unknown_submission: told(
    404,
    'No such submission',
    'The customer has no submission with this id.',
    'Read `submissions.list`.',
  ),
  submission_exists: told(
    409,
    'A submission is under way',
    'The customer has another submission under way, or the verifier has this one; `submissionId` names it.',
    'Continue an open one with `submissions.update`; wait for the result of one in review.',
  ),
  submission_over: told(
    409,
    'The submission is over',
    'The submission is completed or has failed.',
    'Start another one with `submissions.create` if the customer must be verified again.',
  ),
  unknown_endpoint: told(
    404,
    'No such webhook endpoint',
    'You have no webhook endpoint with this id.',
    'Read `webhooks.list`.',
  ),
  unknown_event: told(404, 'No such event', 'You have no event with this id.', 'Read `events.list`.'),
  unknown_request: told(
    404,
    'No such request',
    'None of your requests of the last 30 days has this id.',
    'Read `requests.list`.',
  ),
  unknown_key: told(404, 'No such key', 'You have no valid key with this name, or no key at all.', 'Read `keys.list`.'),
  too_many_keys: told(
    409,
    'Too many keys',
    'A partner may have at most 100 keys that are not revoked.',
    'Revoke one first.',
  ),
  unknown_member: told(404, 'No such member', 'Your team has no such member.', 'Read `team.list`.'),
  member_exists: told(
    409,
    'The name is taken',
    'Your team has or had a member with this name. Names are never reused.',
    'Choose another name.',
  ),
  member_joined: told(
    409,
    'The member has joined',
    'Only a member who has not joined yet can get a new invitation link.',
    'The member enrols a new passkey with a recovery code. Without one, ask the operator for a link, or invite the person under another name.',
  ),
  last_owner: told(
    409,
    'The last owner',
    'A team must keep at least one owner who has signed in.',
    'Make another member an owner first.',
  ),
  too_many_members: told(409, 'Too many members', 'A team has at most 100 members.', 'Remove a member first.'),
  sandbox_only: told(404, 'In the sandbox only', 'This endpoint exists in the sandbox only.', 'Use the sandbox.'),
  unknown_held_item: told(409, 'Not held', 'The webhook endpoint is not held.', 'Nothing to do: it receives events.'),
  too_many_endpoints: told(
    409,
    'Too many webhook endpoints',
    'A partner may have at most 16 webhook endpoints.',
    'Remove one first.',
  ),

  // Customers
  customer_exists: told(
    409,
    'The customer exists',
    'Another of your customers has this reference or phone number; `customerId` is that customer, if the caller may know it.',
    'Use that customer.',
  ),
  login_required: told(
    403,
    'The customer has not logged in',
    'The customer has never logged in, so the phone number is not confirmed.',
    'Send the customer to the link of `customers.verificationLink`.',
  ),
  verification_required: told(
    403,
    'A higher verification level is required',
    'The verification level of the customer does not allow this.',
    'Send the customer to the link of `customers.verificationLink`.',
  ),
  customer_blocked: told(403, 'The customer may not trade', 'The customer is blocked.', 'Ask the operator.'),
  wrong_code: told(
    409,
    'The code is wrong',
    'The code is not the one that was sent to the customer.',
    'Ask the customer for the code again.',
  ),
  code_over: told(
    409,
    'The code is no longer valid',
    'No code was sent, or the code has expired, was used, or was tried too often.',
    'Send a new one with `destinations.sendCode`.',
  ),

  // Quotes and orders
  unsupported_pair: told(
    422,
    'The pair is not traded',
    'No market trades these two assets in this direction. The code of a coin includes its chain, such as `usdc.matic20`.',
    'Read `markets.list`.',
  ),
  unsupported_method: told(
    422,
    'The payment method is not offered',
    'The market does not offer this method.',
    'Read `methods.list`.',
  ),
  amount_outside_limits: told(
    422,
    'The amount is outside the limits',
    'The amount is below the minimum or above the maximum of the market or of the customer’s level; `limits` has both.',
    'Choose another amount.',
  ),
  amount_below_fees: told(
    422,
    'Nothing would be left after fees',
    'The fees would be as high as the amount, or higher.',
    'Choose a larger amount.',
  ),
  customer_limit_exceeded: told(
    422,
    'A limit of the customer would be exceeded',
    'The order would exceed what the customer’s level allows for one order, in 24 hours or in 30 days; `customerLimit` has the used and remaining amounts.',
    'Choose an amount of at most `left`, wait until `fitsAt`, or have the customer verified for `nextLevel`: `customers.limits` lists what is missing.',
  ),
  exposure_exceeded: told(
    422,
    'Your exposure cap is reached',
    'Your live quotes and unpaid orders would exceed your cap in this fiat; see `limits.get`.',
    'Quote a smaller amount, or wait until quotes expire.',
  ),
  quote_over: told(
    409,
    'The quote is over',
    'The quote has expired, an order has used it, or its market is halted.',
    'Create a new quote, and show it to the customer.',
  ),
  market_switched_off: told(
    503,
    'The market is switched off',
    'The operator has switched off new quotes and orders on this market.',
    'Try again later.',
  ),
  partner_switched_off: told(
    403,
    'New quotes and orders are switched off for you',
    'The operator has switched off new quotes and orders of this partner.',
    'Ask the operator.',
  ),
  order_over: told(
    409,
    'The state of the order does not allow this',
    'The request is not possible any more, or not yet. `detail` has the state.',
    'Read the order. An order that still waits for money can be refunded after its deadline, when it is `on_hold`.',
  ),
  money_arrived: told(
    409,
    'Money has arrived for the order',
    'Only an order that has received no money can be cancelled.',
    'Request a refund with `orders.refund`.',
  ),
  under_review: told(
    409,
    'Under review',
    'The operator is reviewing this money, and a partner cannot move it meanwhile.',
    'Wait for an event of the order, or ask the operator.',
  ),
  payout_submitted: told(
    409,
    'The payout was submitted',
    'The payout was submitted, and the recipient may receive it.',
    'Wait until it settles or fails.',
  ),
  refund_under_way: told(
    409,
    'The money was sent',
    'A refund or payout of this money is in progress or has settled, so the money cannot be sent elsewhere.',
    'Wait until it settles or fails.',
  ),
  unknown_refund: told(
    409,
    'No money waits for a destination',
    'The order has no money that waits to be refunded or paid again.',
    'Read `orders.trace`.',
  ),
  refund_exceeds: told(
    409,
    'Nothing of the deposit is left',
    'No part of the deposit is in suspense.',
    'Read `orders.deposits`.',
  ),
  deposit_unfit: told(
    409,
    'The deposit does not allow this',
    'The state of the deposit does not allow this.',
    'Read `orders.deposits`.',
  ),
  destination_waits: told(
    409,
    'The destination is not confirmed',
    'The customer has not confirmed this destination, and its cooling-off time has not passed; `usableAt` says when it does.',
    'Have the customer confirm it with `destinations.sendCode` and `destinations.confirm`, or wait.',
  ),
  destination_held: told(
    403,
    'The destination is held',
    'The operator is reviewing this destination, so no money may be sent to it.',
    'Name another destination, or ask the operator.',
  ),

  // Outages
  price_halted: told(
    503,
    'Quoting is halted',
    'The market makes no quotes until its price is reliable again.',
    'Ask again after `Retry-After` seconds.',
  ),
  unavailable: told(
    503,
    'A dependency is unavailable',
    'A price source, node, bank or other service did not answer in time. The request was not completed.',
    'Ask again after `Retry-After` seconds, with the same Idempotency-Key.',
  ),
  internal: told(
    500,
    'Something went wrong on our side',
    'The server has a defect. The request was not completed.',
    'Send the operator the request id.',
  ),
} as const satisfies Partial<Record<RefusalCode | Unavailable['reason'] | 'internal', Told>>;

export type Reason = keyof typeof REASONS;

export const isReason = (code: string): code is Reason => Object.hasOwn(REASONS, code);
export const statusOf = (reason: Reason): number => REASONS[reason].status;

/** Reasons to refuse any request; further ones for a write; further ones for a request with a body or fields. */
const ALWAYS = [
  'unauthenticated',
  'partner_suspended',
  'address_not_allowed',
  'scope_missing',
  'too_many_requests',
  'unknown_version',
  'unavailable',
  'internal',
] as const satisfies readonly Reason[];
const FIELDS = ['malformed_field'] as const satisfies readonly Reason[];
const NEEDED = ['missing_fields'] as const satisfies readonly Reason[];
const WRITES = [
  'idempotency_key_missing',
  'idempotency_conflict',
  'idempotency_in_flight',
  'signature_required',
  'malformed_body',
  'body_too_large',
  'unsupported_media_type',
] as const satisfies readonly Reason[];

/** Reasons that occur only in requests by session, on any endpoint: programs never see them. */
export const SESSION_REASONS: ReadonlySet<string> = new Set([
  ...(['cross_site', 'key_required', 'role_missing', 'step_up_required'] as const satisfies readonly Reason[]),
]);

export const COMMON_REASONS: ReadonlySet<Reason> = new Set([...ALWAYS, ...FIELDS, ...NEEDED, ...WRITES]);

/** Reasons for which an endpoint may refuse a request, in the order of their HTTP status. */
export function reasonsOf(declared: {
  readonly method: string;
  readonly fields: Readonly<Record<string, { readonly optional?: true }>>;
  readonly refuses?: readonly Reason[];
  readonly person?: true;
}): Reason[] {
  const { method, fields, refuses = [], person } = declared;
  const isNeeding = Object.values(fields).some((field) => field.optional !== true);
  const all: Reason[] = [
    ...ALWAYS,
    ...FIELDS,
    ...(isNeeding ? NEEDED : []),
    ...(method === 'GET' ? [] : WRITES),
    ...(person === true ? (['session_required'] as const) : []),
    ...refuses,
  ];
  return [...new Set(all)].toSorted((a, b) => statusOf(a) - statusOf(b));
}
