/**
 * Finds and holds everything made since a time, in every module that stores some of it; and releases it again.
 *
 * All of this happens in the transaction of the operator's action, after the partner's activity was closed. The result is
 * complete, because the partner can create nothing meanwhile or afterwards.
 */
import type { Tx } from '../../base/db.ts';
import { closeCases, openCase } from '../../compliance/index.ts';
import { accountsSince } from '../../customers/index.ts';
import { endpointsSince, freeEndpoints, holdEndpoints, removeEndpoint } from '../../events/index.ts';
import { addressesSince, type NamedAddress, perhapsNamedSince, refundAddressesOf } from '../../orders/index.ts';
import {
  type ActivityKind,
  addedSince,
  type Containment,
  changedSince,
  decideHeld,
  type FoundItem,
  freeOf,
  type HeldItem,
  type HeldLimits,
  heldItems,
  holdItems,
  isContained,
  MAX_HELD,
  namedSince,
  openContainment,
  recordedFrom,
} from '../../partners/index.ts';
import { freeTeam, holdTeam, membersOf, removeFromTeam, TEAM_KINDS, teamSince } from '../../team/index.ts';

const ENDPOINT_CHANGES: readonly ActivityKind[] = ['endpoint.changed', 'endpoint.rotated'];

interface Since {
  partnerId: bigint;
  since: Date;
  apiKey: string | null;
  /** Time from which activity is recorded; older items are found by their creation time. */
  from: Date;
}

/** Opens a containment and holds everything made since. The partner is suspended already. */
export async function contain(
  tx: Tx,
  c: { partnerId: bigint; since: Date; apiKey?: string | undefined; by: string; reason: string; now: Date },
): Promise<Containment> {
  const { partnerId, now } = c;
  const containment = await openContainment(tx, c);
  const input: Since = { partnerId, since: c.since, apiKey: containment.apiKey, from: await recordedFrom(tx) };
  const found = [
    ...(await foundEndpoints(tx, input)),
    ...(await foundAccounts(tx, input)),
    ...(await foundAddresses(tx, input)),
    ...(await foundTeam(tx, { ...input, now })),
  ];
  const held = await holdItems(tx, { ...containment, partnerId }, found);
  await holdTeam(tx, held, { since: c.since, now });
  const ids = held.filter(({ kind }) => kind === 'endpoint').map(({ subject }) => subject);
  await holdEndpoints(tx, { partnerId, ids, now });
  const reason = c.apiKey === undefined ? 'suspended since a leak' : `suspended since key ${c.apiKey} leaked`;
  const facts = { since: c.since.toISOString(), containment: String(containment.id) };
  await openCase(tx, { kind: 'partner_contained', subject: `partner:${partnerId}`, partnerId, reason, facts, now });
  return containment;
}

async function foundEndpoints(tx: Tx, input: Since): Promise<FoundItem[]> {
  const there = await endpointsSince(tx, input);
  const subjectOf = (id: string) => `endpoint:${id}`;
  const item = (id: string, action: ActivityKind, why: string, madeAt: Date): FoundItem => ({
    ...{ kind: 'endpoint', subject: id, why, madeAt, action, about: subjectOf(id) },
  });
  const changes = await changedSince(tx, { ...input, actions: ENDPOINT_CHANGES });
  return there.flatMap(({ id, createdAt, changedAt }) => {
    // An endpoint made since may have been created by another key and changed by the leaked one.
    const made = createdAt >= input.since ? [item(id, 'endpoint.made', 'made since then', createdAt)] : [];
    const [change, other] = changes.filter(({ subject }) => subject === subjectOf(id));
    if (change !== undefined) {
      const isRotated = change.action === 'endpoint.rotated';
      const why = isRotated ? 'its secret was rotated since then' : 'changed since then';
      const both = 'changed, and its secret was rotated since then';
      return [...made, item(id, change.action, other === undefined ? why : both, change.at)];
    }
    if (made.length > 0) return made;
    // Before changes were recorded, the key of a change is unknown.
    return input.since < input.from && changedAt >= input.since
      ? [item(id, 'endpoint.changed', 'changed since then, by a key that was not recorded', changedAt)]
      : [];
  });
}

async function foundAccounts(tx: Tx, input: Since): Promise<FoundItem[]> {
  return (await accountsSince(tx, input)).map(({ id, createdAt }) => ({
    kind: 'account',
    subject: String(id),
    why: 'added since then',
    madeAt: createdAt,
    action: 'account.added',
    about: `account:${id}`,
  }));
}

