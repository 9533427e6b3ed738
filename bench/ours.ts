/**
 * Ours: the real server as a process of its own, and requests of a partner's program to it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac, randomInt, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SandboxFile } from '../server/src/environment.ts';
import { type Prepared, send } from './load.ts';
import type { Watched } from './watch.ts';

const WL = '/onramp/api/v2/whiteLabel';
/** On a busy machine a start takes minutes. */
const READY_MS = 300_000;

/** The requests of a partner's program. */
export interface Requests {
  /** A request of the white-label wire. */
  post(path: string, body: Record<string, string>): Prepared;
  /** A request to any path. */
  postTo(path: string, body: object): Prepared;
  call<T>(path: string, body: Record<string, string>): Promise<T>;
}

/** Its own requests are those of the sandbox's first partner. */
export interface Ours extends Requests {
  pid: number;
  baseUrl: string;
  metricsUrl: string;
  apiSecret: string;
  /** Requests of every partner of the sandbox. */
  partners: readonly Requests[];
  /** The chains that run, as sandbox.json lists them. */
  chains: SandboxFile['chains'];
  watch<T>(body: () => Promise<T>): Promise<{ result: T; seen: Watched }>;
}

/** @param ending receives what stops the server, before it is ready, because it may have to be stopped earlier */
export async function startOurs(
  dataDir: string,
  ending: (() => Promise<void>)[],
  nodeOptions: readonly string[] = [],
  settings: Readonly<Record<string, string>> = {},
): Promise<Ours> {
  const main = fileURLToPath(new URL('../server/src/apps/server.ts', import.meta.url));
  const child = spawn(
    process.execPath,
    ['--import', new URL('inside.ts', import.meta.url).href, ...nodeOptions, main],
    {
      env: {
        ...{ PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'error' },
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      // A Ctrl-C reaches the server through us only, so that it arrives once.
      detached: true,
    },
  );
  ending.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((done) => child.once('exit', done));
    child.kill('SIGINT');
    await ended;
  });
  const said = await isReady(child);
  const file = JSON.parse(readFileSync(join(dataDir, 'sandbox.json'), 'utf8'));
  const partners = (file.partners as Keys[]).map((keys) => requestsOf(file.baseUrl, keys));
  return {
    ...(partners[0] as Requests),
    partners,
    chains: file.chains,
    pid: child.pid ?? 0,
    baseUrl: file.baseUrl,
    metricsUrl: /^ *Metrics +(\S+)/m.exec(said)?.[1] ?? '',
    apiSecret: file.partners[0].apiSecret,
    async watch(body) {
      const told = () => new Promise<Watched>((done) => child.once('message', (seen) => done(seen as Watched)));
      const started = told();
      child.send('start');
      await started;
      const result = await body();
      const seen = told();
      child.send('stop');
      return { result, seen: await seen };
    },
  };
}

interface Keys {
  apiKey: string;
  apiSecret: string;
}

function requestsOf(baseUrl: string, { apiKey, apiSecret }: Keys): Requests {
  const postTo = (path: string, body: object): Prepared => {
    const payload = Buffer.from(JSON.stringify({ body, timestamp: Date.now() })).toString('base64');
    return {
      method: 'POST',
      path,
      headers: {
        'content-type': 'application/json',
        'x-onramp-apikey': apiKey,
        'x-onramp-payload': payload,
        'x-onramp-signature': createHmac('sha512', apiSecret).update(payload).digest('hex'),
      },
      body: JSON.stringify(body),
    };
  };
  const post = (path: string, body: Record<string, string>) => postTo(`${WL}/${path}`, body);
  return {
    post,
    postTo,
    async call<T>(path: string, body: Record<string, string>) {
      return JSON.parse(await send(baseUrl, post(path, body))).data as T;
    },
  };
}

/** Waits until the server is ready. @returns its output */
async function isReady(child: ChildProcess): Promise<string> {
  let said = '';
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  for (const giveUpAt = Date.now() + READY_MS; !said.includes('Ctrl-C stops everything'); ) {
    if (child.exitCode !== null || Date.now() > giveUpAt) throw new Error(`the server did not get ready:\n${said}`);
    await new Promise((wake) => setTimeout(wake, 50));
  }
  return said;
}

/** Registers a receiver of webhooks. @returns a function that removes it */
export async function receive(
  ours: Ours,
  url: string,
  events: readonly string[],
): Promise<{ id: string; end(): Promise<void> }> {
  const added = await send(ours.baseUrl, ours.postTo('/v1/webhooks', { url, format: 'standard', events }));
  const { id } = JSON.parse(added).data as { id: string };
  return {
    id,
    async end() {
      await send(ours.baseUrl, { ...ours.postTo(`/v1/webhooks/${id}`, {}), method: 'DELETE', body: '' });
    },
  };
}

/** A customer who may trade, with a payout account. */
export async function newCustomer(ours: Requests): Promise<{ customerId: string; fiatAccountId: string }> {
  const { customerId } = await ours.call<{ customerId: string }>('kyc/url', {
    clientCustomerId: randomUUID(),
    phoneNumber: `+91-9${String(randomInt(1_000_000_000)).padStart(9, '0')}`,
    type: 'INDIVIDUAL',
  });
  await ours.call('test/changeKycStatus', { customerId, status: 'ADVANCE_KYC_COMPLETED' });
  const { fiatAccountId } = await ours.call<{ fiatAccountId: string }>('bank/addFiatAccount', {
    customerId,
    fiatAccount: '000111222333',
    ifsc: 'HDFC0000001',
  });
  return { customerId, fiatAccountId: String(fiatAccountId) };
}
