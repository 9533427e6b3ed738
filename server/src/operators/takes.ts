/**
 * What an action takes: so many people, and among them one for each of these roles. Pure.
 *
 * A role that is named twice takes two people. Everybody has one role, so one person never stands for two. A proposer without any of
 * the roles counts as a person, and may be one more than the number says.
 */
import type { Role } from './store.ts';

export interface Takes {
  people: number;
  roles: readonly Role[];
}

/** The roles that are still missing, each as often as it is. @param held the role of each person who approves */
export function missingRoles(roles: readonly Role[], held: readonly Role[]): Role[] {
  const left = [...held];
  return roles.filter((role) => {
    const at = left.indexOf(role);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** What satisfies both: the higher number, and each role as often as either says. */
export const stricter = (a: Takes, b: Takes): Takes => ({
  people: Math.max(a.people, b.people),
  roles: [...a.roles, ...missingRoles(b.roles, a.roles)].toSorted(),
});

/** The number of people in all, if these have approved: with those who are still needed. */
export const peopleTaken = ({ people, roles }: Takes, held: readonly Role[]): number =>
  Math.max(people, held.length + missingRoles(roles, held).length);

/** Whether one more approval, by a person of this role, brings it nearer. */
export function isNearer({ people, roles }: Takes, held: readonly Role[], role: Role): boolean {
  const missing = missingRoles(roles, held);
  return missing.length === 0 || missing.includes(role) || held.length + missing.length < people;
}
