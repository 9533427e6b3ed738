#!/usr/bin/env node
/**
 * `npx cloverleaf-ramp …`: the partner API at a terminal.
 *
 * Commands are generated from the API's declarations (commands.ts), plus a few others (own.ts). Exit codes: 0 done, 1 refused
 * or a fault found, 2 wrong usage, 4 no answer.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ApiError, NoAnswerError, UsageError } from '../errors.ts';
import { type Command, call, DECLARED_COMMANDS, kebab, positional, valueOf } from './commands.ts';
import { suggestions } from './completion.ts';
import { openClient } from './given.ts';
import { Misuse } from './misuse.ts';
import { answer } from './output.ts';
import { OWN_COMMANDS, type Own } from './own.ts';

const EXIT = { done: 0, declined: 1, misused: 2, unanswered: 4 } as const;
const NAME = 'cloverleaf-ramp';

/** Alternative words for a command. */
const ALIASES: Readonly<Record<string, string>> = {
  quote: 'quotes create',
  whoami: 'key get',
  markets: 'markets list',
  'webhooks endpoints': 'webhooks list',
  'webhooks add': 'webhooks create',
};

const COMMANDS: readonly (Command & { run?: Own['run'] })[] = [
  ...OWN_COMMANDS,
  ...DECLARED_COMMANDS.filter(({ words }) => !OWN_COMMANDS.some((own) => own.words === words)),
];

interface Asked {
  command: (typeof COMMANDS)[number];
  values: Record<string, unknown>;
  options: Record<string, string | true>;
  rest: string[];
  json: boolean;
}

const GLOBAL_FLAGS = new Set(['json', 'help']);
/** Options without a value. */
const FLAGS: readonly string[] = [...GLOBAL_FLAGS, 'all', 'show-secret', 'poll', 'bodies'];

/** The output of `--help --json`: a list of commands for programs. */
type Helped = Pick<Command, 'words' | 'says' | 'fields' | 'options' | 'examples'>;
const helped = (one: Command): Helped => ({
  words: one.words,
  says: one.says,
  fields: one.fields,
  options: one.options ?? {},
  examples: one.examples ?? [],
});

/** An option as typed, without its dashes; the value is absent of a flag, and where none follows. */
type Named = readonly [name: string, value: string | undefined];

/** Options with a value, of all commands; a field in both spellings. */
const VALUED: readonly string[] = [
  'idempotency-key',
  ...COMMANDS.flatMap(({ fields, options = {} }) => [
    ...fields.flatMap(({ name }) => [name, kebab(name)]),
    ...Object.keys(options).filter((name) => !FLAGS.includes(name)),
  ]),
];

/** A word with one dash is a value, such as -5. An option does not take another option as its value. */
function parts(argv: readonly string[]): { words: string[]; named: Named[] } {
  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries([
      ...VALUED.map((name) => [name, { type: 'string' }] as const),
      ...FLAGS.map((name) => [name, { type: 'boolean' }] as const),
    ]),
    ...{ strict: false, allowPositionals: true, tokens: true },
  });
  const words: string[] = [];
  const named: Named[] = [];
  for (const [at, token] of tokens.entries()) {
    // parseArgs makes a token of each letter after one dash.
    if (token.index === tokens[at - 1]?.index || token.kind === 'option-terminator') continue;
    const word = argv[token.index] ?? '';
    if (word === '-h') named.push(['help', undefined]);
    else if (token.kind === 'positional' || !token.rawName.startsWith('--')) words.push(word);
    else if (token.inlineValue === false && /^--[A-Za-z]/.test(token.value))
      named.push([token.name, undefined], [token.value.slice(2), undefined]);
    else named.push([token.name, token.value]);
  }
  return { words, named };
}

function read(argv: readonly string[]): Asked | { help: string; commands: readonly Helped[] } {
  const { words, named } = parts(argv);
  const [first = ''] = words;
  const two = ALIASES[words.slice(0, 2).join(' ')];
  const aliased =
    two === undefined
      ? [...(ALIASES[first] ?? first).split(' '), ...words.slice(1)]
      : [...two.split(' '), ...words.slice(2)];
  const said = find(words) === undefined ? aliased : words;
  const command = find(said);
  const isGroup = words.length === 1 && COMMANDS.some(({ words: own }) => own.startsWith(`${first} `));
  const wantsHelp =
    argv.length === 0 ||
    (command === undefined && isGroup) ||
    first === 'help' ||
    named.some(([name]) => name === 'help');
  if (wantsHelp) {
    if (command !== undefined) return { help: helpOf(command), commands: [helped(command)] };
    const group = words.filter((one) => one !== 'help');
    return { help: overview(group), commands: inGroup(group).map(helped) };
  }
  if (command === undefined)
    throw new Misuse(`there is no command "${words.join(' ')}"${nearest(words)}\n\n${overview([first])}`);
  return { command, ...values(command, said.slice(command.words.split(' ').length), named) };
}

