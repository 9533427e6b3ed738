/** One order: where its money is, what happens next, and what may be done. */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { type FormAction, ORDER_ACTIONS } from '../actions.ts';
import { type Case, type OrderRow, read, type Timeline, type Trace } from '../api.ts';
import { ActionDialog } from '../form.tsx';
import { spoken, sum } from '../format.ts';
import { every } from '../live.ts';
import { OtherActions } from '../others.tsx';
import { Pending } from '../pending.tsx';
import { useMay } from '../shell.tsx';
import { Amount, CustomerLink, Fact, Failure, Id, State, Time, type Tone, toneOf } from '../ui.tsx';
import { OrderDestination, OrderHooks } from './order.beside.tsx';
import { OrderTravel } from './travel.tsx';

const SOON_MS = 4_000;

function useOrder(order: string) {
  const timeline = useQuery({
    queryKey: ['timeline', order],
    queryFn: () => read<Timeline>(`/orders/${order}/timeline`),
    refetchInterval: every(SOON_MS),
  });
  const trace = useQuery({
    queryKey: ['trace', order],
    queryFn: () => read<Trace>(`/orders/${order}/trace`),
    refetchInterval: every(SOON_MS),
  });
  const customer = timeline.data?.customer;
  const from = trace.data?.order.createdAt;
  // Its row of the list has its amounts as decimals: no other order of the customer was created in the same millisecond.
  const row = useQuery({
    queryKey: ['order', order, customer, from],
    queryFn: async () => {
      const until = new Date(Date.parse(from ?? '') + 1).toISOString();
      const { orders } = await read<{ orders: OrderRow[] }>('/orders', { customer, from, until });
      return orders.find(({ id }) => id === order) ?? null;
    },
    enabled: customer !== undefined && from !== undefined,
    refetchInterval: every(SOON_MS),
  });
  return { timeline, trace, row };
}

export function OrderPage() {
  const { order } = useParams({ from: '/orders/$order' });
  const { timeline, trace, row } = useOrder(order);
  const error = timeline.error ?? trace.error;
  const line = timeline.data;
  return (
    <>
      <div className="title">
        <h1>Order {order}</h1>
        <div className="row">
          {line !== undefined && <State state={line.state} />}
          {line?.exception != null && <State state={line.exception} tone="warn" />}
          <Id text={order}>id</Id>
        </div>
      </div>
      <Pending isAbout={(subject) => subject === `order:${order}`} />
      {error !== null && <Failure error={error} />}
      {line !== undefined && trace.data !== undefined && (
        <>
          <Where line={line} />
          <Flow trace={trace.data} row={row.data ?? undefined} line={line} />
          <div className="columns">
            <div>
              <Actions order={order} state={line.state} />
              <OtherActions of="order" known={{ order }} about={`order ${order}`} />
              <section className="panel">
                <h2>Timeline</h2>
                <Lines line={line} />
              </section>
              <OrderHooks order={order} />
            </div>
            <div>
              <Terms row={row.data ?? undefined} line={line} trace={trace.data} />
              <OrderDestination order={order} customer={line.customer} />
              <Cases line={line} />
              <OrderTravel order={order} />
            </div>
          </div>
        </>
      )}
    </>
  );
}

const Where = ({ line }: { line: Timeline }) => (
  <section className="panel" aria-label="Where the money is">
    <p className="where">
      Held by: {line.heldBy} <span className="muted">since</span> <Time at={line.since} />
    </p>
    <p>
      Next: {line.next}
      {line.by !== null && (
        <>
          {' '}
          by <Time at={line.by} />
          {line.otherwise !== null && <>; otherwise {line.otherwise}</>}
        </>
      )}
    </p>
  </section>
);

interface Leg {
  readonly key: string;
  readonly name: string;
  readonly state: string;
  readonly units: string | null;
  readonly asset: string;
  readonly rail: string;
  readonly evidence: string | null;
  readonly at: string | null;
  readonly why: string | null;
}

const Box = ({ leg, children }: { leg: Leg; children?: ReactNode }) => {
  const tone: Tone = toneOf(leg.state);
  return (
    <div className={`leg is-${tone} ${tone === 'ok' ? '' : 'is-open'}`}>
      <div className="name">
        <span>{leg.name}</span>
        <State state={leg.state} />
      </div>
      <span className="sum">
        <Amount units={leg.units} asset={leg.asset} />
      </span>
      <span className="muted">{leg.rail}</span>
      {leg.why !== null && <span>{leg.why.replaceAll('_', ' ')}</span>}
      {leg.evidence === null || leg.evidence === '' ? (
        <span className="muted">no evidence yet</span>
      ) : (
        <Id text={leg.evidence} />
      )}
      <Time at={leg.at} />
      {children}
    </div>
  );
};

