/** Operators with their roles and tokens, and how many people an action takes, with the forms that change them. */
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { OPERATOR_ACTIONS, RULE_SET } from '../actions.people.ts';
import { read } from '../api.ts';
import { useFilters } from '../filters.tsx';
import { every } from '../live.ts';
import { AllowedNetworks } from '../networks.tsx';
import { Pending } from '../pending.tsx';
import { RowLink } from '../rowlink.tsx';
import { hours, type Rule, useRules } from '../rules.ts';
import { useMay, useSession } from '../shell.tsx';
import { Amount, type Column, Dialog, Failure, State, Table, Time } from '../ui.tsx';
import { CreateDialog, OperatorDialog, type OperatorForm, type Part, RuleDialog } from './operators.forms.tsx';

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
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly lastUsedAt: string | null;
}
const isOver = ({ revokedAt, expiresAt }: Token): boolean =>
  revokedAt !== null || (expiresAt !== null && Date.parse(expiresAt) <= Date.now());
const TOKENS: readonly Column<Token>[] = [
  { head: 'Token', cell: ({ id }) => id },
  { head: 'Name', cell: ({ label }) => <span className="long">{label}</span> },
  {
    head: 'State',
    cell: (one) =>
      one.revokedAt !== null ? (
        <State state="revoked" tone="bad" />
      ) : isOver(one) ? (
        <State state="expired" tone="warn" />
      ) : (
        <State state="works" />
      ),
  },
  {
    head: 'Until',
    cell: ({ expiresAt }) => (expiresAt === null ? <span className="muted">no end</span> : <Time at={expiresAt} />),
  },
  { head: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
  { head: 'Age', cell: ({ createdAt }) => <Time at={createdAt} isAge /> },
];

interface SessionOf {
  readonly id: string;
  readonly address: string;
  readonly since: string;
  readonly seen: string;
}
const SESSIONS: readonly Column<SessionOf>[] = [
  { head: 'Session', cell: ({ id }) => id },
  { head: 'Address', cell: ({ address }) => <span className="mono">{address}</span> },
  { head: 'Since', cell: ({ since }) => <Time at={since} /> },
  { head: 'Last used', cell: ({ seen }) => <Time at={seen} /> },
];

interface Identity {
  readonly id: string;
  readonly kind: string;
  readonly value: string;
  readonly issuer: string;
  readonly createdAt: string;
}
/** Accounts by which an operator may sign in at a provider. */
function Accounts({ of, unbind }: { of: string; unbind: (identity: string) => void }) {
  const may = useMay();
  const found = useQuery({
    queryKey: ['operator', of, 'identities'],
    queryFn: () => read<{ identities: Identity[] }>(`/operators/${encodeURIComponent(of)}/identities`),
  });
  const columns: readonly Column<Identity>[] = [
    { head: 'Account', cell: ({ id }) => id },
    { head: 'Known by', cell: ({ kind, value }) => <span className="long">{`${kind} ${value}`}</span> },
    { head: 'Provider', cell: ({ issuer }) => <span className="long">{issuer}</span> },
    { head: 'Bound', cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      head: 'Actions',
      cell: ({ id }) => (
        <button
          type="button"
          aria-label={`Unbind account ${id}`}
          disabled={!may(OPERATOR_ACTIONS.unbind.right)}
          onClick={() => unbind(id)}
        >
          Unbind
        </button>
      ),
    },
  ];
  return (
    <Table
      label={`Accounts of ${of}`}
      columns={columns}
      rows={found.error === null ? found.data?.identities : []}
      keyOf={({ id }) => id}
      empty="No account for single sign-on is bound."
    />
  );
}

/** The panel beside the list: the possible actions on one operator, and its tokens. No token itself is stored anywhere. */
function Opened({ of, choose }: { of: Operator; choose: (form: OperatorForm, part?: Part) => void }) {
  const may = useMay();
  const { name, role, disabledAt } = of;
  const found = useQuery({
    queryKey: ['operator', name],
    queryFn: () => read<{ tokens: Token[] }>(`/operators/${encodeURIComponent(name)}`),
  });
  const sessions = useQuery({
    queryKey: ['operator', name, 'sessions'],
    queryFn: () => read<{ sessions: SessionOf[] }>(`/operators/${encodeURIComponent(name)}/sessions`),
  });
  const columns: readonly Column<Token>[] = [
    ...TOKENS,
    {
      head: 'Actions',
      cell: (one) =>
        isOver(one) ? (
          <span className="muted">none</span>
        ) : (
          <button
            type="button"
            aria-label={`Revoke token ${one.id}`}
            disabled={!may(OPERATOR_ACTIONS.revoke.right)}
            onClick={() => choose('revoke', { kind: 'token', number: one.id })}
          >
            Revoke
          </button>
        ),
    },
  ];
  const forms = (
    disabledAt === null ? ['role', 'token', 'bind', 'endSessions', 'disable'] : ['enable', 'role']
  ) as readonly OperatorForm[];
  return (
    <>
      <div className="title">
        <h2>Operator {name}</h2>
        <span className="muted">{disabledAt === null ? role : `${role}, disabled`}</span>
      </div>
      <div className="row">
        {forms.map((form) => (
          <button
            key={form}
            type="button"
            className={form === 'disable' ? 'grave' : ''}
            disabled={!may(OPERATOR_ACTIONS[form].right)}
            onClick={() => choose(form)}
          >
            {OPERATOR_ACTIONS[form].label}
          </button>
        ))}
      </div>
      {found.error !== null && <Failure error={found.error} />}
      <Table
        label={`Tokens of ${name}`}
        columns={columns}
        rows={found.error === null ? found.data?.tokens : []}
        keyOf={({ id }) => id}
        empty="No token."
      />
      <Table
        label={`Sessions of ${name}`}
        columns={SESSIONS}
        rows={sessions.error === null ? sessions.data?.sessions : []}
        keyOf={({ id }) => id}
        empty="No session in the console."
      />
      <Accounts of={name} unbind={(number) => choose('unbind', { kind: 'identity', number })} />
      <Link to="/audit" search={{ operator: name }}>
        What {name} did
      </Link>
    </>
  );
}

const any = (text: string) => (text === '*' ? <span className="muted">any</span> : text);
/** A rule for an asset applies above an amount of it, which names the asset. */
const RULES: readonly Column<Rule>[] = [
  { head: 'People', cell: ({ people }) => <b>{people}</b>, className: 'number' },
  {
    head: 'Of them',
    cell: ({ roles, unmet }) =>
      roles.length === 0 ? (
        <span className="muted nowrap">any role</span>
      ) : (
        <span className="nowrap">
          {roles.join(', ')} {unmet.length > 0 && <State state={`too few: ${unmet.join(', ')}`} tone="bad" />}
        </span>
      ),
  },
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
const Unmet = ({ rules }: { rules: readonly Rule[] }) =>
  rules.some(({ unmet }) => unmet.length > 0) && (
    <p className="note is-bad">
      A rule names a role that too few enabled operators have: what it decides waits until another operator has the
      role.
    </p>
  );

export function Operators() {
  const may = useMay();
  const [form, setForm] = useState<{ form: OperatorForm; part?: Part } | 'create'>();
  const [rule, setRule] = useState<Rule | 'new'>();
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
  const one = found.data?.operators.find(({ name }) => name === opened);
  const { installation, otherwise, findings } = rules.data ?? {};
  return (
    <>
      <h1>Operators and rules</h1>
      <Pending isAbout={(subject) => /^(operator|rule):/.test(subject)} />
      {found.error !== null && <Failure error={found.error} />}
      <div className="title">
        <h2>Operators</h2>
        <button type="button" disabled={!may(OPERATOR_ACTIONS.create.right)} onClick={() => setForm('create')}>
          {OPERATOR_ACTIONS.create.label}
        </button>
      </div>
      <Table
        label="Operators"
        columns={columns}
        rows={found.error === null ? found.data?.operators : []}
        keyOf={({ id }) => id}
        empty="There is no operator."
      />
      <AllowedNetworks />
      <div className="title">
        <h2>How many people an action takes</h2>
        <button type="button" disabled={!may(RULE_SET.right)} onClick={() => setRule('new')}>
          {RULE_SET.label}
        </button>
      </div>
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
        columns={[
          ...RULES,
          {
            head: 'Actions',
            cell: (one) => (
              <button type="button" disabled={!may(RULE_SET.right)} onClick={() => setRule(one)}>
                Change
              </button>
            ),
          },
        ]}
        rows={rules.error === null ? rules.data?.rules : []}
        keyOf={({ action, right, asset, aboveUnits = '' }) => [action, right, asset, aboveUnits].join(' ')}
        empty="No rule is set."
      />
      <Unmet rules={rules.data?.rules ?? []} />
      {findings !== undefined && (
        <p className="muted">
          Besides actions a rule can name what an action finds: {findings.join(', ')}. Some actions take two whatever a
          rule says.
        </p>
      )}
      {one !== undefined && form === undefined && (
        <Dialog label={`Operator ${one.name}`} onClose={() => set(others, 'stays')}>
          <Opened
            of={one}
            choose={(chosen, part) => setForm({ form: chosen, ...(part === undefined ? {} : { part }) })}
          />
          <div className="row">
            <button type="button" onClick={() => set(others, 'stays')}>
              Close
            </button>
          </div>
        </Dialog>
      )}
      {one !== undefined && form !== undefined && form !== 'create' && (
        <OperatorDialog {...form} of={one} onClose={() => setForm(undefined)} />
      )}
      {form === 'create' && <CreateDialog onClose={() => setForm(undefined)} />}
      {rule !== undefined && <RuleDialog of={rule === 'new' ? undefined : rule} onClose={() => setRule(undefined)} />}
    </>
  );
}
