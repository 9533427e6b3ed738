/**
 * People behind a business: its owners, with their shares, and its directors.
 *
 * Shares are percentages of at most two places, counted in hundredths, and add up to at most 100. A form may ask that they add up
 * to at least so much (`owners.minimumTotalShare`, form.ts).
 */
import { isPlain } from '../../base/fields.ts';
import { faultOf, isVisible, VISIBLE_RULE } from './answers.ts';
import { type Form, minimumTotalShareOf } from './form.ts';

export interface Person {
  readonly firstName: string;
  readonly lastName: string;
  readonly dob?: string;
  readonly country?: string;
  /** Owners only. Percent, as text. */
  readonly share?: string;
}

const MOST_PEOPLE = 20;
const MAX_NAME_CHARS = 128;
const PARTS = ['firstName', 'lastName', 'dob', 'country', 'share'] as const;

/**
 * Reads a list of people.
 *
 * @param given texts by part, one object per person
 * @returns the people, or the faults, by path such as `owners[0].share`
 */
export function readPeople(
  role: 'owners' | 'directors',
  given: readonly Readonly<Record<string, string>>[],
  now: Date,
): { people: Person[] } | { faults: Record<string, string> } {
  if (given.length > MOST_PEOPLE) return { faults: { [role]: `must be at most ${MOST_PEOPLE} people` } };
  const faults: Record<string, string> = {};
  const people = given.map((person, at) => {
    const parts = Object.fromEntries(PARTS.flatMap((part) => (person[part] ? [[part, person[part]]] : [])));
    const fault = (part: string, why: string | undefined): void => {
      if (why !== undefined) faults[`${role}[${at}].${part}`] = why;
    };
    for (const name of ['firstName', 'lastName']) fault(name, nameFault(parts[name], name));
    if (parts.dob !== undefined) fault('dob', faultOf({ name: 'dob', type: 'date' }, parts.dob, now));
    if (parts.country !== undefined)
      fault('country', faultOf({ name: 'country', type: 'country' }, parts.country, now));
    if (role === 'directors') {
      if (parts.share !== undefined) fault('share', 'is only for owners');
    } else {
      if (hundredthsOf(parts.share ?? '') === undefined)
        fault('share', 'must be a percentage above 0 and at most 100, with at most two places, for example 51.5');
    }
    return parts as unknown as Person;
  });
  if (sharesOf(people) > 10_000) faults[role] = 'must hold at most 100 percent together';
  return Object.keys(faults).length > 0 ? { faults } : { people };
}

/** Sum of the shares, in hundredths of a percent. */
export const sharesOf = (owners: readonly Pick<Person, 'share'>[]): number =>
  owners.reduce((sum, { share = '' }) => sum + (hundredthsOf(share) ?? 0), 0);

/**
 * The fault of the owners who were named, by a form that asks for what they hold together; undefined if they hold enough.
 *
 * @returns the end of a sentence that begins with the list's name
 */
export function ownersFault(form: Form, owners: readonly Pick<Person, 'share'>[]): string | undefined {
  const percent = minimumTotalShareOf(form);
  return percent === undefined || sharesOf(owners) >= Math.round(percent * 100) ? undefined : ownersRule(percent);
}

/** The same for owners as they are stored, in JSON. */
export const storedOwnersFault = (
  form: Form,
  { owners = '[]' }: Readonly<Record<string, string>>,
): string | undefined => ownersFault(form, JSON.parse(owners) as Person[]);

export const ownersRule = (percent: number): string =>
  `must hold at least ${percent} percent together, for example a share of ${percent}`;

function nameFault(text: string | undefined, name: string): string | undefined {
  const example = name === 'firstName' ? 'Asha' : 'Rao';
  if (text !== undefined && !isVisible(text)) return `${VISIBLE_RULE}, for example ${example}`;
  return text !== undefined && text.trim() !== '' && text.length <= MAX_NAME_CHARS && isPlain(text)
    ? undefined
    : `must be a name of 1 to ${MAX_NAME_CHARS} characters, for example ${example}`;
}

function hundredthsOf(text: string): number | undefined {
  const [, whole = '', places = ''] = /^(\d{1,3})(?:\.(\d{1,2}))?$/.exec(text) ?? [];
  if (whole === '') return undefined;
  const value = Number(whole) * 100 + Number(places.padEnd(2, '0'));
  return value > 0 && value <= 10_000 ? value : undefined;
}
