/** Open cases that need a person, the most urgent first, and how many of each kind are open. */
import { formatUnits } from '../../base/money.ts';
import { urgentCases, WORTH_PLACES } from '../../reports/index.ts';
import { URGENT } from './declared/urgent.ts';
import { type Read, read } from './read.ts';

export const URGENT_READS: readonly Read[] = [
  read({
    ...URGENT.list,
    async answer({ clock }, tx, { limit: most = 50 }) {
      const { cases, unit, total, kinds } = await urgentCases(tx, { now: clock.now(), limit: most });
      return {
        cases: cases.map(({ worthCents, isOverdue: overdue, ...one }) => ({
          ...one,
          ...{ overdue, unit, worth: worthCents === null ? null : formatUnits(worthCents, WORTH_PLACES) },
        })),
        ...{ unit, total, notShown: total - cases.length, kinds },
      };
    },
  }),
];
