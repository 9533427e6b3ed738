/**
 * Erasing, in steps that may each be the last before a crash:
 *
 * 1. `orderErasure`: a row says that the customer is to be erased, and blocks it. Refusals were checked in the same
 * transaction.
 * 2. Its id is appended to the list outside the database and flushed to disk.
 * 3. What the protocols keep of its requests is emptied, and then all personal data is overwritten or deleted, in one transaction that
 * also records the time and how many rows of each kind were erased.
 * 4. Its files are removed from the store. Without the customer's key, which step 3 deletes, they cannot be read any more
 * anyway.
 *
 * `replayErasures` continues a stopped process's erasures, and repeats 3 and 4 for every customer of the list that a restore
 * has brought back. It runs before a server accepts requests.
 */
import type { Blobs } from '../base/blobs.ts';
import { later } from '../base/clock.ts';
import type { Vault } from '../base/crypto.ts';
import type { Database, Tx } from '../base/db.ts';
import type { ErasureList } from '../base/erasurelist.ts';
import { Refusal } from '../base/errors.ts';
import {
  closeCases,
  eraseAddressHits,
  eraseAttachments,
  eraseCaseTexts,
  eraseDecisions,
  eraseScreenings,
  eraseTravelData,
} from '../compliance/index.ts';
import {
  blockCustomer,
  eraseCustomerRows,
  fiatAccounts,
  findCustomer,
  lockAgainstOrders,
  lockCustomer,
  marksOf,
} from '../customers/index.ts';
import { eraseTexts } from '../events/index.ts';
import { chart, eraseEntryTexts } from '../ledger/index.ts';
import { eraseAuditTexts, recordByMachine } from '../operators/index.ts';
import { eraseOrderTexts, moneyOf } from '../orders/index.ts';
import { assets } from '../partners/index.ts';
import { eraseDetails } from '../rails/bank.ts';
import { eraseHolds, requireErasable } from './why.ts';

export interface Erasing {
  readonly db: Pick<Database, 'asSystem'>;
  readonly vault: Vault;
  readonly blobs: Blobs;
  readonly list: ErasureList;
  /** How long backups are kept. */
  readonly backupsKeptDays: number;
  /**
   * Empties what the protocols keep of the customer's requests, outside of any transaction. Repeating it has no further effect.
   *
   * @param of.marks texts that show that a stored reply is about the customer
   * @returns number of emptied rows, by kind
   */
  readonly eraseRequests: (of: RequestsOf) => Promise<Readonly<Record<string, number>>>;
}

export interface RequestsOf {
  readonly partnerId: bigint;
  readonly customerId: string;
  readonly phone?: string;
  readonly marks: readonly string[];
}

export interface Erased {
  readonly orderedAt: Date;
  readonly orderedBy: string;
  readonly erasedAt: Date | null;
  /** When the last backup that contains the customer's data and key is deleted. */
  readonly backupsEndAt: Date | null;
}

const DAY_MS = 86_400_000;
const AT_ONCE = 500;
const BY = 'the machine';

export const erasureOf = (tx: Tx, customerId: string): Promise<Erased | undefined> =>
  tx.row<Erased>('select ordered_at, ordered_by, erased_at, backups_end_at from erasures where customer_id = $1', [
    customerId,
  ]);

/** Step 1. The caller has checked in this transaction that nothing prevents it. */
export async function orderErasure(tx: Tx, e: { customerId: string; by: string; now: Date }): Promise<void> {
  await tx.run(
    'insert into erasures (customer_id, ordered_at, ordered_by) values ($1, $2, $3) on conflict (customer_id) do nothing',
    [e.customerId, e.now, e.by],
  );
  await blockCustomer(tx, e.customerId, e.now);
}

/**
 * Steps 2 to 4, for a customer whose erasure was ordered. Repeating them has no further effect.
 *
 * @throws Refusal 'erasure_refused' when an order was created before the block took effect; nothing is erased then
 */
export async function erase(deps: Erasing, customerId: string, now: Date): Promise<void> {
  await deps.db.asSystem(async (tx) => {
    await lockAgainstOrders(tx, customerId);
    await requireErasable(tx, { customerId, afterDays: 0, now });
  });
  await deps.list.add(customerId);
  await eraseNow(deps, customerId, now);
}

async function eraseNow(deps: Erasing, customerId: string, now: Date): Promise<void> {
  const { db, vault, blobs } = deps;
  const about = await db.asSystem(async (tx) => {
    const { partnerId } = await findCustomer(tx, customerId);
    return { customerId, partnerId, ...(await marksOf(tx, vault, customerId)) };
  });
  const requests = await deps.eraseRequests(about);
  const files = await db.asSystem((tx) => eraseRows(deps, tx, { ...about, requests, now }));
  for (const file of files) await blobs.remove(file);
}

