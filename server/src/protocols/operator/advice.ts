/**
 * Why a request of an operator is refused, for readers of this interface's description: the meaning of each reason, and the
 * remedy. The sentence of an actual refusal, with its field or amount, is in errors.ts.
 */
import type { Declared, DeclaredAction } from './declare.ts';
import { PROPOSALS } from './declared/people.ts';
import { type Reason, statusOf } from './errors.ts';
import { needsFresh } from './fresh.ts';

interface Advice {
  readonly means: string;
  readonly todo: string;
}
const advice = (means: string, todo: string): Advice => ({ means, todo });
const FIND = 'Find it with `lookup` or a list.';

/** Reasons for which any request may be refused. */
const COMMON: Partial<Record<Reason, Advice>> = {
  unauthenticated: advice(
    'The token or the session is missing, wrong, expired or revoked, or its operator is disabled.',
    'Use a valid token, or log in.',
  ),
  address_not_allowed: advice(
    'The request did not come from a network that OPERATOR_NETWORKS names.',
    'Connect from such a network, or have your network added.',
  ),
  internal: advice(
    'The server has a bug, or something that it needs is unavailable.',
    'Search the log for the `x-request-id` of the reply.',
  ),
};
/** Reasons to refuse a console request that changes something. */
const CHANGES: Partial<Record<Reason, Advice>> = {
  cross_site: advice(
    'A change by session came without the header `x-console: 1`, or from a page of another site.',
    'Send the header, from a page of this server.',
  ),
};
/** Reasons to refuse a change by session that needs a fresh login. */
const FRESH: Partial<Record<Reason, Advice>> = {
  step_up_required: advice(
    'With a session, this requires a login within the last ten minutes.',
    'Log in again with the passkey (`POST /session`), then repeat it.',
  ),
};
/** Reasons to refuse a request that needs more than the right to read. */
const RIGHT: Partial<Record<Reason, Advice>> = {
  role_missing: advice('The role of the operator does not include the right.', 'Ask an operator whose role has it.'),
};
/** Reasons to refuse a request with fields. */
const FIELDS: Partial<Record<Reason, Advice>> = {
  missing_fields: advice('A required field is missing; `fields` names each missing field.', 'Send it.'),
  malformed_field: advice(
    'A field breaks its rule, or does not exist; `fields` has the rule.',
    'Correct the field, or leave it out.',
  ),
};
const BODY: Partial<Record<Reason, Advice>> = {
  malformed_body: advice('The body is not a JSON object.', 'Send a JSON object.'),
};

