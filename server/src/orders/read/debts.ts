/** List of debts: what customers owe, since when, and the orders whose deposits were reversed. */
import type { Tx } from '../../base/db.ts';
import { type Debt, debtsAfter } from '../../ledger/index.ts';
import { lostTo } from './lists.store.ts';

/** Maximum number of orders listed with a debt. A customer who owes for more of them has a case for each. */
const MOST_NAMED = 20;

export interface DebtLine extends Debt {
  /** Orders whose deposits are owed, oldest first. */
  orderIds: bigint[];
}

/** Debts by customer and asset, the oldest first. */
export async function listDebts(
  tx: Tx,
  input: Omit<Parameters<typeof debtsAfter>[1], 'after'> & { after?: bigint | undefined },
): Promise<{ debts: DebtLine[]; next: bigint | null }> {
  const found = await debtsAfter(tx, { ...input, after: input.after ?? 0n, limit: input.limit + 1 });
  const page = found.slice(0, input.limit);
  const owed = await lostTo(
    tx,
    page.map(({ account }) => account),
    MOST_NAMED,
  );
  const debts = page.map((one) => ({ ...one, orderIds: owed.get(one.account) ?? [] }));
  return { debts, next: found.length > page.length ? (page.at(-1)?.id ?? null) : null };
}
