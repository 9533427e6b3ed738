/**
 * Sources of a list: a local file, or an https address (download.ts).
 *
 * A file's checksum is read from a file beside it, `<file>.sha256`, if there is one. Its age is that of the file, because
 * reading the same file again gives no new information. An address may have its checksum after `#sha256=`.
 */
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Refusal, Unavailable } from '../../base/errors.ts';
import { checksumIn, type Downloads, download, type Validators } from './download.ts';
import { isListCode, LIST_CODES, type ListCode } from './entry.ts';
import { readList, type SanctionsList } from './read.ts';

export interface Source {
  list: ListCode;
  /** A path or an https address. */
  from: string;
  /** Of an address: the SHA-256 that its bytes must have, in hex, or the https address of a file with it. */
  sha256?: string;
}

const isAddress = (from: string): boolean => from.startsWith('https://') && URL.canParse(from);
const isChecksum = (text: string): boolean => /^[0-9a-f]{64}$/i.test(text) || isAddress(text);

/** Reads `ofac=https://…,uk=/file.xml`. @returns the sources, or the violated rule, as the end of a sentence */
export function listSources(text: string): Source[] | string {
  const sources: Source[] = [];
  for (const part of text.split(',')) {
    const at = part.indexOf('=');
    const [list, from] = [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    if (at < 1 || !isListCode(list) || from === '')
      return `must be entries like un=https://…, separated by commas; the lists are ${LIST_CODES.join(', ')}`;
    if (sources.some((one) => one.list === list)) return `must name ${list} once`;
    if (!/^[a-z][a-z+.-]+:/i.test(from)) {
      sources.push({ list, from });
      continue;
    }
    if (!isAddress(from)) return `must name a file or an https address for ${list}`;
    const [address = '', fragment, ...more] = from.split('#');
    const sha256 = fragment?.startsWith('sha256=') ? fragment.slice('sha256='.length) : undefined;
    if (fragment !== undefined && (more.length > 0 || sha256 === undefined || !isChecksum(sha256)))
      return `must give the checksum of ${list} as #sha256= and 64 hex digits, or the https address of a file with them`;
    sources.push({ list, from: address, ...(sha256 === undefined ? {} : { sha256 }) });
  }
  return sources;
}

/**
 * @param f.known what the source said of the stored version; a request without it gets the whole list
 * @returns the list with its date, or undefined when its address says that nothing has changed
 * @throws Unavailable when the source does not answer; Refusal 'file_refused' when the content is not the list
 */
export async function fetchList(
  by: Downloads,
  { list, from, sha256 }: Source,
  { now, known }: { now: Date; known?: Validators | undefined },
): Promise<Fetched | undefined> {
  if (!isAddress(from)) return await fromFile({ list, from }, now);
  return await download(by, {
    ...{ address: { list, from, sha256 }, known },
    async use({ file, validators }): Promise<Fetched> {
      const pieces = file.createReadStream({ start: 0, autoClose: false });
      return { ...(await readList(list, pieces)), asOf: now, given: { source: from, ...validators } };
    },
  });
}

/** Where a list came from, and what its source said of it. */
export interface Given extends Validators {
  source: string;
}

export interface Fetched extends SanctionsList {
  asOf: Date;
  /** Undefined for a file. */
  given?: Given | undefined;
}

async function fromFile({ list, from }: Source, now: Date): Promise<Fetched> {
  const failed = (error: unknown): never => {
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof Refusal || code === undefined) throw error;
    throw new Unavailable(`list ${list}`, `its file cannot be read (${code})`);
  };
  const { mtime } = await stat(from).catch(failed);
  const sha256 = await checksumBeside(from).catch(failed);
  const found = await readList(list, createReadStream(from), sha256).catch(failed);
  return { ...found, asOf: mtime < now ? mtime : now };
}

async function checksumBeside(file: string): Promise<Buffer | undefined> {
  try {
    return Buffer.from(checksumIn(await readFile(`${file}.sha256`, 'utf8'), basename(file)) ?? '', 'hex');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
