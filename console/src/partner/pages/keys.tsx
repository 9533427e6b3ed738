/** API keys: made, changed, rotated with an overlap, revoked. Their secrets are shown once. */
import type { ReactNode } from 'react';
import { Secret } from '../../codes.tsx';
import { type Column, Id, Time } from '../../ui.tsx';
import { ActionButton, type Input } from '../actionbutton.tsx';
import { send } from '../api.ts';
import { List } from '../list.tsx';
import { LifeState } from '../parts.tsx';
import { useMay } from '../shell.tsx';

interface Key {
  readonly key: string;
  readonly label: string;
  readonly scopes: readonly string[];
  readonly networks: readonly string[];
  readonly state: string;
  readonly mustSign: boolean;
  readonly rotatingUntil: string | null;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
  readonly createdAt: string;
}
type WithSecret = Key & { readonly secret: string; readonly bearerToken: string };

const SCOPES = ['read', 'trade', 'customers', 'admin'];
const SAYS = {
  read: 'read: look at everything',
  trade: 'trade: quotes and orders',
  customers: 'customers: enrol and change them',
  admin: 'admin: all of these, and webhooks',
};
const inputs = (of?: Key): readonly Input[] => [
  { name: 'label', label: 'What it is for', hint: 'checkout server', ...(of && { value: of.label }) },
  { name: 'scopes', label: 'What it may do', several: SCOPES, names: SAYS, chosen: of?.scopes ?? ['read'] },
  {
    ...{ name: 'networks', label: 'Networks it may be used from, a line each; none: any', isList: true },
    ...{ hint: '203.0.113.0/24', ...(of && { value: of.networks.join('\n') }) },
  },
];

const Shown = ({ of, children }: { of: WithSecret; children?: ReactNode }) => (
  <>
    <p className="note is-warn">Secret and token are shown only now.</p>
    {children}
    <Secret name="Secret" text={of.secret} />
    <Secret name="Bearer token" text={of.bearerToken} />
  </>
);

const COLUMNS: readonly Column<Key>[] = [
  { head: 'Key', cell: ({ key }) => <Id text={key} /> },
  { head: 'For', cell: ({ label }) => label },
  { head: 'State', cell: ({ state }) => <LifeState state={state} /> },
  { head: 'May', cell: ({ scopes }) => scopes.join(', ') },
  { head: 'From', cell: ({ networks }) => (networks.length === 0 ? 'anywhere' : networks.join(', ')) },
  { head: 'Writes', cell: ({ mustSign }) => (mustSign ? 'signed' : 'with the token') },
  { head: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
  {
    head: 'Ends',
    cell: ({ expiresAt, rotatingUntil }) =>
      rotatingUntil !== null ? (
        <>
          previous secret <Time at={rotatingUntil} />
        </>
      ) : expiresAt === null ? (
        <span className="muted">no</span>
      ) : (
        <Time at={expiresAt} />
      ),
  },
  { head: 'Age', cell: ({ createdAt }) => <Time at={createdAt} isAge /> },
];

const ACTIONS: Column<Key> = {
  head: 'Actions',
  cell: (one) =>
    one.state !== 'active' ? null : (
      <div className="row nowrap">
        <ActionButton
          name="Change"
          label={`Change key ${one.label}`}
          right="keys"
          says="Changes label, scopes and networks. It takes effect within three seconds."
          inputs={inputs(one)}
          run={(body) => send('PATCH', `/keys/${one.key}`, body)}
        />
        <ActionButton
          name="Rotate"
          label={`Rotate key ${one.label}`}
          right="keys"
          says="Makes a new secret, shown once. The previous one stays valid for the time that you choose, so that your program can change over without downtime."
          inputs={[
            {
              ...{ name: 'overlapSeconds', label: 'The previous secret is valid for', isNumber: true, value: '86400' },
              choices: ['86400', '3600', '604800', '0'],
              names: { '86400': 'a day', '3600': 'an hour', '604800': 'seven days', '0': 'no time: it has leaked' },
            },
          ]}
          run={(body) => send<WithSecret>('POST', `/keys/${one.key}/rotate`, body)}
          shows={(of) => <Shown of={of} />}
        />
        <ActionButton
          name="Revoke"
          label={`Revoke key ${one.label}`}
          right="keys"
          tone="grave"
          says={`Ends the key “${one.label}” for good. A program that uses it stops working at once.`}
          run={() => send('POST', `/keys/${one.key}/revoke`)}
        />
      </div>
    ),
};

export function Keys() {
  const may = useMay();
  return (
    <List<Key>
      title="API keys"
      says="Keys are for programs. A member who may make keys can do everything that a key can do."
      path="/keys"
      filters={[{ name: 'state', label: 'State', choices: ['active', 'revoked', 'expired', 'held'] }]}
      keeps={({ state }, values) => (values.state ?? state) === state}
      columns={may('keys') ? [...COLUMNS, ACTIONS] : COLUMNS}
      keyOf={({ key }) => key}
      empty="No key matches these filters."
      buttons={
        <ActionButton
          name="Make a key"
          right="keys"
          tone="primary"
          says="Makes a key for a program. Its secret is shown once."
          inputs={inputs()}
          run={(body) => send<WithSecret>('POST', '/keys', body)}
          shows={(of) => (
            <Shown of={of}>
              <Secret name="Key" text={of.key} />
            </Shown>
          )}
        />
      }
    />
  );
}
