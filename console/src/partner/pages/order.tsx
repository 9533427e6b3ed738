/** One order: who has the money and what is next; deposits, payouts and refunds; and the possible actions. */
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { To } from '../../chrome.tsx';
import { every } from '../../live.ts';
import { type Column, CustomerLink, Fact, Failure, Id, State, Table, Time } from '../../ui.tsx';
import { ActionButton } from '../actionbutton.tsx';
import { type Money, type Page, read, send } from '../api.ts';
import { Evidence, MoneyOf } from '../parts.tsx';
import { useMay, useSession } from '../shell.tsx';
import type { OrderRow } from './orders.tsx';

interface Ref {
  readonly kind: 'account' | 'address';
  readonly id: string | null;
  readonly address: string | null;
}
interface Order extends OrderRow {
  readonly market: string;
  readonly quoteId: string | null;
  readonly received: Money;
  readonly refunded: Money;
  readonly rate: string;
  readonly fees: readonly { kind: string; amount: Money }[];
  readonly method: string;
  readonly destination: Ref;
  readonly refundDestination: Ref | null;
  readonly payerReference: string | null;
  readonly expiresAt: string;
}
interface Sign {
  readonly hash: string | null;
  readonly bankReference: string | null;
}
interface Trace {
  readonly state: string;
  readonly heldBy: string;
  readonly amount: Money;
  readonly since: string;
  readonly evidence: readonly (Sign & { what: string; id: string; amount: Money | null; at: string })[];
  readonly next: { step: string; by: string; until: string | null; otherwise: string | null; says: string };
  readonly otherMoney: readonly { depositId: string; amount: Money; reason: string; next: string }[];
}
interface Deposit extends Sign {
  readonly id: string;
  readonly state: string;
  readonly amount: Money;
  readonly reason: string | null;
  readonly late: boolean;
  readonly seenAt: string;
  readonly confirmedAt: string | null;
}
interface Payout extends Sign {
  readonly id: string;
  readonly attempt: number;
  readonly state: string;
  readonly amount: Money;
  readonly reason: string | null;
  readonly createdAt: string;
  readonly endedAt: string | null;
}
interface Refund extends Sign {
  readonly id: string;
  readonly kind: string;
  readonly state: string;
  readonly amount: Money;
  readonly reason: string;
  readonly updatedAt: string;
}
interface Destination {
  readonly id: string;
  readonly kind: string;
  readonly asset: string | null;
  readonly chain: string | null;
  readonly hint: string;
  readonly usable: boolean;
}

const words = (text: string): string => text.replaceAll('_', ' ');
const HOLDER: Readonly<Record<string, string>> = {
  customer: 'The customer',
  in_transit: 'Bank or chain, on the way',
  operator: 'The operator',
  recipient: 'The recipient',
};

