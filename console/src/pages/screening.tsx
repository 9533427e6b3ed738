/** Sanctions screening: the state of each list, and hits that people decide about. No personal data is shown here. */
import { useQuery } from '@tanstack/react-query';
import { HIT_STATES } from '../actions.ts';
import { read, readHealth } from '../api.ts';
import { List } from '../list.tsx';
import { every } from '../live.ts';
import { OtherActions } from '../others.tsx';
import { type Column, CustomerLink, Failure, HitLink, Id, State, Table, Time } from '../ui.tsx';
import { DepositLink } from './deposits.tsx';

export interface Hit {
  readonly id: string;
  readonly subject: string;
  readonly customerId: string | null;
  readonly state: string;
  readonly foundAt: string;
  readonly screening: string;
  readonly list: string;
  readonly listEntry: string;
  /** From 0 to 1. */
  readonly score: string;
  readonly people: readonly string[] | null;
  readonly reason: string | null;
  readonly decidedAt: string | null;
}

/** `customer:<id>`, `account:<number>` or `payer:<deposit>`. */
export function Compared({ subject }: { subject: string }) {
  const [kind = '', id = ''] = subject.split(/:(.*)/s);
  if (kind !== 'payer') return <span className="nowrap">{kind === 'account' ? `account ${id}` : kind}</span>;
  return (
    <span className="nowrap">
      payer of deposit <DepositLink id={id} isRow={false} />
    </span>
  );
}

/** People who have decided about a hit, and when. */
export const DecidedBy = ({ people, decidedAt }: Pick<Hit, 'people' | 'decidedAt'>) =>
  people === null || decidedAt === null ? (
    <span className="muted">not decided</span>
  ) : (
    <span className="nowrap">
      {people.join(', ')} <Time at={decidedAt} />
    </span>
  );

const HITS: readonly Column<Hit>[] = [
  { head: 'Hit', cell: ({ id }) => <HitLink id={id} isRow /> },
  { head: 'State', cell: ({ state }) => <State state={state} /> },
  { head: 'Score', cell: ({ score }) => <b>{score}</b>, className: 'number' },
  {
    head: 'Customer',
    cell: ({ customerId }) =>
      customerId === null ? <span className="muted">none</span> : <CustomerLink id={customerId} />,
  },
  { head: 'Compared', cell: ({ subject }) => <Compared subject={subject} /> },
  {
    head: 'Entry of the list',
    cell: ({ list, listEntry }) => (
      <span className="nowrap">
        {list} <Id text={listEntry} />
      </span>
    ),
  },
  { head: 'Found', cell: ({ foundAt }) => <Time at={foundAt} /> },
  { head: 'Decided by', cell: (hit) => <DecidedBy {...hit} /> },
];

interface ListState {
  readonly list: string;
  readonly versionId: string;
  readonly published: string;
  readonly asOf: string;
  readonly readAt: string;
  readonly loadedAt: string;
  readonly entries: number;
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  readonly sha256: string;
  /** Of a version that waits for people because it lacks too many entries. */
  readonly refusedSha256: string | null;
  readonly refusedEntries: number | null;
  readonly refusedRemoved: number | null;
}
/** A list that is configured, that was read, or both. */
interface ListRow {
  readonly list: string;
  readonly read: ListState | undefined;
  /** Its state in readiness; undefined if it is not configured. */
  readonly check: { readonly ok: boolean; readonly why?: string } | undefined;
}

function Standing({ read: was, check }: ListRow) {
  if (check === undefined) return <State state="not configured" />;
  if (check.ok) return <State state="up to date" tone="ok" />;
  return <State state={was === undefined ? 'never read' : 'older than allowed'} tone="bad" />;
}

const none = <span className="muted">none</span>;
/** A version that lacks many entries of the one in use, or is older: two people decide whether its publisher means it. */
function Waiting({ list, read: was }: ListRow) {
  if (was === undefined || was.refusedSha256 === null) return none;
  return (
    <>
      <span className="nowrap">
        {was.refusedEntries} entries, {was.refusedRemoved} missing
      </span>{' '}
      <Id text={was.refusedSha256} />{' '}
      <OtherActions of="list" known={{ list, sha256: was.refusedSha256 }} about={list} isRow />
    </>
  );
}

