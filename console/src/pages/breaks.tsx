/** What books and outside do not agree on, and what our wallets sent that no row of ours explains. */
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { CORRECT, MOVEMENT_ACTIONS } from '../actions.money.ts';
import type { FormAction } from '../actions.ts';
import { within } from '../filters.tsx';
import { ActionDialog, type Typed } from '../form.tsx';
import { List } from '../list.tsx';
import { Pending } from '../pending.tsx';
import { RowLink } from '../rowlink.tsx';
import { useMay } from '../shell.tsx';
import { Amount, type Column, Fact, Id, State, Time, type Tone } from '../ui.tsx';

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
  readonly key: string;
  readonly names: readonly string[];
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
  readonly foundAt: string;
}

/** `break_missing_outside` as people say it. */
const nameOf = (kind: string): string => kind.replace(/^break_/, '').replaceAll('_', ' ');
const MOVEMENT_TONES: Readonly<Record<string, Tone>> = { unread: 'warn', open: 'bad', foreign: 'warn' };

const BREAKS: readonly Column<Break>[] = [
  {
    head: 'Break',
    cell: ({ id, kind }) => <RowLink row={id}>{`${id}, ${nameOf(kind)}`}</RowLink>,
    className: 'nowrap',
  },
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
  { head: 'State', cell: ({ state }) => <State state={state} tone={MOVEMENT_TONES[state] ?? 'plain'} /> },
  { head: 'Found', cell: ({ foundAt }) => <Time at={foundAt} isAge /> },
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
/** Only of these an operator decides; the others have ended. */
const WAITING = ['unread', 'open'];
const KINDS = ['break_missing_in_ledger', 'break_missing_outside', 'break_amount', 'break_balance'];
const KIND_NAMES = Object.fromEntries(KINDS.map((kind) => [kind, nameOf(kind)]));
const MOVEMENT_STATES = [...WAITING, 'adopted', 'foreign', 'cancelled'];
const WHERE = [
  { name: 'rail', label: 'Rail', hint: 'evm.matic20' },
  { name: 'asset', label: 'Asset', hint: 'usdc.matic20' },
];

interface Chosen {
  readonly action: FormAction;
  readonly about: string;
  readonly given: Typed;
}

/** A column of buttons, and the form of the button that was pressed. */
function useChosen() {
  const may = useMay();
  const [chosen, setChosen] = useState<Chosen>();
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
  const dialog = chosen !== undefined && <ActionDialog {...chosen} onClose={() => setChosen(undefined)} />;
  return { button, dialog };
}

export function Breaks() {
  const { button, dialog } = useChosen();
  return (
    <>
      <List<Break>
        title="Breaks"
        says="Items on which the books differ from chain or bank now, oldest first. Items in transit resolve by themselves. Each correction of a break needs two operators."
        path="/breaks"
        list="breaks"
        cursor="after"
        filters={[
          { name: 'kind', label: 'Kind', choices: KINDS, names: KIND_NAMES },
          { name: 'state', label: 'State', choices: ['break', 'in_transit'], names: { break: 'open' } },
          ...WHERE,
          ...within('Found'),
        ]}
        columns={[
          ...BREAKS,
          {
            head: 'Actions',
            cell: ({ id, transit }) =>
              transit === null ? (
                button(CORRECT.ofBreak, `break ${id}`, { item: id })
              ) : (
                <span className="muted">none</span>
              ),
          },
        ]}
        keyOf={({ id }) => id}
        empty="Books and outside agree on everything that these filters show."
        buttons={
          <Link to="/breaks/movements" className="button">
            Movements
          </Link>
        }
        above={() => <Pending isAbout={(subject) => subject.startsWith('break:')} />}
        detail={(one) => (
          <>
            <h2>
              Break {one.id}: {nameOf(one.kind)}
            </h2>
            <dl className="facts">
              <Fact name="Why">{one.transit ?? one.why}</Fact>
              <Fact name="Wallet">
                {one.rail} {one.wallet}
              </Fact>
              <Fact name="Key">
                <Id text={one.key} />
              </Fact>
              <Fact name="Evidence">
                {one.names.map((name) => (
                  <div key={name}>
                    <Id text={name} />
                  </div>
                ))}
              </Fact>
              <Fact name="Found">
                <Time at={one.foundAt} />
              </Fact>
            </dl>
          </>
        )}
      />
      {dialog}
    </>
  );
}

export function Movements() {
  const { button, dialog } = useChosen();
  return (
    <>
      <List<Movement>
        title="Movements"
        says="Transactions of our wallets that no payout, refund or own transfer explains: after a restore a payout made since, or theft. Undecided ones come first, then the newest."
        path="/movements"
        list="movements"
        cursor="below"
        filters={[{ name: 'state', label: 'State', choices: MOVEMENT_STATES }, ...WHERE, ...within('Found')]}
        columns={[
          ...MOVEMENTS,
          {
            head: 'Actions',
            cell: ({ id, state }) =>
              WAITING.includes(state) ? (
                <span className="row nowrap">
                  {Object.values(MOVEMENT_ACTIONS).map((action) => button(action, `movement ${id}`, { movement: id }))}
                </span>
              ) : (
                <span className="muted">decided</span>
              ),
          },
        ]}
        keyOf={({ id }) => id}
        empty="No movement of our wallets matches these filters."
        buttons={
          <Link to="/breaks" className="button">
            Breaks
          </Link>
        }
        above={() => <Pending isAbout={(subject) => subject.startsWith('movement:')} />}
      />
      {dialog}
    </>
  );
}
