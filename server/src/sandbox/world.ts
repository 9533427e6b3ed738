/**
 * World: everything outside that the sandbox brings along. A node per chain with test tokens, and a bank.
 *
 * Each is a real other party: nodes are processes of their own reached by JSON-RPC, the bank keeps its own books and is
 * reached by HTTP. Nothing of theirs is shared with the server but the sockets.
 */
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { Database } from '../base/db.ts';
import { SettingError } from '../base/env.ts';
import { Refusal } from '../base/errors.ts';
import { randomHex } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { pow10 } from '../base/money.ts';
import type { Config } from '../config.ts';
import { followedGenesis } from '../rails/chain.ts';
import { addressesOf } from '../rails/evm/index.ts';
import { type SimulatedBank, startSimulatedBank } from '../rails/simulated/index.ts';
import type { Outside } from '../registry.ts';
import {
  type ChainLimits,
  openJournal,
  openSigner,
  publicOf,
  type SignerClient,
  signerClient,
  signerWithin,
} from '../signer/index.ts';
import { CHAINS, FIATS, POCKET_MONEY, type SandboxChain } from './catalogue.ts';
import { call, type SandboxNode, startNode } from './nodes.ts';
import { type DeployedToken, evmCode, type SandboxFile, seedCatalogue, seedMarkets } from './seed.ts';
import { deployTokens } from './tokens.ts';
import { depositXprv, MNEMONIC, privateKey } from './wallets.ts';

export interface World {
  outside: Outside;
  bank: SimulatedBank;
  tokens: ReadonlyMap<string, readonly DeployedToken[]>;
  chains: SandboxFile['chains'];
  /** Markets and fees, once the partners they name are there. */
  seedMarkets(): Promise<void>;
  /** Mines until all that is in the chain's pool or newest block is final. */
  finalize(chain: string): Promise<void>;
  /** Takes the newest blocks of a chain back. @throws Refusal 'malformed_field' where it has not so many */
  reorg(chain: string, blocks: number): Promise<void>;
  stop(): Promise<void>;
}

/** Native units per unit of gas that are ever offered here: 200 gwei. */
const MAX_GAS_PRICE = 200n * pow10(9);
/** Limits of the signer per hour, as a multiple of those per transfer: more than any test moves. */
const TRANSFERS_PER_HOUR = 10_000n;

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
    const signer = startSigner(config.dataDir, nodes);
    started.push(signer);
    const tokens = new Map(nodes.map((one) => [one.chain.code, one.tokens]));
    await seedCatalogue(db, tokens);
    return {
      outside: {
        evmChains: nodes.map(({ chain, node }) => evmOptions(chain, node, signer)),
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
      async reorg(code, blocks) {
        const found = nodes.find(({ chain }) => chain.code === code);
        if (found === undefined) return;
        const head = BigInt(await call<string>(found.node.rpcUrl, 'eth_blockNumber'));
        if (BigInt(blocks) >= head)
          throw new Refusal('malformed_field', { fields: { blocks: `must be less than the ${head} that there are` } });
        await found.node.reorg(blocks);
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

type Signing = { client: SignerClient; wallets: Readonly<Record<string, string>>; xpub: string };

/**
 * The signer within this process: its keys are public, so there is nothing to keep apart, and all else is as it is in a
 * process of its own. The faucet and the simulated customer are wallets of the world, not of the operator.
 */
function startSigner(
  dataDir: string,
  nodes: readonly { chain: SandboxChain; tokens: readonly DeployedToken[] }[],
): Signing & { stop(): Promise<void> } {
  const names = ['hot', 'faucet', 'customer'] as const;
  const keys = {
    wallets: Object.fromEntries(names.map((name) => [name, privateKey(name)])),
    deposits: depositXprv(),
  };
  const journal = openJournal(join(dataDir, 'signer.journal'), { durable: false });
  const secret = randomHex(32);
  const expected = publicOf(keys);
  const connect = signerWithin(openSigner(keys, nodes.map(limitsOf), journal), secret);
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

function limitsOf({ chain, tokens }: { chain: SandboxChain; tokens: readonly DeployedToken[] }): ChainLimits {
  const limit = (perTransfer: bigint) => ({ perTransfer, perHour: perTransfer * TRANSFERS_PER_HOUR });
  return {
    chainId: BigInt(chain.chainId),
    tokens: Object.fromEntries(
      tokens.map((token) => [token.address.toLowerCase(), limit(POCKET_MONEY * pow10(token.decimals))]),
    ),
    gas: limit(pow10(18)),
    native: limit(10n * pow10(18)),
    fees: limit(pow10(18)),
  };
}

function evmOptions(chain: SandboxChain, node: SandboxNode, { client, wallets, xpub }: Signing) {
  const chainId = BigInt(chain.chainId);
  return {
    code: evmCode(chain.code),
    chain: chain.code,
    rpcUrl: node.rpcUrl,
    chainId,
    xpub,
    signers: Object.fromEntries(
      Object.entries(wallets).map(([name, address]) => [name, client.wallet(chainId, name, address)]),
    ),
    sweepSigner: client.deposits(chainId, addressesOf(xpub)),
    finality: chain.finality,
    maxGasPrice: MAX_GAS_PRICE,
    pace: { pollMs: 250, nativeEveryMs: 3_000, lowerBranchMs: 2_000 },
  };
}
