/**
 * Whether a PDF only shows pages: no script, no action but those that choose a page or link to one of the web (pdf.actions.ts), no
 * file in it or beside it, no password.
 *
 * A reader finds an object by its offset or by a search, so an object may stand anywhere: between others, in a comment, in the
 * content of a stream, or compressed in an object stream. Therefore each place where an object can begin is read as a reader
 * would read it, token by token, and every name in it counts. Outside streams, the spelling alone counts, wherever it stands.
 *
 * An object stream is recognised by what readers need of it (/N and /First), since they do not ask for its type. It must be
 * compressed in the one usual way; one that is encoded in any other way may contain anything, and is refused.
 *
 * Nothing is repaired: a file whose brackets do not match is refused, because readers disagree about it.
 * Source: ISO 32000-1, 7.2 (tokens), 7.3.5 (names), 7.3.8 (streams), 7.5.7 (object streams)
 */
import { inflateSync } from 'node:zlib';
import { actionsIn, type Found } from './pdf.actions.ts';

/**
 * Names of features that run, open, send, embed or encrypt something. Long names do not occur by chance, so they count
 * everywhere; short ones occur in compressed data, and count outside streams and in every object.
 */
const ACTIVE =
  /\/(?:JavaScript|Launch|EmbeddedFile|FileAttachment|Filespec|Encrypt\b|RichMedia|Rendition|Movie\b|Sound\b|SubmitForm|ImportData|GoToR|GoToE|OnInstantiate|PresSteps)/;
const ACTIVE_SHORT = /\/(?:JS|AA|XFA|EF)(?![A-Za-z0-9])/;
const MAX_INFLATED_BYTES = 16 * 1_048_576;
/** A file is read once, or twice where a stream holds what looks like an object. One that takes longer is made to. */
const MAX_READS = 4;
/** Deeper than any program writes. */
const MAX_DEPTH = 200;
/** More than any program writes into the largest file that is taken (protocols/uploads.ts); each costs microseconds. */
const MAX_OBJECTS = 150_000;
const MAX_OBJECTS_IN_STREAMS = 1_000;
const MAX_ENCODED_NAMES = 50_000;

