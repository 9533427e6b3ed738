/** Open cases in the order in which a person should take them, and the words that explain that order. */
import { counted, grouped } from '../format.ts';
import { List } from '../list.tsx';
import { Amount, type Column, Due, State, Time } from '../ui.tsx';
import { ABOUT_COLUMN, CASE_COLUMN } from './case.parts.tsx';

export interface UrgentCase {
  readonly id: string;
  readonly kind: string;
  readonly subject: string;
  readonly orderId: string | null;
  readonly assignee: string | null;
  readonly reason: string;
  readonly openedAt: string;
  readonly dueAt: string;
  readonly overdue: boolean;
  readonly asset: string | null;
  readonly units: string | null;
  readonly worth: string | null;
  /** The coin of the worth. */
  readonly unit: string | null;
}
export interface KindCount {
  readonly kind: string;
  readonly open: number;
  readonly overdue: number;
  readonly unclaimed: number;
  readonly oldestAt: string;
  readonly claimers: readonly string[];
}
export interface Urgent {
  readonly cases: readonly UrgentCase[];
  readonly unit: string | null;
  readonly total: number;
  readonly notShown: number;
  readonly kinds: readonly KindCount[];
}

/** Two places, so that the amounts of a column stand below each other. */
const inCents = (worth: string): string => {
  const [whole = '0', rest = ''] = worth.split('.');
  return `${whole}.${rest.padEnd(2, '0')}`;
};

export const URGENT: readonly Column<UrgentCase>[] = [
  {
    head: 'Due',
    cell: ({ dueAt, overdue }) => (
      <span className="nowrap">
        {overdue && (
          <>
            <State state="escalated" tone="bad" />{' '}
          </>
        )}
        <Due at={dueAt} />
      </span>
    ),
  },
  CASE_COLUMN,
  {
    head: 'At risk',
    cell: ({ units, asset, worth, unit }) =>
      units === null || asset === null ? (
        <span className="muted">no amount</span>
      ) : (
        <>
          <Amount units={units} asset={asset} />
          {asset !== unit && (
            <div className="muted nowrap">{worth === null ? 'no price' : `≈ ${grouped(inCents(worth))} ${unit}`}</div>
          )}
        </>
      ),
    className: 'number',
  },
  ABOUT_COLUMN,
  { head: 'Owner', cell: ({ assignee }) => assignee ?? <span className="muted">unclaimed</span> },
  { head: 'Open for', cell: ({ openedAt }) => <Time at={openedAt} isAge />, className: 'nowrap' },
];

/** The order, and what the list leaves out. */
export const Ordered = ({ of: { unit, total, notShown, cases } }: { of: Urgent }) => (
  <p className="muted">
    Overdue cases first, then those with the most money at risk
    {unit === null ? ' (no price is known now, so amounts are not compared)' : `, by its worth in ${unit}`}, then the
    oldest.{' '}
    {notShown > 0
      ? `The first ${cases.length} of ${counted(total, 'case')} that need a person; ${notShown} are not shown.`
      : total > 0 && `All ${counted(total, 'case')} that need a person.`}
  </p>
);

export const UrgentCases = () => (
  <List<UrgentCase>
    title="Most urgent cases"
    says="Open cases that need a person. The money at risk is the amount that the case names, or what its break differs by, or its deposit, or its order. An amount without a price comes after those with one, and a case about no money after both."
    path="/cases/urgent"
    list="cases"
    filters={[{ name: 'limit', label: 'Rows', choices: ['100', '200'], all: '50' }]}
    columns={[...URGENT, { head: 'Reason', cell: ({ reason }) => reason, className: 'wide' }]}
    above={(answer) => answer && <Ordered of={answer as unknown as Urgent} />}
    keyOf={({ id }) => id}
    empty="Nothing needs a person now."
  />
);
