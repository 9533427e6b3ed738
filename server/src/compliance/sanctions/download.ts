/**
 * Downloads a list from an https address into a file.
 *
 * - **One request, one deadline** over redirects, head and body. An interrupted download is discarded; the job asks again after a pause.
 * - **Little memory.** Pieces go to a temporary file that has no name any more once it is open, so a process that ends leaves nothing.
 * - **Unchanged lists are not sent.** The request has what the source said of the stored version (ETag, Last-Modified), and the source
 *   may answer 304.
 * - **Checksum.** If the source has one, as hex digits or the address of a checksum file, the bytes are compared before they are read as
 *   a list.
 * - **Redirects** are followed to https only, three at most. Publishers keep their lists at storage providers. The target of a redirect is
 *   chosen outside, so it is called as an address of an outsider is (`route`): not inside our network.
 *
 * Not here: what is in the file (read.ts), when to ask again (service.ts).
 */
import { createHash } from 'node:crypto';
import { type FileHandle, mkdtemp, open, rmdir, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defined } from '../../base/defined.ts';
import { Unavailable } from '../../base/errors.ts';
import { type Http, type HttpAnswer, type HttpRequest, MAY_BE_PACKED, NoAnswer } from '../../base/http.ts';
import type { ListCode } from './entry.ts';
import { MOST_BYTES, refuseList } from './xml.ts';

/** The longest list is sent in about a minute over a slow line. */
const FETCH_MS = 300_000;
const MOST_REDIRECTS = 3;
const REDIRECTS = [301, 302, 303, 307, 308];
const MOST_CHECKSUM_BYTES = 64 * 1024;

export interface Downloads {
  ask: Http;
  /** How to connect to the target of a redirect. @throws an error when it may not be called. Without it, as to any address. */
  route?: ((url: URL, deadline: AbortSignal) => Promise<NonNullable<HttpRequest['via']>>) | undefined;
  /** For tests. */
  deadlineMs?: number;
  mostBytes?: number;
}

/** An address with the checksum that its bytes must have: hex digits, or the address of a checksum file. */
export interface Address {
  list: ListCode;
  from: string;
  sha256?: string | undefined;
}

/** What a source says of an answer, so that it can be asked whether a newer one is there. */
export interface Validators {
  etag: string | null;
  modified: string | null;
}

export interface Downloaded {
  file: FileHandle;
  validators: Validators;
}

/**
 * @param d.known what the source said of the stored version
 * @param d.use reads the file, which is closed afterwards
 * @returns what `use` returns, or undefined when the source has nothing newer
 * @throws Unavailable when the source does not answer; Refusal 'file_refused' when the checksum is another
 */
export async function download<T>(
  by: Downloads,
  { address, known, use }: { address: Address; known: Validators | undefined; use: (d: Downloaded) => Promise<T> },
): Promise<T | undefined> {
  const { list, from, sha256 } = address;
  const deadline = AbortSignal.timeout(by.deadlineMs ?? FETCH_MS);
  const request = requests(by, { list, deadline });
  const file = await openUnnamed();
  try {
    const hash = createHash('sha256');
    const answer = await request(from, {
      headers: { ...MAY_BE_PACKED, ...conditions(known) },
      longestBytes: by.mostBytes ?? MOST_BYTES,
      async onPiece(piece) {
        hash.update(piece);
        await file.appendFile(piece);
      },
    });
    if (answer.status === 304) {
      if (known !== undefined) return undefined;
      throw new Unavailable(`list ${list}`, 'its source answers 304 to a request without conditions');
    }
    if (sha256 !== undefined && hash.digest('hex') !== (await expected(request, address, sha256)))
      throw refuseList('The list does not have the checksum that its source gives.');
    return await use({ file, validators: validatorsOf(answer) });
  } finally {
    await file.close();
  }
}

/** A temporary file that is gone as soon as it is closed, or its process ends. */
async function openUnnamed(): Promise<FileHandle> {
  const dir = await mkdtemp(join(tmpdir(), 'cloverleaf-list-'));
  const name = join(dir, 'list');
  const file = await open(name, 'ax+', 0o600);
  await unlink(name);
  await rmdir(dir);
  return file;
}

type Request = (from: string, more: Pick<HttpRequest, 'headers' | 'longestBytes' | 'onPiece'>) => Promise<HttpAnswer>;

/** Requests that follow redirects. They answer 200, or 304. */
function requests(by: Downloads, { list, deadline }: { list: ListCode; deadline: AbortSignal }): Request {
  const no = (why: string) => new Unavailable(`list ${list}`, why);
  return async (from, more) => {
    let url = new URL(from);
    for (let hop = 0; hop <= MOST_REDIRECTS; hop++) {
      const via =
        hop === 0
          ? undefined
          : await by.route?.(url, deadline).catch(() => {
              throw no('its source redirects to an address that may not be called, or whose name is unknown');
            });
      const answer = await by
        .ask({
          ...{ ...more, url: url.href, deadline, ...defined({ via }) },
          wants: ({ status }) => (status === 200 ? 'whole' : 'none'),
        })
        .catch((error) => {
          throw error instanceof NoAnswer ? no(error.message) : error;
        });
      if (answer.status === 200 || answer.status === 304) return answer;
      if (!REDIRECTS.includes(answer.status)) throw no(`its source answers ${answer.status}`);
      const next = URL.parse(answer.headers.location ?? '', url.href);
      if (next?.protocol !== 'https:') throw no('its source redirects to no https address');
      url = next;
    }
    throw no('its source redirects too often');
  };
}

/** The checksum that the bytes must have, in lower-case hex. */
async function expected(request: Request, { list, from }: Address, sha256: string): Promise<string> {
  if (!sha256.startsWith('https:')) return sha256.toLowerCase();
  const { status, body } = await request(sha256, { headers: MAY_BE_PACKED, longestBytes: MOST_CHECKSUM_BYTES });
  if (status !== 200) throw new Unavailable(`list ${list}`, 'its checksum is not sent');
  return checksumIn(body.toString('latin1'), fileNameIn(from)) ?? '';
}

/** The name of the file at an address. A `%` that encodes nothing belongs to the name. */
export function fileNameIn(address: string): string {
  const name = new URL(address).pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/**
 * The SHA-256 of a file in a text as `sha256sum` writes it, with a line for each file, or of the only file in it.
 *
 * @returns lower-case hex, or undefined when the text has none for this file
 */
export function checksumIn(text: string, name: string): string | undefined {
  const lines = [...text.matchAll(/^\s*([0-9a-f]{64})(?:[ \t]+\*?(\S.*?))?\s*$/gim)];
  const own = lines.filter(([, , file]) => file?.split('/').at(-1)?.toLowerCase() === name.toLowerCase());
  const [only, more] = own.length > 0 ? own : lines;
  return more === undefined ? only?.[1]?.toLowerCase() : undefined;
}

const conditions = (known: Validators | undefined): Record<string, string> =>
  known === undefined
    ? {}
    : {
        ...(known.etag === null ? {} : { 'if-none-match': known.etag }),
        ...(known.modified === null ? {} : { 'if-modified-since': known.modified }),
      };

/** Sent back as they came, so only what a header may contain is kept. */
function validatorsOf({ headers: { etag, 'last-modified': modified } }: HttpAnswer): Validators {
  return {
    etag: etag !== undefined && /^(W\/)?"[\x21\x23-\x7e]{0,500}"$/.test(etag) ? etag : null,
    modified: modified !== undefined && /^[\w ,:]{1,60}$/.test(modified) ? modified : null,
  };
}
