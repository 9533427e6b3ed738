/** Sanctions screening: the lists, hits, decisions about hits, and repeating a comparison. */
import { Type } from 'typebox';
import { HIT_STATES, MAX_HITS } from '../../../compliance/index.ts';
import { about, id, oneOf, optional } from '../../declaration/fields.ts';
import { act, limit, look, PROPOSES } from '../declare.ts';
import { done, maybe, pages, rows } from '../replies.ts';

const number = (description: string) => Type.String({ description });
const HIT = [
  ...['id', 'subject', 'customerId', 'state', 'foundAt'],
  {
    owner: Type.String({ description: 'Whose decisions count: customer:<id>, or deposit:<id>' }),
    screening: number('Number of the comparison that found it'),
    list: Type.String({ description: 'Code of the list' }),
    listEntry: Type.String({ description: 'Id of the entry at its publisher' }),
    score: Type.String({ description: 'From 0 to 1' }),
    people: maybe(Type.Array(Type.String(), { description: 'Who decided' })),
    reason: maybe(Type.String({ description: 'Why, in words' })),
    decidedAt: maybe(Type.String({ description: 'When it was decided: ISO 8601 in UTC' })),
  },
];
const hit = { hit: about(id, 'Number of the hit', '17') };
const COMMON = ['unknown_hit'] as const;

export const SANCTIONS = {
  lists: look({
    path: '/sanctions/lists',
    says: 'Lists the sanctions lists that were read, each with its newest version.',
    fields: {},
    gives: rows('lists', [
      {
        list: Type.String({ description: 'Code of the list' }),
        versionId: number('Number of its version'),
        published: Type.String({ description: 'What the list says of its own date' }),
        asOf: Type.String({ description: 'When its source last gave it: ISO 8601 in UTC' }),
        readAt: Type.String({ description: 'When it was last read: ISO 8601 in UTC' }),
        loadedAt: Type.String({ description: 'Since when this version counts: ISO 8601 in UTC' }),
        entries: Type.Integer({ description: 'How many entries it has' }),
        added: Type.Integer({ description: 'Entries that this version added' }),
        removed: Type.Integer({ description: 'Entries that this version removed' }),
        changed: Type.Integer({ description: 'Entries that this version changed' }),
        sha256: Type.String({ description: 'SHA-256 of the file, in hex' }),
      },
    ]),
    command: {
      words: 'sanctions lists',
      list: 'lists',
      columns: ['list', 'versionId', 'published', 'asOf', 'entries', 'added', 'removed', 'changed'],
    },
  }),
  hits: look({
    path: '/sanctions/hits',
    says: 'Lists hits in sanctions lists, the oldest first; only undecided ones unless `state` says another.',
    fields: {
      state: optional(about(oneOf(HIT_STATES), 'Which ones', 'open')),
      ...{ after: optional(id), limit: limit(MAX_HITS) },
    },
    gives: pages('hits', HIT),
    command: {
      words: 'sanctions hits',
      list: 'hits',
      columns: ['id', 'foundAt', 'subject', 'customerId', 'list', 'listEntry', 'score', 'state'],
    },
  }),
  open: act({
    name: 'sanctions.open',
    path: '/sanctions/hits/:hit/open',
    says: 'Shows a hit: the compared name and why it is similar, beside the entry of the list.',
    right: 'personal',
    people: 'one',
    fields: hit,
    refuses: COMMON,
    gives: done(HIT, [
      {
        alert: Type.Unknown({ description: 'What was compared, with its explanation: personal' }),
        entry: Type.Unknown({ description: 'The entry of the list' }),
      },
    ]),
    command: { words: 'sanctions hit' },
  }),
  confirm: act({
    name: 'sanctions.confirm',
    path: '/sanctions/hits/:hit/confirm',
    says: 'Decides that a hit is the one on the list: the customer is blocked, and the money stays.',
    right: 'reviews',
    people: 'one',
    fields: hit,
    refuses: [...COMMON, 'hit_over'],
    gives: done(HIT),
    command: { words: 'sanctions confirm' },
  }),
  dismiss: act({
    name: 'sanctions.dismiss',
    path: '/sanctions/hits/:hit/dismiss',
    says: 'Dismisses a hit: it is another person. The hit comes up again if the entry or the name changes.',
    right: 'reviews',
    people: 'two',
    fields: hit,
    refuses: [...COMMON, 'hit_over', ...PROPOSES],
    gives: done(HIT),
    command: { words: 'sanctions dismiss' },
  }),
  replay: act({
    name: 'screening.replay',
    path: '/screening/decisions/:decision/replay',
    says: 'Repeats a stored comparison with the versions of the lists of that time, and says whether the result is the same.',
    right: 'personal',
    people: 'one',
    fields: { decision: about(id, 'Number of the comparison, as a hit names it', '17') },
    refuses: ['unknown_screening'],
    gives: done(
      [
        ...['subject', 'customerId'],
        {
          rules: Type.String({ description: 'Version of the rules, and threshold' }),
          screenedTo: number('Version of the lists up to which it was compared'),
          found: Type.Integer({ description: 'How many entries were found' }),
          isErased: Type.Boolean({ description: 'Whether the names were erased' }),
        },
      ],
      [
        {
          replay: Type.Unknown({
            description: 'same, different, inputs_erased or rules_changed, with entries and scores',
          }),
        },
      ],
    ),
    command: { words: 'screening replay' },
  }),
};
