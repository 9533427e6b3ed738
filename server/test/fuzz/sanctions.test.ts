/** Fuzzing of sanctions lists: a list is read exactly, or refused with a sentence; it is never shortened. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { isCalendarDay } from '../../src/base/clock.ts';
import { Refusal } from '../../src/base/errors.ts';
import { LIST_CODES, type ListCode } from '../../src/compliance/sanctions/entry.ts';
import { readList, type SanctionsList } from '../../src/compliance/sanctions/read.ts';
import { assertUnpolluted, fuzz, mangled, nasty } from './fuzz.ts';

const bytesOf = (list: ListCode): Buffer => readFileSync(new URL(`../fixtures/sanctions/${list}.xml`, import.meta.url));

/** The condition on any entry that was read, whatever was in the file. */
function isSound({ entries, sha256 }: SanctionsList): void {
  assert.ok(entries.size > 0 && sha256.length === 32);
  for (const [id, entry] of entries) {
    assert.ok(id !== '' && id === entry.id && id.length <= 60);
    for (const { text } of entry.names) assert.ok(text !== '' && text.length <= 500 && !/\p{Cc}/u.test(text));
    for (const { from, to } of entry.births)
      assert.ok(isCalendarDay(from) && isCalendarDay(to) && from <= to, `${from} to ${to}`);
    for (const country of entry.countries) assert.match(country, /^[A-Z]{2}$/);
    for (const { address } of entry.addresses) assert.ok(address !== '' && address.length <= 200);
  }
  assertUnpolluted();
}

async function readsOrRefuses(list: ListCode, bytes: Uint8Array, piece: number): Promise<SanctionsList | undefined> {
  function* pieces() {
    for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece);
  }
  try {
    const read = await readList(list, pieces());
    isSound(read);
    return read;
  } catch (error) {
    assert.ok(error instanceof Refusal && error.code === 'file_refused', String((error as Error).stack));
    assert.match(String(error.facts.why), /^[A-Z].{5,300}\.$/s);
    assertUnpolluted();
    return undefined;
  }
}

const list = fc.constantFrom(...LIST_CODES);
const piece = fc.integer({ min: 1, max: 5_000 });
const damaged = list.chain((code) => fc.tuple(fc.constant(code), mangled(fc.constant(bytesOf(code))), piece));

fuzz('sanctions lists', 'damaged bytes are a sound list or a refusal', 400, damaged, async ([code, bytes, size]) => {
  await readsOrRefuses(code, bytes, size);
});

fuzz(
  'sanctions lists',
  'a list cut anywhere is refused, and never a shorter one',
  200,
  list.chain((code) => fc.tuple(fc.constant(code), fc.integer({ min: 0, max: bytesOf(code).length - 10 }), piece)),
  async ([code, length, size]) => {
    assert.equal(await readsOrRefuses(code, bytesOf(code).subarray(0, length), size), undefined);
  },
);

/** Text that XML can contain. */
const said = nasty.map((text) =>
  text
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .toWellFormed()
    .slice(0, 400),
);
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
const date = fc.record({
  day: fc.integer({ min: 0, max: 32 }),
  month: fc.integer({ min: 0, max: 13 }),
  year: fc.integer(),
});
const designation = fc.record({
  names: fc.array(said, { maxLength: 5 }),
  dates: fc.array(date, { maxLength: 3 }),
  country: said,
});

fuzz(
  'sanctions lists',
  'every designation that is written is an entry, with each of its names',
  200,
  fc.tuple(fc.array(designation, { minLength: 1, maxLength: 8 }), piece),
  async ([all, size]) => {
    const xml = all.map(
      ({ names, dates, country }, index) => `<Designation><UniqueID>X${index}</UniqueID>
        <IndividualEntityShip>Individual</IndividualEntityShip>
        <Names>${names.map((name) => `<Name><Name6>${escaped(name)}</Name6></Name>`).join('')}</Names>
        <IndividualDetails><Individual>
          <DOBs>${dates.map(({ day, month, year }) => `<DOB>${day}/${month}/${year}</DOB>`).join('')}</DOBs>
          <Nationalities><Nationality>${escaped(country)}</Nationality></Nationalities>
        </Individual></IndividualDetails></Designation>`,
    );
    const read = await readsOrRefuses('uk', Buffer.from(`<Designations>${xml.join('')}</Designations>`), size);
    assert.equal(read?.entries.size, all.length);
    for (const [index, { names }] of all.entries()) {
      const kept = new Set(read?.entries.get(`X${index}`)?.names.map(({ text }) => text));
      const line = (text: string) => text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
      for (const name of names.map(line)) assert.ok(name === '' || kept.has(name), name);
    }
  },
);
