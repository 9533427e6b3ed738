/**
 * The reference as Markdown, generated from the OpenAPI descriptions: a page for each interface, endpoint and reason. Because
 * it is Markdown, these pages are rendered, searched and served to programs like written ones.
 */
import { exampleOf, languagesOf, written } from './examples.ts';
import type { Endpoint, Field, Interface, Reason } from './openapi.ts';

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string[] =>
  rows.length === 0
    ? []
    : [
        `| ${head.join(' | ')} |`,
        `|${head.map(() => '---').join('|')}|`,
        ...rows.map((row) => `| ${row.map(cell).join(' | ')} |`),
        '',
      ];

/** `offramp/quote`, with its method if a path has several. */
export const nameOf = ({ method, short }: Endpoint): string => `${method} ${short}`;

const isEverywhere = (api: Interface, has: (endpoint: Endpoint) => boolean): boolean => api.endpoints.every(has);
/** Whether any request may be refused for this reason: a page of an endpoint lists only its own reasons, and links to these. */
const isCommon = (api: Interface, reason: string): boolean =>
  isEverywhere(api, ({ reasons }) => reasons.some((one) => one.reason === reason));

export function interfacePage(title: string, intro: string, root: string, api: Interface): string {
  return [
    `# ${title}`,
    '',
    intro,
    '',
    ...api.groups.flatMap(({ name, says, endpoints }) => [
      `## ${name}`,
      '',
      ...(says === '' ? [] : [says, '']),
      ...table(
        ['Endpoint', 'What it does'],
        endpoints.map((one) => [`[\`${nameOf(one)}\`](${root}/${one.slug})`, one.says]),
      ),
    ]),
  ].join('\n');
}

/** Link to the endpoint in the explorer (explorer.ts). */
const inExplorer = ({ group, id }: Endpoint, api: 'v1' | 'whitelabel'): string =>
  `/docs/explorer?api=${api}#/${encodeURIComponent(group)}/${encodeURIComponent(id)}`;

