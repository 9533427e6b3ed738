/**
 * Permissions of a member of a partner's team. A role is a set of rights; each endpoint declares the right that it needs.
 *
 * A member who creates keys can do whatever a key can: the rights `keys` and `develop` are for members who run the partner's
 * program.
 */

export const MEMBER_RIGHTS = ['read', 'orders', 'customers', 'develop', 'keys', 'finance', 'settings', 'team'] as const;
export type MemberRight = (typeof MEMBER_RIGHTS)[number];

export const MEMBER_ROLES = ['owner', 'developer', 'support', 'finance', 'viewer'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

export const RIGHTS_OF: Readonly<Record<MemberRole, readonly MemberRight[]>> = {
  owner: MEMBER_RIGHTS,
  developer: ['read', 'develop', 'keys'],
  support: ['read', 'orders', 'customers'],
  finance: ['read', 'finance'],
  viewer: ['read'],
};

export const mayMember = ({ role }: { role: MemberRole }, right: MemberRight): boolean =>
  RIGHTS_OF[role].includes(right);

/** Rights to move money, create secrets or admit people: they need a login of the last ten minutes. */
const FRESH: ReadonlySet<MemberRight> = new Set(['orders', 'keys', 'team'] as const);
export const takesFreshLogin = (right: MemberRight): boolean => FRESH.has(right);
