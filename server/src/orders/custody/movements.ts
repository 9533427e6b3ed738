/** Effects of explaining a transaction that our wallet sent and that no row of ours describes. */
import type { Tx } from '../../base/db.ts';
import { closeCases } from '../../compliance/index.ts';
import { killSwitches, layersOf, liftKillSwitch, lockKillSwitches, MACHINE } from '../../partners/index.ts';
import { whyOff } from '../../rails/chain.ts';

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
  if ((await whyOff(tx, rail)) === null)
    await closeCases(tx, { kind: 'rail_halted', subject: rail, outcome: 'all movements are known', now });
}
