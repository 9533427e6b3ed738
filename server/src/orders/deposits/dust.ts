/**
 * Writing off dust: books an unclaimed amount in suspense that is too small to handle as rounding, which ends its deposit. Two
 * operators approve it: for one deposit that has a case, or for many of an asset at once, oldest first.
 *
 * A later claim is paid as goodwill, from the operator's own money. A deposit is never written off if it is held, named by a
 * refund, belongs to an order blocked by law or to a blocked customer, or was paid by somebody who may be on a sanctions list
 * or was not compared with them yet.
 *
 * Not here: what dust is (dust.store.ts), reconciliation breaks that are dust (reconcile/correct.ts).
 */
import type { Tx } from '../../base/db.ts';
import { defined } from '../../base/defined.ts';
import { assert, Refusal } from '../../base/errors.ts';
import { closeCases } from '../../compliance/index.ts';
import { findCustomer } from '../../customers/index.ts';
import { chart, move, post } from '../../ledger/index.ts';
import * as store from '../store.ts';
import { wakeDeposit } from './dormant.ts';
import { dustThreshold, oldestDust } from './dust.store.ts';
import { areHeld } from './held.store.ts';
import { type Compares, whyNotCleared } from './listed.ts';
import type { DepositRow } from './store.ts';
import * as depositStore from './store.ts';

/** All of these are written off in one transaction, with one entry each, which takes far less than the statement timeout. */
export const MAX_DUST = 200;

export interface DustInput {
  asset: string;
  /** Only deposits seen before this time. */
  before: Date;
  /** At most this many, oldest first. */
  most: number;
}

export interface DustPile {
  asset: string;
  count: number;
  units: bigint;
  /** Ids of the deposits. Only these are written off. */
  deposits: string[];
}

const unfit = (why: string) => new Refusal('does_not_fit', { why });

/** What would be written off now. Locks every order, then every deposit. */
export async function lookDust(context: Compares, tx: Tx, input: DustInput): Promise<DustPile> {
  return pileOf(input, await lockDust(context, tx, input));
}

const pileOf = ({ asset }: DustInput, rows: readonly DepositRow[]): DustPile => ({
  asset,
  count: rows.length,
  units: rows.reduce((sum, row) => sum + row.units, 0n),
  deposits: rows.map(({ id }) => String(id)),
});

async function lockDust(context: Compares, tx: Tx, { asset, before, most }: DustInput): Promise<DepositRow[]> {
  const known = await oldestDust(tx, { asset, before, most });
  const orders = [...new Set(known.flatMap(({ orderId: id }) => (id === null ? [] : [id])))].sort(byNumber);
  for (const id of orders) await store.lock(tx, id);
  const rows: DepositRow[] = [];
  for (const { id } of known.sort((a, b) => byNumber(a.id, b.id))) {
    const row = await depositStore.lockDepositById(tx, id);
    if (row?.dust === true && (await keptFrom(context, tx, row)) === undefined) rows.push(row);
  }
  return rows;
}

const byNumber = (a: bigint, b: bigint): number => (a < b ? -1 : 1);

/** Why a deposit is not written off; undefined if it may be. */
async function keptFrom(context: Compares, tx: Tx, row: DepositRow): Promise<string | undefined> {
  if (row.state !== 'suspense' || row.takenUnits > 0n) return 'only a part of it is in suspense';
  if (row.refundUnits > 0n) return 'a refund names some of it';
  if (await areHeld(tx, [row])) return 'an operator holds it: release it first';
  const listed = await whyNotCleared(context, tx, row.id);
  if (listed !== undefined) return listed;
  const order = row.orderId === null ? undefined : await store.get(tx, row.orderId);
  if (order === undefined) return undefined;
  if (order.state === 'frozen') return 'its order is blocked by law';
  return (await findCustomer(tx, order.customerId)).blocked ? 'its customer is blocked' : undefined;
}

/** @throws Refusal 'does_not_fit' if no deposit may be written off */
export async function writeOffDust(
  context: Compares,
  tx: Tx,
  input: DustInput & { by: string; now: Date },
): Promise<DustPile> {
  const rows = await lockDust(context, tx, input);
  if (rows.length === 0) throw unfit(`no dust of ${input.asset} that may be written off came before that`);
  for (const row of rows) await writeOff(tx, row, input);
  return pileOf(input, rows);
}

/**
 * Checks that a deposit with a case may be written off as dust: it must be below its asset's threshold now.
 *
 * @param row locked, after its order
 * @throws Refusal 'does_not_fit'
 */
export async function requireDust(context: Compares, tx: Tx, row: DepositRow): Promise<void> {
  const below = await dustThreshold(tx, row.asset);
  if (below === undefined || row.units >= below)
    throw unfit(`this amount of ${row.asset} is not dust (dust set defines below which amount it is)`);
  const why = await keptFrom(context, tx, row);
  if (why !== undefined) throw unfit(why);
}

/** @param row locked, and checked */
export async function writeOff(tx: Tx, row: DepositRow, { by, now }: { by: string; now: Date }): Promise<void> {
  await wakeDeposit(tx, row, { by, why: 'it is written off', now });
  const { id, rail, asset, units, orderId, reference } = row;
  const rounding = chart.rounding(asset);
  const posted = await post(tx, {
    id: `dust_${id}`,
    kind: 'dust_written_off',
    ...defined({ orderId: orderId ?? undefined }),
    at: now,
    facts: { deposit: String(id), reference, by },
    lines: move(chart.suspense(rail, asset), rounding, units),
  });
  assert(posted.outcome === 'posted', `deposit ${id} is not in suspense`);
  await depositStore.changeDeposit(tx, id, { state: 'written_off', bookedTo: rounding.code, dust: true });
  await closeCases(tx, { subject: `deposit:${id}`, outcome: `written off as dust by ${by}`, now });
}
