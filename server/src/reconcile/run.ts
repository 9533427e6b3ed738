/**
 * A run: reads one rail page by page and its journal lines, and compares both. Any process can continue another one's run.
 *
 *   pages of the outside ──▶ outside_movements ─┐
 *                                               ├──▶ by key ──▶ equal | in transit | break (a case)
 *   lines of the journal ──▶ booked_movements ──┘
 *
 * Between full runs only new pages are read, and only changed keys are compared. A full run starts from the beginning: it finds
 * movements that bank or chain changed or removed. While it is under way nothing is compared, and earlier results stay valid.
 */
import type { Clock } from '../base/clock.ts';
import type { Database, Tx } from '../base/db.ts';
import { Unavailable } from '../base/errors.ts';
import { closeCases, openCase } from '../compliance/index.ts';
import { custodyLines } from '../ledger/index.ts';
import { depositNames, depositsWaiting } from '../orders/index.ts';
import type { Holding, Rail } from '../rails/rail.ts';
import { type Item, itemOf, sideKey } from './compare.ts';
import { bareName, nameOf } from './names.ts';
import * as store from './store.ts';

export interface RunContext {
  db: Database;
  clock: Clock;
  /** How long a new item may be a delay on one side, in milliseconds. */
  graceMs?: number;
}

const GRACE_MS = 60_000;
/** A run is a job with a lease of 20 s. */
const LOOK_MS = 8_000;
/**
 * The node no longer has the state of that block, or the statement is still growing: the items were compared, the balances were
 * not.
 */
export const NO_BALANCES = 'it does not report the balances of its wallets at the requested block';
/** Key of the item for a whole wallet's balance. */
const BALANCE = 'balance';

export type Compared =
  | 'compared'
  | 'compared without balances'
  | 'more to read'
  | 'not looked at yet'
  | 'cannot be asked';

/**
 * Advances a rail as far as possible now.
 *
 * @param full 'begin' to start again from the beginning
 * @throws Unavailable when chain or bank do not answer
 */
export async function reconcileRail(context: RunContext, rail: Rail, full?: 'begin'): Promise<Compared> {
  const { db } = context;
  if (rail.movements === undefined || rail.holdings === undefined) return 'cannot be asked';
  try {
    if (full === 'begin')
      await db.asSystem(async (tx) => {
        await store.ensureRail(tx, rail.code);
        await store.beginRun(tx, rail.code);
      });
    const until = performance.now() + LOOK_MS;
    for (let more: boolean | undefined = true; more; ) {
      if (performance.now() > until) return 'more to read';
      more = await takePage(context, rail, rail.movements);
      if (more === undefined) return 'not looked at yet';
    }
    return await compare(context, rail, rail.holdings);
  } catch (error) {
    if (error instanceof Unavailable) {
      const why = error.message;
      await db.asSystem((tx) => store.noteFailed(tx, rail.code, why));
    }
    throw error;
  }
}

/** @returns whether there are more pages; undefined if the rail was never polled */
async function takePage(
  { db }: RunContext,
  rail: Rail,
  movements: NonNullable<Rail['movements']>,
): Promise<boolean | undefined> {
  const before = await db.asSystem((tx) => store.ensureRail(tx, rail.code));
  const page = await movements(before.position);
  if (page === undefined) return undefined;
  const shown = new Map<string, store.Shown>();
  for (const { name, wallet, asset, units, key = name, place = '' } of page.movements) {
    // A statement may show a line twice, even on one page; the last one counts.
    shown.set(JSON.stringify([name, wallet, asset, place]), { name, wallet, asset, units, key, place });
  }
  await db.asSystem(async (tx) => {
    const now = await store.lockRail(tx, rail.code);
    // Another process has taken this page, or has started a full run.
    if (now === undefined || now.position !== before.position || now.run !== before.run) return;
    await store.keepShown(tx, rail.code, now.run, [...shown.values()]);
    await store.moveRail(tx, rail.code, page.upTo, page.at);
  });
  return page.more;
}

