/**
 * Time zones: calendar days and wall-clock times as instants, by the zone data of the JavaScript engine (Intl). Pure.
 *
 * Where clocks change, a day has 23 or 25 hours, a time may be on the clock twice or never, and a day may begin after midnight.
 */
const LONGEST_NAME = 60;
const DAY_MS = 86_400_000;

/** A wall-clock time, and its offset from UTC if it states one. */
const TIME = /^(\d{4}-\d\d-\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)?$/;
/** No zone is further from UTC. */
const MOST_OFFSET_MS = 14 * 3_600_000;

export function isZone(zone: string): boolean {
  try {
    return zone.length <= LONGEST_NAME && Intl.DateTimeFormat('en', { timeZone: zone }).format().length > 0;
  } catch {
    return false;
  }
}

/** The day of an instant in this zone: `YYYY-MM-DD`. */
export const dayIn = (zone: string, at: Date): string =>
  new Date(onWall(zone, at.getTime())).toISOString().slice(0, 10);

/** The first instant of a day, `YYYY-MM-DD`, in this zone. */
export function dayStart(zone: string, day: string): Date {
  const key = `${day} ${zone}`;
  const known = starts.get(key);
  if (known !== undefined) return new Date(known);
  const { shown, nearby } = instantsOf(zone, midnight(day));
  // If clocks skip midnight, the day begins when they do.
  const start = shown.length > 0 ? Math.min(...shown) : Math.max(...nearby);
  if (starts.size >= MOST_STARTS) starts.clear();
  starts.set(key, start);
  return new Date(start);
}
/** Lines of a statement have few different days, and computing the start of one takes a tenth of a millisecond. */
const starts = new Map<string, number>();
const MOST_STARTS = 1_000;

/** The first instant after a day, `YYYY-MM-DD`, in this zone. */
export const dayEnd = (zone: string, day: string): Date => dayStart(zone, isoDay(midnight(day) + DAY_MS));

/**
 * The instants that a time, `YYYY-MM-DDThh:mm:ss`, may mean. They are the same unless clocks showed it twice or skipped it.
 *
 * @param zone of a time without an offset; a time with an offset, or `Z`, is one instant in any zone
 * @returns undefined if it is no time
 */
export function instantsAt(zone: string, time: string): { earliest: Date; latest: Date } | undefined {
  const [, day = '', hour, minute, second, fraction = '', offset] = TIME.exec(time) ?? [];
  const start = midnight(day);
  // JavaScript reads 31 February as 3 March. ISO 8601 has an hour 24, which begins the next day.
  if (Number.isNaN(start) || isoDay(start) !== day) return undefined;
  const seconds = Number(hour) * 3_600 + Number(minute) * 60 + Number(second);
  if (Number(minute) > 59 || Number(second) > 59 || seconds > 86_400) return undefined;
  const wall = start + seconds * 1_000 + Number(fraction.slice(0, 3).padEnd(3, '0'));
  if (offset !== undefined) {
    const offsetMs = offsetOf(offset);
    return Math.abs(offsetMs) > MOST_OFFSET_MS ? undefined : only(wall - offsetMs);
  }
  const { shown, nearby } = instantsOf(zone, wall);
  const all = shown.length > 0 ? shown : nearby;
  return { earliest: new Date(Math.min(...all)), latest: new Date(Math.max(...all)) };
}

const only = (ms: number) => ({ earliest: new Date(ms), latest: new Date(ms) });
const midnight = (day: string): number => Date.parse(`${day}T00:00:00Z`);
const isoDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

function offsetOf(text: string): number {
  if (text === 'Z') return 0;
  const ms = (Number(text.slice(1, 3)) * 60 + Number(text.slice(4))) * 60_000;
  return text.startsWith('-') ? -ms : ms;
}

/**
 * Instants at which clocks show a time. The offsets a day before and a day after are those on both sides of a change, if there is
 * one.
 *
 * @param wall the time, as if it were in UTC
 * @returns `shown` is empty if clocks skip it; `nearby` are the instants by both offsets
 */
function instantsOf(zone: string, wall: number): { shown: number[]; nearby: number[] } {
  const nearby = [wall - DAY_MS, wall + DAY_MS].map((at) => wall - (onWall(zone, at) - at));
  return { shown: nearby.filter((at) => onWall(zone, at) === wall), nearby };
}

/** What clocks show at an instant, as if it were in UTC. */
function onWall(zone: string, at: number): number {
  if (zone === 'UTC') return at;
  const shown = new Map(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  const of = (type: Intl.DateTimeFormatPartTypes) => Number(shown.get(type));
  const second = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
  return second + (((at % 1_000) + 1_000) % 1_000);
}

/** Making a format takes a hundred times as long as using it. */
const formats = new Map<string, Intl.DateTimeFormat>();
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-u-ca-iso8601', {
    ...{ timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  });
  formats.set(zone, made);
  return made;
}
