/**
 * CSV: parsing and writing rows. RFC 4180, strictly.
 *
 * A field has quotes at both ends or none, so a file that was cut inside a quoted field, or that was written by joining strings,
 * is rejected. People open the files that we write in spreadsheet programs: a field that such a program would run as a formula
 * gets a leading apostrophe.
 */
import { refuseFile } from './decode.ts';

const MOST_ROWS = 60_000;
const MOST_FIELDS = 200;
const LONGEST_FIELD = 4_000;

export interface Rows {
  rows: string[][];
  /** The line of the file in which each row begins, counted from 1, as an editor shows it. */
  lines: number[];
  /** Whether the last row ended with a line end. If not, the file may be truncated. */
  ended: boolean;
}

/** @throws Refusal 'file_refused' with the row */
export function readRows(text: string, delimiter: string): Rows {
  const rows: string[][] = [];
  const lines: number[] = [];
  let line = 1;
  let begun = 1;
  let row: string[] = [];
  let at = 0;
  const bad = (why: string) => refuseFile(`Line ${begun} ${why}.`);

  const endRow = (): void => {
    // Empty lines are skipped.
    if (row.length > 1 || row[0] !== '') {
      rows.push(row);
      lines.push(begun);
    }
    row = [];
    begun = line;
    if (rows.length > MOST_ROWS) throw refuseFile(`The file has more than ${MOST_ROWS} rows.`);
  };
  const endField = (field: string): void => {
    if (field.length > LONGEST_FIELD) throw bad(`has a field of more than ${LONGEST_FIELD} characters`);
    if (row.length >= MOST_FIELDS) throw bad(`has more than ${MOST_FIELDS} fields`);
    row.push(field);
  };

  while (at < text.length) {
    if (text[at] === '"') {
      const { field, next } = quoted(text, at, bad);
      endField(field);
      line += field.split('\n').length - 1;
      at = next;
    } else {
      const from = at;
      while (at < text.length && text[at] !== delimiter && text[at] !== '\n' && text[at] !== '\r') {
        if (text[at] === '"') throw bad('has a quote inside an unquoted field');
        at += 1;
      }
      endField(text.slice(from, at));
    }
    if (at >= text.length) break;
    if (text[at] === delimiter) {
      at += 1;
      // A delimiter at the very end is followed by an empty field.
      if (at >= text.length) endField('');
    } else if (text[at] === '\r' || text[at] === '\n') {
      if (text[at] === '\r' && text[at + 1] === '\n') at += 1;
      at += 1;
      line += 1;
      endRow();
    } else throw bad('has text after a closing quote');
  }
  const ended = row.length === 0;
  if (!ended) endRow();
  return { rows, lines, ended };
}

function quoted(text: string, from: number, bad: (why: string) => Error): { field: string; next: number } {
  let field = '';
  let at = from + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) throw bad('begins a quoted field that does not end');
    field += text.slice(at, quote);
    if (field.length > LONGEST_FIELD) throw bad(`has a field of more than ${LONGEST_FIELD} characters`);
    if (text[quote + 1] !== '"') return { field, next: quote + 1 };
    field += '"';
    at = quote + 2;
  }
}

/** Characters that start a formula in a spreadsheet program, including their full-width forms. */
const FORMULA = /^\s*[=+\-@\t\r＝＋－＠]/u;

/** One row with its line end, every field quoted. */
export const writeRow = (fields: readonly string[]): string =>
  `${fields.map((field) => `"${harmless(field).replaceAll('"', '""')}"`).join(',')}\r\n`;

const harmless = (field: string): string => {
  const oneLine = field.replaceAll(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, ' ');
  return FORMULA.test(field) || FORMULA.test(oneLine) ? `'${oneLine}` : oneLine;
};
