/**
 * Environment: the outside systems that the sandbox provides: a node per chain with test tokens, and a bank.
 *
 * Chains marked `atStart`, and chains used before, run from the start; the others are woken on demand (chains.ts).
 *
 * Each is a separate party: nodes are processes reached by JSON-RPC, the bank keeps its own books and is reached by HTTP. They
 * share nothing with the server but the sockets.
 */
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { awaitAll, type Database } from '../base/db.ts';
import { defined } from '../base/defined.ts';
import { SettingError } from '../base/env.ts';
import { Refusal, Unavailable } from '../base/errors.ts';
import { randomHex } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { pow10 } from '../base/money.ts';
import type { Config } from '../config.ts';
import type { SandboxFile } from '../environment.ts';
import type { ConnectedChain } from '../rails/chain.ts';
import { followedGenesis, followedHead } from '../rails/chain.ts';
import { addressesOf, evmChain } from '../rails/evm/index.ts';
import { loopbackBank, recognisesForMs, type SimulatedBank, startSimulatedBank } from '../rails/simulated/index.ts';
import { accountOf, addressOf, tronChain, tronSigner, tronSweepSigner } from '../rails/tron/index.ts';
import type { Connections } from '../registry.ts';
import {
  type ChainLimits,
  openJournal,
  openSigner,
  publicOf,
  type SignerClient,
  signerClient,
  signerWithin,
} from '../signer/index.ts';
import { CHAIN_CODES, CHAINS, FIATS, isTron, POCKET_MONEY, railCode, type SandboxChain } from './catalogue.ts';
import { hasNode, openSleepers, type Sleepers } from './chains.ts';
import { call, type SandboxNode, startNode } from './nodes.ts';
import { seedCatalogue, seedMarkets } from './seed.ts';
import { deploySweeper, sweeperAddress } from './sweeper.ts';
import { type DeployedToken, deployTokens, tokensOf } from './tokens.ts';
import { startTron, tronIdOf } from './tron.ts';
import { depositXprv, MNEMONIC, privateKey } from './wallets.ts';

export interface LocalEnvironment {
  connections: Connections;
  bank: SimulatedBank;
  /** Tokens of every chain, asleep or not. */
  tokens: ReadonlyMap<string, readonly DeployedToken[]>;
  /** The information for partners' programs about chains with a node and chains still asleep. */
  chains(): Pick<SandboxFile, 'chains' | 'asleep'>;
  sleepers: Sleepers;
  /** Sets the later steps of a wake, after the node runs and has its tokens. Until it is called, no chain can be woken. */
  wakesWith(rest: (chain: string) => Promise<void>): void;
  /** Inserts markets and fees, once the partners they name exist. */
  seedMarkets(): Promise<void>;
  /** Mines until everything in the chain's pool and newest block is final, unless its follower is that far behind. */
  finalize(chain: string): Promise<void>;
  /** Reorgs the newest blocks of a chain. @throws Refusal 'malformed_field' when it has too few */
  reorg(chain: string, blocks: number): Promise<void>;
  stop(): Promise<void>;
}

/** Maximum native units per unit of gas ever offered here: 200 gwei. */
const MAX_GAS_PRICE = 200n * pow10(9);
/** The same on Tron, for a unit of energy. */
export const MAX_ENERGY_PRICE = 1_000n;
/** The signer's limits per hour, as a multiple of those per transfer: more than any test moves. */
const TRANSFERS_PER_HOUR = 10_000n;