/** The command that was probably meant: the one with the smallest edit distance, at most a third of its letters. */
function nearest(words: readonly string[]): string {
  const typed = words.slice(0, 2).join(' ');
  const [best] = COMMANDS.map(({ words: own }) => ({ own, far: distance(typed, own) })).toSorted(
    (a, b) => a.far - b.far,
  );
  return best === undefined || best.far * 3 > best.own.length ? '' : `: did you mean "${best.own}"?`;
}

/** Levenshtein distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** Where the ids of a path come from. */
const FOUND_BY: Readonly<Record<string, string>> = {
  endpoint: 'webhooks list',
  event: 'events list',
  order: 'orders list',
  customer: 'customers list',
  request: 'information-requests list',
};

/** The longest match wins: `orders show 5` is not `orders` with two values. */
function find(words: readonly string[]): (typeof COMMANDS)[number] | undefined {
  const typed = `${words.join(' ')} `;
  return COMMANDS.filter(({ words: own }) => typed.startsWith(`${own} `)).toSorted(
    (a, b) => b.words.length - a.words.length,
  )[0];
}

function values(command: Command, given: readonly string[], named: readonly Named[]): Omit<Asked, 'command'> {
  const found: Record<string, unknown> = {};
  const options: Record<string, string | true> = {};
  for (const [name, value] of named) {
    if (FLAGS.includes(name) && value !== undefined) throw new Misuse(`--${name} takes no value`);
    if (GLOBAL_FLAGS.has(name)) continue;
    const field = command.fields.find((one) => one.name === camel(name));
    if (field !== undefined) {
      if (value === undefined) throw new Misuse(`--${name} needs a value: ${field.says}`);
      found[field.name] = valueOf(field, value);
    } else if (name in (command.options ?? {}) || name === 'idempotency-key') {
      if (value === undefined && !FLAGS.includes(name)) throw new Misuse(`--${name} needs a value`);
      options[name] = value ?? true;
    } else throw new Misuse(`--${name} is not an option of this\n\n${helpOf(command)}`);
  }
  const open = [
    ...positional(command),
    ...command.fields.filter((one) => one.required !== true && one.place === 'body'),
  ];
  const rest: string[] = [];
  for (const text of given) {
    const field = open.find((one) => !(one.name in found));
    if (field === undefined || command.declared === undefined) rest.push(text);
    else found[field.name] = valueOf(field, text);
  }
  if (command.declared !== undefined) {
    if (rest.length > 0) throw new Misuse(`${rest[0]} is one value too many\n\n${helpOf(command)}`);
    const missing = positional(command).filter((one) => !(one.name in found));
    if (missing.length > 0) {
      const by = FOUND_BY[missing[0]?.name ?? ''];
      const where = by === undefined ? '' : `: "${by}" shows it`;
      throw new Misuse(`${missing.map(({ name }) => name).join(', ')} missing${where}\n\n${helpOf(command)}`);
    }
  }
  return { values: found, options, rest, json: named.some(([name]) => name === 'json') };
}

const camel = (name: string): string => name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Commands that begin with this word; all commands if none does. */
function inGroup([first]: readonly string[]): readonly Command[] {
  const shown = COMMANDS.filter(({ words: own }) => own.split(' ')[0] === first);
  return shown.length === 0 ? COMMANDS : shown;
}

function overview(words: readonly string[]): string {
  const lines = inGroup(words).map((one): [string, string] => [usage(one), one.says]);
  const width = Math.min(46, Math.max(...lines.map(([left]) => left.length))) + 2;
  return [
    `${NAME} <command> [--json]`,
    '',
    ...lines.map(
      ([left, says]) => `  ${left.length < width ? left.padEnd(width) : `${left}\n  ${' '.repeat(width)}`}${says}`,
    ),
    '',
    `${NAME} <command> --help shows fields and examples. --json prints the server's answer. Times are UTC.`,
    'Key: `login` keeps one; CLOVERLEAF_URL, CLOVERLEAF_KEY with CLOVERLEAF_SECRET, or CLOVERLEAF_BEARER_TOKEN go before it.',
    'A request that is not answered is repeated for 15 seconds, or CLOVERLEAF_PATIENCE_S.',
    'Ends: 0 done, 1 declined or found wrong, 2 misused, 4 not answered',
  ].join('\n');
}

function usage(command: Command): string {
  return [command.words, ...positional(command).map(({ name }) => `<${name}>`)].join(' ');
}

