/**
 * Money of nobody: deposits without an order that no refund sends to an account of a customer. They came from somebody unknown, and left
 * to an address, to the account that they came from, or not at all. No erasure of a customer reaches what was typed about them. Nor does
 * one reach what was shared with a customer whose refund was cancelled after the others were erased: erased customers do not count here.
 *
 * For the same reason, a deposit of an order is nobody's once the order's customer is erased, if that erasure has left something of it: a
 * refund of it went to, or was to go to, somebody else, or it came, went back or had a case afterwards.
 *
 * So they are erased by the clock that keeps customers' data: when nothing of such a deposit waits, and nothing about it has changed for
 * the retention time, its texts, names and files are erased as those of a customer's deposit. The books stay. After a restore the clock
 * finds them again.
 */
import { later } from '../base/clock.ts';
import type { Tx } from '../base/db.ts';
import { eraseSenders } from '../customers/index.ts';
import { recordByMachine } from '../operators/index.ts';
import { type Erasing, eraseAbout } from './erase.ts';

const DAY_MS = 86_400_000;
/** In one run of the hourly job. */
const MOST = 200;

/** Cases about a deposit `d`, its refunds and their payouts. */
const CASE_SUBJECTS = `any(array['deposit:' || d.id, 'sanctions:deposit:' || d.id, 'address_risk:deposit:' || d.id]
  || array(select 'refund:' || r.id from refunds r where r.deposit_id = d.id)
  || array(select 'payout:' || p.id from payouts p join refunds r on r.id = p.refund_id where r.deposit_id = d.id))`;

/** Nothing of a deposit `d` waits, and nothing about it is newer than $1. $3: only this one, or null. */
const IS_OVER = `d.id = coalesce($3, d.id) and greatest(d.seen_at, d.confirmed_at) < $1
    and d.state not in ('seen', 'confirmed', 'suspense') and d.dormant_units = 0
    and (d.state in ('reversed', 'lost', 'written_off') or d.taken_units + d.refund_units >= d.units)
    and not exists (select from deposit_erasures e where e.deposit_id = d.id)
    and not exists (select from refunds r left join fiat_accounts a on a.id = r.fiat_account_id
        left join customers c on c.id = a.customer_id where r.deposit_id = d.id
      and (r.state not in ('settled', 'cancelled') or r.updated_at >= $1
        or (a.customer_id is not null and r.state <> 'cancelled' and c.erased_at is null)))
    and not exists (select from cases c where c.subject = ${CASE_SUBJECTS} and (c.closed_at is null or c.closed_at >= $1))
    and not exists (select from sanctions_hits h where h.owner = 'deposit:' || d.id
      and (h.state = 'open' or greatest(h.found_at, h.decided_at) >= $1))
    and not exists (select from address_hits h where h.owner = 'deposit:' || d.id
      and (h.state = 'open' or greatest(h.found_at, h.decided_at) >= $1))`;

/** $1: when the retention time began; $2: how many; $3: only this one, or null. */
const DUE = `select d.id from deposits d where d.order_id is null and ${IS_OVER}
  union all
  select d.id from erasures g join orders o on o.customer_id = g.customer_id join deposits d on d.order_id = o.id
    where g.erased_at is not null and o.updated_at < $1 and ${IS_OVER}
      and (greatest(d.seen_at, d.confirmed_at) > g.erased_at
        or exists (select from refunds r where r.deposit_id = d.id and (r.order_id is null or r.updated_at > g.erased_at))
        or exists (select from cases c where c.subject = ${CASE_SUBJECTS} and c.closed_at > g.erased_at))
  order by id limit $2`;

const due = (tx: Tx, q: { since: Date; limit: number; only: bigint | null }): Promise<{ id: bigint }[]> =>
  tx.rows<{ id: bigint }>(DUE, [q.since, q.limit, q.only]);

/**
 * Erases what is due, one transaction for each.
 *
 * @param o.afterDays the retention time
 * @returns number of deposits
 */
export async function eraseOwnerless(erasing: Erasing, o: { afterDays: number; now: Date }): Promise<number> {
  const { db, blobs } = erasing;
  const since = later(o.now, -o.afterDays * DAY_MS);
  const found = await db.asSystem((tx) => due(tx, { since, limit: MOST, only: null }));
  for (const { id } of found) {
    const files = await db.asSystem((tx) => eraseOne(tx, erasing, { id, since, now: o.now }));
    // Without their key, which is gone by now, they cannot be read in any case.
    for (const file of files) await blobs.remove(file);
  }
  return found.length;
}

/** @returns ids of files to remove from the store once `tx` has committed */
async function eraseOne(
  tx: Tx,
  { vault }: Erasing,
  { id, since, now }: { id: bigint; since: Date; now: Date },
): Promise<string[]> {
  const deposit = await tx.row<{ orderId: bigint | null }>('select order_id from deposits where id = $1 for update', [
    id,
  ]);
  // It may have been refunded or assigned since it was found.
  if ((await due(tx, { since, limit: 1, only: id })).length === 0) return [];
  const refunds = await tx.rows<{ id: bigint }>('select id from refunds where deposit_id = $1', [id]);
  const ids = refunds.map((one) => one.id);
  const payouts = await tx.rows<{ id: string }>('select id from payouts where refund_id = any($1::bigint[])', [ids]);
  const orders = deposit?.orderId == null ? [] : [deposit.orderId];
  const money = { orders, deposits: [id], refunds: ids, payouts: payouts.map((one) => one.id) };
  const accounts = await eraseSenders(tx, id);
  const { counts, files } = await eraseAbout(tx, vault, { money, now });
  await tx.run('insert into deposit_erasures (deposit_id, erased_at, erased) values ($1, $2, $3)', [
    ...[id, now, JSON.stringify({ accounts, ...counts })],
  ]);
  const reason = 'money of nobody, after the retention time';
  await recordByMachine(tx, { action: 'deposit.erase', subject: `deposit:${id}`, reason, now });
  return files;
}
