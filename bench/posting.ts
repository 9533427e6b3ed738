/**
 * Outbound webhooks, compared with bare undici that posts the same bodies: past events are sent again to one endpoint.
 *
 * Ours reads and signs each event, opens a new connection to an address that it has just checked, and records the attempt and
 * the delivery. The limit is Node's fetch, which is undici, over connections that stay open.
 */
import { fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { cpuOf } from './cpu.ts';
import type { Server } from './lives.ts';
import { send } from './load.ts';
import { whyOf } from './measure.ts';
import { receive } from './ours.ts';
import { medianOf, type Pair } from './pairs.ts';
import type { Got } from './receiver.ts';

const GOAL = 0.6;
const AT_ONCE = 8;
const PATIENCE_MS = 120_000;
/** A time before all events of the bench. */
const FROM = '2020-01-01T00:00:00Z';

interface Receiver {
  url: string;
  count(): Promise<number>;
  all(): Promise<Got[]>;
  stop(): void;
}

export async function measurePosting({ ours, idle, quiet }: Server, rounds: number): Promise<Pair> {
  const receiver = await startReceiver();
  try {
    const endpoint = await receive(ours, receiver.url, ['order.*']);
    const done: { ours: number; limit: number; perSecond: number }[] = [];
    let count = 0;
    for (let round = 0; round <= rounds; round += 1) {
      const [cpuBefore, began] = [cpuOf([ours.pid]), performance.now()];
      count = await again();
      const seconds = (performance.now() - began) / 1_000;
      const cpu = (cpuOf([ours.pid]) - cpuBefore - idle.cpu * 10_000 * seconds) / count;
      const limit = await bare(receiver, await receiver.all());
      await heard(receiver, count);
      await receiver.all();
      // The first round warms both up.
      if (round > 0) done.push({ ours: cpu, limit, perSecond: count / seconds });
    }
    const of = (name: 'ours' | 'limit' | 'perSecond') => medianOf(done.map((one) => one[name]));
    const why = quiet && (await whyOf(ours, quiet, { count, body: again }));
    await endpoint.end();
    return {
      name: 'a webhook out',
      goal: GOAL,
      ratio: of('limit') / of('ours'),
      ours: of('ours'),
      limit: of('limit'),
      notes: [`${count} events sent again to one endpoint, ${of('perSecond').toFixed(0)} a second`],
      ...(why && { why }),
    };

    /** Sends all events again, until they have been heard. @returns how many */
    async function again(): Promise<number> {
      const asked = ours.postTo(`/v1/webhooks/${endpoint.id}/replay`, { from: FROM });
      const { replayed } = JSON.parse(await send(ours.baseUrl, asked)).data as { replayed: number };
      await heard(receiver, replayed);
      return replayed;
    }
  } finally {
    receiver.stop();
  }
}

async function bare({ url }: Receiver, got: readonly Got[]): Promise<number> {
  const before = process.cpuUsage();
  const queue = got.values();
  const inTurn = async () => {
    for (const { headers, body } of queue) {
      const { host: _, connection: __, 'content-length': ___, ...own } = headers;
      const reply = await fetch(url, { method: 'POST', headers: own, body });
      if (reply.status !== 204) throw new Error(`the receiver answered ${reply.status}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, inTurn));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / got.length;
}

async function heard(receiver: Receiver, count: number): Promise<void> {
  for (const giveUpAt = Date.now() + PATIENCE_MS; (await receiver.count()) < count; await sleep(20))
    if (Date.now() > giveUpAt) throw new Error(`${await receiver.count()} of ${count} webhooks came`);
}

async function startReceiver(): Promise<Receiver> {
  const child = fork(fileURLToPath(new URL('receiver.ts', import.meta.url)));
  const ended = new Promise<never>((_, fail) => child.once('exit', () => fail(new Error('the receiver has ended'))));
  ended.catch(() => {});
  const told = <T>() =>
    Promise.race([ended, new Promise<T>((ready) => child.once('message', (message) => ready(message as T)))]);
  const port = await told<number>();
  const ask = <T>(what: 'count' | 'all') => {
    const answer = told<T>();
    child.send(what);
    return answer;
  };
  return {
    url: `http://127.0.0.1:${port}/`,
    count: () => ask<number>('count'),
    all: () => ask<Got[]>('all'),
    stop: () => child.kill('SIGKILL'),
  };
}
