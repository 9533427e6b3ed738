/**
 * Containment: the items held after a leak, from a time on.
 *
 * A partner is suspended with a time since which one key, or all of its keys, are distrusted. Everything made since then is
 * recorded item by item in the transaction that suspends (protocols/operator/containment.ts finds it), so later checks need no
 * rule and no clock: an item is held until an operator releases it, and rejected permanently when an operator rejects it.
 * Nothing is added while the partner is suspended, because nothing can be created then (activity.ts).
 *
 * - A held key cannot authenticate. A held endpoint's deliveries wait. A held link opens no page.
 * - Of the team, members invited since, passkeys, sessions and codes made since sign nobody in (team/held.ts), and keys that
 *   members have rotated or changed since are held. A key can do none of this, so if one key is distrusted, they are not held.
 * - A held destination (a bank account, an address named for an order) receives no payouts. An older one is paid as usual, also
 *   for a newer order.
 *
 * Another containment does not hold again what an operator has released, unless it reaches further back, the item was changed
 * since, or it is a credential: one that was honest may have leaked since.
 *
 * Releasing everything ends the containment, unless it holds credentials: each of these is decided by its number.
 *
 * Not here: endpoints, accounts and orders themselves (events, customers, orders), and the moment of paying (orders).
 */
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import { firstIdAt } from '../base/ids.ts';
import type { ActivityKind } from './activity.ts';
import { type ContainmentRow, type HeldKind, type HeldRow, type HeldState, sql } from './containment.store.ts';

export { type HeldKind, type HeldState, NOT_CREDENTIALS } from './containment.store.ts';
export const HELD_KINDS = [
  ...(['key', 'endpoint', 'link', 'account', 'destination'] as const),
  ...(['member', 'passkey', 'session', 'code'] as const),
] as const satisfies readonly HeldKind[];
export const HELD_STATES = ['held', 'released', 'rejected'] as const satisfies readonly HeldState[];

/** How far back a containment may reach, in milliseconds. */
export const MOST_SINCE_MS = 90 * 24 * 3_600_000;
/** Maximum page size of held items. */
export const MAX_HELD = 200;
/** Rows per insert, well within the statement timeout. */
const HELD_AT_ONCE = 5_000;

export interface Containment {
  readonly id: bigint;
  readonly since: Date;
  /** The distrusted key; null when all of the partner's keys are distrusted. */
  readonly apiKey: string | null;
  readonly by: string;
  readonly reason: string;
  readonly at: Date;
  readonly endedAt: Date | null;
  readonly endedBy: string | null;
}

export interface HeldItem {
  readonly id: bigint;
  readonly kind: HeldKind;
  /** Id of the key, endpoint, link, account, member, passkey or session; the order's for a destination, the member's for codes. */
  readonly subject: string;
  readonly address: string | null;
  readonly why: string;
  readonly madeAt: Date;
  readonly madeByKey: string | null;
  readonly state: HeldState;
  readonly heldAt: Date;
  readonly heldBy: string;
  readonly decidedAt: Date | null;
  readonly decidedBy: string | null;
}

/** Something to be held, with the activity that made it; `about` is that activity's subject. */
export interface FoundItem {
  kind: Exclude<HeldKind, 'key' | 'link'>;
  subject: string;
  address?: string;
  why: string;
  madeAt: Date;
  action: ActivityKind;
  about: string;
}

interface ChangedKey {
  key: string;
  /** `changed`, `rotated`, or `changed and rotated`. */
  how: string;
  at: Date;
}

/** Which of all held items are decided about: of this kind, made since this time, and up to this number. */
export interface HeldLimits {
  kind?: HeldKind | undefined;
  since?: Date | undefined;
  upTo?: bigint | undefined;
}

/**
 * Opens a containment, and holds the keys and links made since and the named key. The caller has closed the partner's
 * activity, and passes what other modules store to `holdItems`.
 */
export async function openContainment(
  tx: Tx,
  c: { partnerId: bigint; since: Date; apiKey?: string | undefined; by: string; reason: string; now: Date },
): Promise<Containment> {
  const { partnerId, since, apiKey = null, by, reason, now } = c;
  const row = await tx.row<ContainmentRow>(sql.open, [partnerId, since, apiKey, by, reason, now]);
  if (row === undefined) throw new Refusal('unknown_partner');
  const keys = await tx.rows<{ key: string; createdAt: Date }>(sql.keysSince, [partnerId, since, apiKey]);
  const whyOf = (key: string) => (key === apiKey ? 'named as leaked' : 'made since then');
  const made = keys.map(({ key, createdAt }) => ({ key, why: whyOf(key), madeAt: createdAt }));
  if (apiKey === null)
    for (const { key, how, at } of await tx.rows<ChangedKey>(sql.keysChanged, [partnerId, since]))
      made.push({ key, why: `${how} since then`, madeAt: at });
  // Operators create keys, so the activity does not show which key was made by whom: all of them are held.
  const none = made.map(() => null);
  await tx.run(sql.hold, [
    ...[row.id, partnerId, since, null, now, by],
    ...[made.map(() => 'key'), made.map(({ key }) => key), none],
    ...[made.map(({ why }) => why), made.map(({ madeAt }) => madeAt), none, none],
  ]);
  await tx.run(sql.holdKeys, [partnerId, made.map(({ key }) => key), now]);
  await tx.run(sql.holdLinks, [row.id, partnerId, since, apiKey, now, by]);
  return containmentOf(row);
}

