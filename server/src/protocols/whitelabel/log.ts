/**
 * Lines of the request log for this wire: which key called which endpoint, with which result. A line contains nothing that was
 * sent: neither a body nor a query nor a value in a path.
 *
 * A request gets a line once its key is known. The number of lines per key and minute is bounded, because the log is for people
 * and quotes come by the thousand. For requests without a valid signature the bound is low, because anyone who knows the key
 * can send them.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../../base/errors.ts';
import type { Credential } from '../../partners/index.ts';
import { openLimiter } from '../limit.ts';
import type { Reply } from '../protocol.ts';
import type { Line } from '../request-log.store.ts';
import type { Route } from './route.ts';

export const LINES_PER_MINUTE = 600;
const UNPROVED_PER_MINUTE = 2;
const UNPROVED_AT_ONCE = 30;
const MAX_WHY_CHARS = 300;

/** What is known about a request, completed while it is answered. */
export interface About {
  /** Credential of the key that the request names, if it exists. */
  credential?: Credential;
  /** Whether its signature is valid. */
  isProved: boolean;
  isReplay: boolean;
}

/**
 * @returns a function that adds the line of an answered request to the log. `error` is the error that the reply was made from
 */
export function openLines(add: (line: Line) => void, now: () => Date) {
  const proved = openLimiter();
  const unproved = openLimiter();
  return (
    route: Route,
    about: About,
    of: { request: FastifyRequest; reply: FastifyReply; answer: Reply; error?: unknown },
  ): void => {
    const { credential, isProved, isReplay } = about;
    if (credential === undefined) return;
    const { key, partner } = credential;
    const allowance = isProved
      ? proved.take(key, LINES_PER_MINUTE)
      : unproved.take(key, UNPROVED_PER_MINUTE, UNPROVED_AT_ONCE);
    if (!allowance.allowed) return;
    const { request, reply, answer, error } = of;
    const { reason } = answer.body as { reason?: unknown };
    const why = !isProved && error instanceof Refusal ? error.facts.why : undefined;
    add({
      ...{ partnerId: partner.id, protocol: 'white-label', requestId: request.id, clientRequestId: null, apiKey: key },
      // The declared path, with the names of its values.
      ...{ operation: operationOf(route), method: route.method, path: request.routeOptions.url ?? '' },
      ...{ status: answer.status, reason: answer.status >= 400 && typeof reason === 'string' ? reason : null },
      ...{ tookMs: Math.round(reply.elapsedTime), replayed: isReplay, version: '', idempotencyKey: null },
      ...{ request: null, reply: null, why: typeof why === 'string' ? why.slice(0, MAX_WHY_CHARS) : null, at: now() },
    });
  };
}

/** An endpoint's own path without the prefix of the interface: the same for all its aliases. */
const operationOf = ({ paths }: Route): string =>
  (paths[0] ?? '').replace(/^\/(?:onramp\/api\/v[0-9]\/(?:whiteLabel\/)?)?/, '');
