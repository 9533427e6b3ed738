/** Cases: what waits for a person, the oldest first. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type Case, pathWith, read } from '../api.ts';
import { Filters, useFilters } from '../filters.tsx';
import { every } from '../live.ts';
import { useSession } from '../shell.tsx';
import { type Column, Csv, Failure, OrderLink, State, Subject, Table, Time } from '../ui.tsx';

const FILTERS = [
  { name: 'open', label: 'Cases', choices: ['closed'], all: 'open' },
  { name: 'kind', label: 'Kind' },
  { name: 'assignee', label: 'Claimed by' },
];

const COLUMNS: readonly Column<Case>[] = [
  {
    head: 'Case',
    cell: ({ id, kind }) => (
      <Link to="/cases/$case" params={{ case: id }} data-row>
        {kind.replaceAll('_', ' ')}
      </Link>
    ),
  },
  { head: 'Age', cell: ({ openedAt }) => <Time at={openedAt} isAge />, className: 'number' },
  { head: 'Claimed by', cell: ({ assignee }) => assignee ?? <span className="muted">unclaimed</span> },
  {
    head: 'About',
    cell: ({ subject, orderId }) =>
      orderId === null ? (
        <Subject text={subject} />
      ) : (
        <span className="nowrap">
          order <OrderLink id={orderId} />
        </span>
      ),
  },
  { head: 'Reason', cell: ({ reason }) => reason, className: 'wide' },
  { head: 'Acts next', cell: ({ who }) => who ?? '' },
  { head: 'State', cell: ({ closedAt }) => <State state={closedAt === null ? 'open' : 'closed'} /> },
];

export function Cases() {
  const { values, set } = useFilters();
  const { data: session } = useSession();
  const query = { ...values, open: values.open === 'closed' ? 'false' : undefined };
  const cases = useQuery({
    queryKey: ['cases', values],
    queryFn: () => read<{ cases: Case[]; next: string | null }>('/cases', query),
    refetchInterval: every(5_000),
    placeholderData: keepPreviousData,
  });
  const next = cases.data?.next ?? null;
  return (
    <>
      <div className="title">
        <h1>Cases</h1>
        <div className="row">
          <button type="button" onClick={() => set({ assignee: session?.name })}>
            Claimed by me
          </button>
          <Csv href={pathWith('/cases', { ...query, format: 'csv' })} />
        </div>
      </div>
      <Filters filters={FILTERS} />
      {cases.error !== null && <Failure error={cases.error} />}
      <Table
        label="Cases"
        columns={COLUMNS}
        rows={cases.error === null ? cases.data?.cases : []}
        keyOf={({ id }) => id}
        empty="No case is like this."
      />
      {next !== null && (
        <div className="row">
          <button type="button" onClick={() => set({ ...values, after: next })}>
            Newer
          </button>
        </div>
      )}
    </>
  );
}
