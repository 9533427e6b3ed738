/** The signed-in member: sessions, passkeys and recovery codes. */
import { useQuery } from '@tanstack/react-query';
import type { SessionRow } from '../../api.ts';
import { type Column, Fact, State, Table, Time } from '../../ui.tsx';
import { Act } from '../act.tsx';
import { own } from '../api.ts';
import { enrolAnother } from '../passkey.ts';
import { useSession } from '../shell.tsx';
import { Codes } from './signin.tsx';

interface Passkey {
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
  {
    head: 'Action',
    cell: ({ id }) => (
      <Act
        name="End"
        label={`End session ${id}`}
        right="read"
        says="Ends the session; its browser has to sign in again."
        run={() => own.send('DELETE', `/sessions/${id}`)}
      />
    ),
  },
];
const PASSKEYS: readonly Column<Passkey>[] = [
  { head: 'Passkey', cell: ({ id }) => id },
  { head: 'Enrolled', cell: ({ since }) => <Time at={since} /> },
  { head: 'Last used', cell: ({ used }) => <Time at={used} /> },
  {
    head: 'Action',
    cell: ({ id }) => (
      <Act
        name="Revoke"
        label={`Revoke passkey ${id}`}
        right="read"
        tone="grave"
        says="Ends the passkey and its sessions. The last one stays."
        run={() => own.send('DELETE', `/passkeys/${id}`)}
      />
    ),
  },
];

export function Account() {
  const { data: session } = useSession();
  const sessions = useQuery({ queryKey: ['sessions'], queryFn: own.sessions });
  const passkeys = useQuery({ queryKey: ['passkeys'], queryFn: own.passkeys });
  return (
    <>
      <h1>You</h1>
      {session && (
        <section className="panel" aria-label="About you">
          <dl className="facts">
            <Fact name="Name">{session.name}</Fact>
            <Fact name="Role">{session.role}</Fact>
            <Fact name="May">{session.rights.join(', ')}</Fact>
            <Fact name="Recovery codes left">{session.recoveryCodes}</Fact>
          </dl>
          <div className="row">
            <Act
              name="Make new recovery codes"
              right="read"
              says="Makes ten new codes, shown once. The earlier ones end."
              run={() => own.send<{ codes: readonly string[] }>('POST', '/recovery-codes', {})}
              shows={({ codes }) => <Codes codes={codes} />}
            />
          </div>
        </section>
      )}
      <h2>Your sessions</h2>
      <p className="muted">A session ends after half an hour without a request, and after twelve hours.</p>
      <Table
        label="Your sessions"
        columns={SESSIONS}
        rows={sessions.data?.sessions}
        keyOf={({ id }) => id}
        empty="No session."
      />
      <div className="title">
        <h2>Your passkeys</h2>
        <Act
          name="Enrol another passkey"
          right="read"
          says="Makes a passkey on this device or another one, beside those there are."
          run={enrolAnother}
        />
      </div>
      <Table
        label="Your passkeys"
        columns={PASSKEYS}
        rows={passkeys.data?.passkeys}
        keyOf={({ id }) => id}
        empty="No passkey."
      />
    </>
  );
}
