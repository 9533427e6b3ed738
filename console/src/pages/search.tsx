/** The results for an id, address, hash or reference, or the text of a bank line. */
import { useQuery } from '@tanstack/react-query';
import { Link, Navigate, useSearch } from '@tanstack/react-router';
import { read } from '../api.ts';
import { Amount, type Column, CustomerLink, Failure, Id, OrderLink, State, Table } from '../ui.tsx';
import { FindAccount } from './account.find.tsx';
import { BANK_LINE_COLUMNS, type BankLine } from './banklines.tsx';
import { PartnerLink } from './partners.tsx';
import { REQUEST_COLUMNS, type RequestRow } from './requests.tsx';

interface Found {
  readonly id: string;
  readonly state?: string;
  readonly orderId?: string | null;
  readonly asset?: string;
  readonly units?: string;
}
interface Answer {
  readonly orders: readonly Found[];
  readonly deposits: readonly Found[];
  readonly payouts: readonly Found[];
  readonly customers: readonly Found[];
  readonly bankLines: readonly BankLine[];
  readonly requests: readonly RequestRow[];
}

const moneyOf = (to: '/deposits/$deposit' | '/payouts/$payout'): readonly Column<Found>[] => [
  {
    head: 'Id',
    cell: ({ id }) => (
      <Link to={to} params={{ deposit: id, payout: id }} className="mono" data-row>
        {id}
      </Link>
    ),
  },
  { head: 'State', cell: ({ state = '' }) => <State state={state} /> },
  { head: 'Amount', cell: ({ units, asset = '' }) => <Amount units={units} asset={asset} />, className: 'number' },
  {
    head: 'Order',
    cell: ({ orderId }) => (orderId == null ? <span className="muted">none</span> : <OrderLink id={orderId} />),
  },
];
const ORDERS: readonly Column<Found>[] = [
  { head: 'Order', cell: ({ id }) => <OrderLink id={id} isRow /> },
  { head: 'State', cell: ({ state = '' }) => <State state={state} /> },
];
const CUSTOMERS: readonly Column<Found>[] = [
  {
    head: 'Customer',
    cell: ({ id }) => <CustomerLink id={id} isRow />,
  },
];

const REQUESTS: readonly Column<RequestRow>[] = [
  { head: 'Request', cell: ({ requestId }) => <Id text={requestId} /> },
  { head: 'Partner', cell: ({ partnerId }) => <PartnerLink id={partnerId} />, className: 'number' },
  ...REQUEST_COLUMNS,
];

export function Search() {
  const { text = '' } = useSearch({ strict: false }) as { text?: string };
  const found = useQuery({ queryKey: ['lookup', text], queryFn: () => read<Answer>('/lookup', { text }) });
  const all = found.data;
  const only = all?.orders.length === 1 ? all.orders[0] : undefined;
  // The number of an order leads directly to its page.
  if (only !== undefined && only.id === text.replaceAll(/\s/g, ''))
    return <Navigate to="/orders/$order" params={{ order: only.id }} replace />;
  const parts = [
    ['Orders', ORDERS, all?.orders],
    ['Deposits', moneyOf('/deposits/$deposit'), all?.deposits],
    ['Payouts and refunds', moneyOf('/payouts/$payout'), all?.payouts],
    ['Customers', CUSTOMERS, all?.customers],
  ] as const;
  const { requests = [], bankLines = [] } = all ?? {};
  const count = parts.reduce((sum, [, , rows]) => sum + (rows?.length ?? 0), requests.length + bankLines.length);
  return (
    <>
      <h1>Found for {text}</h1>
      {found.error !== null && <Failure error={found.error} />}
      {all !== undefined && count === 0 && <p className="note">No record has this id, address, hash or reference.</p>}
      {parts.map(
        ([name, columns, rows]) =>
          (rows?.length ?? 0) > 0 && (
            <section key={name} className="panel">
              <h2>{name}</h2>
              <Table label={name} columns={columns} rows={rows} keyOf={({ id }) => id} empty="" />
            </section>
          ),
      )}
      {bankLines.length > 0 && (
        <section className="panel">
          <h2>Bank lines</h2>
          <Table label="Bank lines" columns={BANK_LINE_COLUMNS} rows={bankLines} keyOf={({ id }) => id} empty="" />
        </section>
      )}
      {requests.length > 0 && (
        <section className="panel">
          <h2>Requests of programs</h2>
          <Table label="Requests of programs" columns={REQUESTS} rows={requests} keyOf={({ id }) => id} empty="" />
        </section>
      )}
      <FindAccount />
    </>
  );
}
