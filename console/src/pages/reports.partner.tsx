/** The statement of a partner: volume, fees and settlements. */
import { within } from '../filters.tsx';
import { List } from '../list.tsx';
import { Spans } from '../spans.tsx';
import { Amount, type Column, Fact, Table, Time } from '../ui.tsx';
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
