/**
 * The contract of a protocol: one way to speak with the outside, mounted beside the others.
 *
 * A protocol is a factory that takes what it may use and gives a Fastify plugin with every route it answers. Inside, a
 * handler is a plain function from a `Call` to a `Reply`: it never sees Fastify, so another HTTP server in front is one
 * file of adapting, and a test can call it without a socket.
 *
 * A protocol translates; it decides nothing about money. It imports modules through their `index.ts`, and neither rails,
 * nor another protocol, nor a module's SQL.
 */
import type { FastifyPluginAsync } from 'fastify';

/** A request as any front can give it. */
export interface Call {
  readonly method: string;
  /** Values of a path's `:names`. */
  readonly params: Readonly<Record<string, string>>;
  /** What stands after the question mark; of a name that comes twice the last one counts. */
  readonly query?: Readonly<Record<string, string>>;
  /** Names in lower case. A header sent twice arrives joined. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** As sent, undecoded; empty where there is none. */
  readonly body: Buffer;
  /** Network address of the caller. */
  readonly address: string;
}

export interface Reply {
  readonly status: number;
  /** Serialised as JSON, unless `content-type` is among the headers: then it is text to be sent as it is. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Protocol<Deps> = (deps: Deps) => FastifyPluginAsync;
