/**
 * A chain's record of our wallets, for reconciliation: read from the node again, ignoring everything that the follower has
 * stored.
 *
 * Token transfers come from logs by ranges of block numbers, up to the newest final block. Native transfers emit no log. The cost
 * and amount of our own sends are read from their receipts; the rest of a balance is one movement per address, the `remainder`.
 * So native units that moved without our knowledge show as a difference there. An own address outside this server has a
 * remainder, too.
 */
import { defined } from '../base/defined.ts';
import { Unavailable } from '../base/errors.ts';
import type { Block, Transfer } from './chain.adapter.ts';
import * as addressStore from './chain.addresses.store.ts';
import { contractsOf } from './chain.contracts.ts';
import type { Engine } from './chain.engine.ts';
import { TRANSFER_KEY } from './chain.keys.ts';
import { ownWallets } from './chain.own.store.ts';
import * as sendStore from './chain.sends.store.ts';
import * as store from './chain.store.ts';
import type { Holding, Movement, MovementPage, Rail } from './rail.ts';

/** Addresses per request. If there are more than a few such pages, they are read only when all are requested. */
const PAGE = 500;
const FEW = 2_000;

/** The engine, and the names of its wallets. */
interface NamedEngine extends Engine {
  readonly wallets: { readonly deposits: string; readonly payouts: string };
  /** Address of the paying wallet. */
  readonly paying: string;
}

export function chainOutside(engine: Engine, wallets: NamedEngine['wallets']): Pick<Rail, 'movements' | 'holdings'> {
  const { adapter } = engine;
  // Without both functions of the adapter the rail cannot be reconciled, so it has neither `movements` nor `holdings`.
  if (adapter.transfersBetween === undefined || adapter.balancesAt === undefined) return {};
  const outside = { ...engine, wallets, paying: adapter.wallets[wallets.payouts]?.address ?? '' };
  return {
    movements: (after) => movementsAfter(outside, after),
    holdings: (at, all) => holdingsAt(outside, at, all),
  };
}

async function movementsAfter(outside: NamedEngine, after: string): Promise<MovementPage | undefined> {
  const { adapter, rail, chain, db } = outside;
  const { cursor, assets } = await db.asSystem(async (tx) => ({
    cursor: await store.cursorOf(tx, rail),
    assets: await addressStore.assetsOf(tx, chain),
  }));
  if (cursor === undefined || cursor.finalized < 0n) return undefined;
  if (cursor.haltedWhy !== null) throw new Unavailable(rail, 'the line is halted');
  if (after === '') {
    const first = await db.asSystem((tx) => store.firstBlock(tx, rail));
    return await opening(outside, first > 0n ? first - 1n : 0n, assets);
  }
  const done = BigInt(after);
  const limit = done + BigInt(adapter.pace.blocksPerStep);
  const upTo = cursor.finalized < limit ? cursor.finalized : limit;
  const at = await blockOf(outside, upTo > done ? upTo : done);
  if (upTo <= done) return { movements: [], upTo: after, at: at.at, more: false };
  const contracts = contractsOf(adapter, assets);
  const found = await between(outside, done + 1n, upTo, [...contracts.keys()]);
  const tokens = await tokenMovements(outside, found, contracts);
  const native = assets.find((one) => one.native)?.code;
  const coin = native === undefined ? [] : await nativeMovements(outside, done, upTo, native);
  return { movements: [...tokens, ...coin], upTo: String(upTo), at: at.at, more: upTo < cursor.finalized };
}

/** The balance of the paying wallet before our first step, as one movement per asset. */
export async function opening(
  outside: NamedEngine,
  block: bigint,
  assets: readonly addressStore.ChainAsset[],
): Promise<MovementPage> {
  const { adapter, wallets, paying } = outside;
  const movements: Movement[] = [];
  for (const { code, contract, native } of assets) {
    if (adapter.keepsNoHistory === true || (native && adapter.showsNative !== true)) continue;
    const [units] = (await adapter.balancesAt?.(block, contract, [paying])) ?? [];
    if (units !== undefined && units > 0n)
      movements.push({ name: otherName(outside, code), wallet: wallets.payouts, asset: code, units });
  }
  const { at } = await blockOf(outside, block);
  return { movements, upTo: String(block), at, more: true };
}

