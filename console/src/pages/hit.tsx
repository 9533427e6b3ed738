/**
 * One hit: the compared data and the entry of the list side by side, and the decision. Both sides are read by an action with a
 * reason, which the audit records; only this page holds them, until the page is left.
 */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { HIT_ACTIONS, HIT_STATES } from '../actions.ts';
import { type Outcome, type Proposal, read } from '../api.ts';
import { ActionDialog } from '../form.tsx';
import { every } from '../live.ts';
import { Closed } from '../personal.tsx';
import { useMay } from '../shell.tsx';
import { CustomerLink, Fact, Failure, Id, State, Time, type Tone } from '../ui.tsx';
import { Compared, type Hit } from './screening.tsx';

interface Subject {
  readonly names: readonly string[];
  readonly kind?: string;
  readonly born?: string;
  readonly countries?: readonly string[];
  readonly address?: string;
}
interface Explanation {
  readonly givenName: string;
  readonly listedName: string;
  readonly isWeakAlias: boolean;
  readonly words: readonly { readonly given: string; readonly listed: string; readonly how: string }[];
  readonly unmatched: { readonly given: readonly string[]; readonly listed: readonly string[] };
  readonly born: string;
  readonly country: string;
  readonly kind: string;
}
interface Entry {
  readonly list: string;
  readonly id: string;
  readonly kind: string;
  readonly names: readonly {
    readonly text: string;
    readonly quality: string;
    readonly isPrimary: boolean;
  }[];
  readonly births: readonly { readonly from: string; readonly to: string; readonly isCirca: boolean }[];
  readonly countries: readonly string[];
  readonly identifiers: readonly { readonly kind: string; readonly value: string; readonly country?: string }[];
  readonly addresses: readonly { readonly asset: string; readonly address: string }[];
  readonly sinceVersion: string;
  readonly untilVersion: string | null;
}
interface Opened {
  readonly alert: { readonly given: Subject | null; readonly explanation: Explanation | null };
  readonly entry: Entry;
}

/** The interface has hits by state and after a number, and none by its number alone. */
async function findHit(id: string): Promise<Hit | null> {
  if (!/^[1-9][0-9]{0,17}$/.test(id)) return null;
  const after = String(BigInt(id) - 1n);
  const pages = await Promise.all(
    HIT_STATES.map((state) => read<{ hits: Hit[] }>('/sanctions/hits', { state, after, limit: '1' })),
  );
  return pages.flatMap(({ hits }) => hits).find((one) => one.id === id) ?? null;
}

const KEYED = [
  ['confirm', 'y'],
  ['dismiss', 'd'],
] as const;

