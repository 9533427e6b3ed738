/** Fuzzing of partners' requests: the signed headers, the three kinds of bodies, and the fields in them. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Refusal } from '../../src/base/errors.ts';
import { formatUnits } from '../../src/base/money.ts';
import * as operators from '../../src/protocols/declaration/fields.ts';
import { authenticate, CLOCK_WINDOW, readPayload } from '../../src/protocols/whitelabel/auth.ts';
import {
  type Body,
  type BodyValue,
  canonical,
  JsonNumber,
  parseJson,
  plainDecimal,
  readBody,
  sameMeaning,
} from '../../src/protocols/whitelabel/body.ts';
import {
  amount,
  code,
  email,
  type Field,
  flag,
  id,
  Malformed,
  moment,
  phone,
  readField,
  text,
  unitsOf,
  webAddress,
  wholeNumber,
} from '../../src/protocols/whitelabel/fields.ts';
import { readMultipart } from '../../src/protocols/whitelabel/multipart.ts';
import { hmac } from '../support/client.ts';
import { assertUnpolluted, fuzz, mangled, nasty, nastyJson } from './fuzz.ts';

/** An intended body, and one of the many ways to write it. */
interface NewPayout {
  value: BodyValue;
  json: string;
}

const NAMES = ['amount', 'a', '__proto__', 'constructor', 'toString', '1', '0', '', 'ключ', 'a b', 'customerId'];
const numberText = fc.oneof(
  fc.constantFrom('0', '-0', '1.10', '1E7', '1e-400', '12345678901234567890.123456789', '0.10', '1.0e+2'),
  fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(String),
);
const space = fc.constantFrom('', '', ' ', '\n', '\t ');
const json = fc.letrec<{ any: NewPayout; object: NewPayout }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', maxDepth: 4 },
    fc
      .oneof(fc.string({ unit: 'binary', maxLength: 12 }), nasty)
      .map((value) => ({ value, json: JSON.stringify(value) })),
    numberText.map((number) => ({ value: new JsonNumber(number), json: number })),
    fc.constantFrom<NewPayout>(
      { value: true, json: 'true' },
      { value: false, json: 'false' },
      { value: null, json: 'null' },
    ),
    fc.tuple(fc.array(tie('any'), { maxLength: 3 }), space).map(([all, gap]) => ({
      value: all.map(({ value }) => value),
      json: `[${gap}${all.map((one) => one.json).join(`${gap},${gap}`)}${gap}]`,
    })),
    tie('object'),
  ),
  object: fc
    .tuple(fc.array(fc.tuple(fc.constantFrom(...NAMES), tie('any')), { maxLength: 4 }), space)
    .map(([fields, gap]) => ({
      // Of a repeated name the last value counts.
      value: new Map(fields.map(([name, { value }]) => [name, value])),
      json: `{${gap}${fields.map(([name, one]) => `${JSON.stringify(name)}${gap}:${gap}${one.json}`).join(`,${gap}`)}${gap}}`,
    })),
}));
const object = json.object as fc.Arbitrary<{ value: Body; json: string }>;

/** Equal except for the order of names, which JSON does not keep if they are numbers. */
function assertSame(read: BodyValue | undefined, meant: BodyValue): void {
  if (meant instanceof Map) {
    assert.ok(read instanceof Map);
    assert.deepEqual([...read.keys()].sort(), [...(meant as Body).keys()].sort());
    for (const [name, value] of meant as Body) assertSame((read as Body).get(name), value);
  } else if (Array.isArray(meant)) {
    assert.ok(Array.isArray(read) && read.length === meant.length);
    meant.forEach((value, at) => assertSame(read[at], value));
  } else assert.deepEqual(read, meant);
}

function refusesWith(codes: readonly string[], read: () => unknown): boolean {
  try {
    read();
    return false;
  } catch (error) {
    assert.ok(error instanceof Refusal && codes.includes(error.code), String((error as Error).stack));
    return true;
  } finally {
    assertUnpolluted();
  }
}

fuzz('body: JSON', 'what was meant is what is read, to the last digit', 1_500, object, ({ value, json: sent }) => {
  assertSame(readBody(Buffer.from(sent), 'json'), value);
  assertUnpolluted();
});

