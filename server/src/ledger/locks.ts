/**
 * Locks of accounts. They are taken in id order, so transactions that post to the same accounts queue up instead of deadlocking.
 *
 * A transaction that posts a second time may need an account with a lower id than one it has locked. Waiting for it could cause a
 * deadlock, so the transaction does not wait: if another one has locked that account, it is rolled back, and its next attempt
 * locks all these accounts at its first posting.
 *
 * The first entry that names an account creates it. Until that transaction ends, every other one that names the account waits. So
 * creating an account is a lock, too, and comes before the locks of existing accounts.
 */
import { Collision, type Tx } from '../base/db.ts';
import type { Account } from './chart.ts';
import { type AccountRow, store } from './store.ts';

/** Accounts locked by each transaction. */
const locked = new WeakMap<Tx, Set<bigint>>();
/**
 * Accounts that a transaction needed when an attempt of it was rolled back. The key is `tx.attempts`, which all attempts share.
 */
const wantedBefore = new WeakMap<object, ReadonlySet<bigint>>();

/**
 * Locks these accounts until `tx` ends.
 *
 * @throws Collision if it would have to wait out of order; the transaction then runs again
 */
export async function lockAccounts(tx: Tx, ids: Iterable<bigint>): Promise<Map<bigint, AccountRow>> {
  const asked = new Set(ids);
  const held = locked.get(tx);
  if (held === undefined) {
    const wanted = inOrder([...asked, ...(wantedBefore.get(tx.attempts) ?? [])]);
    const rows = await store.lockAccounts(tx, wanted);
    locked.set(tx, new Set(wanted));
    return byId(rows.filter(({ id }) => asked.has(id)));
  }
  const fresh = [...asked].filter((id) => !held.has(id));
  const newest = [...held].reduce((most, id) => (id > most ? id : most), 0n);
  for (const id of fresh) held.add(id);
  if (fresh.every((id) => id > newest)) return byId(await store.lockAccounts(tx, inOrder(asked)));
  try {
    return byId(await store.lockFreeAccounts(tx, inOrder(asked)));
  } catch (error) {
    if ((error as { code?: string }).code !== '55P03') throw error;
    wantedBefore.set(tx.attempts, held);
    throw new Collision('accounts that come before those locked are in use: all of them are locked first');
  }
}

/**
 * Ids by code; missing accounts are created. Accounts of an order are created only by the transaction that has locked the order,
 * so creating them needs no further lock.
 *
 * @throws Collision if another transaction is creating accounts while this one has locked some; the transaction then runs again
 */
export async function accountIds(tx: Tx, accounts: readonly Account[]): Promise<Map<string, bigint>> {
  const codes = accounts.map(({ code }) => code);
  const ids = await store.accountIds(tx, codes);
  const missing = accounts.filter(({ code }) => !ids.has(code));
  if (missing.length === 0) return ids;
  if (missing.some(({ orderId }) => orderId === undefined)) await lockCreating(tx);
  store.createAccounts(tx, missing);
  return await store.accountIds(tx, codes);
}

async function lockCreating(tx: Tx): Promise<void> {
  const held = locked.get(tx);
  if (held === undefined) {
    await store.lockCreating(tx);
    return;
  }
  if (await store.tryLockCreating(tx)) return;
  wantedBefore.set(tx.attempts, held);
  throw new Collision(
    'an account is being created elsewhere: what this transaction has locked is locked again after that',
  );
}

const inOrder = (ids: Iterable<bigint>): bigint[] => [...new Set(ids)].sort((a, b) => (a < b ? -1 : 1));
const byId = (rows: readonly AccountRow[]): Map<bigint, AccountRow> => new Map(rows.map((row) => [row.id, row]));
