/**
 * `/healthz`: this process answers. `/readyz`: it has what it needs to serve, each part with its numbers.
 *
 * Health runs no checks, so that a database that is down does not get every process restarted. Readiness runs all checks at
 * once, each with its own deadline. Both are public, so readiness is cached for a second, and contains ages, counts and the
 * operator's balances only. To hide those, restrict access in the proxy in front.
 */
import type { FastifyPluginAsync } from 'fastify';
import { Late, within } from './deadline.ts';

export interface Check {
  readonly name: string;
  /** Whether the server is useless without it. A failing check that is not essential is shown, and leaves the answer 200. */
  readonly essential: boolean;
  /**
   * @returns numbers to show. A check fails by throwing, or with `ok: false` among the numbers
   * @param signal aborts at the deadline
   */
  run(signal: AbortSignal): Promise<Record<string, number | string | boolean>>;
}

export interface Checked {
  name: string;
  ok: boolean;
  essential: boolean;
  tookMs: number;
  [detail: string]: number | string | boolean;
}

export const CHECK_DEADLINE_MS = 2_000;
const REMEMBER_MS = 1_000;

/** @param checks the current ones: a sleeping rail has none */
export function opsRoutes(checks: () => readonly Check[]): FastifyPluginAsync {
  let last: { at: number; checked: Promise<Checked[]> } | undefined;
  const recently = (): Promise<Checked[]> => {
    const now = performance.now();
    if (last === undefined || now - last.at > REMEMBER_MS) {
      last = { at: now, checked: Promise.all(checks().map((check) => runCheck(check))) };
    }
    return last.checked;
  };

  return async (app) => {
    app.get('/healthz', async () => ({ ok: true }));
    app.get('/readyz', async (_request, reply) => {
      const checked = await recently();
      const ok = checked.every((check) => check.ok || !check.essential);
      return await reply
        .code(ok ? 200 : 503)
        .header('cache-control', 'no-store')
        .send({ ok, checks: checked });
    });
  };
}

/** Never throws and never takes longer than the deadline. */
export async function runCheck(check: Check, deadlineMs = CHECK_DEADLINE_MS): Promise<Checked> {
  const { name, essential } = check;
  const from = performance.now();
  const took = () => Math.round(performance.now() - from);
  try {
    const detail = await within(deadlineMs, (signal) => check.run(signal));
    return { ...detail, name, ok: detail.ok !== false, essential, tookMs: took() };
  } catch (error) {
    // This is public, and a library's message may contain an address or a key.
    return { name, ok: false, essential, tookMs: took(), why: error instanceof Late ? error.message : 'failed' };
  }
}