fuzz(
  'body: JSON',
  'anything else is refused, or means the same when it is written again',
  3_000,
  mangled(object.map((one) => one.json)),
  (bytes) => {
    refusesWith(['malformed_body'], () => {
      const body = readBody(bytes, 'json');
      const again = canonical(body);
      assert.equal(canonical(readBody(Buffer.from(again), 'json')), again);
    });
  },
);

fuzz(
  'body: JSON',
  'depth is told apart from brackets in texts',
  300,
  fc.tuple(fc.integer({ min: 1, max: 60_000 }), fc.constantFrom('[', '{"a":', '"[', '[{"a":', '"\\"[')),
  ([deep, open]) => {
    refusesWith(['malformed_body'], () => readBody(Buffer.from(`{"a":${open.repeat(deep)}`), 'json'));
  },
);

const fields = fc.array(fc.tuple(fc.oneof(fc.constantFrom(...NAMES), nasty), nasty), { maxLength: 8 });
const wellFormed = (all: [string, string][]): [string, string][] =>
  all.map(([name, value]) => [name.toWellFormed(), value.toWellFormed()]);

fuzz('body: form', 'what a form library writes is what is read', 1_500, fields.map(wellFormed), (all) => {
  const read = readBody(Buffer.from(new URLSearchParams(all).toString()), 'form');
  assert.deepEqual([...read].sort(), [...new Map(all)].sort());
});

fuzz(
  'body: form',
  'anything else is refused, or a text for each name',
  3_000,
  mangled(fields.map((all) => new URLSearchParams(all).toString())),
  (bytes) => {
    refusesWith(['malformed_body'], () => {
      const read = readBody(bytes, 'form');
      for (const [name, value] of read) assert.ok(typeof name === 'string' && typeof value === 'string');
    });
  },
);

const BOUNDARY = 'x-boundary-x';
const part = (name: string, value: string): string =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const parts = fc.array(
  fc.tuple(
    fc.constantFrom(...NAMES.filter((name) => name !== '')),
    nasty.map((value) => value.toWellFormed()),
  ),
  { minLength: 1, maxLength: 6 },
);
const multipart = (all: [string, string][]): string =>
  `${all.map(([name, value]) => part(name, value)).join('')}--${BOUNDARY}--\r\n`;
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

fuzz('body: multipart', 'what was meant is what is read', 800, parts, async (all) => {
  const read = await readMultipart(Buffer.from(multipart(all)), TYPE);
  assert.deepEqual([...read].sort(), [...new Map(all)].sort());
});

fuzz(
  'body: multipart',
  'anything else is refused, or a text for each name, and comes to an end',
  2_500,
  fc.tuple(
    mangled(parts.map(multipart)),
    fc.oneof(
      { weight: 5, arbitrary: fc.constant(TYPE) },
      { weight: 1, arbitrary: nasty.map((boundary) => `multipart/form-data; boundary=${boundary}`) },
      { weight: 1, arbitrary: mangled(fc.constant(TYPE)).map((type) => type.toString('latin1')) },
    ),
  ),
  async ([bytes, type]) => {
    try {
      const read = await readMultipart(bytes, type);
      for (const [name, value] of read) assert.ok(name !== '' && typeof value === 'string');
    } catch (error) {
      assert.ok(
        error instanceof Refusal && ['malformed_body', 'malformed_field'].includes(error.code),
        String((error as Error).stack),
      );
    }
    assertUnpolluted();
  },
);

fuzz(
  'body: meaning',
  'one field changed is another meaning, wherever it stands',
  1_000,
  fc.tuple(object, fc.constantFrom('x', '1', 'true')),
  ([{ value }, more]) => {
    for (const name of value.keys()) {
      const other = new Map(value);
      const before = value.get(name);
      other.set(name, typeof before === 'string' ? `${before}${more}` : more);
      if (before === true && more === 'true') continue;
      if (before instanceof JsonNumber && before.text === more) continue;
      // A JSON text has its JSON meaning, so surrounding blanks do not matter.
      assert.ok(!sameMeaning(value, other), `${name} was changed`);
    }
  },
);

const NOW = 1_795_000_000_000;
const SECRET = 'the secret of the key';
const credential = { secrets: [SECRET], partner: { id: 1n } } as never;
const attempt = (headers: Record<string, string | undefined>) =>
  authenticate(headers, {
    credential: async (key) => (key === 'key' ? credential : undefined),
    nowMs: NOW,
    window: CLOCK_WINDOW,
  });
