/**
 * Operators themselves: who they are, what each role may do, and their tokens.
 *
 * A token is 256 random bits, shown once to its owner; only its SHA-256 is stored. It is looked up again at every request, so
 * a revoked or expired token, and a disabled operator, lose access at once.
 */
import { createHash } from 'node:crypto';
import type { Tx } from '../base/db.ts';
import { assert, Refusal } from '../base/errors.ts';
import { randomText } from '../base/ids.ts';
import { recordByMachine } from './audit.ts';
import { identityStore } from './identities.store.ts';
import { recoveryStore } from './recovery.store.ts';
import { revokeAccess } from './sessions.ts';
import { type Operator, type OperatorRow, type Role, store, type TokenRow } from './store.ts';

export const ROLES: readonly Role[] = ['viewer', 'night', 'support', 'compliance', 'treasury', 'finance', 'admin'];

/** Roles per right. A right that is not listed here is granted to no role. */
export const RIGHTS = {
  /** Orders, cases, books, settings, the audit. No personal data of a customer. */
  read: ROLES,
  /** A customer's own details, decrypted. Each access is in the audit. */
  personal: ['support', 'compliance', 'finance', 'admin'],
  /** Working on cases: assigning, noting, closing. */
  cases: ['night', 'support', 'compliance', 'treasury', 'finance', 'admin'],
  /** Deciding whether a customer is verified, which lets it trade; deciding about hits of screening. */
  reviews: ['support', 'compliance', 'finance', 'admin'],
  /** The travel rule, and the rules of transaction monitoring. */
  compliance: ['compliance', 'admin'],
  /** Setting a kill switch. */
  kill_switch: ['night', 'support', 'compliance', 'treasury', 'finance', 'admin'],
  /** Taking rights away: suspending a partner, revoking a key, blocking a customer. Moves no money. */
  block: ['night', 'compliance', 'treasury', 'finance', 'admin'],
  /** Lifting kill switches, and resuming a halted chain. */
  resume: ['finance', 'admin'],
  /** Actions that move a customer's money, and confirming them. */
  money: ['finance', 'admin'],
  /** Actions on our own money: wallets, transfers, movements, breaks, the queue of a shortage, and the desk of a bank. */
  treasury: ['treasury', 'finance', 'admin'],
  /** Partners and their keys. */
  partners: ['admin'],
  /** Markets, fees, limits, caps. */
  terms: ['admin'],
  /** Other operators, and how many people an action takes. */
  operators: ['admin'],
} as const satisfies Record<string, readonly Role[]>;

export type Right = keyof typeof RIGHTS;

export const may = (operator: { role: Role }, right: Right): boolean =>
  (RIGHTS[right] as readonly Role[]).includes(operator.role);

const TOKEN_CHARS = 43;
const NOTE_USE_EVERY_MS = 60_000;

export const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/** The operator with this token; undefined when the token is unknown, revoked or expired, or the operator disabled. */
export async function operatorOf(tx: Tx, token: string, now: Date): Promise<Operator | undefined> {
  const row = await store.byToken(tx, hashOf(token));
  if (row === undefined || row.disabledAt !== null || row.revokedAt !== null) return undefined;
  if (row.expiresAt !== null && row.expiresAt <= now) return undefined;
  if (now.getTime() - (row.lastUsedAt?.getTime() ?? 0) >= NOTE_USE_EVERY_MS) await store.noteUse(tx, row.token, now);
  return personOf(row);
}

/** @throws Refusal 'operator_exists' */
export async function createOperator(tx: Tx, o: { name: string; role: Role; now: Date }): Promise<Operator> {
  const row = await store.insertOperator(tx, o);
  if (row === undefined) throw new Refusal('operator_exists');
  return personOf(row);
}

/** @throws Refusal 'unknown_operator' */
export async function findOperator(tx: Tx, name: string): Promise<Operator> {
  const row = await store.byName(tx, name);
  if (row === undefined) throw new Refusal('unknown_operator');
  return personOf(row);
}

/** Prevents that this operator is disabled or enabled until `tx` ends. @throws Refusal 'unknown_operator' */
export async function lockNamed(tx: Tx, name: string): Promise<void> {
  await store.lockOperator(tx, (await findOperator(tx, name)).id);
}

