/** Reports: trial balance at an instant, revenue per day, partner and market, and the statement of a customer. */
import { Link, Navigate } from '@tanstack/react-router';
import { useFilters, within } from '../filters.tsx';
import { grouped, sum } from '../format.ts';
import { List } from '../list.tsx';
import { Amount, type Column, OrderLink, State, Table, Time } from '../ui.tsx';

const DAY_MS = 86_400_000;

export const Print = () => (
  <button type="button" onClick={() => window.print()}>
    Print
  </button>
);

export const Reports = () => <Navigate to="/reports/trial-balance" replace />;

const TABS = [
  ['/reports/trial-balance', 'Trial balance'],
  ['/reports/revenue', 'Revenue'],
  ['/reports/statement', 'Customer'],
  ['/reports/partner', 'Partner'],
  ['/reports/reconciliation', 'Reconciliation'],
  ['/reports/affected', 'Affected orders'],
  ['/changes', 'Changes of terms'],
] as const;

/** On a phone they are one line that scrolls, to the present one. */
export const Tabs = () => (
  <nav className="tabs" aria-label="Reports">
    {TABS.map(([to, name]) => (
      <Link key={to} to={to} activeOptions={{ includeSearch: false }} ref={intoSight}>
        {name}
      </Link>
    ))}
  </nav>
);
function intoSight(tab: HTMLAnchorElement | null): void {
  if (tab?.ariaCurrent === 'page') tab.scrollIntoView({ block: 'nearest', inline: 'center' });
}

interface Account {
  readonly account: string;
  readonly kind: string;
  readonly asset: string;
  readonly debits: string;
  readonly credits: string;
  readonly balance: string;
}
const money = (name: 'debits' | 'credits' | 'balance', head: string): Column<Account> => ({
  head,
  cell: (one) => <Amount units={one[name]} asset={one.asset} />,
  className: 'number',
});
const ACCOUNTS: readonly Column<Account>[] = [
  { head: 'Account', cell: ({ account }) => <span className="mono long">{account}</span> },
  { head: 'Kind', cell: ({ kind }) => kind.replaceAll('_', ' '), className: 'nowrap' },
  money('debits', 'Debits'),
  money('credits', 'Credits'),
  money('balance', 'Balance'),
];

interface Side {
  readonly asset: string;
  readonly debits: string;
  readonly credits: string;
}
const SIDES: readonly Column<Side>[] = [
  { head: 'Asset', cell: ({ asset }) => <b>{asset}</b> },
  { head: 'Debits', cell: ({ debits, asset }) => <Amount units={debits} asset={asset} />, className: 'number' },
  { head: 'Credits', cell: ({ credits, asset }) => <Amount units={credits} asset={asset} />, className: 'number' },
  {
    head: 'Both sides',
    cell: ({ debits, credits }) => (
      <State state={debits === credits ? 'are equal' : 'are not equal'} tone={debits === credits ? 'ok' : 'bad'} />
    ),
  },
];

export const TrialBalance = () => (
  <>
    <Tabs />
    <List<Account>
      isReport
      title="Trial balance"
      path="/trial-balance"
      list="accounts"
      filters={[{ name: 'at', label: 'Balances at', isTime: true }]}
      toQuery={(values) => ({ ...values, by: 'account' })}
      columns={ACCOUNTS}
      keyOf={({ account }) => account}
      empty="No account has an entry."
      buttons={<Print />}
      above={(answer) => (
        <Table
          label="Both sides by asset"
          columns={SIDES}
          rows={answer?.assets as readonly Side[] | undefined}
          keyOf={({ asset }) => asset}
          empty="Nothing is booked."
        />
      )}
    />
  </>
);

interface Revenue {
  readonly day: string;
  readonly partnerId: string;
  readonly marketId: string;
  readonly asset: string;
  readonly operatorFee: string;
  readonly partnerFee: string;
  readonly railFee: string;
  readonly gasFee: string;
  readonly costs: string;
}
const FEES = [
  ['operatorFee', 'Operator'],
  ['partnerFee', 'Partner'],
  ['railFee', 'Rail'],
  ['gasFee', 'Chain'],
  ['costs', 'Costs'],
] as const;
const REVENUE: readonly Column<Revenue>[] = [
  { head: 'Day (UTC)', cell: ({ day }) => day, className: 'nowrap' },
  {
    head: 'Partner',
    cell: ({ partnerId }) =>
      partnerId === null ? (
        <span className="muted">none</span>
      ) : (
        <Link to="/partners/$partner" params={{ partner: partnerId }}>
          {partnerId}
        </Link>
      ),
    className: 'number',
  },
  { head: 'Market', cell: ({ marketId }) => marketId, className: 'number' },
  ...FEES.map(
    ([name, head]): Column<Revenue> => ({
      head,
      cell: (one) => <Amount units={one[name]} asset={one.asset} />,
      className: 'number',
    }),
  ),
];

