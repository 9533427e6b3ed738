/** What needs a person now: cases, proposals, kill switches, and how the server is. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type Health, type KillSwitch, type Proposal, read, readHealth } from '../api.ts';
import { grouped, spoken } from '../format.ts';
import { every } from '../live.ts';
import { useSession } from '../shell.tsx';
import { type Column, Failure, State, Subject, Table, Time } from '../ui.tsx';
import { ACTION, AGREED } from './proposals.tsx';
import { LEVEL_TONES, type Level } from './treasury.tsx';
import { type KindCount, Ordered, URGENT, type Urgent } from './urgent.tsx';

const SOON_MS = 5_000;

export const useOpenProposals = () =>
  useQuery({
    queryKey: ['proposals', 'open'],
    queryFn: () => read<{ proposals: Proposal[] }>('/proposals', { state: 'open', limit: '200' }),
    refetchInterval: every(SOON_MS),
  });
export const useSwitches = () =>
  useQuery({
    queryKey: ['kill-switches'],
    queryFn: () => read<{ killSwitches: KillSwitch[] }>('/kill-switches'),
    refetchInterval: every(SOON_MS),
  });

/** Number of cases on the first page: the most urgent ones. */
const FIRST = 12;

const KINDS: readonly Column<KindCount>[] = [
  {
    head: 'Kind',
    cell: ({ kind }) => (
      <Link to="/cases" search={{ kind }} data-row>
        {kind.replaceAll('_', ' ')}
      </Link>
    ),
  },
  { head: 'Open', cell: ({ open }) => open, className: 'number' },
  { head: 'Overdue', cell: ({ overdue }) => overdue || <span className="muted">0</span>, className: 'number' },
  { head: 'Unclaimed', cell: ({ unclaimed }) => unclaimed, className: 'number' },
  { head: 'Oldest', cell: ({ oldestAt }) => <Time at={oldestAt} isAge /> },
  { head: 'Claimed by', cell: ({ claimers }) => claimers.join(', ') || <span className="muted">unclaimed</span> },
];

const PROPOSALS: readonly Column<Proposal>[] = [
  ACTION,
  { head: 'About', cell: ({ subject }) => <Subject text={subject} /> },
  { head: 'By', cell: ({ proposer }) => proposer },
  AGREED,
  { head: 'Waits', cell: ({ proposedAt }) => <Time at={proposedAt} isAge /> },
];

export function Home() {
  const { data: session } = useSession();
  const cases = useQuery({
    queryKey: ['cases', 'urgent'],
    queryFn: () => read<Urgent>('/cases/urgent', { limit: String(FIRST) }),
    refetchInterval: every(SOON_MS),
  });
  const proposals = useOpenProposals();
  const switches = useSwitches();
  const health = useQuery({ queryKey: ['health'], queryFn: readHealth, refetchInterval: every(SOON_MS) });
  const failing = health.data?.checks.filter(({ ok }) => !ok) ?? [];
  const others = proposals.data?.proposals.filter(({ proposer }) => proposer !== session?.name);
  const alerts = useQuery({
    queryKey: ['alerts', 'failed'],
    queryFn: () => read<{ messages: { state: string }[] }>('/alerts/messages', { limit: '50' }),
    refetchInterval: every(30_000),
  });
  const untold = alerts.data?.messages.filter(({ state }) => state === 'failed').length ?? 0;
  const error = cases.error ?? proposals.error ?? switches.error ?? health.error;
  const kinds = cases.data?.kinds;
  const count = (of: 'open' | 'overdue' | 'unclaimed') => kinds?.reduce((total, one) => total + one[of], 0);
  const open = count('open');
  return (
    <>
      <div className="title">
        <h1>What needs a person</h1>
        <span className="muted">Read again every five seconds</span>
      </div>
      {error !== null && <Failure error={error} />}
      {untold > 0 && (
        <p className="note is-bad">
          {untold} of the newest messages could not be sent: <Link to="/alerts">alerts</Link>.
        </p>
      )}
      <div className="tiles">
        <Link to="/cases" className={`tile is-${toneOf(open, (count('overdue') ?? 0) > 0 ? 'bad' : 'warn')}`}>
          <b>{open ?? '–'}</b>
          <span>open cases</span>
          <span className="muted">
            {open === undefined ? loadingOf(cases) : `${count('overdue')} overdue, ${count('unclaimed')} unclaimed`}
          </span>
        </Link>
        <Link to="/proposals" className={`tile is-${toneOf(others?.length)}`}>
          <b>{proposals.data?.proposals.length ?? '–'}</b>
          <span>open proposals</span>
          <span className="muted">
            {others === undefined ? loadingOf(proposals) : `${others.length} by other operators`}
          </span>
        </Link>
        <Link to="/kill-switches" className={`tile is-${toneOf(switches.data?.killSwitches.length, 'bad')}`}>
          <b>{switches.data?.killSwitches.length ?? '–'}</b>
          <span>kill switches on</span>
          <span className="muted">
            {switches.data === undefined
              ? loadingOf(switches)
              : switches.data.killSwitches.map(({ kind, subject }) => `${kind} ${subject}`).join(', ') ||
                'Nothing is switched off'}
          </span>
        </Link>
        <div
          className={`tile is-${health.data === undefined ? 'plain' : toneOf(failing.length, health.data.ok ? 'warn' : 'bad')}`}
        >
          <b>{health.data === undefined ? '–' : health.data.ok ? 'ready' : 'not ready'}</b>
          <span>server</span>
          <span className="muted">
            {health.data === undefined
              ? loadingOf(health)
              : `${health.data.checks.length - failing.length} of ${health.data.checks.length} checks pass`}
          </span>
        </div>
      </div>
      <div className="columns">
        <div>
          <div className="title">
            <h2>Most urgent</h2>
            <Link to="/cases/urgent">All by urgency</Link>
          </div>
          {cases.data !== undefined && <Ordered of={cases.data} />}
          <Table
            label="Most urgent"
            columns={URGENT}
            rows={cases.data?.cases}
            keyOf={({ id }) => id}
            empty="Nothing needs a person now."
          />
          <h2>Proposals that wait</h2>
          <Table
            label="Proposals that wait"
            columns={PROPOSALS}
            rows={proposals.data?.proposals}
            keyOf={({ id }) => id}
            empty="Nothing waits for a second person."
          />
          <h2>Open cases by kind</h2>
          <Table
            label="Open cases by kind"
            columns={KINDS}
            rows={kinds}
            keyOf={({ kind }) => kind}
            empty="No case is open."
          />
        </div>
        <div>
          <HealthChecks health={health.data} loading={loadingOf(health)} />
          <Treasury />
        </div>
      </div>
    </>
  );
}

