/**
 * The sandbox's chains: two whose nodes run from the start, and others whose node is started when it is first needed.
 *
 * A sleeping chain is offered like any other: its rows, its tokens' addresses, its deposit addresses and its signer's limits
 * need no node. It has no process, no recurring jobs and no orders. Code that needs its node throws Unavailable that names
 * the chain; `waking` catches that outside the transaction, starts the node, and runs the transaction again.
 *
 * Waking has steps that may each be repeated: start the node, deploy its tokens, enqueue its jobs, fund its wallets. Every
 * start runs the same steps for chains that are awake, so the next start finishes a wake that was killed in the middle: once
 * the node's note exists (`nodes.ts`) the chain counts as used, and its node is started with the server.
 *
 * Concurrent callers that need a chain wake it once. All wait, up to a deadline; the wake continues after it.
 */

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Database } from '../base/db.ts';
import { defined } from '../base/defined.ts';
import { Unavailable } from '../base/errors.ts';
import { describeError, type Log } from '../base/log.ts';

/** Maximum wait of a caller. A node takes a second or two, its opening funds as long again; a busy machine takes longer. */
const WAIT_MS = 20_000;
/** Retry interval while a wake is under way, or after it has failed. */
const AGAIN_MS = 2_000;

/** Whether a node of this chain was ever started on this data folder: its note or its saved state is there. */
export function hasNode(dataDir: string, code: string): boolean {
  const home = join(resolve(dataDir), 'chains', code);
  return ['node.json', 'state.json.gz'].some((name) => existsSync(join(home, name)));
}

export interface Sleepers {
  /** Whether this is an offered chain whose wake has not completed. */
  isAsleep(chain: string): boolean;
  /** @throws Unavailable when it takes too long or fails; the caller may retry */
  wake(chain: string): Promise<void>;
  /** Waits for running wakes, and prevents new ones. */
  stop(): Promise<void>;
}

/**
 * @param codes   chains that sleep
 * @param awaken  runs all steps of a wake, and skips completed ones
 */
export function openSleepers(options: {
  codes: Iterable<string>;
  log: Log;
  awaken(chain: string): Promise<void>;
  waitMs?: number;
}): Sleepers {
  const { log, awaken, waitMs = WAIT_MS } = options;
  const asleep = new Set(options.codes);
  const underWay = new Map<string, Promise<void>>();
  let isEnding = false;

  function begin(chain: string): Promise<void> {
    const from = performance.now();
    const going = awaken(chain)
      .then(() => {
        asleep.delete(chain);
        log.info({ chain, tookMs: Math.round(performance.now() - from) }, 'a chain was woken');
      })
      .catch((error: unknown) => {
        log.error({ chain, ...describeError(error) }, 'a chain could not be woken');
        throw notStarted(chain, whyOf(error), error);
      })
      .finally(() => underWay.delete(chain));
    underWay.set(chain, going);
    going.catch(() => {});
    return going;
  }

  return {
    isAsleep: (chain) => asleep.has(chain),
    async wake(chain) {
      if (!asleep.has(chain)) return;
      if (isEnding) throw notStarted(chain, 'the server is ending');
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, fail) => {
        timer = setTimeout(() => fail(notStarted(chain, 'it is still starting')), waitMs);
      });
      try {
        await Promise.race([underWay.get(chain) ?? begin(chain), late]);
      } finally {
        clearTimeout(timer);
      }
    },
    async stop() {
      isEnding = true;
      await Promise.allSettled(underWay.values());
    },
  };
}

/**
 * The database as protocols use it: a transaction that needs a sleeping chain is rolled back, the chain is woken while no
 * transaction is open, and the transaction runs again.
 */
export function waking(db: Database, { isAsleep, wake }: Pick<Sleepers, 'isAsleep' | 'wake'>): Database {
  async function again<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof Unavailable) || error.chain === undefined || !isAsleep(error.chain)) throw error;
      await wake(error.chain);
      return await run();
    }
  }
  return {
    ...db,
    asPartner: (id, body) => again(() => db.asPartner(id, body)),
    readOnlyAsPartner: (id, body) => again(() => db.readOnlyAsPartner(id, body)),
    asSystem: (body) => again(() => db.asSystem(body)),
  };
}

const notStarted = (chain: string, why: string, cause?: unknown): Unavailable =>
  new Unavailable(chain, `its node was not started: ${why}`, {
    retryAfterMs: AGAIN_MS,
    said: `The node of ${chain} is not running yet (${why}), and nothing was done: ask again.`,
    ...defined({ cause }),
  });

/** System errors in words that contain no path of this machine. */
const WHY: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EROFS: 'the data folder is read-only',
  EACCES: 'the data folder cannot be written',
  EEXIST: 'the data folder has a file where the chain has its folder',
  ENOTDIR: 'the data folder has a file where the chain has its folder',
  MODULE_NOT_FOUND: 'there is no anvil for this machine',
};

function whyOf(error: unknown): string {
  const { code = '', message = '' } = error as { code?: string; message?: string };
  const known = WHY[code] ?? Object.entries(WHY).find(([word]) => message.includes(word))?.[1];
  if (known !== undefined) return known;
  return /spawn .*ENOENT/.test(message) ? 'there is no anvil for this machine' : 'the log says why';
}
