/**
 * The signed reconciliation report: as it is now, the one of a past day, which days there are, and the keys that verify them.
 *
 * The reply has the fields of the report in the order in which they are signed (reports/reconciliation.ts).
 */
import { Refusal } from '../../base/errors.ts';
import { reconciliationDays, reconciliationOfDay, reconciliationReport, reportKeys } from '../../reports/index.ts';
import { REPORTS_OF } from './declared/reports.ts';
import { type Read, read } from './read.ts';

export const RECONCILIATION_READS: readonly Read[] = [
  read({
    ...REPORTS_OF.reconciliation,
    async answer({ clock, vault }, tx, { day }) {
      if (day === undefined) return await reconciliationReport(tx, vault, clock.now());
      const kept = await reconciliationOfDay(tx, day);
      if (kept === undefined)
        throw new Refusal('malformed_field', {
          fields: { day: 'has no report: one is made when a day has ended in UTC, if a server runs' },
        });
      return kept;
    },
  }),
  read({
    ...REPORTS_OF.reconciliationDays,
    async answer(_deps, tx, { below, limit: most = 50 }) {
      const found = await reconciliationDays(tx, { below, limit: most + 1 });
      const days = found.slice(0, most);
      return { days, next: found.length > most ? days.at(-1)?.day : null };
    },
  }),
  read({
    ...REPORTS_OF.reconciliationKeys,
    answer: async ({ vault }, tx) => ({ keys: await reportKeys(tx, vault) }),
  }),
];
