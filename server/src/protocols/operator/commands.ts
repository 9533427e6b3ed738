/**
 * Generates the commands of `npm run operator` from the declarations. The program is a thin client and loads nothing of the
 * server, so the commands are written to a file that it reads (cli/commands.json); a test compares the file with the output of
 * this function.
 */

import type { Field } from '../declaration/fields.ts';
import type { CommandOf, Declared, DeclaredAction, DeclaredRead } from './declare.ts';
import { ENDPOINTS } from './declared/index.ts';
import { meaningOf, peopleSentence } from './meaning.ts';

/** A command in the format of cli/commands.ts. */
type Command = Readonly<Record<string, unknown>> & { readonly words: string };

const namesInPath = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);

/** A field, omitted when it has the default value. */
const given = (name: string, value: unknown): Readonly<Record<string, unknown>> =>
  value === undefined || (Array.isArray(value) && value.length === 0) ? {} : { [name]: value };

/** The words that a field accepts. */
const wordsOf = ({ schema }: Field<unknown>): string =>
  Array.isArray(schema.enum) ? ` (${schema.enum.join(', ')})` : '';

function commandOf(declared: Declared, command: CommandOf): Command {
  const { method, path, fields } = declared;
  const { table } = declared as DeclaredRead;
  const { args = namesInPath(path), always = {} } = command;
  const isOption = (name: string) => !args.includes(name) && !(name in always) && name !== 'format';
  const { options = Object.keys(fields).filter(isOption) } = command;
  const paging = options.find((name) => name === 'below' || name === 'after');
  const isTable = table !== undefined && command.plain !== true;
  const list = command.list ?? (isTable ? table.list : undefined);
  const meanings = [...args, ...options].flatMap((name) =>
    fields[name] === undefined ? [] : [[name, `${meaningOf(declared, name)}${wordsOf(fields[name])}`] as const],
  );
  const { people, reasonIsOptional, withoutReason } = declared as DeclaredAction;
  const { dryRun } = command;
  return {
    words: command.words,
    args,
    ...given('options', options),
    method,
    path,
    about: command.says ?? declared.says,
    ...given('list', list),
    ...given('columns', command.columns),
    ...given('brief', command.brief),
    ...(isTable ? (paging === undefined ? { csv: true } : { pages: paging }) : {}),
    ...given('always', command.always),
    ...given('sendsFile', command.sendsFile),
    ...given('sendsForm', command.sendsForm),
    ...given('getsFile', command.getsFile),
    ...given('reasonIsOptional', reasonIsOptional),
    ...given('withoutReason', withoutReason),
    ...(dryRun === undefined
      ? {}
      : {
          dryRun: { method: dryRun.of.method, path: dryRun.of.path, list: dryRun.list, columns: dryRun.columns },
        }),
    ...(meanings.length === 0 ? {} : { fields: Object.fromEntries(meanings) }),
    ...(people === undefined ? {} : { people: peopleSentence(declared as DeclaredAction) }),
  };
}

export const commands = (): readonly Command[] =>
  ENDPOINTS.flatMap((declared) => [declared.command ?? []].flat().map((command) => commandOf(declared, command)));

/** Content of the file, one command per line. */
export const commandsFile = (): string =>
  `[\n${commands()
    .map((command) => `  ${JSON.stringify(command)}`)
    .join(',\n')}\n]\n`;
