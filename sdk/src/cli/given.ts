/** The input of a command that is not generated. */
import { readFileSync } from 'node:fs';
import { Cloverleaf } from '../client.ts';
import { readAccess } from './config.ts';
import { Misuse } from './misuse.ts';

export interface Given {
  /** The words typed after the command: declared fields, and the rest. */
  readonly values: Record<string, unknown>;
  readonly rest: readonly string[];
  readonly options: Record<string, string | true>;
  readonly json: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly width: number;
  say(text: string): void;
}

/** How long a person waits without seeing any progress. */
const PATIENCE_S = 15;

/** @throws Misuse */
export function openClient(env: NodeJS.ProcessEnv): Cloverleaf {
  const patience = env.CLOVERLEAF_PATIENCE_S ?? String(PATIENCE_S);
  if (!/^[0-9]{1,5}$/.test(patience)) throw new Misuse('CLOVERLEAF_PATIENCE_S must be a whole number of seconds');
  return new Cloverleaf({ ...readAccess(env), patienceMs: Number(patience) * 1_000 });
}

export const clientOf = (given: Given): Cloverleaf => openClient(given.env);

export function oneOf(given: Given, what: string): string {
  const [value, more] = given.rest;
  if (value === undefined || more !== undefined) throw new Misuse(`name one ${what}`);
  return value;
}

/** Reads a receiver's secret from its file. @throws Misuse */
export function readSecret(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    throw new Misuse(`${file} cannot be read`);
  }
}
