/** What books and outside do not agree on, and what our wallets sent that no row of ours explains. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { CORRECT, MOVEMENT_ACTIONS } from '../actions.money.ts';
import type { FormAction } from '../actions.ts';
import { read } from '../api.ts';
import { ActionDialog, type Typed } from '../form.tsx';
import { every } from '../live.ts';
import { Pending } from '../pending.tsx';
import { useMay } from '../shell.tsx';
import { Amount, type Column, Failure, Id, State, Table, Time } from '../ui.tsx';

interface Break {
  readonly id: string;
  readonly rail: string;
  readonly wallet: string;
  readonly asset: string;
  readonly kind: string;
  readonly outsideUnits: string;
  readonly ledgerUnits: string;
  readonly differenceUnits: string;
  readonly transit: string | null;
  readonly why: string | null;
  readonly foundAt: string;
}
interface Movement {
  readonly id: string;
  readonly rail: string;
  readonly wallet: string;
  readonly hash: string | null;
  readonly nonce: string | null;
  readonly state: string;
  readonly asset: string | null;
  readonly units: string | null;
  readonly recipient: string | null;
  readonly key: string | null;
}
interface Chosen {
  readonly action: FormAction;
  readonly about: string;
  readonly given: Typed;
}

const BREAKS: readonly Column<Break>[] = [
  { head: 'Break', cell: ({ id, kind }) => `${id}, ${kind.replaceAll('_', ' ')}`, className: 'nowrap' },
  { head: 'Wallet', cell: ({ rail, wallet }) => `${rail} ${wallet}`, className: 'nowrap' },
  {
    head: 'Books',
    cell: ({ ledgerUnits, asset }) => <Amount units={ledgerUnits} asset={asset} />,
    className: 'number',
  },
  {
    head: 'Outside',
    cell: ({ outsideUnits, asset }) => <Amount units={outsideUnits} asset={asset} />,
    className: 'number',
  },
  {
    head: 'Difference',
    cell: ({ differenceUnits, asset }) => <Amount units={differenceUnits} asset={asset} />,
    className: 'number',
  },
  {
    head: 'State',
    cell: ({ transit }) =>
      transit === null ? <State state="open" tone="bad" /> : <State state="in transit" tone="info" />,
  },
  { head: 'Found', cell: ({ foundAt }) => <Time at={foundAt} isAge /> },
  {
    head: 'Why',
    cell: ({ why, transit }) => transit ?? why ?? <span className="muted">unknown</span>,
    className: 'wide',
  },
];
const MOVEMENTS: readonly Column<Movement>[] = [
  { head: 'Movement', cell: ({ id }) => id },
  { head: 'State', cell: ({ state }) => <State state={state} /> },
  {
    head: 'Amount',
    cell: ({ units, asset }) =>
      asset === null ? <span className="muted">not read</span> : <Amount units={units} asset={asset} />,
    className: 'number',
  },
  { head: 'Wallet', cell: ({ rail, wallet }) => `${rail} ${wallet}`, className: 'nowrap' },
  {
    head: 'To',
    cell: ({ recipient }) => (recipient === null ? <span className="muted">none</span> : <Id text={recipient} />),
  },
  { head: 'Evidence', cell: ({ hash }) => (hash === null ? <span className="muted">none</span> : <Id text={hash} />) },
  { head: 'Known as', cell: ({ key }) => key ?? <span className="muted">nothing of ours</span> },
];
/** An operator has decided about it. */
const ENDED = ['matched', 'foreign'];

export function Breaks() {
  const may = useMay();
  const [chosen, setChosen] = useState<Chosen>();
  const breaks = useQuery({
    queryKey: ['breaks'],
    queryFn: () => read<{ breaks: Break[] }>('/breaks'),
    refetchInterval: every(10_000),
  });
  const movements = useQuery({
    queryKey: ['movements'],
    queryFn: () => read<{ movements: Movement[] }>('/movements'),
    refetchInterval: every(10_000),
  });
  const button = (action: FormAction, about: string, given: Typed) => (
    <button
      key={action.name}
      type="button"
      className={action.isGrave === true ? 'grave' : ''}
      aria-label={`${action.label}: ${about}`}
      disabled={!may(action.right)}
      onClick={() => setChosen({ action, about, given })}
    >
      {action.label}
    </button>
  );
  const error = breaks.error ?? movements.error;
  return (
    <>
      <h1>Breaks and movements</h1>
      <Pending isAbout={(subject) => /^(break|movement):/.test(subject)} />
      {error !== null && <Failure error={error} />}
      <h2>Breaks</h2>
      <p className="muted">
        Items on which the books differ from chain or bank. Items in transit resolve by themselves. Each correction
        needs two operators.
      </p>
      <Table
        label="Breaks"
        columns={[
          ...BREAKS,
          { head: 'Actions', cell: ({ id }) => button(CORRECT.ofBreak, `break ${id}`, { item: id }) },
        ]}
        rows={breaks.data?.breaks}
        keyOf={({ id }) => id}
        empty="Books and outside agree."
      />
      <h2>Movements</h2>
      <p className="muted">
        What our wallets sent and no row of ours explains: after a restore a payout made since, or theft.
      </p>
      <Table
        label="Movements"
        columns={[
          ...MOVEMENTS,
          {
            head: 'Actions',
            cell: ({ id, state }) =>
              !ENDED.includes(state) ? (
                <span className="row nowrap">
                  {Object.values(MOVEMENT_ACTIONS).map((action) => button(action, `movement ${id}`, { movement: id }))}
                </span>
              ) : (
                <span className="muted">decided</span>
              ),
          },
        ]}
        rows={movements.data?.movements}
        keyOf={({ id }) => id}
        empty="Every movement of our wallets is in the books."
      />
      {chosen !== undefined && <ActionDialog {...chosen} onClose={() => setChosen(undefined)} />}
    </>
  );
}
