/**
 * The form of an action: its fields, the effect of sending it, how many people it takes, and its reason; afterwards its outcome.
 *
 * A declined form keeps the typed values, names each field with its rule, and puts the focus into the first of them.
 */
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { type FormAction, type FormField, FROM_WHEN } from './actions.ts';
import { ApiError, type Outcome, send } from './api.ts';
import { useAttempt } from './attempt.ts';
import { span, utc } from './format.ts';
import { hours, useRules } from './rules.ts';
import { Dialog, Fact, Facts, Failure } from './ui.tsx';

/** The values of a form's fields, by name. */
export type Typed = Readonly<Record<string, string>>;

const YES_NO: Readonly<Record<string, string>> = { true: 'yes', false: 'no' };

function Field({ field, rule, now = '' }: { field: FormField; rule: string | undefined; now: string | undefined }) {
  const id = useId();
  const { name, label, hint, isFlag, isSwitch, isLong, isTime, isRequired = false } = field;
  if (isFlag === true)
    return (
      <div className="check">
        <input type="checkbox" id={id} name={name} />
        <label htmlFor={id}>{label}</label>
      </div>
    );
  const shared = {
    id,
    name,
    required: isRequired,
    defaultValue: now,
    'aria-invalid': rule !== undefined,
    'aria-describedby': `${id}-hint`,
  };
  const choices = isSwitch === true ? Object.keys(YES_NO) : field.choices;
  return (
    <div className="field">
      <label htmlFor={id}>
        {label}
        {!isRequired && now === '' && <span className="muted"> (optional)</span>}
      </label>
      {choices !== undefined ? (
        <select {...shared}>
          {!isRequired && now === '' && <option value="">not given</option>}
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {isSwitch === true ? YES_NO[choice] : (field.names?.[choice] ?? choice)}
            </option>
          ))}
        </select>
      ) : isLong === true ? (
        <textarea rows={2} maxLength={500} {...shared} />
      ) : (
        <input type={isTime === true ? 'datetime-local' : 'text'} autoComplete="off" spellCheck={false} {...shared} />
      )}
      <span id={`${id}-hint`} className={rule === undefined ? 'hint' : 'rule'}>
        {rule ?? hint}
      </span>
    </div>
  );
}

/** The outcome of an action: it is done, or it waits for another person or for its time. */
export function Came({ outcome }: { outcome: Outcome }) {
  if (outcome.proposal !== undefined && outcome.outcome !== 'declined')
    return (
      <div className="note is-warn" role="status">
        <b>Nothing is done yet.</b> It takes {outcome.people ?? 'more'} people, and waits for{' '}
        {outcome.awaits === undefined || outcome.awaits.length === 0
          ? 'another operator'
          : `approval by ${outcome.awaits.join(' and ')}`}{' '}
        as{' '}
        <Link to="/proposals/$proposal" params={{ proposal: outcome.proposal }}>
          proposal {outcome.proposal}
        </Link>
        .
      </div>
    );
  if (outcome.effectiveAt !== undefined)
    return (
      <div className="note is-ok" role="status">
        <b>It is planned.</b> It takes effect at {utc(outcome.effectiveAt)}, as{' '}
        <Link to="/planned">planned change {outcome.plan}</Link>. Until then it can be withdrawn.
      </div>
    );
  const state = (outcome.after as { state?: unknown } | null | undefined)?.state;
  return (
    <div className="note is-ok" role="status">
      The server says: <b>{outcome.outcome}</b>.
      {typeof state === 'string' && ` It is now: ${state.replaceAll('_', ' ')}.`}
    </div>
  );
}

/** How many people it takes, in the words of this installation. */
export function People({ people }: { people: NonNullable<FormAction['people']> }): ReactNode {
  const { operators, delayS = 0 } = useRules().data?.installation ?? {};
  if (people === 'one') return 'One operator is enough: the action runs when you send it.';
  if (operators === 'one')
    return delayS === 0
      ? 'This installation has one operator and no delay: the action runs when you send it.'
      : `This installation has one operator: if two are needed, sending it creates a proposal, and you may confirm it after ${hours(delayS)}.`;
  if (people === 'two')
    return 'It needs two operators: sending it creates a proposal, and another operator confirms it.';
  if (people === 'second')
    return 'It needs two operators once two operators may confirm actions: then sending it creates a proposal, and another operator confirms it.';
  return 'The rules determine how many operators are needed; without a matching rule, two. If more than one is needed, sending it creates a proposal, and another operator confirms it.';
}

