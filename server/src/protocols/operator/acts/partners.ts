/** Acts on partners and their keys. A secret is shown once, to whoever has it made, and stands nowhere else. */
import { later } from '../../../base/clock.ts';
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import {
  createKey,
  createPartner,
  findKey,
  findPartner,
  resumePartner,
  revokeKey,
  rotateKey,
  SCOPES,
  suspendPartner,
} from '../../../partners/index.ts';
import { type Act, act, type OperatorDeps } from '../act.ts';
import { id, listOf, network, oneOf, optional, text, time, whole } from '../fields.ts';

const HOUR_MS = 3_600_000;
const DEFAULT_OVERLAP_H = 24;

const subject = ({ partner }: { partner: bigint }): string => `partner:${partner}`;
const keySubject = ({ key }: { key: string }): string => `key:${key}`;
const keyName = text(128, /^[\x21-\x7e]+$/, 'an API key');
const origin = text(200, /^(\*|https?:\/\/[^/\s]+)$/, 'an origin such as https://shop.example');

async function look(_deps: OperatorDeps, tx: Tx, ask: { partner: bigint }): Promise<unknown> {
  const found = await findPartner(tx, { id: ask.partner });
  if (found === undefined) throw new Refusal('unknown_partner');
  return { name: found.name, suspended: found.suspended };
}

async function lookAtKey(_deps: OperatorDeps, tx: Tx, ask: { key: string }): Promise<unknown> {
  const found = await findKey(tx, ask.key);
  if (found === undefined) throw new Refusal('unknown_key');
  const { lastUsedAt: _, ...lasting } = found;
  return lasting;
}

const keys = async () => ({ gate: 'keys' as const });

export const PARTNER_ACTS: readonly Act[] = [
  act({
    name: 'partner.create',
    path: '/partners',
    right: 'partners',
    fields: {
      name: text(60),
      quoteShape: optional(oneOf(['A', 'B'])),
      toleranceBps: optional(whole(0, 10_000)),
      tradeLevel: optional(whole(0, 4)),
      requestsPerMinute: optional(whole(0, 1_000_000)),
      corsOrigins: optional(listOf(origin, 20)),
    },
    subject: ({ name }) => `partner:${name}`,
    async look(_deps, tx, ask) {
      const found = await findPartner(tx, { name: ask.name });
      return found === undefined ? null : { id: found.id, name: found.name, suspended: found.suspended };
    },
    async perform(_deps, tx, ask, { now }) {
      if ((await findPartner(tx, { name: ask.name })) !== undefined) throw new Refusal('partner_exists');
      const { toleranceBps, ...rest } = ask;
      const tolerance = toleranceBps === undefined ? {} : { toleranceBps: BigInt(toleranceBps) };
      await createPartner(tx, { ...rest, ...tolerance, now });
    },
  }),
  act({
    name: 'partner.suspend',
    path: '/partners/:partner/suspend',
    right: 'partners',
    fields: { partner: id },
    subject,
    look,
    async perform(_deps, tx, ask, { now }) {
      await suspendPartner(tx, ask.partner, now);
    },
  }),
  act({
    name: 'partner.resume',
    path: '/partners/:partner/resume',
    right: 'partners',
    fields: { partner: id },
    subject,
    look,
    needs: async () => ({ gate: 'resume' as const }),
    async perform(_deps, tx, ask) {
      await resumePartner(tx, ask.partner);
    },
  }),
  act({
    name: 'key.create',
    path: '/partners/:partner/keys',
    right: 'partners',
    fields: {
      partner: id,
      label: text(60),
      scopes: listOf(oneOf(SCOPES), SCOPES.length),
      addresses: optional(listOf(network, 50)),
      expiresAt: optional(time),
    },
    subject,
    look,
    needs: keys,
    async perform({ vault }, tx, ask, { now }) {
      const { partner, scopes, ...rest } = ask;
      if (rest.expiresAt !== undefined && rest.expiresAt <= now)
        throw new Refusal('malformed_field', { fields: { expiresAt: 'must lie ahead' } });
      return await createKey(tx, vault, { ...rest, partnerId: partner, scopes: [...new Set(scopes)], now });
    },
  }),
  act({
    name: 'key.rotate',
    path: '/keys/:key/rotate',
    right: 'partners',
    fields: { key: keyName, overlapHours: optional(whole(0, 24 * 30)) },
    subject: keySubject,
    look: lookAtKey,
    needs: keys,
    async perform({ vault }, tx, ask, { now }) {
      if ((await findKey(tx, ask.key))?.revokedAt !== null) throw new Refusal('unknown_key');
      const overlapMs = (ask.overlapHours ?? DEFAULT_OVERLAP_H) * HOUR_MS;
      const { apiSecret } = await rotateKey(tx, vault, { key: ask.key, now, overlapMs });
      return { apiKey: ask.key, apiSecret, oldSecretValidUntil: later(now, overlapMs) };
    },
  }),
  act({
    name: 'key.revoke',
    path: '/keys/:key/revoke',
    right: 'partners',
    fields: { key: keyName },
    subject: keySubject,
    look: lookAtKey,
    async perform(_deps, tx, ask, { now }) {
      await revokeKey(tx, ask.key, now);
    },
  }),
];
