/** Operator action on dust: much of it at once is written off. One that has a case is `entry.correct-case`. */
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import { type DustAsk, lookDust, MAX_DUST, writeOffDust } from '../../../orders/index.ts';
import { assets } from '../../../partners/index.ts';
import { type Act, act } from '../act.ts';
import { text, time, whole } from '../fields.ts';

async function known(tx: Tx, ask: DustAsk): Promise<DustAsk> {
  if (!(await assets(tx)).has(ask.asset))
    throw new Refusal('malformed_field', { fields: { asset: 'must be the code of an asset' } });
  return ask;
}

export const DUST_ACTS: readonly Act[] = [
  act({
    name: 'dust.write-off',
    path: '/dust/write-off',
    right: 'money',
    fields: { asset: text(40, /^[a-z0-9.]+$/, 'the code of an asset'), before: time, most: whole(1, MAX_DUST) },
    subject: ({ asset }) => `asset:${asset}`,
    look: async (_deps, tx, ask) => await lookDust(tx, await known(tx, ask)),
    weighs: true,
    async needs(_deps, tx, ask) {
      const { count, units } = await lookDust(tx, await known(tx, ask));
      if (count === 0) throw new Refusal('does_not_fit', { why: `no dust of ${ask.asset} came before that` });
      return ['always', { finding: 'entry.correct', asset: ask.asset, units }];
    },
    async perform(_deps, tx, ask, { people, now }) {
      await writeOffDust(tx, { ...(await known(tx, ask)), by: people.join(', '), now });
    },
  }),
];