export function HitPage() {
  const { hit: id } = useParams({ from: '/screening/$hit' });
  const may = useMay();
  const [opened, setOpened] = useState<Opened>();
  const [chosen, setChosen] = useState<keyof typeof HIT_ACTIONS>();
  const found = useQuery({ queryKey: ['hit', id], queryFn: () => findHit(id), refetchInterval: every(10_000) });
  const proposals = useQuery({
    queryKey: ['proposals', 'hit', id],
    queryFn: () =>
      read<{ proposals: Proposal[] }>('/proposals', { state: 'open', action: HIT_ACTIONS.dismiss.name, limit: '200' }),
    refetchInterval: every(5_000),
  });
  const one = found.data ?? undefined;
  const proposed = proposals.data?.proposals.find(({ subject }) => subject === `sanctions_hit:${id}`);
  const error = found.error ?? proposals.error;
  // A false positive can still be confirmed: later evidence may show that it is the listed person after all.
  const isOpen = { confirm: one?.state === 'open' || one?.state === 'false_positive', dismiss: one?.state === 'open' };
  return (
    <>
      <div className="title">
        <h1>Hit {id}</h1>
        {one !== undefined && <State state={one.state} />}
      </div>
      {error !== null && <Failure error={error} />}
      {found.data === null && <p className="note">There is no such hit.</p>}
      {one !== undefined && (
        <div className="columns">
          <div>
            {opened === undefined ? (
              <Closed
                title="What was compared"
                action={HIT_ACTIONS.open}
                isFirst
                shortcut="l"
                onLook={() => setChosen('open')}
              />
            ) : (
              <SideBySide of={opened} hit={one} />
            )}
            <section className="panel" aria-label="Decision">
              <h2>Decision</h2>
              {one.decidedAt !== null && (
                <p className="note">
                  {one.people?.join(', ')} decided <Time at={one.decidedAt} />: {one.reason}
                </p>
              )}
              {proposed !== undefined && (
                <p className="note is-warn">
                  {proposed.proposer} proposed to dismiss it: {proposed.reason}. Another operator confirms{' '}
                  <Link to="/proposals/$proposal" params={{ proposal: proposed.id }}>
                    proposal {proposed.id}
                  </Link>
                  .
                </p>
              )}
              {one.state === 'gone' && (
                <p className="note">The entry has left the list, or has changed: nothing is left to decide.</p>
              )}
              <div className="actions">
                {KEYED.filter(([name]) => isOpen[name]).map(([name, key]) => (
                  <div key={name}>
                    <button
                      type="button"
                      className={name === 'confirm' ? 'grave' : ''}
                      disabled={!may(HIT_ACTIONS[name].right) || (name === 'dismiss' && proposed !== undefined)}
                      data-key={key}
                      onClick={() => setChosen(name)}
                    >
                      {HIT_ACTIONS[name].label} <kbd aria-hidden="true">{key}</kbd>
                    </button>
                    <span className="muted">{HIT_ACTIONS[name].says}</span>
                  </div>
                ))}
              </div>
              <p className="muted">Do not tell the partner or the customer about it.</p>
            </section>
          </div>
          <Known hit={one} />
        </div>
      )}
      {chosen !== undefined && (
        <ActionDialog
          action={HIT_ACTIONS[chosen]}
          about={`hit ${id}`}
          given={{ hit: id }}
          {...(chosen === 'open'
            ? {
                onDone: (came: Outcome) => {
                  setOpened(came as Outcome & Opened);
                  setChosen(undefined);
                },
              }
            : {})}
          onClose={() => setChosen(undefined)}
        />
      )}
    </>
  );
}

const Known = ({ hit }: { hit: Hit }) => (
  <section className="panel">
    <h2>Facts</h2>
    <dl className="facts">
      <Fact name="Score">
        <b>{hit.score}</b> <span className="muted">of 1</span>
      </Fact>
      <Fact name="Compared">
        <Compared subject={hit.subject} />
      </Fact>
      <Fact name="Customer">
        {hit.customerId === null ? <span className="muted">none</span> : <CustomerLink id={hit.customerId} />}
      </Fact>
      <Fact name="List">{hit.list}</Fact>
      <Fact name="Entry">
        <Id text={hit.listEntry} />
      </Fact>
      <Fact name="Found">
        <Time at={hit.foundAt} />
      </Fact>
      <Fact name="Comparison">
        <Id text={hit.screening} />
      </Fact>
    </dl>
    <Link to="/audit" search={{ subject: `sanctions_hit:${hit.id}` }}>
      What operators did with this hit
    </Link>
  </section>
);

const HOW: Readonly<Record<string, string>> = {
  same: 'the same',
  sound: 'sounds the same',
  consonants: 'same consonants',
  near: 'spelled nearly the same',
  initial: 'an initial',
};
const TONE: Readonly<Record<string, Tone>> = { agrees: 'warn', near: 'warn', contradicts: 'info', differs: 'info' };
/** Marks what makes it likelier that both are the same person, and what makes it less likely. */
const Says = ({ what }: { what: string | undefined }) =>
  what === undefined ? null : <State state={what} tone={TONE[what] ?? 'plain'} />;

const Texts = ({ of }: { of: readonly ReactNode[] }) =>
  of.length === 0 ? (
    <span className="muted">not known</span>
  ) : (
    <ul className="plain">
      {of.map((one, at) => (
        <li key={String(at)} className="long">
          {one}
        </li>
      ))}
    </ul>
  );
const Name = ({ text, isMatched, rest = '' }: { text: string; isMatched: boolean; rest?: string }) => (
  <>
    {isMatched ? <mark>{text}</mark> : text} {rest !== '' && <span className="muted">{rest}</span>}
  </>
);
const period = ({ from, to, isCirca }: Entry['births'][number]): string =>
  `${isCirca ? 'about ' : ''}${from === to ? from : `${from} to ${to}`}`;

