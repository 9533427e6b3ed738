/** Sums of orders and earnings, by day and market, with totals. No amount becomes a number of JavaScript. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { To } from '../../chrome.tsx';
import { Filters, useFilters, within } from '../../filters.tsx';
import { counted, sum } from '../../format.ts';
import { type Column, Failure, Table } from '../../ui.tsx';
import { type Money, type Page, read } from '../api.ts';
import { MoneyOf } from '../parts.tsx';
import { useMay } from '../shell.tsx';

interface Day {
  readonly day: string;
  readonly market: string;
  readonly direction: string;
  readonly created: number;
  readonly settled: number;
  readonly refunded: number;
  readonly paid: Money;
  readonly received: Money;
  readonly earned: Money;
  readonly fees: Money;
}

const COLUMNS: readonly Column<Day>[] = [
  { head: 'Day (UTC)', cell: ({ day }) => <span className="nowrap">{day}</span> },
  { head: 'Market', cell: ({ market }) => market, className: 'number' },
  { head: 'Direction', cell: ({ direction }) => direction },
  { head: 'Orders', cell: ({ created }) => created, className: 'number' },
  { head: 'Settled', cell: ({ settled }) => settled, className: 'number' },
  { head: 'Refunded', cell: ({ refunded }) => refunded, className: 'number' },
  { head: 'Customers paid', cell: ({ paid }) => <MoneyOf of={paid} />, className: 'number' },
  { head: 'Customers received', cell: ({ received }) => <MoneyOf of={received} />, className: 'number' },
  { head: 'All fees', cell: ({ fees }) => <MoneyOf of={fees} />, className: 'number' },
  { head: 'You earned', cell: ({ earned }) => <MoneyOf of={earned} />, className: 'number' },
];

const TABS = [
  ['/statement', 'Orders by day'],
  ['/statement/books', 'Account'],
] as const;
/** The two statements: of orders, and of fees in the books. */
const StatementTabs = () => (
  <nav className="tabs" aria-label="Statements">
    {TABS.map(([to, name]) => (
      <To key={to} to={to} activeOptions={{ exact: true, includeSearch: false }}>
        {name}
      </To>
    ))}
  </nav>
);

/** The frame of both: tabs, title, printing. Nothing of it for a role that does not see statements. */
export function StatementPage({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const may = useMay();
  if (!may('finance'))
    return (
      <>
        <h1>{title}</h1>
        <p className="note">Only the roles finance and owner see statements.</p>
      </>
    );
  return (
    <>
      <StatementTabs />
      <div className="title">
        <h1>{title}</h1>
        <div className="row">
          {actions}
          <button type="button" onClick={() => window.print()}>
            Print
          </button>
        </div>
      </div>
      {children}
    </>
  );
}

const MONTH_MS = 30 * 86_400_000;
/** A span of whole days, so that the page asks the same while it is open. */
const today = (): number => Math.floor(Date.now() / 86_400_000) * 86_400_000;

export function Statement() {
  const may = useMay();
  const { values } = useFilters();
  const from = values.from ?? new Date(today() - MONTH_MS).toISOString();
  const until = values.until ?? new Date(today() + 86_400_000).toISOString();
  const found = useQuery({
    queryKey: ['statement', from, until],
    queryFn: () => read<Page<Day>>('/statement', { from, until }),
    enabled: may('finance'),
  });
  const rows = found.error === null ? found.data?.data : [];
  const assets = [...new Set((rows ?? []).map(({ earned }) => earned.asset))];
  return (
    <StatementPage title="Statement">
      <p className="muted">
        Orders by the UTC day on which they were created, in their present state: the last 30 days, or a span of at most
        31 days. Fees that were paid back after settlement are not deducted here; the account has them.
      </p>
      <Filters filters={within('Created')} />
      {found.error !== null && <Failure error={found.error} />}
      {assets.length > 0 && (
        <section className="panel" aria-label="Sums">
          <dl className="facts">
            {assets.map((asset) => {
              const of = (rows ?? []).filter(({ earned }) => earned.asset === asset);
              return (
                <div className="fact" key={asset}>
                  <dt>You earned</dt>
                  <dd>
                    <MoneyOf of={{ amount: sum(of.map(({ earned }) => earned.amount)), asset }} /> in{' '}
                    {counted(
                      of.reduce((all, { settled }) => all + settled, 0),
                      'settled order',
                    )}
                  </dd>
                </div>
              );
            })}
          </dl>
        </section>
      )}
      <Table
        label="Statement"
        columns={COLUMNS}
        rows={rows}
        keyOf={({ day, market }) => `${day} ${market}`}
        empty="No order was created in this span."
      />
    </StatementPage>
  );
}
