/**
 * Reads the consolidated list of the United Nations Security Council in its XML format.
 *
 * Not here: bounds of the file (xml.ts).
 */
import { defined } from '../../base/defined.ts';
import { type Birth, countryOf, type ListEntry, type ListName, periodOf, yearsOf } from './entry.ts';
import { all, type Chunks, type Element, line, readRecords, refuseList, textAt } from './xml.ts';

const RECORDS = new Set(['INDIVIDUALS/INDIVIDUAL', 'ENTITIES/ENTITY']);
const PARTS = ['FIRST_NAME', 'SECOND_NAME', 'THIRD_NAME', 'FOURTH_NAME'];

export interface ReadList {
  /** The list's own date, as text; '' when it has none. */
  published: string;
  sha256: Buffer;
}

/** @throws Refusal 'file_refused' */
export async function readUn(chunks: Chunks, onEntry: (entry: ListEntry) => void): Promise<ReadList> {
  let published = '';
  const sha256 = await readRecords(chunks, {
    root: { name: 'CONSOLIDATED_LIST', namespaces: [''], is: 'the consolidated list of the United Nations' },
    records: RECORDS,
    onRoot: (attributes) => (published = line(attributes.dateGenerated ?? '', 40)),
    onRecord: (path, record) => onEntry(entryOf(record, path.startsWith('INDIVIDUALS') ? 'INDIVIDUAL' : 'ENTITY')),
  });
  return { published, sha256 };
}

function entryOf(record: Element, prefix: 'INDIVIDUAL' | 'ENTITY'): ListEntry {
  const id = line(textAt(record, 'REFERENCE_NUMBER'), 60) || line(textAt(record, 'DATAID'), 60);
  if (id === '') throw refuseList('An entry has no REFERENCE_NUMBER and no DATAID.');
  const primary = line(PARTS.map((part) => textAt(record, part)).join(' '));
  const original = line(textAt(record, 'NAME_ORIGINAL_SCRIPT'));
  const names: ListName[] = [
    ...(primary === '' ? [] : [{ text: primary, quality: 'strong' as const, isPrimary: true }]),
    ...(original === '' ? [] : [{ text: original, quality: 'strong' as const, isPrimary: false }]),
    ...all(record, `${prefix}_ALIAS`).flatMap(aliasOf),
  ];
  const countries = [
    ...all(record, 'NATIONALITY/VALUE'),
    ...all(record, `${prefix}_ADDRESS/COUNTRY`),
    ...all(record, 'INDIVIDUAL_PLACE_OF_BIRTH/COUNTRY'),
  ];
  return {
    id,
    kind: prefix === 'INDIVIDUAL' ? 'person' : 'entity',
    names,
    births: all(record, 'INDIVIDUAL_DATE_OF_BIRTH').flatMap(birthOf),
    countries: countries.flatMap(({ text }) => countryOf(text) ?? []),
    identifiers: all(record, 'INDIVIDUAL_DOCUMENT').flatMap(documentOf),
    addresses: [],
  };
}

/** "Low", "Low quality" and "Good" are its words; an alias without one counts as a good one. */
function aliasOf(alias: Element): ListName[] {
  const text = line(textAt(alias, 'ALIAS_NAME'));
  if (text === '') return [];
  return [{ text, quality: /^low/i.test(textAt(alias, 'QUALITY')) ? 'weak' : 'strong', isPrimary: false }];
}

function birthOf(birth: Element): Birth[] {
  const said = (name: string) => Number(textAt(birth, name) || 'NaN');
  const isCirca = /^(approx|circa)/i.test(textAt(birth, 'TYPE_OF_DATE'));
  const range = yearsOf(said('FROM_YEAR'), said('TO_YEAR'));
  const [year = Number.NaN, month = Number.NaN, day = Number.NaN] = textAt(birth, 'DATE')
    .slice(0, 10)
    .split('-')
    .map(Number);
  const exact = periodOf({ year, month, day });
  const parts = periodOf({ year: said('YEAR'), month: said('MONTH'), day: said('DAY') });
  const period = range ?? exact ?? parts;
  return period === undefined ? [] : [{ ...period, isCirca }];
}

function documentOf(document: Element) {
  const value = line(textAt(document, 'NUMBER'), 100);
  if (value === '') return [];
  const country = countryOf(textAt(document, 'ISSUING_COUNTRY') || textAt(document, 'COUNTRY_OF_ISSUE'));
  const kind = line(textAt(document, 'TYPE_OF_DOCUMENT'), 100) || 'document';
  return [{ kind, value, ...defined({ country }) }];
}
