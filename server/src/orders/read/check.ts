/**
 * Checks that every order, its accounts and its history agree. Reads one page at a time, so the number of orders does not matter.
 *
 * An order's accounts hold what its state says, and an ended order holds nothing of any asset; its history has no gap,
 * contains only transitions of the machine's table, and ends in the order's state.
 */
import type { Tx } from '../../base/db.ts';
import { type Balance, balancesOfOrders } from '../../ledger/index.ts';
import * as historyStore from '../history.store.ts';
import { isFinal, next, type OrderEvent, type OrderState } from '../machine.ts';
import * as pageStore from './pages.store.ts';
import { invariantBroken } from './trace.ts';

const PAGE = 1_000;

/** @returns the number of orders; `tell` is called with each problem found */
export async function checkOrders(tx: Tx, tell: (orderId: bigint, why: string) => void): Promise<bigint> {
  let count = 0n;
  for (let after = -1n; ; ) {
    const orders = await pageStore.pageOf(tx, after, PAGE);
    const ids = orders.map(({ id }) => id);
    const balances = Map.groupBy(await balancesOfOrders(tx, ids), ({ orderId }) => orderId);
    const history = Map.groupBy(await historyStore.stepsOf(tx, ids), ({ orderId }) => orderId);
    for (const order of orders) {
      const held: Balance[] = balances.get(order.id) ?? [];
      const broken = invariantBroken(order, held);
      if (broken !== '') tell(order.id, broken);
      else if (isFinal(order.state)) {
        const left = held.find(({ units, heldUnits }) => units !== 0n || heldUnits !== 0n);
        if (left !== undefined) tell(order.id, `it is over and ${left.code} holds ${left.units}`);
      }
      const gap = brokenHistory(order.state, history.get(order.id) ?? []);
      if (gap !== undefined) tell(order.id, gap);
    }
    count += BigInt(orders.length);
    if (orders.length < PAGE) return count;
    after = ids.at(-1) ?? after;
  }
}

interface Step {
  version: number;
  stateFrom: string;
  event: string;
  stateTo: string;
}

/** The first problem in the history of an order in this state, oldest step first; undefined if there is none. */
export function brokenHistory(state: OrderState, steps: readonly Step[]): string | undefined {
  let at = 'none';
  for (const [index, { version, stateFrom, event, stateTo }] of steps.entries()) {
    if (version !== index) return `step ${index} of its history is missing`;
    if (stateFrom !== at) return `its history goes from ${at} on as ${stateFrom}`;
    const begins = index === 0 && stateTo === 'created';
    if (!begins && next(stateFrom as OrderState, event as OrderEvent)?.to !== stateTo)
      return `its history goes from ${stateFrom} on ${event} to ${stateTo}, which is no row of the machine`;
    at = stateTo;
  }
  return at === state ? undefined : `it is ${state} and its history ends with ${at}`;
}
