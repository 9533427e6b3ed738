/**
 * Seeding: the sandbox's rows and opening funds. Everything here may run at every start: what is there is left as it is.
 *
 * Funds are moved for real and book themselves: tokens from the faucet to the hot wallet, where the chain's follower finds
 * them, money into the bank account, by its statement line.
 */
import type { Clock } from '../base/clock.ts';
import type { Vault } from '../base/crypto.ts';
import type { Database, Tx } from '../base/db.ts';
import { parseUnits, pow10 } from '../base/money.ts';
import { isPosted } from '../ledger/index.ts';
import { GATES, seedSecondOperatorRule } from '../operators/index.ts';
import { seedDustThreshold } from '../orders/index.ts';
import {
  assets,
  createKey,
  createPartner,
  findPartner,
  type Partners,
  setConfirmationPolicy,
  setFee,
  upsertAsset,
  upsertMarket,
} from '../partners/index.ts';
import { type ChainRail, trustFundingSource } from '../rails/chain.ts';
import type { SimulatedBank } from '../rails/simulated/index.ts';
import { bookOpening, seedMinimum, seedThreshold } from '../treasury/index.ts';
import {
  BUY_PLACES,
  CHAINS,
  CONFIRMATIONS,
  DEFAULT_CHAIN,
  DUST,
  ENOUGH,
  FEES,
  FIATS,
  LIMITS,
  OPENING,
  PARTNERS,
  POCKET_MONEY,
} from './catalogue.ts';
import { visitorAddress } from './wallets.ts';

export interface DeployedToken {
  code: string;
  address: string;
  decimals: number;
}

/** sandbox.json: what programs are told. */
export interface SandboxFile {
  baseUrl: string;
  partners: SeededPartner[];
  chains: { code: string; rpcUrl: string; chainId: number; tokens: DeployedToken[] }[];
}

export const BANK = 'bank.simulated';
export const evmCode = (chain: string): string => `evm.${chain}`;
export const assetCode = (coin: string, chain: string): string => `${coin}.${chain}`;

/** Assets and confirmations: what must be there before a rail looks. */
export async function seedCatalogue(
  db: Database,
  tokens: ReadonlyMap<string, readonly DeployedToken[]>,
): Promise<void> {
  await db.asSystem(async (tx) => {
    for (const fiat of FIATS) {
      await upsertAsset(tx, {
        code: fiat.code,
        kind: 'fiat',
        coin: fiat.code,
        chain: null,
        contract: null,
        decimals: fiat.decimals,
        native: false,
      });
      await seedLevel(tx, BANK, 'main', fiat.code, ENOUGH.fiat, fiat.decimals);
      await seedDustThreshold(tx, fiat.code, parseUnits(DUST[fiat.code], fiat.decimals));
    }
    for (const chain of CHAINS) {
      const code = assetCode(chain.native, chain.code);
      await upsertAsset(tx, {
        code,
        kind: 'crypto',
        coin: chain.native,
        chain: chain.code,
        contract: null,
        decimals: 18,
        native: true,
      });
      await seedLevel(tx, evmCode(chain.code), 'hot', code, ENOUGH.native, 18);
      await seedDustThreshold(tx, code, parseUnits(DUST.native, 18));
      for (const token of tokens.get(chain.code) ?? []) {
        const asset = assetCode(token.code, chain.code);
        await upsertAsset(tx, {
          code: asset,
          kind: 'crypto',
          coin: token.code,
          chain: chain.code,
          contract: token.address.toLowerCase(),
          decimals: token.decimals,
          native: false,
        });
        await seedDustThreshold(tx, asset, parseUnits(DUST.token, token.decimals));
        await seedMinimum(tx, asset, LIMITS.minWhole * pow10(token.decimals));
        await seedLevel(tx, evmCode(chain.code), 'hot', asset, ENOUGH.tokens, token.decimals);
        await setConfirmationPolicy(tx, {
          chain: chain.code,
          asset,
          steps: CONFIRMATIONS.map(({ fromWhole, confirmations }) => ({
            fromUnits: fromWhole * pow10(token.decimals),
            confirmations,
          })),
        });
      }
    }
  });
}