/**
 * Records the held items. For one key's containment: that key's items, and items that any key may have made.
 *
 * @returns the items held now
 */
export async function holdItems(
  tx: Tx,
  containment: Containment & { partnerId: bigint },
  found: readonly FoundItem[],
): Promise<{ kind: HeldKind; subject: string }[]> {
  const { id, partnerId, since, apiKey, at, by } = containment;
  const held: { kind: HeldKind; subject: string }[] = [];
  for (let from = 0; from < found.length; from += HELD_AT_ONCE) {
    const some = found.slice(from, from + HELD_AT_ONCE);
    const rows = await tx.rows<{ kind: HeldKind; subject: string }>(sql.hold, [
      ...[id, partnerId, since, apiKey, at, by],
      ...[some.map(({ kind }) => kind), some.map(({ subject }) => subject)],
      ...[some.map(({ address = null }) => address), some.map(({ why }) => why), some.map(({ madeAt }) => madeAt)],
      ...[some.map(({ action }) => action), some.map(({ about }) => about)],
    ]);
    held.push(...rows);
  }
  return held;
}

/**
 * Subjects changed since by these kinds of activity, each once: `endpoint:whe_1` and the like. `was` is what the first change
 * replaced, if its row says that.
 */
export const changedSince = (
  tx: Tx,
  input: { partnerId: bigint; since: Date; apiKey: string | null; actions: readonly ActivityKind[] },
): Promise<{ action: ActivityKind; subject: string; at: Date; was: string | null }[]> =>
  tx.rows(sql.changed, [input.partnerId, input.since, input.actions, input.apiKey]);

/** The refund addresses named since, as sent. */
export const namedSince = (
  tx: Tx,
  input: { partnerId: bigint; since: Date; apiKey: string | null },
): Promise<{ subject: string; address: string; at: Date }[]> =>
  tx.rows(sql.named, [input.partnerId, input.since, input.apiKey]);

/** The addresses that programs have added for customers since. */
export const addedSince = (
  tx: Tx,
  input: { partnerId: bigint; since: Date; apiKey: string | null },
): Promise<{ subject: string; address: string; at: Date }[]> =>
  tx.rows(sql.added, [input.partnerId, input.since, input.apiKey]);

/** Whether any of a partner's items still waits to be released or rejected. */
export const isContained = async (tx: Tx, partnerId: bigint): Promise<boolean> =>
  (await tx.row(sql.isOpen, [partnerId])) !== undefined;

/** A partner's containments, newest first. */
export const containments = async (tx: Tx, partnerId: bigint): Promise<Containment[]> =>
  (await tx.rows<ContainmentRow>(sql.containments, [partnerId])).map(containmentOf);

/** Number of held items by kind. */
export async function heldCounts(tx: Tx, partnerId: bigint): Promise<Record<string, number>> {
  const rows = await tx.rows<{ kind: HeldKind; count: bigint }>(sql.counts, [partnerId]);
  return Object.fromEntries(rows.map(({ kind, count }) => [kind, Number(count)]));
}

/**
 * The newest held item. A decided item is never held again, so if this and the counts are unchanged, so are all held items.
 */
export async function newestHeld(tx: Tx, partnerId: bigint): Promise<bigint | null> {
  return (await tx.row<{ id: bigint | null }>(sql.newest, [partnerId]))?.id ?? null;
}

/** Held and decided items, one page at a time, oldest first. */
export async function heldItems(
  tx: Tx,
  input: {
    partnerId: bigint;
    kind?: HeldKind | undefined;
    state?: HeldState | undefined;
    after?: bigint;
    limit: number;
  },
): Promise<HeldItem[]> {
  const { partnerId, kind = null, state = null, after = 0n, limit } = input;
  return (await tx.rows<HeldRow>(sql.page, [partnerId, kind, state, after, limit])).map(itemOf);
}

/** @throws Refusal 'unknown_held_item' when one does not belong to the partner */
export async function heldByIds(tx: Tx, partnerId: bigint, ids: readonly bigint[]): Promise<HeldItem[]> {
  const rows = await tx.rows<HeldRow>(sql.byIds, [partnerId, ids]);
  const missing = ids.find((id) => !rows.some((row) => row.id === id));
  if (missing !== undefined) throw new Refusal('unknown_held_item', { item: String(missing) });
  return rows.map(itemOf);
}

/**
 * Releases or rejects held items: the named ones, all, or all of one subject. Released or revoked keys are handled here; the
 * caller handles what other modules store, for the items in `free`, which nothing holds any more.
 */
