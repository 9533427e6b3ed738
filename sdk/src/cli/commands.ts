/**
 * The commands generated from the API's declarations: one per endpoint and per sandbox control, with their fields as arguments
 * and options. `orders.changePayoutDestination` is `orders change-payout-destination <order> <destinationId>`.
 *
 * Values of the path and required fields may be given without their names, in the order of the declaration.
 */

import { readFile } from 'node:fs/promises';
import type { Cloverleaf } from '../client.ts';
import { DECLARED, type Declared, type Field } from '../generated/commands.ts';
import { OPERATIONS } from '../generated/v1.ts';
import type { Files } from '../http.ts';
import { Pages } from '../pages.ts';
import { Misuse } from './misuse.ts';

export interface Command {
  /** The words as typed. */
  readonly words: string;
  readonly says: string;
  readonly fields: readonly Field[];
  readonly examples?: readonly string[];
  /** Options of the command itself. */
  readonly options?: Readonly<Record<string, string>>;
  readonly declared?: Declared;
}

export const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export const isPaged = ({ name }: Declared): boolean => OPERATIONS[name]?.[3] === true;

export const DECLARED_COMMANDS: readonly Command[] = DECLARED.map((declared) => ({
  words: declared.name.split('.').map(kebab).join(' '),
  says: declared.says,
  fields: declared.fields,
  declared,
  options: {
    ...(isPaged(declared) ? { all: 'every page' } : {}),
    ...(declared.givesSecret === true
      ? { 'secret-file': 'new file for the secret, with mode 600', 'show-secret': 'print the secret' }
      : {}),
  },
  examples: [exampleOf(declared)],
}));

function exampleOf({ name, fields }: Declared): string {
  const shown = ({ example, words }: Field): string => {
    const value = example ?? words?.[0] ?? '…';
    return /[^\w.:/-]/.test(value) ? `'${value}'` : value;
  };
  return [
    ...name.split('.').map(kebab),
    ...fields.filter(({ required }) => required === true).map(shown),
    ...fields.filter(({ isInExample }) => isInExample === true).flatMap((field) => [`--${field.name}`, shown(field)]),
  ].join(' ');
}

/** Fields whose values may be given without names. */
export const positional = ({ fields }: Pick<Command, 'fields'>): readonly Field[] =>
  fields.filter(({ required, place }) => required === true || place === 'path');

/** @throws Misuse */
export function valueOf({ name, type, words }: Field, text: string): unknown {
  if (words !== undefined) {
    const known = words.find((one) => one.toLowerCase() === text.toLowerCase());
    if (known === undefined) throw new Misuse(`--${name} must be ${words.map((one) => one.toLowerCase()).join(', ')}`);
    return known;
  }
  if (type === 'integer') {
    if (!/^-?[0-9]{1,15}$/.test(text)) throw new Misuse(`--${name} must be a whole number`);
    return Number(text);
  }
  if (type === 'boolean') {
    if (text !== 'true' && text !== 'false') throw new Misuse(`--${name} must be true or false`);
    return text === 'true';
  }
  if (type === 'object' || (type === 'array' && /^\s*\[/.test(text))) {
    try {
      return JSON.parse(text);
    } catch {
      throw new Misuse(`--${name} must be JSON`);
    }
  }
  return type === 'array' ? text.split(',').filter((one) => one !== '') : text;
}

/** Calls the endpoint of a command. @returns the server's answer */
export async function call(
  client: Cloverleaf,
  declared: Declared,
  values: Readonly<Record<string, unknown>>,
  how: { all?: boolean; idempotencyKey?: string | undefined } = {},
): Promise<unknown> {
  const [group = '', verb = ''] = declared.name.split('.');
  const method = (client as unknown as Record<string, Record<string, (...given: unknown[]) => unknown>>)[group]?.[verb];
  if (method === undefined) throw new Misuse(`there is no ${declared.name}`);
  const inPath = declared.fields.filter(({ place }) => place === 'path');
  const others = Object.entries(values).filter(([name]) => !inPath.some((field) => field.name === name));
  const input = OPERATIONS[declared.name]?.[2];
  const takesFields = group === 'sandbox' || input !== 'none';
  const options = how.idempotencyKey === undefined ? {} : { idempotencyKey: how.idempotencyKey };
  const given = [
    ...inPath.map(({ name }) => values[name]),
    ...(takesFields ? [input === 'files' ? await filesIn(values.files) : Object.fromEntries(others)] : []),
    options,
  ];
  const got = method(...given);
  if (!(got instanceof Pages)) return await got;
  return how.all === true ? { data: await got.toArray(MOST_ROWS), nextCursor: null } : await got.first();
}

/** Reads `name=path` arguments as files by name. @throws Misuse */
async function filesIn(given: unknown): Promise<Files> {
  const files: Record<string, Blob> = {};
  for (const one of Array.isArray(given) ? given.map(String) : []) {
    const [name = '', ...path] = one.split('=');
    if (name === '' || path.length === 0) throw new Misuse('files must be name=path');
    try {
      files[name] = new Blob([await readFile(path.join('='))]);
    } catch {
      throw new Misuse(`the file of ${name} cannot be read`);
    }
  }
  return files;
}

const MOST_ROWS = 100_000;
