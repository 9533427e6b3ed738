/**
 * The job of documents that expire: every hour it asks for new ones, and ends trading where none was accepted in time. Each
 * customer is a transaction of its own. Not here: the steps (customers/identity/expired.ts).
 */
import type { Clock } from '../base/clock.ts';
import type { Database } from '../base/db.ts';
import type { Handlers } from '../base/jobs.ts';
import { dueExpiries, type ExpiryRow, followExpiry } from '../customers/index.ts';

export const FOLLOW_EXPIRIES = 'follow_expiries';
const EVERY_MS = 3_600_000;
const PAGE = 200;

/** @param deps.noticeDays days before the last valid day from which on a customer is asked */
export function expiryHandlers({
  db,
  clock,
  noticeDays,
}: {
  db: Database;
  clock: Clock;
  noticeDays: number;
}): Handlers {
  return {
    async [FOLLOW_EXPIRIES]() {
      let after: ExpiryRow | undefined;
      // A customer whose step fails does not stop those after it. The job still fails at the end, so the error is visible.
      const failures: unknown[] = [];
      do {
        const page = { noticeDays, after, limit: PAGE, now: clock.now() };
        const rows = await db.asSystem((tx) => dueExpiries(tx, page));
        for (const { customerId, version } of rows)
          await db
            .asSystem((tx) => followExpiry(tx, { customerId, version, noticeDays, now: clock.now() }))
            .catch((error: unknown) => failures.push(error));
        after = rows.length < PAGE ? undefined : rows.at(-1);
      } while (after !== undefined);
      if (failures.length > 0) throw failures[0];
      return { againInMs: EVERY_MS };
    },
  };
}
