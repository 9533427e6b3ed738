/**
 * Saved views: filters of a list that an operator has named. A view belongs to one operator, who has it in every browser. It changes
 * what is shown, never what may be done. A view that is saved again under its name replaces the earlier one.
 *
 * Name and filters are encrypted like everything that operators type.
 *
 * Not here: which filters a list has (console/src). The server stores them as text and never applies them.
 */
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import { assert, Refusal } from '../base/errors.ts';
import { openTyped, typedLike } from '../base/typed.ts';
import { lockOperator } from './people.ts';
import { viewStore as store, type ViewRow } from './views.store.ts';

/** One person looks through them as a row of names. */
export const MAX_VIEWS = 50;

/** The earliest saved first. */
export const viewsOf = (tx: Tx, operatorId: bigint): Promise<ViewRow[]> => store.list(tx, operatorId);

/**
 * @param v.name   encrypted with `encryptTypedSame`
 * @param v.search encrypted
 * @returns its number, which stays when it replaces an earlier view of this name
 * @throws Refusal 'too_many_views'
 */
export async function saveView(
  tx: Tx,
  vault: Vault,
  v: { operatorId: bigint; page: string; name: string; search: string; now: Date },
): Promise<bigint> {
  // Serializes concurrent requests of one operator: the second finds the view of the first, and neither exceeds the limit.
  await lockOperator(tx, v.operatorId);
  const { now: savedAt, ...view } = v;
  // During an exchange of the master key the earlier view's name may be encrypted under the old key.
  const names = typedLike(vault, openTyped(vault, v.name));
  const replaced = await store.replace(tx, { ...view, names, savedAt });
  if (replaced !== undefined) return replaced.id;
  if ((await store.count(tx, v.operatorId)) >= MAX_VIEWS) throw new Refusal('too_many_views', { most: MAX_VIEWS });
  const inserted = await store.insert(tx, { ...view, savedAt });
  assert(inserted !== undefined, 'a saved view has no number');
  return inserted.id;
}

/** @returns the list that it was of @throws Refusal 'unknown_view' when the operator has none with this number */
export async function deleteView(tx: Tx, v: { operatorId: bigint; view: bigint }): Promise<string> {
  const deleted = await store.delete(tx, v.operatorId, v.view);
  if (deleted === undefined) throw new Refusal('unknown_view');
  return deleted.page;
}
