/** `orders` commands: an order as a timeline, and its progress while it happens. */
import type { Order, Trace } from '../generated/v1.ts';
import { sleep } from '../http.ts';
import { clientOf, type Given, oneOf } from './given.ts';
import { Misuse } from './misuse.ts';
import { plain } from './output.ts';

/** States after which nothing more happens by itself. */
const OVER = new Set<string>(['settled', 'refunded', 'expired', 'cancelled']);

export async function show(given: Given): Promise<number> {
  const id = oneOf(given, 'order');
  const { orders } = clientOf(given);
  const [order, trace] = await Promise.all([orders.get(id), orders.trace(id)]);
  if (given.json) given.say(JSON.stringify({ order, trace }, null, 2));
  else given.say([head(order), ...trace.evidence.map(line), ...foot(order, trace)].join('\n'));
  return 0;
}

/** Prints one line per new piece of evidence and per state; with --json one object per line. */
export async function watch(given: Given): Promise<number> {
  const id = oneOf(given, 'order');
  const intervalMs = Number(given.options.interval ?? 1_000);
  if (!(intervalMs >= 100)) throw new Misuse('--interval must be 100 or more');
  const { orders } = clientOf(given);
  let version: number | undefined;
  const told = new Set<string>();
  for (;;) {
    const order = await orders.get(id);
    if (order.version !== version) {
      const trace = await orders.trace(id);
      if (given.json) given.say(JSON.stringify({ order, trace }));
      else {
        if (version === undefined) given.say(head(order));
        const fresh = trace.evidence.map(line).filter((one) => !told.has(one));
        for (const one of fresh) told.add(one);
        for (const text of [...fresh, ...foot(order, trace)]) given.say(text);
      }
      version = order.version;
      if (OVER.has(order.state) && trace.next.step === 'nothing') return 0;
    }
    await sleep(intervalMs);
  }
}

const head = (order: Order): string =>
  [
    `order ${order.id}, ${order.direction === 'sell' ? 'a sale' : 'a purchase'}: ${plain(order.pay)} for ${plain(order.receive)}`,
    `customer ${order.customerId}${order.reference === null ? '' : `, your reference ${plain(order.reference)}`}`,
    '',
  ].join('\n');

const line = ({ at, what, amount, hash, bankReference }: Trace['evidence'][number]): string =>
  [`${plain(at)}  ${what.padEnd(18)}`, ...[plain(amount), plain(hash ?? bankReference)].filter((one) => one !== '')]
    .join('  ')
    .trimEnd();

function foot(order: Order, { heldBy, amount, since, next, otherMoney }: Trace): string[] {
  const now = `${order.state}${order.reason === null ? '' : ` (${order.reason})`}`;
  return [
    `  now: ${now}; ${plain(amount)} ${heldBy === 'in_transit' ? 'in transit' : `with ${heldBy}`} since ${plain(since)}`,
    ...(next.step === 'nothing'
      ? []
      : [`  next: ${plain(next.says)}${next.until === null ? '' : ` By ${plain(next.until)}.`}`]),
    ...otherMoney.map((one) => `  apart: ${plain(one.amount)}, ${one.reason}; next ${one.next}`),
  ];
}
