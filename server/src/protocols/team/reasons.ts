/**
 * Reasons for which this interface refuses requests: for each its HTTP status, the sentence of the reply, and the remedy.
 * OpenAPI and the error handler are generated from this table only.
 */
import { defined } from '../../base/defined.ts';
import { Refusal, type RefusalCode } from '../../base/errors.ts';
import { cutOff } from '../../partners/index.ts';
import { frameworkCode } from '../http.ts';
import { nearestPath } from '../nearest.ts';
import { isOutage } from '../outage.ts';

interface Told {
  readonly status: number;
  readonly says: string;
  readonly todo: string;
}

const told = (status: number, says: string, todo: string): Told => ({ status, says, todo });

export const REASONS = {
  malformed_body: told(400, 'The body must be a JSON object of at most 64 KiB.', 'Send a JSON object.'),
  missing_fields: told(400, 'A required field is missing; `fields` names each missing field.', 'Send it.'),
  malformed_field: told(
    400,
    'A field breaks its rule, or does not exist; `fields` has the rule of each such field.',
    'Correct the field, or leave it out.',
  ),
  unauthenticated: told(
    401,
    'The session, passkey or code is missing, wrong, used, expired or ended.',
    'Sign in again, or ask an owner of the team for a new link.',
  ),
  step_up_required: told(
    401,
    'This requires a login within the last ten minutes: sign in again with the passkey.',
    'Sign in again (`POST /session`), then repeat the request.',
  ),
  cross_site: told(
    403,
    'A session may change something only with the header x-console: 1, from a page of this server.',
    'Send the header, from a page of this server.',
  ),
  partner_suspended: told(403, 'The partner is suspended: ask the operator.', 'Ask the operator.'),
  unknown_session: told(404, 'You have no such session.', 'Read `GET /sessions`.'),
  unknown_passkey: told(404, 'You have no such passkey.', 'Read `GET /passkeys`.'),
  unknown_path: told(404, 'There is nothing at this path.', 'Use the path that `error` names.'),
  last_passkey: told(
    409,
    'This is your last passkey: enrol another one first.',
    'Enrol another passkey (`POST /passkeys`), then revoke this one.',
  ),
  too_many_requests: told(429, 'Too many logins came from this network: wait a minute.', 'Wait a minute.'),
  internal: told(
    500,
    'The server failed to process the request.',
    'Give the operator the `x-request-id` of the reply.',
  ),
  unavailable: told(
    503,
    'The database is unavailable: try again in a few seconds.',
    'Repeat the request after a few seconds.',
  ),
} as const satisfies Partial<Record<RefusalCode | 'internal' | 'unavailable', Told>>;

export type Reason = keyof typeof REASONS;

const isReason = (code: string): code is Reason => Object.hasOwn(REASONS, code);
export const statusOf = (reason: Reason): number => REASONS[reason].status;

/** A failure in the format of this interface. The status is 500 or above if the caller is not at fault. */
export function failureOf(error: unknown): { status: number; body: Readonly<Record<string, unknown>> } {
  const { code = '', facts = {} } = cutOff(error) ?? translated(error) ?? {};
  const reason = isReason(code) ? code : isOutage(error) ? 'unavailable' : 'internal';
  const { status, says } = REASONS[reason];
  const { nearest } = facts as { nearest?: string };
  const fields =
    reason === 'missing_fields'
      ? Object.fromEntries((facts.names as string[]).map((name) => [name, 'is missing']))
      : (facts.fields as Record<string, string> | undefined);
  const sentence = nearest === undefined ? says : `${says} The nearest is ${nearest}.`;
  return { status, body: { error: sentence, reason, ...defined({ fields }) } };
}

/** The framework's own errors about a body, which are the caller's fault. */
function translated(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  const isOfBody = frameworkCode(error).startsWith('FST_ERR_CTP') || error instanceof SyntaxError;
  return isOfBody ? new Refusal('malformed_body') : undefined;
}

/** @param paths of declared endpoints, each with its method: `POST /partner/v1/session` */
export function unknownPath(url: string, paths: readonly { method: string; path: string }[]): Refusal {
  const nearest = nearestPath(
    url,
    paths.map(({ path }) => path),
  );
  const methods = paths.filter(({ path }) => path === nearest).map(({ method }) => method);
  return new Refusal('unknown_path', nearest === undefined ? {} : { nearest: `${methods.join(' or ')} ${nearest}` });
}
