/**
 * Actions whose forms are generated from the declarations (other.ts), as a panel, or as buttons in a row. What an action answers
 * is shown once in its dialog: who paid, a link, a token.
 */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { FormAction } from './actions.ts';
import { ActionDialog, type Typed } from './form.tsx';
import { type DeclaredForm, type OtherPlace, othersOf } from './other.ts';
import { useMay } from './shell.tsx';
import { Failure } from './ui.tsx';
import { DEADLINE_MS, failure } from './wire.ts';

/** A file of its own, which only pages with such actions load. */
const FORMS = new URL('./declared.json', import.meta.url).href;
async function readForms(): Promise<readonly DeclaredForm[]> {
  const reply = await fetch(FORMS, { signal: AbortSignal.timeout(DEADLINE_MS) });
  if (!reply.ok) throw await failure(reply);
  return (await reply.json()) as readonly DeclaredForm[];
}

/**
 * @param known fields that the page knows already, such as the id of its subject
 * @param about the subject in words, for the title of a form
 * @param isRow only buttons, for a row of a table
 */
export function OtherActions(p: { of: OtherPlace; known: Typed; about?: string; title?: string; isRow?: boolean }) {
  const may = useMay();
  const [chosen, setChosen] = useState<FormAction>();
  const forms = useQuery({ queryKey: ['declared'], queryFn: readForms, staleTime: Number.POSITIVE_INFINITY });
  const actions = othersOf(p.of, p.known, forms.data ?? []);
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
          {forms.error !== null && <Failure error={forms.error} />}
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
          isAnswer
          onClose={() => setChosen(undefined)}
        />
      )}
    </>
  );
}
