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
    ...(declared.files === true ? ['files as `multipart/form-data`', ''] : []),
    ...(status === 200 ? [] : [`${status} when it is created.`, '']),
    ...replyLines(gives as unknown as Json),
    ...json(exampleReply(declared)),
    ...(own.length === 0
      ? []
      : [`Declines for ${own.map((reason) => `\`${reason}\` (${statusOf(reason)})`).join(', ')}.`, '']),
  ];
}

/** Every endpoint with its fields, reply, examples and reasons; then every reason. */
export function referencePage(): string {
  const lines = [
    '# Reference of the partner API',
    '',
    'Made from the declarations of the endpoints; the same as OpenAPI 3.1: [openapi-v1.json](openapi-v1.json). Partners whose programs speak the older white-label wire find it in [api.md](api.md).',
    '',
    'Every path is under `/v1`. A request carries `Authorization: Bearer <token>`, with the token that you got with your key. A field that is not listed is refused; fields may be added to replies.',
    '',
    'A write carries `Idempotency-Key`: the same key with the same body takes effect once and is answered alike for 24 hours, with `Idempotency-Replayed: true`. In production it is signed as well (RFC 9421, `hmac-sha256` under the secret of the key, with `Content-Digest`; it covers `"@method" "@path" "content-digest" "idempotency-key"`), unless the operator allows the key to write without.',
    '',
    `Answers name the request (\`X-Request-Id\`), the version that answered (\`Cloverleaf-Version\`, now ${NEWEST}) and what is left of your requests a minute (\`RateLimit-Limit\`, \`-Remaining\`, \`-Reset\`).`,
    '',
    'Amounts are plain decimals, as text, beside the code of their asset; ids are text; times are RFC 3339 in UTC; null says that there is none. Lists come in pages: send `nextCursor` as `cursor`.',
    '',
    'A failure is `application/problem+json` (RFC 9457): branch on `reason`; `type` is a page that explains it. Most requests may be declined for the reasons that [are common](#reasons); each endpoint names its own.',
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
