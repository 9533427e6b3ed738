/** Orders that are blocked by law: none of their money moves until a legal release is on record. */
import type { Tx } from '../../base/db.ts';
import { isPosted } from '../../ledger/index.ts';
import type { Order } from '../store.ts';

/** Id of the entry that a legal release posts. */
export const releaseEntry = ({ id }: Pick<Order, 'id'>): string => `ord_${id}:released`;

/**
 * Whether an order is blocked by law and not released. Also applies to money in suspense beside the order: a second deposit, an
 * excess.
 */
export const isBlockedByLaw = async (tx: Tx, order: Pick<Order, 'id' | 'state'>): Promise<boolean> =>
  order.state === 'frozen' && !(await isPosted(tx, releaseEntry(order)));
