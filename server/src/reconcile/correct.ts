/**
 * Correcting: an entry of a kind from a fixed list ends a break.
 *
 * The kind determines the accounts. An operator gives the break, the kind, the amount and the evidence; each must match the
 * comparison. The entry is posted under the break's own key, and the key is compared again in the same transaction. If the sides
 * still differ, everything is rolled back.
 *
 * Not here: who may correct and how many people it takes (protocols/operator); movements that wait to be matched after a restore,
 * which must be decided first (treasury/movements.ts); entries that close a case that is no break (orders/custody/correct.ts).
 */
import type { Clock } from '../base/clock.ts';
import type { Tx } from '../base/db.ts';
import { assert, Refusal } from '../base/errors.ts';
import { closeCases } from '../compliance/index.ts';
import { type Account, chart, move, post, undo } from '../ledger/index.ts';
import { bookFound, dustThreshold } from '../orders/index.ts';
import { waitingFound } from '../rails/chain.ts';
import { payoutByKey } from '../rails/payouts.ts';
import type { Rail } from '../rails/rail.ts';
import { nameOf } from './names.ts';
import { subjectOf, takeJournal } from './run.ts';
import * as store from './store.ts';

export const CORRECTIONS = ['fee', 'gone', 'found', 'dust', 'sweep_undone'] as const;
/**
 * - `fee`: charged by the bank, or by the chain for gas: a cost of the rail;
 * - `gone`: missing outside, and will not return: a loss;
 * - `found`: present outside, with no owner in the books: suspense, with a case;
 * - `dust`: below the asset's dust threshold: a loss, or a rounding in our favour;
 * - `sweep_undone`: a reorg undid a sweep: its entry is reversed, and its deposits are swept again.
 */
export type Correction = (typeof CORRECTIONS)[number];

export interface CorrectionInput {
  item: bigint;
  as: Correction;
  /** The name of the movement or entry that the break shows. */
  evidence: string;
  units: bigint;
}

/** Maximum numbers shown to an operator. */
const MOST_SHOWN = 200;
const MOST_MOVEMENTS = 200;

export function openCorrections(context: {
  clock: Clock;
  rails: ReadonlyMap<string, Rail>;
  /** Returns a sweep's deposits to their addresses. @throws Refusal 'does_not_fit' */
  sweepUndone: (tx: Tx, key: string) => Promise<void>;
}) {
  const { clock, rails, sweepUndone } = context;

  /** The break as it is now. Its rail is locked, so no process compares or corrects the rail meanwhile. */
  async function locked(tx: Tx, id: bigint): Promise<{ item: store.KeptItem; rail: store.RailRow }> {
    const code = (await store.itemById(tx, id))?.rail;
    const rail = code === undefined ? undefined : await store.lockRail(tx, code);
    const item = await store.itemById(tx, id);
    if (rail === undefined || item === undefined) throw new Refusal('unknown_break');
    return { item, rail };
  }

  /** @throws Refusal 'unknown_break' | 'break_over' | 'does_not_fit' */
  async function fitting(tx: Tx, input: CorrectionInput): Promise<{ item: store.KeptItem; seal: bigint; rail: Rail }> {
    const { item, rail: row } = await locked(tx, input.item);
    const rail = rails.get(item.rail);
    if (item.closedAt !== null) throw new Refusal('break_over', { item: String(item.id) });
    if (rail === undefined) throw wrong(`rail ${item.rail} is not running`);
    if (item.transit !== null) throw wrong(`the item is in transit: ${item.transit}`);
    if (item.kind === 'break_balance')
      throw wrong('no entry ends a break of kind break_balance: both of its sides are what the outside says');
    const evidence = [...item.names, item.key];
    if (!evidence.includes(input.evidence))
      throw wrong(`the evidence must be one of its names: ${item.names.join(', ')}`);
    const difference = item.outsideUnits - item.ledgerUnits;
    if (input.units !== (difference < 0n ? -difference : difference))
      throw wrong(`the amount is not what the two sides differ by, see differenceUnits of break ${item.id}`);
    await requireSettled(tx, item, rail);
    await requireKind(tx, { ...input, item, rail, difference });
    return { item, seal: row.seal, rail };
  }

  return {
    async list(tx: Tx, rail: string | undefined) {
      return (await store.openItems(tx, rail ?? null)).slice(0, MOST_SHOWN).map(shown);
    },

    /** The break as it is now, with its rail locked. @throws Refusal 'unknown_break' */
    async look(tx: Tx, id: bigint) {
      const { item } = await locked(tx, id);
      return { ...shown(item), open: item.closedAt === null };
    },

    /** Checks a correction without making it. @throws Refusal 'unknown_break' | 'break_over' | 'does_not_fit' */
    async require(tx: Tx, input: CorrectionInput): Promise<void> {
      await fitting(tx, input);
    },

    /** @throws Refusal 'unknown_break' | 'break_over' | 'does_not_fit' | 'funds_short' */
    async correct(tx: Tx, input: CorrectionInput & { by: string }): Promise<void> {
      const { item, seal, rail } = await fitting(tx, input);
      const now = clock.now();
      const { key, wallet, asset } = item;
      const id = `correct_${item.id}`;
      const facts = {
        movement: key,
        correction: input.as,
        item: String(item.id),
        evidence: input.evidence,
        by: input.by,
      };
      const entry = { id, kind: 'correction', at: now, facts };
      assert(
        nameOf(rail.code, { entry: id, ...entry, hold: null, asset }, wallet).name === key,
        `${key} is not the name of its own correction`,
      );
      const custody = chart.custody(rail.code, wallet, asset);
      const difference = item.outsideUnits - item.ledgerUnits;
      if (input.as === 'sweep_undone') {
        const undone = await undo(tx, key, entry);
        if (undone.outcome !== 'posted') throw wrong('the entry of this sweep cannot be reversed');
        await sweepUndone(tx, key);
      } else if (input.as === 'found') {
        const externalId = `correct:${item.id}`;
        await bookFound(tx, { rail: rail.code, custody, units: difference, externalId, reference: key, entry, now });
      } else {
        const other = accountOf(input.as, rail.code, asset, difference);
        const lines = difference < 0n ? move(other, custody, -difference) : move(custody, other, difference);
        const posted = await post(tx, { ...entry, lines });
        if (posted.outcome === 'short') throw wrong(`the books have less than that available in ${posted.account}`);
        assert(posted.outcome === 'posted', `break ${item.id} was corrected before`);
      }
      await requireEqual(tx, rail, seal, item);
      await endItems(tx, item, `corrected as ${input.as} by ${input.by}`, now);
    },
  };
}

