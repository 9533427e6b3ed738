/**
 * Stops: what an operator has switched off, and may be switched on again.
 *
 * - A market, or a partner: no new quotes and orders. What is under way goes on.
 * - A rail, or all payouts: nothing is submitted. Payouts and refunds wait as rows, and what comes in is taken as ever.
 *
 * A kill switch is obeyed by every submission that begins after it was set. Who submits shares a lock and who switches takes it
 * alone, so a switch waits for those that are just beginning (a moment: nobody outside is called under it), and after it has
 * answered none begins. Orders look at the rows themselves; quotes, which promise little, at what was read a moment ago.
 */
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import {
  insertKillSwitch,
  insertLayer,
  type KillSwitch,
  type KillSwitchKind,
  lockSubmitting,
  removeKillSwitch,
  shareSubmitting,
  submittingSwitch,
  switchRows,
} from './kill-switches.store.ts';
import { remember } from './remember.ts';

export { type KillSwitch, type KillSwitchKind, layersOf, MACHINE } from './kill-switches.store.ts';

/** One partner sees the markets' kill switches and its own, so what is remembered is remembered for each. */
const remembered = remember<readonly KillSwitch[]>({ forMs: 1_000, most: 10_000 });
/** When asking again makes sense, as far as anybody can say. */
const ASK_AGAIN_MS = 60_000;

/** Whoever lays one that is there adds their name to it. @returns false where it was stopped already */
export async function setKillSwitch(tx: Tx, stop: KillSwitch): Promise<boolean> {
  await lockSubmitting(tx);
  const partnerId = stop.kind === 'partner' ? BigInt(stop.subject) : null;
  const isNew = (await insertKillSwitch(tx, { ...stop, partnerId })) === 1;
  await insertLayer(tx, stop);
  remembered.forget();
  return isNew;
}

/** @returns false where it was not stopped */
export async function liftKillSwitch(tx: Tx, kind: KillSwitchKind, subject: string): Promise<boolean> {
  const wasThere = (await removeKillSwitch(tx, kind, subject)) === 1;
  remembered.forget();
  return wasThere;
}

/** All that is stopped, the oldest first. */
export const killSwitches = (tx: Tx): Promise<KillSwitch[]> => switchRows(tx);

/**
 * Whether this partner may begin something on this market.
 *
 * @param input.exactly for an order; a quote goes by what was read within the last second
 * @throws Refusal 'partner_switched_off' | 'market_switched_off'
 */
export async function requireOpen(
  tx: Tx,
  input: { partnerId: bigint; marketId: bigint; exactly: boolean },
): Promise<void> {
  const rows = input.exactly
    ? await switchRows(tx)
    : await remembered.get(String(input.partnerId), () => switchRows(tx));
  const stopped = (kind: KillSwitchKind, id: bigint) =>
    rows.some((row) => row.kind === kind && row.subject === String(id));
  if (stopped('partner', input.partnerId)) throw new Refusal('partner_switched_off');
  if (stopped('market', input.marketId)) throw new Refusal('market_switched_off', { retryAfterMs: ASK_AGAIN_MS });
}

/**
 * Whether nothing may be submitted to this rail now. True stays true, and false false, until `tx` ends: call it in the
 * transaction that claims what is to be submitted.
 */
export async function isSubmittingOff(tx: Tx, rail: string): Promise<boolean> {
  await shareSubmitting(tx);
  return (await submittingSwitch(tx, rail)) !== undefined;
}

/** Whether nothing of our own leaves by this rail: for what is moved between our wallets, which no kill switch of payouts holds. */
export const isRailOff = async (tx: Tx, rail: string): Promise<boolean> =>
  (await switchRows(tx)).some(({ kind, subject }) => kind === 'rail' && subject === rail);
