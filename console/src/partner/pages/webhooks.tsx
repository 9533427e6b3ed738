/** Webhook endpoints, the deliveries to one, the attempts at a delivery, and sending again. */
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { To } from '../../chrome.tsx';
import { Secret } from '../../codes.tsx';
import { RowLink } from '../../rowlink.tsx';
import { type Column, Fact, Failure, State, Table, Time } from '../../ui.tsx';
import { ActionButton, type Input } from '../actionbutton.tsx';
import { type Page, read, send } from '../api.ts';
import { List } from '../list.tsx';
import { About, DeliveryState, failureSays } from '../parts.tsx';

export interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly format: string;
  readonly events: readonly string[];
  readonly enabled: boolean;
  readonly failures: number;
  readonly pausedUntil: string | null;
  readonly failingSince: string | null;
  readonly switchedOffAt: string | null;
  readonly heldAt: string | null;
  readonly oldSecretUntil: string | null;
  readonly createdAt: string;
}

/** Its faults, the most serious first. */
export function EndpointState({ of }: { of: Endpoint }) {
  if (of.heldAt !== null) return <State state="held" tone="bad" />;
  if (of.switchedOffAt !== null) return <State state="switched off" tone="bad" />;
  if (!of.enabled) return <State state="off" />;
  if (of.failingSince !== null) return <State state="failing" tone="warn" />;
  return <State state="on" tone="plain" />;
}

