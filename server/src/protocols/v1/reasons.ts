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
    'The body is not readable',
    'The body is not a JSON object, or not complete multipart/form-data where files are sent.',
    'Send one, in UTF-8.',
  ),
  missing_fields: told(400, 'A field is missing', 'A required field is missing; `fields` names each.', 'Send it.'),
  malformed_field: told(
    400,
    'A field is wrong',
    'A field breaks its rule, or is not declared; `fields` has the rule of each.',
    'Correct it, or leave it out.',
  ),
  idempotency_key_missing: told(
    400,
    'Idempotency-Key is missing',
    'A write needs the header `Idempotency-Key`: 1 to 255 visible characters.',
    'Send a new random text with each new intent, and the same text when you repeat a request.',
  ),
  unknown_version: told(
    400,
    'No such version',
    'The header `Cloverleaf-Version` names no version of this API.',
    'Send a version that `key.get` lists, or none: then the version of your key counts.',
  ),
  body_too_large: told(
    413,
    'The body is too large',
    'A body may have 64 KiB; one with files 20 MiB, and each file 5 MiB.',
    'Send less.',
  ),
  unsupported_media_type: told(
    415,
    'Another media type is needed',
    'A body must be `application/json`, or `multipart/form-data` where files are sent, without a content encoding.',
    'Send that.',
  ),

  // Authentication
  unauthenticated: told(
    401,
    'Not authenticated',
    'The bearer token or the signature is missing, wrong, expired or revoked; `detail` says which.',
    'Check key, secret, covered parts and clock.',
  ),
  signature_required: told(
    401,
    'A signature is needed',
    'In production a write must be signed (RFC 9421), unless the operator allows this key to write without.',
    'Sign the request, or ask the operator.',
  ),
  partner_suspended: told(403, 'Suspended', 'The partner is suspended.', 'Ask the operator.'),
  address_not_allowed: told(
    403,
    'Not from this network',
    'The key may not be used from this network address.',
    'Use an address that the operator has listed for the key.',
  ),
  scope_missing: told(403, 'Not allowed for this key', 'The key lacks the scope.', 'Use a key that has it.'),
  session_required: told(
    403,
    'A person does this',
    'Secrets, the team and settings are changed by a member of your team who is signed in to the console, and by no key.',
    'Sign in to the console.',
  ),
  key_required: told(
    403,
    'A program does this',
    'Quotes, orders and destinations are made with a key, for a customer of yours.',
    'Use a key.',
  ),
  role_missing: told(
    403,
    'Your role does not allow this',
    'The role of the member lacks the right.',
    'Ask an owner of your team.',
  ),
  step_up_required: told(
    401,
    'A fresh login is needed',
    'Money, secrets and the team take a login of the last ten minutes.',
    'Sign in again with the passkey.',
  ),
  cross_site: told(
    403,
    'Not from a page of this server',
    'A change by session needs the header `x-console: 1`, from a page of this server.',
    'Use the console, or a key.',
  ),
  too_many_requests: told(
    429,
    'Too many requests',
    'More requests a minute than the key may send, or more codes than a phone may get.',
    'Wait for `Retry-After` seconds.',
  ),

  // Idempotency
  idempotency_conflict: told(
    409,
    'Another body under the same Idempotency-Key',
    'This key was used for a request with another body, within 24 hours.',
    'Use a new key for a new request.',
  ),
  idempotency_in_flight: told(
    409,
    'The same request is running',
    'The first request with this Idempotency-Key has not ended.',
    'Ask again after `Retry-After` seconds, with the same key.',
  ),

  // Not there, for this partner
  unknown_path: told(404, 'Nothing is here', 'There is no such path.', 'Compare it with the reference.'),
  method_not_allowed: told(405, 'Not with this method', '`Allow` names the methods.', 'Use one of them.'),
  unknown_quote: told(404, 'No such quote', 'No quote of yours has this id.', 'Create a quote.'),
  unknown_order: told(404, 'No such order', 'No order of yours has this id.', 'Look it up with `orders.list`.'),
  unknown_deposit: told(404, 'No such deposit', 'The order has no such deposit.', 'Read `orders.deposits`.'),
  unknown_customer: told(404, 'No such customer', 'No customer of yours has this id.', 'Read `customers.list`.'),
  unknown_destination: told(
    404,
    'No such destination',
    'The customer has no such destination, or none in the asset that is to be sent there.',
    'Read `destinations.list`.',
  ),
  unknown_information_request: told(
    404,
    'No such question',
    'Nothing was asked about the customer under this id.',
    'Read `informationRequests.list`.',
  ),
  information_request_over: told(
    409,
    'The question is over',
    'It was answered before, or withdrawn.',
    'Read `informationRequests.list`.',
  ),
  unknown_submission: told(
    404,
    'No such submission',
    'The customer has no submission of this id.',
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
    'It is completed, or has failed.',
    'Begin another with `submissions.create`, if the customer must be verified again.',
  ),
  unknown_endpoint: told(
    404,
    'No such webhook endpoint',
    'You have no webhook endpoint of this id.',
    'Read `webhooks.list`.',
  ),
  unknown_event: told(404, 'No such event', 'You have no event of this id.', 'Read `events.list`.'),
  unknown_request: told(
    404,
    'No such request',
    'No request of yours of the last 30 days has this id.',
    'Read `requests.list`.',
  ),
  unknown_key: told(404, 'No such key', 'You have no valid key of this name, or none at all.', 'Read `keys.list`.'),
  too_many_keys: told(409, 'Too many keys', 'A partner may have 100 keys that are not revoked.', 'Revoke one first.'),
  unknown_member: told(404, 'No such member', 'Your team has no such member.', 'Read `team.list`.'),
  member_exists: told(
    409,
    'The name is taken',
    'Your team has or had a member of this name: a name is used once.',
    'Choose another name.',
  ),
  member_joined: told(
    409,
    'The member has joined',
    'A link would let whoever opens it sign in as this member.',
    'A recovery code enrols a new passkey. Without one, ask the operator for a link, or invite the person under another name.',
  ),
  last_owner: told(
    409,
    'The last owner',
    'A team keeps an owner who has signed in.',
    'Make another member an owner first.',
  ),
  too_many_members: told(409, 'Too many members', 'A team has at most 100 members.', 'Remove a member first.'),
  sandbox_only: told(404, 'In the sandbox only', 'This exists in the sandbox alone.', 'Use the sandbox.'),
  unknown_held_item: told(409, 'Not held', 'The endpoint is not held.', 'Nothing: it receives events.'),
  too_many_endpoints: told(
    409,
    'Too many webhook endpoints',
    'A partner may have 16 webhook endpoints.',
    'Remove one first.',
  ),

  // Customers
  customer_exists: told(
    409,
    'The customer exists',
    'The reference or phone belongs to another of your customers; `customerId` names that customer if you may know it.',
    'Use that customer.',
  ),
  login_required: told(
    403,
    'The customer has not logged in',
    'The customer has not proved the phone number.',
    'Send the customer to the link of `customers.verificationLink`.',
  ),
  verification_required: told(
    403,
    'The customer is not verified far enough',
    'The level of the customer does not allow this.',
    'Send the customer to the link of `customers.verificationLink`.',
  ),
  customer_blocked: told(403, 'The customer may not trade', 'The customer is blocked.', 'Ask the operator.'),
  wrong_code: told(409, 'The code is wrong', 'The customer sent another code.', 'Ask the customer for it once more.'),
  code_over: told(
    409,
    'No code is valid',
    'The code has expired, was used, or was tried too often.',
    'Send a new one with `destinations.sendCode`.',
  ),

  // Quotes and orders
  unsupported_pair: told(
    422,
    'The pair is not traded',
    'No market trades these two assets in this direction. A coin is named with its chain, such as `usdc.matic20`.',
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
    'The amount is below or above what the market, or the level of the customer, allows; `limits` says what.',
    'Choose another amount.',
  ),
  amount_below_fees: told(
    422,
    'Nothing would be left after fees',
    'Fees would take all of the amount.',
    'Choose a larger amount.',
  ),
  customer_limit_exceeded: told(
    422,
    'The customer would pass a limit',
    'The order would exceed what the customer’s level allows for one order, in 24 hours or in 30 days; `customerLimit` has the used and remaining amounts, and the remedy.',
    'Choose an amount of at most `left`, wait until `fitsAt`, or have the customer verified for `nextLevel`: `customers.limits` lists what is missing.',
  ),
  exposure_exceeded: told(
    422,
    'Too much is promised at once',
    'Live quotes and unpaid orders of yours have reached your cap in this fiat; see `limits.get`.',
    'Ask for less, or wait until quotes expire.',
  ),
  quote_over: told(
    409,
    'The quote is over',
    'The quote has expired, an order has taken it, or its price is halted.',
    'Create a new quote, and show it to the customer.',
  ),
  market_switched_off: told(503, 'The market is switched off', 'New quotes and orders wait.', 'Ask again later.'),
  partner_switched_off: told(
    403,
    'New quotes and orders are switched off for you',
    'The operator has switched off new quotes and orders of this partner.',
    'Ask the operator.',
  ),
  order_over: told(
    409,
    'The state of the order does not allow this',
    'This cannot be done any more, or not yet. `detail` names the state.',
    'Read the order. A refund of an order that still waits for money is possible after its deadline, when it is `on_hold`.',
  ),
  money_arrived: told(
    409,
    'Money has come for the order',
    'An order can be cancelled only while nothing has come for it.',
    'Ask for a refund with `orders.refund`.',
  ),
  under_review: told(
    409,
    'Under review',
    'The operator reviews this money. A partner cannot move it meanwhile.',
    'Wait for an event of the order, or ask the operator.',
  ),
  payout_submitted: told(
    409,
    'The payout is on its way',
    'The payout was submitted and may arrive.',
    'Wait for its end.',
  ),
  refund_under_way: told(
    409,
    'The money is on its way',
    'It is on its way, or has arrived: it cannot be sent elsewhere.',
    'Wait for its end.',
  ),
  unknown_refund: told(
    409,
    'Nothing waits for this',
    'Nothing of the order is to be sent back or paid again there.',
    'Read `orders.trace`.',
  ),
  refund_exceeds: told(
    409,
    'Nothing of it is left',
    'Nothing of the deposit is in suspense.',
    'Read `orders.deposits`.',
  ),
  deposit_unfit: told(
    409,
    'The deposit does not allow this',
    'In its state nothing of this can be done with the deposit.',
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
    'The destination may not be paid at present',
    'The operator reviews this destination.',
    'Name another, or ask the operator.',
  ),

  // Outages
  price_halted: told(
    503,
    'Quoting is halted',
    'The market waits until its price is certain.',
    'Ask again after `Retry-After` seconds.',
  ),
  unavailable: told(
    503,
    'Something is away',
    'A price, node or bank that this needs has not answered in time. Nothing was done.',
    'Ask again after `Retry-After` seconds, with the same Idempotency-Key.',
  ),
  internal: told(
    500,
    'Something went wrong on our side',
    'A defect of the server. Nothing was done.',
    'Tell the operator the request id.',
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
