/**
 * One payout or refund: its history from creation to its end, why it waits, and the evidence.
 */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { ActionList } from '../actionlist.tsx';
import { PAYOUT_ACTIONS } from '../actions.money.ts';
import { read } from '../api.ts';
import { ActionDialog } from '../form.tsx';
import { every } from '../live.ts';
import { Pending } from '../pending.tsx';
import { Amount, Fact, Failure, Id, OrderLink, State, Time } from '../ui.tsx';

interface Payout {
  readonly id: string;
  readonly purpose: string;
  readonly partnerId: string | null;
  readonly orderId: string | null;
  readonly refundId: string | null;
  readonly depositId: string | null;
  readonly attempt: number;
  readonly rail: string;
  readonly asset: string;
  readonly units: string;
  readonly paidUnits: string | null;
  readonly state: string;
  readonly address: string | null;
  readonly fiatAccountId: string | null;
  readonly submissions: number;
  readonly unknownSince: string | null;
  readonly waitsFor: string | null;
  readonly why: string | null;
  readonly reference: string | null;
  readonly createdAt: string;
  readonly submittedAt: string | null;
  readonly endedAt: string | null;
}

/** Where the money is by its state, and the next automatic step. */
const MEANS: Readonly<Record<string, string>> = {
  created: 'It is written and has not been submitted. The money is with us.',
  submitting: 'It is being submitted. Whether the rail has it is known when it answers.',
  submitted: 'The rail has taken it. It has not said that it is paid.',
  unknown: 'The answer of the rail was lost. It may be paid or not: the server asks again every few minutes.',
  settled: 'The rail has paid it, and the evidence is below.',
  returned: 'It was paid and came back. The money is with us again.',
  rejected: 'The rail would not pay it. The money is with us.',
};

// Long because it is one table of facts.
export function PayoutPage() {
  const { payout: id } = useParams({ from: '/payouts/$payout' });
  const [chosen, setChosen] = useState<keyof typeof PAYOUT_ACTIONS>();
  const found = useQuery({
    queryKey: ['payout', id],
    queryFn: () => read<Payout>(`/payouts/${encodeURIComponent(id)}`),
    refetchInterval: every(5_000),
  });
  const one = found.data;
  const isOpen = one !== undefined && one.endedAt === null;
  return (
    <>
      <div className="title">
        <h1>
          {one?.purpose === 'refund' ? 'Refund' : 'Payout'} {id}
        </h1>
        <div className="row">
          {one !== undefined && <State state={one.state} />}
          <Id text={id}>id</Id>
        </div>
      </div>
      <Pending isAbout={(subject) => subject === `payout:${id}`} />
      {found.error !== null && <Failure error={found.error} />}
      {one !== undefined && (
        <div className="columns">
          <div>
            <section className="panel" aria-label="Where the money is">
              <p className="where">
                <Amount units={one.units} asset={one.asset} />
              </p>
              <p>{MEANS[one.state] ?? one.state.replaceAll('_', ' ')}</p>
              {one.waitsFor !== null && (
                <p className="note is-warn">
                  It waits: <b>{one.waitsFor}</b>
                </p>
              )}
              {one.why !== null && <p className="note is-bad">{one.why.replaceAll('_', ' ')}</p>}
              {one.paidUnits !== null && one.paidUnits !== one.units && (
                <p className="note is-warn">
                  Paid with another amount: <Amount units={one.paidUnits} asset={one.asset} />
                </p>
              )}
            </section>
            <section className="panel">
              <h2>Its way</h2>
              <ol className="timeline is-brief">
                {(
                  [
                    ['created', one.createdAt],
                    ['submitted', one.submittedAt],
                    ['unknown', one.unknownSince],
                    [one.state, one.endedAt],
                  ] as const
                )
                  .filter(([, at], index) => at !== null || index === 1)
                  .map(([what, at]) => (
                    <li key={what}>
                      <Time at={at} />
                      <span className="what">
                        {what.replaceAll('_', ' ')}
                        {what === 'submitted' && one.submissions > 1 && `, ${one.submissions} times under one key`}
                      </span>
                    </li>
                  ))}
              </ol>
            </section>
            <section className="panel">
              <h2>What may be done</h2>
              {isOpen ? (
                <ActionList
                  of={PAYOUT_ACTIONS}
                  names={['settleBy', 'neverPaid']}
                  grave="neverPaid"
                  choose={setChosen}
                />
              ) : (
                <p className="muted">
                  Nothing more with this {one.purpose === 'refund' ? 'refund' : 'payout'}: it has ended. What is left to
                  do is{' '}
                  {one.orderId === null ? (
                    'on the page of its deposit.'
                  ) : (
                    <>
                      on the page of order <OrderLink id={one.orderId} />.
                    </>
                  )}
                </p>
              )}
            </section>
          </div>
          <section className="panel">
            <h2>Facts</h2>
            <dl className="facts">
              <Fact name="Order">
                {one.orderId === null ? <span className="muted">none</span> : <OrderLink id={one.orderId} />}
              </Fact>
              <Fact name="Attempt">{one.attempt}</Fact>
              {one.refundId !== null && <Fact name="Refund">{one.refundId}</Fact>}
              {one.depositId !== null && (
                <Fact name="Deposit">
                  <Link to="/deposits/$deposit" params={{ deposit: one.depositId }}>
                    {one.depositId}
                  </Link>
                </Fact>
              )}
              {one.partnerId !== null && (
                <Fact name="Partner">
                  <Link to="/partners/$partner" params={{ partner: one.partnerId }}>
                    {one.partnerId}
                  </Link>
                </Fact>
              )}
              <Fact name="Rail">{one.rail}</Fact>
              <Fact name="Goes to">
                {one.address === null ? `bank account ${one.fiatAccountId ?? ''}` : <Id text={one.address} />}
              </Fact>
              <Fact name="Evidence">
                {one.reference === null || one.reference === '' ? (
                  <span className="muted">none yet</span>
                ) : (
                  <Id text={one.reference} />
                )}
              </Fact>
            </dl>
          </section>
        </div>
      )}
      {chosen !== undefined && (
        <ActionDialog
          action={PAYOUT_ACTIONS[chosen]}
          about={id}
          given={{ payout: id }}
          onClose={() => setChosen(undefined)}
        />
      )}
    </>
  );
}
