/**
 * Login codes: six digits that prove a customer holds the phone it gave.
 *
 * A code belongs to the browser session that requested it, is valid for five minutes and five tries in that session, and
 * invalid in any other. Every code issued is a row, and all limits are counted from these rows:
 *
 * | What is counted | Within an hour | Beyond it |
 * |---|---|---|
 * | codes for one session | 5, half a minute apart | told to wait |
 * | wrong tries of one session | 15 | that session is locked |
 * | codes by one link: for its customer, or for any number if it is anonymous | 5, half a minute apart; 10 | told to wait |
 * | codes for a customer by links that name it | 20 | told to wait |
 * | codes for a customer by anonymous links: from one network, and in total | 5; 10 | told that it is sent if it can be; not sent |
 * | the same, of a link and a network that have had less than 2 for the customer | 30 in total | the same |
 *
 * The answer depends on the requesting session, link and network, never on other people's requests for the same number. So an
 * anonymous link does not reveal whether we know a number; and an attacker who guesses locks only the attacker's own session: the owner of
 * the phone can log in from another session, through another link. After ten codes that others requested by anonymous links, a link
 * and a network that have had none still get two. The number of codes sent bounds the guesses at a number.
 *
 * Only a keyed hash is stored, computed with session and time, so that equal codes do not look equal. Results are returned and
 * not thrown, because a wrong try has to be counted and an error would roll the count back.
 *
 * Not here: creating a code and sending it to the phone (the page's protocol), the session that follows.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { later } from '../base/clock.ts';
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import { assert } from '../base/errors.ts';
import { type LoginSendRow, type SendCounts, sql } from './store.ts';

/** How long a code is valid. */
export const CODE_FOR_MS = 5 * 60_000;
const TRIES = 5;
const RESEND_AFTER_MS = 30_000;
const WINDOW_MS = 3_600_000;
const FORGET_AFTER_MS = 24 * 3_600_000;
const LOCK_AFTER = 15;
const PER_SESSION = 5;
const PER_NAMING_LINK = 5;
const PER_OPEN_LINK = 10;
const PER_CUSTOMER_NAMED = 20;
const PER_CUSTOMER_OPEN = 10;
const PER_CUSTOMER_AND_NETWORK = 5;
/** Codes that remain for a link and a network that have had none, once others have used up those of the number. */
const PER_NEWCOMER = 2;
/** With these. Each further network and link of an attacker costs the owner at most two of them. */
const PER_CUSTOMER_OPEN_AT_MOST = 30;

type Who = { readonly id: string; readonly partnerId: bigint };

/** Where a code is requested. */
export interface Asking {
  /** Identifies the browser session. */
  readonly session: string;
  /** Identifies the link. */
  readonly link: string;
  /** The link is anonymous: its holder typed the number. */
  readonly isOpen: boolean;
  readonly network: string;
}

export type Issued =
  /** `isSent` false: the page says that it was sent, but no message is sent. `id` identifies the row. */
  { outcome: 'issued'; id: bigint; isSent: boolean } | { outcome: 'wait' | 'locked'; until: Date };

/** Makes this code the session's only one, unless it is too soon for another. The caller sends it after the commit. */
export async function issueCode(
  tx: Tx,
  vault: Vault,
  { customer, code, asking, now }: { customer: Who; code: string; asking: Asking; now: Date },
): Promise<Issued> {
  const by = indexed(vault, customer, asking);
  // Serializes the counts of requests for one customer, and of requests through one link.
  for (const lock of [vault.index(customer.id, 'login_sends.customer'), by.link].toSorted(Buffer.compare))
    await tx.run('select pg_advisory_xact_lock($1)', [lock.readBigInt64BE(0)]);
  await tx.run(sql.forgetLoginSends, [customer.id, later(now, -FORGET_AFTER_MS)]);
  const since = later(now, -WINDOW_MS);
  const counts = await tx.row<SendCounts>(sql.loginSends, [customer.id, by.session, by.link, by.network, since]);
  assert(counts !== undefined, 'the counts were not returned');
  const told = refusalBy(counts, asking.isOpen, now);
  if (told !== undefined) return told;
  const isSent = !asking.isOpen || maySend(counts);
  const row = await tx.row<{ id: bigint }>(sql.insertLoginSend, [
    customer.partnerId,
    customer.id,
    by.session,
    by.link,
    by.network,
    asking.isOpen,
    isSent,
    isSent ? hashOf(vault, { customerId: customer.id, session: by.session, sentAt: now }, code) : randomBytes(32),
    now,
  ]);
  assert(row !== undefined, 'the issued code was not returned');
  return { outcome: 'issued', id: row.id, isSent };
}

/** Whether one more message may go to the number by an anonymous link. The page says the same in both cases. */
function maySend(counts: SendCounts): boolean {
  const { openSends, networkSends, openLinkSends } = counts;
  if (openSends < PER_CUSTOMER_OPEN) return networkSends < PER_CUSTOMER_AND_NETWORK;
  return openSends < PER_CUSTOMER_OPEN_AT_MOST && networkSends < PER_NEWCOMER && openLinkSends < PER_NEWCOMER;
}