const LISTS: readonly Column<ListRow>[] = [
  { head: 'List', cell: ({ list }) => <b>{list}</b> },
  { head: 'State', cell: (row) => <Standing {...row} /> },
  { head: 'Age', cell: ({ read: was }) => (was === undefined ? none : <Time at={was.asOf} isAge />) },
  { head: 'Last read', cell: ({ read: was }) => (was === undefined ? none : <Time at={was.readAt} />) },
  { head: 'Version', cell: ({ read: was }) => was?.versionId ?? none, className: 'number' },
  { head: 'Since', cell: ({ read: was }) => (was === undefined ? none : <Time at={was.loadedAt} />) },
  {
    head: 'Dated by publisher',
    cell: ({ read: was }) =>
      was === undefined || was.published === '' ? none : <span className="nowrap">{was.published}</span>,
  },
  { head: 'Entries', cell: ({ read: was }) => was?.entries ?? none, className: 'number' },
  {
    head: 'Against the version before',
    cell: ({ read: was }) =>
      was === undefined ? (
        none
      ) : (
        <span className="nowrap">
          {was.added} added, {was.removed} removed, {was.changed} changed
        </span>
      ),
  },
  { head: 'Waits for two people', cell: (row) => <Waiting {...row} /> },
  { head: 'SHA-256', cell: ({ read: was }) => (was === undefined ? none : <Id text={was.sha256} />) },
];
const CHECK = /^sanctions list ([a-z]+)$/;

function useLists() {
  const lists = useQuery({
    queryKey: ['sanctions-lists'],
    queryFn: () => read<{ lists: ListState[] }>('/sanctions/lists'),
    refetchInterval: every(30_000),
  });
  // The maximum age of a list is a setting; /readyz reports the lists that exceed it.
  const health = useQuery({ queryKey: ['health'], queryFn: readHealth, refetchInterval: every(10_000) });
  const states = new Map(lists.data?.lists.map((one) => [one.list, one]));
  const checks = new Map(
    health.data?.checks.flatMap((check): [string, { ok: boolean; why?: string }][] => {
      const list = CHECK.exec(check.name)?.[1];
      if (list === undefined) return [];
      return [[list, { ok: check.ok, ...(typeof check.why === 'string' ? { why: check.why } : {}) }]];
    }),
  );
  const error = lists.error ?? health.error;
  const isThere = lists.data !== undefined && health.data !== undefined;
  const all = [...new Set([...states.keys(), ...checks.keys()])]
    .toSorted()
    .map((list) => ({ list, read: states.get(list), check: checks.get(list) }));
  return { error, rows: isThere ? all : error === null ? undefined : [] };
}

/** A list that delays payments is shown above everything else. */
function Late({ rows }: { rows: readonly ListRow[] | undefined }) {
  const late = rows?.filter(({ check }) => check?.ok === false) ?? [];
  if (late.length === 0) return null;
  return (
    <div className="note is-bad" role="alert">
      <b>Payouts and refunds wait.</b>
      {late.map(({ list, check }) => (
        <span key={list} className="line">
          {check?.why}
        </span>
      ))}
    </div>
  );
}

const FILTERS = [
  {
    ...{ name: 'state', label: 'State', choices: HIT_STATES.filter((state) => state !== 'open'), all: 'open' },
    names: { true_hit: 'true hit', false_positive: 'false positive', gone: 'gone' },
  },
];

export function Screening() {
  const { error, rows } = useLists();
  return (
    <>
      <h1>Screening</h1>
      {error !== null && <Failure error={error} />}
      <Late rows={rows} />
      <List<Hit>
        title="Hits"
        says="Names and addresses that resemble an entry of a sanctions list, the oldest first. Their money is held until operators decide."
        path="/sanctions/hits"
        list="hits"
        cursor="after"
        filters={FILTERS}
        columns={HITS}
        keyOf={({ id }) => id}
        empty="No hit is in this state."
        isPart
        hasNoCsv
      />
      <h2>Lists</h2>
      <Table
        label="Lists"
        columns={LISTS}
        rows={rows}
        keyOf={({ list }) => list}
        empty="No sanctions list is configured: names are not compared."
      />
      <OtherActions of="screening" known={{}} />
    </>
  );
}
