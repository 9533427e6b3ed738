/** Operator actions on orders that wait for the same funds. */
import { later } from '../../../base/clock.ts';
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import { endLettingPass, letPass, shortageNow } from '../../../orders/index.ts';
import { assets } from '../../../partners/index.ts';
import { type Action, action } from '../action.ts';
import { SWITCHES } from '../declared/switches.ts';
import type { OperatorDeps } from '../deps.ts';

interface Input {
  rail: string;
  asset: string;
}

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
    ...SWITCHES.pass,
    subject,
    look,
    async perform(_deps, tx, { minutes, ...what }, { operator, reason, now }) {
      await letPass(tx, what, { until: later(now, minutes * 60_000), by: operator.name, reason, now });
    },
  }),
  action({
    ...SWITCHES.queue,
    subject,
    look,
    async perform(_deps, tx, what, { now }) {
      await endLettingPass(tx, what, now);
    },
  }),
];
