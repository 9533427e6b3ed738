/**
 * `npm run sandbox -- doctor`: reads a refused request and explains its faults.
 *
 * @returns the text to print, and 0 when nothing is wrong, 1 otherwise. Secrets are removed from the text.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { CLOCK_WINDOW, diagnose, type KnownKey } from '../protocols/whitelabel/index.ts';
import { type Captured, putHeader, readCurl } from './curl.ts';

export const DOCTOR = `npm run sandbox -- doctor [<file>] [options]
  says which part of a request's signature, body or clock is wrong, and by how much
    <file>                a curl command, as browsers and API programs copy it; without it, standard input
    --header 'name: …'    instead of a curl command: one header, as often as there are headers
    --headers <file>      or all of them, one a line
    --body …              the body as it is sent; --body-file <file> where it is long
    --method …            default: POST
    --at …                when it was sent, in ISO 8601 or Unix milliseconds; default: now
    --secret-file <file>  the secret of the key in the request, where sandbox.json does not have it
  ends with 0 where nothing is wrong, 1 where something is, 2 where it cannot be read`;

export interface Doctored {
  text: string;
  code: 0 | 1;
}

/** @throws Error with a sentence for the user */
export async function doctor(
  args: string[],
  given: { keys: () => readonly KnownKey[]; input: () => string; nowMs: number },
): Promise<Doctored> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      header: { type: 'string', multiple: true, short: 'H' },
      headers: { type: 'string' },
      body: { type: 'string' },
      'body-file': { type: 'string' },
      method: { type: 'string' },
      at: { type: 'string' },
      'secret-file': { type: 'string' },
    },
  });
  const [file] = positionals;
  const inPieces = values.header !== undefined || values.headers !== undefined;
  const request = inPieces ? fromPieces(values) : readCurl(file === undefined ? given.input() : readText(file));
  const apiKey = request.headers.apikey ?? request.headers['x-onramp-apikey'] ?? '';
  const keys =
    values['secret-file'] === undefined
      ? given.keys()
      : [{ name: 'you', apiKey, secrets: [readText(values['secret-file']).trim()] }];
  const found = await diagnose(request, { keys, nowMs: momentOf(values.at) ?? given.nowMs, window: CLOCK_WINDOW });

  const lines = found.map(({ part, ok, says }) => `${ok ? 'ok   ' : 'WRONG'}  ${part.padEnd(9)}  ${says}`);
  const wrong = found.filter(({ ok }) => !ok);
  const isOld = values.at === undefined && wrong.some(({ part, says }) => part === 'clock' && says.includes('behind'));
  if (isOld)
    lines.push('', 'A request that was captured a while ago is behind by its age: --at says when it was sent.');
  lines.push(
    '',
    wrong.length === 0 ? 'Nothing is wrong with its signature, body and clock.' : `${wrong.length} wrong.`,
  );
  const secrets = keys.flatMap((key) => key.secrets);
  const text = secrets.reduce(
    (all, secret) => (secret === '' ? all : all.replaceAll(secret, '(secret)')),
    lines.join('\n'),
  );
  return { text, code: wrong.length === 0 ? 0 : 1 };
}

function fromPieces(values: {
  header?: string[] | undefined;
  headers?: string | undefined;
  body?: string | undefined;
  'body-file'?: string | undefined;
  method?: string | undefined;
}): Captured {
  const headers: Record<string, string> = {};
  const lines =
    values.headers === undefined
      ? []
      : readText(values.headers)
          .split(/\r?\n/)
          .filter((line) => line.includes(':'));
  for (const line of [...lines, ...(values.header ?? [])]) putHeader(headers, line);
  const path = values['body-file'];
  const body = path === undefined ? (values.body ?? '') : readText(path);
  if (body.trimStart().startsWith('{')) headers['content-type'] ??= 'application/json';
  return { method: (values.method ?? 'POST').toUpperCase(), headers, body: Buffer.from(body) };
}

function momentOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d{12,14}$/.test(text) ? Number(text) : Date.parse(text);
  if (Number.isNaN(ms)) throw new Error('--at must be a time such as 2026-01-05T10:00:00Z, or Unix milliseconds');
  return ms;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new Error(`${path} cannot be read`);
  }
}
