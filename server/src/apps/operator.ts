/**
 * `npm run operator -- …`: the operator API for people at a terminal.
 *
 * A thin client over HTTP: it knows commands and columns, the server knows the rules. The token comes from a file or the
 * environment and never from the command line, which every user of the machine can read.
 *
 * One command calls no server: `new token` creates a token locally, so that only its owner ever has it.
 *
 * With --all a list is followed page by page, and each page is written as it arrives.
 *
 * Exit codes: 0 done, 1 declined, 2 misused, 3 waiting for confirmation or for its delay, 4 server not reached.
 */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { partsOf } from '../base/commandline.ts';
import { ask as askServer, NoAnswer } from '../base/http.ts';
import { randomText } from '../base/ids.ts';
import { COMMANDS, type Command } from '../cli/commands.ts';

const EXIT = { done: 0, declined: 1, misused: 2, waits: 3, unreached: 4 } as const;
const DEADLINE_MS = 30_000;
/** A large day's statement is read and compared line by line. */
const FILE_DEADLINE_MS = 300_000;
const MOST_NAMES = 100;
/** For a report, which may sum up years. */
const REPORT_DEADLINE_MS = 100_000;
const deadlineOf = ({ sendsFile, sendsForm, words }: Command): number =>
  sendsFile === true || sendsForm === true
    ? FILE_DEADLINE_MS
    : words.startsWith('report ')
      ? REPORT_DEADLINE_MS
      : DEADLINE_MS;
const GLOBAL = ['url', 'token-file', 'reason'];
/** Limit of --all: what a spreadsheet still opens. */
const MOST_ROWS = 100_000;
/** A year of a busy journal as CSV; more than any payout file. */
const LONGEST_ANSWER = 512 * 1024 * 1024;

class Misuse extends Error {}
class Unreached extends Error {}

interface Asked {
  command: Command;
  fields: Record<string, string>;
  options: Record<string, string>;
  json: boolean;
  brief: boolean;
  csv: boolean;
  /** Follows pages up to the end of the list or MOST_ROWS. */
  all: boolean;
  dryRun: boolean;
}

/** Options of every command, and of those that say so. */
const FLAGS = ['help', 'json', 'brief', 'csv', 'all', 'dry-run'] as const;
type Flag = (typeof FLAGS)[number];
const isFlag = (name: string): name is Flag => (FLAGS as readonly string[]).includes(name);
const NAMED = [...new Set([...GLOBAL, 'out', ...COMMANDS.flatMap(({ options = [] }) => options)])];

interface Typed {
  words: string[];
  flags: ReadonlySet<Flag>;
  options: Record<string, string>;
  /** Options that no command has. */
  unknown: string[];
}

function typed(argv: readonly string[]): Typed {
  const words: string[] = [];
  const flags = new Set<Flag>(argv.length === 0 ? ['help'] : []);
  const options: Record<string, string> = {};
  const unknown: string[] = [];
  for (const part of partsOf(argv, FLAGS, NAMED)) {
    if ('word' in part) {
      if (part.word === '-h') flags.add('help');
      else words.push(part.word);
      continue;
    }
    const { option, value } = part;
    if (isFlag(option)) {
      if (value !== undefined) throw new Misuse(`--${option} takes no value`);
      flags.add(option);
    } else if (!NAMED.includes(option)) unknown.push(option);
    else if (value === undefined) throw new Misuse(`--${option} needs a value`);
    else options[option] = value;
  }
  return { words, flags, options, unknown };
}

function read(argv: readonly string[]): Asked | { help: string } | { newTokenIn: string | undefined } {
  const { words, flags, options, unknown } = typed(argv);
  const help = flags.has('help');
  if (!help && words.join(' ') === 'new token') return { newTokenIn: options['token-file'] };
  // The longest match wins: `order release 5` is not `order` with the argument release.
  const command = COMMANDS.filter(({ words: named }) => `${words.join(' ')} `.startsWith(`${named} `))
    .sort((a, b) => b.words.length - a.words.length)
    .at(0);
  if (help || command === undefined) {
    if (!help) throw new Misuse(`there is no command "${words.join(' ')}"; --help lists them`);
    return { help: command === undefined ? overview(words) : helpOf(command) };
  }
  const misused = [...unknown, ...Object.keys(options).filter((name) => !takes(command, name))];
  const unusable = misused[0] ?? [...flags].find((flag) => !takes(command, flag));
  if (unusable !== undefined) throw new Misuse(`--${unusable} is not an option of this command\n${usage(command)}`);
  const values = words.slice(command.words.split(' ').length);
  if (values.length !== command.args.length) throw new Misuse(usage(command));
  const dryRun = flags.has('dry-run');
  const wantsReason = takesReason(command) && !dryRun && command.reasonIsOptional !== true;
  if (wantsReason && options.reason === undefined) throw new Misuse('an action needs --reason "why"');
  if (flags.has('csv') && flags.has('json')) throw new Misuse('--csv and --json exclude each other');
  return {
    command: dryRun ? { ...command, ...command.dryRun } : command,
    fields: Object.fromEntries(command.args.map((name, i) => [name, values[i] ?? ''])),
    options,
    ...{ json: flags.has('json'), brief: flags.has('brief'), csv: flags.has('csv'), all: flags.has('all'), dryRun },
  };
}

