/**
 * Results of steps, one file each. Whole or not at all: a file that was cut off by a kill is no result, and its step is run
 * again. So is one whose result belongs to other code or another command.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Result } from './steps.ts';

export function openStore(home: string) {
  const fileOf = (name: string): string => join(home, `${name}.json`);
  return {
    /** Undefined when there is none, or it is incomplete, or it belongs to other code or another command. */
    kept(name: string, { code, command }: Pick<Result, 'code' | 'command'>): Result | undefined {
      const result = readJson(fileOf(name)) as Result | undefined;
      return result?.code === code && result.command === command ? result : undefined;
    },
    keep(name: string, result: Result): void {
      mkdirSync(home, { recursive: true });
      const beside = `${fileOf(name)}.new`;
      writeFileSync(beside, `${JSON.stringify(result, null, 2)}\n`);
      renameSync(beside, fileOf(name));
    },
    forget: (name: string): void => rmSync(fileOf(name), { force: true }),
  };
}

/** Undefined where there is no such file, or it is not JSON to its end. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** A value without these texts in any of its strings: results are committed, and others have the clone and its files elsewhere. */
export function without<T>(value: T, texts: readonly string[]): T {
  if (typeof value === 'string') return texts.reduce<string>((rest, text) => rest.replaceAll(text, ''), value) as T;
  if (Array.isArray(value)) return value.map((one) => without(one, texts)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, without(one, texts)])) as T;
}
