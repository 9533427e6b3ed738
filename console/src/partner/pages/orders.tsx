/** All orders. */
import { within } from '../../filters.tsx';
import { type Column, CustomerLink, OrderLink, State, Time } from '../../ui.tsx';
import type { Money } from '../api.ts';
import { List } from '../list.tsx';
import { MoneyOf } from '../parts.tsx';

export const ORDER_STATES = [
  ...['created', 'deposit_seen', 'deposit_confirmed', 'awaiting_liquidity', 'on_hold', 'paying_out', 'payout_held'],
  ...['refunding', 'refund_held', 'settled', 'refunded', 'expired', 'cancelled'],
] as const;

export interface OrderRow {
  readonly id: string;
  readonly state: string;
  readonly direction: 'sell' | 'buy';
  readonly customerId: string;
  readonly reference: string | null;
  readonly pay: Money;
  readonly receive: Money;
  readonly reason: string | null;
  readonly needsDestination: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export const ORDER_COLUMNS: readonly Column<OrderRow>[] = [
  { head: 'Order', cell: ({ id }) => <OrderLink id={id} isRow /> },
  { head: 'State', cell: ({ state }) => <State state={state} /> },
  { head: 'Direction', cell: ({ direction }) => direction },
  { head: 'Customer pays', cell: ({ pay }) => <MoneyOf of={pay} />, className: 'number' },
  { head: 'Customer receives', cell: ({ receive }) => <MoneyOf of={receive} />, className: 'number' },
  { head: 'Customer', cell: ({ customerId }) => <CustomerLink id={customerId} /> },
  { head: 'Your reference', cell: ({ reference }) => reference ?? <span className="muted">none</span> },
  {
    head: 'Unusual',
    cell: ({ reason, needsDestination }) =>
      reason === null && !needsDestination ? (
        <span className="muted">no</span>
      ) : (
        [reason?.replaceAll('_', ' '), needsDestination ? 'needs a destination' : undefined]
          .filter((one) => one !== undefined)
          .join(', ')
      ),
  },
  { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

export const Orders = () => (
  <List<OrderRow>
    title="Orders"
    path="/orders"
    isPaged
    filters={[
      { name: 'state', label: 'State', choices: ORDER_STATES },
      { name: 'market', label: 'Market', hint: '3' },
      { name: 'customerId', label: 'Customer', hint: '8tvxR5aVmM_1' },
      { name: 'reference', label: 'Your reference' },
      ...within('Created'),
    ]}
    columns={ORDER_COLUMNS}
    keyOf={({ id }) => id}
    empty="No order matches these filters."
  />
);
