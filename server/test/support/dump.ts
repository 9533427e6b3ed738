/**
 * Searches a dump of the whole database, and files as they are stored, for values that must not be in them in clear.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Client } from 'pg';

export interface Found {
  table: string;
  word: string;
  how: string;
}

/**
 * Searches every column of every row of every table of ours, and everything else in the schemas of this database.
 *
 * @param words looked for as they are, in any case, as in a URL or a form, as hex of their bytes (so within bytea) and, if they have eight bytes or more, as
 *   base64 at any offset
 */
export async function findInDump(adminUrl: string, words: readonly string[]): Promise<Found[]> {
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', nspname, relname) as name from pg_class c join pg_namespace n on n.oid = relnamespace
        where relkind in ('r', 'p', 'm') and nspname not in ('pg_catalog', 'information_schema', 'pg_toast') order by 1`,
    );
    const found: Found[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: string }>(`select t::text as row from ${name} t`);
      for (const { row } of rows) for (const one of findInText(row, words)) found.push({ table: name, ...one });
    }
    return found;
  } finally {
    await client.end();
  }
}

/** The words that a text contains, in any of their spellings. */
export function findInText(text: string, words: readonly string[]): { word: string; how: string }[] {
  const lower = text.toLowerCase();
  return words.flatMap((word) =>
    Object.entries(spellings(word)).flatMap(([how, spelt]) => (lower.includes(spelt) ? [{ word, how }] : [])),
  );
}

/**
 * Searches the bytes of every file below a folder, and the names of the files. A file that ends with ".gz" is unpacked first.
 *
 * @param words ASCII, looked for as in `findInDump`
 */
export function findInFiles(folder: string, words: readonly string[]): { file: string; word: string; how: string }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const file = join(entry.parentPath, entry.name);
    const bytes = !entry.isFile() ? '' : readFileSync(file);
    const unpacked = typeof bytes !== 'string' && file.endsWith('.gz') ? gunzipSync(bytes) : bytes;
    const text = typeof unpacked === 'string' ? unpacked : unpacked.toString('latin1');
    return findInText(`${entry.name}\n${text}`, words).map((one) => ({ file, ...one }));
  });
}

/** Fewer characters of base64 stand in a ciphertext by chance: four of them, in any case, about once in a million places. */
const LEAST_BASE64 = 8;

function spellings(word: string): Record<string, string> {
  const bytes = Buffer.from(word);
  const cores = [0, 1, 2].map((skip) => [`base64 after ${skip}`, base64Core(bytes, skip)] as const);
  return {
    plain: word.toLowerCase(),
    'plain, as JSON': JSON.stringify(word).slice(1, -1).toLowerCase(),
    'without spaces': word.replace(/[\s-]/g, '').toLowerCase(),
    'in a URL': encodeURIComponent(word).toLowerCase(),
    'in a form': new URLSearchParams({ '': word }).toString().slice(1).toLowerCase(),
    hex: bytes.toString('hex'),
    'hex of lower case': Buffer.from(word.toLowerCase()).toString('hex'),
    'hex of upper case': Buffer.from(word.toUpperCase()).toString('hex'),
    // The bytes in the middle, as they would be encoded inside a longer text at any offset.
    ...Object.fromEntries(cores.filter(([, core]) => core.length >= LEAST_BASE64)),
  };
}

/** Base64 encodes three bytes as four characters: the groups that a word fills completely when `skip` bytes come before it. */
function base64Core(bytes: Buffer, skip: number): string {
  const from = (3 - skip) % 3;
  const whole = Math.floor((bytes.length - from) / 3) * 3;
  return bytes
    .subarray(from, from + whole)
    .toString('base64')
    .toLowerCase();
}
