/**
 * Alerts: notifications about cases, by e-mail, Slack, PagerDuty or a webhook, and a digest each morning.
 *
 * A rule says which cases it reports (opened, unclaimed, or overdue ones; or the digest), of which kinds, from which amount on,
 * after how long, in which hours, and by which channel. Each rule reports a case once. A case outside the rule's hours is
 * reported when they begin, if it is still open then.
 *
 * A message is a row before it is sent, in the transaction that finds its cases. A rule writes one message a minute at most,
 * about at most 200 cases: a thousand cases are five messages. A message is tried for about a day, with growing pauses, and then
 * marked as failed.
 *
 * When a rule is replaced or removed, its channel gets a last message, so that one operator cannot silence it unnoticed.
 *
 * Texts are kinds, numbers and times. A case's subject and reason may quote a bank or a person, and are left out.
 *
 * Not here: how a channel sends (channels/), when a case is due (compliance/due.ts).
 */
import { pauseAfter } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import type { Database, Tx } from '../base/db.ts';
import { Refusal, Unavailable } from '../base/errors.ts';
import { enqueue, type Handlers } from '../base/jobs.ts';
import type { Log } from '../base/log.ts';
import { isZone } from '../base/zones.ts';
import { DUE, isCaseKind, OTHERS } from '../compliance/index.ts';
import type { Channel } from './channel.ts';
import { hourIn, isWithin } from './hours.ts';
import { type About, type NewCase, type RuleRow, type Says, store } from './store.ts';

export type { Channel, ChannelContext, Message } from './channel.ts';
export { ABOUT, type About } from './store.ts';

/** Recurring job, subject `all`. */
export const ALERTS_JOB = 'tell_alerts';
/** The job's subject is the message's id. */
const SEND = 'send_alert';
const EVERY_MS = 15_000;
const GAP_MS = 60_000;
const MOST_CASES = 200;
const SHOWN_CASES = 20;
const MAX_RULES = 100;
export const MAX_MESSAGES = 200;
/** 30 s, a minute, … an hour: about a day in total. */
const PAUSES = { firstMs: 30_000, longestMs: 3_600_000 };
const MAX_ATTEMPTS = 30;

export interface RuleInput {
  name: string;
  channel: string;
  about: About;
  kinds?: readonly string[] | undefined;
  asset?: string | undefined;
  leastUnits?: bigint | undefined;
  afterMinutes?: number | undefined;
  fromHour?: number | undefined;
  untilHour?: number | undefined;
  zone?: string | undefined;
}

export const alertRules = (tx: Tx): Promise<RuleRow[]> => store.rules(tx);
export const findAlertRule = (tx: Tx, name: string): Promise<RuleRow | undefined> => store.rule(tx, name);
export const alertMessages = (tx: Tx, page: { below?: bigint | undefined; limit: number }) =>
  store.messages(tx, { below: page.below, limit: Math.min(page.limit, MAX_MESSAGES + 1) });

/**
 * Replaces the rule of the same name. The new rule does not report cases again that the old one has reported.
 *
 * @throws Refusal 'malformed_field'
 */
export async function setAlertRule(
  tx: Tx,
  input: RuleInput,
  by: { operator: string; channels: readonly string[]; now: Date },
): Promise<void> {
  const wrong: Record<string, string> = {};
  const { kinds = [], zone = 'UTC', asset = null, leastUnits = null } = input;
  if (!by.channels.includes(input.channel))
    wrong.channel =
      by.channels.length === 0
        ? 'must be a channel of ALERT_CHANNELS, which names none'
        : `must be one of ${by.channels.join(', ')}`;
  if (kinds.some((kind) => !isCaseKind(kind)))
    wrong.kinds = 'must be kinds of case, as docs/operating/cases.md lists them';
  if (!isZone(zone)) wrong.zone = 'must be the name of a time zone, such as Asia/Kolkata';
  if (input.about === 'digest' && (kinds.length > 0 || asset !== null))
    wrong.about = 'digest is about everything: it takes no kinds and no amount';
  const others = (await store.rules(tx)).filter(({ name }) => name !== input.name);
  if (others.length >= MAX_RULES) wrong.name = `must be that of a rule: there are ${MAX_RULES} already`;
  if (Object.keys(wrong).length > 0) throw new Refusal('malformed_field', { fields: wrong });
  const before = await store.rule(tx, input.name);
  if (before !== undefined) await tellEnd(tx, before, 'replaced', by.now);
  await store.remove(tx, input.name, by.now);
  await store.insertRule(tx, {
    ...{ name: input.name, channel: input.channel, about: input.about, kinds: [...kinds], asset, leastUnits, zone },
    ...{ afterMinutes: input.afterMinutes ?? 0, fromHour: input.fromHour ?? 0, untilHour: input.untilHour ?? 0 },
    ...{ createdBy: by.operator, createdAt: by.now },
  });
}

