/** Cases: what waits for a person, the oldest first. */
import type { Case } from '../api.ts';
import { useFilters } from '../filters.tsx';
import { spoken } from '../format.ts';
import { List } from '../list.tsx';
import { useSession } from '../shell.tsx';
import { type Column, Due, State, Time } from '../ui.tsx';
import { ABOUT_COLUMN, CASE_COLUMN } from './case.parts.tsx';

const FILTERS = [
  { name: 'open', label: 'Cases', choices: ['closed'], all: 'open' },
  { name: 'kind', label: 'Kind' },
  { name: 'assignee', label: 'Claimed by' },
  { name: 'overdue', label: 'Due', choices: ['overdue'], all: 'any time' },
];

const COLUMNS: readonly Column<Case>[] = [
  CASE_COLUMN,
  { head: 'Age', cell: ({ openedAt }) => <Time at={openedAt} isAge />, className: 'number' },
  {
    head: 'Due',
    cell: ({ dueAt, closedAt }) => (closedAt === null ? <Due at={dueAt} /> : <span className="muted">over</span>),
  },
  { head: 'Claimed by', cell: ({ assignee }) => assignee ?? <span className="muted">unclaimed</span> },
  ABOUT_COLUMN,
  { head: 'Reason', cell: ({ reason }) => spoken(reason), className: 'wide' },
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
