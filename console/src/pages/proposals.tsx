/** Proposals: actions that wait for another operator, and the outcomes of others. */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { PROPOSAL_ACTIONS, PROPOSAL_STATES } from '../actions.ts';
import { type Proposal, read } from '../api.ts';
import { within } from '../filters.tsx';
import { ActionDialog } from '../form.tsx';
import { List } from '../list.tsx';
import { every } from '../live.ts';
import { useSession } from '../shell.tsx';
import { type Column, Fact, Facts, Failure, State, Subject, Time } from '../ui.tsx';

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
const COLUMNS: readonly Column<Proposal>[] = [
  ACTION,
  { head: 'State', cell: ({ state }) => <State state={state} /> },
  { head: 'About', cell: ({ subject }) => <Subject text={subject} /> },
  { head: 'Reason', cell: ({ reason }) => reason, className: 'wide' },
  { head: 'Proposed by', cell: ({ proposer }) => proposer },
  { head: 'Agreed', cell: ({ agreed, people }) => `${agreed.length} of ${people}`, className: 'nowrap' },
  { head: 'Proposed', cell: ({ proposed_at }) => <Time at={proposed_at} /> },
  {
    head: 'Decided',
    cell: ({ decided_at, decider, expires_at, state }) =>
      state === 'open' ? (
        <span className="nowrap muted">
          until <Time at={expires_at} />
        </span>
      ) : (
        <span className="nowrap">
          {decider} {decided_at === null ? <span className="muted">nobody</span> : <Time at={decided_at} />}
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
  const mayConfirm = one !== undefined && !(isOwn && one.ready_at === null);
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
                It takes {one.people} people. Agreed: {one.agreed.length === 0 ? one.proposer : one.agreed.join(', ')}.
              </p>
              {one.state === 'open' && (
                <>
                  {isOwn && one.ready_at === null && (
                    <p className="note">It is your own proposal: another operator has to confirm it.</p>
                  )}
                  {one.ready_at !== null && (
                    <p className="note">
                      Its proposer may confirm it from <Time at={one.ready_at} />.
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
              {one.decided_at !== null && (
                <p className="note">
                  {one.decider === null ? one.state : `${one.state} by ${one.decider}`} <Time at={one.decided_at} />
                  {one.failed_why !== null && `: ${one.failed_why}`}
                </p>
              )}
            </section>
            <section className="panel">
              <h2>The subject, as it was when proposed</h2>
              <Facts of={one.seen} />
            </section>
          </div>
          <section className="panel">
            <h2>What is asked</h2>
            <Facts of={one.input} />
            <dl className="facts">
              <Fact name="Proposed">
                <Time at={one.proposed_at} />
              </Fact>
              <Fact name="Waits until">
                <Time at={one.expires_at} />
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
