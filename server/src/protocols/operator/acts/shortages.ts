/** Operator actions on orders that wait for the same funds. */
import { later } from '../../../base/clock.ts';
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import { endLettingPass, letPass, shortageNow } from '../../../orders/index.ts';
import { assets } from '../../../partners/index.ts';
import { type Act, act, type OperatorDeps } from '../act.ts';
import { text, whole } from '../fields.ts';

/** Longer than a day it is no exception any more. */
const MOST_MINUTES = 24 * 60;

interface Ask {
  rail: string;
  asset: string;
}

const fields = { rail: text(60), asset: text(60) };
const subject = ({ rail, asset }: Ask): string => `shortage:${rail}:${asset}`;

async function look({ orders, clock }: OperatorDeps, tx: Tx, ask: Ask): Promise<unknown> {
  const known = await assets(tx);
  const wrong = {
    ...(orders.rails.has(ask.rail) ? {} : { rail: `must be one of ${[...orders.rails.keys()].join(', ')}` }),
    ...(known.has(ask.asset) ? {} : { asset: `must be one of ${[...known.keys()].join(', ')}` }),
  };
  if (Object.keys(wrong).length > 0) throw new Refusal('malformed_field', { fields: wrong });
  return await shortageNow(tx, ask, clock.now());
}

export const SHORTAGE_ACTS: readonly Act[] = [
  act({
    name: 'shortage.pass',
    path: '/shortages/pass',
    right: 'money',
    fields: { ...fields, minutes: whole(1, MOST_MINUTES) },
    subject,
    look,
    async perform(_deps, tx, { minutes, ...what }, { operator, reason, now }) {
      await letPass(tx, what, { until: later(now, minutes * 60_000), by: operator.name, reason, now });
    },
  }),
  act({
    name: 'shortage.queue',
    path: '/shortages/queue',
    right: 'money',
    fields,
    subject,
    look,
    async perform(_deps, tx, what, { now }) {
      await endLettingPass(tx, what, now);
    },
  }),
];
