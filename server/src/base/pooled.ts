/**
 * The database through PgBouncer in transaction mode: transactions go through the pooler, and what needs a session goes directly
 * to PostgreSQL, which is LISTEN and the lock of a worker's presence.
 *
 * A pooler gives each transaction any of its connections, so nothing may be left on one:
 *
 * - Role, search path and timeouts are set at the beginning of each transaction, for it alone. The login has no rights of its
 *   own, so a statement outside a transaction fails. A direct connection sets them once, when it is opened (db.ts).
 * - Statements have no names, because a name that was prepared on one connection means nothing on the next. So each is parsed and
 *   planned at every run; batch.ts says what names save.
 *
 * What was run through a PgBouncer, and how: docs/operating/scaling.md.
 */
import pg from 'pg';
import { type Statement, sendAll } from './batch.ts';
import {
  Collision,
  type Connections,
  type Database,
  isOtherTimeline,
  openDatabase,
  type PoolOptions,
  PROBED,
  pools,
  REFUSE_OTHER_TIMELINE,
  surviveLostConnections,
  TIME_LIMITS,
} from './db.ts';
import { assert } from './errors.ts';

/**
 * @param direct the server's URL at PostgreSQL itself
 * @param pooler address of the pooler, without a login: the server's own is used
 */
export function openPooled(
  { direct, pooler }: { direct: string; pooler: string },
  options: PoolOptions = {},
): Database {
  const url = loginAt(direct, pooler);
  const partners = poolOf(url, options.partnerConnections ?? 10);
  const system = poolOf(url, options.systemConnections ?? 10);
  // Its own pools open no connection, because nothing asks them.
  const sessions = openDatabase(direct);
  return {
    ...pools(
      connectionsOf(partners, 'cloverleaf_partner', options.onOtherTimeline),
      connectionsOf(system, 'cloverleaf_system', options.onOtherTimeline),
    ),
    listen: sessions.listen,
    session: sessions.session,
    async close() {
      await Promise.all([partners.end(), system.end(), sessions.close()]);
    },
  };
}

/** The pooler's address with login, password and, if it names none, the database of the direct URL. */
function loginAt(direct: string, pooler: string): string {
  const [from, at] = [new URL(direct), new URL(pooler)];
  at.username = from.username;
  at.password = from.password;
  if (at.pathname.length <= 1) at.pathname = from.pathname;
  return at.href;
}

function poolOf(connectionString: string, max: number): pg.Pool {
  const pool = new pg.Pool({ connectionString, max, connectionTimeoutMillis: 10_000, ...PROBED });
  surviveLostConnections(pool);
  pool.on('connect', leaveUnnamed);
  return pool;
}

const connectionsOf = (pool: pg.Pool, role: string, onOther: PoolOptions['onOtherTimeline']): Connections => ({
  async connect() {
    const client = await pool.connect();
    return {
      async send(batch) {
        const [first, ...rest] = batch;
        if (first === undefined || !/^begin\b/.test(first.text)) return await sendAll(client, batch);
        try {
          const ours = [settingsOf(role), ...(onOther === undefined ? [] : [SAME_TIMELINE])];
          const [begun, ...answers] = await sendAll(client, [first, ...ours, ...rest]);
          return begun === undefined ? [] : [begun, ...answers.slice(ours.length)];
        } catch (error) {
          if (onOther === undefined || !isOtherTimeline(error)) throw error;
          await onOther();
          throw new Collision('the database was promoted or restored since the last transaction');
        }
      },
      release: (broken) => client.release(broken),
    };
  },
});

/** In each transaction, because the pooler may have connected to a promoted standby since the last one. */
const SAME_TIMELINE: Statement = { text: `select ${REFUSE_OTHER_TIMELINE}`, isBlind: true };

/** Until the end of the transaction, also if it fails. */
const settingsOf = (role: string): Statement => {
  const settings = Object.entries({ role, search_path: 'cloverleaf', ...TIME_LIMITS });
  return {
    text: `select ${settings.map((_, at) => `set_config($${2 * at + 1}, $${2 * at + 2}, true)`).join(', ')}`,
    values: settings.flatMap(([name, value]) => [name, String(value)]),
    isBlind: true,
  };
};

/** The parts of the client's connection that prepare a statement and use it. */
interface Wire {
  parse(statement: { name: string; text: string; types: readonly number[] }): void;
  bind(bound: { portal: string; statement: string; values: readonly (string | Buffer | null)[] }): void;
}

/** Has each statement of batch.ts parsed where it is bound, without its name. */
function leaveUnnamed(client: pg.PoolClient): void {
  const { connection } = client as unknown as { connection: Wire };
  const parse = connection.parse.bind(connection);
  const bind = connection.bind.bind(connection);
  const texts = new Map<string, string>();
  connection.parse = ({ name, text }) => void texts.set(name, text);
  connection.bind = (bound) => {
    const text = texts.get(bound.statement);
    assert(text !== undefined, `statement ${bound.statement} is bound and was never parsed`);
    parse({ name: '', text, types: [] });
    bind({ ...bound, statement: '' });
  };
}
