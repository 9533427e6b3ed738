/**
 * Callbacks: `POST /verifiers/<code>/callback`, through which a verifier's provider reports news about a check.
 *
 * A call only wakes the job that asks the verifier (compliance/checks.ts). Its signature is checked by the verifier's adapter,
 * and of its content only the key is used, none stored; so a call that is repeated, late or about an unknown check is harmless
 * and gets the usual answer. Logs contain the code and the status only.
 *
 * Answers: 204 once the signature is valid and it names a check, 401 otherwise, 404 if this installation's verifier takes no
 * calls, 413 above MAX_BODY_BYTES, 429 above REQUESTS_PER_MINUTE of one network, 503 when the job cannot be woken now:
 * providers call again.
 */
import type { FastifyRequest } from 'fastify';
import type { Clock } from '../../base/clock.ts';
import type { Database } from '../../base/db.ts';
import { describeError, type Log } from '../../base/log.ts';
import { wakeCheck } from '../../customers/index.ts';
import { answer, type Call, callOf, takeCalls } from '../calls.ts';
import { networkOf, openLimiter } from '../limit.ts';
import type { Protocol } from '../protocol.ts';

export interface CallbacksDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** The functions needed of a verifier; its contract is verifiers/verifier.ts. */
  readonly verifier: {
    readonly code: string;
    readCallback?(call: Call): string | undefined;
  };
  /** Per network address; 300 by default. */
  readonly requestsPerMinute?: number;
}

const MAX_BODY_BYTES = 64 * 1024;
/** A provider calls from few addresses, for all customers. */
const REQUESTS_PER_MINUTE = 300;

export const callbacks: Protocol<CallbacksDeps> = (deps) => async (app) => {
  const { db, clock, log, verifier } = deps;
  const limiter = openLimiter();
  /** An adapter's error about a call may quote the call, so it is not passed on. */
  const keyOf = (request: FastifyRequest): string | undefined => {
    try {
      return verifier.readCallback?.(callOf(request));
    } catch {
      log.warn({ requestId: request.id, verifier: verifier.code }, 'callback not understood');
      return undefined;
    }
  };
  await app.register(async (inside) => {
    takeCalls(inside, ({ id }, error) =>
      log.error({ requestId: id, verifier: verifier.code, ...describeError(error) }, 'callback failed'),
    );
    inside.route<{ Params: { code: string } }>({
      method: 'POST',
      url: '/verifiers/:code/callback',
      bodyLimit: MAX_BODY_BYTES,
      onRequest: async (request, reply) => {
        const { allowed, headers } = limiter.take(networkOf(request.ip), deps.requestsPerMinute ?? REQUESTS_PER_MINUTE);
        if (!allowed) return answer(reply.headers(headers), 429);
        if (request.params.code !== verifier.code || verifier.readCallback === undefined) return answer(reply, 404);
      },
      handler: async (request, reply) => {
        const key = keyOf(request);
        if (key === undefined) return answer(reply, 401);
        await db.asSystem((tx) => wakeCheck(tx, key, clock.now()));
        return answer(reply, 204);
      },
    });
  });
};