const Arrow = () => (
  <li className="arrow" aria-hidden="true">
    <svg viewBox="0 0 32 24" fill="none" stroke="currentColor" strokeWidth="2.5">
      <path d="M2 12h26M20 4l8 8-8 8" />
    </svg>
  </li>
);

/** The path of the money: received, held, and paid out. */
function Flow({ trace, row, line }: { trace: Trace; row: OrderRow | undefined; line: Timeline }) {
  const came = trace.deposits.map((one) => ({
    ...{ key: one.id, name: 'Deposit', state: one.state, units: one.units, asset: one.asset, rail: one.rail },
    ...{ evidence: one.reference, at: one.confirmedAt ?? one.seenAt, why: one.why },
  }));
  const left = trace.payouts.map((one) => ({
    ...{ key: one.id, name: one.purpose, state: one.state, units: one.units, asset: one.asset, rail: one.rail },
    ...{ evidence: one.reference, at: one.endedAt ?? one.submittedAt ?? one.createdAt, why: one.why },
  }));
  const waiting = trace.refunds
    .filter(({ key }) => key === null || !trace.payouts.some(({ id }) => id === key))
    .map((one) => ({
      ...{ key: `refund ${one.id}`, name: 'Refund', state: one.state, units: one.netUnits, asset: one.asset },
      ...{ rail: one.rail, evidence: null, at: one.createdAt, why: one.why },
    }));
  const holds = trace.balances.filter(({ units }) => !/^-?0(\.0+)?$/.test(units));
  return (
    <section className="panel" aria-label="The way of the money">
      <ol className="flow">
        <li>
          {came.map((leg) => (
            <Box key={leg.key} leg={leg}>
              <Link to="/deposits/$deposit" params={{ deposit: leg.key }}>
                deposit {leg.key}
              </Link>
            </Box>
          ))}
          {came.length === 0 && (
            <div className="leg is-none">
              Nothing has come in.
              {row !== undefined && (
                <span>
                  To pay: <Amount units={row.depositUnits} asset={row.depositAsset} /> on {row.depositRail}
                </span>
              )}
            </div>
          )}
        </li>
        <Arrow />
        <li>
          <div className={`leg is-${toneOf(line.state)}`}>
            <div className="name">
              <span>Order</span>
              <State state={line.state} />
            </div>
            {holds.length === 0 ? (
              <span className="sum">holds nothing</span>
            ) : (
              holds.map(({ asset, units, heldUnits }) => (
                <span key={asset} className="sum">
                  holds <Amount units={units} asset={asset} />
                  {!/^-?0(\.0+)?$/.test(heldUnits) && <span className="asset"> for what goes out</span>}
                </span>
              ))
            )}
            {row !== undefined && (
              <span className="muted">
                at {row.rate}, fees{' '}
                <Amount
                  units={sum([row.feeOperator, row.feePartner, row.feeRail, row.feeChain])}
                  asset={row.feeAsset}
                />
              </span>
            )}
            <span>{line.heldBy}</span>
            <Time at={line.since} />
          </div>
        </li>
        <Arrow />
        <li>
          {[...left, ...waiting].map((leg) => (
            <Box key={leg.key} leg={leg}>
              {/^[a-z]+_[0-9]+_[0-9]+$/.test(leg.key) ? (
                <Link to="/payouts/$payout" params={{ payout: leg.key }} className="mono">
                  {leg.key}
                </Link>
              ) : (
                <span className="mono muted">{leg.key}</span>
              )}
            </Box>
          ))}
          {left.length + waiting.length === 0 && (
            <div className="leg is-none">
              Nothing has gone out.
              {row !== undefined && (
                <span>
                  Payout: <Amount units={row.payoutUnits} asset={row.payoutAsset} /> on {row.payoutRail}
                </span>
              )}
            </div>
          )}
        </li>
      </ol>
    </section>
  );
}

function Actions({ order, state }: { order: string; state: string }) {
  const may = useMay();
  const [chosen, setChosen] = useState<FormAction>();
  const usual = ORDER_ACTIONS.filter(({ states }) => states?.includes(state));
  const others = ORDER_ACTIONS.filter(({ states }) => states?.includes(state) !== true);
  const list = (actions: readonly FormAction[]) => (
    <div className="actions">
      {actions.map((action) => (
        <div key={action.name}>
          <button
            type="button"
            className={action.isGrave ? 'grave' : ''}
            disabled={!may(action.right)}
            onClick={() => setChosen(action)}
          >
            {action.label}
          </button>
          <span className="muted">
            {action.says}
            {!may(action.right) && <b> Your role lacks the right {action.right}.</b>}
          </span>
        </div>
      ))}
    </div>
  );
  return (
    <section className="panel">
      <h2>What may be done</h2>
      {usual.length === 0 ? (
        <p className="muted">Nothing is usual in the state {state.replaceAll('_', ' ')}.</p>
      ) : (
        list(usual)
      )}
      <details>
        <summary>Not usual in this state</summary>
        <p className="muted">The server decides whether one of these applies, and says why where it declines.</p>
        {list(others)}
      </details>
      {chosen !== undefined && (
        <ActionDialog action={chosen} about={`order ${order}`} given={{ order }} onClose={() => setChosen(undefined)} />
      )}
    </section>
  );
}

