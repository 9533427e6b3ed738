/**
 * `npm run operator -- …`: the operator's wire for people at a terminal.
 *
 * A thin client over HTTP: it knows words and columns, the server knows the rules. The token comes from a file or the
 * environment and never from the command line, which everybody on the machine can read.
 *
 * Ends with 0 done, 1 declined, 2 misused, 3 waits for a second operator, 4 server not reached.
 */
import { readFileSync } from 'node:fs';
import { COMMANDS, type Command } from './commands.ts';

const EXIT = { done: 0, declined: 1, misused: 2, waits: 3, unreached: 4 } as const;
const DEADLINE_MS = 30_000;
const GLOBAL = ['url', 'token-file', 'reason'];

class Misuse extends Error {}
class Unreached extends Error {}

interface Asked {
  command: Command;
  fields: Record<string, string>;
  options: Record<string, string>;
  json: boolean;
  brief: boolean;
}

function read(argv: readonly string[]): Asked | { help: string } {
  const words: string[] = [];
  const options: Record<string, string> = {};
  let json = false;
  let brief = false;
  let help = argv.length === 0;
  for (let i = 0; i < argv.length; i += 1) {
    const word = argv[i] ?? '';
    if (word === '--help' || word === '-h') help = true;
    else if (word === '--json') json = true;
    else if (word === '--brief') brief = true;
    else if (word.startsWith('--')) {
      const [, name = '', inline] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
      const value = inline ?? argv[(i += 1)];
      if (value === undefined) throw new Misuse(`--${name} wants a value behind it`);
      options[name] = value;
    } else words.push(word);
  }
  // The longest words win: `order release 5` is not `order` of an order called release.
  const command = COMMANDS.filter(({ words: named }) => `${words.join(' ')} `.startsWith(`${named} `))
    .sort((a, b) => b.words.length - a.words.length)
    .at(0);
  if (help || command === undefined) {
    if (!help) throw new Misuse(`there is no command "${words.join(' ')}"; --help lists them`);
    return { help: command === undefined ? overview(words) : usage(command) };
  }
  const values = words.slice(command.words.split(' ').length);
  if (values.length !== command.args.length) throw new Misuse(usage(command));
  const unknown = Object.keys(options).filter(
    (name) => !GLOBAL.includes(name) && !(command.options ?? []).includes(name),
  );
  if (unknown.length > 0) throw new Misuse(`--${unknown[0]} is not an option of this\n${usage(command)}`);
  if (command.method === 'POST' && options.reason === undefined) throw new Misuse('an act wants --reason "why"');
  if (brief && command.brief === undefined) throw new Misuse(`--brief is not an option of this\n${usage(command)}`);
  const fields = Object.fromEntries(command.args.map((name, i) => [name, values[i] ?? '']));
  return { command, fields, options, json, brief };
}

function overview(words: readonly string[]): string {
  const shown = COMMANDS.filter(({ words: named }) => words.length === 0 || named.startsWith(words[0] ?? ''));
  const lines = shown.map(({ words: named, args, about }) => [
    `  ${[named, ...args.map((name) => `<${name}>`)].join(' ')}`,
    about,
  ]);
  const width = Math.max(...lines.map(([left = '']) => left.length), 0) + 2;
  return [
    'npm run operator -- <command> [--json]',
    '',
    ...lines.map(([left = '', about]) => `${left.padEnd(width)}${about}`),
    '',
    'What changes something wants --reason "why". <command> --help shows its options. Times are UTC.',
    '',
    'Where: --url or OPERATOR_URL, otherwise http://127.0.0.1:8080',
    'Who:   --token-file or OPERATOR_TOKEN_FILE, or the token itself in OPERATOR_TOKEN; otherwise data/operator.token',
    'Ends:  0 done, 1 declined, 2 misused, 3 waits for a second operator, 4 server not reached',
  ].join('\n');
}

function usage({ words, args, options = [], brief, about, method }: Command): string {
  const typed = [words, ...args.map((name) => `<${name}>`), ...(method === 'POST' ? ['--reason <why>'] : [])];
  const more = [...options.map((name) => `[--${name} <value>]`), ...(brief === undefined ? [] : ['[--brief]'])];
  return [`npm run operator -- ${[...typed, ...more].join(' ')}`, `  ${about}`].join('\n');
}

function tokenOf(options: Record<string, string>): string {
  const file = options['token-file'] ?? process.env.OPERATOR_TOKEN_FILE;
  if (file === undefined && process.env.OPERATOR_TOKEN !== undefined) return process.env.OPERATOR_TOKEN.trim();
  const from = file ?? 'data/operator.token';
  try {
    return readFileSync(from, 'utf8').trim();
  } catch {
    throw new Misuse(`no token: ${from} cannot be read. Name its file in OPERATOR_TOKEN_FILE, or set OPERATOR_TOKEN`);
  }
}