async function compare(context: RunContext, rail: Rail, input: NonNullable<Rail['holdings']>): Promise<Compared> {
  const { db, clock } = context;
  const at = await db.asSystem((tx) => store.ensureRail(tx, rail.code));
  const ending = at.runEndedAt === null;
  const holdings = await input(at.position, ending);
  return await db.asSystem(async (tx) => {
    const now = await store.lockRail(tx, rail.code);
    if (now === undefined || now.position !== at.position || now.run !== at.run) return 'more to read';
    if (ending) await store.forgetUnshown(tx, rail.code, now.run);
    const seal = await takeJournal(tx, rail, now.seal);
    if (holdings !== undefined) await takeRemainders(tx, rail, now.run, holdings);
    const items = await itemsOf(context, tx, rail, now.positionAt ?? new Date(0));
    if (holdings !== undefined) items.push(...(await wrongBalances(tx, rail, holdings)));
    const said = new Set(sumBy(holdings ?? []).keys());
    await keepItems(tx, rail.code, items, said, clock.now());
    await keepBalances(tx, rail.code, now.position, items, holdings);
    store.noteCompared(tx, rail.code, { ending, seal, why: holdings === undefined ? NO_BALANCES : null });
    return holdings === undefined ? 'compared without balances' : 'compared';
  });
}

/** @returns the seal up to which the journal's lines are taken */
export async function takeJournal(tx: Tx, rail: Rail, afterSeal: bigint): Promise<bigint> {
  for (let seal = afterSeal; ; ) {
    const page = await custodyLines(tx, rail.code, seal);
    const lines = page.lines.map((line) => ({ line, wallet: line.wallet ?? rail.wallets.payouts }));
    const named = lines.map(({ line, wallet }) => ({ line, wallet, named: nameOf(rail.code, line, wallet) }));
    const numbers = named.flatMap(({ named: { deposit } }) => (deposit === undefined ? [] : [deposit]));
    const deposits = await depositNames(tx, [...new Set(numbers)]);
    const booked = named.map(({ line, wallet, named: { name, deposit } }) => ({
      entry: line.entry,
      line: line.line,
      wallet,
      asset: line.asset,
      units: line.units,
      name: bareName(deposit === undefined ? name : (deposits.get(deposit) ?? `deposit:${deposit}`)),
    }));
    await store.keepBooked(tx, rail.code, booked);
    seal = page.seal;
    if (!page.more) return seal;
  }
}

/** Where the outside cannot show every movement: stores the part of a balance beyond the movements shown. */
async function takeRemainders(tx: Tx, rail: Rail, run: number, holdings: readonly Holding[]): Promise<void> {
  const sums = new Map((await store.shownSums(tx, rail.code)).map((row) => [placeKey(row), row]));
  const shown = holdings.flatMap(({ wallet, asset, place = '', units, remainder }): store.Shown[] => {
    if (remainder === undefined) return [];
    const sum = sums.get(placeKey({ wallet, place, asset }));
    const rest = units - ((sum?.units ?? 0n) - (sum?.remainder ?? 0n));
    if (rest === (sum?.remainder ?? 0n)) return [];
    return [{ name: remainder, key: remainder, wallet, asset, place, units: rest }];
  });
  await store.keepShown(tx, rail.code, run, shown);
}

const placeKey = ({ wallet, place, asset }: { wallet: string; place: string; asset: string }): string =>
  `${wallet} ${asset} ${place}`;

async function itemsOf(context: RunContext, tx: Tx, rail: Rail, outsideAt: Date): Promise<Item[]> {
  const sides = await store.openSides(tx, rail.code);
  const unlike = sides.filter(({ outside, booked }) => outside !== booked);
  const wrong = new Set(unlike.map(({ key }) => key));
  await store.closeKeys(
    tx,
    rail.code,
    [...new Set(sides.map(({ key }) => key))].filter((key) => !wrong.has(key)),
  );
  const open = await store.openItems(tx, rail.code);
  const waiting = await depositsWaiting(
    tx,
    rail.code,
    unlike.flatMap(({ shownNames }) => shownNames ?? []),
  );
  const about = {
    kind: rail.kind,
    outsideAt,
    waiting,
    // An item that is already a break gets no new grace period.
    foundAt: new Map(open.map((item) => [sideKey(item), item.transit === null ? new Date(0) : item.foundAt])),
    graceMs: context.graceMs ?? GRACE_MS,
    now: new Date(),
  };
  return unlike.flatMap((side) => {
    // A remainder that changes was not altered: it is the difference of two sums.
    const isRemainder = /^(native|other):/.test(side.key);
    const item = itemOf(isRemainder ? { ...side, altered: false } : side, about);
    return item === undefined ? [] : [item];
  });
}

