/** Alert rules: setting, removing and testing them, and reading them with their messages. */

import {
  alertMessages,
  alertRules,
  findAlertRule,
  MAX_MESSAGES,
  removeAlertRule,
  setAlertRule,
  testAlertRule,
} from '../../alerts/index.ts';
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { formatUnits, parseUnits } from '../../base/money.ts';
import { assets } from '../../partners/index.ts';
import { type Action, action } from './action.ts';
import { ALERTS } from './declared/alerts.ts';
import type { OperatorDeps } from './deps.ts';
import { type Read, read } from './read.ts';

const subject = ({ name }: { name: string }): string => `alert:${name}`;

async function look(_deps: OperatorDeps, tx: Tx, { name }: { name: string }): Promise<unknown> {
  const rule = await findAlertRule(tx, name);
  if (rule === undefined) return { name, on: false };
  const { channel, about, kinds, asset, leastUnits, afterMinutes, fromHour, untilHour, zone } = rule;
  return { name, on: true, channel, about, kinds, asset, leastUnits, afterMinutes, fromHour, untilHour, zone };
}

/** @throws Refusal 'malformed_field' | 'malformed_amount' */
async function leastOf(tx: Tx, { asset, least }: { asset?: string | undefined; least?: string | undefined }) {
  if (asset === undefined && least === undefined) return undefined;
  const decimals = asset === undefined ? undefined : (await assets(tx)).get(asset)?.decimals;
  if (decimals === undefined || least === undefined)
    throw new Refusal('malformed_field', {
      fields: { asset: 'must be the code of an asset, and must be sent together with least' },
    });
  return parseUnits(least, decimals);
}

export const ALERT_ACTIONS: readonly Action[] = [
  action({
    ...ALERTS.set,
    subject,
    look,
    async perform({ alertChannels = [] }, tx, { least, ...input }, { operator, now }) {
      const leastUnits = await leastOf(tx, { asset: input.asset, least });
      await setAlertRule(tx, { ...input, leastUnits }, { operator: operator.name, channels: alertChannels, now });
    },
  }),
  action({
    ...ALERTS.remove,
    subject,
    look,
    perform: async (_deps, tx, { name }, { now }) => await removeAlertRule(tx, name, now),
  }),
  action({
    ...ALERTS.test,
    subject,
    look,
    perform: async (_deps, tx, { name }, { now }) => ({ message: await testAlertRule(tx, name, now) }),
  }),
];

export const stateOf = ({ sentAt, failedAt }: { sentAt: Date | null; failedAt: Date | null }): string =>
  sentAt !== null ? 'sent' : failedAt !== null ? 'failed' : 'waiting';

export const ALERT_READS: readonly Read[] = [
  read({
    ...ALERTS.list,
    async answer({ alertChannels = [] }, tx) {
      const known = await assets(tx);
      const rules = (await alertRules(tx)).map(({ leastUnits, ...rule }) => ({
        ...{ name: rule.name, channel: rule.channel, about: rule.about, kinds: rule.kinds, asset: rule.asset },
        ...{ afterMinutes: rule.afterMinutes, fromHour: rule.fromHour, untilHour: rule.untilHour, zone: rule.zone },
        ...{ createdBy: rule.createdBy, createdAt: rule.createdAt },
        least: leastUnits === null ? null : formatUnits(leastUnits, known.get(rule.asset ?? '')?.decimals ?? 0),
      }));
      return { rules, channels: alertChannels };
    },
  }),
  read({
    ...ALERTS.messages,
    async answer(_deps, tx, { below, limit: most = 50 }) {
      const found = await alertMessages(tx, { below, limit: Math.min(most, MAX_MESSAGES) + 1 });
      const messages = found.slice(0, most).map(({ says, failedAt, ...one }) => ({
        ...{ ...one, title: says.title, lines: says.lines, state: stateOf({ ...one, failedAt }) },
      }));
      return { messages, next: found.length > most ? messages.at(-1)?.id : null };
    },
  }),
];
