/** The request log. */

import { requestNamed, requestsOf, type Shown } from '../../request-log.ts';
import { REQUESTS } from '../declared/catalogue.ts';
import { diagnose } from '../doctor.ts';
import { type Handled, reads, writes } from '../handler.ts';
import { cursorOf, readCursor } from '../pages.ts';
import { iso } from '../shapes.ts';

const PAGE = 50;

const lineOf = (line: Shown) => ({
  id: line.requestId,
  clientRequestId: line.clientRequestId,
  at: iso(line.at),
  ...{ key: line.apiKey, protocol: line.protocol },
  ...{ operation: line.operation, method: line.method, path: line.path, status: line.status, reason: line.reason },
  why: line.why,
  ...{ tookMs: line.tookMs, replayed: line.replayed, version: line.version === '' ? null : line.version },
});

const bodyOf = (logged: unknown) => (logged === null ? null : (logged as Record<string, unknown>));

export const REQUEST_HANDLERS: readonly Handled[] = [
  reads(REQUESTS.list, ({ values, caller, deps, readOnly }) => {
    const { cursor, limit = PAGE, ...filters } = values;
    return readOnly(async (tx) => {
      const partnerId = caller.partner.id;
      const input = { ...filters, partnerId, below: readCursor(cursor), limit: limit + 1 };
      const lines = await requestsOf(tx, deps.vault, input);
      const shown = lines.slice(0, limit);
      return {
        data: shown.map(lineOf),
        nextCursor: lines.length > limit ? cursorOf(shown.at(-1)?.id ?? null) : null,
      };
    });
  }),
  writes(REQUESTS.diagnose, async (_tx, { values, caller, deps }) => {
    const { method, path, headers = {}, body = '' } = values;
    const lower = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
    );
    const isWrite = method !== 'GET';
    const message = { method, url: path, headers: lower, body: Buffer.from(body), isWrite };
    const findings = await diagnose(
      { ...message, mustSign: deps.profile === 'production' },
      {
        async mine(key) {
          const found = await deps.partners.credential(key);
          return found?.partner.id === caller.partner.id ? found : undefined;
        },
        nowMs: Date.now(),
      },
    );
    return { accepted: findings.every(({ ok }) => ok), findings };
  }),
  reads(REQUESTS.get, ({ values, caller, deps, readOnly }) =>
    readOnly(async (tx) => {
      const line = await requestNamed(tx, deps.vault, { partnerId: caller.partner.id, id: values.request });
      return {
        ...lineOf(line),
        idempotencyKey: line.idempotencyKey,
        request: bodyOf(line.request),
        reply: bodyOf(line.reply),
      };
    }),
  ),
];
