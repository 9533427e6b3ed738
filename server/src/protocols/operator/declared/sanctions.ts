/** Sanctions screening: the lists, hits, decisions about hits, and repeating a comparison. */
import { Type } from 'typebox';
import { DECISION_KINDS, HIT_STATES, LIST_CODES, MAX_HITS } from '../../../compliance/index.ts';
import { about, id, oneOf, optional, text } from '../../declaration/fields.ts';
import { declareAction, declareRead, limit, PROPOSES } from '../declare.ts';
import { done, maybe, pages, rows } from '../replies.ts';

const number = (description: string) => Type.String({ description });
const HIT = [
  ...['id', 'subject', 'customerId', 'state', 'foundAt'],
  {
    owner: Type.String({
      description: 'Owner of the name; a decision applies to this owner only: customer:<id>, or deposit:<id>',
    }),
    screening: number('Number of the comparison that found it'),
    list: Type.String({ description: 'Code of the list' }),
    listEntry: Type.String({ description: 'Id of the entry at its publisher' }),
    score: Type.String({ description: 'Similarity from 0 to 1' }),
    people: maybe(Type.Array(Type.String(), { description: 'Who decided' })),
    reason: maybe(Type.String({ description: 'Reason of the decision' })),
    decidedAt: maybe(Type.String({ description: 'When it was decided: ISO 8601 in UTC' })),
  },
];
const hit = { hit: about(id, 'Number of the hit', '17') };
const COMMON = ['unknown_hit'] as const;

