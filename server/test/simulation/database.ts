/**
 * PostgreSQL as a process of ours sees it, with a point before every statement and commit, and after every commit.
 *
 * It is the real one, with the real roles and policies, and the real repetition of base/db.ts on top. Only the end of a
 * connection is simulated: a process that is gone, or a connection that is lost, is rolled back at once. Locks of a connection
 * beyond its transaction (a worker's presence lock) are released with its process.
 *
 * PostgreSQL reads the virtual clock: a schema before pg_catalog has a `clock_timestamp` of its own, which reads a file that is
 * written before each statement. A statement that names the clock itself is given the time as a parameter, which is quicker.
 *
 * Two round trips of three are saved: a transaction begins with its first statement, since a `begin` alone has no visible effect,
 * and the previous commit has begun it already.
 */
import { createHash } from 'node:crypto';
import pg from 'pg';
import { type Answer, type Statement, sendAll } from '../../src/base/batch.ts';
import { type Connections, type Database, pools } from '../../src/base/db.ts';
import type { Fault, Faults } from './faults.ts';
import type { Look } from './guard.ts';
import { Gone, type Locks, type Scheduler, type Simulated } from './scheduler.ts';

/** After this an idle transaction is ended, as the settings of base/db.ts have it. */
const IDLE_MS = 15_000;
const LOCK_MS = 10_000;

/** In the cluster's own folder, where PostgreSQL may read. Milliseconds, always as many digits. */
export const CLOCK_FILE = 'simulated_clock';

export const PREPARATION = `
  create schema sim;
  create function sim.clock_timestamp() returns timestamptz language sql volatile security definer as
    $$ select pg_catalog.to_timestamp(pg_catalog.pg_read_file('${CLOCK_FILE}')::float8 / 1000) $$;
  create function sim.now() returns timestamptz language sql volatile as 'select sim.clock_timestamp()';
  grant usage on schema sim to public;
  do $$ declare one record; begin
    for one in select table_schema, table_name, column_name from information_schema.columns
                where table_schema = 'cloverleaf' and column_default in ('now()', 'clock_timestamp()')
    loop execute format('alter table %I.%I alter column %I set default sim.clock_timestamp()',
                        one.table_schema, one.table_name, one.column_name);
    end loop; end $$`;

type Role = 'cloverleaf_system' | 'cloverleaf_partner';

interface Backend {
  client: pg.Client;
  role: Role;
  pid: number;
  /** Every statement that it has run. */
  known: Set<string>;
  /** What its transaction has done so far. */
  done: string[];
}

export interface Backends {
  open(process: SimulatedProcess): Database;
  /** Ends everything that a process has begun. */
  kill(process: SimulatedProcess): Promise<void>;
  /** Ends idle transactions of a process that has stood still for too long; its statements fail from then on. */
  freeze(process: SimulatedProcess): void;
  readonly locks: Locks;
  /** An outside observer. */
  look<R>(text: string, values?: unknown[]): Promise<R[]>;
  /** Ends every connection, and connects to the result of `body`. All processes have been killed before. */
  apart(body: () => Promise<{ serverUrl: string; adminUrl: string }>): Promise<void>;
  close(): Promise<void>;
}

export interface SimulatedProcess extends Simulated {
  listeners: Set<(name: string) => void>;
  /** Of jobs: notifications that are on their way to it. */
  notified?: Set<string>;
  sessions: Set<Session>;
  /** Ends the connection that proves that it lives. */
  presence?: (() => Promise<void>) | undefined;
}

interface Session {
  backend: Backend | undefined;
  lost: boolean;
  /** Payouts that its transaction submits. */
  submits: string[];
  /** Rows of chain_sends about which a signer may be asked after it. */
  signs?: string[];
  /** It creates transfers to own addresses. */
  creates?: boolean;
  /** People approve something in it. */
  approves?: boolean;
}

