/** Passkeys of the team in the browser: a login, and the enrolment of one by a code or beside another. */
import {
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser';
import { own, type Session } from './api.ts';

/** Begins a session; the one that was there ends. */
export async function login(): Promise<Session> {
  const { options } = await own.sendOnce<{ options: PublicKeyCredentialRequestOptionsJSON }>('/session/options', {});
  const credential = await startAuthentication({ optionsJSON: options });
  return await own.sendOnce<Session>('/session', { credential });
}

export type Joined = Session & { readonly newRecoveryCodes: readonly string[] | null };

/** Uses the code of an invitation or of recovery: enrols a passkey, and begins a session with it. */
export async function join(code: string): Promise<Joined> {
  type Options = { options: PublicKeyCredentialCreationOptionsJSON };
  const { options } = await own.sendOnce<Options>('/join/options', { code });
  const credential = await startRegistration({ optionsJSON: options });
  return await own.sendOnce<Joined>('/join', { code, credential });
}

/** Another passkey of the member who is signed in. */
export async function enrolAnother(): Promise<void> {
  type Options = { options: PublicKeyCredentialCreationOptionsJSON };
  const { options } = await own.send<Options>('POST', '/passkeys/options', {});
  const credential = await startRegistration({ optionsJSON: options });
  await own.send('POST', '/passkeys', { credential });
}
