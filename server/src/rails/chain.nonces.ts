/**
 * Nonces: how an account chain makes a send happen once. A wallet's transactions are numbered and mined in that order. So the
 * next number is taken under a lock, released numbers are taken first, and before that the numbers used on the chain are compared
 * with the books.
 */
import type { Tx } from '../base/db.ts';
import { Unavailable } from '../base/errors.ts';
import { wasRestored } from './ahead.store.ts';
import * as found from './chain.adopt.store.ts';
import { type Engine, HOT, haltRail } from './chain.engine.ts';
import { SANDBOX_KEY } from './chain.keys.ts';
import * as sendStore from './chain.sends.store.ts';
import * as store from './chain.store.ts';

/** A node that reports more unknown nonces than this is not trusted. */
export const NONCE_GAP = 1_000n;
/** How long a nonce may look used by a foreign transaction before the rail is halted. */
const FOREIGN_NONCE_MS = 60_000;

/** Number of nonces used in mined blocks, and that number including those that wait to be mined. */
type Used = { mined: bigint; pending: bigint };

/** Locks the wallet's row. @returns its next nonce; 0 on a chain without nonces */
export async function lockWallet(
  { rail }: Engine,
  tx: Tx,
  { wallet, key, used }: { wallet: string; key: string; used: Used | undefined },
): Promise<bigint> {
  const pending = used?.pending ?? 0n;
  const first = key.startsWith(SANDBOX_KEY) ? pending : await firstNonce(tx, pending);
  return await sendStore.lockNonce(tx, rail, wallet, first);
}

/**
 * Why nothing is sent now: the database is older than the chain, or another program has the key. The transactions that were sent
 * are read and matched first, because one of them may be this very transfer. The caller has locked the wallet's row.
 */
export async function whyUnknown(
  engine: Engine,
  tx: Tx,
  { wallet, next, used }: { wallet: string; next: bigint; used: Used },
): Promise<string | undefined> {
  if (used.mined > next) {
    await noteGap(engine, tx, wallet, next, used.mined);
    return 'the chain has used nonces that are not in the books: their transactions are read first';
  }
  return used.pending > next ? 'a transaction that is not in the books waits to be mined: it is read first' : undefined;
}

/**
 * Takes the lowest released nonce, or else the next one. The caller has locked the wallet's row.
 *
 * @returns the nonce, or why none is taken now
 */
export async function takeNonce(
  engine: Engine,
  tx: Tx,
  { wallet, key, next, used }: { wallet: string; key: string; next: bigint; used: Used },
): Promise<bigint | string> {
  const { rail } = engine;
  if (used.mined - next > NONCE_GAP)
    throw new Unavailable(rail, 'the node reports far more used nonces than our records have');
  if (await noteReleased(engine, tx, wallet, used.mined))
    return 'a nonce that was given up has been used: its transaction is read first';
  const free = await sendStore.freeNonce(tx, rail, wallet);
  if (free !== undefined && used.pending > free.nonce)
    return 'a transaction under a nonce that was given up waits to be mined: it is read first';
  if (free !== undefined) await sendStore.takeNonce(tx, free.id, key);
  const nonce = free?.nonce ?? (used.mined > next ? used.mined : next);
  if (nonce >= next) await sendStore.setNextNonce(tx, rail, wallet, nonce + 1n);
  return nonce;
}

/**
 * The node says that a block used this nonce, and none of our versions is in a block. For a while that may be a lagging index. Then
 * the nonce is recorded as a movement, which decides from then on, in every process and also after an operator has cleared a halt:
 *
 * - Unread: it may be a version that was signed after the backup from which this database was restored, which is then adopted.
 * - Open and reported: the wallet's key is used elsewhere. The rail halts until operators have found out whether that transaction
 *   made this payout.
 * - Ended: operators have decided that it did not. A final block has used the nonce, so the versions can never be mined, and the
 *   send is absent.
 *
 * @throws Unavailable
 */
