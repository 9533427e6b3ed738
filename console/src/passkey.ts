/** Passkeys in the browser: a login, and the enrolment of another one. */
import {
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser';
import { type Session, send, sendOnce } from './api.ts';

/** Begins a session; the one that was there ends. */
export async function login(): Promise<Session> {
  const { options } = await sendOnce<{ options: PublicKeyCredentialRequestOptionsJSON }>('/session/options', {});
  const credential = await startAuthentication({ optionsJSON: options });
  return await sendOnce<Session>('/session', { credential });
}

/** By the token of an operator who is not signed in. */
export async function enrolByToken(token: string): Promise<void> {
  type Options = { options: PublicKeyCredentialCreationOptionsJSON };
  const { options } = await sendOnce<Options>('/session/passkeys/options', {}, token);
  const credential = await startRegistration({ optionsJSON: options });
  await sendOnce('/session/passkeys', { credential }, token);
}

/** By a recovery code, which is used up. It signs nobody in. @returns how many codes are left */
export async function enrolByCode(code: string): Promise<number> {
  type Options = { options: PublicKeyCredentialCreationOptionsJSON };
  const { options } = await sendOnce<Options>('/session/recovery/options', { code });
  const credential = await startRegistration({ optionsJSON: options });
  return (await sendOnce<{ recoveryCodes: number }>('/session/recovery', { code, credential })).recoveryCodes;
}

/** Another passkey of the operator who is signed in. */
export async function enrolAnother(): Promise<void> {
  type Options = { options: PublicKeyCredentialCreationOptionsJSON };
  const { options } = await send<Options>('POST', '/session/passkeys/options', {});
  const credential = await startRegistration({ optionsJSON: options });
  await send('POST', '/session/passkeys', { credential });
}

/** A browser gives little information about a failed passkey, in its own words. */
export function sayPasskey(error: unknown): string {
  if (!(error instanceof Error)) return 'The passkey was not used.';
  if (error.name === 'NotAllowedError')
    return 'The passkey was not used: the browser was cancelled, or has none for this site.';
  if (error.name === 'InvalidStateError') return 'This device has a passkey for you already: sign in with it.';
  return error.message;
}