/** A tenth of what is called low is an alarm. */
async function seedLevel(
  tx: Tx,
  rail: string,
  wallet: string,
  asset: string,
  whole: bigint,
  decimals: number,
): Promise<void> {
  const lowUnits = whole * pow10(decimals);
  await seedThreshold(tx, { rail, wallet, asset, lowUnits, alarmUnits: lowUnits / 10n });
}

/** Markets and fees; a partner's own fee needs the partner. */
export async function seedMarkets(db: Database, tokens: ReadonlyMap<string, readonly DeployedToken[]>): Promise<void> {
  await db.asSystem(async (tx) => {
    for (const [chain, deployed] of tokens) {
      for (const { code, decimals } of deployed) {
        for (const fiat of FIATS) await seedMarket(tx, { asset: assetCode(code, chain), chain, decimals, fiat });
      }
    }
  });
}

async function seedMarket(
  tx: Tx,
  { asset, chain, decimals, fiat }: { asset: string; chain: string; decimals: number; fiat: (typeof FIATS)[number] },
): Promise<void> {
  const terms = {
    crypto: asset,
    fiat: fiat.code,
    enabled: true,
    isDefault: chain === DEFAULT_CHAIN,
    quoteTtlMs: 60_000,
    depositTtlMs: 3_600_000,
    priceSources: ['fixed'],
    priceMaxAgeMs: 30_000,
    priceQuorum: 1,
    outlierBps: 300n,
  };
  const selling = await upsertMarket(tx, {
    ...terms,
    direction: 'offramp',
    depositRail: evmCode(chain),
    payoutRail: BANK,
    paymentMethod: fiat.sellMethod,
    minUnits: LIMITS.minWhole * pow10(decimals),
    maxUnits: LIMITS.maxWhole * pow10(decimals),
    payoutPlaces: fiat.decimals,
  });
  const buying = await upsertMarket(tx, {
    ...terms,
    direction: 'onramp',
    depositRail: BANK,
    payoutRail: evmCode(chain),
    paymentMethod: fiat.buyMethod,
    minUnits: fiat.minWhole * pow10(fiat.decimals),
    maxUnits: fiat.maxWhole * pow10(fiat.decimals),
    payoutPlaces: Math.min(decimals, BUY_PLACES),
  });
  for (const marketId of [selling, buying]) await seedFees(tx, marketId, fiat);
}

async function seedFees(tx: Tx, marketId: bigint, fiat: (typeof FIATS)[number]): Promise<void> {
  const general = { marketId, partnerId: null };
  await setFee(tx, { ...general, kind: 'operator', bps: BigInt(FEES.operatorBps) });
  await setFee(tx, { ...general, kind: 'rail', fixedUnits: FEES.railFixed[fiat.code] });
  await setFee(tx, { ...general, kind: 'chain', gasUnits: FEES.gasUnits });
  for (const { name, partnerFeeBps } of PARTNERS) {
    const partner = await findPartner(tx, { name });
    if (partner !== undefined)
      await setFee(tx, { marketId, partnerId: partner.id, kind: 'partner', bps: BigInt(partnerFeeBps) });
  }
}

export interface SeededPartner {
  name: string;
  apiKey: string;
  apiSecret: string;
}

/**
 * Two partners with a key each. A secret is shown once, so the keys of an earlier start come from its sandbox.json; where
 * that is gone or belongs to another database, new ones are made.
 */
