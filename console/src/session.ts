/** Who is signed in, from the operator interface. The cookie goes with the request; no script can read it. */
export interface Session {
  readonly name: string;
  readonly role: string;
  readonly profile: 'sandbox' | 'production';
}

const DEADLINE_MS = 10_000;

/** Null where nobody is signed in. @throws Error when the server does not answer as it should */
export async function readSession(): Promise<Session | null> {
  const reply = await fetch('/operator/v1/session', {
    credentials: 'same-origin',
    signal: AbortSignal.timeout(DEADLINE_MS),
  });
  if (reply.status === 401) return null;
  if (!reply.ok) throw new Error(`The server answered with status ${reply.status}.`);
  return (await reply.json()) as Session;
}
