/** The partner API as the team's pages use it, and the endpoints of one's own session. How requests are sent: wire.ts. */
import type { SessionRow } from '../api.ts';
import type { Passkey } from '../signins.tsx';
import { changing, type Query, reading, request, sessionAt, withQuery } from '../wire.ts';

export type { Query } from '../wire.ts';

const API = '/v1';
const OWN = '/partner/v1';

export interface Session {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly rights: readonly string[];
  readonly partner: { readonly id: string; readonly name: string; readonly suspended: boolean };
  readonly profile: 'sandbox' | 'production';
  readonly expires: string;
  readonly recoveryCodes: number;
}

export interface Money {
  readonly amount: string;
  readonly asset: string;
}

export interface Page<Row> {
  readonly data: readonly Row[];
  readonly nextCursor?: string | null;
}

export const read = <T>(path: string, query: Query = {}): Promise<T> =>
  reading<T>(() => request('GET', withQuery(`${API}${path}`, query)));

/** The same Idempotency-Key when it is sent again after a fresh login. */
export function send<T>(method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<T> {
  const key = crypto.randomUUID();
  return changing<T>(() => request(method, `${API}${path}`, body, { key }));
}

/** The signed-in member; null without a session. */
export const readSession = (): Promise<Session | null> => sessionAt<Session>(`${OWN}/session`);

export const own = {
  sessions: () => reading<{ sessions: SessionRow[] }>(() => request('GET', `${OWN}/sessions`)),
  passkeys: () => reading<{ passkeys: Passkey[] }>(() => request('GET', `${OWN}/passkeys`)),
  send: <T>(method: 'POST' | 'DELETE', path: string, body?: unknown) =>
    changing<T>(() => request(method, `${OWN}${path}`, body)),
  /** A login, or the use of a code: neither is repeated. */
  sendOnce: async <T>(path: string, body: unknown): Promise<T> => (await request('POST', `${OWN}${path}`, body)) as T,
};