function RevenueSums({ rows }: { rows: readonly Revenue[] | undefined }) {
  const assets = [...new Set(rows?.map(({ asset }) => asset))];
  const sums = assets.map((asset) => ({
    ...{ day: 'All rows below', partnerId: '', marketId: '', asset },
    ...(Object.fromEntries(
      FEES.map(([name]) => [name, sum((rows ?? []).filter((one) => one.asset === asset).map((one) => one[name]))]),
    ) as Record<(typeof FEES)[number][0], string>),
  }));
  const columns = [{ head: 'Sum', cell: ({ asset }: Revenue) => <b>{asset}</b> }, ...REVENUE.slice(3)];
  return sums.length === 0 ? null : (
    <Table label="Sums of the rows below" columns={columns} rows={sums} keyOf={({ asset }) => asset} empty="" />
  );
}

const TALL = 120;
const WIDE = 14;

/** Fees of the operator per day, a picture for each asset; only its bars are numbers, and the table has the amounts. */
function RevenueChart({ rows = [] }: { rows: readonly Revenue[] | undefined }) {
  const assets = [...new Set(rows.map(({ asset }) => asset))];
  const days = [...new Set(rows.map(({ day }) => day))].sort();
  if (days.length < 2) return null;
  return (
    <div className="charts">
      {assets.map((asset) => {
        const bars = days.map((day) => {
          const of = rows.filter((one) => one.asset === asset && one.day === day).map((one) => one.operatorFee);
          return { day, fee: of.length === 0 ? '0' : sum(of) };
        });
        const most = Math.max(...bars.map(({ fee }) => Number(fee)), Number.MIN_VALUE);
        const whole = sum(bars.map(({ fee }) => fee));
        return (
          <figure key={asset}>
            <figcaption>
              Fees of the operator: <Amount units={whole} asset={asset} />
            </figcaption>
            <svg
              viewBox={`0 0 ${days.length * WIDE} ${TALL}`}
              preserveAspectRatio="none"
              role="img"
              aria-label={`Fees of the operator in ${asset} by day, from ${days[0]} to ${days.at(-1)}`}
            >
              {bars.map(({ day, fee }, at) => {
                const height = Math.max(0, (Number(fee) / most) * (TALL - 4));
                return (
                  <rect key={day} x={at * WIDE + 1} y={TALL - height} width={WIDE - 2} height={height}>
                    <title>{`${day}: ${grouped(fee)} ${asset}`}</title>
                  </rect>
                );
              })}
            </svg>
            <div className="ends muted">
              <span>{days[0]}</span>
              <span>{days.at(-1)}</span>
            </div>
          </figure>
        );
      })}
    </div>
  );
}

export function RevenueReport() {
  const { values } = useFilters();
  if (values.from === undefined && values.until === undefined) {
    const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
    const [from = '', until = ''] = [today - 29 * DAY_MS, today + DAY_MS].map((at) => new Date(at).toISOString());
    return <Navigate to="/reports/revenue" search={{ ...(values as object), from, until }} replace />;
  }
  return (
    <>
      <Tabs />
      <List<Revenue>
        isReport
        title="Revenue"
        says="Fees that were charged and what rails and chains cost, per day, partner, market and asset."
        path="/reports/revenue"
        list="revenue"
        cursor="after"
        needs={['from', 'until']}
        filters={[...within('Days'), { name: 'partner', label: 'Partner' }, { name: 'market', label: 'Market' }]}
        columns={REVENUE}
        keyOf={({ day, partnerId, marketId, asset }) => `${day} ${partnerId} ${marketId} ${asset}`}
        empty="No fees in this period."
        buttons={<Print />}
        above={(answer) => (
          <>
            <RevenueSums rows={answer?.revenue as readonly Revenue[] | undefined} />
            <RevenueChart rows={answer?.revenue as readonly Revenue[] | undefined} />
          </>
        )}
      />
    </>
  );
}