const OWN: Partial<Record<Reason, Advice>> = {
  malformed_amount: advice('An amount has more decimals than its asset.', 'Round the amount.'),
  unknown_order: advice('There is no such order.', FIND),
  unknown_deposit: advice('There is no such deposit.', FIND),
  unknown_payout: advice('There is no such payout, refund or own transfer on this rail.', FIND),
  unknown_refund: advice(
    'No money of the order waits to be refunded or paid again.',
    'Read the timeline of the order.',
  ),
  unknown_customer: advice('There is no such customer.', FIND),
  unknown_account: advice('The customer has no such account.', 'Read `customer`.'),
  unknown_information_request: advice('There is no information request with this id.', 'Read `customer answers`.'),
  information_request_over: advice(
    'The information request was already answered, or it was withdrawn.',
    'Nothing to do, or ask a new question.',
  ),
  unknown_alert: advice('There is no such rule.', 'Read `alerts`.'),
  unknown_case: advice('There is no such case, or it is closed.', 'Read `cases`.'),
  unknown_member: advice('The team has no such member, or the member was removed.', 'Read `team`.'),
  member_exists: advice('The team has or had a member with this name. Names are never reused.', 'Choose another name.'),
  too_many_members: advice('A team has at most 100 members.', 'Remove a member first.'),
  unknown_partner: advice('There is no such partner.', 'Read `partners`.'),
  unknown_market: advice('There is no such market.', 'Read `markets`.'),
  unknown_key: advice('There is no such key, it is revoked, or it belongs to another partner.', 'Read `partner`.'),
  unknown_endpoint: advice('There is no such webhook endpoint.', 'Read `endpoint list`.'),
  unknown_held_item: advice('The partner has no such held item.', 'Read `held`.'),
  unknown_operator: advice('There is no such operator.', 'Read `operators`.'),
  unknown_session: advice('You have no such session.', 'Read `sessions`.'),
  unknown_identity: advice('The operator has no such account.', 'Read `operator identities`.'),
  identity_bound: advice('The account is already bound to an operator.', 'Unbind it from that operator first.'),
  unknown_view: advice('You have no such saved view.', 'Read `views`.'),
  too_many_views: advice('An operator has at most 50 saved views.', 'Delete one first.'),
  too_many_identities: advice('An operator has at most five accounts.', 'Unbind one first.'),
  sso_off: advice('OIDC_ISSUER is not set.', 'Sign in with a passkey, or set it.'),
  sso_unavailable: advice(
    'The provider does not answer in time, or its discovery document cannot be used.',
    'Sign in with a passkey, and check whether OIDC_ISSUER is reachable.',
  ),
  sso_declined: advice('The provider answered with an error.', 'Begin again, or read the provider’s log.'),
  sso_unproved: advice(
    'State, nonce, issuer, audience, signature, age or code of the provider’s answer is wrong.',
    'Begin again. If it fails every time, compare OIDC_ISSUER and OIDC_CLIENT_ID with the settings of the provider.',
  ),
  sso_expired: advice('The login was used, is too old, or began in another browser.', 'Begin again.'),
  sso_unbound: advice(
    'No enabled operator is bound to the account.',
    'Have another operator bind it with `operator bind`.',
  ),
  sso_other_operator: advice('The passkey belongs to another operator.', 'Begin again with your own passkey.'),
  unknown_passkey: advice('You have no such passkey.', 'Read `session/passkeys`.'),
  wrong_code: advice('The recovery code is wrong, or was used or replaced.', 'Use another recovery code.'),
  session_required: advice('The request came with a token.', 'Sign in to the console.'),
  notice_needed: advice(
    'The case is the notice of a proposal that waits out its delay.',
    'Read the proposal. Confirm or decline it: that closes the case.',
  ),
  own_recovery: advice('The case is about a passkey of your own.', 'Have another operator close it.'),
  too_many_requests: advice(
    'Too many logins came from this network, or too many files are being received.',
    'Wait a minute.',
  ),
  unknown_token: advice('The operator has no such token.', 'Read `operator`, or `self`.'),
  unknown_plan: advice('There is no such planned change.', 'Read `planned`.'),
  unknown_proposal: advice('There is no such proposal.', 'Read `proposals`.'),
  unknown_bulk: advice('There is no such bulk action.', 'Use the number from the reply of the action.'),
  unknown_movement: advice('There is no such movement.', 'Read `movements`.'),
  unknown_break: advice('There is no such break.', 'Read `breaks`.'),
  unknown_hit: advice('There is no such hit.', 'Read `sanctions hits`, or `risk hits`.'),
  unknown_list: advice('No version of the list with this checksum waits.', 'Read `sanctions lists`.'),
  unknown_screening: advice('There is no such comparison.', 'Read `sanctions hits`.'),
  hit_over: advice('The hit was already decided, or is no longer found.', 'Read `sanctions hits`, or `risk hits`.'),
  unknown_path: advice(
    'This server has no manual bank, or the handbook has no such page.',
    'Nothing to do: the endpoint exists only with a manual bank. For the handbook, use the page that a case names.',
  ),
  order_over: advice('The state of the order does not allow this.', 'Read the timeline of the order.'),
  payout_submitted: advice(
    'The payout was submitted, and the recipient may receive it.',
    'Wait for its outcome; it can no longer be cancelled.',
  ),
  destination_held: advice(
    'The destination is held by screening or after a leak.',
    'Name another destination, or release this one.',
  ),
  refund_under_way: advice('The money is being sent, or has arrived.', 'Wait until it settles or fails.'),
  refund_exceeds: advice(
    'Less than this amount of the deposit is in suspense.',
    'Read `deposit`, and name a smaller amount.',
  ),
  deposit_unfit: advice('The state of the deposit does not allow this.', 'Read `deposit`.'),
  funds_short: advice('Our wallet has too little money.', 'Fund the wallet, and repeat the action.'),
  amount_outside_limits: advice('The amount is outside the limits of the market.', 'Refund the order instead.'),
  customer_limit_exceeded: advice(
    'The customer would exceed a limit across orders.',
    'Read `customer limits`; wait, or refund the order instead.',
  ),
  amount_below_fees: advice('Nothing of the amount would be left after fees.', 'Refund the order instead.'),
  verification_required: advice(
    'The verification level of the customer is too low.',
    'Wait for the review, or refund.',
  ),
  does_not_fit: advice('The two named things do not belong together; `error` says why.', 'Correct the request.'),
  movement_over: advice('The movement was already decided, or is not final yet.', 'Read `movements`.'),
  case_claimed: advice(
    'Another operator has claimed the case.',
    'Ask that operator, or take the case over with `takeOver`.',
  ),
  unknown_own_address: advice('No own address with this number is registered.', 'Read `treasury addresses`.'),
  unknown_transfer: advice('There is no such transfer to an own address.', 'Read `treasury own-transfers`.'),
  unknown_attachment: advice('The case has no such attachment, or it was removed.', 'Read `case`.'),
  too_many_attachments: advice('The case has the maximum number of attachments.', 'Combine files, or remove one.'),
  body_too_large: advice('The file is larger than 5 MiB.', 'Send a smaller one.'),
  money_in_suspense: advice(
    'Money of the case is in suspense.',
    'Move it first, or close the case with `leaveInSuspense`.',
  ),
  break_over: advice('The balances are equal again, or the break was already corrected.', 'Nothing.'),
  rail_not_halted: advice(
    'The server has not halted the chain.',
    'If an operator switched the chain off, use `kill-switch lift`.',
  ),
  market_not_halted: advice('No market is halted because of this price.', 'Nothing to do: the market makes quotes.'),
  partner_exists: advice('There is already a partner with this name.', 'Choose another name.'),
  operator_exists: advice('There is already an operator with this name.', 'Choose another name.'),
  no_secret_waits: advice(
    'The secret was already shown, is for another operator, or has expired after a day.',
    'Rotate the key.',
  ),
  no_link_waits: advice(
    'The link was already shown, is for another operator, or has expired after a day.',
    'Invite the member again.',
  ),
  file_refused: advice(
    'The file cannot be imported as a statement; `error` says why.',
    'Get the file from the bank again.',
  ),
  erasure_refused: advice('The customer cannot be erased now; `error` says why.', 'Remove the obstacle first.'),
  batch_refused: advice('The bank desk cannot do this now; `error` says why.', 'Do first what `error` says.'),
  file_needed: advice('The import can be confirmed only by sending the same file.', 'Send the same file.'),
  proposal_exists: advice(
    'The same action is already proposed, and waits for approval.',
    'Have another operator confirm it.',
  ),
  plan_over: advice('The planned change has taken effect, has failed, or was withdrawn.', 'Change the terms instead.'),
  proposal_over: advice('The proposal was already decided, or has expired.', 'Propose it again.'),
  proposal_overtaken: advice(
    'The subject of the proposal, or its proposer, has changed since then. The action was not executed.',
    'Propose it again.',
  ),
  own_proposal: advice('This is your own proposal.', 'Have another operator confirm it.'),
  code_not_sent: advice(
    'The service that sends login codes did not accept the test.',
    'Check the settings of the sender (`channels`) and the log of the service, and try again.',
  ),
  approver_role: advice(
    'A rule names roles that must be among those who approve, and only those are missing.',
    'Have an operator of a missing role confirm it.',
  ),
  agreed_already: advice('You have already approved it.', 'Have another operator confirm it.'),
  proposal_waits: advice('Your own proposal waits for its delay.', 'Confirm it after the time that `error` names.'),
};

