/**
 * Seeding: the sandbox's rows and opening funds. All of it may run at every start: existing rows are left unchanged.
 *
 * Funds really move and are booked when their rail reports them: tokens from the faucet to the hot wallet, where the chain's
 * follower finds them; money into the bank account, through its statement line.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../base/clock.ts';
import type { Vault } from '../base/crypto.ts';
import type { Database, Tx } from '../base/db.ts';
import { assert } from '../base/errors.ts';
import { parseUnits, pow10 } from '../base/money.ts';
import type { SeededPartner } from '../environment.ts';
import { isPosted } from '../ledger/index.ts';
import { seedRule } from '../operators/index.ts';
import { seedDustThreshold } from '../orders/index.ts';
import {
  addFees,
  addMarkets,
  allMarkets,
  assets,
  bearerToken,
  createKey,
  createPartner,
  everyFee,
  type FeeKind,
  type FeeTerm,
  feeKey,
  findPartner,
  type Market,
  type Partners,
  setByPeople,
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
  DUST_PARTS,
  ENOUGH,
  FEES,
  FIATS,
  LIMITS,
  OPENING,
  PARTNERS,
  POCKET_MONEY,
  PRICES,
  railCode,
  railFixedOf,
  type SandboxFiat,
} from './catalogue.ts';
import { contractOf, type DeployedToken, spelledOn } from './tokens.ts';
import { visitorAddress } from './wallets.ts';

export const BANK = 'bank.simulated';
export const assetCode = (coin: string, chain: string): string => `${coin}.${chain}`;

/** Assets and confirmations: must exist before a rail is polled. */
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
      await seedDustThreshold(tx, fiat.code, dustOf(fiat));
    }
    for (const chain of CHAINS) {
      const code = assetCode(chain.native, chain.code);
      await upsertAsset(tx, {
        code,
        kind: 'crypto',
        coin: chain.native,
        chain: chain.code,
        contract: null,
        decimals: chain.nativeDecimals,
        native: true,
      });
      await seedDustThreshold(tx, code, parseUnits(DUST.native, chain.nativeDecimals));
      for (const token of tokens.get(chain.code) ?? []) {
        const asset = assetCode(token.code, chain.code);
        await upsertAsset(tx, {
          code: asset,
          kind: 'crypto',
          coin: token.code,
          chain: chain.code,
          contract: contractOf(chain.code, token),
          decimals: token.decimals,
          native: false,
        });
        await seedDustThreshold(tx, asset, parseUnits(DUST.token, token.decimals));
        await seedMinimum(tx, asset, LIMITS.minWhole * pow10(token.decimals));
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

/** Thresholds of the hot wallets of these chains; none for a sleeping chain, whose wallet is still empty. */
export async function seedLevels(db: Database, chains: readonly string[]): Promise<void> {
  await db.asSystem(async (tx) => {
    for (const { code, native, nativeDecimals, tokens } of CHAINS.filter((chain) => chains.includes(chain.code))) {
      await seedLevel(tx, railCode(code), 'hot', assetCode(native, code), ENOUGH.native, nativeDecimals);
      for (const token of tokens)
        await seedLevel(tx, railCode(code), 'hot', assetCode(token.code, code), ENOUGH.tokens, token.decimals);
    }
  });
}

function dustOf({ code, decimals, minWhole }: SandboxFiat): bigint {
  const said = (DUST as Readonly<Record<string, string>>)[code];
  return said === undefined ? (minWhole * pow10(decimals)) / DUST_PARTS : parseUnits(said, decimals);
}

/** The alarm threshold is a tenth of the low threshold. */
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

/**
 * Markets and fees; a partner's own fee needs the partner. Unchanged ones are not written again: there are some three hundred
 * markets, and at most starts all are unchanged. An operator's changes are kept: a restart undoes nothing.
 */
export async function seedMarkets(db: Database, tokens: ReadonlyMap<string, readonly DeployedToken[]>): Promise<void> {
  const wanted = [...tokens].flatMap(([chain, deployed]) =>
    deployed.flatMap(({ code, decimals }) =>
      FIATS.flatMap((fiat) => marketsOf({ asset: assetCode(code, chain), chain, decimals, fiat })),
    ),
  );
  await db.asSystem(async (tx) => {
    const there = new Map((await allMarkets(tx)).map((market) => [pairOf(namedOf(market)), market]));
    const added = await addMarkets(
      tx,
      wanted.map(({ terms }) => terms).filter((terms) => !there.has(pairOf(terms))),
    );
    const marketIds = new Map([...[...there.values()].map(namedOf), ...added].map((one) => [pairOf(one), one.id]));
    const fees = await everyFee(tx);
    const isSetByPeople = await setByPeople(tx);
    const partners = await Promise.all(
      PARTNERS.map(async ({ name, partnerFeeBps }) => ({ partner: await findPartner(tx, { name }), partnerFeeBps })),
    );
    const feesWanted = wanted.flatMap(({ terms, of }) => {
      const marketId = marketIds.get(pairOf(terms));
      assert(marketId !== undefined, `market ${pairOf(terms)} was not added`);
      const own = partners.flatMap(({ partner, partnerFeeBps }) =>
        partner === undefined
          ? []
          : [{ partnerId: partner.id, kind: 'partner' as const, fee: { ...NO_FEE, bps: BigInt(partnerFeeBps) } }],
      );
      return [...feesOf(of), ...own].map(({ partnerId, kind, fee }) => ({ marketId, partnerId, kind, ...fee }));
    });
    await addFees(
      tx,
      feesWanted.filter((fee) => !fees.has(feeKey(fee))),
    );
    // Issued together, so that their statements share round trips.
    await Promise.all([
      ...wanted.map(async ({ terms }) => {
        const known = there.get(pairOf(terms));
        const isSame = known === undefined || isDeepStrictEqual({ ...namedOf(known), ...terms }, namedOf(known));
        if (!isSame && !isSetByPeople({ what: 'market', marketId: known.id })) await upsertMarket(tx, terms);
      }),
      ...feesWanted.map(async (wantedFee) => {
        const { marketId, partnerId, kind, ...fee } = wantedFee;
        const known = fees.get(feeKey(wantedFee));
        if (known === undefined || isDeepStrictEqual(known, fee)) return;
        if (!isSetByPeople({ what: 'fee', marketId, partnerId, item: kind }))
          await setFee(tx, { marketId, partnerId, kind, ...fee });
      }),
    ]);
  });
}

const namedOf = (market: Market) => ({ ...market, crypto: market.crypto.code, fiat: market.fiat.code });
const pairOf = ({ direction, crypto, fiat }: { direction: string; crypto: string; fiat: string }): string =>
  `${direction} ${crypto} ${fiat}`;

function marketsOf({
  asset,
  chain,
  decimals,
  fiat,
}: {
  asset: string;
  chain: string;
  decimals: number;
  fiat: SandboxFiat;
}) {
  const terms = {
    crypto: asset,
    fiat: fiat.code,
    enabled: true,
    isDefault: chain === DEFAULT_CHAIN,
    quoteTtlMs: 60_000,
    depositTtlMs: 3_600_000,
    priceSources: ['fixed'],
    // The fixed source rewrites an unchanged price every 40 s.
    priceMaxAgeMs: 60_000,
    clearingMs: 0,
    taxBps: 0n,
    ...PRICES,
  };
  const selling = {
    ...terms,
    direction: 'offramp' as const,
    depositRail: railCode(chain),
    payoutRail: BANK,
    paymentMethod: fiat.sellMethod,
    minUnits: LIMITS.minWhole * pow10(decimals),
    maxUnits: LIMITS.maxWhole * pow10(decimals),
    payoutDecimals: fiat.decimals,
  };
  const buying = {
    ...terms,
    direction: 'onramp' as const,
    depositRail: BANK,
    payoutRail: railCode(chain),
    paymentMethod: fiat.buyMethod,
    minUnits: fiat.minWhole * pow10(fiat.decimals),
    maxUnits: fiat.maxWhole * pow10(fiat.decimals),
    payoutDecimals: Math.min(decimals, BUY_PLACES),
  };
  return [selling, buying].map((market) => ({ terms: { ...market, fiat: fiat.code }, of: fiat }));
}

const NO_FEE: FeeTerm = { fixedUnits: 0n, bps: 0n, minimumUnits: 0n, gasUnits: 0n };
/** Fees that apply to all partners. */
const feesOf = (fiat: SandboxFiat): { partnerId: bigint | null; kind: FeeKind; fee: FeeTerm }[] => [
  { partnerId: null, kind: 'operator', fee: { ...NO_FEE, bps: BigInt(FEES.operatorBps) } },
  { partnerId: null, kind: 'rail', fee: { ...NO_FEE, fixedUnits: railFixedOf(fiat) } },
  { partnerId: null, kind: 'chain', fee: { ...NO_FEE, gasUnits: FEES.gasUnits } },
];

/**
 * Two partners with a key each. A secret is shown once, so the keys of an earlier start come from its sandbox.json; if that
 * is missing or belongs to another database, new ones are created.
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
      seeded.push({ ...before, bearerToken: bearerToken(before.apiKey, before.apiSecret) });
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

export interface Funding {
  db: Database;
  clock: Clock;
  bank: SimulatedBank;
  tokens: ReadonlyMap<string, readonly DeployedToken[]>;
  /** Advances a chain until everything in it now is final. */
  finalize(chain: string): Promise<void>;
  /** Whether the server is shutting down, so that waiting is pointless. */
  isEnding(): boolean;
}

/** Brings in the operator's own funds: into the bank, into the hot wallets, into the books. */
export async function seedFunds(deps: Funding, chains: readonly ChainRail[]): Promise<void> {
  await Promise.all([fundBank(deps), ...chains.map((chain) => fundChain(deps, chain))]);
}

/** Puts a credit on the bank's statement, which is then read as usual. */
async function fundBank(deps: Funding): Promise<void> {
  const giveUpAt = Date.now() + FUNDED_WITHIN_MS;
  const wanted: string[] = [];
  for (const { code, decimals } of FIATS) {
    const id = `opening-${code}`;
    await deps.bank.fund({ currency: code.toUpperCase(), units: OPENING.fiat * pow10(decimals), id });
    wanted.push(`fund_${BANK}_FUNDING:${id}`);
  }
  await untilBooked(deps, wanted, { where: BANK, giveUpAt });
}

/** Time for a few blocks and polls on a busy machine. */
const FUNDED_WITHIN_MS = 60_000;

/**
 * Native coin is there from the first block and is booked as found. Tokens come from the faucet, which is registered as the
 * operator's own funding source: the chain's follower then books them like any funding, once they are final.
 */
export async function fundChain(deps: Funding, rail: ChainRail): Promise<void> {
  const { db, clock, tokens, finalize, isEnding } = deps;
  const { faucet = '', customer = '', hot = '' } = rail.walletAddresses;
  await bookOpening({ db, clock }, rail);
  await db.asSystem((tx) => trustFundingSource(tx, rail.code, faucet, 'faucet'));

  const wanted: string[] = [];
  const giveUpAt = Date.now() + FUNDED_WITHIN_MS;
  for (const token of tokens.get(rail.chain) ?? []) {
    const asset = assetCode(token.code, rail.chain);
    const give = async (to: string, address: string, whole: bigint): Promise<string> => {
      const key = `sandbox:opening:${to}:${asset}`;
      const units = whole * pow10(token.decimals);
      for (;;) {
        const before = await rail.status(key);
        if (before.outcome === 'known' && before.reference !== undefined) return before.reference;
        const sent = await rail.sendFrom('faucet', { key, asset, units, destination: { kind: 'address', address } });
        if (sent.outcome === 'submitted' && sent.reference !== undefined) return sent.reference;
        // A slow node may have accepted the transfer; the same key refers to the same send.
        if (sent.outcome !== 'unknown' || Date.now() > giveUpAt || isEnding())
          throw new Error(`the faucet of ${rail.chain} gave nothing: ${'why' in sent ? sent.why : 'no hash'}`);
        await new Promise((wake) => setTimeout(wake, 200));
      }
    };
    await give('customer', customer, POCKET_MONEY);
    await give('visitor', spelledOn(rail.chain, visitorAddress()), POCKET_MONEY);
    wanted.push(`fund_${rail.code}_${await give('hot', hot, OPENING.tokens)}:0`);
  }
  await untilBooked(deps, wanted, { where: rail.chain, giveUpAt, nudge: () => finalize(rail.chain) });
}

/** @param o.nudge called before each further check */
async function untilBooked(
  { db, isEnding }: Funding,
  entries: readonly string[],
  o: { where: string; giveUpAt: number; nudge?: () => Promise<void> },
): Promise<void> {
  for (const entry of entries) {
    while (!(await db.asSystem((tx) => isPosted(tx, entry)))) {
      if (isEnding()) throw new Error(`the server ends before the opening funds of ${o.where} are in the books`);
      if (Date.now() > o.giveUpAt) throw new Error(`the opening funds of ${o.where} are not in the books: ${entry}`);
      await o.nudge?.();
      await new Promise((wake) => setTimeout(wake, 200));
    }
  }
}

/**
 * The amount, in whole units, above which an action takes two people if the sandbox is declared to have several operators.
 */
const ALONE = { crypto: 10_000n, fiat: 1_000_000n };

export const seedPeopleRules = (db: Database): Promise<void> =>
  db.asSystem(async (tx) => {
    // Terms, keys and switching on take one person.
    for (const [action, right] of [
      ['*', 'terms'],
      ['*', 'compliance'],
      ['key.*', '*'],
      ['*', 'resume'],
      ['partner.resume', '*'],
    ] as const)
      await seedRule(tx, { action, right, asset: '*', aboveUnits: 0n, people: 1 });
    // Amounts at the desk of a bank are fiat; the other actions of the right `treasury` take two whatever a rule says.
    for (const { code, kind, decimals } of (await assets(tx)).values())
      for (const right of kind === 'fiat' ? ['money', 'treasury'] : ['money'])
        await seedRule(tx, {
          ...{ action: '*', right, asset: code, people: 2 },
          aboveUnits: ALONE[kind] * pow10(decimals),
        });
  });
