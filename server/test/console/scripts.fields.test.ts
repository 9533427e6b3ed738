/**
 * What the test of scripts in a browser covers (scripts.long.test.ts): every free text that somebody can write, and every page. A new
 * field or page fails here until it is filled, or excepted with a reason.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { text } from '../../src/base/fields.ts';
import { CONSOLE_PAGES, HOSTED_PAGES, isFree, PARTNER_PAGES, readNames, writtenFields } from './scripts.fields.ts';
import { EXCEPTED, FILLED, HIDDEN, HOSTED, OBJECTS, OUTSIDE } from './scripts.lists.ts';

test('every free text of a request and of a bank is filled with a script, or excepted with a reason', () => {
  const fields = writtenFields();
  assert.ok(fields.length > 200, `${fields.length} fields`);
  const excepted = EXCEPTED.flatMap((one) => one.fields);
  const listed = [...FILLED.filter((one) => !OUTSIDE.includes(one)), ...excepted];
  assert.deepEqual(
    fields.filter((one) => !listed.includes(one)),
    [],
    'new fields: fill them in scripts.environment.ts, or except them in scripts.lists.ts',
  );
  assert.deepEqual(
    listed.filter((one) => !fields.includes(one)),
    [],
    'no such field, or it takes no markup any more',
  );
  assert.equal(new Set(listed).size, listed.length, 'a field is in two lists');
  for (const { why, fields: of } of EXCEPTED) assert.ok(why.endsWith('.') && of.length > 0, why);
});

test('a field that is hidden is filled, and has a reason', () => {
  for (const [field, why] of Object.entries(HIDDEN)) {
    assert.ok((FILLED as readonly string[]).includes(field), field);
    assert.ok(why.endsWith('.'), field);
  }
});

test('every page of an object has its object, and every hosted page its addresses', () => {
  assert.ok(CONSOLE_PAGES.length > 50 && PARTNER_PAGES.length > 15, 'the routes were not found');
  const pages = [
    ...CONSOLE_PAGES.map((path) => `/console${path}`),
    ...PARTNER_PAGES.map((path) => `/partner${path}`),
  ].filter((path) => path.includes('$'));
  assert.deepEqual(pages.toSorted(), [...OBJECTS].toSorted());
  assert.deepEqual(HOSTED_PAGES.toSorted(), [...HOSTED].toSorted());
});

test('a field takes markup or not, whatever its shape', () => {
  const reads = (schema: object, read: (value: unknown) => unknown) => isFree({ schema, read });
  assert.ok(isFree(text(20)));
  assert.ok(!isFree(text(20, /^[a-z]+$/, 'a word')));
  assert.ok(reads({ type: 'object' }, () => undefined));
  const named = { type: 'object', properties: { name: { type: 'string' } } };
  assert.ok(reads({ type: 'array', items: named }, () => undefined));
  const word = { type: 'string', enum: ['a', 'b'] };
  assert.ok(!reads({ type: 'array', items: { type: 'object', properties: { word } } }, () => undefined));
  assert.ok(!reads({ anyOf: [word, { const: 'none' }] }, () => undefined));
  assert.ok(reads({ anyOf: [word, { type: 'string' }] }, () => undefined));
  assert.ok(readNames().includes('text') && readNames().includes('customer'), readNames().join(', '));
});
