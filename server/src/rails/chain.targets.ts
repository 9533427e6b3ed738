/**
 * Targets of a chain rail: derived from a public key by number, or issued one by one by the adapter's issuer.
 *
 * Issued targets are stored before any order can take one. An order takes the oldest free one in the transaction that creates it,
 * and a taken target is never free again. `keepTargets` reads the issuer's list, so a lost answer loses no target; it requests
 * more when half of them are taken.
 *
 * After a restore the books lack the assignments that were made since the backup. So all targets issued before the restore are
 * withdrawn: they are watched, and money at one of them is reported with its number, but no order gets one. Blocks are read only
 * after that.
 */
import type { Tx } from '../base/db.ts';
import { assert, Unavailable } from '../base/errors.ts';
import * as addressStore from './chain.addresses.store.ts';
import type { Engine } from './chain.engine.ts';
import * as store from './chain.targets.store.ts';
import type { Targets } from './rail.ts';

export function targetsOf({ adapter, rail }: Engine): Targets {
  const { address } = adapter;
  if (address !== undefined) return { are: 'derived', of: address };
  return {
    are: 'issued',
    async take(tx) {
      const target = await store.takeTarget(tx, rail);
      if (target === undefined) throw new Unavailable(rail, 'no free target is left');
      return target;
    },
  };
}

/** The target of a number that was assigned. */
export async function targetOf({ adapter, rail }: Engine, tx: Tx, index: bigint): Promise<string> {
  if (adapter.address !== undefined) return adapter.address(index);
  const target = (await addressStore.addressesOfIndexes(tx, rail, [index])).get(index);
  assert(target !== undefined, `no target of ${rail} has the number ${index}`);
  return target;
}

/** Whether we have the key of an address that is watched on some chain. An issued target belongs to its own chain only. */
export const isOurs = (
  { adapter, rail }: Engine,
  watched: { rail: string; address: string; index: bigint },
): boolean =>
  adapter.address === undefined ? watched.rail === rail : adapter.address(watched.index) === watched.address;

/** @throws Unavailable if the issuer does not answer and, after a restore, its answer is needed before blocks are read */
export async function keepTargets(engine: Engine): Promise<void> {
  const { adapter, rail, db, log } = engine;
  const { issuer } = adapter;
  if (issuer === undefined) return;
  const pool = await db.asSystem((tx) => store.poolOf(tx, rail));
  if (!pool.withdraws && pool.free * 2 > issuer.keep) return;
  try {
    const known = await readIssued(engine, pool);
    const { free } = await db.asSystem((tx) => store.poolOf(tx, rail));
    if (free * 2 > issuer.keep) return;
    await issuer.issue(issuer.keep - free);
    await readIssued(engine, { known, withdraws: false });
  } catch (error) {
    if (!(error instanceof Unavailable) || pool.withdraws) throw error;
    log.warn({ rail, free: pool.free, why: error.message }, 'no targets were issued');
  }
}

/** Stores newly issued targets. @returns the number of targets that are known then */
async function readIssued(
  engine: Engine,
  { known, withdraws }: { known: bigint; withdraws: boolean },
): Promise<bigint> {
  const { adapter, rail, db, clock, log } = engine;
  const { issuer } = adapter;
  assert(issuer !== undefined, `${rail} has no issuer of targets`);
  for (let from = known; ; ) {
    const page = await issuer.issued(from);
    const odd = page.find((target) => adapter.readAddress(target) !== target);
    if (odd !== undefined) throw new Unavailable(rail, 'its issuer answered with something that is no target');
    const isStored = await db.asSystem(async (tx) => {
      if (!(await store.countKnown(tx, rail, from, page.length))) return false;
      if (withdraws) await store.watchWithoutOrder(tx, rail, page, clock.now());
      else if ((await store.addFree(tx, rail, from, page)) < page.length)
        log.error({ rail, from: Number(from) }, 'the issuer repeats targets; they are not assigned again');
      if (withdraws && page.length === 0) await store.endWithdrawing(tx, rail, from);
      return true;
    });
    // Another process is reading them.
    if (!isStored || page.length === 0) return from;
    from += BigInt(page.length);
  }
}
