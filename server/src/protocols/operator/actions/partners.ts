/**
 * Actions on partners and their keys. A secret is shown once, to the operator who requested it. If another person confirms,
 * it waits encrypted for a day until the first one collects it (`key.collect`); the person who confirms does not see it.
 */
import { later } from '../../../base/clock.ts';
import type { Tx } from '../../../base/db.ts';
import { defined } from '../../../base/defined.ts';
import { Refusal } from '../../../base/errors.ts';
import type { Doing } from '../../../operators/index.ts';
import {
  activityOf,
  bearerToken,
  brandingOf,
  closeActivity,
  collectSecret,
  createKey,
  createPartner,
  findKey,
  findPartner,
  type HeldLimits,
  heldByIds,
  heldCounts,
  logoPath,
  MOST_SINCE_MS,
  newestHeld,
  recordedFrom,
  resetBranding,
  resumePartner,
  revokeKey,
  rotateKey,
  setUnsignedWrites,
  suspendedSince,
  suspendPartner,
} from '../../../partners/index.ts';
import { type Action, action } from '../action.ts';
import { contain, decide, stillHeld } from '../containment.ts';
import { PARTNERS } from '../declared/partners.ts';
import type { OperatorDeps } from '../deps.ts';

const HOUR_MS = 3_600_000;
const DEFAULT_OVERLAP_H = 24;

const subject = ({ partner }: { partner: bigint }): string => `partner:${partner}`;
const keySubject = ({ key }: { key: string }): string => `key:${key}`;

async function look(_deps: OperatorDeps, tx: Tx, input: { partner: bigint }): Promise<unknown> {
  const found = await findPartner(tx, { id: input.partner });
  if (found === undefined) throw new Refusal('unknown_partner');
  return { name: found.name, suspended: found.suspended };
}

/** Includes the branding that is removed, so that the audit keeps it. */
async function lookAtBranding(deps: OperatorDeps, tx: Tx, input: { partner: bigint }): Promise<unknown> {
  const found = (await look(deps, tx, input)) as Record<string, unknown>;
  const { displayName, accent, accentDark, logo } = await brandingOf(tx, input.partner);
  return { ...found, displayName, accent, accentDark, logo: logo && logoPath(logo) };
}

/**
 * Includes the held items: resuming or releasing covers exactly these, not an equal number of others. Until `tx` ends nobody else
 * suspends the partner: a resumption does not end a suspension that it has not seen, and what a containment holds at the moment
 * is not freed by releasing it from an earlier one.
 */
async function lookAtHeld(deps: OperatorDeps, tx: Tx, input: { partner: bigint }): Promise<Record<string, unknown>> {
  await closeActivity(tx, input.partner);
  const found = (await look(deps, tx, input)) as Record<string, unknown>;
  const suspendedAt = await suspendedSince(tx, input.partner);
  return {
    ...found,
    suspendedAt,
    held: await heldCounts(tx, input.partner),
    newestHeld: await newestHeld(tx, input.partner),
  };
}

async function lookAtKey(_deps: OperatorDeps, tx: Tx, input: { key: string }): Promise<unknown> {
  const found = await findKey(tx, input.key);
  if (found === undefined) throw new Refusal('unknown_key');
  const { lastUsedAt: _, secretFor: __, secretUntil: ___, ...lasting } = found;
  return lasting;
}

/** The operator who requested it, if another one confirms; undefined when they are the same person. */
export const collectorOf = ({ people, operator }: Doing): string | undefined =>
  people[0] === operator.name ? undefined : people[0];

const rule = async () => 'rule' as const;

async function lookAtItems(
  deps: OperatorDeps,
  tx: Tx,
  { kind, since, upTo, ...input }: { partner: bigint; items: bigint[] | 'all' } & HeldLimits,
): Promise<unknown> {
  const [limit] = Object.keys(defined({ kind, since, upTo }));
  if (input.items !== 'all' && limit !== undefined) throw malformed(limit, 'is possible only if items is all');
  const found = await lookAtHeld(deps, tx, input);
  return input.items === 'all' ? found : { ...found, items: await heldByIds(tx, input.partner, input.items) };
}

async function decided(tx: Tx, input: Parameters<typeof decide>[1]): Promise<Record<string, unknown>> {
  const items = await decide(tx, input);
  return { decided: items.length, ...(await stillHeld(tx, input.partnerId)) };
}

const malformed = (field: string, rule: string) => new Refusal('malformed_field', { fields: { [field]: rule } });
/** Maximum rows in the reply that suspends; a read returns the rest (reads.ts). */
const SHOWN_ACTIVITY = 50;