export const adviceOf = (reason: Reason): Advice | undefined =>
  COMMON[reason] ?? CHANGES[reason] ?? FRESH[reason] ?? RIGHT[reason] ?? FIELDS[reason] ?? BODY[reason] ?? OWN[reason];

/** Reasons common to most endpoints: described once. */
export const COMMON_REASONS: ReadonlySet<string> = new Set(
  [COMMON, CHANGES, FRESH, RIGHT, FIELDS, BODY].flatMap((reasons) => Object.keys(reasons)),
);

/** Reasons for which an endpoint may refuse a request, in the order of their HTTP status. */
export function reasonsOf(declared: Declared): Reason[] {
  const { fields, method, right, refuses = [] } = declared;
  const { takesFile, name, isFresh } = declared as DeclaredAction;
  const isChange = method !== 'GET';
  const takesFresh = isFresh === true || needsFresh(right) || declared === PROPOSALS.confirm;
  const all = [
    ...Object.keys(COMMON),
    ...(isChange ? Object.keys(CHANGES) : []),
    ...(isChange && takesFresh ? Object.keys(FRESH) : []),
    // Reading is open to all roles; an action says which rights its proposal needs.
    ...(right !== 'read' || declared === PROPOSALS.confirm || declared === PROPOSALS.decline ? Object.keys(RIGHT) : []),
    ...(method === 'POST' || Object.keys(fields).length > 0 ? Object.keys(FIELDS) : ['malformed_field']),
    ...(method === 'POST' && takesFile !== true ? Object.keys(BODY) : []),
    ...refuses,
    ...(declared === PROPOSALS.confirm || (takesFile === true && name !== undefined) ? ['proposal_overtaken'] : []),
  ] as Reason[];
  return [...new Set(all)].toSorted((a, b) => statusOf(a) - statusOf(b));
}