/** Whether the command has this option or flag. */
function takes(command: Command, name: string): boolean {
  const { pages, csv, brief, dryRun, getsFile, options = [] } = command;
  const flags: Readonly<Record<Flag, boolean>> = {
    help: true,
    json: true,
    brief: brief !== undefined,
    csv: pages !== undefined || csv !== undefined,
    all: pages !== undefined,
    'dry-run': dryRun !== undefined,
  };
  if (isFlag(name)) return flags[name];
  return GLOBAL.includes(name) || options.includes(name) || (name === 'out' && getsFile === true);
}

function overview(words: readonly string[]): string {
  const shown = COMMANDS.filter(({ words: named }) => words.length === 0 || named.startsWith(words[0] ?? ''));
  const lines = [
    ...shown.map(({ words: named, args, about }) => [
      `  ${[named, ...args.map((name) => `<${name}>`)].join(' ')}`,
      about,
    ]),
    [
      '  new token',
      'creates a token for you (in --token-file, or shown once) and its hash, which you give to another operator',
    ],
  ];
  const width = Math.max(...lines.map(([left = '']) => left.length)) + 2;
  return [
    'npm run operator -- <command> [--json]',
    '',
    ...lines.map(([left = '', about]) => `${left.padEnd(width)}${about}`),
    '',
    `Lists are paginated: each page ends with the option for the next one; --all reads all pages, up to ${MOST_ROWS} rows.`,
    '--csv writes lists and reports as CSV.',
    'A command that changes something needs --reason "why". <command> --help shows its options. Times are UTC.',
    'With --dry-run, a command that has it shows its result without changing anything.',
    '',
    'Where: --url or OPERATOR_URL, otherwise http://127.0.0.1:8080',
    'Who:   --token-file or OPERATOR_TOKEN_FILE, or the token itself in OPERATOR_TOKEN; otherwise data/operator.token',
    'Ends:  0 done, 1 declined, 2 wrong usage, 3 waits for other operators, or for its delay, 4 server not reached',
  ].join('\n');
}

const takesReason = ({ method, withoutReason }: Pick<Command, 'method' | 'withoutReason'>): boolean =>
  method === 'POST' && withoutReason !== true;

function usage({ words, args, options = [], brief, about, method, pages, csv, ...how }: Command): string {
  const reason = how.reasonIsOptional === true ? '[--reason <why>]' : '--reason <why>';
  const typed = [words, ...args.map((name) => `<${name}>`), ...(takesReason({ method, ...how }) ? [reason] : [])];
  const more = [
    ...options.map((name) => `[--${name} <value>]`),
    ...(how.getsFile === true ? ['[--out <file>]'] : []),
    ...(how.dryRun === undefined ? [] : ['[--dry-run]']),
    ...(brief === undefined ? [] : ['[--brief]']),
    ...(pages === undefined ? [] : ['[--all]']),
    ...(pages === undefined && csv === undefined ? [] : ['[--csv]']),
  ];
  return [`npm run operator -- ${[...typed, ...more].join(' ')}`, `  ${about}`].join('\n');
}

/** Includes the meaning of each argument and option. */
function helpOf(command: Command): string {
  const { args, fields = {}, people, dryRun } = command;
  const rows = [
    ...Object.entries(fields).map(([name, says]) => [args.includes(name) ? `<${name}>` : `--${name}`, says] as const),
    ...(command.sendsFile === true || command.sendsForm === true ? [['<file>', 'File on this machine'] as const] : []),
    ...(command.getsFile === true ? [['--out', 'File to which a reply that is a file is written'] as const] : []),
    ...(dryRun === undefined ? [] : [['--dry-run', 'Shows the result without changing anything'] as const]),
  ];
  const width = Math.max(...rows.map(([left]) => left.length), 0) + 2;
  return [
    usage(command),
    ...(rows.length === 0 ? [] : ['', ...rows.map(([left, says]) => `  ${left.padEnd(width)}${says}`)]),
    ...(people === undefined ? [] : ['', `  ${people}`]),
  ].join('\n');
}

/**
 * 256 random bits, like the server's own tokens. The operator who admits this person gets the hash; only the person has the
 * token.
 */