const payloadOf = (inner: string): string => Buffer.from(inner).toString('base64');

fuzz(
  'signed payload',
  'whatever is signed is refused, or is a body and a time near ours',
  3_000,
  fc.tuple(mangled(object.map((one) => `{"body":${one.json},"timestamp":"${NOW}"}`)), fc.boolean()),
  async ([inner, isRaw]) => {
    const payload = isRaw ? inner.toString('latin1') : inner.toString('base64');
    const signature = hmac(payload, SECRET);
    try {
      const { signedBody } = await attempt({ apikey: 'key', payload, signature });
      assert.ok(signedBody instanceof Map);
      const { timestampMs } = readPayload(payload);
      assert.ok(timestampMs <= NOW + CLOCK_WINDOW.aheadMs && timestampMs >= NOW - CLOCK_WINDOW.behindMs);
    } catch (error) {
      assert.ok(
        error instanceof Refusal && ['unauthenticated', 'clock_ahead'].includes(error.code),
        String((error as Error).stack),
      );
    }
    assertUnpolluted();
  },
);

fuzz(
  'signed payload',
  'without the right signature nobody comes in, whatever the headers say',
  2_000,
  fc.record({
    apikey: fc.oneof(fc.constant('key'), nasty),
    payload: fc.oneof(fc.constant(payloadOf(`{"timestamp":"${NOW}"}`)), nasty),
    signature: fc.oneof(
      nasty,
      fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), minLength: 126, maxLength: 130 }),
    ),
  }),
  async (headers) => {
    await assert.rejects(attempt(headers), (error) => error instanceof Refusal && error.code === 'unauthenticated');
  },
);

const value: fc.Arbitrary<BodyValue> = fc.oneof(
  { weight: 3, arbitrary: nasty },
  { weight: 1, arbitrary: numberText.map((number) => new JsonNumber(number)) },
  { weight: 1, arbitrary: json.any.map((one) => one.value) },
);
const FIELDS: Record<string, [Field<unknown>, (read: never) => void]> = {
  text: [text(), (read: string) => assert.ok(read.length <= 128 && read.isWellFormed() && !/\p{Cc}/u.test(read))],
  id: [id, (read: string) => assert.ok(read.length <= 128 && !read.includes('\u0000'))],
  code: [code, (read: string) => assert.ok(read.length <= 32)],
  amount: [amount, (read: string) => assert.match(read, /^[0-9]*\.?[0-9]*$/)],
  'whole number': [
    wholeNumber({ min: 1, max: 500 }),
    (read: number) => assert.ok(Number.isInteger(read) && read >= 1 && read <= 500),
  ],
  moment: [moment, (read: Date) => assert.ok(!Number.isNaN(read.getTime()) && read.getUTCFullYear() < 3001)],
  phone: [phone, (read: string) => assert.match(read, /^\+?[0-9 -]+$/)],
  email: [email, (read: string) => assert.ok(read.length <= 254 && read.split('@').length === 2)],
  'web address': [
    webAddress,
    (read: string) =>
      assert.ok(read.length <= 1_000 && /^https?:$/.test(new URL(read).protocol) && new URL(read).href === read),
  ],
  flag: [flag, (read: boolean) => assert.equal(typeof read, 'boolean')],
};
for (const [name, [field, holds]] of Object.entries(FIELDS)) {
  fuzz(`field: ${name}`, 'is what it says, or is refused with the rule', 1_000, value, (sent) => {
    const read = readField(field, sent);
    if (read instanceof Malformed) assert.notEqual(read.why, '');
    else holds(read as never);
  });
}

