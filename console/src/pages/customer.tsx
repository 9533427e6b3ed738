/**
 * One customer: verification, limits, orders, operators' actions, and the possible ones. Personal data is read by an action with
 * a reason, which the audit records; only this page holds it, until the page is left.
 */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { ActionList } from '../actionlist.tsx';
import { CUSTOMER_ACTIONS } from '../actions.ts';
import { type Outcome, read } from '../api.ts';
import { ActionDialog } from '../form.tsx';
import { every } from '../live.ts';
import { Pending } from '../pending.tsx';
import { Closed } from '../personal.tsx';
import { useMay } from '../shell.tsx';
import { Fact, Facts, Failure, State, Time } from '../ui.tsx';
import { PersonalData } from './customer.data.tsx';
import { type Did, History, Newest, Used } from './customer.tables.tsx';

interface Customer {
  readonly id: string;
  readonly partnerId: string;
  readonly kind: string;
  readonly level: number;
  readonly previousLevel: number;
  readonly verification: string;
  readonly failedReason: string | null;
  readonly blocked: boolean;
  readonly country: string | null;
  readonly countryBy: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly loggedInAt: string | null;
  readonly clientCustomerId: string | null;
  readonly accounts: readonly {
    readonly id: string;
    readonly fiat: string;
    readonly hint: string;
    readonly holder: 'same' | 'other' | 'unknown' | null;
    readonly holderScore: string | null;
  }[];
  readonly erasedAt: string | null;
  readonly erasure: { readonly orderedAt: string; readonly backupsEndAt: string | null } | null;
}
type Chosen = keyof typeof CUSTOMER_ACTIONS;

const { block, unblock, hold, lift } = CUSTOMER_ACTIONS;

/** The newest of these actions that was done, as the audit has it. */
async function lastOf(customer: string, actions: readonly string[]): Promise<Did | undefined> {
  const pages = await Promise.all(
    actions.map((action) => read<{ audit: Did[] }>('/audit', { subject: `customer:${customer}`, action, limit: '20' })),
  );
  return pages
    .flatMap(({ audit }) => audit.find(({ outcome }) => outcome === 'done') ?? [])
    .toSorted((one, other) => (BigInt(one.id) < BigInt(other.id) ? 1 : -1))[0];
}

export function CustomerPage() {
  const { customer } = useParams({ from: '/customers/$customer' });
  const [chosen, setChosen] = useState<Chosen>();
  const [asked, setAsked] = useState<string>();
  const [personal, setPersonal] = useState<unknown>();
  const [questions, setQuestions] = useState<readonly Question[]>();
  const [blocking, setBlocking] = useState<Outcome>();
  const found = useQuery({
    queryKey: ['customer', customer],
    queryFn: () => read<Customer>(`/customers/${encodeURIComponent(customer)}`),
    refetchInterval: every(10_000),
  });
  const actions = useQuery({
    queryKey: ['customer', customer, 'actions'],
    queryFn: async () => ({
      block: await lastOf(customer, [block.name, unblock.name]),
      hold: await lastOf(customer, [hold.name, lift.name]),
    }),
    refetchInterval: every(30_000),
    enabled: found.data !== undefined,
  });
  const one = found.data;
  const error = found.error ?? actions.error;
  const onDone: Partial<Record<Chosen, (came: Outcome) => void>> = {
    personal: (came) => setPersonal((came as Outcome & { personal: unknown }).personal),
    answers: (came) => setQuestions((came as Outcome & { questions: Question[] }).questions),
    block: setBlocking,
    // The shown data is outdated: it is read again, with a reason.
    ...(questions === undefined ? {} : { ask: () => setQuestions(undefined), withdraw: () => setQuestions(undefined) }),
  };
  const done = chosen === undefined ? undefined : onDone[chosen];
  return (
    <>
      <div className="title">
        <h1>Customer {customer}</h1>
        {one !== undefined && (
          <div className="row">
            {one.blocked && <State state="blocked" tone="bad" />}
            {actions.data?.hold?.action === hold.name && <State state="legal hold" tone="warn" />}
            {one.erasedAt !== null && <State state="erased" />}
            <State state={one.verification} />
            <span className="muted">level {one.level}</span>
          </div>
        )}
      </div>
      {error !== null && <Failure error={error} />}
      {one?.blocked === true && <Blocked isRead={actions.data !== undefined} last={actions.data?.block} />}
      {blocking !== undefined && <JustBlocked came={blocking} />}
      <Pending isAbout={(subject) => subject === `customer:${customer}`} />
      {one !== undefined && (
        <div className="columns">
          <div>
            <Used customer={customer} />
            <Newest customer={customer} />
            <History customer={customer} />
            <Questions
              of={questions}
              onLook={() => setChosen('answers')}
              onWithdraw={(request) => {
                setAsked(request);
                setChosen('withdraw');
              }}
            />
          </div>
          <div>
            <Possible blocked={one.blocked} holds={holdsNow(actions)} choose={setChosen} />
            <Known of={one} isRead={actions.data !== undefined} hold={actions.data?.hold} />
            <Contact of={personal} onLook={() => setChosen('personal')} />
            <PersonalData customer={customer} erasure={one.erasure} />
          </div>
        </div>
      )}
      {chosen !== undefined && (
        <ActionDialog
          action={CUSTOMER_ACTIONS[chosen]}
          about={chosen === 'withdraw' ? `question ${asked}` : `customer ${customer}`}
          given={{ customer, ...(chosen === 'withdraw' && asked !== undefined ? { request: asked } : {}) }}
          {...(done === undefined
            ? {}
            : {
                onDone: (came: Outcome) => {
                  done(came);
                  setChosen(undefined);
                },
              })}
          onClose={() => setChosen(undefined)}
        />
      )}
    </>
  );
}

