/** Operators as HTTP clients, each with a name, a role and a token. */
import assert from 'node:assert/strict';
import type { Database, Tx } from '../../../src/base/db.ts';
import { createOperator, issueToken, type Role, setRule } from '../../../src/operators/index.ts';
import type { Came } from '../../support/client.ts';
import { assertDeclaredOperator } from '../../support/declared.operator.ts';

export interface Said {
  status: number;
  body: Came;
}

export type Person = ReturnType<typeof withToken>;

export const withToken = (baseUrl: string, token: string, name = '') => {
  const input = async (method: string, path: string, body?: unknown): Promise<Said> => {
    const reply = await fetch(`${baseUrl}/operator/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const came: Came = await reply.json();
    assertDeclaredOperator({ method, path }, reply.status, came);
    return { status: reply.status, body: came };
  };
  return {
    name,
    token,
    reads: (path: string) => input('GET', path),
    /** Adds a reason unless one is given. */
    does: (path: string, body: Record<string, unknown> = {}) => input('POST', path, { reason: 'a test', ...body }),
    sends: (path: string, body: unknown) => input('POST', path, body),
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
  return withToken(world.baseUrl, token, name);
}

/** One person acts and another confirms, where the action takes two. @returns the answer to the last request */
export async function oneOrTwoDo(first: Person, second: Person, path: string, body: Record<string, unknown> = {}) {
  const said = await first.does(path, body);
  return said.status === 202 ? await confirmedBy(second, said) : said;
}

/**
 * One person proposes an action that takes two, and another confirms it.
 * @returns the answer to the confirmation
 * @throws AssertionError where one person was enough, or where either is refused
 */
export async function twoDo(first: Person, second: Person, path: string, body: Record<string, unknown> = {}) {
  const proposed = await first.does(path, body);
  assert.equal(proposed.status, 202, `${path} was not proposed: ${JSON.stringify(proposed.body)}`);
  const confirmed = await confirmedBy(second, proposed);
  assert.equal(confirmed.status, 200, `${path} was not confirmed: ${JSON.stringify(confirmed.body)}`);
  return confirmed.body;
}

/** Another person confirms what was proposed. */
export async function confirmedBy(second: Person, proposed: Said): Promise<Said> {
  assert.equal(proposed.status, 202, `there is no proposal: ${JSON.stringify(proposed.body)}`);
  return await second.does(`/proposals/${proposed.body.proposal}/confirm`);
}

/** Sets a rule: this many people, for amounts above so many units of an asset where one is named. */
export const takes = (
  tx: Tx,
  people: number,
  what: { action?: string; right?: string; asset?: string; above?: bigint },
): Promise<void> => {
  const { action = '*', right = '*', asset = '*', above: aboveUnits = 0n } = what;
  return setRule(tx, { action, right, asset, aboveUnits, people });
};

/** One person can change terms, make keys and lift kill switches. */
export async function oneOpensGates(tx: Tx): Promise<void> {
  for (const right of ['terms', 'compliance']) await takes(tx, 1, { right });
  await takes(tx, 1, { action: 'key.*' });
  await takes(tx, 1, { right: 'resume' });
  await takes(tx, 1, { action: 'partner.resume' });
}

/** New destinations and screening hits need no extra people: only the amount decides. */
export async function amountsDecide(tx: Tx): Promise<void> {
  for (const action of ['destination.new', 'release.screening_hit']) await takes(tx, 1, { action });
}