/** @returns ids of files to remove from the store once `tx` has committed */
async function eraseRows(
  { vault, backupsKeptDays }: Erasing,
  tx: Tx,
  e: { customerId: string; partnerId: bigint; requests: Readonly<Record<string, number>>; now: Date },
): Promise<string[]> {
  const { customerId, partnerId, now } = e;
  await lockCustomer(tx, customerId);
  const money = await moneyOf(tx, customerId, { isLocked: true });
  const removed = await eraseCustomerRows(tx, { customerId, deposits: money.deposits, now });
  const requests = removed.requests.map((id) => `information:${id}`);
  // Such a case is still open only if the customer was erased before and a restore brought it back.
  for (const subject of requests) await closeCases(tx, { subject, outcome: 'erased', now });
  const accounts = [...(await assets(tx)).keys()].map((asset) => chart.receivable(customerId, partnerId, asset).code);
  const travelRule = await eraseTravelData(tx, customerId);
  const holds = await eraseHolds(tx, customerId);
  const about = { customerId, partOf: [...money.shared, ...money.ofCancelled], accounts, requests };
  const { counts: ofMoney, files } = await eraseAbout(tx, vault, { money, about, now });
  const counts = { ...removed.counts, ...ofMoney, travel_rule: travelRule, legal_holds: holds, ...e.requests };
  await tx.run(
    `update erasures set erased_at = coalesce(erased_at, $2), erased = coalesce(erased, $4::jsonb),
      backups_end_at = case when erased is null then $3 else coalesce(backups_end_at, $3) end where customer_id = $1`,
    [customerId, now, later(now, backupsKeptDays * DAY_MS), JSON.stringify(counts)],
  );
  return [...removed.files, ...files];
}

type Money = Omit<Awaited<ReturnType<typeof moneyOf>>, 'shared' | 'ofCancelled'>;

/**
 * Erases texts, names and files about money, beside the rows of its customer: screening, decisions, cases, statement lines, the audit.
 *
 * @param e.about the customer with its accounts of the books, the questions about it, and deposits of which it has only a part,
 *   or only a cancelled refund; undefined for money of nobody
 * @returns number of changed rows by kind, and ids of files to remove from the store once `tx` has committed
 */
export async function eraseAbout(
  tx: Tx,
  vault: Vault,
  e: {
    money: Money;
    about?: { customerId: string; partOf: readonly bigint[]; accounts: readonly string[]; requests: readonly string[] };
    now: Date;
  },
): Promise<{ counts: Record<string, number>; files: string[] }> {
  const { about, now } = e;
  const { orders, deposits, refunds, payouts } = e.money;
  const { customerId = '', partOf = [], accounts = [], requests = [] } = about ?? {};
  const own = about === undefined ? [] : (await fiatAccounts(tx, customerId)).map(({ id }) => id);
  const owners = [...(about === undefined ? [] : [`customer:${customerId}`]), ...deposits.map((id) => `deposit:${id}`)];
  const screened = await eraseScreenings(tx, { owners, now });
  const addresses = await eraseAddressHits(tx, { owners, now });
  const ofMoney = [...refunds.map((id) => `refund:${id}`), ...payouts.map((id) => `payout:${id}`)];
  const ofOwn = [...owners, ...orders.map((id) => `order:${id}`), ...requests];
  const subjects = [...ofOwn, ...screened.subjects, ...addresses, ...ofMoney];
  const files = await eraseAttachments(tx, { subjects, orders, now });
  const counts = {
    ...{ names_compared: screened.compared, sanctions_hits: screened.hits },
    decisions: await eraseDecisions(tx, { customerId, orders, deposits, refunds, shared: partOf, accounts: own }),
    order_texts: await eraseOrderTexts(tx, { orders, deposits, refunds }),
    entry_texts: await eraseEntryTexts(tx, { orders, accounts }),
    events: await eraseTexts(tx, subjects),
    case_texts: await eraseCaseTexts(tx, { subjects, orders }),
    case_files: files.length,
    statement_lines: await eraseDetails(tx, { deposits, payouts }),
  };
  const cases = await tx.rows<{ id: bigint }>(
    'select id from cases where subject = any($1::text[]) or order_id = any($2::bigint[])',
    [subjects, orders],
  );
  const texts = await eraseAuditTexts(tx, vault, {
    subjects: [...subjects, ...cases.map(({ id }) => `case:${id}`)],
    shared: partOf.map((id) => `deposit:${id}`),
    accounts: own,
  });
  return { counts: { ...counts, operator_texts: texts }, files };
}

/** @returns number of customers erased, for the first time or again */
export async function replayErasures(deps: Erasing, now: Date): Promise<number> {
  const { db, list } = deps;
  const unfinished = await db.asSystem((tx) =>
    tx.rows<{ id: string }>('select customer_id as id from erasures where erased_at is null'),
  );
  const ids = await list.all();
  const listed = new Set(ids);
  let count = 0;
  // An erasure on the list has passed step 2 and must be completed.
  for (const { id } of unfinished)
    if (listed.has(id) || (await unlessRefused(erase(deps, id, now)))) {
      if (listed.has(id)) await eraseNow(deps, id, now);
      count += 1;
    }
  // Versions before erasures were counted left more, such as blind indexes and texts beside entries.
  const uncounted = await db.asSystem((tx) =>
    tx.rows<{ id: string }>(
      'select customer_id as id from erasures where erased_at is not null and erased is null order by 1',
    ),
  );
  for (const { id } of uncounted) {
    await eraseNow(deps, id, now);
    count += 1;
  }
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const back = await db.asSystem((tx) =>
      tx.rows<{ id: string }>('select id from customers where id = any($1::text[]) and erased_at is null order by id', [
        ids.slice(at, at + AT_ONCE),
      ]),
    );
    for (const { id } of back) {
      await db.asSystem(async (tx) => {
        await orderErasure(tx, { customerId: id, by: BY, now });
        const reason = 'erased before, and brought back by a restore';
        await recordByMachine(tx, { action: 'customer.erase', subject: `customer:${id}`, reason, now });
      });
      await eraseNow(deps, id, now);
      count += 1;
    }
  }
  return count;
}

/** @returns false when something prevents the erasure by now: an operator has to order it again */
export async function unlessRefused(erased: Promise<void>): Promise<boolean> {
  try {
    await erased;
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'erasure_refused') return false;
    throw error;
  }
}