export type Corrections = ReturnType<typeof openCorrections>;

const wrong = (why: string) => new Refusal('does_not_fit', { why });

const shown = ({ outsideUnits, ledgerUnits, foundAt, ...item }: store.ItemRow) => ({
  ...{ id: item.id, rail: item.rail, wallet: item.wallet, asset: item.asset, key: item.key, kind: item.kind },
  ...{ outsideUnits, ledgerUnits, differenceUnits: outsideUnits - ledgerUnits },
  ...{ transit: item.transit, why: item.why, names: item.names, foundAt },
});

/** Refuses an item that is still undecided: it is no break, because another action or its own end will book it. */
async function requireSettled(tx: Tx, item: store.ItemRow, rail: Rail): Promise<void> {
  const payout = await payoutByKey(tx, rail.code, item.key);
  if (payout !== undefined && payout.endedAt === null)
    throw wrong(
      `payout ${payout.id} is ${payout.state}: it ends by itself, or is settled by its evidence (payout settle-by)`,
    );
  if (rail.kind !== 'chain') return;
  const names = [...item.names, item.key];
  for (const { id, hash } of await waitingFound(tx, rail.code, MOST_MOVEMENTS))
    if (hash !== null && names.some((name) => name.startsWith(hash)))
      throw wrong(`movement ${id} waits to be matched (movement match) or declared not ours (movement foreign)`);
}

async function requireKind(
  tx: Tx,
  input: { as: Correction; item: store.ItemRow; rail: Rail; difference: bigint },
): Promise<void> {
  const { as, item, rail, difference } = input;
  if ((as === 'gone' || as === 'fee') && difference > 0n) throw wrong('the outside has more than the books, not less');
  if (as === 'found' && difference < 0n) throw wrong('the outside has less than the books: nothing was found');
  if (as === 'fee' && rail.kind === 'chain' && item.asset !== (await nativeOf(tx, rail)))
    throw wrong(`a chain charges its own coin, and the asset is ${item.asset}`);
  if (as === 'dust') {
    const below = await dustThreshold(tx, item.asset);
    if (below === undefined || (difference < 0n ? -difference : difference) >= below)
      throw wrong(`this amount of ${item.asset} is not dust (dust set defines below which amount it is)`);
  }
  if (as === 'sweep_undone' && !(rail.kind === 'chain' && item.key.startsWith('sweep:') && item.outsideUnits === 0n))
    throw wrong('it is no sweep that the chain does not show');
}

async function nativeOf(tx: Tx, rail: Rail): Promise<string | undefined> {
  return await (rail as { nativeAsset?: (tx: Tx) => Promise<string | undefined> }).nativeAsset?.(tx);
}

function accountOf(as: 'fee' | 'gone' | 'dust', rail: string, asset: string, difference: bigint): Account {
  if (as === 'fee') return chart.cost(rail, asset);
  return as === 'dust' && difference > 0n ? chart.rounding(asset) : chart.loss(asset);
}

/** Compares again, with the entry just posted and with entries posted since the last comparison. */
async function requireEqual(tx: Tx, rail: Rail, seal: bigint, item: store.ItemRow): Promise<void> {
  store.takenUpTo(tx, rail.code, await takeJournal(tx, rail, seal));
  for (const side of await store.openSides(tx, rail.code))
    if (side.key === item.key && side.asset === item.asset && side.outside !== side.booked)
      if (side.wallet === item.wallet || item.key.startsWith('sweep:'))
        throw wrong(
          'the two sides would not be equal by it: the books or the outside have moved on since they were compared',
        );
}

async function endItems(tx: Tx, corrected: store.ItemRow, outcome: string, now: Date): Promise<void> {
  const sides = await store.openSides(tx, corrected.rail);
  const unlike = new Set(sides.filter(({ outside, booked }) => outside !== booked).map(placeOf));
  for (const item of await store.openItems(tx, corrected.rail)) {
    if (item.key !== corrected.key || unlike.has(placeOf(item))) continue;
    await store.closeItem(tx, item.id);
    await closeCases(tx, { kind: item.kind, subject: subjectOf(item.rail, item), outcome, now });
  }
}

const placeOf = ({ key, wallet, asset }: { key: string; wallet: string; asset: string }): string =>
  `${wallet} ${asset} ${key}`;
