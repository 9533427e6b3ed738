/** Planned changes of terms: decided, and not in force before their time. */
import { Type } from 'typebox';
import { MAX_PLANNED, PLAN_STATES } from '../../../operators/index.ts';
import { about, id, oneOf, optional, text } from '../../declaration/fields.ts';
import { maybe, time, text as word } from '../../declaration/parts.ts';
import { declareAction, declareRead, limit } from '../declare.ts';
import { done, pages, thing } from '../replies.ts';

const PLAN = [
  ...['id', 'action', 'subject'],
  { input: Type.Object({}, { additionalProperties: true, description: 'Subject of the change' }) },
  { effectiveAt: time('When it takes effect') },
  { state: word('planned, done, withdrawn or failed') },
  { proposedBy: word('Who proposed it') },
  { confirmedBy: Type.Array(Type.String(), { description: 'Who confirmed it, if more than one operator was needed' }) },
  { proposal: maybe(word('Number of its proposal')) },
  'reason',
  { plannedAt: time('When it was decided') },
  { endedAt: maybe(time('When it took effect, failed or was withdrawn')) },
  { endedBy: maybe(word('Who withdrew it')) },
  { failedWhy: maybe(word('Why it could not take effect')) },
];
const plan = about(id, 'Number of the planned change', '7');

export const PLANNED_CHANGES = {
  list: declareRead({
    path: '/planned',
    says: 'Lists planned changes of terms: waiting ones in the order in which they take effect, others newest first.',
    fields: {
      state: optional(about(oneOf(PLAN_STATES), 'Only changes in this state; waiting changes by default')),
      subject: optional(about(text(160), 'Only changes to this subject', 'market:3')),
      ...{ after: optional(id), limit: limit(MAX_PLANNED) },
    },
    table: {
      list: 'planned',
      columns: [
        ...['id', 'effectiveAt', 'state', 'action', 'subject', 'input', 'proposedBy', 'confirmedBy', 'plannedAt'],
        ...['reason', 'endedAt', 'endedBy', 'failedWhy'],
      ],
    },
    gives: pages('planned', PLAN),
    command: {
      words: 'planned',
      columns: ['id', 'effectiveAt', 'state', 'action', 'subject', 'input', 'proposedBy', 'confirmedBy', 'reason'],
    },
  }),
  one: declareRead({
    path: '/planned/:plan',
    says: 'Shows a planned change.',
    fields: { plan },
    refuses: ['unknown_plan'],
    gives: thing(PLAN),
    command: { words: 'plan' },
  }),
  withdraw: declareAction({
    name: 'plan.withdraw',
    path: '/planned/:plan/withdraw',
    says: 'Withdraws a planned change before it takes effect.',
    right: 'terms',
    people: 'ruled',
    fields: { plan },
    refuses: ['unknown_plan', 'plan_over'],
    gives: done([{ state: word('planned, done, withdrawn or failed'), effectiveAt: time('When it takes effect') }]),
    command: { words: 'plan withdraw' },
  }),
};