export const ENDPOINTS: readonly Column<Endpoint>[] = [
  {
    head: 'Endpoint',
    cell: ({ id, url }) => (
      <span className="mono long">
        <To to={`/webhooks/${id}`} data-row>
          {url}
        </To>
      </span>
    ),
  },
  { head: 'State', cell: (one) => <EndpointState of={one} /> },
  { head: 'Events', cell: ({ events }) => (events.length === 0 ? 'all' : events.join(', ')) },
  { head: 'Format', cell: ({ format }) => format },
  { head: 'Failed in a row', cell: ({ failures }) => failures, className: 'number' },
  {
    head: 'Failing since',
    cell: ({ failingSince }) =>
      failingSince === null ? <span className="muted">no</span> : <Time at={failingSince} />,
  },
  { head: 'Added', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

const URL_INPUT: Input = { name: 'url', label: 'Address', hint: 'https://wallet.example/hooks' };
const EVENTS_INPUT: Input = {
  name: 'events',
  label: 'Types of events, a line each; none: all',
  hint: 'order.*',
  isList: true,
};

export const Webhooks = () => (
  <List<Endpoint>
    title="Webhook endpoints"
    path="/webhook-endpoints"
    columns={ENDPOINTS}
    keyOf={({ id }) => id}
    empty="No endpoint yet. Events can be read from the event feed, too."
    buttons={
      <ActionButton
        name="Add an endpoint"
        right="develop"
        tone="primary"
        says="New events are posted there in the format of Standard Webhooks. The secret is shown once."
        inputs={[URL_INPUT, EVENTS_INPUT]}
        run={(body) => send<{ secret: string }>('POST', '/webhook-endpoints', body)}
        shows={({ secret }) => <Secret name="Secret" text={secret} />}
      />
    }
  />
);

export interface Delivery {
  readonly eventId: string;
  readonly type: string;
  readonly subject: string;
  readonly sequence: number;
  readonly state: string;
  readonly attempts: number;
  readonly lastError: string | null;
  readonly endedAt: string | null;
}

const DELIVERIES: readonly Column<Delivery>[] = [
  { head: 'Event', cell: ({ eventId, type }) => <RowLink row={eventId}>{type}</RowLink> },
  { head: 'State', cell: ({ state }) => <DeliveryState state={state} /> },
  { head: 'About', cell: ({ subject }) => <About text={subject} /> },
  { head: 'Sequence', cell: ({ sequence }) => sequence, className: 'number' },
  { head: 'Attempts', cell: ({ attempts }) => attempts, className: 'number' },
  { head: 'Ended', cell: ({ endedAt }) => <Time at={endedAt} /> },
  {
    head: 'Last failure',
    cell: ({ lastError }) => (lastError === null ? <span className="muted">none</span> : failureSays(lastError)),
    className: 'wide',
  },
];

export function WebhookPage() {
  const { endpoint: id } = useParams({ from: '/webhooks/$endpoint' });
  const base = `/webhook-endpoints/${id}`;
  const found = useQuery({ queryKey: ['endpoint', id], queryFn: () => read<Endpoint>(base) });
  if (found.error !== null)
    return (
      <>
        <h1>Webhook endpoint {id}</h1>
        <Failure error={found.error} />
      </>
    );
  return (
    <>
      <div className="title">
        <div className="row">
          <h1>Webhook endpoint</h1>
          {found.data && <EndpointState of={found.data} />}
        </div>
        {found.data && <Actions of={found.data} base={base} />}
      </div>
      {found.data && (
        <section className="panel" aria-label="About">
          <dl className="facts">
            <Fact name="Address">
              <span className="mono long">{found.data.url}</span>
            </Fact>
            <Fact name="Events">{found.data.events.length === 0 ? 'all' : found.data.events.join(', ')}</Fact>
            <Fact name="Format">{found.data.format}</Fact>
            <Fact name="Failed in a row">{found.data.failures}</Fact>
            {found.data.pausedUntil !== null && (
              <Fact name="Next attempt not before">
                <Time at={found.data.pausedUntil} />
              </Fact>
            )}
            {found.data.oldSecretUntil !== null && (
              <Fact name="Previous secret signs until">
                <Time at={found.data.oldSecretUntil} />
              </Fact>
            )}
          </dl>
        </section>
      )}
      <List<Delivery>
        title="Deliveries"
        isPart
        isPaged
        path={`${base}/deliveries`}
        filters={[{ name: 'state', label: 'State', choices: ['waiting', 'delivered', 'dead', 'dropped'] }]}
        columns={DELIVERIES}
        keyOf={({ eventId }) => eventId}
        empty="No delivery matches these filters."
        detail={(row) => <Attempts base={base} of={row} />}
      />
    </>
  );
}

function Actions({ of, base }: { of: Endpoint; base: string }) {
  return (
    <div className="row">
      <ActionButton
        name="Send a test event"
        right="develop"
        says="Posts a test event to the endpoint."
        run={() => send('POST', `${base}/test`)}
      />
      <ActionButton
        name="Send a span again"
        right="develop"
        says="Sends all events of a period again, in order. They keep their ids, so that your program can recognise them."
        inputs={[
          { name: 'from', label: 'From', value: new Date(Date.now() - 3_600_000).toISOString() },
          { name: 'until', label: 'Before', isOptional: true },
        ]}
        run={(body) => send<{ replayed: number; hasMore: boolean }>('POST', `${base}/replay`, body)}
        shows={({ replayed, hasMore }) => (
          <p className="note is-ok" role="status">
            {replayed} events are sent again.{hasMore && ' There are more: take a shorter span.'}
          </p>
        )}
      />
      <ActionButton
        name="Change"
        right="develop"
        says="Changes where and which events are sent."
        inputs={[
          { ...URL_INPUT, value: of.url },
          { ...EVENTS_INPUT, value: of.events.join('\n') },
        ]}
        run={(body) => send('PATCH', base, body)}
      />
      <ActionButton
        name={of.enabled ? 'Switch off' : 'Switch on'}
        right="develop"
        says={
          of.enabled ? 'Nothing is sent until it is switched on; events wait.' : 'What waits is sent, in its order.'
        }
        run={() => send('PATCH', base, { enabled: !of.enabled })}
      />
      {of.heldAt !== null && (
        <ActionButton
          name="Resume"
          right="develop"
          says="Confirms that the address is yours. It then receives every event that it missed."
          run={() => send('POST', `${base}/resume`)}
        />
      )}
      <ActionButton
        name="Rotate secret"
        right="develop"
        says="Makes a new secret, shown once. For one day, events are signed with the previous one, too."
        run={() => send<{ secret: string }>('POST', `${base}/rotate-secret`, {})}
        shows={({ secret }) => <Secret name="Secret" text={secret} />}
      />
      <ActionButton
        name="Remove"
        right="develop"
        tone="grave"
        says="Removes the endpoint. Events that were not delivered yet are dropped."
        run={() => send('DELETE', base)}
      />
    </div>
  );
}

interface Attempt {
  readonly at: string;
  readonly tookMs: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly answer: string;
}
const ATTEMPTS: readonly Column<Attempt>[] = [
  { head: 'When', cell: ({ at }) => <Time at={at} /> },
  { head: 'Took', cell: ({ tookMs }) => `${tookMs} ms`, className: 'number' },
  { head: 'Answer', cell: ({ status, error }) => status ?? (error === null ? 'no answer' : failureSays(error)) },
  { head: 'Began with', cell: ({ answer }) => <span className="mono long">{answer}</span>, className: 'wide' },
];

function Attempts({ base, of }: { base: string; of: Delivery }) {
  const found = useQuery({
    queryKey: ['attempts', base, of.eventId],
    queryFn: () => read<Page<Attempt>>(`${base}/deliveries/${of.eventId}`),
  });
  return (
    <>
      <div className="title">
        <h2>
          {of.type}, {of.eventId}
        </h2>
        <ActionButton
          name="Send again"
          right="develop"
          tone="primary"
          says="Sends this event again, as soon as the events before it about the same subject are delivered."
          run={() => send('POST', `${base}/replay`, { eventId: of.eventId })}
        />
      </div>
      <p>
        <DeliveryState state={of.state} /> <About text={of.subject} />
      </p>
      {found.error !== null && <Failure error={found.error} />}
      <Table
        label="Attempts"
        columns={ATTEMPTS}
        rows={found.data?.data}
        keyOf={({ at }) => at}
        empty="It has not been sent yet, or was sent more than 30 days ago."
      />
    </>
  );
}
