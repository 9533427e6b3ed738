/**
 * The faults, as a table: a fault is caused, held for its duration, and undone.
 *
 * The order is shuffled by the seed, and begins again after all faults, so that a short run has one of each. They happen in real
 * time, so a seed repeats the plan and not the exact run.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { LEASE_MS } from '../../src/base/jobs.store.ts';
import { isAlive, signal } from '../../src/base/processes.ts';
import type { FaultKind } from '../../src/rails/simulated/index.ts';
import type { ChaosEnvironment, Slot } from './environment.ts';

const FREEZE = 'server frozen past the lease';

export interface Injecting {
  world: ChaosEnvironment;
  chance: (below: number) => number;
}

/** @returns what happened, in a few words; undefined when there was no target */
type Fault = (deps: Injecting) => Promise<string | undefined>;

/** The bank answers later than any caller waits. */
const LATE_MS = 12_000;
/** Longer than a statement may wait for a lock. */
const LOCKED_MS = 11_000;
const EXHAUSTED_MS = 8_000;
const EVERY_MS = 2_000;

const running = ({ slots }: ChaosEnvironment): Slot[] =>
  slots.filter(({ process, frozen, killed }) => process !== undefined && !frozen && !killed);

const pick = <T>(from: readonly T[], chance: (below: number) => number): T | undefined => from[chance(from.length)];

function killServer({ world, chance }: Injecting): string | undefined {
  const slot = pick(running(world), chance);
  if (slot?.process === undefined) return undefined;
  slot.killed = true;
  signal(slot.process.pid, 'SIGKILL');
  return slot.name;
}

const bankFault =
  (kind: FaultKind, most: number): Fault =>
  async ({ world, chance }) => {
    const times = 1 + chance(most);
    await world.bank.setFault({ kind, times, ...(kind === 'delay_answer' ? { delayMs: LATE_MS } : {}) });
    return `${times} times`;
  };

export const FAULTS: Readonly<Record<string, Fault>> = {
  'server killed': async (deps) => killServer(deps),

  'two servers killed at once': async (deps) => {
    const killed = [killServer(deps), killServer(deps)].filter((name) => name !== undefined);
    return killed.length < 2 ? undefined : killed.join(' and ');
  },

  [FREEZE]: async ({ world, chance }) => {
    // One continues.
    if (running(world).length < 2) return undefined;
    const slot = pick(running(world), chance);
    const pid = slot?.process?.pid;
    if (slot === undefined || pid === undefined) return undefined;
    const ms = LEASE_MS + 1_000 + chance(3_000);
    slot.frozen = true;
    signal(pid, 'SIGSTOP');
    await sleep(ms);
    if (slot.process?.pid === pid) signal(pid, 'SIGCONT');
    slot.frozen = false;
    return `${slot.name} for ${ms} ms`;
  },

  'PostgreSQL killed': async ({ world }) => {
    const path = join(world.folder, 'ours', 'postgres', 'postmaster.pid');
    const pid = Number(readFileSync(path, 'utf8').split('\n')[0]);
    if (!isAlive(pid)) return undefined;
    signal(pid, 'SIGKILL');
    return `process ${pid}`;
  },

  'a session of PostgreSQL killed': async ({ world }) => {
    // PostgreSQL treats that as a crash: it ends all sessions and recovers from its log.
    const [row] = await world.look<{ pid: number }>(
      `select pid from pg_stat_activity where application_name = 'cloverleaf_system' order by random() limit 1`,
    );
    if (row === undefined) return undefined;
    signal(row.pid, 'SIGKILL');
    return `process ${row.pid}`;
  },

  'connections exhausted': async ({ world, chance }) => {
    const held: pg.Client[] = [];
    const ms = EXHAUSTED_MS + chance(4_000);
    const giveUpAt = Date.now() + 3 * EXHAUSTED_MS;
    let until = giveUpAt;
    let refused = 0;
    try {
      const admin = await connected(world.postgres.adminUrl);
      held.push(admin);
      while (Date.now() < until) {
        const taken = await Promise.allSettled(Array.from({ length: 10 }, () => connected(world.serverUrl)));
        for (const one of taken) if (one.status === 'fulfilled') held.push(one.value);
        const isFull = taken.some(({ status }) => status === 'rejected');
        if (isFull && refused === 0) until = Date.now() + ms;
        if (isFull) refused += 1;
        // The servers' connections are taken from them, and each free one is taken first.
        if (refused % 5 === 1)
          await admin.query(
            `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'cloverleaf_%'`,
          );
        await sleep(isFull ? 100 : 10);
      }
      return refused === 0 ? undefined : `${held.length} held, for ${ms} ms`;
    } finally {
      await Promise.all(held.map((client) => client.end().catch(() => {})));
    }
  },

  'a table locked': async ({ world, chance }) => {
    const table = pick(['payouts', 'accounts', 'orders', 'jobs', 'chain_sends'], chance);
    const client = await connected(world.postgres.adminUrl);
    try {
      await client.query(`begin; lock table cloverleaf.${table} in access exclusive mode`);
      await sleep(LOCKED_MS);
      await client.query('rollback');
      return table;
    } finally {
      await client.end().catch(() => {});
    }
  },

  'node killed and older when it is back': async ({ world }) => {
    const blocks = await world.chain.kill();
    return blocks < 1 ? undefined : `${blocks} blocks older`;
  },

  'chain reorganised': async ({ world }) => {
    const blocks = await world.chain.reorg();
    return blocks === 0 ? undefined : `${blocks} blocks`;
  },

  'signer killed': async ({ world, chance }) => {
    await world.signer.kill();
    await sleep(chance(3_000));
    await world.signer.start();
    return '';
  },

  'the bank takes it and its answer is lost': bankFault('lose_answer_after_effect', 3),
  'what is told the bank is lost': bankFault('lose_answer_before_effect', 2),
  'the bank answers too late': bankFault('delay_answer', 2),
  'the bank does not say what became of it': bankFault('status_unavailable', 3),
  'the statement has every line twice': bankFault('statement_twice', 3),
  'the statement is in another order': bankFault('statement_reordered', 3),
};

