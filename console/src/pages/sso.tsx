/** The page that the provider of single sign-on sends an operator back to. */
import { useEffect, useState } from 'react';
import { ApiError } from '../api.ts';
import { useAttempt } from '../attempt.ts';
import { exchangeAnswer, goOn, provePasskey, type StillAsked } from '../sso.ts';
import { Failure } from '../ui.tsx';

export function SsoAnswer() {
  const { error, isBusy, attempt } = useAttempt();
  const [asked, setAsked] = useState<StillAsked>();
  useEffect(() => {
    void attempt(async () => {
      const options = await exchangeAnswer();
      if (options === undefined) goOn();
      else setAsked(options);
    });
  }, []);
  const prove = () =>
    attempt(async () => {
      if (asked === undefined) return;
      await provePasskey(asked);
      goOn();
    });
  // A declined answer uses the login up; a passkey that the browser did not show does not.
  const isOver = error instanceof ApiError;
  return (
    <main className="signin">
      <h1>Cloverleaf console</h1>
      <section className="panel" aria-label="Sign in">
        {error !== undefined && <Failure error={error} />}
        {asked === undefined
          ? error === undefined && <p role="status">Signing you in…</p>
          : !isOver && (
              <p>
                You are signed in at the provider, but it does not confirm more than a password: show your passkey, too.
              </p>
            )}
        <div className="row">
          {asked !== undefined && !isOver && (
            <button type="button" className="primary" disabled={isBusy} onClick={() => void prove()}>
              Use passkey
            </button>
          )}
          {error !== undefined && (
            <a className="button" href="/console/">
              Back to the sign-in page
            </a>
          )}
        </div>
      </section>
    </main>
  );
}
