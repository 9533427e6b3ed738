/**
 * Why payments are returned: ISO 20022 reason codes (external code list, return reasons) for credit transfers, in our words.
 * The bank's code stays visible, for people who look it up.
 */
const REASONS: Readonly<Record<string, string>> = {
  AC01: 'wrong_account_number',
  AC03: 'wrong_account_number',
  AC04: 'account_closed',
  AC06: 'account_blocked',
  AC14: 'wrong_account_type',
  AG01: 'not_allowed_on_account',
  AG02: 'wrong_bank_operation',
  AM05: 'duplicate',
  AM09: 'wrong_amount',
  BE01: 'name_and_account_differ',
  BE04: 'address_missing',
  BE05: 'sender_not_recognised',
  CNOR: 'bank_not_reachable',
  CURR: 'wrong_currency',
  CUST: 'asked_back_by_customer',
  DNOR: 'bank_not_reachable',
  DUPL: 'duplicate',
  ED05: 'settlement_failed',
  FOCR: 'recalled',
  FR01: 'fraud',
  FRAD: 'fraud',
  LEGL: 'legal_decision',
  MD07: 'holder_deceased',
  MS02: 'rejected_by_payee',
  MS03: 'rejected_by_bank',
  NOAS: 'no_answer_from_payee',
  RC01: 'wrong_bank_code',
  RC04: 'wrong_bank_code',
  RC07: 'wrong_bank_code',
  RR01: 'payer_details_missing',
  RR02: 'payer_details_missing',
  RR03: 'payee_details_missing',
  RR04: 'regulatory',
  SVNR: 'service_not_rendered',
  TECH: 'technical_problem',
  TM01: 'too_late',
  UPAY: 'undue',
};

/** @param code the bank's code, or '' if there is none */
export const returnReason = (code: string): string =>
  code === '' ? 'returned_by_bank' : `${REASONS[code] ?? 'returned_by_bank'} (${code})`;
