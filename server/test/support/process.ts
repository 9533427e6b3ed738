/**
 * The server as a separate process, started as a user starts it, with its own data folder and port.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { patience } from './patience.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const READY_MS = 60_000;

export interface Sandbox {
  baseUrl: string;
  partners: { name: string; apiKey: string; apiSecret: string }[];
  chains: {
    code: string;
    rpcUrl: string;
    chainId: number;
    tokens: { code: string; address: string; decimals: number }[];
  }[];
}

export interface ServerProcess {
  readonly dataDir: string;
  readonly pid: number;
  sandbox(): Sandbox;
  /** kill -9 of the server process only. */
  kill(): Promise<void>;
  /** Resolves to the exit code once the process has ended. */
  readonly ended: Promise<number | null>;
  /** Sends Ctrl-C. @returns the exit code */
  interrupt(): Promise<number | null>;
  output(): string;
}

export const makeDataDir = (): string => mkdtempSync(join(tmpdir(), 'cloverleaf-'));
export const removeDataDir = (dataDir: string): void => rmSync(dataDir, { recursive: true, force: true });

/** Resolves once the server reports that it is ready. */
export async function startProcess(options: {
  dataDir: string;
  port: number;
  env?: NodeJS.ProcessEnv;
  /** The folder of the source, for another version of the server. */
  root?: string;
  /** The command to run in place of the server. */
  program?: string;
  readyMs?: number;
}): Promise<ServerProcess> {
  const env = { DATA_DIR: options.dataDir, PORT: String(options.port), LOG_LEVEL: 'error', ...options.env };
  const child = run([options.program ?? 'server/src/apps/server.ts'], env, undefined, options.root);
  const output = collect(child);
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const isOver = patience(options.readyMs ?? READY_MS);
  while (!output().includes('is ready')) {
    if (child.exitCode !== null || isOver()) {
      child.kill('SIGKILL');
      throw new Error(`the server did not get ready:\n${output()}`);
    }
    await new Promise((wake) => setTimeout(wake, 25));
  }
  return {
    dataDir: options.dataDir,
    pid: child.pid ?? 0,
    ended,
    sandbox: () => JSON.parse(readFileSync(join(options.dataDir, 'sandbox.json'), 'utf8')) as Sandbox,
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    async interrupt() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGINT');
      return await ended;
    },
    output,
  };
}

/** A script of ours as a process, without the environment variables of the test runner. */
export function run(args: string[], env: NodeJS.ProcessEnv, stdin?: string, root = ROOT): ChildProcess {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(NODE_(?!COMPILE_CACHE)|TEST_|DATABASE_URL|PORT$)/.test(name)),
  );
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...inherited, ...env },
    stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  child.stdin?.end(stdin);
  return child;
}

/**
 * Runs a command of ours to its end, beside a server on the same folder. @returns its output. @throws when it ends with another code
 * than 0
 */
export async function completed(args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  const child = run(args, env);
  const said = collect(child);
  const code = await new Promise<number | null>((ended) => child.once('close', ended));
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${said()}`);
  return said();
}

/** Takes a backup of the embedded database of a folder, beside its running server. @returns the backup's folder */
export async function backedUp(dataDir: string, into: string): Promise<string> {
  await completed(['server/src/apps/backup.ts', 'backup', '--to', into], { DATA_DIR: dataDir, LOG_LEVEL: 'debug' });
  return join(into, readdirSync(into).toSorted().at(-1) ?? '');
}

export function collect(child: ChildProcess): () => string {
  let text = '';
  child.stdout?.on('data', (chunk) => {
    text += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    text += chunk;
  });
  return () => text;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}
