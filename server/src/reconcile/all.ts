/** Compares every rail from the beginning, now: `npm run reconcile`. */
import { defined } from '../base/defined.ts';
import { Unavailable } from '../base/errors.ts';
import type { Rail } from '../rails/rail.ts';
import { JUST_FOUND } from './compare.ts';
import { NO_BALANCES, type RunContext, reconcileRail } from './run.ts';
import type { Shown } from './show.ts';
import * as store from './store.ts';

/** A new difference may be a short delay on one side. It is checked again until it is this old. */
const GRACE_MS = 10_000;
const AGAIN_MS = 500;
/** How long to retry balances while a statement is still growing. */
const BALANCES_WITHIN_MS = 5_000;

/** @param isRunning whether a server is running, which reads and books meanwhile: then it makes sense to wait for it */
export async function reconcileAll(
  context: Omit<RunContext, 'graceMs'>,
  rails: ReadonlyMap<string, Rail>,
  isRunning: boolean,
): Promise<Shown[]> {
  const shown: Shown[] = [];
  for (const rail of rails.values()) shown.push(await reconcileOne(context, rail, isRunning));
  return shown;
}

const pause = () => new Promise((wake) => setTimeout(wake, AGAIN_MS));

async function reconcileOne(context: Omit<RunContext, 'graceMs'>, rail: Rail, isRunning: boolean): Promise<Shown> {
  const { db } = context;
  let failed: string | undefined;
  try {
    const about = { ...context, graceMs: isRunning ? GRACE_MS : 0 };
    const giveUpAt = Date.now() + BALANCES_WITHIN_MS;
    for (let full: 'begin' | undefined = 'begin'; ; full = undefined) {
      let outcome = await reconcileRail(about, rail, full);
      while (outcome === 'more to read') outcome = await reconcileRail(about, rail);
      if (outcome === 'cannot be asked') failed = 'its adapter does not show movements';
      if (outcome === 'not looked at yet') failed = 'no server has looked at it yet';
      const items = await db.asSystem((tx) => store.openItems(tx, rail.code));
      const isUnsaid = outcome === 'compared without balances';
      if (isUnsaid && Date.now() < giveUpAt) {
        await pause();
        continue;
      }
      if (isUnsaid) failed = NO_BALANCES;
      if (!items.some(({ transit }) => transit === JUST_FOUND)) break;
      await pause();
    }
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    failed = error.message;
  }
  return await db.asSystem(async (tx) => ({
    rail: rail.code,
    balances: await store.balances(tx, rail.code),
    items: await store.openItems(tx, rail.code),
    ...defined({ failed }),
  }));
}