/** Halves the range until the node answers, because providers reject ranges with too many logs. */
export async function between(
  outside: NamedEngine,
  from: bigint,
  to: bigint,
  contracts: readonly string[],
): Promise<Transfer[]> {
  const { adapter } = outside;
  try {
    return (await adapter.transfersBetween?.(from, to, contracts)) ?? [];
  } catch (error) {
    if (!(error instanceof Unavailable) || from >= to) throw error;
    const middle = from + (to - from) / 2n;
    return [
      ...(await between(outside, from, middle, contracts)),
      ...(await between(outside, middle + 1n, to, contracts)),
    ];
  }
}

async function tokenMovements(
  outside: NamedEngine,
  found: readonly Transfer[],
  contracts: Map<string, string>,
): Promise<Movement[]> {
  const { adapter, rail, db, wallets, paying } = outside;
  const moving = found.filter((one) => one.units > 0n && contracts.has(one.contract));
  const parties = [...new Set(moving.flatMap(({ from, to }) => [from, to]))];
  const { watched, own } = await db.asSystem(async (tx) => ({
    watched: await addressStore.watchedAmong(tx, rail, parties),
    own: await ownWallets(tx, rail),
  }));
  const walletOf = (address: string) =>
    address === paying ? wallets.payouts : watched.has(address) ? wallets.deposits : undefined;
  // Transfers within one wallet move nothing.
  const ours = moving.filter(({ from, to }) => walletOf(from) !== walletOf(to));
  const positions = await adapter.positions(ours);
  const hashes = [...new Set(ours.map(({ txHash }) => txHash))];
  const keys = await db.asSystem((tx) => sendStore.keysOf(tx, rail, hashes, wallets.payouts));
  return ours.flatMap(({ txHash, contract, from, to, units }, at) => {
    const key = keys.get(txHash);
    const common = {
      name: `${txHash}:${positions[at] ?? 0}`,
      asset: contracts.get(contract) ?? '',
      ...defined({ key }),
    };
    const [out, into] = [walletOf(from), walletOf(to)];
    // At an own address only what our wallets sent there is shown. The rest of its balance is its remainder.
    const away = isTransfer(common.key) ? own.get(to) : undefined;
    return [
      ...(out === undefined ? [] : [{ ...common, wallet: out, units: -units }]),
      ...(into === undefined ? [] : [{ ...common, wallet: into, units }]),
      ...(away === undefined ? [] : [{ ...common, wallet: away, place: to, units }]),
    ];
  });
}

/** Amount and cost of our native sends, from their receipts. */
async function nativeMovements(outside: NamedEngine, after: bigint, upTo: bigint, asset: string): Promise<Movement[]> {
  const { adapter, rail, db, wallets, paying } = outside;
  const sends = await db.asSystem((tx) => sendStore.sendsAround(tx, rail, after, upTo, wallets.payouts));
  if (sends.length === 0) return [];
  const fates = await adapter.fates(
    sends.map(({ wallet, hash }) => ({ wallet, versions: [{ hash, ...UNKNOWN }] })),
    undefined,
  );
  const indexes = sends.flatMap(({ wallet }) => indexOf(wallet) ?? []);
  const { addresses, watched } = await db.asSystem(async (tx) => ({
    addresses: await addressStore.addressesOfIndexes(tx, rail, indexes),
    watched: await addressStore.watchedAmong(
      tx,
      rail,
      sends.map(({ target }) => target),
    ),
  }));
  return sends.flatMap(({ wallet, key, hash, target, value }, at): Movement[] => {
    const receipt = fates[at];
    if (receipt?.is !== 'included' || receipt.block <= after || receipt.block > upTo) return [];
    // If blocks show native transfers, this amount is among the transfers already.
    const moved = receipt.succeeded && adapter.showsNative !== true ? value : 0n;
    const index = indexOf(wallet);
    const common = { name: `${hash}:coin`, asset, key };
    return [
      {
        ...common,
        wallet: index === undefined ? wallets.payouts : wallets.deposits,
        ...(adapter.showsNative === true ? {} : { place: index === undefined ? paying : (addresses.get(index) ?? '') }),
        units: -receipt.cost - moved,
      },
      ...(moved > 0n && watched.has(target)
        ? [{ ...common, wallet: wallets.deposits, place: target, units: moved }]
        : []),
    ];
  });
}

