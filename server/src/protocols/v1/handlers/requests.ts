/** The request log. */
import { REQUESTS } from '../declared/catalogue.ts';
import { type Handled, reads } from '../handler.ts';
import { cursorOf, readCursor } from '../pages.ts';
import { requestNamed, requestsOf, type Shown } from '../request-log.ts';
import { iso } from '../shapes.ts';

const PAGE = 50;

const lineOf = (line: Shown) => ({
  id: line.requestId,
  clientRequestId: line.clientRequestId,
  at: iso(line.at),
  key: line.apiKey,
  ...{ operation: line.operation, method: line.method, path: line.path, status: line.status, reason: line.reason },
  ...{ tookMs: line.tookMs, replayed: line.replayed, version: line.version },
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
