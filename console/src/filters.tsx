/** Filters of a list, kept in the address: a link to a list shows the same rows to another operator. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useId } from 'react';
import { utc } from './format.ts';

export interface Filter {
  readonly name: string;
  readonly label: string;
  readonly choices?: readonly string[];
  /** What stands for no choice. */
  readonly all?: string;
  readonly isTime?: boolean;
}

type Values = Readonly<Record<string, string | undefined>>;

export function useFilters(): { values: Values; set: (values: Values) => void } {
  const values: Values = useSearch({ strict: false });
  const navigate = useNavigate();
  return { values, set: (next) => void navigate({ to: '.', search: next as Record<string, string> }) };
}

/** A local time of the form, as ISO 8601 in UTC. */
const instant = (typed: string): string => (typed === '' ? '' : new Date(typed).toISOString());
function typedOf(iso: string | undefined): string {
  if (iso === undefined || Number.isNaN(Date.parse(iso))) return '';
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export function Filters({ filters, children }: { filters: readonly Filter[]; children?: React.ReactNode }) {
  const { values, set } = useFilters();
  const id = useId();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const typed = filters.map(({ name, isTime }) => {
      const value = String(form.get(name) ?? '').trim();
      return [name, isTime === true ? instant(value) : value];
    });
    set(Object.fromEntries(typed.filter(([, value]) => value !== '')));
  };
  return (
    <form className="panel filters" onSubmit={submit} key={JSON.stringify(values)} aria-label="Filters">
      {filters.map(({ name, label, choices, all = 'all', isTime }) => (
        <div className={isTime === true ? 'field is-wide' : 'field'} key={name}>
          <label htmlFor={`${id}${name}`}>{label}</label>
          {choices !== undefined ? (
            <select
              id={`${id}${name}`}
              name={name}
              defaultValue={values[name] ?? ''}
              onChange={(event) => event.currentTarget.form?.requestSubmit()}
            >
              <option value="">{all}</option>
              {choices.map((choice) => (
                <option key={choice} value={choice}>
                  {choice.replaceAll('_', ' ')}
                </option>
              ))}
            </select>
          ) : (
            <input
              id={`${id}${name}`}
              name={name}
              type={isTime === true ? 'datetime-local' : 'text'}
              autoComplete="off"
              defaultValue={isTime === true ? typedOf(values[name]) : values[name]}
              title={isTime === true && values[name] !== undefined ? utc(values[name]) : undefined}
            />
          )}
        </div>
      ))}
      <div className="row">
        <button type="submit">Filter</button>
        {Object.keys(values).length > 0 && (
          <button type="button" className="bare" onClick={() => set({})}>
            Clear
          </button>
        )}
        {children}
      </div>
    </form>
  );
}
