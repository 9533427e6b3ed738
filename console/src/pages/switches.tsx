/** Kill switches: what each kind stops, which are set, who set each and why, and what waits for it. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { SWITCH_ACTIONS } from '../actions.ts';
import { type KillSwitch, read } from '../api.ts';
import { ActionDialog } from '../form.tsx';
import { counted } from '../format.ts';
import { every } from '../live.ts';
import { OtherActions } from '../others.tsx';
import { useMay } from '../shell.tsx';
import { type Column, Fact, Failure, Table, Time } from '../ui.tsx';
import { useSwitches } from './home.tsx';

interface Effect {
  readonly kind: string;
  readonly prevents: string;
  readonly continues: string;
}
interface Waiting {
  readonly kind: string;
  readonly subject: string;
  readonly payouts: number;
  readonly refunds: number;
  readonly orders: number;
  readonly oldestAt: string | null;
  readonly underWay: number;
}

const useEffects = () =>
  useQuery({
    queryKey: ['kill-switches', 'kinds'],
    queryFn: () => read<{ kinds: Effect[] }>('/kill-switches/kinds'),
    staleTime: Number.POSITIVE_INFINITY,
  });
const useWaiting = () =>
  useQuery({
    queryKey: ['kill-switches', 'waiting'],
    queryFn: () => read<{ waiting: Waiting[] }>('/kill-switches/waiting'),
    refetchInterval: every(10_000),
  });

/** Payouts wait for a switch on what they leave by; for one on a market or partner nothing waits: its orders go on. */
function WaitsFor({ of, kind }: { of: Waiting | undefined; kind: string }) {
  if (of === undefined) return <span className="muted">Loading</span>;
  if (kind === 'market' || kind === 'partner')
    return (
      <>
        <span className="muted">Nothing.</span>{' '}
        <Link to="/orders" search={{ [kind]: of.subject }}>
          {counted(of.underWay, 'order')}
        </Link>{' '}
        under way {of.underWay === 1 ? 'goes' : 'go'} on
      </>
    );
  const parts = [
    ...(of.payouts > 0 ? [counted(of.payouts, 'payout')] : []),
    ...(of.refunds > 0 ? [counted(of.refunds, 'refund')] : []),
  ];
  if (parts.length === 0) return <span className="muted">No payout waits</span>;
  return (
    <>
      <Link to="/payouts" search={{ state: 'created' }}>
        {parts.join(', ')}
      </Link>{' '}
      of {counted(of.orders, 'order')}, the oldest since <Time at={of.oldestAt} />
    </>
  );
}

const NAMES: Readonly<Record<string, string>> = {
  ...{ market: 'A market', partner: 'A partner', rail: 'A rail', payouts: 'All payouts' },
};

export function Switches() {
  const may = useMay();
  const switches = useSwitches();
  const effects = useEffects();
  const waiting = useWaiting();
  const effectOf = (kind: string | undefined) => effects.data?.kinds.find((one) => one.kind === kind);
  const [isSetting, setSetting] = useState(false);
  const [lifted, setLifted] = useState<KillSwitch>();
  const columns: readonly Column<KillSwitch>[] = [
    { head: 'Switched off', cell: ({ kind, subject }) => <b className="nowrap">{`${kind} ${subject}`}</b> },
    {
      head: 'Waits for it now',
      cell: ({ kind, subject }) => (
        <WaitsFor kind={kind} of={waiting.data?.waiting.find((one) => one.kind === kind && one.subject === subject)} />
      ),
    },
    { head: 'Since', cell: ({ at }) => <Time at={at} /> },
    { head: 'By', cell: ({ by, laidBy }) => (laidBy.length > 0 ? laidBy.join(', ') : by) },
    { head: 'Reason', cell: ({ reason }) => reason, className: 'wide' },
    {
      head: 'Actions',
      cell: (one) => (
        <button type="button" disabled={!may(SWITCH_ACTIONS.lift.right)} onClick={() => setLifted(one)}>
          Lift
        </button>
      ),
    },
  ];
  const error = switches.error ?? waiting.error ?? effects.error;
  return (
    <>
      <div className="title">
        <h1>Kill switches</h1>
        <button
          type="button"
          className="grave"
          disabled={!may(SWITCH_ACTIONS.set.right)}
          onClick={() => setSetting(true)}
        >
          Set a kill switch
        </button>
      </div>
      <p className="muted">
        Everyone except a viewer may set a kill switch, alone and at once. Lifting it takes at least as many operators
        as have set it, and two unless a rule says otherwise.
      </p>
      {error !== null && <Failure error={error} />}
      <Table
        label="Kill switches"
        columns={columns}
        rows={switches.error === null ? switches.data?.killSwitches : []}
        keyOf={({ kind, subject }) => `${kind} ${subject}`}
        empty="Nothing is switched off."
      />
      <section className="panel" aria-label="What each kind stops">
        <h2>What each kind stops</h2>
        <dl className="facts">
          {effects.data?.kinds.map((effect) => (
            <Fact key={effect.kind} name={NAMES[effect.kind] ?? effect.kind}>
              <Effected of={effect} />
            </Fact>
          ))}
        </dl>
      </section>
      <OtherActions of="rail" known={{}} title="Halted chains" />
      {isSetting && (
        <ActionDialog
          action={SWITCH_ACTIONS.set}
          given={{}}
          effect={({ kind }) => <Effected of={effectOf(kind)} />}
          onClose={() => setSetting(false)}
        />
      )}
      {lifted !== undefined && (
        <ActionDialog
          action={SWITCH_ACTIONS.lift}
          about={`${lifted.kind} ${lifted.subject}`}
          given={{ kind: lifted.kind, subject: lifted.subject }}
          onClose={() => setLifted(undefined)}
        />
      )}
    </>
  );
}

/** Before it is set: what this kind stops and what goes on. */
const Effected = ({ of }: { of: Effect | undefined }) =>
  of === undefined ? null : (
    <>
      <p>
        <b>It stops:</b> {of.prevents}
      </p>
      <p>
        <b>Continues:</b> {of.continues}
      </p>
    </>
  );
