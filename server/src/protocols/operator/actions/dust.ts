/**
 * Operator action that writes off dust of many deposits at once. A deposit with a case is written off with
 * `entry.correct-case`.
 */
import { randomUUID } from 'node:crypto';
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import { type DustInput, lookDust, writeOffDust } from '../../../orders/index.ts';
import { assets } from '../../../partners/index.ts';
import { type Action, action } from '../action.ts';
import { UNCLAIMED } from '../declared/deposits.ts';

async function known(tx: Tx, input: DustInput): Promise<DustInput> {
  if (!(await assets(tx)).has(input.asset))
    throw new Refusal('malformed_field', { fields: { asset: 'must be the code of an asset' } });
  return input;
}

export const DUST_ACTIONS: readonly Action[] = [
  action({
    ...UNCLAIMED.writeOff,
    subject: ({ asset }) => `asset:${asset}`,
    look: async ({ orders }, tx, input) => await lookDust(orders, tx, await known(tx, input)),
    async needs({ orders }, tx, input) {
      const { count, units } = await lookDust(orders, tx, await known(tx, input));
      if (count === 0) throw new Refusal('does_not_fit', { why: `no dust of ${input.asset} arrived before that` });
      // Each time it is other dust, although all of an asset have one subject.
      return ['always', { finding: 'entry.correct', asset: input.asset, units, counts: `dust:${randomUUID()}` }];
    },
    async perform({ orders }, tx, input, { people, now }) {
      await writeOffDust(orders, tx, { ...(await known(tx, input)), by: people.join(', '), now });
    },
  }),
];
