/** Our own money: wallets against thresholds and books, what markets owe, sweeps that are not booked, and the books by account. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { read } from '../api.ts';
import { counted } from '../format.ts';
import { List } from '../list.tsx';
import { every } from '../live.ts';
import { OtherActions } from '../others.tsx';
import { Amount, type Column, Id, State, Time } from '../ui.tsx';

export interface Level {
  readonly rail: string;
  readonly wallet: string;
  readonly asset: string;
  readonly account: string;
  readonly state: string;
  readonly freeUnits: string;
  readonly lowUnits: string;
  readonly missingUnits: string;
  readonly waitingOrders: string;
  readonly waitingUnits: string;
  readonly readAt: string | null;
}
export const LEVEL_TONES = { ok: 'ok', low: 'warn', alarm: 'bad' } as const;
const isNothing = (units: string) => /^-?0(\.0+)?$/.test(units);
const Sum = ({ units, asset }: { units: string; asset: string }) =>
  isNothing(units) ? <span className="muted">none</span> : <Amount units={units} asset={asset} />;

const LEVELS: readonly Column<Level>[] = [
  { head: 'Asset', cell: ({ asset }) => <b className="nowrap">{asset}</b> },
  { head: 'Wallet', cell: ({ rail, wallet }) => `${rail} ${wallet}`, className: 'nowrap' },
  {
    head: 'Level',
    cell: ({ state }) => <State state={state} tone={LEVEL_TONES[state as keyof typeof LEVEL_TONES] ?? 'plain'} />,
  },
  { head: 'Free', cell: ({ freeUnits, asset }) => <Amount units={freeUnits} asset={asset} />, className: 'number' },
  { head: 'Low below', cell: ({ lowUnits, asset }) => <Amount units={lowUnits} asset={asset} />, className: 'number' },
  {
    head: 'Missing',
    cell: ({ missingUnits, asset }) => <Sum units={missingUnits} asset={asset} />,
    className: 'number',
  },
  {
    head: 'Orders wait for',
    cell: ({ waitingUnits, waitingOrders, asset }) =>
      isNothing(waitingUnits) ? (
        <span className="muted">none</span>
      ) : (
        <>
          <Amount units={waitingUnits} asset={asset} />
          <div className="muted">{counted(Number(waitingOrders), 'order')}</div>
        </>
      ),
    className: 'number',
  },
];

interface Balance {
  readonly rail: string;
  readonly wallet: string;
  readonly asset: string;
  readonly ledgerUnits: string;
  readonly outsideUnits: string | null;
  readonly differenceUnits: string | null;
  readonly transitUnits: string;
  readonly breaks: string;
  readonly comparedAt: string;
}
const BALANCES: readonly Column<Balance>[] = [
  { head: 'Wallet', cell: ({ rail, wallet }) => `${rail} ${wallet}`, className: 'nowrap' },
  { head: 'Asset', cell: ({ asset }) => asset, className: 'nowrap' },
  {
    head: 'Books',
    cell: ({ ledgerUnits, asset }) => <Amount units={ledgerUnits} asset={asset} />,
    className: 'number',
  },
  {
    head: 'Chain or bank',
    cell: ({ outsideUnits, asset }) =>
      outsideUnits === null ? <span className="muted">not asked</span> : <Amount units={outsideUnits} asset={asset} />,
    className: 'number',
  },
  {
    head: 'Difference',
    cell: ({ differenceUnits, asset }) =>
      differenceUnits === null ? <span className="muted">unknown</span> : <Sum units={differenceUnits} asset={asset} />,
    className: 'number',
  },
  {
    head: 'In transit',
    cell: ({ transitUnits, asset }) => <Sum units={transitUnits} asset={asset} />,
    className: 'number',
  },
  {
    head: 'Breaks',
    cell: ({ breaks }) => (breaks === '0' ? <span className="muted">none</span> : <State state={breaks} tone="bad" />),
    className: 'number',
  },
  { head: 'Compared', cell: ({ comparedAt }) => <Time at={comparedAt} isAge /> },
];

/** Location of our money: rails, their wallets, and the balances of each asset in the books and outside. */
function CustodyMap() {
  const found = useQuery({
    queryKey: ['custody map'],
    queryFn: () => read<{ balances: Balance[] }>('/treasury/balances'),
    refetchInterval: every(15_000),
  });
  const rails = [...Map.groupBy(found.data?.balances ?? [], ({ rail }) => rail)];
  if (rails.length === 0) return null;
  return (
    <section aria-label="Custody map" className="map">
      {rails.map(([rail, all]) => (
        <div key={rail} className="panel">
          <h2>{rail}</h2>
          {[...Map.groupBy(all, ({ wallet }) => wallet)].map(([wallet, rows]) => {
            const isWhole = rows.every(({ breaks }) => breaks === '0');
            return (
              <div key={wallet} className={`leg ${isWhole ? '' : 'is-bad'}`}>
                <div className="name">
                  <span>{wallet}</span>
                  {isWhole ? <State state="agrees" tone="ok" /> : <State state="differs" tone="bad" />}
                </div>
                {rows
                  .filter(({ ledgerUnits, outsideUnits }) => !isNothing(ledgerUnits) || !isNothing(outsideUnits ?? '0'))
                  .map(({ asset, ledgerUnits }) => (
                    <Amount key={asset} units={ledgerUnits} asset={asset} />
                  ))}
                {rows.every(({ ledgerUnits }) => isNothing(ledgerUnits)) && <span className="muted">empty</span>}
              </div>
            );
          })}
        </div>
      ))}
    </section>
  );
}

