/** Keys of a partner, with the forms that make and change them, and the items held since a leak. A secret is shown once. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { HELD_ACTIONS, KEY_ACTIONS, PARTNER_ACTIONS } from '../actions.trade.ts';
import { type Outcome, read } from '../api.ts';
import { Secret } from '../codes.tsx';
import { ActionDialog, Came } from '../form.tsx';
import { every } from '../live.ts';
import { OtherActions } from '../others.tsx';
import { useMay } from '../shell.tsx';
import { type Column, Dialog, Failure, Id, State, Table, Time } from '../ui.tsx';

export interface Key {
  readonly key: string;
  readonly label: string;
  readonly scopes: readonly string[];
  readonly addresses: readonly string[];
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly heldAt: string | null;
  readonly lastUsedAt: string | null;
  readonly createdAt: string;
}

const stateOf = ({ revokedAt, heldAt }: Key) =>
  revokedAt !== null ? (['revoked', 'plain'] as const) : heldAt !== null ? (['held', 'bad'] as const) : undefined;

const KEYS: readonly Column<Key>[] = [
  { head: 'Key', cell: ({ key }) => <Id text={key} /> },
  { head: 'Name', cell: ({ label }) => label },
  {
    head: 'State',
    cell: (one) => {
      const [state, tone] = stateOf(one) ?? (['works', 'plain'] as const);
      return <State state={state} tone={tone} />;
    },
  },
  { head: 'May', cell: ({ scopes }) => scopes.join(', ') },
  { head: 'From', cell: ({ addresses }) => addresses.join(', ') || <span className="muted">anywhere</span> },
  { head: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
  {
    head: 'Until',
    cell: ({ expiresAt }) =>
      expiresAt === null ? <span className="muted nowrap">no end</span> : <Time at={expiresAt} />,
  },
];

/** The part of the reply that is shown once, and on no later page. */
function SecretDialog({ of, onClose }: { of: Outcome; onClose: () => void }) {
  const { apiKey, apiSecret, bearerToken, secretFor } = of as {
    apiKey?: string;
    apiSecret?: string;
    bearerToken?: string;
    secretFor?: string;
  };
  const lines = [
    ['Key', apiKey],
    ['Secret', apiSecret],
    ['Bearer token', bearerToken],
  ] as const;
  return (
    <Dialog label="The secret, once" onClose={onClose}>
      {apiSecret === undefined ? (
        <>
          <Came outcome={of} />
          {secretFor !== undefined && <p>{secretFor} collects the secret with Show the secret, within a day.</p>}
        </>
      ) : (
        <>
          <h2>The secret, once</h2>
          <p className="note is-warn">It cannot be shown again. Give it to the partner over a secure channel.</p>
          {lines.map(([name, value]) => value !== undefined && <Secret key={name} name={name} text={value} />)}
        </>
      )}
      <div className="row">
        <button type="button" className="primary" autoFocus onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

export function Keys(p: { partner: string; rows: readonly Key[]; revoke: (key: string) => void }) {
  const may = useMay();
  const [form, setForm] = useState<{ action: keyof typeof KEY_ACTIONS; key?: string }>();
  const [done, setDone] = useState<Outcome>();
  const isAllowed = may(KEY_ACTIONS.create.right);
  const columns: readonly Column<Key>[] = [
    ...KEYS,
    {
      head: 'Actions',
      cell: ({ key, revokedAt }) =>
        revokedAt === null && (
          <span className="row nowrap">
            {(['rotate', 'collect'] as const).map((action) => (
              <button
                key={action}
                type="button"
                aria-label={`${KEY_ACTIONS[action].label}: ${key}`}
                disabled={!isAllowed}
                onClick={() => setForm({ action, key })}
              >
                {KEY_ACTIONS[action].label}
              </button>
            ))}
            <OtherActions of="key" known={{ key }} about={key} isRow />
            <button
              type="button"
              className="grave"
              aria-label={`Revoke ${key}`}
              disabled={!may(PARTNER_ACTIONS.revokeKey.right)}
              onClick={() => p.revoke(key)}
            >
              Revoke
            </button>
          </span>
        ),
    },
  ];
  return (
    <>
      <div className="title">
        <h2>Keys</h2>
        <button type="button" disabled={!isAllowed} onClick={() => setForm({ action: 'create' })}>
          {KEY_ACTIONS.create.label}
        </button>
      </div>
      <Table label="Keys" columns={columns} rows={p.rows} keyOf={({ key }) => key} empty="It has no key." />
      {form !== undefined && (
        <ActionDialog
          action={KEY_ACTIONS[form.action]}
          about={form.key ?? `partner ${p.partner}`}
          given={form.key === undefined ? { partner: p.partner } : { key: form.key }}
          onDone={(came) => {
            setForm(undefined);
            setDone(came);
          }}
          onClose={() => setForm(undefined)}
        />
      )}
      {done !== undefined && <SecretDialog of={done} onClose={() => setDone(undefined)} />}
    </>
  );
}

interface Item {
  readonly id: string;
  readonly kind: string;
  readonly subject: string;
  /** Of a destination: what is not paid to. */
  readonly address: string | null;
  readonly why: string;
  readonly madeAt: string;
  readonly madeByKey: string | null;
  readonly state: string;
}

/** Nothing where nothing was ever held. */
export function Held({ partner }: { partner: string }) {
  const may = useMay();
  const [form, setForm] = useState<{ action: keyof typeof HELD_ACTIONS; item: Item }>();
  const found = useQuery({
    queryKey: ['held', partner],
    queryFn: () => read<{ held: Item[]; next: string | null }>(`/partners/${partner}/held`, { state: 'held' }),
    refetchInterval: every(15_000),
  });
  const columns: readonly Column<Item>[] = [
    { head: 'Item', cell: ({ id, kind }) => `${id}, ${kind}`, className: 'nowrap' },
    {
      head: 'What',
      cell: ({ subject, address }) => (
        <span className="mono long">{address === null ? subject : `${address}, ${subject}`}</span>
      ),
    },
    { head: 'Why', cell: ({ why }) => why },
    { head: 'Made', cell: ({ madeAt }) => <Time at={madeAt} /> },
    { head: 'By key', cell: ({ madeByKey }) => madeByKey ?? <span className="muted">unknown</span> },
    {
      head: 'Actions',
      cell: (item) => (
        <span className="row nowrap">
          {(['release', 'reject'] as const).map((action) => (
            <button
              key={action}
              type="button"
              className={action === 'reject' ? 'grave' : ''}
              aria-label={`${HELD_ACTIONS[action].label} item ${item.id}`}
              disabled={!may(HELD_ACTIONS[action].right)}
              onClick={() => setForm({ action, item })}
            >
              {HELD_ACTIONS[action].label}
            </button>
          ))}
        </span>
      ),
    },
  ];
  if (found.error !== null) return <Failure error={found.error} />;
  if (found.data === undefined || found.data.held.length === 0) return null;
  return (
    <>
      <h2>Held since a leak</h2>
      <p className="note is-warn">
        None of these works before it is released. {found.data.next !== null && 'There are more than these.'}
      </p>
      <Table label="Held since a leak" columns={columns} rows={found.data.held} keyOf={({ id }) => id} empty="" />
      {form !== undefined && (
        <ActionDialog
          action={HELD_ACTIONS[form.action]}
          about={`${form.item.kind} ${form.item.address ?? form.item.subject}, ${form.item.why}`}
          given={{ partner, items: form.item.id }}
          onClose={() => setForm(undefined)}
        />
      )}
    </>
  );
}
