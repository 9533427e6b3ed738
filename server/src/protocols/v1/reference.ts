/** The reference of /v1 as a page for people, generated from the declarations: docs/api-v1.md. */
import { isInPath, type Json } from '../declaration/openapi.ts';
import { cell, fieldRows, replyLines } from '../declaration/page.ts';
import { type Declared, isWrite } from './declare.ts';
import { ENDPOINTS, GROUPS } from './declared/index.ts';
import { exampleParts, exampleReply } from './examples.ts';
import { MEANINGS } from './names.ts';
import { COMMON_REASONS, REASONS, type Reason, reasonsOf, statusOf } from './reasons.ts';
import { NEWEST } from './version.ts';

const json = (value: unknown): string[] => ['```json', JSON.stringify(value, null, 1), '```', ''];

function section(declared: Declared): string[] {
  const { method, path, scope, says, more, name, fields, gives, status = 200 } = declared;
  const own = reasonsOf(declared).filter((reason) => !COMMON_REASONS.has(reason));
  const example = exampleParts(declared);
  return [
    `### \`${method} ${path}\``,
    '',
    `\`${name}\`. ${says}${more === undefined ? '' : ` ${more}`} Scope: \`${scope}\`.`,
    '',
    ...(Object.keys(fields).length === 0
      ? []
      : [
          ...fieldRows(MEANINGS, declared, (field) =>
            isInPath(declared, field) ? 'path' : method === 'GET' ? 'query' : 'body',
          ),
          '',
        ]),
    `\`${method} /v1${example.path}\`${isWrite(declared) ? ' with' : ''}`,
    '',
    ...(example.body === undefined ? [] : json(example.body)),
    ...(declared.files === true ? ['files, as `multipart/form-data`', ''] : []),
    ...(status === 200 ? [] : [`${status} when it is created.`, '']),
    ...replyLines(gives as unknown as Json),
    ...json(exampleReply(declared)),
    ...(own.length === 0
      ? []
      : [`Reasons to decline: ${own.map((reason) => `\`${reason}\` (${statusOf(reason)})`).join(', ')}.`, '']),
  ];
}

/** Every endpoint with its fields, reply, examples and reasons; then every reason. */
export function referencePage(): string {
  const lines = [
    '# Reference of the partner API',
    '',
    'This page is generated from the declarations of the endpoints, like the OpenAPI 3.1 description [openapi-v1.json](openapi-v1.json). The older white-label wire is described in [api.md](api.md).',
    '',
    'Every path is under `/v1`. A request carries `Authorization: Bearer <token>`, with the token that was shown when the key was created. A request with an unlisted field is refused. Fields may be added to replies.',
    '',
    'A write carries `Idempotency-Key`. Repeated requests with the same key and body take effect once; for 24 hours they get the same reply, with `Idempotency-Replayed: true`. In production a write is also signed (RFC 9421, `hmac-sha256` with the secret of the key, with `Content-Digest`; the signature covers `"@method" "@path" "content-digest" "idempotency-key"`), unless the operator allows the key to write without a signature.',
    '',
    `A reply has the id of the request (\`X-Request-Id\`), its API version (\`Cloverleaf-Version\`, now ${NEWEST}) and the remaining requests per minute (\`RateLimit-Limit\`, \`-Remaining\`, \`-Reset\`).`,
    '',
    'Amounts are plain decimal numbers, as text, with the code of their asset; ids are text; times are RFC 3339 in UTC; null means that there is no value. Lists are paginated: send `nextCursor` as `cursor`.',
    '',
    'Failures are `application/problem+json` (RFC 9457): branch on `reason`; `type` is a page that explains it. [Common reasons](#reasons) apply to most requests; each endpoint lists its own.',
    '',
  ];
  for (const { name, says, endpoints } of GROUPS) {
    lines.push(`## ${name}`, '', says, '');
    for (const declared of endpoints) lines.push(...section(declared));
  }
  lines.push('## Reasons', '', '| Code | Reason | Common | Meaning | What to do |', '|---|---|:-:|---|---|');
  const all = new Set<Reason>(ENDPOINTS.flatMap(reasonsOf));
  for (const reason of [...all].toSorted((a, b) => statusOf(a) - statusOf(b) || a.localeCompare(b))) {
    const { means, todo } = REASONS[reason];
    const common = COMMON_REASONS.has(reason) ? 'yes' : '';
    lines.push(`| ${statusOf(reason)} | \`${reason}\` | ${common} | ${cell(means)} | ${cell(todo)} |`);
  }
  return `${lines.join('\n')}\n`;
}
