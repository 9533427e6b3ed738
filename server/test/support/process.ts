/**
 * The server as a process of its own, started as a user starts it, on a data folder and port of its own.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
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
  /** kill -9 of the server itself, and nothing else. */
  kill(): Promise<void>;
  /** The exit code, once it has ended. */
  readonly ended: Promise<number | null>;
  /** Ctrl-C; the exit code. */
  interrupt(): Promise<number | null>;
  output(): string;
}

export const makeDataDir = (): string => mkdtempSync(join(tmpdir(), 'cloverleaf-'));
export const removeDataDir = (dataDir: string): void => rmSync(dataDir, { recursive: true, force: true });

/** @returns once the server says that it is ready */
export async function startProcess(options: {
  dataDir: string;
  port: number;
  env?: NodeJS.ProcessEnv;
  /** Where its source lies, if not here: another version. */
  root?: string;
  /** What is run, if not the server as it is. */
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

/** A script of ours as a process; the environment is cleaned of what the test runner put there. */
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
