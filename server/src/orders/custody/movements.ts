/**
 * What happens when people explain a transaction that our wallet sent and that was in no row of ours.
 */
import type { Tx } from '../../base/db.ts';
import { closeCases } from '../../compliance/index.ts';
import { killSwitches, layersOf, liftKillSwitch, lockKillSwitches } from '../../partners/index.ts';
import { whyOff } from '../../rails/chain.ts';

/** The rail's reason for a kill switch because of unknown transactions (chain.adopt.ts). */
const FOR_MOVEMENTS = /^(nonces? .* used by transactions that|transactions of wallet .*) are not in the books$/;

/**
 * Closes its case. When none is left on the rail, the kill switch that the machine set for them is lifted; a person's switch
 * and that of a restore stay.
 */
export async function movementKnown(
  tx: Tx,
  about: { rail: string; movement: bigint; left: bigint; outcome: string; now: Date },
): Promise<void> {
  const { rail, movement, left, outcome, now } = about;
  await closeCases(tx, { kind: 'movement_unmatched', subject: `movement:${movement}`, outcome, now });
  if (left > 0n) return;
  // Who sets the same switch at this moment is seen, or waits and sets it after.
  await lockKillSwitches(tx);
  const stop = (await killSwitches(tx)).find((one) => one.kind === 'rail' && one.subject === rail);
  if (stop !== undefined && (stop.by !== 'the machine' || !FOR_MOVEMENTS.test(stop.reason))) return;
  // If a person set the same switch as well, it stays on.
  const people = (await layersOf(tx, 'rail', rail)).filter(({ by }) => by !== 'the machine');
  if (people.length > 0) return;
  if (stop !== undefined) await liftKillSwitch(tx, 'rail', rail);
  // The same case is open when the chain halted by itself; then it stays open.
  if ((await whyOff(tx, rail)) === null)
    await closeCases(tx, { kind: 'rail_halted', subject: rail, outcome: 'all of them are known', now });
}
