/**
 * Column names: `order_id` in SQL, `orderId` in TypeScript and on every wire.
 *
 * batch.ts translates when PostgreSQL's answer becomes rows, and nothing translates back. Statements use SQL names and no aliases
 * for spelling; row types use TypeScript names. The content of a jsonb column is not translated.
 */

export const camelCase = (column: string): string =>
  column.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, next: string) => next.toUpperCase());