/** @throws Refusal 'unknown_alert' */
export async function removeAlertRule(tx: Tx, name: string, now: Date): Promise<void> {
  const rule = await store.rule(tx, name);
  if (rule === undefined || (await store.remove(tx, name, now)) === 0) throw new Refusal('unknown_alert');
  await tellEnd(tx, rule, 'removed', now);
}

/** The last message of a rule, sent at any hour. */
async function tellEnd(tx: Tx, rule: RuleRow, how: 'replaced' | 'removed', now: Date): Promise<void> {
  const says = {
    title: `Cloverleaf: an alert rule was ${how}`,
    lines: [`Rule ${rule.name}. The audit names who did it.`],
  };
  await write(tx, rule, 'change', { ...says, path: '/console/alerts', isUrgent: false }, now);
}

/** Stores a test message. @throws Refusal 'unknown_alert' */
export async function testAlertRule(tx: Tx, name: string, now: Date): Promise<bigint> {
  const rule = await store.rule(tx, name);
  if (rule === undefined) throw new Refusal('unknown_alert');
  const says = { title: 'Cloverleaf: a test of this alert', lines: [`Rule ${name}: nothing has happened.`] };
  return (await write(tx, rule, 'test', { ...says, path: '/console/alerts', isUrgent: false }, now)) ?? 0n;
}

/** Stores a test message to a channel, of no rule. @throws Refusal 'malformed_field' where the installation has no such channel */
export async function testChannel(
  tx: Tx,
  channel: string,
  by: { channels: readonly string[]; now: Date },
): Promise<bigint> {
  if (!by.channels.includes(channel))
    throw new Refusal('malformed_field', { fields: { channel: 'must be a channel that ALERT_CHANNELS names' } });
  const lines = [`Channel ${channel}: nothing has happened.`];
  const says = { title: 'Cloverleaf: a test of this channel', lines, path: '/console/channels', isUrgent: false };
  return (await write(tx, { id: null, channel, zone: 'UTC' }, 'test', says, by.now)) ?? 0n;
}

/** The newest message of each of these channels that has one. */
export const newestMessages = (tx: Tx, channels: readonly string[]) => store.newest(tx, channels);

async function write(
  tx: Tx,
  rule: Pick<RuleRow, 'channel' | 'zone'> & { id: bigint | null },
  about: 'cases' | 'digest' | 'test' | 'change',
  says: Says,
  now: Date,
): Promise<bigint | undefined> {
  const day = about === 'digest' ? hourIn(rule.zone, now).day : null;
  const id = await store.insertMessage(tx, { rule: rule.id, channel: rule.channel, about, day, says, now });
  if (id !== undefined) enqueue(tx, { kind: SEND, subject: String(id), dueAt: now });
  return id;
}

/** Stores the messages that are due for each rule. */
export async function tell(db: Database, now: Date): Promise<void> {
  const rules = await db.asSystem((tx) => store.rules(tx));
  for (const rule of rules) {
    if (rule.about === 'digest') {
      if (hourIn(rule.zone, now).hour === rule.fromHour) await db.asSystem((tx) => digest(tx, rule, now));
    } else if (isWithin(hourIn(rule.zone, now).hour, rule)) await db.asSystem((tx) => tellCases(tx, rule, now));
  }
}

async function tellCases(tx: Tx, rule: RuleRow, now: Date): Promise<void> {
  if (!(await store.lock(tx, rule.id))) return;
  const last = await store.lastTold(tx, rule.id);
  if (last !== null && now.getTime() - last.getTime() < GAP_MS) return;
  const cases = await store.cases(tx, rule, { ...DUE, others: OTHERS }, now, MOST_CASES);
  if (cases.length === 0) return;
  const message = await write(tx, rule, 'cases', saysOf(rule, cases), now);
  if (message !== undefined) await store.told(tx, rule.id, ids(cases), message);
}

const ids = (cases: readonly NewCase[]): bigint[] => cases.map(({ id }) => id);

