/**
 * Markets with the state of their price circuit breakers; one market with its terms, fees, limits and policy, of a
 * partner too, and the forms that change them.
 */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { MARKET_ACTIONS } from '../actions.trade.ts';
import { pathWith, read } from '../api.ts';
import { Filters, useFilters } from '../filters.tsx';
import type { Typed } from '../form.tsx';
import { span } from '../format.ts';
import { every } from '../live.ts';
import { OtherActions } from '../others.tsx';
import { Pending } from '../pending.tsx';
import { useMay } from '../shell.tsx';
import { Amount, type Column, Csv, Fact, Failure, State, Table, Time } from '../ui.tsx';
import { MarketLimits, MarketPolicy } from './market.terms.tsx';
import { PlannedFor } from './planned.tsx';
import { type Fee, MarketDialog, type MarketForm } from './terms.forms.tsx';

interface Price {
  readonly marketId: string;
  readonly coin: string;
  readonly level: string;
  readonly levelAt: string | null;
  readonly haltedAt: string | null;
  readonly why: string | null;
  readonly seen: string;
  readonly seenSince: string | null;
}
interface Market {
  readonly id: string;
  readonly direction: string;
  readonly crypto: string;
  readonly fiat: string;
  readonly enabled: boolean;
  readonly isDefault: boolean;
  readonly depositRail: string;
  readonly payoutRail: string;
  readonly min: string;
  readonly max: string;
  readonly of: string;
  readonly quoteTtlS: number;
  readonly depositTtlS: number;
  readonly clearingS: number;
  readonly priceSources: readonly string[];
  readonly priceMaxAgeS: number;
  readonly priceQuorum: number;
  readonly outlierBps: string;
  readonly singleSource: boolean;
  readonly jumpBps: string;
  readonly resumeAfterS: number;
  readonly taxBps: string;
}
const SOON_MS = 10_000;
const nameOf = ({ direction, crypto, fiat }: Market) =>
  `${direction === 'offramp' ? 'sell' : 'buy'} ${crypto} for ${fiat}`;

/** State of a market's price circuit breaker. */
function Breaker({ prices, isOpen }: { prices: readonly Price[] | undefined; isOpen: boolean }) {
  const halted = prices?.filter(({ haltedAt }) => haltedAt !== null) ?? [];
  if (halted.length > 0) return <State state={`halted: ${halted.map(({ why }) => why).join(', ')}`} tone="bad" />;
  if (!isOpen) return <State state="closed" />;
  if (prices === undefined || prices.length === 0) return <State state="no level yet" tone="warn" />;
  return <State state="quotes" tone="ok" />;
}

interface Row {
  readonly market: Market;
  readonly prices: readonly Price[] | undefined;
}
const columnsFor = (partner: string | undefined): readonly Column<Row>[] => [
  {
    head: 'Market',
    cell: ({ market }) => (
      <Link
        to="/markets/$market"
        params={{ market: market.id }}
        search={partner === undefined ? {} : { partner }}
        data-row
      >
        {nameOf(market)}
      </Link>
    ),
  },
  { head: 'Number', cell: ({ market }) => market.id, className: 'number' },
  { head: 'Prices', cell: ({ market, prices }) => <Breaker prices={prices} isOpen={market.enabled} /> },
  {
    head: 'Level',
    cell: ({ market, prices }) => {
      // A market may also need the price of the coin that pays for gas.
      const level = prices?.find(({ coin }) => coin === market.crypto.split('.')[0])?.level;
      return level === undefined || level === 'none' ? (
        <span className="muted">none</span>
      ) : (
        <Amount units={level} asset={market.fiat} />
      );
    },
    className: 'number',
  },
  { head: 'Minimum', cell: ({ market }) => <Amount units={market.min} asset={market.of} />, className: 'number' },
  { head: 'Maximum', cell: ({ market }) => <Amount units={market.max} asset={market.of} />, className: 'number' },
  {
    head: 'Rails',
    cell: ({ market }) => (
      <span className="nowrap">
        {market.depositRail} <span className="muted">to</span> {market.payoutRail}
      </span>
    ),
  },
];

const usePrices = () =>
  useQuery({
    queryKey: ['prices'],
    queryFn: () => read<{ prices: Price[] }>('/prices'),
    refetchInterval: every(SOON_MS),
  });