export const KINDS = Object.keys(FAULTS);

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 3_000 });
  client.on('error', () => {});
  await client.connect();
  return client;
}

export interface Injected {
  counts: Record<string, number>;
  /** Faults without a target, or hit by another fault: they do not count. */
  missed: string[];
}

/**
 * Runs faults for this long. Those that last continue beside the next ones.
 *
 * @param only kinds, if not all
 */
export async function faultFor(
  deps: Injecting,
  options: { ms: number; signal: AbortSignal; say: (line: string) => void; only?: readonly string[] },
): Promise<Injected> {
  const { chance } = deps;
  const injected: Injected = { counts: {}, missed: [] };
  const lasting = new Map<string, Promise<void>>();
  const until = Date.now() + options.ms;
  const kinds = options.only ?? KINDS;
  // Each at least once, even in a short run.
  const everyMs = Math.min(EVERY_MS, options.ms / kinds.length / 1.2);
  // The longest fault begins, so that it does not extend a short run.
  let bag = [...shuffled(kinds, chance).filter((kind) => kind !== FREEZE), ...kinds.filter((kind) => kind === FREEZE)];
  /** Faults that were not injected yet get a second period of the same length. */
  const due = () => {
    const isOver = Date.now() >= until;
    return kinds.filter((one) => !isOver || (injected.counts[one] === undefined && !lasting.has(one)));
  };
  while (Date.now() < until + options.ms && due().length > 0 && !options.signal.aborted) {
    bag = bag.filter((one) => due().includes(one));
    if (bag.length === 0) bag = shuffled(due(), chance);
    const kind = bag.pop() ?? '';
    const fault = FAULTS[kind];
    if (fault !== undefined && !lasting.has(kind)) {
      const done = fault(deps)
        .then(
          (what) => {
            if (what === undefined) return void injected.missed.push(kind);
            injected.counts[kind] = (injected.counts[kind] ?? 0) + 1;
            options.say(`${kind}${what === '' ? '' : `: ${what}`}`);
          },
          (error: unknown) => void injected.missed.push(`${kind}: ${error instanceof Error ? error.message : error}`),
        )
        .finally(() => lasting.delete(kind));
      lasting.set(kind, done);
    }
    await sleep(everyMs / 2 + chance(everyMs));
  }
  // An interrupt does not wait for held faults: they end with the environment.
  const interrupted = new Promise<void>((done) =>
    options.signal.addEventListener('abort', () => done(), { once: true }),
  );
  if (!options.signal.aborted) await Promise.race([Promise.all(lasting.values()), interrupted]);
  return injected;
}

function shuffled(from: readonly string[], chance: (below: number) => number): string[] {
  const left = [...from];
  const out: string[] = [];
  while (left.length > 0) out.push(...left.splice(chance(left.length), 1));
  return out;
}
