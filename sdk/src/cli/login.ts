/**
 * `login`: asks for a key, tests it, and stores it. A key never comes from the command line, which every user of the machine can
 * read.
 */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { Cloverleaf } from '../client.ts';
import { hasReason } from '../errors.ts';
import { type Access, storeAccess } from './config.ts';
import type { Given } from './given.ts';
import { Misuse } from './misuse.ts';

const PROMPTS = ['API key (empty if you only have a token)', 'API secret', 'bearer token'] as const;

export async function login(given: Given): Promise<number> {
  const { sandbox, partner, url } = given.options;
  const access =
    typeof sandbox === 'string'
      ? fromSandbox(sandbox, partner)
      : await typed(typeof url === 'string' ? url : undefined);
  const client = new Cloverleaf({ ...access, patienceMs: 5_000 });
  let name: string;
  try {
    name = (await client.key.get()).key;
  } catch (error) {
    if (hasReason(error, 'unauthenticated')) throw new Misuse(`${access.baseUrl} has no such key; nothing was saved`);
    throw error;
  }
  const file = storeAccess(access, given.env);
  given.say(
    given.json
      ? JSON.stringify({ baseUrl: access.baseUrl, key: name, file }, null, 2)
      : `logged in at ${access.baseUrl} with the key ${name}; it is kept in ${file}`,
  );
  return 0;
}

interface SandboxPartner {
  name: string;
  apiKey?: string;
  apiSecret?: string;
}

/** @throws Misuse */
export function fromSandbox(file: string, name: string | true | undefined): Access {
  let sandbox: { baseUrl: string; partners: SandboxPartner[] };
  try {
    sandbox = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw new Misuse(`${file} cannot be read. A sandbox writes sandbox.json to its DATA_DIR: data, unless it is set`);
  }
  const partner = typeof name === 'string' ? sandbox.partners.find((one) => one.name === name) : sandbox.partners[0];
  if (partner === undefined)
    throw new Misuse(`--partner must be ${sandbox.partners.map((one) => one.name).join(', ')}`);
  const { apiKey, apiSecret } = partner;
  return {
    baseUrl: sandbox.baseUrl,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(apiSecret === undefined ? {} : { apiSecret }),
  };
}

/**
 * Reads url and key. At a terminal the input is hidden; a program may write the same lines. Asks for the token if no secret is
 * given.
 */
async function typed(url: string | undefined): Promise<Access> {
  if (url === undefined)
    throw new Misuse('name the address: login --url https://ramp.example, or login --sandbox data/sandbox.json');
  const isTerminal = process.stdin.isTTY === true;
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: isTerminal });
  const answers: string[] = [];
  const ask = (): void => {
    if (isTerminal) process.stderr.write(`${answers.length === 0 ? '' : '\n'}${PROMPTS[answers.length]}: `);
  };
  ask();
  for await (const line of lines) {
    answers.push(line.trim());
    const isKnown = answers.length === 2 && answers[0] !== '' && answers[1] !== '';
    if (isKnown || answers.length === PROMPTS.length) break;
    ask();
  }
  lines.close();
  if (isTerminal) process.stderr.write('\n');
  const [apiKey = '', apiSecret = '', bearerToken = ''] = answers;
  if (apiKey !== '' && apiSecret !== '') return { baseUrl: url, apiKey, apiSecret };
  if (bearerToken === '')
    throw new Misuse(
      'no key and secret on standard input: write a line each, or for a token alone two empty lines and the token',
    );
  return { baseUrl: url, bearerToken };
}
