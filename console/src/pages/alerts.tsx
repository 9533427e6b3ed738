/** Alerts: the rules by which people are notified about cases, and the messages sent. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ALERT_ACTIONS } from '../actions.people.ts';
import type { FormField } from '../actions.ts';
import { read } from '../api.ts';
import { ActionDialog, Changes, type Typed } from '../form.tsx';
import { hour } from '../format.ts';
import { List } from '../list.tsx';
import { every } from '../live.ts';
import { RowLink } from '../rowlink.tsx';
import { useMay } from '../shell.tsx';
import { Amount, type Column, Failure, State, Table, Time, type Tone } from '../ui.tsx';

interface Rule {
  readonly name: string;
  readonly channel: string;
  readonly about: string;
  readonly kinds: readonly string[];
  readonly asset: string | null;
  readonly least: string | null;
  readonly afterMinutes: number;
  readonly fromHour: number;
  readonly untilHour: number;
  readonly zone: string;
  readonly createdBy: string;
}
interface Message {
  readonly id: string;
  readonly rule: string | null;
  readonly channel: string;
  readonly title: string;
  readonly lines: readonly string[];
  readonly state: string;
  readonly attempts: number;
  readonly lastError: string | null;
  readonly createdAt: string;
  readonly sentAt: string | null;
}

const TELLS: Readonly<Record<string, string>> = {
  opened: 'cases that are open',
  unclaimed: 'unclaimed cases',
  overdue: 'cases past their due time',
  digest: 'a digest each day',
};
const RULES: readonly Column<Rule>[] = [
  { head: 'Rule', cell: ({ name }) => <b className="nowrap">{name}</b> },
  { head: 'By', cell: ({ channel }) => channel },
  { head: 'Tells of', cell: ({ about }) => TELLS[about] ?? about },
  {
    head: 'Kinds',
    cell: ({ kinds }) =>
      kinds.length === 0 ? (
        <span className="muted">every kind</span>
      ) : (
        kinds.map((kind) => kind.replaceAll('_', ' ')).join(', ')
      ),
    className: 'wide',
  },
  {
    head: 'At least',
    cell: ({ least, asset }) =>
      least === null ? <span className="muted">any amount</span> : <Amount units={least} asset={asset ?? ''} />,
    className: 'number',
  },
  {
    head: 'After',
    cell: ({ about, afterMinutes }) => (about === 'digest' || afterMinutes === 0 ? 'at once' : `${afterMinutes} min`),
    className: 'nowrap',
  },
  {
    head: 'Hours',
    cell: ({ about, fromHour, untilHour, zone }) => (
      <span className="nowrap">
        {about === 'digest'
          ? `at ${hour(fromHour)}`
          : fromHour === untilHour
            ? 'all day'
            : `${hour(fromHour)} to ${hour(untilHour)}`}{' '}
        <span className="muted">{zone}</span>
      </span>
    ),
  },
];

const TONES: Readonly<Record<string, Tone>> = { sent: 'ok', waiting: 'info', failed: 'bad' };
const MESSAGES: readonly Column<Message>[] = [
  { head: 'Message', cell: ({ id, title }) => <RowLink row={id}>{title.replace(/^Cloverleaf: /, '')}</RowLink> },
  { head: 'State', cell: ({ state }) => <State state={state} tone={TONES[state] ?? 'plain'} /> },
  { head: 'Rule', cell: ({ rule }) => rule ?? <span className="muted">none</span>, className: 'nowrap' },
  { head: 'By', cell: ({ channel }) => channel },
  { head: 'Written', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { head: 'Sent', cell: ({ sentAt }) => <Time at={sentAt} /> },
  { head: 'Tries', cell: ({ attempts }) => attempts, className: 'number' },
  { head: 'Why not', cell: ({ lastError }) => lastError ?? <span className="muted">none</span> },
];

/** The channel is chosen from those of this server, with the one that the rule has. */
const setWith = (channels: readonly string[], present: string | undefined) => ({
  ...ALERT_ACTIONS.set,
  fields: ALERT_ACTIONS.set.fields.map((field): FormField => {
    const choices = [...new Set([...channels, ...(present === undefined ? [] : [present])])];
    return field.name === 'channel' && choices.length > 0 ? { ...field, hint: 'Of this server', choices } : field;
  }),
});

