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
import { formatUnits } from '../../base/money.ts';
import { closeCases, upsertCase } from '../../compliance/index.ts';
import { balance, chart } from '../../ledger/index.ts';
import { assets } from '../../partners/index.ts';
import type { OrdersContext } from '../context.ts';

const CHECK = 'check_short_refunds';
/** Interval while refunds wait, because incoming funds and other payments change the missing amount. */
const EVERY_MS = 5_000;

/** The job of an order's whole refund, or of one refund out of suspense. */
type Waiting = { kind: 'refund_order' | 'screen_refund'; subject: string };
type What = { rail: string; asset: string };

const sql = {
  note: `insert into short_refunds (kind, subject, rail, asset, units, since) values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
  forgetEnded: `delete from short_refunds s where rail = $1 and asset = $2
    and not exists (select from jobs j where j.kind = s.kind and j.subject = s.subject)`,
  waiting: `select count(*) as refunds, sum(units) as units, min(since) as since from short_refunds where rail = $1 and asset = $2`,
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
        const waiting = await tx.row<{ refunds: bigint; units: bigint | null; since: Date }>(sql.waiting, [
          rail,
          asset,
        ]);
        const first = await tx.row<Waiting>(sql.first, [rail, asset]);
        if (waiting === undefined || first === undefined) {
          await closeCases(tx, { ...about, outcome: 'no refund waits for it any more', now });
          return undefined;
        }
        const wallet = rails.get(rail)?.wallets.payouts;
        const paying = wallet === undefined ? undefined : await balance(tx, chart.custody(rail, wallet, asset));
        const needed = waiting.units ?? 0n;
        const free = paying === undefined ? 0n : paying.units - paying.heldUnits;
        const decimals = (await assets(tx)).get(asset)?.decimals ?? 0;
        const shown = (units: bigint): string => formatUnits(units, decimals);
        const missing = shown(needed > free ? needed - free : 0n);
        const isOne = waiting.refunds === 1n;
        await upsertCase(tx, {
          ...about,
          reason: `${missing} ${asset} missing at ${rail}: ${waiting.refunds} refund${isOne ? ' waits' : 's wait'}, first ${nameOf(first)}`,
          facts: {
            ...{ rail, asset, refunds: Number(waiting.refunds), missing, needed: shown(needed) },
            ...{ first: nameOf(first), firstSince: waiting.since.toISOString() },
          },
          now,
        });
        return { againInMs: EVERY_MS };
      }),
  };
}
