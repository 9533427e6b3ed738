/**
 * A server that answers each endpoint of docs/openapi-v1.json with its example, any number of times, and records its requests.
 * For tests of the SDK's own side: its requests, and its processing of answers.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

interface Operation {
  'x-name': string;
  responses: Record<string, { content?: { 'application/json'?: { example?: unknown } } }>;
}
const api = JSON.parse(
  readFileSync(fileURLToPath(new URL('../../../docs/openapi-v1.json', import.meta.url)), 'utf8'),
) as {
  paths: Record<string, Record<string, Operation>>;
};

const ROUTES = Object.entries(api.paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, operation]) => {
    const success = Object.entries(operation.responses).find(([status]) => status.startsWith('2'));
    return {
      name: operation['x-name'],
      method: method.toUpperCase(),
      path,
      pattern: new RegExp(`^/v1${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      status: Number(success?.[0]),
      example: success?.[1].content?.['application/json']?.example,
    };
  }),
);

export const NAMES = ROUTES.map(({ name }) => name);

export interface Asked {
  name: string;
  method: string;
  path: string;
  query: Record<string, string>;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** An endpoint's answer instead of its example. */
export type Instead = (asked: Asked, times: number) => { status: number; body: unknown } | undefined;

export async function describedServer(instead: Instead = () => undefined) {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const url = new URL(request.url ?? '', 'http://here');
    const answer = (status: number, value: unknown): void => {
      const type = status < 300 ? 'application/json' : 'application/problem+json';
      response.writeHead(status, { 'content-type': type, 'x-request-id': '4f1c2a9d0e00001a' });
      response.end(JSON.stringify(value));
    };
    if (url.pathname === '/healthz') return answer(200, {});
    const matching = ROUTES.filter(({ method, pattern }) => method === request.method && pattern.test(url.pathname));
    // `/customers/{customer}` and a path without braces: the plain one is meant.
    const route = matching.toSorted((a, b) => a.path.split('{').length - b.path.split('{').length)[0];
    if (route === undefined) return answer(404, { title: 'Unknown path', status: 404, reason: 'unknown_path' });
    const one: Asked = {
      ...{ name: route.name, method: route.method, path: url.pathname, body, headers: request.headers },
      query: Object.fromEntries(url.searchParams),
    };
    asked.push(one);
    const other = instead(one, asked.filter(({ name }) => name === route.name).length);
    if (other !== undefined) return answer(other.status, other.body);
    answer(route.status, route.example);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}
