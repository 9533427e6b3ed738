/**
 * Watch: checks each order once money was seen for it, by all rules that are on, and opens a case for each match.
 *
 * A job reads deposits in the order in which they were seen, in batches and with a delay, because a transaction may commit
 * after another that began later. Its findings and its position are stored in one transaction, and a rule matches an order
 * once; so after a crash no finding is repeated, and two servers are serialized by the lock on the cursor. While no rule is on,
 * the cursor moves along: a new rule checks later orders, and `tryRule` earlier ones.
 *
 * It holds no money. The customer is not notified: events and partners get no information about it.
 */
import { type Clock, later } from '../base/clock.ts';
import type { Vault } from '../base/crypto.ts';
import type { Database, Tx } from '../base/db.ts';
import type { Handlers } from '../base/jobs.ts';
import { tellCase } from '../compliance/index.ts';
import { countryOfPhone, findCustomer, openContact } from '../customers/index.ts';
import {
  depositedSince,
  isFirstPaid,
  type MonitoredOrder,
  othersPaidAt,
  paidIn,
  tradedBefore,
} from '../orders/index.ts';
import { type Facts, judge, type RuleText, type Saw } from './rules.ts';
import { newestRules, type RuleRow, sql } from './store.ts';

/** A recurring job; its subject has no meaning. */
export const MONITOR = 'monitor_orders';
const EVERY_MS = 30_000;
/** Longer than any transaction that stores a deposit. */
const BEHIND_MS = 60_000;
const AT_ONCE = 100;
const DAY_MS = 86_400_000;
const WINDOW_MS = 30 * DAY_MS;
const LAST_ID = 2n ** 63n - 1n;

export interface MonitoringDeps {
  db: Database;
  vault: Vault;
  clock: Clock;
}

export const monitoringHandlers = ({ db, vault, clock }: MonitoringDeps): Handlers => ({
  async [MONITOR]() {
    const now = clock.now();
    const looked = await db.asSystem((tx) => look(tx, vault, now));
    return { againInMs: looked === AT_ONCE ? 0 : EVERY_MS };
  },
});

/** Checks the next batch. @returns the number of orders checked */
async function look(tx: Tx, vault: Vault, now: Date): Promise<number> {
  const until = later(now, -BEHIND_MS);
  await tx.run(sql.begin, [until, LAST_ID]);
  const cursor = await tx.row<{ seenAt: Date; depositId: bigint }>(sql.cursor);
  const rules = (await newestRules(tx)).filter(({ isOn }) => isOn);
  if (cursor === undefined || cursor.seenAt > until) return 0;
  if (rules.length === 0) {
    await tx.run(sql.move, [until, LAST_ID]);
    return 0;
  }
  const orders = await depositedSince(tx, cursor, until, AT_ONCE);
  for (const order of orders) {
    const facts = await factsOf(tx, vault, order);
    for (const rule of rules) {
      const saw = judge(textOf(rule), facts);
      if (saw !== undefined) await keep(tx, { rule, order, saw, now });
    }
  }
  const last = orders.at(-1);
  if (last !== undefined) await tx.run(sql.move, [last.seenAt, last.depositId]);
  return orders.length;
}

export const textOf = ({ kind, fiatAsset, worthUnits, count, days, withinBps }: RuleRow): RuleText => ({
  ...{ kind, fiat: fiatAsset, worthUnits, count, days, withinBps },
});

async function factsOf(tx: Tx, vault: Vault, order: MonitoredOrder): Promise<Facts> {
  const { customerId, createdAt, payoutAddress: address } = order;
  const customer = await findCustomer(tx, customerId);
  const { phone } = await openContact(tx, vault, customerId);
  return {
    order,
    before: await tradedBefore(tx, order, later(createdAt, -WINDOW_MS)),
    isFirst: await isFirstPaid(tx, order),
    othersAtWallet: address === null ? 0 : await othersPaidAt(tx, { address, until: createdAt, customerId }),
    country: ['partner', 'form'].includes(customer.countryBy ?? '') ? customer.country : undefined,
    phoneCountry: phone === undefined ? undefined : countryOfPhone(phone),
  };
}

async function keep(tx: Tx, f: { rule: RuleRow; order: MonitoredOrder; saw: Saw; now: Date }): Promise<void> {
  const { rule, order, saw, now } = f;
  const { id, name, version } = rule;
  const found = [id, order.orderId, order.customerId, JSON.stringify(saw), now];
  if ((await tx.run(sql.insertFinding, found)) === 0) return;
  await tellCase(tx, {
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
 * The matches that a rule would have had in orders created in a span, without storing anything. Wallets and orders count as of
 * that time, states and countries as of now.
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
    const saw = judge(t.rule, await factsOf(tx, vault, order));
    const { orderId, customerId, createdAt } = order;
    if (saw !== undefined) found.push({ orderId, customerId, createdAt, saw });
  }
  const last = looked.at(-1);
  const isMore = orders.length > MOST_TRIED && last !== undefined;
  return { looked: looked.length, found, next: isMore ? { from: last.createdAt, after: last.orderId } : null };
}
