/** Passkeys in the browser, as both consoles use them: one begins a session, one is enrolled, and what to say when neither happens. */
import {
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser';

type Post = <T>(path: string, body: object) => Promise<T>;

/** Begins a session; the one that was there ends. */
export async function beginSession<Session>(post: Post): Promise<Session> {
  const { options } = await post<{ options: PublicKeyCredentialRequestOptionsJSON }>('/session/options', {});
  const credential = await startAuthentication({ optionsJSON: options });
  return await post<Session>('/session', { credential });
}

/**
 * @param path  takes the new passkey; its options are at `<path>/options`
 * @param given what allows it, such as a code: sent with both requests
 */
export async function enrolPasskey<Answer>(post: Post, path: string, given: object = {}): Promise<Answer> {
  const { options } = await post<{ options: PublicKeyCredentialCreationOptionsJSON }>(`${path}/options`, given);
  const credential = await startRegistration({ optionsJSON: options });
  return await post<Answer>(path, { ...given, credential });
}

/** A browser gives little information about a failed passkey, in its own words. */
export function sayPasskey(error: unknown): string {
  if (!(error instanceof Error)) return 'The passkey was not used.';
  if (error.name === 'NotAllowedError')
    return 'The passkey was not used: the browser was cancelled, or has none for this site.';
  if (error.name === 'InvalidStateError') return 'This device has a passkey for you already: sign in with it.';
  return error.message;
}
