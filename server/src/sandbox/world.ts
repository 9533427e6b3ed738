/**
 * World: everything outside that the sandbox brings along. A node per chain with test tokens, and a bank.
 *
 * Each is a real other party: nodes are processes of their own reached by JSON-RPC, the bank keeps its own books and is
 * reached by HTTP. Nothing of theirs is shared with the server but the sockets.
 */
import type { Clock } from '../base/clock.ts';
import type { Database } from '../base/db.ts';
import { SettingError } from '../base/env.ts';
import type { Log } from '../base/log.ts';
import { pow10 } from '../base/money.ts';
import type { Config } from '../config.ts';
import { followedGenesis } from '../rails/chain.ts';
import { localSigner, sweepSigner } from '../rails/evm/index.ts';
import { type SimulatedBank, startSimulatedBank } from '../rails/simulated/index.ts';
import type { Outside } from '../registry.ts';
import { CHAINS, FIATS, POCKET_MONEY, type SandboxChain } from './catalogue.ts';
import { call, type SandboxNode, startNode } from './nodes.ts';
import { type DeployedToken, evmCode, type SeededPartner, seedCatalogue, seedMarkets } from './seed.ts';
import { deployTokens } from './tokens.ts';
import { depositXprv, depositXpub, MNEMONIC, privateKey } from './wallets.ts';

export interface SandboxFile {
  baseUrl: string;
  partners: SeededPartner[];
  chains: { code: string; rpcUrl: string; chainId: number; tokens: DeployedToken[] }[];
}

export interface World {
  outside: Outside;
  bank: SimulatedBank;
  tokens: ReadonlyMap<string, readonly DeployedToken[]>;
  chains: SandboxFile['chains'];
  /** Markets and fees, once the partners they name are there. */
  seedMarkets(): Promise<void>;
  /** Mines until all that is in the chain's pool or newest block is final. */
  finalize(chain: string): Promise<void>;
  stop(): Promise<void>;
}

/** Native units per unit of gas that are ever offered here: 200 gwei. */
const MAX_GAS_PRICE = 200n * pow10(9);

export async function startWorld(deps: {
  config: Config;
  db: Database;
  adminUrl: string;
  clock: Clock;
  log: Log;
}): Promise<World> {
  const { config, db, log } = deps;
  const started: { stop(): Promise<void> }[] = [];
  try {
    const starting = CHAINS.map(async (chain) => {
      const node = await startNode(
        { code: chain.code, chainId: chain.chainId },
        { dataDir: config.dataDir, mnemonic: MNEMONIC, log: (line) => log.info({ node: chain.code, line }) },
      );
      started.push(node);
      await refuseAnotherChain(db, node);
      return { chain, node, tokens: await deployTokens(node, [...chain.tokens]) };
    });
    // Where one fails the others are waited for, or they would be left running.
    await Promise.allSettled(starting);
    const nodes = await Promise.all(starting);
    const bank = await startSimulatedBank({ ...deps, deduplicates: config.bankDeduplicates === '1' });
    started.push(bank);
    const tokens = new Map(nodes.map((one) => [one.chain.code, one.tokens]));
    await seedCatalogue(db, tokens);
    return {
      outside: {
        evmChains: nodes.map(({ chain, node, tokens: deployed }) => evmOptions(chain, node, deployed)),
        simulatedBank: {
          url: bank.url,
          token: bank.token,
          deduplicates: config.bankDeduplicates === '1',
          currencies: Object.fromEntries(FIATS.map((fiat) => [fiat.code.toUpperCase(), fiat.code])),
        },
      },
      bank,
      tokens,
      chains: nodes.map(({ chain, node, tokens: deployed }) => ({
        code: chain.code,
        rpcUrl: node.rpcUrl,
        chainId: chain.chainId,
        tokens: [...deployed],
      })),
      seedMarkets: () => seedMarkets(db, tokens),
      async finalize(code) {
        const found = nodes.find(({ chain }) => chain.code === code);
        await found?.node.mine(found.chain.finality + 1);
      },
      stop: () => stopAll(started),
    };
  } catch (error) {
    await stopAll(started);
    throw error;
  }
}

/** The rail would stop at it, for every server on this database: a folder and a database that do not belong together. */
async function refuseAnotherChain(db: Database, node: SandboxNode): Promise<void> {
  const followed = await db.asSystem((tx) => followedGenesis(tx, evmCode(node.code)));
  const { hash } = await call<{ hash: string }>(node.rpcUrl, 'eth_getBlockByNumber', ['0x0', false]);
  if (followed === undefined || followed === hash) return;
  throw new SettingError(
    `DATA_DIR: the database has followed another chain ${node.code} than the one in this folder. Start with the folder that belongs to the database, or on a database of its own.`,
  );
}

async function stopAll(started: readonly { stop(): Promise<void> }[]): Promise<void> {
  await Promise.allSettled(started.map((one) => one.stop()));
}

function evmOptions(chain: SandboxChain, node: SandboxNode, tokens: readonly DeployedToken[]) {
  const limits = {
    chainId: BigInt(chain.chainId),
    allowedContracts: Object.fromEntries(
      tokens.map((token) => [token.address.toLowerCase(), POCKET_MONEY * pow10(token.decimals)]),
    ),
    maxNativeUnitsPerTransfer: 10n * pow10(18),
    maxFeeUnits: pow10(18),
  };
  const signer = (wallet: Parameters<typeof privateKey>[0]) => localSigner(privateKey(wallet), limits);
  const hot = signer('hot');
  return {
    code: evmCode(chain.code),
    chain: chain.code,
    rpcUrl: node.rpcUrl,
    chainId: BigInt(chain.chainId),
    xpub: depositXpub(),
    // The faucet and the simulated customer are wallets of the world, not of the operator.
    signers: { hot, faucet: signer('faucet'), customer: signer('customer') },
    sweepSigner: sweepSigner(depositXprv(), { ...limits, to: hot.address }),
    finality: chain.finality,
    maxGasPrice: MAX_GAS_PRICE,
    pace: { pollMs: 250, nativeEveryMs: 3_000, lowerBranchMs: 2_000 },
  };
}