/** The form's present values. Without the reason: it changes nothing. */
const typedIn = (form: HTMLFormElement): Typed =>
  Object.fromEntries(
    [...new FormData(form)].filter(([name]) => name !== 'reason').map(([name, value]) => [name, String(value).trim()]),
  );

/** Fields whose value differs from the present one. The server leaves an emptied field unchanged. */
const changedIn = (fields: readonly FormField[], now: Typed, typed: Typed): readonly FormField[] =>
  fields.filter(
    ({ name }) => name !== FROM_WHEN.name && (typed[name] ?? '') !== '' && typed[name] !== (now[name] ?? ''),
  );

/** What a form changes. @param isWhole the form replaces its subject: an emptied field is emptied there, too */
export function Changes(p: { fields: readonly FormField[]; now: Typed; typed: Typed; isWhole?: boolean }) {
  const { fields, now, typed } = p;
  const changed =
    p.isWhole === true
      ? fields.filter(({ name }) => (typed[name] ?? '') !== (now[name] ?? ''))
      : changedIn(fields, now, typed);
  if (changed.length === 0) return <p>Nothing is changed yet.</p>;
  const shown = ({ isSwitch, names, unit = '' }: FormField, value: string) =>
    (isSwitch === true ? YES_NO[value] : names?.[value]) ??
    (!/^[0-9]+$/.test(value) ? value : unit === 's' ? span(Number(value)) : `${value} ${unit}`.trim());
  return (
    <dl className="facts">
      {changed.map((field) => (
        <Fact key={field.name} name={field.label}>
          <Turn
            from={shown(field, now[field.name] ?? '') || (field.empty ?? 'none')}
            to={shown(field, typed[field.name] ?? '') || (field.empty ?? 'none')}
          />
        </Fact>
      ))}
    </dl>
  );
}

/** When a planned change takes effect, in UTC too: a time zone is easily forgotten. */
function When({ typed }: { typed: string | undefined }) {
  const at = new Date(typed ?? '');
  if (Number.isNaN(at.getTime())) return null;
  return (
    <p>
      It takes effect automatically at <b>{utc(at.toISOString())}</b>. Until then it can be withdrawn under{' '}
      <b>Planned changes</b>. Quotes made before keep their price.
    </p>
  );
}

/** A value before and after. */
export const Turn = ({ from, to }: { from: ReactNode; to: ReactNode }) => (
  <>
    <span className="muted">{from}</span> becomes <b>{to}</b>
  </>
);

/** The body of the request: filled fields, without the unchanged ones of a partial change. */
function bodyOf(action: FormAction, now: Typed, form: HTMLFormElement): Record<string, unknown> {
  const fields = new Map((action.fields ?? []).map((field) => [field.name, field]));
  const filled = [...new FormData(form)]
    .map(([name, value]) => [name, String(value).trim()] as const)
    .filter(([name, value]) => value !== '' && !(action.isPartial === true && now[name] === value));
  return Object.fromEntries(
    filled.map(([name, value]) => {
      const { isFlag, isSwitch, isTime } = fields.get(name) ?? {};
      if (isTime === true) return [name, new Date(value).toISOString()];
      return [name, isFlag === true ? true : isSwitch === true ? value === 'true' : value];
    }),
  );
}

/** Parts of every answer. */
const OF_ANY = ['action', 'subject', 'outcome', 'after', 'proposal'];
function Answer({ of }: { of: Outcome }) {
  const own = Object.entries(of).filter(([name]) => !OF_ANY.includes(name));
  return own.length === 0 ? null : <Facts of={Object.fromEntries(own)} />;
}

/**
 * A dialog with the fields of an action and its reason, and afterwards with its outcome.
 *
 * @param given  fields that are known already, and names of the path
 * @param now    initial values; for a partial change, the present ones
 * @param effect the effect of sending the form, from the typed values
 * @param body  makes the request's body from the fields and the reason
 * @param onDone receives the outcome instead of showing it
 * @param isAnswer shows what this action answers besides its outcome: who paid, a link, a token
 *
 * Long because `ActionDialog` is one form with one state: its parts read the same answers.
 */
