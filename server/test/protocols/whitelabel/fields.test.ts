import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { Refusal } from '../../../src/base/errors.ts';
import { parseUnits } from '../../../src/base/money.ts';
import { type BodyValue, JsonNumber, readBody } from '../../../src/protocols/whitelabel/body.ts';
import {
  amount,
  type Field,
  flag,
  id,
  Malformed,
  oneOf,
  optional,
  phone,
  readField,
  readFields,
  required,
  text,
  unitsOf,
  wholeNumber,
} from '../../../src/protocols/whitelabel/fields.ts';

const body = (value: unknown) => readBody(Buffer.from(JSON.stringify(value)), 'json');
const number = (written: string) => new JsonNumber(written);

function refusal(run: () => unknown): Refusal {
  try {
    run();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new assert.AssertionError({ message: 'was not refused' });
}
const why = (field: Field<unknown>, value: BodyValue): string => {
  const read = readField(field, value);
  if (!(read instanceof Malformed)) return 'good';
  return read.wrongType ? 'wrong type' : read.why;
};

describe('reading fields', () => {
  const fields = { a: required(text()), b: required(amount), c: optional(wholeNumber({ min: 1 })) };

  test('all missing fields are named at once, in the order of the fields, before any other mistake', () => {
    for (const missing of [{}, { b: '', a: null }, { c: [], extra: 1 }]) {
      assert.deepEqual(refusal(() => readFields(fields, body(missing))).facts.names, ['a', 'b']);
    }
    assert.deepEqual(refusal(() => readFields(fields, body({ a: [], b: '' }))).facts.names, ['b']);
  });

  test('all malformed fields are named at once', () => {
    const given = refusal(() => readFields(fields, body({ a: 'x', b: '1e5', c: '1.5' })));
    assert.equal(given.code, 'malformed_field');
    assert.deepEqual(Object.keys(given.facts.fields as object), ['b', 'c']);
  });

  test('an object, array or boolean in place of a text is a different mistake than a malformed text', () => {
    for (const value of [{}, [], true, false, { a: 1 }]) {
      assert.equal(refusal(() => readFields(fields, body({ a: value, b: '1' }))).code, 'wrong_type');
    }
  });

  test('an optional field that is empty or null is absent', () => {
    for (const c of ['', null, undefined]) assert.equal(readFields(fields, body({ a: 'x', b: '1', c })).c, undefined);
  });
});

describe('an amount', () => {
  test('is digits with at most one point, as a string or a number', () => {
    for (const good of ['1', '1.', '.5', '100.0', '007', '0.000001', '9'.repeat(40)])
      assert.equal(why(amount, good), 'good');
    assert.equal(amount.read(number('1.0E7')), '10000000');
    assert.equal(amount.read(number('1000000000000000000000.10')), '1000000000000000000000.10');
    assert.equal(amount.read(number('5e-3')), '0.005');
  });

  test('written in any other way is refused', () => {
    const bad = [
      '-1',
      '+1',
      '1e5',
      '1E5',
      '0x10',
      '1,000',
      '1 000',
      ' 1',
      '1 ',
      '１２',
      '٣',
      '1.2.3',
      '.',
      '..',
      'NaN',
      'Infinity',
    ];
    for (const written of [...bad, '1\u0000', '1\n', '०', '−1', '1_000', '9'.repeat(41), '1'.repeat(5_000)]) {
      assert.notEqual(why(amount, written), 'good', written);
    }
    for (const written of ['-1', '1e99', '-1e3', '1e-60'])
      assert.notEqual(why(amount, number(written)), 'good', written);
  });

  test('of zero is refused however it is written', () => {
    for (const zero of ['0', '0.0', '.0', '0.', '000']) assert.notEqual(why(amount, zero), 'good');
    for (const zero of ['0', '0.00', '0e5', '-0']) assert.notEqual(why(amount, number(zero)), 'good');
  });

  test('of another type is refused as a wrong type', () => {
    for (const value of [true, false, [], new Map()]) assert.equal(why(amount, value), 'wrong type');
  });

  test('with more decimals than the asset has is refused; trailing zeros do not count', () => {
    assert.equal(unitsOf('x', '1.5000000', 6), 1_500_000n);
    const given = refusal(() => unitsOf('fromAmount', '1.0000001', 6));
    assert.equal(given.code, 'malformed_field');
    assert.ok('fromAmount' in (given.facts.fields as object));
  });

  test('read as text or as number is the same number of units, for any units', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 30n }), fc.nat(18), (units, decimals) => {
        const digits = units.toString().padStart(decimals + 1, '0');
        const plain = decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
        assert.equal(parseUnits(String(amount.read(plain)), decimals), units);
        assert.equal(parseUnits(String(amount.read(number(plain))), decimals), units);
        assert.equal(parseUnits(String(amount.read(number(`${units}e-${decimals}`))), decimals), units);
      }),
    );
  });
});

describe('a page number', () => {
  const page = wholeNumber({ min: 1, max: 499 });

  test('is one to nine ASCII digits within its bounds, as a string or a number', () => {
    for (const good of ['1', '499', '007']) assert.equal(why(page, good), 'good');
    assert.equal(page.read(number('20')), 20);
  });

  test('with a sign, point, exponent, space, other digits or twenty of them is refused', () => {
    for (const bad of ['0', '-1', '+1', '500', '1.0', '1.5', '1e2', ' 1', '0x1', '１', '9'.repeat(20), 'abc', '1,0']) {
      assert.notEqual(why(page, bad), 'good', bad);
    }
    for (const bad of ['1.0', '-1', '1e2', '0']) assert.notEqual(why(page, number(bad)), 'good', bad);
    assert.equal(why(page, true), 'wrong type');
  });
});

describe('other fields', () => {
  test('a text has no control characters, no unpaired surrogate, and a maximum length', () => {
    for (const bad of ['a\u0000b', 'a\nb', '\u001b[2J', '\u0085', '\ud800', 'x'.repeat(129)]) {
      assert.notEqual(why(text(), bad), 'good');
    }
    for (const good of [
      "'; drop table orders; --",
      '<script>',
      '${jndi:ldap://x}',
      '../../etc/passwd',
      '😀',
      '%00',
      '{{7*7}}',
    ]) {
      assert.equal(why(text(), good), 'good');
    }
    assert.equal(id.read(number('17')), '17');
  });

  test('a phone number has 8 to 15 digits, and no numbering plan', () => {
    for (const good of ['+1-555-123-4567', '+910000000000', '12345678', '+44 20 7946 0000'])
      assert.equal(why(phone, good), 'good');
    for (const bad of ['1234567', '1'.repeat(16), 'phone', '++4412345678', '+44(0)1234567', '-12345678', '+']) {
      assert.notEqual(why(phone, bad), 'good', bad);
    }
    const given = refusal(() => readFields({ phoneNumber: required(phone) }, body({ phoneNumber: 'x' })));
    assert.equal(given.facts.sentence, 'Please provide a valid phone number string');
  });

  test('a word and a flag are read without case', () => {
    const kind = oneOf('INDIVIDUAL', 'BUSINESS');
    assert.equal(kind.read('individual'), 'INDIVIDUAL');
    assert.notEqual(why(kind, 'PERSON'), 'good');
    for (const yes of [true, 'true', 'TRUE', '1', number('1')]) assert.equal(flag.read(yes), true);
    for (const no of [false, 'false', '0', number('0')]) assert.equal(flag.read(no), false);
    assert.notEqual(why(flag, 'yes'), 'good');
  });
});
