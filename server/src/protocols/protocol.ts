/**
 * The contract of a protocol: one external interface, mounted beside the others.
 *
 * A protocol is a factory: it receives its dependencies and returns a Fastify plugin with all its routes. Inside, a handler
 * is a plain function from a `Call` to a `Reply`: it never sees Fastify, so supporting another HTTP server takes one adapter
 * file, and a test can call a handler without a socket.
 *
 * A protocol translates; it decides nothing about money. It imports modules through their `index.ts`, and neither rails, nor
 * another protocol, nor a module's SQL.
 */
import type { Readable } from 'node:stream';
import type { FastifyPluginAsync } from 'fastify';

/** A request, independent of the HTTP server. */
export interface Call {
  readonly method: string;
  /** Values of a path's `:names`. */
  readonly params: Readonly<Record<string, string>>;
  /** The URL's query; of a repeated name the last value counts. */
  readonly query?: Readonly<Record<string, string>>;
  /** Names in lower case. Values of a repeated header are joined. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Bytes as sent; empty without a body. */
  readonly body: Buffer;
  /** A body with files, unread; `body` is then empty. */
  readonly upload?: Readable;
  /** Network address of the caller. */
  readonly address: string;
}

export interface Reply {
  readonly status: number;
  /** Serialised as JSON, unless the headers contain `content-type`: then it is text, sent as it is. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The reply was stored for an earlier, equal request (idempotency.ts). This flag is not sent. */
  readonly isReplay?: boolean;
}

export type Protocol<Deps> = (deps: Deps) => FastifyPluginAsync;
