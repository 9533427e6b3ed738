/** Channels of alerts and senders of login codes: which are used, what they lack, whether they work, and a test of each. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { CHANNEL_ACTIONS } from '../actions.people.ts';
import { read } from '../api.ts';
import { ActionDialog } from '../form.tsx';
import { counted } from '../format.ts';
import { every } from '../live.ts';
import { useMay } from '../shell.tsx';
import { type Column, Failure, State, Table, Time } from '../ui.tsx';

interface Setting {
  readonly name: string;
  readonly about: string;
  readonly isSet: boolean;
  readonly isDemanded: boolean;
}
interface Channel {
  readonly what: 'alerts' | 'codes';
  readonly code: string;
  readonly about: string;
  readonly isUsed: boolean;
  readonly sandboxOnly: boolean;
  readonly chosenBy: string;
  readonly settings: readonly Setting[];
  readonly rules: number;
  readonly newest: {
    readonly id: string;
    readonly state: string;
    readonly createdAt: string;
    readonly sentAt: string | null;
    readonly attempts: number;
    readonly lastError: string | null;
  } | null;
}

/** Whether a channel works, as far as its newest message shows. */
function Works({ of: { isUsed, newest, what } }: { of: Channel }) {
  if (!isUsed) return <State state="not used" tone="plain" />;
  if (newest === null) return <State state={what === 'alerts' ? 'used, not tried' : 'used'} tone="info" />;
  if (newest.state === 'sent') return <State state="works" tone="ok" />;
  if (newest.state === 'failed') return <State state="does not work" tone="bad" />;
  return (
    <State
      state={newest.attempts === 0 ? 'sending' : 'does not answer'}
      tone={newest.attempts === 0 ? 'info' : 'warn'}
    />
  );
}

const NAME: Column<Channel> = { head: 'Name', cell: ({ code }) => <b className="nowrap">{code}</b> };
const STATE: Column<Channel> = { head: 'State', cell: (one) => <Works of={one} /> };
const ABOUT: Column<Channel> = { head: 'What it does', cell: ({ about }) => about, className: 'wide' };
const SETTINGS: Column<Channel> = {
  head: 'Settings',
  cell: ({ settings, isUsed }) =>
    settings.length === 0 ? (
      <span className="muted">none</span>
    ) : (
      <ul className="plain">
        {settings.map(({ name, about, isSet, isDemanded }) => (
          <li key={name} className="nowrap" title={about}>
            <code>{name}</code>{' '}
            <span className="muted">{isSet ? 'set' : isDemanded && isUsed ? 'missing here' : 'not set'}</span>
          </li>
        ))}
      </ul>
    ),
};
const NEWEST: Column<Channel> = {
  head: 'Newest message',
  cell: ({ newest }) =>
    newest === null ? (
      <span className="muted">none</span>
    ) : (
      <>
        <Time at={newest.sentAt ?? newest.createdAt} />
        {newest.lastError !== null && <div>{newest.lastError}</div>}
      </>
    ),
};
const RULES: Column<Channel> = {
  head: 'Rules',
  cell: ({ rules }) =>
    rules === 0 ? <span className="muted">none</span> : <Link to="/alerts">{counted(rules, 'rule')}</Link>,
};

/** How a channel is added, changed or removed: its accounts are secrets of other services, and stay out of the database. */
function HowTo({ setting, page }: { setting: string; page: string }) {
  return (
    <p className="muted">
      To add, change or remove one, name it in the setting <code>{setting}</code> with its own settings, and restart the
      server: accounts and keys of other services are in no database, and on no screen.{' '}
      <Link to="/handbook" search={{ page }}>
        How
      </Link>
    </p>
  );
}

export function Channels() {
  const may = useMay();
  const [chosen, setChosen] = useState<Channel>();
  const found = useQuery({
    queryKey: ['channels'],
    queryFn: () => read<{ channels: Channel[] }>('/channels'),
    refetchInterval: every(5_000),
  });
  const of = (what: Channel['what']) =>
    found.error === null ? found.data?.channels.filter((one) => one.what === what) : [];
  const test: Column<Channel> = {
    head: 'Actions',
    cell: (one) =>
      one.isUsed ? (
        <button
          type="button"
          className="nowrap"
          aria-label={`Test: ${one.code}`}
          disabled={!may('operators')}
          onClick={() => setChosen(one)}
        >
          Test
        </button>
      ) : (
        <span className="muted">none</span>
      ),
  };
  const used = of('alerts')?.filter(({ isUsed }) => isUsed);
  return (
    <>
      <h1>Channels and senders</h1>
      {found.error !== null && <Failure error={found.error} />}
      <h2>Channels of alerts</h2>
      {used?.length === 0 && (
        <p className="note is-warn">No alerts about cases are sent: this server uses no channel.</p>
      )}
      <Table
        label="Channels of alerts"
        columns={[NAME, STATE, test, NEWEST, RULES, ABOUT, SETTINGS]}
        rows={of('alerts')}
        keyOf={({ code }) => code}
        empty="This version has no channel of alerts."
      />
      <HowTo setting="ALERT_CHANNELS" page="alerts.md" />
      <h2>Senders of login codes</h2>
      <Table
        label="Senders of login codes"
        columns={[
          NAME,
          STATE,
          test,
          {
            ...ABOUT,
            cell: ({ about, sandboxOnly }) => (
              <>
                {about} {sandboxOnly && <State state="sandbox only" tone="plain" />}
              </>
            ),
          },
          SETTINGS,
        ]}
        rows={of('codes')}
        keyOf={({ code }) => code}
        empty="This version has no sender of codes."
      />
      <HowTo setting="CODE_SENDER" page="production.md" />
      {chosen !== undefined && (
        <ActionDialog
          action={chosen.what === 'alerts' ? CHANNEL_ACTIONS.test : CHANNEL_ACTIONS.testCode}
          about={chosen.code}
          given={chosen.what === 'alerts' ? { channel: chosen.code } : {}}
          effect={() =>
            chosen.what === 'alerts' ? (
              <p>
                The message says that it is a test, and is not urgent. Its outcome is under <b>Newest message</b>.
              </p>
            ) : (
              <p>The form says done when the service has accepted the code: whether it arrives, the phone shows.</p>
            )
          }
          onClose={() => setChosen(undefined)}
        />
      )}
    </>
  );
}
