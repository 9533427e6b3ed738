/** Parts of the partners' pages: amounts as this API has them, and links. */

import { To } from '../chrome.tsx';
import { Amount, Id, State, type Tone } from '../ui.tsx';
import type { Money } from './api.ts';

export const MoneyOf = ({ of }: { of: Money | null | undefined }) => (
  <Amount units={of?.amount} asset={of?.asset ?? ''} />
);

export const RequestLink = ({ id }: { id: string }) => (
  <To to={`/requests/${encodeURIComponent(id)}`} className="mono nowrap" data-row>
    {id}
  </To>
);

/** Only completed, successful states are green. */
const TONES: Readonly<Record<string, Tone>> = { delivered: 'ok', waiting: 'info', dead: 'bad', dropped: 'plain' };
export const DeliveryState = ({ state }: { state: string }) => <State state={state} tone={TONES[state] ?? 'plain'} />;

const KEY_TONES: Readonly<Record<string, Tone>> = { active: 'ok', invited: 'info', held: 'bad', expired: 'warn' };
export const LifeState = ({ state }: { state: string }) => <State state={state} tone={KEY_TONES[state] ?? 'plain'} />;

/** A subject such as `order:17`, as a link if it has a page. */
export function About({ text }: { text: string }) {
  const [, kind = '', id = ''] = /^(order|customer|endpoint):(.+)$/.exec(text) ?? [];
  const to = { order: `/orders/${id}`, customer: `/customers/${id}`, endpoint: `/webhooks/${id}` }[kind];
  if (to === undefined) return <span className="mono">{text}</span>;
  return (
    <span className="nowrap">
      {kind}{' '}
      <To to={to} className="mono">
        {id}
      </To>
    </span>
  );
}

/** Where money went on a chain, or the bank's reference. */
export const Evidence = ({ hash, bankReference }: { hash: string | null; bankReference: string | null }) =>
  hash === null && bankReference === null ? (
    <span className="muted">none yet</span>
  ) : (
    <Id text={hash ?? bankReference ?? ''} />
  );

/** Why a delivery failed: the server's word, as a sentence. */
const FAILURES: Readonly<Record<string, string>> = {
  status: 'not answered with 2xx',
  redirect: 'answered with a redirect, which is not followed',
  timeout: 'no answer in time',
  not_https: 'the address is not https',
  address_forbidden: 'the address is in a network that is not called',
  unreachable: 'the server cannot be reached',
  connection_closed: 'the connection was closed',
  answer_too_large: 'the answer was too large',
  not_http: 'the answer is not HTTP',
  certificate: 'the certificate is not valid for this host',
  tls: 'the TLS connection failed',
};
export const failureSays = (word: string): string => FAILURES[word] ?? word.replaceAll('_', ' ');