export async function suspectForeign(
  engine: Engine,
  { key, wallet }: { key: string; wallet: string },
  nonce: bigint,
): Promise<void> {
  const { db, rail, memory } = engine;
  const row = await db.asSystem((tx) => found.foundUnder(tx, rail, wallet, nonce));
  if (row === undefined) {
    const since = memory.foreignSince.get(key) ?? Date.now();
    memory.foreignSince.set(key, since);
    if (Date.now() - since < FOREIGN_NONCE_MS) return;
    await db.asSystem((tx) => found.noteNonces(tx, rail, wallet, nonce, nonce + 1n));
  } else if (row.state === 'open' && row.toldAt !== null)
    await haltRail(
      engine,
      `nonce ${nonce} of wallet ${wallet} was used by a transaction that is not ours (key ${key})`,
    );
  else if (row.endedAt !== null && row.hash !== null && row.key !== key)
    await endOvertaken(engine, { key, wallet, nonce, hash: row.hash });
}

/** Ends a send whose nonce another transaction has used, if a final block still has that one: it may have left with a reorg. */
async function endOvertaken(
  { adapter, db, rail, log }: Engine,
  { key, wallet, nonce, hash }: { key: string; wallet: string; nonce: bigint; hash: string },
): Promise<void> {
  const sent = await adapter.sentAs?.(wallet, hash);
  await db.asSystem(async (tx) => {
    const cursor = await store.lockCursor(tx, rail);
    if (cursor?.haltedWhy !== null || sent?.nonce !== nonce || sent.block > cursor.finalized) return;
    const proof = `nonce ${nonce} was used by ${hash} in block ${sent.block}, which is final`;
    await sendStore.markAbsentUnder(tx, rail, { key, nonce }, proof);
    log.warn({ rail, key, proof }, 'send proved absent');
  });
}

/**
 * Records nonces `next` (inclusive) to `used` (exclusive), which are on the chain and not in the books. The caller has locked the
 * wallet's row.
 */
export async function noteGap(engine: Engine, tx: Tx, wallet: string, next: bigint, used: bigint): Promise<void> {
  const { rail, log } = engine;
  if (used - next > NONCE_GAP)
    throw new Unavailable(rail, 'the node reports far more used nonces than our records have');
  log.warn({ rail, wallet, from: Number(next), used: Number(used) }, 'the chain has used nonces that the books lack');
  await found.noteNonces(tx, rail, wallet, next, used);
  await sendStore.setNextNonce(tx, rail, wallet, used);
}

/**
 * Records released nonces that the chain has used: by another program, or before a restore. The wallet's next nonce stays, because
 * later ones may be ours. The caller has locked the wallet's row.
 *
 * @returns whether there was one
 */
export async function noteReleased({ rail, log }: Engine, tx: Tx, wallet: string, mined: bigint): Promise<boolean> {
  let hasSome = false;
  for (;;) {
    const free = await sendStore.freeNonce(tx, rail, wallet);
    if (free === undefined || free.nonce >= mined) return hasSome;
    log.warn({ rail, wallet, nonce: free.nonce }, 'the chain has used a nonce that was given up');
    await sendStore.takeNonce(tx, free.id, 'a sender outside this server');
    await found.noteNonces(tx, rail, wallet, free.nonce, free.nonce + 1n);
    hasSome = true;
  }
}

/**
 * The lowest unread nonce that this node reports as unused, if a final block newer than the nonce's discovery confirms that: a
 * lagging node may not have a transaction that another node has seen.
 */
export async function surelyUnused(engine: Engine, mined: bigint): Promise<bigint | undefined> {
  const { adapter, rail, db } = engine;
  const { cursor, row } = await db.asSystem(async (tx) => ({
    cursor: await store.cursorOf(tx, rail),
    row: (await found.waitingFound(tx, rail, found.AT_ONCE)).find(
      ({ wallet, state, signed, nonce, hash }) =>
        wallet === HOT && state === 'unread' && !signed && hash === null && nonce !== null && nonce >= mined,
    ),
  }));
  const finalized = cursor?.finalized ?? -1n;
  if (row === undefined || row.nonce === null || finalized < 0n) return undefined;
  const { nonce, foundAt } = row;
  const [block] = await adapter.blocks(finalized, finalized);
  if (block === undefined || block.at.getTime() < foundAt.getTime() + found.SKEW_MS) return undefined;
  const from = await db.asSystem((tx) => found.searchFrom(tx, rail, HOT, nonce));
  return (await adapter.account?.sentUnder(HOT, nonce, from, finalized)) === undefined ? nonce : undefined;
}

/**
 * First nonce of a wallet that has never sent through these books. After a restore it is 0, because the wallet's earlier
 * transactions may be ours.
 */
export const firstNonce = async (tx: Tx, pending: bigint): Promise<bigint> => ((await wasRestored(tx)) ? 0n : pending);
