/**
 * Comparing: finds the items on which both sides differ, and why. Pure.
 *
 * Under one key, in one wallet and asset, both sides must sum to the same amount exactly. If they do not, either there is a
 * temporary reason (in transit), or it is a break.
 */
import type { ItemRow, Side } from './store.ts';

export type Item = Omit<ItemRow, 'id' | 'foundAt' | 'rail'>;

export interface Circumstances {
  kind: 'chain' | 'bank';
  /** The bank's or chain's time at the position up to which it was read. */
  outsideAt: Date;
  /** Names of known deposits that are not booked yet → the reason. */
  waiting: ReadonlyMap<string, string>;
  /** When an open item was first found, by key, wallet and asset. */
  foundAt: ReadonlyMap<string, Date>;
  /** How long a new difference may be a short delay on one side, in milliseconds. */
  graceMs: number;
  now: Date;
}

/** Shown for a new item, because the two sides are never read at exactly the same moment. */
export const JUST_FOUND = 'just found; the other side may be a moment later';

export const sideKey = (side: { key: string; wallet: string; asset: string }): string =>
  `${side.wallet} ${side.asset} ${side.key}`;

/** @returns undefined if both sides are equal */
export function itemOf(side: Side, about: Circumstances): Item | undefined {
  const { key, wallet, asset, outside, booked } = side;
  if (outside === booked) return undefined;
  const [shown, gone, entries] = [side.shownNames ?? [], side.goneNames ?? [], side.entries ?? []];
  const kind =
    entries.length === 0 ? 'break_missing_in_ledger' : shown.length === 0 ? 'break_missing_outside' : 'break_amount';
  const why =
    gone.length > 0
      ? 'the chain or bank showed it before and no longer does'
      : side.altered
        ? 'the chain or bank has changed it since it was first shown'
        : kind === 'break_missing_in_ledger'
          ? 'shown outside, and not in the books'
          : kind === 'break_missing_outside'
            ? 'in the books, and not shown outside'
            : outside !== 0n && booked === outside * 2n
              ? 'booked twice'
              : 'another amount in the books than outside';
  const names = [...shown, ...gone, ...entries];
  const common = { key, wallet, asset, outsideUnits: outside, ledgerUnits: booked, names };
  return { ...common, kind, transit: transitOf(side, kind, about), why };
}

function transitOf(side: Side, kind: Item['kind'], about: Circumstances): string | null {
  if ((side.goneNames ?? []).length > 0 || side.altered) return null;
  if (kind === 'break_missing_in_ledger') {
    const reasons = (side.shownNames ?? []).map((name) => about.waiting.get(name));
    if (reasons[0] !== undefined && reasons.every((reason) => reason !== undefined)) return reasons[0];
  }
  // An entry is booked after its block was mined. If it was booked after the newest block read, its block may be newer, too.
  if (about.kind === 'chain' && side.bookedAt !== null && side.bookedAt > about.outsideAt)
    return 'newer than the final block of the chain';
  const found = about.foundAt.get(sideKey(side)) ?? about.now;
  return about.now.getTime() - found.getTime() < about.graceMs ? JUST_FOUND : null;
}
