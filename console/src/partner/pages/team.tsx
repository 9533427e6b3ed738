/** The team: who may sign in, with what role; invitations, and what members and keys have changed. */

import { Secret } from '../../codes.tsx';
import { within } from '../../filters.tsx';
import { type Column, Time } from '../../ui.tsx';
import { ActionButton } from '../actionbutton.tsx';
import { send } from '../api.ts';
import { List } from '../list.tsx';
import { About, LifeState } from '../parts.tsx';
import { useMay } from '../shell.tsx';

interface Member {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly state: string;
  readonly invitedBy: string;
  readonly invitedUntil: string | null;
  readonly joinedAt: string | null;
  readonly createdAt: string;
}
interface Invitation {
  readonly url: string;
  readonly expiresAt: string;
}

const ROLES = ['owner', 'developer', 'support', 'finance', 'viewer'];
const SAYS = {
  owner: 'owner: everything, the team and settings too',
  developer: 'developer: keys, webhooks, request log, sandbox',
  support: 'support: orders with refunds, customers',
  finance: 'finance: the statement',
  viewer: 'viewer: looks at orders, customers and deliveries',
};
const role = (value = 'viewer') => ({ name: 'role', label: 'Role', choices: ROLES, names: SAYS, value });

const Shown = ({ of }: { of: Invitation }) => (
  <>
    <p>
      Send this link only to the member. It makes one passkey, until <Time at={of.expiresAt} />. It is shown now and
      never again.
    </p>
    <Secret name="Link" text={of.url} />
  </>
);

const COLUMNS: readonly Column<Member>[] = [
  { head: 'Name', cell: ({ name }) => name },
  { head: 'Role', cell: ({ role: of }) => of },
  { head: 'State', cell: ({ state }) => <LifeState state={state} /> },
  { head: 'Let in by', cell: ({ invitedBy }) => invitedBy },
  { head: 'Joined', cell: ({ joinedAt }) => <Time at={joinedAt} /> },
  {
    head: 'Link works until',
    cell: ({ invitedUntil }) =>
      invitedUntil === null ? <span className="muted">no link</span> : <Time at={invitedUntil} />,
  },
];

const ACTIONS: Column<Member> = {
  head: 'Actions',
  cell: (one) =>
    one.state === 'removed' ? null : (
      <div className="row nowrap">
        <ActionButton
          name="Role"
          label={`Role of ${one.name}`}
          right="team"
          says={`Gives ${one.name} another role. It counts at the next request.`}
          inputs={[role(one.role)]}
          run={(body) => send('PATCH', `/team/${one.id}`, body)}
        />
        {one.state === 'invited' && (
          <ActionButton
            name="New link"
            label={`New link for ${one.name}`}
            right="team"
            says={`Makes a new link for ${one.name}. The earlier one ends.`}
            run={() => send<Invitation>('POST', `/team/${one.id}/invitation`)}
            shows={(of) => <Shown of={of} />}
          />
        )}
        {one.state === 'active' && (
          <ActionButton
            name="Sign out"
            label={`Sign out ${one.name}`}
            right="team"
            says={`Ends the sessions of ${one.name}; the passkeys stay.`}
            run={() => send('POST', `/team/${one.id}/sign-out`)}
          />
        )}
        <ActionButton
          name="Remove"
          label={`Remove ${one.name}`}
          right="team"
          tone="grave"
          says={`Removes ${one.name} for good: passkeys, sessions and links end. The name is not given again.`}
          run={() => send('DELETE', `/team/${one.id}`)}
        />
      </div>
    ),
};

export function Team() {
  const may = useMay();
  return (
    <List<Member>
      title="Team"
      path="/team"
      filters={[
        { name: 'state', label: 'State', choices: ['active', 'invited', 'removed'] },
        { name: 'role', label: 'Role', choices: ROLES },
      ]}
      keeps={(one, { state, role: of }) => (state ?? one.state) === one.state && (of ?? one.role) === one.role}
      columns={may('team') ? [...COLUMNS, ACTIONS] : COLUMNS}
      keyOf={({ id }) => id}
      empty="No member matches these filters."
      buttons={
        <ActionButton
          name="Invite"
          right="team"
          tone="primary"
          says="Makes a link that lets one person make a passkey, within three days."
          inputs={[{ name: 'name', label: 'Short name', hint: 'ada' }, role()]}
          run={(body) => send<Invitation>('POST', '/team', body)}
          shows={(of) => <Shown of={of} />}
        />
      }
    />
  );
}

interface Line {
  readonly id: string;
  readonly at: string;
  readonly action: string;
  readonly subject: string;
  readonly by: string;
}
const LINES: readonly Column<Line>[] = [
  { head: 'When', cell: ({ at }) => <Time at={at} /> },
  { head: 'Who', cell: ({ by }) => <span className="mono">{by}</span> },
  { head: 'What', cell: ({ action }) => action.replace('.', ' ').replaceAll('_', ' ') },
  { head: 'About', cell: ({ subject }) => <About text={subject} /> },
];

export const Activity = () => (
  <List<Line>
    title="Activity"
    says="What your keys, your team and customers on hosted pages have changed. It cannot be edited."
    path="/activity"
    isPaged
    filters={within('Done')}
    columns={LINES}
    keyOf={({ id }) => id}
    empty="Nothing was changed in this time."
  />
);
