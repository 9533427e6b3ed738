/**
 * Reviews of customers: the queue, and one of them with its answers and files. Personal data is read by an action with a reason,
 * which the audit records; only this page holds it, until the page is left.
 */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { AGAIN_REASONS, CASE_ACTIONS, REVIEW_ACTIONS, REVIEW_DECIDE, REVIEW_OUTCOMES } from '../actions.ts';
import { type Case, type Outcome, read, send } from '../api.ts';
import { Document } from '../document.tsx';
import { ActionDialog, Came } from '../form.tsx';
import { worded } from '../format.ts';
import { List } from '../list.tsx';
import { every } from '../live.ts';
import { Closed } from '../personal.tsx';
import { useMay, useSession } from '../shell.tsx';
import { type Column, Fact, Failure, State, Time } from '../ui.tsx';

const KIND = 'verification_review';
const customerOf = ({ subject }: Case) => subject.replace(/^customer:/, '');

const QUEUE: readonly Column<Case>[] = [
  {
    head: 'Customer',
    cell: (one) => (
      <Link to="/reviews/$customer" params={{ customer: customerOf(one) }} className="mono" data-row>
        {customerOf(one)}
      </Link>
    ),
  },
  { head: 'Waits', cell: ({ openedAt }) => <Time at={openedAt} isAge />, className: 'number' },
  { head: 'Claimed by', cell: ({ assignee }) => assignee ?? <span className="muted">unclaimed</span> },
  { head: 'Reason', cell: ({ reason }) => reason, className: 'wide' },
  {
    head: 'Case',
    cell: ({ id }) => (
      <Link to="/cases/$case" params={{ case: id }}>
        {id}
      </Link>
    ),
  },
];

export const Reviews = () => (
  <List<Case>
    title="Reviews"
    says="Customers whose details a person verifies, the longest waiting first."
    path="/cases"
    list="cases"
    cursor="after"
    filters={[{ name: 'assignee', label: 'Claimed by' }]}
    toQuery={(values) => ({ ...values, kind: KIND })}
    columns={QUEUE}
    keyOf={({ id }) => id}
    empty="No review is waiting."
  />
);

interface Customer {
  readonly id: string;
  readonly partnerId: string;
  readonly kind: string;
  readonly level: number;
  readonly verification: string;
  readonly blocked: boolean;
  readonly country: string | null;
  readonly createdAt: string;
}
interface Supplied {
  readonly version: number | null;
  readonly outcome: string | null;
  /** Null if nothing waits for a decision. */
  readonly requestedLevel: number | null;
  readonly details: Readonly<Record<string, unknown>>;
  /** Read from the document by a verifier: for these details, and for the last ones that were verified. */
  readonly readNames: Readonly<Record<string, unknown>> | null;
  readonly verifiedNames: Readonly<Record<string, unknown>> | null;
  readonly submission: {
    readonly id: string;
    readonly state: string;
    readonly reasons: Readonly<Record<string, string>>;
    readonly files: readonly StoredFile[];
  } | null;
}
interface StoredFile {
  readonly id: string;
  readonly slot: string;
  readonly type: string;
  readonly bytes: number;
}

/** Answers of groups have names like `address.city`, as in the form. */
function answers(details: Readonly<Record<string, unknown>>, before = ''): [string, string][] {
  return Object.entries(details).flatMap(([name, value]): [string, string][] =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? answers(value as Record<string, unknown>, `${before}${name}.`)
      : [[`${before}${name}`, Array.isArray(value) ? value.join(', ') : String(value ?? '')]],
  );
}
const LEVELS = [1, 2, 3, 4, 5];
const KNOWN_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

