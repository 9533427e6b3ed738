/** Payouts and refunds of all rails, the newest first. */
import { Link } from '@tanstack/react-router';
import { PAYOUT_STATES } from '../actions.ts';
import { WHOSE, within } from '../filters.tsx';
import { List } from '../list.tsx';
import { Amount, type Column, Id, OrderLink, State, Time } from '../ui.tsx';

interface PayoutRow {
  readonly id: string;
  readonly createdAt: string;
  readonly endedAt: string | null;
  readonly purpose: string;
  readonly partnerId: string | null;
  readonly orderId: string | null;
  readonly attempt: number;
  readonly rail: string;
  readonly asset: string;
  readonly units: string;
  readonly paidUnits: string | null;
  readonly state: string;
  readonly waitsFor: string | null;
  readonly why: string | null;
  readonly reference: string | null;
}

const COLUMNS: readonly Column<PayoutRow>[] = [
  {
    head: 'Payout',
    cell: ({ id }) => (
      <Link to="/payouts/$payout" params={{ payout: id }} className="mono" data-row>
        {id}
      </Link>
    ),
  },
  {
    head: 'Order',
    cell: ({ orderId }) => (orderId === null ? <span className="muted">none</span> : <OrderLink id={orderId} />),
  },
  { head: 'Kind', cell: ({ purpose }) => purpose },
  { head: 'State', cell: ({ state }) => <State state={state} /> },
  {
    head: 'Amount',
    cell: ({ units, paidUnits, asset }) => (
      <>
        <Amount units={units} asset={asset} />
        {paidUnits !== null && paidUnits !== units && (
          <div className="muted">
            paid <Amount units={paidUnits} asset={asset} />
          </div>
        )}
      </>
    ),
    className: 'number',
  },
  { head: 'Rail', cell: ({ rail }) => rail, className: 'nowrap' },
  { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { head: 'Ended', cell: ({ endedAt }) => <Time at={endedAt} /> },
  {
    head: 'Why',
    cell: ({ waitsFor, why }) =>
      [waitsFor, why].flatMap((one) => one?.replaceAll('_', ' ') ?? []).join(': ') || (
        <span className="muted">none</span>
      ),
  },
  {
    head: 'Evidence',
    cell: ({ reference }) =>
      reference === null || reference === '' ? <span className="muted">none yet</span> : <Id text={reference} />,
  },
];

export const Payouts = () => (
  <List<PayoutRow>
    title="Payouts and refunds"
    path="/payouts"
    list="payouts"
    cursor="below"
    filters={[{ name: 'state', label: 'State', choices: PAYOUT_STATES }, ...WHOSE, ...within('Created')]}
    columns={COLUMNS}
    keyOf={({ id }) => id}
    empty="No payout matches these filters."
  />
);