export async function decideHeld(
  tx: Tx,
  input: {
    partnerId: bigint;
    items: readonly bigint[] | 'all' | { kind: HeldKind; subject: string };
    /** Limits of `all`. */
    only?: HeldLimits;
    state: 'released' | 'rejected';
    by: string;
    now: Date;
  },
): Promise<HeldItem[]> {
  const { partnerId, items, only = {}, state, by, now } = input;
  let rows: HeldRow[];
  if (items === 'all') {
    const { kind = null, since = null, upTo = null } = only;
    rows = await tx.rows<HeldRow>(sql.decideAll, [partnerId, state, now, by, kind, since, upTo]);
    // A link without a record has no kind, time or number.
    const isLimited = kind !== null || since !== null || upTo !== null;
    if (state === 'released' && !isLimited) await tx.run(sql.releaseLinks, [partnerId]);
  } else if ('kind' in items)
    rows = await tx.rows<HeldRow>(sql.decideSubject, [partnerId, items.kind, items.subject, state, now, by]);
  else rows = await tx.rows<HeldRow>(sql.decide, [partnerId, items, state, now, by]);
  const keys = (wanted: HeldState) =>
    rows.filter((row) => row.kind === 'key' && row.state === wanted).map(({ subject }) => subject);
  await tx.run(sql.revokeKeys, [partnerId, keys('rejected'), now]);
  await tx.run(sql.freeKeys, [partnerId, await freeOf(tx, partnerId, 'key', keys('released'))]);
  await tx.run(sql.end, [partnerId, now, by]);
  return rows.map(itemOf);
}

/** Which of these no containment holds (any more). */
export async function freeOf(
  tx: Tx,
  partnerId: bigint,
  kind: HeldKind,
  subjects: readonly string[],
): Promise<string[]> {
  if (subjects.length === 0) return [];
  const held = await tx.rows<{ subject: string }>(sql.stillHeld, [partnerId, kind, subjects]);
  return subjects.filter((one) => !held.some(({ subject }) => subject === one));
}

/**
 * Whether money may not go to this destination because it was added after its partner became distrusted: an account added
 * since, an address named since for an order or a refund. Older destinations pass, and so does the address that an older order
 * had named by then. Stored rows only; two index look-ups, which find nothing when nothing is held.
 *
 * @param d.orderId the order paid; null when it does not exist yet: then an address held for any order of the partner counts
 * @returns since when its partner is distrusted, why it is held, and whether it was rejected permanently
 */
export async function heldDestination(
  tx: Tx,
  d: { partnerId: bigint; fiatAccountId: bigint | null; address: string | null; orderId: bigint | null; now: Date },
): Promise<HeldDestination | undefined> {
  const { partnerId, fiatAccountId, address, orderId } = d;
  if (fiatAccountId !== null) {
    const row = await tx.row<Distrusted>(sql.heldAccount, [partnerId, String(fiatAccountId)]);
    if (row !== undefined) return heldAs('account', row);
  }
  if (address === null) return undefined;
  const values = [partnerId, address, orderId === null ? null : String(orderId)];
  const rows = await tx.rows<Distrusted & { own: boolean }>(sql.heldAddress, values);
  const row = rows.find(({ own, since }) => own || orderId === null || orderId >= firstIdAt(since));
  return row && heldAs('address', row);
}

type Distrusted = { since: Date; why: string; state: HeldState };
export interface HeldDestination {
  since: Date;
  why: string;
  isRejected: boolean;
}
const heldAs = (what: string, { since, why, state }: Distrusted): HeldDestination => ({
  ...{ since, why: `${what} ${why}`, isRejected: state === 'rejected' },
});

/** @throws Refusal 'destination_held' */
export async function requireNotHeld(tx: Tx, d: Parameters<typeof heldDestination>[1]): Promise<void> {
  if ((await heldDestination(tx, d)) !== undefined) throw new Refusal('destination_held');
}

/** Whether a link to a hosted page is held. @param link.id undefined for a link from before links were recorded */
export async function isLinkHeld(
  tx: Tx,
  link: { partnerId: bigint; id: string | undefined; madeAt: Date },
): Promise<boolean> {
  const row =
    link.id === undefined
      ? await tx.row(sql.distrusts, [link.partnerId, link.madeAt])
      : await tx.row(sql.heldLink, [link.partnerId, link.id]);
  return row !== undefined;
}

const containmentOf = (row: ContainmentRow): Containment => ({
  id: row.id,
  since: row.since,
  apiKey: row.apiKey,
  by: row.openedBy,
  reason: row.reason,
  at: row.openedAt,
  endedAt: row.endedAt,
  endedBy: row.endedBy,
});

const itemOf = (row: HeldRow): HeldItem => ({
  id: row.id,
  kind: row.kind,
  subject: row.subject,
  address: row.address,
  why: row.why,
  madeAt: row.madeAt,
  madeByKey: row.madeByKey,
  state: row.state,
  heldAt: row.heldAt,
  heldBy: row.heldBy,
  decidedAt: row.decidedAt,
  decidedBy: row.decidedBy,
});
