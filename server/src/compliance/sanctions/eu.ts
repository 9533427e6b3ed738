/** Reads the consolidated list of EU financial sanctions in its XML format, version 1.1. Its content is in attributes. */
import { defined } from '../../base/defined.ts';
import { type Birth, countryOf, type ListEntry, type ListName, periodOf, yearsOf } from './entry.ts';
import type { ReadList } from './un.ts';
import { all, type Chunks, type Element, first, line, readRecords, refuseList } from './xml.ts';

const NAMESPACE = 'http://eu.europa.ec/fpi/fsd/export';
/** The list's placeholder for an unknown country. */
const UNKNOWN = '00';

/** @throws Refusal 'file_refused' */
export async function readEu(chunks: Chunks, onEntry: (entry: ListEntry) => void): Promise<ReadList> {
  let published = '';
  const sha256 = await readRecords(chunks, {
    root: { name: 'export', namespaces: [NAMESPACE], is: 'the list of EU financial sanctions' },
    records: new Set(['sanctionEntity']),
    onRoot: (attributes) => (published = line(attributes.generationDate ?? '', 40)),
    onRecord: (_path, record) => onEntry(entryOf(record)),
  });
  return { published, sha256 };
}

function entryOf(record: Element): ListEntry {
  const id = line(record.attributes.euReferenceNumber ?? '', 60) || line(record.attributes.logicalId ?? '', 60);
  if (id === '') throw refuseList('An entry has no euReferenceNumber and no logicalId.');
  const type = first(record, 'subjectType')?.attributes;
  const places = ['citizenship', 'address', 'birthdate'].flatMap((name) => all(record, name));
  return {
    id,
    kind: type?.code === 'person' || type?.classificationCode === 'P' ? 'person' : 'entity',
    names: all(record, 'nameAlias').flatMap(nameOf),
    births: all(record, 'birthdate').flatMap(birthOf),
    countries: places.flatMap((place) => countryIn(place) ?? []),
    identifiers: all(record, 'identification').flatMap(identifierOf),
    addresses: [],
  };
}

function countryIn({ attributes }: Element): string | undefined {
  const code = attributes.countryIso2Code ?? '';
  return code === UNKNOWN ? undefined : (countryOf(code) ?? countryOf(attributes.countryDescription ?? ''));
}

/** The list marks no name as primary, so the first strong name is shown. */
function nameOf({ attributes }: Element, index: number): ListName[] {
  const { wholeName = '', firstName = '', middleName = '', lastName = '' } = attributes;
  const text = line(wholeName) || line([firstName, middleName, lastName].join(' '));
  if (text === '') return [];
  return [{ text, quality: attributes.strong === 'false' ? 'weak' : 'strong', isPrimary: index === 0 }];
}

function birthOf({ attributes }: Element): Birth[] {
  const said = (name: string) => Number(attributes[name] || 'NaN');
  const [year = Number.NaN, month = Number.NaN, day = Number.NaN] = (attributes.birthdate ?? '')
    .slice(0, 10)
    .split('-')
    .map(Number);
  const period =
    periodOf({ year, month, day }) ??
    yearsOf(said('yearRangeFrom'), said('yearRangeTo')) ??
    periodOf({ year: said('year'), month: said('monthOfYear'), day: said('dayOfMonth') });
  return period === undefined ? [] : [{ ...period, isCirca: attributes.circa === 'true' }];
}

function identifierOf(element: Element) {
  const { attributes } = element;
  const value = line(attributes.number ?? '', 100);
  if (value === '') return [];
  const country = countryIn(element);
  const kind =
    line(attributes.identificationTypeDescription ?? attributes.identificationTypeCode ?? '', 100) || 'document';
  return [{ kind, value, ...defined({ country }) }];
}
