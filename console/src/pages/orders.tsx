/** Orders of all partners, the newest first. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ORDER_STATES } from '../actions.ts';
import { type OrderRow, pathWith, read } from '../api.ts';
import { Filters, useFilters } from '../filters.tsx';
import { every } from '../live.ts';
import { Amount, type Column, Csv, Failure, OrderLink, State, Table, Time } from '../ui.tsx';

const FILTERS = [
  { name: 'state', label: 'State', choices: ORDER_STATES },
  { name: 'partner', label: 'Partner' },
  { name: 'customer', label: 'Customer' },
  { name: 'market', label: 'Market' },
  { name: 'from', label: 'Created from', isTime: true },
  { name: 'until', label: 'Created before', isTime: true },
];

const COLUMNS: readonly Column<OrderRow>[] = [
  { head: 'Order', cell: ({ id }) => <OrderLink id={id} isRow /> },
  { head: 'State', cell: ({ state }) => <State state={state} /> },
  { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    head: 'To pay',
    cell: ({ depositUnits, depositAsset }) => <Amount units={depositUnits} asset={depositAsset} />,
    className: 'number',
  },
  {
    head: 'Received',
    cell: ({ receivedUnits, depositAsset }) => <Amount units={receivedUnits} asset={depositAsset} />,
    className: 'number',
  },
  {
    head: 'Payout',
    cell: ({ payoutUnits, payoutAsset }) => <Amount units={payoutUnits} asset={payoutAsset} />,
    className: 'number',
  },
  {
    head: 'Exception',
    cell: ({ exception }) => exception?.replaceAll('_', ' ') ?? <span className="muted">none</span>,
    className: 'nowrap',
  },
  { head: 'Partner', cell: ({ partnerId }) => partnerId, className: 'number' },
  { head: 'Customer', cell: ({ customerId }) => <span className="mono nowrap">{customerId}</span> },
];

export function Orders() {
  const { values, set } = useFilters();
  const orders = useQuery({
    queryKey: ['orders', values],
    queryFn: () => read<{ orders: OrderRow[]; next: string | null }>('/orders', values),
    refetchInterval: every(10_000),
    placeholderData: keepPreviousData,
  });
  const { below: _, ...filters } = values;
  const next = orders.data?.next ?? null;
  return (
    <>
      <div className="title">
        <h1>Orders</h1>
        <Csv href={pathWith('/orders', { ...values, format: 'csv' })} />
      </div>
      <Filters filters={FILTERS} />
      {orders.error !== null && <Failure error={orders.error} />}
      <Table
        label="Orders"
        columns={COLUMNS}
        rows={orders.error === null ? orders.data?.orders : []}
        keyOf={({ id }) => id}
        empty="No order is like this."
      />
      <div className="row">
        {values.below !== undefined && (
          <button type="button" onClick={() => set(filters)}>
            Newest
          </button>
        )}
        {next !== null && (
          <button type="button" onClick={() => set({ ...filters, below: next })}>
            Older
          </button>
        )}
      </div>
    </>
  );
}
