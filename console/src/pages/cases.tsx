/** Cases: what waits for a person, the oldest first. */
import { Link } from '@tanstack/react-router';
import type { Case } from '../api.ts';
import { useFilters } from '../filters.tsx';
import { List } from '../list.tsx';
import { useSession } from '../shell.tsx';
import { type Column, Due, OrderLink, State, Subject, Time } from '../ui.tsx';

const FILTERS = [
  { name: 'open', label: 'Cases', choices: ['closed'], all: 'open' },
  { name: 'kind', label: 'Kind' },
  { name: 'assignee', label: 'Claimed by' },
  { name: 'overdue', label: 'Due', choices: ['overdue'], all: 'any time' },
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
  {
    head: 'Due',
    cell: ({ dueAt, closedAt }) => (closedAt === null ? <Due at={dueAt} /> : <span className="muted">over</span>),
  },
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
  { head: 'Acts next', cell: ({ who }) => who },
  { head: 'State', cell: ({ closedAt }) => <State state={closedAt === null ? 'open' : 'closed'} /> },
];

export function Cases() {
  const { set } = useFilters();
  const { data: session } = useSession();
  return (
    <List<Case>
      title="Cases"
      path="/cases"
      list="cases"
      cursor="after"
      filters={FILTERS}
      toQuery={(values) => ({
        ...values,
        open: values.open === 'closed' ? 'false' : undefined,
        overdue: values.overdue === 'overdue' ? 'true' : undefined,
      })}
      columns={COLUMNS}
      keyOf={({ id }) => id}
      empty="No case matches these filters."
      buttons={
        <button type="button" onClick={() => set({ assignee: session?.name })}>
          Claimed by me
        </button>
      }
    />
  );
}
