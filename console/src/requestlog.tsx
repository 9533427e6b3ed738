/** Requests of a partner's programs and team, as both consoles list and show them. They have no bodies here. */
import type { ReactNode } from 'react';
import { type Filter, within } from './filters.tsx';
import { type Column, Fact, Id, State, Time } from './ui.tsx';

export interface LoggedRequest {
  readonly at: string;
  readonly protocol: string;
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly reason: string | null;
  readonly why: string | null;
  readonly tookMs: number;
  readonly replayed: boolean;
  readonly clientRequestId: string | null;
  readonly version: string | null;
}

/** An HTTP status, by its class. */
export const Status = ({ of }: { of: number }) => (
  <State state={String(of)} tone={of < 400 ? 'plain' : of < 500 ? 'warn' : 'bad'} />
);

export const declinedFor = ({ reason, why }: LoggedRequest): ReactNode =>
  reason === null ? <span className="muted">not</span> : why === null ? reason : `${reason}: ${why}`;

/** @param keyOf the key, or the member of the team, that sent it */
export const requestColumns = <Row extends LoggedRequest>(keyOf: (row: Row) => string): readonly Column<Row>[] => [
  { head: 'When', cell: ({ at }) => <Time at={at} /> },
  { head: 'Interface', cell: ({ protocol }) => protocol },
  { head: 'Endpoint', cell: ({ operation }) => operation },
  { head: 'Status', cell: ({ status }) => <Status of={status} /> },
  { head: 'Declined for', cell: declinedFor, className: 'wide' },
  { head: 'By', cell: (row) => <span className="mono">{keyOf(row)}</span> },
  { head: 'Took', cell: ({ tookMs }) => `${tookMs} ms`, className: 'number' },
];

export const REQUEST_FILTERS: readonly Filter[] = [
  { name: 'protocol', label: 'Interface', choices: ['v1', 'white-label'] },
  { name: 'operation', label: 'Endpoint', hint: 'orders.create' },
  { name: 'status', label: 'Status', hint: '409' },
  { name: 'reason', label: 'Declined for', hint: 'unauthenticated' },
];
export const REQUESTED = within('Asked');

/**
 * @param by     the key, or the member of the team, that sent it
 * @param idName whose id the program's own one is
 * @param first  facts that only one of the consoles has, and `last` as well
 */
export const RequestFacts = (p: {
  of: LoggedRequest;
  by: string;
  idName: string;
  first?: ReactNode;
  last?: ReactNode;
}) => (
  <dl className="facts">
    {p.first}
    <Fact name="Interface">{p.of.protocol}</Fact>
    <Fact name="Endpoint">{p.of.operation}</Fact>
    <Fact name="Path">
      <span className="mono long">
        {p.of.method} {p.of.path}
      </span>
    </Fact>
    <Fact name="When">
      <Time at={p.of.at} />
    </Fact>
    <Fact name="By">
      <Id text={p.by} />
    </Fact>
    <Fact name="Took">{p.of.tookMs} ms</Fact>
    <Fact name={p.idName}>{p.of.clientRequestId ?? <span className="muted">none</span>}</Fact>
    <Fact name="Repeated">{p.of.replayed ? 'the answer of an earlier request' : 'no'}</Fact>
    {p.of.version !== null && p.of.version !== '' && <Fact name="Version">{p.of.version}</Fact>}
    {p.last}
  </dl>
);
