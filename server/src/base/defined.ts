/**
 * Defined: an object without its undefined fields. A field that may be left out must not be there as `undefined`: it would be
 * another object to a comparison, and the types know the difference (`exactOptionalPropertyTypes`).
 */

type Optional<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T];

/** The result: fields that cannot be undefined, and the others as optional fields. */
export type Defined<T> = { [K in Exclude<keyof T, Optional<T>>]: T[K] } & {
  [K in Optional<T>]?: Exclude<T[K], undefined>;
};

/** @example const reply = { id, ...defined({ reason, until }) }; */
export function defined<T extends object>(fields: T): Defined<T> {
  const kept: Partial<T> = {};
  for (const key in fields) if (fields[key] !== undefined) kept[key] = fields[key];
  return kept as Defined<T>;
}
