/**
 * Names of columns: `order_id` in SQL, `orderId` in TypeScript.
 *
 * batch.ts translates when an answer of PostgreSQL becomes rows, and no other code does: statements have the names of SQL and no
 * aliases for spelling, types of rows have the names of TypeScript. The content of a jsonb column is not translated.
 */

export const camelCase = (column: string): string =>
  column.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, next: string) => next.toUpperCase());

const snakeCase = (property: string): string => property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The row under the names of its columns, for answers and records that have always had these. */
export const columnsOf = (row: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(row).map(([property, value]) => [snakeCase(property), value]));
