/**
 * Correcting entries: each closes a break or a case, and its kind determines the accounts. At least two people, whatever a
 * rule says.
 */
import type { Tx } from '../../../base/db.ts';
import { parseUnits } from '../../../base/money.ts';
import { requireUnclaimed } from '../../../compliance/index.ts';
import { type CaseCorrectionInput, correctCase, lookCorrectable, requireCorrectable } from '../../../orders/index.ts';
import { assets } from '../../../partners/index.ts';
import { type Action, action } from '../action.ts';
import { CASES } from '../declared/cases.ts';
import { MOVEMENTS } from '../declared/payouts.ts';
import type { CorrectionInput, OperatorDeps } from '../deps.ts';

interface Said extends Omit<CorrectionInput, 'units'> {
  amount: string;
}

async function askOf({ corrections }: OperatorDeps, tx: Tx, said: Said): Promise<CorrectionInput & { asset: string }> {
  const { asset } = await corrections.look(tx, said.item);
  const units = parseUnits(said.amount, (await assets(tx)).get(asset)?.decimals ?? 0);
  return { item: said.item, as: said.as, evidence: said.evidence, units, asset };
}

async function caseAskOf(tx: Tx, said: { case: bigint; amount: string } & Omit<CaseCorrectionInput, 'units'>) {
  const { asset } = await lookCorrectable(tx, said.case);
  const units = parseUnits(said.amount, (await assets(tx)).get(asset)?.decimals ?? 0);
  const { case: of, as, evidence, deposit, partner } = said;
  return { case: of, as, evidence, deposit, partner, units, asset };
}

export const CORRECTION_ACTIONS: readonly Action[] = [
  action({
    ...CASES.correct,
    subject: (input) => `case:${input.case}`,
    look: (_deps, tx, input) => lookCorrectable(tx, input.case),
    // Runs for the request only: the proposer must have claimed the case; the second person need not.
    async bind(_deps, tx, input, { operator }) {
      await requireUnclaimed(tx, { id: input.case, by: operator.name });
      return input;
    },
    async needs({ orders }, tx, said) {
      const input = await caseAskOf(tx, said);
      await requireCorrectable(orders, tx, input);
      return ['always', { finding: 'entry.correct', asset: input.asset, units: input.units }];
    },
    async perform({ orders }, tx, said, { people, now }) {
      await correctCase(orders, tx, { ...(await caseAskOf(tx, said)), by: people.join(', '), now });
    },
  }),
  action({
    ...MOVEMENTS.correct,
    subject: ({ item }) => `break:${item}`,
    look: ({ corrections }, tx, { item }) => corrections.look(tx, item),
    async needs(deps, tx, said) {
      const { asset, units, ...input } = await askOf(deps, tx, said);
      // Reported at once instead of after a proposal.
      await deps.corrections.require(tx, { ...input, units });
      return ['always', { finding: 'entry.correct', asset, units }];
    },
    async perform(deps, tx, said, { people }) {
      const { asset: _, ...input } = await askOf(deps, tx, said);
      await deps.corrections.correct(tx, { ...input, by: people.join(', ') });
    },
  }),
];
