/** The travel rule: rules per country with all of their versions, providers, and the data of one order's transfers. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { TRAVEL_ACTIONS } from '../actions.risk.ts';
import { type Outcome, read } from '../api.ts';
import { ActionDialog } from '../form.tsx';
import { List } from '../list.tsx';
import { every } from '../live.ts';
import { Pending } from '../pending.tsx';
import { Closed } from '../personal.tsx';
import { useMay } from '../shell.tsx';
import { Amount, type Column, Fact, Failure, Id, State, Table, Time } from '../ui.tsx';

interface Rule {
  readonly id: string;
  readonly jurisdiction: string;
  readonly fiat: string;
  readonly threshold: string;
  readonly proofFrom: string | null;
  readonly deadlineS: number;
  readonly policy: string;
  readonly exchange: string;
  readonly isOn: boolean;
  readonly version: number;
  readonly by: string;
  readonly why: string;
  readonly at: string;
}

interface Provider {
  readonly id: string;
  readonly host: string;
  readonly name: string;
  readonly isOn: boolean;
  readonly version: number;
  readonly by: string;
  readonly why: string;
  readonly at: string;
}

const HOUR_S = 3_600;
const THEN: Readonly<Record<string, string>> = {
  hold: 'is held',
  send: 'leaves without data',
  return: 'the deposit goes back',
  refuse: 'the order is refused',
};
const PROVIDER: readonly Column<Provider>[] = [
  { head: 'Host', cell: ({ host }) => <span className="nowrap">{host}</span> },
  { head: 'Name', cell: ({ name }) => name },
  { head: 'State', cell: ({ isOn }) => <State state={isOn ? 'in use' : 'off'} tone={isOn ? 'ok' : 'plain'} /> },
  { head: 'Version', cell: ({ version }) => version, className: 'number' },
  { head: 'Set', cell: ({ at }) => <Time at={at} /> },
  { head: 'By', cell: ({ by }) => by },
  { head: 'Why', cell: ({ why }) => why, className: 'wide' },
];
const RULE: readonly Column<Rule>[] = [
  {
    head: 'Country',
    cell: ({ jurisdiction }) =>
      jurisdiction === '*' ? <span className="nowrap">every other</span> : <b>{jurisdiction}</b>,
  },
  { head: 'Fiat', cell: ({ fiat }) => fiat },
  { head: 'State', cell: ({ isOn }) => <State state={isOn ? 'in use' : 'off'} tone={isOn ? 'ok' : 'plain'} /> },
  { head: 'From', cell: ({ threshold, fiat }) => <Amount units={threshold} asset={fiat} />, className: 'number' },
  {
    head: 'Proof from',
    cell: ({ proofFrom, fiat }) =>
      proofFrom === null ? <span className="muted">never</span> : <Amount units={proofFrom} asset={fiat} />,
    className: 'number',
  },
  {
    head: 'Waits',
    cell: ({ deadlineS }) => <span className="nowrap">{deadlineS / HOUR_S} h</span>,
    className: 'number',
  },
  {
    head: 'Then',
    cell: ({ policy }) => <span className="nowrap">{THEN[policy] ?? policy}</span>,
  },
  { head: 'Exchange', cell: ({ exchange }) => exchange },
  { head: 'Version', cell: ({ version }) => version, className: 'number' },
  { head: 'Set', cell: ({ at }) => <Time at={at} /> },
  { head: 'By', cell: ({ by }) => by },
  { head: 'Why', cell: ({ why }) => why, className: 'wide' },
];

export function TravelRules() {
  const may = useMay();
  const [setting, setSetting] = useState<'set' | 'setProvider'>();
  const found = useQuery({
    queryKey: ['travel-rules'],
    queryFn: () => read<{ rules: Rule[] }>('/travel-rules'),
    refetchInterval: every(30_000),
  });
  const providers = useQuery({
    queryKey: ['travel-providers'],
    queryFn: () => read<{ providers: Provider[] }>('/travel-providers'),
    refetchInterval: every(30_000),
  });
  return (
    <>
      <div className="title">
        <h1>Travel rule</h1>
        <button
          type="button"
          className="primary"
          disabled={!may(TRAVEL_ACTIONS.set.right)}
          onClick={() => setSetting('set')}
        >
          {TRAVEL_ACTIONS.set.label}
        </button>
      </div>
      <p className="muted">
        From a value on, coins move only with the names of both sides and the wallet. The rule of the customer’s country
        applies, or else the one for all other countries. An order that waits for data has a case with its deadline.
      </p>
      <Pending isAbout={(subject) => /^travel_(rule|provider):/.test(subject)} />
      {found.error !== null && <Failure error={found.error} />}
      <h2>In force</h2>
      <Table
        label="In force"
        columns={RULE}
        rows={found.error === null ? found.data?.rules : []}
        keyOf={({ id }) => id}
        empty="No travel rule is set: no transfer needs data."
      />
      <List<Rule>
        title="Versions"
        path="/travel-rules/versions"
        list="versions"
        cursor="below"
        filters={[]}
        columns={RULE}
        keyOf={({ id }) => id}
        empty="There is no version."
        isPart
        hasNoCsv
      />
      <div className="title">
        <h2>Providers</h2>
        <button
          type="button"
          disabled={!may(TRAVEL_ACTIONS.setProvider.right)}
          onClick={() => setSetting('setProvider')}
        >
          {TRAVEL_ACTIONS.setProvider.label}
        </button>
      </div>
      <p className="muted">
        Data is exchanged only with these providers. An order whose wallet is at another one is treated as an order
        without data.
      </p>
      {providers.error !== null && <Failure error={providers.error} />}
      <Table
        label="Providers"
        columns={PROVIDER}
        rows={providers.error === null ? providers.data?.providers : []}
        keyOf={({ id }) => id}
        empty="No provider is set: no data is exchanged."
      />
      {setting !== undefined && (
        <ActionDialog action={TRAVEL_ACTIONS[setting]} given={{}} onClose={() => setSetting(undefined)} />
      )}
    </>
  );
}

interface TravelData {
  readonly records: readonly {
    readonly direction: string;
    readonly address: string;
    readonly state: string;
    readonly madeAt: string;
    /** Null once erased. */
    readonly ivms: unknown;
  }[];
  readonly needed: readonly {
    readonly direction: string;
    readonly address: string | null;
    readonly missing: readonly string[];
  }[];
  readonly exchanges: readonly {
    readonly id: string;
    readonly direction: string;
    readonly host: string;
    readonly state: string;
    readonly outcome: string | null;
    readonly reason: string | null;
    readonly failure: string | null;
    readonly tx: string | null;
    readonly createdAt: string;
  }[];
}

