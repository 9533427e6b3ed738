/** Signing in with a passkey; and joining a team, or coming back to it, with a code that enrols one. */
import { useEffect, useState } from 'react';
import { useAttempt } from '../../attempt.ts';
import { Codes } from '../../codes.tsx';
import { OnAddress, SignInPage } from '../../signin.tsx';
import { Failure } from '../../ui.tsx';
import { type Joined, join, login } from '../passkey.ts';

export function SignIn() {
  const [joined, setJoined] = useState<Joined>();
  if (joined !== undefined) return <Welcome joined={joined} />;
  return (
    <SignInPage
      title="Cloverleaf for partners"
      root="/partner"
      login={login}
      recovery={{
        title: 'Passkey lost',
        says: 'A recovery code lets you make a new passkey on this device, once. Your earlier passkeys end with it. Without a code, an owner of your team makes you a new link.',
        button: 'Make a new passkey',
        run: async (code) => setJoined(await join(code)),
      }}
    >
      <p className="muted">New here? Open the link that an owner of your team, or the operator, has sent you.</p>
    </SignInPage>
  );
}

/** The code is behind the #, which is never sent to a server, and is removed from the URL at once. */
function codeOfAddress(): string {
  const code = window.location.hash.slice(1);
  if (code !== '') window.history.replaceState(null, '', window.location.pathname);
  return code;
}
let given = codeOfAddress();

export function Join() {
  const { error, isBusy, attempt } = useAttempt();
  const [joined, setJoined] = useState<Joined>();
  const [code, setCode] = useState(given);
  // Another link of this kind, opened in the same tab.
  useEffect(() => {
    const listen = () => {
      given = codeOfAddress();
      if (given !== '') setCode(given);
    };
    window.addEventListener('hashchange', listen);
    return () => window.removeEventListener('hashchange', listen);
  }, []);
  const enrol = () =>
    attempt(async () => {
      setJoined(await join(code));
      given = '';
    });
  if (joined !== undefined) return <Welcome joined={joined} />;
  return (
    <main className="signin">
      <h1>Join your team</h1>
      <section className="panel" aria-label="Make a passkey">
        {code === '' ? (
          <p className="note is-warn">This address has no code. Open the whole link that you were sent.</p>
        ) : (
          <p>
            Make a passkey on this device: your fingerprint, face or PIN signs you in from now on. There is no password.
          </p>
        )}
        <OnAddress root="/partner" />
        {error !== undefined && <Failure error={error} />}
        <div className="row">
          <button type="button" className="primary" disabled={isBusy || code === ''} onClick={() => void enrol()}>
            Make a passkey
          </button>
        </div>
      </section>
    </main>
  );
}

/** Shown once, before anything else. */
function Welcome({ joined }: { joined: Joined }) {
  const codes = joined.newRecoveryCodes;
  return (
    <main className="signin">
      <h1>You are in, {joined.name}</h1>
      <section className="panel" aria-label="Recovery codes">
        {codes === null ? (
          <p>
            Your new passkey works. {joined.recoveryCodes} recovery codes are left; you can make new ones on the page{' '}
            <b>You</b>.
          </p>
        ) : (
          <Codes codes={codes} />
        )}
        <div className="row">
          <a className="button primary" href="/partner">
            Open the console
          </a>
        </div>
      </section>
    </main>
  );
}
