/** Transaction monitoring: the rules in force, what they found, and what a rule would have found. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { MONITORING_KINDS } from '../actions.risk.ts';
import { read } from '../api.ts';
import { within } from '../filters.tsx';
import { List } from '../list.tsx';
import { every } from '../live.ts';
import { OtherActions } from '../others.tsx';
import { Pending } from '../pending.tsx';
import { Amount, type Column, CustomerLink, Facts, Failure, OrderLink, State, Table, Time } from '../ui.tsx';

interface Rule {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly isOn: boolean;
  readonly fiat: string | null;
  readonly worth: string | null;
  readonly count: number | null;
  readonly days: number | null;
  readonly withinBps: number | null;
  readonly version: number;
  readonly by: string;
  readonly why: string;
  readonly at: string;
}
const none = <span className="muted">none</span>;
const RULES: readonly Column<Rule>[] = [
  { head: 'Rule', cell: ({ name }) => <b className="nowrap">{name}</b> },
  { head: 'Finds', cell: ({ kind }) => kind.replaceAll('_', ' '), className: 'nowrap' },
  { head: 'State', cell: ({ isOn }) => <State state={isOn ? 'in use' : 'off'} tone={isOn ? 'ok' : 'plain'} /> },
  {
    head: 'Worth',
    cell: ({ worth, fiat }) => (worth === null ? none : <Amount units={worth} asset={fiat ?? ''} />),
    className: 'number',
  },
  { head: 'Count', cell: ({ count }) => count ?? none, className: 'number' },
  { head: 'Days', cell: ({ days }) => days ?? none, className: 'number' },
  { head: 'Within, bps', cell: ({ withinBps }) => withinBps ?? none, className: 'number' },
  { head: 'Version', cell: ({ version }) => version, className: 'number' },
  { head: 'Set', cell: ({ at }) => <Time at={at} /> },
  { head: 'By', cell: ({ by }) => by },
  { head: 'Why', cell: ({ why }) => why, className: 'wide' },
];

interface Finding {
  readonly id: string;
  readonly rule: string;
  readonly version: number;
  readonly orderId: string;
  readonly customer: string;
  readonly saw: unknown;
  readonly at: string;
}
const FINDINGS: readonly Column<Finding>[] = [
  { head: 'When', cell: ({ at }) => <Time at={at} /> },
  { head: 'Rule', cell: ({ rule, version }) => <span className="nowrap">{`${rule}, version ${version}`}</span> },
  { head: 'Order', cell: ({ orderId }) => <OrderLink id={orderId} isRow /> },
  { head: 'Customer', cell: ({ customer }) => <CustomerLink id={customer} /> },
  { head: 'What it saw', cell: ({ saw }) => <Facts of={saw} />, className: 'wide' },
];

const Tabs = () => (
  <p>
    <Link to="/monitoring">Rules and findings</Link> · <Link to="/monitoring/try">Try a rule</Link> ·{' '}
    <Link to="/cases" search={{ kind: 'monitoring' }}>
      Cases
    </Link>
  </p>
);

export function Monitoring() {
  const rules = useQuery({
    queryKey: ['monitoring-rules'],
    queryFn: () => read<{ rules: Rule[] }>('/monitoring/rules'),
    refetchInterval: every(30_000),
  });
  return (
    <>
      <h1>Monitoring</h1>
      <Tabs />
      <Pending isAbout={(subject) => subject.startsWith('monitoring')} />
      <h2>Rules in force</h2>
      {rules.error !== null && <Failure error={rules.error} />}
      <Table
        label="Rules in force"
        columns={RULES}
        rows={rules.error === null ? rules.data?.rules : []}
        keyOf={({ id }) => id}
        empty="No rule is set: orders are not monitored."
      />
      <OtherActions of="monitoring" known={{}} title="Change a rule" />
      <List<Finding>
        isPart
        hasNoCsv
        title="Findings"
        says="Findings of rules, the newest first. A finding opens a case; it holds no money by itself."
        path="/monitoring/findings"
        list="findings"
        cursor="below"
        filters={[
          { name: 'rule', label: 'Rule' },
          { name: 'customer', label: 'Customer' },
        ]}
        columns={FINDINGS}
        keyOf={({ id }) => id}
        empty="Nothing was found."
      />
    </>
  );
}

const TRIED = FINDINGS.filter(({ head }) => head !== 'Rule');

export const MonitoringTry = () => (
  <>
    <Tabs />
    <List<Finding>
      isReport
      hasNoCsv
      title="Try a rule"
      says="What a rule would have found in orders that were created in a period. Nothing is stored, and no case opens."
      path="/monitoring/try"
      list="found"
      needs={['kind', 'from', 'until']}
      filters={[
        { name: 'kind', label: 'Finds', choices: MONITORING_KINDS, all: 'choose' },
        ...within('Created'),
        { name: 'fiat', label: 'Fiat', hint: 'inr' },
        { name: 'worth', label: 'Worth' },
        { name: 'count', label: 'Count' },
        { name: 'days', label: 'Days' },
        { name: 'withinBps', label: 'Within, bps' },
      ]}
      columns={TRIED}
      keyOf={({ orderId }) => orderId}
      empty="The rule finds nothing in this period."
      above={(answer) =>
        answer === undefined ? null : (
          <p className="note">
            It looked at {String(answer.looked)} orders
            {answer.next === null ? '.' : `, but not at all of this time: continue from ${String(answer.next)}.`}
          </p>
        )
      }
    />
  </>
);
