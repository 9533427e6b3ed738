/**
 * Hurries a story's chains and bank while it waits. A sandbox mines a block and reads its bank once a second: a story would wait
 * for that most of its time, and its server, which polls meanwhile, takes a tenth of a processor.
 *
 * After a look that found nothing (until.ts), transactions in a node's pool are mined, and after them as many blocks as the
 * confirmations of a small amount take; a bank that has payouts of ours is read. A block is mined only if the server had read the
 * last one at the look before, and nothing has changed since: so a story sees each state that its server is in between two blocks.
 * More confirmations, and chains that a story keeps still, take the sandbox's time.
 */
import type { Clock } from '../../src/base/clock.ts';
import type { Tx } from '../../src/base/db.ts';
import { enqueue } from '../../src/base/jobs.ts';
import { OBSERVE } from '../../src/rails/rail.ts';
import { onWait } from './until.ts';

/** Shorter than the pauses between the looks of a long wait (until.ts). */
const EVERY_MS = 100;
/** A clock is moved by more. */
const MOVED_MS = 100;
/** Of the bank: its statement is read and compared in some thirty statements. */
const READ_EVERY_MS = 250;
/** The block of a transaction, and one more: a small amount needs two confirmations. */
const BLOCKS = 2;

interface Hurry {
  /** A customer's transaction is with the node. */
  sent(chain: string): void;
  /** No block is mined here on this chain meanwhile. */
  still<T>(chain: string, body: () => Promise<T>): Promise<T>;
  stop(): Promise<void>;
}

/**
 * @param i.chains codes of the chains that are nodes of ours
 * @param i.rpc    asks the node of a chain
 */
export function openHurry(i: {
  chains: readonly string[];
  bank: string;
  clock: Clock;
  read: <T>(body: (tx: Tx) => Promise<T>) => Promise<T>;
  rpc: <T>(chain: string, method: string, params: unknown[]) => Promise<T>;
}): Hurry {
  const left = new Map<string, number>();
  /** Newest block, transactions in the pool and newest block read at the previous look, by chain. */
  const seen = new Map<string, string>();
  const kept = new Set<string>();
  let [lastAt, readAt, aheadMs] = [0, 0, 0];
  let running: Promise<void> | undefined;

  async function look(): Promise<void> {
    await wakes();
    const { rails, isPaying } = await i.read(openOf(i.bank));
    const mined: string[] = [];
    for (const { rail, head, isSent } of rails) {
      const chain = rail.replace(/^evm\./, '');
      if (!i.chains.includes(chain) || kept.has(chain)) continue;
      if (isSent || left.has(chain)) if (await mines(chain, head)) mined.push(rail);
    }
    const isDue = isPaying && performance.now() - readAt > READ_EVERY_MS;
    if (isDue) readAt = performance.now();
    const toRead = [...mined, ...(isDue ? [i.bank] : [])];
    if (toRead.length > 0)
      await i.read(async (tx) => {
        for (const subject of toRead) enqueue(tx, { kind: OBSERVE, subject, dueAt: i.clock.now() });
      });
  }

  /** If the clock was moved, more is due: workers would sleep on, for up to five seconds, and polls until their next time. */
  async function wakes(): Promise<void> {
    const ahead = i.clock.now().getTime() - Date.now();
    if (Math.abs(ahead - aheadMs) < MOVED_MS) return;
    aheadMs = ahead;
    await i.read((tx) => tx.run(`select pg_notify('jobs', '')`));
  }

  /** @param head the newest block that the server has read */
  async function mines(chain: string, head: bigint | null): Promise<boolean> {
    const [pool, newest] = await Promise.all([
      i.rpc<{ pending: string }>(chain, 'txpool_status', []),
      i.rpc<string>(chain, 'eth_blockNumber', []),
    ]);
    if (Number(pool.pending) > 0) left.set(chain, BLOCKS);
    const now = `${newest} ${pool.pending} ${head}`;
    const isSame = seen.get(chain) === now;
    seen.set(chain, now);
    const blocks = left.get(chain) ?? 0;
    if (blocks === 0 || !isSame || head !== BigInt(newest) || kept.has(chain)) return false;
    await i.rpc(chain, 'evm_mine', []);
    if (blocks === 1) left.delete(chain);
    else left.set(chain, blocks - 1);
    return true;
  }

  // Nobody waits for it: a node may be stopped.
  const end = onWait(() => {
    if (running !== undefined || performance.now() - lastAt < EVERY_MS) return;
    running = look()
      // A node that a story has stopped, or a database that it has closed.
      .catch(() => {})
      .finally(() => {
        running = undefined;
        lastAt = performance.now();
      });
  });

  return {
    sent: (chain) => void left.set(chain, BLOCKS),
    async still(chain, body) {
      kept.add(chain);
      await running;
      try {
        return await body();
      } finally {
        kept.delete(chain);
      }
    },
    async stop() {
      end();
      await running;
    },
  };
}

const openOf = (bank: string) => async (tx: Tx) => {
  const rails = await tx.rows<{ rail: string; head: bigint | null; isSent: boolean }>(
    `select rail, head_number as head,
            exists (select from chain_sends s where s.rail = c.rail and s.state = 'signed') as is_sent
       from chains c where rail like 'evm.%'`,
  );
  const paying = await tx.row(
    `select from payouts where rail = $1 and state in ('submitting', 'submitted', 'unknown') limit 1`,
    [bank],
  );
  return { rails, isPaying: paying !== undefined };
};
