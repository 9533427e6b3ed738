/**
 * People behind a business: its owners, with their shares, and its directors.
 *
 * Shares are percentages of at most two places, counted in hundredths, and add up to at most 100.
 */
import { isPlain } from '../../base/fields.ts';
import { faultOf } from './answers.ts';

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
  let hundredths = 0;
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
      const share = hundredthsOf(parts.share ?? '');
      if (share === undefined)
        fault('share', 'must be a percentage above 0 and at most 100, with at most two places, for example 51.5');
      else hundredths += share;
    }
    return parts as unknown as Person;
  });
  if (hundredths > 10_000) faults[role] = 'must hold at most 100 percent together';
  return Object.keys(faults).length > 0 ? { faults } : { people };
}

function nameFault(text: string | undefined, name: string): string | undefined {
  const example = name === 'firstName' ? 'Asha' : 'Rao';
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
