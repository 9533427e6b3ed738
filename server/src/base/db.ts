/**
 * Database: PostgreSQL through two pools, each with its own role that row-level security binds.
 *
 * - `asPartner(id, …)` sees and changes only that partner's rows, even if the SQL forgets the filter.
 * - `asSystem(…)` is for workers and rails, which serve all partners.
 *
 * Neither role owns a table or bypasses a policy. The login that both use has no rights of its own, so a statement outside a role
 * fails. There are two pools because under row-level security a prepared plan belongs to the role that it was made for.
 *
 * Every call is one transaction. The whole transaction runs again when PostgreSQL reports a collision (serialization,
 * deadlock) or a duplicate generated id. That is safe because code that takes a `tx` never calls outside systems.
 *
 * A round trip costs more than most statements, so statements share one whenever no caller awaits between them (batch.ts). A
 * transaction whose code issues no statement, because a cache has the answer, opens no connection.
 */
import pg from 'pg';
import { type Answer, type Statement, sendAll } from './batch.ts';
import { assert, BugError } from './errors.ts';
import { listenOn } from './listening.ts';
import { readTime } from './times.ts';

// All columns of type numeric are numeric(78,0): units and the two parts of a rate. Like int8, they are exact.
pg.types.setTypeParser(pg.types.builtins.INT8, (text) => BigInt(text));
pg.types.setTypeParser(pg.types.builtins.NUMERIC, (text) => BigInt(text));
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, readTime);

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
  /** @returns the number of rows changed or read */
  run(text: string, values?: readonly unknown[]): Promise<number>;
  /**
   * Sends a statement whose result the caller does not need yet. It goes out, in order, with the next awaited statement or with
   * the commit. If it fails, that later call throws and the transaction is rolled back.
   */
  defer(text: string, values?: readonly unknown[]): void;
  /**
   * As `defer`, but sent with the commit, in the order of the keys. For rows that other transactions may insert, too: the wait
   * for such a row comes after every other lock, and in one order, so it cannot cause a deadlock.
   *
   * @param tell called with the number of rows changed, once the transaction is committed
   */
  deferLast(key: string, text: string, values?: readonly unknown[], tell?: (rows: number) => void): void;
  /**
   * The result of work that may take long, such as running a pattern in a thread. A transaction is rolled back first, so that it
   * holds no lock and no connection meanwhile, and its body runs again with the result: it must not catch what this throws. A read
   * does the work at once, because it holds nothing between its statements.
   *
   * @param key what the work was given: a body that asks for the same again gets the same result
   */
  outside<T>(key: string, work: () => Promise<T>): Promise<T>;
  /**
   * The same object in every attempt of one transaction: the key under which an attempt can store something for the next one, in
   * a WeakMap.
   */
  readonly attempts: object;
  /** The same object in every transaction of one `Database`: the key of what a process caches of it, in a WeakMap. */
  readonly cacheKey: object;
}

/** Ends this attempt of a transaction; it is rolled back and runs again. */
export class Collision extends Error {
  readonly code = '40001';
}

/** Ends this attempt of a transaction: it is rolled back, `work` runs, and the body runs again. */
class WorkFirst extends Error {
  readonly work: () => Promise<unknown>;

  constructor(work: () => Promise<unknown>) {
    super('work has to be done outside of the transaction');
    this.work = work;
  }
}

/** The body may return synchronously if it only defers statements. */
type Body<T> = (tx: Tx) => Promise<T> | T;

export interface Database {
  /** `cacheKey` of all its transactions. */
  readonly cacheKey: object;
  asPartner<T>(partnerId: bigint, body: Body<T>): Promise<T>;
  /** Read-only. Statements issued together share one round trip and one snapshot; later statements may see newer data. */
  readOnlyAsPartner<T>(partnerId: bigint, body: Body<T>): Promise<T>;
  asSystem<T>(body: Body<T>): Promise<T>;
  /** Calls back on every NOTIFY of the channel, and once after each reconnect (a notification may have been missed). */
  listen(channel: string, onNotify: (payload: string) => void): Promise<{ stop(): Promise<void> }>;
  /**
   * A connection outside the pools, for a session-level lock.
   *
   * @param options.idleMs PostgreSQL ends the connection after this time without a statement, which frees its lock. A statement
   *   that takes as long fails
   */
  session(options?: { idleMs?: number }): Promise<pg.Client>;
  close(): Promise<void>;
}