export function endpointPage(endpoint: Endpoint, api: Interface, errors: string): string {
  const { method, path, says, more, fields, replies, headers, reasons } = endpoint;
  const of = (place: Field['place']) => fields.filter((field) => field.place === place);
  const request = exampleOf(endpoint);
  // Fields that every request or reply of an interface has are described on a page of their own.
  const inHeaders = of('header').filter(
    ({ name }) => !isEverywhere(api, ({ fields: all }) => all.some((one) => one.name === name)),
  );
  const told = headers.filter(
    ({ name }) => !isEverywhere(api, ({ headers: all }) => all.some((one) => one.name === name)),
  );
  const own = reasons.filter(({ reason }) => !isCommon(api, reason));
  const common = reasons.filter(({ reason }) => isCommon(api, reason));
  const meaning = (code: string): string => api.reasons.find((one) => one.code === code)?.means ?? '';
  const section = (title: string, list: readonly Field[]): string[] =>
    list.length === 0
      ? []
      : [
          `### ${title}`,
          '',
          ...table(
            ['Field', 'Required', 'Form', 'Meaning'],
            list.map(({ name, required, form, says: what }) => [`\`${name}\``, required ? 'yes' : '', form, what]),
          ),
        ];
  return [
    `# \`${nameOf(endpoint)}\``,
    '',
    `${says}${endpoint.isSigned ? '' : ' It needs no signature.'}`,
    '',
    ...(nameOf(endpoint) === `${method} ${path}` ? [] : ['```text', `${method} ${path}`, '```', '']),
    ...(more === '' ? [] : [more, '']),
    ...(endpoint.name === '' ? [] : [`In the SDK and the command line: \`${endpoint.name}\`.`, '']),
    endpoint.name === ''
      ? `Every schema unfolded: [in the explorer](${inExplorer(endpoint, 'whitelabel')}).`
      : `Send it to a sandbox: [in the explorer](${inExplorer(endpoint, 'v1')}).`,
    '',
    '## Example',
    '',
    'With the client of the [five-minute start](/docs/start#3-save-the-client); in TypeScript that is the [SDK](/docs/sdk).',
    '',
    ...languagesOf(request).flatMap((language) => [
      `\`\`\`${language.ending} title="${language.title}"`,
      written(request, language),
      '```',
      '',
    ]),
    '## Request',
    '',
    ...(fields.length === 0 ? ['It takes no fields.', ''] : []),
    ...section('In the path', of('path')),
    ...section('In the query', of('query')),
    ...section('In the body', of('body')),
    ...section('In headers', inHeaders),
    '## Reply',
    '',
    ...replies.flatMap(({ status, fields: rows, says: what, example }) => [
      `### ${status}`,
      '',
      ...(example === undefined ? [] : ['```json', JSON.stringify(example, null, 2), '```', '']),
      ...(rows.length === 0
        ? [what === '' ? 'Done.' : `${what.replace(/\.$/, '')}.`, '']
        : table(
            ['Field', 'Form', 'Meaning'],
            rows.map(({ name, required, form, says: meaningOf }) => [
              `\`${name}\``,
              `${form}${required ? '' : ', may be absent'}`,
              meaningOf,
            ]),
          )),
    ]),
    ...(told.length === 0
      ? []
      : [
          '### Headers',
          '',
          ...table(
            ['Header', 'Meaning'],
            told.map((one) => [`\`${one.name}\``, one.says]),
          ),
        ]),
    ...(reasons.length === 0
      ? []
      : [
          '## Errors',
          '',
          ...table(
            ['Status', 'Reason', 'Meaning'],
            own.map(({ status, reason }) => [status, `[\`${reason}\`](${errors}/${reason})`, meaning(reason)]),
          ),
          ...(common.length === 0
            ? []
            : [
                `As every request, also: ${common.map(({ reason }) => `[\`${reason}\`](${errors}/${reason})`).join(', ')}.`,
                '',
              ]),
        ]),
  ].join('\n');
}

/** A reason, with each interface that uses it. */
export interface ReasonEverywhere {
  readonly code: string;
  readonly used: readonly (Reason & {
    readonly title: string;
    readonly root: string;
    readonly endpoints: readonly Endpoint[];
  })[];
}

const MOST_LISTED = 24;

export function reasonPage({ code, used }: ReasonEverywhere): string {
  const isOne = new Set(used.map(({ status, means, todo }) => `${status} ${means} ${todo}`)).size === 1;
  const said = ({ status, means, todo }: Reason, level: string): string[] => [
    means,
    '',
    `HTTP status ${status}.`,
    '',
    `${level} What to do`,
    '',
    todo,
    '',
  ];
  const where = (endpoints: readonly Endpoint[], root: string): string[] => {
    if (endpoints.length === 0) return ['Any request may be answered so.', ''];
    if (endpoints.length > MOST_LISTED) return [`${endpoints.length} endpoints answer it.`, ''];
    return [...endpoints.map((one) => `- [\`${nameOf(one)}\`](${root}/${one.slug})`), ''];
  };
  const first = used[0];
  return [
    `# \`${code}\``,
    '',
    ...(isOne && first !== undefined ? said(first, '##') : ['Both interfaces have it.', '']),
    ...used.flatMap((one) => [
      `## ${nameOfInterface(one.title)}`,
      '',
      ...(isOne ? [] : said(one, '###')),
      ...where(one.endpoints, one.root),
    ]),
  ].join('\n');
}

const nameOfInterface = (title: string): string => title.replace(' reference', '');

export function reasonsPage(
  interfaces: readonly { readonly title: string; readonly api: Interface }[],
  errors: string,
): string {
  return [
    '# Errors',
    '',
    'A request that is declined has changed nothing. Branch on `reason`, a word that never changes its meaning; sentences are for people and may change. What to repeat: 429 and 503 after `Retry-After`, 409 `idempotency_in_flight` a moment later, with the same body and the same `Idempotency-Key`. Nothing else gets better by repeating it.',
    '',
    'Under `/v1` a failure is `application/problem+json` (RFC 9457) with `reason`, `detail` and `fields`. In the white-label interface it is `{"status": 0, "code": …, "error": …, "message": …, "reason": …}`, with `fields` where a field is wrong.',
    '',
    ...interfaces.flatMap(({ title, api }) => [
      `## ${nameOfInterface(title)}`,
      '',
      ...table(
        ['Status', 'Reason', 'Meaning', 'What to do'],
        api.reasons
          .toSorted((a, b) => a.status - b.status || a.code.localeCompare(b.code))
          .map(({ status, code, means, todo }) => [String(status), `[\`${code}\`](${errors}/${code})`, means, todo]),
      ),
    ]),
  ].join('\n');
}
