/** Passkeys of operators: a login, and the enrolment of one by a token, by a recovery code, or beside another. */
import { type Session, send, sendOnce } from './api.ts';
import { beginSession, enrolPasskey } from './webauthn.ts';

export const login = (): Promise<Session> => beginSession<Session>(sendOnce);

/** By the token of an operator who is not signed in. */
export const enrolByToken = (token: string): Promise<unknown> =>
  enrolPasskey(<T>(path: string, body: object) => sendOnce<T>(path, body, token), '/session/passkeys');

/** By a recovery code, which is used up. It signs no one in. @returns how many codes are left */
export const enrolByCode = async (code: string): Promise<number> =>
  (await enrolPasskey<{ recoveryCodes: number }>(sendOnce, '/session/recovery', { code })).recoveryCodes;

/** Another passkey of the operator who is signed in. */
export const enrolAnother = (): Promise<unknown> =>
  enrolPasskey(<T>(path: string, body: object) => send<T>('POST', path, body), '/session/passkeys');