/** Awaits all promises. If several fail, throws the error of the first one in the list. */
export async function awaitAll<T extends readonly unknown[]>(
  ...asked: { readonly [At in keyof T]: Promise<T[At]> | T[At] }
): Promise<T> {
  const ended = await Promise.allSettled(asked);
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return ended.map((one) => (one as PromiseFulfilledResult<unknown>).value) as unknown as T;
}

const ATTEMPTS = 5;
/** More works of one transaction show that their keys differ in each attempt. */
const MOST_WORKS = 20;
/** Maximum time of a statement, of a lock wait, and of a transaction without a statement. */
export const TIME_LIMITS = {
  statement_timeout: 15_000,
  lock_timeout: 10_000,
  idle_in_transaction_session_timeout: 15_000,
} as const;

/**
 * If the database's machine dies, or its address moves to a standby, a connection without traffic gets no word of it. The kernel
 * probes after this time, and ends a connection that is not answered within ten more seconds; otherwise it would wait for hours.
 */
export const PROBED = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;

export interface PoolOptions {
  partnerConnections?: number;
  systemConnections?: number;
  /**
   * Called when PostgreSQL writes to another cluster or timeline than the books were on: before the first statement of a connection,
   * or of a transaction through a pooler. It records what that means; without it, nothing is asked.
   */
  onOtherTimeline?: () => Promise<void>;
}

/** Migration 0050. */
export const REFUSE_OTHER_TIMELINE = 'cloverleaf.refuse_other_timeline()';
/** Of that function alone: CL001 and CL002 are refusals of partners (partners/activity.ts). */
export const isOtherTimeline = (error: unknown): boolean => (error as { code?: string }).code === 'CL003';

