/**
 * Actions on hits in sanctions lists. Reading one is an action too. Dismissing one takes two people, because it lets money leave;
 * confirming one takes one person, because it must be quick and only holds money.
 */
import type { Tx } from '../../../base/db.ts';
import {
  acceptShrunken,
  decideHit,
  findDecided,
  findHit,
  findShrunken,
  openHit,
  replayDecision,
} from '../../../compliance/index.ts';
import { blockedNow } from '../../../orders/index.ts';
import { type Action, action } from '../action.ts';
import { SANCTIONS } from '../declared/sanctions.ts';
import type { OperatorDeps } from '../deps.ts';

const subject = (input: { hit: bigint }): string => `sanctions_hit:${input.hit}`;
const look = (_deps: OperatorDeps, tx: Tx, input: { hit: bigint }) => findHit(tx, input.hit);

export const SANCTIONS_ACTIONS: readonly Action[] = [
  // It clears the people that the version no longer names.
  action({
    ...SANCTIONS.accept,
    subject: ({ list }) => `sanctions_list:${list}`,
    look: (_deps, tx, { list, sha256 }) => findShrunken(tx, { list, sha256 }),
    needs: async () => 'always' as const,
    perform: (_deps, tx, { list, sha256 }, { now }) => acceptShrunken(tx, { list, sha256, now }),
  }),
  action({
    ...SANCTIONS.open,
    subject,
    look,
    async perform({ vault }, tx, input) {
      const { alert, listEntry: entry } = await openHit(tx, vault, input.hit);
      return { alert, entry };
    },
  }),
  action({
    ...SANCTIONS.confirm,
    subject,
    look,
    // It blocks the customer, as `customer.block` does: the same is held at once, and a case names what was submitted before.
    async perform(_deps, tx, { hit: id }, { people, reason, now }) {
      await decideHit(tx, { id, outcome: 'true_hit', people, reason, now });
      const { customerId } = await findHit(tx, id);
      if (customerId !== null) await blockedNow(tx, customerId, now);
    },
  }),
  action({
    ...SANCTIONS.dismiss,
    subject,
    look,
    needs: async () => 'always' as const,
    perform: (_deps, tx, { hit: id }, { people, reason, now }) =>
      decideHit(tx, { id, outcome: 'false_positive', people, reason, now }),
  }),
  action({
    ...SANCTIONS.replay,
    subject: ({ decision, kind = 'names' }) => (kind === 'names' ? `screening:${decision}` : `${kind}:${decision}`),
    look: (_deps, tx, { decision: id, kind = 'names' }) => findDecided(tx, { kind, id }),
    async perform() {},
    shows: async (deps, { decision: id, kind = 'names' }) => ({ replay: await replayDecision(deps, { kind, id }) }),
  }),
];
