/**
 * Reads the UK sanctions list in its XML format. It is the one list of the United Kingdom since January 2026, when the
 * consolidated list of asset freeze targets was withdrawn.
 */
import { type Birth, countryOf, type ListEntry, type ListName, periodOf, type SubjectKind } from './entry.ts';
import type { ReadList } from './un.ts';
import { all, type Chunks, type Element, line, readRecords, refuseList, textAt } from './xml.ts';

/** Given names come first; Name6 is the family name, or the whole name of an entity or ship. */
const PARTS = ['Name1', 'Name2', 'Name3', 'Name4', 'Name5', 'Name6'];
const KINDS: Readonly<Record<string, SubjectKind>> = { Individual: 'person', Entity: 'entity', Ship: 'vessel' };
const COUNTRIES = [
  'Addresses/Address/AddressCountry',
  'IndividualDetails/Individual/Nationalities/Nationality',
  'IndividualDetails/Individual/BirthDetails/Location/CountryOfBirth',
];
const IDENTIFIERS = [
  ['IndividualDetails/Individual/PassportDetails/Passport', 'PassportNumber', 'passport'],
  [
    'IndividualDetails/Individual/NationalIdentifierDetails/NationalIdentifier',
    'NationalIdentifierNumber',
    'national id',
  ],
  ['EntityDetails/Entity/BusinessRegistrationNumbers', 'BusinessRegistrationNumber', 'registration'],
  ['ShipDetails/Ship/IMONumbers', 'IMONumber', 'IMO number'],
] as const;

/** @throws Refusal 'file_refused' */
export async function readUk(chunks: Chunks, onEntry: (entry: ListEntry) => void): Promise<ReadList> {
  let published = '';
  const sha256 = await readRecords(chunks, {
    root: { name: 'Designations', namespaces: [''], is: 'the UK sanctions list' },
    records: new Set(['DateGenerated', 'Designation']),
    onRecord: (path, record) => {
      if (path === 'DateGenerated') published = line(record.text, 40);
      else onEntry(entryOf(record));
    },
  });
  return { published, sha256 };
}

function entryOf(record: Element): ListEntry {
  const id = line(textAt(record, 'UniqueID'), 60);
  if (id === '') throw refuseList('A designation has no UniqueID.');
  const kind = KINDS[textAt(record, 'IndividualEntityShip')];
  if (kind === undefined) throw refuseList('A designation is not an Individual, an Entity or a Ship.');
  return {
    id,
    kind,
    names: [
      ...all(record, 'Names/Name').flatMap(nameOf),
      ...all(record, 'NonLatinNames/NonLatinName').flatMap(nonLatin),
    ],
    births: all(record, 'IndividualDetails/Individual/DOBs/DOB').flatMap(({ text }) => birthOf(text)),
    countries: COUNTRIES.flatMap((path) => all(record, path)).flatMap(({ text }) => countryOf(text) ?? []),
    identifiers: IDENTIFIERS.flatMap(([path, number, of]) =>
      all(record, `${path}/${number}`)
        .map(({ text }) => line(text, 100))
        .flatMap((value) => (value === '' ? [] : [{ kind: of, value }])),
    ),
    addresses: [],
  };
}

/** A few published names have a type and no name parts. */
function nameOf(name: Element): ListName[] {
  const text = line(PARTS.map((part) => textAt(name, part)).join(' '));
  if (text === '') return [];
  const isPrimary = textAt(name, 'NameType').toLowerCase() === 'primary name';
  const isWeak = /^low/i.test(textAt(name, 'AliasStrength'));
  return [{ text, quality: isWeak ? 'weak' : 'strong', isPrimary }];
}

function nonLatin(name: Element): ListName[] {
  const text = line(textAt(name, 'NameNonLatinScript'));
  return text === '' ? [] : [{ text, quality: 'strong', isPrimary: false }];
}

/** `27/08/1955`, with letters where day or month is not known: `dd/mm/1950`. */
function birthOf(text: string): Birth[] {
  const [day = Number.NaN, month = Number.NaN, year = Number.NaN] = text.trim().split('/').map(Number);
  const period = periodOf({ year, month, day });
  return period === undefined ? [] : [{ ...period, isCirca: false }];
}
