/** Operator actions on screening as a whole. */
import { later } from '../../../base/clock.ts';
import { extendScreening } from '../../../compliance/index.ts';
import { type Action, action } from '../action.ts';
import { whole } from '../fields.ts';

/** A provider that is down for longer than this is replaced, not waited for. */
const MOST_HOURS = 72;
const MOST_AGE_HOURS = 14 * 24;

export const SCREENING_ACTIONS: readonly Action[] = [
  action({
    name: 'screening.extend',
    path: '/screening/extend',
    right: 'money',
    fields: { ageHours: whole(1, MOST_AGE_HOURS), forHours: whole(1, MOST_HOURS) },
    subject: () => 'screening',
    look: async () => null,
    // Money leaves on older results meanwhile, so one person is not enough. Hits still count.
    needs: async () => 'always' as const,
    async perform(_deps, tx, { ageHours, forHours }, { people, reason, now }) {
      const until = later(now, forHours * 3_600_000);
      await extendScreening(tx, { maxAgeS: BigInt(ageHours) * 3_600n, until, people, reason, now });
      return { until: until.toISOString() };
    },
  }),
];
