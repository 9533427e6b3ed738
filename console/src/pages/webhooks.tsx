/** Webhook endpoints of all partners, the deliveries of one, and the attempts at a delivery. */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { DELIVERY_STATES } from '../actions.ts';
import { read } from '../api.ts';
import { within } from '../filters.tsx';
import { spoken } from '../format.ts';
import { List } from '../list.tsx';
import { RowLink } from '../rowlink.tsx';
import { type Column, Failure, State, Subject, Table, Time } from '../ui.tsx';

interface Endpoint {
  readonly id: string;
  readonly partnerId: string;
  readonly url: string;
  readonly format: string;
  readonly enabled: boolean;
  readonly madeByKey: string | null;
  readonly createdAt: string;
  readonly lastAttemptAt: string | null;
  readonly lastStatus: number | null;
  readonly failures: number;
  readonly failingSince: string | null;
  readonly switchedOffAt: string | null;
  readonly heldAt: string | null;
}

/** Its faults, the most serious first. */
function EndpointState({ of }: { of: Endpoint }) {
  if (of.heldAt !== null) return <State state="held" tone="bad" />;
  if (of.switchedOffAt !== null) return <State state="switched off" tone="bad" />;
  if (!of.enabled) return <State state="off" />;
  if (of.failingSince !== null) return <State state="failing" tone="warn" />;
  return <State state={of.lastAttemptAt === null ? 'not used yet' : 'delivers'} tone="plain" />;
}

export const EndpointLink = ({ id, children }: { id: string; children: React.ReactNode }) => (
  <Link to="/webhooks/$endpoint" params={{ endpoint: id }} data-row>
    {children}
  </Link>
);

const ENDPOINTS: readonly Column<Endpoint>[] = [
  {
    head: 'Endpoint',
    cell: ({ id, url }) => (
      <span className="mono long">
        <EndpointLink id={id}>{url}</EndpointLink>
      </span>
    ),
  },
  { head: 'State', cell: (one) => <EndpointState of={one} /> },
  { head: 'Partner', cell: ({ partnerId }) => partnerId, className: 'number' },
  { head: 'Format', cell: ({ format }) => format },
  { head: 'Last attempt', cell: ({ lastAttemptAt }) => <Time at={lastAttemptAt} /> },
  {
    head: 'Answer',
    cell: ({ lastStatus, lastAttemptAt }) =>
      lastAttemptAt === null ? <span className="muted">none</span> : (lastStatus ?? 'no answer'),
    className: 'nowrap',
  },
  { head: 'Failed in a row', cell: ({ failures }) => failures, className: 'number' },
  {
    head: 'Failing since',
    cell: ({ failingSince }) =>
      failingSince === null ? <span className="muted">no</span> : <Time at={failingSince} />,
  },
  { head: 'Made by key', cell: ({ madeByKey }) => <span className="mono">{madeByKey}</span> },
];

export const Webhooks = () => (
  <List<Endpoint>
    title="Webhook endpoints"
    path="/endpoints"
    list="endpoints"
    cursor="after"
    filters={[
      { name: 'partner', label: 'Partner' },
      { name: 'enabled', label: 'Switched on', choices: ['true', 'false'], names: { true: 'yes', false: 'no' } },
      ...within('Created'),
    ]}
    columns={ENDPOINTS}
    keyOf={({ id }) => id}
    empty="No endpoint matches these filters."
  />
);

interface Delivery {
  readonly eventId: string;
  readonly position: string;
  readonly type: string;
  readonly subject: string;
  readonly sequence: number;
  readonly state: string;
  readonly attempts: number;
  readonly lastError: string | null;
  readonly endedAt: string | null;
}

const DELIVERY_TONES = { delivered: 'ok', waiting: 'info', dead: 'bad' } as const;
const DeliveryState = ({ state }: { state: string }) => (
  <State state={state} tone={DELIVERY_TONES[state as keyof typeof DELIVERY_TONES] ?? 'plain'} />
);

const DELIVERIES: readonly Column<Delivery>[] = [
  { head: 'Event', cell: ({ position, type }) => <RowLink row={position}>{type}</RowLink> },
  { head: 'State', cell: ({ state }) => <DeliveryState state={state} /> },
  { head: 'About', cell: ({ subject }) => <Subject text={subject} /> },
  { head: 'Sequence', cell: ({ sequence }) => sequence, className: 'number' },
  { head: 'Position', cell: ({ position }) => position, className: 'number' },
  { head: 'Attempts', cell: ({ attempts }) => attempts, className: 'number' },
  { head: 'Ended', cell: ({ endedAt }) => <Time at={endedAt} /> },
  { head: 'Last failure', cell: ({ lastError }) => lastError && spoken(lastError), className: 'wide' },
];

export function WebhookPage() {
  const { endpoint } = useParams({ from: '/webhooks/$endpoint' });
  return (
    <List<Delivery>
      title={`Deliveries to ${endpoint}`}
      path={`/endpoints/${endpoint}/deliveries`}
      list="deliveries"
      cursor="below"
      filters={[{ name: 'state', label: 'State', choices: DELIVERY_STATES }]}
      columns={DELIVERIES}
      keyOf={({ position }) => position}
      empty="No delivery matches these filters."
      above={(answer) =>
        answer && (
          <p>
            <span className="mono">{String(answer.url)}</span> of partner{' '}
            <Link to="/partners/$partner" params={{ partner: String(answer.partnerId) }}>
              {String(answer.partnerId)}
            </Link>
            , format {String(answer.format)}, switched {answer.enabled === true ? 'on' : 'off'}
          </p>
        )
      }
      detail={(row) => <Attempts endpoint={endpoint} of={row} />}
    />
  );
}

interface Attempt {
  readonly at: string;
  readonly tookMs: number;
  readonly status: number | null;
  readonly error: string | null;
}
const ATTEMPTS: readonly Column<Attempt>[] = [
  { head: 'When', cell: ({ at }) => <Time at={at} /> },
  { head: 'Took', cell: ({ tookMs }) => `${tookMs} ms`, className: 'number' },
  { head: 'Answer', cell: ({ status, error }) => (status === null ? (error ?? 'no answer') : status) },
];

function Attempts({ endpoint, of }: { endpoint: string; of: Delivery }) {
  const found = useQuery({
    queryKey: ['attempts', endpoint, of.position],
    queryFn: () => read<{ attempts: Attempt[] }>(`/endpoints/${endpoint}/deliveries/${of.position}/attempts`),
  });
  return (
    <>
      <h2>
        {of.type}, event {of.eventId}
      </h2>
      <p>
        <DeliveryState state={of.state} /> <Subject text={of.subject} />
      </p>
      {found.error !== null && <Failure error={found.error} />}
      <Table
        label="Attempts"
        columns={ATTEMPTS}
        rows={found.data?.attempts}
        keyOf={({ at }) => at}
        empty="It has not been sent yet, or was sent more than 30 days ago."
      />
    </>
  );
}
