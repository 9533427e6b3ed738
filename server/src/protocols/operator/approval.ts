/**
 * What an action takes, and who counts among those who approve it.
 *
 * Not here: the rules (operators/rules.ts), how an action runs (action.ts).
 */
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { encryptTyped, openTyped } from '../../base/typed.ts';
import {
  isNearer,
  may,
  missingRoles,
  type Operator,
  type ProposalRow,
  type Right,
  type Role,
  stricter,
  takesHere,
  type Wanted,
} from '../../operators/index.ts';
import type { OperatorDeps } from './deps.ts';

/**
 * What a proposal takes now, and who of these people counts: those with the right of its action, and those of a role that a deciding
 * rule names.
 *
 * @param all    who may count, the confirming person last
 * @param wanted of all of them: their amounts can only make it stricter
 * @returns refusal: why this person's confirmation brings the proposal no nearer
 */
export async function weighed(
  tx: Tx,
  row: ProposalRow,
  all: readonly { id: bigint; name: string; role: Role }[],
  wanted: Wanted & { right: Right },
) {
  const { right } = wanted;
  const takes = stricter(row, await takesHere(tx, wanted));
  const counts = (one: { role: Role }): boolean => may(one, right) || takes.roles.includes(one.role);
  const approvers = all.filter(counts);
  const last = all.at(-1);
  return { approvers, takes, wanted: { ...wanted, operators: approvers }, refusal: last && refusalOf(last) };

  function refusalOf({ id, role }: { id: bigint; role: Role }): Refusal | undefined {
    if (!counts({ role })) return new Refusal('role_missing', { right, role });
    const held = approvers.filter((one) => one.id !== id).map((one) => one.role);
    if (isNearer(takes, held, role)) return undefined;
    return new Refusal('approver_role', { roles: missingRoles(takes.roles, held) });
  }
}

export function requireRight(operator: Operator, right: Right): void {
  if (!may(operator, right)) throw new Refusal('role_missing', { right, role: operator.role });
}

/** Who has a role that a rule names may approve without the right of the action. Whether that rule decides is known later. */
export function requireApprover(operator: Operator, right: Right, named: readonly Role[]): void {
  if (!named.includes(operator.role)) requireRight(operator, right);
}

/**
 * The reasons of the proposer and of the last confirmer, in their own words, and the names of those who agreed in between: their
 * reasons are in their own `agreed` rows of the audit. Cut to the length that the audit accepts.
 */
export function saidBy(
  { vault }: OperatorDeps,
  row: { reason: string; proposer: string },
  agreed: readonly string[],
  why: string,
): string {
  const others = agreed.length === 0 ? '' : `, agreed by ${agreed.join(' and ')}`;
  const said = `${openTyped(vault, row.reason)} (proposed by ${row.proposer}${others}; ${openTyped(vault, why)})`;
  return encryptTyped(vault, said.slice(0, 500));
}
