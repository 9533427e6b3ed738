/**
 * Where a script could come from, and where it could run: every free text that a request takes, by the declarations of the interfaces,
 * what comes from a bank without a request, and every page of both consoles and of the hosted pages, by their routes.
 *
 * A text is free if its field accepts markup. Each is filled by the test in a browser, or is in a list with the reason why not.
 */
import { readFileSync } from 'node:fs';
import { ENDPOINTS as OPERATOR } from '../../src/protocols/operator/declared/index.ts';
import { ENDPOINTS as TEAM } from '../../src/protocols/team/declared.ts';
import { ENDPOINTS as V1 } from '../../src/protocols/v1/declared/index.ts';
import { Malformed } from '../../src/protocols/whitelabel/fields.ts';
import { ROUTES } from '../../src/protocols/whitelabel/table.ts';

const sourceOf = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

interface AnyField {
  readonly schema: object;
  read(value: unknown): unknown;
}
interface Schema {
  readonly type?: string;
  readonly enum?: unknown;
  readonly const?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
}

const MARKUP = '<img/src=x>';
/** In the forms that fields ask for: a text, a short one, an e-mail address, a path, `rail:line`, an origin. */
const PROBES = [
  `${MARKUP} x`,
  MARKUP,
  '<i>',
  `${MARKUP}@a.test`,
  `/${MARKUP}`,
  `a:${MARKUP}`,
  'https://<i>',
  `https://a.test/?${MARKUP}`,
];

const isFreeSchema = (schema: Schema): boolean => {
  const { type, anyOf, items, properties, additionalProperties: more, pattern } = schema;
  if (schema.enum !== undefined || schema.const !== undefined) return false;
  if (anyOf !== undefined) return anyOf.some(isFreeSchema);
  if (type === 'array') return items === undefined || isFreeSchema(items);
  if (type === 'object') {
    if (properties === undefined && more === undefined) return true;
    return [...Object.values(properties ?? {}), ...(typeof more === 'object' ? [more] : [])].some(isFreeSchema);
  }
  if (type !== 'string' || (schema.format !== undefined && schema.format !== 'email')) return false;
  return pattern === undefined || PROBES.some((probe) => new RegExp(pattern).test(probe));
};

/** Whether the field accepts a text with markup, as it is or within an object or a list. */
export const isFree = ({ schema, read }: AnyField): boolean => {
  const { type, anyOf, items } = schema as Schema;
  const isNested = type === 'object' || anyOf !== undefined || (type === 'array' && items?.type !== 'string');
  if (isNested && isFreeSchema(schema)) return true;
  return PROBES.some((probe) => {
    const value = read(type === 'array' ? [probe] : probe);
    return value !== undefined && !(value instanceof Malformed) && JSON.stringify(value)?.includes('<') === true;
  });
};

const freeOf = (where: string, fields: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(fields).flatMap(([name, field]) => (isFree(field as AnyField) ? [`${where} ${name}`] : []));

const WL_PREFIX = /^\/onramp\/api\/v2\/(?:whiteLabel|common\/transaction)\//;

/** What writes: the free texts of each request, and the files that it takes. `<interface> <endpoint> <field>`. */
export const writtenFields = (): string[] => [
  'operator reason',
  ...OPERATOR.filter(({ method }) => method !== 'GET').flatMap((one) => {
    const where = `operator ${'name' in one ? one.name : one.path}`;
    const { takesForm, takesFile } = one as { takesForm?: string; takesFile?: true };
    const files = [...(takesForm === undefined ? [] : ['file name']), ...(takesFile ? ['content'] : [])];
    return [...freeOf(where, one.fields), ...files.map((what) => `${where} ${what}`)];
  }),
  ...Object.values(TEAM)
    .filter(({ method }) => method !== 'GET')
    .flatMap((one) => freeOf(`team ${one.path}`, one.fields)),
  ...V1.filter(({ method }) => method !== 'GET').flatMap((one) => [
    ...freeOf(`v1 ${one.name}`, one.fields),
    ...(one.files === true ? [`v1 ${one.name} file name`] : []),
  ]),
  ...ROUTES.flatMap((one) => {
    const where = `wire ${(one.paths[0] ?? '').replace(WL_PREFIX, '')}`;
    const fields = Object.assign({}, ...one.forms) as Record<string, unknown>;
    return [...freeOf(where, fields), ...(one.files ? [`${where} file name`] : [])];
  }),
  ...lineFields().map((name) => `bank line ${name}`),
];

/** Names under which a read takes a free text: each is put into the address of every page. */
export const readNames = (): string[] => {
  const reads = [...OPERATOR, ...Object.values(TEAM), ...V1].filter(({ method }) => method === 'GET');
  const names = reads.flatMap(({ fields }) => freeOf('', fields).map((name) => name.trim()));
  return [...new Set(names)].toSorted();
};

/** Texts of a line of a bank's statement, as an adapter gives it. */
function lineFields(): string[] {
  const source = sourceOf('server/src/rails/bank.adapter.ts');
  const [, body = ''] = /export interface StatementLine \{\n(.*?)\n\}/s.exec(source) ?? [];
  const names = [...body.matchAll(/(\w+)\??: string\b/g)].map(([, name = '']) => name);
  return [...new Set(names)];
}

const routesOf = (main: string): string[] =>
  [...sourceOf(main).matchAll(/(?:route|lazy)\('([^']+)'/g)].map(([, path = '']) => path);

/** Paths of the pages, with `$names` of objects. */
export const CONSOLE_PAGES = routesOf('console/src/main.tsx');
export const PARTNER_PAGES = routesOf('console/src/partner/main.tsx');
/** By the first part of their address. */
export const HOSTED_PAGES = [
  ...(/const PURPOSES[^=]*= \[(.*?)\]/.exec(sourceOf('server/src/protocols/checkout/index.ts'))?.[1] ?? '').matchAll(
    /'(\w+)'/g,
  ),
].map(([, name = '']) => name);
