/**
 * Kill switches: what an operator has switched off, and can switch on again.
 *
 * - A market, or a partner: no new quotes and orders. Orders under way continue.
 * - A rail, or all payouts: nothing is submitted. Payouts and refunds wait as rows, and incoming money is taken as usual.
 *
 * Every submission that begins after a kill switch was set obeys it. Submitting takes a lock in shared mode, setting takes it
 * exclusively: so setting waits for submissions that are just beginning (briefly: no external call happens under the lock), and
 * none begins after it has returned. Orders read the rows directly; quotes, which commit to less, use a cache of one second.
 */
import { later } from '../base/clock.ts';
import type { Tx } from '../base/db.ts';
import { assert, Refusal } from '../base/errors.ts';
import {
  insertKillSwitch,
  insertLayer,
  type KillSwitch,
  type KillSwitchKind,
  layersOf,
  lockKillSwitches,
  lockSubmitting,
  MACHINE,
  removeKillSwitch,
  shareSubmitting,
  submittingSwitch,
  switchRows,
} from './kill-switches.store.ts';
import { remember } from './remember.ts';

export { type KillSwitch, type KillSwitchKind, layersOf, lockKillSwitches, MACHINE } from './kill-switches.store.ts';

/** A partner sees the markets' kill switches and its own, so each partner has its own cache entry. */
const remembered = remember<readonly KillSwitch[]>({ forMs: 1_000, most: 10_000 });
/** Suggested retry time; when the switch is lifted is unknown. */
const ASK_AGAIN_MS = 60_000;

/**
 * Sets a kill switch, or adds this setter to it. An operator who sets it again gets a new time and reason, so that an older
 * proposal to lift it refers to the earlier setting. The machine, which checks repeatedly, does so only with another reason.
 *
 * @returns false when it was set already
 */
export async function setKillSwitch(tx: Tx, stop: KillSwitch): Promise<boolean> {
  await lockSubmitting(tx);
  await lockKillSwitches(tx);
  const { kind, subject, by, reason } = stop;
  const partnerId = kind === 'partner' ? BigInt(subject) : null;
  const layers = await layersOf(tx, kind, subject);
  const own = layers.find((one) => one.by === by);
  const isNew = (await insertKillSwitch(tx, { ...stop, partnerId })) === 1;
  if (own === undefined) await insertLayer(tx, stop);
  else if (by !== MACHINE || own.reason !== reason) {
    const first = (await switchRows(tx)).find((one) => one.kind === kind && one.subject === subject);
    assert(first !== undefined, `the kill switch that ${by} has set is missing`);
    // Rows of setters never change: they are deleted and inserted together with the kill switch.
    await removeKillSwitch(tx, kind, subject);
    await insertKillSwitch(tx, { ...first, ...(first.by === by ? { reason } : {}), partnerId });
    for (const one of layers) if (one !== own) await insertLayer(tx, { kind, subject, ...one });
    const newest = layers.at(-1)?.at ?? own.at;
    await insertLayer(tx, { ...stop, at: newest < stop.at ? stop.at : later(newest, 1) });
  }
  remembered.forget(tx);
  return isNew;
}

/** @returns false when it was not set */
export async function liftKillSwitch(tx: Tx, kind: KillSwitchKind, subject: string): Promise<boolean> {
  await lockKillSwitches(tx);
  const wasThere = (await removeKillSwitch(tx, kind, subject)) === 1;
  remembered.forget(tx);
  return wasThere;
}

/** All kill switches, oldest first. */
export const killSwitches = (tx: Tx): Promise<KillSwitch[]> => switchRows(tx);

/**
 * Checks that this partner may begin something on this market.
 *
 * @param input.exactly for an order; a quote uses what was read within the last second
 * @throws Refusal 'partner_switched_off' | 'market_switched_off'
 */
export async function requireOpen(
  tx: Tx,
  input: { partnerId: bigint; marketId: bigint; exactly: boolean },
): Promise<void> {
  const rows = input.exactly
    ? await switchRows(tx)
    : await remembered.get(tx, String(input.partnerId), () => switchRows(tx));
  const isOff = (kind: KillSwitchKind, id: bigint) =>
    rows.some((row) => row.kind === kind && row.subject === String(id));
  if (isOff('partner', input.partnerId)) throw new Refusal('partner_switched_off');
  if (isOff('market', input.marketId)) throw new Refusal('market_switched_off', { retryAfterMs: ASK_AGAIN_MS });
}

/**
 * Whether submissions to this rail are switched off now. The answer stays valid until `tx` ends, so call it in the transaction
 * that claims the submission.
 */
export async function isSubmittingOff(tx: Tx, rail: string): Promise<boolean> {
  await shareSubmitting(tx);
  return (await submittingSwitch(tx, rail)) !== undefined;
}

/** Whether transfers between our own wallets by this rail are switched off. A kill switch on payouts does not affect them. */
export const isRailOff = async (tx: Tx, rail: string): Promise<boolean> =>
  (await switchRows(tx)).some(({ kind, subject }) => kind === 'rail' && subject === rail);
