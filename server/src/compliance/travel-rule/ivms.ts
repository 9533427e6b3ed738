/**
 * IVMS101: the names of originator and beneficiary of a transfer, in the data model that travel rule protocols share. Pure.
 *
 * Of our customer we know the legal name, an id, and the stated country; of the other side, what the customer's partner says. Unknown
 * optional parts are left out. Our own name and the protocol's envelope are added by the protocol's adapter.
 *
 * Source: the JSON schema at https://github.com/codevasp-lab/IVMS101 (after intervasp.org).
 */
import { companyNames } from '../../customers/index.ts';

/** A person in the format of IVMS101. */
type Person = Readonly<Record<string, unknown>>;

export interface Ivms {
  readonly originator: { readonly originatorPersons: readonly Person[]; readonly accountNumber: readonly string[] };
  readonly beneficiary: { readonly beneficiaryPersons: readonly Person[]; readonly accountNumber: readonly string[] };
  readonly originatingVASP?: Person;
  readonly beneficiaryVASP?: Person;
}

export interface Known {
  readonly direction: 'in' | 'out';
  /** Address of the other side. */
  readonly address: string;
  readonly orderId: bigint;
  readonly customer: {
    readonly id: string;
    /** Two letters, as the customer or its partner states; a guess is not passed on. */
    readonly residence?: string | undefined;
    readonly details: Readonly<Record<string, string>>;
  };
  /** Undefined when the partner has said nothing about the wallet. */
  readonly wallet: { readonly ownerName?: string | undefined; readonly provider?: string | undefined } | undefined;
}

/** Maximum text length of the model. */
const LONGEST = 100;
const cut = (text: string): string => text.trim().slice(0, LONGEST);

/** The customer as a person; undefined without a name. */
export function customerPerson({ id, residence, details }: Known['customer']): Person | undefined {
  const company = cut(companyNames(details)[0] ?? '');
  if (company !== '')
    return {
      legalPerson: {
        ...{ name: legalName(company), customerNumber: id },
        ...(residence !== undefined && { countryOfRegistration: residence }),
      },
    };
  const family = cut([details.lastName, details.firstSurname, details.secondSurname].filter(Boolean).join(' '));
  const given = cut(details.firstName ?? '');
  const [primary, secondary] = family === '' ? [given, ''] : [family, given];
  if (primary === '') return undefined;
  return {
    naturalPerson: {
      name: naturalName(primary, secondary),
      customerIdentification: id,
      ...(residence !== undefined && { countryOfResidence: residence }),
    },
  };
}

/** @param known its customer must have a name */
export function ivmsOf(known: Known): Ivms {
  const { direction, address, orderId, wallet } = known;
  const customer = customerPerson(known.customer);
  const own = customer === undefined ? [] : [customer];
  const other =
    wallet === undefined
      ? []
      : wallet.ownerName === undefined
        ? own
        : [{ naturalPerson: { name: naturalName(cut(wallet.ownerName), '') } }];
  const provider =
    wallet?.provider === undefined ? undefined : { legalPerson: { name: legalName(cut(wallet.provider)) } };
  const [ours, theirs] = [[`order ${orderId}`], address === '' ? [] : [address]];
  return direction === 'out'
    ? {
        originator: { originatorPersons: own, accountNumber: ours },
        beneficiary: { beneficiaryPersons: other, accountNumber: theirs },
        ...(provider === undefined ? {} : { beneficiaryVASP: provider }),
      }
    : {
        originator: { originatorPersons: other, accountNumber: theirs },
        beneficiary: { beneficiaryPersons: own, accountNumber: ours },
        ...(provider === undefined ? {} : { originatingVASP: provider }),
      };
}

const naturalName = (primaryIdentifier: string, secondaryIdentifier: string) => ({
  nameIdentifier: [
    {
      primaryIdentifier,
      ...(secondaryIdentifier === '' ? {} : { secondaryIdentifier }),
      nameIdentifierType: 'LEGL',
    },
  ],
});

const legalName = (legalPersonName: string) => ({
  nameIdentifier: [{ legalPersonName, legalPersonNameIdentifierType: 'LEGL' }],
});

/** Bounds that no real transfer reaches. */
const MOST_PERSONS = 10;
const DEEPEST = 12;

/** The parts about originator and beneficiary of data that another provider sent; undefined without a name on either side. */
export function readIvms(given: unknown): Ivms | undefined {
  const all = objectOf(given);
  const [originator, beneficiary] = [objectOf(all.originator), objectOf(all.beneficiary)];
  const sides = [originator.originatorPersons, beneficiary.beneficiaryPersons];
  if (sides.some((persons) => namesOf(persons).length === 0) || isDeeper(all, DEEPEST)) return undefined;
  const { originatingVASP, beneficiaryVASP } = all;
  return {
    originator,
    beneficiary,
    ...(isObject(originatingVASP) ? { originatingVASP } : {}),
    ...(isObject(beneficiaryVASP) ? { beneficiaryVASP } : {}),
  } as unknown as Ivms;
}

/** Every name of these persons: given name before family name. */
export function namesOf(persons: unknown): string[] {
  if (!Array.isArray(persons) || persons.length > MOST_PERSONS) return [];
  return persons.flatMap((person) => {
    const { naturalPerson, legalPerson } = objectOf(person);
    const [natural, legal] = [identifiersOf(naturalPerson), identifiersOf(legalPerson)];
    return [
      ...natural.map(({ primaryIdentifier, secondaryIdentifier }) => [secondaryIdentifier, primaryIdentifier]),
      ...legal.map(({ legalPersonName }) => [legalPersonName]),
    ]
      .map((parts) => cut(parts.filter((part) => typeof part === 'string').join(' ')))
      .filter((name) => name !== '');
  });
}

function identifiersOf(person: unknown): Readonly<Record<string, unknown>>[] {
  const { nameIdentifier } = objectOf(objectOf(person).name);
  return Array.isArray(nameIdentifier) ? nameIdentifier.slice(0, MOST_PERSONS).map(objectOf) : [];
}

const isObject = (given: unknown): given is Readonly<Record<string, unknown>> =>
  typeof given === 'object' && given !== null && !Array.isArray(given);
const objectOf = (given: unknown): Readonly<Record<string, unknown>> => (isObject(given) ? given : {});

const isDeeper = (given: unknown, levels: number): boolean =>
  typeof given === 'object' &&
  given !== null &&
  (levels === 0 || Object.values(given).some((one) => isDeeper(one, levels - 1)));
