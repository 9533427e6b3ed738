/** Passkeys of the team: a login, and the enrolment of one by a code or beside another. */
import { beginSession, enrolPasskey } from '../webauthn.ts';
import { own, type Session } from './api.ts';

export const login = (): Promise<Session> => beginSession<Session>(own.sendOnce);

export type Joined = Session & { readonly newRecoveryCodes: readonly string[] | null };

/** Uses the code of an invitation or of recovery: enrols a passkey, and begins a session with it. */
export const join = (code: string): Promise<Joined> => enrolPasskey<Joined>(own.sendOnce, '/join', { code });

/** Another passkey of the member who is signed in. */
export const enrolAnother = (): Promise<unknown> =>
  enrolPasskey(<T>(path: string, body: object) => own.send<T>('POST', path, body), '/passkeys');
