/**
 * Customers, and one of them: verification, limits, destinations, the operator's questions, and links to hosted pages.
 */
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { To } from '../../chrome.tsx';
import { Secret } from '../../codes.tsx';
import { within } from '../../filters.tsx';
import { type Column, CustomerLink, Fact, Failure, Id, State, Table, Time, type Tone } from '../../ui.tsx';
import { ActionButton } from '../actionbutton.tsx';
import { type Page, read, send } from '../api.ts';
import { List } from '../list.tsx';
import { useMay } from '../shell.tsx';
import { ORDER_COLUMNS, type OrderRow } from './orders.tsx';

interface Customer {
  readonly id: string;
  readonly reference: string | null;
  readonly kind: string;
  readonly level: number;
  readonly verification: string;
  readonly hasLoggedIn: boolean;
  readonly mayTrade: { allowed: boolean; reason: string | null };
  readonly country: string;
  readonly countryBy: string | null;
  readonly createdAt: string;
}

const TONES: Readonly<Record<string, Tone>> = { verified: 'ok', in_review: 'info', failed: 'warn', refused: 'bad' };
const Verification = ({ of }: { of: string }) => <State state={of} tone={TONES[of] ?? 'plain'} />;
const words = (text: string): string => text.replaceAll('_', ' ');

