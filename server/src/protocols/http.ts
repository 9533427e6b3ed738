/** HTTP functions that the wires for partners' programs share. */
import type { FastifyInstance, FastifyRequest } from 'fastify';

/**
 * Keeps bodies as raw bytes, whatever their content type: a signature covers the bytes as sent, and numbers keep their digits.
 */
export function readBodiesAsBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}

/** The fields of a query. Of a repeated name the last value counts. */
export const lastOfEach = (query: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(query as Record<string, string | string[]>).map(([name, value]) => [
      name,
      Array.isArray(value) ? (value.at(-1) ?? '') : value,
    ]),
  );

/** Whether a request has no body. */
export const isBare = (headers: FastifyRequest['headers']): boolean =>
  headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0';

/** Whether the path of a URL is one with `:names`, none of them empty. */
export function isPath(path: string, url: string): boolean {
  const [parts, given] = [path.split('/'), url.split('/')];
  return (
    parts.length === given.length &&
    parts.every((part, at) => (part.startsWith(':') ? given[at] !== '' : part === given[at]))
  );
}

/** The framework's own code of an error; '' for any other error. */
export const frameworkCode = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '');
