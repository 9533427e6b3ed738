/** Output of commands: tables and lines for people. Programs use --json, the server's unchanged answer. */

type Row = Readonly<Record<string, unknown>>;

const TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d{1,3})?Z$/;
const WIDEST_CELL = 48;
const NARROWEST = 80;

/**
 * Formats an amount with its asset, a time in UTC, or a text. Removes terminal control sequences and characters that reverse
 * the direction of text, because texts may come from outside.
 */
export function plain(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (isMoney(value)) return `${value.amount} ${value.asset}`;
  if (Array.isArray(value)) return value.map(plain).join(', ');
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value).replace(TIME, '$1 $2');
  // oxlint-disable-next-line no-control-regex -- exactly these are kept from the terminal
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, ' ');
}

const isMoney = (value: unknown): value is { amount: string; asset: string } =>
  typeof value === 'object' &&
  value !== null &&
  'amount' in value &&
  'asset' in value &&
  Object.keys(value).length === 2;

const cut = (text: string): string => (text.length > WIDEST_CELL ? `${text.slice(0, WIDEST_CELL - 1)}…` : text);

/** Columns in the order of the declaration, as many as fit, without those that are empty in all rows. */
export function table(rows: readonly Row[], width = NARROWEST): string {
  if (rows.length === 0) return 'none';
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) =>
    rows.some((row) => plain(row[name]) !== ''),
  );
  const cells = names.map((name) => [name, ...rows.map((row) => cut(plain(row[name])))]);
  const widths = cells.map((column) => Math.max(...column.map((cell) => cell.length)));
  let used = 0;
  const shown = widths.filter((one, at) => {
    used += one + (at === 0 ? 0 : 2);
    return at === 0 || used <= Math.max(width, NARROWEST);
  }).length;
  return [0, ...rows.map((_, at) => at + 1)]
    .map((at) =>
      cells
        .slice(0, shown)
        .map((column, index) => (column[at] ?? '').padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** One line per field; lists of objects as tables below. */
export function record(value: Row, width = NARROWEST): string {
  const isTable = (one: unknown): one is Row[] =>
    Array.isArray(one) && one.length > 0 && one.every((row) => typeof row === 'object' && row !== null);
  const entries = Object.entries(value).filter(([, one]) => plain(one) !== '' && !isTable(one));
  const lines = entries.flatMap(([name, one]): [string, string][] =>
    typeof one === 'object' && one !== null && !Array.isArray(one) && !isMoney(one)
      ? Object.entries(one).map(([inner, each]): [string, string] => [`${name}.${inner}`, plain(each)])
      : [[name, plain(one)]],
  );
  const widest = Math.max(0, ...lines.map(([name]) => name.length)) + 2;
  const tables = Object.entries(value)
    .filter((entry): entry is [string, Row[]] => isTable(entry[1]))
    .map(([name, rows]) => `\n${name}\n${table(rows, width)}`);
  return [
    ...lines.filter(([, text]) => text !== '').map(([name, text]) => `${name.padEnd(widest)}${text}`),
    ...tables,
  ].join('\n');
}

/** `{data: […]}` as a table, anything else as a record. */
export function answer(value: unknown, width = NARROWEST): string {
  if (Array.isArray(value)) return table(value as Row[], width);
  if (typeof value !== 'object' || value === null) return plain(value);
  const { data, nextCursor } = value as { data?: unknown; nextCursor?: unknown };
  if (!Array.isArray(data)) return record(value as Row, width);
  const more = typeof nextCursor === 'string' ? `\nmore: --cursor ${plain(nextCursor)}, or --all` : '';
  return `${table(data as Row[], width)}${more}`;
}
