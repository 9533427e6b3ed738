/** Examples of a request and its reply, assembled from the examples of their parts. */
import { exampleIn } from '../declaration/examples.ts';
import { isInPath } from '../declaration/openapi.ts';
import type { Declared } from './declare.ts';
import { MEANINGS } from './names.ts';

/** Example fields of a valid request. */
export function exampleRequest(declared: Declared): Readonly<Record<string, unknown>> {
  if (declared.example !== undefined) return declared.example;
  const required = Object.entries(declared.fields).filter(([, field]) => field.optional !== true);
  return Object.fromEntries(required.map(([name, field]) => [name, MEANINGS.exampleOf(name, field)]));
}

/** The same by part of the request: path, query and body. */
export function exampleParts(declared: Declared): {
  path: string;
  body: Readonly<Record<string, unknown>> | undefined;
} {
  const fields = exampleRequest(declared);
  const path = declared.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(fields[name])));
  const rest = Object.entries(fields).filter(([name]) => !isInPath(declared, name));
  if (declared.files === true) return { path, body: undefined };
  if (declared.method !== 'GET') return { path, body: Object.fromEntries(rest) };
  const query = rest.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&');
  return { path: query === '' ? path : `${path}?${query}`, body: undefined };
}

export const exampleReply = ({ gives }: Declared): unknown => exampleIn(gives);