/** What changing a rule does. Under another name it is another rule, and this one stays. */
function Replaced(p: { of: Rule | undefined; fields: readonly FormField[]; now: Typed; typed: Typed }) {
  const { of, fields, now, typed } = p;
  if (of !== undefined && typed.name !== of.name)
    return (
      <p>
        Sets another rule, <b>{typed.name || 'without a name yet'}</b>. Rule {of.name} stays as it is.
      </p>
    );
  return (
    <>
      <Changes fields={fields} now={now} typed={typed} isWhole />
      <p>
        Rule {of?.name} says on its channel that it was replaced. Cases that it has reported are not reported again.
      </p>
    </>
  );
}

const SHORT = { test: 'Test', set: 'Change', remove: 'Remove' } as const;

export function Alerts() {
  const may = useMay();
  const [chosen, setChosen] = useState<{ action: keyof typeof ALERT_ACTIONS; rule?: Rule }>();
  const found = useQuery({
    queryKey: ['alerts'],
    queryFn: () => read<{ rules: Rule[]; channels: string[] }>('/alerts'),
    refetchInterval: every(15_000),
  });
  const { rules, channels = [] } = found.data ?? {};
  const set = setWith(channels, chosen?.rule?.channel);
  const columns: readonly Column<Rule>[] = [
    ...RULES,
    {
      head: 'Actions',
      cell: (rule) => (
        <span className="row nowrap">
          {(['test', 'set', 'remove'] as const).map((action) => (
            <button
              key={action}
              type="button"
              className={action === 'remove' ? 'grave' : ''}
              aria-label={`${SHORT[action]}: ${rule.name}`}
              disabled={!may('operators')}
              onClick={() => setChosen({ action, rule })}
            >
              {SHORT[action]}
            </button>
          ))}
        </span>
      ),
    },
  ];
  const now = (rule: Rule | undefined) =>
    rule === undefined
      ? {}
      : {
          ...{ name: rule.name, channel: rule.channel, about: rule.about, kinds: rule.kinds.join(', ') },
          ...{ asset: rule.asset ?? '', least: rule.least ?? '', afterMinutes: String(rule.afterMinutes) },
          ...{ fromHour: String(rule.fromHour), untilHour: String(rule.untilHour), zone: rule.zone },
        };
  return (
    <>
      <div className="title">
        <h1>Alerts</h1>
        <button
          type="button"
          className="primary"
          disabled={!may('operators')}
          onClick={() => setChosen({ action: 'set' })}
        >
          Set a rule
        </button>
      </div>
      {found.error !== null && <Failure error={found.error} />}
      {found.data !== undefined && channels.length === 0 && (
        <p className="note is-warn">
          No alerts are sent: the setting <code>ALERT_CHANNELS</code> names no channel of this server.{' '}
          <Link to="/channels">See which there are</Link>.
        </p>
      )}
      {channels.length > 0 && (
        <p className="muted">
          Channels of this server: {channels.join(', ')}. <Link to="/channels">See whether they work</Link>.
        </p>
      )}
      <Table label="Rules" columns={columns} rows={rules} keyOf={({ name }) => name} empty="There is no rule." />
      <List<Message>
        isPart
        title="Messages sent"
        says="The newest first. Messages contain kinds, numbers and times, and never a name or an account."
        path="/alerts/messages"
        list="messages"
        cursor="below"
        hasNoCsv
        filters={[]}
        columns={MESSAGES}
        keyOf={({ id }) => id}
        empty="No message has been sent yet."
        detail={({ title, lines }) => (
          <>
            <h2>{title}</h2>
            <pre>{lines.join('\n')}</pre>
          </>
        )}
      />
      {chosen !== undefined && (
        <ActionDialog
          action={chosen.action === 'set' ? set : ALERT_ACTIONS[chosen.action]}
          {...(chosen.rule === undefined ? {} : { about: chosen.rule.name })}
          given={chosen.action === 'set' || chosen.rule === undefined ? {} : { name: chosen.rule.name }}
          now={chosen.action === 'set' ? now(chosen.rule) : {}}
          effect={
            chosen.action === 'set' && chosen.rule !== undefined
              ? (typed) => <Replaced of={chosen.rule} fields={set.fields} now={now(chosen.rule)} typed={typed} />
              : undefined
          }
          onClose={() => setChosen(undefined)}
        />
      )}
    </>
  );
}
