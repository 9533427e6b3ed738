/**
 * Faults for certify: a fetch that works normally except for one fault, which a partner's program has to handle.
 *
 * `quote_expired` and `price_moved` cause the event in the sandbox between the program's quote and its order, so the server
 * itself refuses. (On the white-label wire an order whose quote has expired is accepted at the same price, so only
 * `price_moved` is refused there.) `unavailable` lets the order be created and answers 503 instead, which is what a lost answer
 * looks like.
 */
import type { Cloverleaf } from './client.ts';

export type Fault = 'price_moved' | 'quote_expired' | 'unavailable';

/** A request of the program for a quote or an order. */
export interface Seen {
  readonly what: 'quote' | 'order';
  readonly key: string | undefined;
  readonly body: string;
  readonly status: number;
  readonly ok: boolean;
  /** True if certify made the answer instead of the server. */
  readonly byUs: boolean;
}

const QUOTE = /\/(?:quotes?)$/;
const ORDER = /\/(?:orders|createTransaction)$/;

export function withFault(
  fault: Fault,
  sandbox: { client: Cloverleaf; prices: { move(): Promise<void> } },
): { fetch: typeof fetch; seen: Seen[] } {
  const seen: Seen[] = [];
  let isDone = false;
  const through: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const { pathname } = new URL(request.url);
    const what =
      request.method !== 'POST'
        ? undefined
        : ORDER.test(pathname)
          ? 'order'
          : QUOTE.test(pathname)
            ? 'quote'
            : undefined;
    if (what === undefined) return await fetch(request);
    const body = await request.clone().text();
    const { headers } = request;
    // Without an Idempotency-Key, the signed payload identifies the request.
    const key =
      headers.get('idempotency-key') ?? headers.get('x-onramp-payload') ?? headers.get('payload') ?? undefined;
    const isHit = what === 'order' && !isDone;
    if (isHit) {
      isDone = true;
      // A live quote is honoured whatever the price, so it has to expire as well.
      if (fault === 'price_moved') await sandbox.prices.move();
      if (fault !== 'unavailable') await sandbox.client.sandbox.clock({ advance: '1h' });
    }
    const answer = await fetch(request);
    const byUs = isHit && fault === 'unavailable';
    const given = byUs ? unavailable() : answer;
    seen.push({ what, key, body, status: given.status, ok: given.ok, byUs });
    return given;
  };
  return { fetch: through, seen };
}

/** A 503 in the words of both APIs. */
function unavailable(): Response {
  const said = 'This cannot be answered at the moment: try again shortly.';
  const body = {
    type: 'about:blank',
    title: 'Unavailable',
    status: 503,
    detail: said,
    reason: 'unavailable',
    code: 503,
    error: said,
  };
  return new Response(JSON.stringify(body), {
    status: 503,
    headers: { 'content-type': 'application/problem+json', 'retry-after': '1' },
  });
}