async function foundAddresses(tx: Tx, input: Since): Promise<FoundItem[]> {
  const item =
    (why: string, action: ActivityKind) =>
    (one: NamedAddress): FoundItem => ({
      kind: 'destination',
      subject: String(one.orderId),
      address: one.address,
      why,
      madeAt: one.at,
      action,
      about: `order:${one.orderId}`,
    });
  const added = (await addedSince(tx, input)).map(
    ({ subject, address, at }): FoundItem => ({
      ...{ kind: 'destination', subject: subject.replace('destination:', ''), address, madeAt: at },
      ...{ why: 'added since then, for a customer', action: 'destination.added', about: subject },
    }),
  );
  const named = await namedSince(tx, input);
  const orders = [...new Set(named.map(({ subject }) => BigInt(subject.replace('order:', ''))))];
  const now = await refundAddressesOf(tx, { ...input, orders });
  // For an order, the addresses named; if none is found in this spelling, all of the order's.
  const said = new Set(named.map(({ subject, address }) => `${subject} ${address.toLowerCase()}`));
  const isSaid = ({ orderId, address }: NamedAddress) => said.has(`order:${orderId} ${address.toLowerCase()}`);
  const found = new Set(now.filter(isSaid).map(({ orderId }) => orderId));
  const renamed = now.filter((one) => isSaid(one) || !found.has(one.orderId));
  const unrecorded =
    input.since < input.from
      ? await refundAddressesOf(tx, { ...input, orders: await perhapsNamedSince(tx, input) })
      : [];
  return [
    ...(await addressesSince(tx, input)).map(item('named since then, by a new order', 'order.created')),
    ...renamed.map(item('named since then, for a refund', 'refund_destination.named')),
    ...added,
    ...unrecorded.map(item('may have been named since then, for a refund', 'refund_destination.named')),
  ];
}

/** What was made in the team since. A key cannot change the team: nothing of it is found if only one key is distrusted. */
async function foundTeam(tx: Tx, input: Since & { now: Date }): Promise<FoundItem[]> {
  if (input.apiKey !== null) return [];
  const made = (await teamSince(tx, input)).map(({ kind, subject, member, why, madeAt }): FoundItem => {
    const action = { member: 'member.invited', passkey: 'member.passkey_enrolled', code: 'member.codes_made' } as const;
    // A login has no activity.
    return {
      ...{ kind, subject, why, madeAt, about: `member:${member}` },
      action: kind === 'session' ? 'member.joined' : action[kind],
    };
  });
  const isMade = (about: string) => made.some((one) => one.kind === 'member' && one.about === about);
  const changes = await changedSince(tx, { ...input, actions: ['member.role_changed'] });
  const changed = changes.filter(({ subject }) => !isMade(subject));
  if (changed.length === 0) return made;
  const members = new Map((await membersOf(tx, input.partnerId)).map((one) => [`member:${one.id}`, one]));
  return [
    ...made,
    ...changed.flatMap(({ subject: about, action, at: madeAt, was }): FoundItem[] => {
      const member = members.get(about);
      if (member === undefined || member.disabledAt !== null) return [];
      const roles = `${was === null ? '' : `from ${was} `}to ${member.role}`;
      const why = `the role of ${member.name} was changed since then, ${roles}`;
      return [{ kind: 'member', subject: String(member.id), why, madeAt, action, about }];
    }),
  ];
}

/**
 * Releases or rejects items, with the consequences: a released endpoint receives what it missed, a rejected one is removed. Of the
 * team, what is released signs in again, and what is rejected is removed.
 */
export async function decide(
  tx: Tx,
  input: {
    partnerId: bigint;
    items: readonly bigint[] | 'all';
    only?: HeldLimits;
    state: 'released' | 'rejected';
    by: string;
    now: Date;
  },
): Promise<HeldItem[]> {
  const { partnerId, now } = input;
  const decided = await decideHeld(tx, input);
  const endpoints = (state: HeldItem['state']) =>
    decided.filter((one) => one.kind === 'endpoint' && one.state === state).map(({ subject }) => subject);
  const ids = await freeOf(tx, partnerId, 'endpoint', endpoints('released'));
  await freeEndpoints(tx, { partnerId, ids, now });
  const there = new Set((await endpointsSince(tx, { partnerId, since: new Date(0) })).map(({ id }) => id));
  for (const id of new Set(endpoints('rejected'))) if (there.has(id)) await removeEndpoint(tx, id, now);
  for (const kind of TEAM_KINDS) {
    const released = decided.filter((one) => one.kind === kind && one.state === 'released').map((one) => one.subject);
    const free = await freeOf(tx, partnerId, kind, released);
    await freeTeam(
      tx,
      free.map((one) => ({ kind, subject: one })),
    );
  }
  await removeFromTeam(
    tx,
    decided.filter((one) => one.state === 'rejected'),
    { partnerId, now },
  );
  if (!(await isContained(tx, partnerId)))
    await closeCases(tx, {
      kind: 'partner_contained',
      subject: `partner:${partnerId}`,
      outcome: `ended by ${input.by}`,
      now,
    });
  return decided;
}

/** The first held items, and whether there are more. */
export async function stillHeld(tx: Tx, partnerId: bigint): Promise<{ stillHeld: HeldItem[]; hasMore: boolean }> {
  const held = await heldItems(tx, { partnerId, state: 'held', limit: MAX_HELD + 1 });
  return { stillHeld: held.slice(0, MAX_HELD), hasMore: held.length > MAX_HELD };
}
