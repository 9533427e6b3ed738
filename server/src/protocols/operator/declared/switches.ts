/** Kill switches, halted chains, screening that is down, and orders that wait for the same funds. */
import { Type } from 'typebox';
import { about, flag, oneOf, optional, text, whole } from '../../declaration/fields.ts';
import { declareAction, declareRead, PROPOSES } from '../declare.ts';
import { done, maybe, rows } from '../replies.ts';

/** If a provider is down for longer, it must be replaced. */
const MOST_HOURS = 72;
const MOST_AGE_HOURS = 14 * 24;
/** A pass that lasts longer than a day would no longer be an exception. */
const MOST_MINUTES = 24 * 60;

const what = {
  kind: about(oneOf(['market', 'partner', 'rail', 'payouts']), 'What the kill switch applies to'),
  subject: about(
    text(60, /^[A-Za-z0-9._-]+$/, "a market's or partner's id, a rail's code, or all for payouts"),
    'Which one: the number of a market or partner, the code of a rail, or all for payouts',
    'evm.matic20',
  ),
};
const funds = { rail: text(60), asset: text(60) };
const SHORTAGE = [
  {
    first: maybe(Type.String({ description: 'Number of the oldest waiting order' })),
    passUntil: maybe(Type.String({ description: 'Until when newer orders may be paid first: ISO 8601 in UTC' })),
    passBy: maybe(Type.String({ description: 'Who allowed it' })),
  },
];

export const SWITCHES = {
  list: declareRead({
    path: '/kill-switches',
    says: 'Lists the kill switches that are set.',
    fields: {},
    gives: rows('killSwitches', ['kind', 'subject', 'by', 'reason', 'at', 'laidBy']),
    command: {
      words: 'kill-switches',
      list: 'killSwitches',
      columns: ['kind', 'subject', 'by', 'laidBy', 'at', 'reason'],
    },
  }),
  set: declareAction({
    name: 'kill-switch.set',
    path: '/kill-switches',
    says: 'Switches off a market, a partner, a rail, or all payouts.',
    right: 'kill_switch',
    people: 'one',
    fields: what,
    refuses: ['unknown_market', 'unknown_partner'],
    gives: done(['on', 'by?', 'at?', 'laidBy?', 'lastAt?']),
    command: { words: 'kill-switch set', args: ['kind', 'subject'] },
  }),
  lift: declareAction({
    name: 'kill-switch.lift',
    path: '/kill-switches/lift',
    says: 'Switches a market, a partner, a rail, or all payouts on again.',
    right: 'resume',
    people: 'rules',
    morePeople: 'At least as many as set it.',
    fields: what,
    refuses: PROPOSES,
    gives: done(['on', 'by?', 'at?', 'laidBy?', 'lastAt?']),
    command: { words: 'kill-switch lift', args: ['kind', 'subject'] },
  }),
  clear: declareAction({
    name: 'rail.clear',
    path: '/rails/:rail/clear',
    says: 'Resumes a chain that halted automatically.',
    right: 'resume',
    people: 'rules',
    fields: {
      rail: text(60),
      restart: optional(about(flag, 'Reads the chain again from below the block that was final when it halted', true)),
    },
    refuses: ['rail_not_halted', ...PROPOSES],
    gives: done(['halted', 'why?']),
    command: { words: 'rail clear' },
  }),
  screening: declareAction({
    name: 'screening.extend',
    path: '/screening/extend',
    says: 'Accepts older screening results for a time, while the screener is down. It does not accept sanctions lists that are too old: read them again.',
    right: 'money',
    people: 'two',
    fields: {
      ageHours: about(whole(1, MOST_AGE_HOURS), 'Maximum age of an accepted result, in hours', 48),
      forHours: about(whole(1, MOST_HOURS), 'For how many hours', 6),
    },
    refuses: PROPOSES,
    gives: done(null, ['until']),
    command: { words: 'screening extend', args: ['ageHours', 'forHours'] },
  }),
  pass: declareAction({
    name: 'shortage.pass',
    path: '/shortages/pass',
    says: 'Pays orders that the available funds cover, although older orders still wait. This ends after the given minutes.',
    right: 'treasury',
    people: 'one',
    fields: { ...funds, minutes: about(whole(1, MOST_MINUTES), 'For how many minutes', 60) },
    gives: done(SHORTAGE),
    command: { words: 'shortage pass', args: ['rail', 'asset', 'minutes'] },
  }),
  queue: declareAction({
    name: 'shortage.queue',
    path: '/shortages/queue',
    says: 'Ends the pass: orders are paid in their order again, the oldest first.',
    right: 'treasury',
    people: 'one',
    fields: funds,
    gives: done(SHORTAGE),
    command: { words: 'shortage queue', args: ['rail', 'asset'] },
  }),
};
