/**
 * Recovery codes of operators. One of them enrols a passkey, once; it begins no session and does nothing else, so whoever finds a
 * code still leaves a line in the audit and a case before they can act.
 *
 * Using a code ends the operator's earlier passkeys and sessions: it is for an operator who has lost them. Disabling an operator
 * ends the codes for good (people.ts).
 *
 * Not here: the form of a code (base/recovery.ts), the audit and the case (protocols/operator/recover.ts).
 */
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import { hashOfRecoveryCode, makeRecoveryCodes } from '../base/recovery.ts';
import { lockOperator } from './people.ts';
import { recoveryStore as store } from './recovery.store.ts';
import { revokeAccess } from './sessions.ts';
import type { Operator } from './store.ts';

/** Ten new codes; earlier ones end. @returns them as shown, here and never again */
export async function newRecoveryCodes(tx: Tx, operatorId: bigint, now: Date): Promise<string[]> {
  // Two requests at once: the second replaces the codes of the first.
  await lockOperator(tx, operatorId);
  await store.drop(tx, operatorId);
  const codes = makeRecoveryCodes();
  for (const { hash } of codes) await store.insert(tx, hash, operatorId, now);
  return codes.map(({ shown }) => shown);
}

/** How many are left. */
export const recoveryCodesOf = (tx: Tx, operatorId: bigint): Promise<number> => store.count(tx, operatorId);

/** The enabled operator of a code, in any typed form. It uses up nothing. @throws Refusal 'wrong_code' */
export async function operatorOfCode(tx: Tx, typed: string): Promise<Operator> {
  const found = await store.owner(tx, hashOfRecoveryCode(typed));
  if (found === undefined) throw new Refusal('wrong_code');
  return found;
}

/**
 * Uses a code up, for an operator who has made a passkey with it. Passkeys and sessions that there were end.
 *
 * @returns how many codes are left
 * @throws Refusal 'wrong_code' when another request used it first; 'unauthenticated' when the operator is disabled
 */
export async function spendCode(tx: Tx, c: { typed: string; operatorId: bigint; now: Date }): Promise<number> {
  await lockOperator(tx, c.operatorId);
  if ((await store.take(tx, hashOfRecoveryCode(c.typed), c.operatorId)) === 0) throw new Refusal('wrong_code');
  await revokeAccess(tx, c.operatorId, c.now);
  return await store.count(tx, c.operatorId);
}
