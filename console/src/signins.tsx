/** One's own sessions and passkeys, as both consoles list them. */
import type { ReactNode } from 'react';
import type { SessionRow } from './api.ts';
import { type Column, State, Table, Time } from './ui.tsx';

export interface Passkey {
  readonly id: string;
  readonly since: string;
  readonly used: string | null;
}

const SESSIONS: readonly Column<SessionRow>[] = [
  {
    head: 'Session',
    cell: ({ id, current }) => (
      <span className="row">
        {id} {current && <State state="this one" tone="info" />}
      </span>
    ),
  },
  { head: 'Address', cell: ({ address }) => <span className="mono">{address}</span> },
  { head: 'Since', cell: ({ since }) => <Time at={since} /> },
  { head: 'Last used', cell: ({ seen }) => <Time at={seen} /> },
  { head: 'Ends', cell: ({ expires }) => <Time at={expires} /> },
];

const PASSKEYS: readonly Column<Passkey>[] = [
  { head: 'Passkey', cell: ({ id }) => id },
  { head: 'Enrolled', cell: ({ since }) => <Time at={since} /> },
  { head: 'Last used', cell: ({ used }) => <Time at={used} /> },
];

/**
 * @param end    the button that ends a session
 * @param revoke the button that revokes a passkey
 * @param enrol  the button that enrols another one
 */
export const SignIns = (p: {
  sessions: readonly SessionRow[] | undefined;
  passkeys: readonly Passkey[] | undefined;
  end: (session: SessionRow) => ReactNode;
  revoke: (passkey: Passkey) => ReactNode;
  enrol: ReactNode;
}) => (
  <>
    <h2>Your sessions</h2>
    <p className="muted">A session ends after half an hour without a request, and after twelve hours.</p>
    <Table
      label="Your sessions"
      columns={[...SESSIONS, { head: 'Actions', cell: p.end }]}
      rows={p.sessions}
      keyOf={({ id }) => id}
      empty="No session."
    />
    <div className="title">
      <h2>Your passkeys</h2>
      {p.enrol}
    </div>
    <p className="muted">Revoking a passkey ends its sessions.</p>
    <Table
      label="Your passkeys"
      columns={[...PASSKEYS, { head: 'Actions', cell: p.revoke }]}
      rows={p.passkeys}
      keyOf={({ id }) => id}
      empty="No passkey."
    />
  </>
);