/** Failing checks are listed; the others open on request. */
function HealthChecks({ health, loading }: { health: Health | undefined; loading: string }) {
  const failing = health?.checks.filter(({ ok }) => !ok) ?? [];
  return (
    <section className="panel">
      <h2>Health checks</h2>
      {failing.length > 0 && <Checks checks={failing} />}
      {health === undefined ? (
        <span className="muted">{loading}</span>
      ) : (
        <details>
          <summary>{health.checks.length - failing.length} checks pass</summary>
          <Checks checks={health.checks.filter((check) => check.ok && !isTreasury(check))} />
        </details>
      )}
    </section>
  );
}

const Checks = ({ checks }: { checks: Health['checks'] }) => (
  <ul className="plain">
    {checks.map((check) => (
      <li key={check.name}>
        <State state={check.ok ? 'passes' : 'fails'} tone={check.ok ? 'ok' : check.essential ? 'bad' : 'warn'} />{' '}
        {check.name.replaceAll('_', ' ')} <span className="muted">{saidOf(check)}</span>
      </li>
    ))}
  </ul>
);

const toneOf = (count: number | undefined, bad: 'warn' | 'bad' = 'warn') =>
  count === undefined ? 'plain' : count === 0 ? 'ok' : bad;

/** In the place of an answer. */
const loadingOf = ({ error }: { error: Error | null }): string => (error === null ? 'Loading' : 'Not known');

const detailsOf = (check: Readonly<Record<string, unknown>>): [string, unknown][] =>
  Object.entries(check).filter(([name]) => !['name', 'ok', 'essential', 'tookMs'].includes(name));

const saidOf = (check: Readonly<Record<string, unknown>>): string =>
  detailsOf(check)
    .map(([name, value]) => spoken(`${name} ${String(value)}`))
    .join(', ');

const isTreasury = ({ name }: Health['checks'][number]): boolean => name.startsWith('treasury ');

/** Our own funds: the wallets below their levels, with what each lacks. */
function Treasury() {
  const found = useQuery({
    queryKey: ['treasury', 'levels'],
    queryFn: () => read<{ levels: Level[] }>('/treasury/levels'),
    refetchInterval: every(SOON_MS),
  });
  const levels = found.data?.levels;
  const low = levels?.filter(({ state }) => state !== 'ok') ?? [];
  return (
    <section className="panel" aria-label="Treasury">
      <div className="title">
        <h2>Treasury</h2>
        <Link to="/treasury">All wallets</Link>
      </div>
      {levels === undefined && <span className="muted">{loadingOf(found)}</span>}
      {low.map(({ account, asset, rail, wallet, state, freeUnits, lowUnits, missingUnits, waitingOrders }) => (
        <div key={account}>
          <State state={state} tone={LEVEL_TONES[state as keyof typeof LEVEL_TONES] ?? 'plain'} /> <b>{asset}</b> {rail}{' '}
          {wallet}
          <div className="muted">
            free {grouped(freeUnits)} of {grouped(lowUnits)}, lacks {grouped(missingUnits)}
            {waitingOrders !== '0' && `; orders that wait: ${waitingOrders}`}
          </div>
        </div>
      ))}
      {levels !== undefined && (
        <span className="muted">
          {levels.length === 0
            ? 'No wallet has a level.'
            : `${levels.length - low.length} of ${levels.length} wallets are above their levels.`}
        </span>
      )}
    </section>
  );
}
