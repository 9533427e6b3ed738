/** Hours of the day in a time zone. */

/** The hour, and the day as year-month-day, in this time zone. */
export function hourIn(zone: string, at: Date): { hour: number; day: string } {
  const parts = new Intl.DateTimeFormat('en-CA', {
    ...{ timeZone: zone, hourCycle: 'h23' },
    ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit' },
  }).formatToParts(at);
  const of = (type: string) => parts.find((part) => part.type === type)?.value ?? '';
  return { hour: Number(of('hour')), day: `${of('year')}-${of('month')}-${of('day')}` };
}

/** A span may include midnight. If both ends are equal it is the whole day. */
export const isWithin = (hour: number, { fromHour, untilHour }: { fromHour: number; untilHour: number }): boolean =>
  fromHour === untilHour ||
  (fromHour < untilHour ? hour >= fromHour && hour < untilHour : hour >= fromHour || hour < untilHour);
