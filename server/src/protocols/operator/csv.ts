/**
 * CSV of a table, as RFC 4180 has it: a line of names, lines end with CR LF, quotes where a cell needs them.
 *
 * A spreadsheet takes a cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return for a formula, and reasons and
 * references are texts of others. Such a cell begins with an apostrophe here, unless it is a plain number.
 */
import type { Table } from './declare.ts';

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
