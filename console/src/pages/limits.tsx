/** Limits of customers across all of their orders: those in force, and all of their versions. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { LIMIT_SET } from '../actions.ts';
import { read } from '../api.ts';
import { ActionDialog } from '../form.tsx';
import { List } from '../list.tsx';
import { every } from '../live.ts';
import { useMay } from '../shell.tsx';
import { Amount, type Column, Failure, State, Table, Time } from '../ui.tsx';
import { PlannedFor } from './planned.tsx';

export interface Scope {
  readonly fiat: string;
  readonly per: string;
  readonly direction: string | null;
  readonly market: string | null;
  readonly level: number;
}
interface Version extends Scope {
  readonly id: string;
  /** Null: it was removed. */
  readonly max: string | null;
  readonly version: number;
  readonly by: string;
  readonly why: string;
  readonly at: string;
}

export const WITHIN: Readonly<Record<string, string>> = {
  order: 'one order',
  day: 'any 24 hours',
  month: 'any 30 days',
};
const DIRECTIONS: Readonly<Record<string, string>> = { offramp: 'sales', onramp: 'purchases' };

/** Which orders count together. */
export const LimitScope = ({ of: { direction, market } }: { of: Scope }) => (
  <span className="nowrap">
    {market !== null ? `market ${market}` : direction === null ? 'all orders' : (DIRECTIONS[direction] ?? direction)}
  </span>
);

const SCOPE: readonly Column<Version>[] = [
  { head: 'Fiat', cell: ({ fiat }) => <b>{fiat}</b> },
  {
    head: 'At most',
    cell: ({ max, fiat }) =>
      max === null ? <State state="taken away" tone="warn" /> : <Amount units={max} asset={fiat} />,
    className: 'number',
  },
  { head: 'Within', cell: ({ per }) => <span className="nowrap">{WITHIN[per] ?? per}</span> },
  { head: 'Counts', cell: (one) => <LimitScope of={one} /> },
  { head: 'Up to level', cell: ({ level }) => level, className: 'number' },
  { head: 'Version', cell: ({ version }) => version, className: 'number' },
  { head: 'Set', cell: ({ at }) => <Time at={at} /> },
  { head: 'By', cell: ({ by }) => by },
  { head: 'Why', cell: ({ why }) => why, className: 'wide' },
];

export function Limits() {
  const may = useMay();
  const [isSetting, setSetting] = useState(false);
  const found = useQuery({
    queryKey: ['customer-limits'],
    queryFn: () => read<{ limits: Version[] }>('/customer-limits'),
    refetchInterval: every(30_000),
  });
  return (
    <>
      <div className="title">
        <h1>Limits of customers</h1>
        <button type="button" className="primary" disabled={!may(LIMIT_SET.right)} onClick={() => setSetting(true)}>
          {LIMIT_SET.label}
        </button>
      </div>
      <p className="muted">
        Each counts the orders of a customer on all markets that it names. What a customer has used stands on its page;
        limits of a market stand with the market.
      </p>
      {found.error !== null && <Failure error={found.error} />}
      <h2>In force</h2>
      <Table
        label="In force"
        columns={SCOPE}
        rows={found.error === null ? found.data?.limits : []}
        keyOf={({ id }) => id}
        empty="No limit of customers is set."
      />
      <PlannedFor action={LIMIT_SET.name} />
      <List<Version>
        title="Versions"
        path="/customer-limits/versions"
        list="versions"
        cursor="below"
        filters={[{ name: 'fiat', label: 'Fiat', hint: 'inr' }]}
        columns={SCOPE}
        keyOf={({ id }) => id}
        empty="No version matches these filters."
        isPart
      />
      {isSetting && <ActionDialog action={LIMIT_SET} given={{}} onClose={() => setSetting(false)} />}
    </>
  );
}
