/**
 * Calls that other providers make to us, such as reports of a verifier or travel rule messages: a body of any type is kept as
 * bytes, because a signature covers them; an answer is never cached; and a call that fails here is answered with 503, so that
 * the provider calls again.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readBodiesAsBytes } from './http.ts';

/** A call as an adapter reads it. */
export interface Call {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

/** @param onFailure told of each error that is not the caller's */
export function takeCalls(app: FastifyInstance, onFailure: (request: FastifyRequest, error: unknown) => void): void {
  readBodiesAsBytes(app);
  app.setErrorHandler(async (error, request, reply) => {
    const { statusCode } = error as { statusCode?: unknown };
    if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) return answer(reply, statusCode);
    onFailure(request, error);
    return answer(reply, 503);
  });
}

/** Of a header that is sent several times, the values are joined. */
export const callOf = ({ headers, body }: FastifyRequest): Call => ({
  headers: Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  ),
  body: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
});

export const answer = (reply: FastifyReply, status: number, body?: string): FastifyReply =>
  reply.code(status).header('cache-control', 'no-store').send(body);
