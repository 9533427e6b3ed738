/** The sign-in page of both consoles: a passkey signs in, and a recovery code enrols another one. */
import { useQueryClient } from '@tanstack/react-query';
import type { FormEvent, ReactNode } from 'react';
import { useAttempt } from './attempt.ts';
import { Failure } from './ui.tsx';

const { protocol, hostname, port } = window.location;
const isAddress = /^([0-9.]+|\[.*\])$/.test(hostname);

/** @param root path of the console */
export function OnAddress({ root }: { root: string }) {
  if (!isAddress) return null;
  // The same server under the name that this machine has for itself.
  const named = `${protocol}//localhost${port === '' ? '' : `:${port}`}${root}`;
  return (
    <p className="note is-warn">
      A passkey belongs to a name, and {hostname} is an address: open <a href={named}>{named}</a>.
    </p>
  );
}

export function SignInPage(p: {
  title: string;
  /** Path of the console. */
  root: string;
  login: () => Promise<unknown>;
  /** Above the buttons. */
  note?: ReactNode;
  /** Another way to sign in. */
  other?: { readonly name: string; readonly run: () => Promise<void> } | undefined;
  recovery: {
    readonly title: string;
    readonly says: string;
    readonly button: string;
    readonly run: (code: string) => Promise<void>;
  };
  children: ReactNode;
}) {
  const client = useQueryClient();
  const { error, isBusy, attempt } = useAttempt();
  const { other, recovery } = p;
  const signIn = () => attempt(async () => void client.setQueryData(['session'], await p.login()));
  const recover = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    return attempt(async () => {
      await recovery.run(String(new FormData(form).get('code')).trim());
      form.reset();
    });
  };
  return (
    <main className="signin">
      <h1>{p.title}</h1>
      <section className="panel" aria-label="Sign in">
        <p>Sign in with your passkey. There is no password.</p>
        <OnAddress root={p.root} />
        {p.note}
        {error !== undefined && <Failure error={error} />}
        <div className="row">
          <button type="button" className="primary" disabled={isBusy} onClick={() => void signIn()}>
            Sign in with a passkey
          </button>
          {other && (
            <button type="button" disabled={isBusy} onClick={() => void attempt(other.run)}>
              Sign in with {other.name}
            </button>
          )}
        </div>
      </section>
      <details className="panel">
        <summary>{recovery.title}</summary>
        <form className="inside-form" onSubmit={(event) => void recover(event)}>
          <p>{recovery.says}</p>
          <div className="field">
            <label htmlFor="code">Recovery code</label>
            <input id="code" name="code" autoComplete="off" spellCheck={false} required minLength={20} maxLength={64} />
          </div>
          <div className="row">
            <button type="submit" disabled={isBusy}>
              {recovery.button}
            </button>
          </div>
        </form>
      </details>
      {p.children}
    </main>
  );
}
