/** Deposits of all rails, their money in suspense, and one deposit. */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { DEPOSIT_ACTIONS, DEPOSIT_STATES, type FormAction, SUSPENSE_STATES } from '../actions.ts';
import { read } from '../api.ts';
import { WHOSE, within } from '../filters.tsx';
import { ActionDialog } from '../form.tsx';
import { counted } from '../format.ts';
import { List } from '../list.tsx';
import { every } from '../live.ts';
import { OtherActions } from '../others.tsx';
import { Pending } from '../pending.tsx';
import { useMay } from '../shell.tsx';
import { Amount, type Column, Fact, Facts, Failure, Id, OrderLink, State, Time } from '../ui.tsx';

interface DepositRow {
  readonly id: string;
  readonly seenAt: string;
  readonly partnerId: string | null;
  readonly customerId: string | null;
  readonly orderId: string | null;
  readonly rail: string;
  readonly asset: string;
  readonly units: string;
  readonly state: string;
  readonly why: string | null;
  readonly late: boolean;
  readonly reference: string;
}

export const DepositLink = ({ id, isRow = true }: { id: string; isRow?: boolean }) => (
  <Link to="/deposits/$deposit" params={{ deposit: id }} className="mono" {...(isRow ? { 'data-row': true } : {})}>
    {id}
  </Link>
);
const OrderOf = ({ id }: { id: string | null }) =>
  id === null ? <span className="muted">none</span> : <OrderLink id={id} />;

const DEPOSITS: readonly Column<DepositRow>[] = [
  { head: 'Deposit', cell: ({ id }) => <DepositLink id={id} /> },
  { head: 'State', cell: ({ state }) => <State state={state} /> },
  { head: 'Seen', cell: ({ seenAt }) => <Time at={seenAt} /> },
  { head: 'Amount', cell: ({ units, asset }) => <Amount units={units} asset={asset} />, className: 'number' },
  { head: 'Rail', cell: ({ rail }) => rail, className: 'nowrap' },
  { head: 'Order', cell: ({ orderId }) => <OrderOf id={orderId} /> },
  {
    head: 'Why',
    cell: ({ why, late }) => why?.replaceAll('_', ' ') ?? (late ? 'late' : <span className="muted">as expected</span>),
  },
  { head: 'Partner', cell: ({ partnerId }) => partnerId, className: 'number' },
  {
    head: 'Evidence',
    cell: ({ reference }) => (reference === '' ? <span className="muted">none</span> : <Id text={reference} />),
  },
];

export const Deposits = () => (
  <List<DepositRow>
    title="Deposits"
    path="/deposits"
    list="deposits"
    cursor="below"
    filters={[{ name: 'state', label: 'State', choices: DEPOSIT_STATES }, ...WHOSE, ...within('Seen')]}
    columns={DEPOSITS}
    keyOf={({ id }) => id}
    empty="No deposit matches these filters."
  />
);

interface SuspenseRow {
  readonly deposit: string;
  readonly seenAt: string;
  readonly days: number;
  readonly waitsFor: string;
  readonly until: string;
  readonly partnerId: string | null;
  readonly orderId: string | null;
  readonly rail: string;
  readonly asset: string;
  readonly freeUnits: string;
  readonly underWayUnits: string;
  readonly why: string | null;
  readonly dust: boolean;
}

/** Money that waits for a day is marked, and for a week more strongly. */
const ageTone = (days: number) => (days >= 7 ? 'bad' : days >= 1 ? 'warn' : 'plain');

const SUSPENSE: readonly Column<SuspenseRow>[] = [
  { head: 'Deposit', cell: ({ deposit }) => <DepositLink id={deposit} /> },
  {
    head: 'Age',
    cell: ({ days }) => <State state={days === 0 ? 'today' : counted(days, 'day')} tone={ageTone(days)} />,
  },
  { head: 'Waits for', cell: ({ waitsFor }) => <b>{waitsFor}</b> },
  { head: 'Until', cell: ({ until }) => until, className: 'wide' },
  { head: 'Free', cell: ({ freeUnits, asset }) => <Amount units={freeUnits} asset={asset} />, className: 'number' },
  {
    head: 'On its way back',
    cell: ({ underWayUnits, asset }) => <Amount units={underWayUnits} asset={asset} />,
    className: 'number',
  },
  { head: 'Why', cell: ({ why, dust }) => (dust ? 'dust' : why?.replaceAll('_', ' ')) },
  { head: 'Order', cell: ({ orderId }) => <OrderOf id={orderId} /> },
  { head: 'Partner', cell: ({ partnerId }) => partnerId, className: 'number' },
  { head: 'Seen', cell: ({ seenAt }) => <Time at={seenAt} /> },
];

