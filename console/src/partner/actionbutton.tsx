/** Actions of the team's pages: a button that runs the action, or a form in a dialog that shows its outcome. */
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { useAttempt } from '../attempt.ts';
import { Dialog, Failure } from '../ui.tsx';
import { useMay } from './shell.tsx';

export interface Input {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly value?: string;
  /** One of these. */
  readonly choices?: readonly string[];
  readonly names?: Readonly<Record<string, string>>;
  /** Any of these. */
  readonly several?: readonly string[];
  readonly chosen?: readonly string[];
  /** A line each, as a list. */
  readonly isList?: boolean;
  readonly isLong?: boolean;
  readonly isNumber?: boolean;
  readonly isOptional?: boolean;
}

type Body = Readonly<Record<string, unknown>>;

/** The typed values, without empty ones; an empty list counts as a value. */
function bodyOf(form: HTMLFormElement, inputs: readonly Input[]): Body {
  const typed = new FormData(form);
  return Object.fromEntries(
    inputs.flatMap(({ name, several, isList, isNumber }): [string, unknown][] => {
      if (several !== undefined) return [[name, typed.getAll(name).map(String)]];
      const text = String(typed.get(name) ?? '').trim();
      if (isList === true) return [[name, text.split(/\s+/).filter((one) => one !== '')]];
      if (text === '') return [];
      return [[name, isNumber === true ? Number(text) : text]];
    }),
  );
}

/**
 * A button that opens a form.
 *
 * @param p.right  the right that the role needs; without it there is no button
 * @param p.says   its effect, in a sentence
 * @param p.run    sends it
 * @param p.shows  its outcome, if that is shown once; without it the form closes
 */
export function ActionButton<Answer>(p: {
  name: string;
  right: string;
  says: ReactNode;
  inputs?: readonly Input[];
  run: (body: Body) => Promise<Answer>;
  shows?: (answer: Answer) => ReactNode;
  tone?: 'primary' | 'grave';
  label?: string;
  dataKey?: string;
}) {
  const may = useMay();
  const [isOpen, setOpen] = useState(false);
  if (!may(p.right)) return null;
  return (
    <>
      <button type="button" className={p.tone} aria-label={p.label} data-key={p.dataKey} onClick={() => setOpen(true)}>
        {p.name}
      </button>
      {isOpen && <Form {...p} onClose={() => setOpen(false)} />}
    </>
  );
}

function Form<Answer>(p: Parameters<typeof ActionButton<Answer>>[0] & { onClose: () => void }) {
  const client = useQueryClient();
  const id = useId();
  const { error, isBusy, attempt } = useAttempt();
  const [answer, setAnswer] = useState<{ of: Answer }>();
  const inputs = p.inputs ?? [];
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const body = bodyOf(event.currentTarget, inputs);
    return attempt(async () => {
      const of = await p.run(body);
      await client.invalidateQueries();
      if (p.shows === undefined) p.onClose();
      else setAnswer({ of });
    });
  };
  if (answer !== undefined)
    return (
      <Dialog label={p.name} onClose={p.onClose}>
        <h2>{p.name}</h2>
        {p.shows?.(answer.of)}
        <div className="row">
          <button type="button" className="primary" onClick={p.onClose}>
            Close
          </button>
        </div>
      </Dialog>
    );
  return (
    <Dialog label={p.name} onClose={p.onClose}>
      <form className="inside-form" onSubmit={(event) => void submit(event)}>
        <h2>{p.name}</h2>
        <p className="muted">{p.says}</p>
        {error !== undefined && <Failure error={error} />}
        {inputs.map((input) => (
          <Field key={input.name} id={`${id}${input.name}`} of={input} />
        ))}
        <div className="row">
          <button type="submit" className={p.tone ?? 'primary'} disabled={isBusy} autoFocus={inputs.length === 0}>
            {p.name}
          </button>
          <button type="button" onClick={p.onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Field({ id, of }: { id: string; of: Input }) {
  const { name, label, hint, value, choices, names = {}, several, chosen = [], isOptional = false } = of;
  if (several !== undefined)
    return (
      <fieldset className="field choices">
        <legend>{label}</legend>
        {several.map((one) => (
          <label key={one}>
            <input type="checkbox" name={name} value={one} defaultChecked={chosen.includes(one)} /> {names[one] ?? one}
          </label>
        ))}
      </fieldset>
    );
  const isRequired = !isOptional && of.isList !== true;
  return (
    <div className="field">
      <label htmlFor={id}>
        {label}
        {!isRequired && <span className="muted"> (optional)</span>}
      </label>
      {choices !== undefined ? (
        <select id={id} name={name} defaultValue={value ?? choices[0]}>
          {choices.map((one) => (
            <option key={one} value={one}>
              {names[one] ?? one.replaceAll('_', ' ')}
            </option>
          ))}
        </select>
      ) : of.isList === true || of.isLong === true ? (
        <textarea
          id={id}
          name={name}
          rows={of.isLong === true ? 6 : 3}
          defaultValue={value}
          placeholder={hint}
          spellCheck={false}
          required={isRequired}
        />
      ) : (
        <input
          id={id}
          name={name}
          type={of.isNumber === true ? 'number' : 'text'}
          defaultValue={value}
          placeholder={hint}
          required={isRequired}
          autoComplete="off"
          spellCheck={false}
        />
      )}
    </div>
  );
}
