/**
 * When a case is due: a number of hours after it was opened, by kind. An overdue case is escalated: it is listed first on the
 * console's home, and alert rules name it.
 *
 * One hour: money may be leaving, or data cannot be trusted until an operator has checked it. Four: customers wait for us. A
 * day: nothing is lost meanwhile. Three days: another party acts. A month: for information only.
 */
import type { CaseKind } from './kinds.ts';

const HOURS = {
  1: [
    ...['payout_unknown', 'payout_contradiction', 'unexplained_debit', 'movement_unmatched', 'uncovered'],
    ...['break_missing_in_ledger', 'break_missing_outside', 'break_amount', 'break_balance'],
    ...['rail_halted', 'rail_failing', 'screening_unavailable', 'block_too_late', 'hold_too_late', 'deposit_lost'],
    ...['action_delayed', 'recovery_code_used', 'partner_contained', 'treasury_short'],
  ],
  4: [
    ...['on_hold', 'payout_held', 'refund_held', 'rail_unread', 'overdue', 'sanctions_hit', 'sanctions_list'],
    ...(['address_risk_hit', 'names_unscreened'] as const),
    ...['refund_rejected', 'refund_short', 'refund_destination_held', 'return_confirmed', 'unexpected_credit'],
    ...[
      'transfer_held',
      'treasury_low',
      'gas_short',
      'sweep_rejected',
      'sweep_failed',
      'price_halted',
      'change_failed',
      'statement_gap',
    ],
    'statement_line_refused',
  ],
  24: [
    ...['verification_review', 'verification_overdue', 'information_answered', 'overpaid', 'deposit_unknown_target'],
    ...['deposit_wrong_asset', 'deposit_wrong_chain', 'deposit_late', 'deposit_second', 'deposit_held'],
    ...[
      'customer_owes',
      'travel_rule_missing',
      'travel_rule_too_late',
      'payout_returned',
      'identity_duplicate',
      'monitoring',
    ],
  ],
  72: ['information_overdue', 'refund_destination', 'refund_returned', 'webhook_undelivered', 'webhook_off'],
  720: ['frozen', 'dormant_soon', 'dormant'],
} as const satisfies Record<number, readonly CaseKind[]>;

const BY_KIND: ReadonlyMap<string, number> = new Map(
  Object.entries(HOURS).flatMap(([hours, kinds]) => kinds.map((kind) => [kind, Number(hours)] as const)),
);

/** Hours for a kind that only another version of the server knows. */
export const OTHERS = 24;

const dueHours = (kind: string): number => BY_KIND.get(kind) ?? OTHERS;

/** Parallel arrays of kinds and hours, for SQL. */
export const DUE: { readonly kinds: readonly string[]; readonly hours: readonly number[] } = {
  kinds: [...BY_KIND.keys()],
  hours: [...BY_KIND.values()],
};

export const dueAt = (kind: string, openedAt: Date): Date => new Date(openedAt.getTime() + dueHours(kind) * 3_600_000);

/** A case of these kinds is due by a time if it was opened at or before `openedBy`; without kinds, one of any other kind. */
export const dueGroups = (due: Date): readonly { kinds: readonly string[] | undefined; openedBy: Date }[] => [
  ...Object.entries(HOURS).map(([hours, kinds]) => ({ kinds, openedBy: earlier(due, Number(hours)) })),
  { kinds: undefined, openedBy: earlier(due, OTHERS) },
];

const earlier = (at: Date, hours: number): Date => new Date(at.getTime() - hours * 3_600_000);
