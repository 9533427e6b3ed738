/** Requests of a partner's programs and team to its API, of the last thirty days. */
import { useParams } from '@tanstack/react-router';
import { List } from '../list.tsx';
import {
  declinedFor,
  type LoggedRequest,
  REQUEST_FILTERS,
  REQUESTED,
  RequestFacts,
  requestColumns,
  Status,
} from '../requestlog.tsx';
import { RowLink } from '../rowlink.tsx';
import { type Column, Fact } from '../ui.tsx';
import { PartnerLink } from './partners.tsx';

export interface RequestRow extends LoggedRequest {
  readonly id: string;
  readonly partnerId: string;
  readonly requestId: string;
  readonly apiKey: string;
}

export const REQUEST_COLUMNS = requestColumns<RequestRow>(({ apiKey }) => apiKey);

const COLUMNS: readonly Column<RequestRow>[] = [
  { head: 'Request', cell: ({ id, requestId }) => <RowLink row={id}>{requestId}</RowLink> },
  ...REQUEST_COLUMNS,
];

const About = ({ of }: { of: RequestRow }) => (
  <>
    <h2>Request {of.requestId}</h2>
    <RequestFacts
      of={of}
      by={of.apiKey}
      idName="The program's id"
      first={
        <>
          <Fact name="Partner">
            <PartnerLink id={of.partnerId} />
          </Fact>
          <Fact name="Status">
            <Status of={of.status} />
          </Fact>
          <Fact name="Declined for">{declinedFor(of)}</Fact>
        </>
      }
    />
  </>
);

export function PartnerRequests() {
  const { partner } = useParams({ from: '/partners/$partner/requests' });
  return (
    <List<RequestRow>
      title={`Requests of partner ${partner}`}
      says="Requests on both APIs in the last 30 days, without their bodies. Of the white-label API, at most 600 requests per key and minute are listed."
      path={`/partners/${partner}/requests`}
      list="requests"
      cursor="below"
      filters={[...REQUEST_FILTERS, { name: 'key', label: 'Key' }, ...REQUESTED]}
      columns={COLUMNS}
      keyOf={({ id }) => id}
      empty="No request matches these filters."
      detail={(row) => <About of={row} />}
    />
  );
}