const DEPOSITS: readonly Column<Deposit>[] = [
  { head: 'Deposit', cell: ({ id }) => <Id text={id} /> },
  { head: 'State', cell: ({ state }) => <State state={state} /> },
  { head: 'Amount', cell: ({ amount }) => <MoneyOf of={amount} />, className: 'number' },
  { head: 'Evidence', cell: (one) => <Evidence {...one} /> },
  {
    head: 'Unusual',
    cell: ({ reason, late }) =>
      [late ? 'late' : undefined, reason === null ? undefined : words(reason)].filter(Boolean).join(', ') || (
        <span className="muted">no</span>
      ),
  },
  { head: 'Seen', cell: ({ seenAt }) => <Time at={seenAt} /> },
  { head: 'Final', cell: ({ confirmedAt }) => <Time at={confirmedAt} /> },
];
const PAYOUTS: readonly Column<Payout>[] = [
  { head: 'Payout', cell: ({ id }) => <Id text={id} /> },
  { head: 'State', cell: ({ state }) => <State state={state} /> },
  { head: 'Amount', cell: ({ amount }) => <MoneyOf of={amount} />, className: 'number' },
  { head: 'Evidence', cell: (one) => <Evidence {...one} /> },
  { head: 'Unusual', cell: ({ reason }) => (reason === null ? <span className="muted">no</span> : words(reason)) },
  { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { head: 'Ended', cell: ({ endedAt }) => <Time at={endedAt} /> },
];
const REFUNDS: readonly Column<Refund>[] = [
  { head: 'Refund', cell: ({ id }) => <Id text={id} /> },
  { head: 'State', cell: ({ state }) => <State state={state} /> },
  { head: 'Amount', cell: ({ amount }) => <MoneyOf of={amount} />, className: 'number' },
  { head: 'Evidence', cell: (one) => <Evidence {...one} /> },
  { head: 'Why', cell: ({ reason }) => words(reason) },
  { head: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
];

export function OrderPage() {
  const { order: id } = useParams({ from: '/orders/$order' });
  const live = { refetchInterval: every(5_000) };
  const order = useQuery({ queryKey: ['order', id], queryFn: () => read<Order>(`/orders/${id}`), ...live });
  const trace = useQuery({ queryKey: ['trace', id], queryFn: () => read<Trace>(`/orders/${id}/trace`), ...live });
  const part = <Row,>(name: string) => ({
    queryKey: [name, id],
    queryFn: () => read<Page<Row>>(`/orders/${id}/${name}`),
    ...live,
  });
  const deposits = useQuery(part<Deposit>('deposits'));
  const payouts = useQuery(part<Payout>('payouts'));
  const refunds = useQuery(part<Refund>('refunds'));
  const { data: session } = useSession();
  if (order.error !== null)
    return (
      <>
        <h1>Order {id}</h1>
        <Failure error={order.error} />
      </>
    );
  const { data } = order;
  return (
    <>
      <div className="title">
        <div className="row">
          <h1>Order {id}</h1>
          {data && <State state={data.state} />}
        </div>
        {data && session && <Actions of={data} isSandbox={session.profile === 'sandbox'} />}
      </div>
      <div className="columns">
        <div>{trace.data && <Where of={trace.data} />}</div>
        <div>{data && <Terms of={data} />}</div>
      </div>
      <h2>What came in</h2>
      <Table
        label="Deposits"
        columns={DEPOSITS}
        rows={deposits.data?.data}
        keyOf={(one) => one.id}
        empty="No deposit yet."
      />
      <h2>What goes out</h2>
      <Table
        label="Payouts"
        columns={PAYOUTS}
        rows={payouts.data?.data}
        keyOf={(one) => one.id}
        empty="No payout yet."
      />
      <h2>What goes back</h2>
      <Table label="Refunds" columns={REFUNDS} rows={refunds.data?.data} keyOf={(one) => one.id} empty="No refund." />
    </>
  );
}

/** Who has the money, on what evidence, and what is next. */
function Where({ of }: { of: Trace }) {
  const isOver = of.next.step === 'nothing';
  return (
    <section className="panel" aria-label="Where the money is">
      <h2>Where the money is</h2>
      <dl className="facts">
        <Fact name="Who has it">{HOLDER[of.heldBy] ?? words(of.heldBy)}</Fact>
        <Fact name="How much">
          <MoneyOf of={of.amount} />
        </Fact>
        <Fact name="Since">
          <Time at={of.since} />
        </Fact>
        <Fact name="Next">
          {isOver ? 'Nothing: the order is over.' : of.next.says}
          {of.next.until !== null && (
            <>
              {' '}
              By <Time at={of.next.until} />.
            </>
          )}
          {of.next.otherwise !== null && ` Otherwise: ${of.next.otherwise}`}
        </Fact>
        {!isOver && <Fact name="Who acts">{of.next.by}</Fact>}
      </dl>
      {of.evidence.length > 0 && (
        <ol className="timeline evidence" aria-label="Evidence">
          {of.evidence.map((one) => (
            <li key={`${one.what} ${one.id} ${one.at}`}>
              <Time at={one.at} />
              <span className="what">{words(one.what)}</span>
              <span className="row">
                {one.amount !== null && <MoneyOf of={one.amount} />} <Evidence {...one} />
              </span>
            </li>
          ))}
        </ol>
      )}
      {of.otherMoney.map((one) => (
        <p key={one.depositId} className="note is-warn">
          Deposit {one.depositId}: <MoneyOf of={one.amount} /> is apart from the order ({words(one.reason)}). Next:{' '}
          {words(one.next)}.
        </p>
      ))}
    </section>
  );
}

const Place = ({ of }: { of: Ref | null }) =>
  of === null ? (
    <span className="muted">none named</span>
  ) : of.address !== null ? (
    <Id text={of.address} />
  ) : (
    <span>
      account <span className="mono">{of.id}</span>
    </span>
  );

const Terms = ({ of }: { of: Order }) => (
  <section className="panel" aria-label="Terms">
    <h2>Terms</h2>
    <dl className="facts">
      <Fact name="Customer">
        <CustomerLink id={of.customerId} />
      </Fact>
      <Fact name="Your reference">{of.reference ?? <span className="muted">none</span>}</Fact>
      <Fact name="Customer pays">
        <MoneyOf of={of.pay} />
      </Fact>
      <Fact name="Customer receives">
        <MoneyOf of={of.receive} />
      </Fact>
      <Fact name="Rate">
        {of.rate} by {of.method}
      </Fact>
      {of.fees.map(({ kind, amount }) => (
        <Fact key={kind} name={kind === 'partner' ? 'Your fee' : `Fee: ${kind}`}>
          <MoneyOf of={amount} />
        </Fact>
      ))}
      <Fact name="Paid to">
        <Place of={of.destination} />
      </Fact>
      <Fact name="Refunds go to">
        <Place of={of.refundDestination} />
      </Fact>
      {of.payerReference !== null && <Fact name="Bank reference named">{of.payerReference}</Fact>}
      <Fact name="Created">
        <Time at={of.createdAt} />
      </Fact>
      <Fact name="May be paid until">
        <Time at={of.expiresAt} />
      </Fact>
    </dl>
  </section>
);

/** Actions that the server may decline; it decides each time. */
function Actions({ of, isSandbox }: { of: Order; isSandbox: boolean }) {
  const may = useMay();
  const destinations = useQuery({
    queryKey: ['destinations', of.customerId],
    queryFn: () => read<Page<Destination>>(`/customers/${of.customerId}/destinations`),
    enabled: may('orders'),
  });
  const choices = (destinations.data?.data ?? []).map(({ id }) => id);
  const names = Object.fromEntries(
    (destinations.data?.data ?? []).map((one) => [
      one.id,
      `${one.kind} in ${one.asset ?? one.chain ?? ''} …${one.hint}${one.usable ? '' : ' (not usable yet)'}`,
    ]),
  );
  const destination = { name: 'destinationId', label: 'Destination of the customer', choices, names };
  return (
    <div className="row">
      {of.state === 'created' && (
        <ActionButton
          name="Cancel"
          right="orders"
          tone="grave"
          says="Cancels the order. This is possible only before a deposit has arrived."
          run={() => send('POST', `/orders/${of.id}/cancel`)}
        />
      )}
      {!['created', 'settled', 'expired', 'cancelled', 'refunded'].includes(of.state) && choices.length > 0 && (
        <ActionButton
          name="Refund"
          right="orders"
          says="Sends what the order holds back to a destination of the customer. The operator’s checks stay in force."
          inputs={[destination]}
          run={(body) => send('POST', `/orders/${of.id}/refund`, body)}
        />
      )}
      {of.state === 'payout_held' && choices.length > 0 && (
        <ActionButton
          name="Pay elsewhere"
          right="orders"
          says="Pays the order to another destination of the customer, after its payout was rejected or came back."
          inputs={[destination]}
          run={(body) => send('POST', `/orders/${of.id}/payout-destination`, body)}
        />
      )}
      {of.direction === 'buy' && (
        <ActionButton
          name="Name bank reference"
          right="orders"
          says="Stores the reference that the customer’s bank gave the transfer. It matches no money; it helps the operator to find the transfer."
          inputs={[{ name: 'payerReference', label: 'Reference', hint: 'UTR123456' }]}
          run={(body) => send('POST', `/orders/${of.id}/payer-reference`, body)}
        />
      )}
      {isSandbox && may('develop') && (
        <To to="/sandbox" search={{ order: of.id }} className="button">
          Sandbox controls
        </To>
      )}
    </div>
  );
}