/** Which of the two is possible: none before the audit is read, and both if it cannot be. */
function holdsNow({ data, error }: { data: { hold: Did | undefined } | undefined; error: unknown }): readonly Chosen[] {
  if (data === undefined) return error === null ? [] : ['hold', 'lift'];
  return [data.hold?.action === hold.name ? 'lift' : 'hold'];
}

const Blocked = ({ isRead, last }: { isRead: boolean; last: Did | undefined }) => (
  <p className="note is-bad">
    <b>Blocked: no new orders, and payouts not yet submitted are held.</b>{' '}
    {last?.action === block.name ? (
      <>
        {last.operator} did it <Time at={last.at} />: {last.reason}
      </>
    ) : (
      isRead && 'Not by an action on this customer: a confirmed hit and an erasure block, too.'
    )}
  </p>
);

/** A block reports the debt, and payouts submitted before it: no read has either. */
const JustBlocked = ({ came }: { came: Outcome }) => {
  const { after, underWay } = came as Outcome & { after: { debts: unknown }; underWay: unknown };
  return (
    <section className="panel" aria-label="What the block found">
      <h2>What the block found</h2>
      <dl className="facts">
        <Fact name="Owes">
          <Facts of={after.debts} />
        </Fact>
        <Fact name="Under way">
          <Facts of={underWay} />
        </Fact>
      </dl>
      <p className="muted">Submitted payouts may still arrive. Held money does not leave.</p>
    </section>
  );
};

interface Question {
  readonly id: string;
  readonly state: string;
  readonly question: string;
  readonly answer: string | null;
  readonly askedAt: string;
  readonly dueAt: string;
  readonly endedAt: string | null;
}

function Questions(p: {
  of: readonly Question[] | undefined;
  onLook: () => void;
  onWithdraw: (request: string) => void;
}) {
  const may = useMay();
  const { answers, withdraw } = CUSTOMER_ACTIONS;
  if (p.of === undefined)
    return (
      <Closed
        title="Questions"
        action={answers}
        says="What operators asked about the customer, and what its partner answered."
        onLook={p.onLook}
      />
    );
  return (
    <section className="panel" aria-label="Questions">
      <h2>Questions</h2>
      {p.of.length === 0 && <span className="muted">No question was asked.</span>}
      {p.of.map((one) => (
        <article key={one.id} className="question">
          <div className="title">
            <State state={one.state} tone={one.state === 'open' ? 'warn' : 'plain'} />
            <span className="muted">
              asked <Time at={one.askedAt} />,{' '}
              {one.endedAt === null ? (
                <>
                  due <Time at={one.dueAt} />
                </>
              ) : (
                <>
                  {one.state} <Time at={one.endedAt} />
                </>
              )}
            </span>
          </div>
          <p className="long">
            <b>{one.question}</b>
          </p>
          {one.answer !== null && <p className="long">{one.answer}</p>}
          {one.state === 'open' && (
            <div className="row">
              <button type="button" disabled={!may(withdraw.right)} onClick={() => p.onWithdraw(one.id)}>
                {withdraw.label}
              </button>
            </div>
          )}
        </article>
      ))}
    </section>
  );
}

