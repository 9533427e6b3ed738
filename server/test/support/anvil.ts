/**
 * Anvil for tests: a real EVM node on a port of its own, that mines when told to.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeDeployData, parseAbi, toFunctionSelector } from 'viem/utils';

export type Hex = `0x${string}`;

/** Accounts of anvil's well-known mnemonic; the first is unlocked and funded, and sends the transactions of a test. */
export const ANVIL_MNEMONIC = 'test test test test test test test test test test test junk';
export const ANVIL_FIRST = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';

export interface Anvil {
  url: string;
  chainId: bigint;
  rpc<T = unknown>(method: string, params?: unknown[]): Promise<T>;
  mine(blocks?: number): Promise<void>;
  /** Sends from the funded account (or another that anvil impersonates) and returns the hash; `mine` mines it. */
  send(tx: { to?: string; data?: string; value?: bigint; from?: string }): Promise<string>;
  stop(): Promise<void>;
}

export async function startAnvil(options: { chainId?: bigint } = {}): Promise<Anvil> {
  const chainId = options.chainId ?? 31_337n;
  const port = await freePort();
  const binary = createRequire(import.meta.url).resolve('@foundry-rs/anvil-linux-amd64/bin/anvil');
  const child = spawn(
    binary,
    ['--port', String(port), '--chain-id', String(chainId), '--mnemonic', ANVIL_MNEMONIC, '--no-mining', '--quiet'],
    // Anvil keeps a folder in the home directory; a test must leave nothing there.
    { stdio: 'ignore', env: { ...process.env, HOME: process.env.TEST_DATA_DIR ?? tmpdir() } },
  );
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = `http://127.0.0.1:${port}`;

  async function rpc<T>(method: string, params: unknown[] = []): Promise<T> {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const answer = (await response.json()) as { result: T; error?: { message: string } };
    if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result;
  }

  for (let attempt = 0; ; attempt += 1) {
    try {
      await rpc('eth_chainId');
      break;
    } catch (error) {
      if (attempt > 100 || child.exitCode !== null) throw error;
      await sleep(30);
    }
  }

  return {
    url,
    chainId,
    rpc,
    async mine(blocks = 1) {
      await rpc('anvil_mine', [`0x${blocks.toString(16)}`]);
    },
    async send({ to, data: input, value, from }) {
      return await rpc<string>('eth_sendTransaction', [
        {
          from: from ?? ANVIL_FIRST,
          gas: '0x2dc6c0',
          ...(to === undefined ? {} : { to }),
          ...(input === undefined ? {} : { data: input }),
          ...(value === undefined ? {} : { value: `0x${value.toString(16)}` }),
        },
      ]);
    },
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

const artifact = JSON.parse(readFileSync(new URL('./testtoken.artifact.json', import.meta.url), 'utf8')) as {
  bytecode: Hex;
};

/** Deploys a test token. @returns its address in lower case */
export async function deployToken(anvil: Anvil, decimals = 6): Promise<string> {
  const abi = parseAbi(['constructor(uint8)']);
  const hash = await anvil.send({ data: encodeDeployData({ abi, bytecode: artifact.bytecode, args: [decimals] }) });
  await anvil.mine();
  const receipt = await anvil.rpc<{ contractAddress: string; status: string }>('eth_getTransactionReceipt', [hash]);
  if (receipt.status !== '0x1') throw new Error('the test token was not deployed');
  return receipt.contractAddress.toLowerCase();
}

const word = (value: bigint): string => value.toString(16).padStart(64, '0');

/** Call data of the test token: `data('mint(address,uint256)', to, 5n)`; an array is an address[] before a uint256. */
export function data(signature: string, ...args: (string | bigint | readonly string[])[]): string {
  const heads: string[] = [];
  let tail = '';
  for (const arg of args) {
    if (Array.isArray(arg)) {
      heads.push(word(BigInt(args.length * 32 + tail.length / 2)));
      tail += word(BigInt(arg.length)) + arg.map((one) => word(BigInt(one))).join('');
    } else {
      heads.push(word(BigInt(arg as string | bigint)));
    }
  }
  return toFunctionSelector(signature) + heads.join('') + tail;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
