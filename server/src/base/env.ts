/**
 * Environment: reading settings as text with a rule each, so that a wrong one is refused with its name at start.
 */
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
}

export function text<D extends string | undefined>(name: string, about: string, fallback: D): Setting<string | D> {
  return { name, about, read: (value) => (value === undefined || value === '' ? fallback : value) };
}

export function secret(name: string, about: string): Setting<string | undefined> {
  return { ...text(name, about, undefined), secret: true };
}

export function integer(
  name: string,
  about: string,
  fallback: number,
  range: { min: number; max: number },
): Setting<number> {
  return {
    name,
    about,
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

export function oneOf<const C extends readonly string[]>(
  name: string,
  about: string,
  choices: C,
  fallback: C[number],
): Setting<C[number]> {
  return {
    name,
    about,
    read(value) {
      if (value === undefined || value === '') return fallback;
      if (!choices.includes(value)) throw new SettingError(`${name} must be one of ${choices.join(', ')}`);
      return value;
    },
  };
}
