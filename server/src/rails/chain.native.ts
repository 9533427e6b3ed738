/**
 * The native asset: its transfers emit no log, so deposits are found by balance, only at finalized blocks, where no reorg can
 * undo the finding. Transfers and costs of our own sends in between are subtracted.
 *
 * - At deposit addresses, including those of orders on another chain, as long as they are recent enough to be paid to: an
 *   increase is a deposit.
 * - At the paying wallet, from its opening balance on: an increase is the operator's gas if a plain payment from a trusted source
 *   explains it, otherwise unidentified money. The payer is searched for in the blocks since the previous check.
 *
 * Not here: booking the opening balance (treasury/opening.ts), tokens (chain.follow.ts).
 */
import { awaitAll } from '../base/db.ts';
import { Unavailable } from '../base/errors.ts';
import type { AssetCode } from '../base/money.ts';
import type { Block, CoinPayment } from './chain.adapter.ts';
import * as addressStore from './chain.addresses.store.ts';
import { type Engine, HOT } from './chain.engine.ts';
import * as nativeStore from './chain.native.store.ts';
import * as store from './chain.store.ts';
import { isOurs } from './chain.targets.ts';

/** Addresses whose native balance is read per run; the next run continues. */
const PAGE = 300;
/**
 * Number of newest blocks that are searched for a payer, and maximum number of payments reported one by one. Beyond either the
 * payer is unknown.
 */
const PAYER_BLOCKS = 64n;
const MOST_PAYMENTS = 50;
/** The block of an unchanged balance is stored again after this many blocks, so that a later payer is within PAYER_BLOCKS. */
const SAME_BLOCKS = PAYER_BLOCKS / 2n;

export async function lookForNative(engine: Engine): Promise<void> {
  const { pace, clock, memory } = engine;
  const since = new Date(clock.now().getTime() - pace.nativeWatchMs);
  const known = await readKnown(engine, since);
  if (known === undefined) return;
  const { numbered } = known;
  memory.nativeAfter = numbered.length < PAGE ? -1n : (numbered.at(-1)?.index ?? -1n);
  await lookAtDeposits(engine, known);
  await lookAtHot(engine, known);
}

interface Known {
  asset: AssetCode;
  /** The newest final block. */
  block: Block;
  /** A page of addresses, and those of them that are watched on this chain. */
  numbered: readonly addressStore.Watched[];
  page: readonly addressStore.Watched[];
  balances: Balances;
  moves: Moves;
  hotMoves: Awaited<ReturnType<typeof nativeStore.walletMoves>> | undefined;
}
type Balances = Awaited<ReturnType<typeof nativeStore.nativeBalances>>;
type Moves = Awaited<ReturnType<typeof nativeStore.ownNativeMoves>>;

/** What our rows say before the node is asked: where it says the same, nothing is locked or written. */
async function readKnown(engine: Engine, since: Date): Promise<Known | undefined> {
  const { adapter, rail, chain, db, memory } = engine;
  const hot = adapter.wallets[HOT]?.address;
  return await db.asSystem(async (tx) => {
    const [cursor, assets, numbered] = await awaitAll(
      store.cursorOf(tx, rail),
      addressStore.assetsOf(tx, chain),
      addressStore.addressesAnywhere(tx, rail, memory.nativeAfter, since, PAGE),
    );
    const asset = assets.find((one) => one.native)?.code;
    const page = numbered.filter((row) => row.rail === rail || isOurs(engine, row));
    const addresses = [...page.map((row) => row.address), ...(hot === undefined ? [] : [hot])];
    const [block, balances] = await awaitAll(
      cursor && store.blockAt(tx, rail, cursor.finalized),
      nativeStore.nativeBalances(tx, rail, addresses),
    );
    if (asset === undefined || block === undefined) return undefined;
    const before = hot === undefined ? undefined : balances.get(hot);
    const [moves, hotMoves] = await awaitAll(
      page.length === 0 ? new Map() : nativeStore.ownNativeMoves(tx, rail, page, block.number),
      before && nativeStore.walletMoves(tx, rail, HOT, before.block, block.number),
    );
    return { asset, block, numbered, page, balances, moves, hotMoves };
  });
}

export async function nativeAt(
  engine: Engine,
  block: Block,
  addresses: readonly string[],
): Promise<bigint[] | undefined> {
  const { adapter, rail, log } = engine;
  const found = await adapter.nativeBalancesAt(block, addresses);
  if (found === undefined)
    log.warn({ rail, block: Number(block.number) }, 'the node no longer has the balances of this block');
  return found;
}

/**
 * Reads native balances of deposit addresses. An address with one of our sends under way to or from it is left for a later run.
 */
