/**
 * What a command of our own is given.
 */
import { Cloverleaf } from '../client.ts';
import { readAccess } from './config.ts';
import { Misuse } from './misuse.ts';

export interface Given {
  /** What was typed behind the command's words, as declared fields and as the rest. */
  readonly values: Record<string, unknown>;
  readonly rest: readonly string[];
  readonly options: Record<string, string | true>;
  readonly json: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly width: number;
  say(text: string): void;
}

export const clientOf = (given: Given): Cloverleaf => new Cloverleaf(readAccess(given.env));

export function oneOf(given: Given, what: string): string {
  const [value, more] = given.rest;
  if (value === undefined || more !== undefined) throw new Misuse(`name one ${what}`);
  return value;
}
