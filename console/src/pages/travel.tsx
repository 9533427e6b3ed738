/** The travel rule: rules per country with all of their versions, and the data of one order's transfers. */
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
  readonly isOn: boolean;
  readonly version: number;
  readonly by: string;
  readonly why: string;
  readonly at: string;
}

const HOUR_S = 3_600;
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
    cell: ({ policy }) => <span className="nowrap">{policy === 'hold' ? 'is held' : 'leaves without data'}</span>,
  },
  { head: 'Version', cell: ({ version }) => version, className: 'number' },
  { head: 'Set', cell: ({ at }) => <Time at={at} /> },
  { head: 'By', cell: ({ by }) => by },
  { head: 'Why', cell: ({ why }) => why, className: 'wide' },
];

export function TravelRules() {
  const may = useMay();
  const [isSetting, setSetting] = useState(false);
  const found = useQuery({
    queryKey: ['travel-rules'],
    queryFn: () => read<{ rules: Rule[] }>('/travel-rules'),
    refetchInterval: every(30_000),
  });
  return (
    <>
      <div className="title">
        <h1>Travel rule</h1>
        <button type="button" disabled={!may(TRAVEL_ACTIONS.set.right)} onClick={() => setSetting(true)}>
          {TRAVEL_ACTIONS.set.label}
        </button>
      </div>
      <p className="muted">
        From a worth on, coins move only with the names of both sides and the wallet. The rule is that of the country of
        the customer, or else the one for every other country. An order that waits for data has a case with its
        deadline.
      </p>
      <Pending isAbout={(subject) => subject.startsWith('travel_rule:')} />
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
      {isSetting && (
        <ActionDialog action={TRAVEL_ACTIONS.set} about="transfers" given={{}} onClose={() => setSetting(false)} />
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
          {opened.records.length + opened.needed.length === 0 && (
            <p className="muted">No rule asks for data of this order.</p>
          )}
          {opened.needed.map(({ direction, address, missing }) => (
            <p key={`${direction} ${address}`} className="note is-warn">
              {WAY[direction] ?? direction}: {missing.map((what) => MISSING[what] ?? what).join(', ')}.{' '}
              {address !== null && <Id text={address} />}
            </p>
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
