/** The tables of a customer's page: limits with their usage, the newest orders, and operators' actions. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type OrderRow, read } from '../api.ts';
import { every } from '../live.ts';
import { Amount, type Column, Failure, State, Table, Time } from '../ui.tsx';
import { LimitScope, type Scope, WITHIN } from './limits.tsx';
import { ORDER, PAYOUT } from './orders.tsx';

/** A line of the audit. */
export interface Did {
  readonly id: string;
  readonly at: string;
  readonly operator: string;
  readonly action: string;
  readonly outcome: string;
  readonly reason: string;
}
interface Use extends Scope {
  readonly max: string;
  readonly used: string;
  readonly left: string;
  readonly freesAt: string | null;
  readonly resetsAt: string | null;
}

/** In thousandths, for a bar: an amount itself is never divided. */
function shareOf(used: string, max: string): number {
  const places = Math.max(...[used, max].map((one) => one.split('.')[1]?.length ?? 0));
  const units = (one: string): bigint => {
    const [whole = '0', rest = ''] = one.split('.');
    return BigInt(whole + rest.padEnd(places, '0'));
  };
  const [mine, all] = [units(used), units(max)];
  if (all <= 0n || mine >= all) return 1000;
  return Number((mine * 1000n) / all);
}

const Bar = ({ used, max }: { used: string; max: string }) => {
  const share = shareOf(used, max);
  return (
    <span className={`bar${share >= 1000 ? ' is-bad' : share >= 800 ? ' is-warn' : ''}`} aria-hidden="true">
      <span style={{ inlineSize: `${share / 10}%` }} />
    </span>
  );
};

/** Orders that are limited one by one do not add up. */
const FreeAt = ({ per, at }: { per: string; at: string | null }) =>
  at === null ? <span className="muted">{per === 'order' ? 'at once' : 'nothing is used'}</span> : <Time at={at} />;

const USED: readonly Column<Use>[] = [
  { head: 'Within', cell: ({ per }) => <b className="nowrap">{WITHIN[per] ?? per}</b> },
  { head: 'Left', cell: ({ left, fiat }) => <Amount units={left} asset={fiat} />, className: 'number' },
  {
    head: 'Used',
    cell: ({ per, used, max, fiat }) =>
      per === 'order' ? (
        <span className="muted">each by itself</span>
      ) : (
        <>
          <Amount units={used} asset={fiat} />
          <Bar used={used} max={max} />
        </>
      ),
    className: 'number',
  },
  { head: 'At most', cell: ({ max, fiat }) => <Amount units={max} asset={fiat} />, className: 'number' },
  { head: 'Counts', cell: (one) => <LimitScope of={one} /> },
  {
    head: 'Some is free again',
    cell: ({ per, freesAt }) => <FreeAt per={per} at={freesAt} />,
  },
  {
    head: 'All is left again',
    cell: ({ per, resetsAt }) => <FreeAt per={per} at={resetsAt} />,
  },
];

export function Used({ customer }: { customer: string }) {
  const found = useQuery({
    queryKey: ['customer', customer, 'limits'],
    queryFn: () => read<{ limits: Use[] }>(`/customers/${customer}/limits`),
    refetchInterval: every(10_000),
  });
  return (
    <>
      <h2>Limits</h2>
      {found.error !== null && <Failure error={found.error} />}
      <Table
        label="Limits"
        columns={USED}
        rows={found.error === null ? found.data?.limits : []}
        keyOf={({ fiat, per, direction, market, level }) => [fiat, per, direction, market, level].join(' ')}
        empty="No limit of customers holds for this level."
      />
    </>
  );
}

export function Newest({ customer }: { customer: string }) {
  const found = useQuery({
    queryKey: ['orders', 'newest', customer],
    queryFn: () => read<{ orders: OrderRow[] }>('/orders', { customer, limit: '5' }),
    refetchInterval: every(10_000),
  });
  return (
    <>
      <div className="title">
        <h2>Newest orders</h2>
        <Link to="/orders" search={{ customer }}>
          All orders
        </Link>
      </div>
      {found.error !== null && <Failure error={found.error} />}
      <Table
        label="Newest orders"
        columns={[...ORDER, PAYOUT]}
        rows={found.error === null ? found.data?.orders : []}
        keyOf={({ id }) => id}
        empty="No order yet."
      />
    </>
  );
}

const DONE: readonly Column<Did>[] = [
  { head: 'When', cell: ({ at }) => <Time at={at} /> },
  { head: 'Operator', cell: ({ operator }) => <b>{operator}</b> },
  { head: 'Action', cell: ({ action }) => action, className: 'nowrap' },
  { head: 'Outcome', cell: ({ outcome }) => <State state={outcome} /> },
  { head: 'Reason', cell: ({ reason }) => reason, className: 'wide' },
];

export function History({ customer }: { customer: string }) {
  const subject = `customer:${customer}`;
  const found = useQuery({
    queryKey: ['audit', subject],
    queryFn: () => read<{ audit: Did[] }>('/audit', { subject, limit: '5' }),
    refetchInterval: every(10_000),
  });
  return (
    <>
      <div className="title">
        <h2>What operators did</h2>
        <Link to="/audit" search={{ subject }}>
          All of the audit
        </Link>
      </div>
      {found.error !== null && <Failure error={found.error} />}
      <Table
        label="What operators did"
        columns={DONE}
        rows={found.error === null ? found.data?.audit : []}
        keyOf={({ id }) => id}
        empty="No operator has acted on this customer yet."
      />
    </>
  );
}
