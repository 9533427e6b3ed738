/**
 * Requests as curl, TypeScript, Python, PHP, Java and Go. Each calls the client of its language that the page "Signing
 * requests" shows (docs/site/snippets); a test compiles or parses every example together with that client.
 */
import type { Endpoint } from './openapi.ts';

export interface Language {
  readonly title: string;
  /** As in the name of its client file, and of code blocks. */
  readonly ending: string;
}

export const LANGUAGES: readonly Language[] = [
  { title: 'curl', ending: 'sh' },
  { title: 'TypeScript', ending: 'ts' },
  { title: 'Python', ending: 'py' },
  { title: 'PHP', ending: 'php' },
  { title: 'Java', ending: 'java' },
  { title: 'Go', ending: 'go' },
];

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

/** The request with the examples of its required fields; where none is required, of all its fields that have one. */
export function exampleOf({ method, path, fields }: Endpoint): Request {
  const at = (place: string) => fields.filter((field) => field.place === place && !/[.[]/.test(field.name));
  const shown = (place: string) => {
    const all = at(place).filter(({ example }) => example !== undefined);
    const needed = all.filter(({ required }) => required);
    return needed.length > 0 || at(place).some(({ required }) => required) ? needed : all.slice(0, 3);
  };
  const filled = path.replaceAll(/\{([^}]+)\}/g, (_all, name: string) => {
    const known = at('path').find((field) => field.name === name)?.example;
    return String(known ?? { id: 'whe_Zx81kQmP0aLd37Tn', event: 'evt_1_42' }[name] ?? `<${name}>`);
  });
  const query = new URLSearchParams(
    at('query')
      .filter(({ required, example }) => required && example !== undefined)
      .map(({ name, example }): [string, string] => [name, String(example)]),
  ).toString();
  const body = Object.fromEntries(shown('body').map(({ name, example }) => [name, example]));
  return {
    method,
    path: query === '' ? filled : `${filled}?${query}`,
    body: method === 'GET' || Object.keys(body).length === 0 ? undefined : body,
  };
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
const indent = (text: string): string => text.replaceAll('\n', '\n  ');

const WRITERS: Readonly<Record<string, (request: Request) => string>> = {
  sh({ method, path, body }) {
    const json = body === undefined ? '' : ` '${JSON.stringify(body).replaceAll("'", `'\\''`)}'`;
    return `call ${method} '${path}'${json}`;
  },
  ts: ({ method, path, body }) =>
    `const data = await call(${quoted(method)}, ${quoted(path)}${body === undefined ? '' : `, ${script(body)}`});`,
  py: ({ method, path, body }) => `data = call("${method}", "${path}"${body === undefined ? '' : `, ${python(body)}`})`,
  php: ({ method, path, body }) =>
    `$data = call(${quoted(method)}, ${quoted(path)}${body === undefined ? '' : `, ${php(body)}`});`,
  java: ({ method, path, body }) =>
    `String reply = Cloverleaf.call("${method}", "${path}", ${
      body === undefined ? '"{}"' : `"""\n    ${indent(JSON.stringify(body, null, 2)).replaceAll('\n  ', '\n    ')}"""`
    });`,
  go: ({ method, path, body }) => `data, err := call("${method}", "${path}", ${body === undefined ? 'nil' : go(body)})`,
};

/** @throws Error for a language without a writer */
export function written(request: Request, { ending }: Language): string {
  const writer = WRITERS[ending];
  if (writer === undefined) throw new Error(`no example is written in ${ending}`);
  return writer(request);
}

function script(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return `[${value.map(script).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const pairs = Object.entries(value).map(
    ([name, one]) => `  ${/^[A-Za-z_]\w*$/.test(name) ? name : quoted(name)}: ${script(one)},`,
  );
  return `{\n${pairs.join('\n')}\n}`;
}

function python(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (value === null) return 'None';
  if (Array.isArray(value)) return `[${value.map(python).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  return `{\n${Object.entries(value)
    .map(([name, one]) => `    "${name}": ${python(one)},`)
    .join('\n')}\n}`;
}

function php(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return `[${value.map(php).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `[\n${Object.entries(value)
    .map(([name, one]) => `    '${name}' => ${php(one)},`)
    .join('\n')}\n]`;
}

function go(value: unknown): string {
  if (Array.isArray(value)) return `[]any{${value.map(go).join(', ')}}`;
  if (typeof value !== 'object' || value === null) return value === null ? 'nil' : JSON.stringify(value);
  return `map[string]any{\n${Object.entries(value)
    .map(([name, one]) => `\t"${name}": ${go(one)},`)
    .join('\n')}\n}`;
}
