/** Risk of addresses: hits that people decide about, and one hit with all that the provider said about its address. */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { ActionList } from '../actionlist.tsx';
import { ADDRESS_HIT_ACTIONS, ADDRESS_HIT_STATES } from '../actions.risk.ts';
import { type Proposal, read } from '../api.ts';
import { ActionDialog } from '../form.tsx';
import { List } from '../list.tsx';
import { every } from '../live.ts';
import { type Column, CustomerLink, Fact, Failure, Id, State, Table, Time } from '../ui.tsx';
import { Compared, DecidedBy } from './screening.tsx';

interface AddressHit {
  readonly id: string;
  readonly owner: string;
  /** `payer:<deposit>` or `destination`. */
  readonly subject: string;
  readonly customerId: string | null;
  readonly rail: string;
  readonly address: string;
  readonly level: string;
  /** The provider's words. */
  readonly finding: string;
  readonly state: string;
  readonly foundAt: string;
  readonly people: readonly string[] | null;
  readonly reason: string | null;
  readonly decidedAt: string | null;
}
interface Answer {
  readonly id: string;
  readonly rail: string;
  readonly provider: string;
  readonly level: string;
  readonly score: string;
  readonly reason: string;
  readonly threshold: string;
  readonly rules: string;
  readonly askedAt: string;
  readonly digest: string;
}

const LEVEL_TONES = { low: 'ok', medium: 'info', high: 'warn', severe: 'bad' } as const;
const Level = ({ level }: { level: string }) => (
  <State state={level} tone={LEVEL_TONES[level as keyof typeof LEVEL_TONES] ?? 'plain'} />
);
const none = <span className="muted">none</span>;

const HITS: readonly Column<AddressHit>[] = [
  {
    head: 'Hit',
    cell: ({ id }) => (
      <Link to="/address-risk/$hit" params={{ hit: id }} className="mono" data-row>
        {id}
      </Link>
    ),
  },
  { head: 'State', cell: ({ state }) => <State state={state} /> },
  { head: 'Risk', cell: ({ level }) => <Level level={level} /> },
  { head: 'Finding', cell: ({ finding }) => finding, className: 'wide' },
  { head: 'Address', cell: ({ address }) => <Id text={address} /> },
  { head: 'Rail', cell: ({ rail }) => <span className="nowrap">{rail}</span> },
  { head: 'Used as', cell: ({ subject }) => <Compared subject={subject} /> },
  { head: 'Customer', cell: ({ customerId }) => (customerId === null ? none : <CustomerLink id={customerId} />) },
  { head: 'Found', cell: ({ foundAt }) => <Time at={foundAt} /> },
  { head: 'Decided by', cell: (hit) => <DecidedBy {...hit} /> },
];

const FILTERS = [
  {
    ...{ name: 'state', label: 'State', choices: ADDRESS_HIT_STATES.filter((state) => state !== 'open'), all: 'open' },
    names: { true_hit: 'true hit', false_positive: 'risk accepted' },
  },
];

export const AddressRisk = () => (
  <List<AddressHit>
    title="Address risk"
    says="Chain addresses whose risk is too high, the oldest first. Their money is held until operators decide."
    path="/address-risk/hits"
    list="hits"
    cursor="after"
    filters={FILTERS}
    columns={HITS}
    keyOf={({ id }) => id}
    empty="No hit is in this state."
    hasNoCsv
  />
);

/** The interface has hits by state and after a number, and none by its number alone. */
async function findHit(id: string): Promise<AddressHit | null> {
  if (!/^[1-9][0-9]{0,17}$/.test(id)) return null;
  const after = String(BigInt(id) - 1n);
  const pages = await Promise.all(
    ADDRESS_HIT_STATES.map((state) => read<{ hits: AddressHit[] }>('/address-risk/hits', { state, after, limit: '1' })),
  );
  return pages.flatMap(({ hits }) => hits).find((one) => one.id === id) ?? null;
}

const ANSWERS: readonly Column<Answer>[] = [
  { head: 'Asked', cell: ({ askedAt }) => <Time at={askedAt} /> },
  { head: 'Provider', cell: ({ provider }) => provider },
  { head: 'Risk', cell: ({ level }) => <Level level={level} /> },
  { head: 'Its word', cell: ({ score }) => <span className="nowrap">{score}</span> },
  { head: 'Finding', cell: ({ reason }) => (reason === '' ? none : reason), className: 'wide' },
  { head: 'Hit from', cell: ({ threshold }) => threshold },
  { head: 'Rules', cell: ({ rules }) => <span className="nowrap">{rules}</span> },
  { head: 'SHA-256', cell: ({ digest }) => <Id text={digest} /> },
];

