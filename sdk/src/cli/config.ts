/**
 * The key that commands use: from the environment, or from a file that only its owner may read.
 *
 * Nothing here prints a token or a secret. A file that others may read is refused, because its content is no longer secret.
 */
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Misuse } from './misuse.ts';

export interface Access {
  readonly baseUrl: string;
  readonly bearerToken?: string;
  readonly apiKey?: string;
  readonly apiSecret?: string;
}

export const configFile = (env: NodeJS.ProcessEnv): string =>
  env.CLOVERLEAF_CONFIG ?? join(env.XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'cloverleaf-ramp', 'config.json');

const DEFAULT_URL = 'http://127.0.0.1:8080';

/** @throws Misuse when there is no key */
export function readAccess(env: NodeJS.ProcessEnv): Access {
  const given: Access = {
    baseUrl: env.CLOVERLEAF_URL ?? DEFAULT_URL,
    ...(env.CLOVERLEAF_BEARER_TOKEN === undefined ? {} : { bearerToken: env.CLOVERLEAF_BEARER_TOKEN }),
    ...(env.CLOVERLEAF_KEY === undefined ? {} : { apiKey: env.CLOVERLEAF_KEY }),
    ...(env.CLOVERLEAF_SECRET === undefined ? {} : { apiSecret: env.CLOVERLEAF_SECRET }),
  };
  if (given.bearerToken !== undefined || given.apiSecret !== undefined) return given;
  const file = configFile(env);
  let mode: number;
  try {
    ({ mode } = statSync(file));
  } catch {
    throw new Misuse('no key: run `cloverleaf-ramp login`, or set CLOVERLEAF_KEY and CLOVERLEAF_SECRET');
  }
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    throw new Misuse(`${file} can be read by others: chmod 600 it, and change the key if others may have read it`);
  const stored = parsed(readFileSync(file, 'utf8'));
  if (stored === undefined) throw new Misuse(`${file} is damaged: log in again`);
  return env.CLOVERLEAF_URL === undefined ? stored : { ...stored, baseUrl: env.CLOVERLEAF_URL };
}

/** Writes the file completely or not at all, readable by its owner only. @returns its path */
export function storeAccess(access: Access, env: NodeJS.ProcessEnv): string {
  const file = configFile(env);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const young = `${file}.${process.pid}`;
  writeFileSync(young, `${JSON.stringify(access, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  chmodSync(young, 0o600);
  renameSync(young, file);
  return file;
}

export function removeAccess(env: NodeJS.ProcessEnv): string {
  const file = configFile(env);
  rmSync(file, { force: true });
  return file;
}

function parsed(text: string): Access | undefined {
  try {
    const value = JSON.parse(text) as Access;
    return typeof value.baseUrl === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
