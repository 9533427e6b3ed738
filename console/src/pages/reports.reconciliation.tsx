/** The signed reconciliation report: now or at the end of a day, the days that were kept, and the keys that verify it. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { read, save } from '../api.ts';
import { useAttempt } from '../attempt.ts';
import { useFilters } from '../filters.tsx';
import { age } from '../format.ts';
import { List } from '../list.tsx';
import { Amount, type Column, Fact, Failure, State, Table, Time } from '../ui.tsx';
import { Print, Tabs } from './reports.tsx';

interface Reconciled {
  readonly what: 'wallet' | 'break' | 'transit';
  readonly rail: string;
  readonly wallet: string;
  readonly asset: string;
  readonly key: string | null;
  readonly outsideUnits: string | null;
  readonly ledgerUnits: string;
  readonly differenceUnits: string | null;
  readonly why: string | null;
  readonly at: string;
  readonly ageS: number;
}
const RECONCILED: readonly Column<Reconciled>[] = [
  {
    head: 'What',
    cell: ({ what }) => (
      <State
        state={what === 'transit' ? 'in transit' : what}
        tone={what === 'break' ? 'bad' : what === 'transit' ? 'info' : 'plain'}
      />
    ),
  },
  { head: 'Rail', cell: ({ rail }) => rail, className: 'nowrap' },
  { head: 'Wallet', cell: ({ wallet }) => <span className="mono">{wallet}</span> },
  {
    head: 'Outside',
    cell: ({ outsideUnits, asset }) =>
      outsideUnits === null ? <span className="muted">not asked</span> : <Amount units={outsideUnits} asset={asset} />,
    className: 'number',
  },
  {
    head: 'Books',
    cell: ({ ledgerUnits, asset }) => <Amount units={ledgerUnits} asset={asset} />,
    className: 'number',
  },
  {
    head: 'Difference',
    cell: ({ differenceUnits, asset }) => <Amount units={differenceUnits} asset={asset} />,
    className: 'number',
  },
  { head: 'Since', cell: ({ at }) => <Time at={at} /> },
  {
    head: 'Age',
    cell: ({ at, ageS }) => <span className="nowrap">{age(at, Date.parse(at) + ageS * 1_000)}</span>,
    className: 'number',
  },
  {
    head: 'Why',
    cell: ({ why, key }) => why ?? (key === null ? '' : <span className="mono long">{key}</span>),
    className: 'wide',
  },
];

interface Seal {
  readonly number: string;
  readonly hash: string;
  readonly at: string;
}

function Sealed({ answer }: { answer: Readonly<Record<string, unknown>> | undefined }) {
  if (answer === undefined) return null;
  const seal = answer.seal as Seal | null;
  const isOpen = answer.isOpen === true;
  const sides = answer.assets as readonly { asset: string; debits: string; credits: string }[];
  const unequal = sides.filter(({ debits, credits }) => debits !== credits).map(({ asset }) => asset);
  return (
    <section className="panel" aria-label="Result">
      <p className={isOpen ? 'note is-bad' : 'note is-ok'}>
        <b>{String(answer.verdict)}</b>
      </p>
      <p className="row">
        <State
          state={unequal.length === 0 ? 'both sides of the books are equal' : `not equal: ${unequal.join(', ')}`}
          tone={unequal.length === 0 ? 'ok' : 'bad'}
        />
        {Number(answer.transit) > 0 && <State state={`${String(answer.transit)} in transit`} tone="info" />}
        {answer.isWhole === false && <State state="more items than are shown" tone="warn" />}
      </p>
      <dl className="facts">
        <Fact name="Made">
          <Time at={String(answer.at)} />
          {typeof answer.day === 'string' && `, at the end of ${answer.day} (UTC)`}
        </Fact>
        <Fact name="Newest seal">
          {seal === null ? (
            <span className="muted">nothing is sealed yet</span>
          ) : (
            <>
              {seal.number}, <Time at={seal.at} />
            </>
          )}
        </Fact>
        {seal !== null && (
          <Fact name="Its hash">
            <span className="mono long">{seal.hash}</span>
          </Fact>
        )}
        <Fact name="Entries since it">{String(answer.unsealed)}</Fact>
        <Fact name="SHA-256 of this report">
          <span className="mono long">{String(answer.sha256)}</span>
        </Fact>
        <Fact name="Signed with key">
          <span className="mono long">{String(answer.publicKey)}</span>
        </Fact>
        <Fact name="Signature">
          <span className="mono long">{String(answer.signature)}</span>
        </Fact>
      </dl>
      <p className="muted">
        Its reader checks the saved report with <code>npm run verify-report</code>, or with jq and OpenSSL, and the
        published key. <code>verify-ledger --seal</code> proves that the journal still contains the seal.
      </p>
    </section>
  );
}

export const Reconciliation = () => (
  <>
    <Tabs />
    <List<Reconciled>
      isReport
      title="Reconciliation"
      says="The latest comparison of each wallet with chain or bank, every item that differs, and the newest seal of the journal: now, or at the end of a day. Signed, so that its reader can check it without this server."
      path="/reports/reconciliation"
      list="lines"
      filters={[{ name: 'day', label: 'Day (UTC)', hint: '2026-11-27' }]}
      columns={RECONCILED}
      keyOf={({ what, rail, wallet, asset, key }) => `${what} ${rail} ${wallet} ${asset} ${key}`}
      empty="No comparison has been made yet."
      buttons={
        <>
          <SaveSigned />
          <Print />
        </>
      }
      above={(answer) => <Sealed answer={answer} />}
    />
    <Days />
    <Keys />
  </>
);

/** Saves the report as it is signed: what is shown is formatted, and cannot be checked. */
function SaveSigned() {
  const { day } = useFilters().values;
  const { error, isBusy, attempt } = useAttempt();
  return (
    <>
      <button
        type="button"
        disabled={isBusy}
        onClick={() =>
          void attempt(async () => {
            const report = await read<{ at: string }>('/reports/reconciliation', day === undefined ? {} : { day });
            const name = `reconciliation-${day ?? report.at.slice(0, 19).replaceAll(':', '')}.json`;
            save(name, new Blob([`${JSON.stringify(report, null, 2)}\n`], { type: 'application/json' }));
          })
        }
      >
        Save signed report
      </button>
      {error !== undefined && <Failure error={error} />}
    </>
  );
}

