/** Orders of all partners, the newest first. */
import { ORDER_STATES } from '../actions.ts';
import type { OrderRow } from '../api.ts';
import { WHOSE, within } from '../filters.tsx';
import { List } from '../list.tsx';
import { Amount, type Column, CustomerLink, OrderLink, State, Time } from '../ui.tsx';

const FILTERS = [
  { name: 'state', label: 'State', choices: ORDER_STATES },
  ...WHOSE,
  ...within('Created'),
  { name: 'asset', label: 'Asset', hint: 'usdc.matic20' },
  { name: 'min', label: 'At least', hint: 'of the asset' },
  { name: 'max', label: 'At most', hint: 'of the asset' },
];

/** The first columns of every table of orders. */
export const ORDER: readonly Column<OrderRow>[] = [
  { head: 'Order', cell: ({ id }) => <OrderLink id={id} isRow /> },
  { head: 'State', cell: ({ state }) => <State state={state} /> },
  { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    head: 'To pay',
    cell: ({ depositUnits, depositAsset }) => <Amount units={depositUnits} asset={depositAsset} />,
    className: 'number',
  },
];
export const PAYOUT: Column<OrderRow> = {
  head: 'Payout',
  cell: ({ payoutUnits, payoutAsset }) => <Amount units={payoutUnits} asset={payoutAsset} />,
  className: 'number',
};
const COLUMNS: readonly Column<OrderRow>[] = [
  ...ORDER,
  {
    head: 'Received',
    cell: ({ receivedUnits, depositAsset }) => <Amount units={receivedUnits} asset={depositAsset} />,
    className: 'number',
  },
  PAYOUT,
  {
    head: 'Exception',
    cell: ({ exception }) => exception?.replaceAll('_', ' ') ?? <span className="muted">none</span>,
    className: 'nowrap',
  },
  { head: 'Partner', cell: ({ partnerId }) => partnerId, className: 'number' },
  { head: 'Customer', cell: ({ customerId }) => <CustomerLink id={customerId} /> },
];

export const Orders = () => (
  <List<OrderRow>
    title="Orders"
    path="/orders"
    list="orders"
    cursor="below"
    filters={FILTERS}
    columns={COLUMNS}
    keyOf={({ id }) => id}
    empty="No order matches these filters."
  />
);