/** Ledger entries, events and decisions appear only in the detailed view. */
const BRIEF = new Set(['entry', 'event', 'decision']);
/** Names of accounts and events, and what an operator wrote, are shown as they are. */
const EXACT = new Set([...BRIEF, 'action']);

function Lines({ line }: { line: Timeline }) {
  const [isFull, setFull] = useState(false);
  const lines = isFull ? line.lines : line.lines.filter(({ kind }) => !BRIEF.has(kind));
  return (
    <>
      <div className="check">
        <input id="full" type="checkbox" checked={isFull} onChange={(event) => setFull(event.currentTarget.checked)} />
        <label htmlFor="full">With ledger entries, events and decisions</label>
      </div>
      <ol className="timeline">
        {lines.map((one, at) => (
          <li key={`${one.at} ${String(at)}`}>
            <Time at={one.at} />
            <span className="muted">{one.kind}</span>
            <span className="what">
              {EXACT.has(one.kind) ? one.what : spoken(one.what)}
              {one.amount !== undefined && !one.what.includes(one.amount) && <b className="nowrap"> {one.amount}</b>}
              {one.reference != null && one.reference !== '' && (
                <>
                  {' '}
                  <Id text={one.reference} />
                </>
              )}
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}

function Terms({ row, line, trace }: { row: OrderRow | undefined; line: Timeline; trace: Trace }) {
  const facts: readonly (readonly [string, ReactNode])[] = [
    [
      'Partner',
      <Link key="p" to="/orders" search={{ partner: line.partner }}>
        {line.partner}
      </Link>,
    ],
    [
      'Customer',
      <Id key="c" text={line.customer}>
        <CustomerLink id={line.customer} />
      </Id>,
    ],
    ['Created', <Time key="t" at={trace.order.createdAt} />],
    ...(row === undefined
      ? []
      : ([
          ['Direction', row.direction === 'offramp' ? 'sale' : 'purchase'],
          ['To pay', <Amount key="d" units={row.depositUnits} asset={row.depositAsset} />],
          ['Received', <Amount key="r" units={row.receivedUnits} asset={row.depositAsset} />],
          ['Sent back', <Amount key="b" units={row.refundedUnits} asset={row.depositAsset} />],
          ['Payout', <Amount key="o" units={row.payoutUnits} asset={row.payoutAsset} />],
          ['Rate', <Amount key="x" units={row.rate} asset={row.feeAsset} />],
          ['Fee operator', <Amount key="f1" units={row.feeOperator} asset={row.feeAsset} />],
          ['Fee partner', <Amount key="f2" units={row.feePartner} asset={row.feeAsset} />],
          ['Fee rail', <Amount key="f3" units={row.feeRail} asset={row.feeAsset} />],
          ['Fee chain', <Amount key="f4" units={row.feeChain} asset={row.feeAsset} />],
        ] as const)),
  ];
  return (
    <section className="panel">
      <h2>Terms</h2>
      <dl className="facts">
        {facts.map(([name, value]) => (
          <Fact key={name} name={name}>
            {value}
          </Fact>
        ))}
        {trace.followedBy.map((id) => (
          <Fact key={id} name="Followed by">
            <Link to="/orders/$order" params={{ order: id }}>
              {id}
            </Link>
          </Fact>
        ))}
      </dl>
    </section>
  );
}

/** The timeline names its cases; each is read for its present state. */
function Cases({ line }: { line: Timeline }) {
  const ids = [
    ...new Set(
      line.lines.flatMap(({ kind, what }) => (kind === 'case' ? (/^case ([0-9]+),/.exec(what)?.[1] ?? []) : [])),
    ),
  ];
  const cases = useQuery({
    queryKey: ['cases', 'of', ids],
    queryFn: () => Promise.all(ids.map((id) => read<Case>(`/cases/${id}`))),
    enabled: ids.length > 0,
  });
  return (
    <section className="panel">
      <h2>Cases</h2>
      {ids.length === 0 && <span className="muted">None.</span>}
      <ul className="plain">
        {cases.data?.map((one) => (
          <li key={one.id}>
            <Link to="/cases/$case" params={{ case: one.id }}>
              {one.kind.replaceAll('_', ' ')}
            </Link>{' '}
            <State state={one.closedAt === null ? 'open' : 'closed'} tone={one.closedAt === null ? 'warn' : 'plain'} />
            <div className="muted">{spoken(one.reason)}</div>
          </li>
        ))}
      </ul>
    </section>
  );
}
