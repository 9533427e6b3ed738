/** Problems: failures in the format of RFC 9457. `type` is the URL of the reason's page in the docs. */
import { defined } from '../../base/defined.ts';
import { type Facts, Refusal, Unavailable } from '../../base/errors.ts';
import { isOutage } from '../outage.ts';
import { escapeHtml } from './page.ts';
import { isReason, REASONS, type Reason } from './reasons.ts';
import { directionOf } from './shapes.ts';

export interface Failed {
  readonly status: number;
  readonly reason: Reason;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
}

/** Base URL of the explanations of reasons: pages of the docs (site/). */
export const ERRORS = '/docs/errors';

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

const PER: Readonly<Record<string, string>> = { order: 'an order', day: 'in 24 hours', month: 'in 30 days' };

/** The fault of this request, if it is known more precisely than the reason says. */
const DETAILS: Partial<Record<Reason, (facts: Facts) => string | undefined>> = {
  malformed_body: ({ why }) => (typeof why === 'string' ? `The body ${why}.` : undefined),
  missing_fields: ({ names }) => `Missing: ${texts(names).join(', ')}.`,
  malformed_field: ({ fields }) =>
    `${Object.entries((fields ?? {}) as object)
      .map(([name, rule]) => `${name} ${rule}`)
      .join('; ')}.`,
  unauthenticated: ({ why }) => (typeof why === 'string' ? `Not authenticated: ${why}.` : undefined),
  scope_missing: ({ scope }) => `The key does not have the scope ${scope}.`,
  unknown_version: ({ supported }) => `Versions: ${texts(supported).join(', ')}.`,
  unknown_path: ({ nearest }) =>
    nearest === undefined ? undefined : `There is no such path. The nearest is ${nearest}.`,
  method_not_allowed: ({ allow }) => `This path supports ${texts(allow).join(', ')}.`,
  amount_outside_limits: ({ min, max, asset }) =>
    min === undefined ? undefined : `The amount must be from ${min} to ${max} ${asset}.`,
  customer_limit_exceeded: ({ left, max, used, coin, period, fitsAt, nextLevel }) =>
    [
      `At most ${left} ${coin} are left of ${max} ${coin} ${PER[String(period)] ?? ''}`,
      ...(period === 'order' ? [] : [`; ${used} ${coin} are used`]),
      ...(fitsAt instanceof Date ? [`. The amount is possible from ${fitsAt.toISOString()}`] : []),
      ...(nextLevel === null ? [] : [`. Level ${nextLevel} allows more`]),
      '.',
    ].join(''),
  exposure_exceeded: ({ left, asset }) => (left === undefined ? undefined : `At most ${left} ${asset} are left.`),
  order_over: ({ state }) =>
    state === undefined ? undefined : `The order is ${shownState(state)}, and this cannot be done in that state.`,
};

function limitOf({ period: per, asset, direction, market, max, used, left, fitsAt, level, nextLevel }: Facts) {
  const one = direction === null ? null : directionOf(direction as 'offramp' | 'onramp');
  const at = fitsAt instanceof Date ? fitsAt.toISOString() : null;
  return { per, asset, direction: one, market, max, used, left, fitsAt: at, level, nextLevel };
}

/** A freeze by law is shown as a hold. */
const shownState = (state: unknown): string => (state === 'frozen' ? 'on_hold' : String(state));

/** Codes of modules that have another name here. */
const OTHERWISE: Readonly<Record<string, Reason>> = {
  clock_ahead: 'unauthenticated',
  malformed_amount: 'malformed_field',
  wrong_type: 'malformed_field',
  unsupported_chain: 'unsupported_pair',
  unknown_account: 'unknown_destination',
  price_moved: 'quote_over',
  funds_short: 'unavailable',
  does_not_fit: 'unknown_destination',
};

/**
 * @param error the thrown error
 * @param at    base URL of the explanations, and the request's id
 */
export function problemOf(error: unknown, at: { baseUrl: string; requestId: string }): Failed {
  if (error instanceof Unavailable) {
    const reason = error.reason === 'price_halted' ? 'price_halted' : 'unavailable';
    return failed(reason, at, { detail: error.said, retryAfterMs: error.retryAfterMs });
  }
  if (!(error instanceof Refusal)) {
    const isAway = isOutage(error);
    return failed(isAway ? 'unavailable' : 'internal', at, isAway ? { retryAfterMs: 5_000 } : {});
  }
  const { facts } = error;
  const known = OTHERWISE[error.code] ?? error.code;
  // A code without a place here is a bug of ours.
  const reason: Reason = isReason(known) ? known : 'internal';
  const fields =
    reason === 'missing_fields'
      ? Object.fromEntries(texts(facts.names).map((name) => [name, 'is missing']))
      : (facts.fields as Record<string, string> | undefined);
  const { min, max, asset } = facts;
  return failed(reason, at, {
    detail: error.code === 'malformed_amount' ? undefined : DETAILS[reason]?.(facts),
    retryAfterMs: typeof facts.retryAfterMs === 'number' ? facts.retryAfterMs : undefined,
    more: {
      ...defined({ fields }),
      ...(typeof min === 'string' ? { limits: { asset, min, max } } : {}),
      ...(Array.isArray(facts.supported) ? { supported: facts.supported } : {}),
      ...(facts.state === undefined || reason !== 'order_over' ? {} : { state: shownState(facts.state) }),
      ...(reason === 'customer_exists' && facts.customerId !== undefined ? { customerId: facts.customerId } : {}),
      ...(reason === 'submission_exists' ? { submissionId: String(facts.submissionId) } : {}),
      ...(reason === 'customer_limit_exceeded' ? { customerLimit: limitOf(facts) } : {}),
      ...(facts.usableAt instanceof Date ? { usableAt: facts.usableAt.toISOString() } : {}),
    },
    headers: Array.isArray(facts.allow) ? { allow: texts(facts.allow).join(', ') } : {},
  });
}

function failed(
  reason: Reason,
  { baseUrl, requestId }: { baseUrl: string; requestId: string },
  given: {
    detail?: string | undefined;
    retryAfterMs?: number | undefined;
    more?: Readonly<Record<string, unknown>>;
    headers?: Readonly<Record<string, string>>;
  },
): Failed {
  const { status, title, means } = REASONS[reason];
  const retryAfterS = given.retryAfterMs === undefined ? undefined : Math.max(1, Math.ceil(given.retryAfterMs / 1_000));
  return {
    status,
    reason,
    headers: {
      'content-type': 'application/problem+json; charset=utf-8',
      ...(retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) }),
      // RFC 9110, section 11.6.1, requires it for every 401.
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      ...given.headers,
    },
    body: {
      type: `${baseUrl}${ERRORS}/${reason}`,
      title,
      status,
      detail: given.detail ?? means,
      reason,
      requestId,
      ...given.more,
    },
  };
}

/** The page of a reason, if the docs are not served. */
export function problemPage(reason: Reason): string {
  const { status, title, means, todo } = REASONS[reason];
  const [head, text, what] = [title, means, todo].map(escapeHtml);
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${reason}: ${head}</title></head>
<body>
<h1>${head}</h1>
<p><code>${reason}</code>, HTTP ${status}</p>
<p>${text}</p>
<h2>What to do</h2>
<p>${what}</p>
</body>
</html>
`;
}