export async function seedPartners(
  deps: { db: Database; vault: Vault; clock: Clock; partners: Partners },
  earlier: readonly SeededPartner[],
): Promise<SeededPartner[]> {
  const { db, vault, clock, partners } = deps;
  const seeded: SeededPartner[] = [];
  for (const { name } of PARTNERS) {
    const before = earlier.find((one) => one.name === name);
    const known = before === undefined ? undefined : await partners.credential(before.apiKey);
    if (before !== undefined && known?.partner.name === name && known.secrets.includes(before.apiSecret)) {
      seeded.push(before);
      continue;
    }
    const key = await db.asSystem(async (tx) => {
      const partner = (await findPartner(tx, { name })) ?? (await createPartner(tx, { name, now: clock.now() }));
      const scopes = ['read', 'trade', 'customers', 'admin'] as const;
      return await createKey(tx, vault, {
        partnerId: partner.id,
        label: 'sandbox',
        scopes: [...scopes],
        now: clock.now(),
      });
    });
    seeded.push({ name, ...key });
  }
  return seeded;
}

/** The operator's own money: into the bank, into the hot wallets, into the books. */
export async function seedFunds(deps: {
  db: Database;
  clock: Clock;
  bank: SimulatedBank;
  chains: readonly ChainRail[];
  tokens: ReadonlyMap<string, readonly DeployedToken[]>;
  /** Brings a chain to where all that is in it now is final. */
  finalize(chain: string): Promise<void>;
}): Promise<void> {
  for (const fiat of FIATS) {
    await deps.bank.fund({
      currency: fiat.code.toUpperCase(),
      units: OPENING.fiat * pow10(fiat.decimals),
      id: `opening-${fiat.code}`,
    });
  }
  await Promise.all(deps.chains.map((chain) => fundChain(deps, chain)));
}

/** A few blocks and looks, on a machine that is busy with other things. */
const FUNDED_WITHIN_MS = 60_000;

/**
 * Native coin is there from the first block and is booked as it is found. Tokens come out of the faucet, which is made
 * known as the operator's own purse: the chain's follower then books them as any funding, once they are final.
 */
async function fundChain(
  { db, clock, tokens, finalize }: Parameters<typeof seedFunds>[0],
  rail: ChainRail,
): Promise<void> {
  const { faucet = '', customer = '', hot = '' } = rail.walletAddresses;
  const isBooked = (entry: string) => db.asSystem((tx) => isPosted(tx, entry));
  await bookOpening({ db, clock }, rail);
  await db.asSystem((tx) => trustFundingSource(tx, rail.code, faucet, 'faucet'));

  const wanted: string[] = [];
  for (const token of tokens.get(rail.chain) ?? []) {
    const asset = assetCode(token.code, rail.chain);
    const give = async (to: string, address: string, whole: bigint): Promise<string> => {
      const key = `sandbox:opening:${to}:${asset}`;
      const before = await rail.status(key);
      if (before.outcome === 'known' && before.reference !== undefined) return before.reference;
      const units = whole * pow10(token.decimals);
      const sent = await rail.sendFrom('faucet', { key, asset, units, destination: { kind: 'address', address } });
      if (sent.outcome === 'accepted' && sent.reference !== undefined) return sent.reference;
      throw new Error(`the faucet of ${rail.chain} gave nothing: ${'why' in sent ? sent.why : 'no hash'}`);
    };
    await give('customer', customer, POCKET_MONEY);
    await give('visitor', visitorAddress(), POCKET_MONEY);
    wanted.push(`fund_${rail.code}_${await give('hot', hot, OPENING.tokens)}:0`);
  }
  const giveUpAt = Date.now() + FUNDED_WITHIN_MS;
  for (const entry of wanted) {
    while (!(await isBooked(entry))) {
      if (Date.now() > giveUpAt) throw new Error(`the opening funds of ${rail.chain} are not in the books: ${entry}`);
      await finalize(rail.chain);
      await new Promise((wake) => setTimeout(wake, 200));
    }
  }
}

/** From how much, in whole units, the sandbox asks for a second operator. Its gates are opened by one. */
const ALONE = { crypto: 10_000n, fiat: 1_000_000n };

export const seedSecondOperator = (db: Database): Promise<void> =>
  db.asSystem(async (tx) => {
    for (const gate of GATES) await seedSecondOperatorRule(tx, gate, 1n);
    for (const { code, kind, decimals } of (await assets(tx)).values())
      await seedSecondOperatorRule(tx, code, ALONE[kind] * pow10(decimals));
  });
