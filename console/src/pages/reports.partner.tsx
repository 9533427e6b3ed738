/** Reports for people outside: the statement of a partner, and the reconciliation with the seal of the journal. */

import { within } from '../filters.tsx';
import { List } from '../list.tsx';
import { Spans } from '../spans.tsx';
import { Amount, type Column, Fact, State, Table, Time } from '../ui.tsx';
import { Print, Tabs } from './reports.tsx';

interface Line {
  readonly day: string | null;
  readonly what: string;
  readonly marketId: string | null;
  readonly asset: string;
  readonly count: string | null;
  readonly units: string;
  readonly owedUnits: string | null;
}
interface Total {
  readonly asset: string;
  readonly openingUnits: string;
  readonly earnedUnits: string;
  readonly returnedUnits: string;
  readonly settledUnits: string;
  readonly closingUnits: string;
}

const SPAN: Readonly<Record<string, string>> = { opening: 'begin', closing: 'end' };

const LINES: readonly Column<Line>[] = [
  { head: 'What', cell: ({ what }) => what.replaceAll('_', ' '), className: 'nowrap' },
  {
    head: 'Day or month (UTC)',
    cell: ({ day, what }) => day ?? <span className="muted">{SPAN[what] ?? 'whole span'}</span>,
    className: 'nowrap',
  },
  // Blank where a line has no such thing: a word in every other cell would hide the amounts.
  { head: 'Market', cell: ({ marketId }) => marketId, className: 'number' },
  { head: 'Number', cell: ({ count }) => count, className: 'number' },
  { head: 'Amount', cell: ({ units, asset }) => <Amount units={units} asset={asset} />, className: 'number' },
  {
    head: 'Owed after it',
    cell: ({ owedUnits, asset }) => owedUnits !== null && <Amount units={owedUnits} asset={asset} />,
    className: 'number',
  },
];

const TOTALS: readonly Column<Total>[] = [
  { head: 'Fees in', cell: ({ asset }) => <b>{asset}</b> },
  ...(
    [
      ['openingUnits', 'Owed before'],
      ['earnedUnits', 'Earned'],
      ['returnedUnits', 'Returned'],
      ['settledUnits', 'Settled'],
      ['closingUnits', 'Owed after'],
    ] as const
  ).map(
    ([name, head]): Column<Total> => ({
      head,
      cell: (one) => <Amount units={one[name]} asset={one.asset} />,
      className: 'number',
    }),
  ),
];

interface Counts {
  readonly created: string;
  readonly settled: string;
  readonly refunded: string;
}

function Sums({ answer }: { answer: Readonly<Record<string, unknown>> | undefined }) {
  if (answer === undefined) return null;
  const { created, settled, refunded } = answer.orders as Counts;
  return (
    <>
      <section className="panel" aria-label="Of the span">
        <dl className="facts">
          <Fact name="Partner">
            {String(answer.name)}, partner {String(answer.partner)}
          </Fact>
          <Fact name="From">
            <Time at={String(answer.from)} />
          </Fact>
          <Fact name="Before">
            <Time at={String(answer.until)} />
          </Fact>
          <Fact name="Orders created">{created}</Fact>
          <Fact name="Settled of them">{settled}</Fact>
          <Fact name="Refunded of them">{refunded}</Fact>
        </dl>
      </section>
      <Table
        label="Fees of the span"
        columns={TOTALS}
        rows={answer.totals as readonly Total[]}
        keyOf={({ asset }) => asset}
        empty="The partner has earned no fee yet."
      />
    </>
  );
}

export const PartnerStatement = () => (
  <>
    <Tabs />
    <List<Line>
      isReport
      title="Statement of a partner"
      says="What settled orders took in and paid out, and the fees that the partner earned, returned and was paid, from the journal. A span of more than 93 days has a line per month."
      path="/reports/partner"
      list="lines"
      needs={['partner', 'from', 'until']}
      filters={[{ name: 'partner', label: 'Partner' }, ...within('Lines')]}
      columns={LINES}
      keyOf={({ day, what, marketId, asset }) => `${day} ${what} ${marketId} ${asset}`}
      empty="Nothing happened in this period."
      buttons={
        <>
          <Spans />
          <Print />
        </>
      }
      above={(answer) => <Sums answer={answer} />}
    />
  </>
);

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
  { head: 'As of', cell: ({ at }) => <Time at={at} /> },
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
  const breaks = Number(answer.breaks);
  const sides = answer.assets as readonly { asset: string; debits: string; credits: string }[];
  const unequal = sides.filter(({ debits, credits }) => debits !== credits).map(({ asset }) => asset);
  return (
    <section className="panel" aria-label="Result">
      <p className="row">
        <State
          state={breaks === 0 ? 'books and outside agree' : `${breaks} ${breaks === 1 ? 'break' : 'breaks'}`}
          tone={breaks === 0 ? 'ok' : 'bad'}
        />
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
      </dl>
      <p className="muted">
        Keep this report where the operator of the database cannot change it. <code>verify-ledger --seal</code> proves
        that the journal still contains the seal; the hash is over the rest of the report as JSON.
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
      says="The latest comparison of each wallet with chain or bank, every item that differs, and the newest seal of the journal."
      path="/reports/reconciliation"
      list="lines"
      filters={[]}
      columns={RECONCILED}
      keyOf={({ what, rail, wallet, asset, key }) => `${what} ${rail} ${wallet} ${asset} ${key}`}
      empty="No comparison has been made yet."
      buttons={<Print />}
      above={(answer) => <Sealed answer={answer} />}
    />
  </>
);
