/** Orders that match a partner's filters, page by page, newest first. */
import type { Vault } from '../../base/crypto.ts';
import type { Tx } from '../../base/db.ts';
import { scan } from '../../base/scan.ts';
import { textsLike } from '../../base/texts.ts';
import type { OrderState } from '../machine.ts';
import type { Order } from '../store.ts';
import * as store from '../store.ts';
import { ordersBelow } from './lists.store.ts';
import { listOrders } from './lists.ts';
import { opened } from './opened.ts';
import { publicState } from './public.ts';

/** @see Orders.page */
export interface OrderPage {
  partnerId: bigint;
  customerId?: string | undefined;
  marketId?: bigint | undefined;
  state?: OrderState | undefined;
  /** The partner's own reference, as the partner sent it. */
  reference?: string | undefined;
  from?: Date | undefined;
  until?: Date | undefined;
  below?: bigint | undefined;
  limit: number;
}

/** @see Orders.page */
export async function page(
  vault: Vault,
  tx: Tx,
  { reference, ...input }: OrderPage,
): Promise<{ orders: Order[]; next: bigint | null }> {
  if (reference !== undefined) {
    const named = await store.ofReference(tx, textsLike(vault, input.partnerId, reference));
    const fitting = named.filter(
      (order) =>
        (input.customerId === undefined || order.customerId === input.customerId) &&
        (input.marketId === undefined || order.marketId === input.marketId) &&
        (input.state === undefined || publicState(order.state) === input.state) &&
        (input.from === undefined || order.createdAt >= input.from) &&
        (input.until === undefined || order.createdAt < input.until) &&
        (input.below === undefined || order.id < input.below),
    );
    const shown = fitting.slice(0, input.limit).map((order) => opened(vault, order));
    return { orders: shown, next: fitting.length > input.limit ? (shown.at(-1)?.id ?? null) : null };
  }
  // An order blocked by law is shown as held, also in lists.
  const { rows, next } =
    input.state === 'on_hold'
      ? await scan({ after: input.below, limit: input.limit, isFiltered: true }, async (below, count) =>
          (await ordersBelow(tx, { ...input, state: undefined }, below, count)).map(({ row, fits }) => ({
            row,
            fits: fits && publicState(row.state) === 'on_hold',
          })),
        )
      : await listOrders(tx, input);
  const ids = rows.map(({ id }) => id);
  const found = new Map((await store.named(tx, ids)).map((order) => [order.id, order]));
  return { orders: ids.flatMap((id) => found.get(id) ?? []).map((order) => opened(vault, order)), next };
}
