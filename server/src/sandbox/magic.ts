/**
 * Magic values: request values that make the sandbox misbehave. Collected here from where each takes effect; the table in
 * docs/sandbox.md is made from this.
 */
import { MAGIC_HOLDS } from '../compliance/index.ts';
import { SANDBOX_CODE, SANDBOX_DEAD_PHONE } from '../protocols/checkout/index.ts';
import { MAGIC_ACCOUNTS, MAGIC_NAMES } from '../rails/simulated/index.ts';
import { MAGIC_DOCUMENT, MAGIC_IDENTITIES } from '../verifiers/simulated/index.ts';

export interface MagicValue {
  /** The field that contains it. */
  where: string;
  value: string;
  says: string;
}

const HELD = 'held by screening until an operator releases or rejects it';

export const MAGIC: readonly MagicValue[] = [
  ...MAGIC_ACCOUNTS.map(({ ending, says }) => ({
    where: 'account number or IBAN of a payout or refund',
    value: `… ${ending}`,
    says,
  })),
  ...MAGIC_NAMES.map(({ name, says }) => ({ where: 'holder of that account (`accountHolder`)', value: name, says })),
  { where: '`merchantRecognitionId` of an order', value: MAGIC_HOLDS.reference, says: HELD },
  { where: '`fromAmount` of an order', value: MAGIC_HOLDS.amount, says: HELD },
  { where: 'wallet address of a purchase', value: MAGIC_HOLDS.address, says: HELD },
  { where: 'login code of a hosted page', value: SANDBOX_CODE, says: 'always accepted' },
  {
    where: "customer's phone number",
    value: `… ${SANDBOX_DEAD_PHONE}`,
    says: 'the login code cannot be sent',
  },
  ...MAGIC_IDENTITIES.map(({ ending, says }) => ({
    where: 'identity number in a verification',
    value: `… ${ending}`,
    says,
  })),
  { where: 'first name in a verification', value: MAGIC_DOCUMENT.firstName, says: MAGIC_DOCUMENT.says },
];
