/**
 * Schema and rows of a small database, read as text in the form in which COPY writes them.
 */
import type pg from 'pg';

export interface Row {
  table: string;
  /** PostgreSQL's ctid, which identifies a row within this reading. */
  place: string;
  values: ReadonlyMap<string, string | null>;
  /** All values in one text, for searching. */
  text: string;
}

export interface Schema {
  /** Columns that COPY may fill, by table. */
  columns: ReadonlyMap<string, readonly string[]>;
  types: ReadonlyMap<string, string>;
  /** `table.column` of identity columns. */
  identities: readonly { table: string; column: string }[];
}

/** Columns whose default must apply to copies: an entry's transaction is the one that copies it. */
const OWN_DEFAULT = ['entries.written_in'];

export async function schemaOf(client: pg.Client): Promise<Schema> {
  const { rows } = await client.query(`
    select c.relname as table, a.attname as column, format_type(a.atttypid, null) as type,
           a.attgenerated <> '' as generated, a.attidentity <> '' as identity
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = 'cloverleaf'::regnamespace and c.relkind = 'r' order by 1, a.attnum`);
  const columns = new Map<string, string[]>();
  const types = new Map<string, string>();
  const identities: { table: string; column: string }[] = [];
  for (const { table, column, type, generated, identity } of rows) {
    if (identity) identities.push({ table, column });
    if (generated || OWN_DEFAULT.includes(`${table}.${column}`)) continue;
    types.set(`${table}.${column}`, type);
    columns.set(table, [...(columns.get(table) ?? []), column]);
  }
  return { columns, types, identities };
}

/** Every row of these tables. */
export async function rowsOf(client: pg.Client, schema: Schema, tables: readonly string[]): Promise<Row[]> {
  const all: Row[] = [];
  for (const table of tables) {
    const columns = schema.columns.get(table) ?? [];
    const { rows } = await client.query<{ place: string; row: (string | null)[] }>(
      `select ctid::text as place, array[${columns.map((one) => `${one}::text`).join(', ')}] as row from cloverleaf.${table} order by 2`,
    );
    for (const { place, row } of rows) {
      const values = new Map(columns.map((column, at) => [column, row[at] ?? null]));
      all.push({ table, place: `${table} ${place}`, values, text: row.join('\n') });
    }
  }
  return all;
}
