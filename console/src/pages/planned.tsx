/** Planned changes of terms: those that wait for their time, of all or of one subject, and how the others ended. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { MARKET_ACTIONS, PARTNER_ACTIONS, PLAN_WITHDRAW } from '../actions.trade.ts';
import { LIMIT_SET } from '../actions.ts';
import { read } from '../api.ts';
import { ActionDialog } from '../form.tsx';
import { dueIn, utc } from '../format.ts';
import { List } from '../list.tsx';
import { every } from '../live.ts';
import { type Answer, phrasesOf, QUESTIONS, type Question, TITLES } from '../policies.ts';
import { RowLink } from '../rowlink.tsx';
import { useMay } from '../shell.tsx';
import { type Column, Fact, Facts, Failure, State, Table, Time } from '../ui.tsx';

interface Plan {
  readonly id: string;
  readonly action: string;
  readonly subject: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly effectiveAt: string;
  readonly state: string;
  readonly proposedBy: string;
  readonly confirmedBy: readonly string[];
  readonly proposal: string | null;
  readonly reason: string;
  readonly plannedAt: string;
  readonly endedAt: string | null;
  readonly endedBy: string | null;
  readonly failedWhy: string | null;
}

const WORDS: Readonly<Record<string, string>> = {
  'fee.set': 'Fee',
  'market.set': 'Terms',
  'limit.set': 'Limit',
  'cap.set': 'Cap',
  'partner.set': 'Terms',
  'policy.set': 'Policy',
  'customer-limit.set': 'Limit of customers',
};
const FORMS = [...Object.values(MARKET_ACTIONS), PARTNER_ACTIONS.cap, PARTNER_ACTIONS.set, LIMIT_SET];
const isQuestion = (name: unknown): name is Question => QUESTIONS.some((one) => one === name);
/** Fields that say which term it is: they stand first, without their names. */
const WHICH = ['kind', 'question', 'per'];

/** What changes, in the words and the order of its form; without the subject, which stands beside it. */
function What({ plan: { action, input, subject } }: { plan: Plan }) {
  const [kind = ''] = subject.split(':');
  const fields = (FORMS.find(({ name }) => name === action)?.fields ?? []).filter(({ name }) => name !== kind);
  const said = (name: string): string => {
    const value = input[name];
    return typeof value === 'boolean'
      ? value
        ? 'yes'
        : 'no'
      : typeof value === 'string'
        ? value
        : JSON.stringify(value);
  };
  if (action === 'policy.set' && isQuestion(input.question))
    return (
      <>
        <b>Policy</b>: {TITLES[input.question]},{' '}
        {input.answer === 'none'
          ? 'no answer of its own'
          : phrasesOf(input.question, input.answer as Answer).join('; ')}
        {input.partner !== undefined && `, for partner ${said('partner')}`}
      </>
    );
  const given = fields.filter(({ name }) => input[name] !== undefined);
  const which = given.filter(({ name }) => WHICH.includes(name)).map(({ name }) => said(name));
  const parts = given.filter(({ name }) => !WHICH.includes(name)).map(({ name, label }) => `${label} ${said(name)}`);
  return (
    <>
      <b>{[WORDS[action] ?? action, ...which].join(' ')}</b>: {parts.join(', ')}
    </>
  );
}

function About({ subject }: { subject: string }) {
  const [kind, id = ''] = subject.split(':');
  if (kind === 'market')
    return (
      <Link to="/markets/$market" params={{ market: id }} className="nowrap">
        market {id}
      </Link>
    );
  if (kind === 'partner')
    return (
      <Link to="/partners/$partner" params={{ partner: id }} className="nowrap">
        partner {id}
      </Link>
    );
  return <Link to="/limits">{id}</Link>;
}

const confirmed = ({ confirmedBy }: Plan) =>
  confirmedBy.length === 0 ? <span className="muted">no one: one person is enough</span> : confirmedBy.join(', ');

const AT: Column<Plan> = {
  head: 'Takes effect',
  cell: ({ effectiveAt, state }) => (
    <span className="nowrap">
      <Time at={effectiveAt} />
      {state === 'planned' && <span className="muted"> {dueIn(effectiveAt)}</span>}
    </span>
  ),
};
const BY: readonly Column<Plan>[] = [
  { head: 'Proposed by', cell: ({ proposedBy }) => proposedBy, className: 'nowrap' },
  { head: 'Confirmed by', cell: confirmed, className: 'nowrap' },
];

