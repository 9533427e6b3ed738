/** Your own sessions, passkeys and recovery codes, and from where operators may connect. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { read, type SessionRow, send } from '../api.ts';
import { Codes } from '../codes.tsx';
import { AllowedNetworks } from '../networks.tsx';
import { OtherActions } from '../others.tsx';
import { enrolAnother } from '../passkey.ts';
import { useSession } from '../shell.tsx';
import { type Passkey, SignIns } from '../signins.tsx';
import { Failure } from '../ui.tsx';

export function Sessions() {
  const client = useQueryClient();
  const [error, setError] = useState<unknown>();
  const [codes, setCodes] = useState<readonly string[]>();
  const { data: session } = useSession();
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
  const makeCodes = async () => {
    const made = await send<{ codes: readonly string[] }>('POST', '/session/recovery-codes', {});
    setCodes(made.codes);
  };
  return (
    <>
      <h1>Sessions and passkeys</h1>
      {error !== undefined && <Failure error={error} />}
      <SignIns
        sessions={sessions.data?.sessions}
        passkeys={passkeys.data?.passkeys}
        end={({ id }) => (
          <button type="button" aria-label={`End session ${id}`} onClick={run(() => send('DELETE', `/sessions/${id}`))}>
            End
          </button>
        )}
        revoke={({ id }) => (
          <button
            type="button"
            className="grave"
            aria-label={`Revoke passkey ${id}`}
            onClick={run(() => send('DELETE', `/session/passkeys/${id}`))}
          >
            Revoke
          </button>
        )}
        enrol={
          <button type="button" onClick={run(enrolAnother)}>
            Enrol another passkey
          </button>
        }
      />
      <div className="title">
        <h2>Your recovery codes</h2>
        <button type="button" onClick={run(makeCodes)}>
          Make new recovery codes
        </button>
      </div>
      {codes === undefined ? (
        <p className={session?.recoveryCodes === 0 ? 'note is-warn' : 'muted'}>
          {session?.recoveryCodes === 0
            ? 'You have none. Without one, the way back after a lost passkey is a token that a colleague admits.'
            : `${session?.recoveryCodes ?? 0} are left. Each enrols a new passkey once, should you lose yours. New ones end these.`}
        </p>
      ) : (
        <section className="panel" aria-label="Recovery codes">
          <Codes codes={codes} />
        </section>
      )}
      <AllowedNetworks />
      <OtherActions of="self" known={{}} title="Tokens for the terminal" />
    </>
  );
}
