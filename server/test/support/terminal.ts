/** The operator's program at a terminal: words in, what it wrote and how it ended out. */
import { spawn } from 'node:child_process';

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

export const terminal =
  (baseUrl: string, token: string) =>
  (...words: string[]): Promise<Ended> =>
    new Promise((resolve) => {
      const env = { PATH: process.env.PATH, OPERATOR_URL: baseUrl, OPERATOR_TOKEN: token };
      const child = spawn(process.execPath, ['server/src/apps/operator.ts', ...words], { env });
      const ended: Ended = { code: null, out: '', err: '' };
      child.stdout.on('data', (part) => (ended.out += part));
      child.stderr.on('data', (part) => (ended.err += part));
      child.once('close', (code) => resolve({ ...ended, code }));
    });

/** RFC 4180, read by another program than the one that wrote it: rows by the names of the first line. */
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
