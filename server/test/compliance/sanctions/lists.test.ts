import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Refusal, Unavailable } from '../../../src/base/errors.ts';
import type { Http } from '../../../src/base/http.ts';
import { countryOf, digestOf, LIST_CODES, type ListCode } from '../../../src/compliance/sanctions/entry.ts';
import { fetchList, listSources } from '../../../src/compliance/sanctions/fetch.ts';
import { deltaOf, readList } from '../../../src/compliance/sanctions/read.ts';
import { readConfig } from '../../../src/config.ts';

const FIXTURES = new URL('../../fixtures/sanctions/', import.meta.url);
const bytesOf = (list: ListCode): Buffer => readFileSync(new URL(`${list}.xml`, FIXTURES));
const NOW = new Date('2026-11-23T12:00:00Z');

const reads = (list: ListCode, text: string | Buffer) => readList(list, [Buffer.from(text)]);
const refuses = (promise: Promise<unknown>, why: RegExp) =>
  assert.rejects(promise, (error) => {
    assert.ok(error instanceof Refusal && error.code === 'file_refused', String(error));
    assert.match(String(error.facts.why), why);
    return true;
  });

test('OFAC: a party has its names by script and quality, its births, country, passport and coin addresses', async () => {
  const { entries, published } = await reads('ofac', bytesOf('ofac'));
  assert.equal(published, '2026-11-20');
  assert.deepEqual([...entries.keys()], ['90001', '90002', '90003']);
  assert.deepEqual(entries.get('90001'), {
    id: '90001',
    kind: 'person',
    names: [
      { text: 'ORLENKOV Taras Ilyich', script: 'Latn', quality: 'strong', isPrimary: true },
      { text: 'THE EAGLE', script: 'Latn', quality: 'weak', isPrimary: false },
      { text: 'ОРЛЕНКОВ Тарас Ильич', script: 'Cyrl', quality: 'strong', isPrimary: false },
    ],
    births: [{ from: '1971-01-01', to: '1972-12-31', isCirca: true }],
    countries: ['RU'],
    identifiers: [{ kind: 'Passport', value: '75 1234567', country: 'RU' }],
    addresses: [
      { asset: 'ETH', address: '0x00000000000000000000000000000000deadc0de' },
      { asset: 'XBT', address: 'bc1qinventedforthefixture0000000000000000' },
    ],
  });
  assert.deepEqual(
    ['90002', '90003'].map((id) => [entries.get(id)?.kind, entries.get(id)?.countries]),
    [
      ['entity', ['CU']],
      ['vessel', []],
    ],
  );
});

test('UN: an individual has aliases with their quality, and births as exact day, range and about a year', async () => {
  const { entries, published } = await reads('un', bytesOf('un'));
  assert.equal(published, '2026-11-19T23:00:06.496Z');
  const person = entries.get('XXi.001');
  assert.deepEqual(
    person?.names.map(({ text, quality }) => `${text}: ${quality}`),
    [
      'Abu Yusuf: weak',
      'HARUN MUSTAFA AL-KHAYALI: strong',
      'Haroun Mustapha al-Khayyali: strong',
      'هارون مصطفى الخيالي: strong',
    ],
  );
  assert.deepEqual(person?.births, [
    { from: '1973-01-01', to: '1975-12-31', isCirca: false },
    { from: '1974-02-28', to: '1974-02-28', isCirca: false },
    { from: '1980-01-01', to: '1980-12-31', isCirca: true },
  ]);
  assert.deepEqual(person?.countries, ['LB', 'SY']);
  assert.deepEqual(person?.identifiers, [{ kind: 'Passport', value: 'N 000123', country: 'SY' }]);
  assert.deepEqual([entries.get('XXe.002')?.kind, entries.get('XXe.002')?.names.length], ['entity', 2]);
});

test('EU: names come whole or in parts, an unknown country is left out, and a range of years is a birth', async () => {
  const { entries } = await reads('eu', bytesOf('eu'));
  const person = entries.get('EU.90001.1');
  assert.deepEqual(
    person?.names.map(({ text, quality }) => `${text}: ${quality}`),
    ['Olli Nunez: weak', 'Ólafur Steinþórsson-Núñez: strong', 'Олаф Штайнторссон: strong'],
  );
  assert.deepEqual(person?.countries, ['ES', 'IS']);
  assert.deepEqual(person?.births, [
    { from: '1966-01-01', to: '1969-12-31', isCirca: true },
    { from: '1968-03-29', to: '1968-03-29', isCirca: false },
  ]);
  assert.deepEqual(
    entries.get('EU.90002.7')?.names.map(({ text }) => text),
    ['Nordlicht Maschinenbau GmbH & Co. KG'],
  );
});

