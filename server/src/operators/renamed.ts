/**
 * Actions that had another name in an earlier version. Open proposals and rules were renamed by a migration; rows that are only ever
 * added (the audit, approved amounts) keep the name of their time, and whoever decides by them asks here.
 */
const EARLIER: ReadonlyMap<string, string> = new Map([['bank.hand_out_file', 'bank.download_file']]);

/** Today's name of an action. */
export const nameToday = (action: string): string => EARLIER.get(action) ?? action;

/** All names that an action has had, today's first. */
export const namesOf = (action: string): string[] => [
  action,
  ...[...EARLIER].filter(([, today]) => today === action).map(([earlier]) => earlier),
];