const FILTERS = [
  { name: 'show', label: 'Markets', choices: ['halted', 'open', 'closed'], all: 'all' },
  { name: 'fiat', label: 'Fiat', hint: 'inr' },
  { name: 'coin', label: 'Coin', hint: 'usdc' },
  { name: 'partner', label: 'Fees of partner' },
];

export function Markets() {
  const may = useMay();
  const [isCreating, setCreating] = useState(false);
  const { values } = useFilters();
  const found = useQuery({
    queryKey: ['markets'],
    queryFn: () => read<{ markets: Market[] }>('/markets'),
    refetchInterval: every(SOON_MS),
  });
  const prices = usePrices();
  const byMarket = Map.groupBy(prices.data?.prices ?? [], ({ marketId }) => marketId);
  const error = found.error ?? prices.error;
  const isShown = ({ market, prices: levels }: Row) =>
    (values.show === undefined ||
      (values.show === 'halted'
        ? levels?.some(({ haltedAt }) => haltedAt !== null) === true
        : market.enabled === (values.show === 'open'))) &&
    (values.fiat === undefined || market.fiat === values.fiat) &&
    (values.coin === undefined || market.crypto.startsWith(values.coin));
  const rows = found.data?.markets.map((market) => ({ market, prices: byMarket.get(market.id) })).filter(isShown);
  return (
    <>
      <div className="title">
        <h1>Markets</h1>
        <div className="row">
          <Csv href={pathWith('/prices', { format: 'csv' })} label="CSV of all prices" />
          <button
            type="button"
            className="primary"
            disabled={!may(MARKET_ACTIONS.create.right)}
            onClick={() => setCreating(true)}
          >
            {MARKET_ACTIONS.create.label}
          </button>
        </div>
      </div>
      <Pending isAbout={(subject) => subject.startsWith('market:')} />
      <Filters filters={FILTERS} />
      {error !== null && <Failure error={error} />}
      <Table
        label="Markets"
        columns={columnsFor(values.partner)}
        rows={error === null ? rows : []}
        keyOf={({ market }) => market.id}
        empty="No market matches these filters."
      />
      <OtherActions of="prices" known={{}} />
      {isCreating && <MarketDialog form="create" onClose={() => setCreating(false)} />}
    </>
  );
}

interface Whole extends Market {
  readonly prices: readonly Price[];
  readonly fees: readonly Fee[];
}
/** A price source may have none yet, which the server calls so. */
const Level = ({ level, fiat }: { level: string; fiat: string }) =>
  level === 'none' ? <span className="muted">none</span> : <Amount units={level} asset={fiat} />;

const pricesIn = (fiat: string): readonly Column<Price>[] => [
  { head: 'Coin', cell: ({ coin }) => <b>{coin}</b> },
  { head: 'Accepted level', cell: ({ level }) => <Level level={level} fiat={fiat} />, className: 'number' },
  { head: 'Since', cell: ({ levelAt }) => <Time at={levelAt} /> },
  {
    head: 'Breaker',
    cell: ({ haltedAt, why }) =>
      haltedAt === null ? (
        <State state="quotes" tone="ok" />
      ) : (
        <span className="nowrap">
          <State state={`halted: ${why}`} tone="bad" /> <Time at={haltedAt} />
        </span>
      ),
  },
  { head: 'Sources say since', cell: ({ seen }) => <Level level={seen} fiat={fiat} />, className: 'number' },
];

/** Terms as a form begins with them. */
const termsOf = (market: Market): Typed =>
  Object.fromEntries(
    MARKET_ACTIONS.set.fields.map(({ name }) => [name, String((market as unknown as Record<string, unknown>)[name])]),
  );

