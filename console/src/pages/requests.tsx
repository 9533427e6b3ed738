/** Requests of a partner's programs and team to its API, of the last thirty days. */
import { useParams } from '@tanstack/react-router';
import { within } from '../filters.tsx';
import { List, RowLink } from '../list.tsx';
import { type Column, Fact, Id, State, Time, type Tone } from '../ui.tsx';
import { PartnerLink } from './partners.tsx';

export interface RequestRow {
  readonly id: string;
  readonly partnerId: string;
  readonly requestId: string;
  readonly clientRequestId: string | null;
  readonly protocol: string;
  readonly apiKey: string;
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly reason: string | null;
  readonly why: string | null;
  readonly tookMs: number;
  readonly replayed: boolean;
  readonly version: string;
  readonly at: string;
}

const toneOf = (status: number): Tone => (status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'plain');
const Status = ({ of }: { of: number }) => <State state={String(of)} tone={toneOf(of)} />;
const declinedFor = ({ reason, why }: RequestRow) =>
  reason === null ? <span className="muted">not</span> : why === null ? reason : `${reason}: ${why}`;

export const REQUEST_COLUMNS: readonly Column<RequestRow>[] = [
  { head: 'When', cell: ({ at }) => <Time at={at} /> },
  { head: 'Interface', cell: ({ protocol }) => protocol },
  { head: 'Endpoint', cell: ({ operation }) => operation },
  { head: 'Status', cell: ({ status }) => <Status of={status} /> },
  { head: 'Declined for', cell: declinedFor, className: 'wide' },
  { head: 'By', cell: ({ apiKey }) => <span className="mono">{apiKey}</span> },
  { head: 'Took', cell: ({ tookMs }) => `${tookMs} ms`, className: 'number' },
];

const COLUMNS: readonly Column<RequestRow>[] = [
  { head: 'Request', cell: ({ id, requestId }) => <RowLink row={id}>{requestId}</RowLink> },
  ...REQUEST_COLUMNS,
];

export const RequestFacts = ({ of }: { of: RequestRow }) => (
  <>
    <h2>Request {of.requestId}</h2>
    <dl className="facts">
      <Fact name="Partner">
        <PartnerLink id={of.partnerId} />
      </Fact>
      <Fact name="Interface">{of.protocol}</Fact>
      <Fact name="Endpoint">{of.operation}</Fact>
      <Fact name="Path">
        <span className="mono long">
          {of.method} {of.path}
        </span>
      </Fact>
      <Fact name="Status">
        <Status of={of.status} />
      </Fact>
      <Fact name="Declined for">{declinedFor(of)}</Fact>
      <Fact name="When">
        <Time at={of.at} />
      </Fact>
      <Fact name="By">
        <Id text={of.apiKey} />
      </Fact>
      <Fact name="The program's id">{of.clientRequestId ?? <span className="muted">none</span>}</Fact>
      <Fact name="Repeated">{of.replayed ? 'the answer of an earlier request' : 'no'}</Fact>
      {of.version !== '' && <Fact name="Version">{of.version}</Fact>}
      <Fact name="Took">{of.tookMs} ms</Fact>
    </dl>
  </>
);

export function PartnerRequests() {
  const { partner } = useParams({ from: '/partners/$partner/requests' });
  return (
    <List<RequestRow>
      title={`Requests of partner ${partner}`}
      says="Requests on both interfaces of the last 30 days, without their bodies. Of the white-label wire a key has at most 600 lines a minute."
      path={`/partners/${partner}/requests`}
      list="requests"
      cursor="below"
      filters={[
        { name: 'protocol', label: 'Interface', choices: ['v1', 'white-label'] },
        { name: 'operation', label: 'Endpoint', hint: 'orders.create' },
        { name: 'status', label: 'Status', hint: '409' },
        { name: 'reason', label: 'Declined for', hint: 'unauthenticated' },
        { name: 'key', label: 'Key' },
        ...within('Asked'),
      ]}
      columns={COLUMNS}
      keyOf={({ id }) => id}
      empty="No request matches these filters."
      detail={(row) => <RequestFacts of={row} />}
    />
  );
}