/** Where a reader may begin to read an object, or the dictionary that names the first one. */
const BEGINS = /(?:[\d\0\t\n\f\r ]obj|trailer)(?=[\0\t\n\f\r <[%])/g;
const BLANK = /(?:[\0\t\n\f\r ]+|%[^\r\n]*)+/y;
const NAME = /\/[^\0\t\n\f\r ()<>[\]{}/%]*/y;
const WORD = /[^\0\t\n\f\r ()<>[\]{}/%]+/y;
const STREAM = /stream(?![^\0\t\n\f\r ()<>[\]{}/%])/y;
const IN_STRING = /[^()\\]*(?:\\[\s\S]|[()]|$)/y;

/** @param bytes a file that begins and ends as a PDF */
export function isPassivePdf(bytes: Buffer): boolean {
  const text = bytes.toString('latin1');
  if (ACTIVE.test(decoded(text))) return false;
  const read = streamsOf(text);
  if (read === undefined) return false;
  const { streams } = read;
  const rest = outside(text, streams);
  if (ACTIVE_SHORT.test(decoded(rest))) return false;
  // A link in an annotation cannot be what opens; one that is an object is in `read.found`.
  const found: Found[] = [...read.found, { ...actionsOf(rest), hasLink: false }];
  let left = MAX_INFLATED_BYTES;
  for (const { dictionary, from } of streams) {
    if (!holdsObjects(dictionary)) continue;
    const inside = isReadable(dictionary, text, from) ? inflated(bytes, text, { from, left }) : undefined;
    if (inside === undefined || ACTIVE.test(decoded(inside)) || ACTIVE_SHORT.test(decoded(inside))) return false;
    found.push(actionsOf(inside));
    left -= inside.length;
  }
  const opensLink = found.some(({ opensByNumber }) => opensByNumber) && found.some(({ hasLink }) => hasLink);
  return !opensLink && !found.some(({ isRefused }) => isRefused);
}

const ENCODED_NAME = /\/[^\0\t\n\f\r ()<>[\]{}/%#]*#[^\0\t\n\f\r ()<>[\]{}/%]*/g;
/** Actions of a part of the file, with its names decoded; what would end a name in one is replaced. */
function actionsOf(text: string): Found {
  let left = MAX_ENCODED_NAMES;
  const read = text.replace(ENCODED_NAME, (name) => {
    left -= 1;
    return left < 0 ? '' : `/${decoded(name.slice(1)).replaceAll(/[\0\t\n\f\r ()<>[\]{}/%]/g, '_')}`;
  });
  return left < 0 ? { isRefused: true, opensByNumber: false, hasLink: false } : actionsIn(read);
}

const DIGITS = '0123456789abcdef';

/** A name may spell any of its characters as a code: /J#61vaScript. By hand, because a file may be nothing but codes. */
function decoded(text: string): string {
  if (!text.includes('#')) return text;
  const bytes = Buffer.from(text, 'latin1');
  const digit = (at: number): number => DIGITS.indexOf(String.fromCharCode(bytes[at] ?? 0).toLowerCase());
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1, length += 1) {
    const [high, low] = bytes[at] === 0x23 ? [digit(at + 1), digit(at + 2)] : [-1, -1];
    bytes[length] = high >= 0 && low >= 0 ? high * 16 + low : (bytes[at] ?? 0);
    if (high >= 0 && low >= 0) at += 2;
  }
  return bytes.toString('latin1', 0, length);
}

interface Stream {
  /** Tokens of its dictionary, names decoded, between blanks. Strings are `()`. */
  dictionary: string;
  /** Its content, from the end of the word "stream" up to the next "endstream". */
  from: number;
  to: number;
}

const STANDS_ALONE = { isRefused: false, opensByNumber: false, hasLink: true };

/**
 * The streams of all objects, and actions that are objects themselves, or stand in the content of a stream.
 *
 * @returns undefined when an object is active or cannot be read, or reading takes too long
 */
function streamsOf(text: string): { streams: Stream[]; found: Found[] } | undefined {
  const streams: Stream[] = [];
  const found: Found[] = [];
  let left = MAX_READS * text.length;
  let [objects, inStreams] = [0, 0];
  let last = { from: -1, to: -1 };
  for (const { index, 0: word } of text.matchAll(BEGINS)) {
    const object = objectAt(text, index + word.length, left);
    left -= object.end - index;
    objects += 1;
    if (index < last.to) inStreams += 1;
    if (objects > MAX_OBJECTS || inStreams > MAX_OBJECTS_IN_STREAMS) return undefined;
    if (!object.isWhole || left < 0 || ACTIVE_SHORT.test(object.tokens)) return undefined;
    if (object.tokens === '') continue;
    if (object.own.includes(' /S /URI ')) found.push(STANDS_ALONE);
    if (index < last.to) found.push(actionsOf(text.slice(index, object.end)));
    STREAM.lastIndex = skip(text, object.end);
    if (!STREAM.test(text)) continue;
    // Its content is in another file.
    if (['F', 'FFilter', 'FDecodeParms'].some((name) => has(object.own, name))) return undefined;
    const from = STREAM.lastIndex;
    if (from < last.from || from > last.to) {
      const to = text.indexOf('endstream', from);
      if (to < 0) return undefined;
      left -= to - from;
      last = { from, to };
    }
    streams.push({ dictionary: object.tokens, from, to: last.to });
  }
  return { streams, found };
}

interface Read {
  /** Between blanks. */
  tokens: string;
  /** Those that are not in a dictionary or array within it. */
  own: string;
  end: number;
  isWhole: boolean;
}

/** Reads one dictionary or array. No tokens when neither stands there: any other value holds no names. */
function objectAt(text: string, begin: number, most: number): Read {
  let at = skip(text, begin);
  if (!text.startsWith('<<', at) && text[at] !== '[') return { tokens: '', own: '', end: at, isWhole: true };
  const open: string[] = [];
  const own: string[] = [];
  const tokens: string[] = [];
  do {
    const token = tokenAt(text, at);
    if (token === undefined || at - begin > most || open.length > MAX_DEPTH)
      return { tokens: '', own: '', end: at, isWhole: false };
    tokens.push(token.text);
    if (open.length === 1) own.push(token.text);
    at = skip(text, token.end);
    if (token.text === '<<' || token.text === '[') open.push(token.text);
    if ((token.text === '>>' || token.text === ']') && open.pop() !== (token.text === ']' ? '[' : '<<'))
      return { tokens: '', own: '', end: at, isWhole: false };
  } while (open.length > 0);
  return { tokens: ` ${tokens.join(' ')} `, own: ` ${own.join(' ')} `, end: at, isWhole: true };
}

function skip(text: string, at: number): number {
  BLANK.lastIndex = at;
  return BLANK.test(text) ? BLANK.lastIndex : at;
}

/** The token at a place that is not blank; undefined at the end, and for a string without an end. */
function tokenAt(text: string, at: number): { text: string; end: number } | undefined {
  const first = text[at];
  if (first === undefined) return undefined;
  if (first === '(') {
    const end = endOfString(text, at);
    return end === undefined ? undefined : { text: '()', end };
  }
  const two = text.slice(at, at + 2);
  if (two === '<<' || two === '>>') return { text: two, end: at + 2 };
  if (first === '<') {
    const end = text.indexOf('>', at);
    return end < 0 ? undefined : { text: '()', end: end + 1 };
  }
  const pattern = first === '/' ? NAME : WORD;
  pattern.lastIndex = at;
  const found = pattern.exec(text)?.[0];
  return found === undefined
    ? { text: first, end: at + 1 }
    : { text: first === '/' ? decoded(found).replaceAll(' ', '_') : found, end: at + found.length };
}

/** Brackets in a string are part of it when they match, or when a backslash precedes them. */
function endOfString(text: string, from: number): number | undefined {
  let depth = 0;
  let at = from;
  do {
    IN_STRING.lastIndex = at;
    const part = IN_STRING.exec(text)?.[0];
    if (part === undefined || part === '') return undefined;
    at += part.length;
    const last = part.at(-1);
    if (part.at(-2) === '\\') continue;
    if (last === '(') depth += 1;
    else if (last === ')') depth -= 1;
    else return undefined;
  } while (depth > 0);
  return at;
}

/** The text without the content of streams. */
function outside(text: string, streams: readonly Stream[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { from, to } of streams.toSorted((a, b) => a.from - b.from)) {
    if (from > at) parts.push(text.slice(at, from));
    at = Math.max(at, to);
  }
  return [...parts, text.slice(at)].join('\n');
}

const has = (dictionary: string, name: string): boolean => dictionary.includes(` /${name} `);

const holdsObjects = (dictionary: string): boolean =>
  has(dictionary, 'ObjStm') || (has(dictionary, 'N') && has(dictionary, 'First'));

/** Compressed once, unchanged by a predictor, and in this file: /F names a file elsewhere, or to some readers a second filter. */
function isReadable(dictionary: string, text: string, from: number): boolean {
  const [, filter, second] = dictionary.split(' /Filter ');
  return (
    /^(?:\/FlateDecode|\[ \/FlateDecode \]) /.test(filter ?? '') &&
    second === undefined &&
    !['DecodeParms', 'DP', 'F', 'FFilter', 'FDecodeParms'].some((name) => has(dictionary, name)) &&
    /^\r?\n/.test(text.slice(from, from + 2))
  );
}

function inflated(bytes: Buffer, text: string, { from, left }: { from: number; left: number }): string | undefined {
  try {
    return inflateSync(bytes.subarray(from + (text[from] === '\r' ? 2 : 1)), {
      maxOutputLength: Math.max(1, left),
    }).toString('latin1');
  } catch {
    return undefined;
  }
}