interface Exposed {
  readonly marketId: string;
  readonly direction: string;
  readonly depositAsset: string;
  readonly payoutAsset: string;
  readonly unpaid: string;
  readonly unpaidDepositUnits: string;
  readonly unpaidPayoutUnits: string;
  readonly owed: string;
  readonly receivedUnits: string;
  readonly owedPayoutUnits: string;
}
const EXPOSURE: readonly Column<Exposed>[] = [
  {
    head: 'Market',
    cell: ({ marketId, direction, depositAsset, payoutAsset }) => (
      <Link to="/markets/$market" params={{ market: marketId }} data-row>
        {direction === 'offramp' ? 'sell' : 'buy'}: {depositAsset} to {payoutAsset}
      </Link>
    ),
  },
  { head: 'Wait for their deposit', cell: ({ unpaid }) => unpaid, className: 'number' },
  {
    head: 'To be paid in',
    cell: ({ unpaidDepositUnits, depositAsset }) => <Sum units={unpaidDepositUnits} asset={depositAsset} />,
    className: 'number',
  },
  {
    head: 'Promised',
    cell: ({ unpaidPayoutUnits, payoutAsset }) => <Sum units={unpaidPayoutUnits} asset={payoutAsset} />,
    className: 'number',
  },
  { head: 'Paid in', cell: ({ owed }) => owed, className: 'number' },
  {
    head: 'Received',
    cell: ({ receivedUnits, depositAsset }) => <Sum units={receivedUnits} asset={depositAsset} />,
    className: 'number',
  },
  {
    head: 'Owed',
    cell: ({ owedPayoutUnits, payoutAsset }) => <Sum units={owedPayoutUnits} asset={payoutAsset} />,
    className: 'number',
  },
];

interface Transfer {
  readonly key: string;
  readonly kind: string;
  readonly rail: string;
  readonly asset: string;
  readonly units: string;
  readonly state: string;
  readonly why: string | null;
  readonly createdAt: string;
}
const TRANSFERS: readonly Column<Transfer>[] = [
  { head: 'Kind', cell: ({ kind }) => kind },
  { head: 'State', cell: ({ state }) => <State state={state} /> },
  { head: 'Amount', cell: ({ units, asset }) => <Amount units={units} asset={asset} />, className: 'number' },
  { head: 'Rail', cell: ({ rail }) => rail, className: 'nowrap' },
  { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} isAge /> },
  { head: 'Why it waits', cell: ({ why }) => why ?? <span className="muted">none</span> },
  { head: 'Key', cell: ({ key }) => <span className="mono long">{key}</span> },
];

const ALL_TRANSFERS: readonly Column<
  Transfer & { readonly endedAt: string | null; readonly reference: string | null }
>[] = [
  ...TRANSFERS.slice(0, 5),
  { head: 'Ended', cell: ({ endedAt }) => <Time at={endedAt} isAge /> },
  {
    head: 'Evidence',
    cell: ({ reference }) =>
      reference === null || reference === '' ? <span className="muted">none yet</span> : <Id text={reference} />,
  },
  ...TRANSFERS.slice(5),
];

/** All sweeps, and gas for them, the newest first. */
export const Sweeps = () => (
  <List
    title="Sweeps"
    says="What was moved from deposit addresses to our wallets, and the gas that was sent for it."
    path="/treasury/sweeps"
    list="sweeps"
    cursor="below"
    filters={[{ name: 'rail', label: 'Rail' }]}
    columns={ALL_TRANSFERS}
    keyOf={({ key }) => key}
    empty="Nothing was swept yet."
  />
);

export const Treasury = () => (
  <>
    <h1>Treasury</h1>
    <p>
      <Link to="/treasury/history">Wallets over time</Link> · <Link to="/treasury/sweeps">All sweeps</Link> ·{' '}
      <Link to="/treasury/own">Own addresses</Link> · <Link to="/breaks">Breaks</Link> ·{' '}
      <Link to="/breaks/movements">Movements</Link> · Balances of all accounts:{' '}
      <Link to="/reports/trial-balance">trial balance</Link>
    </p>
    <CustodyMap />
    <List<Level>
      isPart
      title="Levels"
      says="What each wallet has left after payouts under way, and how far it is below its low threshold."
      path="/treasury/levels"
      list="levels"
      filters={[]}
      columns={LEVELS}
      keyOf={({ account }) => account}
      empty="No wallet has a threshold."
    />
    <List<Balance>
      isPart
      title="Wallets against the books"
      path="/treasury/balances"
      list="balances"
      filters={[]}
      columns={BALANCES}
      keyOf={({ rail, wallet, asset }) => `${rail} ${wallet} ${asset}`}
      empty="No comparison has been made yet."
    />
    <List<Exposed>
      isPart
      title="Exposure by market"
      says="Open orders: what they would pay out if their deposit arrived, and what is owed already."
      path="/treasury/exposure"
      list="exposure"
      filters={[]}
      columns={EXPOSURE}
      keyOf={({ marketId, depositAsset, payoutAsset }) => `${marketId} ${depositAsset} ${payoutAsset}`}
      empty="No order is open."
    />
    <List<Transfer>
      isPart
      title="Sweeps that are not booked"
      path="/treasury/transfers"
      list="transfers"
      filters={[]}
      cursor="after"
      columns={TRANSFERS}
      keyOf={({ key }) => key}
      empty="Every sweep is in the books."
    />
    <OtherActions of="funds" known={{}} title="Orders that wait for funds" />
  </>
);