async function ask({ command, fields, options }: Asked): Promise<{ status: number; body: Record<string, unknown> }> {
  const given: Record<string, string> = { ...fields };
  for (const name of command.options ?? []) if (options[name] !== undefined) given[name] = options[name];
  if (command.method === 'POST' && options.reason !== undefined) given.reason = options.reason;
  const path = command.path.replace(/:(\w+)/g, (_, name: string) => {
    const value = given[name] ?? '';
    delete given[name];
    return encodeURIComponent(value);
  });
  const url = new URL(`${options.url ?? process.env.OPERATOR_URL ?? 'http://127.0.0.1:8080'}/operator/v1${path}`);
  if (command.method === 'GET') url.search = new URLSearchParams(given).toString();
  const reply = await fetch(url, {
    method: command.method,
    headers: {
      authorization: `Bearer ${tokenOf(options)}`,
      ...(command.method === 'POST' ? { 'content-type': 'application/json' } : {}),
    },
    ...(command.method === 'POST' ? { body: JSON.stringify(given) } : {}),
    signal: AbortSignal.timeout(DEADLINE_MS),
  }).catch((error: Error & { cause?: { code?: string } }) => {
    const why = error.cause?.code ?? error.message;
    throw new Unreached(
      `The server was not reached at ${url.origin}: ${why}. Where it is, --url or OPERATOR_URL says (sandbox.json has it)`,
    );
  });
  return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
}

// Showing.

const WIDEST = 110;
const cut = (text: string): string => (text.length > WIDEST ? `${text.slice(0, WIDEST - 1)}…` : text);
/** Nobody at a terminal reads milliseconds. All times are UTC. */
const TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d{3}Z$/;
/** What came from outside may carry what a terminal obeys. */
const plain = (value: unknown): string =>
  (value === null || value === undefined
    ? ''
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value).replace(TIME, '$1 $2')
  ).replace(
    // oxlint-disable-next-line no-control-regex -- exactly these are kept from the terminal
    /[\u0000-\u001f\u007f-\u009f]/g,
    ' ',
  );

function table(rows: readonly Record<string, unknown>[], columns: readonly string[]): string {
  if (rows.length === 0) return 'none';
  const cells = rows.map((row) => columns.map((name) => cut(plain(row[name]))));
  const widths = columns.map((name, i) => Math.max(name.length, ...cells.map((row) => (row[i] ?? '').length)));
  const line = (parts: readonly string[]) =>
    parts
      .map((part, i) => part.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd();
  return [line(columns), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join('\n');
}

/** What says nothing is left out: a program asks for JSON, a person looks for what is there. */
const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** Columns in which some row says something. */
const filled = (rows: readonly Record<string, unknown>[]): string[] =>
  Object.keys(rows[0] ?? {}).filter((name) => rows.some((row) => !isEmpty(row[name])));

function shown({ list, columns, brief }: Command, body: Record<string, unknown>, isBrief: boolean): string {
  const all = list === undefined ? undefined : (body[list] as Record<string, unknown>[]);
  const rows = isBrief ? all?.filter(({ kind }) => !(brief ?? []).includes(String(kind))) : all;
  const rest = Object.entries(Array.isArray(body) ? { rows: body } : body).filter(
    ([name, value]) => name !== list && !isEmpty(value),
  );
  const lines = rest.flatMap(([name, value]) =>
    Array.isArray(value) && typeof value[0] === 'object'
      ? ['', `${name}:`, table(value, filled(value))]
      : typeof value === 'object' && value !== null && !Array.isArray(value)
        ? [
            `${name}:`,
            ...Object.entries(value)
              .filter(([, part]) => !isEmpty(part))
              .map(([key, part]) => `  ${key.padEnd(18)} ${plain(part)}`),
          ]
        : [`${name.padEnd(20)} ${plain(value)}`],
  );
  return [
    ...lines,
    ...(rows === undefined ? [] : [...(lines.length > 0 ? [''] : []), table(rows, columns ?? [])]),
  ].join('\n');
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const complain = (text: string): void => void process.stderr.write(`${text}\n`);

async function main(): Promise<number> {
  const asked = read(process.argv.slice(2));
  if ('help' in asked) {
    say(asked.help);
    return EXIT.done;
  }
  const { status, body } = await ask(asked);
  if (asked.json) say(JSON.stringify(body));
  if (status >= 400) {
    if (!asked.json) complain(plain(body.error ?? `the server answered ${status}`));
    return EXIT.declined;
  }
  if (!asked.json) {
    say(shown(asked.command, body, asked.brief) || 'nothing was found');
    if (status === 202)
      say(`\nAnother operator has to agree: npm run operator -- confirm ${plain(body.proposal)} --reason "…"`);
  }
  return status === 202 ? EXIT.waits : EXIT.done;
}

try {
  process.exitCode = await main();
} catch (error) {
  const said = error instanceof Misuse || error instanceof Unreached;
  complain(said ? error.message : `The answer was not understood: ${(error as Error).message}`);
  process.exitCode = error instanceof Misuse ? EXIT.misused : EXIT.unreached;
}
