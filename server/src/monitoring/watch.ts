/**
 * Watch: checks each order once money was seen for it, by all rules that are on, and opens a case for each match. Rules about
 * who is paid where check it again when a payout or refund is created: otherwise two orders that have received money and are not
 * paid out yet would never match each other.
 *
 * A job reads deposits in the order in which they were seen, and payouts as they were written, in batches and with a delay,
 * because a transaction may commit after another that began later. Its findings and its position are stored in one transaction,
 * and a rule matches an order once; so after a crash no finding is repeated, and two servers are serialized by the lock on the
 * cursor. While no rule is on, the cursor moves along: a new rule checks later orders, and `tryRule` earlier ones.
 *
 * It holds no money. The customer is not notified: events and partners get no information about it.
 */
import { type Clock, later } from '../base/clock.ts';
import type { Vault } from '../base/crypto.ts';
import type { Database, Tx } from '../base/db.ts';
import type { Handlers } from '../base/jobs.ts';
import { upsertCase } from '../compliance/index.ts';
import { depositedSince, type MonitoredOrder, paidIn, paidSince } from '../orders/index.ts';
import { indexPayers } from '../rails/bank.ts';
import { factsOf } from './facts.ts';
import { judge, OF_PAYOUTS, type RuleText, type Saw } from './rules.ts';
import { type CursorRow, newestRules, type RuleRow, sql } from './store.ts';

/** A recurring job; its subject has no meaning. */
export const MONITOR = 'monitor_orders';
const EVERY_MS = 30_000;
/** Longer than any transaction that stores a deposit. */
const BEHIND_MS = 60_000;
const AT_ONCE = 100;
const LAST_ID = 2n ** 63n - 1n;

export interface MonitoringDeps {
  db: Database;
  vault: Vault;
  clock: Clock;
}

export const monitoringHandlers = ({ db, vault, clock }: MonitoringDeps): Handlers => ({
  async [MONITOR]() {
    const now = clock.now();
    // First, so that deposits are compared with all that were seen before them.
    const { isAll } = await indexPayers(db, vault);
    const looked = await db.asSystem((tx) => look(tx, vault, now));
    const lookedPaid = await db.asSystem((tx) => lookPaid(tx, vault, now));
    return { againInMs: isAll && looked < AT_ONCE && lookedPaid < AT_ONCE ? EVERY_MS : 0 };
  },
});

/** The rules that are on, and the position; undefined while there is nothing to check. */
async function begin(tx: Tx, until: Date): Promise<{ cursor: CursorRow; rules: RuleRow[] } | undefined> {
  await tx.run(sql.begin, [until, LAST_ID]);
  const cursor = await tx.row<CursorRow>(sql.cursor);
  return cursor && { cursor, rules: (await newestRules(tx)).filter(({ isOn }) => isOn) };
}

/** Checks the orders of the next batch of deposits. @returns the number of orders checked */
async function look(tx: Tx, vault: Vault, now: Date): Promise<number> {
  const until = later(now, -BEHIND_MS);
  const begun = await begin(tx, until);
  if (begun === undefined || begun.cursor.seenAt > until) return 0;
  const { cursor, rules } = begun;
  if (rules.length === 0) {
    await tx.run(sql.move, [until, LAST_ID]);
    return 0;
  }
  const orders = await depositedSince(tx, cursor, until, AT_ONCE);
  for (const order of orders) await check(tx, vault, { order, rules, now });
  const last = orders.at(-1);
  if (last !== undefined) await tx.run(sql.move, [last.seenAt, last.depositId]);
  return orders.length;
}

/**
 * Checks the orders of the next batch of payouts and refunds, by the rules about who is paid where. @returns the number of orders
 * checked
 */
async function lookPaid(tx: Tx, vault: Vault, now: Date): Promise<number> {
  const until = later(now, -BEHIND_MS);
  const begun = await begin(tx, until);
  if (begun === undefined) return 0;
  const { paidAt, payoutId } = begun.cursor;
  if (paidAt !== null && paidAt > until) return 0;
  const rules = begun.rules.filter(({ kind }) => OF_PAYOUTS.includes(kind));
  const isDue = paidAt !== null && rules.length > 0;
  const orders = isDue ? await paidSince(tx, { paidAt, payoutId }, until, AT_ONCE) : [];
  for (const order of orders) await check(tx, vault, { order, rules, now });
  const last = orders.length === AT_ONCE ? orders.at(-1) : undefined;
  await tx.run(sql.movePaid, [last?.paidAt ?? until, last?.payoutId ?? null]);
  return orders.length;
}

async function check(
  tx: Tx,
  vault: Vault,
  { order, rules, now }: { order: MonitoredOrder; rules: readonly RuleRow[]; now: Date },
): Promise<void> {
  const facts = await factsOf(tx, vault, { order, kinds: rules.map(({ kind }) => kind) });
  for (const rule of rules) {
    const saw = judge(textOf(rule), facts);
    if (saw !== undefined) await keep(tx, { rule, order, saw, now });
  }
}

export const textOf = ({ kind, fiatAsset, worthUnits, count, days, withinBps }: RuleRow): RuleText => ({
  ...{ kind, fiat: fiatAsset, worthUnits, count, days, withinBps },
});

async function keep(tx: Tx, f: { rule: RuleRow; order: MonitoredOrder; saw: Saw; now: Date }): Promise<void> {
  const { rule, order, saw, now } = f;
  const { id, name, version } = rule;
  const found = [id, order.orderId, order.customerId, JSON.stringify(saw), now];
  if ((await tx.run(sql.insertFinding, found)) === 0) return;
  await upsertCase(tx, {
    ...{ kind: 'monitoring', subject: `customer:${order.customerId}`, now },
    reason: `the rule ${name}, version ${version}, found something in order ${order.orderId}`,
    facts: { rule: name, version, order: String(order.orderId), saw },
  });
}

export interface Tried {
  orderId: bigint;
  customerId: string;
  createdAt: Date;
  saw: Saw;
}

/** Maximum orders that one dry run checks. */
export const MOST_TRIED = 500;

/**
 * The matches that a rule would have had in orders created in a span, without storing anything. Wallets, accounts and orders count
 * as of that time, states and countries as of now.
 *
 * @returns `next`: where to continue, if there are more than MOST_TRIED
 */
export async function tryRule(
  tx: Tx,
  vault: Vault,
  t: { rule: RuleText; from: Date; until: Date; after?: bigint | undefined },
): Promise<{ looked: number; found: Tried[]; next: { from: Date; after: bigint } | null }> {
  const after = { createdAt: t.from, orderId: t.after ?? 0n };
  const orders = await paidIn(tx, { after, until: t.until, limit: MOST_TRIED + 1 });
  const looked = orders.slice(0, MOST_TRIED);
  const found: Tried[] = [];
  for (const order of looked) {
    const saw = judge(t.rule, await factsOf(tx, vault, { order, kinds: [t.rule.kind] }));
    const { orderId, customerId, createdAt } = order;
    if (saw !== undefined) found.push({ orderId, customerId, createdAt, saw });
  }
  const last = looked.at(-1);
  const isMore = orders.length > MOST_TRIED && last !== undefined;
  return { looked: looked.length, found, next: isMore ? { from: last.createdAt, after: last.orderId } : null };
}
