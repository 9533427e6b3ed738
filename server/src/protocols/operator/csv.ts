/**
 * CSV of a table (RFC 4180): a header line, lines end with CR LF, quotes where a cell needs them.
 *
 * A spreadsheet treats a cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return as a formula, and reasons and
 * references are other people's texts. Such a cell gets a leading apostrophe, unless it is a plain number.
 */
import type { FastifyReply } from 'fastify';
import type { Table } from './declare.ts';

/** Cursor of the next page for CSV, which has no place for it. */
const NEXT_HEADER = 'x-next';

/** The reply of a read that has a table: with `format=csv` exactly the rows of its JSON. */
export function tableReply(reply: FastifyReply, table: Table, input: { format?: unknown }, body: unknown): unknown {
  if (input.format !== 'csv') return body;
  const { next } = body as { next?: string | null };
  if (typeof next === 'string') reply.header(NEXT_HEADER, next);
  return reply.type('text/csv; charset=utf-8; header=present').send(csvOf(table, body));
}

const FORMULA = /^[=+\-@\t\r]/;
const PLAIN_NUMBER = /^-?[0-9]+(\.[0-9]+)?$/;

export function csvOf({ list, columns }: Table, body: unknown): string {
  const rows = (body as Record<string, readonly Record<string, unknown>[]>)[list] ?? [];
  const lines = [columns, ...rows.map((row) => columns.map((name) => textOf(row[name])))];
  return lines.map((cells) => `${cells.map(cell).join(',')}\r\n`).join('');
}

export function cell(text: string): string {
  const safe = FORMULA.test(text) && !PLAIN_NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const textOf = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