/** The value of an operator's field once it is read. */
const OPERATORS: Record<string, [operators.Field<unknown>, (read: never) => void]> = {
  text: [
    operators.text(20),
    (read: string) => assert.ok(read.length <= 20 && read.isWellFormed() && !read.includes('\0')),
  ],
  id: [operators.id, (read: bigint) => assert.ok(read >= 0n && read < 10n ** 18n)],
  whole: [operators.whole(1, 500), (read: number) => assert.ok(Number.isInteger(read) && read >= 1 && read <= 500)],
  flag: [operators.flag, (read: boolean) => assert.equal(typeof read, 'boolean')],
  'one of': [operators.oneOf(['a', 'b']), (read: string) => assert.ok(read === 'a' || read === 'b')],
  list: [
    operators.listOf(operators.whole(1, 9), 3),
    (read: number[]) => assert.ok(read.length <= 3 && read.every(Number.isInteger)),
  ],
  network: [operators.network, (read: string) => assert.match(read, /^[0-9a-f.:]+(\/[0-9]{1,3})?$/i)],
  time: [operators.time, (read: Date) => assert.ok(!Number.isNaN(read.getTime()))],
  amount: [operators.amount, (read: string) => assert.match(read, /^[0-9]+(\.[0-9]+)?$/)],
  object: [operators.object, (read: object) => assert.ok(typeof read === 'object' && !Array.isArray(read))],
};
for (const [name, [field, holds]] of Object.entries(OPERATORS)) {
  fuzz(`operator's field: ${name}`, 'is what it says, or is refused with the rule', 1_000, nastyJson, (sent) => {
    try {
      const read = operators.readFields({ it: operators.optional(field) }, { it: sent }).it;
      if (read !== undefined) holds(read as never);
    } catch (error) {
      assert.ok(error instanceof Refusal && error.code === 'malformed_field', String((error as Error).stack));
    }
    assertUnpolluted();
  });
}

/** The value of a decimal text with an exponent, as a fraction of a power of ten, computed differently than in our code. */
function exactly(number: string): { units: bigint; places: number } | undefined {
  const match = /^(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(number);
  if (match === null || `${match[1]}${match[2]}` === '') return undefined;
  const exponent = Number(match[3] ?? '0');
  const places = (match[2] ?? '').length - exponent;
  const digits = BigInt(`${match[1]}${match[2]}`);
  return places >= 0 ? { units: digits, places } : { units: digits * 10n ** BigInt(-places), places: 0 };
}

fuzz(
  'field: amount',
  'is never another number than was written, in any asset',
  2_000,
  fc.tuple(
    fc.oneof(
      fc
        .tuple(fc.boolean(), fc.integer({ min: 0, max: 25 }), fc.bigInt({ min: 0n, max: 10n ** 30n }))
        .map(([asNumber, places, units]) => {
          const plain = formatUnits(units, places);
          return asNumber ? new JsonNumber(plain) : plain;
        }),
      fc
        .tuple(fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.integer({ min: -40, max: 40 }))
        .map(([digits, exponent]) => new JsonNumber(`${digits}e${exponent}`)),
      nasty,
    ),
    fc.constantFrom(0, 2, 6, 8, 18, 24),
  ),
  ([sent, decimals]) => {
    let units: bigint;
    try {
      const read = readField(amount, sent);
      if (read instanceof Malformed) return;
      units = unitsOf('amount', read, decimals);
    } catch (error) {
      assert.ok(error instanceof Refusal && error.code === 'malformed_field');
      return;
    }
    const meant = exactly(typeof sent === 'string' ? sent : (sent as JsonNumber).text);
    assert.ok(meant !== undefined, 'a text that is no amount was read as one');
    assert.equal(units * 10n ** BigInt(meant.places), meant.units * 10n ** BigInt(decimals));
    assert.ok(units > 0n);
  },
);

fuzz(
  'field: amount',
  'a JSON number written out has the same value, or is none',
  2_000,
  fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 25n }), fc.nat(25), fc.integer({ min: -99, max: 99 })),
  ([digits, point, exponent]) => {
    const whole = String(digits);
    const at = Math.min(point, whole.length - 1);
    const mantissa = at === 0 ? whole : `${whole.slice(0, -at)}.${whole.slice(-at)}`;
    const written = `${mantissa}E${exponent}`;
    const plain = plainDecimal(new JsonNumber(written));
    if (plain === undefined) return;
    const [read, meant] = [exactly(plain), exactly(written)];
    assert.ok(read !== undefined && meant !== undefined);
    assert.equal(
      read.units * 10n ** BigInt(meant.places),
      meant.units * 10n ** BigInt(read.places),
      `${written} is ${plain}`,
    );
    assert.ok(plain.length < 200 && parseJson(plain) !== undefined);
  },
);
