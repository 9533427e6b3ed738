/**
 * Stops: what an operator has switched off, and may be switched on again.
 *
 * - A market, or a partner: no new quotes and orders. What is under way goes on.
 * - A rail, or all payouts: nothing is handed over. Payouts and refunds wait as rows, and what comes in is taken as ever.
 *
 * A stop is obeyed by every handing over that begins after it was set. Who hands over shares a lock and who switches takes it
 * alone, so a switch waits for those that are just beginning (a moment: nobody outside is called under it), and after it has
 * answered none begins. Orders look at the rows themselves; quotes, which promise little, at what was read a moment ago.
 */
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import { remember } from './remember.ts';
import {
  handingStop,
  insertLayer,
  insertStop,
  lockHanding,
  removeStop,
  type Stop,
  type StopKind,
  shareHanding,
  stopRows,
} from './stops.store.ts';

export { layersOf, MACHINE, type Stop, type StopKind } from './stops.store.ts';

/** One partner sees the markets' stops and its own, so what is remembered is remembered for each. */
const remembered = remember<readonly Stop[]>({ forMs: 1_000, most: 10_000 });
/** When asking again makes sense, as far as anybody can say. */
const ASK_AGAIN_MS = 60_000;

/** Whoever lays one that is there adds their name to it. @returns false where it was stopped already */
export async function setStop(tx: Tx, stop: Stop): Promise<boolean> {
  await lockHanding(tx);
  const partnerId = stop.kind === 'partner' ? BigInt(stop.subject) : null;
  const isNew = (await insertStop(tx, { ...stop, partnerId })) === 1;
  await insertLayer(tx, stop);
  remembered.forget();
  return isNew;
}

/** @returns false where it was not stopped */
export async function liftStop(tx: Tx, kind: StopKind, subject: string): Promise<boolean> {
  const wasThere = (await removeStop(tx, kind, subject)) === 1;
  remembered.forget();
  return wasThere;
}

/** All that is stopped, the oldest first. */
export const stops = (tx: Tx): Promise<Stop[]> => stopRows(tx);

/**
 * Whether this partner may begin something on this market.
 *
 * @param ask.exactly for an order; a quote goes by what was read within the last second
 * @throws Refusal 'partner_stopped' | 'market_stopped'
 */
export async function requireOpen(
  tx: Tx,
  ask: { partnerId: bigint; marketId: bigint; exactly: boolean },
): Promise<void> {
  const rows = ask.exactly ? await stopRows(tx) : await remembered.get(String(ask.partnerId), () => stopRows(tx));
  const stopped = (kind: StopKind, id: bigint) => rows.some((row) => row.kind === kind && row.subject === String(id));
  if (stopped('partner', ask.partnerId)) throw new Refusal('partner_stopped');
  if (stopped('market', ask.marketId)) throw new Refusal('market_stopped', { retryAfterMs: ASK_AGAIN_MS });
}

/**
 * Whether nothing may be handed over to this rail now. True stays true, and false false, until `tx` ends: call it in the
 * transaction that claims what is to be handed over.
 */
export async function isHandingStopped(tx: Tx, rail: string): Promise<boolean> {
  await shareHanding(tx);
  return (await handingStop(tx, rail)) !== undefined;
}

/** Whether nothing of our own leaves by this rail: for what is moved between our wallets, which no stop of payouts holds. */
export const isRailStopped = async (tx: Tx, rail: string): Promise<boolean> =>
  (await stopRows(tx)).some(({ kind, subject }) => kind === 'rail' && subject === rail);
