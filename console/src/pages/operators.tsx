/** Operators with their roles and tokens, and how many people an action takes. Nothing is changed here. */
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { read } from '../api.ts';
import { useFilters } from '../filters.tsx';
import { RowLink } from '../list.tsx';
import { every } from '../live.ts';
import { hours, type Rule, useRules } from '../rules.ts';
import { useSession } from '../shell.tsx';
import { Amount, type Column, Dialog, Failure, State, Table, Time } from '../ui.tsx';

interface Operator {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly createdAt: string;
  readonly disabledAt: string | null;
}
interface Token {
  readonly id: string;
  readonly label: string;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly last_used_at: string | null;
}
const TOKENS: readonly Column<Token>[] = [
  { head: 'Token', cell: ({ id }) => id },
  { head: 'Name', cell: ({ label }) => <span className="long">{label}</span> },
  {
    head: 'State',
    cell: ({ revoked_at, expires_at }) =>
      revoked_at !== null ? (
        <State state="revoked" tone="bad" />
      ) : expires_at !== null && Date.parse(expires_at) <= Date.now() ? (
        <State state="expired" tone="warn" />
      ) : (
        <State state="works" />
      ),
  },
  { head: 'Made', cell: ({ created_at }) => <Time at={created_at} /> },
  { head: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
  {
    head: 'Until',
    cell: ({ expires_at }) => (expires_at === null ? <span className="muted">no end</span> : <Time at={expires_at} />),
  },
];

/** What opens beside the list: the tokens of one. No token itself is kept anywhere. */
function Tokens({ operator }: { operator: string }) {
  const found = useQuery({
    queryKey: ['operator', operator],
    queryFn: () => read<{ tokens: Token[] }>(`/operators/${encodeURIComponent(operator)}`),
  });
  return (
    <>
      <h2>Tokens of {operator}</h2>
      {found.error !== null && <Failure error={found.error} />}
      <Table
        label={`Tokens of ${operator}`}
        columns={TOKENS}
        rows={found.error === null ? found.data?.tokens : []}
        keyOf={({ id }) => id}
        empty="There is none."
      />
      <Link to="/audit" search={{ operator }}>
        What {operator} did
      </Link>
    </>
  );
}

const any = (text: string) => (text === '*' ? <span className="muted">any</span> : text);
/** A rule for an asset holds above an amount of it, which names the asset. */
const RULES: readonly Column<Rule>[] = [
  { head: 'People', cell: ({ people }) => <b>{people}</b>, className: 'number' },
  {
    head: 'Above',
    cell: ({ asset, aboveUnits }) =>
      aboveUnits === undefined ? (
        <span className="muted nowrap">any amount</span>
      ) : (
        <Amount units={aboveUnits} asset={asset} />
      ),
    className: 'number',
  },
  { head: 'Action', cell: ({ action }) => <span className="nowrap">{action === '*' ? 'any action' : action}</span> },
  { head: 'With right', cell: ({ right }) => any(right) },
];
export function Operators() {
  const { row: opened } = useSearch({ strict: false }) as { row?: string };
  const { values, set } = useFilters();
  const { data: session } = useSession();
  const found = useQuery({
    queryKey: ['operators'],
    queryFn: () => read<{ operators: Operator[] }>('/operators'),
    refetchInterval: every(30_000),
  });
  const rules = useRules();
  const columns: readonly Column<Operator>[] = [
    {
      head: 'Operator',
      cell: ({ name }) => (
        <span className="row nowrap">
          <RowLink row={name}>{name}</RowLink> {name === session?.name && <State state="you" tone="info" />}
        </span>
      ),
    },
    {
      head: 'State',
      cell: ({ disabledAt }) =>
        disabledAt === null ? (
          <State state="may sign in" />
        ) : (
          <span className="nowrap">
            <State state="disabled" tone="bad" /> <Time at={disabledAt} />
          </span>
        ),
    },
    { head: 'Role', cell: ({ role }) => role },
    { head: 'Since', cell: ({ createdAt }) => <Time at={createdAt} /> },
  ];
  const { row: _, ...others } = values;
  const { installation, otherwise, findings } = rules.data ?? {};
  return (
    <>
      <h1>Operators and rules</h1>
      <p className="muted">
        Read only: people and rules are changed by <code>npm run operator</code>, mostly by two.
      </p>
      {found.error !== null && <Failure error={found.error} />}
      <h2>Operators</h2>
      <Table
        label="Operators"
        columns={columns}
        rows={found.error === null ? found.data?.operators : []}
        keyOf={({ id }) => id}
        empty="There is no operator."
      />
      <h2>How many people an action takes</h2>
      {rules.error !== null && <Failure error={rules.error} />}
      {installation !== undefined && (
        <p className="note">
          {installation.operators === 'one'
            ? `One operator is declared: what takes two waits ${hours(installation.delayS ?? 0)}, and its proposer confirms it.`
            : 'Two operators or more are declared: what takes two is confirmed by another one.'}{' '}
          Where no rule matches, an action takes {otherwise}.
        </p>
      )}
      <Table
        label="Rules"
        columns={RULES}
        rows={rules.error === null ? rules.data?.rules : []}
        keyOf={({ action, right, asset, aboveUnits = '' }) => [action, right, asset, aboveUnits].join(' ')}
        empty="No rule is set."
      />
      {findings !== undefined && (
        <p className="muted">
          Besides actions a rule can name what an action finds: {findings.join(', ')}. Some actions take two whatever a
          rule says.
        </p>
      )}
      {opened !== undefined && found.data?.operators.some(({ name }) => name === opened) === true && (
        <Dialog label={`Tokens of ${opened}`} onClose={() => set(others, 'stays')}>
          <Tokens operator={opened} />
        </Dialog>
      )}
    </>
  );
}
