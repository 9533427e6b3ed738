/**
 * Items that need attention: failing endpoints, questions of the operator, orders that wait for someone; and the newest orders.
 */
import { useQuery } from '@tanstack/react-query';
import { To } from '../../chrome.tsx';
import { every } from '../../live.ts';
import { type Column, CustomerLink, Failure, Table, Time } from '../../ui.tsx';
import { type Page, read } from '../api.ts';
import { useMay, useSession } from '../shell.tsx';
import { AnswerIt, type Question } from './customers.tsx';
import { ORDER_COLUMNS, type OrderRow } from './orders.tsx';
import { type Delivery, ENDPOINTS, type Endpoint } from './webhooks.tsx';

/** States in which an order waits for a person or for money. */
const WAITING = ['on_hold', 'payout_held', 'refund_held', 'awaiting_liquidity'] as const;
const live = { refetchInterval: every(10_000) };

const isIll = (one: Endpoint): boolean =>
  one.heldAt !== null || one.switchedOffAt !== null || one.failingSince !== null;

const QUESTIONS: readonly Column<Question>[] = [
  { head: 'Question', cell: ({ question }) => question, className: 'wide' },
  { head: 'Customer', cell: ({ customerId }) => <CustomerLink id={customerId} isRow /> },
  { head: 'Due', cell: ({ dueAt }) => <Time at={dueAt} /> },
  { head: 'Actions', cell: (one) => <AnswerIt of={one} /> },
];

function useWaiting() {
  return useQuery({
    queryKey: ['waiting'],
    queryFn: async () => {
      const pages = await Promise.all(WAITING.map((state) => read<Page<OrderRow>>('/orders', { state, limit: '20' })));
      return pages.flatMap(({ data }) => data).toSorted((a, b) => (a.updatedAt < b.updatedAt ? -1 : 1));
    },
    ...live,
  });
}

/** Deliveries that were given up, of every endpoint. */
function useDead(endpoints: readonly Endpoint[] | undefined) {
  return useQuery({
    queryKey: ['dead', endpoints?.map(({ id }) => id)],
    queryFn: async () => {
      const counted = await Promise.all(
        (endpoints ?? []).map(async (one) => {
          const path = `/webhook-endpoints/${one.id}/deliveries`;
          const { data } = await read<Page<Delivery>>(path, { state: 'dead', limit: '100' });
          return { one, count: data.length };
        }),
      );
      return counted.filter(({ count }) => count > 0);
    },
    enabled: endpoints !== undefined && endpoints.length > 0,
    // With a filter the server looks through many rows.
    refetchInterval: every(60_000),
  });
}

export function Home() {
  const may = useMay();
  const { data: session } = useSession();
  const endpoints = useQuery({
    queryKey: ['endpoints'],
    queryFn: () => read<Page<Endpoint>>('/webhook-endpoints'),
    ...live,
  });
  const dead = useDead(endpoints.data?.data);
  const waiting = useWaiting();
  const questions = useQuery({
    queryKey: ['open questions'],
    queryFn: () => read<Page<Question>>('/information-requests'),
    enabled: may('customers'),
    ...live,
  });
  const newest = useQuery({
    queryKey: ['newest'],
    queryFn: () => read<Page<OrderRow>>('/orders', { limit: '10' }),
    ...live,
  });
  const ill = endpoints.data?.data.filter(isIll);
  const error = [endpoints, waiting, questions, newest].find((one) => one.error !== null)?.error ?? null;
  const isQuiet =
    ill?.length === 0 &&
    waiting.data?.length === 0 &&
    (questions.data?.data.length ?? 0) === 0 &&
    (dead.data?.length ?? 0) === 0;
  return (
    <>
      <h1>What needs you</h1>
      {error !== null && <Failure error={error} />}
      {session?.recoveryCodes === 0 && (
        <p className="note is-warn">
          You have no recovery code left. <To to="/account">Make new ones</To>
        </p>
      )}
      {isQuiet && (
        <p className="note is-ok">
          Nothing needs your attention: webhooks are delivered, and no order waits for a person.
        </p>
      )}
      {may('customers') && (questions.data?.data.length ?? 0) > 0 && (
        <>
          <h2>The operator asks</h2>
          <Table
            label="Questions"
            columns={QUESTIONS}
            rows={questions.data?.data}
            keyOf={({ id }) => id}
            empty="The operator has no open questions."
          />
        </>
      )}
      {(ill?.length ?? 0) > 0 && (
        <>
          <h2>Webhooks that fail</h2>
          <Table label="Webhooks that fail" columns={ENDPOINTS} rows={ill} keyOf={({ id }) => id} empty="None." />
        </>
      )}
      {(dead.data ?? []).map(({ one, count }) => (
        <p key={one.id} className="note is-bad">
          {count === 100 ? '100 or more' : count} {count === 1 ? 'event was' : 'events were'} given up at{' '}
          <span className="mono">{one.url}</span>.{' '}
          <To to={`/webhooks/${one.id}`} search={{ state: 'dead' }}>
            Look at them
          </To>
        </p>
      ))}
      {(waiting.data?.length ?? 0) > 0 && (
        <>
          <h2>Orders that wait</h2>
          <Table
            label="Orders that wait"
            columns={ORDER_COLUMNS}
            rows={waiting.data}
            keyOf={({ id }) => id}
            empty="None."
          />
        </>
      )}
      <div className="title">
        <h2>Newest orders</h2>
        <To to="/orders">All orders</To>
      </div>
      <Table
        label="Newest orders"
        columns={ORDER_COLUMNS}
        rows={newest.data?.data}
        keyOf={({ id }) => id}
        empty="No order yet."
      />
    </>
  );
}
