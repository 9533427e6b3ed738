/**
 * Requests as curl, TypeScript, Python, PHP, Java and Go. In TypeScript they call the SDK, in the others the client of the
 * five-minute start (docs/site/snippets); a test compiles or parses every example together with that client.
 */
import type { Endpoint } from './openapi.ts';

export interface Language {
  readonly title: string;
  /** The file ending of the client in this language, also the language of code blocks. */
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
  /** The path with values for its parameters and its query. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>> | undefined;
  /** The path without its prefix for the white-label interface; otherwise the name of the SDK's function. */
  readonly sdk: string;
  readonly isWhitelabel: boolean;
  readonly takesFiles: boolean;
  readonly inPath: readonly (readonly [name: string, value: string])[];
  readonly inQuery: readonly (readonly [name: string, value: string])[];
}

/** Values of path parameters for which the description has no example. */
const IDS: Readonly<Record<string, string>> = { id: 'whe_Zx81kQmP0aLd37Tn', event: 'evt_1_42' };

/** The request with examples of its required fields. If no field is required, some fields with an example are used. */
export function exampleOf({ method, path, short, name: sdk, fields, example, takesFiles }: Endpoint): Request {
  const at = (place: string) => fields.filter((field) => field.place === place && !/[.[]/.test(field.name));
  const shown = (place: string) => {
    const all = at(place).filter((field) => field.example !== undefined);
    const needed = all.filter(({ required }) => required);
    return needed.length > 0 || at(place).some(({ required }) => required) ? needed : all.slice(0, 3);
  };
  const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']): [string, string] => [
    name,
    String(at('path').find((field) => field.name === name)?.example ?? IDS[name] ?? `<${name}>`),
  ]);
  const inQuery = at('query')
    .filter((field) => field.required && field.example !== undefined)
    .map((field): [string, string] => [field.name, String(field.example)]);
  const query = new URLSearchParams(inQuery.map(([name, value]): [string, string] => [name, value])).toString();
  const filled = inPath.reduce((text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(value)), path);
  const body = example ?? Object.fromEntries(shown('body').map((field) => [field.name, field.example]));
  const isWhitelabel = sdk === '';
  return {
    ...{ method, path: query === '' ? filled : `${filled}?${query}`, isWhitelabel, takesFiles, inPath, inQuery },
    sdk: isWhitelabel ? short.replace(/^\//, '') : sdk,
    body: method === 'GET' || Object.keys(body).length === 0 ? undefined : body,
  };
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** Name of the client in every language: `call` for the white-label interface, `v1` for the partner API. */
const callee = ({ isWhitelabel }: Request): string => (isWhitelabel ? 'call' : 'v1');

/** File names as in the customer's form. */
const FILES = "{ 'passportFront.jpg': new Blob(['the picture']) }";

/** Languages in which the example is complete: only the SDK sends files. */
export const languagesOf = ({ takesFiles, isWhitelabel }: Request): readonly Language[] =>
  takesFiles && !isWhitelabel ? LANGUAGES.filter(({ ending }) => ending === 'ts') : LANGUAGES;

/** Short JSON is written in one line. */
const lines = (body: object): string => {
  const line = JSON.stringify(body);
  return line.length <= 60 ? line : JSON.stringify(body, null, 2);
};

const WRITERS: Readonly<Record<string, (request: Request) => string>> = {
  sh(request) {
    const { method, path, body } = request;
    const json = body === undefined ? '' : ` '${lines(body).replaceAll("'", `'\\''`)}'`;
    return `${callee(request)} ${method} '${path}'${json}`;
  },
  ts({ method, sdk, isWhitelabel, takesFiles, inPath, inQuery, body }) {
    const named = Object.fromEntries([...(isWhitelabel ? inPath : []), ...inQuery, ...Object.entries(body ?? {})]);
    const fields = Object.keys(named).length === 0 ? [] : [script(named)];
    if (isWhitelabel)
      return `const data = await client.whitelabel.${method.toLowerCase()}(${[quoted(sdk), ...fields].join(', ')});`;
    const files = takesFiles ? [FILES] : [];
    return `const data = await client.${sdk}(${[...inPath.map(([, value]) => quoted(value)), ...fields, ...files].join(', ')});`;
  },
  py: (request) =>
    `data = ${callee(request)}("${request.method}", "${request.path}"${request.body === undefined ? '' : `, ${python(request.body)}`})`,
  php: (request) =>
    `$data = ${callee(request)}(${quoted(request.method)}, ${quoted(request.path)}${request.body === undefined ? '' : `, ${php(request.body)}`});`,
  java(request) {
    const { method, path, body, isWhitelabel } = request;
    const none = isWhitelabel ? '"{}"' : '""';
    const text = body === undefined ? none : `"""\n    ${JSON.stringify(body, null, 2).replaceAll('\n', '\n    ')}"""`;
    return `String reply = Cloverleaf.${callee(request)}("${method}", "${path}", ${text});`;
  },
  go: (request) =>
    `data, err := ${callee(request)}("${request.method}", "${request.path}", ${request.body === undefined ? 'nil' : go(request.body)})`,
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