/** The operator as stored, disabled or not. */
export async function operatorById(tx: Tx, id: bigint): Promise<Operator> {
  const row = await store.byId(tx, id);
  assert(row !== undefined, `operator ${id} is missing`);
  return row;
}

/**
 * The operator, locked until `tx` ends: a concurrent role change waits, or was committed before. Actions of one person are
 * serialized, so that amounts approved alone add up.
 *
 * @throws Refusal 'unauthenticated' when it is disabled
 */
export async function lockOperator(tx: Tx, id: bigint): Promise<Operator> {
  const row = await store.lockOperator(tx, id);
  if (row === undefined || row.disabledAt !== null) throw new Refusal('unauthenticated');
  return personOf(row);
}

export const operators = async (tx: Tx): Promise<Operator[]> => (await store.operators(tx)).map(personOf);
export const tokensOf = (tx: Tx, operatorId: bigint): Promise<TokenRow[]> => store.tokensOf(tx, operatorId);

/**
 * Admits a token that its owner created (`npm run operator -- new token`), by its hash: no other operator ever sees the token,
 * neither the proposer nor those who confirm.
 *
 * @throws Refusal 'malformed_field' when a token with this hash was issued before
 */
export async function admitToken(
  tx: Tx,
  t: { operatorId: bigint; sha256: string; label: string; now: Date; expiresAt: Date },
): Promise<void> {
  const { sha256, ...rest } = t;
  if ((await store.insertToken(tx, { ...rest, hash: Buffer.from(sha256, 'hex') })) === 0)
    throw new Refusal('malformed_field', { fields: { tokenSha256: 'must be of a new token' } });
}

/** Creates a token. It is returned once and not stored. */
export async function issueToken(
  tx: Tx,
  t: { operatorId: bigint; label: string; now: Date; expiresAt: Date | null },
): Promise<string> {
  const token = `clo_${randomText(TOKEN_CHARS)}`;
  await store.insertToken(tx, { ...t, hash: hashOf(token) });
  return token;
}

/** @throws Refusal 'unknown_token' when the operator has none with this number */
export async function revokeToken(tx: Tx, t: { operatorId: bigint; token: bigint; now: Date }): Promise<void> {
  if ((await store.revokeToken(tx, t.operatorId, t.token, t.now)) === 0) throw new Refusal('unknown_token');
}

export const setRole = async (tx: Tx, id: bigint, role: Role): Promise<void> =>
  void (await store.setRole(tx, id, role));
/**
 * Ends the operator's passkeys, recovery codes, accounts at a provider and sessions for good. Its tokens work again once it is
 * enabled.
 */
export async function disable(tx: Tx, id: bigint, now: Date): Promise<void> {
  await store.disable(tx, id, now);
  await recoveryStore.drop(tx, id);
  await identityStore.endAll(tx, id, now);
  await revokeAccess(tx, id, now);
}
export const enable = async (tx: Tx, id: bigint): Promise<void> => void (await store.enable(tx, id));

/**
 * The operator whose token is in the server's environment: the first one, and with a new token the way back in when all operators
 * are locked out. A person who can start the server can read its database anyway. A token is admitted once: a revoked one stays
 * revoked, whatever the environment says.
 */
export async function startOperator(tx: Tx, o: { name: string; token: string; now: Date }): Promise<void> {
  const made = await store.insertOperator(tx, { ...o, role: 'admin' });
  const { id } = await findOperator(tx, o.name);
  const hash = hashOf(o.token);
  const isNew = await store.insertToken(tx, { operatorId: id, hash, label: 'at start', now: o.now, expiresAt: null });
  if (isNew === 0) return;
  await store.enable(tx, id);
  await recordByMachine(tx, {
    action: made === undefined ? 'operator.token' : 'operator.create',
    subject: `operator:${o.name}`,
    reason: 'a new token at the start of the server',
    now: o.now,
    after: { role: 'admin' },
  });
}

const personOf = ({ id, name, role, createdAt, disabledAt }: OperatorRow): Operator => ({
  id,
  name,
  role,
  createdAt,
  disabledAt,
});
