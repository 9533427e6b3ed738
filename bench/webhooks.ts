/**
 * Time from settlement to arrival: orders are paid at a steady rate, run to their end, and a receiver on this machine accepts
 * their webhooks, as a partner's would.
 *
 * An event's time is the one it contains, set inside the transaction that caused it; its arrival is when its body was read.
 * Both use this machine's clock. Signatures are not checked here, because tests do that.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { percentile } from './load.ts';
import { type Ours, receive } from './ours.ts';

/**
 * A paid order causes four events: even with the first and last seconds, in which fewer arrive, that is more than fifty per
 * second.
 */
const PAID_PER_SECOND = 15;
export const WANTED_PER_SECOND = 50;
const PATIENCE_MS = 60_000;

export interface Heard {
  events: number;
  /** Over the time between the first and the last received event. */
  eventsPerSecond: number;
  /** Milliseconds. */
  settled: Latency;
  all: Latency;
}

interface Latency {
  count: number;
  p50: number;
  p99: number;
}

/** @param unpaid orders that are created and unpaid */
export async function measureWebhooks(
  ours: Ours,
  unpaid: readonly { id: string; customerId: string }[],
): Promise<Heard> {
  const heard: { type: string; at: number; lateMs: number }[] = [];
  let allSettled: () => void = () => {};
  const settled = new Promise<void>((done) => {
    allSettled = done;
  });
  const receiver = createServer(async (request, reply) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const now = Date.now();
    reply.writeHead(204).end();
    const { type, timestamp } = JSON.parse(text) as { type: string; timestamp: string };
    heard.push({ type, at: now, lateMs: now - Date.parse(timestamp) });
    if (heard.filter((one) => one.type === 'order.settled').length === unpaid.length) allSettled();
  });
  await new Promise<void>((ready) => receiver.listen(0, '127.0.0.1', () => ready()));
  const { port } = receiver.address() as AddressInfo;
  try {
    const url = `http://127.0.0.1:${port}/`;
    const endpoint = await receive(ours, url, ['order.*']);
    const paid = unpaid.map(async ({ id, customerId }, at) => {
      await new Promise((due) => setTimeout(due, (at * 1_000) / PAID_PER_SECOND));
      await ours.call('test/changeOfframpStatus', { transactionId: id, customerId, status: '6' });
    });
    const late = setTimeout(() => allSettled(), PATIENCE_MS);
    await Promise.all([...paid, settled]);
    clearTimeout(late);
    await endpoint.end();
  } finally {
    receiver.closeAllConnections();
    receiver.close();
  }
  const missing = unpaid.length - heard.filter(({ type }) => type === 'order.settled').length;
  if (missing > 0) throw new Error(`${missing} of ${unpaid.length} orders were not heard to have settled`);
  const times = heard.map(({ at }) => at);
  const seconds = (Math.max(...times) - Math.min(...times)) / 1_000;
  return {
    events: heard.length,
    eventsPerSecond: heard.length / seconds,
    settled: latency(heard.filter(({ type }) => type === 'order.settled')),
    all: latency(heard),
  };
}

function latency(heard: readonly { lateMs: number }[]): Latency {
  const ascending = heard.map(({ lateMs }) => lateMs).sort((a, b) => a - b);
  return { count: ascending.length, p50: percentile(ascending, 0.5), p99: percentile(ascending, 0.99) };
}