test('UK: a name without any part is left out, and a birth may lack day or month', async () => {
  const { entries, published } = await reads('uk', bytesOf('uk'));
  assert.equal(published, '20/11/2026');
  const person = entries.get('XXX0001');
  assert.deepEqual(
    person?.names.map(({ text, quality }) => `${text}: ${quality}`),
    ['Ou-Yang Cheng-wei: strong', 'Uncle Wei: weak', 'ZHENGWEI OUYANG: strong', '欧阳正伟: strong'],
  );
  assert.deepEqual(
    person?.births.map(({ from, to }) => `${from}/${to}`),
    ['1961-01-01/1961-12-31', '1961-08-27/1961-08-27', '1962-11-01/1962-11-30'],
  );
  assert.deepEqual(person?.countries, ['CN', 'HK']);
  assert.deepEqual(
    person?.identifiers.map(({ kind, value }) => `${kind} ${value}`),
    ['national id 110101196108270000', 'passport G00000001'],
  );
  assert.deepEqual(entries.get('XXX0003')?.identifiers, [{ kind: 'IMO number', value: '9000001' }]);
});

test('a list is refused as a whole: cut anywhere, another list, a document type, or an entry that cannot be read', async () => {
  for (const list of LIST_CODES) {
    const whole = bytesOf(list);
    await refuses(reads(list, whole.subarray(0, whole.length - 20)), /not well-formed/);
    await refuses(reads(list, ''), /empty/);
    const other = LIST_CODES.find((code) => code !== list) ?? list;
    await refuses(reads(list, bytesOf(other)), /is not/);
  }
  const uk = bytesOf('uk').toString();
  await refuses(
    reads('uk', uk.replace('<Designations', '<!DOCTYPE x [<!ENTITY a "b">]><Designations')),
    /document type/,
  );
  await refuses(reads('uk', uk.replace('<UniqueID>XXX0002</UniqueID>', '')), /no UniqueID/);
  await refuses(reads('uk', uk.replace('>Ship<', '>Person<')), /not an Individual/);
  await refuses(reads('uk', '<Designations></Designations>'), /no entry/);
  await refuses(
    reads('ofac', bytesOf('ofac').toString().replace('FeatureTypeID="345"', 'FeatureTypeID="7"')),
    /feature/,
  );
  await refuses(reads('un', Buffer.concat([bytesOf('un'), Buffer.from([0xff])])), /UTF-8/);
});

test('bounds: a deep list, a long text and a record of too many elements are refused', async () => {
  const uk = (inner: string) => `<Designations><Designation>${inner}</Designation></Designations>`;
  await refuses(reads('uk', uk('<a>'.repeat(60) + '</a>'.repeat(60))), /nested too deeply/);
  await refuses(reads('uk', uk(`<OtherInformation>${'a'.repeat(300_000)}</OtherInformation>`)), /characters/);
  await refuses(reads('uk', uk('<x/>'.repeat(60_000))), /elements/);
  await refuses(reads('uk', uk(`<x a="${'a'.repeat(30_000)}"/>`)), /attribute/);
});

test('a list that only reorders has not changed; a new alias changes its entry; a missing entry is removed', async () => {
  const { entries: before } = await reads('uk', bytesOf('uk'));
  const text = bytesOf('uk').toString();
  const digests = new Map([...before].map(([id, entry]) => [id, digestOf(entry)]));
  const names = /<Name><Name1>ZHENGWEI.*?<\/Name>\s*<Name><Name6>Ou-Yang.*?<\/Name>/s;
  const reordered = text.replace(names, (both) =>
    both
      .split(/(?<=<\/Name>)\s*/)
      .toReversed()
      .join(''),
  );
  assert.notEqual(reordered, text);
  assert.deepEqual(deltaOf(digests, (await reads('uk', reordered)).entries), { added: [], removed: [], changed: [] });
  const changed = text
    .replace('<Name6>REEF STAR II</Name6>', '<Name6>REEF STAR III</Name6>')
    .replace('XXX0002', 'XXX0009');
  assert.deepEqual(deltaOf(digests, (await reads('uk', changed)).entries), {
    added: ['XXX0009'],
    removed: ['XXX0002'],
    changed: ['XXX0003'],
  });
});

