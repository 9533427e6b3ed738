/**
 * Reads large XML files record by record: only one record is in memory at a time.
 *
 * The whole file is rejected for: a document type declaration (and with it entities, their expansion and external references),
 * XML that is not well-formed to its last byte, bytes that are not UTF-8, another root element, and anything beyond the bounds
 * below. So a truncated list is never accepted as a shorter one.
 *
 * Not here: the interpretation of a record (ofac.ts, un.ts, eu.ts, uk.ts).
 */
import { createHash } from 'node:crypto';
import { SaxesParser } from 'saxes';
import { Refusal } from '../../base/errors.ts';

/** An element with its children. Text is that of the element itself, without that of its children. */
export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Element[];
  readonly text: string;
}

export type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** The longest published list has about 126 MB. */
export const MOST_BYTES = 256 * 1024 * 1024;
const DEEPEST = 40;
/** Per record: the longest published entry has a few hundred names, features and addresses. */
const MOST_ELEMENTS = 50_000;
/** Per record, in characters. Reasons for a listing run to several pages. */
const MOST_TEXT = 4 * 1024 * 1024;
const LONGEST_TEXT = 200_000;
const MOST_ATTRIBUTES = 60;
const LONGEST_ATTRIBUTE = 20_000;
/** Per file; all four lists together have about 40,000 entries. */
const MOST_RECORDS = 1_000_000;

/** A rejected list, with the sentence shown to the operator. It quotes no content of the file. */
export const refuseList = (why: string): Refusal => new Refusal('file_refused', { why });

export interface RecordsOf {
  /** The root element: its name, and the namespaces that it may have. '' is none. */
  root: { name: string; namespaces: readonly string[]; is: string };
  /** Paths below the root, such as `Locations/Location`, whose elements are records. */
  records: ReadonlySet<string>;
  onRoot?: (attributes: Readonly<Record<string, string>>) => void;
  onRecord(path: string, record: Element): void;
}

/**
 * @returns SHA-256 of the bytes that were read
 * @throws Refusal 'file_refused' with a sentence that names the rule
 */
export async function readRecords(chunks: Chunks, format: RecordsOf): Promise<Buffer> {
  const reader = openReader(format);
  const parser = new SaxesParser({ xmlns: true, position: false });
  parser.on('error', () => {
    throw refuseList('The list is not well-formed XML, or was cut.');
  });
  parser.on('doctype', () => {
    throw refuseList('The list has a document type declaration. No publisher sends one.');
  });
  parser.on('opentag', (tag) => {
    const attributes = Object.entries(tag.attributes).map(([name, { value }]) => [name, value] as const);
    reader.open(tag.local, tag.uri, attributes);
  });
  parser.on('text', (text) => reader.text(text));
  parser.on('cdata', (text) => reader.text(text));
  parser.on('closetag', () => reader.close());
  const hash = createHash('sha256');
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > MOST_BYTES) throw refuseList(`The list is larger than ${MOST_BYTES / 1024 / 1024} MB.`);
    hash.update(chunk);
    parser.write(decoded(decoder, chunk));
    await otherWork();
  }
  if (size === 0) throw refuseList('The list is empty.');
  parser.write(decoded(decoder));
  parser.close();
  return hash.digest();
}

/** Reading takes seconds in total, so the event loop gets a turn between two pieces. */
const otherWork = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function decoded(decoder: InstanceType<typeof TextDecoder>, chunk?: Uint8Array): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch {
    throw refuseList('The list is not in UTF-8, or was cut in the middle of a character.');
  }
}

interface Open {
  name: string;
  attributes: Record<string, string>;
  children: Element[];
  text: string;
}

function openReader({ root, records, onRoot, onRecord }: RecordsOf) {
  const path: string[] = [];
  /** The record that is being read, from its own element down to the current one. */
  const record: Open[] = [];
  let recordPath = '';
  let elements = 0;
  let texts = 0;
  let count = 0;

  function open(local: string, uri: string, attributes: (readonly [string, string])[]): void {
    if (path.length === 0 && (local !== root.name || !root.namespaces.includes(uri)))
      throw refuseList(`The file is not ${root.is}.`);
    if (path.length >= DEEPEST) throw refuseList('The list is nested too deeply.');
    if (attributes.length > MOST_ATTRIBUTES) throw refuseList('An element has too many attributes.');
    if (attributes.some(([, value]) => value.length > LONGEST_ATTRIBUTE))
      throw refuseList(`An attribute has more than ${LONGEST_ATTRIBUTE} characters.`);
    path.push(local);
    const here = path.slice(1).join('/');
    // No prototype, because an attribute may have any name, such as `__proto__`.
    const given: Record<string, string> = Object.assign(Object.create(null), Object.fromEntries(attributes));
    if (path.length === 1) onRoot?.(given);
    if (record.length === 0 && records.has(here)) {
      count += 1;
      if (count > MOST_RECORDS) throw refuseList(`The list has more than ${MOST_RECORDS} records.`);
      recordPath = here;
      elements = 0;
      texts = 0;
    } else if (record.length === 0) return;
    elements += 1;
    if (elements > MOST_ELEMENTS) throw refuseList(`A record has more than ${MOST_ELEMENTS} elements.`);
    record.push({ name: local, attributes: given, children: [], text: '' });
  }

  function text(piece: string): void {
    const element = record.at(-1);
    if (element === undefined) return;
    texts += piece.length;
    if (texts > MOST_TEXT || element.text.length + piece.length > LONGEST_TEXT)
      throw refuseList(`A text has more than ${LONGEST_TEXT} characters.`);
    element.text += piece;
  }

  function close(): void {
    path.pop();
    const done = record.pop();
    if (done === undefined) return;
    done.text = done.text.trim();
    const parent = record.at(-1);
    if (parent === undefined) onRecord(recordPath, done);
    else parent.children.push(done);
  }

  return { open, text, close };
}

// Queries within a record.

/** All elements at a path below one, such as `Names/Name`. */
export function all(element: Element, path: string): Element[] {
  let found: Element[] = [element];
  for (const name of path.split('/'))
    found = found.flatMap(({ children }) => children.filter((child) => child.name === name));
  return found;
}

export const first = (element: Element, path: string): Element | undefined => all(element, path)[0];

/** The text of the first element there; '' when there is none. */
export const textAt = (element: Element, path: string): string => first(element, path)?.text ?? '';

/** A text as it is stored: on one line, cut to `longest` characters. */
export const line = (text: string, longest = 500): string =>
  text
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, longest);
