/**
 * Fuzzing: hostile and broken input for every reader of outside bytes, with a property that has to hold for each input.
 *
 * In `npm test` the inputs are few and always the same. `npm run fuzz` (main.process.ts) requests more, and others, by the
 * environment: FUZZ multiplies the usual number of inputs, FUZZ_SEED is the start of the random sequence. A failure reports the
 * seed and the path, and fast-check makes the input as small as it can.
 *
 * Every reader counts its inputs, and the time of the slowest, into the file that FUZZ_COUNTS names, a line
 * of JSON each: `{"reader":"body: JSON","inputs":2000,"slowestMs":3}`.
 */
import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';

export interface Count {
  reader: string;
  inputs: number;
  slowestMs: number;
}

const TIMES = Number(process.env.FUZZ ?? '1');
const SEED = Number(process.env.FUZZ_SEED ?? '20261121');
/** No input here is large: one that takes this long has found a loop, or quadratic time. */
const HANG_MS = 10_000;

/**
 * A test: `check` holds for every input.
 *
 * @param reader the reader of the bytes; reports are by this name
 * @param claim  the property
 * @param runs   how many inputs in `npm test`
 */
export function fuzz<T>(
  reader: string,
  claim: string,
  runs: number,
  input: fc.Arbitrary<T>,
  check: (input: T) => void | Promise<void>,
): void {
  test(`${reader}: ${claim}`, async () => {
    const count: Count = { reader, inputs: 0, slowestMs: 0 };
    const property = fc.asyncProperty(input, async (one) => {
      count.inputs += 1;
      const began = performance.now();
      const answer = check(one);
      if (answer !== undefined) await within(answer);
      const tookMs = performance.now() - began;
      count.slowestMs = Math.max(count.slowestMs, Math.ceil(tookMs));
      assert.ok(tookMs < HANG_MS, `took ${tookMs} ms`);
    });
    await fc.assert(property, { numRuns: Math.ceil(runs * TIMES), seed: SEED });
    if (process.env.FUZZ_COUNTS !== undefined) appendFileSync(process.env.FUZZ_COUNTS, `${JSON.stringify(count)}\n`);
  });
}

async function within(answer: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, failed) => {
    timer = setTimeout(() => failed(new Error(`no end within ${HANG_MS} ms`)), HANG_MS);
  });
  try {
    await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Values that programs often mishandle, in place of a text. */
export const NASTY: readonly string[] = [
  '',
  ' ',
  '0',
  '-0',
  '-1',
  '00',
  '1e400',
  '1e-400',
  '1E7',
  '.',
  '1.',
  '.5',
  '1..2',
  '1,000',
  'NaN',
  'Infinity',
  'null',
  'true',
  '0x',
  '0x0',
  '0x1f',
  '9007199254740993',
  '9223372036854775808',
  '99999999999999999999',
  '9'.repeat(40),
  '9'.repeat(400),
  `0.${'0'.repeat(38)}1`,
  '\u0661\u0662',
  '\uff11\uff12',
  '\u0000',
  'a\u0000b',
  '\ufeff1',
  '\u202e1',
  '\ud800',
  '\udfff1',
  '\u2028',
  '\r\n',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '[object Object]',
  '{"a":1}',
  '[[[[[[[[[[[[[[[[[[[[[[[[',
  "' or 1=1 --",
  '%00',
  '%zz',
  '%',
  '../../etc/passwd',
  '<!DOCTYPE a [<!ENTITY b "c">]>',
  '&b;',
  '&#0;',
  '&#xD800;',
  ']]>',
  '<![CDATA[',
  '<!--',
  '<?xml version="1.0"?>',
  '"',
  '\\',
  'a'.repeat(5_000),
];

export const nasty = fc.oneof(
  fc.constantFrom(...NASTY),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: fc.constantFrom(...'0123456789.,-+eExX \'"'), maxLength: 45 }),
);

