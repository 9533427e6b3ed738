/**
 * Loaded into a program of ours before it runs (`--import`): appends the answer to each of its requests to a file, for the test
 * that started it (terminal.ts). The program runs unchanged.
 */
import { appendFileSync } from 'node:fs';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';

const { request } = http;
const plainFetch = globalThis.fetch;

interface Reply {
  method: string;
  path: string;
  status: number | undefined;
  type: string | undefined;
  text: string;
}
const append = (reply: Reply): void =>
  appendFileSync(process.env.REPLIES_FILE ?? '/dev/null', `${JSON.stringify(reply)}\n`);

http.request = ((...given: Parameters<typeof request>) => {
  const asked = request(...given);
  asked.prependOnceListener('response', (response: IncomingMessage) => record(asked, response));
  return asked;
}) as typeof request;
syncBuiltinESMExports();

/** Listens at the parser, so that the stream flows as it would without the listener. */
function record({ method, path }: ClientRequest, response: IncomingMessage): void {
  const chunks: Buffer[] = [];
  const push = response.push.bind(response);
  response.push = (chunk: Buffer | null) => {
    if (chunk !== null) chunks.push(chunk);
    else {
      const { statusCode: status, headers } = response;
      append({ method, path, status, type: headers['content-type'], text: Buffer.concat(chunks).toString('utf8') });
    }
    return push(chunk);
  };
}

globalThis.fetch = async (input, init) => {
  const response = await plainFetch(input, init);
  const { pathname, search } = new URL(response.url);
  const { status, headers } = response;
  const text = await response.clone().text();
  append({
    ...{ method: init?.method ?? 'GET', path: `${pathname}${search}`, status, text },
    type: headers.get('content-type') ?? undefined,
  });
  return response;
};
