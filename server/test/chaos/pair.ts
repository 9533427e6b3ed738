/**
 * Two PostgreSQL, a primary and a standby that follows it by streaming, behind one address (relay.ts): what an operator sets up as
 * docs/operating/production.md says, with the same settings.
 *
 * A failover kills every process of the primary at once and never uses its folder again, promotes the standby, and moves the
 * address. The next standby is a copy of the new primary.
 *
 * `synchronous_commit = on` is enough: a commit is acknowledged once the standby has it on disk, and a promoted standby replays all
 * that it has. `remote_apply` would also wait until the standby's readers see it; here none reads from it.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { takeBackup } from '../../src/backup/take.ts';
import { giveToPostgres, type Postgres, startPostgres } from '../../src/base/postgres.ts';
import { signal } from '../../src/base/processes.ts';
import { until } from '../support/until.ts';
import { openRelay } from './relay.ts';

interface Machine {
  name: string;
  dataDir: string;
  postgres: Postgres;
}

export type Pair = Awaited<ReturnType<typeof openPair>>;

/** @param isSynchronous whether a commit waits for the standby */
export async function openPair(
  folder: string,
  { isSynchronous, settings }: { isSynchronous: boolean; settings: Readonly<Record<string, string>> },
) {
  let machines = 1;
  const dataDir = join(folder, 'ours');
  let primary: Machine = { name: 'machine_1', dataDir, postgres: await startPostgres({ dataDir, settings }) };
  let standby: Machine | undefined;
  const relay = await openRelay(primary.postgres.port);
  const admin = new URL(primary.postgres.adminUrl);
  admin.port = String(relay.port);

  /** A new standby from a base backup of the primary. Resolves when it has all of the primary's log. */
  async function attach(): Promise<void> {
    machines += 1;
    const name = `machine_${machines}`;
    const dataDir = join(folder, name);
    // The slot makes the primary keep the log that the standby has not received yet.
    await ask(primary, 'select pg_create_physical_replication_slot($1, true)', [name]);
    const backup = await takeBackup(
      { adminUrl: primary.postgres.adminUrl, dataDir: primary.dataDir },
      join(folder, 'backups'),
      new Date(),
    );
    const cluster = join(dataDir, 'postgres');
    mkdirSync(dataDir);
    copyFileSync(join(backup.folder, 'postgres.password'), join(dataDir, 'postgres.password'));
    renameSync(join(backup.folder, 'cluster'), cluster);
    for (const segment of readdirSync(join(backup.folder, 'wal')))
      renameSync(join(backup.folder, 'wal', segment), join(cluster, 'pg_wal', segment));
    rmSync(backup.folder, { recursive: true });
    writeFileSync(join(cluster, 'standby.signal'), '');
    // The copied setting would make the promoted standby wait for a standby that it does not have.
    writeFileSync(join(cluster, 'postgresql.auto.conf'), '');
    giveToPostgres(cluster);
    const { port, password, username } = new URL(primary.postgres.adminUrl);
    const from = `host=127.0.0.1 port=${port} user=${username} password=${password} application_name=${name}`;
    const postgres = await startPostgres({
      dataDir,
      settings: { ...settings, primary_conninfo: from, primary_slot_name: name },
      isStandby: true,
    });
    standby = { name, dataDir, postgres };
    await until(
      'the standby streams',
      async () => {
        const [row] = await ask<{ is: boolean }>(
          primary,
          `select flush_lsn >= pg_current_wal_flush_lsn() - 1000000 as is from pg_stat_replication where application_name = $1 and state = 'streaming'`,
          [name],
        );
        return row?.is === true;
      },
      { withinMs: 60_000, everyMs: 100 },
    );
    if (!isSynchronous) return;
    await setNames(primary, name);
    await until(
      'the standby is synchronous',
      async () => (await ask(primary, `select from pg_stat_replication where sync_state = 'sync'`)).length > 0,
      { withinMs: 30_000, everyMs: 50 },
    );
  }

  /**
   * @param behindMs the standby receives nothing in this time before the primary dies
   * @returns milliseconds until the standby accepted writes
   */
  async function failOver({ behindMs }: { behindMs: number }): Promise<number> {
    const [dead, next] = [primary, standby];
    if (next === undefined) throw new Error('there is no standby');
    if (behindMs > 0) {
      for (const { pid } of await ask<{ pid: number }>(dead, 'select pid from pg_stat_replication'))
        signal(pid, 'SIGSTOP');
      await sleep(behindMs);
    }
    const from = Date.now();
    relay.cut();
    killAll(dead);
    // It would start a killed PostgreSQL again.
    await dead.postgres.stop().catch(() => {});
    renameSync(dead.dataDir, `${dead.dataDir}.dead`);
    const [promoted] = await ask<{ is: boolean }>(next, 'select pg_promote() as is');
    if (promoted?.is !== true) throw new Error('the standby was not promoted');
    relay.move(next.postgres.port);
    [primary, standby] = [next, undefined];
    return Date.now() - from;
  }

  return {
    adminUrl: admin.href,
    /** Where the standby itself is reached. */
    standbyUrl(): string {
      if (standby === undefined) throw new Error('there is no standby');
      return standby.postgres.adminUrl;
    },
    attach,
    failOver,
    async stop(): Promise<void> {
      await relay.stop();
      // A primary without its standby would wait for it.
      await standby?.postgres.stop();
      await primary.postgres.stop();
    },
  };
}

async function setNames(primary: Machine, name: string): Promise<void> {
  await ask(primary, `alter system set synchronous_standby_names = '${name}'`);
  await ask(primary, 'select pg_reload_conf()');
}

/** PostgreSQL's first process and all that it has started, as when the machine loses power. */
function killAll({ dataDir }: Machine): void {
  const first = Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
  const path = `/proc/${first}/task/${first}/children`;
  const children = existsSync(path) ? readFileSync(path, 'utf8').trim().split(/\s+/).map(Number) : [];
  for (const pid of [first, ...children]) if (pid > 1) signal(pid, 'SIGKILL');
}

async function ask<R>({ postgres }: Machine, text: string, values: unknown[] = []): Promise<R[]> {
  const client = new pg.Client({ connectionString: postgres.adminUrl, connectionTimeoutMillis: 10_000 });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(text, values)).rows as R[];
  } finally {
    await client.end().catch(() => {});
  }
}