// Long because the backends are one closure over the connections that the scheduler holds.
export async function openBackends(deps: {
  serverUrl: string;
  adminUrl: string;
  scheduler: () => Scheduler;
  faults: Faults;
  /** Sets PostgreSQL's time, in milliseconds. */
  setClock: (ms: number) => void;
  /** Ends the process at this point for good. */
  crash: (process: SimulatedProcess) => Promise<void>;
  freeze: (process: SimulatedProcess) => void;
  /** Jobs have been enqueued by a transaction that was committed. */
  notified: (names: ReadonlySet<string>) => void;
  /** Counts a point, and says whether its process ends there. */
  endsAt: (process: SimulatedProcess, point: string, fault: Fault) => boolean;
  deadlocked: (statement: string) => void;
  /**
   * A transaction that submits these payouts is about to be committed. It may have inserted them, so `look` reads in it: its own
   * rows, and those that others have committed.
   */
  submitting: (ids: readonly string[], look: Look) => Promise<void>;
  /** The same for one after which a signer may be asked about these rows, and for one that creates transfers (signing.ts). */
  signing: (ids: readonly string[], look: Look) => Promise<void>;
  creating: (look: Look) => Promise<void>;
  /** A transaction in which people approved something has been committed. */
  approved: () => Promise<void>;
  /** A connection still speaks for a partner, although the transaction that named it is over. */
  outlived: (what: string) => void;
}): Promise<Backends> {
  const { faults } = deps;
  let { serverUrl } = deps;
  const free: Backend[] = [];
  const all = new Set<Backend>();
  let monitor = await monitorOf(deps.adminUrl);

  /** @param first the statement that its transaction begins with */
  async function backendOf(role: Role, first = ''): Promise<Backend> {
    // One that has run this statement has most likely run those that follow it, and each that is new to it is parsed and planned.
    // Otherwise the one that was used last: it knows the most.
    const knows = free.findLastIndex((one) => one.role === role && one.known.has(first));
    const at = knows >= 0 ? knows : free.findLastIndex((one) => one.role === role);
    const [there] = at < 0 ? [] : free.splice(at, 1);
    if (there !== undefined) return there;
    const client = new pg.Client({
      connectionString: serverUrl,
      options: `-c role=${role} -c search_path=sim,pg_catalog,cloverleaf`,
    });
    client.on('error', () => {});
    await client.connect();
    const { rows } = await client.query('select pg_backend_pid() as pid');
    await client.query('begin');
    const backend = { client, role, pid: rows[0].pid as number, known: new Set<string>(), done: [] };
    all.add(backend);
    return backend;
  }

  /** Rolls back, and gives the backend to the next caller that needs one. */
  async function rollBack(session: Session): Promise<void> {
    const { backend } = session;
    session.backend = undefined;
    if (backend === undefined) return;
    await backend.client.query('rollback; begin');
    free.push(backend);
  }

  /** Including its locks beyond a transaction. */
  async function letGo(session: Session): Promise<void> {
    const { backend } = session;
    await rollBack(session);
    await backend?.client.query('select pg_advisory_unlock_all()');
  }

  async function lose(session: Session): Promise<never> {
    session.lost = true;
    await rollBack(session);
    await deps.scheduler().released();
    throw new Error('Connection terminated unexpectedly');
  }

  let written = 0;
  /** Sets the clock for it, and records it among the transaction's statements. */
  function onTheClock(backend: Backend, text: string): number {
    const now = Math.floor(deps.scheduler().time.now());
    if (now !== written) deps.setClock(now);
    written = now;
    backend.done.push(nameOf(text));
    return now;
  }

  async function raw(backend: Backend, asked: Statement): Promise<Answer> {
    const now = onTheClock(backend, asked.text);
    backend.known.add(asked.text);
    const values = [...(asked.values ?? []), new Date(now).toISOString()];
    const said = NAMES_THE_CLOCK.test(asked.text)
      ? { ...asked, text: asked.text.replaceAll(NAMES_THE_CLOCK_ALL, `$${values.length}::timestamptz`), values }
      : asked;
    try {
      const [answer] = await sendAll(backend.client, [said]);
      return answer as Answer;
    } catch (error) {
      // PostgreSQL reports an error before it releases the locks of the transaction: its next answer comes afterwards.
      await backend.client.query('').catch(() => {});
      throw error;
    }
  }

  /** The end of one transaction and the beginning of the next. @returns the answer to the first */
  async function end(backend: Backend, how: 'commit' | 'rollback'): Promise<Answer> {
    const both = `${how}; begin`;
    onTheClock(backend, both);
    const results = (await backend.client.query(both)) as unknown as pg.QueryResult[];
    if (backend.role === 'cloverleaf_partner') {
      const { rows } = await backend.client.query(SPEAKS_FOR);
      if (rows[0].partner !== '')
        deps.outlived(`a ${how} left the partner's connection speaking for ${rows[0].partner}`);
    }
    return done(results[0]?.command ?? '');
  }

  /** The statements of transactions until they blocked each other. */
  const between = (pids: readonly number[]): string =>
    pids.map((pid) => [...all].find((one) => one.pid === pid)?.done.join(' · ') ?? 'another').join('  against  ');

  const halted = new Set<number>();
  /** Ending while one is stopped would leave a PostgreSQL that cannot end. */
  const resumeAll = (): void => {
    for (const pid of halted) locks.resume(pid);
  };
  process.on('exit', resumeAll);
  const locks: Locks = {
    async isWaiting(pid) {
      const { rows } = await monitor.query({
        name: 'waiting',
        text: 'select cardinality(pg_blocking_pids($1)) > 0 as waiting',
        values: [pid],
      });
      return rows[0].waiting as boolean;
    },
    async blockers(pids) {
      const { rows } = await monitor.query({
        name: 'blockers',
        text: 'select pid, pg_blocking_pids(pid) as whom from unnest($1::int[]) as pid',
        values: [pids],
      });
      return new Map(rows.map(({ pid, whom }) => [pid as number, whom as number[]]));
    },
    halt(pid) {
      process.kill(pid, 'SIGSTOP');
      halted.add(pid);
    },
    resume(pid) {
      process.kill(pid, 'SIGCONT');
      halted.delete(pid);
    },
    cancel: async (pid) => void (await monitor.query('select pg_cancel_backend($1)', [pid])),
    deadlocked: (pids) => deps.deadlocked(between(pids)),
  };

  function connections(process: SimulatedProcess, role: Role): Connections {
    const scheduler = deps.scheduler();
    return {
      async connect() {
        const session: Session = { backend: undefined, lost: false, submits: [] };
        process.sessions.add(session);
        const enqueued = new Set<string>();

        /** The statements of its begin that are not sent yet. */
        let setup: Statement[] = [];

        async function fault(point: string, at: 'statement' | 'before_commit'): Promise<void> {
          if (deps.endsAt(process, point, at === 'statement' ? 'crash_at_statement' : 'crash_before_commit')) {
            await deps.crash(process);
            throw new Gone();
          }
          if (faults.occurs('frozen')) deps.freeze(process);
          if (faults.occurs(at === 'statement' ? 'connection_lost_at_statement' : 'connection_lost_before_commit'))
            await lose(session);
          if (faults.occurs('serialization_failure'))
            throw Object.assign(new Error('could not serialize access'), { code: '40001' });
        }

        async function commit(point: string): Promise<Answer> {
          await fault(`${point} (before)`, 'before_commit');
          const { backend, approves = false } = session;
          if (backend !== undefined) {
            const look: Look = async (text, values) => (await backend.client.query(text, values)).rows;
            const { submits, signs = [], creates } = session;
            if (submits.length > 0) await deps.submitting(submits, look);
            if (signs.length > 0) await deps.signing(signs, look);
            if (creates === true) await deps.creating(look);
          }
          begins(session);
          const result = session.backend === undefined ? DONE.commit : await end(session.backend, 'commit');
          if (approves) await deps.approved();
          if (enqueued.size > 0) deps.notified(new Set(enqueued));
          enqueued.clear();
          await scheduler.released();
          if (process.presence !== undefined && faults.occurs('presence_lost')) await process.presence();
          if (deps.endsAt(process, `${point} (after)`, 'crash_after_commit')) {
            await deps.crash(process);
            throw new Gone();
          }
          if (faults.occurs('connection_lost_after_commit')) await lose(session);
          return result;
        }

        async function rollback(): Promise<Answer> {
          const result = session.backend === undefined ? DONE.rollback : await end(session.backend, 'rollback');
          enqueued.clear();
          begins(session);
          await scheduler.released();
          return result;
        }

        async function statement(point: string, asked: Statement): Promise<Answer> {
          await fault(point, 'statement');
          if (session.backend === undefined) {
            session.backend = await backendOf(role, asked.text);
            session.backend.done = [scheduler.context().task];
            begins(session);
            for (const one of setup) await raw(session.backend, one);
          }
          if (ENQUEUES.test(asked.text)) enqueued.add(String(asked.values?.[0] ?? ''));
          if (SUBMITS.test(asked.text)) session.submits.push(String(asked.values?.[0]));
          if (APPROVES.test(asked.text)) session.approves = true;
          if (SIGNS.test(asked.text) && asked.values?.[1] === true)
            (session.signs ??= []).push(String(asked.values[0]));
          if (CREATES.test(asked.text)) session.creates = true;
          return await raw(session.backend, asked);
        }

        async function one(asked: Statement): Promise<Answer> {
          const { text } = asked;
          if (text.startsWith('begin')) {
            setup = text === 'begin' ? [] : [{ text: text.replace('begin', 'set transaction') }];
            return DONE.begin;
          }
          if (text.includes('set_config')) {
            setup.push(asked);
            return DONE.set;
          }
          const point = `${scheduler.context().task}: ${nameOf(text)}`;
          const step = async (): Promise<Answer> => {
            if (session.lost) throw new Error('Client was closed and is not queryable');
            if (text === 'rollback') return await rollback();
            return text === 'commit' ? await commit(point) : await statement(point, asked);
          };
          return await scheduler.perform(point, step, () => session.backend?.pid);
        }

        return {
          /** One after the other: others come between those of a batch, and all may end between them. */
          async send(batch) {
            const answers: Answer[] = [];
            for (const statement of batch) answers.push(await one(statement));
            return answers;
          },
          release() {
            process.sessions.delete(session);
            if (session.backend !== undefined) free.push(session.backend);
            session.backend = undefined;
          },
        };
      },
    };
  }

  return {
    open(process) {
      const scheduler = deps.scheduler();
      const partners = connections(process, 'cloverleaf_partner');
      const system = connections(process, 'cloverleaf_system');
      return {
        ...pools(partners, system),
        async listen(_channel, onNotify) {
          process.listeners.add(onNotify);
          onNotify('');
          return { stop: async () => void process.listeners.delete(onNotify) };
        },
        /** For the presence lock, which ends with the process. */
        async session() {
          const session: Session = { backend: undefined, lost: false, submits: [] };
          process.sessions.add(session);
          const client = {
            // A beat: time that stands still ends no idle session here.
            query: async (text: string, values?: unknown[]) => {
              if (values === undefined) return;
              return await scheduler.perform(`${scheduler.context().task}: session`, async () => {
                if (session.backend === undefined) {
                  session.backend = await backendOf('cloverleaf_system');
                  await session.backend.client.query('commit');
                }
                return await session.backend.client.query(text, values);
              });
            },
            once: (_what: string, lost: () => void) => {
              process.presence = async () => {
                process.presence = undefined;
                process.sessions.delete(session);
                await letGo(session);
                await scheduler.released();
                scheduler.within({ process, task: 'presence' }, lost);
              };
              return client;
            },
            on: () => client,
            end: async () => {},
          };
          return client as unknown as pg.Client;
        },
        close: async () => {},
      };
    },

    async kill(process) {
      await deps.scheduler().forget(process);
      for (const session of process.sessions) {
        session.lost = true;
        await letGo(session);
      }
      process.presence = undefined;
      process.sessions.clear();
      process.listeners.clear();
      await deps.scheduler().released();
    },

    freeze(process) {
      const scheduler = deps.scheduler();
      const open = [...process.sessions].filter(({ backend }) => backend !== undefined);
      const until = process.frozenUntil;
      if (until - scheduler.time.now() < Math.min(IDLE_MS, LOCK_MS)) return;
      scheduler.after(LOCK_MS, () => {
        void scheduler.perform('idle transactions are ended', async () => {
          if (process.dead || process.frozenUntil !== until) return;
          for (const session of open) {
            // A session of its own holds a lock and no transaction.
            if (session.backend === undefined || !process.sessions.has(session)) continue;
            const { rows } = await monitor.query(
              `select 1 from pg_stat_activity where pid = $1 and state like 'idle in transaction%'`,
              [session.backend.pid],
            );
            if (rows.length === 0) continue;
            session.lost = true;
            await rollBack(session);
          }
          await scheduler.released();
        });
      });
    },

    locks,
    look: async <R>(text: string, values: unknown[] = []) =>
      (await monitor.query({ name: `look ${nameOf(text)}`, text, values })).rows as R[],
    async apart(body) {
      await Promise.all([...all].map(({ client }) => client.end()));
      all.clear();
      free.length = 0;
      await monitor.end();
      const { serverUrl: url, adminUrl } = await body();
      serverUrl = url;
      monitor = await monitorOf(adminUrl);
    },
    async close() {
      resumeAll();
      process.off('exit', resumeAll);
      await Promise.all([...all].map(({ client }) => client.end()));
      await monitor.end();
    },
  };
}

