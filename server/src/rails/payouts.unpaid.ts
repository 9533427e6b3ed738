/**
 * Unpaid: when operators may declare that a payout whose outcome stays unknown was never paid.
 *
 * Their evidence is what the bank tells them, which no rail reports. We can only check that the declaration is not premature: no
 * submission may still be executed, and the rail's reports since then have been read. The time counts from the *last* submission,
 * by the database's clock: an earlier one may have been lost, so that the rail received the key late. No time of this machine is
 * part of the comparison: a server that is behind would accept reports that end too early.
 */
import { type Clock, onClock } from '../base/clock.ts';
import type { Tx } from '../base/db.ts';
import { GRACE_MS } from './payouts.repeat.ts';
import { type Payout, submissionEnd } from './payouts.store.ts';
import type { Rail } from './rail.ts';

/**
 * Why a payout may not be declared never paid now; undefined if it may. Reads rows only.
 *
 * @param payout locked, so that the answer stays valid: no submission begins meanwhile
 */
export async function whyNotUnpaid(
  { clock, graceMs = GRACE_MS }: { clock: Clock; graceMs?: number },
  tx: Tx,
  rail: Rail,
  payout: Payout,
): Promise<string | undefined> {
  const { id: key, state, alarmedAt, asset, units } = payout;
  if (state !== 'unknown' && state !== 'submitted') return `it is ${state}, and its outcome is not unknown`;
  if (alarmedAt === null) return 'the server is still querying the rail; a case opens if that takes too long';
  const open = await rail.mayYetPay?.(tx, { key, asset, units });
  if (open !== undefined) return open;
  const { deduplicatesForMs } = rail;
  // A rail that recognises keys permanently shows in its rows which payouts are open. A bank recognises keys for a stated time.
  const lastsMs = Math.max(graceMs, Number.isFinite(deduplicatesForMs) ? deduplicatesForMs : 0);
  const end = await submissionEnd(tx, key, lastsMs);
  if (end === undefined) return 'no submission of it has begun';
  const overAt = onClock(clock, end.overAt);
  if (!end.isOver) return `its rail may still execute it, until ${overAt.toISOString()}`;
  if (rail.readTo === undefined) return undefined;
  const readTo = await rail.readTo(tx, asset);
  if (readTo !== undefined && readTo >= overAt) return undefined;
  return `what its rail shows is read up to ${readTo?.toISOString() ?? 'no time'}, and must be up to ${overAt.toISOString()}`;
}
