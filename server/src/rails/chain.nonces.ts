/**
 * Nonces: which of a wallet's are used on the chain, compared with the books.
 */
import type { Tx } from '../base/db.ts';
import { Unavailable } from '../base/errors.ts';
import { wasRestored } from './ahead.store.ts';
import * as found from './chain.adopt.store.ts';
import { type Engine, HOT, haltRail } from './chain.engine.ts';
import type { SendVersion } from './chain.sends.store.ts';
import * as sendStore from './chain.sends.store.ts';
import * as store from './chain.store.ts';

/** A node that reports more unknown nonces than this is not trusted. */
export const NONCE_GAP = 1_000n;
/** How long a nonce may look used by a foreign transaction before the rail is halted for it. */
const FOREIGN_NONCE_MS = 60_000;

/**
 * The node says that a block holds this nonce, and none of our versions is in a block. That may be a lagging index for a
 * while, or a version signed after the backup this database came from, which is then adopted. If it persists, the wallet's
 * key is used elsewhere, and a person has to find out whether this payout was made.
 */
export async function suspectForeign(engine: Engine, version: SendVersion): Promise<void> {
  const { foreignSince } = engine.memory;
  const since = foreignSince.get(version.key) ?? Date.now();
  foreignSince.set(version.key, since);
  if (Date.now() - since < FOREIGN_NONCE_MS) return;
  if (await suspectNonce(engine, version.wallet, version.nonce)) return;
  await haltRail(
    engine,
    `nonce ${version.nonce} of wallet ${version.wallet} was used by a transaction that is not ours (key ${version.key})`,
  );
}

/** A row of ours reserved this nonce, and a block has it under a hash that we did not store. */
const suspectNonce = ({ db, rail }: Engine, wallet: string, nonce: bigint) =>
  db.asSystem(async (tx) => {
    await found.noteNonces(tx, rail, wallet, nonce, nonce + 1n);
    return await found.isUnread(tx, rail, wallet, nonce);
  });

/** Nonces `next` (inclusive) to `used` (exclusive) are on the chain and not in the books. The wallet's row is locked. */
export async function noteGap(engine: Engine, tx: Tx, wallet: string, next: bigint, used: bigint): Promise<void> {
  const { rail, log } = engine;
  if (used - next > NONCE_GAP)
    throw new Unavailable(rail, 'the node says that far more nonces were used than we know of');
  log.warn({ rail, wallet, from: Number(next), used: Number(used) }, 'nonces used that are not in the books');
  await found.noteNonces(tx, rail, wallet, next, used);
  await sendStore.setNextNonce(tx, rail, wallet, used);
}

/**
 * The lowest unread nonce that this node reports as unused, if a final block newer than its discovery confirms that: a
 * lagging node does not know what another one has seen.
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
  const { nonce, found_at } = row;
  const [block] = await adapter.blocks(finalized, finalized);
  if (block === undefined || block.at.getTime() < found_at.getTime() + found.SKEW_MS) return undefined;
  const from = await db.asSystem((tx) => found.searchFrom(tx, rail, HOT, nonce));
  return (await adapter.sentUnder(HOT, nonce, from, finalized)) === undefined ? nonce : undefined;
}

/** First nonce of a wallet that has never sent through these books: after a restore, its earlier transactions may be ours. */
export const firstNonce = async (tx: Tx, pending: bigint): Promise<bigint> => ((await wasRestored(tx)) ? 0n : pending);
