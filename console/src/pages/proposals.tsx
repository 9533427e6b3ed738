/** Proposals: actions that wait for another operator, and the outcomes of others. */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { PROPOSAL_ACTIONS, PROPOSAL_STATES } from '../actions.ts';
import { type Proposal, read } from '../api.ts';
import { within } from '../filters.tsx';
import { ActionDialog } from '../form.tsx';
import { worded } from '../format.ts';
import { List } from '../list.tsx';
import { every } from '../live.ts';
import { taken } from '../rules.ts';
import { useSession } from '../shell.tsx';
import { type Column, Fact, Facts, Failure, State, Subject, Table, Time } from '../ui.tsx';

const FILTERS = [
  { name: 'state', label: 'State', choices: PROPOSAL_STATES },
  { name: 'action', label: 'Action', hint: 'order.release' },
  { name: 'operator', label: 'Proposed by' },
  ...within('Proposed'),
];

/** The first columns of every table of proposals. */
export const ACTION: Column<Proposal> = {
  head: 'Action',
  cell: ({ id, action }) => (
    <Link to="/proposals/$proposal" params={{ proposal: id }} data-row>
      {action}
    </Link>
  ),
};
/** How many of how many, and the roles for which it waits. */
export const AGREED: Column<Proposal> = {
  head: 'Agreed',
  cell: ({ agreed, people, awaits }) => (
    <span className="nowrap">
      {agreed.length} of {people}
      {awaits.length > 0 && <span className="muted">, waits for {awaits.join(', ')}</span>}
    </span>
  ),
};
const COLUMNS: readonly Column<Proposal>[] = [
  ACTION,
  { head: 'State', cell: ({ state }) => <State state={state} /> },
  { head: 'About', cell: ({ subject }) => <Subject text={subject} /> },
  { head: 'Reason', cell: ({ reason }) => reason, className: 'wide' },
  { head: 'Proposed by', cell: ({ proposer }) => proposer },
  AGREED,
  { head: 'Proposed', cell: ({ proposedAt }) => <Time at={proposedAt} /> },
  {
    head: 'Decided',
    cell: ({ decidedAt, decider, expiresAt, state }) =>
      state === 'open' ? (
        <span className="nowrap muted">
          until <Time at={expiresAt} />
        </span>
      ) : (
        <span className="nowrap">
          {decider} {decidedAt === null ? <span className="muted">no one</span> : <Time at={decidedAt} />}
        </span>
      ),
  },
];

export const Proposals = () => (
  <List<Proposal>
    title="Proposals"
    path="/proposals"
    list="proposals"
    cursor="below"
    filters={FILTERS}
    columns={COLUMNS}
    keyOf={({ id }) => id}
    empty="No proposal is like this."
  />
);

export function ProposalPage() {
  const { proposal: id } = useParams({ from: '/proposals/$proposal' });
  const { data: session } = useSession();
  const [chosen, setChosen] = useState<keyof typeof PROPOSAL_ACTIONS>();
  const found = useQuery({
    queryKey: ['proposal', id],
    queryFn: () => read<Proposal>(`/proposals/${id}`),
    refetchInterval: every(5_000),
  });
  const one = found.data;
  const isOwn = one !== undefined && one.proposer === session?.name;
  // With one operator, the proposer confirms after a delay.
  const mayConfirm = one !== undefined && !(isOwn && one.readyAt === null);
  return (
    <>
      <div className="title">
        <h1>{one === undefined ? `Proposal ${id}` : `${one.action}, proposal ${id}`}</h1>
        {one !== undefined && <State state={one.state} />}
      </div>
      {found.error !== null && <Failure error={found.error} />}
      {one !== undefined && (
        <div className="columns">
          <div>
            <section className="panel">
              <p>
                {one.proposer} proposed <b>{one.action}</b> of <Subject text={one.subject} />:
              </p>
              <p className="where">{one.reason}</p>
              <p>
                It takes {taken(one.people, one.roles)}. Agreed:{' '}
                {one.agreed.length === 0 ? one.proposer : one.agreed.join(', ')}.
              </p>
              {one.state === 'open' && (
                <>
                  {one.awaits.length > 0 && (
                    <p className="note">It waits for approval by {one.awaits.join(' and ')}: a rule names this role.</p>
                  )}
                  {isOwn && one.readyAt === null && (
                    <p className="note">It is your own proposal: another operator has to confirm it.</p>
                  )}
                  {one.readyAt !== null && (
                    <p className="note">
                      Its proposer may confirm it from <Time at={one.readyAt} />.
                    </p>
                  )}
                  <div className="row">
                    <button
                      type="button"
                      className="primary"
                      disabled={!mayConfirm}
                      data-key="y"
                      onClick={() => setChosen('confirm')}
                    >
                      Confirm
                    </button>
                    <button type="button" className="grave" data-key="d" onClick={() => setChosen('decline')}>
                      Decline
                    </button>
                  </div>
                </>
              )}
              {one.decidedAt !== null && (
                <p className="note">
                  {one.decider === null ? one.state : `${one.state} by ${one.decider}`} <Time at={one.decidedAt} />
                  {one.failedWhy !== null && `: ${one.failedWhy}`}
                </p>
              )}
            </section>
            <Compared proposal={one} />
          </div>
          <section className="panel">
            <h2>What is asked</h2>
            <Facts of={one.input} />
            <dl className="facts">
              <Fact name="Proposed">
                <Time at={one.proposedAt} />
              </Fact>
              <Fact name="Waits until">
                <Time at={one.expiresAt} />
              </Fact>
            </dl>
          </section>
        </div>
      )}
      {chosen !== undefined && (
        <ActionDialog
          action={PROPOSAL_ACTIONS[chosen]}
          about={`proposal ${id}`}
          given={{ proposal: id }}
          onClose={() => setChosen(undefined)}
        />
      )}
    </>
  );
}

