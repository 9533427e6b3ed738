/**
 * CSV as text: rows out of it, and rows into it. RFC 4180, strictly.
 *
 * A quote stands at both ends of a field or nowhere, so that a file which was cut inside a quoted field, or written by
 * joining strings, is refused rather than guessed at. What goes out is opened by people in spreadsheet programs: a field that
 * such a program would run as a formula gets an apostrophe in front.
 */
import { refuseFile } from './decode.ts';

const MOST_ROWS = 60_000;
const MOST_FIELDS = 200;
const LONGEST_FIELD = 4_000;

export interface Rows {
  rows: string[][];
  /** The line of the file that each row begins in, counted from 1, as an editor shows it. */
  lines: number[];
  /** Whether the last row ended with a line end. Where it did not, the file may be cut. */
  ended: boolean;
}

/** @throws Refusal 'file_refused' naming the row */
export function readRows(text: string, delimiter: string): Rows {
  const rows: string[][] = [];
  const lines: number[] = [];
  let line = 1;
  let begun = 1;
  let row: string[] = [];
  let at = 0;
  const bad = (why: string) => refuseFile(`Line ${begun} ${why}.`);

  const endRow = (): void => {
    // An empty line is no row.
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
        if (text[at] === '"') throw bad('has a quote inside a field that does not begin with one');
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
    } else throw bad('has something behind a closing quote');
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
    if (quote < 0) throw bad('begins a quoted field that never ends');
    field += text.slice(at, quote);
    if (field.length > LONGEST_FIELD) throw bad(`has a field of more than ${LONGEST_FIELD} characters`);
    if (text[quote + 1] !== '"') return { field, next: quote + 1 };
    field += '"';
    at = quote + 2;
  }
}

/** Characters with which a spreadsheet program begins a formula, their wide forms with them. */
const FORMULA = /^\s*[=+\-@\t\r＝＋－＠]/u;

/** One row with its line end, every field quoted. */
export const writeRow = (fields: readonly string[]): string =>
  `${fields.map((field) => `"${harmless(field).replaceAll('"', '""')}"`).join(',')}\r\n`;

const harmless = (field: string): string => {
  const oneLine = field.replaceAll(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, ' ');
  return FORMULA.test(field) || FORMULA.test(oneLine) ? `'${oneLine}` : oneLine;
};
