/**
 * `certify`: runs a partner's own receiver and program through ten situations (certify.ts). The program runs as a process and
 * sends its requests through a proxy here, whose URL is in its environment as CLOVERLEAF_URL.
 *
 * Exits with 0 if everything passed, 1 if something failed, 3 if nothing failed and something was not tested.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CertifyResult, certify } from '../certify.ts';
import { Cloverleaf } from '../client.ts';
import { readAccess } from './config.ts';
import { type Given, readSecret } from './given.ts';
import { fromSandbox } from './login.ts';
import { Misuse } from './misuse.ts';
import { plain } from './output.ts';

const EXIT = { passed: 0, failed: 1, untested: 3 } as const;
const FORMATS = ['standard', 'whitelabel', 'flat'] as const;
const PROGRAM_MS = 120_000;
const OBSERVE_MS = 10_000;

export async function certifyCommand(given: Given): Promise<number> {
  const { 'webhook-url': url, 'secret-file': file, 'state-url': state, program, sandbox, partner } = given.options;
  const format = FORMATS.find((one) => one === (given.options.format ?? 'standard'));
  if (format === undefined) throw new Misuse(`--format must be ${FORMATS.join(', ')}`);
  if (typeof url !== 'string') throw new Misuse('name your receiver: --webhook-url http://127.0.0.1:3000/webhooks');
  const access = typeof sandbox === 'string' ? fromSandbox(sandbox, partner) : readAccess(given.env);
  // The older formats are signed with the secret of the key.
  const known = format === 'standard' ? undefined : access.apiSecret;
  const secret = typeof file === 'string' ? readSecret(file) : (given.env.CLOVERLEAF_WEBHOOK_SECRET ?? known);
  if (secret === undefined)
    throw new Misuse('name the secret that your receiver knows: --secret-file <file>, or CLOVERLEAF_WEBHOOK_SECRET');
  if (typeof state === 'string' && !state.includes('{orderId}'))
    throw new Misuse('--state-url must contain {orderId}: http://127.0.0.1:3000/orders/{orderId}');
  const client = new Cloverleaf(access);
  if (!given.json) given.say('Driving orders of the sandbox …');
  const results = await certify({
    ...{ client, webhookUrl: url, secret, format },
    ...(typeof state === 'string' ? { observe: (orderId: string) => observed(state, orderId) } : {}),
    ...(typeof program === 'string'
      ? { program: (through: typeof fetch) => runProgram(program, access.baseUrl, through) }
      : {}),
    onResult: (result) => {
      if (!given.json) given.say(shown(result));
    },
  });
  const count = (outcome: CertifyResult['outcome']) => results.filter((one) => one.outcome === outcome).length;
  const [passed, failed, untested] = [count('passed'), count('failed'), count('not tested')];
  given.say(
    given.json
      ? JSON.stringify({ passed, failed, untested, results }, null, 2)
      : `\n${passed} passed, ${failed} failed, ${untested} not tested`,
  );
  return failed > 0 ? EXIT.failed : untested > 0 ? EXIT.untested : EXIT.passed;
}

const shown = ({ situation, outcome, did, why }: CertifyResult): string =>
  [
    `\n${outcome.toUpperCase().padEnd(10)}  ${situation}`,
    ...did.map((one) => `            ${plain(one)}`),
    ...why.map((one) => `          → ${plain(one)}`),
  ].join('\n');

/** What the partner's system says about the order, in any form. */
async function observed(template: string, orderId: string): Promise<unknown> {
  const url = template.replaceAll('{orderId}', encodeURIComponent(orderId));
  const response = await fetch(url, { signal: AbortSignal.timeout(OBSERVE_MS) });
  const text = await response.text();
  return `${response.status} ${text}`;
}

/** Runs the program's command, with the URL of a proxy of the server in its environment. @throws when its exit code is not 0 */
async function runProgram(command: string, baseUrl: string, through: typeof fetch): Promise<void> {
  const proxy = createServer((request, response) => {
    void forward(request, response, baseUrl, through).catch(() => response.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const child = spawn(command, {
    shell: true,
    env: { ...process.env, CLOVERLEAF_URL: url },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: PROGRAM_MS,
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(-500);
  });
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new Error(`it ended with ${code ?? 'a signal'}${said === '' ? '' : `: ${said.trim()}`}`);
  } finally {
    proxy.close();
    proxy.closeAllConnections();
  }
}

/** Headers of the connection between the program and us, which must not be forwarded. */
const HOP = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'keep-alive',
  'expect',
  'accept-encoding',
]);

async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  baseUrl: string,
  through: typeof fetch,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const headers = Object.entries(request.headers)
    .filter(([name]) => !HOP.has(name))
    .map(([name, value]): [string, string] => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]);
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD';
  const answer = await through(`${baseUrl}${request.url ?? '/'}`, {
    method: request.method ?? 'GET',
    headers,
    redirect: 'manual',
    ...(hasBody ? { body: Buffer.concat(chunks) } : {}),
  });
  const body = Buffer.from(await answer.arrayBuffer());
  const shown = [...answer.headers].filter(([name]) => !HOP.has(name) && name !== 'content-encoding');
  response.writeHead(answer.status, Object.fromEntries(shown)).end(body);
}