const isTransfer = (key: string | undefined): boolean => key?.startsWith(TRANSFER_KEY) === true;

async function holdingsAt(outside: NamedEngine, at: string, all: boolean): Promise<Holding[] | undefined> {
  const { adapter, rail, chain, db, wallets, paying } = outside;
  const block = BigInt(at);
  const { assets, own } = await db.asSystem(async (tx) => ({
    assets: await addressStore.assetsOf(tx, chain),
    own: [...(await ownWallets(tx, rail))],
  }));
  const found: Holding[] = [];
  // Not all movements of this asset can be seen: the rest of the balance counts as one of them.
  const isSearched = (native: boolean): boolean => native && adapter.showsNative !== true;
  for (const { code, contract, native } of assets) {
    const units = (await adapter.balancesAt?.(block, contract, [paying]))?.[0];
    if (units === undefined) return undefined;
    const hot = { wallet: wallets.payouts, asset: code, units };
    const remainder = otherName(outside, code);
    if (isSearched(native)) found.push({ ...hot, place: paying, remainder });
    else found.push(adapter.keepsNoHistory === true ? { ...hot, remainder } : hot);
  }
  // The native balance of an own address is not counted, because the holder of its key pays gas from it.
  for (const { code, contract, native } of own.length === 0 ? [] : assets) {
    if (native) continue;
    const units = await adapter.balancesAt?.(
      block,
      contract,
      own.map(([address]) => address),
    );
    if (units === undefined) return undefined;
    own.forEach(([place, wallet], n) => {
      found.push({ wallet, asset: code, place, units: units[n] ?? 0n, remainder: `other:${wallet}:${code}` });
    });
  }
  const sums = new Map(assets.map(({ code }) => [code, 0n]));
  for (let after = -1n, count = 0; ; ) {
    const page = await db.asSystem((tx) => addressStore.addressPage(tx, rail, after, new Date(0), PAGE));
    const addresses = page.map(({ address }) => address);
    for (const { code, contract, native } of assets) {
      const units = page.length === 0 ? [] : await adapter.balancesAt?.(block, contract, addresses);
      if (units === undefined) return undefined;
      if (!isSearched(native))
        sums.set(
          code,
          units.reduce((sum, one) => sum + one, sums.get(code) ?? 0n),
        );
      else
        addresses.forEach((place, n) => {
          const remainder = `native:${place}`;
          found.push({ wallet: wallets.deposits, asset: code, place, units: units[n] ?? 0n, remainder });
        });
    }
    count += page.length;
    after = page.at(-1)?.index ?? after;
    if (page.length < PAGE) break;
    if (count >= FEW && !all) return found;
  }
  for (const { code, native } of assets)
    if (!isSearched(native)) found.push({ wallet: wallets.deposits, asset: code, units: sums.get(code) ?? 0n });
  return found;
}

const otherName = ({ wallets }: NamedEngine, asset: string): string => `other:${wallets.payouts}:${asset}`;

async function blockOf(outside: NamedEngine, number: bigint): Promise<Block> {
  const { adapter, rail } = outside;
  const [block] = await adapter.blocks(number, number);
  if (block === undefined) throw new Unavailable(rail, `the node has no block ${number}`);
  return block;
}

/** Only the receipt is needed, which depends on none of these. */
const UNKNOWN = { slots: [], deadline: null, body: null };

/** Number of the deposit address in a wallet's name. */
function indexOf(wallet: string): bigint | undefined {
  const digits = /^deposit:([0-9]+)$/.exec(wallet)?.[1];
  return digits === undefined ? undefined : BigInt(digits);
}