const WORDS: Readonly<Record<Exclude<About, 'digest'>, string>> = {
  opened: 'needs a person',
  unclaimed: 'is claimed by no one',
  overdue: 'is overdue',
};

function saysOf(rule: RuleRow, cases: readonly NewCase[]): Says {
  const [first] = cases;
  const word = WORDS[rule.about as Exclude<About, 'digest'>];
  const isOne = cases.length === 1 && first !== undefined;
  const shown = cases.slice(0, SHOWN_CASES);
  return {
    title: isOne
      ? `Cloverleaf: case ${first.id}, ${spaced(first.kind)}, ${word}`
      : `Cloverleaf: ${cases.length}${cases.length === MOST_CASES ? ' or more' : ''} cases, each ${word}`,
    lines: [
      ...shown.map(
        ({ id, kind, orderId, openedAt }) =>
          `Case ${id}: ${spaced(kind)}${orderId === null ? '' : `, order ${orderId}`}, open since ${minute(openedAt)}`,
      ),
      ...(cases.length > shown.length ? [`and ${cases.length - shown.length} more`] : []),
      `Rule ${rule.name}`,
    ],
    path: isOne ? `/console/cases/${first.id}` : '/console/cases',
    isUrgent: true,
  };
}

async function digest(tx: Tx, rule: RuleRow, now: Date): Promise<void> {
  if (!(await store.lock(tx, rule.id))) return;
  const { open = 0n, unclaimed = 0n, oldest = null } = (await store.summary(tx)) ?? {};
  const { proposals = 0n, switches = 0n } = (await store.waiting(tx)) ?? {};
  const overdue = (await store.cases(tx, { ...rule, about: 'overdue' }, { ...DUE, others: OTHERS }, now, MOST_CASES))
    .length;
  const kinds = await store.kinds(tx);
  await write(
    tx,
    rule,
    'digest',
    {
      title: `Cloverleaf: ${open} open ${open === 1n ? 'case' : 'cases'}, ${overdue} overdue`,
      lines: [
        `${open} open cases, ${unclaimed} unclaimed, ${overdue}${overdue === MOST_CASES ? ' or more' : ''} overdue`,
        ...(oldest === null ? [] : [`The oldest is open since ${minute(oldest)}`]),
        ...kinds.map(({ kind, count }) => `${count} ${spaced(kind)}`),
        `${proposals} proposals wait, ${switches} kill switches are on`,
        `Rule ${rule.name}`,
      ],
      path: '/console/',
      isUrgent: false,
    },
    now,
  );
}

const spaced = (kind: string): string => kind.replaceAll('_', ' ');
const minute = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

export function alertHandlers(deps: {
  db: Database;
  clock: Clock;
  log: Log;
  channels: ReadonlyMap<string, Channel>;
  /** Address of this server for browsers; undefined when unknown. */
  publicUrl: string | undefined;
}): Handlers {
  const { db, clock, log, channels, publicUrl } = deps;
  return {
    async [ALERTS_JOB]() {
      await tell(db, clock.now());
      return { againInMs: EVERY_MS };
    },
    async [SEND](subject) {
      const id = BigInt(subject);
      const message = await db.asSystem((tx) => store.message(tx, id));
      if (message === undefined || message.sentAt !== null || message.failedAt !== null) return undefined;
      const error = await problem(channels.get(message.channel), {
        ...{ id: `cloverleaf-alert-${id}`, title: message.says.title, lines: message.says.lines },
        link: publicUrl === undefined ? null : `${publicUrl}${message.says.path}`,
        isUrgent: message.says.isUrgent,
      });
      if (error === undefined) {
        await db.asSystem((tx) => store.sent(tx, id, clock.now()));
        return undefined;
      }
      const isLast = message.attempts + 1 >= MAX_ATTEMPTS;
      await db.asSystem((tx) => store.missed(tx, id, { error, failedAt: isLast ? clock.now() : null }));
      log.warn({ message: subject, channel: message.channel, error, isLast }, 'an alert was not sent');
      return isLast ? undefined : { againInMs: pauseAfter(message.attempts, PAUSES) };
    },
  };
}

/** Sends the message. @returns why it was not accepted; undefined if it was */
async function problem(channel: Channel | undefined, message: Parameters<Channel['send']>[0]) {
  if (channel === undefined) return 'the channel is not in ALERT_CHANNELS';
  try {
    await channel.send(message);
    return undefined;
  } catch (error) {
    if (error instanceof Unavailable) return error.message.slice(0, 200);
    throw error;
  }
}
