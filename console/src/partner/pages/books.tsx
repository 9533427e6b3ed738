/**
 * The partner's account in the operator's books, over any span: what it was owed, what it earned, returned and was paid. The same
 * lines as CSV, made on this page of what it shows.
 */
import { useQuery } from '@tanstack/react-query';
import { Filters, useFilters, within } from '../../filters.tsx';
import { Spans, spansAt } from '../../spans.tsx';
import { type Column, Fact, Failure, Table, Time } from '../../ui.tsx';
import { save } from '../../wire.ts';
import { type Money, read } from '../api.ts';
import { MoneyOf } from '../parts.tsx';
import { useMay, useSession } from '../shell.tsx';
import { StatementPage } from './statement.tsx';

interface Line {
  readonly day: string | null;
  readonly what: string;
  readonly market: string | null;
  readonly amount: Money;
  readonly count: number | null;
  readonly owed: Money | null;
}
interface Total {
  readonly opening: Money;
  readonly earned: Money;
  readonly returned: Money;
  readonly settled: Money;
  readonly closing: Money;
}
interface Books {
  readonly from: string;
  readonly until: string;
  readonly created: number;
  readonly settled: number;
  readonly refunded: number;
  readonly totals: readonly Total[];
  readonly lines: readonly Line[];
}

const WHAT: Readonly<Record<string, string>> = {
  opening: 'Owed at the beginning',
  paid_in: 'Customers paid',
  paid_out: 'Customers received',
  fees_earned: 'Fees earned',
  fees_returned: 'Fees returned',
  fees_settled: 'Paid to you',
  closing: 'Owed at the end',
};

const LINES: readonly Column<Line>[] = [
  { head: 'Line', cell: ({ what }) => WHAT[what] ?? what, className: 'nowrap' },
  { head: 'Day or month (UTC)', cell: ({ day }) => day ?? '', className: 'nowrap' },
  // Blank where a line has no such thing: a word in every other cell would hide the amounts.
  { head: 'Market', cell: ({ market }) => market ?? '', className: 'number' },
  { head: 'Number', cell: ({ count }) => count ?? '', className: 'number' },
  { head: 'Amount', cell: ({ amount }) => <MoneyOf of={amount} />, className: 'number' },
  { head: 'Owed after it', cell: ({ owed }) => owed !== null && <MoneyOf of={owed} />, className: 'number' },
];
const TOTALS: readonly Column<Total>[] = [
  { head: 'Fees in', cell: ({ opening }) => <b>{opening.asset}</b> },
  ...(
    [
      ['opening', 'Owed before'],
      ['earned', 'Earned'],
      ['returned', 'Returned'],
      ['settled', 'Paid to you'],
      ['closing', 'Owed after'],
    ] as const
  ).map(([name, head]): Column<Total> => ({ head, cell: (one) => <MoneyOf of={one[name]} />, className: 'number' })),
];

/** All cells are words, dates and amounts of the server: none needs quotes, and none is a formula. */
const csvOf = (lines: readonly Line[]): string =>
  [
    ['what', 'day', 'market', 'count', 'amount', 'asset', 'owed'],
    ...lines.map(({ what, day, market, count, amount, owed }) => [
      ...[what, day ?? '', market ?? '', count === null ? '' : String(count)],
      ...[amount.amount, amount.asset, owed?.amount ?? ''],
    ]),
  ]
    .map((cells) => `${cells.join(',')}\r\n`)
    .join('');

export function BooksPage() {
  const may = useMay();
  const { data: session } = useSession();
  const { values } = useFilters();
  const month = spansAt(new Date())['This month'];
  const { from = month?.from ?? '', until = month?.until ?? '' } = values;
  const found = useQuery({
    queryKey: ['books', from, until],
    queryFn: () => read<Books>('/statement/books', { from, until }),
    enabled: may('finance'),
  });
  const books = found.error === null ? found.data : undefined;
  return (
    <StatementPage
      title="Account"
      actions={
        <button
          type="button"
          disabled={books === undefined}
          onClick={() =>
            books !== undefined &&
            save(
              `statement-${books.from.slice(0, 10)}-${books.until.slice(0, 10)}.csv`,
              new Blob([csvOf(books.lines)], { type: 'text/csv' }),
            )
          }
        >
          CSV
        </button>
      }
    >
      <p className="muted">
        What the operator owes you in fees, from its books. The balance at the beginning and the lines add up to the
        balance at the end. A span of more than 93 days has a line per month.
      </p>
      <Spans shown={{ from, until }} />
      <Filters filters={within('Lines')} />
      {found.error !== null && <Failure error={found.error} />}
      {books !== undefined && (
        <section className="panel" aria-label="Of the span">
          <dl className="facts">
            <Fact name="Partner">{session?.partner.name}</Fact>
            <Fact name="From">
              <Time at={books.from} />
            </Fact>
            <Fact name="Before">
              <Time at={books.until} />
            </Fact>
            <Fact name="Orders created">{books.created}</Fact>
            <Fact name="Settled of them">{books.settled}</Fact>
            <Fact name="Refunded of them">{books.refunded}</Fact>
          </dl>
        </section>
      )}
      <Table
        label="Fees of the span"
        columns={TOTALS}
        rows={found.error === null ? found.data?.totals : []}
        keyOf={({ opening }) => opening.asset}
        empty="You have not earned a fee yet."
      />
      <h2>Lines</h2>
      <Table
        label="Lines"
        columns={LINES}
        rows={found.error === null ? found.data?.lines : []}
        keyOf={({ what, day, market, amount }) => `${what} ${day} ${market} ${amount.asset}`}
        empty="Nothing was booked in this span."
      />
    </StatementPage>
  );
}
