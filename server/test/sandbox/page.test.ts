/** docs/sandbox.md describes the code's behaviour. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readFields } from '../../src/protocols/whitelabel/fields.ts';
import { CONTROLS } from '../../src/protocols/whitelabel/index.ts';
import { findControl, help, helpOf, readArguments } from '../../src/sandbox/commands.ts';
import { MAGIC } from '../../src/sandbox/magic.ts';
import { PAGE, pageOf } from '../../src/sandbox/page.ts';

test('the page has the tables that the code makes', () => {
  const page = readFileSync(PAGE, 'utf8');
  assert.equal(page, pageOf(page), 'node scripts/run.mjs server/src/sandbox/page.ts regenerates it');
  for (const { name } of CONTROLS) assert.ok(page.includes(`| \`${name}\` |`), name);
  for (const { value } of MAGIC) assert.ok(page.includes(`| \`${value}\` |`), value);
});

test('every example is a command whose request is valid by its declaration', () => {
  for (const control of CONTROLS) {
    const [name = '', ...args] = control.example.split(' ');
    const { route } = control;
    assert.equal(findControl(name), control);
    const read = (request: Readonly<Record<string, string | number>>) => {
      const body = new Map(Object.entries(request).map(([field, value]) => [field, String(value)]));
      return readFields(route.fields(body), body);
    };
    assert.deepEqual(read(readArguments(control, args).fields), read(route.example ?? {}), control.example);
    assert.ok(help().includes(name) && helpOf(control).includes(control.example));
  }
});

for (const [args, why] of [
  [['pay'], /^transactionId missing/],
  [['pay', '1', '--color', 'red'], /^pay takes no --color/],
  [['pay', '1', '--how'], /^--how needs a value: exact/],
  [['pay', '1', '--transactionId', '2'], /^transactionId was given twice/],
  [['clock', '1h', '2h'], /^2h is one value too many/],
] as const) {
  test(`a command that cannot be read says why: ${args.join(' ')}`, () => {
    const [name = '', ...rest] = args;
    const control = findControl(name);
    assert.ok(control);
    assert.throws(() => readArguments(control, rest), { message: why });
  });
}

test('values may be given without names, with them, and after an equals sign', () => {
  const control = findControl('pay');
  assert.ok(control);
  const body = { transactionId: '17', how: 'under', amount: '5' };
  for (const args of ['17 under 5', '17 --how under --amount 5', '--amount=5 17 --how=under'])
    assert.deepEqual(readArguments(control, args.split(' ')), { fields: body });
  const status = findControl('status') ?? control;
  const fields = { transactionId: '17', status: '-4' };
  assert.deepEqual(readArguments(status, ['17', '-4']), { fields });
  for (const args of ['--partner acme 17 -4', '17 --partner=acme -4', '17 -4 --partner acme'])
    assert.deepEqual(readArguments(status, args.split(' ')), { fields, partner: 'acme' });
});
