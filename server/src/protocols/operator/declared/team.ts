/** The team of a partner: members whom the operator admits to the partners' console. Members can also admit each other. */
import { Type } from 'typebox';
import { MEMBER_ROLES } from '../../../team/index.ts';
import { about, id, oneOf, text } from '../../declaration/fields.ts';
import { declareAction, declareRead, PROPOSES } from '../declare.ts';
import { done, maybe, rows } from '../replies.ts';

const when = (description: string) => maybe(Type.String({ description: `${description}: ISO 8601 in UTC` }));
const MEMBER = [
  'id',
  'name',
  'role',
  {
    invitedBy: Type.String({ description: 'Who invited the member' }),
    invitedUntil: when('Until when a link to enrol a passkey is valid'),
    joinedAt: when('When the first passkey was enrolled'),
    disabledAt: when('When the member was removed'),
    linkFor: maybe(Type.String({ description: 'Operator for whom a link waits to be collected' })),
    linkUntil: when('Until when that operator may collect it'),
    heldAt: when('Since when a containment holds the member'),
  },
  'createdAt',
];
const SEEN = [
  'name',
  'role',
  {
    joinedAt: when('When the first passkey was enrolled'),
    disabledAt: when('When the member was removed'),
  },
];
const url = Type.String({
  description: 'Link that enrols one passkey within three days. It is shown only once. Give it to the member only',
});
const linkFor = Type.String({
  description: 'Operator who collects the link with `team link`, if another operator confirmed the action',
});
const linkUntil = Type.String({ description: 'Until when that operator may collect it: ISO 8601 in UTC' });
/** The link is in the reply where one operator was enough. */
const INVITED = [{ 'url?': url, 'linkFor?': linkFor, 'linkUntil?': linkUntil }, 'expiresAt?'];
const role = about(oneOf(MEMBER_ROLES), 'What the member may do', 'owner');
const member = about(id, 'Number of the member', '7');

export const TEAM = {
  list: declareRead({
    path: '/partners/:partner/team',
    says: 'Lists the members of a partner’s team, who sign in to its console; removed members come last.',
    fields: { partner: id },
    gives: rows('team', MEMBER),
    refuses: ['unknown_partner'],
    command: { words: 'team', list: 'team', columns: ['id', 'name', 'role', 'joinedAt', 'invitedUntil', 'disabledAt'] },
  }),
  invite: declareAction({
    name: 'team.invite',
    path: '/partners/:partner/team',
    says: 'Invites a person to the team of a partner, by a link that enrols one passkey. The link is shown once, to the operator who requested it.',
    right: 'partners',
    people: 'rules',
    fields: {
      partner: id,
      name: about(
        text(
          40,
          /^[a-z][a-z0-9._-]{1,39}$/,
          'a short name: 2 to 40 lower-case letters, digits, ., _ and -, beginning with a letter',
        ),
        'Short name',
        'ada',
      ),
      role,
    },
    refuses: ['unknown_partner', 'member_exists', 'too_many_members', ...PROPOSES],
    gives: done(['name', 'suspended'], [...INVITED, { member: Type.String({ description: 'Number of the member' }) }]),
    command: { words: 'team invite', args: ['partner', 'name', 'role'] },
  }),
  inviteAgain: declareAction({
    name: 'team.invite_again',
    path: '/partners/:partner/team/:member/invitation',
    says: 'Creates a new link for a member who lost every passkey. Using it revokes the earlier passkeys.',
    right: 'partners',
    people: 'rules',
    morePeople: 'At least two if the member has joined, because the holder of the link becomes that member.',
    fields: { partner: id, member },
    refuses: ['unknown_partner', 'unknown_member', ...PROPOSES],
    gives: done(SEEN, INVITED),
    command: { words: 'team invite-again', args: ['partner', 'member'] },
  }),
  collect: declareAction({
    name: 'team.collect',
    path: '/partners/:partner/team/:member/link',
    says: 'Shows the link of an invitation that you requested and another operator confirmed: once, within a day.',
    right: 'partners',
    people: 'one',
    fields: { partner: id, member },
    refuses: ['unknown_partner', 'unknown_member', 'no_link_waits'],
    gives: done(SEEN, [{ url }, 'expiresAt']),
    command: { words: 'team link', args: ['partner', 'member'] },
  }),
  remove: declareAction({
    name: 'team.remove',
    path: '/partners/:partner/team/:member/remove',
    says: 'Removes a member of a team permanently, with passkeys, sessions and invitations; even the last owner.',
    right: 'block',
    people: 'one',
    fields: { partner: id, member },
    refuses: ['unknown_partner', 'unknown_member'],
    gives: done(SEEN),
    command: { words: 'team remove', args: ['partner', 'member'] },
  }),
};
