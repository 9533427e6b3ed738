/**
 * Login codes: six digits that prove a customer holds the phone it gave.
 *
 * A code is good for five minutes, five tries and one browser session. Codes are sent at most every half minute and five
 * times an hour; fifteen wrong tries in a row, over however many codes, shut the door for an hour. So whoever has a link
 * but not the phone has 15 guesses an hour at a million codes, however many connections it asks over: the row is locked
 * while it is looked at.
 *
 * At rest there is a keyed hash, made with the time of sending, so that equal codes do not look equal. Answers are words and
 * not errors, because a wrong try has to be counted and an error would roll the count back.
 *
 * Not here: making a code and bringing it to the phone (whoever shows the page), the session that follows.
 */
import { timingSafeEqual } from 'node:crypto';
import { later } from '../base/clock.ts';
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import { assert } from '../base/errors.ts';
import { type LoginCodeRow, sql } from './store.ts';

const CODE_FOR_MS = 5 * 60_000;
const TRIES = 5;
const RESEND_AFTER_MS = 30_000;
const WINDOW_MS = 3_600_000;
const SENDS_PER_WINDOW = 5;
const LOCK_AFTER = 15;
const LOCK_FOR_MS = 3_600_000;

type Who = { readonly id: string; readonly partnerId: bigint };

export type Issued = { outcome: 'issued' } | { outcome: 'wait' | 'locked'; until: Date };

/** Makes this code the customer's only one, unless it is too soon for another. It is to be sent after the commit. */
export async function issueCode(
  tx: Tx,
  vault: Vault,
  { customer, code, now }: { customer: Who; code: string; now: Date },
): Promise<Issued> {
  await tx.run(sql.firstLoginCode, [customer.id, customer.partnerId, now]);
  const row = await tx.row<LoginCodeRow>(sql.lockLoginCode, [customer.id]);
  assert(row !== undefined, 'a login row that was inserted is there');
  if (isLocked(row, now)) return { outcome: 'locked', until: row.locked_until ?? now };
  const resendAt = row.sent_at === null ? now : later(row.sent_at, RESEND_AFTER_MS);
  if (resendAt > now) return { outcome: 'wait', until: resendAt };
  const windowEnds = later(row.window_began, WINDOW_MS);
  const isNewWindow = windowEnds <= now;
  if (!isNewWindow && row.sends >= SENDS_PER_WINDOW) return { outcome: 'wait', until: windowEnds };
  await tx.run(sql.issueLoginCode, [
    customer.id,
    hashOf(vault, customer.id, now, code),
    now,
    isNewWindow ? now : row.window_began,
    isNewWindow ? 1 : row.sends + 1,
  ]);
  return { outcome: 'issued' };
}

/**
 * Tries a code.
 *
 * @param by names the browser session; once right, the code is right again for that session and wrong for others
 * @returns 'over': there is no code that could be right, a new one has to be sent
 */
export async function checkCode(
  tx: Tx,
  vault: Vault,
  { customerId, code, by, now }: { customerId: string; code: string; by: string; now: Date },
): Promise<'right' | 'wrong' | 'over' | 'locked'> {
  const row = await tx.row<LoginCodeRow>(sql.lockLoginCode, [customerId]);
  if (row === undefined) return 'over';
  if (isLocked(row, now)) return 'locked';
  if (!isLive(row, now) || row.code === null || row.sent_at === null) return 'over';
  const user = vault.index(by, `login_codes.used_by:${customerId}`);
  const isRight = timingSafeEqual(row.code, hashOf(vault, customerId, row.sent_at, code));
  if (isRight && (row.used_by === null || timingSafeEqual(row.used_by, user))) {
    await tx.run(sql.useLoginCode, [customerId, user]);
    return 'right';
  }
  // A lock that has ended starts the count anew.
  const wrong = (row.locked_until === null ? row.wrong : 0) + 1;
  const lockedUntil = wrong >= LOCK_AFTER ? later(now, LOCK_FOR_MS) : null;
  await tx.run(sql.missLoginCode, [customerId, row.tries + 1, wrong, lockedUntil]);
  if (lockedUntil !== null) return 'locked';
  return row.tries + 1 >= TRIES ? 'over' : 'wrong';
}

/** Whether a code is on its way that could still be entered. */
export async function isCodeLive(tx: Tx, customerId: string, now: Date): Promise<boolean> {
  const row = await tx.row<LoginCodeRow>(sql.loginCode, [customerId]);
  return row !== undefined && isLive(row, now) && row.used_by === null && !isLocked(row, now);
}

const isLocked = (row: LoginCodeRow, now: Date): boolean => row.locked_until !== null && row.locked_until > now;
const isLive = (row: LoginCodeRow, now: Date): boolean =>
  row.code !== null && row.sent_at !== null && later(row.sent_at, CODE_FOR_MS) > now && row.tries < TRIES;

const hashOf = (vault: Vault, customerId: string, sentAt: Date, code: string): Buffer =>
  vault.index(code, `login_codes.code:${customerId}:${sentAt.getTime()}`);
