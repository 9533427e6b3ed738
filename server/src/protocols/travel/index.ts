/**
 * Travel: the travel rule messages that other providers send us, under `/travel-rule/<protocol>/`.
 *
 * `POST inquiry/<order>-<secret>` is the travel address of one sale, `POST resolution/<secret>` and `POST
 * confirmation/<secret>` are callbacks of one transfer. The secret in the URL is the caller's permission; the protocol reads
 * the rest (compliance/travel-rule/protocols). Logs contain kind and status only, because these URLs and bodies are secrets and
 * personal data.
 *
 * Answers: 200 for an accepted inquiry, 204 for an accepted resolution or confirmation; 400 with a sentence that quotes
 * nothing, 403 for a callback at an unknown provider, 404 for a wrong or erased URL, 409 for a message that contradicts an
 * earlier one, 413 above MAX_BODY_BYTES, 429 above REQUESTS_PER_MINUTE of one network or too many inquiries of one order, 503
 * when it cannot be stored now: the other provider tries again.
 */
import type { FastifyRequest } from 'fastify';
import { describeError, type Log } from '../../base/log.ts';
import { CALL_KINDS, type CallKind, type Reply, type TravelRule } from '../../compliance/index.ts';
import { answer, callOf, takeCalls } from '../calls.ts';
import { networkOf, openLimiter } from '../limit.ts';
import type { Protocol } from '../protocol.ts';

export interface TravelDeps {
  readonly log: Log;
  readonly exchange: NonNullable<TravelRule['exchange']>;
  /** Per network address; 120 by default. */
  readonly requestsPerMinute?: number;
}

const MAX_BODY_BYTES = 64 * 1024;
const REQUESTS_PER_MINUTE = 120;

const STATUS: Readonly<Record<Reply['outcome'], number>> = {
  pending: 200,
  taken: 204,
  misread: 400,
  forbidden: 403,
  unknown: 404,
  otherwise: 409,
  many: 429,
};

export const travel: Protocol<TravelDeps> = (deps) => async (app) => {
  const { log, exchange } = deps;
  const { protocol } = exchange;
  const limiter = openLimiter();
  await app.register(async (inside) => {
    takeCalls(inside, ({ id }, error) =>
      log.error({ requestId: id, ...describeError(error) }, 'travel rule message failed'),
    );
    inside.route<{ Params: { code: string; kind: string; secret: string } }>({
      method: 'POST',
      url: '/travel-rule/:code/:kind/:secret',
      bodyLimit: MAX_BODY_BYTES,
      onRequest: async (request, reply) => {
        const { allowed, headers } = limiter.take(networkOf(request.ip), deps.requestsPerMinute ?? REQUESTS_PER_MINUTE);
        if (!allowed) return answer(reply.headers(headers), 429);
        if (request.params.code !== protocol.code || kindOf(request) === undefined) return answer(reply, 404);
      },
      handler: async (request, reply) => {
        const call = callOf(request);
        const kind = kindOf(request);
        const said: Reply =
          kind === undefined ? { outcome: 'unknown' } : await exchange.receive(kind, request.params.secret, call);
        const { headers, pending } = protocol.replyTo(call);
        const body =
          'why' in said ? JSON.stringify({ error: said.why }) : said.outcome === 'pending' ? pending : undefined;
        return answer(reply.headers(headers), STATUS[said.outcome], body);
      },
    });
  });
};

const kindOf = ({ params }: FastifyRequest<{ Params: { kind: string } }>): CallKind | undefined =>
  CALL_KINDS.find((kind) => kind === params.kind);
