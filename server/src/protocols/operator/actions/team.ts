/** Actions on the team of a partner. The link of an invitation is shown once; the audit contains no code. */
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import { findPartner } from '../../../partners/index.ts';
import { inviteAgain, inviteMember, memberOf, removeMember } from '../../../team/index.ts';
import { type Action, action } from '../action.ts';
import { TEAM } from '../declared/team.ts';
import type { OperatorDeps } from '../deps.ts';

async function lookAtPartner(_deps: OperatorDeps, tx: Tx, input: { partner: bigint }): Promise<unknown> {
  const found = await findPartner(tx, { id: input.partner });
  if (found === undefined) throw new Refusal('unknown_partner');
  return { name: found.name, suspended: found.suspended };
}

async function lookAtMember(deps: OperatorDeps, tx: Tx, input: { partner: bigint; member: bigint }): Promise<unknown> {
  await lookAtPartner(deps, tx, input);
  const { name, role, disabledAt } = await memberOf(tx, input.partner, input.member);
  return { name, role, disabledAt };
}

const linkOf = ({ publicUrl }: OperatorDeps, code: string): string => `${publicUrl()}/partner/join#${code}`;
const subject = ({ partner, member }: { partner: bigint; member: bigint }): string => `member:${partner}/${member}`;

export const TEAM_ACTIONS: readonly Action[] = [
  action({
    ...TEAM.invite,
    subject: ({ partner, name }) => `member:${partner}/${name}`,
    look: lookAtPartner,
    async perform(deps, tx, { partner, name, role }, { operator, now }) {
      const made = await inviteMember(tx, { partnerId: partner, name, role, by: `operator ${operator.name}`, now });
      return { member: made.member.id, url: linkOf(deps, made.code), expiresAt: made.expiresAt };
    },
  }),
  action({
    ...TEAM.inviteAgain,
    subject,
    look: lookAtMember,
    async perform(deps, tx, { partner, member }, { now }) {
      const { code, expiresAt } = await inviteAgain(tx, { partnerId: partner, id: member, now, evenJoined: true });
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