/** Any JSON, including values that `String()` and `Number()` mishandle. */
export const nastyJson: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: nasty },
  {
    weight: 3,
    arbitrary: fc.constantFrom<unknown>(
      null,
      true,
      false,
      0,
      -1,
      1.5,
      1e308,
      -0,
      2 ** 53,
      [],
      {},
      [null],
      [[]],
      { toString: null },
      { toString: 1, valueOf: 1 },
      { length: 4_294_967_296 },
      { constructor: { prototype: 1 } },
      JSON.parse('{"__proto__":{"polluted":true}}'),
      JSON.parse('['.repeat(3_000) + ']'.repeat(3_000)),
    ),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

interface Change {
  at: number;
  how: 'flip' | 'drop' | 'double' | 'insert' | 'cut' | 'swap' | 'high';
  size: number;
  piece: string;
}
const change: fc.Arbitrary<Change> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  how: fc.constantFrom('flip', 'drop', 'double', 'insert', 'cut', 'swap', 'high'),
  size: fc.integer({ min: 1, max: 60 }),
  piece: nasty,
});

function changed(bytes: Buffer, { at, how, size, piece }: Change): Buffer {
  const from = Math.min(bytes.length, Math.floor(at * bytes.length));
  const to = Math.min(bytes.length, from + size);
  const [before, middle, after] = [bytes.subarray(0, from), bytes.subarray(from, to), bytes.subarray(to)];
  switch (how) {
    case 'flip':
      return Buffer.concat([before, Buffer.from(middle.map((byte) => byte ^ (1 << (size % 8)))), after]);
    case 'drop':
      return Buffer.concat([before, after]);
    case 'double':
      return Buffer.concat([before, middle, middle, after]);
    case 'insert':
      return Buffer.concat([before, Buffer.from(piece), middle, after]);
    case 'cut':
      return before;
    case 'swap':
      return Buffer.concat([after, middle, before]);
    case 'high':
      return Buffer.concat([
        before,
        Buffer.from([0xc3, 0xff, 0x80, 0xed, 0xa0, 0x80].slice(0, size % 7)),
        middle,
        after,
      ]);
  }
}

/** Bytes that were correct and mostly are not any more. */
export const mangled = (right: fc.Arbitrary<string | Buffer>, most = 3): fc.Arbitrary<Buffer> =>
  fc
    .tuple(right, fc.array(change, { maxLength: most }))
    .map(([text, changes]) => changes.reduce(changed, Buffer.from(text as string)));

interface Part {
  /** Index of the part, modulo their number. */
  at: number;
  value: unknown;
  gone: boolean;
}

/** A JSON value with one part replaced or removed. */
export function withPart(tree: unknown, { at, value, gone }: Part): unknown {
  const places = placesOf(tree);
  const place = places[at % (places.length + 1)];
  return place === undefined ? value : replaced(tree, place, gone ? GONE : value);
}

/** As `withPart`, for some parts, or none. */
export const mangledJson = <T>(right: fc.Arbitrary<T>, most = 2): fc.Arbitrary<unknown> =>
  fc
    .tuple(
      right,
      fc.array(fc.record({ at: fc.nat(1_000), value: nastyJson, gone: fc.nat(5).map((n) => n === 0) }), {
        maxLength: most,
      }),
    )
    .map(([value, parts]) => parts.reduce<unknown>(withPart, value));

const GONE = Symbol('gone');

/** Copies only along the path: values beside it may be deep. */
function replaced(tree: unknown, [key = '', ...way]: readonly string[], value: unknown): unknown {
  const copy = (Array.isArray(tree) ? [...tree] : { ...(tree as object) }) as Record<string, unknown>;
  if (way.length > 0) copy[key] = replaced(copy[key], way, value);
  else if (value === GONE) delete copy[key];
  else Object.defineProperty(copy, key, { value, enumerable: true, configurable: true, writable: true });
  return copy;
}

/** The path to each part of a JSON value that is not very deep. */
function placesOf(tree: unknown, way: readonly string[] = []): string[][] {
  if (typeof tree !== 'object' || tree === null || way.length > 12) return [];
  return Object.keys(tree).flatMap((key) => [
    [...way, key],
    ...placesOf((tree as Record<string, unknown>)[key], [...way, key]),
  ]);
}

/** No reader has added a property to the prototype of all objects. */
export function assertUnpolluted(): void {
  const fresh: Record<string, unknown> = {};
  for (const name in fresh) assert.fail(`every object has ${name} now`);
  assert.equal(fresh.polluted, undefined);
  assert.equal(Object.getPrototypeOf(fresh), Object.prototype);
}
