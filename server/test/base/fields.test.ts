/** Rules that several wires share are written once. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { idNamed, phone } from '../../src/base/fields.ts';

const SOURCE = fileURLToPath(new URL('../../src/', import.meta.url));

test('a text names an id only in the one way in which we write it', () => {
  assert.equal(idNamed('1'), 1n);
  assert.equal(idNamed('9'.repeat(18)), BigInt('9'.repeat(18)));
  for (const other of ['', '0', '01', '-1', '+1', '1.0', '1e3', ' 1', '1\n', '١', '9'.repeat(19)])
    assert.equal(idNamed(other), undefined, other);
});

test('a phone number has 8 to 15 digits, with spaces and hyphens', () => {
  for (const good of ['+91 98000 00001', '+1-555-123-4567', '12345678', '+910000000000'])
    assert.equal(phone.read(good), good);
  for (const bad of [12_345_678, '1234567', '1'.repeat(16), '+44(0)1234567', `1${' '.repeat(40)}2345678`])
    assert.equal(phone.read(bad), undefined, String(bad));
});

test('the forms of an id and of a phone number are in base/fields.ts only', async () => {
  for (const file of await readdir(SOURCE, { recursive: true })) {
    if (!file.endsWith('.ts') || file === 'base/fields.ts') continue;
    const text = await readFile(`${SOURCE}${file}`, 'utf8');
    for (const form of ['/^[1-9][0-9]{0,17}$/', 'digits >= 8 && digits <= 15'])
      assert.ok(!text.includes(form), `${file} has ${form}; use base/fields.ts`);
  }
});
