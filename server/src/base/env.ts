/**
 * Environment: reads settings from text with one rule each, so that an invalid one stops the start with its name.
 *
 * A secret may come from a file instead: `NAME_FILE` gives its path, as container platforms pass secrets.
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';

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
  /** Allowed values, when they are a list. */
  choices?: readonly string[];
  /** What the setting is for. Production refuses to start without it when the part it belongs to is used. */
  demand?: string;
  /** A secret shared with another program: production checks its length and randomness. */
  shared?: boolean;
}

export type Settings = Readonly<Record<string, Setting<unknown>>>;
export type Read<S extends Settings> = { [Name in keyof S]: ReturnType<S[Name]['read']> };

/** @throws SettingError naming the setting and its rule */
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

/** @throws SettingError naming the setting, never the file's content */
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

/** @param what what the setting is for: production refuses to start without it when the part it belongs to is used */
export const demanded = <T>(setting: Setting<T>, what: string): Setting<T> => ({ ...setting, demand: what });

export function integer<F extends number | undefined>(
  name: string,
  about: string,
  fallback: F,
  range: { min: number; max: number },
): Setting<number | F> {
  return {
    name,
    about,
    fallback: fallback === undefined ? undefined : String(fallback),
    read(value) {
      if (value === undefined || value === '') return fallback;
      const number = /^[0-9]{1,12}$/.test(value) ? Number.parseInt(value, 10) : Number.NaN;
      if (Number.isNaN(number) || number < range.min || number > range.max) {
        throw new SettingError(`${name} must be a whole number from ${range.min} to ${range.max}`);
      }
      return number;
    },
  };
}

export function oneOf<const C extends readonly string[], F extends C[number] | undefined>(
  name: string,
  about: string,
  choices: C,
  fallback: F,
): Setting<C[number] | F> {
  return {
    name,
    about,
    fallback,
    choices,
    read(value) {
      if (value === undefined || value === '') return fallback;
      if (!choices.includes(value)) throw new SettingError(`${name} must be one of ${choices.join(', ')}`);
      return value;
    },
  };
}

/** A subset of the choices, comma-separated, each at most once. */
export function someOf<const C extends readonly string[]>(
  name: string,
  about: string,
  choices: C,
): Setting<readonly C[number][] | undefined> {
  return {
    name,
    about,
    choices,
    read(value) {
      if (value === undefined || value === '') return undefined;
      const chosen = value.split(',').map((one) => one.trim());
      if (!chosen.every((one) => choices.includes(one)) || new Set(chosen).size < chosen.length) {
        throw new SettingError(`${name} must be some of ${choices.join(', ')}, with commas between them`);
      }
      return chosen;
    },
  };
}

/** Whole numbers, comma-separated. */
export function someNumbers(name: string, about: string): Setting<readonly bigint[]> {
  return {
    name,
    about,
    read(value) {
      if (value === undefined || value === '') return [];
      const parts = value.split(',').map((one) => one.trim());
      if (!parts.every((one) => /^[0-9]{1,20}$/.test(one)))
        throw new SettingError(`${name} must be whole numbers, with commas between them`);
      return parts.map(BigInt);
    },
  };
}

/** Addresses and networks (`10.0.0.0/8`), comma-separated. `none` is a valid value and differs from leaving it unset. */
export function addresses(name: string, about: string): Setting<readonly string[] | undefined> {
  return {
    name,
    about,
    read(value) {
      if (value === undefined || value === '') return undefined;
      if (value.trim() === 'none') return [];
      const parts = value.split(',').map((one) => one.trim());
      if (!parts.every(isNetwork))
        throw new SettingError(`${name} must be IP addresses or networks such as 10.0.0.0/8, with commas, or none`);
      return parts;
    },
  };
}

function isNetwork(text: string): boolean {
  const [address = '', bits, more] = text.split('/');
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return (
    more === undefined &&
    most > 0 &&
    (bits === undefined || (/^[0-9]{1,3}$/.test(bits) && Number(bits) > 0 && Number(bits) <= most))
  );
}

/** URL of an outside service: https, or http on this machine only, because plain http can be altered in transit. */
export function webAddress<F extends string | undefined>(
  name: string,
  about: string,
  fallback: F,
): Setting<string | F> {
  return {
    name,
    about,
    fallback,
    read(value) {
      if (value === undefined || value === '') return fallback;
      const url = URL.canParse(value) ? new URL(value) : undefined;
      const local = url?.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
      const plain = url !== undefined && `${url.username}${url.password}${url.search}${url.hash}` === '';
      if (!plain || (url.protocol !== 'https:' && !local)) {
        throw new SettingError(`${name} must be an https address, or http on this machine, without login or query`);
      }
      return url.href.replace(/\/+$/, '');
    },
  };
}
