/** Filters of a list, kept in the address: a link to a list shows the same rows to another operator. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useId, useState } from 'react';
import { utc } from './format.ts';

export interface Filter {
  readonly name: string;
  readonly label: string;
  readonly choices?: readonly string[];
  /** A choice's label, if different from its value. */
  readonly names?: Readonly<Record<string, string>>;
  /** Label for no choice. */
  readonly all?: string;
  readonly isTime?: boolean;
  /** An example, while the field is empty. */
  readonly hint?: string;
}

/** What most lists are narrowed by. */
export const WHOSE: readonly Filter[] = [
  { name: 'partner', label: 'Partner' },
  { name: 'customer', label: 'Customer' },
  { name: 'market', label: 'Market' },
];
export const within = (what: string): readonly Filter[] => [
  { name: 'from', label: `${what} from`, isTime: true },
  { name: 'until', label: `${what} before`, isTime: true },
];

export type Values = Readonly<Record<string, string | undefined>>;

/** `set` shows another list from its top, unless the list keeps its position. */
export function useFilters(): { values: Values; set: (values: Values, stays?: 'stays') => void } {
  const values: Values = useSearch({ strict: false });
  const navigate = useNavigate();
  return {
    values,
    set: (next, stays) =>
      void navigate({ to: '.', search: next as Record<string, string>, resetScroll: stays === undefined }),
  };
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
  const [isOpen, setOpen] = useState(false);
  const given = filters.filter(({ name }) => (values[name] ?? '') !== '').length;
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
    <form
      className={isOpen ? 'panel filters narrow is-open' : 'panel filters narrow'}
      onSubmit={submit}
      key={JSON.stringify(values)}
      aria-label="Filters"
    >
      <button type="button" className="menu" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Filters{given > 0 && `, ${given} set`}
      </button>
      {filters.map(({ name, label, choices, names = {}, all = 'all', isTime, hint }) => (
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
                  {names[choice] ?? choice.replaceAll('_', ' ')}
                </option>
              ))}
            </select>
          ) : (
            <input
              id={`${id}${name}`}
              name={name}
              type={isTime === true ? 'datetime-local' : 'text'}
              autoComplete="off"
              placeholder={hint}
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