const COLUMNS: readonly Column<Customer>[] = [
  { head: 'Customer', cell: ({ id }) => <CustomerLink id={id} isRow /> },
  { head: 'Your name for it', cell: ({ reference }) => reference ?? <span className="muted">none</span> },
  { head: 'Kind', cell: ({ kind }) => kind },
  { head: 'Verification', cell: ({ verification }) => <Verification of={verification} /> },
  { head: 'Level', cell: ({ level }) => level, className: 'number' },
  {
    head: 'May trade',
    cell: ({ mayTrade }) => (mayTrade.allowed ? 'yes' : words(mayTrade.reason ?? 'no')),
  },
  { head: 'Country', cell: ({ country }) => country },
  { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

export const Customers = () => (
  <List<Customer>
    title="Customers"
    path="/customers"
    isPaged
    filters={[
      { name: 'verification', label: 'Verification', choices: ['none', 'in_review', 'verified', 'failed', 'refused'] },
      { name: 'reference', label: 'Your name for it' },
      ...within('Created'),
    ]}
    columns={COLUMNS}
    keyOf={({ id }) => id}
    empty="No customer matches these filters."
  />
);

export interface Question {
  readonly id: string;
  readonly customerId: string;
  readonly state: string;
  readonly question: string;
  readonly answer: string | null;
  readonly dueAt: string;
  readonly askedAt: string;
  readonly endedAt: string | null;
}

export const AnswerIt = ({ of }: { of: Question }) => (
  <ActionButton
    name="Answer"
    label={`Answer question ${of.id}`}
    right="customers"
    says={
      <>
        The operator asks: <q>{of.question}</q> It is answered once.
      </>
    }
    inputs={[{ name: 'answer', label: 'Answer', isLong: true }]}
    run={(body) => send('POST', `/customers/${of.customerId}/information-requests/${of.id}/answer`, body)}
  />
);

const QUESTIONS: readonly Column<Question>[] = [
  { head: 'Question', cell: ({ question }) => question, className: 'wide' },
  { head: 'State', cell: ({ state }) => <State state={state} tone={state === 'open' ? 'warn' : 'plain'} /> },
  { head: 'Due', cell: ({ dueAt }) => <Time at={dueAt} /> },
  { head: 'Answer', cell: (one) => (one.state === 'open' ? <AnswerIt of={one} /> : one.answer), className: 'wide' },
];

interface Destination {
  readonly id: string;
  readonly kind: string;
  readonly asset: string | null;
  readonly chain: string | null;
  readonly address: string | null;
  readonly hint: string;
  readonly usable: boolean;
  readonly usableAt: string | null;
  readonly confirmedAt: string | null;
  readonly createdAt: string;
}
const DESTINATIONS: readonly Column<Destination>[] = [
  { head: 'Destination', cell: ({ id }) => <Id text={id} /> },
  { head: 'Kind', cell: ({ kind, asset, chain }) => `${kind} in ${asset ?? chain ?? ''}` },
  { head: 'Ends with', cell: ({ address, hint }) => (address === null ? `…${hint}` : <Id text={address} />) },
  {
    head: 'Usable',
    cell: ({ usable, usableAt }) =>
      usable ? (
        'yes'
      ) : usableAt === null ? (
        'no'
      ) : (
        <>
          from <Time at={usableAt} />
        </>
      ),
  },
  { head: 'Confirmed', cell: ({ confirmedAt }) => <Time at={confirmedAt} /> },
  { head: 'Added', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

interface Limits {
  readonly markets: readonly { market: string; asset: string; min: string; max: string }[];
  readonly limits: readonly {
    per: string;
    asset: string;
    max: string;
    used: string;
    left: string;
    resetsAt: string | null;
  }[];
}
const LIMITS: readonly Column<Limits['limits'][number]>[] = [
  { head: 'Counted', cell: ({ per }) => ({ order: 'one order', day: '24 hours', month: '30 days' })[per] ?? per },
  { head: 'Asset', cell: ({ asset }) => asset },
  { head: 'Maximum', cell: ({ max }) => max, className: 'number' },
  { head: 'Used', cell: ({ used }) => used, className: 'number' },
  { head: 'Left', cell: ({ left }) => left, className: 'number' },
  { head: 'All left again', cell: ({ resetsAt }) => <Time at={resetsAt} /> },
];

const MARKETS: readonly Column<Limits['markets'][number]>[] = [
  { head: 'Market', cell: ({ market }) => market, className: 'number' },
  { head: 'Customer pays', cell: ({ asset }) => asset },
  { head: 'Minimum', cell: ({ min }) => min, className: 'number' },
  { head: 'Maximum', cell: ({ max }) => max, className: 'number' },
];

// Long because it is one page with one state: its parts read the same answers.
export function CustomerPage() {
  const { customer: id } = useParams({ from: '/customers/$customer' });
  const may = useMay();
  const base = `/customers/${id}`;
  const found = useQuery({ queryKey: ['customer', id], queryFn: () => read<Customer>(base) });
  const destinations = useQuery({
    queryKey: ['destinations', id],
    queryFn: () => read<Page<Destination>>(`${base}/destinations`),
  });
  const limits = useQuery({ queryKey: ['limits', id], queryFn: () => read<Limits>(`${base}/limits`) });
  const orders = useQuery({
    queryKey: ['orders of', id],
    queryFn: () => read<Page<OrderRow>>('/orders', { customerId: id, limit: '10' }),
  });
  const questions = useQuery({
    queryKey: ['questions', id],
    queryFn: () => read<Page<Question>>(`${base}/information-requests`),
    enabled: may('customers'),
  });
  if (found.error !== null)
    return (
      <>
        <h1>Customer {id}</h1>
        <Failure error={found.error} />
      </>
    );
  const { data } = found;
  return (
    <>
      <div className="title">
        <div className="row">
          <h1>Customer {id}</h1>
          {data && <Verification of={data.verification} />}
        </div>
        <div className="row">
          <ActionButton
            name="Verification link"
            right="customers"
            says="Creates a link to the hosted page where the customer is verified. Anyone with the link can act as the customer, so send it only to the customer."
            run={() => send<{ url: string }>('POST', `${base}/verification-link`)}
            shows={({ url }) => <Secret name="Link" text={url} />}
          />
          <ActionButton
            name="Change contact"
            right="customers"
            says="Changes phone, e-mail address or country. Empty fields stay unchanged."
            inputs={[
              { name: 'phone', label: 'Phone', hint: '+91-9876543210', isOptional: true },
              { name: 'email', label: 'E-mail', hint: 'customer@example.org', isOptional: true },
              { name: 'country', label: 'Country', hint: 'IN', isOptional: true },
            ]}
            run={(body) => send('PATCH', base, body)}
          />
        </div>
      </div>
      {data && (
        <section className="panel" aria-label="About">
          <dl className="facts">
            <Fact name="Your name for it">{data.reference ?? <span className="muted">none</span>}</Fact>
            <Fact name="Kind">{data.kind}</Fact>
            <Fact name="Level">{data.level}</Fact>
            <Fact name="Phone proved">{data.hasLoggedIn ? 'yes' : 'no'}</Fact>
            <Fact name="May trade">{data.mayTrade.allowed ? 'yes' : words(data.mayTrade.reason ?? 'no')}</Fact>
            <Fact name="Country">
              {data.country}
              {data.countryBy === null ? ', not known' : `, by ${data.countryBy}`}
            </Fact>
            <Fact name="Created">
              <Time at={data.createdAt} />
            </Fact>
          </dl>
        </section>
      )}
      {may('customers') && (
        <>
          <h2>What the operator asks</h2>
          <Table
            label="Questions"
            columns={QUESTIONS}
            rows={questions.data?.data}
            keyOf={(one) => one.id}
            empty="The operator has no open questions."
          />
        </>
      )}
      <h2>Destinations</h2>
      <Table
        label="Destinations"
        columns={DESTINATIONS}
        rows={destinations.data?.data}
        keyOf={(one) => one.id}
        empty="None yet: your program or the customer adds them."
      />
      <h2>Limits</h2>
      <Table
        label="Limits"
        columns={LIMITS}
        rows={limits.data?.limits}
        keyOf={({ per, asset, max }) => `${per} ${asset} ${max}`}
        empty="No limit across orders."
      />
      <details className="panel">
        <summary>Limits of one order, by market</summary>
        <Table
          label="Limits of one order"
          columns={MARKETS}
          rows={limits.data?.markets}
          keyOf={({ market }) => market}
          empty="No market."
        />
      </details>
      <div className="title">
        <h2>Newest orders</h2>
        <To to="/orders" search={{ customerId: id }}>
          All of them
        </To>
      </div>
      <Table
        label="Orders"
        columns={ORDER_COLUMNS}
        rows={orders.data?.data}
        keyOf={(one) => one.id}
        empty="No order yet."
      />
    </>
  );
}
