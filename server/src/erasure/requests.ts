/**
 * Erasures that were asked for while something prevented them: the retention time, a legal hold, an open order. A request is a row. A
 * job looks at each again, and orders the erasure once nothing prevents it any more, with the same checks as an operator's own.
 *
 * A legal hold stops a request for as long as it is placed, and nothing is lost meanwhile: a restart continues from the rows, and an
 * erasure that was ordered and interrupted is completed at the start of a server (erase.ts), or by the next run.
 */
import type { Clock } from '../base/clock.ts';
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import type { Handlers } from '../base/jobs.ts';
import { lockCustomer } from '../customers/index.ts';
import { recordByMachine } from '../operators/index.ts';
import { type Erasing, erase, erasureOf, orderErasure, unlessRefused } from './erase.ts';
import { eraseOwnerless } from './ownerless.ts';
import { whyNot } from './why.ts';

export const ERASE_REQUESTED = 'erase_requested';
const EVERY_MS = 3_600_000;
/** In one run; those that were looked at longest ago come first. */
const MOST_LOOKED_AT = 1_000;

export interface ErasureRequest {
  readonly id: bigint;
  readonly customerId: string;
  readonly askedAt: Date;
  readonly people: readonly string[];
  readonly lookedAt: Date | null;
  /** What prevented it when the job looked last: sentences with ids. */
  readonly waitsFor: string | null;
}

const REQUEST = 'id, customer_id, asked_at, people, looked_at, waits_for';

/** The request that waits for a customer. */
export const requestOf = (tx: Tx, customerId: string): Promise<ErasureRequest | undefined> =>
  tx.row<ErasureRequest>(`select ${REQUEST} from erasure_requests where customer_id = $1 and ended_at is null`, [
    customerId,
  ]);

/** @throws Refusal 'erasure_refused' when the customer is erased, or the erasure was asked for already */
export async function requestErasure(
  tx: Tx,
  r: { customerId: string; people: readonly string[]; now: Date },
): Promise<void> {
  const { customerId, people, now } = r;
  if ((await erasureOf(tx, customerId)) !== undefined)
    throw new Refusal('erasure_refused', { why: 'The customer is already erased.' });
  const asked = await tx.run(
    `insert into erasure_requests (customer_id, asked_at, people) values ($1, $2, $3)
      on conflict (customer_id) where ended_at is null do nothing`,
    [customerId, now, people],
  );
  if (asked === 0) throw new Refusal('erasure_refused', { why: 'The erasure was asked for already.' });
}

/** @throws Refusal 'erasure_refused' when the erasure is ordered, or no request waits */
export async function withdrawRequest(tx: Tx, { customerId, now }: { customerId: string; now: Date }): Promise<void> {
  if ((await erasureOf(tx, customerId)) !== undefined)
    throw new Refusal('erasure_refused', { why: 'The erasure is ordered already.' });
  if (!(await endRequest(tx, { customerId, outcome: 'withdrawn', now })))
    throw new Refusal('erasure_refused', { why: 'No erasure of the customer waits.' });
}

const endRequest = async (
  tx: Tx,
  e: { customerId: string; outcome: 'erased' | 'withdrawn'; now: Date },
): Promise<boolean> =>
  (await tx.run(
    `update erasure_requests set ended_at = $3, outcome = $2, waits_for = null where customer_id = $1 and ended_at is null`,
    [e.customerId, e.outcome, e.now],
  )) > 0;

/** @param deps.afterDays the retention time, in days after the customer's last order */
export const erasureHandlers = (deps: { erasing: Erasing; clock: Clock; afterDays: number }): Handlers => ({
  async [ERASE_REQUESTED]() {
    const { erasing, clock } = deps;
    const waiting = await erasing.db.asSystem((tx) =>
      tx.rows<ErasureRequest>(
        `select ${REQUEST} from erasure_requests where ended_at is null order by looked_at nulls first, id limit $1`,
        [MOST_LOOKED_AT],
      ),
    );
    const failures: unknown[] = [];
    await eraseOwnerless(erasing, { afterDays: deps.afterDays, now: clock.now() }).catch((error: unknown) =>
      failures.push(error),
    );
    // A customer whose erasure fails does not keep those after it.
    for (const request of waiting) await look(request).catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
    return { againInMs: EVERY_MS };

    async function look(request: ErasureRequest): Promise<void> {
      const { customerId } = request;
      if (!(await erasing.db.asSystem((tx) => orderIfErasable(tx, request, { ...deps, now: clock.now() })))) return;
      // Refused when an order was created before the block took effect: the next run looks again.
      if (!(await unlessRefused(erase(erasing, customerId, clock.now())))) return;
      await erasing.db.asSystem((tx) => endRequest(tx, { customerId, outcome: 'erased', now: clock.now() }));
    }
  },
});

/** @returns whether the erasure is ordered: now, or by an operator or an earlier run meanwhile */
async function orderIfErasable(
  tx: Tx,
  { id, customerId, people, askedAt }: ErasureRequest,
  { afterDays, now }: { afterDays: number; now: Date },
): Promise<boolean> {
  await lockCustomer(tx, customerId);
  // It may have been withdrawn since it was read.
  if ((await requestOf(tx, customerId)) === undefined) return false;
  if ((await erasureOf(tx, customerId)) !== undefined) return true;
  const reasons = await whyNot(tx, { customerId, afterDays, now });
  if (reasons.length > 0) {
    await tx.run('update erasure_requests set looked_at = $2, waits_for = $3 where id = $1', [
      ...[id, now, reasons.join('; ')],
    ]);
    return false;
  }
  await orderErasure(tx, { customerId, by: people.join(', '), now });
  const reason = `asked for by ${people.join(' and ')} on ${askedAt.toISOString().slice(0, 10)}`;
  await recordByMachine(tx, { action: 'customer.erase', subject: `customer:${customerId}`, reason, now });
  return true;
}
