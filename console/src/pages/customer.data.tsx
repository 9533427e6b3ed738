/** The personal data of a customer: its export as a file, a phone number that belongs to another person now, and its erasure. */
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { ActionList } from '../actionlist.tsx';
import { DATA_ACTIONS } from '../actions.ts';
import { type Outcome, read, save } from '../api.ts';
import { ActionDialog } from '../form.tsx';
import { Time } from '../ui.tsx';

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
  requestErasure: () => (
    <p>
      The server looks every hour whether something prevents the erasure, and erases the customer as soon as nothing
      does: the retention time has ended, no legal hold is placed, and no money, case or question is open.
    </p>
  ),
  withdrawErasure: () => <p>The customer is not erased by itself. An erasure can be asked for again.</p>,
};

interface Proof {
  readonly statement: {
    readonly backupsEndAt: string | null;
    readonly erased: readonly { readonly kind: string; readonly count: number }[];
    readonly remains: readonly Remains[];
  } | null;
  readonly request: { readonly askedAt: string; readonly waitsFor: string | null } | null;
}
interface Remains {
  readonly kind: string;
  readonly count: number | null;
  readonly personal: boolean;
  readonly why: string;
  readonly until: string | null;
}

const words = (kind: string): string => kind.replaceAll('_', ' ');
const rowsOf = (count: number | null): string => (count === null ? '' : `: ${count} ${count === 1 ? 'row' : 'rows'}`);

/** What an erasure has erased, and what remains and why; or what a request for it waits for. */
function ErasureProof({ of }: { of: Proof }) {
  const { statement, request } = of;
  if (statement !== null)
    return (
      <>
        <h3>Erased</h3>
        <p>{statement.erased.map(({ kind, count }) => `${words(kind)} ${count}`).join(', ')}</p>
        <h3>What remains</h3>
        <ul className="plain remains">
          {statement.remains.map(({ kind, count, personal, until, why }) => (
            <li key={kind}>
              <b>{words(kind)}</b>
              {rowsOf(count)}
              {personal && ', personal'}
              {until !== null && (
                <>
                  , until <Time at={until} />
                </>
              )}
              <p className="muted">{why}</p>
            </li>
          ))}
        </ul>
      </>
    );
  if (request === null) return null;
  return (
    <p className="note long">
      An erasure was asked for <Time at={request.askedAt} />.{' '}
      {request.waitsFor === null ? 'The server has not looked at it yet.' : `It waits: ${request.waitsFor}.`}
    </p>
  );
}

interface Exported {
  readonly export: unknown;
  readonly files: readonly unknown[];
}

export function PersonalData(p: { customer: string; erasure: unknown }) {
  const [chosen, setChosen] = useState<Chosen>();
  const [saved, setSaved] = useState<string>();
  const proof = useQuery({
    queryKey: ['customer', p.customer, 'erasure'],
    queryFn: () => read<Proof>(`/customers/${p.customer}/erasure`),
  });
  const waits = proof.data?.request != null;
  const isOffered = (name: Chosen): boolean => {
    if (name === 'export') return true;
    if (p.erasure !== null) return false;
    return name === 'requestErasure' ? !waits : name !== 'withdrawErasure' || waits;
  };
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
      {proof.data !== undefined && <ErasureProof of={proof.data} />}
      <ActionList of={DATA_ACTIONS} names={ALL.filter(isOffered)} grave="erase" choose={setChosen} />
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