function newToken(file: string | undefined): string {
  const token = `clo_${randomText(43)}`;
  const sha256 = createHash('sha256').update(token).digest('hex');
  if (file === undefined) return `token                ${token}\ntokenSha256          ${sha256}`;
  try {
    writeFileSync(file, `${token}\n`, { mode: 0o600, flag: 'wx' });
  } catch {
    throw new Misuse(`${file} cannot be written, or exists already`);
  }
  return `tokenSha256          ${sha256}`;
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

interface Reply {
  status: number;
  body: Record<string, unknown>;
  /** The rows as CSV, if CSV was requested and returned. */
  csv?: string;
  /** Cursor of the next page. */
  next: string | undefined;
}

async function ask({ command, fields, options, csv, dryRun }: Asked): Promise<Reply> {
  const given: Record<string, string> = { ...command.always, ...fields, ...(csv ? { format: 'csv' } : {}) };
  const sent = command.sendsFile === true ? statementIn(given) : undefined;
  const attached = command.sendsForm === true ? statementIn(given) : undefined;
  for (const name of command.options ?? []) if (options[name] !== undefined) given[name] = options[name];
  if (takesReason(command) && !dryRun && options.reason !== undefined) given.reason = options.reason;
  const path = command.path.replace(/:(\w+)/g, (_, name: string) => {
    const value = given[name] ?? '';
    delete given[name];
    return encodeURIComponent(value);
  });
  const url = new URL(`${options.url ?? process.env.OPERATOR_URL ?? 'http://127.0.0.1:8080'}/operator/v1${path}`);
  if (command.method === 'GET' || sent !== undefined) url.search = new URLSearchParams(given).toString();
  // Opened before the request: an action must not be performed if its file could not be saved.
  const out = options.out === undefined ? undefined : openOut(options.out);
  const body = sent ?? (attached === undefined ? jsonOf(given) : await formOf(given, attached));
  const reply = await askServer({
    url: url.href,
    method: command.method,
    headers: {
      authorization: `Bearer ${tokenOf(options)}`,
      ...(command.method === 'POST' ? { 'content-type': body.type } : {}),
    },
    ...(command.method === 'POST' ? { body: body.bytes } : {}),
    deadline: AbortSignal.timeout(deadlineOf(command)),
    longestBytes: LONGEST_ANSWER,
  }).catch((error: Error) => {
    const why = (error instanceof NoAnswer ? error.code : undefined) ?? error.message;
    out?.discard();
    throw new Unreached(
      `The server was not reached at ${url.origin}: ${why}. Set its address with --url or OPERATOR_URL (a sandbox writes it to sandbox.json)`,
    );
  });
  const name = /^attachment; filename="([A-Za-z0-9][A-Za-z0-9._-]{0,99})"$/.exec(
    reply.headers['content-disposition'] ?? '',
  )?.[1];
  if (name === undefined) {
    out?.discard();
    if (reply.headers['content-type']?.startsWith('text/csv') === true) {
      const next = [reply.headers['x-next']].flat()[0];
      return { status: reply.status, body: {}, csv: reply.body.toString('utf8'), next };
    }
    const body = JSON.parse(reply.body.toString('utf8')) as Record<string, unknown>;
    return { status: reply.status, body, next: typeof body.next === 'string' ? body.next : undefined };
  }
  const bytes = reply.body;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const to = out ?? openOut(name, { orAnother: true });
  if (sha256 !== reply.headers['x-content-sha256']) {
    to.discard();
    throw new Error('the file arrived damaged and was not stored: download it again');
  }
  to.write(bytes);
  return { status: reply.status, body: { file: to.path, sha256, bytes: bytes.length }, next: undefined };
}

const jsonOf = (given: Record<string, string>): Sent => ({ bytes: JSON.stringify(given), type: 'application/json' });

/** Fields and a file as multipart/form-data. The file's name stays here: people name files after their customers. */
async function formOf(given: Record<string, string>, file: { bytes: Uint8Array<ArrayBuffer> }): Promise<Sent> {
  const form = new FormData();
  for (const [name, value] of Object.entries(given)) form.set(name, value);
  form.set('file', new Blob([file.bytes]), 'file');
  const encoded = new Response(form);
  return { bytes: new Uint8Array(await encoded.arrayBuffer()), type: encoded.headers.get('content-type') ?? '' };
}

interface Sent {
  bytes: Uint8Array<ArrayBuffer> | string;
  type: string;
}

/** The file named last, as raw bytes. The server tells its type by content. */
function statementIn(given: Record<string, string>): { bytes: Uint8Array<ArrayBuffer>; type: string } {
  const { file = '' } = given;
  delete given.file;
  try {
    return { bytes: new Uint8Array(readFileSync(file)), type: 'application/octet-stream' };
  } catch {
    throw new Misuse(`${file} cannot be read`);
  }
}

/** A new file readable by its owner only: it contains names and account numbers. An existing file is never overwritten. */
function openOut(wanted: string, how: { orAnother?: boolean } = {}) {
  for (let n = 1; ; n += 1) {
    const path = n === 1 ? wanted : `${wanted}.${n}`;
    try {
      const opened = openSync(path, 'wx', 0o600);
      return {
        path,
        write(bytes: Uint8Array): void {
          writeFileSync(opened, bytes);
          closeSync(opened);
        },
        discard(): void {
          closeSync(opened);
          rmSync(path);
        },
      };
    } catch (error) {
      const isThere = (error as { code?: string }).code === 'EEXIST';
      if (isThere && how.orAnother === true && n < MOST_NAMES) continue;
      throw new Misuse(`${path} ${isThere ? 'exists already, and is not overwritten' : 'cannot be written'}`);
    }
  }
}

// Output.

const WIDEST = 110;
const cut = (text: string): string => (text.length > WIDEST ? `${text.slice(0, WIDEST - 1)}…` : text);
/** Milliseconds are omitted at a terminal. All times are UTC. */
const TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d{3}Z$/;
/** Outside text may contain terminal control sequences. */
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

/** Empty values are omitted: a program uses JSON, a person reads only values that are present. */
const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** Columns with a value in at least one row. */
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

/** Who a proposal is waiting for. */
function whatNext({ command, fields }: Asked, body: Record<string, unknown>): string {
  // A statement is confirmed by another person who also has the file.
  const confirm =
    command.sendsFile === true
      ? `npm run operator -- ${[command.words, ...command.args.map((name) => plain(fields[name]))].join(' ')}`
      : `npm run operator -- confirm ${plain(body.proposal)} --reason "…"`;
  if (typeof body.readyAt === 'string')
    return `You may confirm it yourself from ${plain(body.readyAt)}, and decline it until then: ${confirm}`;
  const agreed = Array.isArray(body.agreed) ? body.agreed.length : 1;
  const more = Number(body.people) - agreed;
  return more > 1 ? `${more} other operators have to agree: ${confirm}` : `Another operator has to agree: ${confirm}`;
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const complain = (text: string): void => void process.stderr.write(`${text}\n`);

async function main(): Promise<number> {
  const asked = read(process.argv.slice(2));
  if ('help' in asked) {
    say(asked.help);
    return EXIT.done;
  }
  if ('newTokenIn' in asked) {
    say(newToken(asked.newTokenIn));
    return EXIT.done;
  }
  let rows = 0;
  for (let page = asked; ; ) {
    const reply = await ask(page);
    const { status, body, next } = reply;
    tell(asked, reply, page === asked);
    if (status >= 400) return EXIT.declined;
    if (!asked.all || next === undefined) return status === 202 ? EXIT.waits : EXIT.done;
    rows += rowsIn(asked.command, body, reply.csv);
    if (rows >= MOST_ROWS) {
      complain(`There are more than ${MOST_ROWS} rows. Continue with --${asked.command.pages} ${plain(next)}`);
      return EXIT.declined;
    }
    page = { ...asked, options: { ...asked.options, [asked.command.pages ?? '']: next } };
  }
}

/** Writes one page; for CSV the header only once. */
function tell(asked: Asked, { status, body, csv, next: more }: Reply, isFirst: boolean): void {
  if (csv !== undefined) {
    process.stdout.write(isFirst ? csv : csv.slice(csv.indexOf('\n') + 1));
    if (more !== undefined && !asked.all)
      complain(
        `There are more rows. Continue with --${asked.command.pages} ${plain(more)}, or read all pages with --all.`,
      );
  }
  // A filter may leave a page empty.
  else if (!isFirst && status < 400 && !asked.json && rowsIn(asked.command, body, csv) === 0) return;
  else if (asked.json) say(JSON.stringify(body));
  else if (status >= 400) complain(plain(body.error ?? `the server replied with ${status}`));
  else {
    const { next: _, ...rest } = body;
    if (asked.dryRun) say('Nothing was changed: this would be the result.\n');
    say(shown(asked.command, asked.all ? rest : body, asked.brief) || 'nothing was found');
    if (status === 202) say(`\n${whatNext(asked, body)}`);
  }
}

/** How many rows a page has; for CSV an upper bound. */
const rowsIn = ({ list }: Command, body: Record<string, unknown>, csv: string | undefined): number =>
  csv !== undefined ? csv.split('\n').length - 2 : list === undefined ? 0 : (body[list] as unknown[]).length;

try {
  process.exitCode = await main();
} catch (error) {
  const said = error instanceof Misuse || error instanceof Unreached;
  complain(said ? error.message : `The reply could not be read: ${(error as Error).message}`);
  process.exitCode = error instanceof Misuse ? EXIT.misused : EXIT.unreached;
}
