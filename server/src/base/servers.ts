/**
 * Servers: records which servers work on one database, so that none of them applies a breaking migration while an older one runs.
 *
 * Each server reports every few seconds, and checks for a breaking migration that it does not know. If it finds one, it must not
 * change any more rows, and calls `onOutdated`. The first report comes before any other work.
 */
import { randomUUID } from 'node:crypto';
import type { Database } from './db.ts';
import { knownMigrations, MIGRATION_LOCK, tooOld } from './migrate.ts';

const EVERY_MS = 10_000;

const sql = {
  // The migrating process holds this lock, and the first report waits for it. So either the migration sees this server, or this
  // server sees the migration's result.
  waitForMigration: `select pg_advisory_xact_lock_shared(${MIGRATION_LOCK})`,
  say: `insert into servers (id, version, known) values ($1, $2, $3)
    on conflict (id) do update set seen_at = now()`,
  leave: 'delete from servers where id = $1',
  // A killed server leaves its row.
  forget: "delete from servers where seen_at < now() - interval '1 day'",
  breaking: `select name, breaking from cloverleaf_meta.migrations
    where breaking is not null and not name = any($1) order by name limit 1`,
} as const;

/**
 * @param server.onOutdated called once, when this version must stop; the error's message says why
 * @throws SettingError if this version is already outdated
 */
export async function joinServers(
  db: Pick<Database, 'asSystem'>,
  server: { version: string; onOutdated: (why: Error) => void; everyMs?: number },
): Promise<{ leave(): Promise<void> }> {
  const id = randomUUID();
  const known = await knownMigrations();
  const say = (isFirst = false) =>
    db.asSystem(async (tx) => {
      if (isFirst) await tx.rows(sql.waitForMigration);
      const broken = await tx.row<{ name: string; breaking: string }>(sql.breaking, [known]);
      if (broken !== undefined) return tooOld(broken.name, broken.breaking);
      await tx.run(sql.say, [id, server.version, known]);
      await tx.run(sql.forget);
      return undefined;
    });

  const outdated = await say(true);
  if (outdated !== undefined) throw outdated;
  // One report at a time: `leave` waits for it, because a late report would insert a server that has left.
  let saying: Promise<void> | undefined;
  const timer = setInterval(() => {
    saying ??= say()
      .then(
        (why) => {
          if (why === undefined) return;
          clearInterval(timer);
          server.onOutdated(why);
        },
        () => {}, // the database is unreachable: all other work waits for it, too
      )
      .finally(() => {
        saying = undefined;
      });
  }, server.everyMs ?? EVERY_MS);
  timer.unref();
  return {
    async leave() {
      clearInterval(timer);
      await saying;
      await db.asSystem((tx) => tx.run(sql.leave, [id])).catch(() => {});
    },
  };
}
