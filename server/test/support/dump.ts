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
  const search = searcher(words);
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', nspname, relname) as name from pg_class c join pg_namespace n on n.oid = relnamespace
        where relkind in ('r', 'p', 'm') and nspname not in ('pg_catalog', 'information_schema', 'pg_toast') order by 1`,
    );
    const found: Found[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: string }>(`select t::text as row from ${name} t`);
      for (const { row } of rows) for (const one of search(row)) found.push({ table: name, ...one });
    }
    return found;
  } finally {
    await client.end();
  }
}

/** The words that a text contains, in any of their spellings. */
export const findInText = (text: string, words: readonly string[]): Hit[] => searcher(words)(text);

interface Hit {
  word: string;
  how: string;
}
export type Search = (text: string) => Hit[];

/** Spellings are found by their first characters. */
const PREFIX = 4;
const HASHES = 1 << 16;
const hashed = (hash: number, code: number): number => ((hash << 4) ^ code) & (HASHES - 1);

/** Looks for any number of words in any of their spellings: a text is read once, however many they are. */
export function searcher(words: readonly string[]): Search {
  const meanings = new Map<string, (Hit & { at: number })[]>();
  let count = 0;
  for (const word of words)
    for (const [how, spelt] of Object.entries(spellings(word))) {
      const meaning = meanings.get(spelt);
      const hit = { word, how, at: count++ };
      if (meaning === undefined) meanings.set(spelt, [hit]);
      else meaning.push(hit);
    }
  const short: string[] = [];
  const starts = new Map<string, string[]>();
  const hashes = new Uint8Array(HASHES);
  for (const spelt of meanings.keys()) {
    const prefix = spelt.slice(0, PREFIX);
    if (prefix.length < PREFIX) short.push(spelt);
    else starts.set(prefix, [...(starts.get(prefix) ?? []), spelt]);
  }
  for (const prefix of starts.keys()) {
    let hash = 0;
    for (let at = 0; at < PREFIX; at += 1) hash = hashed(hash, prefix.charCodeAt(at));
    hashes[hash] = 1;
  }

  return (text) => {
    const lower = text.toLowerCase();
    const found = new Set(short.filter((spelt) => lower.includes(spelt)));
    // Of the last four characters: those before them are shifted out of its sixteen bits.
    let hash = 0;
    for (let at = 0; at < lower.length; at += 1) {
      hash = hashed(hash, lower.charCodeAt(at));
      if (hashes[hash] !== 1) continue;
      const from = at - PREFIX + 1;
      for (const spelt of starts.get(lower.slice(from, at + 1)) ?? [])
        if (lower.startsWith(spelt, from)) found.add(spelt);
    }
    return beyondChance(found, lower)
      .flatMap((spelt) => meanings.get(spelt) ?? [])
      .toSorted((one, other) => one.at - other.at)
      .map(({ word, how }) => ({ word, how }));
  };
}

/** Encrypted texts in columns of text (base/texts.ts, base/typed.ts). */
const CIPHERTEXT = /enc:\w+:[a-z0-9+/=_-]{38,}/g;

/** Without those that stand only in ciphertexts, and are so short that they stand there by chance. */
function beyondChance(found: ReadonlySet<string>, lower: string): string[] {
  const isShort = (spelt: string): boolean => spelt.length < LEAST_BASE64 && /^[a-z0-9+/_-]+$/.test(spelt);
  if (![...found].some(isShort)) return [...found];
  const clear = lower.replace(CIPHERTEXT, ' ');
  return [...found].filter((spelt) => !isShort(spelt) || clear.includes(spelt));
}

/**
 * Searches the bytes of every file below a folder, and the names of the files. A file that ends with ".gz" is unpacked first.
 *
 * @param words looked for as in `findInDump`; of other letters than ASCII only as hex, as base64 and in a URL
 */
export function findInFiles(
  folder: string,
  words: readonly string[] | Search,
): { file: string; word: string; how: string }[] {
  const search = typeof words === 'function' ? words : searcher(words);
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const file = join(entry.parentPath, entry.name);
    const bytes = !entry.isFile() ? '' : readFileSync(file);
    const unpacked = typeof bytes !== 'string' && file.endsWith('.gz') ? gunzipSync(bytes) : bytes;
    const text = typeof unpacked === 'string' ? unpacked : unpacked.toString('latin1');
    return search(`${entry.name}\n${text}`).map((one) => ({ file, ...one }));
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
    // A half of a pair of UTF-16 cannot be encoded, nor stored.
    'in a URL': encodeURIComponent(word.toWellFormed()).toLowerCase(),
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
