/** Signing in with a passkey; and joining a team, or coming back to it, with a code that enrols one. */
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useEffect, useState } from 'react';
import { useAttempt } from '../../attempt.ts';
import { Codes } from '../../codes.tsx';
import { Failure } from '../../ui.tsx';
import { type Joined, join, login } from '../passkey.ts';

const isAddress = /^([0-9.]+|\[.*\])$/.test(window.location.hostname);
/** The same server under the name that this machine has for itself. */
const named = `${window.location.protocol}//localhost${window.location.port === '' ? '' : `:${window.location.port}`}/partner`;
const TITLE = 'Cloverleaf for partners';

const OnAddress = () =>
  isAddress && (
    <p className="note is-warn">
      A passkey belongs to a name, and {window.location.hostname} is an address: open <a href={named}>{named}</a>.
    </p>
  );

export function SignIn() {
  const client = useQueryClient();
  const { error, isBusy, attempt } = useAttempt();
  const [joined, setJoined] = useState<Joined>();
  const signIn = () => attempt(async () => void client.setQueryData(['session'], await login()));
  const recover = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const code = String(new FormData(event.currentTarget).get('code')).trim();
    return attempt(async () => setJoined(await join(code)));
  };
  if (joined !== undefined) return <Welcome joined={joined} />;
  return (
    <main className="signin">
      <h1>{TITLE}</h1>
      <section className="panel" aria-label="Sign in">
        <p>Sign in with your passkey. There is no password.</p>
        <OnAddress />
        {error !== undefined && <Failure error={error} />}
        <div className="row">
          <button type="button" className="primary" disabled={isBusy} onClick={() => void signIn()}>
            Sign in with a passkey
          </button>
        </div>
      </section>
      <details className="panel">
        <summary>Passkey lost</summary>
        <form className="inside-form" onSubmit={(event) => void recover(event)}>
          <p>
            A recovery code lets you make a new passkey on this device, once. Your earlier passkeys end with it. Without
            a code, an owner of your team makes you a new link.
          </p>
          <div className="field">
            <label htmlFor="code">Recovery code</label>
            <input id="code" name="code" autoComplete="off" spellCheck={false} required minLength={20} maxLength={64} />
          </div>
          <div className="row">
            <button type="submit" disabled={isBusy}>
              Make a new passkey
            </button>
          </div>
        </form>
      </details>
      <p className="muted">New here? Open the link that an owner of your team, or the operator, has sent you.</p>
    </main>
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
        <OnAddress />
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
