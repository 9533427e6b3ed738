/** The reference of this interface as a page for people, generated from the declarations: docs/operator-api.md. */
import { RIGHTS, ROLES } from '../../operators/index.ts';
import { isInPath, type Json } from '../declaration/openapi.ts';
import { cell, fieldRows, replyLines as linesOf } from '../declaration/page.ts';
import { adviceOf, COMMON_REASONS, reasonsOf } from './advice.ts';
import type { CommandOf, Declared, DeclaredAction, DeclaredRead } from './declare.ts';
import { ENDPOINTS, GROUPS } from './declared/index.ts';
import { type Reason, statusOf } from './errors.ts';
import { exampleOf, MEANINGS, peopleSentence } from './meaning.ts';
import { mayPlan, proposes, takenBy } from './openapi.ts';

const commandsOf = ({ command }: Declared): readonly CommandOf[] => [command ?? []].flat() as readonly CommandOf[];

/** The command as typed, without its options. */
function typed(declared: Declared, { words, args }: CommandOf): string {
  const names = args ?? [...declared.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  return ['npm run operator --', words, ...names.map((name) => `<${name}>`)].join(' ');
}

function section(declared: Declared): string[] {
  const { method, path, right, says } = declared;
  const { people, takesFile, takesForm } = declared as DeclaredAction;
  const { table } = declared as DeclaredRead;
  const fields = Object.entries(takenBy(declared));
  const own = reasonsOf(declared).filter((reason) => !COMMON_REASONS.has(reason));
  const taken = takenBy(declared);
  const required = fields.filter(([name, field]) => field.optional !== true && !isInPath(declared, name));
  const example = Object.fromEntries(required.map(([name, field]) => [name, exampleOf(name, field)]));
  const whole = { path, fields: taken };
  return [
    `### \`${method} ${path}\``,
    '',
    [
      says,
      ...(right === 'read' ? [] : [`Right: \`${right}\`.`]),
      ...(people === undefined ? [] : [peopleSentence(declared as DeclaredAction)]),
    ].join(' '),
    '',
    ...commandsOf(declared).flatMap((command) => [`Command: \`${typed(declared, command)}\``, '']),
    ...(fields.length === 0
      ? []
      : [
          ...fieldRows(MEANINGS, whole, (name) =>
            isInPath(declared, name) ? 'path' : method === 'GET' || takesFile === true ? 'query' : 'body',
          ),
          '',
        ]),
    ...(takesFile === true ? ['The body is the file.', ''] : []),
    ...(takesForm === undefined
      ? []
      : [`The body is \`multipart/form-data\`: these fields, and one part \`file\`. ${takesForm}.`, '']),
    ...(method !== 'POST' || takesFile === true || takesForm !== undefined
      ? []
      : ['```json', JSON.stringify(example), '```', '']),
    ...replyLines(declared.gives as unknown as Json),
    ...(table === undefined
      ? []
      : [`CSV: the rows of \`${table.list}\`, with ${table.columns.map((one) => `\`${one}\``).join(', ')}.`, '']),
    ...(mayPlan(declared)
      ? ['200 with `outcome` `planned`, `plan` and `effectiveAt` if the action is planned for a later time.', '']
      : []),
    ...(proposes(declared)
      ? ['202 if the action needs more operators or waits for its delay: it is then [a proposal](#proposals).', '']
      : []),
    ...(own.length === 0
      ? []
      : [`Reasons to decline: ${own.map((reason) => `\`${reason}\` (${statusOf(reason)})`).join(', ')}.`, '']),
  ];
}

/** The envelope of an action is described once. */
const ENVELOPE = new Set(['action', 'subject', 'outcome']);

/** The reply, two levels deep. */
const replyLines = (schema: Json): string[] =>
  linesOf(schema, {
    skipped: (name, properties) => ENVELOPE.has(name) && 'after' in properties,
    says: { after: 'the subject now' },
  });

function rightsTable(): string[] {
  return [
    '## Rights',
    '',
    `| Right | ${ROLES.join(' | ')} |`,
    `|---|${ROLES.map(() => ':-:').join('|')}|`,
    ...Object.entries(RIGHTS).map(
      ([right, roles]) =>
        `| \`${right}\` | ${ROLES.map((role) => ((roles as readonly string[]).includes(role) ? 'yes' : '')).join(' | ')} |`,
    ),
    '',
  ];
}

/** Every endpoint with its command, fields, reply and reasons; then rights and every reason. */
export function referencePage(): string {
  const lines = [
    '# Reference of the operator interface',
    '',
    'This page is generated from the declarations of the endpoints, like the OpenAPI 3.1 description [operator-openapi.json](operator-openapi.json).',
    '',
    'Every path is under `/operator/v1`. A request carries `Authorization: Bearer <token>` with the token of a named operator; the console sends the cookie of its session instead, and `x-console: 1` with every request except GET. GET only reads. POST carries out an action or shows personal data, and has a `reason` for the audit, except for sessions. A request with an unlisted field is refused. Numbers, flags and lists may be sent as text.',
    '',
    'Amounts are plain decimals of their asset, as text; ids are digits as text; times are ISO 8601 in UTC. The reply to an action is `{"action": …, "subject": …, "outcome": "done", "after": …}` and the further fields that are listed below. A failure is `{"error": …, "reason": …}`, with the fault of each wrong field in `fields`: branch on `reason`. [Common reasons](#reasons) apply to most requests; each endpoint lists its own.',
    '',
    'The commands belong to `npm run operator`. `npm run operator -- <command> --help` shows the arguments of a command; a field that is not an argument is an option, `--name <value>`. [Operating](operating/README.md#operators-and-their-commands) explains how to work with them.',
    '',
  ];
  for (const { name, says, endpoints } of GROUPS) {
    lines.push(`## ${name}`, '', says, '');
    for (const declared of endpoints) lines.push(...section(declared));
  }
  lines.push(...rightsTable());
  lines.push('## Reasons', '', '| Code | Reason | Common | Meaning | What to do |', '|---|---|:-:|---|---|');
  const all = new Set<Reason>(ENDPOINTS.flatMap(reasonsOf));
  for (const reason of [...all].toSorted((a, b) => statusOf(a) - statusOf(b) || a.localeCompare(b))) {
    const { means = '', todo = '' } = adviceOf(reason) ?? {};
    const common = COMMON_REASONS.has(reason) ? 'yes' : '';
    lines.push(`| ${statusOf(reason)} | \`${reason}\` | ${common} | ${cell(means)} | ${cell(todo)} |`);
  }
  return `${lines.join('\n')}\n`;
}
