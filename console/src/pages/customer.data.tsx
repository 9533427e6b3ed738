/** The personal data of a customer: its export as a file, a phone number that belongs to another person now, and its erasure. */
import { type ReactNode, useState } from 'react';
import { ActionList } from '../actionlist.tsx';
import { DATA_ACTIONS } from '../actions.ts';
import { type Outcome, save } from '../api.ts';
import { ActionDialog } from '../form.tsx';

type Chosen = keyof typeof DATA_ACTIONS;
const ALL = Object.keys(DATA_ACTIONS) as readonly Chosen[];

const List = ({ of }: { of: readonly string[] }) => (
  <ul>
    {of.map((one) => (
      <li key={one}>{one}</li>
    ))}
  </ul>
);

const EFFECTS: Readonly<Record<Chosen, () => ReactNode>> = {
  export: () => (
    <>
      <p>Saves one JSON file on this computer:</p>
      <List
        of={[
          'contact, details, answers, accounts and destinations',
          'orders, deposits, payouts, cases, events, logins and questions',
          'the content of files, in base64, up to 64 MiB',
        ]}
      />
      <p>It does not contain hits in sanctions lists. The audit records the export.</p>
    </>
  ),
  detachPhone: () => (
    <List
      of={[
        'The customer has no phone number, and cannot sign in with it.',
        'A login code that was sent to it is void.',
        'Orders, accounts and verification stay as they are.',
      ]}
    />
  ),
  erase: () => (
    <>
      <p>
        <b>Erased:</b> phone, e-mail address, details, answers, files, accounts, destinations, questions, and what
        operators wrote about the customer.
      </p>
      <p>
        <b>Kept:</b> the customer&rsquo;s id, level and country; orders, deposits, payouts, amounts and the books; who
        did what and when.
      </p>
      <p>
        The customer is blocked. The server declines the erasure, with every cause, while money is open or owed, a case,
        hit or question is open, a legal hold is placed, or records must be kept. Write no name in the reason.
      </p>
    </>
  ),
};

interface Exported {
  readonly export: unknown;
  readonly files: readonly unknown[];
}

export function PersonalData(p: { customer: string; erasure: unknown }) {
  const [chosen, setChosen] = useState<Chosen>();
  const [saved, setSaved] = useState<string>();
  const download = (came: Outcome): void => {
    const { export: held, files } = came as Outcome & Exported;
    const name = `customer-${p.customer}.json`;
    save(name, new Blob([JSON.stringify({ export: held, files }, null, 2)], { type: 'application/json' }));
    setSaved(`${name}, with ${files.length} ${files.length === 1 ? 'file' : 'files'}`);
    setChosen(undefined);
  };
  return (
    <section className="panel" aria-label="Personal data">
      <h2>Personal data</h2>
      {saved !== undefined && (
        <p className="note is-ok long" role="status">
          Saved as {saved}. Delete it when it is no longer needed.
        </p>
      )}
      <ActionList
        of={DATA_ACTIONS}
        names={ALL.filter((name) => name === 'export' || p.erasure === null)}
        grave="erase"
        choose={setChosen}
      />
      {chosen !== undefined && (
        <ActionDialog
          action={DATA_ACTIONS[chosen]}
          about={`customer ${p.customer}`}
          given={{ customer: p.customer }}
          effect={EFFECTS[chosen]}
          {...(chosen === 'export' ? { onDone: download } : {})}
          onClose={() => setChosen(undefined)}
        />
      )}
    </section>
  );
}
