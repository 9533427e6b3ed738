/**
 * Watch: lets a second process read the sandbox's chains and bank without changing anything.
 *
 * If a server runs, its nodes are used, and a second instance of its bank is opened on the same books. If none runs, the nodes
 * are started from their saved state and ended again. A chain that was never woken is omitted: it has no node, and the books
 * have nothing of it. A rail made from this has no signer.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { Database } from '../base/db.ts';
import { Unavailable } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Config } from '../config.ts';
import type { SandboxFile } from '../environment.ts';
import { evmChain } from '../rails/evm/index.ts';
import { loopbackBank, recognisesForMs, startSimulatedBank } from '../rails/simulated/index.ts';
import { addressOf, tronChain } from '../rails/tron/index.ts';
import type { Connections } from '../registry.ts';
import { publicOf } from '../signer/index.ts';
import { CHAINS, FIATS, railCode, type SandboxChain } from './catalogue.ts';
import { hasNode } from './chains.ts';
import { chainsFollowed } from './environment.ts';
import { startNode } from './nodes.ts';
import { startTron } from './tron.ts';
import { depositXprv, MNEMONIC, privateKey } from './wallets.ts';

/**
 * @param deps.isRunning whether a server uses the data folder; then its nodes are used
 * @throws Unavailable when its sandbox.json cannot be read
 */
export async function watchOutside(deps: {
  db: Database;
  config: Config;
  adminUrl: string;
  clock: Clock;
  log: Log;
  isRunning: boolean;
}): Promise<{ connections: Connections; stop(): Promise<void> }> {
  const { config, isRunning } = deps;
  const { wallets, xpub } = publicOf({ wallets: { hot: privateKey('hot') }, deposits: depositXprv() });
  const started: { stop(): Promise<void> }[] = [];
  const stop = async (): Promise<void> => void (await Promise.allSettled(started.map((one) => one.stop())));
  try {
    const running = isRunning ? readSandboxFile(config) : undefined;
    const followed = await chainsFollowed(deps.db);
    const isUsed = ({ code, atStart }: SandboxChain): boolean =>
      running === undefined
        ? atStart || hasNode(config.dataDir, code) || followed.has(code)
        : running.chains.some((chain) => chain.code === code);
    const rpcUrlOf = async (chain: SandboxChain): Promise<string> =>
      running?.chains.find(({ code }) => code === chain.code)?.rpcUrl ?? (await node(chain));
    const commonOf = ({ code, chainId, finality }: SandboxChain) => ({
      ...{ code: railCode(code), chain: code, chainId: BigInt(chainId), finality, xpub },
    });
    const used = CHAINS.filter(isUsed);
    const evmChains = await Promise.all(
      used
        .filter(({ family }) => family === undefined)
        .map(async (chain) => {
          const rpcUrl = await rpcUrlOf(chain);
          return evmChain({ ...commonOf(chain), rpcUrl, addresses: wallets, maxGasPrice: 0n });
        }),
    );
    const inTron = Object.fromEntries(Object.entries(wallets).map(([name, account]) => [name, addressOf(account)]));
    const tronChains = await Promise.all(
      used
        .filter(({ family }) => family === 'tron')
        .map(async (chain) => {
          const rpcUrl = await rpcUrlOf(chain);
          // All data is on the EVM node, so a second instance beside the server's shows the same.
          const tron = await startTron({ rpcUrl: () => rpcUrl, chainId: chain.chainId, solidBlocks: chain.finality });
          started.push(tron);
          const limits = { maxFeeLimit: 0n, maxEnergyPrice: 0n };
          return tronChain({ ...commonOf(chain), ...limits, url: tron.url, addresses: inTron });
        }),
    );
    const banking = config.valuesOf(loopbackBank);
    const bank = await startSimulatedBank({ ...deps, deduplicatesForMs: recognisesForMs(banking) });
    started.push(bank);
    const currencies = Object.fromEntries(FIATS.map(({ code }) => [code.toUpperCase(), code]));
    return {
      connections: {
        chains: [...evmChains, ...tronChains],
        banks: [loopbackBank.create(banking, { url: bank.url, token: bank.token, currencies })],
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }

  async function node({ code, chainId }: { code: string; chainId: number }): Promise<string> {
    const options = { dataDir: config.dataDir, mnemonic: MNEMONIC, log: () => {} };
    const one = await startNode({ code, chainId }, options);
    started.push(one);
    return one.rpcUrl;
  }
}

function readSandboxFile({ dataDir }: Config): SandboxFile {
  try {
    return JSON.parse(readFileSync(join(dataDir, 'sandbox.json'), 'utf8')) as SandboxFile;
  } catch {
    throw new Unavailable('sandbox', `${dataDir} has no sandbox.json yet: is the server still starting?`);
  }
}
