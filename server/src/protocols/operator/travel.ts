/**
 * Travel rule: setting rules, and reading the data of transfers. A rule takes two people, because a higher threshold lets money
 * leave without data.
 */
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { formatUnits, parseUnits } from '../../base/money.ts';
import {
  exchangesOfOrder,
  type ProviderRow,
  recordsOfOrder,
  setTravelProvider,
  setTravelRule,
  type TravelRuleRow,
  travelProvider,
  travelProviders,
  travelRule,
  travelRules,
  travelRuleVersions,
} from '../../compliance/index.ts';
import { lockOrder } from '../../orders/index.ts';
import { assets } from '../../partners/index.ts';
import { type Action, action } from './action.ts';
import { TRAVEL } from './declared/travel.ts';
import { type Read, read } from './read.ts';

const HOUR_S = 3_600;

/** @throws Refusal 'malformed_field' | 'malformed_amount' */
async function termsOf(
  tx: Tx,
  { fiat, threshold, proofFrom }: { fiat: string; threshold: string; proofFrom?: string | undefined },
) {
  const asset = (await assets(tx)).get(fiat);
  if (asset?.kind !== 'fiat') throw new Refusal('malformed_field', { fields: { fiat: 'must be the code of a fiat' } });
  return {
    fiatAsset: fiat,
    thresholdUnits: parseUnits(threshold, asset.decimals),
    proofUnits: proofFrom === undefined ? null : parseUnits(proofFrom, asset.decimals),
  };
}

async function shownIn(tx: Tx): Promise<(row: TravelRuleRow) => Readonly<Record<string, unknown>>> {
  const known = await assets(tx);
  return ({ fiatAsset: fiat, thresholdUnits, proofUnits, setBy: by, setAt: at, ...row }) => {
    const shown = (units: bigint) => formatUnits(units, known.get(fiat)?.decimals ?? 0);
    const proofFrom = proofUnits === null ? null : shown(proofUnits);
    return { ...row, fiat, by, at, threshold: shown(thresholdUnits), proofFrom };
  };
}

const shownProvider = ({ setBy: by, setAt: at, ...row }: ProviderRow) => ({ ...row, by, at });

export const TRAVEL_ACTIONS: readonly Action[] = [
  action({
    ...TRAVEL.set,
    subject: ({ jurisdiction, fiat }) => `travel_rule:${jurisdiction}:${fiat}`,
    async look(_deps, tx, input) {
      // An invalid rule is refused before a proposal is made.
      const { fiatAsset } = await termsOf(tx, input);
      const row = await travelRule(tx, { jurisdiction: input.jurisdiction, fiatAsset });
      return row === undefined ? null : (await shownIn(tx))(row);
    },
    needs: async () => 'always' as const,
    async perform(_deps, tx, input, { people, reason, now }) {
      const { jurisdiction, deadlineHours, policy, exchange = 'none', isOn = true } = input;
      const terms = await termsOf(tx, input);
      const more = { jurisdiction, isOn, policy, exchange, deadlineS: deadlineHours * HOUR_S };
      await setTravelRule(tx, { ...terms, ...more, by: people.join(', '), why: reason, now });
    },
  }),
  action({
    ...TRAVEL.setProvider,
    subject: ({ host }) => `travel_provider:${host}`,
    async look(_deps, tx, { host }) {
      const row = await travelProvider(tx, host);
      return row === undefined ? null : shownProvider(row);
    },
    needs: async () => 'always' as const,
    async perform(_deps, tx, { host, name, isOn = true }, { people, reason, now }) {
      await setTravelProvider(tx, { host, name, isOn, by: people.join(', '), why: reason, now });
    },
  }),
  action({
    ...TRAVEL.open,
    subject: ({ order }) => `order:${order}`,
    look: async () => null,
    async perform({ vault, orders }, tx, { order: orderId }) {
      const { id, payoutAddress, payoutRail: rail } = await lockOrder(tx, orderId);
      const needs = await orders.travelRule?.needs(tx, { id, payoutAddress, rail });
      const records = await recordsOfOrder(tx, vault, orderId);
      return { records, needed: needs?.needed ?? [], exchanges: await exchangesOfOrder(tx, vault, orderId) };
    },
  }),
];

export const TRAVEL_READS: readonly Read[] = [
  read({
    ...TRAVEL.providers,
    answer: async (_deps, tx) => ({ providers: (await travelProviders(tx)).map(shownProvider) }),
  }),
  read({ ...TRAVEL.rules, answer: async (_deps, tx) => ({ rules: (await travelRules(tx)).map(await shownIn(tx)) }) }),
  read({
    ...TRAVEL.versions,
    async answer(_deps, tx, { below, limit: most = 50 }) {
      const found = await travelRuleVersions(tx, { below, limit: most + 1 });
      const versions = found.slice(0, most).map(await shownIn(tx));
      return { versions, next: found.length > most ? versions.at(-1)?.id : null };
    },
  }),
];
