/** Changes of terms, fees, limits and policies: time, operator, reason, old and new value. */
import { Link } from '@tanstack/react-router';
import { within } from '../filters.tsx';
import { List } from '../list.tsx';
import { RowLink } from '../rowlink.tsx';
import { type Column, Fact, Facts, Time } from '../ui.tsx';

interface Change {
  readonly id: string;
  readonly at: string;
  readonly what: string;
  readonly marketId: string | null;
  readonly partnerId: string | null;
  readonly item: string;
  readonly by: string;
  readonly why: string;
  readonly changed: string;
  readonly before: unknown;
  readonly after: unknown;
}

const DAY_MS = 86_400_000;
/** The end of the time in which a change held: now. Of a change of today it is tomorrow, also by a clock that is slow. */
const sinceThen = (at: string): string => new Date(Math.max(Date.now(), Date.parse(at) + DAY_MS)).toISOString();

const COLUMNS: readonly Column<Change>[] = [
  { head: 'When', cell: ({ at }) => <Time at={at} /> },
  {
    head: 'What',
    cell: ({ id, what, item }) => (
      <RowLink row={id}>
        {what} {item.replaceAll('_', ' ')}
      </RowLink>
    ),
  },
  {
    head: 'Market',
    cell: ({ marketId }) =>
      marketId === null ? (
        <span className="muted">none</span>
      ) : (
        <Link to="/markets/$market" params={{ market: marketId }}>
          {marketId}
        </Link>
      ),
    className: 'number',
  },
  {
    head: 'Partner',
    cell: ({ partnerId }) =>
      partnerId === null ? (
        <span className="muted">all</span>
      ) : (
        <Link to="/partners/$partner" params={{ partner: partnerId }}>
          {partnerId}
        </Link>
      ),
    className: 'number',
  },
  { head: 'Change', cell: ({ changed }) => changed, className: 'wide' },
  { head: 'By', cell: ({ by }) => by, className: 'nowrap' },
  { head: 'Why', cell: ({ why }) => why, className: 'wide' },
];

export const Changes = () => (
  <List<Change>
    title="Changes of terms"
    says="Terms, fees, limits, caps and policies of markets and partners, the newest first. A change applies to quotes from then on; orders keep the terms that they began with."
    path="/changes"
    list="changes"
    cursor="below"
    filters={[
      { name: 'what', label: 'Of', choices: ['market', 'fee', 'limit', 'exposure', 'policy', 'partner'] },
      { name: 'market', label: 'Market' },
      { name: 'partner', label: 'Own terms of partner' },
      ...within('Changed'),
    ]}
    columns={COLUMNS}
    keyOf={({ id }) => id}
    empty="Nothing was changed."
    detail={({ id, what, marketId, item, by, at, why, before, after }) => (
      <>
        <h2>
          Change {id}: {what} {item.replaceAll('_', ' ')}
        </h2>
        <dl className="facts">
          <Fact name="By">
            {by}, <Time at={at} />
          </Fact>
          <Fact name="Why">{why}</Fact>
          <Fact name="Before">
            <Facts of={before} />
          </Fact>
          <Fact name="After">
            <Facts of={after} />
          </Fact>
        </dl>
        {what === 'fee' && marketId !== null && (
          <Link to="/reports/affected" search={{ change: id, market: marketId, from: at, until: sinceThen(at) }}>
            Orders that it affected
          </Link>
        )}
      </>
    )}
  />
);
