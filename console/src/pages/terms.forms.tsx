/** Forms about partners and markets: each shows the effect on requests, quotes and orders, and the values it replaces. */
import type { ReactNode } from 'react';
import { MARKET_ACTIONS, PARTNER_ACTIONS } from '../actions.trade.ts';
import { ActionDialog, Turn, type Typed } from '../form.tsx';
import { grouped } from '../format.ts';

const amount = (value: string | undefined, asset: string): string =>
  value === undefined || value === '' || value === 'none' ? 'none' : `${grouped(value)} ${asset}`;
/** From when on it holds; the form itself says so for a planned change. */
const Later = ({ typed }: { typed: Typed }) => (
  <p>
    {(typed.effectiveAt ?? '') === '' && 'It applies to quotes from about two seconds on. '}
    Open orders keep the terms that they began with.
  </p>
);

export type PartnerForm = keyof typeof PARTNER_ACTIONS;
export interface OfPartner {
  readonly form: PartnerForm;
  /** Number of the partner; absent while it is created. */
  readonly partner?: string;
  readonly key?: string;
  /** The cap that is changed. */
  readonly cap?: { readonly asset: string; readonly maxUnits: string };
  /** The terms that are changed, as they are now. */
  readonly now?: Typed;
}

const partnerEffects: Readonly<
  Record<PartnerForm, (typed: Typed, of: OfPartner & { caps: readonly NonNullable<OfPartner['cap']>[] }) => ReactNode>
> = {
  create: ({ name, tradeLevel, corsOrigins }) => (
    <>
      <p>
        {name || 'The partner'} exists at once, and can do nothing before it has a key. Its customers trade from level{' '}
        {tradeLevel || '1'} of verification on.
      </p>
      {(corsOrigins ?? '') !== '' && <p>Pages of {corsOrigins} may call with its keys.</p>}
    </>
  ),
  set: (typed) => (
    <>
      <Later typed={typed} />
      <p>
        A higher level is asked of all its customers before their next order. Its programs must know the form of quotes.
      </p>
    </>
  ),
  suspend: ({ since, key }) => (
    <>
      <p>Every request of the partner is rejected from now on. Open orders and payouts continue.</p>
      {(since ?? '') !== '' && (
        <p>
          What {key || 'any of its keys'} made since then is held: accounts, destinations, links, endpoints and keys.
          Operators release or reject it with <code>npm run operator -- held</code>.
        </p>
      )}
    </>
  ),
  resume: () => <p>Its requests are answered again. What is held since a leak stays held until it is released.</p>,
  resetBranding: () => <p>Its hosted pages then use its name and the default colours. Its team can set others.</p>,
  cap: ({ fiat = '', max }, { caps }) => (
    <>
      <p>
        Cap in {fiat || 'a fiat'}:{' '}
        <Turn from={amount(caps.find(({ asset }) => asset === fiat)?.maxUnits, fiat)} to={amount(max, fiat)} />
      </p>
      <p>A quote that would exceed the cap is rejected. Live quotes and orders stay.</p>
    </>
  ),
  revokeKey: (_, { key }) => (
    <p>Requests with {key} are rejected from now on. It cannot be undone: the partner needs another key.</p>
  ),
};

export function PartnerDialog(p: {
  of: OfPartner;
  about?: string;
  caps?: readonly NonNullable<OfPartner['cap']>[];
  onClose: () => void;
}) {
  const { form, partner, key, cap } = p.of;
  const given: Record<string, string> = form === 'revokeKey' ? { key: key ?? '' } : {};
  if (partner !== undefined && form !== 'revokeKey') given.partner = partner;
  return (
    <ActionDialog
      action={PARTNER_ACTIONS[form]}
      {...(p.about === undefined ? {} : { about: p.about })}
      given={given}
      now={cap === undefined ? (p.of.now ?? {}) : { fiat: cap.asset, max: cap.maxUnits }}
      effect={(typed) => partnerEffects[form](typed, { ...p.of, caps: p.caps ?? [] })}
      onClose={p.onClose}
    />
  );
}

/** Limits and policies have forms of their own: market.terms.tsx. */
export type MarketForm = Exclude<keyof typeof MARKET_ACTIONS, 'limit' | 'policy'>;
export interface Fee {
  readonly kind: string;
  readonly fixed: string;
  readonly bps: string;
  readonly minimum: string;
  readonly gasUnits: string;
}
/** The known data of the form's market. */
export interface OfMarket {
  readonly fiat: string;
  readonly of: string;
  readonly fees: readonly Fee[];
  /** The partner whose fees these are. */
  readonly partner: string | undefined;
}

const PARTS = [
  ['bps', 'Share'],
  ['fixed', 'Fixed part'],
  ['minimum', 'Minimum fee'],
  ['gasUnits', 'Gas'],
] as const;

function NewFee({ typed, of }: { typed: Typed; of: OfMarket }) {
  const before = of.fees.find(({ kind }) => kind === typed.kind);
  const isSame = (typed.partner ?? '') === (of.partner ?? '');
  const shown = (part: (typeof PARTS)[number][0], value: string) =>
    part === 'bps' ? `${value} bps` : part === 'gasUnits' ? value : amount(value, of.fiat);
  return (
    <>
      <p>
        Fee of the {typed.kind}, for{' '}
        {(typed.partner ?? '') === '' ? 'all partners without one of their own' : `partner ${typed.partner}`}:
      </p>
      <ul>
        {PARTS.map(([part, label]) => {
          const to = shown(part, typed[part] || '0');
          const from = isSame ? shown(part, before?.[part] ?? '0') : undefined;
          return (
            <li key={part}>
              {label}: {from === undefined || from === to ? to : <Turn from={from} to={to} />}
            </li>
          );
        })}
      </ul>
      <Later typed={typed} />
    </>
  );
}

const marketEffects: Readonly<Record<MarketForm, (typed: Typed, of: OfMarket | undefined) => ReactNode>> = {
  create: ({ direction, crypto, fiat }) => (
    <p>
      A market in which customers {direction === 'onramp' ? 'buy' : 'sell'} {crypto || 'a coin'} for {fiat || 'a fiat'}.
      It makes no quotes yet: set its fees and limits, then open it under its terms.
    </p>
  ),
  set: (typed) => <Later typed={typed} />,
  fee: (typed, of) => of && <NewFee typed={typed} of={of} />,
  price: ({ level, coin }, of) => (
    <p>
      The market accepts {amount(level, of?.fiat ?? '')} for one {coin || 'coin'} as its level, and quotes again.
      Compare the level with a source of your own: quotes at a wrong price lose money.
    </p>
  ),
};

/** @param now initial values */
export const MarketDialog = (p: {
  form: MarketForm;
  market?: string;
  of?: OfMarket;
  now?: Typed;
  onClose: () => void;
}) => (
  <ActionDialog
    action={MARKET_ACTIONS[p.form]}
    {...(p.market === undefined ? {} : { about: `market ${p.market}` })}
    given={p.market === undefined ? {} : { market: p.market }}
    {...(p.now === undefined ? {} : { now: p.now })}
    effect={(typed) => marketEffects[p.form](typed, p.of)}
    onClose={p.onClose}
  />
);
