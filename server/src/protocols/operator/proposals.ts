/**
 * One proposal, and its subject now beside what it was when the proposal was made.
 *
 * The subject is read as the confirmation reads it, by the action's own `look`, so what is marked as changed here is what a
 * confirmation would find changed. It takes the same locks, for the length of this read.
 */
import { Refusal } from '../../base/errors.ts';
import { findProposal, isAsSeen, missingRoles, type ProposalRow } from '../../operators/index.ts';
import { ACTIONS, askedOf } from './action.ts';
import { asAmounts } from './amounts.ts';
import { PROPOSALS } from './declared/people.ts';
import { type Read, read } from './read.ts';

export const PROPOSAL_READS: readonly Read[] = [
  read({
    ...PROPOSALS.one,
    async answer(_deps, tx, input) {
      const found = await findProposal(tx, input.proposal);
      if (found === undefined) throw new Refusal('unknown_proposal');
      return { ...shownProposal(found), seen: asAmounts(found.seen) };
    },
  }),
  read({
    ...PROPOSALS.subject,
    async answer(deps, tx, { proposal }) {
      const found = await findProposal(tx, proposal);
      if (found === undefined) throw new Refusal('unknown_proposal');
      const { subject, state, seen } = found;
      const about = { proposal, subject, state, seen: asAmounts(seen) };
      const action = ACTIONS.get(found.action);
      const cannot = (problem: string) => ({ ...about, now: null, changed: [], problem });
      // What its file contains is known only when the file is sent again.
      if (action === undefined || action.byFile !== undefined) return cannot('not_comparable');
      try {
        const now = await action.look(deps, tx, askedOf(deps, action, found.input));
        return { ...about, now: asAmounts(asStored(now)), changed: changedIn(found, now), problem: null };
      } catch (error) {
        // As at a confirmation: the subject no longer exists, or the action no longer fits it.
        if (error instanceof Refusal) return cannot(error.code);
        throw error;
      }
    },
  }),
];

/** With the roles that are still missing among those who approved: of an open one, whose confirmation it waits for. */
export const shownProposal = ({ held, ...row }: ProposalRow) => ({
  ...row,
  awaits: row.state === 'open' ? missingRoles(row.roles, held) : [],
});

type Facts = Readonly<Record<string, unknown>>;
type Seen = Parameters<typeof isAsSeen>[0];

/** In the form in which a proposal stores it: big integers as text. */
const asStored = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value ?? null, (_name, part) => (typeof part === 'bigint' ? String(part) : part)));

const factsOf = (value: unknown): Facts =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Facts) : {};

/** Names of the fields that differ; of a subject that began or ceased to exist, all of its fields. */
function changedIn(row: Seen, now: unknown): string[] {
  if (isAsSeen(row, now)) return [];
  const [was, is] = [factsOf(row.seen), factsOf(now)];
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].filter(
    (name) => !isAsSeen({ ...row, seen: was[name] ?? null }, is[name] ?? null),
  );
}
