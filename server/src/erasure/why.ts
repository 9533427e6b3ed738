/**
 * Why a customer cannot be erased now, and legal holds.
 *
 * Money must stay explainable: its payer and payee have to be known until it is final. So an open order, money that is
 * unassigned, under way or owed, and an open case each refuse the erasure.
 */
import { later } from '../base/clock.ts';
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import { findCustomer } from '../customers/index.ts';
import { balance, chart } from '../ledger/index.ts';
import { lastOrderOrRefund, STATES, selectOf } from '../orders/index.ts';
import { assets } from '../partners/index.ts';

export interface Hold {
  readonly placedAt: Date;
  readonly placedBy: string;
  /** Reason, as the operator API encrypted it. */
  readonly reason: string;
}

const DAY_MS = 86_400_000;
/** A refusal names this many obstacles of a kind; a new attempt names the next ones. */
const NAMED = 5;
const OVER = Object.entries(STATES)
  .filter(([state, { final }]) => final && state !== 'frozen')
  .map(([state]) => state);

/** Each statement returns the ids of the obstacles. */
const OBSTACLES: readonly [what: string, text: string][] = [
  // A frozen order's money is held by law.
  ['orders are open', `select id::text from orders where customer_id = $1 and not state = any($2::text[])`],
  [
    'deposits are in suspense or not confirmed',
    `select d.id::text from deposits d where d.id in (${selectOf.deposits()})
       and (d.state in ('seen', 'suspense') or d.dormant_units > 0 or d.dust
         or (d.state in ('confirmed', 'applied', 'refunded') and d.taken_units + d.refund_units < d.units))`,
  ],
  [
    'refunds are under way',
    `select r.id::text from refunds r where r.id in (${selectOf.refunds()}) and r.state not in ('settled', 'cancelled')`,
  ],
  ['payouts are under way', `select p.id from payouts p where p.id in (${selectOf.payouts()}) and p.ended_at is null`],
  [
    'cases are open',
    `select c.id::text from cases c where c.closed_at is null
       and (c.subject in ('customer:' || $1, $1, 'sanctions:customer:' || $1, 'address_risk:customer:' || $1)
         or c.subject in (select 'information:' || i.id from information_requests i where i.customer_id = $1)
         or c.order_id in (select id from orders where customer_id = $1)
         or c.subject in (select 'deposit:' || id from (${selectOf.deposits()}) as d)
         or c.subject in (select 'refund:' || id from (${selectOf.refunds()}) as r)
         or c.subject in (select 'payout:' || id from (${selectOf.payouts()}) as p))`,
  ],
  [
    'hits in sanctions lists are undecided',
    `select h.id::text from sanctions_hits h where h.state = 'open' and (h.owner = 'customer:' || $1
       or h.owner in (select 'deposit:' || id from (${selectOf.deposits()}) as d))`,
  ],
  [
    'hits of address risk are undecided',
    `select h.id::text from address_hits h where h.state = 'open' and (h.owner = 'customer:' || $1
       or h.owner in (select 'deposit:' || id from (${selectOf.deposits()}) as d))`,
  ],
  [
    'requests for information are open',
    `select id::text from information_requests where customer_id = $1 and state = 'open'`,
  ],
  ['a verification is in review', `select id::text from submissions where customer_id = $1 and state = 'in_review'`],
];

/**
 * Sentences with the reasons against an erasure, each with its subject; empty if the customer can be erased.
 *
 * @param afterDays after the customer's last order or refund
 */
export async function whyNot(tx: Tx, c: { customerId: string; afterDays: number; now: Date }): Promise<string[]> {
  const { customerId: id } = c;
  const customer = await findCustomer(tx, id);
  const reasons: string[] = [];
  if ((await holdOf(tx, id)) !== undefined) reasons.push('a legal hold is placed');
  for (const [what, text] of OBSTACLES) {
    const values = text.includes('$2') ? [id, OVER] : [id];
    const found = await tx.rows<{ id: string }>(`${text} order by 1 limit ${NAMED}`, values);
    if (found.length > 0) reasons.push(`${what}: ${found.map((one) => one.id).join(', ')}`);
  }
  for (const asset of (await assets(tx)).keys()) {
    const { units } = await balance(tx, chart.receivable(id, customer.partnerId, asset));
    if (units > 0n) reasons.push(`it owes money in ${asset}`);
  }
  const last = await lastOrderOrRefund(tx, id);
  const from = last && later(last, c.afterDays * DAY_MS);
  if (from !== undefined && c.now < from)
    reasons.push(`its last order or refund has to be kept until ${from.toISOString()}`);
  return reasons;
}

/** @throws Refusal 'unknown_customer' | 'erasure_refused' with every reason */
export async function requireErasable(tx: Tx, c: { customerId: string; afterDays: number; now: Date }): Promise<void> {
  const reasons = await whyNot(tx, c);
  if (reasons.length > 0)
    throw new Refusal('erasure_refused', { why: `The customer cannot be erased: ${reasons.join('; ')}.` });
}

/** The legal hold that is placed now. */
export const holdOf = (tx: Tx, customerId: string): Promise<Hold | undefined> =>
  tx.row<Hold>('select placed_at, placed_by, reason from legal_holds where customer_id = $1 and lifted_at is null', [
    customerId,
  ]);

/** Whether a case is about a customer under a legal hold, or about its orders, deposits or payouts. */
export const isCaseHeld = async (tx: Tx, caseId: bigint): Promise<boolean> =>
  (await tx.row(
    `select from cases c where c.id = $1 and exists (
      select from legal_holds h where h.lifted_at is null and (c.subject = 'customer:' || h.customer_id
        or c.order_id in (select id from orders where customer_id = h.customer_id)
        or c.subject in (select 'deposit:' || id from (${selectOf.deposits('h.customer_id')}) as d)
        or c.subject in (select 'refund:' || id from (${selectOf.refunds('h.customer_id')}) as r)
        or c.subject in (select 'payout:' || id from (${selectOf.payouts('h.customer_id')}) as p)))`,
    [caseId],
  )) !== undefined;

/**
 * Places a legal hold. A new hold replaces the present one, so that an older proposal to lift the earlier hold does not lift
 * this one.
 */
export async function placeHold(
  tx: Tx,
  h: { customerId: string; by: string; reason: string; now: Date },
): Promise<void> {
  const before = await holdOf(tx, h.customerId);
  const at = before === undefined || before.placedAt < h.now ? h.now : later(before.placedAt, 1);
  if (before !== undefined) await liftHold(tx, { ...h, why: 'placed again', now: at });
  await tx.run('insert into legal_holds (customer_id, placed_at, placed_by, reason) values ($1, $2, $3, $4)', [
    ...[h.customerId, at, h.by, h.reason],
  ]);
}

export async function liftHold(tx: Tx, h: { customerId: string; by: string; why: string; now: Date }): Promise<void> {
  await tx.run(
    `update legal_holds set lifted_at = $2, lifted_by = $3, lifted_why = $4 where customer_id = $1 and lifted_at is null`,
    [h.customerId, h.now, h.by, h.why],
  );
}

/** Erases what operators typed about the customer's legal holds. @returns number of changed rows */
export const eraseHolds = (tx: Tx, customerId: string): Promise<number> =>
  tx.run(
    `update legal_holds set reason = without_typed(reason), lifted_why = without_typed(lifted_why)
      where customer_id = $1 and concat_ws(' ', reason, lifted_why) like '%enc:op1:%'`,
    [customerId],
  );
