/**
 * The reference as Markdown, made from the OpenAPI descriptions: a page for each interface, endpoint and reason. As Markdown,
 * so that these pages are rendered, searched and given to programs like those that people wrote.
 */
import { exampleOf, LANGUAGES, written } from './examples.ts';
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

/** `offramp/quote`, or with its method where a path has several. */
export const nameOf = ({ method, short }: Endpoint): string => `${method} ${short}`;

/** Reasons that any request may be declined for: a page per endpoint lists its own, and links to these. */
const isCommon = (all: Interface, reason: string): boolean =>
  all.endpoints.every(({ reasons }) => reasons.some((one) => one.reason === reason));

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

export function endpointPage(endpoint: Endpoint, api: Interface, errors: string): string {
  const { method, path, says, more, fields, replies, headers, reasons } = endpoint;
  const of = (place: Field['place']) => fields.filter((field) => field.place === place);
  const request = exampleOf(endpoint);
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
    '```text',
    `${method} ${path}`,
    '```',
    '',
    ...(more === '' ? [] : [more, '']),
    '## Request',
    '',
    ...(fields.length === 0 ? ['It takes no fields.', ''] : []),
    ...section('In the path', of('path')),
    ...section('In the query', of('query')),
    ...section('In headers', of('header')),
    ...section('In the body', of('body')),
    '### Example',
    '',
    'With the `call` of [Signing requests](/docs/signing#a-client-in-your-language).',
    '',
    ...LANGUAGES.flatMap((language) => [
      `\`\`\`${language.ending} title="${language.title}"`,
      written(request, language),
      '```',
      '',
    ]),
    '## Reply',
    '',
    ...replies.flatMap(({ status, fields: rows, says: what }) => [
      `### ${status}`,
      '',
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
    ...(headers.length === 0
      ? []
      : [
          '### Headers',
          '',
          ...table(
            ['Header', 'Meaning'],
            headers.map((one) => [`\`${one.name}\``, one.says]),
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

/** A reason, over all interfaces that use it. */
export interface ReasonEverywhere extends Reason {
  readonly used: readonly { readonly title: string; readonly root: string; readonly endpoints: readonly Endpoint[] }[];
}

export function reasonPage({ code, status, means, todo, used }: ReasonEverywhere): string {
  return [
    `# \`${code}\``,
    '',
    means,
    '',
    `HTTP status ${status}.`,
    '',
    '## What to do',
    '',
    todo,
    '',
    ...used.flatMap(({ title, root, endpoints }) => [
      `## ${title}`,
      '',
      ...(endpoints.length > MOST_LISTED
        ? [`${endpoints.length} endpoints answer it.`, '']
        : [...endpoints.map((one) => `- [\`${nameOf(one)}\`](${root}/${one.slug})`), '']),
    ]),
  ].join('\n');
}

const MOST_LISTED = 24;

export function reasonsPage(reasons: readonly Reason[], errors: string): string {
  const statuses = [...new Set(reasons.map(({ status }) => status))].toSorted((a, b) => a - b);
  return [
    '# Errors',
    '',
    'A request that is declined has changed nothing. Branch on the reason, a word that never changes its meaning; sentences are for people and may change. What to repeat: 429 and 503 after `Retry-After`, 409 `idempotency_in_flight` a moment later, with the same body and the same `Idempotency-Key`. Nothing else gets better by repeating it.',
    '',
    ...statuses.flatMap((status) => [
      `## ${status}`,
      '',
      ...table(
        ['Reason', 'Meaning', 'What to do'],
        reasons
          .filter((one) => one.status === status)
          .map(({ code, means, todo }) => [`[\`${code}\`](${errors}/${code})`, means, todo]),
      ),
    ]),
  ].join('\n');
}
