/** Ledger entries per second that all post to one account, eight concurrently: they wait for the lock of its row. */
import { createHash } from 'node:crypto';
import { openVault } from '../server/src/base/crypto.ts';
import { openDatabase } from '../server/src/base/db.ts';
import { migrateFor } from '../server/src/base/migrate.ts';
import { chart, move, post } from '../server/src/ledger/index.ts';
import { type Cluster, newDatabase, withClient } from './cluster.ts';

const AT_ONCE = 8;

export async function measureHotAccount(cluster: Cluster, entries: number): Promise<string> {
  const adminUrl = await newDatabase(cluster, 'hot');
  const serverUrl = await migrateFor(adminUrl, openVault(createHash('sha256').update('bench').digest()));
  await withClient(
    adminUrl,
    (client) => client.query(`insert into assets (code, kind, coin, decimals) values ('inr', 'fiat', 'inr', 2)`),
    'cloverleaf',
  );
  const db = openDatabase(serverUrl, { systemConnections: AT_ONCE });
  try {
    const enter = (id: string) =>
      db.asSystem((tx) =>
        post(tx, {
          ...{ id: `bench:${id}`, kind: 'bench', at: new Date() },
          lines: move(chart.custody('bank.bench', 'main', 'inr'), chart.treasury('inr'), 100n),
        }),
      );
    await enter('first');
    const queue = Array.from({ length: entries }, (_, at) => at).values();
    const inTurn = async () => {
      for (const at of queue) await enter(String(at));
    };
    const began = performance.now();
    await Promise.all(Array.from({ length: AT_ONCE }, inTurn));
    const perSecond = entries / ((performance.now() - began) / 1_000);
    return `${perSecond.toFixed(0)} ledger entries/s on one hot account (${entries} entries, ${AT_ONCE} at a time)`;
  } finally {
    await db.close();
  }
}