async function monitorOf(adminUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: adminUrl, options: '-c search_path=cloverleaf' });
  client.on('error', () => {});
  await client.connect();
  return client;
}

const done = (command: string): Answer => ({ command, count: 0, rows: [] });
const DONE = { begin: done('BEGIN'), set: done('SELECT'), commit: done('COMMIT'), rollback: done('ROLLBACK') };
const SPEAKS_FOR = `select coalesce(current_setting('cloverleaf.partner', true), '') as partner`;
/** The two statements that mark a payout as being submitted; their first value is the payout's id. */
const SUBMITS = /^\s*(?:update payouts set state = 'submitting'|insert into payouts \([^)]*submitting_until\))/;
const APPROVES = /^\s*insert into approvals /;
/** Its values are the id of a send, and whether a signer is asked next. */
const SIGNS = /^\s*update chain_sends set signing_at = /;
const CREATES = /^\s*insert into treasury_transfers /;
const begins = (session: Session): void =>
  void Object.assign(session, { submits: [], signs: [], creates: false, approves: false });
/** A notification of jobs, with the name of the one that was enqueued. */
const ENQUEUES = /pg_notify\('jobs'/;
const NAMES_THE_CLOCK = /\b(?:clock_timestamp|now)\(\)/;
const NAMES_THE_CLOCK_ALL = new RegExp(NAMES_THE_CLOCK, 'g');

const names = new Map<string, string>();

/** A statement's verb and table, and a few letters of its hash: stable as long as its text is. */
function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    if (/^(?:commit|rollback)\b/.test(text)) name = text.split(';')[0] ?? text;
    else {
      const words = text.replaceAll(/\s+/g, ' ').trim();
      const table = /\b(?:from|into|update|lock table)\s+([a-z_]+)/.exec(words)?.[1] ?? '';
      const hash = createHash('sha1').update(text).digest('hex').slice(0, 4);
      name = `${words.split(' ')[0]} ${table} ${hash}`;
    }
    names.set(text, name);
  }
  return name;
}