const WHO: Readonly<Record<string, string>> = {
  account: 'Holder of the account',
  payer: 'Payer',
  customer: 'Customer',
};

function SideBySide({ of: { alert, entry }, hit }: { of: Opened; hit: Hit }) {
  const { given, explanation: why } = alert;
  const rows: readonly (readonly [string, string | undefined, readonly ReactNode[], readonly ReactNode[]])[] = [
    [
      'Name',
      undefined,
      given?.names.map((text) => <Name key={text} text={text} isMatched={text === why?.givenName} />) ?? [],
      entry.names.map(({ text, isPrimary, quality }) => (
        <Name
          key={text}
          text={text}
          isMatched={text === why?.listedName}
          rest={[...(isPrimary ? ['primary'] : []), ...(quality === 'weak' ? ['weak alias'] : [])].join(', ')}
        />
      )),
    ],
    ['Born', why?.born, given?.born === undefined ? [] : [given.born], entry.births.map(period)],
    ['Country', why?.country, given?.countries ?? [], entry.countries],
    ['Kind', why?.kind, given?.kind === undefined ? [] : [given.kind], [entry.kind]],
    [
      'Address',
      undefined,
      given?.address === undefined ? [] : [<Name key="a" text={given.address} isMatched={why?.words.length === 0} />],
      entry.addresses.map(({ asset, address }) => (
        <Name key={address} text={address} isMatched={address === why?.listedName} rest={asset} />
      )),
    ],
    [
      'Identifiers',
      undefined,
      [],
      entry.identifiers.map(({ kind, value, country }) => (
        <Name key={`${kind} ${value}`} text={value} isMatched={false} rest={[kind, country ?? ''].join(' ').trim()} />
      )),
    ],
  ];
  return (
    <section className="panel" aria-label="Side by side">
      <div className="title">
        <h2>Side by side</h2>
        <span>
          Score <b>{hit.score}</b>
        </span>
      </div>
      {given === null && (
        <p className="note">The customer was erased, and the compared names with them: only the entry is left.</p>
      )}
      <table className="compare">
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">{WHO[hit.subject.replace(/:.*$/, '')] ?? 'Compared'}</th>
            <th scope="col">
              {entry.list}, entry {entry.id}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows
            .filter(([, , mine, theirs]) => mine.length + theirs.length > 0)
            .map(([what, says, mine, theirs]) => (
              <tr key={what}>
                <th scope="row">
                  {what} <Says what={says} />
                </th>
                <td>
                  <Texts of={mine} />
                </td>
                <td>
                  <Texts of={theirs} />
                </td>
              </tr>
            ))}
        </tbody>
      </table>
      {why !== null && <Why of={why} />}
      <p className="muted">
        In the list since version {entry.sinceVersion}
        {entry.untilVersion === null ? '' : `, and not from version ${entry.untilVersion} on`}. Why it is listed stands
        with its publisher, under its id.
      </p>
    </section>
  );
}

/** Composition of the score: words first, then the evidence. */
function Why({ of: why }: { of: Explanation }) {
  const left = [
    ['compared', why.unmatched.given],
    ['listed', why.unmatched.listed],
  ] as const;
  return (
    <>
      <h2>Why it is alike</h2>
      {why.words.length === 0 ? (
        <p>The address is the one on the list.</p>
      ) : (
        <ul className="plain words">
          {why.words.map(({ given, listed, how }) => (
            <li key={`${given} ${listed}`}>
              <span className="mono long">{given}</span>
              <span className="mono long">{listed}</span>
              <span className="muted">{HOW[how] ?? how}</span>
            </li>
          ))}
        </ul>
      )}
      {left.map(
        ([side, words]) =>
          words.length > 0 && (
            <p key={side}>
              <span className="muted">Only in the name {side}:</span> <span className="mono">{words.join(', ')}</span>
            </p>
          ),
      )}
      <p className="muted">
        The words of the names make the score. {why.isWeakAlias && 'A weak alias lowers it. '}Birth and country move it
        a little: up where they agree, down where they contradict or differ. Another kind lowers it.
      </p>
    </>
  );
}
