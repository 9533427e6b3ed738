/**
 * Reads OFAC's lists in the advanced format (Advanced Sanctions Data Model), such as SDN_ADVANCED.XML.
 *
 * The format is normalised: an entry names its country, script, feature type and documents by numbers defined in earlier sections
 * of the file. Those are kept while the file is read, limited to the fields that an entry uses. An undefined number is left out,
 * except that of a party's type and of a digital currency address.
 */
import { defined } from '../../base/defined.ts';
import {
  type Birth,
  type CoinAddress,
  countryOf,
  type Identifier,
  type ListEntry,
  type ListName,
  periodOf,
  type SubjectKind,
} from './entry.ts';
import type { ReadList } from './un.ts';
import { all, type Chunks, type Element, first, line, readRecords, refuseList, textAt } from './xml.ts';

const NAMESPACES = [
  'https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/ADVANCED_XML',
  'https://www.un.org/sanctions/1.0',
  'http://www.un.org/sanctions/1.0',
];
const VALUES = [
  ...['CountryValues/Country', 'FeatureTypeValues/FeatureType', 'ScriptValues/Script', 'PartyTypeValues/PartyType'],
  ...['PartySubTypeValues/PartySubType', 'IDRegDocTypeValues/IDRegDocType', 'AliasTypeValues/AliasType'],
];
const RECORDS = new Set([
  'DateOfIssue',
  ...VALUES.map((path) => `ReferenceValueSets/${path}`),
  ...['Locations/Location', 'IDRegDocuments/IDRegDocument', 'DistinctParties/DistinctParty'],
]);
const COIN = /^Digital Currency Address\s*-\s*(\S+)$/;
const COUNTRY_FEATURES = new Set(['Nationality Country', 'Citizenship Country', 'Location', 'Place of Birth']);
/** The list has about 40,000 of each. */
const MOST_ROWS = 1_000_000;

/** Definitions of earlier sections, by number. */
interface Known {
  values: Map<string, { text: string; attributes: Readonly<Record<string, string>> }>;
  /** Country code by location number. */
  locations: Map<string, string>;
  /** Identity documents by identity number. */
  documents: Map<string, Identifier[]>;
  rows: number;
}

/** @throws Refusal 'file_refused' */
export async function readOfac(chunks: Chunks, onEntry: (entry: ListEntry) => void): Promise<ReadList> {
  let published = '';
  const known: Known = { values: new Map(), locations: new Map(), documents: new Map(), rows: 0 };
  const sha256 = await readRecords(chunks, {
    root: { name: 'Sanctions', namespaces: NAMESPACES, is: 'a list of OFAC in the advanced format' },
    records: RECORDS,
    onRecord: (path, record) => {
      if (path === 'DistinctParties/DistinctParty') onEntry(entryOf(record, known));
      else if (path === 'DateOfIssue') published = dayOf(record)?.from ?? '';
      else keep(path, record, known);
    },
  });
  return { published, sha256 };
}

function keep(path: string, record: Element, known: Known): void {
  known.rows += 1;
  if (known.rows > MOST_ROWS) throw refuseList(`The list has more than ${MOST_ROWS} values, locations and documents.`);
  const id = record.attributes.ID ?? '';
  if (path === 'Locations/Location') {
    const country = countryBy(first(record, 'LocationCountry')?.attributes.CountryID, known);
    if (country !== undefined) known.locations.set(id, country);
  } else if (path === 'IDRegDocuments/IDRegDocument') {
    const value = line(textAt(record, 'IDRegistrationNo'), 100);
    const identity = record.attributes.IdentityID ?? '';
    if (value === '' || identity === '') return;
    const country = countryBy(record.attributes['IssuedBy-CountryID'], known);
    const kind = line(valueOf('IDRegDocType', record.attributes.IDRegDocTypeID, known)?.text ?? '', 100) || 'document';
    const said = { kind, value, ...defined({ country }) };
    known.documents.set(identity, [...(known.documents.get(identity) ?? []), said]);
  } else known.values.set(`${record.name}:${id}`, { text: line(record.text), attributes: record.attributes });
}

const valueOf = (name: string, id: string | undefined, { values }: Known) => values.get(`${name}:${id ?? ''}`);

function countryBy(id: string | undefined, known: Known): string | undefined {
  const found = valueOf('Country', id, known);
  return found && (countryOf(found.attributes.ISO2 ?? '') ?? countryOf(found.text));
}

