/** Sessions and passkeys as both consoles list them. Each page adds the column with its actions. */
import type { SessionRow } from './api.ts';
import { type Column, State, Time } from './ui.tsx';

export interface Passkey {
  readonly id: string;
  readonly since: string;
  readonly used: string | null;
}

export const SESSION_COLUMNS: readonly Column<SessionRow>[] = [
  {
    head: 'Session',
    cell: ({ id, current }) => (
      <span className="row">
        {id} {current && <State state="this one" tone="info" />}
      </span>
    ),
  },
  { head: 'Address', cell: ({ address }) => <span className="mono">{address}</span> },
  { head: 'Since', cell: ({ since }) => <Time at={since} /> },
  { head: 'Last used', cell: ({ seen }) => <Time at={seen} /> },
  { head: 'Ends', cell: ({ expires }) => <Time at={expires} /> },
];

export const PASSKEY_COLUMNS: readonly Column<Passkey>[] = [
  { head: 'Passkey', cell: ({ id }) => id },
  { head: 'Enrolled', cell: ({ since }) => <Time at={since} /> },
  { head: 'Last used', cell: ({ used }) => <Time at={used} /> },
];
