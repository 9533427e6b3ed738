/**
 * A partner's own requirements: what its business customers must supply, if not the default.
 *
 * Stored as shown, because the list is the partner's own and has no meaning to us until a customer submits by it.
 */
import type { Tx } from '../base/db.ts';
import { remember } from './remember.ts';
import { sql } from './store.ts';

export type OwnRequirements = Readonly<Record<string, unknown>>;

const remembered = remember<OwnRequirements | null>({ forMs: 2_000, most: 1_000 });

/** null: the default applies. */
export async function kybRequirementsOf(tx: Tx, partnerId: bigint): Promise<OwnRequirements | null> {
  return await remembered.get(String(partnerId), async () => {
    const row = await tx.row<{ requirements: OwnRequirements }>(sql.kybRequirements, [partnerId]);
    return row?.requirements ?? null;
  });
}

/** Sets what a partner's businesses must supply, or (null) restores the default. */
export async function setKybRequirements(
  tx: Tx,
  r: { partnerId: bigint; requirements: OwnRequirements | null; now: Date },
): Promise<void> {
  if (r.requirements === null) await tx.run(sql.removeKybRequirements, [r.partnerId]);
  else await tx.run(sql.upsertKybRequirements, [r.partnerId, JSON.stringify(r.requirements), r.now]);
  remembered.forget();
}
