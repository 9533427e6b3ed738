/**
 * Database: PostgreSQL through two doors, each a role of its own that row-level security binds.
 *
 * - `asPartner(id, …)` sees and touches that partner's rows only, whatever the SQL forgets to say.
 * - `asSystem(…)` is for workers and rails, which serve all partners.
 *
 * Neither role owns a table nor bypasses a policy; the login behind them has no rights of its own, so a statement outside
 * a door fails. The two doors are two pools, because a prepared plan under row security belongs to the role it was made for.
 *
 * Every call is one transaction. It is run again, whole, when PostgreSQL says that two collided (serialization, deadlock) or
 * when a generated id was taken; that is sound because what takes a `tx` calls nobody outside.
 *
 * Statements are prepared under a name made from their text: pooled and named is 2.5 times the rate of unnamed here.
 */
import { createHash } from 'node:crypto';
import pg from 'pg';
import { assert } from './errors.ts';

// Columns of type numeric are numeric(78,0) throughout: units and the two halves of a rate. int8 likewise exact.
pg.types.setTypeParser(pg.types.builtins.INT8, (text) => BigInt(text));
pg.types.setTypeParser(pg.types.builtins.NUMERIC, (text) => BigInt(text));

export type Value =
  | string
  | number
  | bigint
  | boolean
  | null
  | Date
  | Buffer
  | readonly Value[]
  | { toJSON(): unknown };

export interface Tx {
  /** All rows. */
  rows<R>(text: string, values?: readonly unknown[]): Promise<R[]>;
  /** The first row, or undefined. */
  row<R>(text: string, values?: readonly unknown[]): Promise<R | undefined>;
  /** How many rows were touched. */
  run(text: string, values?: readonly unknown[]): Promise<number>;
}

export interface Database {
  asPartner<T>(partnerId: bigint, body: (tx: Tx) => Promise<T>): Promise<T>;
  asSystem<T>(body: (tx: Tx) => Promise<T>): Promise<T>;
  /** Calls back on every NOTIFY of the channel, and once after each reconnect (something may have been missed). */
  listen(channel: string, onNotify: (payload: string) => void): Promise<{ stop(): Promise<void> }>;
  /** A connection of its own, outside the pools, for a session-level lock. */
  session(): Promise<pg.Client>;
  close(): Promise<void>;
}

const ATTEMPTS = 5;
/** Longest any statement may run, wait for a lock, or leave a transaction idle. */
const STATEMENT_TIMEOUT_MS = 15_000;

export function openDatabase(
  url: string,
  options: { partnerConnections?: number; systemConnections?: number } = {},
): Database {
  const pool = (role: string, max: number) => {
    const made = new pg.Pool({
      connectionString: url,
      max,
      options: `-c role=${role} -c search_path=cloverleaf -c statement_timeout=${STATEMENT_TIMEOUT_MS} -c lock_timeout=10000 -c idle_in_transaction_session_timeout=${STATEMENT_TIMEOUT_MS}`,
      application_name: role,
      connectionTimeoutMillis: 10_000,
    });
    surviveLostConnections(made);
    return made;
  };
  const partners = pool('cloverleaf_partner', options.partnerConnections ?? 10);
  const system = pool('cloverleaf_system', options.systemConnections ?? 10);

  return {
    asPartner: (partnerId, body) => transact(partners, `begin; set local cloverleaf.partner = '${partnerId}'`, body),
    asSystem: (body) => transact(system, 'begin', body),
    listen: (channel, onNotify) => listen(url, channel, onNotify),
    session: async () => {
      const client = new pg.Client({
        connectionString: url,
        options: '-c role=cloverleaf_system -c search_path=cloverleaf',
      });
      client.on('error', () => {});
      await client.connect();
      return client;
    },
    async close() {
      await Promise.all([partners.end(), system.end()]);
    },
  };
}

/**
 * A connection that dies fails what runs on it, and is replaced at the next use. It also says `error`: the pool where it was
 * idle, itself where it was in use; without a listener for both, a PostgreSQL that restarts would end the process.
 */
export function surviveLostConnections(pool: pg.Pool): void {
  pool.on('error', () => {});
  pool.on('connect', (client) => void client.on('error', () => {}));
}

/** As much of a pool as a transaction needs: the simulation brings connections that it can stop, lose and break. */
export interface Connections {
  connect(): Promise<Connection & { release(broken?: Error): void }>;
}

interface Connection {
  query(asked: string | pg.QueryConfig): Promise<pg.QueryResult>;
}

/** One transaction on one of these connections, run again where that is worth it. */
export async function transact<T>(pool: Connections, begin: string, body: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const client = await pool.connect();
    let broken: Error | undefined;
    try {
      await client.query(begin);
      const result = await body(txOn(client));
      const end = await client.query('commit');
      // A transaction in which a statement failed answers COMMIT with the tag ROLLBACK: never take that for success.
      assert(end.command === 'COMMIT', 'a transaction whose statement failed was committed');
      return result;
    } catch (error) {
      try {
        await client.query('rollback');
      } catch (rollbackError) {
        broken = rollbackError as Error;
      }
      if (attempt < ATTEMPTS && worthRepeating(error)) {
        await new Promise((wake) => setTimeout(wake, Math.random() * 20 * attempt));
        continue;
      }
      throw error;
    } finally {
      client.release(broken);
    }
  }
}

function worthRepeating(error: unknown): boolean {
  const { code, constraint } = error as { code?: string; constraint?: string };
  if (code === '40001' || code === '40P01') return true;
  // Generated ids (ids.ts) collide once in 8192 within a millisecond; their primary keys are named `…_pkey`.
  return code === '23505' && /^(orders|fiat_accounts|quotes|refunds)_pkey$/.test(constraint ?? '');
}

const names = new Map<string, string>();

function statementName(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = createHash('sha1').update(text).digest('base64url');
    names.set(text, name);
  }
  return name;
}

/** The Tx over one client; exported for migrations and tests that bring a connection of their own. */
export function txOn(client: Connection): Tx {
  const query = (text: string, values: readonly unknown[] = []) =>
    client.query({ name: statementName(text), text, values: values as unknown[] });
  return {
    rows: async <R>(text: string, values?: readonly unknown[]) => (await query(text, values)).rows as R[],
    row: async <R>(text: string, values?: readonly unknown[]) => (await query(text, values)).rows[0] as R | undefined,
    run: async (text, values) => (await query(text, values)).rowCount ?? 0,
  };
}

async function listen(url: string, channel: string, onNotify: (payload: string) => void) {
  let client: pg.Client | undefined;
  let stopped = false;
  let retry: NodeJS.Timeout | undefined;

  const connect = async (): Promise<void> => {
    const next = new pg.Client({ connectionString: url, application_name: 'cloverleaf_listen' });
    next.on('notification', (message) => onNotify(message.payload ?? ''));
    next.on('error', () => {
      void next.end().catch(() => {});
      if (!stopped) retry = setTimeout(() => void connect().catch(again), 500);
    });
    await next.connect();
    await next.query(`listen ${channel}`);
    client = next;
    onNotify('');
  };
  const again = () => {
    if (!stopped) retry = setTimeout(() => void connect().catch(again), 1_000);
  };
  await connect();
  return {
    async stop() {
      stopped = true;
      clearTimeout(retry);
      await client?.end();
    },
  };
}