interface ReportDay {
  readonly day: string;
  readonly madeAt: string;
  readonly verdict: string;
  readonly isOpen: boolean;
}
const DAYS: readonly Column<ReportDay>[] = [
  {
    head: 'Day (UTC)',
    cell: ({ day }) => (
      <Link to="/reports/reconciliation" search={{ day }}>
        {day}
      </Link>
    ),
    className: 'nowrap',
  },
  {
    head: 'Result',
    cell: ({ isOpen }) => <State state={isOpen ? 'open' : 'agrees'} tone={isOpen ? 'bad' : 'ok'} />,
  },
  { head: 'In words', cell: ({ verdict }) => verdict, className: 'wide' },
  { head: 'Made', cell: ({ madeAt }) => <Time at={madeAt} /> },
];

/** The reports that were kept. */
function Days() {
  const found = useQuery({
    queryKey: ['reports', 'days'],
    queryFn: () => read<{ days: ReportDay[] }>('/reports/reconciliation/days', { limit: '31' }),
  });
  return (
    <section className="panel no-print">
      <h2>The newest days</h2>
      {found.error !== null && <Failure error={found.error} />}
      <Table
        label="Days with a report"
        columns={DAYS}
        rows={found.error === null ? found.data?.days : []}
        keyOf={({ day }) => day}
        empty="No day has ended since this server keeps reports."
      />
    </section>
  );
}

interface ReportKey {
  readonly publicKey: string;
  readonly pem: string;
  readonly isPresent: boolean;
  readonly fromDay: string | null;
  readonly untilDay: string | null;
}
/** The keys to publish: who checks a report must not take the key from it. */
function Keys() {
  const found = useQuery({
    queryKey: ['reports', 'keys'],
    queryFn: () => read<{ keys: ReportKey[] }>('/reports/reconciliation/keys'),
  });
  return (
    <section className="panel no-print">
      <h2>Keys to publish</h2>
      <p className="muted">
        Put the key where readers of reports find it, such as your web site. They must not take it from a report.
      </p>
      {found.error !== null && <Failure error={found.error} />}
      {found.data?.keys.map(({ publicKey, pem, isPresent, fromDay, untilDay }) => (
        <div key={publicKey}>
          <p className="row">
            <State state={isPresent ? 'present' : 'earlier'} tone={isPresent ? 'ok' : 'plain'} />
            {fromDay !== null && (
              <span className="muted">
                signed {fromDay} to {untilDay}
              </span>
            )}
          </p>
          <pre className="long">{pem}</pre>
        </div>
      ))}
    </section>
  );
}