export function AddressHitPage() {
  const { hit: id } = useParams({ from: '/address-risk/$hit' });
  const [chosen, setChosen] = useState<keyof typeof ADDRESS_HIT_ACTIONS>();
  const found = useQuery({
    queryKey: ['address-hit', id],
    queryFn: () => findHit(id),
    refetchInterval: every(10_000),
  });
  const one = found.data ?? undefined;
  const address = one?.address ?? '';
  const answers = useQuery({
    queryKey: ['address-answers', address],
    queryFn: () => read<{ answers: Answer[] }>('/address-risk/answers', { address }),
    enabled: address !== '',
    refetchInterval: every(30_000),
  });
  const proposals = useQuery({
    queryKey: ['proposals', 'address-hit', id],
    queryFn: () =>
      read<{ proposals: Proposal[] }>('/proposals', {
        ...{ state: 'open', action: ADDRESS_HIT_ACTIONS.dismiss.name, limit: '200' },
      }),
    refetchInterval: every(5_000),
  });
  const proposed = proposals.data?.proposals.find(({ subject }) => subject === `address_hit:${id}`);
  const error = found.error ?? answers.error ?? proposals.error;
  return (
    <>
      <div className="title">
        <h1>Address hit {id}</h1>
        {one !== undefined && <State state={one.state} />}
      </div>
      {error !== null && <Failure error={error} />}
      {found.data === null && <p className="note">There is no such hit.</p>}
      {one !== undefined && (
        <>
          <div className="columns">
            <Decision hit={one} proposed={proposed} choose={setChosen} />
            <Known hit={one} />
          </div>
          <h2>What the provider said</h2>
          <p className="muted">Every answer of the provider is stored, the newest first. The newest one applies.</p>
          <Table
            label="Answers"
            columns={ANSWERS}
            rows={answers.data?.answers}
            keyOf={(answer) => answer.id}
            empty="There is no answer about this address."
          />
        </>
      )}
      {chosen !== undefined && (
        <ActionDialog
          action={ADDRESS_HIT_ACTIONS[chosen]}
          about={`address hit ${id}`}
          given={{ hit: id }}
          onClose={() => setChosen(undefined)}
        />
      )}
    </>
  );
}

/** A risk that was accepted can still be confirmed: later evidence may show that it is real after all. */
function Decision(p: {
  hit: AddressHit;
  proposed: Proposal | undefined;
  choose: (name: keyof typeof ADDRESS_HIT_ACTIONS) => void;
}) {
  const { state, decidedAt, people, reason } = p.hit;
  const names: (keyof typeof ADDRESS_HIT_ACTIONS)[] = [
    ...(state === 'true_hit' ? [] : (['confirm'] as const)),
    ...(state === 'open' && p.proposed === undefined ? (['dismiss'] as const) : []),
  ];
  return (
    <section className="panel" aria-label="Decision">
      <h2>Decision</h2>
      {decidedAt !== null && (
        <p className="note">
          {people?.join(', ')} decided <Time at={decidedAt} />: {reason}
        </p>
      )}
      {p.proposed !== undefined && (
        <p className="note is-warn">
          {p.proposed.proposer} proposed to accept the risk: {p.proposed.reason}. Another operator confirms{' '}
          <Link to="/proposals/$proposal" params={{ proposal: p.proposed.id }}>
            proposal {p.proposed.id}
          </Link>
          .
        </p>
      )}
      {names.length === 0 && p.proposed === undefined && <p className="muted">Nothing is left to decide.</p>}
      <ActionList of={ADDRESS_HIT_ACTIONS} names={names} grave="confirm" choose={p.choose} />
      <p className="muted">Do not tell the partner or the customer about it.</p>
    </section>
  );
}

const Known = ({ hit }: { hit: AddressHit }) => (
  <section className="panel">
    <h2>Facts</h2>
    <dl className="facts">
      <Fact name="Risk">
        <Level level={hit.level} />
      </Fact>
      <Fact name="Finding">{hit.finding}</Fact>
      <Fact name="Address">
        <Id text={hit.address} />
      </Fact>
      <Fact name="Rail">{hit.rail}</Fact>
      <Fact name="Used as">
        <Compared subject={hit.subject} />
      </Fact>
      <Fact name="Customer">{hit.customerId === null ? none : <CustomerLink id={hit.customerId} />}</Fact>
      <Fact name="Found">
        <Time at={hit.foundAt} />
      </Fact>
    </dl>
    <Link to="/audit" search={{ subject: `address_hit:${hit.id}` }}>
      What operators did with this hit
    </Link>
  </section>
);