/** An existing hold can be lifted, and no second one is placed; the same for a block. */
function Possible(p: { blocked: boolean; holds: readonly Chosen[]; choose: (what: Chosen) => void }) {
  const names: readonly Chosen[] = [p.blocked ? 'unblock' : 'block', 'ask', ...p.holds];
  return (
    <section className="panel">
      <h2>What may be done</h2>
      <ActionList of={CUSTOMER_ACTIONS} names={names} grave="block" choose={p.choose} />
    </section>
  );
}

const none = <span className="muted">none</span>;

function Known({ of: one, isRead, hold: held }: { of: Customer; isRead: boolean; hold: Did | undefined }) {
  const { id: customer } = one;
  return (
    <section className="panel">
      <h2>Facts</h2>
      <dl className="facts">
        <Fact name="Partner">
          <Link to="/partners/$partner" params={{ partner: one.partnerId }}>
            {one.partnerId}
          </Link>
        </Fact>
        <Fact name="Its own id">{one.clientCustomerId ?? none}</Fact>
        <Fact name="Kind">{one.kind.toLowerCase()}</Fact>
        <Fact name="Level">
          {one.level} {one.previousLevel !== one.level && <span className="muted">before: {one.previousLevel}</span>}
        </Fact>
        {one.failedReason !== null && <Fact name="Failed">{one.failedReason}</Fact>}
        <Fact name="Country">
          {one.country ?? none}{' '}
          <span className="muted">{one.countryBy === null ? 'not known' : `by ${one.countryBy}`}</span>
        </Fact>
        <Fact name="Accounts">
          {one.accounts.length === 0 ? (
            none
          ) : (
            <ul className="plain">
              {one.accounts.map(({ id, fiat, hint, holder, holderScore }) => (
                <li key={id}>
                  {id} <span className="asset">{fiat}</span> <span className="muted">ends in {hint}</span>
                  {holder === 'other' && <span className="badge is-warn">holder has another name: {holderScore}</span>}
                  {holder === 'unknown' && (
                    <span className="muted"> its holder cannot be compared: no name was given</span>
                  )}
                </li>
              ))}
            </ul>
          )}
        </Fact>
        <Fact name="Legal hold">
          {held?.action === hold.name ? (
            <>
              {held.operator} <Time at={held.at} />: {held.reason}
            </>
          ) : isRead ? (
            none
          ) : (
            <span className="muted">not read</span>
          )}
        </Fact>
        <Fact name="Created">
          <Time at={one.createdAt} />
        </Fact>
        <Fact name="Logged in">
          <Time at={one.loggedInAt} />
        </Fact>
        {one.erasure !== null && (
          <Fact name="Erasure">
            ordered <Time at={one.erasure.orderedAt} />, done <Time at={one.erasedAt} />
          </Fact>
        )}
      </dl>
      <ul className="plain">
        <li>
          <Link to="/deposits" search={{ customer }}>
            Deposits
          </Link>
        </li>
        <li>
          <Link to="/payouts" search={{ customer }}>
            Payouts and refunds
          </Link>
        </li>
        <li>
          <Link to="/reviews/$customer" params={{ customer }}>
            What was supplied to be verified
          </Link>
        </li>
      </ul>
    </section>
  );
}

function Contact({ of: personal, onLook }: { of: unknown; onLook: () => void }) {
  if (personal === undefined) return <Closed title="Contact" action={CUSTOMER_ACTIONS.personal} onLook={onLook} />;
  return (
    <section className="panel" aria-label="Contact">
      <h2>Contact</h2>
      <Facts of={personal} />
    </section>
  );
}
