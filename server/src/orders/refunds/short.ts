/**
 * Refunds that wait because the wallet or account that pays them has too little.
 *
 * There is one case per rail and asset, however many refunds wait, as for payouts (payouts/short.ts). It says how much is missing and
 * for how many refunds, and closes when none waits any more. A job maintains it, in a transaction that locks no order and no refund.
 *
 * A waiting refund is a row, named by the job that asks for the funds again. It counts as long as that job exists, so nothing else
 * has to end it.
 */
import type { Tx } from '../../base/db.ts';
import { enqueue, type Handled, type Handlers } from '../../base/jobs.ts';
import { closeCases, upsertCase } from '../../compliance/index.ts';
import type { OrdersContext } from '../context.ts';
import { EVERY_MS, payingFunds, type What } from '../payouts/short.ts';

const CHECK = 'check_short_refunds';

/** The job of an order's whole refund, or of one refund out of suspense. */
type Waiting = { kind: 'refund_order' | 'screen_refund'; subject: string };

const sql = {
  note: `insert into short_refunds (kind, subject, rail, asset, units, since) values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
  forgetEnded: `delete from short_refunds s where rail = $1 and asset = $2
    and not exists (select from jobs j where j.kind = s.kind and j.subject = s.subject)`,
  waiting: `select count(*)::int as refunds, coalesce(sum(units), 0) as units, min(since) as since
    from short_refunds where rail = $1 and asset = $2`,
  first: `select kind, subject from short_refunds where rail = $1 and asset = $2 order by since, kind, subject limit 1`,
  of: `select kind, subject, rail, asset from short_refunds
    where (kind = 'refund_order' and subject = $1) or (kind = 'screen_refund' and subject = any($2::text[]))`,
} as const;

/** Notes that a refund waits for funds. Its job tries again. */
export async function refundIsShort(tx: Tx, one: Waiting & What & { units: bigint; now: Date }): Promise<void> {
  const { kind, subject, rail, asset, units, now } = one;
  if ((await tx.run(sql.note, [kind, subject, rail, asset, units, now])) === 0) return;
  enqueue(tx, { kind: CHECK, subject: `${rail}:${asset}`, dueAt: now });
  // Servers of the previous version opened one case per refund.
  const its = { kind: 'refund_short', subject: nameOf(one) } as const;
  await closeCases(tx, { ...its, outcome: 'one case per rail and asset names all refunds that wait', now });
}

/** As the subject of a case names it. */
const nameOf = ({ kind, subject }: Waiting): string => `${kind === 'refund_order' ? 'order' : 'refund'}:${subject}`;

/** The refunds of an order that wait for funds: the subject of each (`nameOf`), with rail and asset. */
export async function shortRefundsOf(
  tx: Tx,
  order: { id: bigint; refundIds: readonly bigint[] },
): Promise<ReadonlyMap<string, What>> {
  const rows = await tx.rows<Waiting & What>(sql.of, [String(order.id), order.refundIds.map(String)]);
  return new Map(rows.map(({ rail, asset, ...job }) => [nameOf(job), { rail, asset }]));
}

export function shortRefundHandlers({ db, clock, rails }: Pick<OrdersContext, 'db' | 'clock' | 'rails'>): Handlers {
  return {
    [CHECK]: (subject) =>
      db.asSystem(async (tx): Promise<Handled> => {
        const [rail = '', asset = ''] = subject.split(':');
        const now = clock.now();
        const about = { kind: 'refund_short', subject } as const;
        await tx.run(sql.forgetEnded, [rail, asset]);
        const waiting = await tx.row<{ refunds: number; units: bigint; since: Date }>(sql.waiting, [rail, asset]);
        const first = await tx.row<Waiting>(sql.first, [rail, asset]);
        if (waiting === undefined || first === undefined) {
          await closeCases(tx, { ...about, outcome: 'no refund waits for it any more', now });
          return undefined;
        }
        const { refunds, units: needed, since } = waiting;
        const { freeUnits: free = 0n, shown } = await payingFunds(tx, rails, { rail, asset });
        const missing = shown(needed > free ? needed - free : 0n);
        const many = refunds === 1 ? '1 refund waits' : `${refunds} refunds wait`;
        await upsertCase(tx, {
          ...about,
          reason: `${missing} ${asset} missing at ${rail}: ${many}, first ${nameOf(first)}`,
          facts: {
            ...{ rail, asset, refunds, missing, needed: shown(needed) },
            ...{ first: nameOf(first), firstSince: since.toISOString() },
          },
          now,
        });
        return { againInMs: EVERY_MS };
      }),
  };
}