export function ReviewPage() {
  const { customer } = useParams({ from: '/reviews/$customer' });
  const may = useMay();
  const { data: session } = useSession();
  const [supplied, setSupplied] = useState<Supplied>();
  const [isOpening, setOpening] = useState(false);
  const [isClaiming, setClaiming] = useState(false);
  const found = useQuery({
    queryKey: ['customer', customer],
    queryFn: () => read<Customer>(`/customers/${customer}`),
    refetchInterval: every(10_000),
  });
  const cases = useQuery({
    queryKey: ['cases', 'review', customer],
    queryFn: () => read<{ cases: Case[] }>('/cases', { kind: KIND, limit: '200' }),
    refetchInterval: every(10_000),
  });
  const one = found.data;
  const waiting = cases.data?.cases.find((each) => customerOf(each) === customer);
  const error = found.error ?? cases.error;
  return (
    <>
      <div className="title">
        <h1>Review of {customer}</h1>
        {one !== undefined && <State state={one.verification} />}
      </div>
      {error !== null && <Failure error={error} />}
      {one !== undefined && (
        <div className="columns">
          <div>
            {supplied === undefined ? (
              <Closed title="What was supplied" action={REVIEW_ACTIONS.open} isFirst onLook={() => setOpening(true)} />
            ) : (
              <Submission customer={customer} of={supplied} mayDecide={may(REVIEW_DECIDE.right)} />
            )}
          </div>
          <section className="panel">
            <h2>Customer</h2>
            <dl className="facts">
              <Fact name="Partner">
                <Link to="/partners/$partner" params={{ partner: one.partnerId }}>
                  {one.partnerId}
                </Link>
              </Fact>
              <Fact name="Kind">{one.kind.toLowerCase()}</Fact>
              <Fact name="Level">{one.level}</Fact>
              <Fact name="Country">{one.country ?? <span className="muted">none</span>}</Fact>
              <Fact name="Blocked">{one.blocked ? <State state="blocked" tone="bad" /> : 'no'}</Fact>
              <Fact name="Since">
                <Time at={one.createdAt} />
              </Fact>
              {waiting !== undefined && (
                <>
                  <Fact name="Case">
                    <Link to="/cases/$case" params={{ case: waiting.id }}>
                      {waiting.id}
                    </Link>
                  </Fact>
                  <Fact name="Claimed by">{waiting.assignee ?? <span className="muted">unclaimed</span>}</Fact>
                </>
              )}
            </dl>
            {waiting !== undefined && waiting.assignee !== session?.name && (
              <div className="row">
                <button type="button" disabled={!may('cases')} data-key="c" onClick={() => setClaiming(true)}>
                  Claim <kbd aria-hidden="true">c</kbd>
                </button>
              </div>
            )}
            <Link to="/customers/$customer" params={{ customer }}>
              Page of this customer
            </Link>
          </section>
        </div>
      )}
      {isClaiming && waiting !== undefined && (
        <ActionDialog
          action={CASE_ACTIONS.claim}
          about={`case ${waiting.id}`}
          given={{ case: waiting.id, to: session?.name ?? '' }}
          reason="I look after this"
          onClose={() => setClaiming(false)}
        />
      )}
      {isOpening && (
        <ActionDialog
          action={REVIEW_ACTIONS.open}
          about={`customer ${customer}`}
          given={{ customer }}
          onDone={(came) => {
            setSupplied((came as Outcome & { review: Supplied }).review);
            setOpening(false);
          }}
          onClose={() => setOpening(false)}
        />
      )}
    </>
  );
}