test('a file has its own time, and must match the checksum beside it', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'lists-'));
  try {
    const from = join(dir, 'uk.xml');
    copyFileSync(new URL('uk.xml', FIXTURES), from);
    utimesSync(from, new Date('2026-11-21T00:00:00Z'), new Date('2026-11-21T00:00:00Z'));
    const never: Http = async () => assert.fail('a file was requested over the network');
    const reads = async () =>
      (await fetchList({ ask: never }, { list: 'uk', from }, { now: NOW })) ?? assert.fail('no list');
    const found = await reads();
    assert.equal(found.asOf.toISOString(), '2026-11-21T00:00:00.000Z');
    const sum = createHash('sha256').update(bytesOf('uk')).digest('hex');
    assert.equal(found.sha256.toString('hex'), sum);
    writeFileSync(`${from}.sha256`, `${sum}  uk.xml\n`);
    assert.equal((await reads()).entries.size, 3);
    writeFileSync(`${from}.sha256`, `${'0'.repeat(64)}  uk.xml\n`);
    await refuses(reads(), /checksum/);
    const none = { list: 'uk', from: join(dir, 'none.xml') } as const;
    await assert.rejects(fetchList({ ask: never }, none, { now: NOW }), Unavailable);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('the made-up list of the sandbox reads', async () => {
  const { entries } = await reads(
    'uk',
    readFileSync(new URL('../../../src/sandbox/sanctions.uk.xml', import.meta.url)),
  );
  assert.deepEqual([...entries.keys()], ['DEMO0001', 'DEMO0002', 'DEMO0003']);
});

test('the setting of lists names each once, with a file or an https address, or stops the start', () => {
  assert.deepEqual(listSources('ofac=https://lists.example/a, uk=/lists/uk.xml'), [
    { list: 'ofac', from: 'https://lists.example/a' },
    { list: 'uk', from: '/lists/uk.xml' },
  ]);
  const sum = 'Ab'.repeat(32);
  assert.deepEqual(
    listSources(`un=https://lists.example/a?b=c#sha256=${sum},eu=https://l.example/e#sha256=https://l.example/s`),
    [
      { list: 'un', from: 'https://lists.example/a?b=c', sha256: sum },
      { list: 'eu', from: 'https://l.example/e', sha256: 'https://l.example/s' },
    ],
  );
  for (const wrong of ['#sha256=ab', '#sha256=http://l.example/s', '#md5=0', '#', '#sha256=https://l.example/s#x'])
    assert.match(String(listSources(`un=https://lists.example/a${wrong}`)), /must give the checksum/, wrong);
  for (const wrong of ['ofac', 'who=/a', 'uk=', 'uk=/a,uk=/b', 'uk=http://lists.example/a', 'uk=https://'])
    assert.throws(() => readConfig({ SANCTIONS_LISTS: wrong }), /^SettingError: SANCTIONS_LISTS must /, wrong);
  assert.equal(readConfig({ SANCTIONS_LISTS: 'none' }).sanctionsLists, 'none');
  assert.equal(readConfig({}).sanctionsLists, undefined);
  assert.equal(readConfig({ PROFILE: 'production' }).sanctionsMaxAgeS, 172_800);
});

test('countries are known by code, by English name and by the spellings of the lists', () => {
  const known = {
    RU: 'Russian Federation',
    KP: 'Korea, North',
    IR: 'Iran (Islamic Republic of)',
    SY: 'Syria',
    HK: 'Hong Kong',
  };
  for (const [code, name] of Object.entries({
    ...known,
    DE: 'GERMANY',
    GB: 'GB',
    CI: 'Côte d’Ivoire',
    US: 'United States',
  }))
    assert.equal(countryOf(name), code, name);
  for (const name of ['', 'Atlantis', 'ZZ', 'XQ', 'toString']) assert.equal(countryOf(name), undefined, name);
});
