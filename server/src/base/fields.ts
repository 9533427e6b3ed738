/**
 * Fields: reads a JSON file written by a person. Every error names the place and the rule. Unknown fields are rejected, so
 * that a misspelt one is not silently ignored.
 */
import { SettingError } from './env.ts';

/** @throws SettingError */
export function parseJson(from: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SettingError(`${from} is not JSON`);
  }
}

/** @param at name of the object in errors: `CHAINS_FILE: chains[0]`. @throws SettingError */
export function objectAt(value: unknown, at: string, known?: readonly string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new SettingError(`${at} must be an object`);
  const odd = Object.keys(value).find((key) => known !== undefined && !known.includes(key));
  if (odd !== undefined) throw new SettingError(`${at}.${odd.slice(0, 40)} is no field`);
  return value as Record<string, unknown>;
}

/** @throws SettingError */
export function listAt(value: unknown, at: string, { least = 1, most = 100 } = {}): readonly unknown[] {
  if (!Array.isArray(value) || value.length < least || value.length > most)
    throw new SettingError(`${at} must be a list of ${least} to ${most}`);
  return value;
}

/** @throws SettingError */
export function textAt(value: unknown, at: string, form: RegExp, rule: string): string {
  if (typeof value !== 'string' || !form.test(value)) throw new SettingError(`${at} ${rule}`);
  return value;
}

/** A whole number as text, because JSON numbers lose digits. @throws SettingError */
export function unitsAt(value: unknown, at: string): bigint {
  return BigInt(textAt(value, at, /^[0-9]{1,78}$/, 'must be a whole number, as text'));
}

/** @throws SettingError */
export function countAt(value: unknown, at: string, { min, max }: { min: number; max: number }): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max)
    throw new SettingError(`${at} must be a whole number from ${min} to ${max}`);
  return value;
}

/** @throws SettingError */
export function oneOfAt<const C extends readonly string[]>(value: unknown, at: string, choices: C): C[number] {
  const found = choices.find((choice) => choice === value);
  if (found === undefined)
    throw new SettingError(`${at} must be one of ${choices.map((choice) => `'${choice}'`).join(', ')}`);
  return found;
}
