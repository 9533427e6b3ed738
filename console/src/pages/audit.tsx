/** The audit: who did what and why, and its chain of seals, verified on this page. */
import { useState } from 'react';
import { read } from '../api.ts';
import { within } from '../filters.tsx';
import { List } from '../list.tsx';
import { RowLink } from '../rowlink.tsx';
import { type Column, Fact, Facts, Failure, State, Subject, Table, Time } from '../ui.tsx';

interface AuditRow {
  readonly id: string;
  readonly at: string;
  readonly operator: string;
  readonly role: string;
  readonly address: string;
  readonly action: string;
  readonly subject: string;
  readonly outcome: string;
  readonly proposal: string | null;
  readonly reason: string;
  readonly via: string | null;
  readonly before: unknown;
  readonly after: unknown;
}

const COLUMNS: readonly Column<AuditRow>[] = [
  { head: 'Row', cell: ({ id }) => <RowLink row={id}>{id}</RowLink> },
  { head: 'When', cell: ({ at }) => <Time at={at} /> },
  { head: 'Operator', cell: ({ operator }) => <b>{operator}</b> },
  { head: 'Action', cell: ({ action }) => action, className: 'nowrap' },
  { head: 'About', cell: ({ subject }) => <Subject text={subject} /> },
  { head: 'Outcome', cell: ({ outcome }) => <State state={outcome} /> },
  { head: 'Reason', cell: ({ reason }) => reason, className: 'wide' },
];

const FILTERS = [
  { name: 'operator', label: 'Operator' },
  { name: 'action', label: 'Action', hint: 'order.release' },
  { name: 'subject', label: 'About', hint: 'order:17' },
  ...within('Done'),
];

export const Audit = () => (
  <List<AuditRow>
    title="Audit"
    path="/audit"
    list="audit"
    cursor="below"
    filters={FILTERS}
    columns={COLUMNS}
    keyOf={({ id }) => id}
    empty="No action matches these filters."
    above={() => <Chain />}
    detail={(row) => (
      <>
        <h2>
          {row.action}, row {row.id}
        </h2>
        <p>{row.reason}</p>
        <dl className="facts">
          <Fact name="By">
            {row.operator}, {row.role}
          </Fact>
          <Fact name="When">
            <Time at={row.at} />
          </Fact>
          <Fact name="From">
            <span className="mono">{row.address}</span> {row.via !== null && <span className="muted">{row.via}</span>}
          </Fact>
          <Fact name="About">
            <Subject text={row.subject} />
          </Fact>
          <Fact name="Outcome">
            <State state={row.outcome} />
          </Fact>
        </dl>
        <h2>Before</h2>
        <Facts of={row.before} />
        <h2>After</h2>
        <Facts of={row.after} />
      </>
    )}
  />
);

interface Problem {
  readonly subject: string;
  readonly why: string;
}
interface Part {
  readonly seals: string;
  readonly rows: string;
  readonly unsealed: string;
  readonly newest: { readonly number: string; readonly hash: string } | null;
  readonly problems: readonly Problem[];
  readonly next: string | null;
}
interface Verified {
  readonly seals: bigint;
  readonly rows: bigint;
  readonly unsealed: bigint;
  readonly newest: Part['newest'];
  readonly problems: readonly Problem[];
  readonly isOver: boolean;
}

const NOTHING: Verified = { seals: 0n, rows: 0n, unsealed: 0n, newest: null, problems: [], isOver: false };
const MOST_PROBLEMS = 200;

/** Follows the chain of seals from the first one, some at a time: it may be long, and each answer is bounded. */
function Chain() {
  const [verified, setVerified] = useState<Verified>();
  const [error, setError] = useState<unknown>();
  const verify = async () => {
    setError(undefined);
    let sum = NOTHING;
    setVerified(sum);
    try {
      for (let after: string | null = '0'; after !== null; ) {
        const part: Part = await read('/audit/verification', {
          after: after === '0' ? undefined : after,
          limit: '100',
        });
        after = part.next;
        sum = {
          seals: sum.seals + BigInt(part.seals),
          rows: sum.rows + BigInt(part.rows),
          unsealed: sum.unsealed + BigInt(part.unsealed),
          newest: part.newest ?? sum.newest,
          problems: [...sum.problems, ...part.problems].slice(0, MOST_PROBLEMS),
          isOver: part.next === null,
        };
        setVerified(sum);
      }
    } catch (caught) {
      setError(caught);
    }
  };
  const isBusy = verified?.isOver === false && error === undefined;
  return (
    <section className="panel" aria-label="Chain of seals">
      <div className="title">
        <h2>Chain of seals</h2>
        <button type="button" disabled={isBusy} onClick={() => void verify()}>
          {isBusy ? 'Verifying' : 'Verify the chain'}
        </button>
      </div>
      {verified === undefined && (
        <p className="muted">
          Each row is sealed by hash, and each seal is made over the one before it. Verifying reads all of them, from
          the first.
        </p>
      )}
      {error !== undefined && <Failure error={error} />}
      {verified !== undefined && (
        <div
          className={`note is-${verified.problems.length > 0 ? 'bad' : verified.isOver ? 'ok' : 'info'}`}
          role="status"
        >
          {verified.isOver ? (
            verified.problems.length === 0 ? (
              <b>The audit matches its seals. </b>
            ) : (
              <b>The audit does not match its seals. </b>
            )
          ) : (
            'Verified so far: '
          )}
          {String(verified.rows)} rows under {String(verified.seals)} seals
          {verified.isOver && `; ${verified.unsealed} newer rows wait for the next seal`}.
          {verified.newest !== null && (
            <div>
              Newest: seal {verified.newest.number}, <code className="hash">{verified.newest.hash}</code>
            </div>
          )}
        </div>
      )}
      {verified !== undefined && verified.problems.length > 0 && (
        <Table
          label="What is wrong with the audit"
          columns={PROBLEMS}
          rows={verified.problems}
          keyOf={({ subject, why }) => `${subject} ${why}`}
          empty=""
        />
      )}
    </section>
  );
}

const PROBLEMS: readonly Column<Problem>[] = [
  { head: 'Row or seal', cell: ({ subject }) => <b className="nowrap">{subject}</b> },
  { head: 'What is wrong', cell: ({ why }) => why },
];
