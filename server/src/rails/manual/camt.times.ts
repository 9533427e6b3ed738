/**
 * Days and times in a camt.053: `2026-11-27`, or `2026-11-27T23:30:00` with or without an offset.
 *
 * A day is taken as the bank wrote it, whatever the offset and the settings, because lines and statements are recognised by it.
 */
import { isDay } from '../../base/clock.ts';
import { defined } from '../../base/defined.ts';
import { dayStart, instantsAt } from '../../base/zones.ts';
import type { ReadLine, ReadStatement } from './read.ts';

const dayOf = (said: string): string => said.slice(0, 10);
const isADay = (day: string | undefined): day is string => day !== undefined && isDay(day);

/** Whether only the day is meant: banks that know no time, but have to write one, write midnight. */
const isDayAlone = (said: string): boolean =>
  !said.includes('T') || /T(?:00|24):00:00(?:\.0+)?(?:Z|[+-]\d\d:\d\d)?$/.test(said);

/** The booking date of an entry, or else its value date; undefined if it has neither. */
export function bookedOf({
  booked = '',
  valued = '',
}: {
  booked?: string;
  valued?: string;
}): Pick<ReadLine, 'bookedOn' | 'dayIs' | 'bookedTime'> | undefined {
  if (!isDay(dayOf(booked))) return isDay(dayOf(valued)) ? { bookedOn: dayOf(valued), dayIs: 'valued' } : undefined;
  const isTime = !isDayAlone(booked) && instantsAt('UTC', booked) !== undefined;
  return { bookedOn: dayOf(booked), dayIs: 'booked', ...(isTime ? { bookedTime: booked } : {}) };
}

/** The days of a statement, and the time up to which it shows lines; undefined if it names no day. */
export function spanOf(
  done: { from: string; to: string; isLast: string; balances: readonly { at?: string }[]; lines: readonly ReadLine[] },
  closing: { kind?: string; at?: string },
  timeZone: string,
): Pick<ReadStatement, 'from' | 'to' | 'shownTo'> | undefined {
  const days = done.lines.map(({ bookedOn }) => bookedOn).toSorted();
  const ends = done.balances
    .map(({ at = '' }) => dayOf(at))
    .filter(isDay)
    .toSorted();
  const first = [dayOf(done.from), days[0], ends[0]].find(isADay);
  const last = [dayOf(done.to), ends.at(-1), days.at(-1)].find(isADay);
  if (first === undefined || last === undefined) return undefined;
  const to = [last, days.at(-1) ?? last].toSorted().at(-1) ?? last;
  // After this page come further lines, of its last day at the earliest.
  const isCut = closing.kind === 'ITBD' || done.isLast === 'false' || done.isLast === '0';
  return {
    from: [first, days[0] ?? first].toSorted()[0] ?? first,
    to,
    ...defined({ shownTo: isCut ? dayStart(timeZone, to) : shownTo(done, closing, timeZone) }),
  };
}

/** The end of the period, or else the time of the closing balance. Midnight is the end of a period that begins before it. */
function shownTo(
  { from, to }: { from: string; to: string },
  { at = '' }: { at?: string },
  timeZone: string,
): Date | undefined {
  const hasEnd = to !== '' && !(isDayAlone(to) && to === from);
  const said = hasEnd ? to : isDayAlone(at) ? '' : at;
  return instantsAt(timeZone, said)?.earliest;
}
