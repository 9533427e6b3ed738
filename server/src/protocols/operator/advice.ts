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
    'OPERATOR_NETWORKS names networks, and the request came from none of them.',
    'Connect from one of them, or have your network added.',
  ),
  internal: advice(
    'A bug of the server, or something that it needs is unavailable.',
    'Look for `x-request-id` in the log.',
  ),
};
/** Reasons to refuse a console request that changes something. */
const CHANGES: Partial<Record<Reason, Advice>> = {
  cross_site: advice(
    'By session, a change came without `x-console: 1`, or from a page of another site.',
    'Send the header, from a page of this server.',
  ),
};
/** Reasons to refuse a change by session that needs a fresh login. */
const FRESH: Partial<Record<Reason, Advice>> = {
  step_up_required: advice(
    'By session, this takes a login of the last ten minutes.',
    'Log in again with the passkey (`POST /session`), then repeat it.',
  ),
};
/** Reasons to refuse a request that needs more than the right to read. */
const RIGHT: Partial<Record<Reason, Advice>> = {
  role_missing: advice('The role of the operator lacks the right.', 'Ask an operator whose role has it.'),
};
/** Reasons to refuse a request with fields. */
const FIELDS: Partial<Record<Reason, Advice>> = {
  missing_fields: advice('A required field is missing; `fields` names each.', 'Send it.'),
  malformed_field: advice(
    'A field breaks its rule, or is not declared; `fields` has the rule.',
    'Correct it, or leave it out.',
  ),
};
const BODY: Partial<Record<Reason, Advice>> = {
  malformed_body: advice('The body is not a JSON object.', 'Send one.'),
};