// Long because `Submission` is one form with one state: its parts read the same answers.
function Submission({ customer, of, mayDecide }: { customer: string; of: Supplied; mayDecide: boolean }) {
  const client = useQueryClient();
  const [asked, setAsked] = useState<StoredFile>();
  const [shown, setShown] = useState<Readonly<Record<string, Blob>>>({});
  const [again, setAgain] = useState<Readonly<Record<string, string>>>({});
  const [outcome, setOutcome] = useState<string>('verified');
  const [came, setCame] = useState<Outcome>();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const told = of.submission?.reasons ?? {};
  const files = of.submission?.files ?? [];
  const items = Object.entries(again).filter(([, why]) => why !== '');
  const why = (name: string) =>
    outcome === 'failed' && mayDecide && KNOWN_NAME.test(name) ? (
      <select
        aria-label={`Why ${name} must be given again`}
        value={again[name] ?? ''}
        onChange={({ currentTarget: { value } }) => setAgain((was) => ({ ...was, [name]: value }))}
      >
        <option value="">is good</option>
        {Object.entries(AGAIN_REASONS).map(([code, says]) => (
          <option key={code} value={code}>
            {says}
          </option>
        ))}
      </select>
    ) : (
      told[name] !== undefined && <State state={told[name]} tone="warn" />
    );
  const decide = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isBusy) return;
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setError(undefined);
    try {
      const path = REVIEW_DECIDE.path.replace(':customer', encodeURIComponent(customer));
      setCame(
        await send<Outcome>('POST', path, {
          reason: String(form.get('reason')).trim(),
          version: of.version,
          outcome,
          ...(outcome === 'verified' ? { level: Number(form.get('level')) } : {}),
          ...(outcome === 'failed' && items.length > 0
            ? { again: items.map(([name, code]) => `${name}:${code}`) }
            : {}),
        }),
      );
    } catch (caught) {
      setError(caught);
    }
    setBusy(false);
    await client.invalidateQueries();
  };
  return (
    <>
      <section className="panel">
        <div className="title">
          <h2>Answers</h2>
          {of.submission !== null && <State state={of.submission.state} tone="info" />}
        </div>
        <dl className="facts answers">
          {answers(of.details).map(([name, value]) => (
            <Fact key={name} name={worded(name)}>
              <span className="long">{value}</span>
              {why(name)}
            </Fact>
          ))}
        </dl>
      </section>
      {([of.readNames, of.verifiedNames] as const).map(
        (names, at) =>
          names !== null && (
            <section className="panel" key={at === 0 ? 'read' : 'verified'}>
              <h2>{at === 0 ? 'Names on the document' : 'Names verified before'}</h2>
              <dl className="facts answers">
                {answers(names).map(([name, value]) => (
                  <Fact key={name} name={worded(name)}>
                    <span className="long">{value}</span>
                  </Fact>
                ))}
              </dl>
            </section>
          ),
      )}
      <section className="panel">
        <h2>Files</h2>
        {files.length === 0 && <span className="muted">None.</span>}
        <ul className="plain files">
          {files.map((file) => (
            <li key={file.id}>
              <div className="row">
                <b className="long">{file.slot}</b>
                <span className="muted">
                  {file.type}, {Math.ceil(file.bytes / 1024)} kB
                </span>
                {shown[file.id] === undefined && (
                  <button type="button" onClick={() => setAsked(file)}>
                    Look at the file
                  </button>
                )}
                {why(file.slot)}
              </div>
              {shown[file.id] !== undefined && (
                <Document name={file.slot} type={file.type} content={shown[file.id] as Blob} />
              )}
            </li>
          ))}
        </ul>
      </section>
      <section className="panel" aria-label="Decision">
        <h2>Decision</h2>
        {came !== undefined ? (
          <Came outcome={came} />
        ) : (
          <form className="inside-form" onSubmit={(event) => void decide(event)}>
            <div className="field">
              <label htmlFor="outcome">Outcome</label>
              <select id="outcome" value={outcome} onChange={(event) => setOutcome(event.currentTarget.value)}>
                {REVIEW_OUTCOMES.map((each) => (
                  <option key={each}>{each}</option>
                ))}
              </select>
              <span className="hint">
                {outcome === 'failed'
                  ? 'The customer may try again. Mark above what must be submitted again: the partner’s program receives the reasons.'
                  : outcome === 'refused'
                    ? 'For good: the customer may not try again.'
                    : 'To the level below.'}
              </span>
            </div>
            {outcome === 'verified' && (
              <div className="field">
                <label htmlFor="level">Level</label>
                <select id="level" name="level" defaultValue={of.requestedLevel ?? 1}>
                  {LEVELS.map((each) => (
                    <option key={each}>{each}</option>
                  ))}
                </select>
              </div>
            )}
            {items.length > 0 && outcome === 'failed' && (
              <p className="note">
                To be given again: {items.map(([name, code]) => `${name} (${code.replaceAll('_', ' ')})`).join(', ')}
              </p>
            )}
            <div className="field">
              <label htmlFor="decision">Reason</label>
              <textarea id="decision" name="reason" rows={2} required minLength={3} maxLength={500} />
              <span className="hint">
                It is stored in the audit, and the partner reads it where you fail or refuse: write no name in it.
              </span>
            </div>
            {error !== undefined && <Failure error={error} />}
            <div className="row">
              <button type="submit" className="primary" disabled={isBusy || !mayDecide || of.version === null}>
                Decide
              </button>
            </div>
          </form>
        )}
      </section>
      {asked !== undefined && (
        <ActionDialog
          action={REVIEW_ACTIONS.document}
          about={asked.slot}
          given={{ customer, file: asked.id }}
          onDone={(done) => {
            const { content } = (done as Outcome & { document: { content: string } }).document;
            setShown({ ...shown, [asked.id]: new Blob([Uint8Array.from(atob(content), (one) => one.charCodeAt(0))]) });
            setAsked(undefined);
          }}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
}
