/**
 * Requirements of a partner's own: what its business customers must supply, where that is not the default.
 *
 * A row as it is shown, because it is the partner's own list and means nothing to us until somebody submits by it.
 */
import type { Tx } from '../base/db.ts';
import { remember } from './remember.ts';
import { sql } from './store.ts';

export type OwnRequirements = Readonly<Record<string, unknown>>;

const remembered = remember<OwnRequirements | null>({ forMs: 2_000, most: 1_000 });

/** null where the default holds. */
export async function kybRequirementsOf(tx: Tx, partnerId: bigint): Promise<OwnRequirements | null> {
  return await remembered.get(String(partnerId), async () => {
    const row = await tx.row<{ requirements: OwnRequirements }>(sql.kybRequirements, [partnerId]);
    return row?.requirements ?? null;
  });
}

/** Sets what a partner's businesses must supply, or (null) goes back to the default. */
export async function setKybRequirements(
  tx: Tx,
  r: { partnerId: bigint; requirements: OwnRequirements | null; now: Date },
): Promise<void> {
  if (r.requirements === null) await tx.run(sql.removeKybRequirements, [r.partnerId]);
  else await tx.run(sql.upsertKybRequirements, [r.partnerId, JSON.stringify(r.requirements), r.now]);
  remembered.forget();
}
