/**
 * After a restore, on a chain without nonces: the transfers out of the paying wallet in the time that the books have lost.
 *
 * They are read from the final blocks of that time. Transfers that the books lack become movements, which are read and matched
 * like any other (chain.adopt.ts). Transactions that were signed in that time can be included for a limited time afterwards. Once
 * a final block is later than that, all are known, and only then does anything leave the wallet again.
 *
 * Not here: an account chain, which queries by nonce (chain.nonces.ts). Native units that left in that time show no readable
 * transfer; reconciliation shows them as missing.
 */
import * as addressStore from './chain.addresses.store.ts';
import * as found from './chain.adopt.store.ts';
import { firstNotBefore } from './chain.branch.ts';
import { contractsOf } from './chain.contracts.ts';
import { type Engine, HOT } from './chain.engine.ts';
import * as sendStore from './chain.sends.store.ts';
import * as store from './chain.store.ts';

/**
 * Reads some blocks of the lost time, and records when it has read them all.
 *
 * @returns whether there is such a time
 * @throws Unavailable
 */
export async function lookForLost(engine: Engine): Promise<boolean> {
  const { adapter, rail, chain, pace, db, log, memory } = engine;
  const { longestValidMs, transfersBetween } = adapter;
  if (adapter.account !== undefined || longestValidMs === undefined || transfersBetween === undefined) return false;
  const lost = await db.asSystem(async (tx) => {
    const time = await found.lostTime(tx, rail, HOT);
    const cursor = time && (await store.cursorOf(tx, rail));
    const final = cursor && (await store.blockAt(tx, rail, cursor.finalized));
    return time && final && { ...time, final, assets: await addressStore.assetsOf(tx, chain) };
  });
  if (lost === undefined) return false;
  const { since, until, final, assets } = lost;
  const restoredAt = until.getTime();
  // A process may outlive the database: another restore loses another time, and what was found of the one before.
  const from =
    memory.lostRead?.restoredAt === restoredAt
      ? memory.lostRead.to + 1n
      : await firstNotBefore(engine, new Date(since.getTime() - found.SKEW_MS), final);
  const limit = from + BigInt(pace.blocksPerStep) - 1n;
  const to = limit < final.number ? limit : final.number;
  const contracts = [...contractsOf(adapter, assets).keys()];
  const left = from > to ? [] : await transfersBetween(from, to, contracts);
  const hot = adapter.wallets[HOT]?.address;
  const hashes = [...new Set(left.filter((one) => one.from === hot && one.units > 0n).map(({ txHash }) => txHash))];
  await db.asSystem(async (tx) => {
    // Locks the wallet's row, so that this record and a send are never decided at the same time.
    await sendStore.lockNonce(tx, rail, HOT, 0n);
    const known = await sendStore.keysOf(tx, rail, hashes, HOT);
    for (const hash of hashes) {
      if (known.has(hash)) continue;
      log.warn({ rail, hash }, 'a transfer left the wallet in the time that a restore has lost, and no row has it');
      await found.noteHash(tx, rail, HOT, hash);
    }
    const isOver = to >= final.number && final.at.getTime() > restoredAt + longestValidMs + found.SKEW_MS;
    if (isOver) await found.noteLooked(tx, rail, HOT);
  });
  memory.lostRead = { to: to >= from ? to : from - 1n, restoredAt };
  return true;
}
