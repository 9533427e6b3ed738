/**
 * Decoding: converts a file's bytes to text, chunk by chunk, from the encodings that banks and office programs use.
 *
 * The encoding is that of a byte order mark; else the one named by the settings or the XML; else UTF-16 if every second byte is
 * zero; else UTF-8, and windows-1252 (a superset of Latin-1) from the first byte that is not UTF-8. Nothing is replaced: an
 * invalid byte rejects the file, because a silently altered text would change the identity of its line.
 */
import { Refusal } from '../../base/errors.ts';

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** A day's statement is a few megabytes at most. */
export const MOST_BYTES = 64 * 1024 * 1024;
/** Number of bytes examined to choose an encoding. An XML declaration ends well before. */
const SNIFFED = 512;

/** A rejected file, with the sentence that the operator sees. The sentence quotes no content of the file. */
export const refuseFile = (why: string): Refusal => new Refusal('file_refused', { why });

export type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/**
 * @param encoding 'auto', or a known encoding
 * @param xml      whether an XML declaration may name the encoding
 * @throws Refusal 'file_refused' if it is empty, too large, or not in its encoding
 */
export async function* decode(chunks: Chunks, encoding: Encoding | 'auto', xml = false): AsyncGenerator<string> {
  let head = Buffer.alloc(0);
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  let size = 0;
  const open = () => new TextDecoder(chosen(head, encoding, xml), { fatal: true, ignoreBOM: false });
  try {
    for await (const chunk of chunks) {
      size += chunk.length;
      if (size > MOST_BYTES) throw refuseFile(`The file is larger than ${MOST_BYTES / 1024 / 1024} MB.`);
      if (decoder === undefined) {
        head = Buffer.concat([head, chunk]);
        if (head.length < SNIFFED) continue;
        decoder = open();
        yield decoder.decode(head, { stream: true });
      } else yield decoder.decode(chunk, { stream: true });
    }
    if (size === 0) throw refuseFile('The file is empty.');
    if (decoder === undefined) {
      decoder = open();
      yield decoder.decode(head, { stream: true });
    }
    yield decoder.decode();
  } catch (error) {
    if (error instanceof TypeError && decoder !== undefined)
      throw refuseFile(`The file is not in the encoding ${decoder.encoding}, or ends in the middle of a character.`);
    throw error;
  }
}

/** As `decode`, for a complete file: without a given encoding, all bytes together decide between UTF-8 and windows-1252. */
export async function decodeWhole(chunks: Chunks, encoding: Encoding | 'auto'): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > MOST_BYTES) throw refuseFile(`The file is larger than ${MOST_BYTES / 1024 / 1024} MB.`);
    parts.push(chunk);
  }
  const whole = Buffer.concat(parts);
  let text = '';
  for await (const piece of decode([whole], encoding === 'auto' ? chosenForWhole(whole) : encoding)) text += piece;
  return text;
}

function chosenForWhole(whole: Buffer): Encoding {
  const first = chosen(whole.subarray(0, SNIFFED), 'auto', false);
  if (first !== 'utf-8' || hasMark(whole)) return first;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(whole);
    return 'utf-8';
  } catch {
    return 'windows-1252';
  }
}

const hasMark = (head: Buffer): boolean => head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf;

function chosen(head: Buffer, encoding: Encoding | 'auto', xml: boolean): Encoding {
  if (hasMark(head)) return 'utf-8';
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  if (encoding !== 'auto') return encoding;
  const noughts = (odd: number): number => head.filter((byte, i) => byte === 0 && i % 2 === odd).length;
  if (noughts(1) > head.length / 4) return 'utf-16le';
  if (noughts(0) > head.length / 4) return 'utf-16be';
  const named = xml
    ? /^<\?xml[^>]*\bencoding\s*=\s*["']([^"']{1,40})["']/.exec(head.toString('latin1'))?.[1]
    : undefined;
  if (named === undefined) return 'utf-8';
  const known = KNOWN[named.toLowerCase()];
  if (known === undefined) throw refuseFile('The file declares an encoding that the server does not support.');
  return known;
}

const KNOWN: Readonly<Record<string, Encoding>> = {
  'utf-8': 'utf-8',
  utf8: 'utf-8',
  'us-ascii': 'utf-8',
  ascii: 'utf-8',
  'iso-8859-1': 'windows-1252',
  'iso8859-1': 'windows-1252',
  latin1: 'windows-1252',
  'windows-1252': 'windows-1252',
  cp1252: 'windows-1252',
};
