/**
 * Bodies: parses a request without losing a digit, and compares bodies by meaning.
 *
 * A JSON number keeps its source text (`1000000000000000000000.10` never passes through a double), so an amount sent as a
 * number is as exact as one sent as a string. Objects become Maps, so a field called `__proto__` or `constructor` is a field
 * like any other. Of a repeated name the last value counts, here and in what was signed.
 *
 * A partner's signed body and sent body often come from two different libraries: they differ in spaces, key order, `1000`
 * versus `"1000"`, an object versus its form text. So the two are compared by canonical text (`canonical`), where an absent
 * field, null and "" are equal, and a nested value is its JSON with sorted names, even if it arrives as JSON in a string.
 */
import { Refusal } from '../../base/errors.ts';

/** A number of a JSON text, with its source text. */
export class JsonNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}
export type BodyValue = string | boolean | null | JsonNumber | readonly BodyValue[] | Body;
export type Body = ReadonlyMap<string, BodyValue>;

/** No program nests deeper than three; a thousand brackets would be an attack on the stack. */
const MAX_DEPTH = 16;
const EMPTY: Body = new Map();

/** Body formats; multipart.ts reads the third. */
export type BodyKind = 'json' | 'form' | 'multipart';

/** @returns undefined for a content type we do not read */
export function bodyKind(contentType: string | undefined): BodyKind | undefined {
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (type === 'application/json') return 'json';
  if (type === 'application/x-www-form-urlencoded') return 'form';
  if (type === 'multipart/form-data') return 'multipart';
  return undefined;
}

/**
 * The fields of a request.
 *
 * @throws Refusal 'malformed_body' when it is not a JSON object or a valid form
 */
export function readBody(bytes: Buffer, kind: Exclude<BodyKind, 'multipart'>): Body {
  if (bytes.length === 0) return EMPTY;
  const text = utf8(bytes);
  if (text === undefined) throw new Refusal('malformed_body', { why: 'is not UTF-8' });
  if (kind === 'form') return readForm(text);
  if (text.trim() === '') return EMPTY;
  const value = parseJson(text);
  if (!(value instanceof Map)) throw new Refusal('malformed_body', { why: 'must be a JSON object' });
  return value;
}

/** The signed body: the object itself, or its JSON text. Empty without a value; undefined for a value that cannot be a body. */
export function signedBody(value: BodyValue | undefined): Body | undefined {
  if (value === undefined || value === null || value === '') return EMPTY;
  const read = typeof value === 'string' ? parseJson(value) : value;
  // PHP has one array type, so it writes an empty object as [].
  if (Array.isArray(read) && read.length === 0) return EMPTY;
  return read instanceof Map ? read : undefined;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

export function utf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

type Reviver = (this: unknown, name: string, value: unknown, context: { source?: string }) => unknown;
// The reviver's third argument, which has a number's source text, is in Node 24 and not yet in the library types.
const parse = JSON.parse as (text: string, reviver: Reviver) => BodyValue;

/** @returns undefined when the text is not JSON, or is nested too deeply */
export function parseJson(text: string): BodyValue | undefined {
  if (depthOf(text) > MAX_DEPTH) return undefined;
  try {
    return parse(text, (_name, value, { source }) => {
      if (typeof value === 'number') return new JsonNumber(source ?? String(value));
      if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof JsonNumber)
        return value;
      return new Map(Object.entries(value));
    });
  } catch {
    return undefined;
  }
}

/** Nesting depth of a JSON text, counted before any recursion. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (inString) {
      if (char === 0x5c) at += 1;
      else if (char === 0x22) inString = false;
    } else if (char === 0x22) inString = true;
    else if (char === 0x7b || char === 0x5b) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (char === 0x7d || char === 0x5d) depth -= 1;
  }
  return deepest;
}

/** Every value of a form is a text; `a[b]=c` is a field called `a[b]`. */
function readForm(text: string): Body {
  const fields = new Map<string, BodyValue>();
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const [name, value] = equals < 0 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)];
    fields.set(unescapeForm(name), unescapeForm(value));
  }
  return fields;
}

function unescapeForm(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new Refusal('malformed_body', { why: 'has a broken percent escape' });
  }
}

/** The body as a text that is equal for bodies with the same meaning. */
export function canonical(body: Body): string {
  return canonicalValue(body);
}

export const sameMeaning = (one: Body, other: Body): boolean => canonical(one) === canonical(other);

export const isAbsent = (value: BodyValue | undefined): value is undefined | null | '' =>
  value === undefined || value === null || value === '';

function canonicalValue(value: BodyValue): string {
  if (Array.isArray(value)) return `[${(value as readonly BodyValue[]).map(canonicalValue).join(',')}]`;
  if (value instanceof Map) {
    const fields = [...(value as Body)].filter(([, field]) => !isAbsent(field));
    fields.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalValue(field)}`).join(',')}}`;
  }
  const text = value === null ? '' : value instanceof JsonNumber ? value.text : String(value);
  if (text.startsWith('{') || text.startsWith('[')) {
    const nested = parseJson(text);
    if (nested !== undefined) return canonicalValue(nested);
  }
  return JSON.stringify(text);
}

/**
 * A JSON number as plain decimal text, exactly: `1.0E7` is `10000000`, `-5e-1` is `-0.5`.
 *
 * @returns undefined when that would be longer than any real amount
 */
export function plainDecimal(number: JsonNumber, maxChars = 60): string | undefined {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/.exec(number.text);
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponentText] = match;
  if (exponentText === undefined) return number.text;
  const digits = whole + fraction;
  const point = whole.length + Number(exponentText);
  if (point > maxChars || point < -maxChars) return undefined;
  const padded = digits.padStart(digits.length + Math.max(0, 1 - point), '0').padEnd(Math.max(point, 1), '0');
  const at = Math.max(point, 1);
  const intPart = padded.slice(0, at).replace(/^0+(?=\d)/, '');
  const rest = padded.slice(at).replace(/0+$/, '');
  return `${sign}${intPart}${rest === '' ? '' : `.${rest}`}`;
}

/** Whether every signed text was sent unchanged. Files are not signed, and other texts need not be. */
export const signedTextsAgree = (signed: Body, sent: Body): boolean =>
  [...signed].every(([name, value]) => {
    if (isAbsent(value)) return isAbsent(sent.get(name));
    return canonical(new Map([[name, value]])) === canonical(new Map([[name, sent.get(name) ?? null]]));
  });
