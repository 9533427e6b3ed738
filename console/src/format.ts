/** Amounts, times and ages as people read them. An amount is a text, and is grouped as a text. */

/** `1234567.50` as `1 234 567.50`, with narrow spaces that copying leaves out of no digit. */
export function grouped(amount: string): string {
  const found = /^(-?)([0-9]+)(\.[0-9]+)?$/.exec(amount);
  if (found === null) return amount;
  const [, sign = '', whole = '', rest = ''] = found;
  return `${sign}${whole.replace(/\B(?=([0-9]{3})+$)/g, '\u202f')}${rest}`;
}

const LOCAL = new Intl.DateTimeFormat('en-GB', {
  ...{ year: 'numeric', month: '2-digit', day: '2-digit' },
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
});

/** The zone of every time on the page, by its name: its distance from UTC changes within a year. */
export const ZONE = LOCAL.resolvedOptions().timeZone;

/** In the time zone of the browser. */
export function local(iso: string): string {
  const parts = Object.fromEntries(LOCAL.formatToParts(new Date(iso)).map(({ type, value }) => [type, value]));
  return `${parts.year}-${parts.month}-${parts.day} ${parts.hour}:${parts.minute}:${parts.second}`;
}

const INSTANT = /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g;
const WORD = /\b[a-z]+(?:_[a-z]+)+\b/g;
/** A sentence of the server for people: words such as `on_hold` without lines, instants as the other times of the page. */
export const spoken = (text: string): string =>
  text.replace(INSTANT, local).replace(WORD, (word) => word.replaceAll('_', ' '));

export const utc = (iso: string): string => `${iso.replace('T', ' ').replace(/(\.\d+)?Z$/, '')} UTC`;

/** Of the day. */
export const hour = (of: number): string => `${String(of).padStart(2, '0')}:00`;

const STEPS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
] as const;

/** `3 d`, `5 h`, `12 min`; below a minute `now`. */
export function age(iso: string, now = Date.now()): string {
  const passed = now - Date.parse(iso);
  for (const [ms, unit] of STEPS) if (passed >= ms) return `${Math.floor(passed / ms)} ${unit}`;
  return 'now';
}

/** How long until then, or since then: `in 3 h`, `2 d late`. */
export const dueIn = (iso: string, now = Date.now()): string => {
  const left = Date.parse(iso) - now;
  if (left < 0) return `${age(iso, now).replace('now', 'just')} late`;
  const soon = age(new Date(now - left).toISOString(), now);
  return soon === 'now' ? 'within a minute' : `in ${soon}`;
};

/** A hash or id in the middle of which nothing is lost that tells two apart at a glance. */
export const shortened = (text: string): string =>
  text.length <= 20 ? text : `${text.slice(0, 10)}…${text.slice(-6)}`;

/** A word of the API, such as `payout_unknown`, as the beginning of a heading. */
export const headed = (word: string): string => `${word.charAt(0).toUpperCase()}${word.slice(1).replaceAll('_', ' ')}`;

/** A name of the API, such as `payoutUnits`, as words. */
export const worded = (name: string): string =>
  name
    .replace(/[a-z0-9](?=[A-Z])/g, '$& ')
    .replaceAll('_', ' ')
    .toLowerCase();

/** `1 order`, `2 orders`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Which of two plain decimals is larger, exactly: negative, zero or positive, as a comparison for sorting. */
export function compared(one: string, other: string): number {
  const difference = sum([one, other.startsWith('-') ? other.slice(1) : `-${other}`]);
  return difference.startsWith('-') ? -1 : /[1-9]/.test(difference) ? 1 : 0;
}

/** The sum of plain decimals, as text: no amount becomes a number of JavaScript. */
export function sum(amounts: readonly string[]): string {
  const places = Math.max(0, ...amounts.map((one) => (one.split('.')[1] ?? '').length));
  const units = amounts.reduce((total, one) => {
    const [whole = '0', rest = ''] = one.replace('-', '').split('.');
    const value = BigInt(whole + rest.padEnd(places, '0'));
    return one.startsWith('-') ? total - value : total + value;
  }, 0n);
  const digits = String(units < 0n ? -units : units).padStart(places + 1, '0');
  const cut = digits.length - places;
  return `${units < 0n ? '-' : ''}${digits.slice(0, cut)}${places === 0 ? '' : `.${digits.slice(cut)}`}`;
}

const SPANS = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const;
/** `86400` as `1 day`, in the largest unit that is exact. */
export function span(seconds: number): string {
  const [size, name] = SPANS.find(([one]) => seconds % one === 0 && seconds >= one) ?? [1, 'second'];
  const count = seconds / size;
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}
