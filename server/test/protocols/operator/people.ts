/** Operators as programs over HTTP: each a name, a role and a token. */
import type { Database } from '../../../src/base/db.ts';
import { createOperator, issueToken, type Role } from '../../../src/operators/index.ts';
import type { Came } from '../../support/client.ts';

export interface Said {
  status: number;
  body: Came;
}

export type Person = ReturnType<typeof withToken>;

export const withToken = (baseUrl: string, token: string) => {
  const ask = async (method: string, path: string, body?: unknown): Promise<Said> => {
    const reply = await fetch(`${baseUrl}/operator/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: reply.status, body: await reply.json() };
  };
  return {
    token,
    reads: (path: string) => ask('GET', path),
    /** With a reason, unless one is given. */
    does: (path: string, body: Record<string, unknown> = {}) => ask('POST', path, { reason: 'a test', ...body }),
    sends: (path: string, body: unknown) => ask('POST', path, body),
  };
};

export async function operatorNamed(
  world: { db: Database; baseUrl: string; clock: { now(): Date } },
  name: string,
  role: Role,
): Promise<Person> {
  const now = world.clock.now();
  const token = await world.db.asSystem(async (tx) => {
    const made = await createOperator(tx, { name, role, now });
    return await issueToken(tx, { operatorId: made.id, label: 'test', now, expiresAt: null });
  });
  return withToken(world.baseUrl, token);
}
