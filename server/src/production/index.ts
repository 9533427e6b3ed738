/**
 * The production profile: its settings name every outside system, it simulates nothing, and it does not start with anything
 * that only a sandbox may have (refusals.ts).
 *
 * Operators create markets, partners and fees. Each start inserts only the assets of the chains and bank accounts named in its
 * files, because a rail must know them before it is polled. Thresholds and minimums are inserted where missing, and operators
 * change them afterwards.
 */
import type { Database } from '../base/db.ts';
import { SettingError } from '../base/env.ts';
import { Unavailable } from '../base/errors.ts';
import type { Config } from '../config.ts';
import type { Connecting, Environment, Profile } from '../environment.ts';
import type { Check } from '../ops/index.ts';
import { allMarkets, setConfirmationPolicy, upsertAsset } from '../partners/index.ts';
import { trustFundingSource } from '../rails/chain.ts';
import type { AnyBank } from '../registry.ts';
import { connectTo, type SignerClient, signerClient } from '../signer/index.ts';
import { bookOpening, seedMinimum, seedThreshold } from '../treasury/index.ts';
import type { Levels, ProductionChain } from './chains.ts';
import { decimalsOf } from './currencies.ts';
import { type Settled, settle } from './refusals.ts';

const HOT = 'hot';

/** @throws SettingError with a line for each reason not to start */
export function productionProfile(config: Config): Profile {
  const settled = settle(config);
  return {
    masterKey: settled.masterKey,
    oldMasterKey: settled.oldMasterKey,
    operatorToken: settled.operatorToken,
    database: async () => settled.databaseUrl,
    connect: (deps) => connect(settled, deps),
  };
}

async function connect({ chains, banks, signer }: Settled, deps: Connecting): Promise<Environment> {
  const { db } = deps;
  await refuseSandboxDatabase(db);
  await catalogue(
    db,
    chains,
    banks.flatMap(({ accounts }) => accounts),
  );
  // One signer holds the keys of all chains; each chain uses its own wallets. Without one the chains are only watched.
  const clients = new Map<string, SignerClient>();
  for (const chain of chains) {
    if (signer === undefined) break;
    const expected = {
      wallets: { [HOT]: chain.accountOf(chain.hotWallet) },
      xpub: chain.xpub,
      chainId: chain.chainId,
    };
    const { address, secret } = signer;
    clients.set(chain.code, signerClient({ connect: () => connectTo(address), secret, expected }));
  }
  return {
    connections: { chains: chains.map((chain) => chain.connect(clients.get(chain.code))), banks },
    screener: (usual) => usual,
    checks: [...clients].map(([code, client]) => signerCheck(code, client)),
    async begin({ chains: rails }) {
      for (const chain of chains) {
        const rail = rails.get(chain.rail);
        if (rail === undefined) continue;
        await db.asSystem(async (tx) => {
          for (const [name, address] of Object.entries(chain.fundedFrom))
            await trustFundingSource(tx, rail.code, address, name);
        });
        await bookOpening(deps, rail);
      }
    },
    ready: (baseUrl) => ({ baseUrl, partners: [], chains: [] }),
    async stop() {
      for (const client of clients.values()) client.close();
    },
  };
}

/** A sandbox inserts markets that pay through a simulated bank; its books contain money that never existed. */
async function refuseSandboxDatabase(db: Database): Promise<void> {
  const all = await db.asSystem(allMarkets);
  if (all.some(({ depositRail, payoutRail }) => [depositRail, payoutRail].includes('bank.simulated')))
    throw new SettingError('DATABASE_URL is the database of a sandbox; production starts with one of its own');
}

async function catalogue(
  db: Database,
  chains: readonly ProductionChain[],
  accounts: AnyBank['accounts'],
): Promise<void> {
  await db.asSystem(async (tx) => {
    const level = async (rail: string, asset: string, levels: Levels | undefined) => {
      if (levels !== undefined) await seedThreshold(tx, { rail, wallet: HOT, asset, ...levels });
    };
    for (const { asset, currency } of accounts) {
      const fiat = { code: asset, kind: 'fiat', coin: asset, chain: null, contract: null, native: false } as const;
      await upsertAsset(tx, { ...fiat, decimals: decimalsOf(currency) });
    }
    for (const chain of chains) {
      const common = { kind: 'crypto', chain: chain.code } as const;
      const native = `${chain.native}.${chain.code}`;
      await upsertAsset(tx, {
        ...common,
        code: native,
        coin: chain.native,
        contract: null,
        decimals: chain.nativeDecimals,
        native: true,
      });
      await level(chain.rail, native, chain.levels);
      for (const { coin, contract, decimals, confirmations, sweepFromUnits, levels } of chain.tokens) {
        const asset = `${coin}.${chain.code}`;
        await upsertAsset(tx, { ...common, code: asset, coin, contract, decimals, native: false });
        await setConfirmationPolicy(tx, { chain: chain.code, asset, steps: [...confirmations] });
        await seedMinimum(tx, asset, sweepFromUnits);
        await level(chain.rail, asset, levels);
      }
    }
  });
}

const signerCheck = (chain: string, client: SignerClient): Check => ({
  name: `signer ${chain}`,
  essential: false,
  async run() {
    try {
      await client.ping();
      return {};
    } catch (error) {
      // The message is our own text, without key or address.
      return { ok: false, why: error instanceof Unavailable ? error.message : 'failed' };
    }
  },
});