interface Line {
  readonly line: string;
  readonly at: string | null;
  readonly order: string | null;
  readonly what: string;
  readonly asset: string;
  readonly units: string | null;
  readonly heldAfterUnits: string | null;
}
const LINES: readonly Column<Line>[] = [
  { head: 'When', cell: ({ at }) => <Time at={at} /> },
  { head: 'What', cell: ({ what }) => what.replaceAll('_', ' ') },
  {
    head: 'Order',
    cell: ({ order }) => (order === null ? <span className="muted">none</span> : <OrderLink id={order} isRow />),
  },
  { head: 'Amount', cell: ({ units, asset }) => <Amount units={units} asset={asset} />, className: 'number' },
  {
    head: 'Held after it',
    cell: ({ heldAfterUnits, asset }) => <Amount units={heldAfterUnits} asset={asset} />,
    className: 'number',
  },
];

export const Statement = () => (
  <>
    <Tabs />
    <List<Line>
      isReport
      title="Statement of a customer"
      path="/reports/statement"
      list="lines"
      cursor="after"
      needs={['customer', 'from', 'until']}
      filters={[{ name: 'customer', label: 'Customer' }, ...within('Lines')]}
      columns={LINES}
      keyOf={({ line, asset }) => `${line} ${asset}`}
      empty="Nothing happened in this period."
      buttons={<Print />}
    />
  </>
);

interface Affected {
  readonly order: string;
  readonly createdAt: string;
  readonly partnerId: string;
  readonly state: string;
  readonly was: string;
  readonly other: string;
  readonly difference: string;
  readonly asset: string;
}
/** Two terms side by side, of one order and of all. */
const COMPARED: readonly Column<Pick<Affected, 'was' | 'other' | 'difference' | 'asset'>>[] = [
  { head: 'Was', cell: ({ was, asset }) => <Amount units={was} asset={asset} />, className: 'number' },
  { head: 'By other terms', cell: ({ other, asset }) => <Amount units={other} asset={asset} />, className: 'number' },
  {
    head: 'Difference',
    cell: ({ difference, asset }) => <Amount units={difference} asset={asset} />,
    className: 'number',
  },
];
const AFFECTED: readonly Column<Affected>[] = [
  { head: 'Order', cell: ({ order }) => <OrderLink id={order} isRow /> },
  { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { head: 'Partner', cell: ({ partnerId }) => partnerId, className: 'number' },
  { head: 'State', cell: ({ state }) => <State state={state} /> },
  ...COMPARED,
];

interface AffectedSum {
  readonly of: string;
  readonly orders: number;
  readonly was: string;
  readonly other: string;
  readonly difference: string;
  readonly asset: string;
}
const AFFECTED_SUM: readonly Column<AffectedSum>[] = [
  { head: 'All orders of the time', cell: ({ of }) => <b>{of}</b> },
  { head: 'Orders', cell: ({ orders }) => orders, className: 'number' },
  ...COMPARED,
];

/** The difference of the whole: of all orders of the time, also of those on other pages. */
function AffectedSums({ of }: { of: Readonly<Record<string, unknown>> | undefined }) {
  if (of === undefined) return null;
  const rows = [
    { ...(of.charged as AffectedSum), of: 'Charged already' },
    { ...(of.promised as AffectedSum), of: 'Under way, can still be repriced' },
  ];
  return (
    <>
      <Table label="Difference of the whole" columns={AFFECTED_SUM} rows={rows} keyOf={(row) => row.of} empty="" />
      <p className="muted">
        A difference is what customers would have kept by the other terms; below zero, what they would have lost.
        Compared with:{' '}
        {Object.entries(of.compared as object)
          .map(([name, value]) => `${name} ${String(value)}`)
          .join(', ')}
        .
      </p>
    </>
  );
}

export const AffectedOrders = () => (
  <>
    <Tabs />
    <List<Affected>
      isReport
      title="Affected orders"
      says="Orders of a market in a period, with the difference in money under other terms: those before a change, another fee, or another rate."
      path="/reports/affected"
      list="orders"
      cursor="after"
      needs={['market', 'from', 'until']}
      filters={[
        { name: 'market', label: 'Market' },
        ...within('Created'),
        { name: 'partner', label: 'Partner' },
        { name: 'change', label: 'Before change' },
        { name: 'fee', label: 'Another fee', choices: ['operator', 'partner', 'rail', 'chain'] },
        { name: 'bps', label: 'Its share, bps' },
        { name: 'fixed', label: 'Its fixed part' },
        { name: 'minimum', label: 'Its minimum' },
        { name: 'rate', label: 'Another rate' },
      ]}
      columns={AFFECTED}
      keyOf={({ order }) => order}
      empty="No order in this period is affected."
      above={(answer) => <AffectedSums of={answer} />}
      buttons={<Print />}
    />
  </>
);