function helpOf(command: Command): string {
  const names = positional(command).map(({ name }) => name);
  const rows: [string, string][] = [
    ...command.fields.map(({ name, says, words }): [string, string] => [
      names.includes(name) ? `<${name}>` : `--${name}`,
      `${says.replaceAll('`', '')}${words === undefined ? '' : ` (${words.map((one) => one.toLowerCase()).join(', ')})`}`,
    ]),
    ...Object.entries(command.options ?? {}).map(([name, says]): [string, string] => [`--${name}`, says]),
  ];
  const width = Math.max(0, ...rows.map(([left]) => left.length)) + 2;
  const optional = rows.some(([left]) => left.startsWith('--')) ? ' [options]' : '';
  return [
    `${NAME} ${usage(command)}${optional}`,
    `  ${command.says.replaceAll('`', '')}`,
    ...(rows.length === 0 ? [] : ['', ...rows.map(([left, says]) => `  ${left.padEnd(width)}${says}`)]),
    ...(command.examples === undefined ? [] : ['', ...command.examples.map((one) => `  for example: ${NAME} ${one}`)]),
  ].join('\n');
}

async function run(argv: readonly string[]): Promise<number> {
  // The input so far may be incomplete, for example an option without its value.
  if (argv[0] === '__complete') return say(suggestions(COMMANDS, argv.slice(2)).join('\n'));
  const asked = read(argv);
  if ('help' in asked)
    return say(argv.includes('--json') ? JSON.stringify({ commands: asked.commands }, null, 2) : asked.help);
  const { command, options, json } = asked;
  const width = process.stdout.columns ?? 120;
  if (command.run !== undefined)
    return await command.run({ ...asked, env: process.env, width, say: (text) => void say(text) });
  const { declared } = command;
  if (declared === undefined) throw new Misuse(`there is no command "${command.words}"`);
  if (declared.givesSecret === true && options['secret-file'] === undefined && options['show-secret'] === undefined)
    throw new Misuse('the answer contains a secret, once: name --secret-file <new file>, or --show-secret');
  const idempotencyKey = typeof options['idempotency-key'] === 'string' ? options['idempotency-key'] : randomUUID();
  const client = openClient(process.env);
  const file = secretFile(options);
  try {
    const how = { all: options.all === true, idempotencyKey };
    const got = await call(client, declared, asked.values, how);
    const shown = file === undefined ? got : file.keep(got as Record<string, unknown>);
    return say(json ? JSON.stringify(shown, null, 2) : answer(shown, width));
  } finally {
    file?.close();
  }
}

/** Opened before the request: a secret that is shown once must not be lost because its file cannot be written. */
function secretFile({ 'secret-file': path }: Asked['options']) {
  if (typeof path !== 'string') return undefined;
  let opened: number;
  try {
    opened = openSync(path, 'wx', 0o600);
  } catch {
    throw new Misuse(`${path} cannot be written, or is there already`);
  }
  let isKept = false;
  return {
    keep({ secret, ...others }: Record<string, unknown>): Record<string, unknown> {
      writeFileSync(opened, `${String(secret)}\n`);
      isKept = true;
      return { ...others, secretFile: path };
    },
    close(): void {
      closeSync(opened);
      if (!isKept) rmSync(path);
    },
  };
}

function say(text: string): number {
  process.stdout.write(`${text}\n`);
  return EXIT.done;
}

/** Prints an error as sentences, or with --json as an object, to stderr, so that stdout contains only the answer. */
function complain(error: unknown, json: boolean): number {
  const told = (
    code: number,
    fact: { reason: string; message: string; [more: string]: unknown },
    ...more: string[]
  ) => {
    const lines = json ? [JSON.stringify({ error: fact }, null, 2)] : [fact.message, ...more];
    process.stderr.write(`${lines.filter((one) => one !== '').join('\n')}\n`);
    return code;
  };
  if (error instanceof Misuse || error instanceof UsageError)
    return told(EXIT.misused, { reason: 'misused', message: error.message });
  if (error instanceof ApiError) {
    const { status, reason, message, fields, requestId } = error;
    if (json) return told(EXIT.declined, { status, reason, message, fields, requestId });
    return told(
      EXIT.declined,
      { reason, message: `${status} ${reason}: ${message}` },
      ...Object.entries(fields).map(([name, why]) => `  ${name}: ${why}`),
      requestId === undefined ? '' : `  request ${requestId}`,
    );
  }
  if (error instanceof NoAnswerError) {
    const { message, idempotencyKey } = error;
    const repeat =
      idempotencyKey === undefined ? '' : `  To repeat it as the same: --idempotency-key ${idempotencyKey}`;
    return told(EXIT.unanswered, { reason: 'no_answer', message, idempotencyKey }, repeat);
  }
  return told(EXIT.declined, { reason: 'failed', message: error instanceof Error ? error.message : String(error) });
}

const argv = process.argv.slice(2);
process.exitCode = await run(argv).catch((error: unknown) => complain(error, argv.includes('--json')));
