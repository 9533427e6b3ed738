/** Addresses of ours outside this server, and transfers to them: each step takes two people. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { TRANSFER_ACTIONS } from '../actions.money.ts';
import type { FormAction } from '../actions.ts';
import { read } from '../api.ts';
import { ActionDialog } from '../form.tsx';
import { List } from '../list.tsx';
import { every } from '../live.ts';
import { Pending } from '../pending.tsx';
import { useMay } from '../shell.tsx';
import { Amount, type Column, Failure, Id, State, Table, Time } from '../ui.tsx';

interface OwnAddress {
  readonly id: string;
  readonly rail: string;
  readonly address: string;
  readonly label: string;
  readonly wallet: string;
  readonly registeredBy: string;
  readonly usableAt: string;
  readonly endedAt: string | null;
}
interface OwnTransfer {
  readonly key: string;
  readonly own: string;
  readonly rail: string;
  readonly target: string;
  readonly asset: string;
  readonly units: string;
  readonly people: readonly string[];
  readonly state: string;
  readonly why: string | null;
  readonly reference: string | null;
  readonly createdAt: string;
}
interface Chosen {
  readonly action: FormAction;
  readonly about?: string;
  readonly given: Readonly<Record<string, string>>;
}

export function OwnAddresses() {
  const may = useMay();
  const [chosen, setChosen] = useState<Chosen>();
  const found = useQuery({
    queryKey: ['own addresses'],
    queryFn: () => read<{ addresses: OwnAddress[] }>('/treasury/own-addresses'),
    refetchInterval: every(10_000),
  });
  const button = (action: FormAction, about: string, given: Chosen['given']) => (
    <button
      type="button"
      className={action.isGrave === true ? 'grave' : ''}
      aria-label={`${action.label}: ${about}`}
      disabled={!may(action.right)}
      onClick={() => setChosen({ action, about, given })}
    >
      {action.label}
    </button>
  );
  const labelOf = (own: string) => found.data?.addresses.find(({ id }) => id === own)?.label ?? `address ${own}`;
  const addresses: readonly Column<OwnAddress>[] = [
    { head: 'Number', cell: ({ id }) => id, className: 'number' },
    { head: 'What it is', cell: ({ label }) => <b className="long">{label}</b> },
    { head: 'Chain', cell: ({ rail }) => rail, className: 'nowrap' },
    // Whole: people compare every character of it.
    { head: 'Address', cell: ({ address }) => <Id text={address}>{address}</Id> },
    { head: 'Wallet', cell: ({ wallet }) => wallet, className: 'nowrap' },
    { head: 'Registered by', cell: ({ registeredBy }) => registeredBy },
    {
      head: 'Usable from',
      cell: ({ usableAt, endedAt }) =>
        endedAt === null ? <Time at={usableAt} /> : <State state="ended" tone="plain" />,
    },
    {
      head: 'Actions',
      cell: ({ id, label, endedAt }) =>
        endedAt === null ? (
          <span className="row nowrap">
            {button(TRANSFER_ACTIONS.send, label, { id })}
            {button(TRANSFER_ACTIONS.end, label, { id })}
          </span>
        ) : null,
    },
  ];
  const transfers: readonly Column<OwnTransfer>[] = [
    { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} isAge /> },
    { head: 'State', cell: ({ state }) => <State state={state} /> },
    { head: 'Amount', cell: ({ units, asset }) => <Amount units={units} asset={asset} />, className: 'number' },
    {
      head: 'To',
      cell: ({ own, target }) => (
        <>
          <div className="long">{labelOf(own)}</div>
          <Id text={target} />
        </>
      ),
    },
    { head: 'Agreed', cell: ({ people }) => people.join(', ') },
    { head: 'Why it waits', cell: ({ why }) => why ?? <span className="muted">none</span> },
    {
      head: 'Evidence',
      cell: ({ reference }) => (reference === null ? <span className="muted">none yet</span> : <Id text={reference} />),
    },
    {
      head: 'Actions',
      cell: ({ key, state }) => (state === 'created' ? button(TRANSFER_ACTIONS.cancel, key, { transfer: key }) : null),
    },
  ];
  return (
    <>
      <div className="title">
        <h1>Own addresses</h1>
        <button
          type="button"
          className="primary"
          disabled={!may(TRANSFER_ACTIONS.register.right)}
          onClick={() => setChosen({ action: TRANSFER_ACTIONS.register, given: {} })}
        >
          {TRANSFER_ACTIONS.register.label}
        </button>
      </div>
      <p className="muted">
        Addresses whose keys this server does not have, such as cold storage. Money sent there stays ours, in a wallet
        of its own in the books.
      </p>
      <Pending isAbout={(subject) => subject.startsWith('own-address:')} />
      {found.error !== null && <Failure error={found.error} />}
      <Table
        label="Own addresses"
        columns={addresses}
        rows={found.data?.addresses}
        keyOf={({ id }) => id}
        empty="No address is registered."
      />
      <List<OwnTransfer>
        isPart
        title="Transfers"
        path="/treasury/own-transfers"
        list="transfers"
        cursor="below"
        filters={[]}
        columns={transfers}
        keyOf={({ key }) => key}
        empty="Nothing was sent yet."
      />
      {chosen !== undefined && <ActionDialog {...chosen} onClose={() => setChosen(undefined)} />}
    </>
  );
}
