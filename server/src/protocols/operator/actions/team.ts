/**
 * Actions on the team of a partner. The link of an invitation makes its holder a member, so it is shown once, to the operator who
 * requested it (`team.collect` where another one confirmed), and never to the one who confirmed. The audit contains no code.
 */
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import { findPartner } from '../../../partners/index.ts';
import {
  addMember,
  collectLink,
  inviteAgain,
  inviteMember,
  lockTeam,
  memberOf,
  removeMember,
  reserveLink,
} from '../../../team/index.ts';
import { type Action, action } from '../action.ts';
import { TEAM } from '../declared/team.ts';
import type { OperatorDeps } from '../deps.ts';
import { collectorOf } from './partners.ts';

async function lookAtPartner(_deps: OperatorDeps, tx: Tx, input: { partner: bigint }): Promise<unknown> {
  const found = await findPartner(tx, { id: input.partner });
  if (found === undefined) throw new Refusal('unknown_partner');
  return { name: found.name, suspended: found.suspended };
}

async function lookAtMember(deps: OperatorDeps, tx: Tx, input: { partner: bigint; member: bigint }): Promise<unknown> {
  await lookAtPartner(deps, tx, input);
  const { name, role, joinedAt, disabledAt } = await memberOf(tx, input.partner, input.member);
  return { name, role, joinedAt, disabledAt };
}

/** The member does not join between the question how many people a new link takes, and the link. */
async function lookLocked(deps: OperatorDeps, tx: Tx, input: { partner: bigint; member: bigint }): Promise<unknown> {
  await lockTeam(tx, input.partner);
  return await lookAtMember(deps, tx, input);
}

const linkOf = ({ publicUrl }: OperatorDeps, code: string): string => `${publicUrl()}/partner/join#${code}`;
const subject = ({ partner, member }: { partner: bigint; member: bigint }): string => `member:${partner}/${member}`;

export const TEAM_ACTIONS: readonly Action[] = [
  action({
    ...TEAM.invite,
    subject: ({ partner, name }) => `member:${partner}/${name}`,
    look: lookAtPartner,
    needs: async () => 'rule' as const,
    async perform(deps, tx, { partner, name, role }, doing) {
      const { people, operator, now } = doing;
      const linkFor = collectorOf(doing);
      const made = { partnerId: partner, name, role, by: `operator ${people[0] ?? operator.name}`, now };
      if (linkFor !== undefined) {
        const { id } = await addMember(tx, made);
        return { member: id, ...(await reserveLink(tx, { partnerId: partner, id, linkFor, now })) };
      }
      const { member, code, expiresAt } = await inviteMember(tx, made);
      return { member: member.id, url: linkOf(deps, code), expiresAt };
    },
  }),
  action({
    ...TEAM.inviteAgain,
    subject,
    look: lookLocked,
    needs: async (_deps, tx, { partner, member }) =>
      (await memberOf(tx, partner, member)).joinedAt === null ? ('rule' as const) : ('always' as const),
    async perform(deps, tx, { partner, member }, doing) {
      const { now } = doing;
      const linkFor = collectorOf(doing);
      if (linkFor !== undefined) return await reserveLink(tx, { partnerId: partner, id: member, linkFor, now });
      const { code, expiresAt } = await inviteAgain(tx, { partnerId: partner, id: member, now, evenJoined: true });
      return { url: linkOf(deps, code), expiresAt };
    },
  }),
  action({
    ...TEAM.collect,
    subject,
    look: lookAtMember,
    async perform(deps, tx, { partner, member }, { operator, now }) {
      const { code, expiresAt } = await collectLink(tx, { partnerId: partner, id: member, by: operator.name, now });
      return { url: linkOf(deps, code), expiresAt };
    },
  }),
  action({
    ...TEAM.remove,
    subject,
    look: lookAtMember,
    async perform(_deps, tx, { partner, member }, { now }) {
      await removeMember(tx, { partnerId: partner, id: member, now, evenLast: true });
    },
  }),
];
