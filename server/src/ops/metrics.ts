/**
 * Metrics, for Prometheus, on a separate port: counters measured as events happen, and gauges read on request.
 *
 * Gauges query the database, so they are read at most every five seconds however many scrapers there are, and with a
 * deadline: when the database does not answer, the scrape still describes this process, and `cloverleaf_readings_ok` is 0.
 *
 * Labels are kinds, states, routes as templates and rails: never an id, because their number would grow without bound.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Handlers } from '../base/jobs.ts';
import { within } from './deadline.ts';

/** A number read on request, or one per value of a label. */
export interface Reading {
  readonly name: string;
  readonly help: string;
  readonly label?: string;
}

export type Value = { of?: string; value: number };

/** Reads several at once, because one query may return several. */
export interface Readings {
  readonly readings: readonly Reading[];
  read(): Promise<Readonly<Record<string, readonly Value[]>>>;
}

export interface Metrics {
  readonly registry: Registry;
  /** Measures every request of this app: add it before the routes. */
  measureHttp(app: FastifyInstance): void;
  /** Wraps the handlers and counts their runs. */
  measureJobs(handlers: Handlers): Handlers;
  /** All metrics in Prometheus' text format. */
  text(): Promise<string>;
}

const READ_EVERY_MS = 5_000;
const READ_DEADLINE_MS = 2_000;
/** Seconds. From an answer out of memory to the point where a client gives up. */
const HTTP_BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const WORK_BUCKETS = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 20];

export function openMetrics(sources: readonly Readings[] = []): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

  const http = new Histogram({
    name: 'cloverleaf_http_request_seconds',
    help: 'Time to answer a request.',
    labelNames: ['method', 'route', 'status'],
    buckets: HTTP_BUCKETS,
    registers,
  });
  const work = new Histogram({
    name: 'cloverleaf_job_seconds',
    help: 'Time that one piece of due work took.',
    labelNames: ['kind', 'outcome'],
    buckets: WORK_BUCKETS,
    registers,
  });
  const gauges = new Map<string, Gauge>();
  for (const { readings } of sources) {
    for (const { name, help, label } of readings) {
      gauges.set(name, new Gauge({ name, help, labelNames: label === undefined ? [] : [label], registers }));
    }
  }
  const readingsOk = new Gauge({
    name: 'cloverleaf_readings_ok',
    help: '1 when everything counted could be.',
    registers,
  });
  const failedReadings = new Counter({
    name: 'cloverleaf_readings_failed_total',
    help: 'Readings that failed.',
    registers,
  });

  async function readAll(): Promise<void> {
    const outcomes = await Promise.allSettled(sources.map((source) => within(READ_DEADLINE_MS, () => source.read())));
    outcomes.forEach((outcome, i) => {
      for (const { name, label } of sources[i]?.readings ?? []) {
        const gauge = gauges.get(name);
        // A gauge that could not be read is omitted: an old value would look current.
        gauge?.reset();
        if (outcome.status === 'rejected') gauge?.remove();
        else
          for (const { of = '', value } of outcome.value[name] ?? []) gauge?.inc(label ? { [label]: of } : {}, value);
      }
    });
    const failed = outcomes.filter(({ status }) => status === 'rejected').length;
    readingsOk.set(failed === 0 ? 1 : 0);
    failedReadings.inc(failed);
  }

  let last: { at: number; done: Promise<void> } | undefined;
  return {
    registry,
    measureHttp(app) {
      // Looking up a counter by its labels costs more than counting, and there are few: route templates times statuses.
      const known = new Map<string, ReturnType<typeof http.labels>>();
      app.addHook('onResponse', (request, reply, done) => {
        const { method } = request;
        const route = request.routeOptions.url ?? 'none';
        const name = `${method} ${route} ${reply.statusCode}`;
        const counter = known.get(name) ?? http.labels({ method, route, status: reply.statusCode });
        known.set(name, counter);
        counter.observe(reply.elapsedTime / 1000);
        done();
      });
    },
    measureJobs: (handlers) =>
      Object.fromEntries(
        Object.entries(handlers).map(([kind, handler]) => [
          kind,
          async (subject, run) => {
            const from = performance.now();
            let outcome = 'failed';
            try {
              const handled = await handler(subject, run);
              outcome = 'handled';
              return handled;
            } finally {
              work.observe({ kind, outcome }, (performance.now() - from) / 1000);
            }
          },
        ]),
      ),
    async text() {
      const now = performance.now();
      if (last === undefined || now - last.at > READ_EVERY_MS) last = { at: now, done: readAll() };
      await last.done;
      return await registry.metrics();
    },
  };
}

/**
 * Serves the metrics until stopped.
 *
 * @param options.port 0 takes a free one
 */
export async function startMetrics(options: {
  metrics: Metrics;
  port: number;
  host: string;
}): Promise<{ port: number; stop(): Promise<void> }> {
  const { metrics } = options;
  const server = createServer((request, response) => {
    if (request.url?.split('?')[0] !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    metrics.text().then(
      (text) => response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((listening, failed) => {
    server.once('error', failed);
    server.listen(options.port, options.host, listening);
  });
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((stopped) => {
        server.close(() => stopped());
        server.closeAllConnections();
      }),
  };
}