/** The filled fields of IVMS101, which has them up to eight levels deep, by the name of each. */
function leavesOf(of: unknown, name = ''): (readonly [string, string])[] {
  if (of === null || of === undefined || of === '') return [];
  if (Array.isArray(of)) return of.flatMap((one) => leavesOf(one, name));
  if (typeof of === 'object') return Object.entries(of).flatMap(([inner, value]) => leavesOf(value, inner));
  return [[name, String(of)]];
}
const inWords = (name: string): string =>
  name
    .replace(/[A-Z]+/g, (part) => ` ${part.length > 1 ? part : part.toLowerCase()}`)
    .replace(/^[a-z]/, (first) => first.toUpperCase());

const Parties = ({ of }: { of: unknown }) =>
  Object.entries(of as Record<string, unknown>).map(([party, said]) => (
    <div key={party}>
      <p>
        <b>{inWords(party)}</b>
      </p>
      <dl className="facts">
        {leavesOf(said).map(([name, text], at) => (
          // Only their order distinguishes fields of one name.
          <Fact key={String(at)} name={inWords(name)}>
            <span className="long">{text}</span>
          </Fact>
        ))}
      </dl>
    </div>
  ));

const WAY: Readonly<Record<string, string>> = { in: 'Coins that came', out: 'Coins that go out' };
const MISSING: Readonly<Record<string, string>> = {
  wallet: 'the partner has not named the wallet',
  proof: 'the owner has not signed for the wallet',
  name: 'the customer has no name with us',
  sender: 'the chain does not say where the coins came from',
  travel_address: 'the partner has not named the travel address of the wallet',
  provider: 'the provider of the wallet is not among those we exchange data with',
  answer: 'the provider of the wallet has not answered',
  refused: 'the provider of the wallet has refused the transfer',
  data: 'the provider that sent the coins has sent no data that fits them',
};

/** Only this panel holds the data, until the page is left. */
export function OrderTravel({ order }: { order: string }) {
  const [isAsking, setAsking] = useState(false);
  const [opened, setOpened] = useState<TravelData>();
  return (
    <>
      {opened === undefined ? (
        <Closed title="Travel rule" action={TRAVEL_ACTIONS.open} onLook={() => setAsking(true)} />
      ) : (
        <section className="panel" aria-label="Travel rule">
          <h2>Travel rule</h2>
          {opened.records.length + opened.needed.length + opened.exchanges.length === 0 && (
            <p className="muted">No rule requires data for this order.</p>
          )}
          {opened.needed.map(({ direction, address, missing }) => (
            <p key={`${direction} ${address}`} className="note is-warn">
              {WAY[direction] ?? direction}: {missing.map((what) => MISSING[what] ?? what).join(', ')}.{' '}
              {address !== null && <Id text={address} />}
            </p>
          ))}
          {opened.exchanges.map(({ id, direction, host, state, outcome, reason, failure, tx, createdAt }) => (
            <div key={id}>
              <p>
                <b>{direction === 'out' ? 'Asked' : 'Told by'}</b> {host}{' '}
                <State
                  state={outcome === null ? state : `${state}, ${outcome}`}
                  tone={state === 'rejected' || state === 'disowned' ? 'bad' : 'plain'}
                />{' '}
                <Time at={createdAt} />
              </p>
              {reason !== null && <p>It was refused: {reason}</p>}
              {failure !== null && <p className="muted">The last try failed: {failure}</p>}
              {tx !== null && <Id text={tx} />}
            </div>
          ))}
          {opened.records.map(({ direction, address, state, madeAt, ivms }) => (
            <div key={`${direction} ${address}`}>
              <p>
                <b>{WAY[direction] ?? direction}</b>{' '}
                <State state={state === 'complete' ? 'complete' : 'without data'} />
              </p>
              <p>
                <Id text={address} /> <Time at={madeAt} />
              </p>
              {ivms === null ? <p className="muted">Its data was erased.</p> : <Parties of={ivms} />}
            </div>
          ))}
        </section>
      )}
      {isAsking && (
        <ActionDialog
          action={TRAVEL_ACTIONS.open}
          about={`order ${order}`}
          given={{ order }}
          onDone={(came: Outcome) => {
            setOpened(came as Outcome & TravelData);
            setAsking(false);
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}