export function openDatabase(url: string, options: PoolOptions = {}): Database {
  const { onOtherTimeline } = options;
  const pool = (role: string, max: number) => {
    const made = new pg.Pool({
      connectionString: url,
      max,
      options: Object.entries({ role, search_path: 'cloverleaf', ...TIME_LIMITS })
        .map(([name, value]) => `-c ${name}=${value}`)
        .join(' '),
      application_name: role,
      connectionTimeoutMillis: 10_000,
      ...PROBED,
      ...(onOtherTimeline === undefined ? {} : { onConnect: (client) => onSameTimeline(client, onOtherTimeline) }),
    });
    surviveLostConnections(made);
    return made;
  };
  const partners = pool('cloverleaf_partner', options.partnerConnections ?? 10);
  const system = pool('cloverleaf_system', options.systemConnections ?? 10);

  return {
    ...pools(connectionsOf(partners), connectionsOf(system)),
    listen: (channel, onNotify) =>
      listenOn(
        {
          connectionString: url,
          application_name: 'cloverleaf_listen',
          connectionTimeoutMillis: 10_000,
          ...PROBED,
        },
        channel,
        { onNotify },
      ),
    session: async ({ idleMs = 0 } = {}) => {
      const client = new pg.Client({
        connectionString: url,
        options: `-c role=cloverleaf_system -c search_path=cloverleaf -c idle_session_timeout=${idleMs}`,
        query_timeout: idleMs,
        connectionTimeoutMillis: 10_000,
        ...PROBED,
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

/** A pool waits for it before it hands the connection out, and closes the connection if it throws. */
async function onSameTimeline(client: pg.ClientBase, onOther: () => Promise<void>): Promise<void> {
  try {
    await client.query(`select ${REFUSE_OTHER_TIMELINE}`);
  } catch (error) {
    if (!isOtherTimeline(error)) throw error;
    await onOther();
    await client.query(`select ${REFUSE_OTHER_TIMELINE}`);
  }
}

/**
 * Keeps a lost connection from ending the process. Statements on it fail, and the pool replaces it at its next use. But it also
 * emits `error`: on the pool if it was idle, on the client if it was in use. Without listeners for both, a restart of PostgreSQL
 * would end the process.
 */
export function surviveLostConnections(pool: pg.Pool): void {
  pool.on('error', () => {});
  pool.on('connect', (client) => void client.on('error', () => {}));
}

/** The part of a pool that a transaction needs. The simulation passes connections that it can delay, lose and break. */
export interface Connections {
  connect(): Promise<Connection & { release(broken?: Error): void }>;
}

interface Connection {
  /** Runs the statements in order; after one that fails, none runs. */
  send(batch: readonly Statement[]): Promise<Answer[]>;
}

const connectionsOf = (pool: pg.Pool): Connections => ({
  async connect() {
    const client = await pool.connect();
    return { send: (batch) => sendAll(client, batch), release: (broken) => client.release(broken) };
  },
});

/** The two pools as a `Database`. */
export const pools = (
  partners: Connections,
  system: Connections,
): Pick<Database, 'cacheKey' | 'asPartner' | 'readOnlyAsPartner' | 'asSystem'> => {
  const cacheKey = {};
  return {
    cacheKey,
    asPartner: (partnerId, body) =>
      transact(partners, { cacheKey, begin: [{ text: 'begin' }, seenBy(partnerId)] }, body),
    readOnlyAsPartner: (partnerId, body) =>
      look(partners, { cacheKey, begin: [{ text: 'begin read only' }, seenBy(partnerId)] }, body),
    asSystem: (body) => transact(system, { cacheKey, begin: [{ text: 'begin' }] }, body),
  };
};

interface Opening {
  cacheKey: object;
  begin: readonly Statement[];
}

const seenBy = (partnerId: bigint): Statement => ({
  text: `select set_config('cloverleaf.partner', $1, true)`,
  values: [partnerId],
  isBlind: true,
});
const COMMIT: Statement = { text: 'commit' };
const ROLLBACK: Statement = { text: 'rollback' };

/** One transaction on one of these connections. Runs again after a retryable error. Without a statement it opens nothing. */
async function transact<T>(pool: Connections, opening: Opening, body: Body<T>): Promise<T> {
  const attempts = {};
  const done = new Map<string, unknown>();
  const outside = async <R>(key: string, work: () => Promise<R>): Promise<R> => {
    if (done.has(key)) return done.get(key) as R;
    throw new WorkFirst(async () => void done.set(key, await work()));
  };
  for (;;)
    try {
      return await attempted(pool, { ...opening, attempts, outside }, body);
    } catch (error) {
      if (!(error instanceof WorkFirst)) throw error;
      assert(done.size < MOST_WORKS, 'a transaction asks for other work in each attempt');
      await error.work();
    }
}

async function attempted<T>(
  pool: Connections,
  { cacheKey, begin, attempts, outside }: Opening & Pick<Tx, 'attempts' | 'outside'>,
  body: Body<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    let opening: ReturnType<Connections['connect']> | undefined;
    let hasBegun = false;
    let isOver = false;
    const { tx, ask, sendLast, isSilent } = converse(
      async (batch) => {
        assert(!isOver, 'a statement was issued, but its transaction is over');
        opening ??= pool.connect();
        const connection = await opening;
        // The body may have failed meanwhile; the connection is then returned without a transaction.
        assert(!isOver, 'a statement was issued, but its transaction is over');
        const first = hasBegun ? [] : begin;
        hasBegun = true;
        return await answersTo(connection, { first, batch });
      },
      { attempts, cacheKey, outside },
    );
    let broken: Error | undefined;
    try {
      const result = await body(tx);
      sendLast();
      if (opening === undefined && isSilent()) return result;
      const end = await ask(COMMIT);
      // COMMIT of a transaction with a failed statement returns the tag ROLLBACK, which must not count as success.
      assert(end.command === 'COMMIT', 'a transaction whose statement failed was committed');
      return result;
    } catch (error) {
      // Otherwise, statements that were issued beside the failed one and not sent yet would run after the rollback, outside the
      // transaction.
      isOver = true;
      try {
        if (hasBegun) await (await opening)?.send([ROLLBACK]);
      } catch (rollbackError) {
        broken = rollbackError as Error;
      }
      if (attempt < ATTEMPTS && worthRepeating(error)) {
        await new Promise((wake) => setTimeout(wake, Math.random() * 20 * attempt));
        continue;
      }
      throw error;
    } finally {
      isOver = true;
      // If it could not be opened, the statement that needed it has failed with the reason.
      (await opening?.catch(() => undefined))?.release(broken);
    }
  }
}

/** Each batch is its own transaction: `readOnlyAsPartner` promises one snapshot per batch, no more. */
async function look<T>(pool: Connections, { cacheKey, begin }: Opening, body: Body<T>): Promise<T> {
  const once = async (batch: readonly Statement[]): Promise<Answer[]> => {
    const connection = await pool.connect();
    let broken: Error | undefined;
    try {
      return await answersTo(connection, { first: begin, batch, last: COMMIT });
    } catch (error) {
      await connection.send([ROLLBACK]).catch((rollbackError) => {
        broken = rollbackError;
      });
      throw error;
    } finally {
      connection.release(broken);
    }
  };
  const { tx } = converse(
    async (batch) => {
      try {
        return await once(batch);
      } catch (error) {
        if (error instanceof Collision) return await once(batch);
        throw error;
      }
    },
    { cacheKey },
  );
  return await body(onlyAsking(tx));
}

/** The batch's answers, without those of the statements sent before and after it. */
async function answersTo(
  connection: Connection,
  { first, batch, last }: { first: readonly Statement[]; batch: readonly Statement[]; last?: Statement },
): Promise<Answer[]> {
  const answers = await connection.send([...first, ...batch, ...(last === undefined ? [] : [last])]);
  return answers.slice(first.length, first.length + batch.length);
}

/**
 * Collects statements into batches. Statements issued before anything is awaited are one batch, in order; the next batch is sent
 * when the first is answered. If a statement fails, every caller that waits for its batch gets the error.
 */
function converse(
  send: (batch: readonly Statement[]) => Promise<Answer[]>,
  { cacheKey, attempts = {}, outside = atOnce }: Pick<Tx, 'cacheKey'> & Partial<Pick<Tx, 'attempts' | 'outside'>>,
) {
  let said: { statement: Statement; tell?: (answer: Answer) => void; fail?: (error: unknown) => void }[] = [];
  const last: { key: string; statement: Statement; tell?: ((answer: Answer) => void) | undefined }[] = [];
  let isUnderWay = false;

  async function flush(): Promise<void> {
    const batch = said;
    said = [];
    try {
      const answers = await send(batch.map(({ statement }) => statement));
      for (const [at, { tell }] of batch.entries()) tell?.(answers[at] as Answer);
    } catch (error) {
      for (const { fail } of batch) fail?.(error);
    }
    isUnderWay = false;
    if (said.some(({ tell }) => tell !== undefined)) begin();
  }
  function begin(): void {
    isUnderWay = true;
    // Runs after all code that can continue without waiting, because that code may issue statements too.
    process.nextTick(flush);
  }
  const ask = (statement: Statement): Promise<Answer> =>
    new Promise((tell, fail) => {
      said.push({ statement, tell, fail });
      if (!isUnderWay) begin();
    });
  const tx: Tx = {
    rows: async <R>(text: string, values?: readonly unknown[]) => (await ask({ text, values })).rows as R[],
    row: async <R>(text: string, values?: readonly unknown[]) => (await ask({ text, values })).rows[0] as R | undefined,
    run: async (text, values) => (await ask({ text, values })).count,
    defer: (text, values) => void said.push({ statement: { text, values, isBlind: true } }),
    deferLast: (key, text, values, tell) =>
      void last.push({ key, statement: { text, values, isBlind: true }, tell: tell && (({ count }) => tell(count)) }),
    outside,
    attempts,
    cacheKey,
  };
  const sendLast = (): void => {
    for (const { statement, tell } of last.toSorted((a, b) => byKey(a.key, b.key)))
      said.push({ statement, ...(tell === undefined ? {} : { tell }) });
  };
  return { tx, ask, sendLast, isSilent: () => said.length === 0 };
}

/** Where no transaction waits: between the statements of a read, each of which is its own. */
const atOnce = async <T>(_key: string, work: () => Promise<T>): Promise<T> => await work();

/** Shorter keys first, so that numbers sort in numeric order. */
const byKey = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);

function worthRepeating(error: unknown): boolean {
  const { code, constraint } = error as { code?: string; constraint?: string };
  if (code === '40001' || code === '40P01') return true;
  // Generated ids (ids.ts) collide once in 8192 within a millisecond; their primary keys are named `…_pkey`.
  return code === '23505' && /^(orders|fiat_accounts|quotes|refunds)_pkey$/.test(constraint ?? '');
}

/** A Tx over one client, for migrations and tests, which own the connection and send `begin` and `commit` themselves. */
export const txOn = (client: pg.ClientBase): Tx =>
  onlyAsking(converse((batch) => sendAll(client, batch), { cacheKey: client }).tx);

/** `defer` throws here: this module does not send the commit, so a deferred statement at the end would never be sent. */
const onlyAsking = (tx: Tx): Tx => ({
  ...tx,
  defer() {
    throw new BugError('nothing is sent ahead here');
  },
  deferLast() {
    throw new BugError('nothing is sent with the commit here');
  },
});