export function MarketPage() {
  const may = useMay();
  const [form, setForm] = useState<{ form: MarketForm; now?: Typed }>();
  const { market } = useParams({ from: '/markets/$market' });
  const { values } = useFilters();
  const partner = values.partner;
  const found = useQuery({
    queryKey: ['market', market, partner],
    queryFn: () => read<Whole>(`/markets/${market}`, { partner }),
    refetchInterval: every(SOON_MS),
  });
  const one = found.data;
  const fees: readonly Column<Fee>[] = [
    { head: 'Fee', cell: ({ kind }) => <b>{kind}</b> },
    { head: 'Share', cell: ({ bps }) => `${bps} bps`, className: 'number' },
    { head: 'Fixed', cell: ({ fixed }) => <Amount units={fixed} asset={one?.fiat ?? ''} />, className: 'number' },
    { head: 'Minimum', cell: ({ minimum }) => <Amount units={minimum} asset={one?.fiat ?? ''} />, className: 'number' },
    {
      head: 'Actions',
      cell: ({ kind, fixed, bps, minimum, gasUnits }) => (
        <button
          type="button"
          aria-label={`Change the fee of the ${kind}`}
          disabled={!may(MARKET_ACTIONS.fee.right)}
          onClick={() => setForm({ form: 'fee', now: { ...ofPartner, kind, fixed, bps, minimum, gasUnits } })}
        >
          Change
        </button>
      ),
    },
  ];
  const ofPartner: Typed = partner === undefined ? {} : { partner };
  const halted = one?.prices.find(({ haltedAt }) => haltedAt !== null);
  const button = (name: MarketForm, now: Typed) => (
    <button type="button" disabled={!may(MARKET_ACTIONS[name].right)} onClick={() => setForm({ form: name, now })}>
      {MARKET_ACTIONS[name].label}
    </button>
  );
  return (
    <>
      <div className="title">
        <h1>{one === undefined ? `Market ${market}` : `Market ${market}: ${nameOf(one)}`}</h1>
        {one !== undefined && (
          <div className="row">
            <Breaker prices={one.prices} isOpen={one.enabled} />
            {halted !== undefined &&
              button('price', { coin: halted.coin, level: halted.seen === 'none' ? '' : halted.seen })}
          </div>
        )}
      </div>
      <Pending isAbout={(subject) => subject === `market:${market}`} />
      <PlannedFor subject={`market:${market}`} />
      <Filters filters={[{ name: 'partner', label: 'Fees and policy of partner' }]} />
      {found.error !== null && <Failure error={found.error} />}
      {one !== undefined && (
        <div className="columns">
          <div>
            <h2>Prices</h2>
            <Table
              label="Prices"
              columns={pricesIn(one.fiat)}
              rows={one.prices}
              keyOf={({ coin }) => coin}
              empty="No level yet."
            />
            <div className="title">
              <h2>{partner === undefined ? 'Fees of all partners' : `Fees of partner ${partner}`}</h2>
              {button('fee', ofPartner)}
            </div>
            <Table label="Fees" columns={fees} rows={one.fees} keyOf={({ kind }) => kind} empty="No fee is taken." />
            <MarketLimits market={market} />
            <MarketPolicy market={market} partner={partner} />
            <OtherActions of="market" known={{ market }} about={`market ${market}`} title="Orders of a span" />
          </div>
          <section className="panel">
            <div className="title">
              <h2>Terms</h2>
              {button('set', termsOf(one))}
            </div>
            <dl className="facts">
              <Fact name="Deposit on">{one.depositRail}</Fact>
              <Fact name="Payout on">{one.payoutRail}</Fact>
              <Fact name="Minimum deposit">
                <Amount units={one.min} asset={one.of} />
              </Fact>
              <Fact name="Maximum deposit">
                <Amount units={one.max} asset={one.of} />
              </Fact>
              <Fact name="A quote is valid for">{span(one.quoteTtlS)}</Fact>
              <Fact name="Deadline of a deposit">{span(one.depositTtlS)}</Fact>
              <Fact name="Clearing time of fiat">{span(one.clearingS)}</Fact>
              <Fact name="Tax withheld">{one.taxBps} bps</Fact>
              <Fact name="Sources">{one.priceSources.join(', ')}</Fact>
              <Fact name="Sources that must agree">{one.priceQuorum}</Fact>
              <Fact name="Maximum age of a price">{span(one.priceMaxAgeS)}</Fact>
              <Fact name="Outlier beyond">{one.outlierBps} bps</Fact>
              <Fact name="Halts at a move of">{one.jumpBps} bps</Fact>
              <Fact name="Resumes after">{span(one.resumeAfterS)}</Fact>
            </dl>
            <Link to="/orders" search={{ market }}>
              Orders of this market
            </Link>
            <Link to="/changes" search={{ market }}>
              History of its terms
            </Link>
          </section>
        </div>
      )}
      {form !== undefined && one !== undefined && (
        <MarketDialog {...form} market={market} of={{ ...one, partner }} onClose={() => setForm(undefined)} />
      )}
    </>
  );
}
