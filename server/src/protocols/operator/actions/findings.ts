/** Findings against money that would leave by an action: how they are shown, and how many people they take. */
import type { Tx } from '../../../base/db.ts';
import type { Need } from '../../../operators/index.ts';
import {
  isNewDestination,
  type Leaving,
  type SeenFinding,
  seenFindings,
  uncoveredFindings,
  weightOf,
} from '../../../orders/index.ts';
import type { OperatorDeps } from '../deps.ts';

/** The finding that an approval covers: the hit, the list's entry, destination and amount. */
export async function approves(
  { orders, clock }: OperatorDeps,
  tx: Tx,
  leaving: Leaving,
): Promise<readonly SeenFinding[]> {
  return await seenFindings(orders, tx, leaving, clock.now());
}

/** What `approves` showed to the approvers, in the result of an action's `look`. A hit found since stays. */
export const approvedIn = (seen: unknown): readonly SeenFinding[] =>
  (seen as { approves: readonly SeenFinding[] }).approves;

/** One need per finding, and one for an address that neither a customer nor a partner has named. */
export async function needsOf(
  { orders, clock }: OperatorDeps,
  tx: Tx,
  leaving: Leaving,
  { pastHits = true }: { pastHits?: boolean | undefined } = {},
): Promise<Need[]> {
  const weight = weightOf(leaving);
  const stands = pastHits ? await uncoveredFindings(orders, tx, leaving, clock.now()) : [];
  const found = stands.flatMap(({ action }) => (action === null ? [] : [action]));
  return [...found, ...(isNewDestination(leaving) ? (['destination.new'] as const) : [])].map((finding) => ({
    ...{ finding, ...weight },
  }));
}
