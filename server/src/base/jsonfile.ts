/**
 * JSON files that people write. Every error has the place and the rule. Unknown fields are rejected, so that a misspelt name is
 * not silently ignored. The rule of a value is a field (fields.ts).
 */
import { SettingError } from './env.ts';
import type { Field } from './fields.ts';

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
export function readAt<T>(value: unknown, at: string, field: Field<T>): T {
  const read = field.read(value);
  if (read === undefined) throw new SettingError(`${at} must be ${field.rule}`);
  return read;
}
