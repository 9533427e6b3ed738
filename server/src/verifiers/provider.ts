/**
 * Provider: functions that adapters of verification providers share: one JSON request, levels as an operator sets them, and
 * comparing signatures. Nothing here is specific to one provider.
 *
 * A missing answer is `Unavailable`: no answer in time, an unreadable one, or an unexpected status. Messages contain the
 * provider's code and the status, and nothing of a request or an answer, because both contain personal data.
 */
import { timingSafeEqual } from 'node:crypto';
import { isCalendarDay } from '../base/clock.ts';
import { type Setting, SettingError } from '../base/env.ts';
import { Unavailable } from '../base/errors.ts';
import { ask } from '../base/http.ts';
import type { DocumentNames } from './verifier.ts';

export type Json = Readonly<Record<string, unknown>>;

const DEADLINE_MS = 10_000;
/** A whole applicant with several documents is about 20 kB. */
const LONGEST_ANSWER = 256 * 1024;

/**
 * One request with a JSON answer.
 *
 * @param r.expects statuses with an answer to read; any other is Unavailable
 * @throws Unavailable
 */
export async function askProvider(
  code: string,
  r: {
    url: string;
    method: 'GET' | 'POST';
    headers: Readonly<Record<string, string>>;
    body?: string;
    expects: readonly number[];
    deadlineMs?: number | undefined;
  },
): Promise<{ status: number; body: Json }> {
  const answer = await ask({
    ...{ url: r.url, method: r.method, longestBytes: LONGEST_ANSWER },
    headers: { accept: 'application/json', ...r.headers },
    ...(r.body !== undefined && { body: r.body }),
    deadline: AbortSignal.timeout(r.deadlineMs ?? DEADLINE_MS),
  }).catch(() => {
    throw new Unavailable(code, 'it did not answer');
  });
  if (!r.expects.includes(answer.status)) throw new Unavailable(code, `it answered ${answer.status}`);
  const body = jsonOf(answer.body);
  if (body === undefined) throw new Unavailable(code, 'its answer is not JSON');
  return { status: answer.status, body };
}

/** A JSON object; undefined for anything else. */
export function jsonOf(bytes: Buffer): Json | undefined {
  try {
    const read: unknown = JSON.parse(bytes.toString('utf8'));
    return isObject(read) ? read : undefined;
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value at this path; undefined when a part of it is missing. */
export const at = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), value);

export const textAt = (value: unknown, ...path: readonly string[]): string | undefined => {
  const found = at(value, ...path);
  return typeof found === 'string' && found !== '' ? found : undefined;
};

/** Compares two texts in constant time. */
export function isSame(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Our levels, each with the provider's name for the check that verifies to it. */
export type Levels = ReadonlyMap<number, string>;

/** A setting such as `1:basic-kyc,3:id-and-liveness`. A level that is not listed uses the check of the next higher one. */
export function levels(name: string, about: string): Setting<Levels | undefined> {
  return {
    name,
    about: `${about}, such as 1:basic,3:full`,
    read(value) {
      if (value === undefined || value === '') return undefined;
      const pairs = value.split(',').map((pair) => /^ *([1-5]):([!-9;-~]{1,80}(?: [!-9;-~]{1,80})*) *$/.exec(pair));
      const read = new Map(pairs.map((pair) => [Number(pair?.[1]), pair?.[2] ?? '']));
      if (pairs.includes(null) || read.size < pairs.length)
        throw new SettingError(`${name} must be levels from 1 to 5 with a name each, such as 1:basic,3:full`);
      return read;
    },
  };
}

/** The provider's name for the check that verifies at least to this level. */
export function nameFor(all: Levels, level: number): string | undefined {
  const least = [...all.keys()].filter((one) => one >= level).sort((a, b) => a - b)[0];
  return least === undefined ? undefined : all.get(least);
}

/** The highest level that a check of this name verifies to. */
export const levelOf = (all: Levels, name: string | undefined): number | undefined =>
  [...all].filter(([, one]) => one === name).sort(([a], [b]) => b - a)[0]?.[0];

/** The first of these days, for documents that were all accepted; a text that is no YYYY-MM-DD is not counted. */
export const earliestDay = (given: readonly (string | undefined)[]): string | undefined =>
  given.filter((day) => day !== undefined && isCalendarDay(day)).toSorted()[0];

/** Names of a finding, without the parts that the provider does not know; undefined when it knows no name. */
export function namesOf(given: { [Part in keyof DocumentNames]: string | undefined }): DocumentNames | undefined {
  const { firstName, lastName, companyName } = given;
  if (![firstName, lastName, companyName].some(Boolean)) return undefined;
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== ''));
}

/** Each number once; undefined when there is none. */
export function numbersOf(given: readonly (string | undefined)[]): string[] | undefined {
  const numbers = new Set(given.filter((number) => number !== undefined));
  return numbers.size === 0 ? undefined : [...numbers];
}

/** A single word of the provider as a reason, because it contains no personal data; undefined for anything else. */
export const wordOf = (given: unknown): string | undefined =>
  typeof given === 'string' && /^[A-Za-z][A-Za-z_]{0,59}$/.test(given) ? given.toLowerCase() : undefined;
