/** Reads of the terms of a market by their origin. Changing them is actions/terms.ts. */
import type { Tx } from '../../base/db.ts';
import { formatUnits } from '../../base/money.ts';
import { HIGHEST_LEVEL } from '../../customers/index.ts';
import {
  BUILT_IN_POLICY,
  limitRow,
  marketChanges,
  maxUnitsFor,
  POLICY_QUESTIONS,
  policyFor,
  policyRow,
} from '../../partners/index.ts';
import { marketOf, requirePartner, termsRow } from './actions/terms.ts';
import { MARKET_TERMS } from './declared/marketterms.ts';
import { type Read, read } from './read.ts';

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
      const limits = [];
      for (const level of LEVELS) {
        const row = termsRow(await limitRow(tx, market.id, level), decimals);
        const [latest] = await marketChanges(tx, { marketId: market.id, what: 'limit', item: String(level), limit: 1 });
        limits.push({
          level,
          inForce: formatUnits(await maxUnitsFor(tx, market, level), decimals),
          max: row === null ? null : String(row.max_units),
          ...{ at: latest?.at ?? null, by: latest?.by ?? null, why: latest?.why ?? null },
        });
      }
      return { market: market.id, of: code, limits };
    },
  }),
  read({
    ...MARKET_TERMS.policies,
    async answer(_deps, tx, input) {
      const { id } = await marketOf(tx, input.market);
      const partner = await requirePartner(tx, input.partner);
      const inForce = await policyFor(tx, { id }, partner ?? 0n);
      const policies = [];
      for (const question of POLICY_QUESTIONS) {
        const ofMarket = await ownAnswer(tx, id, null, question);
        const ofPartner = partner === null ? null : await ownAnswer(tx, id, partner, question);
        const builtIn = BUILT_IN_POLICY[question];
        policies.push({ question, inForce: inForce[question], ofPartner, ofMarket, builtIn });
      }
      return { market: id, policies };
    },
  }),
];