/** Wallets whose balance differs from the sum of the movements shown there. */
async function wrongBalances(tx: Tx, rail: Rail, holdings: readonly Holding[]): Promise<Item[]> {
  const said = sumBy(holdings);
  const sums = await store.walletSums(tx, rail.code);
  const shown = new Map(sums.map((row) => [`${row.wallet} ${row.asset}`, row.outside]));
  return [...said].flatMap(([at, { wallet, asset, units }]): Item[] => {
    const moved = shown.get(at) ?? 0n;
    if (moved === units) return [];
    return [
      {
        wallet,
        asset,
        key: BALANCE,
        kind: 'break_balance',
        outsideUnits: units,
        ledgerUnits: moved,
        transit: null,
        why: 'the reported balance differs from the sum of the reported movements',
        names: [],
      },
    ];
  });
}

function sumBy(holdings: readonly Holding[]) {
  const sums = new Map<string, { wallet: string; asset: string; units: bigint }>();
  for (const { wallet, asset, units } of holdings) {
    const at = `${wallet} ${asset}`;
    sums.set(at, { wallet, asset, units: (sums.get(at)?.units ?? 0n) + units });
  }
  return sums;
}

/** Stores the items. A break opens a case, which closes when the break disappears. */
async function keepItems(
  tx: Tx,
  rail: string,
  items: readonly Item[],
  said: ReadonlySet<string>,
  now: Date,
): Promise<void> {
  const found = new Map(items.map((item) => [sideKey(item), item]));
  for (const before of await store.openItems(tx, rail)) {
    const item = found.get(sideKey(before));
    // An item about a balance that the outside does not report now keeps its last result.
    if (item === undefined && before.key === BALANCE && !said.has(`${before.wallet} ${before.asset}`)) continue;
    const isOver = item === undefined;
    if (isOver) await store.closeItem(tx, before.id);
    if (before.transit === null && (isOver || item.kind !== before.kind || item.transit !== null))
      await closeCases(tx, {
        kind: before.kind,
        subject: subjectOf(rail, before),
        outcome: isOver ? 'both sides agree again' : 'found to be something else',
        now,
      });
  }
  for (const item of items) {
    await store.keepItem(tx, { rail, ...item });
    if (item.transit !== null) continue;
    await openCase(tx, {
      kind: item.kind,
      subject: subjectOf(rail, item),
      reason: item.why,
      facts: { outside: item.outsideUnits, ledger: item.ledgerUnits, names: item.names.slice(0, 20) },
      now,
    });
  }
}

export const subjectOf = (
  rail: string,
  { wallet, asset, key }: { wallet: string; asset: string; key: string },
): string => `reconcile:${rail}:${wallet}:${asset}:${key}`;

async function keepBalances(
  tx: Tx,
  rail: string,
  position: string,
  items: readonly Item[],
  holdings: readonly Holding[] | undefined,
): Promise<void> {
  const said = sumBy(holdings ?? []);
  for (const { wallet, asset, booked } of await store.walletSums(tx, rail)) {
    const transit = items.filter((item) => item.wallet === wallet && item.asset === asset && item.transit !== null);
    await store.keepBalance(tx, {
      rail,
      wallet,
      asset,
      position,
      ledgerUnits: booked,
      outsideUnits: said.get(`${wallet} ${asset}`)?.units ?? null,
      transitUnits: transit.reduce((sum, item) => sum + item.outsideUnits - item.ledgerUnits, 0n),
    });
  }
}
