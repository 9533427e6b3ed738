/** Your own sessions and passkeys. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { read, type SessionRow, send } from '../api.ts';
import { enrolAnother } from '../passkey.ts';
import { PASSKEY_COLUMNS, type Passkey, SESSION_COLUMNS } from '../signins.tsx';
import { type Column, Failure, Table } from '../ui.tsx';

export function Sessions() {
  const client = useQueryClient();
  const [error, setError] = useState<unknown>();
  const sessions = useQuery({ queryKey: ['sessions'], queryFn: () => read<{ sessions: SessionRow[] }>('/sessions') });
  const passkeys = useQuery({
    queryKey: ['passkeys'],
    queryFn: () => read<{ passkeys: Passkey[] }>('/session/passkeys'),
  });
  const run = (action: () => Promise<unknown>) => async () => {
    setError(undefined);
    try {
      await action();
    } catch (caught) {
      setError(caught);
    }
    await client.invalidateQueries();
  };
  const columns: readonly Column<SessionRow>[] = [
    ...SESSION_COLUMNS,
    {
      head: 'Action',
      cell: ({ id }) => (
        <button type="button" aria-label={`End session ${id}`} onClick={run(() => send('DELETE', `/sessions/${id}`))}>
          End
        </button>
      ),
    },
  ];
  const keys: readonly Column<Passkey>[] = [
    ...PASSKEY_COLUMNS,
    {
      head: 'Action',
      cell: ({ id }) => (
        <button
          type="button"
          className="grave"
          aria-label={`Revoke passkey ${id}`}
          onClick={run(() => send('DELETE', `/session/passkeys/${id}`))}
        >
          Revoke
        </button>
      ),
    },
  ];
  return (
    <>
      <h1>Sessions and passkeys</h1>
      {error !== undefined && <Failure error={error} />}
      <h2>Your sessions</h2>
      <p className="muted">A session ends after half an hour without a request, and after twelve hours.</p>
      <Table
        label="Your sessions"
        columns={columns}
        rows={sessions.data?.sessions}
        keyOf={({ id }) => id}
        empty="No session."
      />
      <div className="title">
        <h2>Your passkeys</h2>
        <button type="button" onClick={run(enrolAnother)}>
          Enrol another passkey
        </button>
      </div>
      <p className="muted">Revoking a passkey ends its sessions.</p>
      <Table
        label="Your passkeys"
        columns={keys}
        rows={passkeys.data?.passkeys}
        keyOf={({ id }) => id}
        empty="No passkey."
      />
    </>
  );
}
