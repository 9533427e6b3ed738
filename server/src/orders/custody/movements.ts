/**
 * Effects of explaining a transaction that our wallet sent and that no row of ours describes, and of clearing a halt: both have
 * the rail's case.
 */
import type { Tx } from '../../base/db.ts';
import { closeCases, upsertCase } from '../../compliance/index.ts';
import { killSwitches, layersOf, liftKillSwitch, lockKillSwitches, MACHINE } from '../../partners/index.ts';
import { countReported, whyOff } from '../../rails/chain.ts';

/** The rail's reason for a kill switch because of unknown transactions (chain.adopt.ts). */
const FOR_MOVEMENTS = /^(nonces? .* used by transactions that|transactions of wallet .*) are not in the books$/;

/**
 * Closes the movement's case. If the rail has no unknown transaction left, the rail's case for them closes too, and the kill switch
 * that the server set for them is lifted; kill switches of operators and of a restore stay on.
 */
export async function movementKnown(
  tx: Tx,
  about: { rail: string; movement: bigint; left: bigint; outcome: string; now: Date },
): Promise<void> {
  const { rail, movement, left, outcome, now } = about;
  await closeCases(tx, { kind: 'movement_unmatched', subject: `movement:${movement}`, outcome, now });
  if (left > 0n) return;
  // A concurrent switch by an operator is either visible here, or waits for this transaction and is set after it.
  await lockKillSwitches(tx);
  const stop = (await killSwitches(tx)).find((one) => one.kind === 'rail' && one.subject === rail);
  // If an operator has set the same kill switch, it stays on.
  const isServers = (await layersOf(tx, 'rail', rail)).every(({ by }) => by === MACHINE);
  if (stop?.by === MACHINE && FOR_MOVEMENTS.test(stop.reason) && isServers) await liftKillSwitch(tx, 'rail', rail);
  // If the chain has also halted by itself, the same case covers that and stays open.
  const why = await whyOff(tx, rail);
  if (why === null)
    await closeCases(tx, { kind: 'rail_halted', subject: rail, outcome: 'all movements are known', now });
  else await haveReason(tx, rail, why, now);
}

/**
 * Closes the rail's case when an operator has cleared a halt. If the server has also switched the rail off because of unknown
 * transactions, the same case covers that and stays open, whoever set the kill switch first. The caller has called
 * `lockKillSwitches` before it locked the chain's row.
 */
export async function haltCleared(tx: Tx, about: { rail: string; outcome: string; now: Date }): Promise<void> {
  const { rail, outcome, now } = about;
  const servers = (await layersOf(tx, 'rail', rail)).find(({ by }) => by === MACHINE);
  // An operator's kill switch keeps the server's name on it after all transactions are known.
  if (servers !== undefined && (await countReported(tx, rail)) > 0n)
    return await haveReason(tx, rail, servers.reason, now);
  await closeCases(tx, { kind: 'rail_halted', subject: rail, outcome, now });
}

/** The rail's case states the reason that is left, whichever opened it. */
const haveReason = (tx: Tx, rail: string, reason: string, now: Date): Promise<void> =>
  upsertCase(tx, { kind: 'rail_halted', subject: rail, reason, facts: {}, now });
