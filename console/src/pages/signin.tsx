/** Signing in with a passkey, or at a provider; enrolling the first one with a token, or another one with a recovery code. */
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useAttempt } from '../attempt.ts';
import { enrolByCode, enrolByToken, login } from '../passkey.ts';
import { SignInPage } from '../signin.tsx';
import { goToProvider, readProvider } from '../sso.ts';
import { Failure } from '../ui.tsx';

export function SignIn() {
  const provider = useProvider()?.provider;
  const [enrolled, setEnrolled] = useState<string>();
  return (
    <SignInPage
      title="Cloverleaf console"
      root="/console"
      login={login}
      note={
        enrolled !== undefined && (
          <p className="note is-ok" role="status">
            {enrolled}
          </p>
        )
      }
      other={provider ? { name: provider, run: () => goToProvider() } : undefined}
      recovery={{
        title: 'Passkey lost, recovery code at hand',
        says: 'A recovery code enrols a new passkey on this device, once. Your earlier passkeys and sessions end, and your colleagues are notified.',
        button: 'Enrol a new passkey',
        run: async (code) => {
          const left = await enrolByCode(code);
          setEnrolled(`${ENROLLED} Earlier ones have ended. Sign in with it now. Codes left: ${left}.`);
        },
      }}
    >
      <details className="panel">
        <summary>First time here, or no recovery code left</summary>
        <EnrolByToken
          onDone={() => setEnrolled(`${ENROLLED} Sign in with it now, and then make recovery codes under Sessions.`)}
        />
      </details>
    </SignInPage>
  );
}

const ENROLLED = 'Your passkey is enrolled.';

const useProvider = () => useQuery({ queryKey: ['provider'], queryFn: readProvider }).data;

function EnrolByToken({ onDone }: { onDone: () => void }) {
  const { error, isBusy, attempt } = useAttempt();
  const enrol = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const token = String(new FormData(form).get('token')).trim();
    return attempt(async () => {
      await enrolByToken(token);
      form.reset();
      onDone();
    });
  };
  return (
    <form className="inside-form" onSubmit={(event) => void enrol(event)}>
      {error !== undefined && <Failure error={error} />}
      <p>An operator token enrols a passkey on this device, once. It does not sign you in, and is not stored.</p>
      <ol>
        <li>
          In a terminal on your machine: <code>npm run operator -- new token</code>. It stores the token in a file and
          prints its hash.
        </li>
        <li>
          Another operator lets you in with the hash: <code>operator create</code>, or <code>operator token</code> if
          they know you already.
        </li>
        <li>Paste the token from the file here.</li>
      </ol>
      <div className="field">
        <label htmlFor="token">Operator token</label>
        <input id="token" name="token" type="password" autoComplete="off" required minLength={20} maxLength={200} />
      </div>
      <div className="row">
        <button type="submit" disabled={isBusy}>
          Enrol a passkey
        </button>
      </div>
    </form>
  );
}

/** What an operator without a passkey on this device can do in the middle of an action: log in at the provider, or enrol by a token. */
export function OtherWays() {
  const { error, isBusy, attempt } = useAttempt();
  const [isEnrolled, setEnrolled] = useState(false);
  const { provider = null, stepUp = false } = useProvider() ?? {};
  return (
    <>
      {error !== undefined && <Failure error={error} />}
      {provider !== null && stepUp && (
        <div>
          <p>Or log in again with {provider}. You come back to this page, and send it once more.</p>
          <button type="button" disabled={isBusy} onClick={() => void attempt(() => goToProvider(true))}>
            Log in again with {provider}
          </button>
        </div>
      )}
      {isEnrolled ? (
        <p className="note is-ok" role="status">
          {ENROLLED} Use it now.
        </p>
      ) : (
        <details>
          <summary>No passkey on this device</summary>
          <EnrolByToken onDone={() => setEnrolled(true)} />
        </details>
      )}
    </>
  );
}
