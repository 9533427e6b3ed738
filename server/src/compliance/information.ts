/**
 * Requests for information, as cases: an operator reviews an answer, and follows up a missing one.
 *
 * Not here: the requests themselves (customers/identity/requests.ts).
 */
import type { Clock } from '../base/clock.ts';
import type { Database, Tx } from '../base/db.ts';
import type { Handlers } from '../base/jobs.ts';
import { INFORMATION_DUE, informationState } from '../customers/index.ts';
import { closeCases, openCase } from './cases.ts';

const OVERDUE = 'information_overdue';
const ANSWERED = 'information_answered';
const subjectOf = (id: bigint): string => `information:${id}`;

/**
 * Updates the case after a request was answered or withdrawn: the request blocks nothing any more, and an operator checks the
 * answer.
 */
export async function informationEnded(
  tx: Tx,
  r: { id: bigint; partnerId: bigint; customerId: string; state: 'open' | 'answered' | 'withdrawn'; now: Date },
): Promise<void> {
  const { id, partnerId, customerId, state, now } = r;
  await closeCases(tx, { kind: OVERDUE, subject: subjectOf(id), outcome: state, now });
  if (state !== 'answered') return;
  await openCase(tx, {
    kind: ANSWERED,
    subject: subjectOf(id),
    partnerId,
    reason: `a question about customer ${customerId} was answered`,
    facts: { customer: customerId },
    now,
  });
}

/** An operator has read the answers about this customer. */
export async function informationRead(
  tx: Tx,
  { ids, by, now }: { ids: readonly bigint[]; by: string; now: Date },
): Promise<void> {
  for (const id of ids) await closeCases(tx, { kind: ANSWERED, subject: subjectOf(id), outcome: `read by ${by}`, now });
}

/** The job that is due at the deadline of an answer. */
export function informationHandlers({ db, clock }: { db: Database; clock: Clock }): Handlers {
  return {
    async [INFORMATION_DUE](subject) {
      await db.asSystem(async (tx) => {
        const id = BigInt(subject);
        const found = await informationState(tx, id);
        const now = clock.now();
        if (found === undefined || found.state !== 'open' || found.dueAt > now) return;
        await openCase(tx, {
          kind: OVERDUE,
          subject: subjectOf(id),
          partnerId: found.partnerId,
          reason: `no answer since ${found.dueAt.toISOString()} about customer ${found.customerId}`,
          facts: { customer: found.customerId },
          now,
        });
      });
      return undefined;
    },
  };
}
