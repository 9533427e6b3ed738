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

export async function lookForNative(engine: Engine): Promise<void> {
  const { adapter, rail, chain, db } = engine;
  const hot = adapter.wallets[HOT]?.address;
  const found = await db.asSystem(async (tx) => {
    const cursor = await store.cursorOf(tx, rail);
    return {
      asset: (await addressStore.assetsOf(tx, chain)).find((one) => one.native)?.code,
      block: cursor && (await store.blockAt(tx, rail, cursor.finalized)),
    };
  });
  if (found.asset === undefined || found.block === undefined) return;
  await lookAtDeposits(engine, found.asset, found.block);
  if (hot !== undefined) await lookAtHot(engine, found.asset, found.block, hot);
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
async function lookAtDeposits(engine: Engine, asset: AssetCode, block: Block): Promise<void> {
  const { adapter, rail, pace, db, clock, report, memory } = engine;
  const since = new Date(clock.now().getTime() - pace.nativeWatchMs);
  const numbered = await db.asSystem((tx) => addressStore.addressesAnywhere(tx, rail, memory.nativeAfter, since, PAGE));
  memory.nativeAfter = numbered.length < PAGE ? -1n : (numbered.at(-1)?.index ?? -1n);
  const page = numbered.filter((row) => row.rail === rail || isOurs(engine, row));
  if (page.length === 0) return;
  const addresses = page.map((row) => row.address);
  const found = await nativeAt(engine, block, addresses);
  if (found === undefined) return;
  await db.asSystem(async (tx) => {
    await store.lockCursor(tx, rail);
    const known = await nativeStore.nativeBalances(tx, rail, addresses);
    const own = await nativeStore.ownNativeMoves(tx, rail, page, block.number);
    for (const [at, watched] of page.entries()) {
      const { address } = watched;
      const units = found[at] ?? 0n;
      const before = known.get(address);
      const { movedUnits = 0n, underWay = false } = own.get(address) ?? {};
      if (underWay || (before !== undefined && before.block >= block.number)) continue;
      if (units === (before?.units ?? 0n) && movedUnits === 0n) continue;
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

/** Reads the native balance of the paying wallet. Nothing before the opening balance is booked: counting starts from it. */
async function lookAtHot(engine: Engine, asset: AssetCode, block: Block, address: string): Promise<void> {
  const { rail, db, report } = engine;
  const before = await db.asSystem(async (tx) => (await nativeStore.nativeBalances(tx, rail, [address])).get(address));
  if (before === undefined || before.block >= block.number) return;
  const [units] = (await nativeAt(engine, block, [address])) ?? [];
  if (units === undefined) return;
  const moves = () => db.asSystem((tx) => nativeStore.walletMoves(tx, rail, HOT, before.block, block.number));
  const seen = await moves();
  const payments =
    !seen.underWay && units - before.units > seen.movedUnits
      ? await paymentsTo(engine, address, before.block, block.number)
      : [];
  await db.asSystem(async (tx) => {
    await store.lockCursor(tx, rail);
    const known = (await nativeStore.nativeBalances(tx, rail, [address])).get(address);
    const own = await nativeStore.walletMoves(tx, rail, HOT, before.block, block.number);
    // Another process was faster, or the cost of one of our sends is not known yet.
    if (known?.block !== before.block || own.underWay) return;
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