export const SANCTIONS = {
  lists: declareRead({
    path: '/sanctions/lists',
    says: 'Lists the loaded sanctions lists, each with its newest version.',
    fields: {},
    gives: rows('lists', [
      {
        list: Type.String({ description: 'Code of the list' }),
        versionId: number('Number of its version'),
        published: Type.String({ description: 'Date of the list, according to its publisher' }),
        asOf: Type.String({ description: 'When it was last received from its source: ISO 8601 in UTC' }),
        readAt: Type.String({ description: 'When it was last read: ISO 8601 in UTC' }),
        loadedAt: Type.String({ description: 'Since when this version is in use: ISO 8601 in UTC' }),
        entries: Type.Integer({ description: 'Number of its entries' }),
        added: Type.Integer({ description: 'Entries that this version added' }),
        removed: Type.Integer({ description: 'Entries that this version removed' }),
        changed: Type.Integer({ description: 'Entries that this version changed' }),
        sha256: Type.String({ description: 'SHA-256 of the file, in hex' }),
        refusedSha256: maybe(
          Type.String({
            description: 'SHA-256 of a version that waits for two people: it lacks too many entries, or is older',
          }),
        ),
        refusedEntries: maybe(Type.Integer({ description: 'Number of its entries' })),
        refusedRemoved: maybe(Type.Integer({ description: 'Entries that it lacks' })),
      },
    ]),
    command: {
      words: 'sanctions lists',
      list: 'lists',
      columns: ['list', 'versionId', 'published', 'asOf', 'entries', 'added', 'removed', 'changed', 'refusedRemoved'],
    },
  }),
  accept: declareAction({
    name: 'sanctions.accept',
    path: '/sanctions/lists/:list/accept',
    says: 'Accepts a version of a list that lacks many entries of the version before, or was published before it. The list is read again at once, and is used if its source still gives the same bytes.',
    right: 'reviews',
    people: 'two',
    fields: {
      list: about(oneOf(LIST_CODES), 'Code of the list', 'uk'),
      sha256: about(
        text(64, /^[0-9a-f]{64}$/, '64 lower-case hex digits'),
        'SHA-256 of the version, in hex: `refusedSha256` of the list',
        'ab'.repeat(32),
      ),
    },
    refuses: ['unknown_list', ...PROPOSES],
    gives: done([
      {
        ...{ list: Type.String({ description: 'Code of the list' }), sha256: Type.String({ description: 'SHA-256' }) },
        published: Type.String({ description: 'Date of the version, according to its publisher' }),
        before: Type.Integer({ description: 'Entries of the version in use' }),
        entries: Type.Integer({ description: 'Entries of this version' }),
        added: Type.Integer({ description: 'Entries that it adds' }),
        removed: Type.Integer({ description: 'Entries that it lacks' }),
        changed: Type.Integer({ description: 'Entries that it changes' }),
        foundAt: Type.String({ description: 'When it was first read: ISO 8601 in UTC' }),
        acceptedAt: maybe(Type.String({ description: 'When it was accepted: ISO 8601 in UTC' })),
      },
    ]),
    command: { words: 'sanctions accept', args: ['list', 'sha256'] },
  }),
  hits: declareRead({
    path: '/sanctions/hits',
    says: 'Lists hits in sanctions lists, oldest first. Without `state`, only undecided ones.',
    fields: {
      state: optional(about(oneOf(HIT_STATES), 'Only hits in this state', 'open')),
      ...{ after: optional(id), limit: limit(MAX_HITS) },
    },
    gives: pages('hits', HIT),
    command: {
      words: 'sanctions hits',
      list: 'hits',
      columns: ['id', 'foundAt', 'subject', 'customerId', 'list', 'listEntry', 'score', 'state'],
    },
  }),
  open: declareAction({
    name: 'sanctions.open',
    path: '/sanctions/hits/:hit/open',
    says: 'Shows a hit: the compared name, why it is similar, and the entry of the list.',
    right: 'personal',
    people: 'one',
    fields: hit,
    refuses: COMMON,
    gives: done(HIT, [
      {
        alert: Type.Unknown({ description: 'The compared data, with an explanation; it is personal' }),
        entry: Type.Unknown({ description: 'The entry of the list' }),
      },
    ]),
    command: { words: 'sanctions hit' },
  }),
  confirm: declareAction({
    name: 'sanctions.confirm',
    path: '/sanctions/hits/:hit/confirm',
    says: 'Confirms a hit as the person on the list: the customer is blocked, and the money stays held.',
    right: 'reviews',
    people: 'one',
    fields: hit,
    refuses: [...COMMON, 'hit_over'],
    gives: done(HIT),
    command: { words: 'sanctions confirm' },
  }),
  dismiss: declareAction({
    name: 'sanctions.dismiss',
    path: '/sanctions/hits/:hit/dismiss',
    says: 'Dismisses a hit as another person. The hit is opened again if the entry or the name changes.',
    right: 'reviews',
    people: 'two',
    fields: hit,
    refuses: [...COMMON, 'hit_over', ...PROPOSES],
    gives: done(HIT),
    command: { words: 'sanctions dismiss' },
  }),
  replay: declareAction({
    name: 'screening.replay',
    path: '/screening/decisions/:decision/replay',
    says: 'Makes a stored decision again from its kept inputs, under the rules and lists that were in use then, and shows whether the result is the same.',
    right: 'personal',
    people: 'one',
    fields: {
      decision: about(
        id,
        'Number of the comparison (`screening` of a hit), of the answer (`riskId` of a hit), or of the decision (`reference` in the order’s trace)',
        '17',
      ),
      kind: optional(
        about(
          oneOf(DECISION_KINDS),
          'Kind of the decision: `names` by default; `own` for blocks, deny lists and account names',
          'own',
        ),
      ),
    },
    refuses: ['unknown_screening'],
    gives: done(
      [
        ...['subject', 'customerId'],
        {
          rules: Type.String({ description: 'Version of the rules, and threshold' }),
          screenedTo: maybe(number('Newest version of the sanctions lists in a comparison of names')),
          found: Type.Integer({ description: 'Number of entries that were found' }),
          isErased: Type.Boolean({ description: 'Whether the names were erased' }),
        },
      ],
      [
        {
          replay: Type.Unknown({
            description:
              'same or different, with both results and their basis: inputs, or kept_answer where only our rule can be applied again; inputs_erased, inputs_not_kept or rules_changed',
          }),
        },
      ],
    ),
    command: { words: 'screening replay' },
  }),
};