/** A column with the button that withdraws, and its form. The form is not in the row: that goes away when it is done. */
function useWithdraw(): { column: Column<Plan>; dialog: ReactNode } {
  const may = useMay();
  const [plan, setPlan] = useState<Plan>();
  return {
    column: {
      head: 'Actions',
      cell: (one) =>
        one.state === 'planned' && (
          <button
            type="button"
            className="grave"
            aria-label={`Withdraw planned change ${one.id}`}
            disabled={!may(PLAN_WITHDRAW.right)}
            onClick={() => setPlan(one)}
          >
            {PLAN_WITHDRAW.label}
          </button>
        ),
    },
    dialog: plan !== undefined && (
      <ActionDialog
        action={PLAN_WITHDRAW}
        about={`planned change ${plan.id}`}
        given={{ plan: plan.id }}
        effect={() => (
          <p>
            <What plan={plan} />, planned for {utc(plan.effectiveAt)}, does not happen. To have it after all, plan it
            again.
          </p>
        )}
        onClose={() => setPlan(undefined)}
      />
    ),
  };
}

const COLUMNS: readonly Column<Plan>[] = [
  AT,
  {
    head: 'What',
    cell: (plan) => (
      <RowLink row={plan.id}>
        <What plan={plan} />
      </RowLink>
    ),
    className: 'wide',
  },
  { head: 'About', cell: ({ subject }) => <About subject={subject} /> },
  {
    head: 'State',
    cell: ({ state }) => <State state={state} {...(state === 'failed' ? { tone: 'bad' as const } : {})} />,
  },
  ...BY,
];

const STATES = ['done', 'withdrawn', 'failed'];

export function PlannedChanges() {
  const withdraw = useWithdraw();
  return (
    <>
      <List<Plan>
        title="Planned changes"
        says="Approved changes of terms that take effect automatically, in the order of their times. Until then they can be withdrawn. Earlier quotes keep their price."
        path="/planned"
        list="planned"
        cursor="after"
        filters={[
          { name: 'state', label: 'State', choices: STATES, all: 'waiting' },
          { name: 'subject', label: 'About', hint: 'market:3' },
        ]}
        columns={[...COLUMNS, withdraw.column]}
        keyOf={({ id }) => id}
        empty="No planned change matches these filters."
        detail={(plan) => (
          <>
            <h2>Planned change {plan.id}</h2>
            <dl className="facts">
              <Fact name="State">
                <State state={plan.state} />
              </Fact>
              <Fact name="Takes effect">
                <Time at={plan.effectiveAt} /> <span className="muted">{utc(plan.effectiveAt)}</span>
              </Fact>
              <Fact name="About">
                <About subject={plan.subject} />
              </Fact>
              <Fact name="What">
                <Facts of={plan.input} />
              </Fact>
              <Fact name="Reason">{plan.reason}</Fact>
              <Fact name="Proposed by">{plan.proposedBy}</Fact>
              <Fact name="Confirmed by">{confirmed(plan)}</Fact>
              <Fact name="Decided">
                <Time at={plan.plannedAt} />
              </Fact>
              {plan.proposal !== null && (
                <Fact name="Proposal">
                  <Link to="/proposals/$proposal" params={{ proposal: plan.proposal }}>
                    {plan.proposal}
                  </Link>
                </Fact>
              )}
              {plan.endedAt !== null && (
                <Fact name="Ended">
                  <Time at={plan.endedAt} />
                  {plan.endedBy !== null && ` by ${plan.endedBy}`}
                  {plan.failedWhy !== null && `: ${plan.failedWhy}`}
                </Fact>
              )}
            </dl>
          </>
        )}
      />
      {withdraw.dialog}
    </>
  );
}

const EVERY_MS = 10_000;

/**
 * What is planned for a subject, on its page; nothing when nothing is.
 *
 * @param action only changes by this action, for a page whose subject is more than one
 */
export function PlannedFor({ subject, action }: { subject?: string; action?: string }) {
  const withdraw = useWithdraw();
  const found = useQuery({
    queryKey: ['planned', subject],
    queryFn: () => read<{ planned: Plan[] }>('/planned', { subject, limit: '200' }),
    refetchInterval: every(EVERY_MS),
  });
  if (found.error !== null) return <Failure error={found.error} />;
  const plans = found.data?.planned.filter((plan) => action === undefined || plan.action === action) ?? [];
  if (plans.length === 0) return withdraw.dialog;
  return (
    <section>
      <h2>Planned</h2>
      <Table
        label="Planned"
        columns={[
          AT,
          { head: 'What', cell: (plan) => <What plan={plan} />, className: 'wide' },
          ...BY,
          withdraw.column,
        ]}
        rows={plans}
        keyOf={({ id }) => id}
        empty=""
      />
      <p>
        <Link to="/planned">All planned changes</Link>
      </p>
      {withdraw.dialog}
    </section>
  );
}