export async function startEnvironment(deps: {
  config: Config;
  db: Database;
  adminUrl: string;
  clock: Clock;
  log: Log;
}): Promise<LocalEnvironment> {
  const { config, db, log } = deps;
  const started: { stop(): Promise<void> }[] = [];
  const nodes = new Map<string, SandboxNode>();
  const trons = new Map<string, string>();
  /** Can be run again after a failure: it continues where it failed. */
  const startChain = async (chain: SandboxChain): Promise<void> => {
    let node = nodes.get(chain.code);
    if (node === undefined) {
      node = await startNode(
        { code: chain.code, chainId: chain.chainId },
        { dataDir: config.dataDir, mnemonic: MNEMONIC, log: (line) => log.info({ node: chain.code, line }) },
      );
      started.push(node);
      nodes.set(chain.code, node);
    }
    await refuseAnotherChain(db, node);
    await deployTokens(node, chain.tokens);
    if (config.sweepBatches === '1' && chain.family !== 'tron') await deploySweeper(node);
    if (chain.family !== 'tron' || trons.has(chain.code)) return;
    const { rpcUrl } = node;
    const { chainId, finality: solidBlocks } = chain;
    const tron = await startTron({ rpcUrl: () => rpcUrl, chainId, solidBlocks });
    started.push(tron);
    trons.set(chain.code, tron.url);
  };
  try {
    const followed = await chainsFollowed(db);
    const isUsed = ({ code, atStart }: SandboxChain): boolean =>
      atStart || hasNode(config.dataDir, code) || followed.has(code);
    const starting = CHAINS.filter(isUsed).map(startChain);
    // After a failure the other starts are awaited too, because they would otherwise be left running.
    await Promise.allSettled(starting);
    await Promise.all(starting);
    let rest = async (chain: string): Promise<void> => {
      throw new Unavailable(railCode(chain), 'the server is still starting');
    };
    const sleepers = openSleepers({
      codes: CHAINS.map(({ code }) => code).filter((code) => !nodes.has(code)),
      log,
      async awaken(code) {
        for (const chain of CHAINS) if (chain.code === code) await startChain(chain);
        await rest(code);
      },
    });
    const banking = config.valuesOf(loopbackBank);
    const bank = await startSimulatedBank({ ...deps, deduplicatesForMs: recognisesForMs(banking) });
    started.push(bank);
    const tokens = new Map(CHAINS.map((chain) => [chain.code, tokensOf(chain)]));
    const sweeper = config.sweepBatches === '1' ? sweeperAddress() : undefined;
    const signer = startSigner(config.dataDir, tokens, sweeper);
    started.push(signer);
    const urlOf = (code: string): string => {
      const url = isTron(code) ? trons.get(code) : nodes.get(code)?.rpcUrl;
      if (url !== undefined) return url;
      throw new Unavailable(railCode(code), 'its node has not been started yet', { chain: code });
    };
    const told = ({ code, chainId }: SandboxChain) => ({ code, chainId, tokens: tokens.get(code) ?? [] });
    await seedCatalogue(db, tokens);
    return {
      connections: {
        chains: CHAINS.map((chain) => {
          const isAsleep = () => sleepers.isAsleep(chain.code);
          return connected(chain, signer, { url: () => urlOf(chain.code), isAsleep, sweeper });
        }),
        banks: [
          loopbackBank.create(banking, {
            url: bank.url,
            token: bank.token,
            currencies: Object.fromEntries(FIATS.map((fiat) => [fiat.code.toUpperCase(), fiat.code])),
          }),
        ],
      },
      bank,
      tokens,
      chains: () => ({
        chains: CHAINS.flatMap((chain) => {
          const node = nodes.get(chain.code);
          if (node === undefined) return [];
          const tronUrl = trons.get(chain.code);
          return [{ ...told(chain), rpcUrl: node.rpcUrl, ...defined({ tronUrl }) }];
        }),
        asleep: CHAINS.filter(({ code }) => !nodes.has(code)).map(told),
      }),
      sleepers,
      wakesWith(said) {
        rest = said;
      },
      seedMarkets: () => seedMarkets(db, tokens),
      async finalize(code) {
        const finality = CHAINS.find((chain) => chain.code === code)?.finality ?? 0;
        const node = nodes.get(code);
        if (node === undefined) return;
        const head = BigInt(await call<string>(node.rpcUrl, 'eth_blockNumber'));
        const followed = await db.asSystem((tx) => followedHead(tx, railCode(code)));
        const blocks = blocksToFinalize({ finality, head, followed });
        if (blocks > 0) await node.mine(blocks);
      },
      async reorg(code, blocks) {
        const node = nodes.get(code);
        if (node === undefined) return;
        const head = BigInt(await call<string>(node.rpcUrl, 'eth_blockNumber'));
        if (BigInt(blocks) >= head)
          throw new Refusal('malformed_field', { fields: { blocks: `must be less than the ${head} that there are` } });
        await node.reorg(blocks);
      },
      async stop() {
        await sleepers.stop();
        await stopAll(started);
      },
    };
  } catch (error) {
    await stopAll(started);
    throw error;
  }
}

/**
 * Number of blocks to mine so that everything in a chain becomes final: none while its follower is that far behind. A client
 * that waits for a booking polls, and mining at each poll would leave a slow follower ever further behind. A node restored from
 * its saved state could even drop empty blocks that the follower has not read yet.
 */
export function blocksToFinalize(of: { finality: number; head: bigint; followed: bigint | undefined }): number {
  return of.followed !== undefined && of.head - of.followed > BigInt(of.finality) ? 0 : of.finality + 1;
}

/** Chains in the books: their nodes must run, because orders on them would otherwise wait without end. */
export const chainsFollowed = async (db: Database): Promise<ReadonlySet<string>> =>
  await db.asSystem(async (tx) => {
    const genesis = await awaitAll(...CHAIN_CODES.map((code) => followedGenesis(tx, railCode(code))));
    return new Set(CHAIN_CODES.filter((_, at) => genesis[at] !== undefined));
  });