async function lookAtDeposits(engine: Engine, { asset, block, page, balances, moves }: Known): Promise<void> {
  const { adapter, rail, db, report } = engine;
  if (page.length === 0) return;
  const addresses = page.map((row) => row.address);
  const found = await nativeAt(engine, block, addresses);
  if (found === undefined) return;
  if (!addresses.some((address, at) => isMoved(found[at], address, { balances, moves, block }))) return;
  await db.asSystem(async (tx) => {
    await store.lockCursor(tx, rail);
    const known = await nativeStore.nativeBalances(tx, rail, addresses);
    const own = await nativeStore.ownNativeMoves(tx, rail, page, block.number);
    for (const [at, watched] of page.entries()) {
      const { address } = watched;
      if (!isMoved(found[at], address, { balances: known, moves: own, block })) continue;
      const units = found[at] ?? 0n;
      const before = known.get(address);
      const { movedUnits = 0n } = own.get(address) ?? {};
      await nativeStore.setNativeBalance(tx, rail, address, units, block.number);
      const increase = units - (before?.units ?? 0n) - movedUnits;
      if (increase <= 0n) continue;
      const home = watched.homeRail ?? watched.rail;
      if (watched.rail !== rail) await addressStore.adopt(tx, rail, watched);
      await report(tx, {
        type: 'deposit_confirmed',
        rail,
        externalId: `native:${address}:${block.number}`,
        target: address,
        ...(home === rail ? {} : { homeRail: home }),
        asset,
        units: increase,
        reference: '',
        facts: { block: Number(block.number), confirmations: adapter.finality },
      });
    }
  });
}

/**
 * Whether a change of an address's balance is to be booked: it differs from the stored one, or sends of ours have moved some. Not
 * while a send of it is under way, and not from a block that was noted before.
 */
function isMoved(
  units = 0n,
  address: string,
  { balances, moves, block }: { balances: Balances; moves: Moves; block: Block },
): boolean {
  const before = balances.get(address);
  const { movedUnits = 0n, underWay = false } = moves.get(address) ?? {};
  if (underWay || (before !== undefined && before.block >= block.number)) return false;
  return units !== (before?.units ?? 0n) || movedUnits !== 0n;
}

/** Reads the native balance of the paying wallet. Nothing before the opening balance is booked: counting starts from it. */
async function lookAtHot(engine: Engine, { asset, block, balances, hotMoves: seen }: Known): Promise<void> {
  const { adapter, rail, db, report } = engine;
  const address = adapter.wallets[HOT]?.address;
  const before = address === undefined ? undefined : balances.get(address);
  if (address === undefined || before === undefined || seen === undefined || before.block >= block.number) return;
  const [units] = (await nativeAt(engine, block, [address])) ?? [];
  if (units === undefined) return;
  const isSame = units === before.units && seen.movedUnits === 0n;
  if (isSame && block.number - before.block < SAME_BLOCKS) return;
  const payments =
    !seen.underWay && units - before.units > seen.movedUnits
      ? await paymentsTo(engine, address, before.block, block.number)
      : [];
  await db.asSystem(async (tx) => {
    await store.lockCursor(tx, rail);
    const known = (await nativeStore.nativeBalances(tx, rail, [address])).get(address);
    const own = await nativeStore.walletMoves(tx, rail, HOT, before.block, block.number);
    // Another process was faster, the cost of one of our sends is not known yet, or one has ended since `seen` was read.
    if (known?.block !== before.block || own.underWay) return;
    if (seen.underWay || own.movedUnits !== seen.movedUnits) return;
    const increase = units - before.units - own.movedUnits;
    if (increase < 0n && own.isSending) return;
    await nativeStore.setNativeBalance(tx, rail, address, units, block.number);
    if (increase <= 0n) return;
    const said = payments.reduce((sum, one) => sum + one.units, 0n);
    const named = said <= increase ? payments : [];
    const trusted = await addressStore.trustedAmong(
      tx,
      rail,
      named.map(({ from }) => from),
    );
    for (const { txHash, from, units: paid } of named) {
      const fact = { rail, externalId: `${txHash}:coin`, asset, units: paid, reference: txHash };
      if (trusted.has(from)) await report(tx, { type: 'funding_confirmed', ...fact, forGas: true });
      else await report(tx, { type: 'credit_unexpected', ...fact, payer: from });
    }
    const rest = named.length === 0 ? increase : increase - said;
    if (rest > 0n) {
      const externalId = `coin:${block.number}`;
      await report(tx, { type: 'credit_unexpected', rail, externalId, asset, units: rest, reference: '', payer: '' });
    }
  });
}

async function paymentsTo(engine: Engine, address: string, since: bigint, upTo: bigint): Promise<CoinPayment[]> {
  const { adapter } = engine;
  const from = upTo - since > PAYER_BLOCKS ? upTo - PAYER_BLOCKS + 1n : since + 1n;
  const found = (await adapter.coinTo?.(from, upTo, address)) ?? [];
  const others = found.filter((one) => one.from !== address);
  return others.length > MOST_PAYMENTS ? [] : others;
}

/** Native balance of the paying wallet at the newest block. @throws Unavailable */
export async function hotNative(
  engine: Engine,
): Promise<{ address: string; units: bigint; block: bigint } | undefined> {
  const { adapter, rail } = engine;
  const hot = adapter.wallets[HOT]?.address;
  if (hot === undefined) return undefined;
  const { newest } = await adapter.head();
  const [units] = (await adapter.nativeBalancesAt(newest, [hot])) ?? [];
  if (units === undefined) throw new Unavailable(rail, 'the node does not say the balance of its newest block');
  return { address: hot, units, block: newest.number };
}
