import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { Refusal } from '../../../src/base/errors.ts';
import {
  type Body,
  bodyKind,
  canonical,
  JsonNumber,
  parseJson,
  plainDecimal,
  readBody,
  sameMeaning,
  signedBody,
} from '../../../src/protocols/whitelabel/body.ts';

const json = (text: string): Body => readBody(Buffer.from(text), 'json');
const form = (text: string): Body => readBody(Buffer.from(text), 'form');
const same = (a: Body, b: Body) => assert.equal(canonical(a), canonical(b));
const differ = (a: Body, b: Body) => assert.notEqual(canonical(a), canonical(b));
const malformed = (read: () => unknown) =>
  assert.throws(read, (error: unknown) => error instanceof Refusal && error.code === 'malformed_body');

describe('reading a body', () => {
  test('a JSON number keeps every digit it was written with', () => {
    for (const text of ['1000000000000000000000.10', '0.1', '1.0E7', '9007199254740993', '-0', '1e400']) {
      const value = json(`{"a":${text}}`).get('a');
      assert.ok(value instanceof JsonNumber);
      assert.equal(value.text, text);
    }
  });

  test('a number inside an object or array keeps its digits too', () => {
    const list = json('{"a":[1.50,{"b":2.70}]}').get('a') as readonly [JsonNumber, Body];
    assert.equal(list[0].text, '1.50');
    assert.equal((list[1].get('b') as JsonNumber).text, '2.70');
  });

  test('the last value of a repeated name counts, in JSON and in a form', () => {
    assert.equal((json('{"a":1,"a":2.0}').get('a') as JsonNumber).text, '2.0');
    assert.equal(form('a=1&a=2').get('a'), '2');
  });

  test('names of the prototype are ordinary names and change no object', () => {
    const body = json('{"__proto__":{"x":1},"constructor":"c","toString":"t"}');
    assert.equal(body.get('constructor'), 'c');
    assert.equal(body.get('toString'), 't');
    assert.ok(body.get('__proto__') instanceof Map);
    assert.equal(({} as Record<string, unknown>).x, undefined);
    assert.equal(json('{}').get('toString'), undefined);
    assert.equal(form('__proto__=1').get('__proto__'), '1');
  });

  test('an empty body is an empty object', () => {
    assert.equal(readBody(Buffer.alloc(0), 'json').size, 0);
    assert.equal(json(' \n').size, 0);
    assert.equal(form('').size, 0);
  });

  test('a body that is not a JSON object is refused', () => {
    for (const text of ['[]', '"a"', '1', 'null', 'true', '{', '{"a":1,}', "{'a':1}", '{"a":01}', 'a=1', '\u0000']) {
      malformed(() => json(text));
    }
    malformed(() => readBody(Buffer.from([0x7b, 0xff, 0x7d]), 'json'));
    malformed(() => form('a=%zz'));
    malformed(() => form('a=%ff'));
  });

  test('sixty thousand brackets are refused without touching the stack', () => {
    malformed(() => json('['.repeat(60_000)));
    malformed(() => json(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`));
    assert.equal(parseJson(`${'['.repeat(17)}${']'.repeat(17)}`), undefined);
    assert.equal(json('{"a":"[[[[[[[[[[[[[[[[[[[[[["}').get('a'), '['.repeat(22));
  });

  test('a form reads plus, percent and a missing equals sign, and no nested names', () => {
    const body = form('a=1+2&b=%2B%E2%82%AC&c&details[x]=1&&');
    assert.deepEqual(
      [...body],
      [
        ['a', '1 2'],
        ['b', '+€'],
        ['c', ''],
        ['details[x]', '1'],
      ],
    );
  });

  test('a content type is read without its parameters and without case', () => {
    assert.equal(bodyKind('application/json;charset=UTF-8'), 'json');
    assert.equal(bodyKind('Application/JSON'), 'json');
    assert.equal(bodyKind('application/x-www-form-urlencoded; charset=utf-8'), 'form');
    assert.equal(bodyKind('Multipart/Form-Data; boundary=x'), 'multipart');
    for (const other of [undefined, '', 'text/plain', 'multipart/mixed; boundary=x', 'application/jsonp']) {
      assert.equal(bodyKind(other), undefined);
    }
  });
});

describe('comparing the signed with the sent body', () => {
  test('number, boolean and string of the same text mean the same', () => {
    same(json('{"a":1000,"b":true}'), json('{"a":"1000","b":"true"}'));
    same(json('{"a":1000}'), form('a=1000'));
  });

  test('absent, empty and null mean the same', () => {
    same(json('{"a":"","b":null}'), json('{}'));
    same(form('a='), json('{}'));
  });

  test('order of names and spaces do not matter', () => {
    same(json('{"a": 1, "b": {"d": 2, "c": 3}}'), json('{"b":{"c":3,"d":2},"a":1}'));
  });

  test('a nested value means the same as its JSON text in a form', () => {
    same(json('{"a":{"x":1,"y":[1,"2"]}}'), form(`a=${encodeURIComponent('{"y": ["1",2], "x": "1"}')}`));
  });

  test('another value, an added field, another case or another order of a list is a difference', () => {
    differ(json('{"a":"1"}'), json('{"a":"2"}'));
    differ(json('{"a":"1"}'), json('{"a":"1","b":"2"}'));
    differ(json('{"a":"1"}'), json('{"A":"1"}'));
    differ(json('{"a":"1"}'), json('{"a":"1.0"}'));
    differ(json('{"a":[1,2]}'), json('{"a":[2,1]}'));
    differ(json('{"a":"x,b:y"}'), json('{"a":"x","b":"y"}'));
    differ(json('{"a":" 1"}'), json('{"a":"1"}'));
  });

  test('names of the prototype are compared like others', () => {
    differ(json('{"__proto__":"1"}'), json('{}'));
    same(json('{"__proto__":1}'), form('__proto__=1'));
  });

  test('the signed body may be an object, its text or absent; anything else is refused', () => {
    same(signedBody(json('{"a":1}')) as Body, signedBody('{"a":"1"}') as Body);
    for (const nothing of [undefined, null, '', '[]', [] as const]) assert.equal(signedBody(nothing)?.size, 0);
    for (const other of ['[1]', 'x', true, new JsonNumber('1'), ['x'] as const])
      assert.equal(signedBody(other), undefined);
  });

  const field = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  );
  const fields = fc.dictionary(fc.string({ minLength: 1 }), field);

  test('any fields mean the same sent as JSON, as JSON of strings, and as a form', () => {
    fc.assert(
      fc.property(fields, (given) => {
        const entries = Object.entries(given);
        const asStrings = Object.fromEntries(
          entries.map(([name, value]) => [name, value === null ? '' : String(value)]),
        );
        // A number prints the same in both only where JavaScript and JSON agree, which holds except for -0.
        fc.pre(!entries.some(([, value]) => Object.is(value, -0)));
        const jsonBody = json(JSON.stringify(given));
        same(jsonBody, json(JSON.stringify(asStrings)));
        const pairs = Object.entries(asStrings).map((pair) =>
          pair.map((part) => encodeURIComponent(part.toWellFormed())).join('='),
        );
        fc.pre(entries.every(([name, value]) => name.isWellFormed() && String(value).isWellFormed()));
        same(jsonBody, form(pairs.join('&')));
      }),
    );
  });

  test('a change of any one field is detected', () => {
    fc.assert(
      fc.property(fields, fc.string({ minLength: 1 }), fc.string(), (given, name, value) => {
        const before = json(JSON.stringify(given));
        const after = json(JSON.stringify({ ...given, [name]: value }));
        const text = (body: Body) => {
          const found = body.get(name) ?? '';
          return found instanceof JsonNumber ? found.text : String(found);
        };
        fc.pre(text(before) !== value && !/^[{[]/.test(value) && !/^[{[]/.test(text(before)));
        assert.equal(sameMeaning(before, after), false);
      }),
    );
  });
});

const plain = (text: string) => plainDecimal(new JsonNumber(text));

describe('a JSON number as a plain decimal', () => {
  test('an exponent is expanded exactly', () => {
    assert.equal(plain('1.0E7'), '10000000');
    assert.equal(plain('1e0'), '1');
    assert.equal(plain('12.345e1'), '123.45');
    assert.equal(plain('12.345e-4'), '0.0012345');
    assert.equal(plain('5e-1'), '0.5');
    assert.equal(plain('-2.5e2'), '-250');
    assert.equal(plain('0.00012e4'), '1.2');
  });

  test('a number without an exponent is unchanged', () => {
    for (const text of ['1', '100.0', '0.10', '-3']) assert.equal(plain(text), text);
  });

  test('a huge exponent is refused', () => {
    assert.equal(plain('1e61'), undefined);
    assert.equal(plain('1e-99'), undefined);
    assert.equal(plain('1e99999'), undefined);
  });

  test('it has the value of the number, for any digits and exponent', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 20n }),
        fc.nat(10),
        fc.integer({ min: -20, max: 20 }),
        (digits, places, exponent) => {
          const padded = digits.toString().padStart(places + 1, '0');
          const text =
            `${padded.slice(0, padded.length - places)}${places > 0 ? `.${padded.slice(-places)}` : ''}`.replace(
              /^0+(?=\d)/,
              '',
            );
          const read = plain(`${text}e${exponent}`);
          assert.ok(read !== undefined);
          const [whole = '', fraction = ''] = read.split('.');
          const scaled = BigInt(whole + fraction.padEnd(60, '0'));
          assert.equal(scaled, digits * 10n ** BigInt(60 - places + exponent));
        },
      ),
    );
  });
});