/** The refusal that the requester's own activity causes; undefined when a code may be issued. */
function refusalBy(counts: SendCounts, isOpen: boolean, now: Date): Exclude<Issued, { outcome: 'issued' }> | undefined {
  if (Number(counts.wrong) >= LOCK_AFTER)
    return { outcome: 'locked', until: later(counts.sessionOldest ?? now, WINDOW_MS) };
  const waits = [
    counts.sessionNewest !== null && later(counts.sessionNewest, RESEND_AFTER_MS),
    Number(counts.sessionSends) >= PER_SESSION && later(counts.sessionOldest ?? now, WINDOW_MS),
    ...(isOpen
      ? [Number(counts.linkSends) >= PER_OPEN_LINK && later(counts.linkOldest ?? now, WINDOW_MS)]
      : [
          counts.ownLinkNewest !== null && later(counts.ownLinkNewest, RESEND_AFTER_MS),
          Number(counts.ownLinkSends) >= PER_NAMING_LINK && later(counts.ownLinkOldest ?? now, WINDOW_MS),
          Number(counts.namedSends) >= PER_CUSTOMER_NAMED && later(counts.namedOldest ?? now, WINDOW_MS),
        ]),
  ].filter((until): until is Date => until !== false && until > now);
  const longest = waits.toSorted((a, b) => b.getTime() - a.getTime())[0];
  return longest === undefined ? undefined : { outcome: 'wait', until: longest };
}

/**
 * Tries a code.
 *
 * @param c.session the session that requested the code; a code that was right once stays right for it
 * @returns 'over' when no code is valid and a new one has to be sent
 */
export async function checkCode(
  tx: Tx,
  vault: Vault,
  { customerId, code, session, now }: { customerId: string; code: string; session: string; now: Date },
): Promise<'right' | 'wrong' | 'over' | 'locked'> {
  const by = sessionOf(vault, customerId, session);
  const row = await tx.row<LoginSendRow>(sql.lockLoginSend, [customerId, by]);
  if (row === undefined) return 'over';
  const { wrong = 0n } =
    (await tx.row<{ wrong: bigint }>(sql.wrongTries, [customerId, by, later(now, -WINDOW_MS)])) ?? {};
  if (Number(wrong) >= LOCK_AFTER) return 'locked';
  if (!isLive(row, now) || row.code === null) return 'over';
  if (timingSafeEqual(row.code, hashOf(vault, row, code))) {
    await tx.run(sql.useLoginSend, [row.id, now]);
    return 'right';
  }
  await tx.run(sql.missLoginSend, [row.id]);
  if (Number(wrong) + 1 >= LOCK_AFTER) return 'locked';
  return row.tries + 1 >= TRIES ? 'over' : 'wrong';
}

/** State of the session's newest code: it can still be entered, or it could not be sent. */
export async function codeUnderWay(
  tx: Tx,
  vault: Vault,
  { customerId, session, now }: { customerId: string; session: string; now: Date },
): Promise<'live' | 'failed' | 'none'> {
  const row = await tx.row<LoginSendRow>(sql.loginSend, [customerId, sessionOf(vault, customerId, session)]);
  if (row === undefined || row.usedAt !== null) return 'none';
  if (row.failedAt !== null && later(row.failedAt, CODE_FOR_MS) > now) return 'failed';
  return isLive(row, now) ? 'live' : 'none';
}

/** Records that the code could not be sent to the phone. */
export const sendingFailed = async (tx: Tx, id: bigint, now: Date): Promise<void> =>
  void (await tx.run(sql.failLoginSend, [id, now]));

/**
 * Deletes codes issued before a time, once the hour in which they count is over. @returns how many codes from before that time
 * are left
 */
export async function forgetOldSends(tx: Tx, before: Date): Promise<number> {
  await tx.run(sql.forgetSendsBefore, [before]);
  return (await tx.row<{ sends: number }>(sql.sendsBefore, [before]))?.sends ?? 0;
}

const isLive = (row: LoginSendRow, now: Date): boolean =>
  row.code !== null && row.failedAt === null && later(row.sentAt, CODE_FOR_MS) > now && row.tries < TRIES;

const sessionOf = (vault: Vault, customerId: string, session: string): Buffer =>
  vault.index(session, `login_sends.session:${customerId}`);

const indexed = (vault: Vault, customer: Who, asking: Asking) => ({
  session: sessionOf(vault, customer.id, asking.session),
  link: vault.index(asking.link, 'login_sends.link'),
  network: vault.index(asking.network, 'login_sends.network'),
});

const hashOf = (
  vault: Vault,
  { customerId, session, sentAt }: Pick<LoginSendRow, 'customerId' | 'session' | 'sentAt'>,
  code: string,
): Buffer => vault.index(code, `login_sends.code:${customerId}:${session.toString('hex')}:${sentAt.getTime()}`);
