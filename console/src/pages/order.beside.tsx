/** Beside an order: the webhooks about it with their deliveries, and where its payout goes. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { CUSTOMER_ACTIONS } from '../actions.ts';
import { type Outcome, read } from '../api.ts';
import { ActionDialog } from '../form.tsx';
import { counted, spoken } from '../format.ts';
import { every } from '../live.ts';
import { useMay } from '../shell.tsx';
import { type Column, Fact, Facts, Failure, Id, State, Table, Time, type Tone } from '../ui.tsx';

interface Hook {
  readonly sequence: number;
  readonly type: string;
  readonly at: string;
  readonly position: string | null;
  readonly endpointId: string | null;
  readonly url: string | null;
  readonly state: string | null;
  readonly attempts: number;
  readonly lastError: string | null;
  readonly endedAt: string | null;
  readonly nextAttemptAt: string | null;
  readonly waitsFor: string | null;
}

/** What the delivery log calls them, in the words of who waits for one. */
const DELIVERY: Readonly<Record<string, readonly [string, Tone]>> = {
  ...{ waiting: ['pending', 'info'], delivered: ['delivered', 'ok'], dead: ['failed', 'bad'] },
  dropped: ['dropped', 'warn'],
};
const WAITS: Readonly<Record<string, string>> = {
  being_sent: 'it is being sent now',
  earlier_event: 'is sent after the previous one',
  endpoint_held: 'its endpoint is held',
  endpoint_off: 'its endpoint is switched off',
  endpoint_removed: 'its endpoint was removed',
};

function Delivered({ of: { state, position } }: { of: Hook }) {
  if (state === null)
    return <span className="muted">{position === null ? 'not published yet' : 'no endpoint takes it'}</span>;
  const [name, tone] = DELIVERY[state] ?? ([state, 'plain'] as const);
  return <State state={name} tone={tone} />;
}

/** The list of deliveries begins with this one, however many are newer. */
const searchOf = (position: string) => ({ below: String(BigInt(position) + 1n), row: position });

const HOOKS: readonly Column<Hook>[] = [
  {
    head: 'Event',
    cell: ({ sequence, type, endpointId, position, url }) => (
      <>
        {endpointId === null || position === null ? (
          <span className="nowrap">
            {sequence}: {type}
          </span>
        ) : (
          <Link
            to="/webhooks/$endpoint"
            params={{ endpoint: endpointId }}
            search={searchOf(position)}
            className="nowrap"
          >
            {sequence}: {type}
          </Link>
        )}
        {url !== null && <div className="muted long">to {url}</div>}
      </>
    ),
  },
  { head: 'Delivery', cell: (hook) => <Delivered of={hook} />, className: 'nowrap' },
  { head: 'Attempts', cell: ({ attempts }) => attempts, className: 'number' },
  {
    head: 'Next attempt',
    cell: ({ state, nextAttemptAt, waitsFor, endedAt }) =>
      state !== 'waiting' ? (
        <span className="muted nowrap">
          {endedAt === null ? 'none' : 'ended'} {endedAt !== null && <Time at={endedAt} />}
        </span>
      ) : nextAttemptAt !== null ? (
        <Time at={nextAttemptAt} />
      ) : (
        <span className="muted">{WAITS[waitsFor ?? ''] ?? 'not known'}</span>
      ),
  },
  { head: 'Last failure', cell: ({ lastError }) => lastError && spoken(lastError), className: 'wide' },
];
/** Events of an order; few have more. */
const MOST = 50;

export function OrderHooks({ order }: { order: string }) {
  const found = useQuery({
    queryKey: ['order', order, 'webhooks'],
    queryFn: () =>
      read<{ webhooks: Hook[]; next: string | null }>(`/orders/${order}/webhooks`, { limit: String(MOST) }),
    refetchInterval: every(10_000),
  });
  const failed = found.data?.webhooks.filter(({ state }) => state === 'dead').length ?? 0;
  return (
    <section className="panel">
      <h2>Webhooks</h2>
      {found.error !== null && <Failure error={found.error} />}
      {failed > 0 && (
        <p className="note is-bad">
          {counted(failed, 'webhook')} could not be delivered: the partner may not know the state of this order.
        </p>
      )}
      <Table
        label="Webhooks"
        columns={HOOKS.filter(
          ({ head }) => head !== 'Last failure' || found.data?.webhooks.some(({ lastError }) => lastError !== null),
        )}
        rows={found.data?.webhooks}
        keyOf={({ sequence, endpointId }) => `${sequence} ${endpointId}`}
        empty="No event of this order yet."
      />
      {found.data?.next != null && <p className="muted">The newest {MOST} events; older ones are not shown.</p>}
    </section>
  );
}

interface GoesTo {
  readonly kind: 'account' | 'address' | null;
  readonly rail: string;
  readonly asset: string;
  readonly address: string | null;
  readonly fiatAccountId: string | null;
  readonly fiat: string | null;
  readonly hint: string | null;
  readonly waitsUntil: string | null;
}
interface Account {
  readonly fiatAccountId: string;
}

/** The whole number of an account is personal data: opening it is an action, which the audit records. */
export function OrderDestination({ order, customer }: { order: string; customer: string }) {
  const may = useMay();
  const [isOpening, setOpening] = useState(false);
  const [account, setAccount] = useState<Account>();
  const found = useQuery({
    queryKey: ['order', order, 'destination'],
    queryFn: () => read<GoesTo>(`/orders/${order}/payout-destination`),
    refetchInterval: every(30_000),
  });
  const to = found.data;
  const opened = (came: Outcome) => {
    const { accounts } = (came as Outcome & { personal: { accounts: readonly Account[] } }).personal;
    setOpening(false);
    setAccount(accounts.find(({ fiatAccountId }) => fiatAccountId === to?.fiatAccountId));
  };
  return (
    <section className="panel" aria-label="Destination">
      <h2>Destination</h2>
      {found.error !== null && <Failure error={found.error} />}
      {to?.kind === null && <p className="muted">None is named yet.</p>}
      {to !== undefined && to.kind !== null && (
        <dl className="facts">
          {to.address !== null && (
            <Fact name="Address">
              <Id text={to.address} />
            </Fact>
          )}
          {to.kind === 'account' && (
            <Fact name="Account">
              <span className="mono">…{to.hint}</span> <span className="muted">{to.fiat}</span>
            </Fact>
          )}
          {to.kind === 'account' && <Fact name="Its number">{to.fiatAccountId}</Fact>}
          <Fact name="By">
            {to.asset} on {to.rail}
          </Fact>
          {to.waitsUntil !== null && (
            <Fact name="Waits">
              No money leaves for it until <Time at={to.waitsUntil} />, unless the customer confirms it before.
            </Fact>
          )}
        </dl>
      )}
      {account !== undefined && <Facts of={account} />}
      {to?.kind === 'account' && account === undefined && (
        <div className="actions">
          <div>
            <button type="button" disabled={!may(CUSTOMER_ACTIONS.personal.right)} onClick={() => setOpening(true)}>
              Look at the whole account
            </button>
            <span className="muted">Personal data: it takes a reason, which is stored in the audit.</span>
          </div>
        </div>
      )}
      {isOpening && (
        <ActionDialog
          action={CUSTOMER_ACTIONS.personal}
          about={`customer ${customer}`}
          given={{ customer }}
          onDone={opened}
          onClose={() => setOpening(false)}
        />
      )}
    </section>
  );
}
