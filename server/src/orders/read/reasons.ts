/**
 * Reasons: why something about an order is unusual, in words that partners and customers may read.
 *
 * An internal reason says exactly what was found: which rule matched, or which answer a bank gave. There are few public reasons.
 * The table below maps every internal reason to one; a test searches the code for reasons without an entry. Findings of
 * screening, limits, monitoring, containment or the law map to `under_review`, like any other manual review, because the customer
 * must not be tipped off. A reason that is not in the table maps to `under_review` as well.
 */
import { HELD_AT_GATE } from '../decide.ts';

export const PUBLIC_REASONS = [
  /** Less than requested arrived; more than requested arrived; it arrived in several transfers. */
  'underpaid',
  'overpaid',
  'paid_in_parts',
  /** It arrived after the deadline; it arrived when the order already had its money. */
  'late',
  'second_payment',
  'wrong_currency',
  'wrong_network',
  /** The chain or bank reversed the deposit; another payment has replaced it. */
  'payment_reversed',
  'payment_replaced',
  /** The payer's name differs from the customer's. */
  'payer_name',
  'price_moved',
  /** A fee was too high and is refunded. */
  'fee_compensated',
  /** A step took longer than its order allows. */
  'timed_out',
  /** The bank or chain rejected the payout, paid another amount, or returned it. */
  'payout_rejected',
  'payout_returned',
  'paid_other_amount',
  'refund_rejected',
  'refund_returned',
  /** Why a bank rejected or returned the payout. */
  'wrong_account',
  'account_closed',
  'name_and_account_differ',
  'wrong_amount',
  'returned_by_bank',
  'rejected_by_bank',
  'rejected_by_network',
  /** Under manual review. */
  'under_review',
] as const;

export type PublicReason = (typeof PUBLIC_REASONS)[number];

const TABLE: Readonly<Record<string, PublicReason>> = {
  // About deposits (decide.ts, facts.ts, jobs.ts).
  underpaid: 'underpaid',
  overpaid: 'overpaid',
  paid_in_parts: 'paid_in_parts',
  part: 'underpaid',
  late: 'late',
  second: 'second_payment',
  wrong_asset: 'wrong_currency',
  wrong_chain: 'wrong_network',
  lost: 'payment_reversed',
  deposit_lost: 'payment_reversed',
  deposit_replaced: 'payment_replaced',
  unknown_target: 'under_review',
  unexpected_credit: 'under_review',
  payer_name: 'payer_name',
  price_moved: 'price_moved',
  wrong_price: 'price_moved',
  deadline_passed: 'underpaid',
  waited_too_long: 'timed_out',
  policy: 'under_review',
  by_operator: 'under_review',

  // About payouts that were returned (facts.ts, actions.ts).
  payout_returned: 'payout_returned',
  paid_too_little: 'paid_other_amount',
  paid_other_amount: 'paid_other_amount',
  paid_before: 'under_review',
  partly_refunded: 'under_review',

  // About findings of the gate and screening (gate.ts, compliance/screening.ts), and the law.
  fee_compensated: 'fee_compensated',
  released_by_law: 'under_review',
  screening: 'under_review',
  customer_blocked: 'under_review',
  sender_blocked: 'under_review',
  account_of_blocked: 'under_review',
  document_of_blocked: 'under_review',
  address_of_blocked: 'under_review',
  destination_denied: 'under_review',
  held_by_magic_value: 'under_review',
  sanctions_undecided: 'under_review',
  sanctions_hit: 'under_review',
  sanctions_nameless: 'under_review',
  address_risk_undecided: 'under_review',
  address_risk_hit: 'under_review',
  sender_unknown: 'under_review',
  travel_rule_missing: 'under_review',
  travel_rule_refused: 'under_review',
  travel_rule_too_late: 'under_review',
  account_name_differs: 'under_review',
  over_level_limit: 'under_review',
  over_customer_limit: 'under_review',
  destination_new: 'under_review',
  destination_held: 'under_review',
  destination_rejected: 'under_review',
  destination_unfit: 'under_review',
  deposit_held: 'under_review',
  held_by_operator: 'under_review',
  part_arrived: 'underpaid',
  order_frozen: 'under_review',

  // Answers of rails (rails/manual, rails/simulated, rails/payouts.ts). A bank's suspicions are not shown to a partner.
  never_arrived: 'rejected_by_network',
  declared_never_paid: 'rejected_by_network',
  reverted: 'rejected_by_network',
  failed: 'rejected_by_network',
  currency_not_held: 'rejected_by_bank',
  not_an_account: 'wrong_account',
  no_account_number: 'wrong_account',
  malformed_account_number: 'wrong_account',
  no_name: 'name_and_account_differ',
  name_not_writable: 'name_and_account_differ',
  malformed_bic: 'wrong_account',
  malformed_bank_code: 'wrong_account',
  no_iban: 'wrong_account',
  key_not_writable: 'rejected_by_bank',
  taken_off_list: 'under_review',
  rejected_by_bank: 'rejected_by_bank',
  returned_by_bank: 'returned_by_bank',
  wrong_account_number: 'wrong_account',
  wrong_account_type: 'wrong_account',
  wrong_bank_code: 'wrong_account',
  account_closed: 'account_closed',
  account_blocked: 'under_review',
  not_allowed_on_account: 'returned_by_bank',
  wrong_bank_operation: 'returned_by_bank',
  duplicate: 'returned_by_bank',
  wrong_amount: 'wrong_amount',
  name_and_account_differ: 'name_and_account_differ',
  address_missing: 'returned_by_bank',
  sender_not_recognised: 'returned_by_bank',
  bank_not_reachable: 'returned_by_bank',
  wrong_currency: 'wrong_currency',
  asked_back_by_customer: 'returned_by_bank',
  settlement_failed: 'returned_by_bank',
  recalled: 'returned_by_bank',
  fraud: 'under_review',
  legal_decision: 'under_review',
  regulatory: 'under_review',
  holder_deceased: 'under_review',
  rejected_by_payee: 'returned_by_bank',
  no_answer_from_payee: 'returned_by_bank',
  payer_details_missing: 'returned_by_bank',
  payee_details_missing: 'returned_by_bank',
  service_not_rendered: 'returned_by_bank',
  technical_problem: 'returned_by_bank',
  too_late: 'returned_by_bank',
  undue: 'returned_by_bank',
};

/** Earlier words for the same reasons: histories never change, so old steps still have them. */
const EARLIER: Readonly<Record<string, PublicReason>> = {
  refused_by_bank: 'rejected_by_bank',
  refused_by_payee: 'returned_by_bank',
};

/** Whether an internal reason has a public one. */
export const hasPublicReason = (inner: string): boolean => Object.hasOwn(TABLE, inner);

/**
 * @param inner a stored reason: a word; a bank's reason with its code (`account_closed (AC04)`); the gate's reason with its
 *   prefix; or an operator's sentence, which is never shown outside
 * @param otherwise used if the reason is the rail's own text
 */
export function publicReason(inner: string, otherwise: PublicReason = 'under_review'): PublicReason {
  const isHeld = inner.startsWith(HELD_AT_GATE);
  const [word = ''] = (isHeld ? inner.slice(HELD_AT_GATE.length) : inner).split(' (', 1);
  if (Object.hasOwn(TABLE, word)) return TABLE[word] ?? 'under_review';
  if (Object.hasOwn(EARLIER, word)) return EARLIER[word] ?? 'under_review';
  return isHeld ? 'under_review' : otherwise;
}
