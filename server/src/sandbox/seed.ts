/**
 * Seeding: the sandbox's rows and opening funds. Everything here may run at every start: what is there is left as it is.
 *
 * Funds are moved for real before they are booked: tokens from the faucet to the hot wallet, money into the bank account
 * (whose statement line books itself).
 */
import type { Clock } from '../base/clock.ts';
import type { Vault } from '../base/crypto.ts';
import type { Database, Tx } from '../base/db.ts';
import { pow10 } from '../base/money.ts';
import { ring } from '../base/work.ts';
import { chart, isPosted, move, post } from '../ledger/index.ts';
import {
  createKey,
  createPartner,
  findPartner,
  type Partners,
  setConfirmationPolicy,
  setFee,
  upsertAsset,
  upsertMarket,
} from '../partners/index.ts';
import type { ChainRail } from '../rails/chain.ts';
import { OBSERVE } from '../rails/rail.ts';
import type { SimulatedBank } from '../rails/simulated/index.ts';
import {
  CHAINS,
  CONFIRMATIONS,
  DEFAULT_CHAIN,
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
  const marketId = await upsertMarket(tx, {
    direction: 'offramp',
    crypto: asset,
    fiat: fiat.code,
    enabled: true,
    isDefault: chain === DEFAULT_CHAIN,
    depositRail: evmCode(chain),
    payoutRail: BANK,
    paymentMethod: fiat.paymentMethod,
    minUnits: LIMITS.minWhole * pow10(decimals),
    maxUnits: LIMITS.maxWhole * pow10(decimals),
    payoutPlaces: fiat.decimals,
    quoteTtlMs: 60_000,
    depositTtlMs: 3_600_000,
    priceSources: ['fixed'],
    priceMaxAgeMs: 30_000,
    priceQuorum: 1,
    outlierBps: 300n,
  });
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

/** Work that never ends: looking at rails, prices, gas, sealing. */
export async function ringStanding(
  db: Database,
  clock: Clock,
  subjects: { rails: string[]; sources: string[]; chains: string[] },
): Promise<void> {
  const dueAt = clock.now();
  await db.asSystem(async (tx) => {
    for (const subject of subjects.rails) await ring(tx, { kind: OBSERVE, subject, dueAt });
    for (const subject of subjects.chains) await ring(tx, { kind: 'refresh_gas', subject, dueAt });
    for (const subject of subjects.sources) await ring(tx, { kind: 'refresh_prices', subject, dueAt });
    await ring(tx, { kind: 'purge_quotes', subject: 'all', dueAt });
    await ring(tx, { kind: 'purge_replies', subject: 'all', dueAt });
    await ring(tx, { kind: 'seal', subject: 'journal', dueAt });
  });
}

/** The operator's own money: into the bank, into the hot wallets, into the books. */
export async function seedFunds(deps: {
  db: Database;
  clock: Clock;
  bank: SimulatedBank;
  chains: readonly ChainRail[];
  tokens: ReadonlyMap<string, readonly DeployedToken[]>;
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

async function fundChain({ db, clock, tokens }: Parameters<typeof seedFunds>[0], rail: ChainRail): Promise<void> {
  const native = CHAINS.find((chain) => chain.code === rail.chain)?.native ?? '';
  const nativeAsset = assetCode(native, rail.chain);
  const hot = rail.wallets.payouts;
  const booked = (asset: string, kind: 'funding' | 'capital', units: bigint) =>
    db.asSystem((tx) => {
      const owner = kind === 'funding' ? chart.treasury(asset) : chart.capital(asset);
      return post(tx, {
        id: `opening:${rail.code}:${asset}`,
        kind,
        at: clock.now(),
        lines: move(chart.custody(rail.code, hot, asset), owner, units),
      });
    });
  const isBooked = (asset: string) => db.asSystem((tx) => isPosted(tx, `opening:${rail.code}:${asset}`));

  if (!(await isBooked(nativeAsset))) await booked(nativeAsset, 'capital', await rail.balance(hot, nativeAsset));
  for (const token of tokens.get(rail.chain) ?? []) {
    const asset = assetCode(token.code, rail.chain);
    if (await isBooked(asset)) continue;
    const give = async (to: string, address: string, whole: bigint) => {
      const sending = { key: `sandbox:opening:${to}:${asset}`, asset, units: whole * pow10(token.decimals) };
      const sent = await rail.sendFrom('faucet', { ...sending, destination: { kind: 'address', address } });
      if (sent.outcome === 'refused') throw new Error(`the faucet of ${rail.chain} refused: ${sent.why}`);
    };
    await give('customer', rail.walletAddresses.customer ?? '', POCKET_MONEY);
    await give('visitor', visitorAddress(), POCKET_MONEY);
    await give('hot', rail.walletAddresses.hot ?? '', OPENING.tokens);
    // Booked when it is there, not when it was sent; transfers of one wallet are mined in their order, so this is the last.
    const units = OPENING.tokens * pow10(token.decimals);
    while ((await rail.balance(hot, asset)) < units) await new Promise((wake) => setTimeout(wake, 100));
    await booked(asset, 'funding', units);
  }
}
