/** Operator actions on screening as a whole. */
import { later } from '../../../base/clock.ts';
import { extendScreening } from '../../../compliance/index.ts';
import { type Action, action } from '../action.ts';
import { SWITCHES } from '../declared/switches.ts';

export const SCREENING_ACTIONS: readonly Action[] = [
  action({
    ...SWITCHES.screening,
    subject: () => 'screening',
    look: async () => null,
    // Money then leaves on older results, so one person is not enough. Hits still count.
    needs: async () => 'always' as const,
    async perform(_deps, tx, { ageHours, forHours }, { people, reason, now }) {
      const until = later(now, forHours * 3_600_000);
      await extendScreening(tx, { maxAgeS: BigInt(ageHours) * 3_600n, until, people, reason, now });
      return { until: until.toISOString() };
    },
  }),
];
