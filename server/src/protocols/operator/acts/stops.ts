/**
 * Acts that switch off and on: a market, a partner, a rail, all payouts. Off is one person's, and each who lays the same kill
 * switch adds their name. On takes as many people as the rules say and as laid it; also of a chain that stopped by itself.
 */
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import { closeCases } from '../../../compliance/index.ts';
import { confirmers } from '../../../operators/index.ts';
import { findPartner, layersOf, liftStop, MACHINE, type StopKind, setStop, stops } from '../../../partners/index.ts';
import { type Act, act, type OperatorDeps } from '../act.ts';
import { flag, oneOf, optional, text } from '../fields.ts';
import { marketOf } from './terms.ts';

interface Ask {
  kind: StopKind;
  subject: string;
}

const fields = {
  kind: oneOf(['market', 'partner', 'rail', 'payouts']),
  subject: text(60, /^[A-Za-z0-9._-]+$/, "a market's or partner's id, a rail's code, or all for payouts"),
};
const subject = ({ kind, subject: of }: Ask): string => `${kind}:${of}`;

async function look(_deps: OperatorDeps, tx: Tx, ask: Ask): Promise<unknown> {
  const row = (await stops(tx)).find((one) => one.kind === ask.kind && one.subject === ask.subject);
  if (row === undefined) return { stopped: false };
  const laidBy = await layersOf(tx, ask.kind, ask.subject);
  return { stopped: true, by: row.by, at: row.at, laidBy: laidBy.map(({ by }) => by) };
}

export const STOP_ACTS: readonly Act[] = [
  act({
    name: 'stop.set',
    path: '/stops',
    right: 'stop',
    fields,
    subject,
    async look(deps, tx, ask) {
      await requireThere(deps, tx, ask);
      return await look(deps, tx, ask);
    },
    async perform(_deps, tx, ask, { operator, reason, now }) {
      await setStop(tx, { ...ask, by: operator.name, reason, at: now });
    },
  }),
  act({
    name: 'stop.lift',
    path: '/stops/lift',
    right: 'resume',
    fields,
    subject,
    look,
    // As many as laid it, whoever they are: no more than there are who could. The machine is nobody.
    async needs(_deps, tx, { kind, subject: of }) {
      const laid = (await layersOf(tx, kind, of)).filter(({ by }) => by !== MACHINE).length;
      return ['rule', { atLeast: Math.min(laid, await confirmers(tx)) }];
    },
    async perform({ handOverAgain }, tx, ask, { now }) {
      const wasThere = await liftStop(tx, ask.kind, ask.subject);
      if (wasThere && (ask.kind === 'rail' || ask.kind === 'payouts')) await handOverAgain(tx, now);
    },
  }),
  act({
    name: 'rail.clear',
    path: '/rails/:rail/clear',
    right: 'resume',
    fields: { rail: text(60), restart: optional(flag) },
    subject: ({ rail }) => `rail:${rail}`,
    async look({ chainStops }, tx, { rail }) {
      if (!chainStops.codes.includes(rail))
        throw new Refusal('malformed_field', { fields: { rail: `must be one of ${chainStops.codes.join(', ')}` } });
      const why = await chainStops.why(tx, rail);
      return { stopped: why !== null, ...(why === null ? {} : { why }) };
    },
    // Asked before anything is done or proposed; of a proposal whose stop is gone or another, `look` tells.
    async needs({ chainStops }, tx, { rail }) {
      if ((await chainStops.why(tx, rail)) === null) throw new Refusal('rail_not_stopped', { rail });
      return 'rule' as const;
    },
    async perform({ chainStops }, tx, { rail, restart = false }, { operator, now }) {
      await chainStops.clear(tx, rail, { restart });
      // Nonces used by others are the same case, and a stop of their own that stays.
      if ((await stops(tx)).some((one) => one.kind === 'rail' && one.subject === rail && one.by === MACHINE)) return;
      const outcome = `cleared by ${operator.name}${restart ? ', begun again below what was final' : ''}`;
      await closeCases(tx, { kind: 'rail_stopped', subject: rail, outcome, now });
    },
  }),
];

/** A misspelt subject would stop nothing and look as if it did. */
async function requireThere({ orders }: OperatorDeps, tx: Tx, ask: Ask): Promise<void> {
  const wrong = (rule: string) => new Refusal('malformed_field', { fields: { subject: rule } });
  const number = /^[1-9][0-9]{0,17}$/.test(ask.subject) ? BigInt(ask.subject) : 0n;
  switch (ask.kind) {
    case 'market':
      return void (await marketOf(tx, number));
    case 'partner':
      if ((await findPartner(tx, { id: number })) === undefined) throw new Refusal('unknown_partner');
      return;
    case 'rail':
      if (!orders.rails.has(ask.subject)) throw wrong(`must be one of ${[...orders.rails.keys()].join(', ')}`);
      return;
    case 'payouts':
      if (ask.subject !== 'all') throw wrong('must be all');
  }
}