function entryOf(party: Element, known: Known): ListEntry {
  const id = line(party.attributes.FixedRef ?? '', 60);
  if (id === '') throw refuseList('A party has no FixedRef.');
  const profiles = all(party, 'Profile');
  const identities = profiles.flatMap((profile) => all(profile, 'Identity'));
  const features = profiles.flatMap((profile) => all(profile, 'Feature'));
  const typed = features.map((feature) => ({ feature, type: typeOf(feature, known) }));
  return {
    id,
    kind: kindOf(profiles[0], known),
    names: identities.flatMap((identity) => all(identity, 'Alias')).flatMap((alias) => namesOf(alias, known)),
    births: typed.filter(({ type }) => type === 'Birthdate').flatMap(({ feature }) => birthsOf(feature)),
    countries: typed
      .filter(({ type }) => COUNTRY_FEATURES.has(type))
      .flatMap(({ feature }) => all(feature, 'FeatureVersion/VersionLocation'))
      .flatMap(({ attributes }) => known.locations.get(attributes.LocationID ?? '') ?? []),
    identifiers: identities.flatMap(({ attributes }) => known.documents.get(attributes.ID ?? '') ?? []),
    addresses: typed.flatMap(({ feature, type }) => addressesOf(feature, type)),
  };
}

/** A list with an undefined feature type is rejected: the feature could be an address of a coin. */
function typeOf(feature: Element, known: Known): string {
  const found = valueOf('FeatureType', feature.attributes.FeatureTypeID, known);
  if (found === undefined) throw refuseList('A party has a feature whose type does not stand in the list.');
  return found.text;
}

function kindOf(profile: Element | undefined, known: Known): SubjectKind {
  const subtype = valueOf('PartySubType', profile?.attributes.PartySubTypeID, known);
  const type = valueOf('PartyType', subtype?.attributes.PartyTypeID, known)?.text;
  if (subtype?.text === 'Vessel') return 'vessel';
  if (subtype?.text === 'Aircraft') return 'aircraft';
  if (type === 'Individual') return 'person';
  if (type === 'Entity') return 'entity';
  throw refuseList('A party has a type that the list does not define.');
}

/** An alias may be written in several scripts; each spelling is a documented name of its own. */
function namesOf(alias: Element, known: Known): ListName[] {
  const quality = alias.attributes.LowQuality === 'true' ? 'weak' : 'strong';
  return all(alias, 'DocumentedName').flatMap((name): ListName[] => {
    const parts = all(name, 'DocumentedNamePart/NamePartValue');
    const text = line(parts.map((part) => part.text).join(' '));
    if (text === '') return [];
    const script = valueOf('Script', parts[0]?.attributes.ScriptID, known)?.attributes.ScriptCode;
    const isPrimary = alias.attributes.Primary === 'true' && (script === undefined || script === 'Latn');
    return [{ text, ...defined({ script }), quality, isPrimary }];
  });
}

/** The period of a point in time whose month or day may be missing. */
function dayOf(on: Element | undefined): { from: string; to: string } | undefined {
  if (on === undefined) return undefined;
  const said = (name: string) => Number(textAt(on, name) || 'NaN');
  return periodOf({ year: said('Year'), month: said('Month'), day: said('Day') });
}

/** A period has a start and an end, and each of them may itself be a period. */
function birthsOf(feature: Element): Birth[] {
  return all(feature, 'FeatureVersion/DatePeriod').flatMap((period): Birth[] => {
    const start = dayOf(first(period, 'Start/From'));
    if (start === undefined) return [];
    const end = dayOf(first(period, 'End/To')) ?? dayOf(first(period, 'End/From')) ?? dayOf(first(period, 'Start/To'));
    const isCirca = ['Start', 'End'].some((side) => first(period, side)?.attributes.Approximate === 'true');
    return [{ from: start.from, to: end !== undefined && end.to >= start.from ? end.to : start.to, isCirca }];
  });
}

function addressesOf(feature: Element, type: string): CoinAddress[] {
  const asset = COIN.exec(type)?.[1];
  if (asset === undefined) return [];
  return all(feature, 'FeatureVersion/VersionDetail').flatMap(({ text }) => {
    const address = text.trim();
    if (address === '' || address.length > 200) throw refuseList('A digital currency address is empty or too long.');
    return [{ asset, address }];
  });
}
