/**
 * Errors as classes: a program branches on the class, and for an answer of the server on its `reason`.
 *
 *     try { await client.orders.create(order) }
 *     catch (error) {
 *       if (hasReason(error, 'price_moved')) return requote();
 *       throw error;
 *     }
 *
 * No message, field or cause contains a key, a secret or a signature.
 */

/** Base class of every error of this package. */
export class CloverleafError extends Error {
  override name = 'CloverleafError';
}

/** A call that cannot be valid, found before anything was sent. */
export class UsageError extends CloverleafError {
  override name = 'UsageError';
}

/**
 * The server did not answer, after all attempts within the time limit. Whether the request took effect is unknown: repeat it with
 * the same `idempotencyKey`, or read the data it would have changed.
 */
export class NoAnswerError extends CloverleafError {
  override name = 'NoAnswerError';
  readonly attempts: number;
  readonly idempotencyKey: string | undefined;

  constructor(message: string, more: { attempts: number; idempotencyKey?: string | undefined; cause?: unknown }) {
    super(message, { cause: more.cause });
    this.attempts = more.attempts;
    this.idempotencyKey = more.idempotencyKey;
  }
}

/** The server answered, and refused the request. */
export class ApiError<R extends string = string> extends CloverleafError {
  override name = 'ApiError';
  /** HTTP status. */
  readonly status: number;
  /** The code to branch on. */
  readonly reason: R;
  /** The fault of each field. */
  readonly fields: Readonly<Record<string, string>>;
  /** Give it to the operator, who finds the request in the log by it. */
  readonly requestId: string | undefined;
  /** How long to wait before a retry, as the server requests. */
  readonly retryAfterMs: number | undefined;
  readonly idempotencyKey: string | undefined;
  /** The complete answer. */
  readonly body: unknown;

  constructor(answer: {
    status: number;
    reason: R;
    message: string;
    fields?: Readonly<Record<string, string>> | undefined;
    requestId?: string | undefined;
    retryAfterMs?: number | undefined;
    idempotencyKey?: string | undefined;
    body?: unknown;
  }) {
    super(answer.message);
    this.status = answer.status;
    this.reason = answer.reason;
    this.fields = answer.fields ?? {};
    this.requestId = answer.requestId;
    this.retryAfterMs = answer.retryAfterMs;
    this.idempotencyKey = answer.idempotencyKey;
    this.body = answer.body;
  }
}

/** Whether the server refused for one of these reasons. */
export function hasReason<R extends Reason>(error: unknown, ...reasons: readonly R[]): error is ApiError<R> {
  return error instanceof ApiError && (reasons as readonly string[]).includes(error.reason);
}

import type { Reason } from './generated/reasons.ts';

export type { Reason } from './generated/reasons.ts';
