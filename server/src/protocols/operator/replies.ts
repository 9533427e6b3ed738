/**
 * Schemas of this interface's replies. A name in a reply has the same meaning everywhere, so its form and meaning are declared
 * once (PARTS); a declaration describes it only if it differs.
 *
 * Amounts are exact decimals of their asset, as text; ids are digits as text; times are ISO 8601 in UTC.
 */
import { type TSchema, Type } from 'typebox';
import { maybe, type Names, shapesOf } from '../declaration/parts.ts';
import { PARTS } from './parts.ts';

export { maybe } from '../declaration/parts.ts';

export const { thing, many } = shapesOf(PARTS);

const next = Type.Union([Type.String(), Type.Null()], {
  description: 'Where the next page begins; null if there is none',
});

/** A list with its rows, and further fields beside it. */
export const rows = (list: string, columns: Names, beside: Names = []): TSchema =>
  thing([{ [list]: many(columns, 'Rows of the list') }, ...beside]);
/** The same in pages. */
export const pages = (list: string, columns: Names, beside: Names = []): TSchema =>
  rows(list, columns, [{ next }, ...beside]);

/**
 * The reply of a completed action.
 *
 * @param after the subject in its present state; null when there is nothing to show
 * @param shown fields that only the caller is shown
 */
export const done = (after: Names | null, shown: Names = []): TSchema =>
  thing([
    ...['action', 'subject'],
    { outcome: Type.Literal('done') },
    { after: after === null ? Type.Null({ description: 'Nothing to show' }) : maybe(thing(after)) },
    ...shown,
  ]);

/** The reply of an action that waits for others to approve, or for its delay. */
export const PROPOSED = thing(
  [
    ...['action', 'subject'],
    { outcome: Type.Union([Type.Literal('proposed'), Type.Literal('agreed')]) },
    ...['proposal', 'people', 'roles', 'awaits', 'agreed?', 'expiresAt?'],
    { 'readyAt?': maybe(Type.String({ description: 'When its proposer may confirm it' })) },
  ],
  'The action is proposed, and waits',
);
/** The reply of an action that takes effect at a later time. */
export const PLANNED = thing(
  [
    ...['action', 'subject'],
    { outcome: Type.Literal('planned'), plan: Type.String({ description: 'Number of the planned change' }) },
    { effectiveAt: Type.String({ description: 'When it takes effect: ISO 8601 in UTC' }) },
  ],
  'The change is planned, and waits for its time',
);
export const FAILURE = thing([
  {
    error: Type.String({ description: 'The error as a sentence' }),
    reason: Type.String({ description: 'Code of the reason, for programs' }),
  },
  {
    'fields?': Type.Record(Type.String(), Type.String(), {
      description: 'Which field is wrong, and the rule it breaks',
    }),
  },
]);