export const PARTNER_ACTIONS: readonly Action[] = [
  action({
    ...PARTNERS.create,
    subject: ({ name }) => `partner:${name}`,
    async look(_deps, tx, input) {
      const found = await findPartner(tx, { name: input.name });
      return found === undefined ? null : { id: found.id, name: found.name, suspended: found.suspended };
    },
    async perform(_deps, tx, input, { now }) {
      if ((await findPartner(tx, { name: input.name })) !== undefined) throw new Refusal('partner_exists');
      const { toleranceBps, ...rest } = input;
      const tolerance = toleranceBps === undefined ? {} : { toleranceBps: BigInt(toleranceBps) };
      await createPartner(tx, { ...rest, ...tolerance, now });
    },
  }),
  action({
    ...PARTNERS.suspend,
    subject,
    look: lookAtHeld,
    async perform(_deps, tx, input, { operator, reason, now }) {
      const { partner, since, key } = input;
      if (since === undefined) {
        if (key !== undefined) throw malformed('since', 'is required with a key');
        return await suspendPartner(tx, partner, now);
      }
      if (since > now) throw malformed('since', 'must not be in the future');
      if (now.getTime() - since.getTime() > MOST_SINCE_MS) throw malformed('since', 'must be within the last 90 days');
      if (key !== undefined && (await findKey(tx, key))?.partnerId !== partner) throw new Refusal('unknown_key');
      await suspendPartner(tx, partner, now);
      const opened = await contain(tx, { partnerId: partner, since, apiKey: key, by: operator.name, reason, now });
      const done = await activityOf(tx, { partnerId: partner, apiKey: key, since, limit: SHOWN_ACTIVITY + 1 });
      return {
        containment: opened,
        ...(await stillHeld(tx, partner)),
        activity: done.slice(0, SHOWN_ACTIVITY),
        hasMoreActivity: done.length > SHOWN_ACTIVITY,
        recordedFrom: await recordedFrom(tx),
      };
    },
  }),
  action({
    ...PARTNERS.resume,
    subject,
    look: lookAtHeld,
    needs: rule,
    async perform(_deps, tx, input) {
      await resumePartner(tx, input.partner);
      return await stillHeld(tx, input.partner);
    },
  }),
  action({
    ...PARTNERS.resetBranding,
    subject,
    look: lookAtBranding,
    perform: (_deps, tx, input) => resetBranding(tx, input.partner),
  }),
  action({
    ...PARTNERS.release,
    subject,
    look: lookAtItems,
    needs: rule,
    async perform(_deps, tx, { partner, items, ...only }, { operator, now }) {
      const state = 'released' as const;
      return await decided(tx, { partnerId: partner, items, only, state, by: operator.name, now });
    },
  }),
  action({
    ...PARTNERS.reject,
    subject,
    look: lookAtItems,
    async perform(_deps, tx, { partner, items, ...only }, { operator, now }) {
      const state = 'rejected' as const;
      return await decided(tx, { partnerId: partner, items, only, state, by: operator.name, now });
    },
  }),
  action({
    ...PARTNERS.createKey,
    subject,
    look,
    needs: rule,
    async perform({ vault }, tx, input, doing) {
      const { now } = doing;
      const { partner, scopes, ...rest } = input;
      if (rest.expiresAt !== undefined && rest.expiresAt <= now)
        throw new Refusal('malformed_field', { fields: { expiresAt: 'must be in the future' } });
      const secretFor = collectorOf(doing);
      const made = { ...rest, partnerId: partner, scopes: [...new Set(scopes)], now, secretFor };
      const { apiKey, ...secrets } = await createKey(tx, vault, made);
      return { apiKey, ...(secretFor === undefined ? secrets : { secretFor }) };
    },
  }),
  action({
    ...PARTNERS.rotateKey,
    subject: keySubject,
    look: lookAtKey,
    needs: rule,
    async perform({ vault }, tx, input, doing) {
      const { now } = doing;
      if ((await findKey(tx, input.key))?.revokedAt !== null) throw new Refusal('unknown_key');
      const overlapMs = (input.overlapHours ?? DEFAULT_OVERLAP_H) * HOUR_MS;
      const secretFor = collectorOf(doing);
      const secrets = await rotateKey(tx, vault, { key: input.key, now, overlapMs, secretFor });
      const shown = secretFor === undefined ? secrets : { secretFor };
      return { apiKey: input.key, ...shown, oldSecretValidUntil: later(now, overlapMs) };
    },
  }),
  action({
    ...PARTNERS.collect,
    subject: keySubject,
    look: lookAtKey,
    async perform({ vault }, tx, { key }, { operator, now }) {
      const apiSecret = await collectSecret(tx, vault, { key, by: operator.name, now });
      return { apiKey: key, apiSecret, bearerToken: bearerToken(key, apiSecret) };
    },
  }),
  action({
    ...PARTNERS.keyWrites,
    subject: keySubject,
    look: lookAtKey,
    needs: rule,
    async perform(_deps, tx, { key, signed }) {
      if ((await findKey(tx, key))?.revokedAt !== null) throw new Refusal('unknown_key');
      await setUnsignedWrites(tx, key, !signed);
    },
  }),
  action({
    ...PARTNERS.revoke,
    subject: keySubject,
    look: lookAtKey,
    async perform(_deps, tx, input, { now }) {
      await revokeKey(tx, input.key, now);
    },
  }),
];
