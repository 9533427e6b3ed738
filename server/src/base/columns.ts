/**
 * Column names: `order_id` in SQL, `orderId` in TypeScript.
 *
 * Only batch.ts translates, when PostgreSQL's answer becomes rows. Statements use SQL names and no aliases for spelling; row
 * types use TypeScript names. The content of a jsonb column is not translated.
 */

export const camelCase = (column: string): string =>
  column.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, next: string) => next.toUpperCase());

const snakeCase = (property: string): string => property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The row with SQL names, for API responses and records that have always used these. */
export const columnsOf = (row: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(row).map(([property, value]) => [snakeCase(property), value]));
