/**
 * Sources of a list: a local file, or an https address.
 *
 * A file's checksum is read from a file beside it, `<file>.sha256`, if there is one. Its age is that of the file, because
 * reading the same file again gives no new information. An address is requested once, with one deadline over everything; it may
 * redirect to another https address, because publishers keep their lists at storage providers.
 */
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { Refusal, Unavailable } from '../../base/errors.ts';
import { type Http, type HttpAnswer, MAY_BE_PACKED, NoAnswer } from '../../base/http.ts';
import { isListCode, LIST_CODES, type ListCode } from './entry.ts';
import { readList, type SanctionsList } from './read.ts';
import { MOST_BYTES } from './xml.ts';

/** The longest list is sent in about a minute over a slow line. */
const FETCH_MS = 300_000;
const MOST_REDIRECTS = 3;
const REDIRECTS = [301, 302, 303, 307, 308];
/** Size of the pieces in which a downloaded list is read; the event loop gets a turn in between. */
const PIECE = 64 * 1024;

export interface Source {
  list: ListCode;
  /** A path or an https address. */
  from: string;
}

const isAddress = (from: string): boolean => from.startsWith('https://');

/** Reads `ofac=https://…,uk=/file.xml`. @returns the sources, or the violated rule, as the end of a sentence */
export function listSources(text: string): Source[] | string {
  const sources: Source[] = [];
  for (const part of text.split(',')) {
    const at = part.indexOf('=');
    const [list, from] = [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    if (at < 1 || !isListCode(list) || from === '')
      return `must be entries like un=https://…, separated by commas; the lists are ${LIST_CODES.join(', ')}`;
    if (sources.some((one) => one.list === list)) return `must name ${list} once`;
    if (/^[a-z][a-z+.-]+:/i.test(from) && !(isAddress(from) && URL.canParse(from)))
      return `must name a file or an https address for ${list}`;
    sources.push({ list, from });
  }
  return sources;
}

/**
 * @returns the list, and its date
 * @throws Unavailable when the source does not answer; Refusal 'file_refused' when the content is not the list
 */
export async function fetchList(ask: Http, source: Source, now: Date): Promise<Fetched> {
  const { list, from } = source;
  if (!isAddress(from)) return await fromFile(source, now);
  const { body } = await answerOf(ask, source);
  return { ...(await readList(list, pieces(body))), asOf: now, isWhole: false };
}

interface Fetched extends SanctionsList {
  asOf: Date;
  /** True when a checksum file proved that the list is complete. */
  isWhole: boolean;
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
  return { ...found, asOf: mtime < now ? mtime : now, isWhole: sha256 !== undefined };
}

async function checksumBeside(file: string): Promise<Buffer | undefined> {
  try {
    const text = await readFile(`${file}.sha256`, 'utf8');
    return Buffer.from(/^[0-9a-f]{64}/i.exec(text.trim())?.[0] ?? '', 'hex');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function answerOf(ask: Http, { list, from }: Source): Promise<HttpAnswer> {
  const no = (why: string) => new Unavailable(`list ${list}`, why);
  const deadline = AbortSignal.timeout(FETCH_MS);
  let url = from;
  for (let hop = 0; hop <= MOST_REDIRECTS; hop++) {
    const answer = await ask({
      url,
      headers: MAY_BE_PACKED,
      deadline,
      longestBytes: MOST_BYTES,
      wants: ({ status }) => (status === 200 ? 'whole' : 'none'),
    }).catch((error) => {
      throw error instanceof NoAnswer ? no(error.message) : error;
    });
    if (answer.status === 200) return answer;
    if (!REDIRECTS.includes(answer.status)) throw no(`its source answers ${answer.status}`);
    const next = URL.parse(answer.headers.location ?? '', url);
    if (next?.protocol !== 'https:') throw no('its source redirects to no https address');
    url = next.href;
  }
  throw no('its source redirects too often');
}

function* pieces(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += PIECE) yield body.subarray(at, at + PIECE);
}