const AGES = ['today', '1 to 6 days', '7 to 29 days', '30 days and more'] as const;
const bandOf = (days: number) => AGES[days < 1 ? 0 : days < 7 ? 1 : days < 30 ? 2 : 3];

/** How many of the rows that are shown are how old. */
function Ageing({ rows }: { rows: readonly SuspenseRow[] | undefined }) {
  const counts = AGES.map((band) => [band, rows?.filter(({ days }) => bandOf(days) === band).length] as const);
  return (
    <div className="tiles" aria-label="Ages of the rows below" role="group">
      {counts.map(([band, count], at) => (
        <div key={band} className={`tile is-${count === 0 || at === 0 ? 'plain' : at === 1 ? 'warn' : 'bad'}`}>
          <b>{count ?? '–'}</b>
          <span>{band}</span>
        </div>
      ))}
    </div>
  );
}

export const Suspense = () => (
  <>
    <List<SuspenseRow>
      title="Suspense"
      says="Money that no order has used, the oldest first, with its age and who has to act."
      path="/suspense"
      list="suspense"
      cursor="after"
      filters={[{ name: 'state', label: 'State', choices: SUSPENSE_STATES }, ...WHOSE, ...within('Seen')]}
      columns={SUSPENSE}
      keyOf={({ deposit }) => deposit}
      empty="No deposit in suspense matches these filters."
      above={(answer) => <Ageing rows={answer?.suspense as readonly SuspenseRow[] | undefined} />}
    />
    <OtherActions of="unclaimed" known={{}} title="Dust and dormant money" />
  </>
);

interface Deposit extends DepositRow {
  readonly externalId: string;
  readonly target: string;
  readonly confirmedAt: string | null;
  readonly ageDays: number;
  readonly heldBy: string | null;
  readonly refunds: readonly unknown[];
  readonly returnLinks: readonly unknown[];
}

export function DepositPage() {
  const { deposit } = useParams({ from: '/deposits/$deposit' });
  const may = useMay();
  const [chosen, setChosen] = useState<FormAction>();
  const found = useQuery({
    queryKey: ['deposit', deposit],
    queryFn: () => read<Deposit>(`/deposits/${deposit}`),
    refetchInterval: every(5_000),
  });
  const one = found.data;
  return (
    <>
      <div className="title">
        <h1>Deposit {deposit}</h1>
        {one !== undefined && <State state={one.state} />}
      </div>
      <Pending isAbout={(subject) => subject === `deposit:${deposit}`} />
      {found.error !== null && <Failure error={found.error} />}
      {one !== undefined && (
        <div className="columns">
          <div>
            <section className="panel">
              <h2>What came</h2>
              <dl className="facts">
                <Fact name="Amount">
                  <Amount units={one.units} asset={one.asset} />
                </Fact>
                <Fact name="Rail">{one.rail}</Fact>
                <Fact name="Evidence">
                  {one.reference === '' ? <span className="muted">none</span> : <Id text={one.reference} />}
                </Fact>
                <Fact name="Came to">
                  {one.target === '' ? <span className="muted">no name of ours</span> : <Id text={one.target} />}
                </Fact>
                <Fact name="Order">
                  <OrderOf id={one.orderId} />
                </Fact>
                <Fact name="Partner">{one.partnerId ?? <span className="muted">none</span>}</Fact>
                <Fact name="Why">{one.why?.replaceAll('_', ' ') ?? <span className="muted">as expected</span>}</Fact>
                <Fact name="Seen">
                  <Time at={one.seenAt} />{' '}
                  <span className="muted">{one.ageDays === 0 ? 'today' : `${counted(one.ageDays, 'day')} ago`}</span>
                </Fact>
                <Fact name="Confirmed">
                  <Time at={one.confirmedAt} />
                </Fact>
                <Fact name="Operator’s hold">
                  {one.heldBy === null ? <span className="muted">none</span> : `by ${one.heldBy}`}
                </Fact>
              </dl>
            </section>
            <section className="panel">
              <h2>What may be done</h2>
              <div className="actions">
                {DEPOSIT_ACTIONS.map((action) => (
                  <div key={action.name}>
                    <button type="button" disabled={!may(action.right)} onClick={() => setChosen(action)}>
                      {action.label}
                    </button>
                    <span className="muted">{action.says}</span>
                  </div>
                ))}
              </div>
            </section>
            <OtherActions of="deposit" known={{ deposit }} about={`deposit ${deposit}`} />
          </div>
          <section className="panel">
            <h2>Refunds</h2>
            <Facts of={one.refunds} />
            <h2>Links to return it</h2>
            <Facts of={one.returnLinks} />
          </section>
        </div>
      )}
      {chosen !== undefined && (
        <ActionDialog
          action={chosen}
          about={`deposit ${deposit}`}
          given={{ deposit }}
          onClose={() => setChosen(undefined)}
        />
      )}
    </>
  );
}