/** Refuses a chain that does not belong to this database. Otherwise the rail would halt, for every server on this database. */
async function refuseAnotherChain(db: Database, node: SandboxNode): Promise<void> {
  const followed = await db.asSystem((tx) => followedGenesis(tx, railCode(node.code)));
  const { hash } = await call<{ hash: string }>(node.rpcUrl, 'eth_getBlockByNumber', ['0x0', false]);
  const id = isTron(node.code) ? tronIdOf(node.chainId, 0n, hash) : hash;
  if (followed === undefined || followed === id) return;
  throw new SettingError(
    `DATA_DIR: the database has followed another chain ${node.code} than the one in this folder. Start with the folder that belongs to the database, or on a database of its own.`,
  );
}

async function stopAll(started: readonly { stop(): Promise<void> }[]): Promise<void> {
  await Promise.allSettled(started.map((one) => one.stop()));
}

type Signing = { client: SignerClient; wallets: Readonly<Record<string, string>>; xpub: string };

/**
 * The signer inside this process: its keys are public, so nothing needs isolation, and everything else is as in a separate
 * process. The faucet and the simulated customer are outside wallets, not the operator's.
 */
function startSigner(
  dataDir: string,
  tokens: ReadonlyMap<string, readonly DeployedToken[]>,
  sweeper: string | undefined,
): Signing & { stop(): Promise<void> } {
  const names = ['hot', 'faucet', 'customer'] as const;
  const keys = {
    wallets: Object.fromEntries(names.map((name) => [name, privateKey(name)])),
    deposits: depositXprv(),
  };
  const journal = openJournal(join(dataDir, 'signer.journal'), { durable: false });
  const secret = randomHex(32);
  const expected = publicOf(keys);
  const limits = CHAINS.map((chain) => ({
    ...limitsOf(chain, tokens.get(chain.code) ?? []),
    ...(chain.family === 'tron' ? {} : defined({ sweeper })),
  }));
  const connect = signerWithin(openSigner(keys, limits, journal), secret);
  const client = signerClient({ connect, secret, expected });
  return {
    client,
    ...expected,
    async stop() {
      client.close();
      journal.close();
    },
  };
}

function limitsOf(chain: SandboxChain, tokens: readonly DeployedToken[]): ChainLimits {
  const limit = (perTransfer: bigint) => ({ perTransfer, perHour: perTransfer * TRANSFERS_PER_HOUR });
  const accountIn = (address: string): string => (chain.family === 'tron' ? accountOf(address) : address.toLowerCase());
  // Enough for gas: one coin of an EVM chain, and a hundred of Tron's, each of which is worth less.
  const native = chain.family === 'tron' ? 100n * pow10(chain.nativeDecimals) : pow10(chain.nativeDecimals);
  return {
    chainId: BigInt(chain.chainId),
    ...defined({ family: chain.family }),
    tokens: Object.fromEntries(
      tokens.map((token) => [accountIn(token.address), limit(POCKET_MONEY * pow10(token.decimals))]),
    ),
    gas: limit(native),
    native: limit(10n * native),
    fees: limit(native),
  };
}

/** A chain with its keys in the signer, polled often, because its blocks are mined on demand. */
function connected(
  chain: SandboxChain,
  { client, wallets, xpub }: Signing,
  { url, isAsleep, sweeper }: { url: () => string; isAsleep: () => boolean; sweeper: string | undefined },
): ConnectedChain {
  const chainId = BigInt(chain.chainId);
  const signersBy = <S>(signer: (name: string, account: string) => S): Record<string, S> =>
    Object.fromEntries(Object.entries(wallets).map(([name, account]) => [name, signer(name, account)]));
  const common = {
    ...{ code: railCode(chain.code), chain: chain.code, chainId, xpub, finality: chain.finality, isAsleep },
    pace: { pollMs: 250, nativeEveryMs: 3_000, lowerBranchMs: 2_000 },
  };
  if (chain.family === 'tron')
    return tronChain({
      ...{ ...common, url, maxFeeLimit: 100n * pow10(chain.nativeDecimals), maxEnergyPrice: MAX_ENERGY_PRICE },
      signers: signersBy((name, account) => tronSigner(client.rawWallet(chainId, name), addressOf(account))),
      sweepSigner: tronSweepSigner(client, { chainId, xpub }),
    });
  return evmChain({
    ...{ ...common, rpcUrl: url, maxGasPrice: MAX_GAS_PRICE },
    ...(sweeper === undefined ? {} : { batch: { sweeper } }),
    signers: signersBy((name, account) => client.wallet(chainId, name, account)),
    sweepSigner: client.deposits(chainId, addressesOf(xpub)),
  });
}
