/** What customers owe for deposits that were reversed or recalled after the payout. */
import { WHOSE } from '../filters.tsx';
import { List } from '../list.tsx';
import { Amount, type Column, CustomerLink, OrderLink, Time } from '../ui.tsx';
import { PartnerLink } from './partners.tsx';

interface Debt {
  readonly id: string;
  readonly partnerId: string;
  readonly customerId: string;
  readonly asset: string;
  readonly units: string;
  readonly since: string;
  readonly days: number;
  readonly orderIds: string;
}

const COLUMNS: readonly Column<Debt>[] = [
  { head: 'Customer', cell: ({ customerId }) => <CustomerLink id={customerId} isRow /> },
  { head: 'Owes', cell: ({ units, asset }) => <Amount units={units} asset={asset} />, className: 'number' },
  { head: 'Since', cell: ({ since }) => <Time at={since} /> },
  { head: 'Days', cell: ({ days }) => days, className: 'number' },
  {
    head: 'From orders',
    cell: ({ orderIds }) =>
      orderIds === '' ? (
        <span className="muted">none</span>
      ) : (
        <span className="row">
          {orderIds.split(' ').map((id) => (
            <OrderLink key={id} id={id} />
          ))}
        </span>
      ),
  },
  { head: 'Partner', cell: ({ partnerId }) => <PartnerLink id={partnerId} />, className: 'number' },
];

export const Debts = () => (
  <List<Debt>
    title="Debts"
    says="Deposits that a chain reversed or a bank recalled after we had paid for them. A customer who owes is blocked until a payment covers it, or two operators write it off in its case."
    path="/debts"
    list="debts"
    cursor="after"
    filters={[...WHOSE.filter(({ name }) => name !== 'market'), { name: 'asset', label: 'Asset', hint: 'inr' }]}
    columns={COLUMNS}
    keyOf={({ id }) => id}
    empty="No customer owes us anything that matches these filters."
  />
);