const OWN: Partial<Record<Reason, Advice>> = {
  malformed_amount: advice('An amount has more decimals than its asset.', 'Round it.'),
  unknown_order: advice('There is no such order.', FIND),
  unknown_deposit: advice('There is no such deposit.', FIND),
  unknown_payout: advice('There is no such payout, refund or own transfer on this rail.', FIND),
  unknown_refund: advice('Nothing of the order waits to be refunded or paid again.', 'Read the timeline of the order.'),
  unknown_customer: advice('There is no such customer.', FIND),
  unknown_account: advice('The customer has no such account.', 'Read `customer`.'),
  unknown_information_request: advice('There is no question with this id.', 'Read `customer answers`.'),
  information_request_over: advice(
    'The question was answered before, or withdrawn.',
    'Nothing, or ask a new question.',
  ),
  unknown_alert: advice('There is no such rule.', 'Read `alerts`.'),
  unknown_case: advice('There is no such case, or it is closed.', 'Read `cases`.'),
  unknown_member: advice('The team has no such member, or the member was removed.', 'Read `team`.'),
  member_exists: advice('The team has or had a member of this name: a name is used once.', 'Choose another name.'),
  too_many_members: advice('A team has at most 100 members.', 'Remove a member first.'),
  unknown_partner: advice('There is no such partner.', 'Read `partners`.'),
  unknown_market: advice('There is no such market.', 'Read `markets`.'),
  unknown_key: advice('There is no such key, or it is revoked, or another partner’s.', 'Read `partner`.'),
  unknown_endpoint: advice('There is no such webhook endpoint.', 'Read `endpoint list`.'),
  unknown_held_item: advice('The partner has no such held item.', 'Read `held`.'),
  unknown_operator: advice('There is no such operator.', 'Read `operators`.'),
  unknown_session: advice('You have no such session.', 'Read `sessions`.'),
  unknown_identity: advice('The operator has no such account.', 'Read `operator identities`.'),
  identity_bound: advice('The account is bound to an operator already.', 'Unbind it there first.'),
  too_many_identities: advice('An operator has at most five accounts.', 'Unbind one first.'),
  sso_off: advice('OIDC_ISSUER is not set.', 'Sign in with a passkey, or set it.'),
  sso_unavailable: advice(
    'The provider does not answer in time, or its description cannot be used.',
    'Sign in with a passkey; see whether OIDC_ISSUER answers.',
  ),
  sso_declined: advice('The provider answered with an error.', 'Begin again, or read its log.'),
  sso_unproved: advice(
    'State, nonce, issuer, audience, signature, age or code of the answer do not fit.',
    'Begin again. If it happens always, compare OIDC_ISSUER and OIDC_CLIENT_ID with the provider.',
  ),
  sso_expired: advice('The login was used, is too old, or began in another browser.', 'Begin again.'),
  sso_unbound: advice('No enabled operator is bound to the account.', 'Have it bound: `operator bind`.'),
  sso_other_operator: advice('The passkey is another operator’s.', 'Begin again with your own.'),
  unknown_passkey: advice('You have no such passkey.', 'Read `session/passkeys`.'),
  wrong_code: advice('The recovery code is wrong, or was used or replaced.', 'Use another one.'),
  session_required: advice('The request came with a token.', 'Sign in to the console.'),
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
  unknown_screening: advice('There is no such comparison.', 'Read `sanctions hits`.'),
  hit_over: advice('The hit was already decided, or is no longer found.', 'Read `sanctions hits`, or `risk hits`.'),
  unknown_path: advice(
    'This server has no bank without an API, or the handbook has no such page.',
    'Nothing: the action is only for such a bank. A case names its page of the handbook.',
  ),
  order_over: advice('The order is in a state in which this cannot be done.', 'Read the timeline of the order.'),
  payout_submitted: advice(
    'The payout was submitted and may arrive.',
    'Wait for its outcome; it can no longer be stopped.',
  ),
  destination_held: advice('Screening or a leak holds this destination.', 'Name another, or release it.'),
  refund_under_way: advice('The money is on its way, or has arrived.', 'Wait for its end.'),
  refund_exceeds: advice(
    'Less than this amount of the deposit is in suspense.',
    'Read `deposit`, and name a smaller amount.',
  ),
  deposit_unfit: advice('The deposit is in a state in which this cannot be done.', 'Read `deposit`.'),
  funds_short: advice('There is too little in our wallet.', 'Fund it, and repeat the action.'),
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
  does_not_fit: advice('The two things that were named do not belong together; the sentence says why.', 'Name others.'),
  movement_over: advice('The movement was decided before, or is not final yet.', 'Read `movements`.'),
  case_claimed: advice(
    'Another operator has claimed the case.',
    'Talk to that operator, or take the case over: `takeOver`.',
  ),
  unknown_own_address: advice('No own address of this number is registered.', 'Read `treasury addresses`.'),
  unknown_transfer: advice('There is no such transfer to an own address.', 'Read `treasury own-transfers`.'),
  unknown_attachment: advice('The case has no such attachment, or it was removed.', 'Read `case`.'),
  too_many_attachments: advice('The case has as many attachments as it may.', 'Join files, or remove one.'),
  body_too_large: advice('The file is larger than 5 MiB.', 'Send a smaller one.'),
  money_in_suspense: advice(
    'Money of the case is in suspense.',
    'Move it first, or close the case with `leaveInSuspense`.',
  ),
  break_over: advice('Both sides are equal, or the break was already corrected.', 'Nothing.'),
  rail_not_halted: advice(
    'The chain has not halted by itself.',
    'What an operator switched off, `kill-switch lift` switches on.',
  ),
  market_not_halted: advice('No market is halted for this price.', 'Nothing: the market quotes.'),
  partner_exists: advice('There is a partner of this name.', 'Choose another name.'),
  operator_exists: advice('There is an operator of this name.', 'Choose another name.'),
  no_secret_waits: advice('The secret was shown, is for another operator, or a day has passed.', 'Rotate the key.'),
  file_refused: advice(
    'The file cannot be imported as a statement; the sentence says why.',
    'Get it from the bank again.',
  ),
  erasure_refused: advice(
    'The customer cannot be erased now; the sentence says why.',
    'Remove the obstacle that it names first.',
  ),
  batch_refused: advice('The bank desk cannot do this now; the sentence says why.', 'Do what the sentence says first.'),
  file_needed: advice('It is confirmed by sending its file, and no other way.', 'Send the same file.'),
  proposal_exists: advice('The same action is already proposed, and waits.', 'Have another operator confirm it.'),
  plan_over: advice('The planned change has taken effect, has failed, or is withdrawn.', 'Change the term itself.'),
  proposal_over: advice('The proposal was already decided, or has expired.', 'Propose it again.'),
  proposal_overtaken: advice(
    'The subject of the proposal, or its proposer, has changed since. Nothing was done.',
    'Propose it again.',
  ),
  own_proposal: advice('It is your own proposal.', 'Have another operator confirm it.'),
  agreed_already: advice('You have already agreed to it.', 'Have another operator confirm it.'),
  proposal_waits: advice('Your own proposal waits for its delay.', 'Confirm it after the time in the sentence.'),
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
