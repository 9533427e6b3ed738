/**
 * Defined: an object without its undefined fields. An optional field must be absent, not present as `undefined`: comparisons tell
 * the two apart, and so do types (`exactOptionalPropertyTypes`).
 */

type Optional<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T];

/** The result's type: fields that cannot be undefined, and all others as optional fields. */
export type Defined<T> = { [K in Exclude<keyof T, Optional<T>>]: T[K] } & {
  [K in Optional<T>]?: Exclude<T[K], undefined>;
};

/** @example const reply = { id, ...defined({ reason, until }) }; */
export function defined<T extends object>(fields: T): Defined<T> {
  const kept: Partial<T> = {};
  for (const key in fields) if (fields[key] !== undefined) kept[key] = fields[key];
  return kept as Defined<T>;
}
