/**
 * The limit of a life: a bare client that writes as many rows of the same size in as many transactions. A transaction is one
 * prepared statement in one round trip; a transaction that writes nothing reads a row.
 */
import pg from 'pg';
import { type Cluster, newDatabase, withClient } from './cluster.ts';

/** Work per life. */
export interface Work {
  transactions: number;
  inserts: number;
  updates: number;
  deletes: number;
  /** Bytes per row. */
  bytes: number;
}

const STATEMENT = `with i as (insert into bare select n, $3 from generate_series($1::bigint + 1, $1::bigint + $2::int) n),
  u as (update bare set filler = $3 where id between $1::bigint - $4::int and $1::bigint - 1 returning 1),
  d as (delete from bare where id between $1::bigint - 5000 and $1::bigint - 5001 + $5::int)
  select count(*) from u`;

export async function openRows(
  cluster: Cluster,
): Promise<(lives: number, work: Work, clients: number) => Promise<void>> {
  const url = await newDatabase(cluster, 'bare');
  await withClient(url, (client) =>
    client.query(
      `create table bare (id bigint primary key, filler text not null); alter table bare alter filler set storage plain`,
    ),
  );
  let next = 0;
  return async (lives, work, clients) => {
    const pool = new pg.Pool({ connectionString: url, max: clients });
    const count = Math.round(work.transactions * lives);
    const filler = 'x'.repeat(Math.max(1, Math.round(work.bytes)));
    const share = (all: number, at: number) =>
      Math.floor((all * lives * (at + 1)) / count) - Math.floor((all * lives * at) / count);
    let at = 0;
    const one = async () => {
      for (let n = (at += 1) - 1; n < count; n = (at += 1) - 1) {
        const [inserts, updates, deletes] = [share(work.inserts, n), share(work.updates, n), share(work.deletes, n)];
        next += inserts;
        const values = [next - inserts, inserts, filler, updates, deletes];
        await (inserts + updates + deletes === 0
          ? pool.query({ name: 'look', text: 'select id from bare where id = $1', values: [next] })
          : pool.query({ name: 'write', text: STATEMENT, values }));
      }
    };
    await Promise.all(Array.from({ length: clients }, one));
    await pool.end();
  };
}