interface SubjectNow {
  readonly seen: unknown;
  readonly now: unknown;
  readonly changed: readonly string[];
  readonly problem: string | null;
}
interface Line {
  readonly name: string;
  readonly seen: unknown;
  readonly now: unknown;
  readonly asked: unknown;
  readonly isChanged: boolean;
}

const factsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
/** Rows of a record are stored as text: shown as names and values. */
const opened = (value: unknown): unknown => {
  if (typeof value !== 'string' || !/^[{[]/.test(value)) return typeof value === 'boolean' ? String(value) : value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
};

const ISO = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z$/;
const Value = ({ of }: { of: unknown }) =>
  typeof of === 'string' && ISO.test(of) ? <Time at={of} /> : <Facts of={opened(of)} />;

function linesOf({ seen, now, changed }: SubjectNow, input: unknown): Line[] {
  const [was, is, asked] = [factsOf(seen), factsOf(now), factsOf(input)];
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].map((name) => ({
    ...{ name, seen: was[name], now: is[name], asked: asked[name], isChanged: changed.includes(name) },
  }));
}

const LINES: readonly Column<Line>[] = [
  {
    head: 'Field',
    cell: ({ name, isChanged }) => (
      <span className="nowrap">
        {isChanged ? <b>{worded(name)}</b> : worded(name)} {isChanged && <State state="changed" tone="warn" />}
      </span>
    ),
  },
  { head: 'When proposed', cell: ({ seen }) => <Value of={seen} /> },
  {
    head: 'Now',
    cell: ({ now, isChanged }) =>
      isChanged ? (
        <b>
          <Value of={now} />
        </b>
      ) : (
        <Value of={now} />
      ),
  },
  { head: 'Asked', cell: ({ asked }) => <Value of={asked} /> },
];

/** The subject when it was proposed beside what it is now, as the server compares them when it is confirmed. */
function Compared({ proposal }: { proposal: Proposal }) {
  const { id, state } = proposal;
  const found = useQuery({
    queryKey: ['proposal', id, 'subject', state],
    queryFn: () => read<SubjectNow>(`/proposals/${id}/subject`),
    refetchInterval: every(10_000),
  });
  const isOpen = state === 'open';
  const one = found.data;
  const lines = one === undefined ? undefined : linesOf(one, proposal.input);
  const isAsked = lines?.some(({ asked }) => asked !== undefined) === true;
  return (
    <section className="panel">
      <h2>The subject, then and now</h2>
      {found.error !== null && <Failure error={found.error} />}
      {one !== undefined && one.problem !== null && (
        <p className="note is-warn">
          {one.problem === 'not_comparable'
            ? 'What it is now cannot be compared: the server compares it when the file is sent again.'
            : `What it is now cannot be read: ${one.problem.replaceAll('_', ' ')}.`}
        </p>
      )}
      {one !== undefined && one.changed.length > 0 && isOpen && (
        <p className="note is-bad">
          It has changed since it was proposed. A confirmation ends the proposal as overtaken, and does nothing: decline
          it, and propose again if it is still wanted.
        </p>
      )}
      {one !== undefined && one.problem === null && one.changed.length === 0 && lines?.length !== 0 && (
        <p className="muted">Nothing has changed since it was proposed.</p>
      )}
      {one !== undefined && one.problem === null && !isOpen && one.changed.length > 0 && (
        <p className="muted">
          The proposal is {state}. The subject has changed since: by the proposal itself, or later.
        </p>
      )}
      {lines?.length === 0 ? (
        <p className="muted">It did not exist when it was proposed, or has no state of its own.</p>
      ) : (
        <Table
          label="The subject, then and now"
          columns={LINES.filter(
            ({ head }) => (head !== 'Asked' || isAsked) && (head !== 'Now' || one?.problem === null),
          )}
          rows={lines}
          keyOf={({ name }) => name}
          empty="None."
        />
      )}
    </section>
  );
}
