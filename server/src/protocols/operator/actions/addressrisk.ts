/**
 * Actions on addresses whose risk is too high. Dismissing a hit takes two people, because it lets money leave; confirming one takes
 * one person, because it must be quick and only holds money.
 */
import type { Tx } from '../../../base/db.ts';
import { decideAddressHit, findAddressHit } from '../../../compliance/index.ts';
import { type Action, action } from '../action.ts';
import { ADDRESS_RISK } from '../declared/addressrisk.ts';
import type { OperatorDeps } from '../deps.ts';

const subject = (input: { hit: bigint }): string => `address_hit:${input.hit}`;
const look = (_deps: OperatorDeps, tx: Tx, input: { hit: bigint }) => findAddressHit(tx, input.hit);

export const ADDRESS_RISK_ACTIONS: readonly Action[] = [
  action({
    ...ADDRESS_RISK.confirm,
    subject,
    look,
    perform: (_deps, tx, { hit: id }, { people, reason, now }) =>
      decideAddressHit(tx, { id, outcome: 'true_hit', people, reason, now }),
  }),
  action({
    ...ADDRESS_RISK.dismiss,
    subject,
    look,
    needs: async () => 'always' as const,
    perform: (_deps, tx, { hit: id }, { people, reason, now }) =>
      decideAddressHit(tx, { id, outcome: 'false_positive', people, reason, now }),
  }),
];
