/**
 * A database that records what was sent in each transaction: its round trips, and the statements of each. For tests that say how
 * many transactions, round trips or statements something takes.
 */
import pg from 'pg';
import { sendAll } from '../../src/base/batch.ts';
import { type Connections, type Database, pools } from '../../src/base/db.ts';

/** The statements of each round trip, in order, with `begin` and `commit` or `rollback`. */
export type Sent = string[][];

export interface Counted {
  db: Database;
  /** Transactions that have ended, in the order of their ends. */
  transactions: Sent[];
  /** Forgets them. */
  again(): void;
  /** Those with a statement that matches. */
  having(statement: RegExp): Sent[];
  stop(): Promise<void>;
}

/** @param base whose other connections are used: notifications and sessions */
export function countedDatabase(base: Database, serverUrl: string): Counted {
  const transactions: Sent[] = [];
  const opened: pg.Pool[] = [];
  const connections = (role: string): Connections => {
    const options = `-c role=${role} -c search_path=cloverleaf`;
    const pool = new pg.Pool({ connectionString: serverUrl, max: 10, options });
    pool.on('error', () => {});
    opened.push(pool);
    return {
      async connect() {
        const client = await pool.connect();
        const sent: Sent = [];
        return {
          async send(batch) {
            sent.push(batch.map(({ text }) => text));
            return await sendAll(client, batch);
          },
          release(broken) {
            if (sent.length > 0) transactions.push(sent);
            client.release(broken);
          },
        };
      },
    };
  };
  return {
    db: { ...base, ...pools(connections('cloverleaf_partner'), connections('cloverleaf_system')) },
    transactions,
    again: () => void transactions.splice(0),
    having: (statement) => transactions.filter((sent) => sent.flat().some((text) => statement.test(text))),
    async stop() {
      await Promise.all(opened.map((pool) => pool.end()));
    },
  };
}
