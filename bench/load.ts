/** Load: requests that were signed in advance, a fixed number concurrently, each timed. */
import { Agent, request } from 'node:http';

export interface Prepared {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  headers: Record<string, string>;
  body: string;
}

export interface Served {
  seconds: number;
  /** Milliseconds of each request, ascending. */
  latencies: number[];
}

/** @throws when any answer is not 200, because a figure that includes failures is meaningless */
export async function drive(baseUrl: string, all: readonly Prepared[], concurrency: number): Promise<Served> {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  const latencies: number[] = [];
  const queue = all.values();
  const began = performance.now();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (const one of queue) {
        const sentAt = performance.now();
        await send(baseUrl, one, agent);
        latencies.push(performance.now() - sentAt);
      }
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  agent.destroy();
  return { seconds, latencies: latencies.sort((a, b) => a - b) };
}

export function send(baseUrl: string, { method, path, headers, body }: Prepared, agent?: Agent): Promise<string> {
  return new Promise((done, fail) => {
    const asked = request(`${baseUrl}${path}`, { method, headers, agent }, (reply) => {
      let text = '';
      reply.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      reply.on('end', () =>
        reply.statusCode === 200 ? done(text) : fail(new Error(`${path} answered ${reply.statusCode}: ${text}`)),
      );
    });
    asked.setTimeout(30_000, () => asked.destroy(new Error(`${path} did not answer`)));
    asked.once('error', fail);
    asked.end(body);
  });
}

export const percentile = (ascending: readonly number[], share: number): number =>
  ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? Number.NaN;
