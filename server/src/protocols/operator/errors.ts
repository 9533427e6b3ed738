/**
 * Refusals as shown to operators: HTTP status, sentence, and the code of the rule.
 */
import { defined } from '../../base/defined.ts';
import { type Facts, Refusal, type RefusalCode } from '../../base/errors.ts';

/** The `reason` of a failure. */
export type Reason = RefusalCode | 'internal' | 'proposal_overtaken';

interface Word {
  status: number;
  say: (facts: Facts) => string;
}

const missing = (what: string): Word => ({ status: 404, say: () => `There is no such ${what}.` });
const names = (facts: Facts): string[] => (Array.isArray(facts.names) ? facts.names.map(String) : []);

/** Codes without a line here belong to other protocols, and are shown as the bare code. */
const WORDS: Partial<Record<RefusalCode, Word>> = {
  missing_fields: { status: 400, say: (facts) => `Missing: ${names(facts).join(', ')}.` },
  malformed_field: {
    status: 400,
    say: ({ fields = {} }) =>
      `${Object.entries(fields as object)
        .map(([name, rule]) => `${name} ${rule}`)
        .join('; ')}.`,
  },
  malformed_amount: { status: 400, say: (facts) => `The amount ${facts.why}.` },
  malformed_body: {
    status: 400,
    say: ({ why }) => (why === undefined ? 'The body must be a JSON object.' : `The body ${why}.`),
  },
  unauthenticated: { status: 401, say: () => 'The operator token or session is missing, wrong, expired or revoked.' },
  step_up_required: {
    status: 401,
    say: () =>
      'This requires a login within the last ten minutes: log in again with the passkey or, if that counts, by single sign-on.',
  },
  wrong_code: { status: 401, say: () => 'This recovery code is wrong, was used, or was replaced.' },
  session_required: { status: 403, say: () => 'This requires a session in the console: a token is not sufficient.' },
  own_recovery: {
    status: 403,
    say: () => 'Another operator has to close this case: it is about a passkey of your own.',
  },
  notice_needed: {
    status: 409,
    say: (facts) =>
      `Proposal ${facts.proposal} is open: this case is its notice, and closes when it is confirmed, declined or expires.`,
  },
  address_not_allowed: { status: 403, say: () => 'Operators may not connect from this network address.' },
  cross_site: {
    status: 403,
    say: () => 'A session may change something only with the header x-console: 1, from a page of this server.',
  },
  too_many_requests: {
    status: 429,
    say: ({ why }) => String(why ?? 'Too many logins came from this network: wait a minute.'),
  },
  role_missing: {
    status: 403,
    say: (facts) => `The role ${facts.role} may not do this: it needs the right ${facts.right}.`,
  },
  unknown_member: missing('member of this team'),
  member_exists: { status: 409, say: () => 'The team has or had a member with this name: choose another name.' },
  too_many_members: { status: 409, say: (facts) => `A team has at most ${facts.most} members.` },
  own_proposal: { status: 403, say: () => 'Another operator has to confirm this: it is your own proposal.' },
  destination_held: {
    status: 409,
    say: () => 'Screening would hold money for this destination. Nothing was sent.',
  },
  payout_submitted: {
    status: 409,
    say: (facts) =>
      `Payout ${facts.payout} is ${facts.state}: it was submitted, and the recipient may receive it. It can no longer be cancelled.`,
  },
  order_over: {
    status: 409,
    say: (facts) =>
      `The order is ${facts.state}${facts.why === undefined ? '' : ` (${facts.why})`}, and this cannot be done in that state.`,
  },
  proposal_exists: { status: 409, say: () => 'The same action is already proposed, and waits for another operator.' },
  plan_over: {
    status: 409,
    say: (facts) => `The planned change is ${facts.state}: only a change that has not taken effect can be withdrawn.`,
  },
  proposal_over: { status: 409, say: (facts) => `The proposal is ${facts.state}.` },
  proposal_waits: {
    status: 409,
    say: (facts) => `This is your own proposal: you may confirm it from ${facts.readyAt}, and decline it at any time.`,
  },
  code_not_sent: { status: 502, say: ({ why }) => `The sender did not accept the code: ${why}.` },
  approver_role: {
    status: 403,
    say: ({ roles = [] }) =>
      `The approvals that are missing must come from these roles: ${(roles as string[]).join(', ')}. Yours is not needed.`,
  },
  agreed_already: { status: 409, say: () => 'You have already approved this: another operator has to confirm it.' },
  file_needed: { status: 409, say: (facts) => `This is confirmed by its file: ${facts.how}.` },
  file_refused: { status: 400, say: (facts) => String(facts.why) },
  erasure_refused: { status: 409, say: (facts) => String(facts.why) },
  batch_refused: { status: 409, say: (facts) => String(facts.why) },
  identity_bound: { status: 409, say: () => 'This account is already bound to an operator.' },
  too_many_views: {
    status: 409,
    say: (facts) => `An operator has at most ${facts.most} saved views: delete one first.`,
  },
  too_many_identities: { status: 409, say: (facts) => `At most ${facts.most} accounts are bound to one operator.` },
  sso_off: { status: 404, say: () => 'Single sign-on is not set up on this server.' },
  sso_unavailable: {
    status: 503,
    say: () => 'The provider of single sign-on does not answer. Sign in with your passkey, or try again.',
  },
  sso_declined: {
    status: 403,
    say: () => 'The provider declined the login. Try again, or sign in with your passkey.',
  },
  sso_unproved: {
    status: 401,
    say: () =>
      'The answer of the provider does not belong to this login, is too old, or was already used. Begin again.',
  },
  sso_expired: {
    status: 401,
    say: () => 'This login was used, is older than ten minutes, or began in another browser. Begin again.',
  },
  sso_unbound: {
    status: 403,
    say: () => 'No enabled operator is bound to this account. Another operator can bind it (operator bind).',
  },
  sso_other_operator: {
    status: 403,
    say: () => 'The passkey belongs to another operator than the single sign-on account. Begin again.',
  },
  operator_exists: { status: 409, say: () => 'There is already an operator with this name.' },
  partner_exists: { status: 409, say: () => 'There is already a partner with this name.' },
  rail_not_halted: {
    status: 409,
    say: (facts) => `${facts.rail} was not halted by the server. If an operator switched it off, use kill-switch lift.`,
  },
  market_not_halted: {
    status: 409,
    say: (facts) =>
      `${facts.market === undefined ? 'No market' : `Market ${facts.market}`} is ${facts.market === undefined ? '' : 'not '}halted because of the price of ${facts.coin}: there is nothing to confirm.`,
  },
  funds_short: { status: 409, say: (facts) => `Our wallet has too little ${facts.asset ?? 'money'} for this.` },
  refund_under_way: { status: 409, say: () => 'The money is being sent, or has arrived: it cannot be sent elsewhere.' },
  unknown_refund: {
    status: 409,
    say: (facts) => `The order is ${facts.state}: none of its money waits to be refunded or paid again.`,
  },
  refund_exceeds: { status: 409, say: () => 'Less than this amount of the deposit is in suspense.' },
  deposit_unfit: { status: 409, say: (facts) => `The deposit does not allow this: ${facts.why}.` },
  movement_over: {
    status: 409,
    say: (facts) =>
      `The movement is ${facts.state}: ${facts.state === 'unread' ? 'it is not final or not read yet' : 'it was already decided'}.`,
  },
  does_not_fit: { status: 409, say: (facts) => `These do not belong together: ${facts.why}.` },
  break_over: {
    status: 409,
    say: (facts) => `Break ${facts.item} is closed: the balances are equal again, or it was already corrected.`,
  },
  case_claimed: {
    status: 409,
    say: (facts) => `The case is claimed by ${facts.by}. Take it over first (case assign, with takeOver).`,
  },
  money_in_suspense: {
    status: 409,
    say: (facts) =>
      `Money of this case is in suspense: ${facts.what}. Move it first, or state that it stays there (leaveInSuspense).`,
  },
  unknown_break: missing('break'),
  unknown_hit: missing('hit'),
  unknown_list: missing('waiting version of a list'),
  unknown_screening: missing('comparison with sanctions lists'),
  hit_over: { status: 409, say: (facts) => `The hit is ${facts.state}.` },
  unknown_payout: missing('payout, refund or own transfer on this rail'),
  unknown_movement: missing('movement'),
  unknown_deposit: missing('deposit'),
  unknown_order: missing('order'),
  unknown_customer: missing('customer'),
  unknown_information_request: missing('information request about the customer'),
  information_request_over: {
    status: 409,
    say: () => 'The information request was already answered, or it was withdrawn.',
  },
  unknown_account: missing('fiat account of this customer'),
  unknown_path: missing('page here'),
  unknown_alert: missing('rule of notifications'),
  unknown_case: missing('open case'),
  unknown_own_address: missing('own address that is registered'),
  unknown_transfer: missing('transfer to an own address'),
  unknown_attachment: missing('attachment of this case'),
  too_many_attachments: { status: 409, say: (facts) => `A case has at most ${facts.most} attachments.` },
  body_too_large: { status: 413, say: (facts) => `The body is larger than ${facts.maxBytes} bytes.` },
  unknown_operator: missing('operator'),
  unknown_token: missing('token of this operator'),
  unknown_session: missing('session of yours'),
  unknown_passkey: missing('passkey of yours'),
  unknown_identity: missing('account of this operator'),
  unknown_view: missing('saved view of yours'),
  unknown_proposal: missing('proposal'),
  unknown_plan: missing('planned change'),
  unknown_partner: missing('partner'),
  unknown_market: missing('market'),
  unknown_bulk: missing('action on unpaid orders'),
  no_secret_waits: {
    status: 409,
    say: () =>
      'No secret of this key waits for you: it was already shown, another operator requested it, or a day has passed. Rotate the key.',
  },
  no_link_waits: {
    status: 409,
    say: () =>
      'No link of this member waits for you: it was already shown, another operator requested it, or a day has passed. Invite the member again.',
  },
  unknown_key: missing('key that is not revoked'),
  unknown_held_item: missing('held item of this partner'),
};

/** @returns the HTTP status of a reason */
export const statusOf = (reason: Reason): number =>
  reason === 'internal' ? 500 : reason === 'proposal_overtaken' ? 409 : (WORDS[reason]?.status ?? 409);

export function failureOf({ code, facts }: Refusal): { status: number; body: Readonly<Record<string, unknown>> } {
  const { status, say } = WORDS[code] ?? { status: 409, say: () => `Declined: ${code}.` };
  const fields =
    code === 'missing_fields'
      ? Object.fromEntries(names(facts).map((name) => [name, 'is missing']))
      : (facts.fields as Record<string, string> | undefined);
  return { status, body: { error: say(facts), reason: code, ...defined({ fields }) } };
}
