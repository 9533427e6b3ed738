/**
 * One case: its meaning, the next steps, its assignee, and its actions.
 */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { CORRECT } from '../actions.money.ts';
import { CASE_ACTIONS } from '../actions.ts';
import { type Case, read } from '../api.ts';
import { ActionDialog } from '../form.tsx';
import { headed, spoken } from '../format.ts';
import { every } from '../live.ts';
import { placeOfCase } from '../other.ts';
import { OtherActions } from '../others.tsx';
import { Pending } from '../pending.tsx';
import { runbookOf } from '../runbooks.ts';
import { useMay, useSession } from '../shell.tsx';
import { Due, Fact, Facts, Failure, Id, OrderLink, State, Subject, Time } from '../ui.tsx';
import { Attachments } from './case.attachments.tsx';
import { Runbook } from './handbook.tsx';

const KEYED = [
  ['claim', 'c'],
  ['note', 'n'],
  ['close', 'x'],
  ['assign', undefined],
] as const;

// Long because it is one page with one state: its parts read the same answers.
export function CasePage() {
  const { case: id } = useParams({ from: '/cases/$case' });
  const may = useMay();
  const { data: session } = useSession();
  const [chosen, setChosen] = useState<keyof typeof CASE_ACTIONS>();
  const [isCorrecting, setCorrecting] = useState(false);
  const found = useQuery({
    queryKey: ['case', id],
    queryFn: () => read<Case>(`/cases/${id}`),
    refetchInterval: every(5_000),
  });
  const one = found.data;
  const isOpen = one !== undefined && one.closedAt === null;
  const isOthers = isOpen && one.assignee !== null && one.assignee !== session?.name;
  const other = one === undefined ? undefined : placeOfCase(one.kind, one.subject);
  const runbook = one === undefined ? undefined : runbookOf(one.kind, one.page);
  return (
    <>
      <div className="title">
        <h1>{one === undefined ? `Case ${id}` : `${headed(one.kind)}, case ${id}`}</h1>
        {one !== undefined && (
          <div className="row">
            {isOpen && (
              <span>
                due <Due at={one.dueAt} />
              </span>
            )}
            <State state={isOpen ? 'open' : 'closed'} tone={isOpen ? 'warn' : 'plain'} />
          </div>
        )}
      </div>
      <Pending isAbout={(subject) => subject === `case:${id}` || subject === one?.subject} />
      {found.error !== null && <Failure error={found.error} />}
      {isOthers && (
        <p className="note is-warn">
          <b>{one.assignee}</b> works on this case. You may add notes; to close it, take it over.
        </p>
      )}
      {one !== undefined && (
        <div className="columns">
          <div>
            <section className="panel">
              <h2>What has happened</h2>
              <p>{one.means}</p>
              <p>
                <b>{spoken(one.reason)}</b>
              </p>
              <h2>What to do</h2>
              <p>{one.remedy}</p>
              {one.kind === 'sanctions_hit' && <Link to="/screening">Hits that wait for a decision</Link>}
              {one.kind === 'address_risk_hit' && <Link to="/address-risk">Hits that wait for a decision</Link>}
              {isOpen && (
                <div className="row">
                  {KEYED.map(([name, key]) => (
                    <button
                      key={name}
                      type="button"
                      className={name === 'claim' && one.assignee === null ? 'primary' : ''}
                      disabled={
                        !may('cases') ||
                        (name === 'claim' && one.assignee === session?.name) ||
                        (name === 'close' && isOthers)
                      }
                      data-key={key}
                      onClick={() => setChosen(name)}
                    >
                      {name === 'claim' && isOthers ? 'Take over' : CASE_ACTIONS[name].label}{' '}
                      {key !== undefined && <kbd aria-hidden="true">{key}</kbd>}
                    </button>
                  ))}
                  <button type="button" disabled={!may('money') || isOthers} onClick={() => setCorrecting(true)}>
                    {CORRECT.ofCase.label}
                  </button>
                </div>
              )}
              {one.outcome !== null && (
                <p className="note">
                  Closed <Time at={one.closedAt} />: {one.outcome}
                </p>
              )}
            </section>
            <section className="panel">
              <h2>What was done</h2>
              {(one.actions ?? []).length === 0 && <span className="muted">Nothing yet.</span>}
              <ol className="timeline">
                {one.actions?.map((done, at) => (
                  <li key={`${done.at} ${String(at)}`}>
                    <Time at={done.at} />
                    <span className="muted">{done.by}</span>
                    <span className="what">
                      {done.what}: {done.note}
                    </span>
                  </li>
                ))}
              </ol>
            </section>
            {other !== undefined && (
              <OtherActions of={other.place} known={other.known} about={one.subject} title="Actions on its subject" />
            )}
            {other?.place !== 'deposit' && <OtherActions of="case" known={{ case: id }} about={`case ${id}`} />}
            <Attachments of={one} />
          </div>
          <div>
            <section className="panel">
              <h2>Facts</h2>
              <dl className="facts">
                <Fact name="About">
                  <Subject text={one.subject} />
                </Fact>
                {one.orderId !== null && (
                  <Fact name="Order">
                    <OrderLink id={one.orderId} />
                  </Fact>
                )}
                <Fact name="Claimed by">
                  {one.assignee === null ? (
                    <span className="muted">unclaimed</span>
                  ) : (
                    <Link to="/cases" search={{ assignee: one.assignee }}>
                      {one.assignee}
                    </Link>
                  )}
                </Fact>
                <Fact name="Acts next">{one.who ?? 'no person'}</Fact>
                {isOpen && (
                  <Fact name="Due">
                    <Due at={one.dueAt} />
                  </Fact>
                )}
                <Fact name="Opened">
                  <Time at={one.openedAt} />
                </Fact>
                <Fact name="Case">
                  <Id text={one.id} />
                </Fact>
              </dl>
              <h2>As the rule saw it</h2>
              <Facts of={one.facts} />
            </section>
            {runbook !== undefined && <Runbook section={runbook} />}
          </div>
        </div>
      )}
      {isCorrecting && (
        <ActionDialog
          action={CORRECT.ofCase}
          about={`case ${id}`}
          given={{ case: id }}
          onClose={() => setCorrecting(false)}
        />
      )}
      {chosen !== undefined && (
        <ActionDialog
          action={CASE_ACTIONS[chosen]}
          about={`case ${id}`}
          given={chosen === 'claim' ? { case: id, to: session?.name ?? '' } : { case: id }}
          {...(chosen === 'claim' ? { reason: 'I look after this' } : {})}
          onClose={() => setChosen(undefined)}
        />
      )}
    </>
  );
}
