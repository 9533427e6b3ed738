/** The signed-in member: sessions, passkeys and recovery codes. */
import { useQuery } from '@tanstack/react-query';
import { Codes } from '../../codes.tsx';
import { SignIns } from '../../signins.tsx';
import { Fact } from '../../ui.tsx';
import { ActionButton } from '../actionbutton.tsx';
import { own } from '../api.ts';
import { enrolAnother } from '../passkey.ts';
import { useSession } from '../shell.tsx';

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
            <ActionButton
              name="Make new recovery codes"
              right="read"
              says="Makes ten new codes, shown once. Earlier codes stop working."
              run={() => own.send<{ codes: readonly string[] }>('POST', '/recovery-codes', {})}
              shows={({ codes }) => <Codes codes={codes} />}
            />
          </div>
        </section>
      )}
      <SignIns
        sessions={sessions.data?.sessions}
        passkeys={passkeys.data?.passkeys}
        end={({ id }) => (
          <ActionButton
            name="End"
            label={`End session ${id}`}
            right="read"
            says="Ends the session; its browser has to sign in again."
            run={() => own.send('DELETE', `/sessions/${id}`)}
          />
        )}
        revoke={({ id }) => (
          <ActionButton
            name="Revoke"
            label={`Revoke passkey ${id}`}
            right="read"
            tone="grave"
            says="Removes the passkey and ends its sessions. The last passkey cannot be removed."
            run={() => own.send('DELETE', `/passkeys/${id}`)}
          />
        )}
        enrol={
          <ActionButton
            name="Enrol another passkey"
            right="read"
            says="Makes another passkey, on this device or another one."
            run={enrolAnother}
          />
        }
      />
    </>
  );
}
