/**
 * Actions whose forms are generated from the declarations (other.ts), as a panel, or as buttons in a row. What an action answers
 * is shown once in its dialog: who paid, a link, a token.
 */
import { useState } from 'react';
import type { FormAction } from './actions.ts';
import type { Outcome } from './api.ts';
import { ActionDialog, Came, type Typed } from './form.tsx';
import { type OtherPlace, othersOf } from './other.ts';
import { useMay } from './shell.tsx';
import { Dialog, Facts } from './ui.tsx';

/** Parts of every answer; the rest is what this action answers. */
const OF_ANY = new Set(['action', 'subject', 'outcome', 'before', 'after', 'proposal', 'plan', 'effectiveAt']);
const saidBy = (came: Outcome) => Object.fromEntries(Object.entries(came).filter(([name]) => !OF_ANY.has(name)));

function Done({ of, label, onClose }: { of: Outcome; label: string; onClose: () => void }) {
  const said = saidBy(of);
  return (
    <Dialog label={label} onClose={onClose}>
      <h2>{label}</h2>
      <Came outcome={of} />
      {Object.keys(said).length > 0 && (
        <>
          <p className="muted">It is shown once: it is gone when you close this.</p>
          <Facts of={said} />
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

/**
 * @param known fields that the page knows already, such as the id of its subject
 * @param about the subject in words, for the title of a form
 * @param isRow only buttons, for a row of a table
 */
export function OtherActions(p: { of: OtherPlace; known: Typed; about?: string; title?: string; isRow?: boolean }) {
  const may = useMay();
  const [chosen, setChosen] = useState<FormAction>();
  const [came, setCame] = useState<{ label: string; of: Outcome }>();
  const actions = othersOf(p.of, p.known);
  const button = (action: FormAction) => (
    <button
      type="button"
      disabled={!may(action.right)}
      {...(p.isRow === true ? { 'aria-label': `${action.label}: ${p.about ?? ''}` } : {})}
      onClick={() => setChosen(action)}
    >
      {action.label}
    </button>
  );
  return (
    <>
      {p.isRow === true ? (
        actions.map((action) => <span key={action.name}>{button(action)}</span>)
      ) : (
        <section className="panel">
          <h2>{p.title ?? 'Other actions'}</h2>
          <div className="actions">
            {actions.map((action) => (
              <div key={action.name}>
                {button(action)}
                <span className="muted">{action.says}</span>
              </div>
            ))}
          </div>
        </section>
      )}
      {chosen !== undefined && (
        <ActionDialog
          action={chosen}
          {...(p.about === undefined ? {} : { about: p.about })}
          given={p.known}
          onDone={(of) => {
            setCame({ label: chosen.label, of });
            setChosen(undefined);
          }}
          onClose={() => setChosen(undefined)}
        />
      )}
      {came !== undefined && <Done {...came} onClose={() => setCame(undefined)} />}
    </>
  );
}
