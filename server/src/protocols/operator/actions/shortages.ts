/** Operator actions on orders that wait for the same funds. */
import { later } from '../../../base/clock.ts';
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import { endLettingPass, letPass, shortageNow } from '../../../orders/index.ts';
import { assets } from '../../../partners/index.ts';
import { type Action, action, type OperatorDeps } from '../action.ts';
import { text, whole } from '../fields.ts';

/** Longer than a day it would no longer be an exception. */
const MOST_MINUTES = 24 * 60;

interface Input {
  rail: string;
  asset: string;
}

const fields = { rail: text(60), asset: text(60) };
const subject = ({ rail, asset }: Input): string => `shortage:${rail}:${asset}`;

async function look({ orders, clock }: OperatorDeps, tx: Tx, input: Input): Promise<unknown> {
  const known = await assets(tx);
  const wrong = {
    ...(orders.rails.has(input.rail) ? {} : { rail: `must be one of ${[...orders.rails.keys()].join(', ')}` }),
    ...(known.has(input.asset) ? {} : { asset: `must be one of ${[...known.keys()].join(', ')}` }),
  };
  if (Object.keys(wrong).length > 0) throw new Refusal('malformed_field', { fields: wrong });
  return await shortageNow(tx, input, clock.now());
}

export const SHORTAGE_ACTIONS: readonly Action[] = [
  action({
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
  action({
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
