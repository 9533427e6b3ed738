/**
 * After a restore: what must be recorded in a database that was restored to an earlier moment, by any method, before a server
 * works on it.
 *
 * - Payouts made after that moment may be recorded as not yet paid. So all payouts are switched off, as by an operator's action,
 *   with its reason and an audit row, until an operator switches them on again: docs/operating/backup.md says under which
 *   conditions.
 * - Numbers assigned after that moment must not be assigned again: the customer of a lost order may still pay to its address,
 *   which must not become another order's. The sequences advance by a million. A trigger withdraws targets that were issued one
 *   by one.
 *
 * All of this is one transaction as the database's owner, independent of the roles that the server uses.
 */
import pg from 'pg';
import { PROBED, type Tx, txOn } from '../base/db.ts';
import { SettingError } from '../base/env.ts';
import { recordByMachine } from '../operators/index.ts';
import { killSwitches, layersOf, liftKillSwitch, MACHINE, setKillSwitch } from '../partners/index.ts';

/** More numbers than any installation assigns between two backups. There are addresses for two thousand such jumps. */
const JUMP = 1_000_000;
/**
 * Sequences whose numbers are known outside: deposit addresses, files for a bank, events. Ids of orders, payouts and refunds
 * contain the time, so they do not repeat.
 */
const KNOWN_OUTSIDE = `select setval(name, nextval(name) + ${JUMP}) from unnest(array[
  'deposit_indexes', 'manual_batch_ids', pg_get_serial_sequence('events', 'id')]::regclass[]) as name`;

/** Recorded as the operator: the person who restored the database has no operator name here. */
const BY = 'the machine';

/**
 * @param adminUrl the URL of the role that owns the database's tables
 * @param about.takenAt time of the backup; if absent, the time of the newest entry is used
 * @returns when the newest entry of the books was posted
 * @throws SettingError if the database has no books
 */
export const markRestored = (
  adminUrl: string,
  about: { takenAt?: Date; now: Date },
): Promise<{ lastCommitAt: Date | null; reason: string }> =>
  inOwnersTransaction(adminUrl, async (tx) => {
    const found = await tx.row<{ there: boolean }>(
      `select to_regclass('cloverleaf.kill_switches') is not null as there`,
    );
    if (!found?.there) throw new SettingError('DATABASE_URL has no books of ours: there is nothing to stop');
    return await markIn(tx, about);
  });

/**
 * One transaction on a connection of its own. Servers wait for it before they use a connection, so it ends. The limit of a statement is
 * far, because a mark reads all of the orders' history.
 */
export async function inOwnersTransaction<T>(adminUrl: string, body: (tx: Tx) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: adminUrl,
    connectionTimeoutMillis: 10_000,
    options: '-c search_path=cloverleaf -c statement_timeout=600000 -c lock_timeout=30000',
    ...PROBED,
  });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('begin');
    const result = await body(txOn(client));
    await client.query('commit');
    return result;
  } finally {
    await client.end();
  }
}

/** `markRestored` in a transaction of the owner. */
export async function markIn(
  tx: Tx,
  { takenAt, now }: { takenAt?: Date; now: Date },
): Promise<{ lastCommitAt: Date | null; reason: string }> {
  // First, because it locks its row: a server that marks at this moment waits for it before it locks anything else.
  await noteTimeline(tx);
  const row = await tx.row<{ at: Date | null }>(
    'select greatest((select max(at) from entries), (select max(at) from order_history)) as at',
  );
  const lastCommitAt = row?.at ?? null;
  const from = takenAt === undefined ? '' : ` from the backup of ${takenAt.toISOString()}`;
  const until = lastCommitAt === null ? 'no entry' : `its newest entry was made at ${lastCommitAt.toISOString()}`;
  // There is only one kill switch for all payouts, so this one includes the reason of an operator's earlier one. The earlier
  // operator still counts: lifting the switch takes as many people.
  const before = (await killSwitches(tx)).find(({ kind }) => kind === 'payouts');
  const layers = (await layersOf(tx, 'payouts', 'all')).filter(({ by }) => by !== MACHINE);
  if (before !== undefined) await liftKillSwitch(tx, 'payouts', before.subject);
  const also = before === undefined ? '' : `; switched off before by ${before.by}: ${before.reason}`;
  const reason = `restored${from}, ${until}: payments made after that are not in the books${also}`;
  await setKillSwitch(tx, { kind: 'payouts', subject: 'all', by: BY, reason, at: now });
  for (const layer of layers) await setKillSwitch(tx, { kind: 'payouts', subject: 'all', ...layer });
  await recordByMachine(tx, {
    action: 'kill-switch.set',
    subject: 'payouts:all',
    reason,
    now,
    before: { on: before !== undefined },
    after: { on: true, by: BY, at: now },
  });
  // From now on these addresses are watched, although no order in the books has them (rails/ahead.ts).
  await tx.run(
    `insert into restores (backup_taken_at, restored_at, first_lost_index)
     select $1, $2, case when is_called then last_value + 1 else last_value end from deposit_indexes`,
    [takenAt ?? lastCommitAt ?? now, now],
  );
  await tx.rows(KNOWN_OUTSIDE);
  return { lastCommitAt, reason };
}

/** From now on the books continue in this cluster, on this timeline. A backup from before migration 0050 gets its row by that one. */
export async function noteTimeline(tx: Tx): Promise<void> {
  const found = await tx.row<{ there: boolean }>(
    `select to_regclass('cloverleaf.database_timeline') is not null as there`,
  );
  if (found?.there)
    await tx.run(
      'update database_timeline set cluster = system_identifier, timeline = written_timeline() from pg_control_system()',
    );
}
