/**
 * Recovery codes of operators. A code enrols one passkey, once; it begins no session and does nothing else. So a person who
 * finds a code leaves a line in the audit and a case before they can act.
 *
 * Using a code ends the operator's earlier passkeys and sessions, because the operator has lost them. Disabling an operator
 * ends its codes for good (people.ts).
 *
 * Not here: the format of a code (base/recovery.ts), the audit and the case (protocols/operator/recover.ts).
 */
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import { hashOfRecoveryCode, makeRecoveryCodes } from '../base/recovery.ts';
import { lockOperator } from './people.ts';
import { recoveryStore as store } from './recovery.store.ts';
import { revokeAccess } from './sessions.ts';
import type { Operator } from './store.ts';

/** Creates ten new codes and ends the earlier ones. @returns the codes, which cannot be read again later */
export async function newRecoveryCodes(tx: Tx, operatorId: bigint, now: Date): Promise<string[]> {
  // Serializes concurrent requests: the second replaces the codes of the first.
  await lockOperator(tx, operatorId);
  await store.drop(tx, operatorId);
  const codes = makeRecoveryCodes();
  for (const { hash } of codes) await store.insert(tx, hash, operatorId, now);
  return codes.map(({ shown }) => shown);
}

/** Number of unused codes. */
export const recoveryCodesOf = (tx: Tx, operatorId: bigint): Promise<number> => store.count(tx, operatorId);

/** The enabled operator of a code, as typed by a person. Does not use the code up. @throws Refusal 'wrong_code' */
export async function operatorOfCode(tx: Tx, typed: string): Promise<Operator> {
  const found = await store.owner(tx, hashOfRecoveryCode(typed));
  if (found === undefined) throw new Refusal('wrong_code');
  return found;
}

/**
 * Uses up a code, for an operator who has enrolled a passkey with it. The operator's earlier passkeys and sessions end.
 *
 * @returns the number of unused codes
 * @throws Refusal 'wrong_code' when another request used it first; 'unauthenticated' when the operator is disabled
 */
export async function spendCode(tx: Tx, c: { typed: string; operatorId: bigint; now: Date }): Promise<number> {
  await lockOperator(tx, c.operatorId);
  if ((await store.take(tx, hashOfRecoveryCode(c.typed), c.operatorId)) === 0) throw new Refusal('wrong_code');
  await revokeAccess(tx, c.operatorId, c.now);
  return await store.count(tx, c.operatorId);
}
