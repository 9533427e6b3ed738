/**
 * Plans: a database that explains each statement before it is sent, and what is wrong with a plan: it reads all of a large table,
 * reads many blocks, sorts more than a page, or goes through many rows.
 *
 * Each statement is explained (and run, and undone) in the very transaction that is about to send it, as the role, with the partner
 * and the values it has: once with the plan made for these values and once with the general one, because PostgreSQL may take either
 * for a prepared statement.
 */
import assert from 'node:assert/strict';
import { Client, escapeLiteral } from 'pg';
import type { Database, Tx } from '../../src/base/db.ts';

/** A table with this many rows or more is never scanned. */
const LARGE_TABLE_ROWS = 2_000;
/** The largest page of a list. */
export const PAGE_ROWS = 500;
/** Eight kilobytes each; a look-up takes three or four, an insert some for each index and foreign key. */
const MOST_BLOCKS = 400;

/**
 * Fills a database by statements of its owner. Most rows are visible to all afterwards, as autovacuum leaves those of a table that
 * is only inserted into.
 *
 * @returns the owner's connection, to be ended by the caller, and the large tables
 */
export async function filled(
  { adminUrl }: { adminUrl: string },
  statements: readonly string[],
): Promise<{ admin: Client; large: Set<string> }> {
  const admin = new Client({ connectionString: adminUrl, options: '-c search_path=cloverleaf' });
  await admin.connect();
  for (const statement of statements) await admin.query(statement);
  await admin.query('vacuum analyze');
  return { admin, large: await largeTables(admin) };
}

/** Names of the tables that no plan may read from begin to end, after they were analysed. */
export async function largeTables(admin: Client): Promise<Set<string>> {
  const { rows } = await admin.query<{ relname: string }>(
    `select relname from pg_class where relnamespace = 'cloverleaf'::regnamespace and relkind = 'r' and reltuples >= $1`,
    [LARGE_TABLE_ROWS],
  );
  return new Set(rows.map(({ relname }) => relname));
}

interface Plan {
  statement: string;
  mode: string;
  blocks: number;
  tables: string[];
  root: PlanNode;
}

/** @param large see `largeTables` */
export function watching(db: Database, large: ReadonlySet<string>) {
  const plans: Plan[] = [];
  const watch =
    <T>(body: (tx: Tx) => Promise<T> | T) =>
    async (tx: Tx): Promise<T> => {
      const { tx: explained, said } = explaining(tx, plans);
      const result = await body(explained);
      await said();
      return result;
    };
  const watched: Database = {
    ...db,
    asPartner: (id, body) => db.asPartner(id, watch(body)),
    // An explanation is more than reading.
    readOnlyAsPartner: (id, body) => db.asPartner(id, watch(body)),
    asSystem: (body) => db.asSystem(watch(body)),
  };
  return {
    db: watched,
    plans,
    assertCheap(most: { blocks: number; rows: number } = { blocks: MOST_BLOCKS, rows: PAGE_ROWS }) {
      assert.ok(plans.length > 0, 'no statement was explained');
      const said = plans.flatMap(({ statement, mode, root }) => {
        const complaints = complaintsAbout(root, most, large);
        return complaints.length === 0 ? [] : [`${complaints.join('; ')} (${mode} plan)\n  ${statement}`];
      });
      assert.deepEqual(said, []);
    },
  };
}

function explaining(tx: Tx, plans: Plan[]): { tx: Tx; said: () => Promise<unknown> } {
  async function explain(statement: string, values: readonly unknown[] = []): Promise<void> {
    for (const mode of ['custom', 'generic']) {
      await tx.run('savepoint explaining');
      await tx.run(`set local plan_cache_mode = force_${mode}_plan`);
      await tx.run(`prepare explained as ${statement}`);
      const execute = values.length === 0 ? 'explained' : `explained (${values.map(literal).join(', ')})`;
      // Bypasses the Tx's named statements: these must not be cached.
      const rows = await tx.rows<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
        `explain (analyze, buffers, format json) execute ${execute}`,
      );
      await tx.run('rollback to savepoint explaining');
      await tx.run('deallocate explained');
      const root = rows[0]?.['QUERY PLAN'][0].Plan;
      if (root !== undefined) plans.push(judge(statement, mode, root));
    }
  }
  let last: Promise<unknown> = Promise.resolve();
  /** One after the other, also statements issued together: an explanation is several statements. */
  async function inTurn<T>(text: string, values: readonly unknown[] | undefined, input: () => Promise<T>): Promise<T> {
    const own = last.then(async () => {
      await explain(text, values);
      return await input();
    });
    last = own;
    return await own;
  }
  return {
    tx: {
      rows: (text, values) => inTurn(text, values, () => tx.rows(text, values)),
      row: (text, values) => inTurn(text, values, () => tx.row(text, values)),
      run: (text, values) => inTurn(text, values, () => tx.run(text, values)),
      defer: (text, values) => void inTurn(text, values, () => tx.run(text, values)),
      deferLast: (key, text, values, tell) => tx.deferLast(key, text, values, tell),
      outside: tx.outside,
      attempts: tx.attempts,
      cacheKey: tx.cacheKey,
    },
    said: () => last,
  };
}

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
  Plans?: PlanNode[];
}

function judge(statement: string, mode: string, root: PlanNode): Plan {
  const tables = [...nodesOf(root)].flatMap((node) => {
    const { 'Node Type': type, 'Relation Name': table } = node;
    return table === undefined ? [] : [`${type} ${table}`];
  });
  return { statement: statement.replace(/\s+/g, ' ').slice(0, 300), mode, blocks: blocksOf(root), tables, root };
}

const blocksOf = (root: PlanNode): number => (root['Shared Hit Blocks'] ?? 0) + (root['Shared Read Blocks'] ?? 0);

function complaintsAbout(root: PlanNode, most: { blocks: number; rows: number }, large: ReadonlySet<string>): string[] {
  const complaints: string[] = [];
  if (blocksOf(root) > most.blocks) complaints.push(`reads ${blocksOf(root)} blocks`);
  for (const node of nodesOf(root)) {
    const { 'Node Type': type, 'Relation Name': table, 'Actual Rows': rows, 'Actual Loops': loops } = node;
    const through =
      (rows + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)) * loops;
    if (type === 'Seq Scan' && table !== undefined && large.has(table)) complaints.push(`reads all of ${table}`);
    if (type === 'Sort' && rows > most.rows) complaints.push(`sorts ${rows} rows`);
    if (through > most.rows) complaints.push(`${type} of ${table ?? '?'} goes through ${through} rows`);
  }
  return complaints;
}

function* nodesOf(node: PlanNode): Iterable<PlanNode> {
  yield node;
  for (const child of node.Plans ?? []) yield* nodesOf(child);
}

/** A value as an untyped literal, so that `execute` gives it the parameter's type. */
function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  return escapeLiteral(Array.isArray(value) ? arrayText(value) : plainText(value));
}

const arrayText = (values: readonly unknown[]): string =>
  `{${values.map((value) => (value === null || value === undefined ? 'null' : `"${plainText(value).replace(/["\\]/g, '\\$&')}"`)).join(',')}}`;

function plainText(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
