/**
 * Runs our programs at a terminal: arguments in, output and exit code out. Every reply that one of them reads is compared with the
 * declaration of its endpoint (terminal.preload.ts).
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assertAsDeclared } from './declared.fetch.ts';

export interface Ended {
  code: number | null;
  out: string;
  err: string;
  /** Both outputs in the order of arrival. */
  printed: string;
}

const PRELOAD = new URL('terminal.preload.ts', import.meta.url).href;
const OPERATOR = fileURLToPath(new URL('../../src/apps/operator.ts', import.meta.url));
let runs = 0;

/** @throws AssertionError for a reply that does not match its declaration */
export async function run(argv: readonly string[], options: { env: NodeJS.ProcessEnv; cwd?: string }): Promise<Ended> {
  const file = join(tmpdir(), `replies-${process.pid}-${(runs += 1)}`);
  try {
    const ended = await new Promise<Ended>((resolve) => {
      const env = { ...options.env, REPLIES_FILE: file };
      const child = spawn(process.execPath, ['--import', PRELOAD, ...argv], { ...options, env });
      const said: Ended = { code: null, out: '', err: '', printed: '' };
      child.stdout.on('data', (part) => ((said.out += part), (said.printed += part)));
      child.stderr.on('data', (part) => ((said.err += part), (said.printed += part)));
      child.once('close', (code) => resolve({ ...said, code }));
    });
    for (const line of existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [])
      assertAsDeclared(JSON.parse(line));
    return ended;
  } finally {
    rmSync(file, { force: true });
  }
}

/** The operator's program. @param over more of its environment */
export function operatorTypes(
  { baseUrl, token, cwd }: { baseUrl: string; token: string; cwd?: string },
  words: readonly string[],
  over: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  const { OPERATOR_TOKEN_FILE: _, ...env } = process.env;
  const own = { ...env, OPERATOR_URL: baseUrl, OPERATOR_TOKEN: token, ...over };
  return run([OPERATOR, ...words], { env: own, ...(cwd === undefined ? {} : { cwd }) });
}

export const terminal =
  (baseUrl: string, token: string) =>
  (...words: string[]): Promise<Ended> =>
    operatorTypes({ baseUrl, token }, words);

/** A reader of RFC 4180 that is independent of the writer: rows by the names in the first line. */
export function readCsv(text: string): Record<string, string>[] {
  const rows: string[][] = [[]];
  let cell = '';
  let isQuoted = false;
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i] ?? '';
    if (isQuoted) {
      if (char !== '"') cell += char;
      else if (text[i + 1] === '"') cell += text[(i += 1)];
      else isQuoted = false;
    } else if (char === '"') isQuoted = true;
    else if (char === ',' || char === '\n') {
      rows.at(-1)?.push(cell);
      cell = '';
      if (char === '\n') rows.push([]);
    } else if (char !== '\r') cell += char;
  }
  const [names = [], ...lines] = rows.slice(0, -1);
  return lines.map((cells) => Object.fromEntries(names.map((name, at) => [name, cells[at] ?? ''])));
}
