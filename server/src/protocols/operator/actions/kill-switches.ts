/**
 * Actions that switch off and on: a market, a partner, a rail, all payouts. One person switches off, and each further person
 * who sets the same kill switch adds their name. Switching on takes as many people as the rules say, and at least as many as
 * have set the kill switch. The same holds for a chain that halted by itself.
 */
import type { Tx } from '../../../base/db.ts';
import { defined } from '../../../base/defined.ts';
import { Refusal } from '../../../base/errors.ts';
import { idNamed } from '../../../base/fields.ts';
import { confirmers } from '../../../operators/index.ts';
import { haltCleared } from '../../../orders/index.ts';
import {
  findPartner,
  type KillSwitchKind,
  killSwitches,
  layersOf,
  liftKillSwitch,
  lockKillSwitches,
  MACHINE,
  setKillSwitch,
} from '../../../partners/index.ts';
import { type Action, action } from '../action.ts';
import { SWITCHES } from '../declared/switches.ts';
import type { OperatorDeps } from '../deps.ts';
import { marketOf } from './terms.ts';

interface Input {
  kind: KillSwitchKind;
  subject: string;
}

const subject = ({ kind, subject: of }: Input): string => `${kind}:${of}`;

async function look(_deps: OperatorDeps, tx: Tx, input: Input): Promise<unknown> {
  const row = (await killSwitches(tx)).find((one) => one.kind === input.kind && one.subject === input.subject);
  if (row === undefined) return { on: false };
  const laidBy = await layersOf(tx, input.kind, input.subject);
  return { on: true, by: row.by, at: row.at, laidBy: laidBy.map(({ by }) => by), lastAt: laidBy.at(-1)?.at };
}

export const KILL_SWITCH_ACTIONS: readonly Action[] = [
  action({
    ...SWITCHES.set,
    subject,
    async look(deps, tx, input) {
      await requireThere(deps, tx, input);
      return await look(deps, tx, input);
    },
    async perform(_deps, tx, input, { operator, reason, now }) {
      await setKillSwitch(tx, { ...input, by: operator.name, reason, at: now });
    },
  }),
  action({
    ...SWITCHES.lift,
    subject,
    // Locked: a concurrent new setting is either visible here, or waits.
    async look(deps, tx, input) {
      await lockKillSwitches(tx);
      return await look(deps, tx, input);
    },
    // At least as many people as have set it, but no more than the number of operators who may confirm. The server's own
    // setting does not count.
    async needs(_deps, tx, { kind, subject: of }) {
      const setBy = (await layersOf(tx, kind, of)).filter(({ by }) => by !== MACHINE).length;
      return ['rule', { atLeast: Math.min(setBy, await confirmers(tx)) }];
    },
    async perform({ submitAgain }, tx, input, { now }) {
      const wasThere = await liftKillSwitch(tx, input.kind, input.subject);
      if (wasThere && (input.kind === 'rail' || input.kind === 'payouts')) await submitAgain(tx, now);
    },
  }),
  action({
    ...SWITCHES.clear,
    subject: ({ rail }) => `rail:${rail}`,
    async look({ chainHalts }, tx, { rail }) {
      if (!chainHalts.codes.includes(rail))
        throw new Refusal('malformed_field', { fields: { rail: `must be one of ${chainHalts.codes.join(', ')}` } });
      // Before the chain's row: whoever explains its last unknown transaction locks them in this order.
      await lockKillSwitches(tx);
      const why = await chainHalts.why(tx, rail);
      return { halted: why !== null, ...defined({ why: why ?? undefined }) };
    },
    // Checked before anything is done or proposed; `look` detects a proposal whose halt is gone or has changed.
    async needs({ chainHalts }, tx, { rail }) {
      if ((await chainHalts.why(tx, rail)) === null) throw new Refusal('rail_not_halted', { rail });
      return 'rule' as const;
    },
    async perform({ chainHalts }, tx, { rail, restart = false }, { operator, now }) {
      await chainHalts.clear(tx, rail, { restart });
      const outcome = `cleared by ${operator.name}${restart ? ', read again from below the final block' : ''}`;
      await haltCleared(tx, { rail, outcome, now });
    },
  }),
];

/** Refuses an unknown subject: a misspelt one would switch nothing off while looking as if it did. */
async function requireThere({ orders }: OperatorDeps, tx: Tx, input: Input): Promise<void> {
  const wrong = (rule: string) => new Refusal('malformed_field', { fields: { subject: rule } });
  const number = idNamed(input.subject) ?? 0n;
  switch (input.kind) {
    case 'market':
      return void (await marketOf(tx, number));
    case 'partner':
      if ((await findPartner(tx, { id: number })) === undefined) throw new Refusal('unknown_partner');
      return;
    case 'rail':
      if (!orders.rails.has(input.subject)) throw wrong(`must be one of ${[...orders.rails.keys()].join(', ')}`);
      return;
    case 'payouts':
      if (input.subject !== 'all') throw wrong('must be all');
  }
}
