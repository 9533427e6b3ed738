/** Reads of the terms of a market by their origin. Changing them is actions/terms.ts. */
import type { Tx } from '../../base/db.ts';
import { formatUnits, parseUnits } from '../../base/money.ts';
import { HIGHEST_LEVEL } from '../../customers/index.ts';
import { BUILT_IN_POLICY, limitRow, marketChanges, POLICY_QUESTIONS, policyRow } from '../../partners/index.ts';
import { marketOf, requirePartner, termsRow } from './actions/terms.ts';
import { MARKET_TERMS } from './declared/marketterms.ts';
import { type Read, read } from './read.ts';

/** Changes among which the latest of each level is looked for. */
const MAX_CHANGES = 500;
const LEVELS = Array.from({ length: HIGHEST_LEVEL + 1 }, (_, level) => level);

/** The fields of an answer that this market has for this partner, or (null) for all of them. */
async function ownAnswer(tx: Tx, marketId: bigint, partnerId: bigint | null, question: string): Promise<object | null> {
  const row = await policyRow(tx, marketId, partnerId, question);
  return row === null ? null : (JSON.parse(row) as { answer: object }).answer;
}

export const MARKET_READS: readonly Read[] = [
  read({
    ...MARKET_TERMS.limits,
    async answer(_deps, tx, input) {
      const market = await marketOf(tx, input.market);
      const { decimals, code } = market.direction === 'offramp' ? market.crypto : market.fiat;
      const set: (string | null)[] = [];
      for (const level of LEVELS) {
        const row = termsRow(await limitRow(tx, market.id, level), decimals);
        set.push(row === null ? null : String(row.max_units));
      }
      const changes = await marketChanges(tx, { marketId: market.id, what: 'limit', limit: MAX_CHANGES });
      const most = market.maxUnits;
      const limits = LEVELS.map((level) => {
        // The limit of the lowest level that has one, from this level on, and never more than the market's own.
        const next = set.slice(level).find((max) => max !== null);
        const units = next === undefined || next === null ? most : parseUnits(next, decimals);
        const latest = changes.find(({ item }) => item === String(level));
        return {
          ...{ level, inForce: formatUnits(units < most ? units : most, decimals), max: set[level] ?? null },
          ...{ at: latest?.at ?? null, by: latest?.by ?? null, why: latest?.why ?? null },
        };
      });
      return { market: market.id, of: code, limits };
    },
  }),
  read({
    ...MARKET_TERMS.policies,
    async answer(_deps, tx, input) {
      const { id } = await marketOf(tx, input.market);
      const partner = await requirePartner(tx, input.partner);
      const policies = [];
      for (const question of POLICY_QUESTIONS) {
        const ofMarket = await ownAnswer(tx, id, null, question);
        const ofPartner = partner === null ? null : await ownAnswer(tx, id, partner, question);
        const builtIn = BUILT_IN_POLICY[question];
        policies.push({ question, inForce: { ...builtIn, ...ofMarket, ...ofPartner }, ofPartner, ofMarket, builtIn });
      }
      return { market: id, policies };
    },
  }),
];