export function ActionDialog(p: {
  action: FormAction;
  about?: string;
  given: Typed;
  now?: Typed;
  reason?: string;
  effect?: ((typed: Typed) => ReactNode) | undefined;
  body?: (fields: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  onDone?: (came: Outcome) => void;
  isAnswer?: boolean;
  onClose: () => void;
}) {
  const { action, given, now = {}, onClose } = p;
  const { fields = [], people } = action;
  const client = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const [came, setCame] = useState<Outcome>();
  const [typed, setTyped] = useState<Typed>(now);
  const [sent, setSent] = useState<Typed>({});
  const { error, isBusy, attempt } = useAttempt();
  const id = useId();
  const rules = error instanceof ApiError ? error.fields : {};
  const title = p.about === undefined ? action.label : `${action.label}: ${p.about}`;
  const wrong = Object.keys(rules);
  const isShownBeside = wrong.length > 0 && wrong.every((name) => fields.some((field) => field.name === name));
  const isIdle = action.isPartial === true && changedIn(fields, now, typed).length === 0;
  // A select has a choice before anything is typed.
  useEffect(() => {
    if (form.current !== null) setTyped(typedIn(form.current));
  }, []);
  useEffect(() => {
    if (error === undefined) return;
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
    form.current?.querySelector('[role="alert"]')?.scrollIntoView({ block: 'nearest' });
  }, [error]);

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    if (isBusy || isIdle) return;
    const body = bodyOf(action, now, event.currentTarget);
    setSent(typedIn(event.currentTarget));
    for (const [name, value] of Object.entries(given)) if (!action.path.includes(`:${name}`)) body[name] = value;
    // A name of the path that the page does not know is a field.
    const path = action.path.replace(/:(\w+)/g, (_, name: string) => {
      const part = given[name] ?? String(body[name] ?? '');
      delete body[name];
      return encodeURIComponent(part);
    });
    await attempt(async () => {
      const done = await send<Outcome>('POST', path, p.body?.(body) ?? body, action);
      if (p.onDone !== undefined && done.outcome === 'done') p.onDone(done);
      else setCame(done);
    });
    // After a failure, too: without an answer only the page can show the outcome.
    await client.invalidateQueries();
  }

  return (
    <Dialog label={title} onClose={onClose}>
      <h2>{title}</h2>
      {came === undefined ? (
        <form
          ref={form}
          className="inside-form"
          onSubmit={(event) => void submit(event)}
          onChange={(event) => setTyped(typedIn(event.currentTarget))}
        >
          <p className="muted">{action.says}</p>
          {fields.length > 0 && (
            <div className={fields.length > MANY ? 'fields is-many' : 'fields'}>
              {fields.map((field) => (
                <Field
                  key={field.name}
                  field={field}
                  // The rule was about the sent value: it disappears with the first change.
                  rule={typed[field.name] === sent[field.name] ? rules[field.name] : undefined}
                  now={now[field.name]}
                />
              ))}
            </div>
          )}
          {(p.effect !== undefined || action.isPartial === true || people !== undefined) && (
            <section className="effect" aria-label="What it will do" aria-live="polite">
              <h3>What it will do</h3>
              {action.isPartial === true && <Changes fields={fields} now={now} typed={typed} />}
              {p.effect?.(typed)}
              <When typed={typed[FROM_WHEN.name]} />
              {people !== undefined && (
                <p>
                  <People people={people} />
                </p>
              )}
            </section>
          )}
          <div className="field">
            <label htmlFor={id}>Reason</label>
            <textarea
              id={id}
              name="reason"
              rows={2}
              required
              minLength={3}
              maxLength={500}
              defaultValue={p.reason}
              aria-invalid={rules.reason !== undefined}
              aria-describedby={`${id}-hint`}
              onKeyDown={(event) => {
                if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
                  event.currentTarget.form?.requestSubmit();
              }}
            />
            <span id={`${id}-hint`} className={rules.reason === undefined ? 'hint' : 'rule'}>
              {rules.reason ?? 'It is stored in the audit. Ctrl+Enter sends.'}
            </span>
          </div>
          {error !== undefined && !isShownBeside && <Failure error={error} />}
          <div className="row">
            <button type="submit" className={action.isGrave ? 'grave' : 'primary'} disabled={isBusy || isIdle}>
              {isBusy ? 'Sending' : action.label}
            </button>
            <button type="button" onClick={onClose}>
              Cancel
            </button>
          </div>
        </form>
      ) : (
        <>
          <Came outcome={came} />
          {p.isAnswer === true && came.outcome === 'done' && <Answer of={came} />}
          <div className="row">
            <button type="button" className="primary" autoFocus onClick={onClose}>
              Close
            </button>
          </div>
        </>
      )}
    </Dialog>
  );
}
/** With more fields than this the form has two columns if there is room. */
const MANY = 7;
