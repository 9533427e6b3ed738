/**
 * What a test leaves holds nothing of a person in clear.
 *
 * Whatever the vault of a test encrypts about a person (phones, names, numbers, days of birth, addresses, accounts, questions) is noted
 * beside its database. When the database is dropped, the tables, the folders of files, the lines of the log and the metrics are searched
 * for these values, in the spellings of dump.ts, and for the bytes with which each picture of a document begins. A value that is found
 * fails the file of tests, with table and column.
 *
 * Bounded, because it runs for each of some hundred databases: of a table the first rows only, and values that are long enough not to
 * stand somewhere by chance. Not here: a server that is a process of its own, with its own key (backup/personal.test.ts and
 * ops/output.test.ts search all of such a server and its backups).
 */
import { existsSync } from 'node:fs';
import pg from 'pg';
import type { Vault } from '../../src/base/crypto.ts';
import { exampleOf } from '../../src/customers/identity/answers.ts';
import { findInFiles, type Search, searcher } from './dump.ts';
import { JPEG_MARK } from './pictures.ts';

export interface Personal {
  /** Notes what this vault encrypts from now on. */
  of(vault: Vault): void;
  /** The files below it are searched too. */
  keeps(folder: string): void;
  /** A text of the server, such as its log: it is read when the database is dropped. */
  says(name: string, text: () => string): void;
  /** Ends all sessions of the database, and searches what is left. @returns sentences */
  found(adminUrl: string): Promise<string[]>;
}

/** Where values may be in clear, each with the reason. */
const EXCEPT: Readonly<Record<string, string>> = {
  'simulated_bank.': 'plays the bank, which knows its customers',
  'cloverleaf.sanctions_entries': 'the lists are public',
  'cloverleaf.partner_branding': 'a logo is a picture that customers see',
};
/** Terms, of which a sandbox writes thousands of rows when it starts: half of all characters of a story. */
const TERMS = [
  'cloverleaf.market_changes',
  'cloverleaf.markets',
  'cloverleaf.fee_schedules',
  'cloverleaf.price_levels',
];

/** In what the vault encrypts with a context of these, which name a table. Secrets and texts of operators are not among them. */
const PERSONAL =
  /^(customers|customer_details|fiat_accounts|submissions|hosted_drafts|compared_documents|bank_lines|information_requests|travel_wallets)[._]/;
/** Fields of JSON. Others have words that stand in the tables of forms as well. */
const FIELDS =
  /^(name|(first|middle|last|company|entity|owner)Name|secondSurname|accountHolder|holder|dob|identityNumber|addressLine[12]|account|accountNumber|iban|email|phone)$/;
/** What errors and forms of the product give as examples, and tests use as values, too. */
const EXAMPLES: readonly (string | undefined)[] = [
  '+91-9876543210',
  exampleOf({ name: 'dob', type: 'date' }),
  ...['identityNumber', 'addressLine1', 'addressLine2'].map((name) => exampleOf({ name, type: 'text' })),
];
/** Of a table. A story has fewer rows in almost all of them. */
const MOST_ROWS = 2_000;
const MOST_CHARS = 100_000;

/** Shorter values, and numbers that may be amounts, stand in ids and amounts by chance. */
function isTelling(value: string): boolean {
  if (EXAMPLES.includes(value)) return false;
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return true;
  const bare = value.replace(/[^\p{L}\p{N}]/gu, '');
  if (!/^\d*$/.test(bare)) return bare.length >= 6;
  return bare.length >= 9 && bare.replace(/^0+|0+$/g, '').length >= 6 && new Set(bare).size >= 3;
}

/** @param text JSON, or a single value */
function valuesIn(text: string): string[] {
  if (!/^\{.*\}$/s.test(text)) return [text];
  const values: string[] = [];
  JSON.parse(text, (name, value) => {
    if (typeof value === 'string' && FIELDS.test(name)) values.push(value);
    return value;
  });
  return values;
}

export function openPersonal(): Personal {
  const noted = new Set<string>();
  const folders: string[] = [];
  const texts: { name: string; text: () => string }[] = [];
  return {
    of(vault) {
      const { encrypt } = vault;
      vault.encrypt = (text, context) => {
        if (PERSONAL.test(context)) for (const value of valuesIn(text)) if (isTelling(value)) noted.add(value);
        return encrypt(text, context);
      };
    },
    keeps: (folder) => void folders.push(folder),
    says: (name, text) => void texts.push({ name, text }),
    async found(adminUrl) {
      if (noted.size === 0) return [];
      const search = searcher([...noted, JPEG_MARK]);
      const found = texts.flatMap(({ name, text }) => search(text()).map(({ word }) => `${name}: ${word}`));
      for (const folder of folders.filter((path) => existsSync(path)))
        for (const { file, word } of findInFiles(folder, search)) found.push(`${file}: ${word}`);
      found.push(...(await inTables(adminUrl, search)));
      // Once, in whatever spellings.
      return [...new Set(found)];
    },
  };
}

/** Tables with rows, and the columns of each. */
const TABLES = `select format('%I.%I', nspname, relname) as name, quote_literal(format('%I.%I', nspname, relname)) as text
  from pg_class c join pg_namespace n on n.oid = relnamespace
  where relkind in ('r', 'm') and nspname not in ('pg_catalog', 'information_schema', 'pg_toast') and pg_relation_size(c.oid) > 0`;
const END_OTHERS = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`;

/** All rows come in one round trip: a statement per table would take most of the time. */
async function inTables(adminUrl: string, search: Search): Promise<string[]> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    // A session that a test has left may hold a lock.
    await client.query(END_OTHERS);
    const tables = (await client.query<{ name: string; text: string }>(TABLES)).rows.filter(
      ({ name }) => !TERMS.includes(name) && !Object.keys(EXCEPT).some((prefix) => name.startsWith(prefix)),
    );
    if (tables.length === 0) return [];
    const { rows } = await client.query<{ name: string; said: string | null }>(
      tables
        .map(
          ({ name, text }) => `select ${text} as name, string_agg(left(one::text, ${MOST_CHARS}), E'\\n') as said
            from (select * from ${name} limit ${MOST_ROWS}) as one`,
        )
        .join(' union all '),
    );
    const found: string[] = [];
    for (const { name, said } of rows)
      for (const word of new Set(search(said ?? '').map((hit) => hit.word)))
        found.push(`${await columnOf(client, name, search, word)}: ${word}`);
    return found;
  } finally {
    await client.end();
  }
}

/** Only for a value that was found. */
async function columnOf(client: pg.Client, table: string, search: Search, word: string): Promise<string> {
  const { rows } = await client.query<{ row: Record<string, unknown> }>(
    `select to_jsonb(one) as row from (select * from ${table} limit ${MOST_ROWS}) as one`,
  );
  const columns = rows.flatMap(({ row }) =>
    Object.entries(row).flatMap(([column, value]) =>
      search(JSON.stringify(value)).some((hit) => hit.word === word) ? [column] : [],
    ),
  );
  return `${table}.${[...new Set(columns)].join(' and ')}`;
}
