/**
 * Environment: reads settings from text, with one field each (fields.ts). An invalid setting prevents the start, with its name in
 * the error. Unset and empty mean the same: the fallback.
 *
 * A secret may come from a file instead: `NAME_FILE` gives its path, as container platforms pass secrets.
 */
import { readFileSync } from 'node:fs';
import {
  webAddress as addressOf,
  type Field,
  isSafe,
  listOf,
  network,
  units,
  whole,
  oneOf as wordOf,
} from './fields.ts';

export class SettingError extends Error {
  override name = 'SettingError';
}

export interface Setting<T> {
  name: string;
  /** One line for `npm run config`. */
  about: string;
  read(value: string | undefined): T;
  /** Never printed. */
  secret?: boolean;
  /** Default value, for `npm run config` and the documents. */
  fallback?: string | undefined;
  /** Allowed values, if there is a list of them. */
  choices?: readonly string[];
  /** Purpose of the setting. Production refuses to start without it if the part that needs it is used. */
  demand?: string;
  /** A secret shared with another program: production checks its length and randomness. */
  shared?: boolean;
}

export type Settings = Readonly<Record<string, Setting<unknown>>>;
export type Read<S extends Settings> = { [Name in keyof S]: ReturnType<S[Name]['read']> };

/** @throws SettingError with the setting and the rule that it violates */
export function readSettings<S extends Settings>(settings: S, env: NodeJS.ProcessEnv): Read<S> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, setting]) => [
      name,
      setting.read(setting.secret === true ? valueOrFile(setting.name, env) : env[setting.name]),
    ]),
  ) as Read<S>;
}

function valueOrFile(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const file = env[`${name}_FILE`];
  if (file === undefined || file === '') return env[name];
  if (env[name] !== undefined && env[name] !== '')
    throw new SettingError(`${name} and ${name}_FILE are both set; one of them says it`);
  return readTextFile(`${name}_FILE`, file);
}

/** @throws SettingError with the setting, never with the file's content */
export function readTextFile(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new SettingError(`${name} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'no reason given'}`);
  }
}

export function text<D extends string | undefined>(name: string, about: string, fallback: D): Setting<string | D> {
  return { name, about, fallback, read: (value) => (value === undefined || value === '' ? fallback : value) };
}

export function secret(name: string, about: string): Setting<string | undefined> {
  return { ...text(name, about, undefined), secret: true };
}

/** A secret shared with another program. Production checks that it is long enough and random. */
export function sharedSecret(name: string, about: string): Setting<string | undefined> {
  return { ...secret(name, about), shared: true };
}

/** @param what purpose of the setting: production refuses to start without it if the part that needs it is used */
export const demanded = <T>(setting: Setting<T>, what: string): Setting<T> => ({ ...setting, demand: what });

function setting<T, F extends T | undefined>(
  name: string,
  about: string,
  field: Field<T>,
  fallback: F,
): Setting<T | F> {
  return {
    name,
    about,
    read(value) {
      if (value === undefined || value === '') return fallback;
      const read = field.read(value);
      if (read === undefined) throw new SettingError(`${name} must be ${field.rule}`);
      return read;
    },
  };
}

export const integer = <F extends number | undefined>(
  name: string,
  about: string,
  fallback: F,
  { min, max }: { min: number; max: number },
): Setting<number | F> => ({
  ...setting(name, about, whole(min, max), fallback),
  fallback: fallback === undefined ? undefined : String(fallback),
});

export const oneOf = <const C extends readonly string[], F extends C[number] | undefined>(
  name: string,
  about: string,
  choices: C,
  fallback: F,
): Setting<C[number] | F> => ({
  ...setting<C[number], F>(name, about, wordOf(choices), fallback),
  fallback,
  choices,
});

/** An upper bound for parts of one setting, above any list that a person writes into one line. */
const MOST_PARTS = 1_000;

/** A subset of the choices, comma-separated, each at most once. */
export function someOf<const C extends readonly string[]>(
  name: string,
  about: string,
  choices: C,
): Setting<readonly C[number][] | undefined> {
  const list = listOf<C[number]>(wordOf(choices), MOST_PARTS);
  const once: Field<readonly C[number][]> = {
    ...list,
    rule: `some of ${choices.join(', ')}, with commas between them`,
    read(given) {
      const read = list.read(given);
      return read === undefined || new Set(read).size < read.length ? undefined : read;
    },
  };
  return { ...setting(name, about, once, undefined), choices };
}

/** Whole numbers, comma-separated. */
export const someNumbers = (name: string, about: string): Setting<readonly bigint[]> =>
  setting<readonly bigint[], readonly bigint[]>(
    name,
    about,
    { ...listOf(units, MOST_PARTS), rule: 'whole numbers, with commas between them' },
    [],
  );

/** Addresses and networks (`10.0.0.0/8`), comma-separated. `none` is a valid value and differs from leaving it unset. */
export function addresses(name: string, about: string): Setting<readonly string[] | undefined> {
  // A network that contains every address is a mistake.
  const narrow: Field<string> = {
    ...network,
    read: (given) => (/\/0+$/.test(String(given)) ? undefined : network.read(given)),
  };
  const list = listOf(narrow, MOST_PARTS);
  const field: Field<readonly string[]> = {
    ...list,
    rule: 'IP addresses or networks such as 10.0.0.0/8, with commas, or none',
    read: (given) => (String(given).trim() === 'none' ? [] : list.read(given)),
  };
  return setting(name, about, field, undefined);
}

/** URL of an outside service, without a slash at its end. */
export function webAddress<F extends string | undefined>(
  name: string,
  about: string,
  fallback: F,
): Setting<string | F> {
  const plain = addressOf(
    'an https address, or http on this machine, without login or query',
    (url) => isSafe(url) && `${url.username}${url.password}${url.search}${url.hash}` === '',
  );
  const field: Field<string> = { ...plain, read: (given) => plain.read(given)?.replace(/\/+$/, '') };
  return { ...setting<string, F>(name, about, field, fallback), fallback };
}
