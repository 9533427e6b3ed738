/** Kill switches: which are set, who set each, and the reason. */
import { useState } from 'react';
import { SWITCH_ACTIONS } from '../actions.ts';
import type { KillSwitch } from '../api.ts';
import { ActionDialog } from '../form.tsx';
import { OtherActions } from '../others.tsx';
import { useMay } from '../shell.tsx';
import { type Column, Failure, Table, Time } from '../ui.tsx';
import { useSwitches } from './home.tsx';

export function Switches() {
  const may = useMay();
  const switches = useSwitches();
  const [isSetting, setSetting] = useState(false);
  const [lifted, setLifted] = useState<KillSwitch>();
  const columns: readonly Column<KillSwitch>[] = [
    { head: 'Switched off', cell: ({ kind, subject }) => <b className="nowrap">{`${kind} ${subject}`}</b> },
    { head: 'Since', cell: ({ at }) => <Time at={at} /> },
    { head: 'By', cell: ({ by, laidBy }) => (laidBy.length > 0 ? laidBy.join(', ') : by) },
    { head: 'Reason', cell: ({ reason }) => reason, className: 'wide' },
    {
      head: 'Actions',
      cell: (one) => (
        <button type="button" disabled={!may(SWITCH_ACTIONS.lift.right)} onClick={() => setLifted(one)}>
          Lift
        </button>
      ),
    },
  ];
  return (
    <>
      <div className="title">
        <h1>Kill switches</h1>
        <button
          type="button"
          className="grave"
          disabled={!may(SWITCH_ACTIONS.set.right)}
          onClick={() => setSetting(true)}
        >
          Set a kill switch
        </button>
      </div>
      <p className="muted">
        What is switched off takes nothing new. Money that was submitted already may still arrive. Lifting may take a
        second operator.
      </p>
      {switches.error !== null && <Failure error={switches.error} />}
      <Table
        label="Kill switches"
        columns={columns}
        rows={switches.error === null ? switches.data?.killSwitches : []}
        keyOf={({ kind, subject }) => `${kind} ${subject}`}
        empty="Nothing is switched off."
      />
      <OtherActions of="rail" known={{}} title="Halted chains" />
      {isSetting && <ActionDialog action={SWITCH_ACTIONS.set} given={{}} onClose={() => setSetting(false)} />}
      {lifted !== undefined && (
        <ActionDialog
          action={SWITCH_ACTIONS.lift}
          about={`${lifted.kind} ${lifted.subject}`}
          given={{ kind: lifted.kind, subject: lifted.subject }}
          onClose={() => setLifted(undefined)}
        />
      )}
    </>
  );
}
