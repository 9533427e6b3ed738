/** Wallets over time, according to the books: a chart for each asset, with a line for each wallet that holds it. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { pathWith, read } from '../api.ts';
import { useFilters } from '../filters.tsx';
import { compared, grouped, local } from '../format.ts';
import { every } from '../live.ts';
import { Amount, type Column, Csv, Failure, Table } from '../ui.tsx';

const SPANS = {
  '3d': { label: '3 days', step: 'hour', steps: 72 },
  '30d': { label: '30 days', step: 'day', steps: 30 },
  '90d': { label: '90 days', step: 'day', steps: 90 },
} as const;
const EVERY_MS = 60_000;
/** A sum of a long span may take as long as a report. */
const REPORT_MS = 100_000;

interface Point {
  readonly at: string;
  readonly rail: string;
  readonly wallet: string;
  readonly asset: string;
  readonly units: string;
}
interface Series {
  readonly name: string;
  readonly points: readonly Point[];
}

/** Size of a drawing, in its own units. The page stretches it to the available width. */
const WIDTH = 600;
const HEIGHT = 120;
/** For the position of a line only. Amounts are compared and shown as the texts that the server sent. */
const heightOf = ({ units }: Point): number => Math.max(0, Number(units));

const byUnits = (one: Point, other: Point): number => compared(one.units, other.units);

function Chart({ asset, series }: { asset: string; series: readonly Series[] }) {
  const all = series.flatMap(({ points }) => points);
  const highest = all.toSorted(byUnits).at(-1);
  const [first, last] = [all[0], all.at(-1)];
  if (highest === undefined || first === undefined || last === undefined) return null;
  const top = heightOf(highest) || 1;
  const x = (n: number, of: readonly Point[]) => (of.length < 2 ? WIDTH : (n * WIDTH) / (of.length - 1));
  const y = (point: Point) => HEIGHT - (heightOf(point) / top) * HEIGHT;
  /** A balance holds until the next instant, so a line is made of steps. */
  const path = (points: readonly Point[]) =>
    points.map((one, n) => `${n === 0 ? `M0,${y(one)}` : `H${x(n, points)}V${y(one)}`}`).join('');
  const now = series.map(({ name, points }) => `${name} ${points.at(-1)?.units} ${asset}`).join(', ');
  return (
    <section className="panel chart" aria-label={`${asset} over time`}>
      <h2>{asset}</h2>
      <div className="plot">
        <span className="top muted">{grouped(highest.units)}</span>
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={`At the end: ${now}`}>
          <path className="grid" d={`M0,0H${WIDTH}M0,${HEIGHT / 2}H${WIDTH}M0,${HEIGHT}H${WIDTH}`} />
          {series.map(({ name, points }, n) => (
            <path key={name} className={`series series-${n % 5}`} d={path(points)} />
          ))}
        </svg>
        <div className="span muted">
          <time dateTime={first.at}>{local(first.at).slice(0, 16)}</time>
          <time dateTime={last.at}>{local(last.at).slice(0, 16)}</time>
        </div>
      </div>
      <ul className="legend">
        {series.map(({ name, points }, n) => (
          <li key={name}>
            <span className={`swatch series-${n % 5}`} />
            {name}
            <Amount units={points.at(-1)?.units} asset={asset} />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface Change {
  readonly key: string;
  readonly wallet: string;
  readonly asset: string;
  readonly first: string;
  readonly lowest: string;
  readonly highest: string;
  readonly last: string;
}
const amount = (name: 'first' | 'lowest' | 'highest' | 'last', head: string): Column<Change> => ({
  head,
  cell: (one) => <Amount units={one[name]} asset={one.asset} />,
  className: 'number',
});
const CHANGES: readonly Column<Change>[] = [
  { head: 'Asset', cell: ({ asset }) => <b className="nowrap">{asset}</b> },
  { head: 'Wallet', cell: ({ wallet }) => wallet, className: 'nowrap' },
  amount('first', 'At the beginning'),
  amount('lowest', 'Lowest'),
  amount('highest', 'Highest'),
  amount('last', 'At the end'),
];

function changeOf(asset: string, { name, points }: Series): Change {
  const sorted = points.toSorted(byUnits);
  const units = (point: Point | undefined) => point?.units ?? '0';
  return {
    ...{ key: `${asset} ${name}`, wallet: name, asset },
    ...{ first: units(points[0]), last: units(points.at(-1)) },
    ...{ lowest: units(sorted[0]), highest: units(sorted.at(-1)) },
  };
}

export function TreasuryHistory() {
  const { values } = useFilters();
  const chosen = values.span === '3d' || values.span === '90d' ? values.span : '30d';
  const { step, steps } = SPANS[chosen];
  const query = { step, steps: String(steps) };
  const found = useQuery({
    queryKey: ['treasury history', chosen],
    queryFn: () => read<{ history: Point[] }>('/treasury/history', query, REPORT_MS),
    refetchInterval: every(EVERY_MS),
  });
  const assets = [...Map.groupBy(found.data?.history ?? [], ({ asset }) => asset)].map(([asset, points]) => ({
    asset,
    series: [...Map.groupBy(points, ({ rail, wallet }) => `${rail} ${wallet}`)].map(([name, own]) => ({
      name,
      points: own,
    })),
  }));
  return (
    <>
      <div className="title">
        <h1>Wallets over time</h1>
        <Csv href={pathWith('/treasury/history', { ...query, format: 'csv' })} />
      </div>
      <p className="muted">
        The balance of each wallet in the books over time. Present balances, and whether chain and bank agree, are under{' '}
        <Link to="/treasury">Treasury</Link>.
      </p>
      <nav className="tabs" aria-label="Span">
        {Object.entries(SPANS).map(([span, { label }]) => (
          <Link key={span} to="." search={{ span }} aria-current={span === chosen ? 'page' : undefined}>
            {label}
          </Link>
        ))}
      </nav>
      {found.error !== null && <Failure error={found.error} />}
      <div className="charts">
        {assets.map((one) => (
          <Chart key={one.asset} {...one} />
        ))}
      </div>
      <Table
        label="Wallets over time"
        columns={CHANGES}
        rows={found.data && assets.flatMap(({ asset, series }) => series.map((one) => changeOf(asset, one)))}
        keyOf={({ key }) => key}
        empty="No wallet has had a balance."
      />
    </>
  );
}
